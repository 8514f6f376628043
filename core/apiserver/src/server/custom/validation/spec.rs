//! The spec of a definition: its names, its versions and their members.
//!
//! In the server's own form of a definition, a member that is equal in all versions exists once,
//! and messages name that place: `spec.validation` rather than `spec.versions[0].schema`
//! (`Convert_v1_CustomResourceDefinitionSpec_To_apiextensions_CustomResourceDefinitionSpec`).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::members::{column, scale, selectable};
use super::{is_url, schema};
use crate::field::ErrorPath;
use crate::go;
use crate::object::text;
use crate::schema::openapi::Schema;
use crate::server::custom::served::{is_condition, versions};
use crate::server::kinds::metadata::IMMUTABLE;
use crate::server::kinds::names::{label_1035, subdomain};
use crate::status::FieldError;

/// The place of a shared member of versions in the server's own form.
const SHARED: [(&str, &str); 4] = [
    ("schema", "validation"),
    ("subresources", "subresources"),
    ("additionalPrinterColumns", "additionalPrinterColumns"),
    ("selectableFields", "selectableFields"),
];

/// Returns whether all versions have the same in a member.
fn is_shared(spec: &Value, member: &str) -> bool {
    let mut all = versions(spec).map(|version| version.get(member).unwrap_or(&Value::Null));
    let first = all.next();
    first.is_some_and(|first| all.all(|other| other == first))
}

/// Each value of a member, with its path: one if all versions have the same.
fn members<'a>(spec: &'a Value, member: &str) -> Vec<(String, &'a Value, &'a Value)> {
    let shared = SHARED.iter().find(|(name, _)| *name == member);
    let all = versions(spec).enumerate().map(|(i, version)| {
        let value = version.get(member).unwrap_or(&Value::Null);
        (format!("spec.versions[{i}].{member}"), version, value)
    });
    let mut all: Vec<_> = all.collect();
    if let Some((_, at)) = shared
        && is_shared(spec, member)
    {
        all.truncate(1);
        for (path, ..) in &mut all {
            *path = format!("spec.{at}");
        }
    }
    all.retain(|(_, _, value)| !value.is_null());
    all
}

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
        if version
            .pointer("/schema/openAPIV3Schema")
            .is_none_or(Value::is_null)
        {
            let version = SPEC.item("versions", i);
            let field = version.child("schema.openAPIV3Schema");
            errors.push(FieldError::required(field, ""));
        }
    }
    errors.extend(of_versions(spec));
    errors.extend(required_names(&spec["names"]));
    errors.extend(names(&spec["names"], &NAMES));
    errors.extend(of_members(spec, live));
    errors.extend(conversion(&spec["conversion"]));
    errors
}

