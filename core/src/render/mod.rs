//! Objects and steps in forms that people read.

mod changes;
mod yaml;

pub use changes::{Change, changes};
pub use yaml::{Line, Token, lines, to_yaml};
