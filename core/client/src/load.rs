//! Objects that a server has from the start.

use http::{Request, header};
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::schema::fill_defaults;
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

/// Puts an object into a server before its clients begin. One with a uid is stored with the next version; another
/// is created. Its namespace is created, and is `default` if it names none. Missing fields get their defaults, which
/// a server fills in when it reads an object of its storage, too (`k8s.io/apiserver/pkg/storage/etcd3/store.go decode`,
/// v0.36).
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
    fill_defaults(&mut object, &resource.root);
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

#[cfg(test)]
mod tests {
    use optimist_apiserver::environment::Environment;
    use optimist_apiserver::patch::APPLY;
    use optimist_apiserver::server::Authorization;

    use super::*;

    #[test]
    fn an_object_that_somebody_shortened_can_be_written_as_on_its_server() {
        let mut server = ApiServer::fresh(Environment::default(), Authorization::AlwaysAllow);
        let (labels, path) = (
            json!({"app": "web"}),
            "/apis/apps/v1/namespaces/default/deployments/web",
        );
        let shortened = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "uid": "0b9a5e2e-4b61-4c5e-9d35-6f8c1f9f4a01"},
            "spec": {"selector": {"matchLabels": labels}, "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "web", "image": "nginx:1.27"}]}}}});
        load(&mut server, shortened).expect("it is loaded");
        let patch = json!({"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web"}, "spec": {"replicas": 2}});
        let apply = Request::patch(format!("{path}?fieldManager=me&force=true"))
            .header(header::CONTENT_TYPE, APPLY)
            .body(patch.to_string().into_bytes());
        let response = server.handle(apply.expect("a request"));
        let stored: Value = serde_json::from_slice(response.body()).expect("an object");
        assert_eq!(response.status(), 200, "{stored}");
        assert_eq!(stored["spec"]["replicas"], 2);
        let container = &stored["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(container["terminationMessagePolicy"], "File");
    }
}
