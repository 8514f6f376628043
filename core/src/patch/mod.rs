//! The patches that carry changes rather than objects.

mod json;
mod merge;

pub use json::{JsonPatch, JsonPatchError};
pub use merge::{merge, merge_diff};
