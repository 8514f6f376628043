use std::time::Duration;

use http::{Request, Response};
use serde_json::{Value, json};

use crate::object::Metadata;
use crate::server::ApiServer;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const EVENTS: &str = "/api/v1/namespaces/default/events";

/// A server with the objects a to e in both collections; the version of each is known by its place.
fn server() -> (ApiServer, u64) {
    let mut server = ApiServer::default();
    let before = server.store().revision();
    for (path, object) in [
        (MAPS, json!({})),
        (EVENTS, json!({"involvedObject": {"namespace": "default"}})),
    ] {
        for name in ["a", "b", "c", "d", "e"] {
            let mut object = object.clone();
            object["metadata"] = json!({"name": name, "labels": {"name": name}});
            let request = Request::post(path).header("content-type", "application/json");
            let body = object.to_string().into_bytes();
            let response = server.handle(request.body(body).unwrap());
            assert_eq!(response.status(), 201, "{response:?}");
        }
    }
    (server, before)
}

fn get(server: &mut ApiServer, uri: &str) -> (Response<Vec<u8>>, Value) {
    let response = server.handle(Request::get(uri).body(Vec::new()).unwrap());
    let body = serde_json::from_slice(response.body()).unwrap();
    (response, body)
}

fn list(server: &mut ApiServer, uri: &str) -> Value {
    let (response, body) = get(server, uri);
    assert_eq!(response.status(), 200, "{uri}: {body}");
    body
}

fn refused(server: &mut ApiServer, uri: &str) -> (u16, String) {
    let (response, body) = get(server, uri);
    let message = body["message"].as_str().unwrap_or_default().to_owned();
    (response.status().as_u16(), message)
}

fn names(list: &Value) -> String {
    let items = list["items"].as_array().unwrap();
    items.iter().map(Metadata::name).collect()
}

fn token(list: &Value) -> &str {
    list["metadata"]["continue"].as_str().unwrap()
}

#[test]
fn chunks_are_of_one_version_whatever_is_written_in_between() {
    for path in [MAPS, EVENTS] {
        let (mut server, _) = server();
        let first = list(&mut server, &format!("{path}?limit=2"));
        assert_eq!(names(&first), "ab");
        assert_eq!(first["metadata"]["remainingItemCount"], 3);
        let delete = Request::delete(format!("{path}/d")).body(Vec::new());
        assert_eq!(server.handle(delete.unwrap()).status(), 200);
        let uri = format!("{path}?limit=2&continue={}", token(&first));
        let second = list(&mut server, &uri);
        assert_eq!(names(&second), "cd");
        assert_eq!(second.resource_version(), first.resource_version());
        let uri = format!("{path}?limit=2&continue={}", token(&second));
        let third = list(&mut server, &uri);
        assert_eq!(names(&third), "e");
        assert_eq!(third["metadata"].get("continue"), None);
    }
}

#[test]
fn a_selector_hides_how_many_are_left() {
    let (mut server, _) = server();
    let selected = format!("{MAPS}?limit=1&labelSelector=name+in+(b,d)");
    let first = list(&mut server, &selected);
    assert_eq!(names(&first), "b");
    assert_eq!(first["metadata"].get("remainingItemCount"), None);
    let uri = format!("{selected}&continue={}", token(&first));
    let second = list(&mut server, &uri);
    assert_eq!(names(&second), "d");
    // Whether one more will match is not known before it has been looked for.
    let uri = format!("{selected}&continue={}", token(&second));
    assert_eq!(names(&list(&mut server, &uri)), "");
}

#[test]
fn a_list_of_any_version_may_be_older_than_the_store() {
    let (mut server, before) = server();
    let any = format!("{MAPS}?resourceVersion=0");
    let cached = list(&mut server, &any);
    // Nothing happened to ConfigMaps since, so their cache has not heard of anything.
    assert_eq!(cached.resource_version(), (before + 5).to_string());
    let newest = list(&mut server, MAPS);
    assert_eq!(newest.resource_version(), (before + 10).to_string());
    let cached = list(&mut server, &any);
    assert_eq!(cached.resource_version(), (before + 10).to_string());
}

#[test]
fn any_version_is_listed_in_one_piece_by_the_cache_and_in_chunks_by_etcd() {
    let (mut server, _) = server();
    let any = |path| format!("{path}?limit=2&resourceVersion=0");
    assert_eq!(names(&list(&mut server, &any(MAPS))), "abcde");
    assert_eq!(names(&list(&mut server, &any(EVENTS))), "ab");
}

#[test]
fn a_version_with_a_limit_means_exactly_that_version() {
    let (mut server, before) = server();
    let version = before + 3;
    for (query, expected) in [("&limit=9", "abc"), ("", "abcde")] {
        let uri = format!("{MAPS}?resourceVersion={version}{query}");
        assert_eq!(names(&list(&mut server, &uri)), expected);
    }
}

