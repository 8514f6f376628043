//! The spec of a definition: its names and its list of versions.

use std::collections::BTreeSet;

use serde_json::Value;

use super::versions::{SHARED, VersionMembers, is_shared, members};
use super::{conversion, internal, schema};
use crate::field::ErrorPath;
use crate::go;
use crate::object::text;
use crate::server::custom::served::{is_condition, versions};
use crate::server::kinds::metadata::IMMUTABLE;
use crate::server::kinds::names::{label_1035, subdomain};
use crate::status::FieldError;

/// The schemas of a definition, with their paths.
pub(super) fn schemas(spec: &Value) -> Vec<(String, &Value)> {
    let all = members(spec, "schema").into_iter();
    all.filter_map(|(path, _, validation)| {
        let schema = validation.get("openAPIV3Schema")?;
        Some((format!("{path}.openAPIV3Schema"), schema))
    })
    .collect()
}

const SPEC: ErrorPath<'static> = ErrorPath::new("spec");
const NAMES: ErrorPath<'static> = SPEC.child("names");

/// `validateCustomResourceDefinitionSpec`; the stored definition is given on update.
pub(super) fn validate(spec: &Value, live: Option<&Value>) -> Vec<FieldError> {
    let mut errors = group_and_scope(spec);
    let preserves = spec["preserveUnknownFields"] == true;
    if preserves && has_defaults(spec) {
        let detail = "must be false in order to use defaults in the schema";
        let field = "spec.preserveUnknownFields";
        errors.push(FieldError::invalid(field, &true.into(), detail));
    }
    let shared = SHARED.map(|(member, _)| is_shared(spec, member));
    let members = |version, shared| VersionMembers {
        spec,
        live,
        version,
        shared,
    };
    for (i, version) in versions(spec).enumerate() {
        let path = SPEC.item("versions", i);
        let name = text(version, "name");
        errors.extend(joined(&path.child("name"), name, &label_1035(name), ""));
        errors.extend(deprecation(version, &path));
        errors.extend(members(version, None).validate(&path, shared.map(|it| !it)));
    }
    errors.extend(of_versions(spec));
    errors.extend(required_names(&spec["names"]));
    errors.extend(names(&spec["names"], &NAMES));
    if let Some(version) = versions(spec).next() {
        errors.extend(members(version, Some(shared)).validate(&SPEC, shared));
    }
    let strategy = &spec["conversion"]["strategy"];
    if preserves && strategy.is_string() && strategy != "None" {
        let detail = "must be None if spec.preserveUnknownFields is true";
        let field = "spec.conversion.strategy";
        errors.push(FieldError::invalid(field, strategy, detail));
    }
    errors.extend(conversion::validate(&spec["conversion"], live));
    errors
}

/// Checks the group and the scope, and that each version has a schema.
fn group_and_scope(spec: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let group = text(spec, "group");
    if group.is_empty() {
        errors.push(FieldError::required("spec.group", ""));
    } else if let Some(error) = joined(&SPEC.child("group"), group, &subdomain(group), "") {
        errors.push(error);
    } else if !group.contains('.') {
        let detail = "should be a domain with at least one dot";
        errors.push(FieldError::invalid("spec.group", &group.into(), detail));
    }
    errors.extend(among(
        "spec.scope",
        text(spec, "scope"),
        &["Cluster", "Namespaced"],
    ));
    for (i, version) in versions(spec).enumerate() {
        let schema = version.pointer("/schema/openAPIV3Schema");
        if schema.is_none_or(Value::is_null) {
            let version = SPEC.item("versions", i);
            let field = version.child("schema.openAPIV3Schema");
            errors.push(FieldError::required(field, ""));
        }
    }
    errors
}

/// Returns whether a schema of the definition has a default (`specHasDefaults`).
fn has_defaults(spec: &Value) -> bool {
    let mut found = false;
    for (_, schema) in schemas(spec) {
        schema::walk(schema, &mut |schema| found |= !schema["default"].is_null());
    }
    found
}

/// The list of versions itself.
fn of_versions(spec: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    let mut unique = true;
    for version in versions(spec) {
        unique &= seen.insert(text(version, "name"));
    }
    let invalid = |detail: &str| {
        FieldError::invalid("spec.versions", &Value::Null, detail).shown_as(internal_versions(spec))
    };
    if !unique {
        errors.push(invalid("must contain unique version names"));
    }
    if versions(spec)
        .filter(|version| version["storage"] == true)
        .count()
        != 1
    {
        errors.push(invalid(
            "must have exactly one version marked as storage version",
        ));
    }
    if let Some(first) = versions(spec).next() {
        let name = text(first, "name");
        if name.is_empty() {
            return errors;
        }
        errors.extend(joined(&SPEC.child("version"), name, &label_1035(name), ""));
    }
    errors
}

