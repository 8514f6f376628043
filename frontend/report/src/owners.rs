//! Writes the owners of fields.

use optimist_apiserver::object::Metadata;
use optimist_diagnose::message::PrintedError;
use optimist_exports::markdown;
use optimist_messages::{diagnose as messages, label};
use optimist_state::{CaseReading, DiagnoseState};

use crate::document::{CaseDocument, head};
use crate::not_installed;

/// The most rows of a table that is not folded.
pub(crate) const UNFOLDED: usize = 20;

pub(crate) fn owners(out: &mut CaseDocument, reading: &CaseReading) {
    out.heading(3, &label::owners_title());
    let Some(ownership) = &reading.ownership else {
        return out.says(&not_installed(reading));
    };
    let live = reading.case.live.as_ref();
    let version = live.map_or("", |live| live.resource_version());
    out.says(&messages::owned_object(&reading.title(), version));
    let notes = reading.installed.as_ref().map(|installed| &installed.notes);
    for note in notes.into_iter().flatten() {
        out.says(&messages::case_note(note));
    }
    for entry in &ownership.managers {
        let name = messages::entry_owner(ownership, entry);
        let count = entry.fields.len();
        out.about(
            &label::owners_chip(&name, &count),
            &messages::manager_entry(entry),
        );
    }
    let table = ownership.to_markdown();
    let values = ownership.lines.iter().filter(|it| it.line.value.is_some());
    table_of(out, values.count(), &table);
}

/// A table, folded if it is long.
fn table_of(out: &mut CaseDocument, rows: usize, table: &str) {
    if rows <= UNFOLDED {
        return out.block(table);
    }
    let mut inner = CaseDocument::default();
    inner.block(table);
    out.folded(&label::report_owners(&rows), inner);
}

/// Writes the owners that error messages name, if there is no other input.
pub(crate) fn of_messages(out: &mut CaseDocument, case: &DiagnoseState) {
    let mut table = String::new();
    for error in case.errors() {
        let PrintedError::Apply(conflicts) = &error.error else {
            continue;
        };
        for conflict in conflicts {
            let owner = markdown::text(&messages::conflict_owner(conflict));
            for field in &conflict.fields {
                table.push_str(&markdown::row(&[markdown::code(field), owner.clone()]));
            }
        }
    }
    if !table.is_empty() {
        out.heading(3, &label::owners_title());
        out.says(&label::owners_in_message_text());
        let heads = head(&[label::owners_field(), label::owners_owner()]);
        out.block(&format!("{heads}{table}"));
    }
}
