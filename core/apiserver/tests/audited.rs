//! The audit log says the same of a request, whatever its body and its answer are written as
//! (`k8s.io/apiserver/pkg/audit/request.go LogRequestObject`, `LogResponseObject`: both are encoded as JSON).

use http::Request;
use optimist_apiserver::environment::MicroTime;
use optimist_apiserver::server::{ApiServer, AuditEntry, AuditId};
use serde_json::{Value, json};

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// A deployment with each member that Go writes of one in any case.
fn deployment() -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web", "image": "nginx:1.27", "resources": {}}]},
            },
            "strategy": {},
        },
        "status": {},
    })
}

fn pod() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "one"},
        "spec": {"containers": [{"name": "web", "image": "nginx:1.27", "resources": {}}]},
        "status": {},
    })
}

/// Sends a request, and returns what the log says of it.
fn event(server: &mut ApiServer, request: http::request::Builder, body: Vec<u8>) -> Value {
    let request: Request<Vec<u8>> = request.body(body).unwrap();
    let entry = AuditEntry::new(server, &request, AuditId { run: 0, number: 1 });
    let answer = server.handle(request);
    let at = MicroTime { micros: 1 };
    entry.answered(answer.status(), answer.body(), at, at)
}

fn with_objects() -> ApiServer {
    let mut server = ApiServer::default();
    for (path, object) in [(DEPLOYMENTS, deployment()), (PODS, pod())] {
        let request = Request::post(path).header("content-type", "application/json");
        let created = event(&mut server, request, object.to_string().into_bytes());
        assert_eq!(created["responseStatus"]["code"], 201, "{created}");
    }
    server
}

#[test]
fn each_answer_is_in_the_log_as_in_json() {
    let web = format!("{DEPLOYMENTS}/web");
    let metadata = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let metadata_list = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let scale = json!({
        "apiVersion": "autoscaling/v1", "kind": "Scale",
        "metadata": {"name": "web", "namespace": "default"}, "spec": {"replicas": 3},
    });
    let cases = [
        ("GET", web.clone(), "", Value::Null),
        ("GET", DEPLOYMENTS.to_owned(), "", Value::Null),
        ("GET", format!("{DEPLOYMENTS}?limit=1"), "", Value::Null),
        ("GET", "/api/v1/nodes".to_owned(), "", Value::Null),
        ("GET", web.clone(), metadata, Value::Null),
        ("GET", DEPLOYMENTS.to_owned(), metadata_list, Value::Null),
        ("GET", format!("{web}/scale"), "", Value::Null),
        ("PUT", format!("{web}/scale"), "", scale),
        ("GET", format!("{DEPLOYMENTS}/none"), "", Value::Null),
        ("POST", DEPLOYMENTS.to_owned(), "", deployment()),
        (
            "DELETE",
            "/api/v1/namespaces/default/serviceaccounts/default".to_owned(),
            "",
            Value::Null,
        ),
        ("DELETE", web, "", Value::Null),
        (
            "POST",
            format!("{PODS}/one/eviction"),
            "",
            json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "one"}}),
        ),
        (
            "POST",
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews".to_owned(),
            "",
            json!({"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}),
        ),
    ];
    for (method, path, view, body) in cases {
        let told = |media: &str| {
            let request = Request::builder().method(method).uri(&path);
            let request = request
                .header("accept", format!("{media}{view}"))
                .header("content-type", "application/json");
            let body = match &body {
                Value::Null => Vec::new(),
                body => body.to_string().into_bytes(),
            };
            event(&mut with_objects(), request, body)
        };
        let in_json = told("application/json");
        assert!(in_json["responseObject"].is_object(), "{in_json}");
        for media in [PROTOBUF, "application/yaml"] {
            assert_eq!(told(media), in_json, "{method} {path}{view} as {media}");
        }
    }
}

#[test]
fn each_body_in_protobuf_is_in_the_log_as_in_json() {
    let web = format!("{DEPLOYMENTS}/web");
    let cases = [
        ("PUT", web.clone(), deployment()),
        (
            "PUT",
            format!("{web}/scale"),
            json!({
                "apiVersion": "autoscaling/v1", "kind": "Scale",
                "metadata": {"name": "web", "namespace": "default"}, "spec": {"replicas": 3},
                "status": {"replicas": 0},
            }),
        ),
        (
            "POST",
            format!("{PODS}/one/eviction"),
            json!({
                "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "one"},
                "deleteOptions": {"gracePeriodSeconds": 0},
            }),
        ),
        (
            "DELETE",
            web,
            json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}),
        ),
    ];
    for (method, path, body) in cases {
        let mut server = with_objects();
        let bytes = server.written_as_protobuf(&body).unwrap();
        let request = Request::builder().method(method).uri(&path);
        let told = event(&mut server, request.header("content-type", PROTOBUF), bytes);
        assert!(
            told["responseStatus"]["code"].as_u64().unwrap() < 300,
            "{told}"
        );
        assert_eq!(told["requestObject"], body, "{method} {path}");
    }
}
