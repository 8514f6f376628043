//! Reads what people bring from a cluster: the error messages that tools print, so far. It knows the
//! API server's texts and where other tools put them. It depends on `optimist-apiserver` only, knows no
//! browser, and guesses nothing: what a text does not say stays `None`, and the page asks for it.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod message;
