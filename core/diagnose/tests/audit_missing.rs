//! Logs that lack something, as the policy of a real cluster makes them: writes of controllers, bodies, owners. Nothing
//! is claimed of what such a log does not have.

use http::{Method, Request};
use optimist_apiserver::server::{ApiServer, Release};
use optimist_diagnose::audit::findings::{Findings, Reaction};
use optimist_diagnose::audit::recorded::{CoreAnswer, KnownObject, NotRun, RecordedHistory};
use optimist_diagnose::audit::{AuditLog, AuditReader};
use optimist_diagnose::lanes::RecordedLanes;
use serde_json::{Value, json};

const MERGE: &str = "application/merge-patch+json";

/// A server, and the log of the requests to it that its policy keeps.
#[derive(Default)]
struct Audited {
    server: ApiServer,
    events: Vec<Value>,
}

impl Audited {
    fn send(
        &mut self,
        manager: &str,
        method: Method,
        uri: &str,
        media: &str,
        body: &Value,
    ) -> Value {
        let path = uri.split('?').next().unwrap();
        let verb = match method {
            Method::POST => "create",
            Method::PUT => "update",
            Method::PATCH => "patch",
            Method::DELETE => "delete",
            _ => "get",
        };
        let sent = match verb {
            "get" => Vec::new(),
            _ => body.to_string().into_bytes(),
        };
        let request = Request::builder().method(method).uri(uri);
        let request = request
            .header("Content-Type", media)
            .header("User-Agent", manager);
        let response = self.server.handle(request.body(sent).unwrap());
        let answer: Value = serde_json::from_slice(response.body()).unwrap();
        let parts: Vec<&str> = path.split('/').collect();
        let begin = parts.iter().position(|part| *part == "namespaces").unwrap();
        let part = |at: usize| parts.get(begin + at).copied().unwrap_or_default();
        let name = match part(3) {
            "" => answer["metadata"]["name"].as_str().unwrap_or_default(),
            name => name,
        };
        let second = self.events.len() + 10;
        let mut event = json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse",
            "auditID": second.to_string(), "stage": "ResponseComplete", "verb": verb, "requestURI": uri,
            "user": {"username": manager}, "userAgent": manager,
            "objectRef": {"resource": part(2), "namespace": part(1), "name": name, "subresource": part(4),
                "apiVersion": parts[begin - 1], "apiGroup": if parts[1] == "apis" { parts[2] } else { "" }},
            "responseStatus": {"code": response.status().as_u16()}, "responseObject": answer,
            "requestReceivedTimestamp": format!("2026-11-24T10:00:{second}.000000Z"),
            "stageTimestamp": format!("2026-11-24T10:00:{second}.000000Z")});
        if verb != "get" {
            event["requestObject"] = body.clone();
        }
        self.events.push(event);
        answer
    }

    fn log(&self, keeps: impl Fn(&mut Value) -> bool) -> AuditLog {
        let mut events = self.events.clone();
        events.retain_mut(keeps);
        let lines: Vec<String> = events.iter().map(Value::to_string).collect();
        AuditReader::new(lines.join("\n").into()).finish()
    }
}

fn history(log: &AuditLog) -> RecordedHistory {
    let (object, _) = log.objects().remove(0);
    RecordedHistory::new(object, &[], Release::default()).finish(log)
}

const CLAIMS: &str = "/api/v1/namespaces/default/configmaps";
const MAP: &str = "/api/v1/namespaces/default/configmaps/web";

/// Two people change a Deployment; after each write a controller writes its status.
fn deployment() -> Audited {
    let mut on = Audited::default();
    let collection = "/apis/apps/v1/namespaces/default/deployments";
    let object = format!("{collection}/web");
    let manifest = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "web:1"}]}}}});
    on.send(
        "ann",
        Method::POST,
        collection,
        "application/json",
        &manifest,
    );
    for (at, who) in ["ben", "ann", "ben", "ann"].iter().enumerate() {
        let status = json!({"status": {"observedGeneration": at + 1}});
        let path = format!("{object}/status");
        on.send("controller", Method::PATCH, &path, MERGE, &status);
        let label = json!({"metadata": {"labels": {format!("of-{who}-{at}"): "x"}}});
        on.send(who, Method::PATCH, &object, MERGE, &label);
        on.send(who, Method::GET, &object, MERGE, &Value::Null);
    }
    on
}

