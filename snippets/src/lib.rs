//! The kube-rs snippets that the page shows, compiled: `cargo check --manifest-path
//! snippets/Cargo.toml`. Apart from the workspace, for only this needs the `kube` crate.
#![deny(warnings)]
#![allow(dead_code)]

include!(concat!(env!("OUT_DIR"), "/snippets.rs"));
