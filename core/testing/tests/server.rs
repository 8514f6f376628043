//! The actions of a test server, and its record.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use http::Request;
use http_body::Body as _;
use optimist_testing::{Body, Rule, TestClient, TestServer};
use serde_json::{Value, json};
use tower_service::Service;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const SETTINGS: &str = "/api/v1/namespaces/default/configmaps/settings";

fn server() -> TestServer {
    let settings = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: '1'}\n";
    TestServer::default().with_objects(settings).unwrap()
}

fn set(client: &TestClient, key: &str, value: &str) -> u16 {
    client
        .send("PATCH", SETTINGS, &json!({"data": {key: value}}))
        .code
}

fn ready<T>(poll: Poll<T>) -> T {
    match poll {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing to wait for"),
    }
}

fn context() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

/// Sends a request as kube does.
fn call(client: &TestClient, target: &str) -> (u16, Body) {
    let request = Request::get(target).body(Body::from(Vec::new())).unwrap();
    let answer = client.clone().call(request).as_mut().poll(&mut context());
    let answer = ready(answer).unwrap();
    (answer.status().as_u16(), answer.into_body())
}

fn event(watch: &mut Body) -> Option<Value> {
    match Pin::new(watch).poll_frame(&mut context()) {
        Poll::Ready(Some(frame)) => {
            serde_json::from_slice(&frame.unwrap().into_data().unwrap()).ok()
        }
        _ => None,
    }
}

#[test]
fn the_third_patch_of_a_lease_answers_409_and_the_server_does_not_see_it() {
    let server = TestServer::default();
    server.add(
        Rule::on("PATCH", "/leases/")
            .from_client("elector")
            .nth(3)
            .refuses(409),
    );
    let (elector, other) = (server.client("elector"), server.client("other"));
    let leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    let lease = json!({"metadata": {"name": "l"}});
    assert_eq!(elector.send("POST", leases, &lease).code, 201);
    let renew = |client: &TestClient, n: i32| {
        let patch = json!({"spec": {"leaseTransitions": n}});
        client.send("PATCH", &format!("{leases}/l"), &patch).code
    };
    assert_eq!([renew(&elector, 1), renew(&elector, 2)], [200, 200]);
    assert_eq!(renew(&other, 3), 200);
    assert_eq!(renew(&elector, 4), 409);
    let stored = other.send("GET", &format!("{leases}/l"), &Value::Null).body;
    assert_eq!(stored["spec"]["leaseTransitions"], 3);
    assert_eq!(renew(&elector, 5), 200);
    let by_rule: Vec<bool> = server.requests().iter().map(|it| it.by_rule).collect();
    assert_eq!(by_rule, [false, false, false, false, true, false, false]);
}

#[test]
fn an_update_is_lost_if_its_remover_was_not_shown_it() {
    let server = server();
    let (alice, bob) = (server.client("alice"), server.client("bob"));
    let mut stale = bob.send("GET", SETTINGS, &Value::Null).body;
    assert_eq!(set(&alice, "a", "2"), 200);
    server.assert_no_lost_update();
    stale["metadata"]["resourceVersion"] = Value::Null;
    assert_eq!(bob.send("PUT", SETTINGS, &stale).code, 200);
    let lost: Vec<String> = server
        .lost_updates()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(lost, ["bob took away .data.a, which alice had written"]);
    let fails = std::panic::catch_unwind(|| server.assert_no_lost_update());
    let message = fails.unwrap_err();
    let message = message.downcast_ref::<String>().unwrap();
    assert!(
        message.contains("bob          PUT"),
        "the lanes are printed: {message}"
    );
}

#[test]
fn an_update_that_its_remover_was_shown_by_an_answer_or_by_a_watch_is_not_lost() {
    for is_watched in [false, true] {
        let server = server();
        let (alice, bob) = (server.client("alice"), server.client("bob"));
        let (code, mut watch) = call(&bob, &format!("{MAPS}?watch=1&resourceVersion=0"));
        assert_eq!(code, 200);
        assert_eq!(event(&mut watch).unwrap()["type"], "ADDED");
        assert_eq!(set(&alice, "a", "2"), 200);
        if is_watched {
            assert_eq!(event(&mut watch).unwrap()["object"]["data"]["a"], "2");
        } else {
            bob.send("GET", SETTINGS, &Value::Null);
        }
        assert_eq!(set(&bob, "a", "3"), 200);
        server.assert_no_lost_update();
    }
    let server = server();
    let (alice, bob) = (server.client("alice"), server.client("bob"));
    let (_, mut watch) = call(&bob, &format!("{MAPS}?watch=1&resourceVersion=0"));
    event(&mut watch);
    assert_eq!(set(&alice, "a", "2"), 200);
    // The event is on its way.
    assert_eq!(set(&bob, "a", "3"), 200);
    assert_eq!(server.lost_updates().len(), 1);
}

