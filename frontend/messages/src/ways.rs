//! Diagnose's sentences about ways of writing and their effects.

use optimist_apiserver::apply::{Manager, Path, PathElement};
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::Fact;
use optimist_client::{Preset, WriteMethod};
use optimist_diagnose::completions::{OpenQuestion, RemedyEffect, Then};
use optimist_diagnose::modified::NextAttempt;
use optimist_diagnose::ways::{
    Assumption, FieldEffect, FieldOutcome, InstructionWarning, OnOwned, Remedy, RemedyKind, Row,
    TakenBack, Way,
};

use optimist_exports::markdown::{head, row, text};

use crate::claims::{is_open, open_answer, open_questions};
use crate::diagnose::{manager_name, names, owner_beside, written, written_change};
use crate::edits::{column_heads, fields};
use crate::{client, en};

/// The number of fields that a sentence names.
const NAMED: usize = 2;

/// Names a client for a place where nothing around it shows that it is one of kubectl.
pub fn client_long(preset: Preset) -> String {
    if preset.is_kubectl() {
        en::client_of_kubectl(&client(preset))
    } else {
        client(preset)
    }
}

/// Names a way of writing, and its treatment of conflicts of ownership.
pub fn way(way: Way) -> (String, Option<String>) {
    match way {
        Way::Create => (en::way_create(), None),
        Way::Client(preset, on_owned) => {
            let more = match on_owned {
                OnOwned::Usual => None,
                OnOwned::Force => Some(en::way_force()),
                OnOwned::LeaveOut => Some(en::way_leave_out()),
            };
            (client_long(preset), more)
        }
    }
}

/// Names the effect on a field, in a word or two.
pub fn effect(effect: FieldEffect) -> String {
    match effect {
        FieldEffect::Refused => en::effect_refused(),
        FieldEffect::TakenOver => en::effect_taken_over(),
        FieldEffect::Changed => en::effect_changed(),
        FieldEffect::Added => en::effect_added(),
        FieldEffect::Removed => en::effect_removed(),
        FieldEffect::Kept => en::effect_kept(),
        FieldEffect::Shared => en::effect_shared(),
        FieldEffect::OwnersChanged => en::effect_owners_changed(),
        FieldEffect::LeftBehind => en::effect_left_behind(),
    }
}

/// Returns the owners of a field before and after, if they changed; else its owners. Owners of one name are told
/// apart. Empty if it has none, or if they depend on a part that a text leaves out.
pub fn owners_change(outcome: &FieldOutcome) -> String {
    if outcome.owners_before.is_empty() && outcome.owners_after.is_empty() {
        return String::new();
    }
    let both = outcome.owners_before.iter().chain(&outcome.owners_after);
    let both: Vec<&Manager> = both.collect();
    let all = |managers: &[Manager]| {
        let all = managers
            .iter()
            .map(|it| owner_beside(it, both.iter().copied()));
        let all: Vec<String> = all.collect();
        if all.is_empty() {
            en::owners_no_owner()
        } else {
            all.join(", ")
        }
    };
    let (before, after) = (all(&outcome.owners_before), all(&outcome.owners_after));
    let (old, new) = (&outcome.owners_before, &outcome.owners_after);
    // The order of the entries says nothing.
    if old.len() == new.len() && old.iter().all(|it| new.contains(it)) {
        before
    } else {
        format!("{before} → {after}")
    }
}

