//! A kube-apiserver in a library: an etcd-like revisioned store, the schema of each kind, the four
//! kinds of patch, server-side apply, and the verbs. [`server::ApiServer::handle`] takes an HTTP
//! request and returns the HTTP response that a real server gives. The crate has no clock and no
//! randomness: time and uids come from [`environment::Environment`], which the caller owns, so the
//! same requests always get the same answers. It depends on no other crate of the workspace; the
//! clients, the simulation and the page all send their requests here.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod apply;
pub mod environment;
pub mod go;
pub mod json;
pub mod limits;
pub mod object;
pub mod patch;
pub mod schema;
pub mod server;
#[cfg(feature = "tower")]
pub mod shared;
pub mod status;
pub mod storage;
pub mod yaml;
