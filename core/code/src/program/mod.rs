//! The program of a controller as Go with controller-runtime, as Rust with kube-rs and in words: lines
//! that know their statements, so that a page can mark the current one.
//!
//! People wrote the Go and the Rust of the ready programs, as files. Words are made for every program.

mod files;
mod plain;
mod switchable;
mod template;

pub use switchable::{SwitchableLine, switchable_lines};

use std::ops::Range;

use optimist_controller::Source;
use optimist_controller::program::ReadyProgram;
use optimist_simulation::ControllerProgram;

/// The language in which a program is displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProgramLanguage {
    /// Go with `sigs.k8s.io/controller-runtime` v0.25.
    Go,
    /// Rust with `kube` 4.
    Rust,
    /// Plain words.
    Plain,
}

impl ProgramLanguage {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Go, Self::Rust, Self::Plain];
}

/// A program as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramText {
    /// The imports of its code.
    pub imports: String,
    /// Its lines.
    pub lines: Vec<ProgramLine>,
}

/// A line of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramLine {
    /// The number of steps by which it is indented.
    pub depth: usize,
    /// The line, without its indentation and line end.
    pub text: String,
    /// The numbers of its statements, as `Code::statement_at` counts; empty if it belongs to none.
    /// The line that ends a run after the last statement has the number after that statement.
    pub statements: Range<usize>,
    /// The source that answers the statement; only on the line that reads or writes.
    pub answered: Option<Source>,
}

/// The languages in which a program has a text. Go and Rust are those of a ready program for the usual
/// kinds of objects ([`ReadyProgram::widget`], [`ReadyProgram::config_map`]); any other program has
/// plain words alone.
pub fn program_languages(program: &ControllerProgram) -> &'static [ProgramLanguage] {
    match program {
        ControllerProgram::Ready(ready) if files::has_usual_kinds(ready) => &ProgramLanguage::ALL,
        _ => &[ProgramLanguage::Plain],
    }
}

/// The text of a program; in plain words if it has none in the language.
pub fn program_text(program: &ControllerProgram, language: ProgramLanguage) -> ProgramText {
    match program {
        ControllerProgram::Ready(ready) => ready_text(ready, language),
        ControllerProgram::Written(written) => plain::render(written),
    }
}

fn ready_text(ready: &ReadyProgram, language: ProgramLanguage) -> ProgramText {
    match files::file(ready, language) {
        Some(file) => files::render(file, ready),
        None => plain::render(&ready.program()),
    }
}
