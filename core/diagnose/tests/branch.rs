//! A branch of a log begins with what the server had, and a branch of versions with the object of one of them.

use std::collections::BTreeMap;
use std::time::Duration;

use http::Request;
use optimist_apiserver::environment::MicroTime;
use optimist_apiserver::server::{ApiServer, AuditEntry, AuditId, Release};
use optimist_diagnose::audit::recorded::{Branch, RecordedHistory};
use optimist_diagnose::audit::{AuditLog, AuditReader};
use optimist_diagnose::case::Case;
use optimist_diagnose::input::detect;
use optimist_simulation::{Action, ActorId, HistoryTree, Operation};
use serde_json::{Value, json};

const MAPS: &str = "/api/v1/namespaces/shop/configmaps";
const WEB: &str = "/apis/apps/v1/namespaces/shop/deployments/web";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/shop/widgets";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A server whose requests are in a log, and what it had after each of them.
#[derive(Default)]
struct Logged {
    server: ApiServer,
    lines: String,
    number: u64,
    /// The objects that exist, by their paths.
    now: BTreeMap<String, Value>,
    after: Vec<BTreeMap<String, Value>>,
}

impl Logged {
    fn send(&mut self, method: &str, target: &str, body: &Value) -> Value {
        let media = match (method, target.contains("fieldManager")) {
            ("PATCH", true) => "application/apply-patch+yaml",
            ("PATCH", false) => "application/merge-patch+json",
            _ => "application/json",
        };
        let body = match body {
            Value::Null => Vec::new(),
            body => body.to_string().into_bytes(),
        };
        let request = Request::builder()
            .method(method)
            .uri(target)
            .header("user-agent", "kubectl/v1.36.3")
            .header("content-type", media)
            .body(body)
            .unwrap();
        self.number += 1;
        self.server
            .environment_mut()
            .advance(Duration::from_secs(1));
        let at = MicroTime {
            micros: (1_767_225_600 + self.number) * 1_000_000,
        };
        let id = AuditId {
            run: 1,
            number: self.number,
        };
        let entry = AuditEntry::new(&self.server, &request, id);
        let answer = self.server.handle(request);
        let event = entry.answered(answer.status(), answer.body(), at, at);
        self.lines += &format!("{event}\n");
        self.look();
        serde_json::from_slice(answer.body()).unwrap()
    }

    /// Reads what is there, beside the log.
    fn look(&mut self) {
        let paths = [format!("{MAPS}/a"), format!("{MAPS}/b")];
        let paths = paths
            .into_iter()
            .chain([WEB.to_owned(), format!("{WIDGETS}/w")]);
        self.now = paths
            .filter_map(|path| Some((path.clone(), read(&self.server, &path)?)))
            .collect();
        self.after.push(self.now.clone());
    }

    fn log(&self) -> AuditLog {
        AuditReader::new(self.lines.as_str().into()).finish()
    }
}

/// An object of a server, which does not change.
fn read(server: &ApiServer, path: &str) -> Option<Value> {
    let request = Request::get(path).body(Vec::new()).unwrap();
    let answer = server.clone().handle(request);
    let is_there = answer.status().is_success();
    is_there.then(|| serde_json::from_slice(answer.body()).unwrap())
}

fn map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": "1"}})
}

