//! Namespace (`pkg/registry/core/namespace`, `plugin/pkg/admission/namespace/lifecycle`).

use serde_json::{Value, json};

use super::label_selector::list;
use super::{FINALIZE, Rules, StatusRules, metadata, names};
use crate::field::ErrorPath;
use crate::object::{Metadata, text};
use crate::status::FieldError;

/// The finalizer that the namespace controller takes away when everything in it is gone.
const KUBERNETES: &str = "kubernetes";

/// The phase of a namespace that is being deleted: nothing new is created in it.
pub(in crate::server) const TERMINATING: &str = "Terminating";

/// Namespaces that every cluster needs.
pub(in crate::server) const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

pub(super) const RULES: Rules = Rules {
    prepare,
    validate,
    status: StatusRules {
        prepare: |_, _| {},
        validate: validate_status,
    },
    others: &[(
        FINALIZE,
        StatusRules {
            prepare: |_, _| {},
            validate: validate_finalizers,
        },
    )],
    returns_deleted: true,
    immortal: &(&IMMORTAL, "this namespace may not be deleted"),
    fields: &["status.phase"],
    held: |namespace| !list(&namespace["spec"], "finalizers").is_empty(),
    ..Rules::NONE
};

fn prepare(namespace: &mut Value, live: Option<&Value>) {
    let finalizers = match live {
        Some(live) => live["spec"]["finalizers"].clone(),
        None => {
            namespace["status"] = json!({"phase": "Active"});
            let name = namespace.name().to_owned();
            let labels = namespace.metadata_mut().entry("labels");
            let labels = labels.or_insert_with(|| json!({}));
            labels["kubernetes.io/metadata.name"] = name.into();
            let mut finalizers = list(&namespace["spec"], "finalizers").to_vec();
            if !finalizers.iter().any(|finalizer| finalizer == KUBERNETES) {
                finalizers.push(KUBERNETES.into());
            }
            finalizers.into()
        }
    };
    namespace["spec"] = json!({});
    if !finalizers.is_null() {
        namespace["spec"]["finalizers"] = finalizers;
    }
}

/// `ValidateNamespace`, and on update `ValidateNamespaceUpdate` after it.
fn validate(namespace: &Value, live: Option<&Value>) -> Vec<FieldError> {
    let mut errors = metadata::builtin(namespace, names::label);
    let field = ErrorPath::new("spec.finalizers");
    for finalizer in list(&namespace["spec"], "finalizers") {
        let finalizer = finalizer.as_str().unwrap_or_default();
        errors.extend(metadata::finalizer(finalizer, &field));
    }
    if let Some(live) = live {
        errors.extend(metadata::builtin_update(namespace, live));
    }
    errors
}

/// `ValidateNamespaceFinalizeUpdate`.
fn validate_finalizers(namespace: &Value, live: &Value) -> Vec<FieldError> {
    let mut errors = metadata::builtin_update(namespace, live);
    let field = ErrorPath::new("spec.finalizers");
    let finalizers = list(&namespace["spec"], "finalizers").iter().enumerate();
    for (i, finalizer) in finalizers {
        let finalizer = finalizer.as_str().unwrap_or_default();
        errors.extend(metadata::finalizer(finalizer, &field.index(i)));
    }
    errors
}

