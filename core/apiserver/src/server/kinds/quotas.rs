//! Checks of ResourceQuota and LimitRange besides their rows in `kinds.checks`
//! (`pkg/apis/core/validation`, `pkg/apis/core/helper`).

use std::collections::BTreeSet;

use serde_json::Value;

use super::capacity_requests::amount_text;
use super::checks::{Checked, FieldCheck};
use super::label_selector::list;
use super::metadata::IMMUTABLE;
use super::resources::{self, reasons_against_any, whole_amount};
use super::{internal, names};
use crate::field::ErrorPath;
use crate::object::{JsonMap, text};
use crate::schema::Quantity;
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("quota_amounts", quota_amounts),
    ("quota_scopes", quota_scopes),
    ("quota_selector", quota_selector),
    ("same_scopes", same_scopes),
    ("limits", limits),
];

/// The resources without a domain that a quota can limit, besides [`COMPUTED`].
const COUNTED: [&str; 13] = [
    "ephemeral-storage",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "persistentvolumeclaims",
    "configmaps",
    "services.nodeports",
    "services.loadbalancers",
];
/// The compute resources of pods.
const COMPUTED: [&str; 6] = [
    "cpu",
    "memory",
    "requests.cpu",
    "requests.memory",
    "limits.cpu",
    "limits.memory",
];
const OF_CLAIMS: [&str; 2] = ["persistentvolumeclaims", "requests.storage"];
const SCOPES: [&str; 7] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
];
const EXCLUSIVE: [[&str; 2]; 2] = [
    ["BestEffort", "NotBestEffort"],
    ["Terminating", "NotTerminating"],
];

fn is_standard(name: &str) -> bool {
    let pages = name.strip_prefix("requests.").unwrap_or(name);
    COUNTED.contains(&name) || COMPUTED.contains(&name) || pages.starts_with("hugepages-")
}

/// `IsResourceQuotaScopeValidForResource`.
fn applies(scope: &str, resource: &str) -> bool {
    match scope {
        "BestEffort" => resource == "pods",
        "VolumeAttributesClass" => OF_CLAIMS.contains(&resource),
        scope if SCOPES.contains(&scope) => resource == "pods" || COMPUTED.contains(&resource),
        _ => true,
    }
}

/// The names and amounts of a quota (`ValidateResourceQuotaSpec`).
fn quota_amounts(amounts: &Checked<'_>, errors: &mut Vec<FieldError>) {
    for (name, amount) in amounts
        .value
        .as_object()
        .into_iter()
        .flat_map(JsonMap::iter)
    {
        let field = amounts.path.key(name);
        let mut reasons = reasons_against_any(name);
        if !name.contains('/') && !is_standard(name) {
            reasons.push("must be a standard resource for quota".to_owned());
        }
        errors.extend(
            reasons
                .into_iter()
                .map(|why| FieldError::invalid(field, &name.as_str().into(), why)),
        );
        errors.extend(whole_amount(name, amount, &field));
    }
}

/// A request that is larger than its limit (`resourcequotaStrategy.WarningsOnCreate`).
pub(super) fn warn(quota: &Value, live: Option<&Value>) -> Vec<String> {
    let hard = &quota["spec"]["hard"];
    let names = ["cpu", "memory", "storage", "ephemeral-storage"];
    let warning = |name: &&str| {
        let limit_name = format!("limits.{name}");
        let limit = hard.get(&limit_name)?;
        let bare = Some((*name).to_owned()).filter(|name| matches!(&**name, "cpu" | "memory"));
        let names = [Some(format!("requests.{name}")), bare];
        let mut requests = names.into_iter().flatten();
        let (request_name, request) =
            requests.find_map(|name| hard.get(&name).map(|request| (name, request)))?;
        (Quantity::from(request) > Quantity::from(limit)).then(|| {
            let (request, limit) = (amount_text(request), amount_text(limit));
            format!("ResourceQuota {request_name} ({request}) should be less than {limit_name} ({limit})")
        })
    };
    match live {
        None => names.iter().filter_map(warning).collect(),
        Some(_) => Vec::new(),
    }
}

fn limited(spec: &Value) -> BTreeSet<&str> {
    let hard = spec["hard"].as_object().into_iter().flat_map(JsonMap::iter);
    hard.map(|(name, _)| name.as_str()).collect()
}

fn inapplicable<'a>(scope: &str, spec: &'a Value) -> impl Iterator<Item = &'a str> {
    let limited = limited(spec).into_iter();
    limited.filter(move |name| is_standard(name) && !applies(scope, name))
}

