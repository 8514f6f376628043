//! What clients do: keep a working copy, edit it, send the edit in one way or another, try again
//! after a conflict, and follow a whole collection.

mod edit;
mod indexed_store;
mod manifest;
mod reflector;
mod retry;
mod working_copy;
mod write;

pub use edit::{EditError, add_at, edit_scalar, remove_at};
pub use indexed_store::{IndexFn, IndexedStore, NAMESPACE_INDEX};
pub use manifest::{Manifest, ManifestError, bare};
pub(crate) use manifest::{documents, read as read_manifest};
pub use reflector::{Begin, Progress, Reflector};
pub use retry::{Backoff, DEFAULT_BACKOFF, DEFAULT_RETRY, is_conflict, retry_on_conflict};
pub use working_copy::WorkingCopy;
pub use write::{OnConflict, Strategy, Subresource, Write, get_request};
