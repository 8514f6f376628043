//! Further changes that are allowed in a pod that waits for its scheduling gates: the choice of its nodes
//! (`validateNodeSelectorMutation` and `validateNodeAffinityMutation` of
//! `pkg/apis/core/validation/validation.go`).

use serde_json::{Value, json};

use super::internal;
use super::label_selector::list;
use super::pod_update::take_back;
use crate::field::ErrorPath;
use crate::object::JsonMap;
use crate::status::FieldError;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// Restores the node selector and the node affinity of a gated pod, and returns the errors in their
/// change, which show the spec as it was given. A pod without gates stays as it is.
pub(super) fn pardon(spec: &mut JsonMap, given: &Value, live: &Value) -> Vec<FieldError> {
    if list(live, "schedulingGates").is_empty() {
        return Vec::new();
    }
    let mut errors = Vec::new();
    let selector = &given["nodeSelector"];
    let before = live["nodeSelector"].as_object();
    if before
        .into_iter()
        .flatten()
        .any(|(key, value)| selector.get(key) != Some(value))
    {
        let detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        errors.push(FieldError::invalid("spec.nodeSelector", selector, detail));
    }
    take_back(spec, live, "nodeSelector");
    let affinity = spec.get("affinity").cloned().unwrap_or(Value::Null);
    let (now, before) = (&affinity["nodeAffinity"], &live["affinity"]["nodeAffinity"]);
    if now == before {
        return errors;
    }
    errors.extend(terms(now, before));
    match spec.get_mut("affinity") {
        None => {
            spec.insert("affinity".to_owned(), json!({"nodeAffinity": before}));
        }
        Some(Value::Object(map)) => {
            take_back(map, &live["affinity"], "nodeAffinity");
            if map.is_empty() && live.get("affinity").is_none() {
                spec.remove("affinity");
            }
        }
        Some(_) => {}
    }
    errors
}

/// Terms that are there may ask for more, but none may come or go.
fn terms(now: &Value, before: &Value) -> Vec<FieldError> {
    let of = |affinity: &Value| list(&affinity[REQUIRED], "nodeSelectorTerms").to_vec();
    let (now, before) = (of(now), of(before));
    let affinity = ErrorPath::new("spec.affinity.nodeAffinity");
    let required = affinity.child(REQUIRED);
    let path = required.child("nodeSelectorTerms");
    let shown = |terms: &Value| internal::compact("NodeSelectorTerm", terms);
    if before.is_empty() {
        return Vec::new();
    }
    if now.len() != before.len() {
        let detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        let now = if now.is_empty() {
            Value::Null
        } else {
            Value::Array(now)
        };
        return vec![FieldError::invalid(path, &Value::Null, detail).shown_as(shown(&now))];
    }
    let pairs = now.iter().zip(&before).enumerate();
    let changed = pairs.filter(|(_, (now, before))| !only_adds(now, before));
    changed
        .map(|(i, (now, _))| {
            let detail = "only additions are allowed (no mutations or deletions)";
            FieldError::invalid(path.index(i), &Value::Null, detail).shown_as(shown(now))
        })
        .collect()
}

/// Returns whether a term has all rules that it had, in front of the new ones; a term without rules, which
/// selects nothing, gets none.
fn only_adds(now: &Value, before: &Value) -> bool {
    let kinds = ["matchExpressions", "matchFields"];
    let is_empty = |term: &Value| kinds.iter().all(|kind| list(term, kind).is_empty());
    if is_empty(before) && !is_empty(now) {
        return false;
    }
    kinds
        .iter()
        .all(|kind| list(now, kind).starts_with(list(before, kind)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(spec: Value, live: &Value) -> Vec<String> {
        let given = spec.clone();
        let Value::Object(mut spec) = spec else {
            panic!("a spec is an object")
        };
        let errors = pardon(&mut spec, &given, live);
        errors.iter().map(ToString::to_string).collect()
    }

    fn affinity(keys: &[&str]) -> Value {
        let rules: Vec<Value> = keys
            .iter()
            .map(|key| json!({"key": key, "operator": "Exists"}))
            .collect();
        json!({"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": rules}]}}})
    }

    #[test]
    fn a_gated_pod_may_ask_for_more_of_its_node_but_not_for_less() {
        let live = json!({
            "schedulingGates": [{"name": "g"}],
            "nodeSelector": {"a": "1"}, "affinity": affinity(&["x"]),
        });
        let more = json!({"nodeSelector": {"a": "1", "b": "2"}, "affinity": affinity(&["x", "y"])});
        assert!(said(more, &live).is_empty());
        let other = json!({"nodeSelector": {"a": "2"}, "affinity": affinity(&["y"])});
        assert_eq!(
            said(other, &live),
            [
                "spec.nodeSelector: Invalid value: {\"a\":\"2\"}: only additions to \
                 spec.nodeSelector are allowed (no mutations or deletions)",
                "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution\
                 .nodeSelectorTerms[0]: Invalid value: {\"MatchExpressions\":[{\"Key\":\"y\",\
                 \"Operator\":\"Exists\",\"Values\":null}],\"MatchFields\":null}: only additions \
                 are allowed (no mutations or deletions)",
            ]
        );
    }

    #[test]
    fn what_was_pardoned_is_as_before() {
        let live = json!({"schedulingGates": [{"name": "g"}], "nodeSelector": {"a": "1"}});
        let mut spec = JsonMap::new();
        spec.insert("affinity".to_owned(), affinity(&["x"]));
        assert_eq!(pardon(&mut spec, &Value::Null, &live).len(), 1);
        assert_eq!(Value::Object(spec), json!({"nodeSelector": {"a": "1"}}));
        let mut free = JsonMap::new();
        let live = json!({"nodeSelector": {"a": "1"}});
        assert!(pardon(&mut free, &Value::Null, &live).is_empty());
        assert!(free.is_empty());
    }
}
