//! The patches that carry changes rather than objects.

mod merge;

pub use merge::{merge, merge_diff};
