//! Structural schemas: every field and type is named outside of the parts that only validate
//! (`k8s.io/apiextensions-apiserver/pkg/apiserver/schema/validation.go`, v0.36.3).

use serde_json::{Value, json};

use super::schema::{flag, is_set};
use crate::field::ErrorPath;
use crate::json::sorted;
use crate::object::text;
use crate::status::FieldError;

/// Returns the errors in the structure of a schema, sorted.
pub(super) fn validate(schema: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    invariants(schema, SchemaLevel::Root, path, &mut errors);
    complete(schema, Some(schema), path, path, &mut errors);
    errors.sort_by_cached_key(ToString::to_string);
    errors
}

/// The level of the value that a schema describes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SchemaLevel {
    Root,
    Item,
    Field,
}

/// The properties of a schema, sorted by name.
fn sorted_properties(schema: &Value) -> Vec<(&String, &Value)> {
    let properties = schema["properties"].as_object();
    properties.into_iter().flat_map(sorted).collect()
}

/// `validateStructuralInvariants`.
fn invariants(
    schema: &Value,
    level: SchemaLevel,
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    let at = |name: &'static str| path.child(name);
    let (ty, items) = (text(schema, "type"), &schema["items"]);
    if items.is_object() {
        invariants(items, SchemaLevel::Item, &at("items"), errors);
    } else if ty == "array" {
        errors.push(FieldError::required(at("items"), "must be specified"));
    }
    let properties = sorted_properties(schema);
    for (name, member) in &properties {
        let members = path.child("properties");
        let path = members.key(name);
        invariants(member, SchemaLevel::Field, &path, errors);
    }
    let others = &schema["additionalProperties"];
    if !others.is_null() && level == SchemaLevel::Root {
        let field = at("additionalProperties");
        errors.push(FieldError::forbidden(field, "must not be used at the root"));
    }
    if others.is_object() {
        invariants(
            others,
            SchemaLevel::Field,
            &at("additionalProperties"),
            errors,
        );
    }
    extensions(schema, path, errors);
    let either = json!([{"type": "integer"}, {"type": "string"}]);
    let skip = Skip {
        any_of: schema["anyOf"] == either,
        first_any_of: schema["allOf"][0]["anyOf"] == either,
    };
    value_validation(schema, skip, path, errors);
    typed(schema, level, path, errors);
    let embedded = flag(schema, "x-kubernetes-embedded-resource");
    let resource = level == SchemaLevel::Root || embedded;
    if resource {
        type_names(schema, path, errors);
    }
    if let Some(metadata) = schema["properties"].get("metadata") {
        of_metadata(metadata, level, resource, path, errors);
    }
    let preserves = flag(schema, "x-kubernetes-preserve-unknown-fields");
    if embedded && !preserves && properties.is_empty() {
        let detail = "must not be empty if x-kubernetes-embedded-resource is true without \
             x-kubernetes-preserve-unknown-fields";
        errors.push(FieldError::required(at("properties"), detail));
    }
}

/// The kind and the apiVersion of a resource are strings.
fn type_names(schema: &Value, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    for name in ["kind", "apiVersion"] {
        let member = schema["properties"].get(name);
        if let Some(member) = member.filter(|member| text(member, "type") != "string") {
            let members = path.child("properties");
            let member_path = members.key(name);
            let field = member_path.child("type");
            let ty = text(member, "type").into();
            errors.push(FieldError::invalid(field, &ty, "must be string"));
        }
    }
}

fn extensions(schema: &Value, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    if !flag(schema, "x-kubernetes-int-or-string") {
        return;
    }
    for name in [
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-embedded-resource",
    ] {
        if flag(schema, name) {
            let detail = "must be false if x-kubernetes-int-or-string is true";
            errors.push(FieldError::invalid(path.child(name), &true.into(), detail));
        }
    }
}

/// Every value has a type, unless it is open on purpose.
fn typed(schema: &Value, level: SchemaLevel, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    let ty = text(schema, "type");
    let field = path.child("type");
    let embedded = flag(schema, "x-kubernetes-embedded-resource");
    let open = flag(schema, "x-kubernetes-int-or-string")
        || flag(schema, "x-kubernetes-preserve-unknown-fields");
    if embedded && ty != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        errors.push(match ty {
            "" => FieldError::required(field, detail),
            ty => FieldError::invalid(field, &ty.into(), detail),
        });
    } else if ty.is_empty() && !open {
        let detail = match level {
            SchemaLevel::Root => "must not be empty at the root",
            SchemaLevel::Item => "must not be empty for specified array items",
            SchemaLevel::Field => "must not be empty for specified object fields",
        };
        errors.push(FieldError::required(field, detail));
    }
    if embedded && !schema["additionalProperties"].is_null() {
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        let field = path.child("additionalProperties");
        errors.push(FieldError::forbidden(field, detail));
    }
    if level == SchemaLevel::Root && !matches!(ty, "" | "object") {
        errors.push(FieldError::invalid(
            field,
            &ty.into(),
            "must be object at the root",
        ));
    }
}

