//! The words of a row: the checks that many kinds make (`k8s.io/apimachinery/pkg/api/validation`,
//! `k8s.io/apimachinery/pkg/util/validation`, v1.36).

use serde_json::Value;

use super::super::metadata::{self, IMMUTABLE};
use super::super::names::{self, NameRule};
use super::super::{
    addresses, admission_policies, api_service, autoscaling_checks, certificates, claim_status,
    claims, conditions, cron, deployment, device_slices, devices, endpoints, flow_control,
    internal, ip, job_policies, job_status, jobs, label_selector, networking, nodes,
    persistent_volumes, pod_template, policy, quotas, rbac, scheduling, secret, storage,
    volume_sources, webhooks, workloads,
};
use super::{Checked, FieldCheck};
use crate::object::JsonMap;
use crate::status::{FieldError, Problem};

/// A word, and its check. The text is the one after `=`.
type WordCheck = fn(&'static str, &Checked<'_>, &mut Vec<FieldError>);

const WORDS: [(&str, WordCheck); 28] = [
    ("metadata", metadata_of),
    ("whole-metadata", |rule, checked, errors| {
        errors.extend(metadata::builtin(checked.object, name_rule(rule)));
    }),
    ("chosen-metadata", |rule, checked, errors| {
        let rule = name_rule(rule);
        errors.extend(metadata::builtin_with_chosen_name(checked.object, rule));
    }),
    ("any-metadata", |rule, checked, errors| {
        errors.extend(metadata::of_any_kind(checked.object, name_rule(rule)));
    }),
    ("any-metadata-kept", |_, checked, errors| {
        if let Some(live) = checked.live {
            errors.extend(metadata::update_of_any_kind(checked.object, live));
        }
    }),
    ("if-set", |_, _, _| {}), // the engine looks at it
    ("rising", |_, checked, errors| {
        // What was not set before cannot fall (`IsDecremented`).
        let now = checked.value.as_i64();
        let before = checked.before().and_then(Value::as_i64);
        if before.is_some_and(|before| now.is_none_or(|now| now < before)) {
            let value = now.unwrap_or(0).into();
            errors.push(FieldError::invalid(
                checked.path,
                &value,
                "cannot be decremented",
            ));
        }
    }),
    ("required", required),
    ("present", |detail, checked, errors| {
        if checked.value.is_null() {
            errors.push(FieldError::required(checked.path, detail));
        }
    }),
    ("forbidden", forbidden),
    ("enum", one_of),
    ("min", at_least),
    ("max", at_most),
    ("above", above),
    ("range", in_range),
    ("name", name),
    ("labels", |_, checked, errors| {
        errors.extend(metadata::labels(Some(checked.value), checked.path));
    }),
    ("selector", |_, checked, errors| {
        if !checked.value.is_null() {
            errors.extend(label_selector::validate(checked.value, checked.path));
        }
    }),
    ("tolerations", |_, checked, errors| {
        let items = checked.value.as_array().map_or(&[][..], Vec::as_slice);
        errors.extend(pod_template::tolerations(items, checked.path));
    }),
    ("conditions", |_, checked, errors| {
        let items = checked.value.as_array().map_or(&[][..], Vec::as_slice);
        errors.extend(conditions::validate(items, checked.path));
    }),
    ("share", |_, checked, errors| {
        errors.extend(deployment::share(checked.value, checked.path));
    }),
    ("at-most-all", |_, checked, errors| {
        errors.extend(deployment::at_most_all(checked.value, checked.path));
    }),
    ("max-bytes", |most, checked, errors| {
        let most = most.parse().unwrap_or(usize::MAX);
        if checked.value.as_str().is_some_and(|text| text.len() > most) {
            errors.push(FieldError::too_long(checked.path, most));
        }
    }),
    ("immutable", |detail, checked, errors| {
        if is_changed(checked) {
            let detail = if detail.is_empty() { IMMUTABLE } else { detail };
            errors.push(match checked.value {
                Value::Null => FieldError::invalid(checked.path, &Value::Null, detail),
                _ => invalid(checked, detail),
            });
        }
    }),
    ("immutable-text", |_, checked, errors| {
        if is_changed(checked) {
            errors.push(invalid(checked, IMMUTABLE));
        }
    }),
    ("unchanged", |detail, checked, errors| {
        if is_changed(checked) {
            errors.push(FieldError::forbidden(checked.path, detail));
        }
    }),
    ("call", |function, checked, errors| {
        if let Some(check) = function_of(function) {
            check(checked, errors);
        }
    }),
    ("type", |name, checked, errors| checked.is_a(name, errors)),
];