/// The versions in the server's own form, without their shared members.
fn internal_versions(spec: &Value) -> String {
    let shared = |name: &str| SHARED.iter().any(|(it, _)| *it == name) && is_shared(spec, name);
    let shown: Vec<String> = versions(spec)
        .map(|version| internal::version(version, shared))
        .collect();
    if shown.is_empty() && !spec["versions"].is_array() {
        return "null".to_owned();
    }
    format!("[{}]", shown.join(","))
}

fn deprecation(version: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let Some(warning) = version["deprecationWarning"].as_str() else {
        return Vec::new();
    };
    let mut details = Vec::new();
    if version["deprecated"] != true {
        details.push("can only be set for deprecated versions".to_owned());
    } else {
        if warning.len() > 256 {
            details.push("must be <= 256 characters long".to_owned());
        }
        if warning.is_empty() {
            details.push("must not be an empty string".to_owned());
        }
        if let Some((i, _)) = warning.char_indices().find(|(_, c)| c.is_control()) {
            details.push(format!(
                "must only contain printable UTF-8 characters; non-printable character found at \
                 index {i}"
            ));
        }
    }
    let field = path.child("deprecationWarning");
    let invalid = |detail| FieldError::invalid(field, &warning.into(), detail);
    details.into_iter().map(invalid).collect()
}

fn required_names(names: &Value) -> Vec<FieldError> {
    let required = ["plural", "singular", "kind", "listKind"];
    let missing = required.iter().filter(|name| text(names, name).is_empty());
    missing
        .map(|name| FieldError::required(NAMES.child(name), ""))
        .collect()
}

/// `ValidateCustomResourceDefinitionNames`.
pub(super) fn names(names: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    const MIXED: &str = "may have mixed case, but should otherwise match: ";
    let mut errors = Vec::new();
    for (field, before) in [
        ("plural", ""),
        ("singular", ""),
        ("kind", MIXED),
        ("listKind", MIXED),
    ] {
        let name = text(names, field);
        let checked = if before.is_empty() {
            name.to_owned()
        } else {
            go::lower(name)
        };
        if !name.is_empty() {
            let reasons = label_1035(&checked);
            errors.extend(joined(&path.child(field), name, &reasons, before));
        }
    }
    let each = |list: &str| {
        let values = names[list].as_array().into_iter().flatten().enumerate();
        let values = values.filter_map(|(i, value)| Some((i, value.as_str()?)));
        let errors = values
            .filter_map(|(i, value)| joined(&path.item(list, i), value, &label_1035(value), ""));
        errors.collect::<Vec<_>>()
    };
    errors.extend(each("shortNames"));
    let kind = text(names, "kind");
    if !kind.is_empty() && kind == text(names, "listKind") {
        let detail = "kind and listKind may not be the same";
        let field = path.child("listKind");
        errors.push(FieldError::invalid(field, &kind.into(), detail));
    }
    errors.extend(each("categories"));
    errors
}

/// Refuses changes to the fields of a definition that may not change.
pub(super) fn validate_update(object: &Value, live: &Value) -> Vec<FieldError> {
    let established = is_condition(live, "Established", "True");
    let fields = [
        ("/spec/scope", established),
        ("/spec/names/kind", established),
        ("/spec/group", true),
        ("/spec/names/plural", true),
    ];
    let changed = fields
        .iter()
        .filter(|(pointer, fixed)| *fixed && object.pointer(pointer) != live.pointer(pointer));
    changed
        .map(|(pointer, _)| {
            let value = object.pointer(pointer).unwrap_or(&Value::Null);
            let field = pointer[1..].replace('/', ".");
            FieldError::invalid(field, value, IMMUTABLE)
        })
        .collect()
}

/// One error of all reasons against a value.
pub(super) fn joined(
    field: &ErrorPath<'_>,
    value: &str,
    reasons: &[String],
    before: &str,
) -> Option<FieldError> {
    let detail = format!("{before}{}", reasons.join(","));
    (!reasons.is_empty()).then(|| FieldError::invalid(field, &value.into(), detail))
}

/// A required value of an enumeration.
pub(super) fn among(field: &str, value: &str, accepted: &[&str]) -> Option<FieldError> {
    if value.is_empty() {
        return Some(FieldError::required(field, ""));
    }
    (!accepted.contains(&value)).then(|| FieldError::not_supported(field, &value.into(), accepted))
}
