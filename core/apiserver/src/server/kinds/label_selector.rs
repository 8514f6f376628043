//! Label selectors inside objects (`k8s.io/apimachinery/pkg/apis/meta/v1/validation`, `helpers.go`).

use serde_json::Value;

use super::{metadata, names};
use crate::field::ErrorPath;
use crate::object::text;
use crate::server::wire;
use crate::status::FieldError;

/// Checks a selector that is there.
pub(super) fn validate(selector: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let labels = selector.get("matchLabels");
    let mut errors = metadata::labels(labels, &path.child("matchLabels"));
    for (i, requirement) in requirements(selector).iter().enumerate() {
        let path = path.item("matchExpressions", i);
        let operator = text(requirement, "operator");
        if !matches!(operator, "In" | "NotIn" | "Exists" | "DoesNotExist") {
            let field = path.child("operator");
            let detail = "not a valid selector operator";
            errors.push(FieldError::invalid(field, &operator.into(), detail));
        }
        errors.extend(requirement_errors(requirement, &path));
    }
    errors
}

/// `ValidateLabelSelectorRequirement` with `AllowUnknownOperatorInRequirement`.
pub(in crate::server) fn requirement_errors(
    requirement: &Value,
    path: &ErrorPath<'_>,
) -> Vec<FieldError> {
    let mut errors: Vec<FieldError> = values_error(requirement, path).into_iter().collect();
    let key = text(requirement, "key");
    let reasons = names::qualified(key).into_iter();
    let field = path.child("key");
    errors.extend(reasons.map(|why| FieldError::invalid(field, &key.into(), why)));
    for (j, value) in values(requirement).iter().enumerate() {
        let reasons = names::label_value(value.as_str().unwrap_or_default()).into_iter();
        let field = path.item("values", j);
        errors.extend(reasons.map(|why| FieldError::invalid(field, value, why)));
    }
    errors
}

/// Returns the error in the number of values of a requirement: an operator needs some, or takes
/// none.
pub(in crate::server) fn values_error(
    requirement: &Value,
    path: &ErrorPath<'_>,
) -> Option<FieldError> {
    let none = values(requirement).is_empty();
    match text(requirement, "operator") {
        "In" | "NotIn" if none => {
            let detail = "must be specified when `operator` is 'In' or 'NotIn'";
            Some(FieldError::required(path.child("values"), detail))
        }
        "Exists" | "DoesNotExist" if !none => {
            let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
            Some(FieldError::forbidden(path.child("values"), detail))
        }
        _ => None,
    }
}

/// A selector that is refused, shown as Go writes it.
pub(super) fn invalid(field: &str, selector: &Value, detail: &str) -> FieldError {
    let shown = match selector {
        Value::Null => "null".to_owned(),
        selector => wire::of_type("LabelSelector", selector),
    };
    FieldError::invalid(field, &Value::Null, detail).shown_as(shown)
}

/// Returns whether a selector is there and asks for nothing.
pub(in crate::server) fn is_empty(selector: &Value) -> bool {
    let labels = selector.get("matchLabels").and_then(Value::as_object);
    !selector.is_null()
        && labels.is_none_or(|labels| labels.is_empty())
        && requirements(selector).is_empty()
}

/// Returns whether a selector can be used (`LabelSelectorAsSelector`).
pub(in crate::server) fn is_sound(selector: &Value) -> bool {
    validate(selector, &ErrorPath::new("")).is_empty()
}

/// Returns whether a selector chooses the objects made from a template; an absent one chooses
/// nothing.
pub(in crate::server) fn matches(selector: &Value, template: &Value) -> bool {
    let labels = &template["metadata"]["labels"];
    let mut equal = selector
        .get("matchLabels")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    !selector.is_null()
        && equal.all(|(key, value)| labels.get(key) == Some(value))
        && requirements(selector).iter().all(|requirement| {
            let found = labels.get(text(requirement, "key"));
            let listed = found.is_some_and(|value| values(requirement).contains(value));
            match text(requirement, "operator") {
                "In" => listed,
                "NotIn" => !listed,
                "Exists" => found.is_some(),
                _ => found.is_none(),
            }
        })
}

fn requirements(selector: &Value) -> &[Value] {
    list(selector, "matchExpressions")
}

fn values(requirement: &Value) -> &[Value] {
    list(requirement, "values")
}

/// The items of a list; empty if the list is absent.
pub(in crate::server) fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    match value.get(field) {
        Some(Value::Array(items)) => items,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn expressions_choose_as_labels_do() {
        let template = json!({"metadata": {"labels": {"app": "web"}}});
        let selects = |operator: &str, values: Value| {
            let requirement = json!({"key": "app", "operator": operator, "values": values});
            matches(&json!({"matchExpressions": [requirement]}), &template)
        };
        assert!(selects("In", json!(["web", "db"])));
        assert!(!selects("NotIn", json!(["web"])));
        assert!(selects("Exists", json!([])));
        assert!(!selects("DoesNotExist", json!([])));
        assert!(!matches(&Value::Null, &template));
    }

    #[test]
    fn values_are_for_operators_that_compare() {
        let selector = json!({"matchExpressions": [
            {"key": "a", "operator": "In"},
            {"key": "a", "operator": "Exists", "values": ["x"]},
            {"key": "a", "operator": "Like"},
        ]});
        let fields: Vec<String> = validate(&selector, &ErrorPath::new("s"))
            .into_iter()
            .map(|e| e.field)
            .collect();
        assert_eq!(
            fields,
            [
                "s.matchExpressions[0].values",
                "s.matchExpressions[1].values",
                "s.matchExpressions[2].operator"
            ]
        );
    }
}
