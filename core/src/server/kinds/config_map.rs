//! ConfigMap (`pkg/registry/core/configmap`, `pkg/apis/core/validation`).

use serde_json::Value;

use super::Rules;
use crate::object::JsonMap;
use crate::status::FieldError;

pub(super) const RULES: Rules = Rules {
    validate: |object, _| config_map(object),
    ..Rules::NONE
};

fn config_map(object: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for field in ["data", "binaryData"] {
        let members = object.get(field).and_then(Value::as_object);
        for key in members.into_iter().flat_map(JsonMap::keys) {
            let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            if key.is_empty() || !key.chars().all(allowed) {
                let detail = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' \
                     (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is \
                     '[-._a-zA-Z0-9]+')";
                let field = format!("{field}[{key}]");
                errors.push(FieldError::invalid(field, &key.as_str().into(), detail));
            }
        }
    }
    errors
}
