//! The schema of a definition: its keywords, and which of them exclude each other.

use serde_json::Value;

use super::rules::{RULES, RuleResults, RuleSchema};
use super::{internal, lists, structural};
use crate::field::ErrorPath;
use crate::json::sorted;
use crate::object::text;
use crate::schema::custom::{default_errors, normalized_path};
use crate::schema::openapi::Schema;
use crate::status::FieldError;

/// The members of a schema that may stand at the root where the status is written by itself, in
/// the words of the message.
const AT_ROOT: &str = "[Description Type Format Title Maximum ExclusiveMaximum Minimum \
    ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required \
    Items Properties ExternalDocs Example XPreserveUnknownFields XValidations]";

/// Those that may not.
const NOT_AT_ROOT: [&str; 24] = [
    "id",
    "$schema",
    "$ref",
    "nullable",
    "default",
    "enum",
    "maxProperties",
    "minProperties",
    "allOf",
    "oneOf",
    "anyOf",
    "not",
    "additionalProperties",
    "patternProperties",
    "dependencies",
    "additionalItems",
    "definitions",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "externalDocumentation",
    "x-kubernetes-group-version-kind",
];

/// Keywords of JSON Schema that definitions do not have.
const NOT_SUPPORTED: [&str; 7] = [
    "id",
    "additionalItems",
    "patternProperties",
    "definitions",
    "dependencies",
    "$ref",
    "$schema",
];

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// `validateCustomResourceDefinitionValidation`: `path` is that of the validation, which has the
/// schema. `stored` is whether the definition has had it before.
pub(super) fn validate(
    validation: &Value,
    path: &ErrorPath<'_>,
    has_status: bool,
    stored: bool,
) -> Vec<FieldError> {
    let Some(schema) = validation.get("openAPIV3Schema").filter(|it| !it.is_null()) else {
        return Vec::new();
    };
    let path = path.child("openAPIV3Schema");
    let unsupported = unsupported_below(schema);
    let parsed = match Schema::parse(schema) {
        Ok(parsed) => Some(parsed),
        Err(_) if unsupported => None,
        // Go would not even have decoded it.
        Err(problem) => return vec![FieldError::invalid(path, &"".into(), problem)],
    };
    let mut errors = Vec::new();
    if has_status {
        errors.extend(beside_status(schema, &path));
    }
    if flag(schema, "nullable") {
        let field = path.child("nullable");
        errors.push(FieldError::forbidden(
            field,
            "nullable cannot be true at the root",
        ));
    }
    // Rules are compiled only where the structure has no mistake.
    let mut has_rules = false;
    let mut parsed = parsed.filter(|_| !unsupported);
    if let Some(parsed) = &mut parsed {
        let mut of_structure = structural::validate(schema, &path);
        if of_structure.is_empty() {
            parsed.set_lax(true);
            of_structure = default_errors(parsed, &path);
            parsed.set_lax(false);
        }
        has_rules = of_structure.is_empty();
        errors.extend(of_structure);
    }
    let context = SchemaContext {
        root: true,
        rules: parsed.as_ref().filter(|_| has_rules).map(RuleSchema::root),
        ..SchemaContext::default()
    };
    let mut found = RuleResults::new(stored);
    node(schema, &path, &context, &mut errors, &mut found);
    errors.append(&mut found.errors);
    // The address of a schema's language makes it no structural schema, and nothing else refuses it.
    if errors.is_empty() && unsupported {
        let problem = "OpenAPIV3Schema 'schema' is not supported";
        errors.push(FieldError::invalid(path, &"".into(), problem));
    }
    errors.extend(found.of_total(&path));
    errors
}

/// Calls `look` with a schema and every schema in it.
pub(super) fn walk(schema: &Value, look: &mut impl FnMut(&Value)) {
    look(schema);
    for name in ["items", "not", "additionalProperties"] {
        if schema[name].is_object() {
            walk(&schema[name], look);
        }
    }
    for name in ["allOf", "anyOf", "oneOf"] {
        let all = schema[name].as_array().into_iter().flatten();
        all.for_each(|schema| walk(schema, look));
    }
    if let Value::Object(members) = &schema["properties"] {
        sorted(members).for_each(|(_, schema)| walk(schema, look));
    }
}

/// Returns whether something is used that has no place in a structural schema (`validateUnsupportedFields`).
fn unsupported_below(schema: &Value) -> bool {
    let mut found = false;
    walk(schema, &mut |schema| {
        found |= NOT_SUPPORTED.iter().any(|name| is_set(&schema[*name]));
        found |= schema["items"].is_array();
        found |= schema["x-kubernetes-preserve-unknown-fields"] == false;
    });
    found
}

/// Returns whether a member has a value other than Go's zero value.
pub(super) fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Number(_) | Value::Object(_) => true,
    }
}

pub(super) fn flag(schema: &Value, name: &str) -> bool {
    schema[name] == true
}

