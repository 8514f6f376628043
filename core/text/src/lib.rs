//! Histories and requests as text: links that carry a session ([`share`]), exports for elsewhere
//! ([`export`]), and requests as commands and code ([`render`]). It may use every other crate of
//! `core`; only the page and the tests use it.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod export;
pub mod render;
pub mod share;
mod shell;
