//! Server-side apply: the owners of fields, and the merging of applied configurations
//! (`sigs.k8s.io/structured-merge-diff/v6` v6.3.3 and `k8s.io/apimachinery/pkg/util/managedfields`
//! v0.36).

mod element;
mod fields_v1;
mod leaves;
mod locate;
mod manager;
mod managers;
mod never_owned;
mod owners;
mod set;
mod stored_set;
mod typed;
mod updater;
mod versions;

pub use element::PathElement;
pub use fields_v1::{element_order, from_fields_v1, to_fields_v1};
pub use leaves::{changed_parts, covers, covers_whole, differing, part_of};
pub use locate::{Places, fields_below};
pub(crate) use manager::unread_managers;
pub use manager::{Applied, FieldManager};
pub use managers::{ManagedFieldsOperation, Manager, Managers, Owned, is_entry_of};
pub use never_owned::is_never_owned;
pub use owners::Owners;
pub use set::{Path, Set};
pub use typed::{TypedComparison, compare, extract, field_set, merge, remove, validate};
pub use updater::{Conflict, FieldManagerError};
pub use versions::Versions;
pub(crate) use versions::listed;

/// The annotation in which client-side apply keeps the last manifest that it applied.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
