//! Tests of the public items of this crate.

mod advice;
mod audit;
mod deleted;
mod fields;
mod named;
mod open_questions;
mod owners;
mod previews;
mod texts;
mod tools;