/// Returns the notes of a row, the most important first.
pub fn row_notes(row: &Row) -> Vec<String> {
    let mut notes = open_questions(row);
    let written = |one: &OpenQuestion| matches!(one.then, Then::Written { .. });
    if open_answer(row).is_some() {
        // Nothing of the answer is known.
    } else if row.is_refused() {
        notes.push(refusal(row));
        // Other code could set the whole list, and be accepted.
        let is_invalid = row.code == Some(422) && row.edits_copy();
        notes.extend(is_invalid.then(en::row_edits_copy));
        notes.extend(version_of_manifest(row));
    } else if row.is_being_deleted() {
        notes.push(match row.held_by().as_slice() {
            [] => en::row_deleted_later(),
            held => en::row_held(&held.join(", ")),
        });
    } else if row.requests.is_empty() {
        notes.push(en::row_nothing_sent());
    } else if !row.is_written() && !row.open.iter().any(written) {
        notes.push(en::row_nothing_changed());
    }
    let with = |effect| {
        // What the status says is not written by these ways.
        let of = row
            .with(effect)
            .filter(|it| effect != FieldEffect::Kept || !it.field.is_in_status());
        let of = fields(of.map(|it| &it.field));
        (!of.is_empty()).then(|| (listed(&of), of.len()))
    };
    let taken = with(FieldEffect::TakenOver);
    notes.extend(taken.map(|(named, _)| en::row_takes(&named)));
    notes.extend(taken_back(&row.taken_back));
    let removed = with(FieldEffect::Removed);
    notes.extend(removed.map(|(named, count)| en::row_removes(&count, &named)));
    let left = with(FieldEffect::LeftBehind);
    notes.extend(left.map(|(named, _)| en::row_leaves(&named)));
    // The object does not keep a value: it goes.
    let kept = with(FieldEffect::Kept).filter(|_| !row.is_refused() && !row.is_being_deleted());
    notes.extend(kept.map(|(named, _)| en::row_keeps(&named)));
    let set = fields(row.set_by_server().map(|it| &it.field));
    notes.extend((!set.is_empty()).then(|| en::row_set_by_server(&listed(&set))));
    let shared = with(FieldEffect::Shared);
    notes.extend(shared.map(|(_, count)| en::row_shares(&count)));
    match &row.second_run {
        _ if row.is_being_deleted() => {}
        Some(second) if second.changes => notes.push(en::row_second_changes()),
        Some(_) if row.is_written() => notes.push(en::row_second_nothing()),
        _ => {}
    }
    notes.extend(row.warnings.iter().map(|warning| en::row_warning(warning)));
    notes
}

/// Says what helps if a row is refused for the version that the manifest names: nobody else writes while it runs.
fn version_of_manifest(row: &Row) -> Option<String> {
    let last = row.requests.last()?;
    let differs = |fact: &Fact| matches!(fact, Fact::VersionDiffered { .. });
    let sent = last.sent.resource_version();
    let is_sent = !sent.is_empty() && last.facts.iter().any(differs);
    is_sent.then(|| en::row_version_of_manifest(&sent))
}

/// The answer of a row: its code, if it is known.
pub fn row_answer(row: &Row) -> String {
    let known = || row.code.map(|code| code.to_string());
    let answer = open_answer(row).or_else(known);
    answer.unwrap_or_else(en::ways_nothing_sent)
}

/// Names a row as a whole.
pub fn way_whole(of: Way) -> String {
    let (name, more) = way(of);
    match more {
        Some(more) => format!("{name} {more}"),
        None => name,
    }
}

/// Says the change of a field's value: `8 → 3`, `8 stays`.
pub fn fate(row: &Row, outcome: &FieldOutcome) -> String {
    if row.values_made_up {
        return fate_of_any(outcome);
    }
    let (before, after) = (outcome.before.as_ref(), outcome.after.as_ref());
    match outcome.effect {
        FieldEffect::TakenOver
        | FieldEffect::Changed
        | FieldEffect::Added
        | FieldEffect::Removed => written_change(before, after),
        FieldEffect::Refused | FieldEffect::Kept => en::ways_stays(&written(after)),
        FieldEffect::Shared | FieldEffect::OwnersChanged | FieldEffect::LeftBehind => {
            written(after)
        }
    }
}

