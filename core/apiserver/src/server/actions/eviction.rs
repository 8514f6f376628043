//! Eviction: a deletion that budgets must allow (`pkg/registry/core/pod/storage/eviction.go`).

use std::sync::Arc;

use http::{Request, header};
use serde_json::{Value, json};

use super::done;
use crate::object::{GroupName, Metadata, text};
use crate::server::kinds::label_selector;
use crate::server::kinds::pod_status::set_condition;
use crate::server::{ApiServer, RequestInfo, Trace};
use crate::status::{Cause, FieldError, Refusal, Status};

/// The name under which the server writes the status of a budget.
const ITSELF: &str = "kube-apiserver/v1.36";
/// The most pods of a budget whose deletion its controller has not seen.
const MOST_DISRUPTED: usize = 2000;
/// The option for objects that the storage cannot read.
const IGNORE_READ_ERRORS: &str = "ignoreStoreReadErrorWithClusterBreakingPotential";

pub(super) fn evict(
    server: &mut ApiServer,
    info: &RequestInfo,
    mut eviction: Value,
    trace: &mut Trace,
) -> Result<Value, Refusal> {
    let name = info.name.as_str();
    if eviction.name() != name {
        let why = "name in URL does not match name in Eviction object";
        return Err(Status::bad_request(why));
    }
    let mut options = match eviction["deleteOptions"].take() {
        Value::Null => json!({}),
        options => options,
    };
    if options[IGNORE_READ_ERRORS] == true {
        let field = format!("deleteOptions.{IGNORE_READ_ERRORS}");
        let detail = "can not be set for pod eviction, try after removing the option";
        let error = FieldError::invalid(field, &true.into(), detail);
        return Err(Status::invalid(&info.resource.group_kind(), name, &[error]));
    }
    options["kind"] = "DeleteOptions".into();
    options["apiVersion"] = "v1".into();
    if info.options.dry_run && options.get("dryRun").is_none() {
        options["dryRun"] = json!(["All"]);
    }
    let dry = options.get("dryRun").is_some();
    let namespace = info.namespace.as_str();
    let key = format!("/registry/pods/{namespace}/{name}");
    let found = server.store.get(&key);
    let pod = found.map(|(_, pod)| Arc::clone(pod));
    let pod = pod.ok_or_else(|| Status::not_found(&GroupName::new("", "pods"), name))?;
    let phase = text(&pod["status"], "phase");
    let ends = matches!(phase, "Succeeded" | "Failed" | "Pending");
    if !ends && pod.meta_text("deletionTimestamp").is_empty() {
        ask_budget(server, &pod, dry)?;
    }
    let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
    let (deletion, bytes) = server.inner_request("DELETE", &path, &options)?;
    let now = server.environment.now().to_string();
    server.delete_after(&deletion, &bytes, trace, |pod| {
        let condition = json!({
            "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
            "message": "Eviction API: evicting",
        });
        set_condition(pod, condition, &now);
    })?;
    Ok(done())
}