/// Only so much may stand at the root that nothing is lost when the status is checked by itself.
fn beside_status(schema: &Value, path: &ErrorPath<'_>) -> Option<FieldError> {
    let ty = text(schema, "type");
    if !ty.is_empty() && ty != "object" {
        let detail = "only \"object\" is allowed as the type at the root of the schema if the \
             status subresource is enabled";
        return Some(FieldError::invalid(path.child("type"), &ty.into(), detail));
    }
    let misplaced = NOT_AT_ROOT.iter().any(|name| {
        let value = &schema[*name];
        is_set(value) || (*name == "additionalProperties" && value.is_boolean())
    });
    misplaced.then(|| {
        let detail = format!(
            "only {AT_ROOT} fields are allowed at the root of the schema if the status subresource \
             is enabled"
        );
        FieldError::invalid(path, schema, detail).shown_as(internal::schema(schema))
    })
}

/// The place of a schema in the schema of an object.
#[derive(Clone, Default)]
struct SchemaContext<'a> {
    root: bool,
    /// The schema as its rules see it; `None` if they are not compiled.
    rules: Option<RuleSchema<'a>>,
    /// The reason why defaults are not allowed.
    no_defaults: Option<String>,
    in_metadata: bool,
}

/// `ValidateCustomResourceDefinitionOpenAPISchema`.
fn node(
    schema: &Value,
    path: &ErrorPath<'_>,
    context: &SchemaContext<'_>,
    errors: &mut Vec<FieldError>,
    found: &mut RuleResults,
) {
    let before = errors.len();
    keywords(schema, path, context, errors);
    if flag(schema, "uniqueItems") {
        let detail =
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        errors.push(FieldError::forbidden(path.child("uniqueItems"), detail));
    }
    let below = SchemaContext {
        root: false,
        rules: None,
        ..context.clone()
    };
    let properties = schema["properties"].as_object().filter(|it| !it.is_empty());
    additional_properties(schema, path, context, &below, errors, found);
    for (name, member) in properties.into_iter().flat_map(sorted) {
        let below = of_property(name, schema, context, &below);
        let members = path.child("properties");
        let path = members.key(name);
        node(member, &path, &below, errors, found);
    }
    if schema["not"].is_object() {
        node(&schema["not"], &path.child("not"), &below, errors, found);
    }
    for name in ["allOf", "oneOf", "anyOf"] {
        let all = schema[name].as_array().into_iter().flatten();
        for (i, part) in all.enumerate() {
            let path = path.item(name, i);
            node(part, &path, &below, errors, found);
        }
    }
    named_schemas(schema, "definitions", path, &below, errors, found);
    let of_items = SchemaContext {
        rules: context.rules.as_ref().and_then(|it| it.items(path)),
        ..below.clone()
    };
    match &schema["items"] {
        Value::Array(parts) => {
            for (i, part) in parts.iter().enumerate() {
                node(part, &path.item("items", i), &below, errors, found);
            }
        }
        Value::Null => {}
        items => node(items, &path.child("items"), &of_items, errors, found),
    }
    named_schemas(schema, "dependencies", path, &below, errors, found);
    lists::validate(schema, path, errors);
    rules(schema, path, errors);
    if let Some(place) = &context.rules
        && errors.len() == before
    {
        place.check(schema, path, found);
    }
}

/// The schemas in a member that schemas may not have.
fn named_schemas(
    schema: &Value,
    member: &'static str,
    path: &ErrorPath<'_>,
    below: &SchemaContext<'_>,
    errors: &mut Vec<FieldError>,
    found: &mut RuleResults,
) {
    let all = schema[member].as_object().into_iter().flat_map(sorted);
    for (name, part) in all.filter(|(_, part)| part.is_object()) {
        let members = path.child(member);
        node(part, &members.key(name), below, errors, found);
    }
}

/// The context of a property's schema.
fn of_property<'a>(
    name: &str,
    schema: &Value,
    context: &SchemaContext<'a>,
    below: &SchemaContext<'a>,
) -> SchemaContext<'a> {
    let mut below = below.clone();
    let common = ["metadata", "kind", "apiVersion"].contains(&name);
    if common && (context.root || flag(schema, "x-kubernetes-embedded-resource")) {
        below.in_metadata = true;
        if context.root {
            below.no_defaults = Some(format!("in top-level {name}"));
        }
    }
    let rules = context.rules.as_ref();
    below.rules = rules.and_then(|place| place.property(name));
    below
}

/// The schema of all members that have no schema of their own.
fn additional_properties(
    schema: &Value,
    path: &ErrorPath<'_>,
    context: &SchemaContext<'_>,
    below: &SchemaContext<'_>,
    errors: &mut Vec<FieldError>,
    found: &mut RuleResults,
) {
    let others = &schema["additionalProperties"];
    let properties = schema["properties"].as_object();
    let has_properties = properties.is_some_and(|it| !it.is_empty());
    let field = path.child("additionalProperties");
    if !others.is_null() && has_properties && *others != true {
        let detail = "additionalProperties and properties are mutual exclusive";
        errors.push(FieldError::forbidden(field, detail));
    }
    if others.is_object() {
        let mut below = below.clone();
        if context.in_metadata {
            let why = "inside additionalProperties applying to object metadata";
            below.no_defaults = Some(why.to_owned());
        }
        below.rules = context.rules.as_ref().and_then(RuleSchema::additional);
        node(others, &field, &below, errors, found);
    }
}

