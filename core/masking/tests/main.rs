//! Tests of the public items of this crate.

mod masked;
