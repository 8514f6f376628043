//! Containers that are put into a running pod to look at it (`validateEphemeralContainers` of
//! `pkg/apis/core/validation`).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::containers::{PodContext, common};
use super::label_selector::list;
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::{FieldError, Problem};

const NOT_FOR_THESE: &str = "cannot be set for an Ephemeral Container";

/// The fields that only containers have on which a pod relies.
const OF_SERVICES: [&str; 9] = [
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
];

/// Checks them; `others` are the containers that the pod has besides.
pub(super) fn validate(
    containers: &[Value],
    others: &[&Value],
    pod: &PodContext<'_>,
    path: &ErrorPath<'_>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let others: BTreeSet<&str> = others.iter().map(|other| text(other, "name")).collect();
    let mut seen = others.clone();
    for (i, container) in containers.iter().enumerate() {
        let path = path.index(i);
        errors.extend(common(container, pod, &path));
        let image = text(container, "image");
        if image != image.trim() {
            let detail = "must not have leading or trailing whitespace";
            errors.push(FieldError::invalid(
                path.child("image"),
                &image.into(),
                detail,
            ));
        }
        let name = text(container, "name");
        if !seen.insert(name) {
            errors.push(FieldError::duplicate(path.child("name"), &name.into()));
        }
        let target = text(container, "targetContainerName");
        if !target.is_empty() && !others.contains(target) {
            errors.push(FieldError::with_value(
                Problem::NotFound,
                path.child("targetContainerName"),
                &target.into(),
                "",
            ));
        }
        // Only the resources are a struct, which is zero where it is empty; an empty list is none that is absent.
        let set = |field: &str| {
            let value = container.get(field);
            value.is_some_and(|value| field != "resources" || *value != json!({}))
        };
        for field in OF_SERVICES.into_iter().filter(|field| set(field)) {
            errors.push(FieldError::forbidden(path.child(field), NOT_FOR_THESE));
        }
        for (j, mount) in list(container, "volumeMounts").iter().enumerate() {
            for field in ["subPath", "subPathExpr"] {
                if !text(mount, field).is_empty() {
                    let mount = path.item("volumeMounts", j);
                    errors.push(FieldError::forbidden(mount.child(field), NOT_FOR_THESE));
                }
            }
        }
    }
    errors
}
