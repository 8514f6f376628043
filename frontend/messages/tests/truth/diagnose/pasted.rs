//! Random texts that people paste, and what is in them: it is known here, because they are made here.

use optimist_apiserver::object::{Metadata, text};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::written::{Written, histories, object_of};
use crate::random::Random;

/// A case, and what is in its texts.
#[derive(Clone, Default)]
pub struct Pasted {
    pub texts: Vec<String>,
    /// The live object.
    pub live: Option<Value>,
    /// The manifest that somebody wants to write.
    pub manifest: Option<Value>,
    /// The versions of a watch or of several documents, oldest first.
    pub versions: Vec<Value>,
    /// `true` if they are events of a watch.
    pub events: bool,
    /// `true` if the last event is a deletion.
    pub deleted: bool,
    /// The number of objects in the texts.
    pub objects: usize,
    /// Error messages.
    pub message: String,
    /// The lines of an audit log.
    pub log: Vec<Value>,
    /// The number of its lines that are no events.
    pub noise: usize,
    /// The form of a text without an object, and the line that shows it.
    pub form: (&'static str, usize),
    /// The position of the object that is looked at; `None` for the one that the page shows first.
    pub chosen: Option<usize>,
}

const MESSAGES: [&str; 3] = [
    include_str!("../../../../../core/diagnose/tests/messages/forms.json"),
    include_str!("../../../../../core/diagnose/tests/messages/kubectl.json"),
    include_str!("../../../../../core/diagnose/tests/messages/other_tools.json"),
];

const LOG: &str = include_str!("../../../../../core/diagnose/tests/live/audit.log");

/// A line of a log that is no event.
const NOISE: &str = "{\"kind\":\"Noise\"}";

/// The error messages that tools printed.
pub fn messages() -> Vec<String> {
    let all = MESSAGES.iter().flat_map(|text| {
        let all: Vec<Value> = serde_json::from_str(text).expect("a list of messages");
        all.into_iter().map(|one| match text_of(&one, "text") {
            "" => text_of(&one, "stderr").to_owned(),
            text => text.to_owned(),
        })
    });
    all.filter(|text| !text.trim().is_empty()).collect()
}

fn text_of<'a>(value: &'a Value, member: &str) -> &'a str {
    text(value, member)
}

/// An object after each of some writes, and what is written then.
fn written_versions(runner: &mut TestRunner) -> (Vec<Value>, Written) {
    let (before, last) = histories().new_tree(runner).expect("it is made").current();
    let mut found: Vec<Value> = Vec::new();
    for end in 1..=before.len() {
        let Some(installed) = object_of(&before[..end]) else {
            continue;
        };
        let object = installed.object().map(|it| Value::clone(it));
        let version = |it: &Value| it.resource_version().parse::<u64>().unwrap_or_default();
        let newer = |it: &Value| found.last().is_none_or(|last| version(it) > version(last));
        if let Some(object) = object.filter(newer) {
            found.push(object);
        }
    }
    (found, last)
}

/// An object as somebody may print it: without its owners, its uid, its namespace, or with fields that
/// no release has.
fn printed(object: &mut Value, random: &mut Random) {
    let metadata = object.metadata_mut();
    match random.below(7) {
        0 | 1 => drop(metadata.remove("managedFields")),
        2 => drop(metadata.remove("uid")),
        3 => drop(metadata.remove("namespace")),
        4 => object["spec"]["fromAnotherRelease"] = json!(1),
        _ => {}
    }
}

impl Pasted {
    /// A random case.
    pub fn new(runner: &mut TestRunner, random: &mut Random) -> Self {
        match random.below(10) {
            0..4 => Self::object(runner, random),
            4 | 5 => Self::versions(runner, random),
            6 | 7 => Self::message(random),
            8 => Self::log(random),
            _ => Self::form(random),
        }
    }

