//! Tests of the public items of this crate.

mod actions;
#[cfg(feature = "protobuf")]
mod audited;
mod compared;
mod devices;
mod limited;
mod linear_work;
mod pod_security;
mod policies;
mod properties;
mod rare_kinds;
mod refused;
mod warned;
