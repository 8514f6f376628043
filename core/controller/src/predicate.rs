//! Predicates, which decide whether a notification reaches a handler
//! (`sigs.k8s.io/controller-runtime/pkg/predicate/predicate.go`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use optimist_apiserver::object::Metadata;

use crate::cache::Notification;

/// A predicate. It looks at updates only: creations and deletions always pass. A resync, whose old
/// and new object are the same, passes none of the four.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Predicate {
    /// `GenerationChangedPredicate`: `metadata.generation` differs. A kind without a generation
    /// has 0 before and after, so no update of it passes.
    GenerationChanged,
    /// `ResourceVersionChangedPredicate`: `metadata.resourceVersion` differs.
    ResourceVersionChanged,
    /// `LabelChangedPredicate`: `metadata.labels` differs.
    LabelChanged,
    /// `AnnotationChangedPredicate`: `metadata.annotations` differs.
    AnnotationChanged,
    /// `And`: all of them let it pass.
    And(Vec<Predicate>),
    /// `Or`: one of them lets it pass.
    Or(Vec<Predicate>),
}

impl Predicate {
    /// Returns whether a notification passes.
    pub fn passes(&self, notification: &Notification) -> bool {
        match self {
            Self::And(all) => all.iter().all(|predicate| predicate.passes(notification)),
            Self::Or(any) => any.iter().any(|predicate| predicate.passes(notification)),
            change => match notification {
                Notification::Updated { old, new } => change.has_changed(old, new),
                Notification::Added { .. } | Notification::Deleted { .. } => true,
            },
        }
    }

    fn has_changed(&self, old: &Value, new: &Value) -> bool {
        match self {
            Self::GenerationChanged => old.generation() != new.generation(),
            Self::ResourceVersionChanged => old.resource_version() != new.resource_version(),
            Self::LabelChanged => map_differs(old, new, "labels"),
            Self::AnnotationChanged => map_differs(old, new, "annotations"),
            Self::And(_) | Self::Or(_) => false,
        }
    }
}

/// Returns whether a map of the metadata differs; an absent map equals an empty one (`maps.Equal`).
fn map_differs(old: &Value, new: &Value, field: &str) -> bool {
    let map = |object: &Value| {
        let map = object.metadata()?.get(field)?.as_object()?.clone();
        (!map.is_empty()).then_some(map)
    };
    map(old) != map(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::Arc;

    fn object(metadata: Value) -> Arc<Value> {
        Arc::new(json!({"metadata": metadata}))
    }

    fn passed(old: Value, new: Value) -> Vec<&'static str> {
        let update = Notification::Updated {
            old: object(old),
            new: object(new),
        };
        let all = [
            (Predicate::GenerationChanged, "generation"),
            (Predicate::ResourceVersionChanged, "version"),
            (Predicate::LabelChanged, "labels"),
            (Predicate::AnnotationChanged, "annotations"),
        ];
        all.into_iter()
            .filter(|(predicate, _)| predicate.passes(&update))
            .map(|(_, name)| name)
            .collect()
    }

    #[test]
    fn each_predicate_looks_at_its_own_field_of_an_update() {
        let before = json!({"generation": 1, "resourceVersion": "5", "labels": {"a": "1"}});
        let status = json!({"generation": 1, "resourceVersion": "6", "labels": {"a": "1"}});
        assert_eq!(passed(before.clone(), status), ["version"]);
        let spec = json!({"generation": 2, "resourceVersion": "6", "labels": {"a": "1"}});
        assert_eq!(passed(before.clone(), spec), ["generation", "version"]);
        let labels = json!({"generation": 1, "resourceVersion": "6"});
        assert_eq!(passed(before.clone(), labels), ["version", "labels"]);
        let annotated = json!({"generation": 1, "resourceVersion": "6", "labels": {"a": "1"},
            "annotations": {"x": "y"}});
        assert_eq!(passed(before, annotated), ["version", "annotations"]);
    }

    #[test]
    fn a_resync_and_an_empty_map_pass_none() {
        let same = json!({"generation": 1, "resourceVersion": "5"});
        assert_eq!(passed(same.clone(), same.clone()), [""; 0]);
        let mut empty = same.clone();
        empty["labels"] = json!({});
        assert_eq!(passed(same, empty), [""; 0]);
    }

    #[test]
    fn an_update_of_a_kind_without_generation_never_passes_generation_changed() {
        let before = json!({"resourceVersion": "5"});
        let deleting = json!({"resourceVersion": "6", "deletionTimestamp": "2026-01-01T00:00:00Z"});
        assert_eq!(passed(before, deleting), ["version"]);
    }

    #[test]
    fn creations_and_deletions_always_pass() {
        let object = object(json!({"name": "a"}));
        let added = Notification::Added {
            object: Arc::clone(&object),
            initial: false,
        };
        let deleted = Notification::Deleted {
            object,
            final_state_unknown: true,
        };
        for notification in [added, deleted] {
            assert!(Predicate::GenerationChanged.passes(&notification));
            assert!(Predicate::LabelChanged.passes(&notification));
        }
    }

    #[test]
    fn or_needs_one_and_and_needs_all() {
        use Predicate::{And, AnnotationChanged, GenerationChanged, Or};
        let both = vec![GenerationChanged, AnnotationChanged];
        let update = Notification::Updated {
            old: object(json!({"generation": 1})),
            new: object(json!({"generation": 2})),
        };
        assert!(Or(both.clone()).passes(&update));
        assert!(!And(both).passes(&update));
    }
}
