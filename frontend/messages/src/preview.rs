//! What the preview of a write of several objects says.

use optimist_client::Preset;
use optimist_diagnose::preview::{
    AfterRefusal, FieldChange, Outcome, Preview, PreviewField, PreviewRow, Trouble,
};
use serde_json::Value;

use crate::{en, ways};

/// The headline, and what it stands on.
pub fn headline(preview: &Preview, tool: Preset) -> (String, Vec<String>) {
    let all = preview.rows.len();
    let refused = preview.rows.iter();
    let refused = refused.filter(|row| row.outcome.is_refusal()).count();
    let says = en::upgrade_says(&ways::client_long(tool));
    if refused == 0 {
        return (en::upgrade_whole_title(&all), vec![says]);
    }
    let others = match preview.after_refusal {
        AfterRefusal::GoesOn => en::upgrade_goes_on(),
        AfterRefusal::Stops => en::upgrade_stops(),
        AfterRefusal::WritesNothing => en::upgrade_writes_nothing(),
    };
    let title = en::upgrade_refused_title(&refused, &all);
    (title, vec![says, others])
}

/// What becomes of an object, in a word or two.
pub fn outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Conflict => en::upgrade_outcome_conflict(),
        Outcome::Invalid => en::upgrade_outcome_invalid(),
        Outcome::Refused => en::upgrade_outcome_refused(),
        Outcome::NotRun => en::upgrade_outcome_not_run(),
        Outcome::Deleted => en::upgrade_outcome_deleted(),
        Outcome::Changed => en::upgrade_outcome_changed(),
        Outcome::Created => en::upgrade_outcome_created(),
        Outcome::Unchanged => en::upgrade_outcome_unchanged(),
        Outcome::NotTouched => en::upgrade_outcome_not_touched(),
    }
}

/// What is wrong with an object beside its outcome.
pub fn troubles(row: &PreviewRow) -> Vec<String> {
    let said = |trouble: &Trouble| match trouble {
        Trouble::Refused | Trouble::Deleted => None,
        Trouble::CreatedAgain => Some(en::upgrade_created_again()),
        Trouble::StuckVersions => Some(en::upgrade_stuck()),
        Trouble::Overwritten => Some(en::upgrade_overwritten()),
        Trouble::WrittenBack => {
            let mut managers: Vec<&str> = Vec::new();
            for manager in row.fields.iter().flat_map(|field| &field.written_back_by) {
                if !managers.contains(&manager.as_str()) {
                    managers.push(manager);
                }
            }
            Some(en::upgrade_written_back(&managers.join(", ")))
        }
        Trouble::KeptAlthoughRemoved => Some(en::upgrade_kept()),
        Trouble::NotReverted => Some(en::upgrade_not_reverted()),
        Trouble::NeverRests => Some(en::upgrade_never_rests()),
        Trouble::ChangesNothing => Some(en::upgrade_changes_nothing()),
    };
    row.troubles.iter().filter_map(said).collect()
}

/// The fields to show of an object: of a conflict those in conflict; of a new object none.
pub fn fields(row: &PreviewRow) -> Vec<&PreviewField> {
    let fields = row.fields.iter();
    let shown = fields.filter(|field| match (row.outcome, field.change) {
        (Outcome::Conflict, change) => change == FieldChange::Refused,
        (Outcome::Created, _) => false,
        (_, change) => change < FieldChange::Default,
    });
    shown.collect()
}

/// What becomes of the value of a field.
pub fn change(field: &PreviewField) -> String {
    let text = |value: &Option<Value>| match value {
        None => en::upgrade_none(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    let (before, after) = (text(&field.before), text(&field.after));
    match field.change {
        FieldChange::Refused | FieldChange::NotReverted => {
            en::upgrade_wants(&before, &text(&field.wanted))
        }
        FieldChange::Overwritten | FieldChange::Changed | FieldChange::Added
            if field.after.is_some() =>
        {
            en::upgrade_becomes(&before, &after)
        }
        FieldChange::Overwritten
        | FieldChange::Changed
        | FieldChange::Added
        | FieldChange::Removed => en::upgrade_goes(&before),
        FieldChange::KeptAlthoughRemoved | FieldChange::Owners => en::upgrade_stays(&before),
        FieldChange::Default => en::upgrade_becomes(&before, &after),
    }
}
