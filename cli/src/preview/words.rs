//! What is said of a preview, in English.

use optimist_diagnose::preview::{
    AfterRefusal, FieldChange, HandOver, HandOverKind, Outcome, Preview, PreviewField, PreviewRow,
    Trouble,
};
use serde_json::Value;

/// What an outcome is called.
pub fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Conflict => "conflict",
        Outcome::Invalid => "invalid",
        Outcome::Refused => "refused",
        Outcome::NotRun => "not run",
        Outcome::Deleted => "deleted",
        Outcome::Changed => "changed",
        Outcome::Created => "created",
        Outcome::Unchanged => "unchanged",
        Outcome::NotTouched => "not touched",
    }
}

/// What a kind of trouble is called.
pub fn trouble(trouble: Trouble) -> &'static str {
    match trouble {
        Trouble::Refused => "refused",
        Trouble::Deleted => "deleted",
        Trouble::CreatedAgain => "deleted and created again",
        Trouble::StuckVersions => "stuck versions in managedFields",
        Trouble::Overwritten => "overwrites values of others",
        Trouble::WrittenBack => "will be written back",
        Trouble::KeptAlthoughRemoved => "keeps fields that left the manifest",
        Trouble::NotReverted => "keeps values that the manifest says otherwise",
        Trouble::NeverRests => "makes a new version every time",
        Trouble::ChangesNothing => "makes a version that changes nothing",
    }
}

/// `Deployment shop/web`.
pub fn object(row: &PreviewRow) -> String {
    let object = &row.object;
    match object.namespace.as_str() {
        "" => format!("{} {}", object.kind, object.name),
        namespace => format!("{} {namespace}/{}", object.kind, object.name),
    }
}

/// `3 objects: 1 conflict, 2 created`.
pub fn counts(preview: &Preview) -> String {
    let counts = preview.outcomes.iter();
    let counts = counts.map(|(kind, count)| format!("{count} {}", outcome(*kind)));
    let counts: Vec<String> = counts.collect();
    let all = preview.rows.len();
    let objects = if all == 1 { "object" } else { "objects" };
    format!("{all} {objects}: {}", counts.join(", "))
}

/// The kinds of trouble that outcomes do not say.
pub fn troubles(preview: &Preview) -> Vec<String> {
    let told = |kind: &Trouble| !matches!(kind, Trouble::Refused | Trouble::Deleted);
    let troubles = preview.troubles.iter().filter(|(kind, _)| told(kind));
    troubles
        .map(|(kind, count)| format!("{count} {}", trouble(*kind)))
        .collect()
}

/// What the tool does with the others; `None` if nothing is refused, or if the tool goes on.
pub fn after_refusal(preview: &Preview) -> Option<&'static str> {
    if preview.is_whole() {
        return None;
    }
    match preview.after_refusal {
        AfterRefusal::GoesOn => None,
        AfterRefusal::Stops => Some(
            "The tool stops at the first refusal. The rows below it say what each manifest gets once that is settled.",
        ),
        AfterRefusal::WritesNothing => Some(
            "The tool tries all first and writes nothing while one is refused. The other rows say what they get once that is settled.",
        ),
    }
}

/// A value in a line.
pub fn value(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), Value::to_string)
}

/// What becomes of a field, in a sentence without its name. `None` where nobody need be told.
pub fn field(field: &PreviewField) -> Option<String> {
    let owners = field.owners.join(", ");
    let (before, after) = (value(field.before.as_ref()), value(field.after.as_ref()));
    let mut text = match field.change {
        FieldChange::Refused => {
            let wanted = value(field.wanted.as_ref());
            let owner = if owners.is_empty() {
                field.refused_by.join(", ")
            } else {
                owners
            };
            format!("refused: {owner} owns it. It has {before}; the manifest says {wanted}")
        }
        FieldChange::Overwritten => format!("overwritten: {before} of {owners} becomes {after}"),
        FieldChange::KeptAlthoughRemoved if owners.is_empty() => {
            format!("left the manifest and stays: {after}. Nobody owns it")
        }
        FieldChange::KeptAlthoughRemoved => {
            format!("left the manifest and stays: {after}. Its owner is {owners}")
        }
        FieldChange::NotReverted => {
            let wanted = value(field.wanted.as_ref());
            format!("stays {after}; the manifest says {wanted}")
        }
        FieldChange::Changed => format!("{before} becomes {after}"),
        FieldChange::Removed => format!("{before} goes"),
        FieldChange::Added => format!("new: {after}"),
        FieldChange::Default | FieldChange::Owners => return None,
    };
    if !field.written_back_by.is_empty() {
        text.push_str(&format!(
            ". {} will write its value again",
            field.written_back_by.join(", ")
        ));
    }
    Some(text)
}

/// What a hand-over is called.
pub fn hand_over(out: &HandOver) -> &'static str {
    match out.kind {
        HandOverKind::Leave => "Leave the fields to their owner",
        HandOverKind::Migrate => "Make the fields of client-side apply the tool's",
        HandOverKind::TakeOver => "Take the fields over, in this object alone",
    }
}

/// What is to be known of a hand-over.
pub fn hand_over_note(out: &HandOver) -> String {
    let mut note = match (out.settles, out.written_back_by.as_slice()) {
        (true, _) => "This settles it.".to_owned(),
        (false, []) => "This does not settle it.".to_owned(),
        (false, back) => format!(
            "This does not settle it: {} will write its value again.",
            back.join(", ")
        ),
    };
    if out.tool_has_no_option {
        note.push_str(" The tool's own option forces every object that it writes.");
    }
    note
}
