//! Optimist's core: an etcd-like revisioned store under a Kubernetes-like API server, and the
//! clients that write through it. It knows no browser, no clock and no randomness: time and uids
//! come from [`environment::Environment`], which the caller owns, so every history replays the same.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod apply;
pub mod client;
pub mod environment;
pub mod explore;
pub mod export;
pub mod go;
pub mod json;
pub mod lesson;
pub mod object;
pub mod patch;
pub mod render;
pub mod schema;
pub mod server;
pub mod share;
pub mod sim;
pub mod status;
pub mod storage;
pub mod yaml;
