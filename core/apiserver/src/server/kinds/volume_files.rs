//! Files that a volume makes of keys, of fields of the pod and of other sources
//! (`validateKeyToPath`, `validateDownwardAPIVolumeFile`, `validateProjectionSources` of
//! `pkg/apis/core/validation`). Left out: trust bundles and certificates of pods.

use std::collections::BTreeSet;

use serde_json::Value;

use super::environment;
use super::label_selector::list;
use super::volumes::{descending, required};
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::FieldError;

/// Files from keys, and their modes.
pub(super) fn of_keys(source: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    errors.extend(mode(source, "defaultMode", path));
    errors.extend(keys(source, path));
    errors
}

fn keys(source: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (i, item) in list(source, "items").iter().enumerate() {
        let path = path.item("items", i);
        errors.extend(required(item, &path, &["key", "path"]));
        errors.extend(below(text(item, "path"), &path.child("path")));
        errors.extend(mode(item, "mode", &path));
    }
    errors
}

/// Files from fields of the pod. Upstream names the volume, not the item.
pub(super) fn of_pod(source: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    errors.extend(mode(source, "defaultMode", path));
    for item in list(source, "items") {
        errors.extend(field(item, path));
    }
    errors
}

fn field(item: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = required(item, path, &["path"]);
    errors.extend(below(text(item, "path"), &path.child("path")));
    match (item.get("fieldRef"), item.get("resourceFieldRef")) {
        (Some(reference), other) => {
            let path_of_field = path.child("fieldRef");
            errors.extend(environment::volume_field(reference, &path_of_field));
            if other.is_some() {
                let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
                errors.push(FieldError::invalid(path, &"resource".into(), detail));
            }
        }
        (None, Some(reference)) => {
            let path = path.child("resourceFieldRef");
            errors.extend(environment::volume_resource(reference, &path));
        }
        (None, None) => {
            let detail = "one of fieldRef and resourceFieldRef is required";
            errors.push(FieldError::required(path, detail));
        }
    }
    errors.extend(mode(item, "mode", path));
    errors
}

/// Files of several sources, each at a place of its own.
pub(super) fn projected(volume: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    errors.extend(mode(volume, "defaultMode", path));
    let mut seen = BTreeSet::new();
    for (i, source) in list(volume, "sources").iter().enumerate() {
        let own = path.item("sources", i);
        let mut count = 0;
        let mut place = |target: &str, shown: &str| {
            let repeated = !target.is_empty() && !seen.insert(target.to_owned());
            let detail = "conflicting duplicate paths";
            repeated.then(|| FieldError::invalid(path, &shown.into(), detail))
        };
        for kind in ["secret", "configMap"] {
            let Some(keyed) = source.get(kind) else {
                continue;
            };
            count += 1;
            let path = own.child(kind);
            errors.extend(required(keyed, &path, &["name"]));
            errors.extend(keys(keyed, &path));
            let targets = list(keyed, "items").iter().map(|item| text(item, "path"));
            errors.extend(targets.filter_map(|target| place(target, text(keyed, "name"))));
        }
        if let Some(fields) = source.get("downwardAPI") {
            count += 1;
            let path = own.child("downwardAPI");
            for item in list(fields, "items") {
                errors.extend(field(item, &path));
                errors.extend(place(text(item, "path"), text(item, "path")));
            }
        }
        if let Some(token) = source.get("serviceAccountToken") {
            count += 1;
            errors.extend(lifetime(token, &own.child("serviceAccountToken")));
            errors.extend(required(token, path, &["path"]));
            errors.extend(below(text(token, "path"), &path.child("path")));
        }
        if count > 1 {
            let detail = "may not specify more than 1 volume type per source";
            errors.push(FieldError::forbidden(own, detail));
        }
    }
    errors
}

fn lifetime(token: &Value, path: &ErrorPath<'_>) -> Option<FieldError> {
    let seconds = token["expirationSeconds"].as_i64().unwrap_or(0);
    let detail = match seconds {
        ..600 => "may not specify a duration less than 10 minutes",
        600..=0x1_0000_0000 => return None,
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    let field = path.child("expirationSeconds");
    Some(FieldError::invalid(field, &seconds.into(), detail))
}

/// A path below the volume whose name is not reserved (`ValidateLocalNonReservedPath`).
fn below(target: &str, field: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = descending(target, field);
    if target.starts_with("..") && !target.starts_with("../") {
        let detail = "must not start with '..'";
        errors.push(FieldError::invalid(field, &target.into(), detail));
    }
    errors
}

fn mode(owner: &Value, name: &str, path: &ErrorPath<'_>) -> Option<FieldError> {
    let mode = owner.get(name)?.as_i64()?;
    if (0..=0o777).contains(&mode) {
        return None;
    }
    let detail = "must be a number between 0 and 0777 (octal), both inclusive";
    let field = path.child(name);
    Some(FieldError::invalid(field, &mode.into(), detail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn texts(errors: Vec<FieldError>) -> Vec<String> {
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_is_made_of_one_field_of_the_pod() {
        let of = |item: Value| texts(of_pod(&json!({"items": [item]}), &ErrorPath::new("d")));
        let labels = json!({"fieldPath": "metadata.labels"});
        assert!(of(json!({"path": "l", "fieldRef": labels})).is_empty());
        assert_eq!(
            of(json!({"path": "l"})),
            ["d: Required value: one of fieldRef and resourceFieldRef is required"]
        );
        let resource = json!({"resource": "limits.cpu"});
        assert_eq!(
            of(json!({"path": "l", "fieldRef": labels, "resourceFieldRef": resource})),
            [
                "d: Invalid value: \"resource\": fieldRef and resourceFieldRef can not be \
                 specified simultaneously"
            ]
        );
        assert_eq!(
            of(json!({"path": "l", "resourceFieldRef": resource})),
            ["d.resourceFieldRef.containerName: Required value"]
        );
        assert_eq!(
            of(json!({"path": "..", "fieldRef": labels})),
            [
                "d.path: Invalid value: \"..\": must not contain '..'",
                "d.path: Invalid value: \"..\": must not start with '..'",
            ]
        );
    }

    #[test]
    fn sources_of_a_volume_have_names_and_places_of_their_own() {
        let item = json!({"key": "k", "path": "p"});
        let sources = json!([
            {},
            {"secret": {"items": [item]}},
            {"configMap": {"name": "c", "items": [item]}, "serviceAccountToken": {"path": "t", "expirationSeconds": 5}},
        ]);
        assert_eq!(
            texts(projected(
                &json!({"sources": sources}),
                &ErrorPath::new("p")
            )),
            [
                "p.sources[1].secret.name: Required value",
                "p: Invalid value: \"c\": conflicting duplicate paths",
                "p.sources[2].serviceAccountToken.expirationSeconds: Invalid value: 5: may not \
                 specify a duration less than 10 minutes",
                "p.sources[2]: Forbidden: may not specify more than 1 volume type per source",
            ]
        );
    }
}
