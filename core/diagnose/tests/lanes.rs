//! A recorded history in lanes: rows, lanes and marks are those of the raw JSON.

use std::collections::{BTreeMap, BTreeSet};

use optimist_apiserver::schema::builtin;
use optimist_apiserver::server::Release;
use optimist_diagnose::audit::findings::Findings;
use optimist_diagnose::audit::recorded::{KnownObject, RecordedHistory};
use optimist_diagnose::audit::{AuditLog, AuditReader};
use optimist_diagnose::lanes::{CoreMark, MAX_LANES, RecordedLanes, RowOutcome, VersionFate};
use optimist_diagnose::observed::{observed_versions, version_changes};
use serde_json::{Value, json};

const LOG: &str = include_str!("live/audit.log");
const WATCH: &str = include_str!("fight.json");

struct Recorded {
    log: AuditLog,
    history: RecordedHistory,
    lanes: RecordedLanes,
}

fn recorded(text: &str) -> Recorded {
    let log = AuditReader::new(text.into()).finish();
    let (object, _) = log.objects().remove(0);
    let history = RecordedHistory::new(object, &[], Release::default()).finish(&log);
    let findings = Findings::search(&history, &log);
    let lanes = RecordedLanes::of_log(&history, &log, &findings);
    Recorded {
        log,
        history,
        lanes,
    }
}

/// The events of a log as raw JSON: the last stage of each, in the order of their answers.
fn raw(text: &str) -> Vec<Value> {
    let mut events: BTreeMap<String, Value> = BTreeMap::new();
    for line in text.lines() {
        let event: Value = serde_json::from_str(line).expect("it is JSON");
        let id = event["auditID"].as_str().expect("it has an ID").to_owned();
        events.insert(id, event);
    }
    let mut events: Vec<Value> = events.into_values().collect();
    events.sort_by_key(|event| event["stageTimestamp"].as_str().map(str::to_owned));
    events
}

/// The manager of a raw event, as a server names it.
fn manager(event: &Value) -> String {
    let uri = event["requestURI"].as_str().expect("it has one");
    let (_, query) = uri.split_once('?').unwrap_or_default();
    let named = query
        .split('&')
        .find_map(|it| it.strip_prefix("fieldManager="));
    let agent = event["userAgent"].as_str().expect("it has one");
    named
        .or(agent.split('/').next())
        .expect("it has one")
        .to_owned()
}

#[test]
fn each_request_of_the_log_is_a_row_in_the_lane_of_its_manager() {
    let Recorded { lanes, .. } = recorded(LOG);
    let raw = raw(LOG);
    assert_eq!(lanes.rows.len(), raw.len());
    let managers: BTreeSet<String> = raw.iter().map(manager).collect();
    assert_eq!(lanes.lanes.len(), managers.len());
    for (row, event) in lanes.rows.iter().zip(&raw) {
        let of_row: Vec<&str> = row
            .lanes
            .iter()
            .map(|lane| lanes.lanes[*lane].clients[0].manager.as_str())
            .collect();
        assert_eq!(of_row, [manager(event)]);
        assert_eq!(row.mark, CoreMark::Same);
        let refused = event["responseStatus"]["code"] == json!(409);
        assert_eq!(row.outcome == RowOutcome::Refused, refused);
    }
    for lane in &lanes.lanes {
        let own = raw
            .iter()
            .filter(|event| manager(event) == lane.clients[0].manager);
        let writes = own.clone().filter(|event| {
            !["get", "list", "watch"].contains(&event["verb"].as_str().expect("it has one"))
        });
        assert_eq!(
            (lane.clients[0].rows, lane.writes()),
            (own.count(), writes.count())
        );
    }
}

