//! A preview for people.

use optimist_client::Preset;
use optimist_diagnose::preview::{HandOver, Preview, PreviewOutcome, PreviewRow};
use optimist_messages::{diagnose, label, preview as messages};

use crate::style::{Colour, Style};

/// The most fields of an object that are listed.
const FIELDS: usize = 12;

/// A preview as text.
pub fn table(preview: &Preview, (tool, options): (Preset, &str), style: &Style) -> String {
    let mut out = String::new();
    if let Some(says) = messages::preview_headline(preview, tool) {
        line(&mut out, &style.paint(Colour::Bold, &says));
    }
    let counts = format!("{} ({options})", messages::counts(preview));
    line(&mut out, &style.paint(Colour::Bold, &counts));
    if let Some(troubles) = messages::trouble_counts(preview) {
        line(&mut out, &troubles);
    }
    if preview.refusals() > 0 {
        line(&mut out, &messages::after_refusal(preview));
    }
    for assumed in messages::assumptions(preview) {
        line(&mut out, &assumed);
    }
    out.push('\n');
    let outcomes = preview.rows.iter().map(|it| messages::outcome(it.outcome));
    let width = outcomes.map(|it| it.len()).max().unwrap_or_default();
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
        PreviewOutcome::Deleted => Colour::Red,
        _ if !row.troubles.is_empty() => Colour::Yellow,
        PreviewOutcome::Created | PreviewOutcome::Changed => Colour::Green,
        _ => Colour::Grey,
    };
    let outcome = format!("{:width$}", messages::outcome(row.outcome));
    let name = row.object.id();
    line(out, &format!("{}  {name}", style.paint(colour, &outcome)));
    let mut say = |text: &str| {
        let lines = text.lines().flat_map(|line| style.wrapped(line, 6));
        for (at, part) in lines.enumerate() {
            let indent = if at == 0 { "    " } else { "      " };
            line(out, &format!("{indent}{part}"));
        }
    };
    messages::troubles(row).iter().for_each(|text| say(text));
    let fields = messages::open_fields(row);
    for field in fields.iter().take(FIELDS) {
        say(&format!(
            "{}: {}",
            field.field,
            messages::owned_change(field)
        ));
    }
    if fields.len() > FIELDS {
        say(&label::upgrade_more(&(fields.len() - FIELDS)));
    }
    messages::notes(row).iter().for_each(|text| say(text));
    for one in &row.hand_overs {
        hand_over(out, one);
    }
}

fn hand_over(out: &mut String, one: &HandOver) {
    let (name, note) = messages::hand_over(one);
    line(out, &format!("    - {name}. {note}"));
    for step in &one.steps {
        for warning in &step.warnings {
            let warning = diagnose::instruction_warning(warning);
            line(out, &format!("        ! {warning}"));
        }
        if let Some(first) = &step.try_first {
            line(out, &format!("        # {}", label::instruction_try()));
            block(out, first);
            line(out, &format!("        # {}", label::instruction_do()));
        }
        block(out, &step.text);
    }
}

fn block(out: &mut String, text: &str) {
    for text in text.lines() {
        line(out, &format!("        {text}"));
    }
}