#[test]
fn the_cache_waits_for_the_future_and_etcd_does_not() {
    let (mut server, _) = server();
    let now = server.store().revision();
    let message = format!("Timeout: Too large resource version: 99999999, current: {now}");
    for query in [
        "",
        "&resourceVersionMatch=Exact",
        "&resourceVersionMatch=NotOlderThan",
    ] {
        for (path, retry_after, waited) in [(MAPS, Some("1"), 3), (EVENTS, None, 0)] {
            let start = server.environment().elapsed();
            let uri = format!("{path}?resourceVersion=99999999{query}");
            let (response, body) = get(&mut server, &uri);
            assert_eq!(response.status(), 504);
            assert_eq!(body["message"], message.as_str());
            let header = response.headers().get("retry-after");
            assert_eq!(header.map(|value| value.to_str().unwrap()), retry_after);
            let elapsed = server.environment().elapsed() - start;
            assert_eq!(elapsed, Duration::from_secs(waited));
        }
    }
}

#[test]
fn a_list_of_one_name_asks_etcd_for_the_past() {
    let (mut server, before) = server();
    let exact = |version: u64| {
        format!(
            "{MAPS}?fieldSelector=metadata.name=a&resourceVersionMatch=Exact&resourceVersion={version}"
        )
    };
    assert_eq!(names(&list(&mut server, &exact(before + 1))), "a");
    let now = server.store().revision();
    server.compact(now).unwrap();
    assert_eq!(
        refused(&mut server, &exact(before + 1)),
        (
            410,
            "The resourceVersion for the provided list is too old.".to_owned()
        )
    );
    // The cache still has it for those who list everything.
    let all = format!(
        "{MAPS}?resourceVersionMatch=Exact&resourceVersion={}",
        before + 1
    );
    assert_eq!(names(&list(&mut server, &all)), "a");
    let (response, _) = get(&mut server, &exact(now + 1));
    assert_eq!(response.status(), 504);
    assert_eq!(response.headers().get("retry-after"), None);
}

#[test]
fn a_list_that_is_too_old_to_go_on_can_go_on_inconsistently() {
    let (mut server, _) = server();
    let first = list(&mut server, &format!("{EVENTS}?limit=2"));
    let delete = Request::delete(format!("{EVENTS}/d")).body(Vec::new());
    server.handle(delete.unwrap());
    let now = server.store().revision();
    server.compact(now).unwrap();
    let (response, status) = get(&mut server, &format!("{EVENTS}?continue={}", token(&first)));
    assert_eq!(response.status(), 410);
    assert_eq!(status["reason"], "Expired");
    let rest = list(
        &mut server,
        &format!("{EVENTS}?continue={}", token(&status)),
    );
    assert_eq!(names(&rest), "ce");
    assert_eq!(rest.resource_version(), now.to_string());
}

#[test]
fn a_token_goes_with_no_other_version() {
    let (mut server, before) = server();
    let first = list(&mut server, &format!("{MAPS}?limit=2"));
    let go_on = format!("{MAPS}?continue={}", token(&first));
    let (code, message) = refused(&mut server, &format!("{go_on}&resourceVersion={before}"));
    assert_eq!(code, 400);
    assert_eq!(
        message,
        "specifying resource version is not allowed when using continue"
    );
    let query = format!("{go_on}&resourceVersionMatch=NotOlderThan&resourceVersion={before}");
    assert_eq!(
        refused(&mut server, &query),
        (
            422,
            "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: \
             resourceVersionMatch is forbidden when continue is provided"
                .to_owned()
        )
    );
}

#[test]
fn a_get_asks_for_no_older_version_and_gets_the_newest() {
    let (mut server, before) = server();
    let (response, object) = get(&mut server, &format!("{MAPS}/a?resourceVersion={before}"));
    assert_eq!((response.status().as_u16(), object.name()), (200, "a"));
    let wrong =
        "resourceVersion: Invalid value: \"+1\": strconv.ParseUint: parsing \"+1\": invalid syntax";
    let uri = |path| format!("{path}/a?resourceVersion=%2B1");
    assert_eq!(refused(&mut server, &uri(MAPS)), (500, wrong.to_owned()));
    let wrong = format!("invalid resource version: {wrong}");
    assert_eq!(refused(&mut server, &uri(EVENTS)), (400, wrong));
    // What is missing is not looked for before its time.
    let missing = refused(
        &mut server,
        &format!("{EVENTS}/zz?resourceVersion=99999999"),
    );
    assert_eq!(missing.0, 504);
}

#[test]
fn all_namespaces_are_listed_in_the_order_of_their_keys() {
    let (mut server, _) = server();
    let namespace = json!({"metadata": {"name": "another"}})
        .to_string()
        .into_bytes();
    server.handle(Request::post("/api/v1/namespaces").body(namespace).unwrap());
    let object = json!({"metadata": {"name": "z"}}).to_string().into_bytes();
    let path = "/api/v1/namespaces/another/configmaps";
    server.handle(Request::post(path).body(object).unwrap());
    let all = "/api/v1/configmaps";
    assert_eq!(names(&list(&mut server, &format!("{all}?limit=3"))), "zab");
    let one = format!("{all}?fieldSelector=metadata.namespace=another");
    assert_eq!(names(&list(&mut server, &one)), "z");
    assert_eq!(
        server
            .handle(Request::post(all).body(vec![]).unwrap())
            .status(),
        405
    );
}
