//! Writes the history of an object, from its versions.

use optimist_client::is_last_applied;
use optimist_diagnose::case::ObjectId;
use optimist_diagnose::lanes::Pace;
use optimist_diagnose::observed::{FieldChange, Fight};
use optimist_exports::markdown;
use optimist_messages::{diagnose as messages, label, lanes};
use optimist_state::ObservedHistory;

use crate::document::{CaseDocument, head};
use crate::owners::UNFOLDED;

/// The most changes that are listed.
const MAX_CHANGES: usize = 300;

pub(crate) fn history(out: &mut CaseDocument, id: &ObjectId, history: &ObservedHistory) {
    out.heading(3, &label::happened_to(id));
    if let Some(says) = without_fight(history) {
        out.says(&says);
    }
    if history.problem.is_none() && history.versions.len() < 2 {
        out.command(&label::happened_watch_command());
    }
    for it in &history.returning {
        out.says(&label::happened_returns(
            &it.field,
            &it.changes,
            &it.returns,
        ));
    }
    if !history.owned {
        out.says(&label::happened_not_owned());
    }
    for one in &history.fights {
        let steps = history.changes.iter().zip(&history.rows);
        let steps = steps.filter(|(change, _)| change.field == one.field);
        let steps: Vec<usize> = steps.map(|(_, row)| *row).collect();
        let pace = Pace::measure(&history.lanes, &steps);
        fight(out, one, &between_versions(history, one), pace);
    }
    changes(out, history);
}

/// Says why no fight is known in a history. `None` if something in it is told.
pub fn without_fight(history: &ObservedHistory) -> Option<String> {
    let is_quiet = history.fights.is_empty() && history.returning.is_empty();
    match &history.problem {
        Some(problem) => Some(label::happened_managed_fields(problem)),
        None if history.versions.len() < 2 => Some(label::happened_one_version()),
        None if history.changes.is_empty() => Some(label::happened_nothing()),
        None => (is_quiet && history.owned).then(|| no_fight(history)),
    }
}

fn no_fight(history: &ObservedHistory) -> String {
    let mut changes = history.changes.iter();
    let says = label::happened_no_fight();
    match changes.any(|change| is_last_applied(&change.field)) {
        true => format!("{says} {}", label::happened_without_record()),
        false => says,
    }
}

/// A field that managers fight over, and when.
pub(crate) fn fight(out: &mut CaseDocument, fight: &Fight, when: &str, pace: Option<Pace>) {
    out.heading(4, &lanes::fight_title(fight));
    out.says(when);
    if let Some(pace) = pace {
        out.says(&lanes::fight_pace(&fight.field, pace));
    }
    out.says(&lanes::fight_writers(fight));
    let count = fight.remedies.len();
    if count > 0 {
        out.says(&label::fight_outs(&count));
        let remedies = fight.remedies.iter().map(lanes::fight_remedy);
        remedies.for_each(|says| out.bullet(&says));
        out.end();
        out.says(&label::fight_ended(&count));
    }
}

/// Between which versions managers fought.
fn between_versions(history: &ObservedHistory, fight: &Fight) -> String {
    let mut all = history.changes.iter().filter(|it| it.field == fight.field);
    let last = all.next_back().map_or("", |it| &it.resource_version);
    let first = history.versions.first().map_or("", String::as_str);
    label::happened_flips_text(&fight.flips, &first, &last)
}

/// Every change, in the order of time.
fn changes(out: &mut CaseDocument, history: &ObservedHistory) {
    if history.changes.is_empty() {
        return;
    }
    let mut table = head(&[
        label::happened_field(),
        label::happened_version(),
        label::happened_time(),
        label::happened_who(),
        label::happened_value(),
    ]);
    let all = history.changes.iter().zip(&history.times);
    for (change, time) in all.take(MAX_CHANGES) {
        table.push_str(&markdown::row(&[
            markdown::code(&change.field.to_string()),
            markdown::text(&change.resource_version),
            markdown::text(time.as_deref().unwrap_or_default()),
            markdown::text(&who(change)),
            markdown::code(&values(change)),
        ]));
    }
    let mut inner = CaseDocument::default();
    inner.block(&table);
    let more = history.changes.len().saturating_sub(MAX_CHANGES);
    if more > 0 {
        inner.says(&label::happened_more(&more));
    }
    if history.changes.len() <= UNFOLDED {
        return out.block(&inner.finish());
    }
    out.folded(&label::happened_others(&history.changes.len()), inner);
}

fn who(change: &FieldChange) -> String {
    let by = change.by.as_ref();
    by.map_or_else(label::happened_unknown_manager, messages::owner)
}

/// `3 → 8`.
pub(crate) fn values(change: &FieldChange) -> String {
    messages::written_change(change.before.as_ref(), change.after.as_ref())
}
