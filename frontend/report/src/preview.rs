//! Writes the preview of a tool's writes to many objects, for a pull request.

use optimist_client::Preset;
use optimist_diagnose::preview::{HandOver, Preview, PreviewOutcome, PreviewRow};
use optimist_exports::markdown::{code, row, text};
use optimist_messages::{label, preview as messages};

use crate::change::instruction;
use crate::document::{CaseDocument, head};

/// A preview as Markdown: a table of the objects to which something happens, and the ways out of each
/// conflict, folded.
pub fn preview_markdown(preview: &Preview, tool: Preset) -> String {
    let mut out = CaseDocument::default();
    let (title, run) = messages::headline(preview, tool);
    out.heading(2, &title);
    let says: Vec<String> = messages::preview_headline(preview, tool)
        .into_iter()
        .chain(run)
        .collect();
    out.says(&says.join(" "));
    for assumed in messages::assumptions(preview) {
        out.bullet(&assumed);
    }
    out.end();
    let columns = [
        label::upgrade_object(),
        label::upgrade_happens(),
        label::upgrade_fields(),
    ];
    let (quiet, shown): (Vec<_>, Vec<_>) = preview.rows.iter().partition(|row| is_quiet(row));
    if !shown.is_empty() {
        let mut table = head(&columns);
        shown.iter().for_each(|one| table.push_str(&line(one)));
        out.block(&table);
    }
    if !quiet.is_empty() {
        out.says(&label::upgrade_quiet(&quiet.len()));
    }
    for one in shown {
        details(&mut out, one);
    }
    out.finish()
}

/// Returns whether nothing happens to an object.
fn is_quiet(row: &PreviewRow) -> bool {
    row.troubles.is_empty()
        && matches!(
            row.outcome,
            PreviewOutcome::Unchanged | PreviewOutcome::NotTouched
        )
}

fn line(one: &PreviewRow) -> String {
    let mut happens = vec![messages::outcome(one.outcome)];
    happens.extend(messages::troubles(one));
    let fields = messages::fields(one).into_iter();
    let fields: Vec<String> = fields.map(|field| code(&field.field)).collect();
    row(&[
        code(&one.object.id().to_string()),
        text(&happens.join(", ")),
        fields.join(", "),
    ])
}

fn details(out: &mut CaseDocument, row: &PreviewRow) {
    let mut inner = CaseDocument::default();
    for field in messages::open_fields(row) {
        inner.about(&field.field, &messages::owned_change(field));
    }
    for note in messages::notes(row) {
        inner.bullet(&note);
    }
    inner.end();
    for one in &row.hand_overs {
        hand_over(&mut inner, one);
    }
    if !inner.is_empty() {
        out.folded(&row.object.id().to_string(), inner);
    }
}

fn hand_over(out: &mut CaseDocument, one: &HandOver) {
    let (name, note) = messages::hand_over(one);
    out.heading(4, &name);
    out.says(&note);
    for step in &one.steps {
        instruction(out, step);
    }
}
