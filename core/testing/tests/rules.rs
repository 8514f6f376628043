//! Effects of rules on requests on their way.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use http::{Request, Response};
use optimist_testing::{Body, LoggedRequest, Lost, Rule, TestClient, TestServer};
use serde_json::{Value, json};
use tower_service::Service;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const SETTINGS: &str = "/api/v1/namespaces/default/configmaps/settings";

type Call = Pin<
    Box<
        dyn Future<Output = Result<Response<Body>, Box<dyn std::error::Error + Send + Sync>>>
            + Send,
    >,
>;

fn server() -> TestServer {
    let settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: '1'}\n";
    TestServer::default().with_objects(settings).unwrap()
}

fn set(client: &TestClient, key: &str, value: &str) -> u16 {
    let patch = json!({"data": {key: value}});
    client.send("PATCH", SETTINGS, &patch).code
}

fn value(server: &TestServer, key: &str) -> Value {
    let read = server.client("reader").send("GET", SETTINGS, &Value::Null);
    read.body["data"][key].clone()
}

/// Sends a request as kube does.
fn call(client: &TestClient, method: &str, target: &str, body: &str) -> Call {
    let request = Request::builder().method(method).uri(target);
    let request = request.header("content-type", "application/merge-patch+json");
    let body = Body::from(body.as_bytes().to_vec());
    client.clone().call(request.body(body).unwrap())
}

fn poll(call: &mut Call) -> Poll<Result<u16, String>> {
    let context = &mut Context::from_waker(Waker::noop());
    let answer = call.as_mut().poll(context);
    answer.map(|it| {
        it.map(|it| it.status().as_u16())
            .map_err(|it| it.to_string())
    })
}

fn lost_updates(server: &TestServer) -> Vec<String> {
    let lost = server.lost_updates();
    lost.iter().map(ToString::to_string).collect()
}

#[test]
fn a_lost_answer_leaves_the_write_done_and_its_writer_without_knowledge() {
    let server = server();
    server.add(
        Rule::on("PATCH", SETTINGS)
            .from_client("alice")
            .nth(1)
            .drops_answer(),
    );
    let alice = server.client("alice");
    assert_eq!(set(&alice, "a", "2"), 0);
    assert_eq!(value(&server, "a"), "2");
    let told = server.requests()[0].to_string();
    assert!(told.contains("-> 200 (the answer was lost)"), "{told}");
    let mut call = call(
        &server.client("bob"),
        "PATCH",
        SETTINGS,
        r#"{"data": {"a": "3"}}"#,
    );
    assert_eq!(poll(&mut call), Poll::Ready(Ok(200)));
    assert_eq!(
        lost_updates(&server),
        ["bob took away .data.a, which alice had written"]
    );
}

#[test]
fn what_only_a_lost_answer_showed_was_not_shown() {
    for is_lost in [false, true] {
        let server = server();
        let (alice, bob) = (server.client("alice"), server.client("bob"));
        if is_lost {
            server.add(Rule::on("GET", SETTINGS).from_client("bob").drops_answer());
        }
        assert_eq!(set(&alice, "a", "2"), 200);
        bob.send("GET", SETTINGS, &Value::Null);
        assert_eq!(set(&bob, "a", "3"), 200);
        assert_eq!(server.lost_updates().len(), usize::from(is_lost));
    }
}

