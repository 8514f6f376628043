//! The causes of a refusal.

use optimist_apiserver::object::text;
use optimist_apiserver::server::Fact;
use optimist_apiserver::status::causes;
use optimist_simulation::Exchange;
use serde_json::Value;

/// A cause of a refusal (`metav1.StatusCause`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictCause {
    /// The field.
    pub field: String,
    /// The problem.
    pub message: String,
    /// The reason: `FieldManagerConflict`, `FieldValueInvalid`.
    pub reason: String,
}

/// The fields that other managers own, each with the owner, of a refused apply.
pub(super) fn conflicts(last: Option<&Exchange>) -> Vec<(String, String)> {
    let facts = last.into_iter().flat_map(|exchange| &exchange.facts);
    let owned = facts.filter_map(|fact| match fact {
        Fact::OwnedByOther { field, manager } => Some((field.clone(), manager.clone())),
        _ => None,
    });
    owned.collect()
}

/// The causes that the server names.
pub(super) fn conflict_causes(answer: &Value) -> Vec<ConflictCause> {
    let causes = causes(answer).map(|cause| ConflictCause {
        field: text(cause, "field").to_owned(),
        message: text(cause, "message").to_owned(),
        reason: text(cause, "reason").to_owned(),
    });
    causes.collect()
}