/// The checks in Rust that rows call.
const CALLS: [&[(&str, FieldCheck)]; 27] = [
    addresses::CALLS,
    admission_policies::CALLS,
    api_service::CALLS,
    autoscaling_checks::CALLS,
    certificates::CALLS,
    claim_status::CALLS,
    claims::CALLS,
    cron::CALLS,
    device_slices::CALLS,
    devices::CALLS,
    endpoints::CALLS,
    flow_control::CALLS,
    job_policies::CALLS,
    job_status::CALLS,
    jobs::CALLS,
    networking::CALLS,
    nodes::CALLS,
    persistent_volumes::CALLS,
    policy::CALLS,
    quotas::CALLS,
    rbac::CALLS,
    scheduling::CALLS,
    secret::CALLS,
    storage::CALLS,
    volume_sources::CALLS,
    webhooks::CALLS,
    workloads::CALLS,
];

/// The rules for names that rows name.
const NAMES: [(&str, NameRule); 9] = [
    ("any", |_| Vec::new()),
    ("ip", ip::exact),
    ("subdomain", names::subdomain),
    ("label", names::label),
    ("label-1035", names::label_1035),
    ("path-segment", names::path_segment),
    ("qualified", names::qualified),
    ("config-key", names::config_key),
    ("port", names::port_name),
];

/// Makes one check of a row. A word that is not in the list names a type.
pub(super) fn check(
    name: &'static str,
    argument: &'static str,
    checked: &Checked<'_>,
    errors: &mut Vec<FieldError>,
) {
    match WORDS.iter().find(|(word, _)| *word == name) {
        Some((_, check)) => check(argument, checked, errors),
        None => checked.is_a(name, errors),
    }
}

#[cfg(test)]
pub(super) fn is_known(name: &str, argument: &str) -> bool {
    match name {
        "call" => function_of(argument).is_some(),
        "name" | "metadata" | "whole-metadata" | "chosen-metadata" | "any-metadata" => {
            NAMES.iter().any(|(rule, _)| *rule == argument)
        }
        _ => WORDS.iter().any(|(word, _)| *word == name),
    }
}

fn function_of(name: &str) -> Option<FieldCheck> {
    let mut all = CALLS.iter().copied().flatten();
    all.find(|(known, _)| *known == name)
        .map(|(_, check)| *check)
}

fn name_rule(name: &str) -> NameRule {
    let known = NAMES.iter().find(|(known, _)| *known == name);
    known.map_or(names::path_segment, |(_, rule)| *rule)
}

/// The metadata of a new or an updated object, whose names follow a rule.
fn metadata_of(rule: &'static str, checked: &Checked<'_>, errors: &mut Vec<FieldError>) {
    errors.extend(match checked.live {
        None => metadata::builtin(checked.object, name_rule(rule)),
        Some(live) => metadata::builtin_update(checked.object, live),
    });
}

fn required(detail: &'static str, checked: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if checked.is_zero() {
        errors.push(FieldError::required(checked.path, detail));
    }
}

fn forbidden(detail: &'static str, checked: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if !checked.is_zero() {
        errors.push(FieldError::forbidden(checked.path, detail));
    }
}

