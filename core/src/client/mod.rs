//! What clients do: keep a working copy, edit it, and send the edit in one way or another.

mod edit;
mod manifest;
mod working_copy;
mod write;

pub use edit::{EditError, edit_scalar, remove_at};
pub use manifest::{Manifest, ManifestError};
pub use working_copy::WorkingCopy;
pub use write::{Strategy, Write, get_request};
