//! What regions, buttons and fields of the page are called, and its fixed sentences: messages of
//! the catalogue that do not depend on what happened.

pub use crate::en::*;
