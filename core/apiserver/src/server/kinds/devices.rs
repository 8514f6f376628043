//! Checks of the kinds of `resource.k8s.io` besides their rows in `kinds.checks`: claims of devices, their
//! templates and classes (`pkg/apis/resource/validation/validation.go`). Left out: the cost of expressions in CEL
//! is not estimated, and nobody asks whether a namespace may have access of an administrator.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::checks::FieldCheck;
use super::job_policies::too_many;
use super::label_selector::list;
use super::{metadata, names, resources, volumes};
use crate::cel::{self, CelType};
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("device_claim", |claim, errors| {
        device_claim(claim.value, claim.path, errors);
    }),
    ("device_selectors", |selectors, errors| {
        let items = selectors.value.as_array().map_or(&[][..], Vec::as_slice);
        each(items, MOST, selectors.path, errors, selector);
    }),
    ("device_configs", |configs, errors| {
        let items = configs.value.as_array().map_or(&[][..], Vec::as_slice);
        each(items, MOST, configs.path, errors, configuration);
    }),
    ("extended_resource_name", |name, errors| {
        let text = name.value.as_str().unwrap_or_default();
        if !resources::is_extended(text) {
            let detail = "must be a valid extended resource name";
            errors.push(FieldError::invalid(name.path, name.value, detail));
        }
    }),
    ("claim_template_metadata", |meta, errors| {
        errors.extend(metadata::of_template(meta.value, meta.path));
    }),
];

/// The most requests, constraints, configurations and selectors.
pub(super) const MOST: usize = 32;
const MAX_EXPRESSION: usize = 10 * 1024;
/// The most bytes of the parameters of a configuration, and of what a driver tells of a device.
const MAX_PARAMETERS: usize = 10 * 1024;

