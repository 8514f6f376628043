//! Checks of PriorityClass, RuntimeClass and IngressClass besides their rows in `kinds.checks`
//! (`pkg/apis/scheduling`, `pkg/apis/node`, `pkg/apis/networking`: `validation/validation.go`).

use std::collections::BTreeSet;

use serde_json::Value;

use super::checks::{Checked, FieldCheck};
use super::{Immortal, internal, names, resources};
use crate::object::{Metadata, text};
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("priority_class", priority_class),
    ("overhead", overhead),
    ("tolerations_once", tolerations_once),
    ("domain_prefixed_path", domain_prefixed_path),
    ("ingress_class_namespace", ingress_class_namespace),
];

/// The highest priority that users may define (`HighestUserDefinablePriority`).
const HIGHEST: i64 = 1_000_000_000;
/// The classes that the server itself has (`SystemPriorityClasses`).
const SYSTEM: [(&str, i64); 2] = [
    ("system-node-critical", 2 * HIGHEST + 1000),
    ("system-cluster-critical", 2 * HIGHEST),
];

/// The classes of the server cannot be deleted.
pub(super) const IMMORTAL: Immortal = (
    &["system-node-critical", "system-cluster-critical"],
    "this is a system priority class and cannot be deleted",
);

/// Names that begin with `system-` belong to the server, and so do values above the highest.
fn priority_class(class: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let (name, value) = (
        class.object.name(),
        class.object["value"].as_i64().unwrap_or(0),
    );
    if !name.starts_with("system-") {
        if value > HIGHEST {
            let detail = format!("maximum allowed value of a user defined priority is {HIGHEST}");
            errors.push(FieldError::forbidden("value", detail));
        }
        return;
    }
    let why = match SYSTEM.iter().find(|(known, _)| *known == name) {
        None => format!("{name} is not a known system priority class"),
        Some((_, known)) if *known != value => {
            format!("value of {name} PriorityClass must be {known}")
        }
        Some(_) if class.object["globalDefault"] == true => {
            format!("globalDefault of {name} PriorityClass must be false")
        }
        Some(_) => return,
    };
    let detail = format!(
        "priority class names with 'system-' prefix are reserved for system use only. error: {why}"
    );
    errors.push(FieldError::forbidden("metadata.name", detail));
}

/// `validateOverhead`: the fixed resources, checked as limits of a container.
fn overhead(overhead: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let limits = serde_json::json!({"limits": overhead.value["podFixed"]});
    errors.extend(resources::validate(&limits, overhead.path));
}

/// No two tolerations are the same, however long they tolerate (`validateTolerations`).
fn tolerations_once(tolerations: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let items = tolerations.value.as_array().map_or(&[][..], Vec::as_slice);
    let mut known = BTreeSet::new();
    for (i, toleration) in items.iter().enumerate() {
        let key = ["key", "operator", "value", "effect"].map(|field| text(toleration, field));
        if !known.insert(key) {
            let path = tolerations.path.index(i);
            let shown = internal::field(tolerations.object, &path, toleration);
            errors.push(FieldError::duplicate(path, toleration).shown_as(shown));
        }
    }
}

/// A path below a domain, `acme.io/foo` (`IsDomainPrefixedPath`).
fn domain_prefixed_path(checked: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let Value::String(path) = checked.value else {
        return;
    };
    if path.is_empty() {
        return errors.push(FieldError::required(checked.path, ""));
    }
    let Some((domain, rest)) = path
        .split_once('/')
        .filter(|(a, b)| !a.is_empty() && !b.is_empty())
    else {
        let detail = "must be a domain-prefixed path (such as \"acme.io/foo\")";
        errors.push(FieldError::invalid(checked.path, checked.value, detail));
        return;
    };
    let reasons = names::subdomain(domain).into_iter();
    errors.extend(reasons.map(|why| FieldError::invalid(checked.path, &domain.into(), why)));
    let is_path = |c: char| c.is_ascii_alphanumeric() || "/-._~%!$&'()*+,;=:".contains(c);
    if !rest.chars().all(is_path) {
        let detail =
            "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
        errors.push(FieldError::invalid(checked.path, &rest.into(), detail));
    }
}

/// Parameters in a namespace name it; those of the cluster do not
/// (`validateIngressClassParametersReference`).
fn ingress_class_namespace(parameters: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let namespace = parameters.value.get("namespace");
    let path = parameters.path.child("namespace");
    match text(parameters.value, "scope") {
        "Namespace" => match namespace.and_then(Value::as_str) {
            None => {
                let detail = "`parameters.scope` is set to 'Namespace'";
                errors.push(FieldError::required(path, detail));
            }
            Some(name) => {
                let reasons = names::label(name).into_iter();
                errors.extend(reasons.map(|why| FieldError::invalid(path, &name.into(), why)));
            }
        },
        "Cluster" if namespace.is_some() => {
            let detail = "`parameters.scope` is set to 'Cluster'";
            errors.push(FieldError::forbidden(path, detail));
        }
        _ => {}
    }
}
