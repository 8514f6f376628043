//! Writes the effects of each write method, and the ways out of a conflict.

use optimist_apiserver::object::Metadata;
use optimist_diagnose::ways::{Instruction, InstructionLanguage, Row};
use optimist_exports::markdown;
use optimist_messages::{diagnose as messages, label};
use optimist_state::{CaseReading, ChangeRun, NextRun, SettledConflict};

use crate::document::{CaseDocument, head};

pub(crate) fn table(out: &mut CaseDocument, run: &ChangeRun, reading: Option<&CaseReading>) {
    out.heading(3, &label::ways_title());
    let scene = reading.is_some_and(|it| it.scene.is_some());
    let live = reading.and_then(|it| it.case.live.as_ref());
    let version = live.map_or("", |live| live.resource_version());
    out.says(&messages::ways_says(scene, run.made_up, version));
    disagreements(out, run);
    let notes = reading.and_then(|it| it.installed.as_ref().ok());
    let notes = notes.map(|it| it.notes.as_slice()).unwrap_or_default();
    for notice in notes.iter().filter_map(messages::ways_notice) {
        out.says(&notice);
    }
    let columns = run.columns();
    let (first, others): (Vec<&Row>, Vec<&Row>) = rows(run).partition(|row| run.is_first(row));
    out.block(&messages::rows_markdown(first.iter().copied(), &columns));
    if !others.is_empty() {
        let mut inner = CaseDocument::default();
        inner.block(&messages::rows_markdown(others.iter().copied(), &columns));
        out.folded(&label::ways_all(&run.rows.len()), inner);
    }
    let more = messages::more_fields(&run.fields_without_column());
    if !more.is_empty() {
        out.says(&more);
    }
    let mut said = Vec::new();
    for one in rows(run).flat_map(|row| run.assumptions(row.way)) {
        if !said.contains(&one) {
            out.says(&messages::assumption(one));
            said.push(one);
        }
    }
    let all: Vec<&Row> = first.into_iter().chain(others).collect();
    for row in &all {
        instructions(out, run, row);
    }
    fields(out, &all);
}

/// Writes the differences between the table and the message, and why a client has a conflict with
/// its own name.
fn disagreements(out: &mut CaseDocument, run: &ChangeRun) {
    if let Some(of) = &run.contradiction {
        out.says(&messages::contradiction(of));
    }
    if let Some(of) = &run.same_name {
        out.says(&messages::same_name(of));
    }
}

fn rows(run: &ChangeRun) -> impl Iterator<Item = &Row> {
    run.rows.iter().map(|row| &**row)
}

/// Writes the instructions to make the write of a row.
fn instructions(out: &mut CaseDocument, run: &ChangeRun, row: &Row) {
    let all = run.instructions(row.way);
    if all.is_empty() {
        return;
    }
    let mut inner = CaseDocument::default();
    all.iter().for_each(|one| instruction(&mut inner, one));
    let name = messages::way_whole(row.way);
    out.folded(&format!("{name}: {}", label::ways_instructions()), inner);
}

/// Every field that changed, or whose owners changed: rows with the same are together.
fn fields(out: &mut CaseDocument, all: &[&Row]) {
    let mut tables: Vec<(String, usize, Vec<String>)> = Vec::new();
    for row in all.iter().filter(|row| !row.fields.is_empty()) {
        let mut table = head(&[label::owners_field(), label::ways_answer()]);
        for outcome in &row.fields {
            table.push_str(&markdown::row(&[
                markdown::code(&outcome.field.to_string()),
                markdown::text(&messages::field_fate(row, outcome)),
            ]));
        }
        let name = format!(
            "{} → {}",
            messages::way_whole(row.way),
            messages::row_answer(row)
        );
        match tables.iter_mut().find(|(known, ..)| *known == table) {
            Some((_, _, names)) => names.push(name),
            None => tables.push((table, row.fields.len(), vec![name])),
        }
    }
    for (table, count, names) in tables {
        let mut inner = CaseDocument::default();
        inner.block(&table);
        let count = label::ways_fields(&count);
        out.folded(&format!("{count}: {}", names.join(", ")), inner);
    }
}

/// The ways out, those that settle the conflict first.
pub(crate) fn remedies(out: &mut CaseDocument, run: &ChangeRun) {
    let all = || run.remedies.iter().flatten();
    if all().next().is_none() {
        return;
    }
    out.heading(3, &label::out_title());
    let mut sorted: Vec<_> = all().collect();
    // Stable.
    sorted.sort_by_key(|it| it.out.settling());
    for one in sorted {
        remedy(out, one);
    }
}

/// Writes the options of a client after "the object has been modified".
pub(crate) fn next_writes(out: &mut CaseDocument, run: &NextRun) {
    out.heading(3, &label::next_title());
    out.says(&label::next_says());
    for one in &run.done {
        let (title, says) = messages::next_write(one.attempt.method).unwrap_or_default();
        out.heading(4, &title);
        out.says(&says);
        out.says(&messages::next_outcome(&one.attempt));
        for command in &one.commands {
            instruction(out, command);
        }
        if let Some(go) = &one.go {
            let mut inner = CaseDocument::default();
            inner.code("go", go);
            out.folded(&label::next_go(), inner);
        }
    }
}

fn remedy(out: &mut CaseDocument, settled: &SettledConflict) {
    let of = &settled.out;
    let (title, says) = messages::remedy(of);
    out.heading(4, &title);
    out.says(&says);
    if of.settles {
        out.says(&messages::out_settles(of));
    }
    for note in messages::row_notes(&of.row) {
        out.bullet(&note);
    }
    out.end();
    for one in &settled.instructions {
        instruction(out, one);
    }
    if settled.instructions.is_empty() {
        out.says(&no_commands(settled));
    }
}

/// Writes a command, code or lines of a manifest, with the warnings and the steps to take before.
pub(crate) fn instruction(out: &mut CaseDocument, one: &Instruction) {
    for warning in &one.warnings {
        out.says(&messages::instruction_warning(warning));
    }
    if let Some(first) = &one.try_first {
        out.says(&label::instruction_try());
        out.command(first);
        out.says(&label::instruction_do());
    }
    if one.language == InstructionLanguage::Lines {
        out.says(&label::ways_lines());
    }
    let language = match one.language {
        InstructionLanguage::Shell => "sh",
        InstructionLanguage::Go => "go",
        InstructionLanguage::Terraform => "hcl",
        InstructionLanguage::Lines => "diff",
    };
    out.code(language, one.text.trim_end());
}

/// Says why a way out has no commands.
fn no_commands(settled: &SettledConflict) -> String {
    if settled.made_up {
        label::out_made_up()
    } else {
        label::out_none()
    }
}
