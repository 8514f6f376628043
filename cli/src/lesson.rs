//! `optimist lesson`: runs lessons.

use std::io::Write;

use optimist_lesson::report_on_lesson;

use crate::style::print;
use crate::{CommandResult, input};

/// The lessons to run.
#[derive(Debug, clap::Args)]
pub struct LessonArguments {
    /// Files of lessons; - is the standard input.
    #[arg(required = true)]
    files: Vec<String>,
}

/// Runs lessons, prints what happens in them and what is false.
pub fn run(arguments: &LessonArguments) -> CommandResult {
    let mut is_true = true;
    for file in &arguments.files {
        let report = report_on_lesson(file, &input::read(file)?);
        print(&report.transcript);
        // A reader that has gone away is no error.
        let _ = std::io::stderr().write_all(report.problems.as_bytes());
        is_true &= report.is_true();
    }
    Ok(is_true)
}