    fn object(runner: &mut TestRunner, random: &mut Random) -> Self {
        let (mut versions, last) = written_versions(runner);
        let Some(mut live) = versions.pop() else {
            return Self::form(random);
        };
        printed(&mut live, random);
        let mut manifest = last.manifest;
        if random.once_in(6) {
            // A kind without a definition.
            for object in [&mut live, &mut manifest] {
                object["apiVersion"] = "example.com/v1".into();
                object["kind"] = "Widget".into();
            }
        }
        let mut made = Self {
            texts: vec![live.to_string()],
            objects: 1,
            live: Some(live.clone()),
            ..Self::default()
        };
        match random.below(4) {
            0 => {}
            1 => {
                // Two objects in one text.
                let mut other = live;
                other["metadata"]["name"] = "other".into();
                other["metadata"]["uid"] = "00000000-0000-4000-8000-00000000000b".into();
                made.texts[0] += &format!("\n---\n{other}\n");
                made.objects = 2;
            }
            _ => {
                made.texts.push(manifest.to_string());
                made.manifest = Some(manifest);
            }
        }
        made
    }

    fn versions(runner: &mut TestRunner, random: &mut Random) -> Self {
        let (mut versions, _) = written_versions(runner);
        let Some(first) = versions.first().cloned() else {
            return Self::form(random);
        };
        // Somebody writes a field back and forth.
        if random.once_in(2) {
            let mut last = versions[versions.len() - 1].clone();
            for at in 0..2 + random.below(6) {
                let number: u64 = last.resource_version().parse().unwrap_or(1);
                last.set_meta("resourceVersion", (number + 1).to_string());
                let manager = ["first", "second"][at % 2];
                last["metadata"]["labels"]["team"] = at.to_string().into();
                last["metadata"]["managedFields"] = json!([{"manager": manager, "operation": "Update",
                    "apiVersion": last["apiVersion"], "fieldsType": "FieldsV1",
                    "time": format!("2026-01-01T00:01:{:02}Z", at),
                    "fieldsV1": {"f:metadata": {"f:labels": {"f:team": {}}}}}]);
                versions.push(last.clone());
            }
        }
        if random.once_in(3) {
            for version in &mut versions {
                version.metadata_mut().remove("managedFields");
            }
        }
        let events = random.once_in(2);
        let deleted = events && random.once_in(3);
        let count = versions.len();
        let event = |(at, object): (usize, &Value)| {
            let of = match at {
                0 => "ADDED",
                _ if deleted && at + 1 == count => "DELETED",
                _ => "MODIFIED",
            };
            json!({"type": of, "object": object}).to_string()
        };
        let mut lines: Vec<String> = match events {
            true => versions.iter().enumerate().map(event).collect(),
            false => versions.iter().map(Value::to_string).collect(),
        };
        if events && count % 3 == 0 {
            lines.push("{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Dep".to_owned());
        }
        let separator = if events { "\n" } else { "\n---\n" };
        Self {
            texts: vec![lines.join(separator)],
            live: versions.last().cloned().or(Some(first)),
            deleted: deleted && count > 1,
            objects: 1,
            versions,
            events,
            ..Self::default()
        }
    }

    fn message(random: &mut Random) -> Self {
        let all = messages();
        let message = random.choose(&all).clone();
        Self {
            texts: vec![message.clone()],
            message,
            ..Self::default()
        }
    }

    /// A recorded log of which lines are missing, are cut, or say less.
    fn log(random: &mut Random) -> Self {
        let mut log = Vec::new();
        let mut lines = Vec::new();
        let mut noise = 0;
        for line in LOG.lines() {
            if random.once_in(12) {
                continue;
            }
            let mut event: Value = serde_json::from_str(line).expect("an event");
            if random.once_in(10) {
                event["level"] = "Metadata".into();
                for member in ["requestObject", "responseObject"] {
                    event.as_object_mut().map(|event| event.remove(member));
                }
            }
            if random.once_in(20) {
                event
                    .as_object_mut()
                    .map(|event| event.remove("responseStatus"));
            }
            if random.once_in(25) {
                lines.push(NOISE.to_owned());
                noise += 1;
            }
            lines.push(event.to_string());
            log.push(event);
        }
        Self {
            texts: vec![lines.join("\n")],
            noise,
            ..Self::of_log(log)
        }
    }