#[test]
fn what_a_controller_wrote_outside_of_the_log_is_no_change_of_another_manager() {
    let on = deployment();
    let whole = on.log(|_| true);
    assert_eq!(history(&whole).counts(), (13, 0, 0));
    // The policy keeps neither the controller nor reads.
    let log = on.log(|event| event["userAgent"] != "controller" && event["verb"] != "get");
    let history = history(&log);
    for step in &history.steps[1..] {
        let fields: Vec<String> = step.changes.iter().map(|it| it.field.to_string()).collect();
        let [label] = &fields[..] else {
            panic!("{fields:?}");
        };
        assert!(label.starts_with(".metadata.labels.of-"), "{label}");
        let why = &step.prediction;
        assert!(
            matches!(why, CoreAnswer::NotRun(NotRun::MissingWrite)),
            "{why:?}"
        );
    }
    let findings = Findings::search(&history, &log);
    assert_eq!(
        (findings.fights.len(), findings.lost.len()),
        (0, 0),
        "{findings:#?}"
    );
}

#[test]
fn a_read_of_a_version_that_the_log_does_not_write_is_not_compared() {
    let log = deployment().log(|event| {
        let by_person = event["userAgent"] == "ann" || event["userAgent"] == "ben";
        event["verb"] == "create" || by_person && event["verb"] == "get"
    });
    let history = history(&log);
    let reads = history.steps[1..].iter();
    for step in reads {
        let why = &step.prediction;
        assert!(
            matches!(why, CoreAnswer::NotRun(NotRun::OtherVersion)),
            "{why:?}"
        );
    }
    assert_eq!(history.counts(), (1, 0, 4));
}

/// A ConfigMap that one client creates and others change.
fn map(changes: &[(&str, &str, Value)]) -> Audited {
    let mut on = Audited::default();
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}, "data": {"a": "0"}});
    on.send("maker", Method::POST, CLAIMS, "application/json", &map);
    for (who, media, patch) in changes {
        on.send(who, Method::PATCH, MAP, media, patch);
    }
    on
}

fn value(text: &str) -> Value {
    json!({"data": {"a": text}})
}

#[test]
fn managers_that_write_once_each_do_not_fight() {
    let fights = |writers: &[&str]| {
        let changes = writers.iter().enumerate();
        let changes: Vec<_> = changes
            .map(|(at, who)| (*who, MERGE, value(&(at + 1).to_string())))
            .collect();
        let log = map(&changes).log(|_| true);
        Findings::search(&history(&log), &log).fights.len()
    };
    assert_eq!(fights(&["ann", "ben", "cid"]), 0);
    assert_eq!(fights(&["ann", "ben", "ann"]), 1);
    assert_eq!(fights(&["ann", "ben", "maker"]), 1);
}

#[test]
fn who_set_the_first_value_alone_does_not_fight() {
    let changes: Vec<_> = ["ann", "ben", "ann", "ben"]
        .iter()
        .enumerate()
        .map(|(at, who)| (*who, MERGE, value(&(at + 1).to_string())))
        .collect();
    let log = map(&changes).log(|_| true);
    let fights = Findings::search(&history(&log), &log).fights;
    let names: Vec<_> = fights[0].managers.iter().map(|it| &it.name[..]).collect();
    assert_eq!((fights.len(), names), (1, vec!["ann", "ben"]));
}

#[test]
fn an_object_that_is_created_again_has_no_part_in_the_fight_over_the_one_before() {
    let mut on = map(&[("ann", MERGE, value("1")), ("ben", MERGE, value("2"))]);
    on.send("ben", Method::DELETE, MAP, "application/json", &json!({}));
    let new = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}, "data": {"a": "0"}});
    on.send("maker", Method::POST, CLAIMS, "application/json", &new);
    on.send("cid", Method::GET, MAP, MERGE, &Value::Null);
    on.send("ann", Method::PATCH, MAP, MERGE, &value("3"));
    let log = on.log(|_| true);
    let found = Findings::search(&history(&log), &log);
    assert_eq!(found.fights, []);
    // Ann's write is the first one that replaces a value of this object: that of its creation is no edit.
    let lost: Vec<_> = found.lost.iter().map(|it| (it.written, it.lost)).collect();
    assert_eq!(lost, [(1, 2)]);
}

#[test]
fn a_json_patch_that_tests_the_value_loses_nothing() {
    let media = "application/json-patch+json";
    let replace = json!({"op": "replace", "path": "/data/a", "value": "2"});
    let lost = |tested: &str, value: Value| {
        let patch = json!([{"op": "test", "path": tested, "value": value}, replace]);
        let mut on = map(&[("ann", MERGE, self::value("1")), ("ben", media, patch)]);
        on.send("ann", Method::GET, MAP, MERGE, &Value::Null);
        let log = on.log(|_| true);
        Findings::search(&history(&log), &log).lost.len()
    };
    assert_eq!(lost("/data/a", json!("1")), 0);
    assert_eq!(lost("/data", json!({"a": "1"})), 0);
    assert_eq!(lost("/kind", json!("ConfigMap")), 1);
}