fn conflicts(scopes: &[&str]) -> usize {
    let both = |pair: &&[&str; 2]| pair.iter().all(|scope| scopes.contains(scope));
    EXCLUSIVE.iter().filter(both).count()
}

/// `validateResourceQuotaScopes`.
fn quota_scopes(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let path = spec.path.child("scopes");
    let mut refuse = |detail: &str| {
        errors.push(FieldError::invalid(path, &spec.value["scopes"], detail));
    };
    let scopes = list(spec.value, "scopes").iter();
    let scopes: Vec<&str> = scopes.filter_map(Value::as_str).collect();
    for scope in &scopes {
        if !SCOPES.contains(scope) {
            refuse("unsupported scope");
        }
        for _ in inapplicable(scope, spec.value) {
            refuse("unsupported scope applied to resource");
        }
    }
    for _ in 0..conflicts(&scopes) {
        refuse("conflicting scopes");
    }
}

/// `validateScopedResourceSelectorRequirement`.
fn quota_selector(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let selector = &spec.value["scopeSelector"];
    let around = spec.path.child("scopeSelector");
    let path = around.child("matchExpressions");
    let mut scopes = Vec::new();
    for rule in list(selector, "matchExpressions") {
        let (scope, operator) = (text(rule, "scopeName"), text(rule, "operator"));
        if !SCOPES.contains(&scope) {
            let field = path.child("scopeName");
            errors.push(FieldError::invalid(
                field,
                &scope.into(),
                "unsupported scope",
            ));
        }
        for _ in inapplicable(scope, spec.value) {
            let shown = internal::field(spec.object, &around, selector);
            let detail = "unsupported scope applied to resource";
            errors.push(FieldError::invalid(path, selector, detail).shown_as(shown));
        }
        let field = path.child("operator");
        let needs_values = matches!(scope, "PriorityClass" | "VolumeAttributesClass");
        if !needs_values && SCOPES.contains(&scope) && operator != "Exists" {
            let detail = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, \
                 ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, \
                 ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
            errors.push(FieldError::invalid(field, &operator.into(), detail));
        }
        let values = path.child("values");
        let none = list(rule, "values").is_empty();
        match operator {
            "In" | "NotIn" if none => {
                let detail = "must be at least one value when `operator` is 'In' or 'NotIn' for \
                     scope selector";
                errors.push(FieldError::required(values, detail));
            }
            "Exists" | "DoesNotExist" if !none => {
                let detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for \
                     scope selector";
                errors.push(FieldError::invalid(values, &rule["values"], detail));
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => {
                let detail = "not a valid selector operator";
                errors.push(FieldError::invalid(field, &operator.into(), detail));
            }
        }
        scopes.push(scope);
    }
    for _ in 0..conflicts(&scopes) {
        let value = &spec.value["scopes"];
        errors.push(FieldError::invalid(path, value, "conflicting scopes"));
    }
}

/// The scopes of a quota stay, in any order.
fn same_scopes(scopes: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let set = |value: &Value| -> BTreeSet<String> {
        let items = value.as_array().into_iter().flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    if scopes
        .before()
        .is_some_and(|before| set(before) != set(scopes.value))
    {
        errors.push(FieldError::invalid(scopes.path, scopes.value, IMMUTABLE));
    }
}

/// The limits of a LimitRange (`ValidateLimitRange`).
fn limits(limits: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let mut seen = Vec::new();
    let items = limits.value.as_array().map_or(&[][..], Vec::as_slice);
    for (i, limit) in items.iter().enumerate() {
        let path = limits.path.index(i);
        let (field, of) = (path.child("type"), text(limit, "type"));
        let known = ["Pod", "Container", "PersistentVolumeClaim"];
        let mut reasons = names::qualified(of);
        if reasons.is_empty() && !of.contains('/') && !known.contains(&of) {
            reasons.push("must be a standard limit type or fully qualified".to_owned());
        }
        let reasons = reasons.into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field, &of.into(), why)));
        if seen.contains(&of) {
            errors.push(FieldError::duplicate(field, &of.into()));
        }
        seen.push(of);
        limit_names(limit, &path, errors);
        for name in limited_names(limit) {
            limit_amounts(limit, name, &path, errors);
        }
    }
}

/// The maps of a limit, in the order in which they are looked at.
const MAPS: [&str; 5] = [
    "max",
    "min",
    "default",
    "defaultRequest",
    "maxLimitRequestRatio",
];

