//! Conformance and whole-page tests.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod page;

pub use optimist_recordings as conformance;