#[test]
fn a_log_without_reads_shows_no_lost_update() {
    let mut on = map(&[("ann", MERGE, value("1")), ("ben", MERGE, value("2"))]);
    on.send("ann", Method::GET, MAP, MERGE, &Value::Null);
    let found = |log: AuditLog| {
        let findings = Findings::search(&history(&log), &log);
        (findings.lost.len(), findings.without_reads)
    };
    assert_eq!(found(on.log(|_| true)), (1, false));
    assert_eq!(found(on.log(|event| event["verb"] != "get")), (0, true));
}

#[test]
fn a_member_beside_the_others_of_an_atomic_map_loses_nothing() {
    let uri = "/apis/apps/v1/namespaces/default/deployments/web";
    let selector = |name: &str, value: &str| json!({"spec": {"template": {"spec": {"nodeSelector": {name: value}}}}});
    let lost = |second: Value| {
        let mut on = deployment();
        on.send("ann", Method::PATCH, uri, MERGE, &selector("disk", "ssd"));
        on.send("cid", Method::PATCH, uri, MERGE, &second);
        let log = on.log(|_| true);
        let lost = Findings::search(&history(&log), &log).lost;
        let fields: Vec<_> = lost.iter().map(|it| it.field.to_string()).collect();
        fields
    };
    assert_eq!(lost(selector("zone", "a")), [""; 0]);
    let disk = ".spec.template.spec.nodeSelector.disk";
    assert_eq!(lost(selector("disk", "hdd")), [disk]);
}

#[test]
fn a_row_with_a_lost_update_tells_it_from_the_writers_own_change() {
    let mut on = map(&[("ann", MERGE, value("1"))]);
    let both = json!({"data": {"a": "2", "own": "new"}});
    on.send("ben", Method::PATCH, MAP, MERGE, &both);
    on.send("ben", Method::GET, MAP, MERGE, &Value::Null);
    let log = on.log(|_| true);
    let history = history(&log);
    let findings = Findings::search(&history, &log);
    let rows = RecordedLanes::of_log(&history, &log, &findings).rows;
    let [lost] = &findings.lost[..] else {
        panic!("{:?}", findings.lost);
    };
    let row = &rows[lost.lost];
    let changes = findings
        .changes
        .iter()
        .filter(|(step, _)| *step == lost.lost);
    let told = changes.map(|(_, change)| (change.field.to_string(), row.is_lost(change)));
    let expected = [
        (".data.a".to_owned(), true),
        (".data.own".to_owned(), false),
    ];
    assert_eq!(told.collect::<Vec<_>>(), expected);
    assert!(
        rows.iter()
            .enumerate()
            .all(|(at, row)| row.loses() == (at == lost.lost))
    );
}

#[test]
fn a_value_that_a_write_outside_of_the_log_replaced_is_not_lost_again() {
    let mut on = map(&[("ann", MERGE, value("1")), ("dan", MERGE, value("2"))]);
    on.send("eve", Method::GET, MAP, MERGE, &Value::Null);
    on.send("ben", Method::PATCH, MAP, MERGE, &value("3"));
    let lost = |log: AuditLog| {
        let lost = Findings::search(&history(&log), &log).lost;
        let lost = lost.into_iter().map(|it| (it.value, it.lost));
        lost.collect::<Vec<_>>()
    };
    let both = [(json!("1"), 2), (json!("2"), 4)];
    assert_eq!(lost(on.log(|_| true)), both);
    assert_eq!(lost(on.log(|event| event["userAgent"] != "dan")), []);
}

#[test]
fn a_client_that_writes_in_another_way_loses_nothing_of_its_own() {
    let mut on = map(&[("ann", MERGE, value("1"))]);
    let apply = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "2"}});
    let uri = format!("{MAP}?fieldManager=ann&force=true");
    let media = "application/apply-patch+yaml";
    on.send("ann", Method::PATCH, &uri, media, &apply);
    on.send("ann", Method::GET, MAP, MERGE, &Value::Null);
    let log = on.log(|_| true);
    assert_eq!(Findings::search(&history(&log), &log).lost, []);
}

