//! Checks the members of a version beside its schema: the paths of its scale, columns of tables,
//! selectable fields.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::field::ErrorPath;
use crate::object::text;
use crate::schema::openapi::Schema;
use crate::status::{FieldError, Problem};

/// The maximum number of fields that a version may be selected by.
const MAX_SELECTABLE: usize = 8;

/// `ValidateCustomResourceDefinitionSubresources`.
pub(super) fn scale(scale: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    if !scale.is_object() {
        return Vec::new();
    }
    let mut errors = Vec::new();
    for (field, below, required) in [
        ("specReplicasPath", &[".spec."][..], true),
        ("statusReplicasPath", &[".status."], true),
        ("labelSelectorPath", &[".spec.", ".status."], false),
    ] {
        let value = text(scale, field);
        let of_scale = path.child("scale");
        let field = of_scale.child(field);
        if value.is_empty() {
            errors.extend(required.then(|| FieldError::required(field, "")));
        } else if let Some(error) = no_simple_path(value, &field) {
            errors.push(error);
        } else if !below.iter().any(|start| value.starts_with(start)) {
            let detail = match below {
                [one] => format!("should be a json path under {}", one.trim_end_matches('.')),
                _ => "should be a json path under either .spec or .status".to_owned(),
            };
            errors.push(FieldError::invalid(field, &value.into(), detail));
        }
    }
    errors
}

fn no_simple_path(path: &str, field: &ErrorPath<'_>) -> Option<FieldError> {
    let detail = "must be a simple json path starting with .";
    (!path.starts_with('.')).then(|| FieldError::invalid(field, &path.into(), detail))
}

/// `ValidateCustomResourceColumnDefinition`.
pub(super) fn column(column: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
    const FORMATS: [&str; 8] = [
        "byte",
        "date",
        "date-time",
        "double",
        "float",
        "int32",
        "int64",
        "password",
    ];
    let mut errors = Vec::new();
    let (ty, format) = (text(column, "type"), text(column, "format"));
    if text(column, "name").is_empty() {
        errors.push(FieldError::required(path.child("name"), ""));
    }
    let of_type = format!("must be one of {}", TYPES.join(","));
    if ty.is_empty() {
        errors.push(FieldError::required(path.child("type"), of_type));
    } else if !TYPES.contains(&ty) {
        let field = path.child("type");
        errors.push(FieldError::invalid(field, &ty.into(), of_type));
    }
    if !format.is_empty() && !FORMATS.contains(&format) {
        let detail = format!("must be one of {}", FORMATS.join(","));
        let field = path.child("format");
        errors.push(FieldError::invalid(field, &format.into(), detail));
    }
    let field = path.child("JSONPath");
    match text(column, "jsonPath") {
        "" => errors.push(FieldError::required(field, "")),
        json_path => errors.extend(no_simple_path(json_path, &field)),
    }
    errors
}

/// `ValidateCustomResourceSelectableFields`.
pub(super) fn selectable(
    fields: &[Value],
    schema: Option<&Schema>,
    path: &ErrorPath<'_>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let Some(schema) = schema else {
        return errors;
    };
    let mut known = BTreeSet::new();
    for (i, field) in fields.iter().enumerate() {
        let json_path = text(field, "jsonPath");
        let item = path.index(i);
        let field = item.child("jsonPath");
        if json_path.is_empty() {
            errors.push(FieldError::required(field, ""));
            continue;
        }
        let mut invalid = |detail: String| {
            errors.push(FieldError::invalid(field, &json_path.into(), detail));
        };
        let found = match schema_at(json_path, schema) {
            Ok(found) => found,
            Err(why) => {
                invalid(format!("is an invalid path: {why}"));
                continue;
            }
        };
        if json_path.split('.').nth(1) == Some("metadata") {
            invalid("must not point to fields in metadata".to_owned());
        }
        if !matches!(found.ty.as_str(), "string" | "boolean" | "integer") {
            invalid(
                "must point to a field of type string, boolean or integer. Enum string fields and \
                 strings with formats are allowed."
                    .to_owned(),
            );
        }
        if !known.insert(json_path) {
            errors.push(FieldError::duplicate(field, &json_path.into()));
        }
    }
    if known.len() > MAX_SELECTABLE {
        let detail = format!("must have at most {MAX_SELECTABLE} items");
        let count = Value::from(known.len());
        errors.push(FieldError::with_value(
            Problem::TooMany,
            path,
            &count,
            detail,
        ));
    }
    errors
}

/// The schema of a field, by a path without array notation (`ValidFieldPath`).
fn schema_at<'a>(path: &str, schema: &'a Schema) -> Result<&'a Schema, String> {
    const UNKNOWN: &str = "does not refer to a valid field";
    let Some(names) = path.strip_prefix('.') else {
        let first = path.split(['.', '[', ']']).next().unwrap_or_default();
        return Err(match first {
            "" => "array notation is not allowed".to_owned(),
            first => format!("expected [ or . but got: {first}"),
        });
    };
    let mut schema = schema;
    for name in names.split('.') {
        let (name, notation) = match name.split_once(['[', ']']) {
            Some((name, _)) => (name, true),
            None => (name, false),
        };
        if name.is_empty() && !notation {
            return Err("unexpected end of JSON path".to_owned());
        }
        schema = schema.member(name).ok_or(UNKNOWN)?;
        if notation {
            return Err("array notation is not allowed".to_owned());
        }
    }
    Ok(schema)
}
