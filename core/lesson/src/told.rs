//! What is told of a lesson on a command line.

use std::fmt::Write;
use std::sync::Arc;

use crate::{Lesson, check_lesson, try_mutants};

/// What is told of a lesson that was run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// What happens in it, step by step.
    pub happened: String,
    /// Each false claim in a line, with the file and the line of the claim; empty if everything in it is true.
    pub problems: String,
}

impl Told {
    /// Whether everything in the lesson is true.
    pub fn is_true(&self) -> bool {
        self.problems.is_empty()
    }
}

/// Runs a lesson and checks its claims. `name` is what its file is called.
pub fn told(name: &str, text: &str) -> Told {
    let mut told = Told::default();
    let lesson = match Lesson::parse(text) {
        Ok(lesson) => Arc::new(lesson),
        Err(error) => {
            told.problems = format!("{name}:{}: {}\n", error.line, error.message);
            return told;
        }
    };
    let proof = check_lesson(&lesson);
    let happened = &mut told.happened;
    let _ = writeln!(happened, "{}", proof.transcript);
    if let Ok(report) = try_mutants(&lesson) {
        let (tried, accepted) = (report.tried, report.accepted);
        let _ = writeln!(
            happened,
            "other ways of writing: {tried} tried, {accepted} of them reach a task"
        );
        // A lesson of the catalogue must say why; see `core/lesson/tests/lessons.rs`.
        for problem in &report.problems {
            let _ = writeln!(happened, "{name}:{}: {}", problem.line, problem.message);
        }
    }
    for problem in &proof.problems {
        let _ = writeln!(
            told.problems,
            "{name}:{}: {}",
            problem.line, problem.message
        );
    }
    if proof.problems.is_empty() {
        let _ = writeln!(told.happened, "{name}: everything in it is true");
    }
    told
}