    /// A log, and the versions that its answers show.
    pub fn of_log(log: Vec<Value>) -> Self {
        let answered = log.iter().filter(|line| {
            let verb = text(line, "verb");
            let code = line["responseStatus"]["code"].as_u64().unwrap_or(500);
            ["create", "update", "patch", "get"].contains(&verb) && code < 300
        });
        let objects = answered.map(|line| line["responseObject"].clone());
        let objects =
            objects.filter(|object| object["metadata"].is_object() && object["kind"] != "Scale");
        let mut versions: Vec<Value> = objects.collect();
        versions.dedup_by(|one, before| one.resource_version() == before.resource_version());
        let lines: Vec<String> = log.iter().map(Value::to_string).collect();
        Self {
            texts: vec![lines.join("\n")],
            versions,
            log,
            ..Self::default()
        }
    }

    /// A text without an object.
    fn form(random: &mut Random) -> Self {
        random.choose(&forms()).clone()
    }
}

/// The cases that are tried each time: what chance rarely makes.
pub fn fixed() -> Vec<Pasted> {
    let mut all = forms();
    let texts = |texts: &[String]| Pasted {
        texts: texts.to_vec(),
        ..Pasted::default()
    };
    // Chance brings some of the messages; a longer run brings them all.
    let messages = if crate::times() > 1 {
        messages()
    } else {
        Vec::new()
    };
    all.extend(messages.into_iter().map(|message| Pasted {
        message: message.clone(),
        ..texts(&[message])
    }));
    let conflicts = super::logs::of_conflicts();
    let logs = [
        conflicts.clone(),
        super::logs::without_bodies(conflicts),
        super::logs::of_other_kind(super::logs::quiet()),
        super::logs::quiet(),
        super::logs::of_no_object(),
        super::logs::without_answers(super::logs::quiet()),
        recorded_without_codes(&[]),
        recorded_without_codes(&["responseObject"]),
    ];
    all.extend(logs.into_iter().map(Pasted::of_log));
    let with_noise = Pasted::of_log(super::logs::quiet());
    all.push(Pasted {
        texts: vec![format!("{}\n{NOISE}", with_noise.texts.join("\n"))],
        noise: 1,
        ..with_noise
    });
    all.extend(live_cases());
    all.push(refused_manifest());
    all.extend(unused_manifests());
    all.extend(super::rare::all());
    all
}

/// A message alone.
pub fn of_message(message: String) -> Pasted {
    Pasted {
        texts: vec![message.clone()],
        message,
        ..Pasted::default()
    }
}

/// Messages with more manifests than the one that was refused.
pub fn unused_manifests() -> [Pasted; 5] {
    let refused = refused_manifest();
    let manifest = refused.manifest.clone().expect("a manifest");
    let named = |name: &str| {
        let mut other = manifest.clone();
        other["metadata"]["name"] = name.into();
        other
    };
    let mut without = manifest.clone();
    without["spec"]
        .as_object_mut()
        .expect("a spec")
        .remove("replicas");
    let mut earlier = manifest.clone();
    earlier["spec"]["replicas"] = 4.into();
    let of = |message: &str, manifests: &[&Value]| {
        let texts = manifests.iter().map(ToString::to_string);
        Pasted {
            texts: [message.to_owned()].into_iter().chain(texts).collect(),
            message: message.to_owned(),
            // The one of the message may be another.
            objects: manifests.len() + 1,
            ..refused.clone()
        }
    };
    let unnamed =
        "Apply failed with 1 conflict: conflict with \"helm\" using apps/v1: .spec.replicas";
    let (front, back) = (named("front"), named("back"));
    [
        of(unnamed, &[&front, &back]),
        of(&refused.message, &[&manifest, &front]),
        of(&refused.message, &[&front, &manifest, &back]),
        of(&refused.message, &[&earlier, &manifest]),
        of(&refused.message, &[&without]),
    ]
}

