//! A preview for a pull request.

use optimist_diagnose::preview::{Outcome, Preview, PreviewRow};
use optimist_text::markdown::{code, fenced, folded, head, row as table_row, text};

use super::words;

/// A preview as Markdown: a table, and under it the objects with trouble.
pub fn of(preview: &Preview, tool: &str) -> String {
    let mut out = format!("## {} ({tool})\n\n", text(&words::counts(preview)));
    for trouble in words::troubles(preview) {
        out.push_str(&format!("- {}\n", text(&trouble)));
    }
    if let Some(note) = words::after_refusal(preview) {
        out.push_str(&format!("\n{}\n", text(note)));
    }
    out.push('\n');
    out.push_str(&head(
        &["object", "outcome", "what is wrong"].map(str::to_owned),
    ));
    let shown = preview.rows.iter().filter(|row| !is_quiet(row));
    for row in shown {
        let troubles: Vec<&str> = row.troubles.iter().map(|it| words::trouble(*it)).collect();
        out.push_str(&table_row(&[
            code(&words::object(row)),
            text(words::outcome(row.outcome)),
            text(&troubles.join(", ")),
        ]));
    }
    let quiet = preview.rows.iter().filter(|row| is_quiet(row)).count();
    if quiet > 0 {
        out.push_str(&format!("\n{quiet} more stay as they are.\n"));
    }
    for row in preview.rows.iter().filter(|row| !row.troubles.is_empty()) {
        out.push('\n');
        out.push_str(&folded(&words::object(row), &details(row)));
    }
    out
}

/// Whether nothing happens to an object.
fn is_quiet(row: &PreviewRow) -> bool {
    row.troubles.is_empty() && matches!(row.outcome, Outcome::Unchanged | Outcome::NotTouched)
}

fn details(row: &PreviewRow) -> String {
    let mut out = String::new();
    if !row.message.is_empty() {
        out.push_str(&fenced("", &row.message));
        out.push('\n');
    }
    for field in &row.fields {
        if let Some(said) = words::field(field) {
            out.push_str(&format!("- {}: {}\n", code(&field.field), text(&said)));
        }
    }
    for assumed in &row.assumed {
        out.push_str(&format!("- assumed: {}\n", text(&assumed.to_string())));
    }
    for one in &row.hand_overs {
        let (name, note) = (words::hand_over(one), words::hand_over_note(one));
        out.push_str(&format!(
            "\n{} {}\n\n",
            text(&format!("{name}.")),
            text(&note)
        ));
        for step in &one.steps {
            for warning in &step.warnings {
                out.push_str(&format!("- {}\n", text(warning)));
            }
            let first = step
                .try_first
                .as_ref()
                .map(|it| format!("# First try:\n{it}"));
            let all = first.unwrap_or_default() + &step.text;
            out.push_str(&fenced(step.language, &all));
            out.push('\n');
        }
    }
    out
}