/// Says the change of a field's value without the value itself: the values are made up.
fn fate_of_any(outcome: &FieldOutcome) -> String {
    match (&outcome.before, &outcome.after) {
        _ if outcome.effect == FieldEffect::Refused => en::fate_stays(),
        (None, None) => en::absent(),
        (_, None) => en::fate_vanishes(),
        (before, after) if before == after => en::fate_stays(),
        (_, after) if *after == outcome.wanted => en::fate_manifest(),
        _ => en::fate_default(),
    }
}

/// Says the change of a field that has a column, in a row.
pub fn column_fate(row: &Row, column: &Path) -> String {
    let mut of = row.fields.iter().filter(|field| field.field == *column);
    match of.next() {
        Some(outcome) => fate(row, outcome),
        None if is_open(row, column) => en::ways_depends(),
        None if row.values_made_up || is_item(column) => {
            match (column.find(&row.before), column.find(&row.after)) {
                (None, None) => en::absent(),
                (_, None) => en::fate_vanishes(),
                (before, after) if before == after => en::fate_stays(),
                _ => en::fate_default(),
            }
        }
        None => written(column.find(&row.after)),
    }
}

/// Returns whether a column is a whole list item: it stays or goes.
fn is_item(column: &Path) -> bool {
    matches!(column.0.last(), Some(PathElement::Key(_)))
}

/// Names the fields that change and have no column; empty if there are none.
pub fn more_fields(paths: &[Path]) -> String {
    match paths.len() {
        0 => String::new(),
        count => en::ways_more_fields(&count, &listed(&column_heads(paths))),
    }
}

/// Says the effect on a field and on its owners: `is taken over: 8 → 3 · helm`.
pub fn field_fate(row: &Row, outcome: &FieldOutcome) -> String {
    let says = format!("{}: {}", effect(outcome.effect), fate(row, outcome));
    match owners_change(outcome) {
        owners if owners.is_empty() => says,
        owners => format!("{says} · {owners}"),
    }
}

/// Rows as a Markdown table, with a column for each of some fields.
pub fn rows_markdown<'a>(rows: impl Iterator<Item = &'a Row>, columns: &[Path]) -> String {
    let mut heads = vec![en::ways_way(), en::ways_answer()];
    heads.extend(column_heads(columns).iter().map(|head| text(head)));
    heads.push(en::ways_note());
    let mut table = head(&heads);
    for one in rows {
        let mut cells = vec![text(&way_whole(one.way)), text(&row_answer(one))];
        cells.extend(columns.iter().map(|column| text(&column_fate(one, column))));
        cells.push(text(&row_notes(one).join(" ")));
        table.push_str(&row(&cells));
    }
    table
}

/// Says why a row was refused.
fn refusal(row: &Row) -> String {
    let of = fields(row.with(FieldEffect::Refused).map(|it| &it.field));
    if row.is_written() && row.requests.iter().any(|it| it.method == "DELETE") {
        en::row_put_back(&row.message)
    } else if row.is_written() {
        en::row_refused_later(&row.message)
    } else if of.is_empty() && row.values_made_up {
        // The message names what is made up.
        en::row_refused(&row.reason)
    } else if of.is_empty() {
        en::row_refused(&row.message)
    } else {
        en::row_refused_for(&listed(&of))
    }
}

/// Names the managers that will write the taken fields again.
fn taken_back(all: &[TakenBack]) -> Vec<String> {
    let mut managers: Vec<String> = Vec::new();
    for one in all {
        let name = if one.autoscaler {
            en::row_autoscaler()
        } else {
            manager_name(&one.manager.name)
        };
        if !managers.contains(&name) {
            managers.push(name);
        }
    }
    if managers.is_empty() {
        return Vec::new();
    }
    vec![en::row_taken_back(&names(&managers))]
}

/// Says an assumption of a row.
pub fn assumption(assumption: Assumption) -> String {
    match assumption {
        Assumption::PreviousRelease => en::assume_previous_release(),
        Assumption::ServerSide => en::assume_server_side(),
        Assumption::InState => en::assume_in_state(),
        Assumption::UnknownRelease => en::assume_unknown_release(),
        Assumption::UnknownKustomization => en::assume_unknown_kustomization(),
        Assumption::UnknownApplication => en::assume_unknown_application(),
    }
}

