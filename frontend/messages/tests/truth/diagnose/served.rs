//! Objects of which a message says no more than a kind and a name, on a server.

use std::sync::Arc;

use http::Request;
use optimist_apiserver::server::{ApiServer, Resource, Resources};
use serde_json::Value;

/// Returns the resource and the name of `configmaps "a"` in a message.
pub fn named_resource(message: &str) -> Option<(Arc<Resource>, &str)> {
    let (before, rest) = message.split_once(" \"")?;
    let word = before.rsplit(' ').next()?;
    let (plural, group) = word.split_once('.').unwrap_or((word, ""));
    let resource = resource(|one| one.plural == plural && one.group_version.group == group)?;
    Some((resource, rest.split('"').next()?))
}

pub fn resource_of_kind(kind: &str) -> Option<Arc<Resource>> {
    resource(|one| one.kind == kind)
}

fn resource(is_it: impl Fn(&Resource) -> bool) -> Option<Arc<Resource>> {
    let builtin = Resources::builtin();
    let mut all = builtin.iter();
    all.find(|one| is_it(one)).map(Arc::clone)
}

pub fn bare_object(resource: &Resource, name: &str) -> Value {
    serde_json::json!({"apiVersion": resource.group_version.to_string(), "kind": resource.kind,
        "metadata": {"name": name}})
}

/// Returns a server with an object of a kind, of which only the name is said, and its path; `None` if no such object can
/// be made.
pub fn made(resource: &Resource, name: &str) -> Option<(ApiServer, String)> {
    let mut server = ApiServer::default();
    let path = resource.path("default", name);
    let collection = path.rsplit_once('/')?.0;
    let code = send(
        &mut server,
        "POST",
        collection,
        &bare_object(resource, name),
    );
    (code == 201).then_some((server, path))
}

/// Sends a body in JSON. The code of the answer.
pub fn send(server: &mut ApiServer, method: &str, path: &str, body: &Value) -> u16 {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", "application/json");
    let request = request.body(body.to_string().into_bytes());
    request.map_or(0, |request| server.handle(request).status().as_u16())
}