/// `specStandardValidatorV3`.
fn keywords(
    schema: &Value,
    path: &ErrorPath<'_>,
    context: &SchemaContext<'_>,
    errors: &mut Vec<FieldError>,
) {
    let ty = text(schema, "type");
    if !ty.is_empty() && !TYPES.contains(&ty) {
        let field = path.child("type");
        errors.push(FieldError::not_supported(field, &ty.into(), &TYPES));
    }
    if !schema["default"].is_null()
        && let Some(why) = &context.no_defaults
    {
        let field = path.child("default");
        errors.push(FieldError::forbidden(
            field,
            format!("must not be set {why}"),
        ));
    }
    for name in NOT_SUPPORTED.iter().filter(|name| **name != "$schema") {
        let value = &schema[*name];
        let given = match *name {
            "additionalItems" | "$ref" => !value.is_null(),
            _ => is_set(value),
        };
        if given {
            let detail = format!("{name} is not supported");
            errors.push(FieldError::forbidden(path.child(name), detail));
        }
    }
    let mut forbid = |name: &'static str, detail: &str| {
        errors.push(FieldError::forbidden(path.child(name), detail));
    };
    if ty == "null" {
        forbid(
            "type",
            "type cannot be set to null, use nullable as an alternative",
        );
    }
    if schema["items"].is_array() {
        forbid("items", "items must be a schema object and not an array");
    }
    if context.in_metadata && flag(schema, "x-kubernetes-embedded-resource") {
        forbid(
            "x-kubernetes-embedded-resource",
            "must not be used inside of resource meta",
        );
    }
}

/// A keyword that only one type may have.
pub(super) fn needs_type(
    schema: &Value,
    path: &ErrorPath<'_>,
    keyword: &str,
    wanted: &str,
) -> Option<FieldError> {
    let ty = text(schema, "type");
    if schema[keyword].is_null() || ty == wanted {
        return None;
    }
    let detail = format!("must be {wanted} if {keyword} is specified");
    let field = path.child("type");
    Some(match ty {
        "" => FieldError::required(field, detail),
        ty => FieldError::invalid(field, &ty.into(), detail),
    })
}

/// A keyword with few values.
pub(super) fn among(
    schema: &Value,
    path: &ErrorPath<'_>,
    keyword: &str,
    values: &[&str],
) -> Option<FieldError> {
    let value = schema[keyword].as_str()?;
    let field = path.child(keyword);
    (!values.contains(&value)).then(|| FieldError::not_supported(field, &value.into(), values))
}

/// The validation rules of a schema, as far as their form goes.
fn rules(schema: &Value, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    const REASONS: [&str; 4] = [
        "FieldValueDuplicate",
        "FieldValueForbidden",
        "FieldValueInvalid",
        "FieldValueRequired",
    ];
    let breaks = |text: &str| text.contains(['\n', '\r']);
    let all = schema[RULES].as_array();
    for (i, rule) in all.into_iter().flatten().enumerate() {
        let path = path.item(RULES, i);
        let field = |name: &'static str| path.child(name);
        let invalid = |name: &'static str, detail: &str| {
            FieldError::invalid(field(name), &text(rule, name).into(), detail)
        };
        let (body, message) = (text(rule, "rule").trim(), text(rule, "message"));
        if body.is_empty() {
            errors.push(FieldError::required(field("rule"), "rule is not specified"));
        } else if !message.is_empty() && message.trim().is_empty() {
            errors.push(invalid("message", "must be non-empty if specified"));
        } else if breaks(message.trim()) {
            errors.push(invalid("message", "must not contain line breaks"));
        } else if breaks(body) && message.trim().is_empty() {
            let detail = "message must be specified if rule contains line breaks";
            errors.push(FieldError::required(field("message"), detail));
        }
        let expression = text(rule, "messageExpression");
        if !expression.is_empty() && expression.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            errors.push(FieldError::required(field("messageExpression"), detail));
        }
        if let Some(reason) = rule["reason"].as_str()
            && !REASONS.contains(&reason)
        {
            let (field, reason) = (field("reason"), reason.into());
            errors.push(FieldError::not_supported(field, &reason, &REASONS));
        }
        let at = text(rule, "fieldPath");
        if !at.is_empty() && at.trim().is_empty() {
            errors.push(invalid("fieldPath", "must be non-empty if specified"));
        }
        if breaks(at) {
            errors.push(invalid("fieldPath", "must not contain line breaks"));
        }
        if !at.is_empty() && !leads_to_field(at, schema) {
            errors.push(invalid("fieldPath", "must be a valid path"));
        }
    }
}

/// Returns whether the path of a rule leads to a field of the rule's schema (`pathValid`).
fn leads_to_field(path: &str, schema: &Value) -> bool {
    unsupported_below(schema)
        || Schema::parse(schema).is_ok_and(|schema| normalized_path(path, &schema).is_some())
}