#[test]
fn requests_whose_bodies_are_not_in_the_log_are_not_the_same_request() {
    let lease = |at: usize| {
        json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": at.to_string(),
            "stage": "ResponseComplete", "verb": "update", "userAgent": "kube-scheduler/v1.36.2",
            "requestURI": "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler",
            "objectRef": {"resource": "leases", "namespace": "kube-system", "name": "kube-scheduler",
                "apiGroup": "coordination.k8s.io", "apiVersion": "v1"},
            "responseStatus": {"code": if at == 3 { 409 } else { 200 }},
            "requestReceivedTimestamp": format!("2026-11-24T10:00:{}.000000Z", 10 + 2 * at)})
        .to_string()
    };
    let lines: Vec<String> = (0..12).map(lease).collect();
    let log = AuditReader::new(lines.join("\n").into()).finish();
    let findings = Findings::search(&history(&log), &log);
    assert_eq!(findings.loops, []);
    let reactions: Vec<Reaction> = findings.conflicts.iter().map(|it| it.reaction).collect();
    assert_eq!(reactions, [Reaction::WroteAgain]);
}

#[test]
fn a_loop_does_not_count_changes_that_the_log_does_not_show() {
    let on = map(&vec![("ann", MERGE, value("1")); 6]);
    let changes = |log: &AuditLog| Findings::search(&history(log), log).loops[0].changes;
    assert_eq!(changes(&on.log(|_| true)), Some(1));
    // The log begins with the loop, and has no answers.
    let log = on.log(|event| {
        event.as_object_mut().unwrap().remove("responseObject");
        event["verb"] != "create"
    });
    assert_eq!(changes(&log), None);
}

#[test]
fn an_object_that_is_being_deleted_goes_with_its_last_finalizer() {
    let mut on = map(&[(
        "ann",
        MERGE,
        json!({"metadata": {"finalizers": ["example.com/a"]}}),
    )]);
    let options = json!({"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"]});
    on.send("ann", Method::DELETE, MAP, "application/json", &options);
    on.send("ann", Method::DELETE, MAP, "application/json", &json!({}));
    on.send(
        "ann",
        Method::PATCH,
        MAP,
        MERGE,
        &json!({"metadata": {"finalizers": null}}),
    );
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}});
    on.send("ann", Method::POST, CLAIMS, "application/json", &map);
    let log = on.log(|_| true);
    let history = history(&log);
    let marked = |at: usize| {
        let after = history.steps[at].after.as_deref();
        after.map(|after| after["metadata"]["deletionTimestamp"].is_string())
    };
    let all: Vec<Option<bool>> = (1..6).map(marked).collect();
    let expected = [Some(false), Some(false), Some(true), None, Some(false)];
    assert_eq!(
        all, expected,
        "a dry run marks nothing, and the patch lets it go"
    );
    assert_eq!(history.steps[4].known_after, KnownObject::Absent);
    assert_eq!(history.counts(), (6, 0, 0), "{:#?}", history.steps);
    // How the first one went is not in the log.
    let log = on.log(|event| event["verb"] == "create");
    let (history, _) = (self::history(&log), ());
    assert_eq!(history.counts(), (2, 0, 0));
}

#[test]
fn a_log_without_owners_says_no_owner_of_a_conflict() {
    let mut on = map(&[("ann", MERGE, value("1"))]);
    let apply = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "2"}});
    let uri = format!("{MAP}?fieldManager=ben");
    on.send(
        "ben",
        Method::PATCH,
        &uri,
        "application/apply-patch+yaml",
        &apply,
    );
    let log = on.log(|event| {
        let answer = &mut event["responseObject"]["metadata"];
        answer.as_object_mut().unwrap().remove("managedFields");
        true
    });
    let history = history(&log);
    assert_eq!(history.counts(), (2, 0, 1));
    let last = &history.steps[2].prediction;
    assert!(
        matches!(last, CoreAnswer::NotRun(NotRun::UnknownOwners)),
        "{last:?}"
    );
}

#[test]
fn what_two_versions_of_a_kind_name_otherwise_is_no_change() {
    let mut on = Audited::default();
    let collection = |version: &str| {
        format!("/apis/autoscaling/{version}/namespaces/default/horizontalpodautoscalers")
    };
    let manifest = json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"},
        "spec": {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "metrics": [
            {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}]}});
    on.send(
        "ann",
        Method::POST,
        &collection("v2"),
        "application/json",
        &manifest,
    );
    let object = format!("{}/web", collection("v1"));
    on.send(
        "ben",
        Method::PATCH,
        &object,
        MERGE,
        &json!({"spec": {"maxReplicas": 5}}),
    );
    let log = on.log(|_| true);
    let history = history(&log);
    let changes = history.steps[1].changes.iter();
    let fields: Vec<String> = changes.map(|it| it.field.to_string()).collect();
    assert_eq!(
        fields,
        [".spec.maxReplicas"],
        "{:?}",
        on.events[0]["responseObject"]
    );
}

