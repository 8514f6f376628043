//! Optimist's core: an etcd-like revisioned store under a Kubernetes-like API server, and the
//! clients that write through it. It knows no browser, no clock and no randomness.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod server;