#[test]
fn a_lost_request_is_not_seen_by_the_server() {
    let server = server();
    server.add(
        Rule::on("PATCH", SETTINGS)
            .from_client("kube")
            .drops_request(),
    );
    let kube = server.client("kube");
    let mut call = call(&kube, "PATCH", SETTINGS, r#"{"data": {"a": "2"}}"#);
    let error = "the connection was closed before an answer came";
    assert_eq!(poll(&mut call), Poll::Ready(Err(error.to_owned())));
    assert_eq!(value(&server, "a"), "1");
    let request = &server.requests()[0];
    assert_eq!((request.code, request.lost), (0, Some(Lost::Request)));
    assert_eq!(server.audit_log().lines().count(), 1, "only the read");
}

#[test]
fn a_request_that_is_late_meets_what_others_wrote_meanwhile() {
    let server = server();
    let late = Duration::from_secs(5);
    server.add(
        Rule::on("PUT", SETTINGS)
            .from_client("bob")
            .delays_request(late),
    );
    let (alice, bob) = (server.client("alice"), server.client("bob"));
    let read = bob.send("GET", SETTINGS, &Value::Null).body.to_string();
    let mut update = call(&bob, "PUT", SETTINGS, &read);
    assert!(poll(&mut update).is_pending());
    assert_eq!(set(&alice, "a", "2"), 200);
    server.advance(Duration::from_secs(4));
    assert!(poll(&mut update).is_pending());
    server.advance(Duration::from_secs(1));
    // PUT has the media type of a patch here, and the server says so.
    assert_eq!(poll(&mut update), Poll::Ready(Ok(415)));
    let mut update: Value = serde_json::from_str(&read).unwrap();
    update["data"]["b"] = "1".into();
    assert_eq!(bob.send("PUT", SETTINGS, &update).code, 409);
}

#[test]
fn an_answer_that_is_late_shows_what_was_and_not_what_is() {
    let server = server();
    let late = Duration::from_secs(5);
    server.add(Rule::on("GET", MAPS).from_client("bob").delays_answer(late));
    let (alice, bob) = (server.client("alice"), server.client("bob"));
    for target in [SETTINGS, MAPS] {
        let mut read = call(&bob, "GET", target, "");
        assert!(poll(&mut read).is_pending());
        assert_eq!(set(&alice, "a", target), 200);
        server.advance(late);
        assert_eq!(poll(&mut read), Poll::Ready(Ok(200)));
        let before = server.lost_updates().len();
        assert_eq!(set(&bob, "a", "3"), 200);
        assert_eq!(server.lost_updates().len(), before + 1, "{target}");
    }
    // With nothing in between, the late answer does show it.
    for target in [SETTINGS, MAPS] {
        assert_eq!(set(&alice, "a", target), 200);
        let before = server.lost_updates().len();
        assert_eq!(bob.send("GET", target, &Value::Null).code, 200);
        assert_eq!(set(&bob, "a", "3"), 200);
        assert_eq!(server.lost_updates().len(), before, "{target}");
    }
}

#[test]
fn a_delay_lets_the_time_pass_for_a_client_that_waits() {
    let server = server();
    server.add(Rule::on("POST", MAPS).delays_request(Duration::from_secs(60)));
    let made = server
        .client("c")
        .send("POST", MAPS, &json!({"metadata": {"name": "a"}}));
    assert_eq!(
        made.body["metadata"]["creationTimestamp"],
        "2026-01-01T00:01:00Z"
    );
}

#[test]
fn an_observer_can_write_between_two_requests_of_another() {
    let server = server();
    let other = server.client("other");
    let seen: Arc<Mutex<Vec<LoggedRequest>>> = Arc::default();
    let told = Arc::clone(&seen);
    server.add(
        Rule::on("GET", SETTINGS)
            .from_client("kubectl")
            .nth(1)
            .observes(move |exchange| {
                told.lock().unwrap().push(exchange.clone());
                assert_eq!(set(&other, "a", "2"), 200);
            }),
    );
    let kubectl = server.client("kubectl");
    let mut read = kubectl.send("GET", SETTINGS, &Value::Null).body;
    read["data"]["b"] = "1".into();
    assert_eq!(kubectl.send("PUT", SETTINGS, &read).code, 409);
    let seen = seen.lock().unwrap();
    assert_eq!(
        (seen.len(), &seen[0].received["data"]["a"]),
        (1, &json!("1"))
    );
}

#[test]
fn any_status_can_be_the_answer_and_rules_work_together() {
    let server = server();
    let denied = "admission webhook \"policy.example.com\" denied the request: no";
    let rule = Rule::on("PATCH", SETTINGS).nth(1);
    server.add(rule.clone().refuses_with(403, "Forbidden", denied));
    server.add(rule.clone().answers(500, Value::Null));
    server.add(rule.delays_request(Duration::from_secs(1)));
    let client = server.client("c");
    let answer = client.send("PATCH", SETTINGS, &json!({"data": {"a": "2"}}));
    assert_eq!(
        (answer.code, &answer.body["message"]),
        (403, &json!(denied))
    );
    assert_eq!(set(&client, "a", "2"), 200);
    assert!(server.requests()[0].by_rule);
}

#[test]
fn the_audit_log_has_what_the_server_saw_in_its_order() {
    let server = server();
    server.add(Rule::on("PATCH", SETTINGS).nth(2).refuses(409));
    let alice = server.client("alice");
    for value in ["2", "3", "4"] {
        set(&alice, "a", value);
    }
    let log = server.audit_log();
    let events: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events.len(), 2);
    assert_eq!(events[1]["requestObject"]["data"]["a"], "4");
    assert_eq!(
        (&events[1]["verb"], &events[1]["userAgent"]),
        (&json!("patch"), &json!("alice"))
    );
    assert_eq!(events[1]["responseObject"]["data"]["a"], "4");
}

#[test]
fn a_test_that_fails_keeps_its_requests_in_a_file() {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("failures");
    let _ = std::fs::remove_dir_all(&directory);
    let place = directory.clone();
    let test = std::thread::Builder::new().name("module::fails".to_owned());
    let failed = test.spawn(move || {
        let server = server().keeping_failures_in(&place);
        set(&server.client("alice"), "a", "2");
        server.assert_owners(("v1", "ConfigMap", "default/settings"), "/data/a", &["bob"]);
    });
    let message = failed.unwrap().join().unwrap_err();
    let message = message.downcast_ref::<String>().unwrap();
    assert!(message.starts_with(
        r#"/data/a of ConfigMap default/settings is owned by ["alice"], not by ["bob"]"#
    ));
    let log = std::fs::read_to_string(directory.join("module.fails.audit.log")).unwrap();
    assert!(log.contains(r#""verb":"patch""#), "{log}");
    // One that passes keeps nothing.
    let server = server().keeping_failures_in(&directory);
    set(&server.client("alice"), "a", "2");
    server.assert_owners(
        ("v1", "ConfigMap", "default/settings"),
        "/data/a",
        &["alice"],
    );
    server.assert_no_write_without_change();
    drop(server);
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1);
}
