//! The requests of controllers.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::{Method, Request, header};
use optimist_apiserver::server::{ApiServer, Resource};
use serde_json::Value;

/// The program that most controllers are part of.
pub(crate) const MANAGER: &str = "kube-controller-manager/v1.36.3";

/// Sends a request; the answer if it is accepted. A refused request is made again in the next pass, if
/// its reason is still there.
pub(crate) fn send(
    server: &mut ApiServer,
    agent: &str,
    method: Method,
    path: &str,
    body: &Value,
) -> Option<Value> {
    let media_type = match method {
        Method::PATCH => "application/merge-patch+json",
        _ => "application/json",
    };
    let body = match body {
        Value::Null => Vec::new(),
        body => body.to_string().into_bytes(),
    };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::CONTENT_TYPE, media_type)
        .header(header::USER_AGENT, agent)
        .body(body);
    let response = server.handle(request.ok()?);
    let accepted = response.status().is_success();
    let answer = serde_json::from_slice(response.body()).ok()?;
    accepted.then_some(answer)
}

/// The objects of a collection.
pub(crate) fn list(server: &mut ApiServer, path: &str) -> Vec<Value> {
    let answer = send(server, MANAGER, Method::GET, path, &Value::Null);
    match answer.unwrap_or_default().get_mut("items") {
        Some(Value::Array(items)) => std::mem::take(items),
        _ => Vec::new(),
    }
}

/// The path of a collection in all namespaces.
pub(crate) fn everywhere(resource: &Resource) -> String {
    resource.path("", "").replace("/namespaces//", "/")
}

/// One version of each kind that is stored.
pub(crate) fn kinds(server: &ApiServer) -> Vec<Arc<Resource>> {
    let mut seen = BTreeSet::new();
    let all = server.resources().iter();
    let first = all.filter(|resource| seen.insert(resource.storage_prefix.clone()));
    first.cloned().collect()
}
