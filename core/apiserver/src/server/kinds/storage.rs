//! What a StorageClass checks besides its rows in `kinds.checks`
//! (`pkg/apis/storage/validation/validation.go`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::checks::{Check, Checked};
use super::label_selector::list;
use super::names;
use crate::field::ErrorPath;
use crate::object::{JsonMap, text};
use crate::status::{FieldError, Problem};

pub(super) const CALLS: &[(&str, Check)] = &[
    ("provisioner", provisioner),
    ("storage_parameters", parameters),
    ("topologies", topologies),
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

/// Where a class can make volumes (`validateAllowedTopologies`).
fn topologies(terms: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let items = terms.value.as_array().map_or(&[][..], Vec::as_slice);
    let mut seen: Vec<BTreeMap<&str, BTreeSet<&str>>> = Vec::new();
    for (i, term) in items.iter().enumerate() {
        let term_path = terms.path.index(i);
        let path = term_path.child("matchLabelExpressions");
        let mut values = BTreeMap::new();
        for (j, requirement) in list(term, "matchLabelExpressions").iter().enumerate() {
            let path = path.index(j);
            let own = topology(requirement, &path, errors);
            let key = text(requirement, "key");
            if values.insert(key, own).is_some() {
                errors.push(FieldError::duplicate(path.child("key"), &key.into()));
            }
        }
        // Upstream compares also with as many terms that ask for nothing as there are terms.
        let empty = if values.is_empty() { items.len() } else { 0 };
        let equal = seen.iter().filter(|other| **other == values).count() + empty;
        errors.extend((0..equal).map(|_| FieldError::duplicate(path, &"".into())));
        seen.push(values);
    }
}

/// `validateTopologySelectorLabelRequirement`; gives the values.
fn topology<'a>(
    requirement: &'a Value,
    path: &ErrorPath<'_>,
    errors: &mut Vec<FieldError>,
) -> BTreeSet<&'a str> {
    let values = list(requirement, "values");
    let field = path.child("values");
    if values.is_empty() {
        errors.push(FieldError::required(field, ""));
    }
    for (i, value) in values.iter().enumerate() {
        if values[..i].contains(value) {
            errors.push(FieldError::duplicate(field.index(i), value));
        }
    }
    let key = text(requirement, "key");
    let reasons = names::qualified(key).into_iter();
    let field = path.child("key");
    errors.extend(reasons.map(|why| FieldError::invalid(field, &key.into(), why)));
    values.iter().filter_map(Value::as_str).collect()
}
