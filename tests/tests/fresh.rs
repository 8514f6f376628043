//! A fresh server answers as the recorded one did right after its start.

use std::io::Read;
use std::path::Path;

use http::{Request, header};
use optimist_apiserver::environment::{Environment, Timestamp};
use optimist_apiserver::server::{ApiServer, Authorization};
use serde_json::{Value, json};

/// Answers that differ, and why.
const EXCEPTIONS: [(&str, &str); 4] = [
    (
        "/openapi/v2",
        "the recording has the hash of a whole document, whose sentences are not here",
    ),
    (
        "/openapi/v3/",
        "the recording has names of schemas and paths only, and hashes of whole documents",
    ),
    ("/metrics", "this server counts nothing"),
    (
        "/openapi/v3",
        "the recording has the hashes of whole documents",
    ),
];

fn recordings() -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/third/fresh.json.gz");
    let mut text = String::new();
    let mut reader = flate2::read::GzDecoder::new(std::fs::File::open(file).unwrap());
    reader.read_to_string(&mut text).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    all["recordings"].as_array().unwrap().clone()
}

fn is_exception(path: &str) -> bool {
    EXCEPTIONS
        .iter()
        .any(|(known, _)| match known.strip_suffix('/') {
            Some(_) => path.starts_with(known),
            None => path == *known,
        })
}

/// With placeholders for what differs between two servers.
fn normalized(value: &Value, key: &str) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| (name.clone(), normalized(member, name)))
            .collect(),
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(|item| normalized(item, "")).collect();
            if key == "managedFields" {
                items.sort_by_key(Value::to_string);
            }
            items.into()
        }
        Value::String(_) if key == "uid" => "<uid>".into(),
        Value::String(_) if key == "resourceVersion" => "<rv>".into(),
        Value::String(text) if Timestamp::parse(text).is_some() => "<time>".into(),
        Value::String(text) => text
            .replace("apiserver-optimist_0", "apiserver-<hash>_<uid>")
            .replace("apiserver-optimist", "apiserver-<hash>")
            .replace("127.0.0.1:6443", "<server>")
            .replace("127.0.0.1", "<loopback>")
            .replace(
                "192.0.2.1",
                match key {
                    "" => "<host-ip>",
                    _ => "<server>",
                },
            )
            .replace("optimist", "<host>")
            .into(),
        other => other.clone(),
    }
}

fn answer(server: &mut ApiServer, recording: &Value) -> Value {
    let text = |member: &str| recording[member].as_str().unwrap();
    let request = Request::get(text("path")).header(header::ACCEPT, text("accept"));
    let response = server.handle(request.body(Vec::new()).unwrap());
    let content_type = response.headers().get(header::CONTENT_TYPE);
    let content_type = content_type.map_or("", |value| value.to_str().unwrap());
    let body = String::from_utf8(response.body().clone()).unwrap();
    let body = serde_json::from_str(&body).unwrap_or_else(|_| body.clone().into());
    json!({"status": response.status().as_u16(), "content_type": content_type,
        "response": normalized(&body, "")})
}

/// Discovery without the group `events.k8s.io`.
fn without_events(mut answer: Value) -> Value {
    for list in ["/response/items", "/response/groups", "/response/paths"] {
        let items = answer.pointer_mut(list).and_then(Value::as_array_mut);
        if let Some(items) = items {
            items.retain(|item| {
                let is_path = item
                    .as_str()
                    .is_some_and(|path| path.contains("events.k8s.io"));
                let is_group = item["metadata"]["name"] == "events.k8s.io";
                !is_path && !is_group && item["name"] != "events.k8s.io"
            });
        }
    }
    answer
}

/// Returns the first place at which two values differ.
fn difference(wanted: &Value, got: &Value, at: &str) -> Option<String> {
    match (wanted, got) {
        (Value::Object(a), Value::Object(b)) => {
            let names: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            names
                .into_iter()
                .find_map(|name| difference(&wanted[name], &got[name], &format!("{at}/{name}")))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            (0..a.len()).find_map(|i| difference(&a[i], &b[i], &format!("{at}/{i}")))
        }
        _ if wanted == got => None,
        _ => {
            let cut = |value: &Value| value.to_string().chars().take(300).collect::<String>();
            Some(format!("{at}: wanted {}, got {}", cut(wanted), cut(got)))
        }
    }
}

#[test]
fn a_fresh_server_answers_as_the_recorded_one() {
    let mut differences = Vec::new();
    let mut compared = 0;
    for (name, authorization) in [
        ("AlwaysAllow", Authorization::AlwaysAllow),
        ("RBAC", Authorization::Rbac),
    ] {
        let mut server = ApiServer::fresh(Environment::default(), authorization);
        for recording in recordings() {
            let path = recording["path"].as_str().unwrap();
            if recording["authorization"] != name || is_exception(path) {
                continue;
            }
            let has_events = (server.resources())
                .by_path("events.k8s.io", "v1", "events")
                .is_some();
            if !has_events && path.contains("events.k8s.io") {
                continue;
            }
            compared += 1;
            let got = answer(&mut server, &recording);
            let wanted = json!({"status": recording["status"],
                "content_type": recording["content_type"],
                "response": normalized(&recording["response"], "")});
            let (wanted, got) = if has_events {
                (wanted, got)
            } else {
                (without_events(wanted), without_events(got))
            };
            if let Some(difference) = difference(&wanted, &got, "") {
                differences.push(format!("{name} {path} {difference}"));
            }
        }
    }
    assert!(compared > 80, "{compared}");
    assert!(
        differences.is_empty(),
        "{} of {compared}:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

#[test]
fn the_servers_own_service_is_there() {
    let mut server = ApiServer::fresh(Environment::default(), Authorization::AlwaysAllow);
    for path in [
        "/api/v1/namespaces/default/services/kubernetes",
        "/api/v1/namespaces/default/endpoints/kubernetes",
        "/version",
    ] {
        let response = server.handle(Request::get(path).body(Vec::new()).unwrap());
        assert_eq!(response.status(), 200, "{path}");
    }
}

#[test]
fn the_health_of_the_server_can_be_asked_check_by_check() {
    let mut server = ApiServer::default();
    let mut get = |path: &str| {
        let response = server.handle(Request::get(path).body(Vec::new()).unwrap());
        String::from_utf8(response.body().clone()).unwrap()
    };
    assert_eq!(get("/livez/ping"), "ok");
    assert!(get("/readyz?verbose").ends_with("[+]shutdown ok\nreadyz check passed\n"));
    assert!(get("/livez?verbose&exclude=etcd").contains("[+]etcd excluded: ok\n"));
    assert!(!get("/livez?verbose").contains("rbac"));
}
