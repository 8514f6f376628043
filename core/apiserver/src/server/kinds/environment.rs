//! Environment variables of a container (`ValidateEnv` and `ValidateEnvFrom` of
//! `pkg/apis/core/validation`).

use serde_json::Value;

use super::names::{self, NameRule};
use super::volumes;
use crate::field::ErrorPath;
use crate::go;
use crate::object::text;
use crate::status::FieldError;

/// The fields of a pod that the downward API puts into a variable.
const FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
/// The resources of a container that the downward API puts into a variable.
const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

/// Checks variables one by one.
pub(super) fn variables(variables: &[Value], path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (i, variable) in variables.iter().enumerate() {
        let name = text(variable, "name");
        let item = path.index(i);
        let field = item.child("name");
        if name.is_empty() {
            errors.push(FieldError::required(field, ""));
        } else {
            errors.extend(broken(name, &field, names::env_var));
        }
        if let Some(source) = variable.get("valueFrom") {
            let item = path.index(i);
            let path = item.child("valueFrom");
            let has_value = !text(variable, "value").is_empty();
            errors.extend(value_from(source, has_value, &path));
        }
    }
    errors
}

/// Checks where whole sets of variables come from.
pub(super) fn sources(sources: &[Value], path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (i, source) in sources.iter().enumerate() {
        let prefix = text(source, "prefix");
        if !prefix.is_empty() {
            let item = path.index(i);
            let field = item.child("prefix");
            errors.extend(broken(prefix, &field, names::env_var));
        }
        let mut count = 0;
        for kind in ["configMapRef", "secretRef"] {
            if let Some(reference) = source.get(kind) {
                count += 1;
                let name = text(reference, "name");
                let item = path.index(i);
                let place = item.child(kind);
                let field = place.child("name");
                if name.is_empty() {
                    errors.push(FieldError::required(field, ""));
                } else {
                    errors.extend(broken(name, &field, names::subdomain));
                }
            }
        }
        let detail = match count {
            0 => "must specify one of: `configMapRef` or `secretRef`",
            1 => continue,
            _ => "may not have more than one field specified at a time",
        };
        errors.push(FieldError::invalid(path, &"".into(), detail));
    }
    errors
}

/// `validateEnvVarValueFrom`: one source, and no value besides.
fn value_from(source: &Value, has_value: bool, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut count = 0;
    if let Some(reference) = source.get("fieldRef") {
        count += 1;
        errors.extend(field_ref(reference, &FIELDS, &path.child("fieldRef")));
    }
    if let Some(reference) = source.get("resourceFieldRef") {
        count += 1;
        errors.extend(resource_ref(reference, &path.child("resourceFieldRef")));
    }
    for kind in ["configMapKeyRef", "secretKeyRef"] {
        if let Some(reference) = source.get(kind) {
            count += 1;
            let (name, key) = (text(reference, "name"), text(reference, "key"));
            errors.extend(broken(
                name,
                &path.child(kind).child("name"),
                names::subdomain,
            ));
            let place = path.child(kind);
            let field = place.child("key");
            if key.is_empty() {
                errors.push(FieldError::required(field, ""));
            } else {
                errors.extend(broken(key, &field, names::config_key));
            }
        }
    }
    if let Some(reference) = source.get("fileKeyRef") {
        count += 1;
        errors.extend(file_key(reference, &path.child("fileKeyRef")));
    }
    let detail = match (count, has_value) {
        (0, _) => {
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, \
             `secretKeyRef` or `fileKeyRef`"
        }
        (_, true) => "may not be specified when `value` is not empty",
        (1, false) => return errors,
        (_, false) => "may not have more than one field specified at a time",
    };
    errors.push(FieldError::invalid(path, &"".into(), detail));
    errors
}

/// `validateFileKeySelector`.
fn file_key(reference: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (name, rule) in [
        ("key", names::env_var as NameRule),
        ("volumeName", names::label),
    ] {
        let (value, field) = (text(reference, name), path.child(name));
        if value.is_empty() {
            errors.push(FieldError::required(field, ""));
        } else {
            errors.extend(broken(value, &field, rule));
        }
    }
    let (file, field) = (text(reference, "path"), path.child("path"));
    if file.is_empty() {
        errors.push(FieldError::required(field, ""));
    } else {
        errors.extend(volumes::no_backsteps(file, &field));
    }
    errors
}

/// The fields of the pod that a file may show (`validVolumeDownwardAPIFieldPathExpressions`).
const FIELDS_OF_VOLUMES: [&str; 5] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
];

/// Checks the field that a file of a volume shows.
pub(super) fn volume_field(reference: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    field_ref(reference, &FIELDS_OF_VOLUMES, path)
}

