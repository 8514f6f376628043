//! `lesson FILE...`: runs lessons, prints what happens in them, and reports false claims.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;

use optimist_lesson::{Lesson, check_lesson, try_mutants};

fn main() -> ExitCode {
    let files: Vec<String> = std::env::args().skip(1).collect();
    if files.is_empty() {
        eprintln!("usage: lesson FILE...");
        return ExitCode::from(2);
    }
    let mut wrong = false;
    for file in &files {
        wrong |= !check(file);
    }
    if wrong {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Whether all claims of a lesson are true.
fn check(file: &str) -> bool {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{file}: {error}");
            return false;
        }
    };
    let lesson = match Lesson::parse(&text) {
        Ok(lesson) => Arc::new(lesson),
        Err(error) => {
            eprintln!("{file}:{}: {}", error.line, error.message);
            return false;
        }
    };
    let proof = check_lesson(&lesson);
    println!("{}", proof.transcript);
    if let Ok(report) = try_mutants(&lesson) {
        let (tried, accepted) = (report.tried, report.accepted);
        println!("other ways of writing: {tried} tried, {accepted} of them reach a task");
        // A lesson of the catalogue must say why; see `core/lesson/tests/lessons.rs`.
        for problem in &report.problems {
            println!("{file}:{}: {}", problem.line, problem.message);
        }
    }
    for problem in &proof.problems {
        eprintln!("{file}:{}: {}", problem.line, problem.message);
    }
    if proof.problems.is_empty() {
        println!("{file}: everything in it is true");
    }
    proof.problems.is_empty()
}
