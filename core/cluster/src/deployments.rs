//! The status that the deployment controller writes for a Deployment whose pods are all ready
//! (`pkg/controller/deployment/sync.go`, `calculateStatus`; `progress.go`, `syncRolloutStatus`;
//! v1.36).

use http::Method;
use optimist_apiserver::object::{Metadata, text};
use serde_json::{Value, json};

use crate::requests::{ApiAccess, MANAGER, list, send};

/// Looks at each Deployment once. A paused one is left as it is.
pub(crate) fn look(access: &mut ApiAccess<'_>) {
    for deployment in list(access, "/apis/apps/v1/deployments") {
        if is_current(&deployment) || deployment["spec"]["paused"] == true {
            continue;
        }
        let (namespace, name) = (deployment.namespace(), deployment.name());
        let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}/status");
        let now = access.server.environment().now().to_string();
        let status = ready(&deployment, &now);
        let patch = json!({"metadata": {"uid": deployment.uid()}, "status": status});
        send(access, MANAGER, Method::PATCH, &path, &patch);
    }
}

/// Returns whether the status is about this generation, and all replicas are ready.
fn is_current(deployment: &Value) -> bool {
    let status = &deployment["status"];
    let ready = status["availableReplicas"].as_i64().unwrap_or(0);
    status["observedGeneration"].as_i64() == Some(deployment.generation())
        && ready == replicas(deployment)
}

fn replicas(deployment: &Value) -> i64 {
    deployment["spec"]["replicas"].as_i64().unwrap_or(1)
}

/// Returns whether a rollout has a time by which it must progress (`HasProgressDeadline`).
fn has_deadline(deployment: &Value) -> bool {
    let seconds = deployment["spec"]["progressDeadlineSeconds"].as_i64();
    seconds.is_some_and(|seconds| seconds != i64::from(i32::MAX))
}

/// Makes the status of a deployment whose replicas are all ready. A condition that has the same status and
/// reason already stays as it is (`SetDeploymentCondition` of `pkg/controller/deployment/util`).
fn ready(deployment: &Value, now: &str) -> Value {
    // Counts of zero are not written, and null takes away those that were.
    let count = match replicas(deployment) {
        0 => Value::Null,
        count => count.into(),
    };
    let name = deployment.name();
    let own = [
        (
            "Available",
            "MinimumReplicasAvailable",
            "Deployment has minimum availability.".to_owned(),
        ),
        (
            "Progressing",
            "NewReplicaSetAvailable",
            format!("Deployment \"{name}\" has successfully progressed."),
        ),
    ];
    let before = deployment["status"]["conditions"].as_array();
    let mut conditions: Vec<Value> = before.cloned().unwrap_or_default();
    for (kind, reason, message) in own {
        let old = conditions.iter().position(|it| text(it, "type") == kind);
        if kind == "Progressing" && !has_deadline(deployment) {
            old.map(|position| conditions.remove(position));
            continue;
        }
        let is_true = |condition: &Value| text(condition, "status") == "True";
        let same = |condition: &&Value| is_true(condition) && text(condition, "reason") == reason;
        if old
            .and_then(|position| conditions.get(position))
            .is_some_and(|it| same(&it))
        {
            continue;
        }
        let old = old.map(|position| conditions.remove(position));
        // A condition that is true already was not made true now.
        let since = old.filter(is_true);
        let since = since.map_or_else(|| now.into(), |it| it["lastTransitionTime"].clone());
        conditions.push(json!({"type": kind, "status": "True", "reason": reason,
            "message": message, "lastUpdateTime": now, "lastTransitionTime": since}));
    }
    json!({"observedGeneration": deployment.generation(), "replicas": count,
        "updatedReplicas": count, "readyReplicas": count, "availableReplicas": count,
        "unavailableReplicas": null, "conditions": conditions})
}
