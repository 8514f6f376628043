//! The namespace controller (`pkg/controller/namespace/deletion/namespaced_resources_deleter.go`),
//! and the objects that each namespace gets
//! (`pkg/controller/serviceaccount/serviceaccounts_controller.go`,
//! `pkg/controller/certificates/rootcacertpublisher/publisher.go`; v1.36).

use std::collections::BTreeSet;
use std::sync::Arc;

use http::Method;
use optimist_apiserver::environment::Timestamp;
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::{ApiServer, Resource};
use serde_json::{Value, json};

use crate::namespace_conditions::RemainingContent;
use crate::requests::{ApiAccess, MANAGER, list, send, send_or_refusal};

/// The finalizer of a namespace that this controller takes away.
const KUBERNETES: &str = "kubernetes";
const ROOT_CA: &str = "kube-root-ca.crt";
const DESCRIPTION: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when \
     using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is \
     guaranteed across distributions of Kubernetes clusters.";

/// Looks at each namespace once.
pub(crate) fn look(access: &mut ApiAccess<'_>, root_ca: Option<&str>) {
    for namespace in list(access, "/api/v1/namespaces") {
        if !namespace.meta_text("deletionTimestamp").is_empty() {
            finalize(access, namespace);
        } else if text(&namespace["status"], "phase") == "Active" {
            furnish(access, namespace.name(), root_ca);
        }
    }
}

/// Deletes the objects in a namespace, and lets it go when it is empty. Its conditions say what is left
/// (`deleteAllContent`).
fn finalize(access: &mut ApiAccess<'_>, mut namespace: Value) {
    let name = namespace.name().to_owned();
    let waits = |namespace: &Value| {
        let finalizers = namespace["spec"]["finalizers"].as_array();
        finalizers.is_some_and(|all| all.iter().any(|it| it == KUBERNETES))
    };
    if !waits(&namespace) {
        return;
    }
    let deleted_at = namespace.meta_text("deletionTimestamp").to_owned();
    let remaining = delete_content(access, &name, &deleted_at);
    let now = access.server.environment().now().to_string();
    if remaining.update_conditions(&mut namespace, &now) {
        let path = format!("/api/v1/namespaces/{name}/status");
        // Without this write, the namespace can go all the same.
        if let Some(updated) = send(access, MANAGER, Method::PUT, &path, &namespace) {
            namespace = updated;
        }
    }
    if remaining.is_empty()
        && let Some(Value::Array(finalizers)) = namespace["spec"].get_mut("finalizers")
    {
        finalizers.retain(|it| it != KUBERNETES);
        let path = format!("/api/v1/namespaces/{name}/finalize");
        send(access, MANAGER, Method::PUT, &path, &namespace);
    }
}

/// Deletes the objects in a namespace. Returns what is left.
fn delete_content(access: &mut ApiAccess<'_>, name: &str, deleted_at: &str) -> RemainingContent {
    let mut resources = namespaced(access.server);
    // What pods need stays until they are gone (`OrderedNamespaceDeletion`).
    resources.sort_by_key(|resource| resource.kind != "Pod");
    let options =
        json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"});
    let mut remaining = RemainingContent::default();
    for resource in resources {
        let collection = resource.path(name, "");
        let before = list(access, &collection);
        if before.is_empty() {
            continue;
        }
        if let Err(message) =
            send_or_refusal(access, MANAGER, Method::DELETE, &collection, &options)
        {
            remaining.add_error(message);
            continue;
        }
        let left = list(access, &collection);
        remaining.count(&resource, &left);
        let is_expected = left.iter().any(|it| !it.finalizers().is_empty())
            || resource.kind == "Pod" && is_in_grace(access.server, &before, deleted_at);
        if !left.is_empty() && !is_expected {
            let (group_version, plural) = (&resource.group_version, &resource.plural);
            let (group, version) = (&group_version.group, &group_version.version);
            remaining.add_error(format!(
                "unexpected items still remain in namespace: {name} for gvr: {group}/{version}, Resource={plural}"
            ));
        }
        if !left.is_empty() && resource.kind == "Pod" {
            return remaining.before_totals();
        }
    }
    remaining
}

/// Returns whether pods may still be there, because the longest time that one of them has to stop is not over
/// (`estimateGracefulTermination`, `estimateGracefulTerminationForPods`).
fn is_in_grace(server: &ApiServer, pods: &[Value], deleted_at: &str) -> bool {
    let run = pods
        .iter()
        .filter(|pod| !matches!(text(&pod["status"], "phase"), "Succeeded" | "Failed"));
    let seconds = run.filter_map(|pod| pod["spec"]["terminationGracePeriodSeconds"].as_u64());
    let longest = seconds.max().unwrap_or(0);
    let deleted_at = Timestamp::parse(deleted_at).map_or(0, |time| time.seconds);
    let since = server
        .environment()
        .now()
        .seconds
        .saturating_sub(deleted_at);
    since < longest
}

/// One version of each resource that has namespaces. Upstream deletes by group and resource, so events are there
/// twice.
fn namespaced(server: &ApiServer) -> Vec<Arc<Resource>> {
    let mut seen = BTreeSet::new();
    let all = server.resources().iter();
    let first = all.filter(|resource| {
        let group = resource.group_version.group.clone();
        resource.namespaced && seen.insert((group, resource.plural.clone()))
    });
    first.cloned().collect()
}

/// Gives a namespace the objects that each one has.
fn furnish(access: &mut ApiAccess<'_>, namespace: &str, root_ca: Option<&str>) {
    let accounts = format!("/api/v1/namespaces/{namespace}/serviceaccounts");
    let account = json!({"metadata": {"name": "default", "namespace": namespace}});
    if get(access, &accounts, "default").is_none() {
        send(access, MANAGER, Method::POST, &accounts, &account);
    }
    let Some(root_ca) = root_ca else {
        return;
    };
    let maps = format!("/api/v1/namespaces/{namespace}/configmaps");
    let data = json!({"ca.crt": root_ca});
    let annotations = json!({"kubernetes.io/description": DESCRIPTION});
    match get(access, &maps, ROOT_CA) {
        None => {
            let map =
                json!({"metadata": {"name": ROOT_CA, "annotations": annotations}, "data": data});
            send(access, MANAGER, Method::POST, &maps, &map);
        }
        Some(mut map) if map["data"] != data => {
            map["data"] = data;
            map["metadata"]["annotations"]["kubernetes.io/description"] = DESCRIPTION.into();
            let path = format!("{maps}/{ROOT_CA}");
            send(access, MANAGER, Method::PUT, &path, &map);
        }
        Some(_) => {}
    }
}

fn get(access: &mut ApiAccess<'_>, collection: &str, name: &str) -> Option<Value> {
    let path = format!("{collection}/{name}");
    send(access, MANAGER, Method::GET, &path, &Value::Null)
}
