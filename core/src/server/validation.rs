//! What the server demands of an object before it stores it
//! (`pkg/apis/*/validation`, `k8s.io/apimachinery/pkg/api/validation`).

use serde_json::Value;

use super::Resource;
use crate::object::{JsonMap, Metadata, text};
use crate::status::FieldError;

/// Checks the metadata of a new object.
pub(super) fn metadata(object: &Value) -> Vec<FieldError> {
    let name = object.name();
    if name.is_empty() {
        let detail = "name or generateName is required";
        return vec![FieldError::required("metadata.name", detail)];
    }
    if is_subdomain(name) {
        return Vec::new();
    }
    let detail = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
         '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', \
         regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    vec![FieldError::invalid("metadata.name", &name.into(), detail)]
}

/// Checks what may not change in the metadata.
pub(super) fn metadata_update(object: &Value, live: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if object.uid() != live.uid() {
        let error = FieldError::invalid("metadata.uid", &object.uid().into(), IMMUTABLE);
        // Both the common and the kind's own validation report it.
        errors.extend([error.clone(), error]);
    }
    errors
}

const IMMUTABLE: &str = "field is immutable";

fn is_subdomain(name: &str) -> bool {
    let label = |label: &str| {
        let inner = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
        !label.is_empty()
            && label.bytes().all(inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(label)
}

/// Checks an object by the rules of its kind; `live` is the stored one on update.
pub(super) fn object(resource: &Resource, object: &Value, live: Option<&Value>) -> Vec<FieldError> {
    match resource.kind.as_str() {
        "ConfigMap" => config_map(object),
        "Deployment" => deployment(object, live),
        _ => Vec::new(),
    }
}

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

fn deployment(object: &Value, live: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let spec = &object["spec"];
    if let Some(replicas) = spec["replicas"].as_i64()
        && replicas < 0
    {
        let detail = "must be greater than or equal to 0";
        errors.push(FieldError::invalid(
            "spec.replicas",
            &replicas.into(),
            detail,
        ));
    }
    match &spec["selector"] {
        Value::Null => errors.push(FieldError::required("spec.selector", "")),
        selector => {
            let labels = &spec["template"]["metadata"]["labels"];
            let matches = selector["matchLabels"]
                .as_object()
                .into_iter()
                .flatten()
                .all(|(key, value)| labels.get(key) == Some(value));
            if !matches {
                let detail = "`selector` does not match template `labels`";
                let field = "spec.template.metadata.labels";
                errors.push(FieldError::invalid(field, labels, detail));
            }
        }
    }
    let containers = spec["template"]["spec"]["containers"].as_array();
    match containers {
        Some(containers) if !containers.is_empty() => {
            for (i, container) in containers.iter().enumerate() {
                for field in ["name", "image"] {
                    if text(container, field).is_empty() {
                        let field = format!("spec.template.spec.containers[{i}].{field}");
                        errors.push(FieldError::required(field, ""));
                    }
                }
            }
        }
        _ => errors.push(FieldError::required("spec.template.spec.containers", "")),
    }
    if let Some(live) = live
        && live["spec"]["selector"] != spec["selector"]
    {
        errors.push(FieldError::invalid(
            "spec.selector",
            &spec["selector"],
            IMMUTABLE,
        ));
    }
    errors
}
