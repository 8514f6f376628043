//! Checks of controllers of pods besides their rows in `kinds.checks` (`pkg/apis/apps/validation`,
//! and `pkg/apis/core/validation` for ReplicationController).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::checks::{Checked, FieldCheck};
use super::deployment::{amount, at_most_all, share};
use super::{internal, label_selector, pod_template};
use crate::field::ErrorPath;
use crate::object::{Metadata, text};
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("selected_pods", |spec, errors| {
        errors.extend(selected_pods(spec.value, spec.path));
    }),
    ("pod_template", |template, errors| {
        errors.extend(pod_template::validate(template.value, template.path));
    }),
    ("revision_data", revision_data),
    ("pods_of_daemon_set", pods_of_daemon_set),
    ("daemon_set_strategy", daemon_set_strategy),
    ("pods_of_labels", pods_of_labels),
    ("replicas_of_status", replicas_of_status),
    ("same_selector", same_selector),
    ("pod_management", pod_management),
    ("stateful_set_strategy", stateful_set_strategy),
    ("pods_of_stateful_set", pods_of_stateful_set),
    ("stateful_set_spec_kept", stateful_set_spec_kept),
    ("stateful_replicas", stateful_replicas),
];

/// A revision of a controller is made with an object (`ValidateControllerRevisionCreate`).
fn revision_data(data: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let detail = match data.value {
        Value::Object(_) => return,
        Value::Null => "data is mandatory",
        _ => "data must be a valid JSON object",
    };
    errors.push(FieldError::required(data.path, detail));
}

const MISMATCH: &str = "`selector` does not match template `labels`";

/// A selector, and the template of the pods that it selects (`ValidateReplicaSetSpec`,
/// `ValidateDeploymentSpec`).
pub(super) fn selected_pods(spec: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (selector, template) = (&spec["selector"], &spec["template"]);
    let field = path.child("selector").to_string();
    if selector.is_null() {
        errors.push(FieldError::required(field.clone(), ""));
    } else {
        errors.extend(label_selector::validate(selector, &path.child("selector")));
        if label_selector::is_empty(selector) {
            let detail = "empty selector is invalid for deployment";
            errors.push(label_selector::invalid(&field, selector, detail));
        }
    }
    if !label_selector::is_sound(selector) {
        let detail = "invalid label selector";
        errors.push(label_selector::invalid(&field, selector, detail));
        return errors;
    }
    let path = path.child("template");
    if !label_selector::is_empty(selector) && !label_selector::matches(selector, template) {
        errors.push(wrong_labels(template, &path));
    }
    errors.extend(pod_template::validate(template, &path));
    errors.extend(runs_forever(
        &template["spec"],
        &path.child("spec"),
        "ReplicaSet",
    ));
    errors
}

fn wrong_labels(template: &Value, path: &ErrorPath<'_>) -> FieldError {
    let labels = &template["metadata"]["labels"];
    FieldError::invalid(path.child("metadata.labels"), labels, MISMATCH)
}

/// Pods that a controller replaces never end by themselves (`ValidatePodTemplateSpecForReplicaSet`).
fn runs_forever(spec: &Value, path: &ErrorPath<'_>, kind: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if text(spec, "restartPolicy") != "Always" {
        let value = text(spec, "restartPolicy").into();
        let field = path.child("restartPolicy");
        errors.push(FieldError::not_supported(field, &value, &["Always"]));
    }
    if spec.get("activeDeadlineSeconds").is_some() {
        let detail = format!("activeDeadlineSeconds in {kind} is not Supported");
        errors.push(FieldError::forbidden(
            path.child("activeDeadlineSeconds"),
            detail,
        ));
    }
    errors
}

/// `ValidateDaemonSetSpec`, up to its template.
fn pods_of_daemon_set(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let (selector, template) = (&spec.value["selector"], &spec.value["template"]);
    let field = spec.path.child("selector");
    let path = spec.path.child("template");
    errors.extend(label_selector::validate(selector, &field));
    if label_selector::is_sound(selector) && !label_selector::matches(selector, template) {
        errors.push(wrong_labels(template, &path));
    }
    if label_selector::is_empty(selector) {
        let detail = "empty selector is invalid for daemonset";
        errors.push(label_selector::invalid(
            &field.to_string(),
            selector,
            detail,
        ));
    }
    errors.extend(pod_template::validate(template, &path));
    errors.extend(runs_forever(
        &template["spec"],
        &path.child("spec"),
        "DaemonSet",
    ));
}

