//! The status that a kubelet writes for a pod that is ready (`pkg/kubelet/status`,
//! `pkg/kubelet/kubelet_pods.go`, v1.36).

use http::Method;
use optimist_apiserver::object::{Metadata, text};
use serde_json::{Value, json};

use crate::requests::{ApiAccess, list, send};

const KUBELET: &str = "kubelet/v1.36.3";
/// The conditions of a pod, in the order in which a kubelet writes them.
const CONDITIONS: [&str; 5] = [
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
];

/// Looks at each pod once.
pub(crate) fn look(access: &mut ApiAccess<'_>) {
    for pod in list(access, "/api/v1/pods") {
        let path = format!("/api/v1/namespaces/{}/pods/{}", pod.namespace(), pod.name());
        if !pod.meta_text("deletionTimestamp").is_empty() {
            let options = json!({"apiVersion": "v1", "kind": "DeleteOptions",
                "gracePeriodSeconds": 0, "preconditions": {"uid": pod.uid()}});
            send(access, KUBELET, Method::DELETE, &path, &options);
        } else if matches!(text(&pod["status"], "phase"), "" | "Pending") && !is_gated(&pod) {
            let now = access.server.environment().now().to_string();
            let patch = json!({"metadata": {"uid": pod.uid()}, "status": ready(&pod, &now)});
            let path = format!("{path}/status");
            send(access, KUBELET, Method::PATCH, &path, &patch);
        }
    }
}

/// Returns whether the pod says that it must not be scheduled yet.
fn is_gated(pod: &Value) -> bool {
    let gates = pod["spec"]["schedulingGates"].as_array();
    gates.is_some_and(|gates| !gates.is_empty())
}

/// The status of a pod whose containers run. Conditions that others wrote stay.
fn ready(pod: &Value, now: &str) -> Value {
    let before = pod["status"]["conditions"].as_array();
    let others = before
        .into_iter()
        .flatten()
        .filter(|it| !CONDITIONS.contains(&text(it, "type")))
        .cloned();
    // Pods count their changes since v1.35 (`CalculatePodConditionObservedGeneration` of `pkg/api/v1/pod`).
    let generation = pod.generation();
    let own = CONDITIONS.iter().map(|kind| {
        json!({"type": kind, "observedGeneration": generation, "status": "True",
            "lastProbeTime": null, "lastTransitionTime": now})
    });
    let conditions: Vec<Value> = own.chain(others).collect();
    let containers = pod["spec"]["containers"].as_array();
    let running = containers.into_iter().flatten().map(|container| {
        json!({"name": container["name"], "image": container["image"], "imageID": "",
            "ready": true, "started": true, "restartCount": 0, "state": {"running": {"startedAt": now}}})
    });
    json!({"observedGeneration": generation, "phase": "Running", "startTime": now, "conditions": conditions,
        "containerStatuses": running.collect::<Value>()})
}
