//! The release site in a real browser: a server for it, and a driver that clicks and types.

mod browser;
mod site;

pub use browser::{Browser, Element};
pub use site::{Fault, Site};
