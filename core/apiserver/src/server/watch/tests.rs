use std::time::Duration;

use http::{Method, Request};
use serde_json::{Value, json};

use crate::object::Metadata;
use crate::server::{ApiServer, EventType, Watch, WatchEvent};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const EVENTS: &str = "/api/v1/namespaces/default/events";

fn send(server: &mut ApiServer, method: Method, path: &str, body: Value) -> Value {
    let media = match method {
        Method::PATCH => "application/merge-patch+json",
        _ => "application/json",
    };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", media);
    let body = match body {
        Value::Null => Vec::new(),
        body => body.to_string().into_bytes(),
    };
    let response = server.handle(request.body(body).unwrap());
    assert!(response.status().is_success(), "{response:?}");
    serde_json::from_slice(response.body()).unwrap()
}

fn create(server: &mut ApiServer, name: &str) -> u64 {
    let object = json!({"metadata": {"name": name}});
    version(&send(server, Method::POST, MAPS, object))
}

fn patch(server: &mut ApiServer, name: &str, patch: Value) -> u64 {
    let path = format!("{MAPS}/{name}");
    version(&send(server, Method::PATCH, &path, patch))
}

fn create_event(server: &mut ApiServer, name: &str) -> u64 {
    let object = json!({"metadata": {"name": name}, "involvedObject": {"namespace": "default"}});
    version(&send(server, Method::POST, EVENTS, object))
}

fn version(object: &Value) -> u64 {
    object.resource_version().parse().unwrap()
}

fn open(server: &ApiServer, path: &str, query: &str) -> Watch {
    let request = Request::get(format!("{path}?watch=true&{query}"));
    server.watch(&request.body(Vec::new()).unwrap()).unwrap()
}

fn refusal(server: &ApiServer, query: &str) -> (u16, String) {
    let request = Request::get(format!("{MAPS}?{query}"));
    let response = server
        .watch(&request.body(Vec::new()).unwrap())
        .unwrap_err();
    let status: Value = serde_json::from_slice(response.body()).unwrap();
    let message = status["message"].as_str().unwrap().to_owned();
    (response.status().as_u16(), message)
}

fn wait(server: &mut ApiServer, seconds: u64) {
    let time = Duration::from_secs(seconds);
    server.environment_mut().advance(time);
}

/// `TYPE name@version` of each.
fn told(events: &[WatchEvent]) -> Vec<String> {
    let told = events.iter().map(|event| {
        let object = &event.object;
        match event.event_type {
            EventType::Error => format!("ERROR {}: {}", object["code"], object["message"]),
            other => format!("{other} {}@{}", object.name(), object.resource_version()),
        }
    });
    told.collect()
}

#[test]
fn a_dropped_watch_resumes_where_it_was() {
    let mut server = ApiServer::default();
    let a = create(&mut server, "a");
    let mut watch = open(&server, MAPS, &format!("resourceVersion={a}"));
    assert_eq!(told(&watch.poll(&server)), [""; 0]);
    drop(watch);
    let b = patch(&mut server, "a", json!({"data": {"x": "1"}}));
    let c = patch(&mut server, "a", json!({"data": {"x": "2"}}));
    let mut watch = open(&server, MAPS, &format!("resourceVersion={a}"));
    let expected = [format!("MODIFIED a@{b}"), format!("MODIFIED a@{c}")];
    assert_eq!(told(&watch.poll(&server)), expected);
    assert_eq!(told(&watch.poll(&server)), [""; 0]);
    assert!(watch.is_open());
}

#[test]
fn leaving_a_selector_shows_what_was_with_the_version_of_the_change() {
    let mut server = ApiServer::default();
    let from = create(&mut server, "a");
    let mut watch = open(
        &server,
        MAPS,
        &format!("labelSelector=x=1&resourceVersion={from}"),
    );
    let entered = patch(
        &mut server,
        "a",
        json!({"metadata": {"labels": {"x": "1"}}}),
    );
    let left = patch(
        &mut server,
        "a",
        json!({"metadata": {"labels": {"x": "2"}}}),
    );
    patch(&mut server, "a", json!({"data": {"unseen": "yes"}}));
    let events = watch.poll(&server);
    let expected = [format!("ADDED a@{entered}"), format!("DELETED a@{left}")];
    assert_eq!(told(&events), expected);
    assert_eq!(events[1].object["metadata"]["labels"]["x"], "1");
}

#[test]
fn a_watch_goes_on_with_any_clone_of_its_server() {
    let mut server = ApiServer::default();
    let mut watch = open(&server, MAPS, "resourceVersion=0");
    let (mut one, mut other) = (server.clone(), server.clone());
    let mut twin = watch.clone();
    let a = create(&mut one, "a");
    create(&mut other, "b");
    assert_eq!(told(&watch.poll(&one)), [format!("ADDED a@{a}")]);
    assert_eq!(told(&twin.poll(&other)), [format!("ADDED b@{a}")]);
    // Back in time there is nothing new.
    assert_eq!(told(&watch.poll(&server)), [""; 0]);
    create(&mut server, "c");
}

