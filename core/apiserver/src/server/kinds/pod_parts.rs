//! The subresources that write a part of a pod: `resize` and `ephemeralcontainers`
//! (`podResizeStrategy` and `podEphemeralContainersStrategy` of `pkg/registry/core/pod/strategy.go`,
//! `ValidatePodResize` and `ValidatePodEphemeralContainersUpdate` of `pkg/apis/core/validation`).

use serde_json::{Value, json};

use super::label_selector::list;
use super::{StatusRules, difference, internal, metadata, pod, pod_annotations, pod_disabled};
use crate::field::ErrorPath;
use crate::object::{JsonMap, Metadata, text};
use crate::schema::Quantity;
use crate::status::FieldError;

/// The subresource through which containers for looking at a pod are written.
pub(super) const EPHEMERAL: &str = "ephemeralcontainers";

/// The subresources, and their rules.
pub(super) const RULES: &[(&str, StatusRules)] = &[
    (
        "resize",
        StatusRules {
            prepare: |pod, live| {
                keep_all_but_resources(pod, live);
                pod_disabled::drop_from_pod(pod, Some(live));
            },
            validate: resize,
        },
    ),
    (
        EPHEMERAL,
        StatusRules {
            prepare: |pod, live| {
                keep_all_but_ephemeral(pod, live);
                pod_disabled::drop_from_pod(pod, Some(live));
            },
            validate: ephemeral,
        },
    ),
];

const MIRROR: &str = "kubernetes.io/config.mirror";
const KINDS: [&str; 2] = ["containers", "initContainers"];

/// Restores the metadata that only the main resource writes (`metav1.ResetObjectMetaForStatus`).
pub(super) fn keep_metadata(pod: &mut Value, live: &Value) {
    for field in [
        "deletionTimestamp",
        "labels",
        "annotations",
        "finalizers",
        "ownerReferences",
    ] {
        let kept = live.metadata().and_then(|meta| meta.get(field));
        pod.set_meta(field, kept.cloned().unwrap_or(Value::Null));
    }
}

/// Restores a field of an object.
fn keep(object: &mut Value, live: &Value, field: &str) {
    match live.get(field) {
        Some(value) => object[field] = value.clone(),
        None => {
            if let Value::Object(map) = object {
                map.remove(field);
            }
        }
    }
}

fn keep_all_but_ephemeral(pod: &mut Value, live: &Value) {
    let containers = pod["spec"]["ephemeralContainers"].take();
    keep(pod, live, "spec");
    keep(pod, live, "status");
    keep_metadata(pod, live);
    if containers.as_array().is_some_and(|all| !all.is_empty()) {
        pod["spec"]["ephemeralContainers"] = containers;
    } else if let Value::Object(spec) = &mut pod["spec"] {
        spec.remove("ephemeralContainers");
    }
}

/// Containers may not come, go or change places: such an object stays as it is, to be refused.
fn keep_all_but_resources(pod: &mut Value, live: &Value) {
    let length = |pod: &Value, kind: &str| list(&pod["spec"], kind).len();
    if KINDS
        .iter()
        .any(|kind| length(pod, kind) != length(live, kind))
    {
        return;
    }
    let mut wanted = pod["spec"].take();
    keep(pod, live, "spec");
    keep(pod, live, "status");
    keep_metadata(pod, live);
    for kind in KINDS {
        if list(&wanted, kind).is_empty() {
            continue;
        }
        let renamed = list(&wanted, kind)
            .iter()
            .zip(list(&live["spec"], kind))
            .any(|(new, old)| new["name"] != old["name"]);
        if renamed {
            pod["spec"][kind] = wanted[kind].take();
            continue;
        }
        for (i, container) in list(&wanted, kind).iter().enumerate() {
            for field in ["resources", "resizePolicy"] {
                keep(&mut pod["spec"][kind][i], container, field);
            }
        }
    }
}

