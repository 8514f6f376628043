//! Checks of FlowSchema and PriorityLevelConfiguration besides their rows in `kinds.checks`
//! (`pkg/apis/flowcontrol/validation/validation.go`).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::checks::{self, Checked, FieldCheck};
use super::{internal, names};
use crate::field::ErrorPath;
use crate::object::{Metadata, text};
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("fixed_spec", fixed_spec),
    ("matching_precedence", matching_precedence),
    ("distinguisher_method", distinguisher_method),
    ("flow_subject", subject),
    ("flow_rules_given", rules_given),
    ("flow_verbs", verbs),
    ("only_all_groups", |groups, errors| {
        all_stands_alone(groups, "api groups", errors);
    }),
    ("only_all_resources", |resources, errors| {
        all_stands_alone(resources, "resources", errors);
    }),
    ("flow_namespaces", namespaces),
    ("flow_urls", urls),
    ("flow_conditions", conditions),
    ("no_shares_annotation", no_shares_annotation),
    ("priority_level", priority_level),
    ("limit_response", limit_response),
    ("queuing", queuing),
    ("not_negative_integer", |number, errors| {
        not_negative(number, "must be a non-negative integer", errors);
    }),
    ("not_negative_if_given", |number, errors| {
        let detail = "if specified, must be a non-negative integer";
        not_negative(number, detail, errors);
    }),
    ("percent", |percent, errors| {
        let outside = |percent: i64| !(0..=100).contains(&percent);
        if percent.value.as_i64().is_some_and(outside) {
            let detail = "must be between 0 and 100, inclusive";
            errors.push(FieldError::invalid(percent.path, percent.value, detail));
        }
    }),
];

const EXEMPT: &str = "exempt";
const ALL: &str = "*";

fn items<'a>(checked: &Checked<'a>) -> &'a [Value] {
    checked.value.as_array().map_or(&[], Vec::as_slice)
}

fn not_negative(number: &Checked<'_>, detail: &str, errors: &mut Vec<FieldError>) {
    if number.value.as_i64().is_some_and(|number| number < 0) {
        errors.push(FieldError::invalid(number.path, number.value, detail));
    }
}

/// The objects that each server needs have a fixed spec (`MandatoryFlowSchemas`,
/// `MandatoryPriorityLevelConfigurations`). Only the shares of the level *exempt* may change
/// (`ValidateIfMandatoryPriorityLevelConfigurationObject`).
fn fixed_spec(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let everything = |groups: &[&str]| {
        let groups = groups.iter();
        let subjects = groups.map(|name| json!({"kind": "Group", "group": {"name": name}}));
        json!([{
            "subjects": subjects.collect::<Vec<_>>(),
            "resourceRules": [{"verbs": [ALL], "apiGroups": [ALL], "resources": [ALL],
                "clusterScope": true, "namespaces": [ALL]}],
            "nonResourceRules": [{"verbs": [ALL], "nonResourceURLs": [ALL]}],
        }])
    };
    let name = spec.object.name();
    let mut given = spec.value.clone();
    let fixed = match (text(spec.object, "kind"), name) {
        ("FlowSchema", EXEMPT) => json!({
            "priorityLevelConfiguration": {"name": EXEMPT}, "matchingPrecedence": 1,
            "rules": everything(&["system:masters"]),
        }),
        ("FlowSchema", "catch-all") => json!({
            "priorityLevelConfiguration": {"name": "catch-all"}, "matchingPrecedence": 10_000,
            "distinguisherMethod": {"type": "ByUser"},
            "rules": everything(&["system:unauthenticated", "system:authenticated"]),
        }),
        ("PriorityLevelConfiguration", EXEMPT) => {
            if let Some(given) = given.as_object_mut() {
                given.remove(EXEMPT);
            }
            json!({"type": "Exempt"})
        }
        ("PriorityLevelConfiguration", "catch-all") => json!({
            "type": "Limited",
            "limited": {"nominalConcurrencyShares": 5, "limitResponse": {"type": "Reject"},
                "lendablePercent": 0},
        }),
        _ => return,
    };
    if given != fixed {
        let but = match (text(spec.object, "kind"), name) {
            ("PriorityLevelConfiguration", EXEMPT) => " except the 'spec.exempt' field",
            _ => "",
        };
        let detail = format!("spec of '{name}'{but} must equal the fixed value");
        errors.push(shown_inside(spec, &detail));
    }
}

/// The value is wrong, and is shown in the server's own form.
fn shown_inside(checked: &Checked<'_>, detail: &str) -> FieldError {
    let shown = internal::field(checked.object, checked.path, checked.value);
    FieldError::invalid(checked.path, checked.value, detail).shown_as(shown)
}

fn matching_precedence(precedence: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const HIGHEST: i64 = 10_000;
    let number = precedence.value.as_i64().unwrap_or(0);
    let mut refuse =
        |detail: String| errors.push(FieldError::invalid(precedence.path, &number.into(), detail));
    if number <= 0 {
        refuse("must be a positive value".to_owned());
    }
    if number > HIGHEST {
        refuse(format!("must not be greater than {HIGHEST}"));
    }
    if number == 1 && precedence.object.name() != EXEMPT {
        refuse("only the schema named 'exempt' may have matchingPrecedence 1".to_owned());
    }
}