#[test]
fn compaction_makes_a_watch_of_etcd_too_old_but_not_one_of_the_cache() {
    let mut server = ApiServer::default();
    let first = create(&mut server, "a");
    let event = create_event(&mut server, "e");
    let path = format!("{EVENTS}/e");
    let merge = |n: &str| json!({"message": n});
    let second = version(&send(&mut server, Method::PATCH, &path, merge("2")));
    let third = version(&send(&mut server, Method::PATCH, &path, merge("3")));
    let mut early = open(&server, EVENTS, &format!("resourceVersion={event}"));
    server.compact(third).unwrap();
    let from = |server: &ApiServer, path: &str, version: u64| {
        told(&open(server, path, &format!("resourceVersion={version}")).poll(server))
    };
    assert_eq!(from(&server, MAPS, first - 1), [format!("ADDED a@{first}")]);
    let gone = "ERROR 410: \"The resourceVersion for the provided watch is too old.\"";
    assert_eq!(from(&server, EVENTS, event), [gone]);
    let lost = from(&server, EVENTS, second);
    assert!(lost[0].starts_with(
        "ERROR 500: \"Internal error occurred: etcd event received with PrevKv=nil (key="
    ));
    assert!(lost[0].contains(&format!("modRevision={third}, type=PUT")));
    assert_eq!(from(&server, EVENTS, third), [""; 0]);
    // What was on its way before is not lost.
    let sent = [
        format!("MODIFIED e@{second}"),
        format!("MODIFIED e@{third}"),
    ];
    assert_eq!(told(&early.poll(&server)), sent);
}

#[test]
fn a_restart_ends_watches_and_empties_the_cache() {
    let mut server = ApiServer::default();
    let a = create(&mut server, "a");
    create(&mut server, "b");
    let mut watch = open(&server, MAPS, &format!("resourceVersion={a}"));
    server.restart();
    watch.poll(&server);
    assert!(!watch.is_open());
    let mut watch = open(&server, MAPS, &format!("resourceVersion={a}"));
    let now = server.store().revision();
    let error = format!("ERROR 410: \"too old resource version: {a} ({now})\"");
    assert_eq!(told(&watch.poll(&server)), [error]);
    assert!(!watch.is_open());
}

#[test]
fn a_watch_ends_when_its_time_is_over_and_says_nothing_of_what_came_later() {
    let mut server = ApiServer::default();
    let mut watch = open(&server, MAPS, "timeoutSeconds=5");
    wait(&mut server, 5);
    let a = create(&mut server, "a");
    wait(&mut server, 1);
    create(&mut server, "b");
    assert_eq!(told(&watch.poll(&server)), [format!("ADDED a@{a}")]);
    assert!(!watch.is_open());
}

#[test]
fn a_watch_without_a_time_ends_within_an_hour() {
    let mut server = ApiServer::default();
    let mut watch = open(&server, MAPS, "");
    wait(&mut server, 1799);
    watch.poll(&server);
    assert!(watch.is_open());
    wait(&mut server, 1801);
    watch.poll(&server);
    assert!(!watch.is_open());
}

#[test]
fn bookmarks_come_every_minute_and_before_the_end_if_there_was_anything() {
    let mut server = ApiServer::default();
    let from = create(&mut server, "a");
    let query = format!("allowWatchBookmarks=true&timeoutSeconds=100&resourceVersion={from}");
    let mut watch = open(&server, MAPS, &query);
    wait(&mut server, 60);
    assert_eq!(told(&watch.poll(&server)), [""; 0], "nothing to tell");
    let b = create(&mut server, "b");
    wait(&mut server, 37);
    assert_eq!(told(&watch.poll(&server)), [format!("ADDED b@{b}")]);
    wait(&mut server, 3);
    assert_eq!(told(&watch.poll(&server)), [format!("BOOKMARK @{b}")]);
    assert!(!watch.is_open());
}

#[test]
fn a_watch_from_anywhere_that_allows_bookmarks_marks_the_end_of_the_initial_events() {
    let mut server = ApiServer::default();
    let a = create(&mut server, "a");
    for query in ["", "resourceVersion=0&"] {
        let events = open(&server, MAPS, &format!("{query}allowWatchBookmarks=true")).poll(&server);
        let expected = [format!("ADDED a@{a}"), format!("BOOKMARK @{a}")];
        assert_eq!(told(&events), expected);
        assert!(events[1].ends_initial_events());
    }
}