#[test]
fn writes_that_change_nothing_are_known_and_dry_runs_are_none_of_them() {
    let server = server();
    let alice = server.client("alice");
    assert_eq!(set(&alice, "a", "1"), 200);
    let dry = format!("{SETTINGS}?dryRun=All");
    alice.send("PATCH", &dry, &json!({"data": {"a": "1"}}));
    assert_eq!(set(&alice, "a", "2"), 200);
    let unchanged = server.writes_without_change();
    assert_eq!(unchanged.len(), 1);
    assert!(
        unchanged[0]
            .to_string()
            .ends_with("-> 200 (changed nothing)")
    );
}

#[test]
fn the_owners_of_a_field_are_those_of_managed_fields() {
    let server = server();
    let alice = server.client("alice");
    assert_eq!(set(&alice, "b", "1"), 200);
    let owners = |field: &str| server.owners("v1", "ConfigMap", "default/settings", field);
    assert_eq!(owners("/data/a"), ["optimist"]);
    assert_eq!(owners("/data/b"), ["alice"]);
    assert!(owners("/data/none").is_empty());
    assert!(server.owners("v1", "Nothing", "a", "/data").is_empty());
    assert!(
        server
            .owners("v1", "ConfigMap", "not there/a b", "/data")
            .is_empty()
    );
}

#[test]
fn a_fork_begins_with_everything_and_goes_its_own_way() {
    let server = server();
    let fork = server.fork();
    assert_eq!(set(&server.client("alice"), "a", "2"), 200);
    let value = |server: &TestServer| {
        let read = server.client("reader").send("GET", SETTINGS, &Value::Null);
        read.body["data"]["a"].clone()
    };
    assert_eq!((value(&server), value(&fork)), (json!("2"), json!("1")));
    assert_eq!((server.requests().len(), fork.requests().len()), (2, 1));
}

#[test]
fn time_passes_when_the_test_says_so() {
    let server = TestServer::default();
    let client = server.client("c");
    let made = |name: &str| {
        let made = client.send("POST", MAPS, &json!({"metadata": {"name": name}}));
        made.body["metadata"]["creationTimestamp"].clone()
    };
    assert_eq!(made("a"), "2026-01-01T00:00:00Z");
    assert_eq!(made("b"), "2026-01-01T00:00:00Z");
    server.advance(Duration::from_secs(90));
    assert_eq!(made("c"), "2026-01-01T00:01:30Z");
}

#[test]
fn a_watch_can_be_refused_by_a_rule_and_ends_when_its_time_is_over() {
    let server = server();
    server.add(Rule::on("GET", "/configmaps").nth(1).refuses(410));
    let client = server.client("c");
    let target = format!("{MAPS}?watch=1&timeoutSeconds=30");
    assert_eq!(call(&client, &target).0, 410);
    let (code, mut watch) = call(&client, &target);
    assert_eq!(code, 200);
    assert!(event(&mut watch).is_some());
    server.advance(Duration::from_secs(31));
    let end = Pin::new(&mut watch).poll_frame(&mut context());
    assert!(matches!(end, Poll::Ready(None)));
    let codes: Vec<u16> = server.requests().iter().map(|it| it.code).collect();
    assert_eq!(codes, [410, 200]);
}

#[test]
fn objects_that_cannot_be_had_are_refused_with_the_reason() {
    let refused = |text: &str| TestServer::default().with_objects(text).unwrap_err();
    assert!(
        refused("a: [").starts_with("Line 2, column 1:"),
        "{}",
        refused("a: [")
    );
    let bad = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NOT}\n";
    assert!(refused(bad).contains("ConfigMap \"NOT\" is invalid"));
}

#[test]
fn an_answer_that_is_no_json_is_recorded_as_its_text() {
    let server = TestServer::default();
    let client = server.client("c");
    assert_eq!(client.send("GET", "/healthz", &Value::Null).body, "ok");
    assert_eq!(server.requests()[0].received, "ok");
    let event: Value = serde_json::from_str(&server.audit_log()).unwrap();
    assert_eq!(event["responseStatus"]["code"], 200);
    assert_eq!(event["stage"], "ResponseComplete");
}

#[test]
fn a_watch_that_the_server_refuses_is_recorded_with_its_answer() {
    let server = server();
    let client = server.client("c");
    let (code, _) = call(&client, &format!("{MAPS}?watch=1&resourceVersion=x"));
    let request = &server.requests()[0];
    assert_eq!((code, request.code), (500, 500));
    let message = request.received["message"].as_str().unwrap();
    assert!(message.contains("parsing \"x\""), "{message}");
    let event: Value = serde_json::from_str(&server.audit_log()).unwrap();
    assert_eq!(event["responseStatus"]["code"], 500);
    // One that streams has no whole answer.
    call(&client, &format!("{MAPS}?watch=1"));
    assert_eq!(server.requests()[1].received, Value::Null);
}