/// A message, and the manifest that was refused.
pub fn refused_manifest() -> Pasted {
    let message = "Error: UPGRADE FAILED: conflict occurred while applying object shop/web apps/v1, Kind=Deployment: \
        Apply failed with 1 conflict: conflict with \"kube-controller-manager\" with subresource \"scale\" using \
        apps/v1: .spec.replicas";
    let labels = json!({"app": "web"});
    let manifest = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": 5, "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": "nginx:1.27"}]}}}});
    Pasted {
        texts: vec![message.to_owned(), manifest.to_string()],
        objects: 1,
        message: message.to_owned(),
        manifest: Some(manifest),
        ..Pasted::default()
    }
}

/// The recorded log, whose lines do not say how they were answered.
fn recorded_without_codes(also: &[&str]) -> Vec<Value> {
    let lines = LOG.lines().map(|line| {
        let mut event: Value = serde_json::from_str(line).expect("an event");
        let members = event.as_object_mut().expect("an event");
        members.remove("responseStatus");
        for member in also {
            members.remove(*member);
        }
        event
    });
    lines.collect()
}

pub fn config_map(name: &str, version: u64, data: Value, entries: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop",
        "uid": format!("00000000-0000-4000-8000-{name:0>12}"), "resourceVersion": version.to_string(),
        "managedFields": entries}, "data": data})
}

/// An object as a tool prints it that takes its version out.
fn unversioned(mut object: Value) -> Value {
    let metadata = object["metadata"].as_object_mut();
    metadata.and_then(|it| it.remove("resourceVersion"));
    object
}

pub fn owned(manager: &str, fields: Value) -> Value {
    json!([{"manager": manager, "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
        "time": "2026-01-01T00:01:00Z", "fieldsV1": {"f:data": fields}}])
}

