//! A preview for people.

use optimist_diagnose::preview::{HandOver, Outcome, Preview, PreviewRow};

use super::words;
use crate::style::{Colour, Style};

/// The most fields of an object that are listed.
const FIELDS: usize = 12;

/// A preview as text.
pub fn of(preview: &Preview, tool: &str, style: &Style) -> String {
    let mut out = String::new();
    let counts = format!("{} ({tool})", words::counts(preview));
    line(&mut out, &style.paint(Colour::Bold, &counts));
    for trouble in words::troubles(preview) {
        line(&mut out, &format!("  {trouble}"));
    }
    if let Some(note) = words::after_refusal(preview) {
        line(&mut out, note);
    }
    out.push('\n');
    let width = preview
        .rows
        .iter()
        .map(|it| words::outcome(it.outcome).len());
    let width = width.max().unwrap_or_default();
    for row in &preview.rows {
        object(&mut out, row, width, style);
    }
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

fn object(out: &mut String, row: &PreviewRow, width: usize, style: &Style) {
    let colour = match row.outcome {
        it if it.is_refusal() => Colour::Red,
        Outcome::Deleted => Colour::Red,
        _ if !row.troubles.is_empty() => Colour::Yellow,
        Outcome::Created | Outcome::Changed => Colour::Green,
        _ => Colour::Grey,
    };
    let outcome = format!("{:width$}", words::outcome(row.outcome));
    line(
        out,
        &format!("{}  {}", style.paint(colour, &outcome), words::object(row)),
    );
    let mut say = |text: &str| line(out, &format!("    {}", style.cut(text, 4)));
    if !row.message.is_empty() && row.outcome != Outcome::Conflict {
        say(&row.message.replace('\n', " "));
    }
    let told: Vec<String> = row
        .fields
        .iter()
        .filter_map(|field| Some(format!("{}: {}", field.field, words::field(field)?)))
        .collect();
    // What a new object has is in its manifest.
    let told = if row.outcome == Outcome::Created {
        &[]
    } else {
        told.as_slice()
    };
    for text in told.iter().take(FIELDS) {
        say(text);
    }
    if told.len() > FIELDS {
        say(&format!("and {} more fields", told.len() - FIELDS));
    }
    for one in &row.stuck {
        say(&format!(
            "managedFields of {} names {}, which the definition does not have",
            one.manager, one.api_version
        ));
    }
    if !row.finalizers.is_empty() {
        say(&format!("held by {}", row.finalizers.join(", ")));
    }
    for warning in &row.warnings {
        say(&format!("warning: {warning}"));
    }
    for assumed in &row.assumed {
        say(&format!("assumed: {assumed}"));
    }
    for out_of_it in &row.hand_overs {
        hand_over(out, out_of_it);
    }
}

fn hand_over(out: &mut String, one: &HandOver) {
    line(
        out,
        &format!(
            "    - {}. {}",
            words::hand_over(one),
            words::hand_over_note(one)
        ),
    );
    for step in &one.steps {
        for warning in &step.warnings {
            line(out, &format!("        ! {warning}"));
        }
        for (said, text) in [
            ("# First try:", step.try_first.as_ref()),
            ("", Some(&step.text)),
        ] {
            let Some(text) = text else {
                continue;
            };
            if !said.is_empty() {
                line(out, &format!("        {said}"));
            }
            for text in text.lines() {
                line(out, &format!("        {text}"));
            }
        }
    }
}