#[test]
fn initial_events_wait_three_seconds_for_a_version_to_come() {
    let mut server = ApiServer::default();
    let next = server.store().revision() + 1;
    let query = format!(
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion={next}"
    );
    let mut lucky = open(&server, MAPS, &query);
    let mut unlucky = lucky.clone();
    wait(&mut server, 2);
    assert_eq!(told(&lucky.poll(&server)), [""; 0]);
    let mut elsewhere = server.clone();
    create(&mut server, "a");
    let expected = [format!("ADDED a@{next}"), format!("BOOKMARK @{next}")];
    assert_eq!(told(&lucky.poll(&server)), expected);
    wait(&mut elsewhere, 1);
    let now = next - 1;
    let error =
        format!("ERROR 504: \"Timeout: Too large resource version: {next}, current: {now}\"");
    assert_eq!(told(&unlucky.poll(&elsewhere)), [error]);
    assert!(!unlucky.is_open());
}

#[test]
fn a_watch_of_the_future_is_silent_until_then() {
    let mut server = ApiServer::default();
    let next = server.store().revision() + 1;
    let mut watch = open(&server, MAPS, &format!("resourceVersion={next}"));
    create(&mut server, "a");
    assert_eq!(told(&watch.poll(&server)), [""; 0]);
    let b = create(&mut server, "b");
    assert_eq!(told(&watch.poll(&server)), [format!("ADDED b@{b}")]);
}

#[test]
fn what_cannot_be_watched_is_refused_before_the_stream() {
    let server = ApiServer::default();
    assert_eq!(
        refusal(&server, "watch=1&resourceVersion=abc"),
        (
            500,
            "resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid syntax"
                .to_owned()
        )
    );
    assert_eq!(refusal(&server, "watch=false").0, 405);
    assert_eq!(refusal(&server, "watch&fieldSelector=data.a=1").0, 400);
}

#[test]
fn a_watch_over_http_is_answered_line_by_line_with_what_is_there() {
    let mut server = ApiServer::default();
    create(&mut server, "a");
    create(&mut server, "b");
    for uri in [
        "/api/v1/configmaps?watch=true&fieldSelector=metadata.namespace=default",
        "/api/v1/watch/namespaces/default/configmaps",
        "/api/v1/watch/configmaps?labelSelector=!x",
    ] {
        let request = Request::get(uri).body(Vec::new()).unwrap();
        let response = server.handle(request);
        let text = String::from_utf8(response.into_body()).unwrap();
        let names = text.lines().map(|line| {
            let event: Value = serde_json::from_str(line).unwrap();
            assert_eq!(event["type"], "ADDED");
            event["object"].name().to_owned()
        });
        assert_eq!(names.collect::<Vec<_>>(), ["a", "b"], "{uri}");
    }
    let request = Request::get("/api/v1/watch/namespaces/default/configmaps/b");
    let response = server.handle(request.body(Vec::new()).unwrap());
    assert_eq!(response.body().iter().filter(|b| **b == b'\n').count(), 1);
}

#[test]
fn a_server_that_forgets_serves_what_its_caches_hold_and_ends_watches_that_are_too_slow() {
    let mut server = ApiServer::default();
    let first = create(&mut server, "a");
    let event = create_event(&mut server, "e");
    let mut slow = open(&server, MAPS, &format!("resourceVersion={first}"));
    let mut slow_event = open(&server, EVENTS, &format!("resourceVersion={event}"));
    let mut idle = open(
        &server,
        "/api/v1/namespaces/default/secrets",
        "resourceVersion=0",
    );
    let mut versions = Vec::new();
    for n in 0..150 {
        // The cache keeps only the newest hundred of changes that are far apart.
        wait(&mut server, 10);
        versions.push(patch(
            &mut server,
            "a",
            json!({"data": {"n": n.to_string()}}),
        ));
    }
    let newest = *versions.last().unwrap();
    let mut fresh = open(&server, MAPS, &format!("resourceVersion={newest}"));
    server.compact(newest).unwrap();
    server.forget();
    let changes = server.store().log_after(first).count();
    assert!((100..=102).contains(&changes), "{changes}");
    for watch in [&mut slow, &mut slow_event] {
        assert_eq!(told(&watch.poll(&server)), [""; 0]);
        assert!(!watch.is_open());
    }
    let from = versions[60];
    let mut cached = open(&server, MAPS, &format!("resourceVersion={from}"));
    assert_eq!(cached.poll(&server).len(), versions[61..].len());
    let last = patch(&mut server, "a", json!({"data": {"n": "last"}}));
    let expected = [format!("MODIFIED a@{last}")];
    assert_eq!(told(&fresh.poll(&server)), expected);
    assert_eq!(told(&cached.poll(&server)), expected);
    assert!(idle.poll(&server).is_empty() && idle.is_open());
}