/// Objects, versions and manifests that are tried each time.
fn live_cases() -> Vec<Pasted> {
    let own = owned("one", json!({"f:a": {}}));
    let live = |object: Value| Pasted {
        texts: vec![object.to_string()],
        objects: 1,
        live: Some(object),
        ..Pasted::default()
    };
    let history = |versions: Vec<Value>| Pasted {
        texts: vec![versions.iter().map(|it| format!("{it}\n---\n")).collect()],
        objects: 1,
        live: versions.last().cloned(),
        versions,
        ..Pasted::default()
    };
    let watch = |versions: Vec<(&str, Value)>| {
        let line =
            |(of, object): &(&str, Value)| json!({"type": of, "object": object}).to_string() + "\n";
        Pasted {
            texts: vec![versions.iter().map(line).collect()],
            objects: 1,
            events: true,
            deleted: versions.last().is_some_and(|(of, _)| *of == "DELETED"),
            live: versions.last().map(|(_, object)| object.clone()),
            versions: versions.into_iter().map(|(_, object)| object).collect(),
            ..Pasted::default()
        }
    };
    let map = |version: u64, data: Value| config_map("a", version, data, own.clone());
    let other = |name: &str| config_map(name, 7, json!({"a": "1"}), own.clone());
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "shop"}, "data": {"a": "2"}});
    let of_manifests = |count: usize| {
        let manifests = std::iter::repeat_n(manifest.to_string(), count);
        Pasted {
            manifest: Some(manifest.clone()),
            texts: std::iter::once(map(5, json!({"a": "1"})).to_string())
                .chain(manifests)
                .collect(),
            ..live(map(5, json!({"a": "1"})))
        }
    };
    let mut unreadable = map(5, json!({"a": "1"}));
    unreadable["metadata"]["managedFields"] = json!([{"manager": "x", "operation": "Update",
        "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": 3}]);
    let mut refused = map(5, json!({"a": "1"}));
    refused["metadata"]["name"] = "Not A Name".into();
    let many = |from: u64| -> Value {
        let data = (0..30).map(|key| (format!("k{key}"), json!(format!("{}", key + from))));
        Value::Object(data.collect())
    };
    let mut bare = map(5, json!({"a": "1"}));
    for member in ["uid", "managedFields"] {
        bare.metadata_mut().remove(member);
    }
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"}, "spec": {"group": "example.com", "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
        "versions": [{"name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object"}}}]}});
    let revision = super::cases::controller_revision();
    let mut wanted = revision.clone();
    for member in ["uid", "resourceVersion", "managedFields"] {
        wanted.metadata_mut().remove(member);
    }
    wanted["revision"] = 2.into();
    let mut elsewhere = map(5, json!({"a": "1"}));
    elsewhere["metadata"]["namespace"] = "Not A Name".into();
    let conflict = |manager: &str, tool: &str| {
        let apply =
            format!("Apply failed with 1 conflict: conflict with {manager} using v1: .data.a");
        match tool {
            "helm" => format!(
                "Error: UPGRADE FAILED: conflict occurred while applying object shop/a /v1, Kind=ConfigMap: {apply}"
            ),
            _ => format!("error: {apply}\nPlease review the fields above"),
        }
    };
    let beside = |message: String, object: Value| Pasted {
        texts: vec![object.to_string(), message.clone()],
        message,
        objects: 1,
        live: Some(object),
        ..Pasted::default()
    };
    let empty = Pasted {
        texts: vec![" \n".to_owned()],
        form: ("empty", 0),
        ..Pasted::default()
    };
    vec![
        empty,
        live(unreadable.clone()),
        live(refused),
        live(elsewhere),
        // Of two values, one has an owner.
        live(map(5, json!({"a": "1", "b": "2"}))),
        live(unversioned(map(5, json!({"a": "1"})))),
        live(unversioned(config_map("a", 5, json!({}), json!([])))),
        Pasted {
            texts: vec![bare.to_string()],
            manifest: Some(bare),
            ..Pasted::default()
        },
        Pasted {
            texts: vec![revision.to_string(), wanted.to_string()],
            objects: 1,
            live: Some(revision),
            manifest: Some(wanted),
            ..Pasted::default()
        },
        Pasted {
            texts: vec![definition.to_string()],
            form: ("definition", 0),
            ..Pasted::default()
        },
        // Nothing changes, one version twice, a new object of the same name, many fields at once.
        history(vec![map(5, json!({"a": "1"})), map(6, json!({"a": "1"}))]),
        watch(vec![
            ("ADDED", map(5, json!({"a": "1"}))),
            ("MODIFIED", map(5, json!({"a": "1"}))),
        ]),
        watch(vec![("ADDED", map(5, json!({"a": "1"})))]),
        watch(vec![
            ("ADDED", map(5, json!({"a": "1"}))),
            ("DELETED", map(6, json!({"a": "1"}))),
            ("ADDED", {
                let mut new = map(7, json!({"a": "1"}));
                new.set_meta("uid", "00000000-0000-4000-8000-0000000000bb");
                new
            }),
        ]),
        watch(vec![
            ("ADDED", map(5, many(1))),
            ("MODIFIED", map(6, many(2))),
        ]),
        watch(vec![
            ("ADDED", map(5, json!({"a": "1"}))),
            ("MODIFIED", map(6, json!({"a": "2"}))),
            ("MODIFIED", map(7, json!({"b": "3"}))),
            ("DELETED", map(8, json!({"b": "3"}))),
        ]),
        // A value comes back, and nobody knows who wrote it.
        history(
            [(5, "1"), (6, "2"), (7, "1"), (8, "2")]
                .into_iter()
                .map(|(version, value)| config_map("a", version, json!({"a": value}), Value::Null))
                .map(|mut object| {
                    object.metadata_mut().remove("managedFields");
                    object
                })
                .collect(),
        ),
        Pasted {
            objects: 2,
            ..watch(vec![("ADDED", other("1")), ("ADDED", other("2"))])
        },
        history(vec![map(5, json!({"a": "1"})), unreadable]),
        of_message(conflict("\"helm\"", "helm")),
        of_message(conflict("\"helm\"", "helm").replace(" using v1", "")),
        // No kind has such a field, and nothing names the object.
        of_message(conflict("\"helm\"", "kubectl").replace(".data.a", ".noSuchPart.a")),
        of_message(format!(
            "{}\n{}",
            conflict("\"one\"", "helm"),
            conflict("\"two\"", "kubectl")
        )),
        beside(conflict("\"somebody\"", "helm"), map(5, json!({"a": "1"}))),
        beside(conflict("\"one\"", "helm"), map(5, json!({"a": "1"}))),
        of_manifests(2),
        of_manifests(4),
        Pasted {
            manifest: Some(manifest.clone()),
            texts: vec![
                map(5, json!({"a": "1"})).to_string(),
                manifest.to_string(),
                conflict("\"somebody\"", "kubectl").replace(".data.a", ".data.b"),
            ],
            message: conflict("\"somebody\"", "kubectl").replace(".data.a", ".data.b"),
            objects: 1,
            live: Some(map(5, json!({"a": "1"}))),
            ..Pasted::default()
        },
    ]
}

