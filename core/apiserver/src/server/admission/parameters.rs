//! The parameters of admission policies.

use std::sync::Arc;

use serde_json::Value;

use super::Attributes;
use crate::object::text;
use crate::server::kinds::label_selector;
use crate::server::{ApiServer, storage_key};

/// The parameters that a binding names (`CollectParams` of
/// `k8s.io/apiserver/pkg/admission/plugin/policy/generic`), or why it cannot be followed.
pub(super) fn parameters(
    server: &ApiServer,
    asked: &Attributes<'_>,
    policy: &Value,
    reference: &Value,
) -> Result<Vec<Value>, &'static str> {
    if reference.is_null() {
        return Ok(vec![Value::Null]);
    }
    let kind = &policy["spec"]["paramKind"];
    let resources = &server.resources;
    let mut found = Vec::new();
    if let Some(resource) = resources.by_kind(text(kind, "apiVersion"), text(kind, "kind")) {
        let namespace = match (text(reference, "namespace"), resource.namespaced) {
            ("", true) if asked.info.namespace.is_empty() => {
                return Err(
                    "cannot use namespaced paramRef in policy binding that matches cluster-scoped \
                     resources",
                );
            }
            ("", true) => asked.info.namespace.as_str(),
            ("", false) => "",
            (_, false) => {
                return Err(
                    "paramRef.namespace must not be provided for a cluster-scoped `paramKind`",
                );
            }
            (namespace, true) => namespace,
        };
        let read = |stored: &Arc<Value>| resource.read_back(stored).as_ref().clone();
        match text(reference, "name") {
            "" => {
                let below = format!("{}/", storage_key(resource, namespace, ""));
                let all = server.store.range(&below).map(|(_, _, object)| object);
                let chosen = all.filter(|it| label_selector::matches(&reference["selector"], it));
                found.extend(chosen.map(read));
            }
            name => {
                let stored = server.store.get(&storage_key(resource, namespace, name));
                found.extend(stored.map(|(_, object)| read(object)));
            }
        }
    }
    if found.is_empty() && text(reference, "parameterNotFoundAction") == "Deny" {
        return Err("no params found for policy binding with `Deny` parameterNotFoundAction");
    }
    Ok(found)
}
