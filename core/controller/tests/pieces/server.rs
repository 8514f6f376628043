//! A server with ConfigMaps.

use std::sync::Arc;

use http::Request;
use optimist_apiserver::server::{ApiServer, Resource};
use optimist_client::ListMode;
use optimist_controller::Cache;
use serde_json::{Value, json};

const COLLECTION: &str = "/api/v1/namespaces/default/configmaps";

pub fn config_maps(server: &ApiServer) -> Arc<Resource> {
    let resource = server.resources().by_kind("v1", "ConfigMap");
    Arc::clone(resource.expect("a built-in kind"))
}

pub fn cache(server: &ApiServer) -> Cache {
    Cache::new(config_maps(server), "default", ListMode::List)
}

pub fn synced(server: &mut ApiServer) -> Cache {
    let mut cache = cache(server);
    cache.sync(server);
    cache
}

pub fn config_map(name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"}, "data": {"value": value}})
}

/// Creates or replaces a ConfigMap.
pub fn write(server: &mut ApiServer, name: &str, value: &str) {
    let body = config_map(name, value);
    if send(server, "POST", COLLECTION, &body) != 201 {
        assert_eq!(
            send(server, "PUT", &format!("{COLLECTION}/{name}"), &body),
            200
        );
    }
}

pub fn delete(server: &mut ApiServer, name: &str) -> bool {
    send(
        server,
        "DELETE",
        &format!("{COLLECTION}/{name}"),
        &Value::Null,
    ) == 200
}

fn send(server: &mut ApiServer, method: &str, path: &str, body: &Value) -> u16 {
    let body = match body {
        Value::Null => Vec::new(),
        body => body.to_string().into_bytes(),
    };
    let request = Request::builder().method(method).uri(path);
    server.handle(request.body(body).unwrap()).status().as_u16()
}

/// Creates a namespace and a ConfigMap in it.
pub fn write_elsewhere(server: &mut ApiServer) {
    let namespace = json!({"metadata": {"name": "other"}});
    assert_eq!(send(server, "POST", "/api/v1/namespaces", &namespace), 201);
    let path = "/api/v1/namespaces/other/configmaps";
    assert_eq!(
        send(server, "POST", path, &json!({"metadata": {"name": "a"}})),
        201
    );
}

/// Makes every version before the newest one unavailable, also in the watch cache.
pub fn forget_history(server: &mut ApiServer) {
    let revision = server.store().revision();
    server.compact(revision).expect("not compacted yet");
    server.restart();
}
