//! ConfigMap (`pkg/registry/core/configmap`, `pkg/apis/core/validation`).

use serde_json::Value;

use super::{LooksAt, Rules, metadata, names};
use crate::field::ErrorPath;
use crate::object::JsonMap;
use crate::status::FieldError;

pub(super) const RULES: Rules = Rules {
    validate,
    looks_at: &LooksAt::EMPTIES,
    ..Rules::NONE
};

/// The maximum size of all values together, in bytes (`MaxSecretSize`).
pub(super) const MAX_DATA: usize = 1024 * 1024;

fn validate(config_map: &Value, live: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if let Some(live) = live {
        errors.extend(metadata::builtin_update(config_map, live));
        errors.extend(immutable(
            config_map,
            live,
            &["immutable", "data", "binaryData"],
            "data",
        ));
    }
    // An update is also checked like a new object (`ValidateConfigMapUpdate`).
    errors.extend(metadata::builtin(config_map, names::subdomain));
    let binary = config_map.get("binaryData").and_then(Value::as_object);
    let mut size = 0;
    for (key, value) in members(config_map, "data") {
        errors.extend(key_errors("data", key));
        if binary.is_some_and(|binary| binary.contains_key(key)) {
            let detail = "duplicate of key present in binaryData";
            let field = ErrorPath::new("data");
            errors.push(FieldError::invalid(
                field.key(key),
                &key.as_str().into(),
                detail,
            ));
        }
        size += value.as_str().unwrap_or_default().len();
    }
    for (key, value) in members(config_map, "binaryData") {
        errors.extend(key_errors("binaryData", key));
        size += decoded_length(value);
    }
    if size > MAX_DATA {
        // An empty path means the whole object, and is printed like this.
        errors.push(FieldError::too_long("[]", MAX_DATA));
    }
    errors
}

/// Refuses changes to an immutable object: it stays immutable, and its fields stay as they are
/// (`ValidateConfigMapUpdate`, `ValidateSecretUpdate`). An empty map in the place of an absent one is a
/// change, except in the field that a default makes an empty map.
pub(super) fn immutable(
    object: &Value,
    live: &Value,
    fields: &[&str],
    defaulted: &str,
) -> Vec<FieldError> {
    let is_set = |object: &Value| object.get("immutable") == Some(&Value::Bool(true));
    if !is_set(live) {
        return Vec::new();
    }
    let detail = "field is immutable when `immutable` is set";
    let changed = |field: &&str| match *field {
        "immutable" => !is_set(object),
        field if field == defaulted => !members(object, field).eq(members(live, field)),
        field => object.get(field) != live.get(field),
    };
    let changed = fields.iter().copied().filter(changed);
    changed
        .map(|field| FieldError::forbidden(field, detail))
        .collect()
}

/// The number of bytes that a text in base64 stands for.
pub(super) fn decoded_length(value: &Value) -> usize {
    let encoded = value.as_str().unwrap_or_default().trim_end_matches('=');
    encoded.len() * 3 / 4
}

pub(super) fn key_errors(field: &str, key: &str) -> impl Iterator<Item = FieldError> {
    let reasons = names::config_key(key).into_iter();
    reasons.map(move |why| FieldError::invalid(ErrorPath::new(field).key(key), &key.into(), why))
}

fn members<'a>(object: &'a Value, field: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let map = object.get(field).and_then(Value::as_object);
    map.into_iter().flat_map(JsonMap::iter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn texts(errors: &[FieldError]) -> Vec<String> {
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_key_is_in_one_of_the_two_maps_only() {
        let config_map = json!({
            "metadata": {"name": "a", "namespace": "n"},
            "data": {"a": "1"}, "binaryData": {"a": "AQ=="},
        });
        assert_eq!(
            texts(&validate(&config_map, None)),
            ["data[a]: Invalid value: \"a\": duplicate of key present in binaryData"]
        );
    }

    #[test]
    fn what_is_immutable_cannot_be_made_mutable_or_changed() {
        const FIELDS: &[&str] = &["immutable", "data", "binaryData"];
        let live = json!({"immutable": true, "data": {"a": "1"}});
        assert!(immutable(&live, &live, FIELDS, "data").is_empty());
        assert_eq!(
            texts(&immutable(
                &json!({"data": {"a": "2"}}),
                &live,
                FIELDS,
                "data"
            )),
            [
                "immutable: Forbidden: field is immutable when `immutable` is set",
                "data: Forbidden: field is immutable when `immutable` is set",
            ]
        );
    }
}
