//! Checks of the rules that choose a pod's node (`validateAffinity` and
//! `validateTopologySpreadConstraints` of `pkg/apis/core/validation`).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::label_selector::{self, list};
use super::names;
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::FieldError;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
const NOT_POSITIVE: &str = "must be greater than zero";

/// Checks the affinity of a pod.
pub(super) fn affinity(affinity: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let node = &affinity["nodeAffinity"];
    if let Some(required) = node.get(REQUIRED) {
        let node_affinity = path.child("nodeAffinity");
        let selector = node_affinity.child(REQUIRED);
        errors.extend(node_selector(required, &selector));
    }
    for (i, preferred) in list(node, PREFERRED).iter().enumerate() {
        let node_affinity = path.child("nodeAffinity");
        let path = node_affinity.item(PREFERRED, i);
        errors.extend(weight(preferred, &path));
        // Values of a preference are warned of only.
        let term = &preferred["preference"];
        errors.extend(node_term(term, false, &path.child("preference")));
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        for (i, term) in list(&affinity[kind], REQUIRED).iter().enumerate() {
            errors.extend(pod_term(term, &path.child(kind).item(REQUIRED, i)));
        }
        for (i, preferred) in list(&affinity[kind], PREFERRED).iter().enumerate() {
            let affinity_path = path.child(kind);
            let path = affinity_path.item(PREFERRED, i);
            errors.extend(weight(preferred, &path));
            let term = &preferred["podAffinityTerm"];
            errors.extend(pod_term(term, &path.child("podAffinityTerm")));
        }
    }
    errors
}

/// Nodes by terms (`ValidateNodeSelector`).
pub(super) fn node_selector(selector: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let path = path.child("nodeSelectorTerms");
    let terms = list(selector, "nodeSelectorTerms");
    if terms.is_empty() {
        let detail = "must have at least one node selector term";
        errors.push(FieldError::required(path, detail));
    }
    for (i, term) in terms.iter().enumerate() {
        errors.extend(node_term(term, true, &path.index(i)));
    }
    errors
}

fn weight(preferred: &Value, path: &ErrorPath<'_>) -> Option<FieldError> {
    let weight = preferred["weight"].as_i64().unwrap_or(0);
    let detail = "must be in the range 1-100";
    let wrong = !(1..=100).contains(&weight);
    wrong.then(|| FieldError::invalid(path.child("weight"), &weight.into(), detail))
}

/// `ValidateNodeSelectorTerm`.
fn node_term(term: &Value, with_values: bool, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (i, rule) in list(term, "matchExpressions").iter().enumerate() {
        let item = path.item("matchExpressions", i);
        let field = |name: &'static str| item.child(name);
        let values = list(rule, "values");
        match text(rule, "operator") {
            "In" | "NotIn" => {
                if values.is_empty() {
                    let detail = "must be specified when `operator` is 'In' or 'NotIn'";
                    errors.push(FieldError::required(field("values"), detail));
                }
            }
            "Exists" | "DoesNotExist" => {
                if !values.is_empty() {
                    let detail =
                        "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                    errors.push(FieldError::forbidden(field("values"), detail));
                }
            }
            "Gt" | "Lt" => {
                if values.len() != 1 {
                    let detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
                    errors.push(FieldError::required(field("values"), detail));
                }
            }
            other => {
                let detail = "not a valid selector operator";
                let value = other.into();
                errors.push(FieldError::invalid(field("operator"), &value, detail));
            }
        }
        let key = text(rule, "key");
        let reasons = names::qualified(key).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field("key"), &key.into(), why)));
        for (j, value) in values.iter().enumerate().filter(|_| with_values) {
            let reasons = names::label_value(value.as_str().unwrap_or_default());
            let field = item.item("values", j);
            let reasons = reasons.into_iter();
            errors.extend(reasons.map(|why| FieldError::invalid(field, value, why)));
        }
    }
    for (i, rule) in list(term, "matchFields").iter().enumerate() {
        errors.extend(node_field(rule, &path.item("matchFields", i)));
    }
    errors
}

