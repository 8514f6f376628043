//! The types of lists and maps in a schema, and the keys of lists.

use std::collections::BTreeSet;

use serde_json::Value;

use super::internal;
use super::schema::{among, flag, needs_type};
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::FieldError;

/// Checks what a schema says of lists and maps.
pub(super) fn validate(schema: &Value, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    kinds_of_maps(schema, path, errors);
    kinds_of_lists(schema, path, errors);
    list_keys(schema, path, errors);
    told_apart(schema, path, errors);
}

fn kinds_of_maps(schema: &Value, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    let preserve = "x-kubernetes-preserve-unknown-fields";
    if schema[preserve] == false {
        let field = path.child(preserve);
        errors.push(FieldError::invalid(
            field,
            &false.into(),
            "must be true or undefined",
        ));
    }
    let map_type = "x-kubernetes-map-type";
    errors.extend(needs_type(schema, path, map_type, "object"));
    errors.extend(among(schema, path, map_type, &["atomic", "granular"]));
}

fn kinds_of_lists(schema: &Value, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    const LIST: &str = "x-kubernetes-list-type";
    const MAP: &str = "x-kubernetes-map-type";
    let misplaced = needs_type(schema, path, LIST, "array");
    let items = &schema["items"];
    let list_type = schema[LIST].as_str();
    if misplaced.is_none() && list_type == Some("set") {
        let atomic = "must be atomic as item of a list with x-kubernetes-list-type=set";
        // The value shown is that of the list type in both cases.
        let shown = &items[LIST];
        let wrong = match text(items, "type") {
            "array" => (!matches!(text(items, LIST), "" | "atomic")).then_some(LIST),
            "object" => (text(items, MAP) != "atomic").then_some(MAP),
            _ => None,
        };
        errors.extend(
            wrong.map(|keyword| {
                FieldError::invalid(path.child("items").child(keyword), shown, atomic)
            }),
        );
    }
    errors.extend(misplaced);
    errors.extend(among(schema, path, LIST, &["atomic", "set", "map"]));
    let keys = schema["x-kubernetes-list-map-keys"].as_array();
    if keys.is_some_and(|keys| !keys.is_empty()) && list_type != Some("map") {
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        let field = path.child(LIST);
        errors.push(match list_type {
            None => FieldError::required(field, detail),
            Some(other) => FieldError::invalid(field, &other.into(), detail),
        });
    }
}

/// The keys of a list with keys.
fn list_keys(schema: &Value, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    const KEYS: &str = "x-kubernetes-list-map-keys";
    if schema["x-kubernetes-list-type"] != "map" {
        return;
    }
    let (items, list) = (&schema["items"], &schema[KEYS]);
    let keys = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let keys: Vec<&str> = keys.iter().filter_map(Value::as_str).collect();
    let field = path.child(KEYS);
    if keys.is_empty() {
        let detail = "must not be empty if x-kubernetes-list-type is map";
        errors.push(FieldError::required(field, detail));
    }
    if items.is_null() {
        let detail = "must have a schema if x-kubernetes-list-type is map";
        errors.push(FieldError::required(path.child("items"), detail));
        return;
    }
    if items.is_array() {
        let detail = "must only have a single schema if x-kubernetes-list-type is map";
        let shown = internal::items(items);
        errors.push(FieldError::invalid(path.child("items"), items, detail).shown_as(shown));
        return;
    }
    let ty = &items["type"];
    if ty != "object" {
        let detail = "must be object if parent array's x-kubernetes-list-type is map";
        let shown = if ty.is_null() { &Value::from("") } else { ty };
        errors.push(FieldError::invalid(path.child("items.type"), shown, detail));
        return;
    }
    let mut seen = BTreeSet::new();
    for key in keys {
        match items["properties"].get(key) {
            None => {
                let detail = "entries must all be names of item properties";
                errors.push(FieldError::invalid(field, list, detail));
            }
            Some(property) if matches!(text(property, "type"), "array" | "object") => {
                let detail =
                    "must be a scalar type if parent array's x-kubernetes-list-type is map";
                let properties = path.child("items.properties");
                let at = properties.key(key);
                // Upstream shows the type of the items.
                errors.push(FieldError::invalid(at.child("type"), ty, detail));
            }
            Some(_) => {}
        }
        if !seen.insert(key) {
            let detail = "must not contain duplicate entries";
            errors.push(FieldError::invalid(field, list, detail));
        }
    }
}

/// Nothing that tells items apart may be absent (`validateMapListKeysMapSet`).
fn told_apart(schema: &Value, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    let list_type = text(schema, "x-kubernetes-list-type");
    let items = &schema["items"];
    if !items.is_object() || !matches!(list_type, "map" | "set") {
        return;
    }
    if flag(items, "nullable") {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        errors.push(FieldError::forbidden(path.child("items.nullable"), detail));
    }
    if list_type == "set" {
        return;
    }
    let required = items["required"].as_array();
    let required = |key: &str| required.is_some_and(|all| all.iter().any(|it| it == key));
    let keys = schema["x-kubernetes-list-map-keys"].as_array();
    for key in keys.into_iter().flatten().filter_map(Value::as_str) {
        let Some(property) = items["properties"].get(key) else {
            continue;
        };
        let properties = path.child("items.properties");
        let at = properties.key(key);
        if !required(key) && property["default"].is_null() {
            let detail = "this property is in x-kubernetes-list-map-keys, so it must have \
                 a default or be a required property";
            errors.push(FieldError::required(at.child("default"), detail));
        }
        if flag(property, "nullable") {
            let detail = "this property is in x-kubernetes-list-map-keys, so it cannot be \
                 nullable";
            errors.push(FieldError::forbidden(at.child("nullable"), detail));
        }
    }
}