#[test]
fn what_became_of_the_version_is_what_the_answers_say() {
    let Recorded { lanes, .. } = recorded(LOG);
    let mut stored = String::new();
    for (row, event) in lanes.rows.iter().zip(raw(LOG)) {
        let answered = event["responseObject"]["metadata"]["resourceVersion"].as_str();
        let answered = answered.unwrap_or_default().to_owned();
        let sent = event["requestObject"]["metadata"]["resourceVersion"].as_str();
        let expected = match (
            event["verb"].as_str(),
            event["responseStatus"]["code"].as_u64(),
        ) {
            (Some("get" | "list" | "watch"), _) => None,
            (_, Some(201)) => Some(VersionFate::Created(answered.clone())),
            (_, Some(200)) => Some(VersionFate::Stored {
                before: stored.clone(),
                after: answered.clone(),
            }),
            (Some("update"), Some(409)) => Some(VersionFate::Differed {
                sent: sent.expect("it was carried").to_owned(),
                stored: stored.clone(),
            }),
            (_, Some(409)) => {
                let causes = event["responseObject"]["details"]["causes"].as_array();
                Some(VersionFate::OwnedByOthers(causes.map_or(0, Vec::len)))
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(row.version, expected, "{event}");
        let changes = event["verb"] != json!("list") && !answered.is_empty();
        if changes {
            stored = answered;
        }
    }
}

#[test]
fn the_object_of_a_step_is_exactly_the_observed_one() {
    let Recorded { history, .. } = recorded(LOG);
    let mut stored: Option<Value> = None;
    for (step, event) in history.steps.iter().zip(raw(LOG)) {
        let answer = &event["responseObject"];
        if answer["kind"] == json!("Deployment") {
            stored = Some(answer.clone());
        }
        assert_eq!(step.after.as_deref(), stored.as_ref());
        let known = match stored {
            Some(_) => KnownObject::Recorded,
            None => KnownObject::Absent,
        };
        assert_eq!(step.known_after, known);
    }
}

#[test]
fn versions_that_the_core_made_are_not_shown_as_observed() {
    let lines = LOG.lines().map(|line| {
        let mut event: Value = serde_json::from_str(line).expect("it is JSON");
        let members = event.as_object_mut().expect("it is an object");
        members.remove("responseObject");
        event.to_string()
    });
    let Recorded { history, lanes, .. } = recorded(&lines.collect::<Vec<_>>().join("\n"));
    assert!(
        history
            .steps
            .iter()
            .all(|step| step.known_after != KnownObject::Recorded)
    );
    // Only the updates say the version that they were made on.
    let observed = ["91", "95"];
    for row in &lanes.rows {
        let said: Vec<&str> = match &row.version {
            Some(VersionFate::Stored { before, after }) => vec![before, after],
            Some(VersionFate::Differed { sent, stored }) => vec![sent, stored],
            Some(
                VersionFate::Created(one) | VersionFate::Kept(one) | VersionFate::Deleted(one),
            ) => {
                vec![one]
            }
            Some(VersionFate::OwnedByOthers(_)) | None => Vec::new(),
        };
        assert!(said.iter().all(|one| observed.contains(one)), "{said:?}");
    }
}

#[test]
fn each_version_of_a_watch_is_a_row_of_the_managers_that_changed_it() {
    let versions = observed_versions(WATCH).expect("it is a watch");
    let root = builtin("Deployment").expect("it is known");
    let changes = version_changes(&versions, root).expect("managedFields can be read");
    let lanes = RecordedLanes::of_versions(&versions, &changes);
    let raw: Vec<Value> = serde_json::Deserializer::from_str(WATCH)
        .into_iter()
        .collect::<Result<_, _>>()
        .expect("it is JSON");
    assert_eq!(lanes.rows.len(), raw.len());
    assert_eq!(lanes.lanes.len(), 2);
    assert!(lanes.rows.iter().all(|row| row.mark == CoreMark::NoRequest));
    let object = |at: usize| &raw[at]["object"];
    let version = |at: usize| {
        object(at)["metadata"]["resourceVersion"]
            .as_str()
            .expect("ok")
    };
    for at in 1..raw.len() {
        let row = &lanes.rows[at];
        let (before, after) = (version(at - 1).to_owned(), version(at).to_owned());
        assert_eq!(row.version, Some(VersionFate::Stored { before, after }));
        // By the raw entries: whose time or fields are others than before, or new.
        let entries = |at: usize| {
            object(at)["metadata"]["managedFields"]
                .as_array()
                .expect("ok")
        };
        let written = entries(at)
            .iter()
            .filter(|one| !entries(at - 1).contains(one));
        let written: BTreeSet<&str> = written.filter_map(|one| one["manager"].as_str()).collect();
        let lanes: BTreeSet<&str> = row
            .lanes
            .iter()
            .map(|lane| lanes.lanes[*lane].clients[0].manager.as_str())
            .collect();
        assert!(lanes.is_subset(&written), "{lanes:?} {written:?}");
        assert!(!lanes.is_empty());
    }
    assert_eq!(lanes.rows[0].outcome, RowOutcome::Read);
    assert_eq!(
        lanes.rows[0].version,
        Some(VersionFate::Kept("89".to_owned()))
    );
}

#[test]
fn the_same_version_again_is_a_row_that_changed_nothing() {
    let mut versions = observed_versions(WATCH).expect("it is a watch");
    versions.insert(1, versions[0].clone());
    let root = builtin("Deployment").expect("it is known");
    let changes = version_changes(&versions, root).expect("managedFields can be read");
    let lanes = RecordedLanes::of_versions(&versions, &changes);
    assert_eq!(lanes.rows[1].outcome, RowOutcome::Unchanged);
    assert_eq!(lanes.rows[1].lanes, [0usize; 0]);
    assert_eq!(lanes.rows[2].outcome, RowOutcome::Written);
    assert_eq!(lanes.rows[2].lanes.len(), 1);
}

#[test]
fn many_clients_share_the_last_lane_and_all_of_them_are_named() {
    let patch = LOG.lines().nth(3).expect("the first patch of the operator");
    let mut lines: Vec<String> = LOG.lines().map(str::to_owned).collect();
    for i in 0..6 {
        let mut event: Value = serde_json::from_str(patch).expect("it is JSON");
        event["auditID"] = format!("more-{i}").into();
        event["user"]["username"] = format!("user-{}", i / 2).into();
        event["userAgent"] = format!("tool-{}/v1", i % 2).into();
        let time = format!("2026-11-22T06:07:{i:02}.000000Z");
        event["requestReceivedTimestamp"] = time.as_str().into();
        event["stageTimestamp"] = time.as_str().into();
        lines.push(event.to_string());
    }
    let text = lines.join("\n");
    let Recorded { log, lanes, .. } = recorded(&text);
    assert_eq!(lanes.lanes.len(), MAX_LANES);
    let clients: Vec<_> = lanes.lanes.iter().flat_map(|lane| &lane.clients).collect();
    assert_eq!(clients.len(), 9);
    assert_eq!(
        clients.iter().map(|client| client.rows).sum::<usize>(),
        log.events.len()
    );
    let own = lanes.lanes.iter().filter(|lane| !lane.is_shared());
    assert_eq!(own.count(), MAX_LANES - 1);
    let busiest: Vec<&str> = lanes.lanes[..2]
        .iter()
        .map(|lane| lane.clients[0].manager.as_str())
        .collect();
    assert_eq!(busiest, ["helm", "web-operator"]);
    assert!(lanes.lanes[MAX_LANES - 1].is_shared());
}

#[test]
fn a_step_opens_in_play_before_its_request_and_gets_the_recorded_answer_there() {
    let Recorded { log, history, .. } = recorded(LOG);
    let mut opened = 0;
    for (at, step) in history.steps.iter().enumerate() {
        let event = &log.events[step.event];
        let Some(mut tree) = history.in_play(at, &log) else {
            let collection = event.object.name.is_empty();
            assert!(
                collection || step.before.is_none(),
                "{} {}",
                event.verb,
                event.uri
            );
            continue;
        };
        opened += 1;
        assert_eq!(tree.position(), 0);
        let (_, stored) = tree.world().stored().expect("the object is there");
        assert_eq!(Some(&**stored), step.before.as_deref());
        assert!(tree.forward());
        let answer = tree
            .step(tree.current())
            .and_then(|step| step.exchange.clone());
        let answer = answer.expect("it was a request");
        assert_eq!(Some(answer.code), event.code);
        let recorded = event.response.as_deref().expect("the log has it");
        let core = &*answer.received;
        assert_eq!(core.get("message"), recorded.get("message"));
        assert_eq!(core.get("spec"), recorded.get("spec"));
        let owners = |object: &Value| {
            let entries = object["metadata"]["managedFields"].as_array().cloned();
            let mut entries = entries.unwrap_or_default();
            entries
                .iter_mut()
                .for_each(|entry| entry["time"] = Value::Null);
            entries.sort_by_key(Value::to_string);
            entries
        };
        assert_eq!(owners(core), owners(recorded));
    }
    assert_eq!(opened, 12);
}
