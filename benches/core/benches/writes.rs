//! Request bytes in to response bytes out, on the nginx Deployment with two managers and on a
//! Pod of ten containers. `cargo bench --manifest-path benches/core/Cargo.toml --bench writes`.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use http::Request;
use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const PODS: &str = "/api/v1/namespaces/default/pods";

fn call(server: &mut ApiServer, method: &str, target: &str, media: &str, body: &Value) -> Value {
    let response = server.handle(request(method, target, media, body));
    assert!(response.status().is_success(), "{response:?}");
    serde_json::from_slice(response.body()).unwrap()
}

fn request(method: &str, target: &str, media: &str, body: &Value) -> Request<Vec<u8>> {
    Request::builder()
        .method(method)
        .uri(target)
        .header("content-type", media)
        .header("user-agent", "editor-b")
        .body(if body.is_null() {
            Vec::new()
        } else {
            body.to_string().into_bytes()
        })
        .unwrap()
}

fn applied(replicas: i64) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": replicas, "template": {"spec": {"containers": [
            {"name": "nginx", "image": "nginx:1.25"}]}}},
    })
}

/// A Deployment that one manager created and another one applied to.
fn deployment() -> (ApiServer, Value) {
    let mut server = ApiServer::default();
    let object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {
            "replicas": 2, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [
                {"name": "nginx", "image": "nginx:1.25", "ports": [{"containerPort": 80}]}]}},
        },
    });
    call(
        &mut server,
        "POST",
        DEPLOYMENTS,
        "application/json",
        &object,
    );
    let target = format!("{DEPLOYMENTS}/web?fieldManager=editor-a&force=true");
    let object = call(
        &mut server,
        "PATCH",
        &target,
        "application/apply-patch+yaml",
        &applied(3),
    );
    (server, object)
}

fn pod() -> (ApiServer, Value) {
    let mut server = ApiServer::default();
    let containers: Vec<Value> = (0..10)
        .map(|i| {
            json!({
                "name": format!("c{i}"), "image": "nginx:1.25",
                "ports": [{"containerPort": 8000 + i}],
                "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
                "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
            })
        })
        .collect();
    let object = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "many"},
        "spec": {"containers": containers},
    });
    let object = call(&mut server, "POST", PODS, "application/json", &object);
    (server, object)
}

fn bench(c: &mut Criterion, name: &str, server: &ApiServer, request: Request<Vec<u8>>, code: u16) {
    let mut probe = server.clone();
    let answer = probe.handle(request.clone());
    assert_eq!(
        answer.status(),
        code,
        "{name}: {}",
        String::from_utf8_lossy(answer.body())
    );
    c.bench_function(name, |b| {
        b.iter_batched(
            || (server.clone(), request.clone()),
            |(mut server, request)| (black_box(server.handle(request)), server),
            BatchSize::SmallInput,
        );
    });
}

fn writes(c: &mut Criterion) {
    let (server, object) = deployment();
    let web = format!("{DEPLOYMENTS}/web");
    let mut changed = object.clone();
    changed["spec"]["replicas"] = 7.into();
    let json = "application/json";
    bench(
        c,
        "get",
        &server,
        request("GET", &web, json, &Value::Null),
        200,
    );
    bench(
        c,
        "update",
        &server,
        request("PUT", &web, json, &changed),
        200,
    );
    let patch = json!({"spec": {"replicas": 7}});
    for (name, media) in [
        ("merge patch", "application/merge-patch+json"),
        (
            "strategic merge patch",
            "application/strategic-merge-patch+json",
        ),
    ] {
        bench(c, name, &server, request("PATCH", &web, media, &patch), 200);
    }
    let operations = json!([{"op": "replace", "path": "/spec/replicas", "value": 7}]);
    let media = "application/json-patch+json";
    bench(
        c,
        "json patch",
        &server,
        request("PATCH", &web, media, &operations),
        200,
    );
    let apply = |manager: &str, replicas: i64| {
        let target = format!("{web}?fieldManager={manager}");
        request(
            "PATCH",
            &target,
            "application/apply-patch+yaml",
            &applied(replicas),
        )
    };
    bench(c, "apply with a change", &server, apply("editor-a", 7), 200);
    bench(
        c,
        "apply without a change",
        &server,
        apply("editor-a", 3),
        200,
    );
    bench(
        c,
        "apply that conflicts",
        &server,
        apply("editor-c", 7),
        409,
    );

    let (server, object) = pod();
    let many = format!("{PODS}/many");
    let mut changed = object.clone();
    changed["metadata"]["labels"] = json!({"a": "b"});
    bench(
        c,
        "pod: get",
        &server,
        request("GET", &many, json, &Value::Null),
        200,
    );
    bench(
        c,
        "pod: update",
        &server,
        request("PUT", &many, json, &changed),
        200,
    );
    let patch = json!({"spec": {"containers": [{"name": "c5", "image": "nginx:1.26"}]}});
    let media = "application/strategic-merge-patch+json";
    bench(
        c,
        "pod: strategic merge patch",
        &server,
        request("PATCH", &many, media, &patch),
        200,
    );
    let config = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "many", "labels": {"a": "b"}},
    });
    let target = format!("{many}?fieldManager=editor-a");
    let media = "application/apply-patch+yaml";
    bench(
        c,
        "pod: apply",
        &server,
        request("PATCH", &target, media, &config),
        200,
    );
}

criterion_group!(benches, writes);
criterion_main!(benches);
