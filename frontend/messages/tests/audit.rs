//! The page's sentences about the conflicts of an audit log, whole.

use optimist_apiserver::apply::{Path, PathElement};
use optimist_apiserver::server::Release;
use optimist_diagnose::audit::findings::Findings;
use optimist_diagnose::audit::recorded::RecordedHistory;
use optimist_diagnose::audit::{AuditLog, AuditReader};
use optimist_diagnose::lanes::{Pace, RecordedLanes};
use optimist_messages::diagnose as messages;
use optimist_messages::lanes::{fight_pace, named_steps};
use serde_json::{Value, json};

/// A line of a log: a request of ctl about one ConfigMap.
fn line(second: usize, verb: &str, (code, query): (u16, &str), body: Value) -> Value {
    let mut line = json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse",
        "auditID": second.to_string(), "stage": "ResponseComplete", "verb": verb, "userAgent": "ctl/v1",
        "requestURI": format!("/api/v1/namespaces/shop/configmaps/cfg{query}"),
        "objectRef": {"resource": "configmaps", "namespace": "shop", "name": "cfg", "apiVersion": "v1"},
        "responseStatus": {"code": code},
        "requestReceivedTimestamp": format!("2026-05-02T10:00:{second:02}.000000Z")});
    match body {
        Value::Null => line["level"] = "Metadata".into(),
        body => line["requestObject"] = body,
    }
    line
}

fn config_map(version: Option<&str>, value: &str) -> Value {
    let mut object = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "cfg", "namespace": "shop"}, "data": {"a": value}});
    if let Some(version) = version {
        object["metadata"]["resourceVersion"] = version.into();
    }
    object
}

/// What is said of the only conflict of a log: its first line is another user's read, the second one is refused.
fn said(later: Vec<Value>) -> String {
    let mut lines = vec![
        line(0, "get", (200, ""), Value::Null),
        line(1, "update", (409, ""), config_map(Some("100"), "1")),
    ];
    lines[0]["userAgent"] = "kubectl/v1.36.0".into();
    lines.extend(later);
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    let log = AuditReader::new(lines.join("\n").into()).finish();
    let (object, _) = log.objects().remove(0);
    let history = RecordedHistory::new(object, &[], Release::default()).finish(&log);
    let conflicts = Findings::search(&history, &log).conflicts;
    assert_eq!(conflicts.len(), 1);
    said_of(&history, &log, &Findings::search(&history, &log))
}

/// What is said of the first conflict of a history.
fn said_of(history: &RecordedHistory, log: &AuditLog, findings: &Findings) -> String {
    let lanes = RecordedLanes::of_log(history, log, findings);
    let conflict = &findings.conflicts[0];
    messages::recorded_conflict(conflict, &messages::sender(history, &lanes, conflict.step))
}

/// What is said of the only conflict of a log of users who all write with kubectl, by user, program and request.
fn said_of_users(requests: &[(&str, &str, &str, u16)]) -> String {
    let lines = requests
        .iter()
        .enumerate()
        .map(|(at, (user, agent, verb, code))| {
            let body = match *verb {
                "get" => Value::Null,
                _ => config_map(Some("100"), &at.to_string()),
            };
            let mut line = line(at, verb, (*code, ""), body);
            line["user"] = json!({"username": user});
            line["userAgent"] = (*agent).into();
            line.to_string()
        });
    let lines: Vec<String> = lines.collect();
    let log = AuditReader::new(lines.join("\n").into()).finish();
    let (object, _) = log.objects().remove(0);
    let history = RecordedHistory::new(object, &[], Release::default()).finish(&log);
    let findings = Findings::search(&history, &log);
    assert_eq!(findings.conflicts.len(), 1);
    said_of(&history, &log, &findings)
}

#[test]
fn a_reaction_to_a_conflict_names_the_user_where_two_write_as_one_manager() {
    let agent = "kubectl/v1.36.0";
    assert_eq!(
        said_of_users(&[
            ("anna", agent, "get", 200),
            ("ben", agent, "get", 200),
            ("anna", agent, "update", 200),
            ("ben", agent, "update", 409),
            ("anna", agent, "update", 200),
        ]),
        "After the conflict in step 4, kubectl (ben) wrote no more."
    );
    assert_eq!(
        said_of_users(&[
            ("ben", agent, "update", 409),
            ("ben", "kubectl/v1.35.2", "get", 200),
            ("ben", "kubectl/v1.35.2", "update", 200),
        ]),
        "After the conflict in step 1, kubectl read the object and wrote again (step 3).",
        "another version of the program writes in the same lane"
    );
}

#[test]
fn a_reaction_to_a_conflict_is_said_with_its_own_step() {
    let next = |verb, query, body| line(5, verb, (200, query), body);
    let update = |version, value| next("update", "", config_map(version, value));
    assert_eq!(
        said(vec![update(None, "2")]),
        "After the conflict in step 2, ctl wrote without the resourceVersion (step 3)."
    );
    assert_eq!(
        said(vec![update(Some("100"), "1")]),
        "After the conflict in step 2, ctl sent the same request again (step 3)."
    );
    assert_eq!(
        said(vec![update(Some("101"), "2")]),
        "After the conflict in step 2, ctl wrote something else (step 3). The log has no read by ctl in between."
    );
    assert_eq!(
        said(vec![next("get", "", Value::Null), update(Some("101"), "2")]),
        "After the conflict in step 2, ctl read the object and wrote again (step 4)."
    );
    assert_eq!(
        said(vec![next("patch", "?force=true", config_map(None, "2"))]),
        "After the conflict in step 2, ctl applied with force (step 3)."
    );
    assert_eq!(
        said(vec![next("update", "", Value::Null)]),
        "After the conflict in step 2, ctl wrote again (step 3). The log has no read by ctl in between, and does not \
         have the bodies of both requests."
    );
    assert_eq!(
        said(Vec::new()),
        "After the conflict in step 2, ctl wrote no more."
    );
}

#[test]
fn the_pace_of_a_fight_is_told_by_the_time_between_its_first_and_its_last_change() {
    let field = Path(vec![PathElement::Field("data".into())]);
    let pace = |micros: u64| Pace { changes: 3, micros };
    assert_eq!(
        fight_pace(&field, pace(200_000_000)),
        ".data changed 3 times. The last change came 200 s after the first one: at this pace about 36 changes an hour."
    );
    assert!(fight_pace(&field, pace(60_460_000)).contains(" 60 s "));
    // A few seconds say nothing of an hour, and a part of a second is not a second.
    assert_eq!(
        fight_pace(&field, pace(20_000_000)),
        ".data changed 3 times. The last change came 20 s after the first one."
    );
    assert_eq!(
        fight_pace(&field, pace(801_234)),
        ".data changed 3 times. The last change came 0.8 s after the first one."
    );
}

#[test]
fn a_step_is_found_where_a_sentence_names_it() {
    let says = "a set x in step 12. b replaced it in step 1 without reading it.";
    let named = |rows: &[usize]| {
        let (named, others) = named_steps(says, rows);
        let named = named.into_iter();
        let named: Vec<_> = named
            .map(|(place, row)| (says[place].to_owned(), row))
            .collect();
        (named, others)
    };
    let (first, twelfth) = (("step 1".to_owned(), 0), ("step 12".to_owned(), 11));
    assert_eq!(named(&[0, 11]), (vec![twelfth, first.clone()], vec![]));
    assert_eq!(
        named(&[0, 4]),
        (vec![first], vec![4]),
        "what it does not name stays"
    );
}
