use std::time::Duration;

use serde_json::json;

use super::*;

/// The body of an answer, as a client reads it.
fn read(response: &Response<Vec<u8>>) -> Value {
    match response.extensions().get::<ReadBody>() {
        Some(read) => Value::clone(read.object()),
        None => serde_json::from_slice(response.body()).unwrap(),
    }
}

fn send(server: &mut ApiServer, method: &str, path: &str, body: &Value) -> Value {
    let body = match body.is_null() {
        true => Vec::new(),
        false => body.to_string().into_bytes(),
    };
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", "application/json");
    read(&server.handle(request.body(body).unwrap()))
}

fn map(name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name}, "data": {"key": value}})
}

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn answers(server: &ApiServer) -> usize {
    server.answer_cache.as_ref().unwrap().lock().answers.len()
}

#[test]
fn a_request_is_answered_once_by_all_servers_that_are_the_same() {
    let mut server = ApiServer::default();
    server.cache_answers();
    let mut other = server.clone();
    let first = send(&mut server, "POST", MAPS, &map("a", "1"));
    assert_eq!(send(&mut other, "POST", MAPS, &map("a", "1")), first);
    assert_eq!(answers(&server), 1);
    assert_eq!(
        server.store().revision(),
        other.store().revision(),
        "the other has stored it too"
    );
    let reads = [MAPS, &format!("{MAPS}/a")];
    for path in reads {
        let read = send(&mut server, "GET", path, &Value::Null);
        assert_eq!(send(&mut other, "GET", path, &Value::Null), read);
    }
    assert_eq!(answers(&server), 3);
}

#[test]
fn servers_with_different_histories_or_times_answer_for_themselves() {
    let mut server = ApiServer::default();
    server.cache_answers();
    let mut clones = [(); 4].map(|()| server.clone());
    send(&mut clones[1], "POST", MAPS, &map("b", "1"));
    clones[2].environment_mut().advance(Duration::from_secs(9));
    let mut installed = map("b", "2");
    installed["metadata"] = json!({"name": "b", "namespace": "default",
        "uid": "00000000-0000-4000-8000-000000000001",
        "creationTimestamp": "2026-01-01T00:00:00Z"});
    clones[3].install(installed).unwrap();
    for server in &mut clones {
        let mut forgetful = ApiServer {
            answer_cache: None,
            ..server.clone()
        };
        for (method, path, body) in [
            ("POST", MAPS, map("a", "1")),
            ("GET", MAPS, Value::Null),
            ("GET", &format!("{MAPS}/b"), Value::Null),
        ] {
            assert_eq!(
                send(server, method, path, &body),
                send(&mut forgetful, method, path, &body)
            );
        }
    }
}

#[test]
fn a_write_that_draws_nothing_is_answered_once_whatever_was_drawn_before() {
    let mut server = ApiServer::default();
    server.cache_answers();
    send(&mut server, "POST", MAPS, &map("a", "1"));
    let answered = |method: &str, path: &str, body: Value, drawn: usize| {
        let mut server = server.clone();
        for _ in 0..drawn {
            server.environment_mut().draw();
        }
        let mut forgetful = ApiServer {
            answer_cache: None,
            ..server.clone()
        };
        let answer = send(&mut server, method, path, &body);
        assert_eq!(answer, send(&mut forgetful, method, path, &body));
        assert_eq!(server.environment(), forgetful.environment());
        (answers(&server), server.place())
    };
    let object = format!("{MAPS}/a");
    let first = answered("PUT", &object, map("a", "2"), 0);
    assert_eq!(first.0, 2);
    assert_eq!(answered("PUT", &object, map("a", "2"), 3), first);
    let created = answered("POST", MAPS, map("b", "1"), 0);
    assert_eq!(created.0, 3);
    let other = answered("POST", MAPS, map("b", "1"), 3);
    assert_eq!(other.0, 4, "it has another uid");
    assert_ne!(other.1, created.1);
}