/// Asks the budget of a running pod, and takes one disruption from it.
fn ask_budget(server: &mut ApiServer, pod: &Value, dry: bool) -> Result<(), Refusal> {
    let prefix = format!("/registry/poddisruptionbudgets/{}/", pod.namespace());
    let budgets: Vec<Arc<Value>> = server
        .store
        .range(&prefix)
        .map(|(_, _, budget)| Arc::clone(budget))
        .filter(|budget| {
            let selector = &budget["spec"]["selector"];
            label_selector::is_sound(selector) && label_selector::matches(selector, pod)
        })
        .collect();
    let budget = match budgets.as_slice() {
        [] => return Ok(()),
        [budget] => budget,
        _ => {
            let why = "This pod has more than one PodDisruptionBudget, which the eviction \
                 subresource does not support.";
            return Err(Status::internal(why));
        }
    };
    let conditions = pod["status"]["conditions"].as_array();
    let ready = conditions
        .into_iter()
        .flatten()
        .any(|condition| condition["type"] == "Ready" && condition["status"] == "True");
    let status = &budget["status"];
    let number = |field: &str| status[field].as_i64().unwrap_or(0);
    let (healthy, desired) = (number("currentHealthy"), number("desiredHealthy"));
    let always = budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow";
    if !ready && (always || healthy >= desired && desired > 0) {
        return Ok(());
    }
    let name = budget.name();
    if number("observedGeneration") < budget.generation() {
        let why = format!("The disruption budget {name} is still being processed by the server.");
        return Err(too_many(why, 10));
    }
    let resource = GroupName::new("policy", "poddisruptionbudget");
    let disrupted = status["disruptedPods"].as_object();
    if number("disruptionsAllowed") < 0 {
        let why = "pdb disruptions allowed is negative";
        return Err(Status::forbidden(&resource, name, why));
    }
    if disrupted.is_some_and(|pods| pods.len() > MOST_DISRUPTED) {
        let why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller";
        return Err(Status::forbidden(&resource, name, why));
    }
    if number("disruptionsAllowed") == 0 {
        return Err(too_many(why_none(budget, healthy, desired), 0));
    }
    if dry {
        return Ok(());
    }
    take_one(server, budget, pod.name())
}

fn too_many(why: String, seconds: u32) -> Refusal {
    let status = Status::too_many_requests(
        "Cannot evict pod as it would violate the pod's disruption budget.",
        seconds,
    );
    status.with_cause(Cause {
        reason: "DisruptionBudget",
        message: why,
        field: String::new(),
    })
}

/// Says why a budget allows no disruption (`checkAndDecrement`).
fn why_none(budget: &Value, healthy: i64, desired: i64) -> String {
    let name = budget.name();
    let start = format!("The disruption budget {name} does not allow evicting pods currently");
    let conditions = budget["status"]["conditions"].as_array();
    let refused = conditions
        .into_iter()
        .flatten()
        .find(|condition| condition["type"] == "DisruptionAllowed")
        .filter(|condition| condition["status"] == "False")
        .map(|condition| (text(condition, "reason"), text(condition, "message")))
        .filter(|(_, message)| !message.is_empty());
    match refused {
        Some(("SyncFailed", message)) => format!("{start} because it failed sync: {message}"),
        _ if healthy <= desired => {
            format!(
                "The disruption budget {name} needs {desired} healthy pods and has {healthy} currently"
            )
        }
        Some((reason, message)) => format!("{start} ({reason}): {message}"),
        None => start,
    }
}

/// Writes into a budget's status that a pod is about to go.
fn take_one(server: &mut ApiServer, budget: &Value, pod: &str) -> Result<(), Refusal> {
    let mut budget = budget.clone();
    let now = server.environment.now().to_string();
    let status = &mut budget["status"];
    let left = status["disruptionsAllowed"].as_i64().unwrap_or(0) - 1;
    status["disruptionsAllowed"] = left.into();
    status["disruptedPods"][pod] = now.as_str().into();
    if left == 0 {
        let condition = json!({
            "type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods",
            "message": "", "observedGeneration": status["observedGeneration"],
        });
        set_condition(&mut budget, condition, &now);
    }
    let path = format!(
        "/apis/policy/v1/namespaces/{}/poddisruptionbudgets/{}/status",
        budget.namespace(),
        budget.name()
    );
    let (write, bytes) = server.inner_request("PUT", &path, &budget)?;
    server.update(&write, &bytes, &mut Trace::default())?;
    Ok(())
}

impl ApiServer {
    /// A request that the server sends to itself.
    ///
    /// # Errors
    /// The refusals that a client would get.
    pub(in crate::server) fn inner_request(
        &self,
        method: &str,
        path: &str,
        body: &Value,
    ) -> Result<(RequestInfo, Vec<u8>), Refusal> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::USER_AGENT, ITSELF)
            .body(body.to_string().into_bytes())
            .map_err(|error| Status::internal(error.to_string()))?;
        let info = RequestInfo::parse(&request, &self.resources)?;
        Ok((info, request.into_body()))
    }
}
