//! Validation of a CustomResourceDefinition itself
//! (`k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go`, v0.36.3).

mod conversion;
mod internal;
mod lists;
mod members;
mod rules;
mod schema;
mod spec;
mod structural;
mod versions;

use std::collections::BTreeSet;

use serde_json::Value;

pub(in crate::server) use rules::unknown_rules;

use super::served::versions;
use crate::field::ErrorPath;
use crate::go;
use crate::object::{Metadata, text};
use crate::schema::custom::is_known_format;
use crate::server::kinds::{metadata, names};
use crate::status::FieldError;

/// The annotation that approves an API in a group of the Kubernetes community.
const APPROVED: &str = "api-approved.kubernetes.io";

/// Checks a definition; the stored one is given on update.
pub(super) fn validate(object: &Value, live: Option<&Value>) -> Vec<FieldError> {
    let spec = &object["spec"];
    let mut errors = match live {
        Some(live) => metadata::update_of_any_kind(object, live),
        None => {
            let mut errors = metadata::of_any_kind(object, names::subdomain);
            errors.extend(misnamed(object, spec));
            errors
        }
    };
    errors.extend(spec::validate(spec, live));
    if let Some(live) = live {
        errors.extend(spec::validate_update(object, live));
    }
    errors.extend(spec::names(&object["status"]["acceptedNames"], &ACCEPTED));
    errors.extend(stored_versions(object));
    errors.extend(approval(object, live));
    let preserves = |object: &Value| object["spec"]["preserveUnknownFields"] == true;
    if preserves(object) && !live.is_some_and(preserves) {
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in \
             spec.versions[*].schema instead";
        let field = "spec.preserveUnknownFields";
        errors.push(FieldError::invalid(field, &true.into(), detail));
    }
    errors
}

const ACCEPTED: ErrorPath<'static> = ErrorPath::new("status.acceptedNames");

/// Checks a write of the status (`ValidateUpdateCustomResourceDefinitionStatus`).
pub(super) fn validate_status(object: &Value, live: &Value) -> Vec<FieldError> {
    let mut errors = metadata::update_of_any_kind(object, live);
    let accepted = &object["status"]["acceptedNames"];
    errors.extend(spec::names(accepted, &ACCEPTED));
    errors
}

fn misnamed(object: &Value, spec: &Value) -> Option<FieldError> {
    let (name, group) = (object.name(), text(spec, "group"));
    let expected = format!("{}.{group}", text(&spec["names"], "plural"));
    let detail = "must be spec.names.plural+\".\"+spec.group";
    (name != expected && !name.is_empty())
        .then(|| FieldError::invalid("metadata.name", &name.into(), detail))
}

/// `ValidateCustomResourceDefinitionStoredVersions`.
fn stored_versions(object: &Value) -> Vec<FieldError> {
    const FIELD: &str = "status.storedVersions";
    let stored = &object["status"]["storedVersions"];
    let names: Vec<&str> = stored
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if names.is_empty() {
        let detail = "must have at least one stored version";
        return vec![FieldError::invalid(FIELD, stored, detail)];
    }
    let listed: Vec<&Value> = versions(&object["spec"]).collect();
    let mut errors = Vec::new();
    // A second version of the same name does not find it any more.
    let mut left: BTreeSet<&str> = names.iter().copied().collect();
    for version in &listed {
        let name = text(version, "name");
        if !left.remove(name) && version["storage"] == true {
            let detail = format!("must have the storage version {name}");
            errors.push(FieldError::invalid(FIELD, stored, detail));
        }
    }
    for (i, name) in names.iter().enumerate() {
        if !listed.iter().any(|version| text(version, "name") == *name) {
            let detail = format!(
                "missing from spec.versions; {name} was previously a storage version, and must \
                 remain in spec.versions until a storage migration ensures no data remains \
                 persisted in {name} and removes {name} from status.storedVersions"
            );
            let list = ErrorPath::new(FIELD);
            let field = list.index(i);
            errors.push(FieldError::invalid(field, &(*name).into(), detail));
        }
    }
    errors
}

/// Groups of the Kubernetes community need to say that an API was approved (`validateAPIApproval`).
fn approval(object: &Value, live: Option<&Value>) -> Option<FieldError> {
    let group = text(&object["spec"], "group");
    let of = |domain: &str| {
        let rest = group.strip_suffix(domain);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    if !of("k8s.io") && !of("kubernetes.io") {
        return None;
    }
    let note = |object: &Value| {
        let annotations = object.metadata().and_then(|meta| meta.get("annotations"));
        let note = annotations.and_then(|annotations| annotations.get(APPROVED)?.as_str());
        note.unwrap_or_default().to_owned()
    };
    let found = note(object);
    let state = |note: &str| match note {
        "" => "missing",
        note if note.starts_with("unapproved") => "bypassed",
        note if is_url(note) => "approved",
        _ => "invalid",
    };
    if live.is_some_and(|live| state(&note(live)) == state(&found)) {
        return None;
    }
    let annotations = ErrorPath::new("metadata.annotations");
    let field = annotations.key(APPROVED);
    let say = |how: &str| {
        format!(
            "protected groups must have approval annotation {}{how}, see \
             https://github.com/kubernetes/enhancements/pull/1111",
            go::quote(APPROVED)
        )
    };
    match state(&found) {
        "missing" => Some(FieldError::required(field, say(""))),
        "invalid" => {
            let how = " with either a URL or a reason starting with \"unapproved\"";
            Some(FieldError::invalid(field, &found.into(), say(how)))
        }
        _ => None,
    }
}

/// Returns whether a text is a URL with a scheme and a host.
fn is_url(text: &str) -> bool {
    text.parse::<http::Uri>()
        .is_ok_and(|uri| uri.scheme().is_some() && uri.host().is_some_and(|host| !host.is_empty()))
}

/// Formats that the server does not know deserve a warning when they are new.
pub(super) fn warn(object: &Value, live: Option<&Value>) -> Vec<String> {
    let known = live.map(unknown_formats).unwrap_or_default();
    let known: BTreeSet<&String> = known.iter().collect();
    unknown_formats(object)
        .iter()
        .filter(|format| !known.contains(format))
        .map(|format| format!("unrecognized format {}", go::quote(format)))
        .collect()
}

fn unknown_formats(object: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut look = |schema: &Value| {
        let (ty, format) = (text(schema, "type"), text(schema, "format"));
        if !format.is_empty() && !is_known_format(ty, format) {
            found.push(format.to_owned());
        }
    };
    let spec = &object["spec"];
    for (_, schema) in spec::schemas(spec) {
        schema::walk(schema, &mut look);
    }
    found
}
