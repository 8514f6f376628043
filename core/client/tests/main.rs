//! Tests of the public items of this crate.

mod calls;
mod client_diffs;
mod procedures;
