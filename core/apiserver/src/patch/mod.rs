//! The patches that carry changes rather than objects.

mod json;
mod merge;
mod strategic;
mod unstructured;

pub use json::{FailedOperation, JsonPatch, JsonPatchError, json_diff};
pub use merge::{merge, merge_diff, merge_in_order};
pub use strategic::{StrategicError, strategic_diff, strategic_merge, strategic_three_way};
pub use unstructured::{Converted, from_unstructured, named_type};