/// Every way in which a log says what became of an object, and one that it does not say.
fn logged() -> Logged {
    let mut logged = Logged::default();
    let none = Value::Null;
    let a = format!("{MAPS}/a");
    let b = format!("{MAPS}/b");
    logged.send(
        "POST",
        "/api/v1/namespaces",
        &json!({"metadata": {"name": "shop"}}),
    );
    logged.send("POST", MAPS, &map("a"));
    let old = logged.send("POST", MAPS, &map("b"));
    let read = logged.send("GET", &a, &none);
    logged.send("PUT", &a, &read);
    let applied = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"l": "2"}});
    logged.send("PATCH", &format!("{a}?fieldManager=anna"), &applied);
    logged.send(
        "PATCH",
        &format!("{b}?dryRun=All"),
        &json!({"data": {"k": "dry"}}),
    );
    logged.send("PATCH", &a, &json!({"data": {"k": "3"}}));
    let mut stale = read.clone();
    stale["data"]["k"] = "9".into();
    assert_eq!(logged.send("PUT", &a, &stale)["code"], 409);
    let web = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "nginx", "image": "nginx"}]}}}});
    logged.send("POST", WEB.strip_suffix("/web").unwrap(), &web);
    logged.send("PATCH", &a, &json!({"data": {"k": "4"}}));
    // The answer is a Scale, and not the object.
    logged.send(
        "PATCH",
        &format!("{WEB}/scale"),
        &json!({"spec": {"replicas": 3}}),
    );
    logged.send("PATCH", &a, &json!({"data": {"k": "5"}}));
    logged.send("DELETE", &b, &none);
    logged.send("PATCH", &a, &json!({"data": {"k": "6"}}));
    let made = logged.send("POST", MAPS, &map("b"));
    assert_ne!(made["metadata"]["uid"], old["metadata"]["uid"]);
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": open}}}}]},
    });
    logged.send("POST", DEFINITIONS, &definition);
    let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"n": 1}});
    logged.send("POST", WIDGETS, &widget);
    logged.send("PATCH", &a, &json!({"data": {"k": "7"}}));
    // Its bodies are not in the log.
    let secret = json!({"metadata": {"name": "s"}, "stringData": {"k": "v"}});
    logged.send("POST", "/api/v1/namespaces/shop/secrets", &secret);
    logged.send("GET", &a, &none);
    logged.send("DELETE", &a, &none);
    logged
}

fn history(log: &AuditLog, name: &str) -> RecordedHistory {
    let objects = log.objects().into_iter().map(|(object, _)| object);
    let mut objects = objects.filter(|object| object.name == name);
    let object = objects.next().expect("the log has it");
    RecordedHistory::new(object, &[], Release::default()).finish(log)
}

#[test]
fn a_branch_has_every_object_as_the_server_had_it_after_the_step() {
    let logged = logged();
    let log = logged.log();
    for name in ["a", "b", "web", "w"] {
        let history = history(&log, name);
        let mut branched = 0;
        for (at, step) in history.steps.iter().enumerate() {
            let truth = &logged.after[step.event];
            let Some(branching) = history.branch(at, &log) else {
                assert!(
                    !truth.keys().any(|path| path.ends_with(&format!("/{name}"))),
                    "{name} {at}"
                );
                continue;
            };
            branched += 1;
            let Branch { world, missing, .. } = branching.finish().expect("a server can have it");
            for path in logged.after.iter().flat_map(BTreeMap::keys) {
                assert_eq!(
                    read(world.server(), path).as_ref(),
                    truth.get(path),
                    "{name} {at}: {path}"
                );
            }
            let subject = world
                .stored()
                .map(|(_, object)| object["metadata"]["name"].clone());
            assert_eq!(subject, Some(json!(name)));
            let secrets = log.events[..=step.event]
                .iter()
                .filter(|event| event.object.resource == "secrets");
            assert_eq!(missing, secrets.count(), "{name} {at}");
        }
        assert!(branched > 0, "{name}");
    }
}

