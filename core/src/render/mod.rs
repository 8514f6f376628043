//! Objects and steps in forms that people read.

mod call;
mod changes;
mod client_go;
mod edits;
mod kube_rs;
mod kubectl;
mod yaml;

pub use call::{Call, Snippet};
pub use changes::{Change, changes};
pub use client_go::client_go;
pub use kube_rs::kube_rs;
pub use kubectl::kubectl;
pub use yaml::{Line, Token, lines, to_yaml};
