//! Metadata of custom resources, and resources inside of them: they hold the same fields as a Go
//! `ObjectMeta` (`schema/objectmeta`).

use serde_json::{Value, json};

use super::lists::child;
use super::numbers_as_stored;
use crate::field::ErrorPath;
use crate::json::Node;
use crate::object::{GroupVersion, JsonMap, Metadata};
use crate::schema::decode::decode_at;
use crate::schema::openapi::Schema;
use crate::schema::{Decoded, builtin, decode};
use crate::status::FieldError;

/// Reads metadata as a Go `ObjectMeta` and writes it back: empty fields are left out, unknown
/// ones dropped. With `lenient`, fields of a wrong type are dropped too, as when the server reads
/// what it stored. `path` is the path of the owner of the metadata.
///
/// # Errors
/// The text of Go's error if a field cannot be of its type.
pub fn coerce_metadata(
    metadata: &Value,
    path: &str,
    lenient: bool,
) -> Result<(Value, Vec<String>), String> {
    let Some(ty) = builtin("ObjectMeta") else {
        return Ok((metadata.clone(), Vec::new()));
    };
    let field = child(path, "metadata");
    // It is written as JSON and read again: a whole float is an integer there.
    let mut metadata = metadata.clone();
    numbers_as_stored(&mut metadata);
    let decoded = match decode_at(field.clone(), Node::from(metadata.clone()), ty) {
        Err(_) if lenient && metadata.is_object() => {
            let mut sound = metadata;
            if let Value::Object(map) = &mut sound {
                map.retain(|key, value| {
                    let alone = vec![(key.clone(), Node::from(value.clone()))];
                    decode(Node::Object(alone), ty).is_ok()
                });
            }
            decode_at(field, Node::from(sound), ty)
        }
        decoded => decoded,
    };
    let Decoded {
        mut value,
        strict_errors,
        ..
    } = decoded?;
    if let Value::Object(map) = &mut value
        && map
            .get("managedFields")
            .and_then(Value::as_array)
            .is_some_and(Vec::is_empty)
    {
        // Written back, an empty list is left out like any other, so it resets nothing.
        map.remove("managedFields");
    }
    Ok((value, strict_errors))
}

/// Coerces the resources inside of an object. Returns the errors of strict decoding, sorted.
///
/// # Errors
/// The field and its problem.
pub fn coerce(
    object: &mut Value,
    schema: Option<&Schema>,
    lenient: bool,
) -> Result<Vec<String>, String> {
    let mut strict_errors = Vec::new();
    if let Some(schema) = schema {
        coerce_value(object, schema, false, "", lenient, &mut strict_errors)?;
    }
    strict_errors.sort();
    Ok(strict_errors)
}

