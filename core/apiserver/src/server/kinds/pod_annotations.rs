//! Annotations of pods that the server knows (`ValidatePodSpecificAnnotations` and
//! `ValidatePodSpecificAnnotationUpdates` of `pkg/apis/core/validation/validation.go`). Left out:
//! the old annotation for tolerations.

use serde_json::Value;

use super::pod_profiles::{self, APP_ARMOR};
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::FieldError;

/// A pod that a kubelet made from a file carries it.
const MIRROR: &str = "kubernetes.io/config.mirror";
/// The annotation by which a ReplicaSet ranks its pods for deletion.
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
/// The beginning of the names by which containers once got AppArmor profiles.
const ANNOTATIONS: ErrorPath<'static> = ErrorPath::new("metadata.annotations");

/// Checks the annotations of a pod.
pub(super) fn validate(annotations: &Value, spec: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if annotations.is_null() {
        return errors;
    }
    if let Some(value) = annotations.get(MIRROR)
        && text(spec, "nodeName").is_empty()
    {
        let detail = "must set spec.nodeName if mirror pod annotation is set";
        errors.push(FieldError::invalid(path.key(MIRROR), value, detail));
    }
    if let Some(value) = annotations.get(DELETION_COST)
        && !is_cost(value.as_str().unwrap_or_default())
    {
        let detail = "must be a 32bit integer";
        let field = path.key(DELETION_COST);
        errors.push(FieldError::invalid(field, value, detail));
    }
    errors.extend(pod_profiles::annotations(annotations, spec, path));
    errors
}

/// Checks the annotations of a pod.
pub(super) fn of_pod(pod: &Value) -> Vec<FieldError> {
    validate(&pod["metadata"]["annotations"], &pod["spec"], &ANNOTATIONS)
}

/// `GetDeletionCostFromPodAnnotations`.
fn is_cost(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits == "0" || !digits.starts_with(['0', '+']);
    plain && text != "-0" && text.parse::<i32>().is_ok()
}

/// Checks what an update does to annotations that stay as they are.
pub(super) fn validate_change(pod: &Value, live: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (now, before) = (
        &pod["metadata"]["annotations"],
        &live["metadata"]["annotations"],
    );
    let known = [
        (APP_ARMOR, "AppArmor annotations"),
        (MIRROR, "mirror pod annotation"),
    ];
    let kind_of = |name: &str| {
        let found = known.iter().find(|(kind, _)| match *kind {
            APP_ARMOR => name.starts_with(APP_ARMOR),
            kind => name == kind,
        });
        found.map(|(_, what)| *what)
    };
    for (name, value) in before.as_object().into_iter().flatten() {
        if let Some(what) = kind_of(name)
            && now.get(name) != Some(value)
        {
            let detail = format!("may not remove or update {what}");
            errors.push(FieldError::forbidden(field(name), detail));
        }
    }
    for (name, _) in now.as_object().into_iter().flatten() {
        if let Some(what) = kind_of(name)
            && before.get(name).is_none()
        {
            errors.push(FieldError::forbidden(
                field(name),
                format!("may not add {what}"),
            ));
        }
    }
    errors.extend(of_pod(pod));
    errors
}

fn field(annotation: &str) -> ErrorPath<'_> {
    ANNOTATIONS.key(annotation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(annotations: Value) -> Value {
        json!({"metadata": {"annotations": annotations}, "spec": {}})
    }

    #[test]
    fn the_cost_of_a_deletion_is_a_number_as_go_writes_it() {
        for (cost, fine) in [
            ("0", true),
            ("-10", true),
            ("2147483648", false),
            ("+1", false),
            ("01", false),
            ("", false),
        ] {
            assert_eq!(is_cost(cost), fine, "{cost}");
            assert_eq!(of_pod(&pod(json!({DELETION_COST: cost}))).is_empty(), fine);
        }
    }

    #[test]
    fn what_a_kubelet_set_stays() {
        let (with, without) = (pod(json!({MIRROR: "a"})), pod(json!({})));
        let texts = |pod, live| -> Vec<String> {
            let errors = validate_change(pod, live);
            errors.iter().map(ToString::to_string).collect()
        };
        assert_eq!(
            texts(&without, &with),
            [
                "metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not remove or \
                 update mirror pod annotation"
            ]
        );
        assert_eq!(texts(&with, &without).len(), 2);
    }
}