/// A schema can restrict only the names in the metadata of an object.
fn of_metadata(
    metadata: &Value,
    level: SchemaLevel,
    resource: bool,
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    let properties = path.child("properties");
    let path = properties.key("metadata");
    let ty = text(metadata, "type");
    if resource && ty != "object" {
        errors.push(FieldError::invalid(
            path.child("type"),
            &ty.into(),
            "must be object",
        ));
    }
    let Value::Object(members) = metadata else {
        return;
    };
    let said = members.iter().any(|(name, value)| match name.as_str() {
        "type" | "default" => false,
        "properties" => value.as_object().is_some_and(|properties| {
            properties
                .keys()
                .any(|name| name != "name" && name != "generateName")
        }),
        "additionalProperties" => !value.is_null(),
        _ => is_set(value),
    });
    if level == SchemaLevel::Root && said {
        let detail = "must not specify anything other than name and generateName, but metadata is \
             implicitly specified";
        errors.push(FieldError::forbidden(path, detail));
    }
}

/// The ways to say "an integer or a string" that may name types.
#[derive(Clone, Copy, Default)]
struct Skip {
    any_of: bool,
    first_any_of: bool,
}

/// `validateValueValidation`.
fn value_validation(
    schema: &Value,
    skip: Skip,
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    for name in ["anyOf", "allOf", "oneOf"] {
        if name == "anyOf" && skip.any_of {
            continue;
        }
        let all = schema[name].as_array().into_iter().flatten();
        for (i, part) in all.enumerate() {
            let skip = Skip {
                any_of: name == "allOf" && i == 0 && skip.first_any_of,
                first_any_of: false,
            };
            nested(part, skip, &path.item(name, i), errors);
        }
    }
    if schema["not"].is_object() {
        nested(&schema["not"], Skip::default(), &path.child("not"), errors);
    }
    let pattern = text(schema, "pattern");
    if let Some(why) = optimist_values::go_mistake(pattern) {
        let detail =
            format!("must be a valid regular expression, but isn't: error parsing regexp: {why}");
        errors.push(FieldError::invalid(
            path.child("pattern"),
            &pattern.into(),
            detail,
        ));
    }
}

/// `validateNestedValueValidation`.
fn nested(schema: &Value, skip: Skip, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    const EMPTY: &str = "must be empty to be structural";
    const UNDEFINED: &str = "must be undefined to be structural";
    const FALSE: &str = "must be false to be structural";
    value_validation(schema, skip, path, errors);
    if schema["items"].is_object() {
        let path = path.child("items");
        nested(&schema["items"], Skip::default(), &path, errors);
    }
    for (name, member) in sorted_properties(schema) {
        let members = path.child("properties");
        let path = members.key(name);
        nested(member, Skip::default(), &path, errors);
    }
    let others = &schema["additionalProperties"];
    if others.is_object() || *others == true {
        let field = path.child("additionalProperties");
        errors.push(FieldError::forbidden(field, UNDEFINED));
    }
    for (name, detail) in [
        ("type", EMPTY),
        ("default", UNDEFINED),
        ("title", EMPTY),
        ("description", EMPTY),
        ("nullable", FALSE),
        ("x-kubernetes-preserve-unknown-fields", FALSE),
        ("x-kubernetes-embedded-resource", FALSE),
        ("x-kubernetes-int-or-string", FALSE),
        ("x-kubernetes-list-map-keys", EMPTY),
        ("x-kubernetes-list-type", UNDEFINED),
        ("x-kubernetes-map-type", UNDEFINED),
        ("x-kubernetes-validations", EMPTY),
    ] {
        let value = &schema[name];
        let forbidden = if detail == UNDEFINED {
            !value.is_null()
        } else {
            is_set(value)
        };
        if forbidden {
            errors.push(FieldError::forbidden(path.child(name), detail));
        }
    }
    if schema["properties"].get("metadata").is_some() {
        let detail = "must not be specified in a nested context";
        let properties = path.child("properties");
        errors.push(FieldError::forbidden(properties.key("metadata"), detail));
    }
}

/// Checks that every validated field is also specified (`validateValueValidationCompleteness`):
/// `schema` is at `at`, the node that validates its values at `path`.
fn complete(
    validation: &Value,
    schema: Option<&Value>,
    at: &ErrorPath<'_>,
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    let Some(schema) = schema.filter(|schema| schema.is_object()) else {
        errors.push(FieldError::required(
            at,
            format!("because it is defined in {path}"),
        ));
        return;
    };
    let mut parts = Vec::new();
    if validation["not"].is_object() {
        parts.push((&validation["not"], path.child("not")));
    }
    for name in ["allOf", "anyOf", "oneOf"] {
        let all = validation[name]
            .as_array()
            .into_iter()
            .flatten()
            .enumerate();
        parts.extend(all.map(|(i, part)| (part, path.item(name, i))));
    }
    for (part, path) in parts {
        complete(part, Some(schema), at, &path, errors);
        nested_complete(part, schema, at, &path, errors);
    }
}

fn nested_complete(
    validation: &Value,
    schema: &Value,
    at: &ErrorPath<'_>,
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    if validation["items"].is_object() {
        let (at, path) = (at.child("items"), path.child("items"));
        both(
            &validation["items"],
            schema.get("items"),
            &at,
            &path,
            errors,
        );
    }
    let properties = validation["properties"].as_object();
    for (name, member) in properties.into_iter().flat_map(sorted) {
        let (all, checks) = (at.child("properties"), path.child("properties"));
        let (at, path) = (all.key(name), checks.key(name));
        both(
            member,
            schema["properties"].get(name.as_str()),
            &at,
            &path,
            errors,
        );
    }
}

fn both(
    validation: &Value,
    schema: Option<&Value>,
    at: &ErrorPath<'_>,
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    complete(validation, schema, at, path, errors);
    if let Some(schema) = schema {
        nested_complete(validation, schema, at, path, errors);
    }
}
