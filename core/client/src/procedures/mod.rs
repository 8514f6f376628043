//! The processes that people know, a file each.

pub(crate) mod agent;
mod client_side_apply;
mod deletion;
pub(crate) mod editor;
mod flux;
pub(crate) mod part;
pub(crate) mod read_change;
mod server_side_apply;
mod source;
pub(crate) mod tool;
pub mod tracking;
mod upgrade;
