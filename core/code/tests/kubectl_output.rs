//! The output of kubectl, compared with that of kubectl v1.36.

use std::sync::Arc;

use http::Method;
use optimist_apiserver::server::{ApiServer, Fact, Resource};
use optimist_code::{ClientRequest, KubectlOutput, kubectl_output};
use optimist_simulation::Exchange;
use serde_json::{Value, json};

/// Commands of kubectl v1.36 against a kube-apiserver v1.36: the request, the answer, and what was
/// printed. A `replace` of a body
/// without a version is left out: the page sends it with `--raw`. `STDIN` stands for the name of the file, and an answer has only what is printed of it.
const PRINTED: &str = include_str!("kubectl/printed.json");

/// The kind of backups that the real server had.
const BACKUPS: &str = include_str!("../../client/tests/kubectl/backups.json");

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn output(server: &ApiServer, case: &Value) -> KubectlOutput {
    let target = text(case, "target");
    let parts: Vec<&str> = target.split('?').next().unwrap().split('/').collect();
    let resource: Option<&Resource> = match parts.as_slice() {
        ["", "apis", group, version, "namespaces", _, plural, ..] => {
            server.resources().by_path(group, version, plural)
        }
        _ => None,
    }
    .map(AsRef::as_ref);
    let exchange = Exchange {
        method: Method::from_bytes(text(case, "method").as_bytes()).unwrap(),
        target: target.to_owned(),
        content_type: text(case, "content_type").to_owned(),
        manager: "kubectl".to_owned(),
        sent: Arc::new(case["body"].clone()),
        code: case["code"].as_u64().unwrap() as u16,
        received: Arc::new(case["answer"].clone()),
        warnings: Vec::new(),
        facts: match case["changed"] {
            Value::Bool(false) => vec![Fact::Unchanged(100)],
            _ => Vec::new(),
        },
    };
    let call = ClientRequest {
        method: exchange.method.as_str(),
        target: &exchange.target,
        content_type: &exchange.content_type,
        user_agent: &exchange.manager,
        body: &exchange.sent,
        resource,
        edits: None,
        attempts: 1,
        reads_again: false,
        migrates: false,
    };
    kubectl_output(&call, &exchange)
}

#[test]
fn the_terminal_shows_what_kubectl_printed() {
    let mut server = ApiServer::default();
    let definition = http::Request::post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
        .header("content-type", "application/json")
        .body(BACKUPS.as_bytes().to_vec());
    assert_eq!(server.handle(definition.unwrap()).status(), 201);
    let cases: Vec<Value> = serde_json::from_str(PRINTED).unwrap();
    let mut refused = 0;
    for case in &cases {
        let output = output(&server, case);
        let command = text(case, "command");
        assert_eq!(output.text, text(case, "printed"), "{command}");
        assert_eq!(json!(output.advice), case["advice"], "{command}");
        refused += usize::from(case["code"].as_u64() >= Some(400));
    }
    assert!(cases.len() > 15 && refused > 8, "{refused}");
}

#[test]
fn several_causes_have_a_line_each_and_a_dry_run_says_so() {
    let server = ApiServer::default();
    let target = "/apis/apps/v1/namespaces/default/deployments/web?dryRun=All";
    let body = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "resourceVersion": "1"}});
    let cause = |field: &str| json!({"field": field, "message": "Required value"});
    let answer = json!({"kind": "Status", "reason": "Invalid", "message": "long",
        "details": {"kind": "Deployment", "name": "web",
            "causes": [cause("spec.a"), cause("spec.b"), cause("spec.a")]}});
    let refused = json!({"method": "PUT", "target": target, "content_type": "application/json",
        "body": body, "code": 422, "answer": answer});
    assert_eq!(
        output(&server, &refused).text,
        "The Deployment \"web\" is invalid: \n* spec.a: Required value\n* spec.b: Required value\n"
    );
    let stored = json!({"method": "PUT", "target": target, "content_type": "application/json",
        "body": body, "code": 200, "answer": body});
    assert_eq!(
        output(&server, &stored).text,
        "deployment.apps/web replaced (server dry run)\n"
    );
}

#[test]
fn a_request_without_a_command_prints_the_answer() {
    let server = ApiServer::default();
    let target = "/apis/apps/v1/namespaces/default/deployments/web";
    // Without a version it is sent with --raw.
    let body = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}});
    let raw = json!({"method": "PUT", "target": target, "content_type": "application/json",
        "body": body, "code": 200, "answer": body});
    let raw = output(&server, &raw);
    assert!(raw.is_object && raw.text.starts_with('{'), "{raw:?}");
    // No file with a Scale is sent without --raw, whatever version it has.
    let body = json!({"apiVersion": "autoscaling/v1", "kind": "Scale",
        "metadata": {"name": "web", "resourceVersion": "1"}, "spec": {"replicas": 2}});
    let mut scale = json!({"method": "PUT", "target": format!("{target}/scale"),
        "content_type": "application/json", "body": body, "code": 200, "answer": body});
    assert!(output(&server, &scale).text.starts_with('{'));
    scale["code"] = 409.into();
    scale["answer"] = json!({"kind": "Status", "reason": "Conflict", "message": "modified"});
    assert_eq!(
        output(&server, &scale).text,
        "Error from server (Conflict): modified\n"
    );
    let read = json!({"method": "GET", "target": target, "code": 200, "body": null,
        "answer": {"kind": "Deployment", "metadata": {"name": "web", "managedFields": [{}]}}});
    let read = output(&server, &read);
    assert_eq!(read.text, "kind: Deployment\nmetadata:\n  name: web\n");
}

#[test]
fn an_answer_that_is_no_json_is_not_printed_as_one() {
    let case =
        json!({"method": "GET", "target": "/healthz", "code": 200, "body": null, "answer": null});
    let printed = output(&ApiServer::default(), &case);
    assert_eq!(printed, KubectlOutput::default());
}