/// Texts without an object, each with what it is.
fn forms() -> Vec<Pasted> {
    let cut = "{\"apiVersion\": \"v1\",\n\"kind\": \"Pod\", \"spec\": {";
    let smart = "{\"apiVersion\": \"v1\",\n\"kind\": \u{201c}Pod\u{201d}}";
    let described = "Name:         web\nNamespace:    live\nLabels:       app=web\nAnnotations:  <none>\n\
            API Version:  demo.example.com/v1\nKind:         Backup\nSpec:\n";
    let all = [
        ("table", 1, "NAME   READY   AGE\nweb    3/3     5d\n"),
        (
            "table",
            2,
            "$ kubectl get pods\nNAME   READY   AGE\nweb    3/3     5d\n",
        ),
        ("description", 1, described),
        (
            "diff",
            1,
            "--- web.yaml\n+++ new.yaml\n@@ -1 +1 @@\n-kind: Pod\n+kind: Job\n",
        ),
        ("no resources", 1, "No resources found in live namespace.\n"),
        ("markup", 2, "\n<!DOCTYPE html>\n<p>apiVersion</p>\n"),
        ("cut", 2, cut),
        (
            "template",
            4,
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}\n",
        ),
        ("quotation mark", 2, smart),
        ("control", 2, "a: 1\nb: \u{0}\n"),
        (
            "list",
            0,
            "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": []}",
        ),
        ("list", 0, "apiVersion: v1\nkind: List\nitems: null\n"),
        (
            "about objects",
            0,
            "{\"apiVersion\": \"meta.k8s.io/v1\", \"kind\": \"Table\", \"rows\": [{\"cells\": [\"web\"], \
             \"object\": {\"kind\": \"PartialObjectMetadata\", \"metadata\": {\"name\": \"web\"}}}]}",
        ),
        ("syntax", 2, "apiVersion: v1\nkind: : [\n"),
        (
            "syntax",
            2,
            "{\"type\": \"ADDED\", \"object\": {\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \
             \"metadata\": {\"name\": \"a\", \"resourceVersion\": \"5\"}}}\n{\"type\": \"MODIFIED\", \"object\": }\n",
        ),
        (
            "syntax",
            1,
            "{\"apiVersion\": \"v1\", \"kind\": , \"metadata\": {}}",
        ),
        ("missing", 1, "kind: ConfigMap\nmetadata:\n  name: a\n"),
        (
            "event",
            0,
            "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}",
        ),
        ("text", 0, "the deployment is broken again\n"),
        ("file", 0, "PK\u{3}\u{4}.."),
    ];
    let made = all.into_iter().map(|(name, line, text)| Pasted {
        texts: vec![text.to_owned()],
        form: (name, line),
        ..Pasted::default()
    });
    made.collect()
}
