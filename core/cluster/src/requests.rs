//! The requests of controllers.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::{Method, Request, header};
use optimist_apiserver::object::text;
use optimist_apiserver::patch::MERGE_PATCH;
use optimist_apiserver::server::{ApiServer, Resource};
use serde_json::Value;

use crate::Perform;

/// The program that most controllers are part of.
pub(crate) const MANAGER: &str = "kube-controller-manager/v1.36.3";

/// The server, and how the writes of controllers reach it.
pub(crate) struct ApiAccess<'a> {
    pub(crate) server: &'a mut ApiServer,
    pub(crate) write: &'a mut Perform<'a>,
}

/// Sends a request; the answer if it is accepted. A refused request is made again in the next pass, if
/// its reason is still there.
pub(crate) fn send(
    access: &mut ApiAccess<'_>,
    agent: &str,
    method: Method,
    path: &str,
    body: &Value,
) -> Option<Value> {
    send_or_refusal(access, agent, method, path, body).ok()
}

/// Sends a request; the answer, or the message of its refusal.
pub(crate) fn send_or_refusal(
    access: &mut ApiAccess<'_>,
    agent: &str,
    method: Method,
    path: &str,
    body: &Value,
) -> Result<Value, String> {
    let media_type = match method {
        Method::PATCH => MERGE_PATCH,
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
    let request = request.map_err(|error| error.to_string())?;
    let response = match *request.method() {
        Method::GET => access.server.handle(request),
        _ => (access.write)(access.server, request),
    };
    let answer: Value =
        serde_json::from_slice(response.body()).map_err(|error| error.to_string())?;
    match response.status().is_success() {
        true => Ok(answer),
        false => Err(text(&answer, "message").to_owned()),
    }
}

/// The objects of a collection.
pub(crate) fn list(access: &mut ApiAccess<'_>, path: &str) -> Vec<Value> {
    let answer = send(access, MANAGER, Method::GET, path, &Value::Null);
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