fn ephemeral(pod: &Value, live: &Value) -> Vec<FieldError> {
    let mut errors = metadata::builtin_update(pod, live);
    errors.extend(pod::metadata_and_spec(pod));
    errors.extend(pod_annotations::validate_change(pod, live));
    if live["metadata"]["annotations"].get(MIRROR).is_some() {
        let detail = "static pods do not support ephemeral containers";
        return vec![FieldError::forbidden("[]", detail)];
    }
    let field = "spec.ephemeralContainers";
    let now = list(&pod["spec"], "ephemeralContainers");
    for old in list(&live["spec"], "ephemeralContainers") {
        let name = text(old, "name");
        match now.iter().find(|new| text(new, "name") == name) {
            None => {
                let detail = format!("existing ephemeral containers {name:?} may not be removed\n");
                errors.push(FieldError::forbidden(field, detail));
            }
            Some(new) if new != old => {
                let shown = |one| internal::pretty(pod, "spec.ephemeralContainers[0]", one);
                let change = difference::unified(&shown(old), &shown(new));
                let detail =
                    format!("existing ephemeral containers {name:?} may not be changed\n{change}");
                errors.push(FieldError::forbidden(field, detail));
            }
            Some(_) => {}
        }
    }
    errors
}

/// Returns the reason why a pod cannot be resized at all.
fn unsizable(live: &Value) -> Option<&'static str> {
    if live["metadata"]["annotations"].get(MIRROR).is_some() {
        Some("static pods cannot be resized")
    } else if live["spec"]["os"]["name"] == "windows" {
        Some("windows pods cannot be resized")
    } else {
        None
    }
}

fn resize(pod: &Value, live: &Value) -> Vec<FieldError> {
    let mut errors = metadata::builtin_update(pod, live);
    errors.extend(pod::metadata_and_spec(pod));
    if let Some(why) = unsizable(live) {
        return vec![FieldError::forbidden("[]", why)];
    }
    let class = pod::quality_of_service(pod);
    if text(&live["status"], "qosClass") != class {
        let detail = "Pod QOS Class may not change as a result of resizing";
        let shown = &pod["status"]["qosClass"];
        errors.push(FieldError::invalid("spec", shown, detail));
    }
    if !node_resizes(live) {
        let detail = "Pod running on node without support for resize";
        errors.push(FieldError::forbidden("spec", detail));
    }
    errors.extend(of_whole_pod(pod, live));
    let order = out_of_order(pod, live);
    if !order.is_empty() {
        errors.extend(order);
        return errors;
    }
    let is_sidecar = |container: &Value| text(container, "restartPolicy") == "Always";
    for (kind, i, new, old) in pairs(pod, live, ["initContainers", "containers"]) {
        errors.extend(removed(kind, i, new, old));
    }
    // Containers that run before the others can be resized since v1.36
    // (`InPlacePodVerticalScalingInitContainers`).
    let spec = ErrorPath::new("spec");
    for (kind, i, new, old) in pairs(pod, live, KINDS) {
        let differs = without_compute(new, old) != *old;
        if kind == "containers" {
            if differs {
                let detail = "only cpu and memory resources are mutable";
                errors.push(FieldError::forbidden("spec", detail));
            }
            continue;
        }
        let field = spec.item(kind, i);
        if differs {
            let detail = "only cpu and memory resources for init or sidecar containers are mutable";
            errors.push(FieldError::forbidden(field, detail));
        }
        let policies = list(new, "resizePolicy").iter();
        let restarts = policies.filter(|it| text(it, "restartPolicy") == "RestartContainer");
        for _ in restarts.filter(|_| new != old && !is_sidecar(new)) {
            let detail = "non-sidecar init containers with a resize policy of RestartContainer \
                 cannot be resized";
            errors.push(FieldError::forbidden(field, detail));
        }
    }
    errors
}

/// `validatePodLevelResourcesResize`.
fn of_whole_pod(pod: &Value, live: &Value) -> Vec<FieldError> {
    let (new, old) = (&pod["spec"]["resources"], &live["spec"]["resources"]);
    let spec = ErrorPath::new("spec");
    let path = spec.child("resources");
    let mut errors = Vec::new();
    if new == old {
        return errors;
    }
    if new.is_null() {
        let detail = "pod-level resources cannot be removed";
        return vec![FieldError::forbidden(path, detail)];
    }
    for name in ["requests", "limits"] {
        let before = old[name].as_object().into_iter().flatten();
        if before
            .into_iter()
            .any(|(key, _)| new[name].get(key).is_none())
        {
            let detail = format!("pod-level resource {name} cannot be removed");
            errors.push(FieldError::forbidden(path.child(name), detail));
        }
    }
    let rest = |resources: &Value| {
        let mut rest = resources.clone();
        for name in ["requests", "limits"] {
            if let Some(Value::Object(amounts)) = rest.get_mut(name) {
                amounts.retain(|key, _| key != "cpu" && key != "memory");
            }
            if let Value::Object(members) = &mut rest
                && members.get(name).is_some_and(|it| it == &json!({}))
            {
                members.remove(name);
            }
        }
        if rest.is_null() { json!({}) } else { rest }
    };
    if rest(new) != rest(old) {
        let detail = "only cpu and memory resources are mutable at pod-level";
        errors.push(FieldError::forbidden("spec", detail));
    }
    errors
}