fn distinguisher_method(method: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const SUPPORTED: [&str; 2] = ["ByNamespace", "ByUser"];
    if !SUPPORTED.contains(&text(method.value, "type")) {
        let path = method.path.child("type");
        let error = FieldError::not_supported(path, method.value, &SUPPORTED);
        errors.push(error.shown_as(internal::field(method.object, method.path, method.value)));
    }
}

/// A subject has the member of its kind, and no other (`ValidateFlowSchemaSubject`).
fn subject(subject: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const MEMBERS: [(&str, &str); 3] = [
        ("ServiceAccount", "serviceAccount"),
        ("User", "user"),
        ("Group", "group"),
    ];
    let kind = text(subject.value, "kind");
    let Some((_, own)) = MEMBERS.iter().find(|(known, _)| *known == kind) else {
        let path = subject.path.child("kind");
        let supported = ["Group", "ServiceAccount", "User"];
        errors.push(FieldError::not_supported(path, &kind.into(), &supported));
        return;
    };
    let path = subject.path.child(own);
    match subject.value.get(own) {
        Some(member) => member_of_subject(own, member, &path, errors),
        None => {
            let detail = format!("{own} is required when subject kind is '{kind}'");
            errors.push(FieldError::required(path, detail));
        }
    }
    for (kind, other) in MEMBERS {
        if other != *own && subject.value.get(other).is_some() {
            let detail = format!("{other} is forbidden when subject kind is not '{kind}'");
            errors.push(FieldError::forbidden(subject.path.child(other), detail));
        }
    }
}

fn member_of_subject(
    member_name: &str,
    member: &Value,
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    let is_account = member_name == "serviceAccount";
    let name = text(member, "name");
    let field = path.child("name");
    if name.is_empty() {
        errors.push(FieldError::required(field, ""));
    } else if is_account && name != ALL {
        let reasons = names::subdomain(name).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field, &name.into(), why)));
    }
    if !is_account {
        return;
    }
    let namespace = text(member, "namespace");
    let field = path.child("namespace");
    if namespace.is_empty() {
        let detail = "must specify namespace for service account";
        errors.push(FieldError::required(field, detail));
    } else {
        let reasons = names::label(namespace).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field, &namespace.into(), why)));
    }
}

fn rules_given(rules: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let lists = ["resourceRules", "nonResourceRules"].into_iter();
    let mut lists = lists.filter_map(|list| rules.value[list].as_array());
    if lists.all(Vec::is_empty) {
        let detail = "at least one of resourceRules and nonResourceRules has to be non-empty";
        errors.push(FieldError::required(rules.path, detail));
    }
}

/// Refuses other items beside `*`, and returns whether the list has `*`.
fn all_stands_alone(list: &Checked<'_>, what: &str, errors: &mut Vec<FieldError>) -> bool {
    let has_all = items(list).iter().any(|item| item == ALL);
    if has_all && items(list).len() > 1 {
        let detail = format!("if '*' is present, must not specify other {what}");
        errors.push(FieldError::invalid(list.path, list.value, detail));
    }
    has_all
}

fn verbs(verbs: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const SUPPORTED: [&str; 9] = [
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "proxy",
        "update",
        "watch",
    ];
    let is_known = |verb: &Value| SUPPORTED.contains(&verb.as_str().unwrap_or_default());
    if !all_stands_alone(verbs, "verbs", errors) && !items(verbs).iter().all(is_known) {
        let error = FieldError::not_supported(verbs.path, verbs.value, &SUPPORTED);
        errors.push(error);
    }
}

fn namespaces(rule: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let of_cluster = rule.value["clusterScope"] == true;
    rule.child("namespaces", |namespaces| {
        if items(namespaces).is_empty() && !of_cluster {
            let detail =
                "resource rules that are not cluster scoped must supply at least one namespace";
            errors.push(FieldError::required(namespaces.path, detail));
            return;
        }
        if all_stands_alone(namespaces, "namespaces", errors) {
            return;
        }
        for (i, namespace) in items(namespaces).iter().enumerate() {
            let reasons = names::label(namespace.as_str().unwrap_or_default()).into_iter();
            errors.extend(reasons.map(|why| {
                let detail =
                    format!("each member of this list must be '*' or a DNS-1123 label; {why}");
                FieldError::invalid(namespaces.path.index(i), namespace, detail)
            }));
        }
    });
}

/// Paths that are no resources, also with a `*` at the end (`ValidateNonResourceURLPath`).
fn urls(urls: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if all_stands_alone(urls, "non-resource URLs", errors) {
        return;
    }
    for (i, url) in items(urls).iter().enumerate() {
        let path = url.as_str().unwrap_or_default();
        let stars = path.matches('*').count();
        let detail = match path {
            "/" => continue,
            "" => "must not be empty",
            _ if !path.starts_with('/') => "must start with slash",
            _ if path.contains(' ') => "must not contain white-space",
            _ if path.contains("//") => "must not contain double slash",
            _ if stars > 1 || stars == 1 && !path.ends_with("/*") => {
                "wildcard can only do suffix matching"
            }
            _ => continue,
        };
        errors.push(FieldError::invalid(urls.path.index(i), url, detail));
    }
}

