//! Writes a module for every kube-rs snippet that the page can show: each kind of request with its
//! options, an edit of each field of the built-in kinds, and the ready programs with their switches.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use optimist_apiserver::schema::{Scalar, Struct, Type};
use optimist_apiserver::server::{ApiServer, Resource};
use optimist_client::ValueChange;
use optimist_code::{ClientRequest, ProgramLanguage, Snippet, kube_rs, program_text};
use optimist_controller::program::{ReadyProgram, ReadyProgramName, Switch};
use optimist_simulation::ControllerProgram;
use serde_json::{Value, json};

const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/web";
const STATEFUL_SET: &str = "/apis/apps/v1/namespaces/default/statefulsets/db";
/// A definition of a kind that clients have no types for.
const BACKUPS: &str = include_str!("../core/client/tests/kubectl/backups.json");
const BACKUP: &str = "/apis/demo.example.com/v1/namespaces/default/backups/nightly";

const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const OPERATIONS: &str = "application/json-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

fn main() {
    let mut server = ApiServer::default();
    let request = http::Request::post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
        .body(BACKUPS.into())
        .expect("a request");
    assert!(server.handle(request).status().is_success());

    let mut modules = Modules::default();
    for (target, kind, api_version) in [
        (DEPLOYMENT, "Deployment", "apps/v1"),
        (BACKUP, "Backup", "demo.example.com/v1"),
        (STATEFUL_SET, "StatefulSet", "apps/v1"),
    ] {
        let resource = server.resources().by_kind(api_version, kind);
        requests(&mut modules, target, resource.expect("it is served"));
    }
    for resource in server.resources().iter() {
        let typed = resource.has_builtin_schema();
        if typed && resource.group_version.group != "apiextensions.k8s.io" {
            every_field(&mut modules, resource);
        }
    }
    programs(&mut modules);
    let out = env::var_os("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("snippets.rs"), modules.text).expect("it can be written");
    println!("cargo::rerun-if-changed=build.rs");
}

/// The ready programs: without switches, with each one alone, and with all.
fn programs(modules: &mut Modules) {
    for name in ReadyProgramName::ALL {
        let all: Vec<Switch> = name.switches().to_vec();
        let alone = all.iter().map(|switch| vec![*switch]);
        let switches = std::iter::once(Vec::new())
            .chain(alone)
            .chain([all.clone()]);
        for (number, switches) in switches.enumerate() {
            let program = ControllerProgram::Ready(ReadyProgram::new(name).with(switches));
            let text = program_text(&program, ProgramLanguage::Rust);
            let module = format!("{name:?}_{number}").to_lowercase();
            let lines = text.lines.iter().map(|line| line.text.as_str());
            let code: Vec<&str> = lines.collect();
            let (imports, code) = (text.imports, code.join("\n"));
            writeln!(
                modules.text,
                "mod program_{module} {{\n{imports}\n{code}\n}}"
            )
            .expect("a string takes everything");
        }
    }
}

#[derive(Default)]
struct Modules {
    text: String,
    count: usize,
}

impl Modules {
    fn add(&mut self, call: &ClientRequest<'_>) -> Snippet {
        let snippet = kube_rs(call);
        self.count += 1;
        writeln!(
            self.text,
            "/// {} {}\nmod snippet_{} {{\n{}\n{}\n}}",
            call.method, call.target, self.count, snippet.imports, snippet.code
        )
        .expect("a string takes everything");
        snippet
    }
}

/// A request: method, path, media type and body.
type Request = (&'static str, String, &'static str, Value);

/// Every kind of request for an object, with each of its options.
fn requests(modules: &mut Modules, object: &str, resource: &Resource) {
    let edited = edits();
    let all = reads_and_writes(object, resource).into_iter();
    for (method, path, content_type, body) in all.chain(deletions(object)) {
        let call = ClientRequest {
            method,
            target: "",
            content_type,
            user_agent: "editor-a",
            body: &body,
            resource: Some(resource),
            edits: None,
            attempts: 1,
            reads_again: false,
            migrates: false,
        };
        for query in ["", "?fieldManager=someone&dryRun=All"] {
            for (attempts, reads_again) in [(1, false), (5, true), (3, false)] {
                for edits in [None, Some(&edited[..])] {
                    modules.add(&ClientRequest {
                        target: &format!("{path}{query}"),
                        edits,
                        attempts,
                        reads_again,
                        migrates: false,
                        ..call
                    });
                }
            }
        }
        let forced = format!("{path}?fieldManager=someone&force=true");
        modules.add(&ClientRequest {
            target: &forced,
            ..call
        });
    }
}

/// A field that is changed, one that is removed and one that is added.
fn edits() -> [ValueChange; 3] {
    [
        ValueChange {
            pointer: "/spec/replicas".to_owned(),
            before: Some(3.into()),
            after: Some(5.into()),
        },
        ValueChange {
            pointer: "/metadata/labels/a~1b".to_owned(),
            before: Some("x".into()),
            after: None,
        },
        ValueChange {
            pointer: "/metadata/finalizers".to_owned(),
            before: None,
            after: Some(json!(["x/y"])),
        },
    ]
}

/// Returns the requests that read and write: the object, its subresources and its collection.
fn reads_and_writes(object: &str, resource: &Resource) -> Vec<Request> {
    let manifest = |version: Option<&str>| {
        json!({
            "apiVersion": resource.group_version.to_string(), "kind": resource.kind,
            "metadata": {"name": object.rsplit('/').next(), "namespace": "default",
                "labels": {"a": "\"quoted\" \\ \u{200b}"}, "resourceVersion": version},
            "spec": {"replicas": 5, "list": [1, -2, 1.5, true, null]},
        })
    };
    let (stored, unversioned) = (|| manifest(Some("100")), || manifest(None));
    let large = || {
        let mut large = manifest(None);
        large["spec"]["text"] = "\"# so long ".repeat(100).into();
        large
    };
    let scale = || {
        json!({
            "apiVersion": "autoscaling/v1", "kind": "Scale",
            "metadata": {"name": "web", "namespace": "default", "resourceVersion": "100"},
            "spec": {"replicas": 5},
        })
    };
    let operations = json!([{"op": "replace", "path": "/spec/replicas", "value": 5}]);
    let collection = object.rsplit_once('/').map_or("", |(path, _)| path);
    let of = |subresource: &str| format!("{object}{subresource}");
    vec![
        ("GET", of(""), "", Value::Null),
        ("GET", of("/status"), "", Value::Null),
        ("GET", of("/scale"), "", Value::Null),
        ("GET", format!("{collection}?limit=5"), "", Value::Null),
        ("GET", format!("{collection}?watch=true"), "", Value::Null),
        ("POST", collection.to_owned(), JSON, unversioned()),
        ("POST", collection.to_owned(), JSON, large()),
        ("PUT", of(""), JSON, stored()),
        ("PUT", of(""), JSON, unversioned()),
        ("PUT", of("/status"), JSON, stored()),
        ("PUT", of("/scale"), JSON, scale()),
        ("PATCH", of(""), MERGE, unversioned()),
        ("PATCH", of(""), MERGE, stored()),
        ("PATCH", of(""), STRATEGIC, stored()),
        ("PATCH", of(""), OPERATIONS, operations),
        ("PATCH", of(""), APPLY, unversioned()),
        ("PATCH", of(""), APPLY, large()),
        ("PATCH", of("/status"), MERGE, stored()),
        ("PATCH", of("/scale"), MERGE, scale()),
        ("PATCH", of("/status"), APPLY, stored()),
        ("PATCH", of(""), "text/plain", unversioned()),
    ]
}

/// Deletions of the object, with each of their options, and of its collection.
fn deletions(object: &str) -> Vec<Request> {
    let collection = object.rsplit_once('/').map_or("", |(path, _)| path);
    let mut all = vec![
        ("DELETE", object.to_owned(), "", Value::Null),
        ("DELETE", collection.to_owned(), "", Value::Null),
    ];
    for options in [
        json!({"preconditions": {"uid": "u", "resourceVersion": "100"}}),
        json!({"preconditions": {"resourceVersion": "100"}}),
        json!({"propagationPolicy": "Orphan", "gracePeriodSeconds": 5}),
    ] {
        all.push(("DELETE", object.to_owned(), JSON, options));
    }
    all
}

/// Two updates that change every field of a kind: one assigns, one removes.
fn every_field(modules: &mut Modules, resource: &Resource) {
    let mut places = Vec::new();
    let mut seen = BTreeSet::new();
    walk(&resource.root, "", &mut seen, &mut places);
    places.retain(|(pointer, _)| !["/apiVersion", "/kind"].contains(&pointer.as_str()));
    let namespace = if resource.namespaced { "default" } else { "" };
    let target = resource.path(namespace, "x");
    let body = json!({
        "apiVersion": resource.group_version.to_string(), "kind": resource.kind,
        "metadata": {"name": "x", "resourceVersion": "1"},
    });
    for assigns in [true, false] {
        let edits: Vec<ValueChange> = places
            .iter()
            // Items are not removed one by one, and this time cannot be.
            .filter(|(pointer, _)| {
                assigns || !pointer.ends_with("/0") && !pointer.ends_with("/lastTransitionTime")
            })
            .map(|(pointer, value)| ValueChange {
                pointer: pointer.clone(),
                before: Some(Value::Null),
                after: assigns.then(|| value.clone()),
            })
            .collect();
        let snippet = modules.add(&ClientRequest {
            method: "PUT",
            target: &target,
            content_type: JSON,
            user_agent: "editor-a",
            body: &body,
            resource: Some(resource),
            edits: Some(&edits),
            attempts: 1,
            reads_again: false,
            migrates: false,
        });
        let assigned =
            snippet.code.matches(" = ").count() + snippet.code.matches(".insert(").count();
        assert!(assigned + snippet.code.matches(".remove(").count() >= edits.len());
    }
}

fn walk(
    ty: &Struct,
    pointer: &str,
    seen: &mut BTreeSet<String>,
    places: &mut Vec<(String, Value)>,
) {
    if !seen.insert(ty.name.clone()) {
        return;
    }
    for field in &ty.fields {
        visit(
            &field.ty,
            &format!("{pointer}/{}", field.name),
            seen,
            places,
        );
    }
}

fn visit(ty: &Type, pointer: &str, seen: &mut BTreeSet<String>, places: &mut Vec<(String, Value)>) {
    match ty {
        Type::Struct(inner) => walk(inner, pointer, seen, places),
        Type::List(list) => visit(&list.item, &format!("{pointer}/0"), seen, places),
        Type::Map(map) => visit(&map.value, &format!("{pointer}/k"), seen, places),
        Type::Any | Type::Definition(_) => places.push((pointer.to_owned(), json!({}))),
        Type::Scalar(scalar) => places.push((pointer.to_owned(), example(*scalar))),
    }
}

fn example(scalar: Scalar) -> Value {
    match scalar {
        Scalar::Bool => true.into(),
        Scalar::Int32 | Scalar::Int64 | Scalar::Number | Scalar::IntOrString => 1.into(),
        Scalar::Bytes => "dA==".into(),
        Scalar::Time | Scalar::MicroTime => "2026-01-01T00:00:00Z".into(),
        _ => "1".into(),
    }
}
