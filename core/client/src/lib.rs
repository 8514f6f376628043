//! What clients of an API server do: keep a working copy, edit it, send the edit in one way or
//! another, try again after a conflict, and follow a whole collection. The crate sends nothing by
//! itself: it makes requests and reads answers. It depends on `optimist-apiserver`; the simulation
//! and the page use it.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod changes;
mod edit;
mod field_edits;
mod file;
mod indexed_store;
mod manifest;
mod object_yaml;
mod reflector;
mod retry;
mod visible;
mod working_copy;
mod write;

pub use changes::{ValueChange, brief_both, changes, unescape};
pub use edit::{EditError, add_at, edit_scalar, remove_at};
pub use field_edits::{Edit, take};
pub use file::{decode, objects, refuse_repeated_keys, title};
pub use indexed_store::{IndexFn, IndexedStore, NAMESPACE_INDEX};
pub use manifest::{Manifest, ManifestDocument, ManifestError, bare, documents};
pub use object_yaml::{Line, Token, lines, to_yaml};
pub use reflector::{Begin, Reflector, ReflectorProgress};
pub use retry::{Backoff, DEFAULT_BACKOFF, DEFAULT_RETRY, is_conflict, retry_on_conflict};
pub use visible::{is_hidden, visible};
pub use working_copy::WorkingCopy;
pub use write::{Declares, OnConflict, Strategy, Subresource, Write, get_request};
