//! Objects that a server has from the start.

use http::{Request, header};
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

/// The order in which objects are loaded: definitions of custom resources, namespaces, all others.
pub fn load_order(object: &Value) -> u8 {
    match text(object, "kind") {
        "CustomResourceDefinition" => 0,
        "Namespace" => 1,
        _ => 2,
    }
}

/// Puts an object into a server before its clients begin. One with a uid is stored as it is, with the next
/// version; another is created. Its namespace is created, and is `default` if it names none.
///
/// # Errors
/// The reason why the server does not take it.
pub fn load(server: &mut ApiServer, mut object: Value) -> Result<(), String> {
    let (api_version, kind) = (text(&object, "apiVersion"), text(&object, "kind"));
    let resource = server.resources().by_kind(api_version, kind).cloned();
    let resource = resource.ok_or_else(|| format!("no kind {kind} of {api_version} is served"))?;
    if resource.namespaced {
        if object.namespace().is_empty() {
            object.set_meta("namespace", "default");
        }
        make_namespace(server, object.namespace())?;
    }
    if object.uid().is_empty() {
        return create(server, &resource.path(object.namespace(), ""), &object);
    }
    // Objects of several clusters can have the same versions.
    object.set_meta("resourceVersion", Value::Null);
    server
        .install(object)
        .map(|_| ())
        .map_err(|error| error.to_string())
}

fn make_namespace(server: &mut ApiServer, name: &str) -> Result<(), String> {
    let path = format!("/api/v1/namespaces/{name}");
    let get = Request::get(&path).body(Vec::new());
    let get = get.map_err(|error| error.to_string())?;
    if server.handle(get).status() != 404 {
        return Ok(());
    }
    let namespace = json!({"metadata": {"name": name}});
    create(server, "/api/v1/namespaces", &namespace)
}

fn create(server: &mut ApiServer, path: &str, object: &Value) -> Result<(), String> {
    let request = Request::post(path)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::USER_AGENT, "optimist")
        .body(object.to_string().into_bytes())
        .map_err(|error| error.to_string())?;
    let response = server.handle(request);
    if response.status().is_success() {
        return Ok(());
    }
    let answer: Value = serde_json::from_slice(response.body()).unwrap_or_default();
    Err(text(&answer, "message").to_owned())
}
