//! Checks of a container's mounts (`ValidateVolumeMounts`, `validateMountPropagation` and
//! `validateMountRecursiveReadOnly` of `pkg/apis/core/validation/validation.go`).

use std::collections::BTreeSet;

use serde_json::Value;

use super::containers::PodContext;
use super::label_selector::list;
use super::volumes;
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::FieldError;

/// `ValidateVolumeMounts`.
pub(super) fn validate(
    container: &Value,
    pod: &PodContext<'_>,
    path: &ErrorPath<'_>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut paths = BTreeSet::new();
    let devices = volumes::places(container, "volumeDevices", "devicePath");
    for (i, mount) in list(container, "volumeMounts").iter().enumerate() {
        let item = path.index(i);
        let field = |name: &'static str| item.child(name);
        let (name, place) = (text(mount, "name"), text(mount, "mountPath"));
        if name.is_empty() {
            errors.push(FieldError::required(field("name"), ""));
        }
        if !pod.volumes.contains_key(name) {
            errors.push(FieldError::with_value(
                crate::status::Problem::NotFound,
                field("name"),
                &name.into(),
                "",
            ));
        }
        if place.is_empty() {
            errors.push(FieldError::required(field("mountPath"), ""));
        }
        let mut wrong = |name: &'static str, value: &str, detail: &str| {
            errors.push(FieldError::invalid(field(name), &value.into(), detail));
        };
        if !paths.insert(place) {
            wrong("mountPath", place, "must be unique");
        }
        if devices.contains_key(name) {
            wrong("name", name, "must not already exist in volumeDevices");
        }
        if devices.values().any(|path| *path == place) {
            let detail = "must not already exist as a path in volumeDevices";
            wrong("mountPath", place, detail);
        }
        // From here on upstream names the list, not the item.
        let (below, expression) = (text(mount, "subPath"), text(mount, "subPathExpr"));
        errors.extend(volumes::descending(below, &path.child("subPath")));
        if !below.is_empty() && !expression.is_empty() {
            let detail = "subPathExpr and subPath are mutually exclusive";
            let value = expression.into();
            errors.push(FieldError::invalid(field("subPathExpr"), &value, detail));
        }
        errors.extend(volumes::descending(expression, &path.child("subPathExpr")));
        errors.extend(propagation(
            mount,
            container,
            &path.child("mountPropagation"),
        ));
        errors.extend(read_only(mount, &path.child("recursiveReadOnly")));
    }
    errors
}

/// `validateMountPropagation`.
fn propagation(mount: &Value, container: &Value, field: &ErrorPath<'_>) -> Vec<FieldError> {
    const KNOWN: [&str; 3] = ["Bidirectional", "HostToContainer", "None"];
    let mut errors = Vec::new();
    let Some(wanted) = mount.get("mountPropagation") else {
        return errors;
    };
    if !KNOWN.iter().any(|known| wanted == known) {
        errors.push(FieldError::not_supported(field, wanted, &KNOWN));
    }
    if wanted == "Bidirectional" && container["securityContext"]["privileged"] != true {
        let detail = "Bidirectional mount propagation is available only to privileged containers";
        errors.push(FieldError::forbidden(field, detail));
    }
    errors
}

/// `validateMountRecursiveReadOnly`.
fn read_only(mount: &Value, field: &ErrorPath<'_>) -> Vec<FieldError> {
    const KNOWN: [&str; 3] = ["Disabled", "Enabled", "IfPossible"];
    let mut errors = Vec::new();
    let Some(wanted) = mount.get("recursiveReadOnly") else {
        return errors;
    };
    if !KNOWN.iter().any(|known| wanted == known) {
        errors.push(FieldError::not_supported(field, wanted, &KNOWN));
    } else if wanted != "Disabled" {
        if mount["readOnly"] != true {
            let detail = "may only be specified when readOnly is true";
            errors.push(FieldError::forbidden(field, detail));
        }
        if !matches!(mount["mountPropagation"].as_str(), None | Some("None")) {
            let detail = "may only be specified when mountPropagation is None or not specified";
            errors.push(FieldError::forbidden(field, detail));
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    #[test]
    fn a_mount_is_shared_with_the_host_by_the_privileged_and_read_only_as_a_whole() {
        let volume = json!({"name": "v", "emptyDir": {}});
        let pod = PodContext {
            volumes: BTreeMap::from([("v", &volume)]),
            grace: 30,
            restarts: "Always",
            host_users: true,
            claims: BTreeSet::new(),
        };
        let said = |mut mount: Value, privileged: bool| -> Vec<String> {
            mount["name"] = "v".into();
            mount["mountPath"] = "/a".into();
            let container = json!({"volumeMounts": [mount],
                "securityContext": {"privileged": privileged}});
            let errors = validate(&container, &pod, &ErrorPath::new("m"));
            errors.iter().map(ToString::to_string).collect()
        };
        let shared = json!({"mountPropagation": "Bidirectional"});
        assert!(said(shared.clone(), true).is_empty());
        assert_eq!(
            said(shared, false),
            [
                "m.mountPropagation: Forbidden: Bidirectional mount propagation is available only \
                 to privileged containers"
            ]
        );
        assert_eq!(
            said(json!({"recursiveReadOnly": "Enabled"}), false),
            ["m.recursiveReadOnly: Forbidden: may only be specified when readOnly is true"]
        );
        assert_eq!(said(json!({"recursiveReadOnly": "Odd"}), false).len(), 1);
        assert!(
            said(
                json!({"recursiveReadOnly": "Enabled", "readOnly": true}),
                false
            )
            .is_empty()
        );
    }
}