fn coerce_value(
    value: &mut Value,
    schema: &Schema,
    resource: bool,
    path: &str,
    lenient: bool,
    strict_errors: &mut Vec<String>,
) -> Result<(), String> {
    match value {
        Value::Object(map) => {
            if resource {
                coerce_resource(map, path, lenient, strict_errors)?;
            }
            for (key, value) in map.iter_mut() {
                let declared = schema.properties.contains_key(key);
                if let Some(member) = schema.member(key) {
                    let path = if declared {
                        child(path, key)
                    } else {
                        format!("{path}[{key}]")
                    };
                    coerce_value(
                        value,
                        member,
                        member.embedded,
                        &path,
                        lenient,
                        strict_errors,
                    )?;
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = &schema.items else {
                return Ok(());
            };
            for (i, item) in items.iter_mut().enumerate() {
                let path = format!("{path}[{i}]");
                coerce_value(item, schema, schema.embedded, &path, lenient, strict_errors)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn coerce_resource(
    map: &mut JsonMap,
    path: &str,
    lenient: bool,
    strict_errors: &mut Vec<String>,
) -> Result<(), String> {
    for field in ["apiVersion", "kind"] {
        let wrong = map.get(field).filter(|value| !value.is_string());
        if let Some(value) = wrong {
            if !lenient {
                let error = FieldError::invalid(child(path, field), value, "must be a string");
                return Err(error.to_string());
            }
            map.remove(field);
        }
    }
    let Some(metadata) = map.get_mut("metadata") else {
        return Ok(());
    };
    match coerce_metadata(metadata, path, lenient) {
        Ok((coerced, unknown)) => {
            strict_errors.extend(unknown);
            *metadata = coerced;
            Ok(())
        }
        Err(_) if lenient => Ok(()),
        Err(error) => {
            let field = child(path, "metadata");
            Err(FieldError::invalid(field, metadata, error).to_string())
        }
    }
}

/// The errors in the metadata of an object.
pub type MetadataRules = fn(&Value) -> Vec<FieldError>;

/// Checks kind, version and metadata of the resources inside of an object (`schema/objectmeta/validation.go`).
pub fn validate(object: &Value, schema: &Schema, of_metadata: MetadataRules) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let schema = (schema, false);
    visit(object, schema, of_metadata, &ErrorPath::ROOT, &mut errors);
    errors
}

/// Checks a value by its schema, and as a resource if it is one.
fn visit(
    value: &Value,
    (schema, resource): (&Schema, bool),
    of_metadata: MetadataRules,
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) {
    match value {
        Value::Object(map) => {
            if resource {
                for field in ["apiVersion", "kind"] {
                    errors.extend(type_field(map.get(field), field, &path.child(field)));
                }
                let found = map
                    .get("metadata")
                    .map(|found| metadata(found, of_metadata));
                let found = found.into_iter().flatten();
                errors.extend(found.map(|error| error.below(path)));
            }
            for (key, value) in map {
                let Some(member) = schema.member(key) else {
                    continue;
                };
                let path = if schema.properties.contains_key(key) {
                    path.child(key)
                } else {
                    path.key(key)
                };
                visit(value, (member, member.embedded), of_metadata, &path, errors);
            }
        }
        Value::Array(items) => {
            let Some(schema) = &schema.items else { return };
            for (i, item) in items.iter().enumerate() {
                let schema = (&**schema, schema.embedded);
                visit(item, schema, of_metadata, &path.index(i), errors);
            }
        }
        _ => {}
    }
}

/// The errors in the metadata of a resource inside of an object, which needs no name.
fn metadata(metadata: &Value, of_metadata: MetadataRules) -> Vec<FieldError> {
    let mut named = json!({ "metadata": metadata });
    if named.name().is_empty() {
        named.set_meta("name", "fakename");
    }
    of_metadata(&named)
}

fn type_field(value: Option<&Value>, field: &str, path: &ErrorPath<'_>) -> Option<FieldError> {
    let text = match value {
        None => return Some(FieldError::required(path, "")),
        Some(Value::String(text)) => text,
        Some(other) => return Some(FieldError::invalid(path, other, "must be a string")),
    };
    let problem = if text.is_empty() {
        "must not be empty".to_owned()
    } else if field == "apiVersion" && GroupVersion::parse(text).is_none() {
        format!("unexpected GroupVersion string: {text}")
    } else if field == "kind" && !is_label(&text.to_ascii_lowercase()) {
        "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower \
         case alphanumeric characters or '-', start with an alphabetic character, and end with an \
         alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is \
         '[a-z]([-a-z0-9]*[a-z0-9])?')"
            .to_owned()
    } else {
        return None;
    };
    Some(FieldError::invalid(path, &text.as_str().into(), problem))
}

/// A DNS label (RFC 1035).
fn is_label(text: &str) -> bool {
    let inner = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    text.len() <= 63
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && !text.ends_with('-')
        && text.bytes().all(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_what_go_would_hold() {
        let metadata = json!({"name": "a", "labels": {"x": null}, "annotations": {}, "bogus": 1});
        let (metadata, strict_errors) = coerce_metadata(&metadata, "", false).unwrap();
        assert_eq!(metadata, json!({"name": "a", "labels": {"x": ""}}));
        assert_eq!(strict_errors, [r#"unknown field "metadata.bogus""#]);
        let wrong = json!({"resourceVersion": 1, "name": "a"});
        assert_eq!(
            coerce_metadata(&wrong, "", false).unwrap_err(),
            "json: cannot unmarshal number into Go struct field ObjectMeta.resourceVersion of type string"
        );
        let (kept, _) = coerce_metadata(&wrong, "", true).unwrap();
        assert_eq!(kept, json!({"name": "a"}));
    }

    #[test]
    fn a_resource_inside_needs_kind_and_version() {
        let schema = Schema::parse(&json!({"properties": {"template": {
            "type": "object", "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true,
        }}}))
        .unwrap();
        let object = json!({"template": {"kind": "Not a kind"}});
        let errors = validate(&object, &schema, |_| Vec::new());
        assert_eq!(errors[0].to_string(), "template.apiVersion: Required value");
        assert!(
            errors[1]
                .to_string()
                .starts_with("template.kind: Invalid value: \"Not a kind\": may have")
        );
    }

    #[test]
    fn the_metadata_of_a_resource_inside_is_checked_with_its_path() {
        let schema = Schema::parse(&json!({"properties": {"template": {
            "type": "object", "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true,
        }}}))
        .unwrap();
        let object = json!({"template": {"apiVersion": "v1", "kind": "Pod", "metadata": {}}});
        let rules: MetadataRules = |object| {
            assert_eq!(object.name(), "fakename");
            vec![FieldError::required("metadata.labels", "")]
        };
        let errors = validate(&object, &schema, rules);
        assert_eq!(
            errors[0].to_string(),
            "template.metadata.labels: Required value"
        );
    }
}
