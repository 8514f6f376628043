//! A history of requests, one per line: a byte each for method, path, media types and query, then
//! the body. None may make the server panic, or store anything when it refuses or only tries.
#![no_main]

use std::sync::LazyLock;

use http::Request;
use libfuzzer_sys::fuzz_target;
use optimist_apiserver::server::ApiServer;

const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

const PATHS: [&str; 20] = [
    "/api/v1/namespaces/default/configmaps/x",
    "/api/v1/namespaces/default/configmaps",
    "/apis/apps/v1/namespaces/default/deployments/x",
    "/apis/apps/v1/namespaces/default/deployments",
    "/apis/apps/v1/namespaces/default/deployments/x/status",
    "/apis/apps/v1/namespaces/default/deployments/x/scale",
    "/api/v1/namespaces/default/pods/x",
    "/api/v1/namespaces/default/services/x",
    "/apis/demo.example.com/v1/namespaces/default/backups/x",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/backups.demo.example.com",
    "/apis/demo.example.com/v1/namespaces/default/backups",
    "/api/v1/namespaces/default/pods",
    "/api/v1/namespaces/default/pods/x/status",
    "/api/v1/namespaces/default/services",
    "/apis/batch/v1/namespaces/default/cronjobs",
    "/apis/batch/v1/namespaces/default/cronjobs/x",
    "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
    "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
    "/api/v1/namespaces/default",
];

const MEDIA_TYPES: [&str; 6] = [
    "application/json",
    "application/yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
];

const ACCEPTED: [&str; 4] = [
    "application/json",
    "application/yaml",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
];

const QUERIES: [&str; 12] = [
    "",
    "?fieldManager=m",
    "?fieldManager=m&force=true",
    "?fieldValidation=Strict",
    "?labelSelector=a%20in%20(b)&fieldSelector=metadata.name%3Dx",
    "?dryRun=All",
    "?dryRun=All&fieldManager=m&force=true",
    "?fieldValidation=Warn",
    "?limit=1",
    "?watch=true&resourceVersion=1",
    "?resourceVersion=0&resourceVersionMatch=NotOlderThan",
    "?propagationPolicy=Foreground",
];

/// A server that already has one object of each kind.
static SERVER: LazyLock<ApiServer> = LazyLock::new(|| {
    let mut server = ApiServer::default();
    let backup = include_str!("../../tests/conformance/crds/backups.demo.example.com.json");
    let deployment = r#"{"metadata": {"name": "x"}, "spec": {"selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [
        {"name": "c", "image": "i", "ports": [{"containerPort": 80}], "env": [{"name": "E"}]}]}}}}"#;
    let pod =
        r#"{"metadata": {"name": "x"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}"#;
    let custom = r#"{"apiVersion": "demo.example.com/v1", "kind": "Backup", "metadata": {"name": "x"},
        "spec": {"targets": [{"name": "a"}], "tags": ["a"]}}"#;
    for (path, body) in [
        (PATHS[9], backup),
        (
            PATHS[1],
            r#"{"metadata": {"name": "x"}, "data": {"a": "1"}}"#,
        ),
        (PATHS[3], deployment),
        ("/api/v1/namespaces/default/pods", pod),
        (
            "/apis/demo.example.com/v1/namespaces/default/backups",
            custom,
        ),
    ] {
        if let Ok(request) = Request::post(path).body(body.as_bytes().to_vec()) {
            server.handle(request);
        }
    }
    server
});

fuzz_target!(|data: &[u8]| {
    let mut server = SERVER.clone();
    for line in data.split(|byte| *byte == b'\n').take(16) {
        let [method, path, media, query, body @ ..] = line else {
            continue;
        };
        let pick =
            |choices: &[&'static str], byte: &u8| choices[usize::from(*byte) % choices.len()];
        let target = format!("{}{}", pick(&PATHS, path), pick(&QUERIES, query));
        let request = Request::builder()
            .method(pick(&METHODS, method))
            .uri(target)
            .header("content-type", pick(&MEDIA_TYPES, media))
            .header("accept", pick(&ACCEPTED, &(media / 6)))
            .header("user-agent", "fuzz")
            .body(body.to_vec());
        let Ok(request) = request else { continue };
        let revision = server.store().revision();
        let response = server.handle(request);
        // A deletion with a body takes its options from that alone.
        let by_body = pick(&METHODS, method) == "DELETE" && !body.is_empty();
        let dry_run = !by_body && pick(&QUERIES, query).contains("dryRun");
        // What the client accepts is looked at when all is done (`doTransformObject`).
        let stores = response.status().is_success() || response.status() == 406;
        if dry_run || !stores {
            assert_eq!(server.store().revision(), revision);
        }
    }
});
