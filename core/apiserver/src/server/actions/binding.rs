//! Binding: gives a pod its node (`BindingREST` of `pkg/registry/core/pod/storage/storage.go`).

use std::sync::Arc;

use serde_json::{Value, json};

use super::done;
use crate::object::{GroupName, Metadata, text};
use crate::server::kinds::pod_admission::label_as_node;
use crate::server::kinds::pod_status::set_condition;
use crate::server::{ApiServer, RequestInfo, Trace};
use crate::status::{FieldError, Refusal, Status};

pub(super) fn bind(
    server: &mut ApiServer,
    info: &RequestInfo,
    binding: Value,
    _: &mut Trace,
) -> Result<Value, Refusal> {
    let name = binding.name();
    if !info.name.is_empty() && name != info.name {
        let why = "name in URL does not match name in Binding object";
        return Err(Status::bad_request(why));
    }
    check(&binding["target"])?;
    if name.is_empty() {
        return Err(Status::bad_request("Name parameter required."));
    }
    let pods = GroupName::new("", "pods");
    let key = format!("/registry/pods/{}/{name}", info.namespace);
    let found = server.store.get(&key);
    let found = found.map(|(revision, pod)| (revision, pod.as_ref().clone()));
    let (revision, mut pod) = found.ok_or_else(|| Status::not_found(&pods, name))?;
    let is_of_pod = !info.name.is_empty();
    let shown = match info.options.dry_run {
        true => key.strip_prefix("/registry").unwrap_or(&key),
        false => &key,
    };
    // A binding that is no subresource loses its uid before (`WipeObjectMetaSystemFields`).
    let uid = if is_of_pod { binding.uid() } else { "" };
    check_preconditions(uid, binding.resource_version(), &pod, shown)?;
    let refuse = |why: String| Status::conflict(&GroupName::new("", "pods/binding"), name, &why);
    if !pod.meta_text("deletionTimestamp").is_empty() {
        let why = format!("pod {name} is being deleted, cannot be assigned to a host");
        return Err(refuse(why));
    }
    let node = text(&pod["spec"], "nodeName");
    if !node.is_empty() {
        let why = format!("pod {name} is already assigned to node {node:?}");
        return Err(refuse(why));
    }
    if pod["spec"].get("schedulingGates").is_some() {
        let why = format!("pod {name} has non-empty .spec.schedulingGates");
        return Err(refuse(why));
    }
    assign(server, &binding, &mut pod, is_of_pod);
    if !info.options.dry_run {
        let put = server.store.put_if(&key, revision, |after| {
            pod.set_meta("resourceVersion", after.to_string());
            Arc::new(pod)
        });
        put.map_err(|_| Status::modified(&pods, name))?;
    }
    Ok(done())
}

/// `ValidatePodBinding`, whose errors are not those of an invalid object.
fn check(target: &Value) -> Result<(), Refusal> {
    let mut errors = Vec::new();
    let kind = text(target, "kind");
    if !matches!(kind, "" | "Node") {
        let kinds = ["Node", "<empty>"];
        errors.push(FieldError::not_supported(
            "target.kind",
            &kind.into(),
            &kinds,
        ));
    }
    if text(target, "name").is_empty() {
        errors.push(FieldError::required("target.name", ""));
    }
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    match texts.as_slice() {
        [] => Ok(()),
        [one] => Err(Status::internal(one.as_str())),
        several => Err(Status::internal(format!("[{}]", several.join(", ")))),
    }
}

/// A binding may be for a certain pod, or for a certain version of it.
fn check_preconditions(uid: &str, version: &str, pod: &Value, key: &str) -> Result<(), Refusal> {
    let checks = [
        ("UID", uid, pod.uid()),
        ("ResourceVersion", version, pod.resource_version()),
    ];
    for (what, wanted, found) in checks {
        if !wanted.is_empty() && wanted != found {
            let why = format!(
                "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, \
                 AdditionalErrorMsg: Precondition failed: {what} in precondition: {wanted}, {what} \
                 in object meta: {found}"
            );
            return Err(Status::conflict(
                &GroupName::new("", "pods"),
                pod.name(),
                &why,
            ));
        }
    }
    Ok(())
}

/// `setPodNodeAndMetadata`.
fn assign(server: &ApiServer, binding: &Value, pod: &mut Value, is_of_pod: bool) {
    let node = text(&binding["target"], "name");
    pod["spec"]["nodeName"] = node.into();
    if let Some(status) = pod["status"].as_object_mut() {
        status.remove("nominatedNodeName");
    }
    for field in ["annotations", "labels"] {
        let given = binding["metadata"][field].as_object();
        for (name, value) in given.into_iter().flatten() {
            let map = pod.metadata_mut().entry(field).or_insert_with(|| json!({}));
            map[name] = value.clone();
        }
    }
    // The plugin looks at bindings of the pod's own subresource, and for nodes.
    if is_of_pod && binding["target"]["kind"] == "Node" {
        label_as_node(pod, node, &server.store);
    }
    let condition = json!({"type": "PodScheduled", "status": "True"});
    set_condition(pod, condition, &server.environment.now().to_string());
}