/// Checks the resource of a container that a file of a volume shows.
pub(super) fn volume_resource(reference: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    if text(reference, "containerName").is_empty() {
        let mut errors = vec![FieldError::required(path.child("containerName"), "")];
        errors.extend(divisor(reference, path));
        return errors;
    }
    resource_ref(reference, path)
}

/// `validateContainerResourceFieldSelector`.
fn resource_ref(reference: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let resource = text(reference, "resource");
    let field = path.child("resource");
    let of_huge_pages = ["limits.hugepages-", "requests.hugepages-"];
    let of_huge_pages = of_huge_pages.iter().any(|p| resource.starts_with(p));
    if resource.is_empty() {
        errors.push(FieldError::required(field, ""));
    } else if !RESOURCES.contains(&resource) && !of_huge_pages {
        let value = resource.into();
        errors.push(FieldError::not_supported(field, &value, &RESOURCES));
    }
    errors.extend(divisor(reference, path));
    errors
}

/// `validateContainerResourceDivisor`.
fn divisor(reference: &Value, path: &ErrorPath<'_>) -> Option<FieldError> {
    const SIZES: &str = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei";
    let (resource, divisor) = (text(reference, "resource"), text(reference, "divisor"));
    let (_, kind) = resource.split_once('.')?;
    let (allowed, name) = match kind {
        "cpu" => ("1m and 1", "cpu"),
        "memory" => (SIZES, "memory"),
        "ephemeral-storage" => (SIZES, "local ephemeral storage"),
        kind if kind.starts_with("hugepages-") => (SIZES, "hugepages"),
        _ => return None,
    };
    let fits = matches!(divisor, "" | "0") || allowed.split([',', ' ']).any(|a| a == divisor);
    (!fits).then(|| {
        let field = path.child("divisor");
        let detail =
            format!("only divisor's values {allowed} are supported with the {name} resource");
        FieldError::invalid(field, &resource.into(), detail)
    })
}

/// Other fields of a pod that have a name for selectors (`ConvertDownwardAPIFieldLabel`).
const OTHER_FIELDS: [&str; 3] = ["spec.restartPolicy", "spec.schedulerName", "status.phase"];

/// `validateObjectFieldSelector`, `ConvertDownwardAPIFieldLabel`.
fn field_ref(reference: &Value, known: &[&str], path: &ErrorPath<'_>) -> Vec<FieldError> {
    let (version, wanted) = (text(reference, "apiVersion"), text(reference, "fieldPath"));
    let field = path.child("fieldPath");
    if wanted.is_empty() {
        return vec![FieldError::required(field, "")];
    }
    let not_converted = |detail: &str, name: &str| {
        let detail = format!("error converting fieldPath: {detail}: {name}");
        vec![FieldError::invalid(field, &wanted.into(), detail)]
    };
    // The default is v1.
    if !matches!(version, "" | "v1") {
        return not_converted("unsupported pod version", version);
    }
    if let Some((map, key)) = wanted.split_once("['")
        && let Some(key) = key.strip_suffix("']")
        && !map.is_empty()
    {
        return match map {
            "metadata.annotations" => broken(&go::lower(key), path, names::qualified),
            "metadata.labels" => broken(key, path, names::qualified),
            _ => not_converted("field label does not support subscript", wanted),
        };
    }
    let internal = match wanted {
        "spec.host" => "spec.nodeName",
        other => other,
    };
    if known.contains(&internal) {
        return Vec::new();
    }
    // A field that only another place may show has another message than an unknown field.
    if FIELDS.contains(&internal)
        || FIELDS_OF_VOLUMES.contains(&internal)
        || OTHER_FIELDS.contains(&internal)
    {
        return vec![FieldError::not_supported(field, &internal.into(), known)];
    }
    not_converted("field label not supported", wanted)
}

fn broken(value: &str, field: &ErrorPath<'_>, rule: NameRule) -> Vec<FieldError> {
    let reasons = rule(value).into_iter();
    reasons
        .map(|why| FieldError::invalid(field, &value.into(), why))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_variable_has_one_value_from_one_place() {
        let texts = |variable: Value| -> Vec<String> {
            let errors = variables(&[variable], &ErrorPath::new("env"));
            errors.iter().map(ToString::to_string).collect()
        };
        let from = json!({"fieldRef": {"fieldPath": "metadata.name"}});
        assert!(texts(json!({"name": "A", "valueFrom": from})).is_empty());
        assert_eq!(
            texts(json!({"name": "A", "value": "1", "valueFrom": from})),
            [
                "env[0].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty"
            ]
        );
        assert_eq!(texts(json!({"valueFrom": {}})).len(), 2);
    }
}
