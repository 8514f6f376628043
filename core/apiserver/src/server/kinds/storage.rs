//! What a StorageClass checks besides its rows in `kinds.checks`
//! (`pkg/apis/storage/validation/validation.go`).

use serde_json::Value;

use super::checks::{Check, Checked};
use super::label_selector::list;
use super::names;
use crate::object::JsonMap;
use crate::status::{FieldError, Problem};

pub(super) const CALLS: &[(&str, Check)] = &[
    ("provisioner", provisioner),
    ("storage_parameters", parameters),
    ("topology", topology),
];

/// The most parameters of a class, and their size in bytes.
const MAX_PARAMETERS: usize = 512;
const MAX_PARAMETERS_SIZE: usize = 256 * 1024;

/// A qualified name in any case (`validateProvisioner`).
fn provisioner(name: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let Some(text) = name.value.as_str().filter(|text| !text.is_empty()) else {
        return;
    };
    let reasons = names::qualified(&text.to_lowercase()).into_iter();
    errors.extend(reasons.map(|why| FieldError::invalid(name.path, name.value, why)));
}

/// `validateParameters`.
fn parameters(parameters: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let members = parameters.value.as_object();
    if members.is_some_and(|members| members.len() > MAX_PARAMETERS) {
        let detail = format!("may not be more than {MAX_PARAMETERS} bytes");
        let problem = Problem::TooLong;
        errors.push(FieldError::without_value(
            problem,
            "Provisioner Parameters Length",
            detail,
        ));
        return;
    }
    let mut size = 0;
    for (key, value) in members.into_iter().flat_map(JsonMap::iter) {
        if key.is_empty() {
            let detail = "field can not be empty.";
            errors.push(FieldError::invalid(parameters.path, &"".into(), detail));
        }
        size += key.len() + value.as_str().map_or(0, str::len);
    }
    if size > MAX_PARAMETERS_SIZE {
        errors.push(FieldError::too_long(parameters.path, MAX_PARAMETERS_SIZE));
    }
}

/// A requirement of a topology: a key, and values that differ (`validateTopologySelectorTerm` of
/// `pkg/apis/core/validation`).
fn topology(requirement: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let values = list(requirement.value, "values");
    let path = requirement.path.child("values");
    if values.is_empty() {
        errors.push(FieldError::required(path, ""));
    }
    for (i, value) in values.iter().enumerate() {
        if values[..i].contains(value) {
            errors.push(FieldError::duplicate(path.index(i), value));
        }
    }
    if let Value::String(key) = &requirement.value["key"] {
        let reasons = names::qualified(key).into_iter();
        let field = requirement.path.child("key");
        errors.extend(reasons.map(|why| FieldError::invalid(field, &key.as_str().into(), why)));
    }
}
