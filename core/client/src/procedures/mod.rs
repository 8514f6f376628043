//! The processes that people know, a file each.

pub(crate) mod editor;
