//! The report on a lesson, for a command line.

use std::fmt::Write;
use std::sync::Arc;

use crate::{Lesson, check_lesson, try_mutants};

/// The report on a lesson that was run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LessonReport {
    /// The steps of the lesson and their results.
    pub transcript: String,
    /// Each false claim in a line, with the file and the line of the claim; empty if everything in it is true.
    pub problems: String,
}

impl LessonReport {
    /// Returns whether every claim of the lesson is true.
    pub fn is_true(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Runs a lesson and checks its claims. `name` is the name of its file.
pub fn report_on_lesson(name: &str, text: &str) -> LessonReport {
    let mut report = LessonReport::default();
    let lesson = match Lesson::parse_all(text) {
        Ok(lesson) => Arc::new(lesson),
        Err(errors) => {
            for error in errors {
                let _ = writeln!(report.problems, "{name}:{}: {}", error.line, error.message);
            }
            return report;
        }
    };
    let proof = check_lesson(&lesson);
    let transcript = &mut report.transcript;
    let _ = writeln!(transcript, "{}", proof.transcript);
    if let Ok(mutants) = try_mutants(&lesson) {
        let (tried, accepted) = (mutants.tried, mutants.accepted);
        let _ = writeln!(
            transcript,
            "other ways of writing: {tried} tried, {accepted} of them reach a task"
        );
        let (refused, explained) = (mutants.refused, mutants.explained);
        let _ = writeln!(
            transcript,
            "{refused} do not reach a goal; after {explained} of them the page says why"
        );
        // A lesson of the catalogue must say why; see `core/lesson/tests/lessons/main.rs`.
        for problem in &mutants.problems {
            let _ = writeln!(transcript, "{name}:{}: {}", problem.line, problem.message);
        }
    }
    for problem in &proof.problems {
        let _ = writeln!(
            report.problems,
            "{name}:{}: {}",
            problem.line, problem.message
        );
    }
    if proof.problems.is_empty() {
        let _ = writeln!(report.transcript, "{name}: everything in it is true");
    }
    report
}