fn one_of(values: &'static str, checked: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let value = checked.value.as_str().unwrap_or_default();
    let supported: Vec<&str> = values.split(',').collect();
    if !supported.contains(&value) {
        errors.push(FieldError::not_supported(
            checked.path,
            &value.into(),
            &supported,
        ));
    }
}

fn at_least(least: &'static str, checked: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let least = least.parse().unwrap_or(i64::MIN);
    if checked.value.as_i64().is_some_and(|number| number < least) {
        errors.push(invalid(
            checked,
            &format!("must be greater than or equal to {least}"),
        ));
    }
}

fn at_most(most: &'static str, checked: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let most = most.parse().unwrap_or(i64::MAX);
    if checked.value.as_i64().is_some_and(|number| number > most) {
        let detail = format!("must be less than or equal to {most}");
        errors.push(invalid(checked, &detail));
    }
}

/// Above zero; the argument is how the message says so.
fn above(zero: &'static str, checked: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if checked.value.as_i64().is_some_and(|number| number <= 0) {
        let detail = format!("must be greater than {zero}");
        errors.push(invalid(checked, &detail));
    }
}

fn in_range(range: &'static str, checked: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let (least, most) = range.split_once("..").unwrap_or_default();
    let bounds = (least.parse(), most.parse());
    if let (Some(number), (Ok(least), Ok(most))) = (checked.value.as_i64(), bounds) {
        let reasons = names::in_range(number, least, most).into_iter();
        errors.extend(reasons.map(|why| invalid(checked, &why)));
    }
}

/// A name of a certain form; an absent one is not checked.
fn name(rule: &'static str, checked: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if let Value::String(text) = checked.value {
        let reasons = name_rule(rule)(text).into_iter();
        errors.extend(reasons.map(|why| invalid(checked, &why)));
    }
}

fn is_changed(checked: &Checked<'_>) -> bool {
    checked
        .before()
        .is_some_and(|stored| stored != checked.value && !same_in_go(stored, checked.value))
}

/// Returns whether Go takes two values for equal: an empty list is one that is not there
/// (`apiequality.Semantic.DeepEqual`).
pub(in crate::server) fn same_in_go(one: &Value, other: &Value) -> bool {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let missing = |there: &JsonMap, here: &JsonMap| {
                let mut only = there.iter().filter(|(name, _)| !here.contains_key(*name));
                only.all(|(_, value)| is_empty(value))
            };
            let shared = |(name, value): (&String, &Value)| {
                other.get(name).is_none_or(|it| same_in_go(value, it))
            };
            missing(one, other) && missing(other, one) && one.iter().all(shared)
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => one
            .iter()
            .zip(other)
            .all(|(one, other)| same_in_go(one, other)),
        (one, other) => one == other || is_empty(one) && is_empty(other),
    }
}

/// The value is wrong. An absent one is shown as an empty text, a struct in its internal form.
fn invalid(checked: &Checked<'_>, detail: &str) -> FieldError {
    match checked.value {
        Value::Null => FieldError::with_value(Problem::Invalid, checked.path, &"".into(), detail),
        Value::Object(_) | Value::Array(_) => {
            let shown = internal::field(checked.object, checked.path, checked.value);
            FieldError::invalid(checked.path, checked.value, detail).shown_as(shown)
        }
        value => FieldError::invalid(checked.path, value, detail),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_checks_and_no_two_words_have_one_name() {
        let calls = CALLS.iter().copied().flatten().map(|(name, _)| *name);
        let words = WORDS.iter().map(|(name, _)| *name);
        for names in [calls.collect::<Vec<_>>(), words.collect()] {
            let mut seen = BTreeSet::new();
            let twice: Vec<&str> = names
                .into_iter()
                .filter(|name| !seen.insert(*name))
                .collect();
            assert!(twice.is_empty(), "{twice:?}");
        }
    }
}