/// Nodes can be told apart by one field: their name (`ValidateNodeFieldSelectorRequirement`).
fn node_field(rule: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let values = list(rule, "values");
    match text(rule, "operator") {
        "In" | "NotIn" => {
            if values.len() != 1 {
                let detail = "must be only one value when `operator` is 'In' or 'NotIn' for node \
                     field selector";
                errors.push(FieldError::required(path.child("values"), detail));
            }
        }
        other => {
            let detail = "not a valid selector operator";
            let field = path.child("operator");
            errors.push(FieldError::invalid(field, &other.into(), detail));
        }
    }
    let key = text(rule, "key");
    if key == "metadata.name" {
        for (i, value) in values.iter().enumerate() {
            let name = value.as_str().unwrap_or_default();
            let reasons = names::subdomain(name).into_iter();
            let field = path.item("values", i);
            errors.extend(reasons.map(|why| FieldError::invalid(field, value, why)));
        }
    } else {
        let detail = "not a valid field selector key";
        let field = path.child("key");
        errors.push(FieldError::invalid(field, &key.into(), detail));
    }
    errors
}

/// `validatePodAffinityTerm`.
fn pod_term(term: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for name in ["labelSelector", "namespaceSelector"] {
        if let Some(selector) = term.get(name) {
            let path = path.child(name);
            errors.extend(label_selector::validate(selector, &path));
        }
    }
    for namespace in list(term, "namespaces") {
        let reasons = names::label(namespace.as_str().unwrap_or_default());
        let field = path.child("namespace");
        let reasons = reasons.into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field, namespace, why)));
    }
    errors.extend(label_keys(term, path));
    let key = text(term, "topologyKey");
    let field = path.child("topologyKey");
    if key.is_empty() {
        errors.push(FieldError::required(field, "can not be empty"));
    }
    let reasons = names::qualified(key).into_iter();
    errors.extend(reasons.map(|why| FieldError::invalid(field, &key.into(), why)));
    errors
}

/// The actions for a pod that cannot be spread as its constraint demands.
const ACTIONS: [&str; 2] = ["DoNotSchedule", "ScheduleAnyway"];

/// Checks the topology spread constraints of a pod.
pub(super) fn spread(constraints: &[Value], path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (i, constraint) in constraints.iter().enumerate() {
        let item = path.index(i);
        let field = |name: &'static str| item.child(name);
        let skew = constraint["maxSkew"].as_i64().unwrap_or(0);
        if skew <= 0 {
            let value = skew.into();
            errors.push(FieldError::invalid(field("maxSkew"), &value, NOT_POSITIVE));
        }
        let key = text(constraint, "topologyKey");
        if key.is_empty() {
            let detail = "can not be empty";
            errors.push(FieldError::required(field("topologyKey"), detail));
        }
        let action = text(constraint, "whenUnsatisfiable");
        if !ACTIONS.contains(&action) {
            let field = field("whenUnsatisfiable");
            errors.push(FieldError::not_supported(field, &action.into(), &ACTIONS));
        }
        let same = |other: &&Value| {
            (text(other, "topologyKey"), text(other, "whenUnsatisfiable")) == (key, action)
        };
        if constraints[i + 1..].iter().any(|other| same(&other)) {
            let field = field("{topologyKey, whenUnsatisfiable}");
            let value = format!("{{{key}, {action}}}").into();
            errors.push(FieldError::duplicate(field, &value));
        }
        errors.extend(min_domains(constraint, action, &field("minDomains")));
        for name in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            let policies = ["Honor", "Ignore"];
            if let Some(policy) = constraint.get(name)
                && !policies.iter().any(|known| policy == known)
            {
                errors.push(FieldError::not_supported(field(name), policy, &policies));
            }
        }
        errors.extend(label_keys(constraint, &item));
        if let Some(selector) = constraint.get("labelSelector") {
            let path = field("labelSelector");
            errors.extend(label_selector::validate(selector, &path));
        }
    }
    errors
}