/// Checks each item of a list that is not too long (`validateSlice`).
pub(super) fn each(
    items: &[Value],
    most: usize,
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
    mut check: impl FnMut(&Value, &ErrorPath<'_>, &mut Vec<FieldError>),
) {
    if let Some(error) = too_many(path, items, most) {
        errors.push(error);
        return;
    }
    for (i, item) in items.iter().enumerate() {
        check(item, &path.index(i), errors);
    }
}

/// Checks each item of a list that is not too long and has each key once (`validateSet`).
pub(super) fn each_once(
    items: &[Value],
    most: usize,
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
    key: impl Fn(&Value) -> &Value,
    check: impl FnMut(&Value, &ErrorPath<'_>, &mut Vec<FieldError>),
) {
    each(items, most, path, errors, check);
    if items.len() > most {
        return;
    }
    for (i, item) in items.iter().enumerate() {
        if items[..i].iter().any(|other| key(other) == key(item)) {
            errors.push(FieldError::duplicate(path.index(i), key(item)));
        }
    }
}

/// Checks a text by a rule for names; an absent one is empty.
pub(super) fn named(
    rule: fn(&str) -> Vec<String>,
    value: &str,
    path: ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    let reasons = rule(value).into_iter();
    errors.extend(reasons.map(|why| FieldError::invalid(path, &value.into(), why)));
}

/// Checks a text that has to be there by a rule for names.
pub(super) fn required_name(
    rule: fn(&str) -> Vec<String>,
    value: &str,
    path: ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    if value.is_empty() {
        errors.push(FieldError::required(path, ""));
    } else {
        named(rule, value, path, errors);
    }
}

/// The names of the requests of a claim, each with those of its alternatives.
pub(super) type Requests<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

pub(super) fn requests(claim: &Value) -> Requests<'_> {
    let requests = list(claim, "requests").iter().map(|request| {
        let alternatives = list(request, "firstAvailable").iter();
        let alternatives = alternatives.map(|alternative| text(alternative, "name"));
        (text(request, "name"), alternatives.collect())
    });
    requests.collect()
}

/// `validateDeviceClaim`.
fn device_claim(claim: &Value, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    let known = requests(claim);
    each_once(
        list(claim, "requests"),
        MOST,
        &path.child("requests"),
        errors,
        |request| &request["name"],
        device_request,
    );
    let constraints = list(claim, "constraints");
    let field = path.child("constraints");
    each(
        constraints,
        MOST,
        &field,
        errors,
        |constraint, path, errors| {
            device_constraint(constraint, path, &known, errors);
        },
    );
    let configs = list(claim, "config");
    each(
        configs,
        MOST,
        &path.child("config"),
        errors,
        |config, path, errors| {
            requests_named(config, path, &known, errors);
            configuration(config, path, errors);
        },
    );
}

/// `validateDeviceRequest`: a request for certain devices, or for the first that can be had.
fn device_request(request: &Value, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    const MOST_ALTERNATIVES: usize = 8;
    const ONE: &str = "exactly one of `exactly` or `firstAvailable` is required";
    named(
        names::label,
        text(request, "name"),
        path.child("name"),
        errors,
    );
    let alternatives = list(request, "firstAvailable");
    match (request.get("exactly"), alternatives.is_empty()) {
        (None, true) => errors.push(FieldError::required(path, ONE)),
        (Some(_), false) => {
            let detail = format!("{ONE}, but multiple fields are set");
            errors.push(FieldError::invalid(path, &Value::Null, detail));
        }
        (Some(exactly), true) => devices_wanted(exactly, &path.child("exactly"), errors),
        (None, false) => each_once(
            alternatives,
            MOST_ALTERNATIVES,
            &path.child("firstAvailable"),
            errors,
            |alternative| &alternative["name"],
            |alternative, path, errors| {
                let name = text(alternative, "name");
                named(names::label, name, path.child("name"), errors);
                devices_wanted(alternative, path, errors);
            },
        ),
    }
}

/// `validateExactDeviceRequest`, `validateDeviceSubRequest`.
fn devices_wanted(wanted: &Value, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    let class = text(wanted, "deviceClassName");
    required_name(
        names::subdomain,
        class,
        path.child("deviceClassName"),
        errors,
    );
    let selectors = list(wanted, "selectors");
    each(selectors, MOST, &path.child("selectors"), errors, selector);
    let count = wanted["count"].as_i64().unwrap_or(0);
    let field = path.child("count");
    match text(wanted, "allocationMode") {
        "All" => {
            if count != 0 {
                let detail = "must not be specified when allocationMode is 'All'";
                errors.push(FieldError::invalid(field, &count.into(), detail));
            }
        }
        "ExactCount" => {
            if count <= 0 {
                let detail = "must be greater than zero";
                errors.push(FieldError::invalid(field, &count.into(), detail));
            }
        }
        other => {
            let field = path.child("allocationMode");
            let supported = ["All", "ExactCount"];
            errors.push(FieldError::not_supported(field, &other.into(), &supported));
        }
    }
    tolerations(wanted, path, errors);
}

fn selector(selector: &Value, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    match selector.get("cel") {
        None => errors.push(FieldError::required(path.child("cel"), "")),
        Some(cel) if text(cel, "expression").len() > MAX_EXPRESSION => {
            let field = path.child("cel.expression");
            errors.push(FieldError::too_long(field, MAX_EXPRESSION));
        }
        Some(cel) => errors.extend(expression(text(cel, "expression"), path)),
    }
}

/// An expression about a device tells whether it is one of those that are wanted (`validateCELSelector`).
fn expression(written: &str, path: &ErrorPath<'_>) -> Option<FieldError> {
    const FIELDS: [&str; 4] = [
        "allowMultipleAllocations",
        "attributes",
        "capacity",
        "driver",
    ];
    // Functions that only these expressions have.
    if written.contains("cel.") {
        return None;
    }
    let fields = FIELDS.map(|field| (field, CelType::Dyn));
    let detail = match cel::type_of(written, &["device"], ("device", &fields)) {
        Ok(CelType::Bool | CelType::Dyn) => return None,
        Ok(found) => format!("must evaluate to bool or the unknown type, not {found}"),
        Err(cel::Unusable::Wrong(why)) => why,
        Err(cel::Unusable::Unknown) => return None,
    };
    let field = path.child("cel.expression");
    Some(FieldError::invalid(field, &written.into(), detail))
}

/// `validateDeviceConstraint`. The message is upstream's, also where no field is set.
fn device_constraint(
    constraint: &Value,
    path: &ErrorPath<'_>,
    known: &Requests<'_>,
    errors: &mut Vec<FieldError>,
) {
    requests_named(constraint, path, known, errors);
    let attribute = ["matchAttribute", "distinctAttribute"].into_iter();
    let mut attribute = attribute.filter_map(|field| Some((field, constraint.get(field)?)));
    match attribute.next() {
        Some((field, name)) => {
            let name = name.as_str().unwrap_or_default();
            let path = path.child(field);
            qualified_name(name, &path, errors);
            if !name.contains('/') {
                let detail =
                    "a fully qualified name must be a domain and a name separated by a slash";
                errors.push(FieldError::invalid(path, &name.into(), detail));
            }
        }
        None => {
            let detail = "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, \
                          but multiple fields are set";
            errors.push(FieldError::required(path, detail));
        }
    }
}

/// Checks the names of requests in a part of a claim.
pub(super) fn requests_named(
    part: &Value,
    path: &ErrorPath<'_>,
    known: &Requests<'_>,
    errors: &mut Vec<FieldError>,
) {
    let names = list(part, "requests");
    let field = path.child("requests");
    each_once(
        names,
        MOST,
        &field,
        errors,
        |name| name,
        |name, path, errors| {
            request_named(name.as_str().unwrap_or_default(), path, known, errors);
        },
    );
}

/// `validateRequestNameRef`.
pub(super) fn request_named(
    name: &str,
    path: &ErrorPath<'_>,
    known: &Requests<'_>,
    errors: &mut Vec<FieldError>,
) {
    let parts: Vec<&str> = name.split('/').collect();
    let is_known = match parts[..] {
        [request] => known.contains_key(request),
        [request, alternative] => known
            .get(request)
            .is_some_and(|alternatives| alternatives.contains(alternative)),
        _ => false,
    };
    if parts.len() <= 2 {
        for part in parts {
            named(names::label, part, *path, errors);
        }
    }
    if !is_known {
        let detail = "must be the name of a request in the claim or the name of a request and a \
                      subrequest separated by '/'";
        errors.push(FieldError::invalid(path, &name.into(), detail));
    }
}

/// `validateDeviceConfiguration`.
pub(super) fn configuration(config: &Value, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    let path = path.child("opaque");
    let Some(opaque) = config.get("opaque") else {
        errors.push(FieldError::required(path, ""));
        return;
    };
    errors.extend(volumes::driver(
        text(opaque, "driver"),
        &path.child("driver"),
    ));
    let parameters = opaque.get("parameters").unwrap_or(&Value::Null);
    raw_object(parameters, path.child("parameters"), errors);
}

/// An object whose members only a driver knows (`validateRawExtension`).
pub(super) fn raw_object(value: &Value, path: ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    if value.is_null() {
        errors.push(FieldError::required(path, ""));
    } else if value.to_string().len() > MAX_PARAMETERS {
        errors.push(FieldError::too_long(path, MAX_PARAMETERS));
    } else if !value.is_object() {
        let detail = "must be a valid JSON object";
        errors.push(FieldError::invalid(path, &"<value omitted>".into(), detail));
    }
}

/// A name, or a name of a domain (`validateQualifiedName`). Upstream takes every name with two slashes.
pub(super) fn qualified_name(name: &str, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    let parts: Vec<&str> = name.split('/').collect();
    let mut empty = |detail: &str| errors.push(FieldError::invalid(path, &"".into(), detail));
    match parts[..] {
        [name] => identifier(name, path, errors),
        [domain, name] => {
            if domain.is_empty() {
                empty("the domain must not be empty");
            } else {
                errors.extend(volumes::driver(domain, path));
            }
            if name.is_empty() {
                let detail = "the name must not be empty";
                errors.push(FieldError::invalid(path, &"".into(), detail));
            } else {
                identifier(name, path, errors);
            }
        }
        _ => {}
    }
}

/// `validateCIdentifier`.
fn identifier(name: &str, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    const MAX: usize = 32;
    if name.len() > MAX {
        errors.push(FieldError::too_long(path, MAX));
    }
    named(names::identifier, name, *path, errors);
}

/// The name of a pool: parts that are subdomains, with slashes between them (`validatePoolName`).
pub(super) fn pool_name(name: &str, path: ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    const MAX: usize = 253;
    if name.is_empty() {
        errors.push(FieldError::required(path, ""));
        return;
    }
    if name.len() > MAX {
        errors.push(FieldError::too_long(path, MAX));
    }
    for part in name.split('/') {
        named(names::subdomain, part, path, errors);
    }
}

pub(super) const EFFECTS: [&str; 3] = ["NoExecute", "NoSchedule", "None"];

/// `validateDeviceToleration`.
pub(super) fn tolerations(owner: &Value, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    for (i, toleration) in list(owner, "tolerations").iter().enumerate() {
        let path = path.item("tolerations", i);
        let key = text(toleration, "key");
        if !key.is_empty() {
            named(names::qualified, key, path.child("key"), errors);
        }
        let value = text(toleration, "value");
        let field = path.child("value");
        match text(toleration, "operator") {
            "Exists" => {
                if !value.is_empty() {
                    let detail = "must be empty for operator `Exists`";
                    errors.push(FieldError::invalid(field, &value.into(), detail));
                }
            }
            "Equal" => named(names::label_value, value, field, errors),
            "" => errors.push(FieldError::required(path.child("operator"), "")),
            other => {
                let field = path.child("operator");
                let supported = ["Equal", "Exists"];
                errors.push(FieldError::not_supported(field, &other.into(), &supported));
            }
        }
        let effect = text(toleration, "effect");
        if !effect.is_empty() && !EFFECTS.contains(&effect) {
            let field = path.child("effect");
            errors.push(FieldError::not_supported(field, &effect.into(), &EFFECTS));
        }
    }
}

/// Conditions that bind a device to a node, and those that say that it failed
/// (`validateDeviceBindingParameters`).
pub(super) fn binding_conditions(
    owner: &Value,
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    const MOST_CONDITIONS: usize = 4;
    let [(bind, bind_field), (fail, fail_field)] =
        ["bindingConditions", "bindingFailureConditions"]
            .map(|field| (list(owner, field), path.child(field)));
    for (conditions, field) in [(bind, &bind_field), (fail, &fail_field)] {
        each(
            conditions,
            MOST_CONDITIONS,
            field,
            errors,
            |name, path, errors| {
                named(
                    names::qualified,
                    name.as_str().unwrap_or_default(),
                    *path,
                    errors,
                );
            },
        );
    }
    for (conditions, field, others) in [(bind, &bind_field, &[][..]), (fail, &fail_field, bind)] {
        for (i, condition) in conditions.iter().enumerate() {
            if conditions[..i].contains(condition) {
                errors.push(FieldError::duplicate(field.index(i), condition));
            }
            if others.contains(condition) {
                let detail = "bindingFailureConditions must not overlap with bindingConditions";
                errors.push(FieldError::invalid(field.index(i), condition, detail));
            }
        }
    }
    if bind.is_empty() && !fail.is_empty() {
        let detail = "bindingConditions are required to use bindingFailureConditions";
        errors.push(FieldError::invalid(bind_field, &Value::Null, detail));
    }
    if fail.is_empty() && !bind.is_empty() {
        let detail = "bindingFailureConditions are required to use bindingConditions";
        errors.push(FieldError::invalid(fail_field, &Value::Null, detail));
    }
}
