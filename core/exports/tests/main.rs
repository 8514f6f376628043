//! Tests of the public items of this crate.

mod changed_texts;
mod exports;
mod hostile_scripts;
mod installed_start;
mod program_file;