/// `replicas, image and 3 more`.
pub(crate) fn listed(fields: &[String]) -> String {
    let named = fields.iter().take(NAMED).cloned();
    let named: Vec<String> = named.collect();
    match fields.len().saturating_sub(NAMED) {
        0 => names(&named),
        more => en::row_more(&named.join(", "), &more),
    }
}

/// Returns the sentence of a warning to read before running a command.
pub fn instruction_warning(warning: &InstructionWarning) -> String {
    let all = |paths: &[Path]| listed(&fields(paths));
    match warning {
        InstructionWarning::Removes(paths) => en::warning_removes(&paths.len(), &all(paths)),
        InstructionWarning::NeededToCreate(fields) => en::warning_needed(&listed(fields)),
        InstructionWarning::AbsentFromNew(paths) => en::warning_absent(&all(paths)),
        InstructionWarning::OtherRecord { manager } => en::warning_record(manager),
        InstructionWarning::NotInDryRun(paths) => en::warning_dry_run(&all(paths)),
        InstructionWarning::RemovedByKubectl(paths) => {
            en::warning_by_kubectl(&paths.len(), &all(paths))
        }
    }
}

/// Returns the name of a way out of a conflict, and its meaning.
pub fn remedy(out: &Remedy) -> (String, String) {
    // What a write that is refused would do is not said.
    let accepted = out.row.code.is_some_and(|code| code < 300);
    let then = |says: String, is: bool, more: fn() -> String| match accepted && is {
        true => format!("{says} {}", more()),
        false => says,
    };
    match out.kind {
        RemedyKind::Force => {
            let says = then(en::out_force_says(), true, en::out_force_takes);
            (en::out_force(), says)
        }
        RemedyKind::LeaveOut => {
            let says = then(
                en::out_leave_out_says(),
                out.others_own,
                en::out_others_keep,
            );
            (en::out_leave_out(), says)
        }
        RemedyKind::Agree => {
            let says = then(en::out_agree_says(), out.others_own, en::out_both_own);
            (en::out_agree(), says)
        }
        RemedyKind::Transfer => (en::out_transfer(), en::out_transfer_says()),
        RemedyKind::Migrate => (en::out_migrate(), en::out_migrate_says()),
    }
}

/// Says that a way out settles the conflict, and who may write the old values back all the same.
pub fn out_settles(out: &Remedy) -> String {
    match out.client_side_may_write {
        true => en::out_settles_until_apply(),
        false => en::out_settles(),
    }
}

/// Says the number of ways out that do not settle the conflict; empty if all of them may.
pub fn not_settling<'a>(outs: impl Iterator<Item = &'a Remedy>) -> String {
    match outs
        .filter(|out| out.settling() == RemedyEffect::DoesNotSettle)
        .count()
    {
        0 => String::new(),
        count => en::out_others(&count),
    }
}

/// Returns the name of a next write after "the object has been modified", and its meaning. `None` for a
/// way that is no [next write](optimist_diagnose::modified::NEXT).
pub fn next_write(method: WriteMethod) -> Option<(String, String)> {
    Some(match method {
        WriteMethod::UpdateReadAgain => (en::next_read_again(), en::next_read_again_says()),
        WriteMethod::Merge => (en::next_merge_patch(), en::next_merge_patch_says()),
        WriteMethod::Apply => (en::next_apply(), en::next_apply_says()),
        WriteMethod::Update => (en::next_without_version(), en::next_without_version_says()),
        _ => return None,
    })
}

/// Says the effect of a next write on the two changes.
pub fn next_outcome(attempt: &NextAttempt) -> String {
    match attempt.code {
        _ if attempt.settles() => en::next_both(),
        code if code >= 300 => en::next_refused(&code),
        code => en::next_lost(&code),
    }
}