/// The list of versions itself.
fn of_versions(spec: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    let mut unique = true;
    for (i, version) in versions(spec).enumerate() {
        let name = text(version, "name");
        unique &= seen.insert(name);
        let path = SPEC.item("versions", i);
        let reasons = label_1035(name);
        errors.extend(joined(&path.child("name"), name, &reasons, ""));
        errors.extend(deprecation(version, &path));
    }
    let invalid = |detail: &str| {
        FieldError::invalid("spec.versions", &Value::Null, detail).shown_as(internal(spec))
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
fn internal(spec: &Value) -> String {
    let shown = versions(spec).map(|version| {
        let member = |name: &str| match version.get(name) {
            Some(value) if !is_shared(spec, name) => value.to_string(),
            _ => "null".to_owned(),
        };
        format!(
            "{{\"Name\":{},\"Served\":{},\"Storage\":{},\"Deprecated\":{},\
             \"DeprecationWarning\":{},\"Schema\":{},\"Subresources\":{},\
             \"AdditionalPrinterColumns\":{},\"SelectableFields\":{}}}",
            go::quote(text(version, "name")),
            version["served"] == true,
            version["storage"] == true,
            version["deprecated"] == true,
            version["deprecationWarning"],
            member("schema"),
            member("subresources"),
            member("additionalPrinterColumns"),
            member("selectableFields"),
        )
    });
    let shown: Vec<String> = shown.collect();
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

/// Checks the members that may differ between versions.
fn of_members(spec: &Value, live: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let any_status = |spec: &Value| {
        let mut all = versions(spec);
        all.any(|version| {
            version
                .pointer("/subresources/status")
                .is_some_and(Value::is_object)
        })
    };
    for (path, version, validation) in members(spec, "schema") {
        let has_status = if is_shared(spec, "schema") {
            any_status(spec)
        } else {
            version
                .pointer("/subresources/status")
                .is_some_and(Value::is_object)
        };
        let before = live.and_then(|live| {
            let mut all = versions(&live["spec"]);
            all.find(|before| before["name"] == version["name"])
        });
        let stored = before.is_some_and(|before| before["schema"] == *validation);
        errors.extend(schema::validate(
            validation,
            &ErrorPath::new(&path),
            has_status,
            stored,
        ));
    }
    for (path, _, subresources) in members(spec, "subresources") {
        errors.extend(scale(&subresources["scale"], &ErrorPath::new(&path)));
    }
    for (path, _, columns) in members(spec, "additionalPrinterColumns") {
        let columns = columns.as_array().into_iter().flatten().enumerate();
        let path = ErrorPath::new(&path);
        errors.extend(columns.flat_map(|(i, it)| column(it, &path.index(i))));
    }
    errors.extend(selectable_fields(spec));
    errors
}

/// The fields to select by, of each version that has a schema.
fn selectable_fields(spec: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (path, version, fields) in members(spec, "selectableFields") {
        let schema = version.pointer("/schema/openAPIV3Schema");
        let schema = schema.and_then(|schema| Schema::parse(schema).ok());
        let fields = fields.as_array().map(Vec::as_slice).unwrap_or_default();
        // What all versions share is of the whole definition, which then has no schema if they differ in that.
        if path == "spec.selectableFields" && !fields.is_empty() && !is_shared(spec, "schema") {
            let detail = "may only be set when validations.schema is included";
            errors.push(FieldError::invalid(path, &"".into(), detail));
            continue;
        }
        if version
            .pointer("/schema/openAPIV3Schema")
            .is_none_or(Value::is_null)
            && !fields.is_empty()
        {
            let detail = "may only be set when `version.schema.openAPIV3Schema` is not included";
            errors.push(FieldError::invalid(path, &"".into(), detail));
            continue;
        }
        errors.extend(selectable(fields, schema.as_ref(), &ErrorPath::new(&path)));
    }
    errors
}

/// `validateCustomResourceConversion`.
fn conversion(conversion: &Value) -> Vec<FieldError> {
    if !conversion.is_object() {
        return Vec::new();
    }
    const CLIENT: &str = "spec.conversion.webhookClientConfig";
    const REVIEWS: &str = "spec.conversion.conversionReviewVersions";
    let strategy = text(conversion, "strategy");
    let mut errors: Vec<FieldError> =
        among("spec.conversion.strategy", strategy, &["None", "Webhook"])
            .into_iter()
            .collect();
    let webhook = &conversion["webhook"];
    let (client, reviews) = (
        &webhook["clientConfig"],
        &webhook["conversionReviewVersions"],
    );
    let reviews = reviews.as_array().map(Vec::as_slice).unwrap_or_default();
    if strategy != "Webhook" {
        let detail = "should not be set when strategy is not set to Webhook";
        errors.extend(
            client
                .is_object()
                .then(|| FieldError::forbidden(CLIENT, detail)),
        );
        errors.extend((!reviews.is_empty()).then(|| FieldError::forbidden(REVIEWS, detail)));
        return errors;
    }
    let given = |field: &str| client.get(field).is_some_and(|value| !value.is_null());
    if !client.is_object() {
        let detail = "required when strategy is set to Webhook";
        errors.push(FieldError::required(CLIENT, detail));
    } else if given("url") == given("service") {
        let detail = "exactly one of url or service is required";
        errors.push(FieldError::required(CLIENT, detail));
    } else if given("url")
        && !(is_url(text(client, "url")) && text(client, "url").starts_with("https://"))
    {
        let detail = "'https' is the only allowed URL scheme; desired format: https://host[/path]";
        let field = format!("{CLIENT}.url");
        errors.push(FieldError::invalid(field, &client["url"], detail));
    }
    if reviews.is_empty() {
        errors.push(FieldError::required(REVIEWS, ""));
    } else if !reviews
        .iter()
        .any(|version| *version == "v1" || *version == "v1beta1")
    {
        let detail = "must include at least one of v1, v1beta1";
        errors.push(FieldError::invalid(REVIEWS, &json!(reviews), detail));
    }
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
fn joined(
    field: &ErrorPath<'_>,
    value: &str,
    reasons: &[String],
    before: &str,
) -> Option<FieldError> {
    let detail = format!("{before}{}", reasons.join(","));
    (!reasons.is_empty()).then(|| FieldError::invalid(field, &value.into(), detail))
}

/// A required value of an enumeration.
fn among(field: &str, value: &str, accepted: &[&str]) -> Option<FieldError> {
    if value.is_empty() {
        return Some(FieldError::required(field, ""));
    }
    (!accepted.contains(&value)).then(|| FieldError::not_supported(field, &value.into(), accepted))
}
