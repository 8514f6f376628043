//! Histories and requests as text: sessions as links ([`share`]), exports ([`export`]), and
//! requests as commands and code ([`render`]). What looks private is left out by [`private`]. The crate may use every other crate of `core`. Only
//! the page and the tests use it.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod export;
pub mod markdown;
pub mod private;
pub mod render;
pub mod share;
mod shell;

pub use shell::{delimiter, one_line, quote, quote_always, without_nul};
