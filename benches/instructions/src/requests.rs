//! The requests that are counted: bytes in, bytes out.

use http::{Request, Response};
use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const PODS: &str = "/api/v1/namespaces/default/pods";
const SERVICES: &str = "/api/v1/namespaces/default/services";
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

/// A request to a server that has answered others before.
pub struct Case {
    /// The name of the request.
    pub name: String,
    /// The server before the request.
    pub server: ApiServer,
    /// The request.
    pub request: Request<Vec<u8>>,
}

/// All requests, in the order of the figures.
pub fn all() -> Vec<Case> {
    let mut cases = deployment_cases();
    cases.extend(pod_cases());
    cases.extend([100, 400, 1_600].map(service_case));
    cases.extend(large_cases());
    cases
}

fn request(method: &str, target: &str, media: &str, body: &Value) -> Request<Vec<u8>> {
    let bytes = match body {
        Value::Null => Vec::new(),
        body => body.to_string().into_bytes(),
    };
    Request::builder()
        .method(method)
        .uri(target)
        .header("content-type", media)
        .header("user-agent", "editor-b")
        .body(bytes)
        .expect("a request")
}

fn succeeds(server: &mut ApiServer, request: Request<Vec<u8>>) -> Value {
    let response: Response<Vec<u8>> = server.handle(request);
    assert!(response.status().is_success(), "{response:?}");
    serde_json::from_slice(response.body()).expect("JSON")
}

fn case(name: &str, code: u16, server: &ApiServer, request: Request<Vec<u8>>) -> Case {
    // What a server prepares once, it has prepared.
    let answer = server.clone().handle(request.clone());
    let body = String::from_utf8_lossy(answer.body());
    assert_eq!(answer.status(), code, "{name}: {body}");
    Case {
        name: name.to_owned(),
        server: server.clone(),
        request,
    }
}

fn applied(replicas: i64) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": replicas, "template": {"spec": {"containers": [
            {"name": "nginx", "image": "nginx:1.25"}]}}},
    })
}

/// Requests to a Deployment that one manager created and another one applied to: 2.4 kB.
fn deployment_cases() -> Vec<Case> {
    let mut server = ApiServer::default();
    let created = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {
            "replicas": 2, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [
                {"name": "nginx", "image": "nginx:1.25", "ports": [{"containerPort": 80}]}]}},
        },
    });
    succeeds(&mut server, request("POST", DEPLOYMENTS, JSON, &created));
    let web = format!("{DEPLOYMENTS}/web");
    let apply = |manager: &str, replicas: i64| {
        let target = format!("{web}?fieldManager={manager}");
        request("PATCH", &target, APPLY, &applied(replicas))
    };
    let target = format!("{web}?fieldManager=editor-a&force=true");
    let forced = request("PATCH", &target, APPLY, &applied(3));
    let mut changed = succeeds(&mut server, forced);
    changed["spec"]["replicas"] = 7.into();
    let replicas = json!({"spec": {"replicas": 7}});
    let operations = json!([{"op": "replace", "path": "/spec/replicas", "value": 7}]);
    let case = |name, code, request| case(name, code, &server, request);
    vec![
        case("get", 200, request("GET", &web, JSON, &Value::Null)),
        case("update", 200, request("PUT", &web, JSON, &changed)),
        case("merge patch", 200, request("PATCH", &web, MERGE, &replicas)),
        case(
            "strategic merge patch",
            200,
            request("PATCH", &web, STRATEGIC, &replicas),
        ),
        case(
            "JSON patch",
            200,
            request("PATCH", &web, JSON_PATCH, &operations),
        ),
        case("apply with a change", 200, apply("editor-a", 7)),
        case("apply without a change", 200, apply("editor-a", 3)),
        case("apply that conflicts", 409, apply("editor-c", 7)),
    ]
}

/// Requests to a Pod with ten containers.
fn pod_cases() -> Vec<Case> {
    let mut server = ApiServer::default();
    let container = |i: i64| {
        json!({
            "name": format!("c{i}"), "image": "nginx:1.25",
            "ports": [{"containerPort": 8000 + i}],
            "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
        })
    };
    let containers: Vec<Value> = (0..10).map(container).collect();
    let created = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "many"},
        "spec": {"containers": containers},
    });
    let mut changed = succeeds(&mut server, request("POST", PODS, JSON, &created));
    changed["metadata"]["labels"] = json!({"a": "b"});
    let many = format!("{PODS}/many");
    let image = json!({"spec": {"containers": [{"name": "c5", "image": "nginx:1.26"}]}});
    let config = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "many", "labels": {"a": "b"}},
    });
    let target = format!("{many}?fieldManager=editor-a");
    let case = |name, request| case(name, 200, &server, request);
    vec![
        case("Pod: get", request("GET", &many, JSON, &Value::Null)),
        case("Pod: update", request("PUT", &many, JSON, &changed)),
        case(
            "Pod: strategic merge patch",
            request("PATCH", &many, STRATEGIC, &image),
        ),
        case("Pod: apply", request("PATCH", &target, APPLY, &config)),
    ]
}

/// A second apply of a Service with many ports.
fn service_case(ports: i64) -> Case {
    let mut server = ApiServer::default();
    let port = |i: i64| json!({"name": format!("p{i}"), "port": 1000 + i});
    let ports_of = |target: i64| {
        let mut list: Vec<Value> = (0..ports).map(port).collect();
        list[0]["targetPort"] = target.into();
        json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": "many"},
            "spec": {"selector": {"app": "web"}, "ports": list},
        })
    };
    let target = format!("{SERVICES}/many?fieldManager=editor-a");
    succeeds(
        &mut server,
        request("PATCH", &target, APPLY, &ports_of(8080)),
    );
    case(
        &format!("Service with {ports} ports: apply"),
        200,
        &server,
        request("PATCH", &target, APPLY, &ports_of(9090)),
    )
}

/// Requests to a ConfigMap of 500 kB.
fn large_cases() -> Vec<Case> {
    let mut server = ApiServer::default();
    let of = |last: &str| {
        let text = "a line of a configuration file, which is as long as many lines are: 80 letters";
        let mut data: serde_json::Map<String, Value> = (0..4_500)
            .map(|i| (format!("key-{i:04}"), text.into()))
            .collect();
        data.insert("last".to_owned(), last.into());
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "large"}, "data": data,
        })
    };
    let large = format!("{CONFIG_MAPS}/large");
    let target = format!("{large}?fieldManager=editor-a");
    let mut changed = succeeds(&mut server, request("PATCH", &target, APPLY, &of("a")));
    changed["data"]["last"] = "b".into();
    let patch = json!({"data": {"last": "b"}});
    let case = |name, request| case(name, 200, &server, request);
    vec![
        case("500 kB: update", request("PUT", &large, JSON, &changed)),
        case(
            "500 kB: merge patch",
            request("PATCH", &large, MERGE, &patch),
        ),
        case("500 kB: apply", request("PATCH", &target, APPLY, &of("b"))),
    ]
}