/// `ValidateFlowSchemaStatus`, `ValidatePriorityLevelConfigurationStatus`.
fn conditions(conditions: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let mut known = BTreeSet::new();
    for (i, condition) in items(conditions).iter().enumerate() {
        let kind = text(condition, "type");
        let item = conditions.path.index(i);
        if !known.insert(kind) {
            errors.push(FieldError::duplicate(item.child("type"), &kind.into()));
        }
        if kind.is_empty() {
            errors.push(FieldError::required(item.child("type"), ""));
        }
    }
}

/// The annotation says in v1beta3 what a field says in v1.
fn no_shares_annotation(level: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const ANNOTATION: &str = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";
    if level.object["metadata"]["annotations"]
        .get(ANNOTATION)
        .is_some()
    {
        let detail = format!("annotation '{ANNOTATION}' is forbidden");
        errors.push(FieldError::forbidden("metadata.annotations", detail));
    }
}

/// `ValidatePriorityLevelConfigurationSpec`.
fn priority_level(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let kind = text(spec.value, "type");
    let field = |name: &'static str| spec.path.child(name);
    let has = |name: &str| spec.value.get(name).is_some();
    let check = |member: &'static str, type_name: &str, errors: &mut Vec<FieldError>| {
        let value = &spec.value[member];
        errors.extend(checks::of_type(
            type_name,
            value,
            &field(member),
            spec.object,
        ));
    };
    if (spec.object.name() == EXEMPT) != (kind == "Exempt") {
        let detail = "must be 'Exempt' if and only if `name` is 'exempt'";
        errors.push(FieldError::invalid(field("type"), &kind.into(), detail));
    }
    match kind {
        "Exempt" => {
            if has("limited") {
                let detail = "must be nil if the type is not Limited";
                errors.push(FieldError::forbidden(field("limited"), detail));
            }
            check("exempt", "ExemptPriorityLevelConfiguration", errors);
        }
        "Limited" => {
            if has("exempt") {
                let detail = "must be nil if the type is Limited";
                errors.push(FieldError::forbidden(field("exempt"), detail));
            }
            if has("limited") {
                check("limited", "LimitedPriorityLevelConfiguration", errors);
            } else {
                let detail = "must not be empty when type is Limited";
                errors.push(FieldError::required(field("limited"), detail));
            }
        }
        _ => {
            let supported = ["Exempt", "Limited"];
            let error = FieldError::not_supported(field("type"), &kind.into(), &supported);
            errors.push(error);
        }
    }
}

/// `ValidateLimitResponse`. Upstream's messages name *Limited* where they mean *Queue*.
fn limit_response(response: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let path = response.path.child("queuing");
    let queuing = response.value.get("queuing");
    let kind = text(response.value, "type");
    match (kind, queuing) {
        ("Reject", Some(_)) => {
            let detail = "must be nil if limited.limitResponse.type is not Limited";
            errors.push(FieldError::forbidden(path, detail));
        }
        ("Queue", None) => {
            let detail = "must not be empty if limited.limitResponse.type is Limited";
            errors.push(FieldError::required(path, detail));
        }
        ("Queue", Some(queuing)) => {
            let object = response.object;
            errors.extend(checks::of_type(
                "QueuingConfiguration",
                queuing,
                &path,
                object,
            ));
        }
        ("Reject", None) => {}
        _ => {
            let path = response.path.child("type");
            let supported = ["Queue", "Reject"];
            errors.push(FieldError::not_supported(path, &kind.into(), &supported));
        }
    }
}

/// `ValidatePriorityLevelQueuingConfiguration`.
fn queuing(queuing: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const MOST_QUEUES: i64 = 10_000_000;
    const MOST_BITS: f64 = 60.0;
    let number = |field: &str| queuing.value[field].as_i64().unwrap_or(0);
    let mut refuse = |field: &'static str, detail: String| {
        let path = queuing.path.child(field);
        errors.push(FieldError::invalid(path, &number(field).into(), detail));
    };
    let positive = || "must be positive".to_owned();
    if number("queueLengthLimit") <= 0 {
        refuse("queueLengthLimit", positive());
    }
    let (queues, hand) = (number("queues"), number("handSize"));
    if queues <= 0 {
        refuse("queues", positive());
    } else if queues > MOST_QUEUES {
        refuse("queues", format!("must not be greater than {MOST_QUEUES}"));
    }
    // `shufflesharding.RequiredEntropyBits`; numbers of 32 bits are exact as they are.
    let bits = ((queues as f64).log2() * hand as f64).ceil();
    if hand <= 0 {
        refuse("handSize", positive());
    } else if hand > queues {
        refuse(
            "handSize",
            format!("should not be greater than queues ({queues})"),
        );
    } else if bits > MOST_BITS {
        refuse(
            "handSize",
            format!(
                "required entropy bits of deckSize {queues} and handSize {hand} should not be \
                 greater than {MOST_BITS}"
            ),
        );
    }
}
