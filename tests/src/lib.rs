//! Conformance and whole-page tests.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod conformance;
pub mod page;
