//! `lesson FILE...`: runs lessons, prints what happens in them, and reports false claims.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use optimist_lesson::report_on_lesson;

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

/// Returns whether all claims of a lesson are true.
fn check(file: &str) -> bool {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{file}: {error}");
            return false;
        }
    };
    let report = report_on_lesson(file, &text);
    print!("{}", report.transcript);
    eprint!("{}", report.problems);
    report.is_true()
}
