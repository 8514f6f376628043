//! The other endings of a history, and the outcome of each.

use std::sync::Arc;

use optimist_client::{Edit, WriteMethod};
use optimist_simulation::{EndingOutcome, World};

use crate::en;
use crate::steps::short_name;

/// The number of edits that a title names.
const NAMED: usize = 3;

/// Returns the title of the endings.
pub fn endings_title() -> String {
    en::endings()
}

/// Names the method by which an ending sends the edit. `None` for a way that is no
/// [ending](optimist_simulation::ENDINGS).
pub fn ending_method(method: WriteMethod) -> Option<String> {
    Some(match method {
        WriteMethod::Update => en::ending_unversioned(),
        WriteMethod::UpdateVersioned => en::ending_versioned(),
        WriteMethod::UpdateReadAgain => en::ending_read_again(),
        WriteMethod::Merge => en::ending_merge_patch(),
        WriteMethod::Apply => en::ending_apply(),
        WriteMethod::ApplyForced => en::ending_forced_apply(),
        _ => return None,
    })
}

/// Names the outcome of an ending.
pub fn ending_outcome(outcome: EndingOutcome, world: &World) -> String {
    match outcome {
        EndingOutcome::Lost => en::outcome_lost(),
        EndingOutcome::Refused(code) => en::outcome_refused(&code),
        EndingOutcome::Replaced(owner) => en::outcome_replaced(&short_name(owner, world)),
        EndingOutcome::LeftOut => en::outcome_left_out(),
        EndingOutcome::BothKept => en::outcome_both_kept(),
        EndingOutcome::Stored => en::outcome_stored(),
    }
}

/// Says that the edits of two actors are in the object: `Both edits kept: replicas 5, image
/// nginx:1.25.`
pub(crate) fn kept_title(edits: &[Arc<Edit>]) -> String {
    let named: Vec<String> = edits.iter().take(NAMED).map(|kept| brief(kept)).collect();
    let named = named.join(", ");
    let named = match edits.len().saturating_sub(NAMED) {
        0 => named,
        more => en::kept_more(&named, &more),
    };
    match edits.len() {
        0..=2 => en::kept_both_title(&named),
        count => en::kept_edits_title(&count, &named),
    }
}

/// An edit as the value that it set: `replicas 5`.
fn brief(kept: &Edit) -> String {
    crate::edits::edit_as(kept, |field, value| en::kept_value(&field, &value))
}

#[cfg(test)]
mod tests {
    use optimist_apiserver::apply::{Path, PathElement};
    use serde_json::Value;

    use super::*;

    #[test]
    fn an_item_of_a_set_is_named_once_in_a_title() {
        let field = |name: &str| PathElement::Field(name.to_owned());
        let edit = |last: PathElement, value: Value| {
            let parents = [field("metadata"), field("finalizers")];
            let path = Path(parents.into_iter().chain([last]).collect());
            Arc::new(Edit {
                path,
                value: Some(value),
            })
        };
        let hold = edit(
            PathElement::Value("example.com/hold".into()),
            "example.com/hold".into(),
        );
        let same = edit(field("hold"), "hold".into());
        assert_eq!(
            kept_title(&[hold]),
            "Both edits kept: finalizers example.com/hold."
        );
        let three = kept_title(&[same.clone(), same.clone(), same.clone()]);
        assert_eq!(kept_title(&[same]), "Both edits kept: hold hold.");
        assert_eq!(three, "3 edits kept: hold hold, hold hold, hold hold.");
    }
}
