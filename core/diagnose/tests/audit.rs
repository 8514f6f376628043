//! The audit log of a recorded fight: the core predicts every answer, and the findings name what
//! happened.

use std::sync::Arc;

use http::Request;
use optimist_apiserver::server::{ApiServer, Fact, Release};
use optimist_diagnose::audit::findings::{Findings, MIN_REPEATS, Reaction};
use optimist_diagnose::audit::recorded::{
    Compared, CoreAnswer, KnownObject, NotRun, RecordedHistory,
};
use optimist_diagnose::audit::{AuditLog, AuditReader};
use optimist_diagnose::input::{Input, detect};
use optimist_diagnose::observed::Fight;
use serde_json::{Value, json};

const LOG: &str = include_str!("live/audit.log");

fn read(text: &str) -> AuditLog {
    AuditReader::new(text.into()).finish()
}

fn history(log: &AuditLog) -> RecordedHistory {
    let (object, _) = log.objects().remove(0);
    RecordedHistory::new(object, &[], Release::default()).finish(log)
}

/// The log with each event changed.
fn changed(change: impl Fn(&mut Value)) -> AuditLog {
    let lines = LOG.lines().map(|line| {
        let mut event: Value = serde_json::from_str(line).expect("it is JSON");
        change(&mut event);
        event.to_string()
    });
    read(&lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn every_answer_of_the_recorded_fight_is_predicted() {
    let log = read(LOG);
    assert_eq!((log.events.len(), log.skipped), (15, 0));
    let history = history(&log);
    for step in &history.steps {
        let event = &log.events[step.event];
        let CoreAnswer::Same { compared, .. } = &step.prediction else {
            panic!("{} {}: {:#?}", event.verb, event.uri, step.prediction);
        };
        let collection = matches!(event.verb.as_str(), "list" | "watch");
        let expected = if collection {
            Compared::Code
        } else {
            Compared::Answer
        };
        assert_eq!(*compared, expected, "{} {}", event.verb, event.uri);
    }
    assert_eq!(history.counts(), (15, 0, 0));
}

#[test]
fn a_log_without_owners_offers_only_ways_out_that_the_whole_log_has_too() {
    let offered = |log: &AuditLog| -> Vec<(String, String, bool)> {
        let history = history(log);
        let findings = Findings::search(&history, log);
        let of_fight = |fight: &Fight| -> Vec<_> {
            let field = fight.field.to_string();
            let remedies = fight.remedies.iter();
            remedies
                .map(|it| (field.clone(), it.keeper.name.clone(), it.has_gap))
                .collect()
        };
        findings.fights.iter().flat_map(of_fight).collect()
    };
    let whole = offered(&read(LOG));
    let found = offered(&changed(|event| {
        let answer = event.pointer_mut("/responseObject/metadata");
        if let Some(Value::Object(metadata)) = answer {
            metadata.remove("managedFields");
        }
    }));
    assert!(!found.is_empty());
    for one in &found {
        assert!(whole.contains(one), "{one:?} is not of {whole:?}");
    }
}

#[test]
fn what_explains_a_write_names_the_version_that_it_got() {
    let log = read(LOG);
    let history = history(&log);
    let mut stored = 0;
    for step in &history.steps {
        let Some(exchange) = step.exchange() else {
            continue;
        };
        for fact in &exchange.facts {
            if let Fact::Created(version) | Fact::Stored { after: version, .. } = fact {
                assert_eq!(step.version_after(), Some(&*version.to_string()));
                stored += 1;
            }
        }
    }
    assert!(stored > 1, "{stored}");
}

#[test]
fn after_a_write_without_a_code_the_object_is_known_only_from_its_answer() {
    let known = |remove: &[&str]| {
        let log = changed(|event| {
            let members = event.as_object_mut().expect("an event");
            for member in remove {
                members.remove(*member);
            }
        });
        let steps = history(&log).steps;
        // A list without the object, and the apply that creates it.
        [steps[0].known_after, steps[1].known_after]
    };
    use KnownObject::{Absent, Recorded, Unknown};
    assert_eq!(known(&[]), [Absent, Recorded]);
    assert_eq!(known(&["responseStatus"]), [Absent, Recorded]);
    assert_eq!(
        known(&["responseStatus", "responseObject"]),
        [Unknown, Unknown]
    );
}

#[test]
fn the_log_and_the_watch_tell_the_same_fight() {
    let log = read(LOG);
    let history = history(&log);
    assert_eq!(history.versions().len(), 8);
    let findings = Findings::search(&history, &log);
    let fights: Vec<_> = findings
        .fights
        .iter()
        .map(|fight| {
            let managers = fight.managers.iter().map(|one| one.name.as_str());
            let managers = managers.collect::<Vec<_>>();
            (fight.field.to_string(), fight.flips, managers)
        })
        .collect();
    let both = vec!["helm", "web-operator"];
    let image = ".spec.template.spec.containers[name=\"web\"].image";
    assert_eq!(
        fights,
        [
            (".spec.replicas".to_owned(), 6, both.clone()),
            (image.to_owned(), 4, both),
        ]
    );
}

#[test]
fn conflicts_and_lost_updates_name_their_requests() {
    let log = read(LOG);
    let history = history(&log);
    let findings = Findings::search(&history, &log);
    let reactions: Vec<_> = findings
        .conflicts
        .iter()
        .map(|it| {
            let event = &log.events[history.steps[it.step].event];
            (event.manager(), event.verb.clone(), it.reaction)
        })
        .collect();
    assert_eq!(
        reactions,
        [
            ("helm".to_owned(), "patch".to_owned(), Reaction::Forced),
            (
                "web-operator".to_owned(),
                "update".to_owned(),
                Reaction::WithoutVersion
            ),
            ("helm".to_owned(), "patch".to_owned(), Reaction::Forced),
        ]
    );
    // After its conflict the operator patched without a read, over what helm had just applied.
    let lost = findings.lost.iter().find(|lost| {
        let event = &log.events[history.steps[lost.lost].event];
        event.manager() == "web-operator" && lost.field.to_string() == ".spec.replicas"
    });
    let lost = lost.expect("it is found");
    assert_eq!(lost.value, json!(2));
    assert!(!lost.may_have_watched);
    assert_eq!(findings.unchanged, [0usize; 0]);
}

#[test]
fn a_log_without_answers_is_run_on_what_the_core_itself_stored() {
    let log = changed(|event| {
        event["level"] = "Request".into();
        let members = event.as_object_mut().expect("it is an object");
        members.remove("responseObject");
    });
    let history = history(&log);
    let (same, other, not_run) = history.counts();
    assert_eq!((same, other, not_run), (15, 0, 0));
    for step in &history.steps {
        assert!(
            matches!(
                &step.prediction,
                CoreAnswer::Same {
                    compared: Compared::Code,
                    ..
                }
            ),
            "{:?}",
            step.prediction
        );
    }
    assert_eq!(Findings::search(&history, &log).fights.len(), 2);
}

#[test]
fn a_uid_and_a_version_that_the_core_made_up_are_no_difference() {
    // Nobody told the answer to the request that created the object: the core made its uid up.
    let log = changed(|event| {
        if event.pointer("/responseStatus/code") == Some(&json!(201)) {
            event
                .as_object_mut()
                .expect("an event")
                .remove("responseObject");
        }
    });
    let history = history(&log);
    let known = history.steps[1].known_after;
    assert!(matches!(known, KnownObject::Computed { .. }), "{known:?}");
    for step in &history.steps {
        assert!(
            matches!(step.prediction, CoreAnswer::Same { .. }),
            "{:#?}",
            step.prediction
        );
    }
}

#[test]
fn a_log_is_the_same_in_each_form_in_which_jq_prints_it() {
    let events: Vec<Value> = LOG
        .lines()
        .map(|it| serde_json::from_str(it).expect("JSON"))
        .collect();
    let pretty = |value: &Value| serde_json::to_string_pretty(value).expect("JSON");
    let documents: Vec<String> = events.iter().map(pretty).collect();
    let lines = read(LOG);
    for text in [
        documents.join("\n"),
        pretty(&Value::Array(events.clone())),
        Value::Array(events.clone()).to_string(),
        format!(
            "\n {}",
            pretty(&json!({"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "items": events}))
        ),
    ] {
        let Ok(Input::AuditLog(text)) = detect(&text) else {
            panic!("it is a log: {}", &text[..200]);
        };
        let log = AuditReader::new(text).finish();
        assert_eq!((log.events.len(), log.skipped), (lines.events.len(), 0));
        let same = lines.events.iter().zip(&log.events);
        assert!(
            same.into_iter()
                .all(|(one, other)| one.uri == other.uri && one.code == other.code)
        );
    }
}

#[test]
fn a_log_in_the_lines_of_another_log_is_the_same_log() {
    let quoted = |line: &str| Value::from(line).to_string();
    let wrapped =
        |wrap: &dyn Fn(&str) -> String| LOG.lines().map(wrap).collect::<Vec<_>>().join("\n");
    let divided = |line: &str| {
        let (first, rest) = line.split_at(100);
        let time = "2026-01-02T03:04:05.678901234Z";
        format!("{time} stdout P {first}\n{time} stdout F {rest}")
    };
    let messages: Vec<Value> = LOG.lines().map(|line| json!({"message": line})).collect();
    for (name, text) in [
        (
            "journald",
            wrapped(&|it| format!("Jan 02 03:04:05 node-1 kube-apiserver[812]: {it}")),
        ),
        (
            "syslog",
            wrapped(&|it| format!("<14>1 2026-01-02T03:04:05Z node-1 audit 812 - - {it}")),
        ),
        (
            "kubectl logs --timestamps",
            wrapped(&|it| format!("2026-01-02T03:04:05.6Z {it}")),
        ),
        (
            "a container runtime",
            wrapped(&|it| format!("2026-01-02T03:04:05.6Z stdout F {it}")),
        ),
        ("long lines of a container runtime", wrapped(&divided)),
        ("grep", wrapped(&|it| format!("/var/log/audit.log:7:{it}"))),
        (
            "Docker",
            wrapped(&|it| format!(r#"{{"log":{},"stream":"stdout"}}"#, quoted(it))),
        ),
        (
            "journalctl -o json",
            wrapped(&|it| format!(r#"{{"_PID":"8","MESSAGE":{}}}"#, quoted(it))),
        ),
        (
            "Google Cloud",
            wrapped(&|it| format!(r#"{{"insertId":"a","jsonPayload":{it}}}"#)),
        ),
        ("CloudWatch", format!("{:#}", json!({"events": messages}))),
        (
            "CloudWatch in one line",
            json!({"events": messages}).to_string(),
        ),
    ] {
        let text = format!("{text}\nJan 02 03:04:06 node-1 systemd[1]: Started a session.\n");
        let Ok(Input::AuditLog(log)) = detect(&text) else {
            panic!("{name}: {:?}", detect(&text));
        };
        let log = read(&log);
        assert_eq!((log.events.len(), log.skipped), (15, 0), "{name}");
        assert_eq!(history(&log).counts(), (15, 0, 0), "{name}");
    }
    // The line that cannot be read is named.
    let cut = LOG.lines().map(|line| format!("a: {line}"));
    let cut: Vec<String> = cut.chain([format!("a: {}", &LOG[..200])]).collect();
    let Ok(Input::AuditLog(log)) = detect(&cut.join("\n")) else {
        panic!("it is a log");
    };
    assert_eq!(
        (read(&log).skipped, read(&log).problems[0].line),
        (1, LOG.lines().count() + 1)
    );
}

#[test]
fn what_the_core_made_up_is_neither_shown_nor_compared() {
    let path = "/api/v1/namespaces/live/configmaps";
    let event = |at: usize, verb: &str, (uri, code): (&str, u16), body: Value| {
        json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Request", "stage": "ResponseComplete",
            "auditID": at.to_string(), "verb": verb, "requestURI": uri, "userAgent": "kubectl/v1.36",
            "user": {"username": "ann"}, "responseStatus": {"code": code}, "requestObject": body,
            "objectRef": {"resource": "configmaps", "namespace": "live", "name": "a", "apiVersion": "v1"},
            "requestReceivedTimestamp": format!("2026-01-02T00:00:0{at}.000000Z"),
        })
        .to_string()
    };
    let one = format!("{path}/a");
    let named = json!({"name": "a", "uid": "u1", "creationTimestamp": "2026-01-02T00:00:01Z"});
    let object = |data: &str, metadata: &Value| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": data}
        })
    };
    let mut other = named.clone();
    other["uid"] = "u2".into();
    let made = json!({"name": "a"});
    let created = event(1, "create", (path, 201), object("1", &made));
    let patched = json!({"metadata": {"uid": "u1"}, "data": {"a": "2"}});
    let lines = [
        created.clone(),
        event(2, "patch", (&one, 200), patched.clone()),
        event(3, "update", (&one, 200), object("3", &named)),
        event(4, "update", (&one, 409), object("4", &other)),
    ];
    let members = |log: &AuditLog| -> Vec<Vec<String>> {
        let versions = history(log).versions();
        let metadata = versions.iter().map(|it| it.object["metadata"].as_object());
        let named = ["uid", "creationTimestamp", "resourceVersion"];
        metadata
            .map(|all| {
                let all = all.expect("it has some");
                let found = named.into_iter().filter(|it| all.contains_key(*it));
                found.map(str::to_owned).collect()
            })
            .collect()
    };
    let log = read(&lines.join("\n"));
    let (same, other, not_run) = history(&log).counts();
    assert_eq!((same, other, not_run), (4, 0, 0));
    let known: [&[&str]; 3] = [&[], &[], &["uid", "creationTimestamp"]];
    assert_eq!(members(&log), known);
    // Of a refused request the log does not show whether the object had this uid.
    let refused = event(2, "patch", (&one, 404), patched);
    let log = read(&[created, refused].join("\n"));
    assert_eq!(history(&log).counts(), (1, 0, 1));
}

#[test]
fn a_log_of_metadata_is_not_guessed_from() {
    let log = changed(|event| {
        event["level"] = "Metadata".into();
        let members = event.as_object_mut().expect("it is an object");
        members.remove("responseObject");
        members.remove("requestObject");
    });
    let history = history(&log);
    for step in history
        .steps
        .iter()
        .filter(|step| log.events[step.event].is_write())
    {
        let not_run = matches!(
            step.prediction,
            CoreAnswer::NotRun(NotRun::NoBody | NotRun::UnknownState)
        );
        assert!(not_run, "{:?}", step.prediction);
    }
    let findings = Findings::search(&history, &log);
    assert_eq!(findings.fights, []);
    assert_eq!(findings.conflicts.len(), 3);
}

#[test]
fn an_answer_that_the_core_does_not_give_is_said_with_the_difference() {
    let log = changed(|event| {
        let admitted = event["auditID"] == "f1777ea9-07db-4692-b502-a33084060299";
        if admitted {
            // As a mutating webhook would do.
            event["responseObject"]["spec"]["replicas"] = json!(7);
        }
    });
    let history = history(&log);
    let others: Vec<_> = history
        .steps
        .iter()
        .filter_map(|step| match &step.prediction {
            CoreAnswer::Other { differences, .. } => Some(differences),
            _ => None,
        })
        .collect();
    assert_eq!(others.len(), 1);
    assert_eq!(others[0].len(), 1);
    assert_eq!(others[0][0].pointer, "/spec/replicas");
    assert_eq!(others[0][0].recorded, Some(json!(7)));
    assert_eq!(others[0][0].core, Some(json!(2)));
}

#[test]
fn an_error_of_the_server_is_no_difference_whatever_the_core_answers() {
    let is_conflict = |event: &Value| event["responseStatus"]["code"] == 409;
    let log = changed(|event| {
        if is_conflict(event) {
            event["stage"] = "Panic".into();
            event["responseStatus"]["code"] = 500.into();
            event
                .as_object_mut()
                .expect("it is a map")
                .remove("responseObject");
        }
    });
    let history = history(&log);
    let steps = history.steps.iter();
    let of_server: Vec<_> = steps
        .filter(|it| log.events[it.event].code == Some(500))
        .collect();
    assert!(!of_server.is_empty());
    for step in of_server {
        let CoreAnswer::NotRun(NotRun::OtherReason) = step.prediction else {
            panic!("{:#?}", step.prediction);
        };
    }
}

#[test]
fn a_log_that_begins_later_takes_the_first_answer_as_the_state() {
    let later: Vec<&str> = LOG.lines().skip(3).collect();
    let log = read(&later.join("\n"));
    let history = history(&log);
    let (same, other, not_run) = history.counts();
    assert_eq!((other, not_run), (0, 1));
    assert_eq!(same, history.steps.len() - 1);
    let first = &history.steps[0].prediction;
    assert!(
        matches!(first, CoreAnswer::NotRun(NotRun::UnknownState)),
        "{first:?}"
    );
}

#[test]
fn the_same_request_again_and_again_is_a_loop() {
    let line = LOG.lines().nth(3).expect("the first patch of the operator");
    let mut lines: Vec<String> = LOG.lines().take(4).map(str::to_owned).collect();
    for i in 1..=MIN_REPEATS {
        let mut event: Value = serde_json::from_str(line).expect("it is JSON");
        event["auditID"] = i.to_string().into();
        let time = format!("2026-11-22T06:06:{:02}.000000Z", 10 + i);
        event["requestReceivedTimestamp"] = time.as_str().into();
        event["stageTimestamp"] = time.as_str().into();
        lines.push(event.to_string());
    }
    let log = read(&lines.join("\n"));
    let history = history(&log);
    assert_eq!(history.counts().1, 0, "{:#?}", history.steps.last());
    let findings = Findings::search(&history, &log);
    assert_eq!(findings.unchanged.len(), MIN_REPEATS);
    assert_eq!(findings.loops.len(), 1);
    let hot = &findings.loops[0];
    assert_eq!((hot.steps.len(), hot.changes), (MIN_REPEATS, Some(0)));
    assert_eq!(hot.lasted, (MIN_REPEATS as u64 - 1) * 1_000_000);
}

#[test]
fn a_log_is_read_in_slices_and_bad_lines_are_named() {
    let text = format!(
        "{LOG}\nnot json\n{{\"kind\": \"Pod\"}}\n[]\n\n{}",
        "x".repeat(1000)
    );
    let whole = read(&text);
    assert_eq!((whole.skipped, whole.problems.len()), (4, 4));
    let lines: Vec<usize> = whole.problems.iter().map(|it| it.line).collect();
    assert_eq!(lines, [18, 19, 20, 22]);
    let mut reader = AuditReader::new(Arc::from(text.as_str()));
    let mut slices = 0;
    while reader.advance(4096) {
        slices += 1;
        let (read, all) = reader.progress();
        assert!(read <= all && read >= slices);
    }
    assert!(slices > 3, "{slices}");
    assert_eq!(reader.finish(), whole);
    let events: Vec<Value> = LOG
        .lines()
        .map(|line| serde_json::from_str(line).expect("ok"))
        .collect();
    let list = json!({"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "items": events});
    for text in [list.to_string(), format!("{list:#}")] {
        assert_eq!(read(&text).events.len(), 15);
    }
}

#[test]
fn a_watch_of_all_namespaces_may_have_shown_a_client_what_it_replaced() {
    let first: Value = serde_json::from_str(LOG.lines().next().expect("ok")).expect("it is JSON");
    let mut watch = first.clone();
    watch["verb"] = "watch".into();
    watch["auditID"] = "w".into();
    watch["stage"] = "ResponseStarted".into();
    watch["requestURI"] = "/apis/apps/v1/deployments?watch=true".into();
    watch["userAgent"] = "web-operator/v0.3.1 (linux/amd64) kubernetes/$Format".into();
    let members = watch["objectRef"].as_object_mut().expect("it is an object");
    members.remove("namespace");
    let members = watch.as_object_mut().expect("it is an object");
    members.remove("responseObject");
    let log = read(&format!("{watch}\n{LOG}"));
    let history = history(&log);
    assert_eq!(history.counts(), (16, 0, 0));
    let findings = Findings::search(&history, &log);
    let of_operator = findings.lost.iter().filter(|lost| {
        let event = &log.events[history.steps[lost.lost].event];
        event.manager() == "web-operator"
    });
    let all: Vec<bool> = of_operator.map(|lost| lost.may_have_watched).collect();
    assert!(!all.is_empty() && all.iter().all(|may| *may), "{all:?}");
}

/// A Service that is created, changed with the object that was answered, and read; by a server of another network.
/// `told` says of each request whether the log has its answer. If it has the first one, the Service has
/// a port too: an update can change that one, so it does not say which port the Service had.
fn service_log(told: [bool; 3]) -> AuditLog {
    let mut server = ApiServer::default();
    let mut lines = Vec::new();
    let collection = "/api/v1/namespaces/default/services";
    let object = format!("{collection}/web");
    let mut body = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"},
        "spec": {"type": if told[0] { "NodePort" } else { "ClusterIP" }, "ports": [{"port": 80}]}});
    // The server of the log chooses these where the core chooses those.
    let elsewhere = |value: &Value, back: bool| -> Value {
        let mut text = value.to_string();
        for (here, there) in [("10.0.0.17", "10.96.201.7"), ("30086", "31234")] {
            let (from, to) = if back { (there, here) } else { (here, there) };
            text = text.replace(from, to);
        }
        serde_json::from_str(&text).unwrap()
    };
    let requests = [
        ("create", "POST", collection),
        ("update", "PUT", object.as_str()),
        ("get", "GET", &object),
    ];
    for (at, ((verb, method, path), told)) in requests.into_iter().zip(told).enumerate() {
        let sent = match method {
            "GET" => Value::Null,
            _ => elsewhere(&body, true),
        };
        let request = Request::builder().method(method).uri(path);
        let request = request
            .header("Content-Type", "application/json")
            .header("User-Agent", "kubectl");
        let response = server.handle(request.body(sent.to_string().into_bytes()).unwrap());
        let answer = elsewhere(&serde_json::from_slice(response.body()).unwrap(), false);
        let mut event = json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse",
            "auditID": at.to_string(), "stage": "ResponseComplete", "verb": verb, "requestURI": path,
            "userAgent": "kubectl",
            "objectRef": {"resource": "services", "namespace": "default", "name": "web", "apiVersion": "v1"},
            "responseStatus": {"code": response.status().as_u16()},
            "requestReceivedTimestamp": format!("2026-11-24T10:00:0{at}.000000Z")});
        if method != "GET" {
            event["requestObject"] = body.clone();
        }
        if told {
            event["responseObject"] = answer.clone();
        }
        lines.push(event.to_string());
        body = answer;
        body["spec"]["selector"] = json!({"app": "web"});
    }
    read(&lines.join("\n"))
}

#[test]
fn what_a_server_chose_for_a_service_is_taken_from_the_log() {
    // The last log never says what was chosen, but for the object that the update carries.
    for told in [
        [true; 3],
        [true, false, true],
        [false, true, true],
        [false, false, true],
    ] {
        let log = service_log(told);
        let history = history(&log);
        for step in &history.steps {
            assert!(
                matches!(step.prediction, CoreAnswer::Same { .. }),
                "{told:?}: {:#?}",
                step.prediction
            );
        }
        assert_eq!(history.counts(), (3, 0, 0), "{told:?}");
        let last = history.steps[2].after.as_deref().expect("it is there");
        assert_eq!(last["spec"]["clusterIP"], "10.96.201.7", "{told:?}");
    }
}

#[test]
fn another_address_than_the_one_that_a_service_had_is_no_prediction() {
    let mut log = service_log([true; 3]);
    let update = Arc::make_mut(&mut log.events[1]);
    let answer = Arc::make_mut(update.response.as_mut().unwrap());
    answer["spec"]["clusterIP"] = "10.96.201.8".into();
    let history = history(&log);
    let CoreAnswer::Other { differences, .. } = &history.steps[1].prediction else {
        panic!("{:#?}", history.steps[1].prediction);
    };
    assert_eq!(differences[0].pointer, "/spec/clusterIP");
}
