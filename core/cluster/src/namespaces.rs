//! The namespace controller (`pkg/controller/namespace/deletion/namespaced_resources_deleter.go`),
//! and the objects that each namespace gets
//! (`pkg/controller/serviceaccount/serviceaccounts_controller.go`,
//! `pkg/controller/certificates/rootcacertpublisher/publisher.go`; v1.36).
//!
//! Not written: the conditions that say why a namespace still waits.

use http::Method;
use optimist_apiserver::object::{Metadata, text};
use serde_json::{Value, json};

use crate::requests::{ApiAccess, MANAGER, kinds, list, send};

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

/// Deletes the objects in a namespace, and lets it go when it is empty.
fn finalize(access: &mut ApiAccess<'_>, mut namespace: Value) {
    let name = namespace.name().to_owned();
    let Some(Value::Array(finalizers)) = namespace["spec"].get_mut("finalizers") else {
        return;
    };
    if !finalizers.iter().any(|it| it == KUBERNETES) {
        return;
    }
    finalizers.retain(|it| it != KUBERNETES);
    let options =
        json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"});
    let mut remains = false;
    let mut resources: Vec<_> = kinds(access.server)
        .into_iter()
        .filter(|it| it.namespaced)
        .collect();
    // What pods need stays until they are gone (`OrderedNamespaceDeletion`).
    resources.sort_by_key(|resource| resource.kind != "Pod");
    for resource in resources {
        let collection = resource.path(&name, "");
        if list(access, &collection).is_empty() {
            continue;
        }
        send(access, MANAGER, Method::DELETE, &collection, &options);
        remains |= !list(access, &collection).is_empty();
        if remains && resource.kind == "Pod" {
            break;
        }
    }
    if !remains {
        let path = format!("/api/v1/namespaces/{name}/finalize");
        send(access, MANAGER, Method::PUT, &path, &namespace);
    }
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
