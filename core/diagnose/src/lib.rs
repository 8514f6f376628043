//! Reads what people bring from a cluster: the error messages that tools print, and versions of an
//! object over time. It depends on `optimist-apiserver` only, knows no
//! browser, and guesses nothing: what a text does not say stays `None`, and the page asks for it.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod message;
pub mod observed;