#[test]
fn a_refusal_for_another_reason_is_no_other_answer() {
    let refused = |code: u16, message: &str| {
        let mut on = map(&[("ann", MERGE, value("1"))]);
        on.events[1]["responseStatus"]["code"] = code.into();
        on.events[1]["responseObject"] = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code});
        history(&on.log(|_| true)).steps[1].prediction.clone()
    };
    for (code, message) in [
        (
            403,
            "configmaps \"web\" is forbidden: exceeded quota: small",
        ),
        (
            429,
            "Cannot evict pod as it would violate the pod's disruption budget.",
        ),
        (
            400,
            "admission webhook \"check.example.com\" denied the request: no",
        ),
        (
            504,
            "Timeout: request did not complete within requested timeout",
        ),
    ] {
        let why = refused(code, message);
        assert!(
            matches!(why, CoreAnswer::NotRun(NotRun::OtherReason)),
            "{code}: {why:?}"
        );
    }
    let why = refused(422, "ConfigMap \"web\" is invalid: data: no");
    assert!(matches!(why, CoreAnswer::Other { .. }), "{why:?}");
}

#[test]
fn the_metadata_of_an_object_is_not_the_object() {
    let mut on = map(&[("ann", MERGE, value("1"))]);
    on.send("collector", Method::GET, MAP, MERGE, &Value::Null);
    let log = on.log(|event| {
        if event["verb"] == "get" {
            let answer = &mut event["responseObject"];
            answer.as_object_mut().unwrap().remove("data");
            answer["apiVersion"] = "meta.k8s.io/v1".into();
            answer["kind"] = "PartialObjectMetadata".into();
        }
        true
    });
    let history = history(&log);
    assert_eq!(history.counts(), (3, 0, 0));
    let after = history.steps[2].after.as_deref();
    assert_eq!(after.expect("it is there")["data"]["a"], "1");
}

#[test]
fn a_connection_to_a_pod_does_not_change_it() {
    let mut on = map(&[("ann", MERGE, value("1"))]);
    let mut connection = on.events[1].clone();
    connection["objectRef"]["subresource"] = "exec".into();
    connection["verb"] = "create".into();
    connection["level"] = "Metadata".into();
    connection["auditID"] = "exec".into();
    for body in ["requestObject", "responseObject"] {
        connection.as_object_mut().unwrap().remove(body);
    }
    on.events.push(connection);
    on.send("ann", Method::PATCH, MAP, MERGE, &value("2"));
    let history = history(&on.log(|_| true));
    assert_eq!(history.counts(), (3, 0, 1));
}

/// What anna's neighbour did after a conflict, where both use one program and one account, and somebody reads in between.
fn after_a_conflict_of(neighbour: &str) -> Reaction {
    let mut on = Audited::default();
    let object = |version: &str, value: &str| {
        json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "web", "resourceVersion": version}, "data": {"a": value}})
    };
    let json = "application/json";
    let first = on.send("kubectl", Method::POST, CLAIMS, json, &object("", "0"));
    let old = first["metadata"]["resourceVersion"].as_str().unwrap();
    let uri = |manager: &str| format!("{MAP}?fieldManager={manager}");
    let second = on.send(
        "kubectl",
        Method::PUT,
        &uri("anna"),
        json,
        &object(old, "1"),
    );
    let new = second["metadata"]["resourceVersion"].as_str().unwrap();
    let refused = object(old, "2");
    on.send("kubectl", Method::PUT, &uri(neighbour), json, &refused);
    on.send("kubectl", Method::GET, MAP, json, &Value::Null);
    on.send(
        "kubectl",
        Method::PUT,
        &uri(neighbour),
        json,
        &object(new, "2"),
    );
    let log = on.log(|event| event["verb"] != "create");
    let conflicts = Findings::search(&history(&log), &log).conflicts;
    conflicts.first().expect("a conflict").reaction
}

#[test]
fn a_read_of_a_program_that_writes_as_several_managers_can_be_of_any_of_them() {
    assert_eq!(after_a_conflict_of("anna"), Reaction::ReadAgain);
    assert_eq!(after_a_conflict_of("ben"), Reaction::WroteOtherwise);
}