/// `ValidateDaemonSetUpdateStrategy`.
fn daemon_set_strategy(strategy: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let path = strategy.path.child("rollingUpdate");
    match (
        text(strategy.value, "type"),
        strategy.value.get("rollingUpdate"),
    ) {
        ("OnDelete", _) => {}
        ("RollingUpdate", None) => errors.push(FieldError::required(path, "")),
        ("RollingUpdate", Some(rolling)) => {
            let (unavailable, surge) = (&rolling["maxUnavailable"], &rolling["maxSurge"]);
            let (field, surge_field) = (path.child("maxUnavailable"), path.child("maxSurge"));
            errors.extend(share(unavailable, &field));
            errors.extend(share(surge, &surge_field));
            errors.extend(at_most_all(unavailable, &field));
            errors.extend(at_most_all(surge, &surge_field));
            match (amount(unavailable) != 0, amount(surge) != 0) {
                (true, true) => {
                    let detail = "may not be set when maxUnavailable is non-zero";
                    errors.push(FieldError::invalid(surge_field, surge, detail));
                }
                (false, false) => {
                    let detail = "cannot be 0 when maxSurge is 0";
                    errors.push(FieldError::required(field, detail));
                }
                _ => {}
            }
        }
        (other, _) => {
            let supported = ["RollingUpdate", "OnDelete"];
            let error = FieldError::not_supported(strategy.path, &other.into(), &supported);
            let shown = internal::field(strategy.object, strategy.path, strategy.value);
            errors.push(error.shown_as(shown));
        }
    }
}

/// The selector of a ReplicationController is a map of labels
/// (`ValidateReplicationControllerSpec`).
fn pods_of_labels(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let selector = spec.value["selector"]
        .as_object()
        .filter(|labels| !labels.is_empty());
    if selector.is_none() {
        errors.push(FieldError::required(spec.path.child("selector"), ""));
    }
    spec.child("replicas", |replicas| {
        if let Some(number) = replicas.value.as_i64().filter(|number| *number < 0) {
            errors.push(super::metadata::negative(replicas.path, number));
        }
    });
    let path = spec.path.child("template");
    let Some(template) = spec.value.get("template") else {
        errors.push(FieldError::required(path, ""));
        return;
    };
    let labels = &template["metadata"]["labels"];
    let mut wanted = selector.into_iter().flatten();
    if !wanted.all(|(key, value)| labels.get(key) == Some(value)) {
        errors.push(wrong_labels(template, &path));
    }
    errors.extend(pod_template::validate(template, &path));
    let kind = "ReplicationController";
    errors.extend(runs_forever(&template["spec"], &path.child("spec"), kind));
}

/// Some replicas are not more than all (`ValidateReplicaSetStatus`).
fn replicas_of_status(status: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let limits = [
        ("fullyLabeledReplicas", "replicas", "status.replicas"),
        ("readyReplicas", "replicas", "status.replicas"),
        ("availableReplicas", "replicas", "status.replicas"),
        ("availableReplicas", "readyReplicas", "readyReplicas"),
    ];
    not_more(status, &limits, errors);
}

/// `ValidateStatefulSetStatus`.
fn stateful_replicas(status: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let limits = [
        ("readyReplicas", "replicas", "status.replicas"),
        ("currentReplicas", "replicas", "status.replicas"),
        ("updatedReplicas", "replicas", "status.replicas"),
        ("availableReplicas", "replicas", "status.replicas"),
        ("availableReplicas", "readyReplicas", "status.readyReplicas"),
    ];
    not_more(status, &limits, errors);
}