#[test]
fn a_branch_goes_on_from_there_and_the_log_stays_as_it_is() {
    let logged = logged();
    let log = logged.log();
    let history = history(&log, "a");
    let conflict = history
        .steps
        .iter()
        .position(|step| log.events[step.event].code == Some(409));
    let branching = history
        .branch(conflict.expect("a conflict"), &log)
        .expect("it is there");
    let branch = branching.finish().expect("a server can have it");
    // The namespace, and both ConfigMaps.
    assert_eq!(branch.objects, 3);
    let (before, _) = branch.world.stored().expect("it is there");
    let mut tree = HistoryTree::new(branch.world);
    tree.act(Operation::Act(ActorId::A, Action::Get));
    let (_, stored) = tree.world().stored().expect("it is there");
    let mut mine = Value::clone(stored);
    mine["data"]["k"] = "mine".into();
    tree.world_mut().copy_mut(ActorId::A).edit(mine);
    let write = tree.world().actor(ActorId::A).write();
    tree.act(Operation::Act(ActorId::A, Action::Send(write)));
    let (after, object) = tree.world().stored().expect("it is there");
    assert_eq!(
        (object["data"]["k"].as_str(), object["data"]["l"].as_str()),
        (Some("mine"), Some("2"))
    );
    assert!(after > before);
    assert_eq!(logged.log(), log);
}

/// The events of a watch of an object, by what a server had after each request; each with the object as it was, or
/// `None` where it was deleted.
fn watched(logged: &Logged, path: &str) -> (String, Vec<Option<Value>>) {
    let (mut lines, mut versions) = (String::new(), Vec::new());
    let mut last: Option<&Value> = None;
    for now in logged.after.iter().map(|after| after.get(path)) {
        let (of, object) = match (last, now) {
            (None, Some(now)) => ("ADDED", now),
            (Some(last), Some(now)) if last != now => ("MODIFIED", now),
            (Some(last), None) => ("DELETED", last),
            _ => continue,
        };
        lines += &format!("{}\n", json!({"type": of, "object": object}));
        versions.push(now.cloned());
        last = now;
    }
    (lines, versions)
}

fn case_of(text: &str) -> Case {
    let input = detect(text).expect("it is detected");
    Case::all_of([&input]).remove(0)
}

#[test]
fn a_branch_of_versions_has_the_object_as_it_was_and_no_other_object_of_its_server() {
    let logged = logged();
    let all = |path: &str| {
        let after = logged.after.iter().filter_map(|after| after.get(path));
        after.count()
    };
    let others = [format!("{MAPS}/a"), format!("{MAPS}/b"), WEB.to_owned()];
    let mut deleted = 0;
    for path in &others {
        assert!(all(path) > 0, "{path}");
        let (lines, versions) = watched(&logged, path);
        let case = case_of(&lines);
        assert_eq!(case.versions.len(), versions.len(), "{path}");
        for (at, version) in versions.iter().enumerate() {
            let Some(branch) = case.at_version(at) else {
                deleted += 1;
                assert_eq!(*version, None, "{path} {at}");
                continue;
            };
            let world = branch.install().expect("a server can have it").world;
            // With its managedFields and its version.
            assert_eq!(read(world.server(), path), *version, "{path} {at}");
            for other in others.iter().filter(|other| *other != path) {
                assert_eq!(read(world.server(), other), None, "{path} {at}: {other}");
            }
        }
        assert!(case.at_version(versions.len()).is_none());
    }
    assert_eq!(deleted, 2, "a and b were deleted");
}

#[test]
fn a_branch_of_versions_goes_on_from_its_version_and_what_was_read_later_is_refused() {
    let logged = logged();
    let path = format!("{MAPS}/a");
    let (lines, versions) = watched(&logged, &path);
    let case = case_of(&lines);
    let world = case.at_version(1).expect("it is there").install();
    let mut server = world.expect("a server can have it").world.server().clone();
    let mut put = |object: &Value| {
        let request = Request::put(&path).header("content-type", "application/json");
        let request = request.body(object.to_string().into_bytes()).unwrap();
        server.handle(request).status().as_u16()
    };
    let [then, later] = [1, 2].map(|at| versions[at].clone().expect("it was there"));
    assert_eq!((put(&later), put(&then)), (409, 200));
    // Its number is not told: a server would give it another one, so there is no branch.
    let mut unnumbered = case.clone();
    let mut object = then.clone();
    object["metadata"]["resourceVersion"] = json!("");
    unnumbered.versions[1].object = object.into();
    assert!(unnumbered.at_version(1).is_none());
}