#[test]
fn an_object_is_read_once_at_all_times_and_a_table_and_a_wait_are_not() {
    let mut server = ApiServer::default();
    server.cache_answers();
    send(&mut server, "POST", MAPS, &map("a", "1"));
    let to_come = format!("{MAPS}?resourceVersion={}", server.store().revision() + 1);
    let answered = |headers: Option<&str>, path: &str, after: u64| {
        let mut server = server.clone();
        server.environment_mut().advance(Duration::from_secs(after));
        let now = server.environment().elapsed();
        let request = Request::get(path).header("accept", headers.unwrap_or("*/*"));
        let response = server.handle(request.body(Vec::new()).unwrap());
        let waited = server.environment().elapsed() - now;
        (read(&response), waited, answers(&server))
    };
    let first = answered(None, MAPS, 0);
    let later = answered(None, MAPS, 600);
    assert_eq!(first, later);
    let table = Some("application/json;as=Table;v=v1;g=meta.k8s.io");
    let (first, later) = (answered(table, MAPS, 0), answered(table, MAPS, 600));
    assert_ne!(first.0, later.0, "it has the age");
    let (first, later) = (answered(None, &to_come, 0), answered(None, &to_come, 600));
    assert_eq!((&first.0, first.1), (&later.0, later.1));
    assert!(later.1 > Duration::ZERO, "it waits each time");
}

#[test]
fn a_compacted_version_is_not_listed_from_the_cache() {
    let mut server = ApiServer::default();
    server.cache_answers();
    send(&mut server, "POST", MAPS, &map("a", "1"));
    let past = format!(
        "{MAPS}?resourceVersion={}&resourceVersionMatch=Exact",
        server.store().revision()
    );
    send(&mut server, "POST", MAPS, &map("b", "1"));
    let listed = send(&mut server, "GET", &past, &Value::Null);
    assert_eq!(listed["code"], Value::Null);
    server.compact(server.store().revision()).unwrap();
    server.restart();
    let listed = send(&mut server, "GET", &past, &Value::Null);
    assert_eq!(listed["code"], 410);
}

/// A body with a number that can become another one when it is written and read.
fn widget(version: &str, size: &str) -> Value {
    let widget = json!({"apiVersion": "demo.example.com/v1", "kind": "Widget",
        "metadata": {"name": "a", "resourceVersion": version}, "spec": {}});
    let text = widget.to_string();
    let text = text.replace(r#""spec":{}"#, &format!(r#""spec":{{"size":{size}}}"#));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn what_is_cached_changes_no_answer() {
    let (mut plain, mut cached) = (ApiServer::default(), ApiServer::default());
    cached.cache_parts();
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.demo.example.com"},
        "spec": {"group": "demo.example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object",
                    "x-kubernetes-preserve-unknown-fields": true}}}]},
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let widgets = "/apis/demo.example.com/v1/namespaces/default/widgets";
    let one = format!("{widgets}/a");
    let mut both = |method: &str, path: &str, body: &Value| {
        let expected = send(&mut plain, method, path, body);
        assert_eq!(
            send(&mut cached, method, path, body),
            expected,
            "{method} {path}"
        );
        expected
    };
    both("POST", definitions, &definition);
    let made = both("POST", widgets, &widget("", "1.1"));
    let version_of = |object: &Value| {
        object["metadata"]["resourceVersion"]
            .as_str()
            .map(str::to_owned)
    };
    let mut version = version_of(&made).unwrap();
    for size in [
        "1.0",
        "1.7976931348623157e308",
        "0.1234567890123456789",
        "2",
    ] {
        let body = widget(&version, size);
        version = version_of(&both("PUT", &one, &body)).unwrap();
        // The same body once more meets another version.
        assert_eq!(both("PUT", &one, &body)["code"], 409);
        assert_eq!(both("PUT", &one, &widget("", size))["code"], 422);
        both("GET", &one, &Value::Null);
        both("GET", widgets, &Value::Null);
    }
    both("DELETE", &one, &Value::Null);
    assert_eq!(both("GET", &one, &Value::Null)["code"], 404);
}