/// `ValidateNamespaceStatusUpdate`.
fn validate_status(namespace: &Value, live: &Value) -> Vec<FieldError> {
    let mut errors = metadata::builtin_update(namespace, live);
    let phase = text(&namespace["status"], "phase");
    let (expected, when) = if namespace.meta_text("deletionTimestamp").is_empty() {
        ("Active", "empty")
    } else {
        (TERMINATING, "not empty")
    };
    if phase != expected {
        let detail = format!("may only be '{expected}' if `deletionTimestamp` is {when}");
        errors.push(FieldError::invalid("status.Phase", &phase.into(), detail));
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::ApiServer;
    use http::Request;

    fn send(server: &mut ApiServer, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = match body {
            Value::Null => Vec::new(),
            body => body.to_string().into_bytes(),
        };
        let mut request = Request::builder().method(method).uri(path);
        if method == "PATCH" {
            request = request.header("content-type", "application/merge-patch+json");
        }
        let response = server.handle(request.body(body).unwrap());
        let answer = serde_json::from_slice(response.body()).unwrap();
        (response.status().as_u16(), answer)
    }

    #[test]
    fn a_namespace_waits_for_its_own_finalizers_and_takes_nothing_new() {
        let server = &mut ApiServer::default();
        let all = "/api/v1/namespaces";
        let (code, _) = send(server, "POST", all, &json!({"metadata": {"name": "n"}}));
        assert_eq!(code, 201);
        let (code, marked) = send(server, "DELETE", "/api/v1/namespaces/n", &Value::Null);
        assert_eq!(
            (code, &marked["status"]["phase"]),
            (200, &json!("Terminating"))
        );
        let map = json!({"metadata": {"name": "m"}});
        let (code, refused) = send(server, "POST", "/api/v1/namespaces/n/configmaps", &map);
        assert_eq!(code, 403);
        assert_eq!(
            refused["details"]["causes"][0]["reason"],
            "NamespaceTerminating"
        );
        let mut released = marked;
        released["spec"] = json!({});
        let finalize = "/api/v1/namespaces/n/finalize";
        assert_eq!(send(server, "PUT", finalize, &released).0, 200);
        assert_eq!(
            send(server, "GET", "/api/v1/namespaces/n", &Value::Null).0,
            404
        );
    }

    #[test]
    fn namespaces_that_every_cluster_needs_stay_and_none_goes_with_others() {
        let server = &mut ApiServer::default();
        let mut delete = |path| send(server, "DELETE", path, &Value::Null).0;
        assert_eq!(delete("/api/v1/namespaces/default"), 403);
        assert_eq!(delete("/api/v1/namespaces/kube-system"), 403);
        assert_eq!(delete("/api/v1/namespaces"), 405);
    }

    #[test]
    fn the_first_deletion_marks_a_namespace_whatever_holds_it() {
        let server = &mut ApiServer::default();
        let n = "/api/v1/namespaces/n";
        let all = "/api/v1/namespaces";
        let (_, made) = send(server, "POST", all, &json!({"metadata": {"name": "n"}}));
        let mut released = made.clone();
        released["spec"] = json!({});
        let (code, _) = send(server, "PUT", &format!("{n}/finalize"), &released);
        assert_eq!(code, 200);
        let other = json!({"preconditions": {"uid": "other"}});
        let (code, refused) = send(server, "DELETE", n, &other);
        assert_eq!(code, 409);
        let why = format!(
            "Operation cannot be fulfilled on namespaces \"n\": Precondition failed: UID in \
             precondition: other, UID in object meta: {}",
            made["metadata"]["uid"].as_str().unwrap()
        );
        assert_eq!(refused["message"], why);
        let (code, marked) = send(server, "DELETE", n, &Value::Null);
        assert_eq!(
            (code, &marked["status"]["phase"]),
            (200, &json!("Terminating"))
        );
        assert_eq!(send(server, "DELETE", n, &Value::Null).0, 200);
        assert_eq!(send(server, "GET", n, &Value::Null).0, 404);
    }

    #[test]
    fn a_deletion_that_does_not_orphan_asks_for_dependents_to_go_first() {
        let server = &mut ApiServer::default();
        let all = "/api/v1/namespaces";
        send(server, "POST", all, &json!({"metadata": {"name": "n"}}));
        let options = json!({"orphanDependents": false});
        let (code, marked) = send(server, "DELETE", "/api/v1/namespaces/n", &options);
        assert_eq!(code, 202);
        assert_eq!(
            marked["metadata"]["finalizers"],
            json!(["foregroundDeletion"])
        );
    }

    #[test]
    fn finalizers_and_phases_of_namespaces_are_checked() {
        let server = &mut ApiServer::default();
        let odd = json!({"metadata": {"name": "n"}, "spec": {"finalizers": ["odd"]}});
        let (code, refused) = send(server, "POST", "/api/v1/namespaces", &odd);
        assert_eq!(code, 422);
        assert_eq!(
            refused["message"],
            "Namespace \"n\" is invalid: spec.finalizers: Invalid value: \"odd\": name is neither \
             a standard finalizer name nor is it fully qualified"
        );
        let path = "/api/v1/namespaces/default";
        let (_, mut found) = send(server, "GET", path, &Value::Null);
        found["status"] = json!({"phase": "Terminating"});
        let (code, refused) = send(server, "PUT", &format!("{path}/status"), &found);
        assert_eq!(code, 422);
        assert_eq!(
            refused["message"],
            "Namespace \"default\" is invalid: status.Phase: Invalid value: \"Terminating\": may \
             only be 'Active' if `deletionTimestamp` is empty"
        );
        found["status"] = json!({"phase": "Active"});
        found["spec"] = json!({"finalizers": ["kubernetes", "odd"]});
        let (code, refused) = send(server, "PUT", &format!("{path}/finalize"), &found);
        assert_eq!(code, 422);
        assert_eq!(
            refused["details"]["causes"][0]["field"],
            "spec.finalizers[1]"
        );
    }

    #[test]
    fn a_namespace_says_its_name_in_a_label() {
        let server = &mut ApiServer::default();
        let named = json!({"metadata": {"name": "n", "labels": {"a": "b"}}, "spec": {"finalizers": ["x.com/y"]}});
        let (_, made) = send(server, "POST", "/api/v1/namespaces", &named);
        let labels = &made["metadata"]["labels"];
        assert_eq!(labels["kubernetes.io/metadata.name"], "n");
        assert_eq!(made["spec"]["finalizers"], json!(["x.com/y", "kubernetes"]));
        // It is filled in before anything is owned, so that its creator owns it.
        let owned = &made["metadata"]["managedFields"][0]["fieldsV1"]["f:metadata"]["f:labels"];
        assert_eq!(owned["f:kubernetes.io/metadata.name"], json!({}));
        let (_, bare) = send(
            server,
            "PATCH",
            "/api/v1/namespaces/n",
            &json!({"metadata": {"labels": null}}),
        );
        let labels = &bare["metadata"]["labels"];
        assert_eq!(*labels, json!({"kubernetes.io/metadata.name": "n"}));
    }
}
