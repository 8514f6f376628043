//! The patches that carry changes rather than objects.

mod merge;

pub use merge::merge;
