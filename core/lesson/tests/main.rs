//! Tests of the public items of this crate.

mod controllers;
mod files;
mod incidents;
mod properties;
mod quizzes;
mod teaching;
mod texts;