fn limited_names(limit: &Value) -> BTreeSet<&str> {
    let maps = MAPS.iter().filter_map(|map| limit.get(map)?.as_object());
    let names = maps.flat_map(JsonMap::iter);
    names.map(|(name, _)| name.as_str()).collect()
}

fn limit_names(limit: &Value, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    let of = text(limit, "type");
    for map in MAPS {
        let amounts = limit.get(map).and_then(Value::as_object);
        if map == "maxLimitRequestRatio" && of == "PersistentVolumeClaim" {
            let has = |map: &str| limit[map].get("storage").is_some();
            if !has("min") && !has("max") {
                let detail =
                    "either minimum or maximum storage value is required, but neither was provided";
                errors.push(FieldError::required(path.child("limits"), detail));
            }
        }
        if of == "Pod" && map.starts_with("default") {
            if amounts.is_some_and(|amounts| !amounts.is_empty()) {
                let detail = "may not be specified when `type` is 'Pod'";
                errors.push(FieldError::forbidden(path.child(map), detail));
            }
            continue;
        }
        let field = path.child(map);
        for (name, _) in amounts.into_iter().flat_map(JsonMap::iter) {
            let reasons = match of {
                "Pod" | "Container" => resources::reasons_against(name),
                _ => reasons_against_any(name),
            };
            errors.extend(
                reasons
                    .into_iter()
                    .map(|why| FieldError::invalid(field.key(name), &name.as_str().into(), why)),
            );
        }
    }
}

/// The order of a limit's amounts: if the first is above the second, the field and the value that are
/// wrong, and the names of both in the message.
type AmountOrder = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);
const ORDER: [AmountOrder; 6] = [
    ("min", "max", "min", "min", "min", "max"),
    (
        "min",
        "defaultRequest",
        "defaultRequest",
        "defaultRequest",
        "min",
        "default request",
    ),
    (
        "defaultRequest",
        "max",
        "defaultRequest",
        "defaultRequest",
        "default request",
        "max",
    ),
    (
        "defaultRequest",
        "default",
        "defaultRequest",
        "defaultRequest",
        "default request",
        "default limit",
    ),
    ("min", "default", "default", "min", "min", "default"),
    ("default", "max", "default", "max", "default", "max"),
];

/// Checks that the amounts of one resource fit each other.
fn limit_amounts(limit: &Value, name: &str, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    let of_pod = text(limit, "type") == "Pod";
    let amount = |map: &str| {
        let hidden = of_pod && map.starts_with("default");
        limit.get(map)?.get(name).filter(|_| !hidden)
    };
    for (lower, upper, wrong, shown, lower_name, upper_name) in ORDER {
        if let (Some(low), Some(high)) = (amount(lower), amount(upper))
            && Quantity::from(low) > Quantity::from(high)
        {
            let (low, high) = (low.as_str().unwrap_or("0"), high.as_str().unwrap_or("0"));
            let detail =
                format!("{lower_name} value {low} is greater than {upper_name} value {high}");
            let value = amount(shown).unwrap_or(&Value::Null);
            let field = path.child(wrong);
            errors.push(FieldError::invalid(field.key(name), value, detail));
        }
    }
    ratio(&amount, name, path, errors);
    if let (Some(default), Some(asked)) = (amount("default"), amount("defaultRequest"))
        && !resources::may_overcommit(name)
        && Quantity::from(default) != Quantity::from(asked)
    {
        let (shown, asked_shown) = (
            default.as_str().unwrap_or("0"),
            asked.as_str().unwrap_or("0"),
        );
        let detail = format!(
            "default value {shown} must equal to defaultRequest value {asked_shown} in {name}"
        );
        let field = path.child("defaultRequest");
        errors.push(FieldError::invalid(field.key(name), asked, detail));
    }
}

fn ratio<'a>(
    amount: &impl Fn(&str) -> Option<&'a Value>,
    name: &str,
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    let Some(ratio) = amount("maxLimitRequestRatio") else {
        return;
    };
    let (shown, quantity) = (ratio.as_str().unwrap_or("0"), Quantity::from(ratio));
    let field = path.child("maxLimitRequestRatio");
    let mut refuse = |detail: String| {
        errors.push(FieldError::invalid(field.key(name), ratio, detail));
    };
    if quantity < Quantity::from(1) {
        refuse(format!("ratio {shown} is less than 1"));
    }
    if let (Some(least), Some(most)) = (amount("min"), amount("max")) {
        let limit = Quantity::from(most).approximately() / Quantity::from(least).approximately();
        if quantity.approximately() > limit {
            refuse(format!(
                "ratio {shown} is greater than max/min = {limit:.6}"
            ));
        }
    }
}
