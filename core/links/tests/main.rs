//! Tests of the public items of this crate.

mod controller_links;
mod controller_programs;
mod mutations;
mod private;
mod session;
mod share;