/// A field, the field that it is not above, and how the message names that.
type Limit = (&'static str, &'static str, &'static str);

fn not_more(status: &Checked<'_>, limits: &[Limit], errors: &mut Vec<FieldError>) {
    let count = |field: &str| status.value[field].as_i64().unwrap_or(0);
    for (field, most, what) in limits {
        if count(field) > count(most) {
            let detail = format!("cannot be greater than {what}");
            let path = status.path.child(field);
            errors.push(FieldError::invalid(path, &count(field).into(), detail));
        }
    }
}

/// The selector of an object stays. The message shows it as Go writes it.
fn same_selector(selector: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if selector
        .before()
        .is_some_and(|before| before != selector.value)
    {
        let field = selector.path.to_string();
        let detail = super::metadata::IMMUTABLE;
        errors.push(label_selector::invalid(&field, selector.value, detail));
    }
}

fn pod_management(policy: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if !matches!(policy.value.as_str(), Some("OrderedReady" | "Parallel")) {
        let detail = "must be 'OrderedReady' or 'Parallel'";
        errors.push(FieldError::invalid(policy.path, policy.value, detail));
    }
}

/// The strategy of `ValidateStatefulSetSpec`.
fn stateful_set_strategy(strategy: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let shown = |path: &ErrorPath<'_>, value: &Value, detail: &str| {
        let shown = internal::field(strategy.object, path, value);
        FieldError::invalid(path, value, detail).shown_as(shown)
    };
    let path = strategy.path.child("rollingUpdate");
    match (
        text(strategy.value, "type"),
        strategy.value.get("rollingUpdate"),
    ) {
        ("", _) => errors.push(FieldError::required(strategy.path, "")),
        ("OnDelete", Some(rolling)) => {
            let detail = "only allowed for updateStrategy 'RollingUpdate'";
            errors.push(shown(&path, rolling, detail));
        }
        ("OnDelete", None) | ("RollingUpdate", None) => {}
        ("RollingUpdate", Some(rolling)) => {
            if let Some(number) = rolling["partition"].as_i64().filter(|number| *number < 0) {
                errors.push(super::metadata::negative(path.child("partition"), number));
            }
        }
        _ => {
            let detail = "must be 'RollingUpdate' or 'OnDelete'";
            errors.push(shown(strategy.path, strategy.value, detail));
        }
    }
}

/// The pods of `ValidateStatefulSetSpec`.
fn pods_of_stateful_set(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let (selector, template) = (&spec.value["selector"], &spec.value["template"]);
    let (field, path) = (spec.path.child("selector"), spec.path.child("template"));
    if selector.is_null() {
        errors.push(FieldError::required(field, ""));
    } else {
        errors.extend(label_selector::validate(selector, &field));
        if label_selector::is_empty(selector) {
            let detail = "empty selector is invalid for statefulset";
            let field = field.to_string();
            errors.push(label_selector::invalid(&field, selector, detail));
        }
    }
    if !label_selector::is_sound(selector) {
        let field = field.to_string();
        errors.push(label_selector::invalid(&field, selector, ""));
    } else {
        if !label_selector::is_empty(selector) && !label_selector::matches(selector, template) {
            errors.push(wrong_labels(template, &path));
        }
        let claims = label_selector::list(spec.value, "volumeClaimTemplates");
        let whole = as_of_a_pod(template, claims);
        errors.extend(pod_template::validate(&whole, &path));
        // Upstream looks at the metadata of this template twice.
        errors.extend(pod_template::metadata_errors(&whole, &path));
    }
    let pods = &template["spec"];
    errors.extend(runs_forever(pods, &path.child("spec"), "StatefulSet"));
}

/// The template as the controller uses it: it names each pod itself, and each template of a claim is
/// a volume, in the place of a volume of that name.
fn as_of_a_pod(template: &Value, claims: &[Value]) -> Value {
    let mut template = template.clone();
    let Some(spec) = template["spec"].as_object_mut() else {
        return template;
    };
    spec.remove("subdomain");
    spec.remove("hostname");
    if claims.is_empty() {
        return template;
    }
    let names: BTreeSet<&str> = claims.iter().map(|claim| claim.name()).collect();
    let of_claims = names
        .iter()
        .map(|name| json!({"name": name, "persistentVolumeClaim": {"claimName": name}}));
    let mut volumes: Vec<Value> = of_claims.collect();
    if let Some(Value::Array(own)) = spec.remove("volumes") {
        let others = own.into_iter();
        volumes.extend(others.filter(|volume| !names.contains(text(volume, "name"))));
    }
    spec.insert("volumes".to_owned(), volumes.into());
    template
}

/// `ValidateStatefulSetUpdate`: most of the spec stays.
fn stateful_set_spec_kept(set: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const MUTABLE: [&str; 7] = [
        "replicas",
        "ordinals",
        "template",
        "updateStrategy",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
        "minReadySeconds",
    ];
    let kept = |object: &Value| {
        let mut spec = object["spec"].as_object().cloned().unwrap_or_default();
        spec.retain(|name, _| !MUTABLE.contains(&name.as_str()));
        spec
    };
    if set.live.is_some_and(|live| kept(live) != kept(set.object)) {
        let detail = "updates to statefulset spec for fields other than 'replicas', 'ordinals', \
             'template', 'updateStrategy', 'revisionHistoryLimit', \
             'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
        errors.push(FieldError::forbidden("spec", detail));
    }
}
