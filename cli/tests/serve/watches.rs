//! Watches of a server that lets go of its history while they are open.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program::{Connection, Program};
use crate::{MAPS, map};

const EVENTS: &str = "/api/v1/namespaces/default/events";
const SECRETS: &str = "/api/v1/namespaces/default/secrets";

/// Opens a watch of a collection.
fn watch(program: &Program, collection: &str, options: &str) -> Connection {
    let mut watch = program.connect();
    let host = format!("Host: {}", program.authority());
    let target = format!("{collection}?watch=1&{options}");
    assert_eq!(watch.begin("GET", &target, &[&host], b""), (200, None));
    watch
}

/// Waits for one event, and for no other one beside it. `None` if the server ends the watch.
fn next(watch: &mut Connection) -> Option<Value> {
    let chunk = watch.chunk()?;
    Some(serde_json::from_str(&chunk).unwrap_or_else(|_| panic!("one line: {chunk}")))
}

fn create(program: &Program, collection: &str, object: &Value) -> String {
    let (code, made) = program.json("POST", collection, object);
    assert_eq!(code, 201, "{made}");
    version(&made)
}

fn event(name: &str) -> Value {
    json!({"metadata": {"name": name}, "involvedObject": {"namespace": "default"}})
}

fn version(object: &Value) -> String {
    let version = object["metadata"]["resourceVersion"].as_str();
    version.unwrap_or_default().to_owned()
}

/// Writes to another kind until the history does not go back to a version any more.
fn wait_until_compacted(program: &Program, version: &str) -> Value {
    for n in 0..200 {
        create(
            program,
            SECRETS,
            &json!({"metadata": {"name": format!("s{n}")}}),
        );
        // A kube-apiserver reads Events from etcd, and a watch of etcd needs its history.
        let options = format!("resourceVersion={version}&timeoutSeconds=1");
        let mut events = watch(program, EVENTS, &options);
        while let Some(event) = next(&mut events) {
            if event["type"] == "ERROR" {
                assert_eq!(events.chunk(), None, "an error ends the watch");
                return event;
            }
        }
    }
    panic!("nothing is compacted");
}

#[test]
fn idle_watches_outlive_a_compaction_and_one_from_before_it_is_told_that_it_expired() {
    let program = Program::start(&["--compaction-interval", "1"]);
    let old = create(&program, MAPS, &map("a"));
    let told = create(&program, EVENTS, &event("a"));
    let mut idle = [
        watch(&program, MAPS, &format!("resourceVersion={told}")),
        watch(&program, EVENTS, &format!("resourceVersion={told}")),
    ];
    let expired = json!({"type": "ERROR", "object": {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "The resourceVersion for the provided watch is too old.",
        "reason": "Expired", "code": 410}});
    assert_eq!(wait_until_compacted(&program, &old), expired);
    // The watch cache still has the changes since the start of the server.
    let mut cached = watch(&program, MAPS, &format!("resourceVersion={told}"));
    create(&program, MAPS, &map("b"));
    create(&program, EVENTS, &event("b"));
    for watch in idle.iter_mut().chain([&mut cached]) {
        let event = next(watch).expect("it is still open");
        assert_eq!(
            (&event["type"], &event["object"]["metadata"]["name"]),
            (&json!("ADDED"), &json!("b"))
        );
    }
}

#[test]
fn who_was_told_a_bookmark_goes_on_after_it_when_the_history_before_it_is_compacted() {
    let program = Program::start(&["--compaction-interval", "1"]);
    let mut from = create(&program, MAPS, &map("a"));
    let mut seconds = 3;
    let (mut idle, last) = loop {
        let begin = Instant::now();
        let options =
            format!("resourceVersion={from}&allowWatchBookmarks=true&timeoutSeconds={seconds}");
        let idle = watch(&program, MAPS, &options);
        let last = create(&program, MAPS, &map(&format!("b-{seconds}")));
        // The bookmark is due two seconds before the end, if there is a write until then.
        if begin.elapsed() < Duration::from_secs(seconds - 2) {
            break (idle, last);
        }
        // This machine needs longer for the write.
        (from, seconds) = (last, seconds * 2);
    };
    assert_eq!(next(&mut idle).expect("an event")["type"], "ADDED");
    let bookmark = next(&mut idle).expect("a bookmark before the end");
    assert_eq!(bookmark["type"], "BOOKMARK");
    let object = &bookmark["object"];
    assert_eq!(
        (&object["kind"], &object["metadata"]["name"]),
        (&json!("ConfigMap"), &Value::Null)
    );
    assert!(version(object).parse::<u64>().unwrap() >= last.parse().unwrap());
    assert_eq!(next(&mut idle), None, "its time is over");
    wait_until_compacted(&program, &last);
    let options = format!("resourceVersion={}", version(object));
    let mut again = watch(&program, MAPS, &options);
    create(&program, MAPS, &map("c"));
    let event = next(&mut again).expect("an event");
    assert_eq!(event["object"]["metadata"]["name"], "c", "{event}");
}
