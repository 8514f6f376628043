//! The policies by which a Job fails or succeeds (`pkg/apis/batch/validation/validation.go`).

use std::collections::BTreeSet;

use serde_json::Value;

use super::checks::{Checked, FieldCheck};
use super::jobs::is_indexed;
use super::label_selector::list;
use super::{internal, metadata, names};
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::{FieldError, Problem};

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("failure_policy", failure_policy),
    ("success_policy", success_policy),
];

/// `validatePodFailurePolicy`.
fn failure_policy(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let path = spec.path.child("podFailurePolicy.rules");
    let rules = list(&spec.value["podFailurePolicy"], "rules");
    errors.extend(too_many(&path, rules, 20));
    let pod = &spec.value["template"]["spec"];
    let containers = list(pod, "containers").iter();
    let containers = containers.chain(list(pod, "initContainers"));
    let containers: BTreeSet<&str> = containers.map(|it| text(it, "name")).collect();
    for (i, rule) in rules.iter().enumerate() {
        let path = path.index(i);
        let actions = ["Count", "FailIndex", "FailJob", "Ignore"];
        match text(rule, "action") {
            "FailIndex" if spec.value.get("backoffLimitPerIndex").is_none() => {
                let detail = "requires the backoffLimitPerIndex to be set";
                let field = path.child("action");
                errors.push(FieldError::invalid(field, &"FailIndex".into(), detail));
            }
            _ => errors.extend(listed(rule, &path, "action", &actions)),
        }
        let codes = rule.get("onExitCodes");
        if let Some(codes) = codes {
            exit_codes(codes, &path.child("onExitCodes"), &containers, errors);
        }
        let conditions = list(rule, "onPodConditions");
        pod_conditions(conditions, &path.child("onPodConditions"), errors);
        let what = match (codes.is_some(), !conditions.is_empty()) {
            (true, true) => "specifying both OnExitCodes and OnPodConditions is not supported",
            (false, false) => "specifying one of OnExitCodes and OnPodConditions is required",
            _ => continue,
        };
        errors.push(FieldError::without_value(Problem::Invalid, path, what));
    }
}

/// One of several texts; the message for an absent one names them.
fn listed(
    owner: &Value,
    path: &ErrorPath<'_>,
    name: &str,
    supported: &[&str],
) -> Option<FieldError> {
    let field = path.child(name);
    match text(owner, name) {
        "" => {
            let quoted: Vec<String> = supported.iter().map(|it| crate::go::quote(it)).collect();
            let detail = format!("valid values: [{}]", quoted.join(" "));
            Some(FieldError::required(field, detail))
        }
        value if supported.contains(&value) => None,
        value => Some(FieldError::not_supported(field, &value.into(), supported)),
    }
}

pub(super) fn too_many(path: &ErrorPath<'_>, items: &[Value], most: usize) -> Option<FieldError> {
    let detail = format!("must have at most {most} items");
    let count = items.len().into();
    (items.len() > most).then(|| FieldError::with_value(Problem::TooMany, path, &count, detail))
}

/// `validatePodFailurePolicyRuleOnExitCodes`.
fn exit_codes(
    codes: &Value,
    path: &ErrorPath<'_>,
    containers: &BTreeSet<&str>,
    errors: &mut Vec<FieldError>,
) {
    errors.extend(listed(codes, path, "operator", &["In", "NotIn"]));
    if let Some(Value::String(name)) = codes.get("containerName")
        && !containers.contains(name.as_str())
    {
        let detail = "must be one of the container or initContainer names in the pod template";
        let field = path.child("containerName");
        errors.push(FieldError::invalid(field, &name.as_str().into(), detail));
    }
    let values = list(codes, "values");
    let path = path.child("values");
    if values.is_empty() {
        let detail = "at least one value is required";
        errors.push(FieldError::invalid(path, &codes["values"], detail));
    }
    errors.extend(too_many(&path, values, 255));
    for (i, value) in values.iter().enumerate() {
        if text(codes, "operator") == "In" && value.as_i64() == Some(0) {
            let detail = "must not be 0 for the In operator";
            errors.push(FieldError::invalid(path.index(i), value, detail));
        }
        if values[..i].contains(value) {
            errors.push(FieldError::duplicate(path.index(i), value));
        }
    }
    if !values.is_sorted_by_key(Value::as_i64) {
        let all = Value::from(values.to_vec());
        errors.push(FieldError::invalid(path, &all, "must be ordered"));
    }
}

/// `validatePodFailurePolicyRuleOnPodConditions`.
fn pod_conditions(conditions: &[Value], path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    errors.extend(too_many(path, conditions, 20));
    for (i, condition) in conditions.iter().enumerate() {
        let path = path.index(i);
        let name = text(condition, "type");
        let reasons = names::qualified(name).into_iter();
        let field = path.child("type");
        errors.extend(reasons.map(|why| FieldError::invalid(field, &name.into(), why)));
        let known = ["False", "True", "Unknown"];
        errors.extend(listed(condition, &path, "status", &known));
    }
}