/// `validateMinDomains`.
fn min_domains(constraint: &Value, action: &str, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let Some(least) = constraint.get("minDomains").and_then(Value::as_i64) else {
        return Vec::new();
    };
    let mut errors = Vec::new();
    if least <= 0 {
        errors.push(FieldError::invalid(path, &least.into(), NOT_POSITIVE));
    }
    if action != ACTIONS[0] {
        let detail = format!(
            "can only use minDomains if whenUnsatisfiable={}, not {action}",
            ACTIONS[0]
        );
        errors.push(FieldError::invalid(path, &least.into(), detail));
    }
    errors
}

/// `ValidateMatchLabelKeysAndMismatchLabelKeys`: keys whose values are those of the pod.
fn label_keys(owner: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let selector = owner.get("labelSelector");
    for kind in LABEL_KEYS.map(|(kind, _)| kind) {
        let (keys, path) = (list(owner, kind), path.child(kind));
        if !keys.is_empty() && selector.is_none() {
            let detail = "must not be specified when labelSelector is not set";
            errors.push(FieldError::forbidden(path, detail));
            continue;
        }
        for (i, key) in keys.iter().enumerate() {
            let reasons = names::qualified(key.as_str().unwrap_or_default());
            let field = path.index(i);
            let reasons = reasons.into_iter();
            errors.extend(reasons.map(|why| FieldError::invalid(field, key, why)));
        }
    }
    let keys = list(owner, "matchLabelKeys");
    if keys.is_empty() {
        return errors;
    }
    if let Some(selector) = selector {
        let labels = selector["matchLabels"].as_object().into_iter().flatten();
        let mut selected: BTreeSet<&str> = labels.map(|(key, _)| key.as_str()).collect();
        for rule in list(selector, "matchExpressions") {
            let key = text(rule, "key");
            // The rule that is made of the key itself comes last.
            let position = keys.iter().rposition(|other| other == key);
            if !selected.insert(key)
                && let Some(i) = position
            {
                let detail = "exists in both matchLabelKeys and labelSelector";
                errors.push(FieldError::invalid(path.index(i), &key.into(), detail));
            }
        }
    }
    let others = list(owner, "mismatchLabelKeys");
    for (i, key) in keys
        .iter()
        .enumerate()
        .filter(|(_, key)| others.contains(key))
    {
        let detail = "exists in both matchLabelKeys and mismatchLabelKeys";
        let path = path.item("matchLabelKeys", i);
        errors.push(FieldError::invalid(path, key, detail));
    }
    errors
}

