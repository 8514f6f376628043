//! Metadata that every object has (`k8s.io/apimachinery/pkg/api/validation/objectmeta.go`).

use serde_json::Value;

use crate::object::Metadata;
use crate::status::FieldError;

/// Checks the metadata of a new object.
pub(in crate::server) fn create(object: &Value) -> Vec<FieldError> {
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
pub(in crate::server) fn update(object: &Value, live: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if object.uid() != live.uid() {
        let error = FieldError::invalid("metadata.uid", &object.uid().into(), IMMUTABLE);
        // Both the common and the kind's own validation report it.
        errors.extend([error.clone(), error]);
    }
    errors
}

pub(super) const IMMUTABLE: &str = "field is immutable";

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