/// `validateSuccessPolicy`, for jobs with indexes.
fn success_policy(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let policy = &spec.value["successPolicy"];
    let path = spec.path.child("successPolicy");
    if policy.is_null() {
        return;
    }
    if !is_indexed(spec.value) {
        let shown = internal::field(spec.object, &path, policy);
        let detail = "requires indexed completion mode";
        errors.push(FieldError::invalid(path, policy, detail).shown_as(shown));
        return;
    }
    let rules = list(policy, "rules");
    let path = path.child("rules");
    if rules.is_empty() {
        let detail = "at least one rules must be specified when the successPolicy is specified";
        errors.push(FieldError::required(path, detail));
    }
    errors.extend(too_many(&path, rules, 20));
    let completions = spec.value["completions"].as_i64().unwrap_or(0);
    for (i, rule) in rules.iter().enumerate() {
        success_rule(rule, &path.index(i), completions, errors);
    }
}

fn success_rule(
    rule: &Value,
    path: &ErrorPath<'_>,
    completions: i64,
    errors: &mut Vec<FieldError>,
) {
    let (count, indexes) = (rule.get("succeededCount"), rule.get("succeededIndexes"));
    if count.is_none() && indexes.is_none() {
        let detail = "at least one of succeededCount or succeededIndexes must be specified";
        errors.push(FieldError::required(path, detail));
    }
    let mut total = 0;
    if let Some(Value::String(indexes)) = indexes {
        let path = path.child("succeededIndexes");
        const MOST: usize = 64 * 1024;
        if indexes.len() > MOST {
            errors.push(FieldError::too_long(path, MOST));
        }
        match index_intervals(indexes, completions) {
            Ok(intervals) => total = intervals.iter().map(|(from, to)| to - from + 1).sum(),
            Err(why) => {
                let detail = format!("error parsing succeededIndexes: {why}");
                errors.push(FieldError::invalid(path, &indexes.as_str().into(), detail));
            }
        }
    }
    let Some(count) = count.and_then(Value::as_i64) else {
        return;
    };
    let path = path.child("succeededCount");
    if count < 0 {
        errors.push(metadata::negative(path, count));
    }
    let limits = [
        (Some(completions), "specified completions"),
        (
            indexes.map(|_| total),
            "indexes in the specified succeededIndexes field",
        ),
    ];
    for (most, of) in limits {
        if let Some(most) = most.filter(|most| count > *most) {
            let detail = format!("must be less than or equal to {most} (the number of {of})");
            errors.push(FieldError::invalid(path, &count.into(), detail));
        }
    }
}

/// Reads intervals of indexes, `0,2-4`, below a number; or returns the problem
/// (`validateIndexesFormat`).
pub(super) fn index_intervals(text: &str, completions: i64) -> Result<Vec<(i64, i64)>, String> {
    let mut intervals: Vec<(i64, i64)> = Vec::new();
    let index = |text: &str| match text.parse::<i64>() {
        Err(_) => Err(format!(
            "cannot convert string to integer for index: {text:?}"
        )),
        Ok(index) if index >= completions => Err(format!("too large index: {text:?}")),
        Ok(index) => Ok(index),
    };
    let decreasing = |before: i64, after: i64| {
        Err(format!(
            "non-increasing order, previous: {before}, current: {after}"
        ))
    };
    for interval in text.split(',').filter(|_| !text.is_empty()) {
        let parts: Vec<&str> = interval.split('-').collect();
        let (from, to) = match parts[..] {
            [one] => (index(one)?, index(one)?),
            [from, to] => (index(from)?, index(to)?),
            _ => {
                return Err(format!(
                    "the fragment {interval:?} violates the requirement that an index interval can \
                     have at most two parts separated by '-'"
                ));
            }
        };
        if parts.len() > 1 && from >= to {
            return decreasing(from, to);
        }
        if let Some((_, last)) = intervals.last().filter(|(_, last)| *last >= from) {
            return decreasing(*last, from);
        }
        intervals.push((from, to));
    }
    Ok(intervals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_rise_and_stay_below_the_completions() {
        assert_eq!(index_intervals("0,2-4", 5), Ok(vec![(0, 0), (2, 4)]));
        assert_eq!(index_intervals("", 5), Ok(vec![]));
        let wrong = |text: &str| index_intervals(text, 5).unwrap_err();
        assert_eq!(wrong("0-5"), "too large index: \"5\"");
        assert_eq!(
            wrong("2,1"),
            "non-increasing order, previous: 2, current: 1"
        );
        assert!(wrong("x").starts_with("cannot convert"));
        assert!(wrong("1-2-3").contains("at most two parts"));
    }
}
