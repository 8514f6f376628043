//! The names of the page's regions, buttons and fields, and its fixed sentences: messages of the
//! catalogue that do not depend on events.

pub use crate::en::*;