/// The fields with keys of labels, and the operator for the values of the pod.
const LABEL_KEYS: [(&str, &str); 2] = [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")];

/// Puts the labels that a new pod has for these keys into its selectors
/// (`applyMatchLabelKeysAndMismatchLabelKeys` of `pkg/registry/core/pod/strategy.go`).
pub(super) fn merge_label_keys(pod: &mut Value) {
    let spec = &pod["spec"];
    if spec.get("affinity").is_none() && spec.get("topologySpreadConstraints").is_none() {
        return;
    }
    let labels = pod["metadata"]["labels"].clone();
    let spec = &mut pod["spec"];
    if let Some(Value::Array(constraints)) = spec.get_mut("topologySpreadConstraints") {
        constraints.iter_mut().for_each(|it| merge(it, &labels));
    }
    let Some(affinity) = spec.get_mut("affinity") else {
        return;
    };
    for kind in ["podAffinity", "podAntiAffinity"] {
        let Some(affinity) = affinity.get_mut(kind) else {
            continue;
        };
        if let Some(Value::Array(terms)) = affinity.get_mut(REQUIRED) {
            terms.iter_mut().for_each(|term| merge(term, &labels));
        }
        if let Some(Value::Array(terms)) = affinity.get_mut(PREFERRED) {
            let terms = terms
                .iter_mut()
                .filter_map(|it| it.get_mut("podAffinityTerm"));
            terms.for_each(|term| merge(term, &labels));
        }
    }
}

fn merge(owner: &mut Value, labels: &Value) {
    if !owner.get("labelSelector").is_some_and(Value::is_object) {
        return;
    }
    for (field, operator) in LABEL_KEYS {
        for key in list(owner, field).to_vec() {
            let name = key.as_str().unwrap_or_default();
            let Some(value) = labels.get(name) else {
                continue;
            };
            let rule = json!({"key": name, "operator": operator, "values": [value]});
            match &mut owner["labelSelector"]["matchExpressions"] {
                Value::Array(rules) => rules.push(rule),
                rules => *rules = json!([rule]),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_of_the_pod_comes_into_the_selectors_that_name_its_key() {
        let term = json!({"labelSelector": {}, "matchLabelKeys": ["app", "gone"],
            "mismatchLabelKeys": ["tier"], "topologyKey": "t"});
        let mut pod = json!({"metadata": {"labels": {"app": "a", "tier": "b"}},
            "spec": {"affinity": {"podAffinity": {REQUIRED: [term]}}}});
        merge_label_keys(&mut pod);
        let merged = &pod["spec"]["affinity"]["podAffinity"][REQUIRED][0];
        assert_eq!(
            merged["labelSelector"]["matchExpressions"],
            json!([
                {"key": "app", "operator": "In", "values": ["a"]},
                {"key": "tier", "operator": "NotIn", "values": ["b"]},
            ])
        );
        assert!(pod_term(merged, &ErrorPath::new("t")).is_empty());
    }

    #[test]
    fn a_key_is_asked_for_once() {
        let said = |term: Value| -> Vec<String> {
            let errors = label_keys(&term, &ErrorPath::new("t"));
            errors.iter().map(ToString::to_string).collect()
        };
        assert_eq!(
            said(json!({"matchLabelKeys": ["a"]})),
            ["t.matchLabelKeys: Forbidden: must not be specified when labelSelector is not set"]
        );
        let rule = json!({"key": "a", "operator": "In", "values": ["x"]});
        let selector = json!({"matchExpressions": [rule, rule]});
        assert_eq!(
            said(json!({"matchLabelKeys": ["a"], "labelSelector": selector})),
            ["t[0]: Invalid value: \"a\": exists in both matchLabelKeys and labelSelector"]
        );
        assert_eq!(
            said(json!({"matchLabelKeys": ["a"], "mismatchLabelKeys": ["a"], "labelSelector": {}})),
            [
                "t.matchLabelKeys[0]: Invalid value: \"a\": exists in both matchLabelKeys and \
                 mismatchLabelKeys"
            ]
        );
    }

    #[test]
    fn a_node_term_needs_values_for_in_and_none_for_exists() {
        let rules = json!([
            {"key": "a", "operator": "In"},
            {"key": "a", "operator": "Exists", "values": ["x"]},
            {"key": "bad key!", "operator": "Like"},
        ]);
        let terms = json!([{"matchExpressions": rules}]);
        let wanted = json!({"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}});
        let errors = affinity(&wanted, &ErrorPath::new("a"));
        assert_eq!(errors.len(), 4);
        assert!(errors[0].to_string().ends_with("is 'In' or 'NotIn'"));
    }

    #[test]
    fn constraints_are_positive_and_not_repeated() {
        let constraint =
            json!({"maxSkew": 0, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"});
        let said: Vec<String> = spread(&[constraint.clone(), constraint], &ErrorPath::new("t"))
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            said,
            [
                "t[0].maxSkew: Invalid value: 0: must be greater than zero",
                "t[0].{topologyKey, whenUnsatisfiable}: Duplicate value: \"{z, DoNotSchedule}\"",
                "t[1].maxSkew: Invalid value: 0: must be greater than zero",
            ]
        );
    }
}