/// Containers by kind and place, as they are wanted and as they are.
fn pairs<'a>(
    pod: &'a Value,
    live: &'a Value,
    kinds: [&'static str; 2],
) -> impl Iterator<Item = (&'static str, usize, &'a Value, &'a Value)> {
    kinds.into_iter().flat_map(move |kind| {
        let both = list(&pod["spec"], kind)
            .iter()
            .zip(list(&live["spec"], kind));
        both.enumerate()
            .map(move |(i, (new, old))| (kind, i, new, old))
    })
}

/// Returns whether the node of a pod can resize it: such a node reports the resources of a running
/// container.
fn node_resizes(live: &Value) -> bool {
    let mut running = list(&live["status"], "containerStatuses")
        .iter()
        .filter(|status| status["state"].get("running").is_some());
    running
        .next()
        .is_none_or(|status| status.get("resources").is_some())
}

fn out_of_order(pod: &Value, live: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let spec = ErrorPath::new("spec");
    for kind in KINDS {
        let (new, old) = (list(&pod["spec"], kind), list(&live["spec"], kind));
        if new.len() != old.len() {
            let detail = format!("{kind} may not be added or removed on resize");
            errors.push(FieldError::forbidden(spec.child(kind), detail));
            continue;
        }
        for (i, (new, old)) in new.iter().zip(old).enumerate() {
            if new["name"] != old["name"] {
                let detail = format!("{kind} may not be renamed or reordered on resize");
                let container = spec.item(kind, i);
                errors.push(FieldError::forbidden(container.child("name"), detail));
            }
        }
    }
    errors
}

/// Refuses removed resources of a container: their amounts may change, but they may not go.
fn removed(kind: &str, i: usize, new: &Value, old: &Value) -> Vec<FieldError> {
    let spec = ErrorPath::new("spec");
    let container = spec.item(kind, i);
    let path = container.child("resources");
    let mut errors = Vec::new();
    for (name, what) in [
        ("requests", "resource requests"),
        ("limits", "resource limits"),
    ] {
        let amounts = |container: &Value| container["resources"][name].as_object().cloned();
        let (new, old) = (
            amounts(new).unwrap_or_default(),
            amounts(old).unwrap_or_default(),
        );
        if old.keys().any(|resource| !new.contains_key(resource)) {
            let detail = format!("{what} cannot be removed");
            errors.push(FieldError::forbidden(path.child(name), detail));
        }
    }
    errors
}

/// A container with the processor time and the memory that it has, and without the devices that it
/// claims (`dropCPUMemoryResourcesFromContainer`): such a container always differs.
fn without_compute(container: &Value, old: &Value) -> Value {
    let mut resources = json!({});
    for name in ["limits", "requests"] {
        let before = &old["resources"][name];
        let mut amounts = container["resources"][name].clone();
        if amounts.is_null() {
            amounts = json!({});
        }
        for resource in ["cpu", "memory"] {
            keep(&mut amounts, before, resource);
        }
        let Value::Object(amounts) = amounts else {
            continue;
        };
        // Amounts are compared, and not how they are written.
        let amounts = amounts.into_iter().map(|(resource, amount)| {
            let old = before.get(&resource);
            let same = old.filter(|old| Quantity::from(*old) == Quantity::from(&amount));
            let amount = same.cloned().unwrap_or(amount);
            (resource, amount)
        });
        let amounts: JsonMap = amounts.collect();
        if !amounts.is_empty() || !before.is_null() {
            resources[name] = amounts.into();
        }
    }
    let mut container = container.clone();
    container["resources"] = resources;
    container
}
