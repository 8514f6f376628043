//! Writes a module for every kube-rs snippet that the page can show: each kind of request with its
//! options, and an edit of each field of the built-in kinds.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use optimist_apiserver::schema::{Scalar, Struct, Type};
use optimist_apiserver::server::{ApiServer, Definition, Resource};
use optimist_client::ValueChange;
use optimist_text::render::{Call, Snippet, kube_rs};
use serde_json::{Value, json};

const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/web";
const STATEFUL_SET: &str = "/apis/apps/v1/namespaces/default/statefulsets/db";
const BACKUP: &str = "/apis/demo.example.com/v1/namespaces/default/backups/nightly";

fn main() {
    let mut server = ApiServer::default();
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "backups.demo.example.com"},
        "spec": {
            "group": "demo.example.com", "scope": "Namespaced",
            "names": {"kind": "Backup", "plural": "backups"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                }},
            }],
        },
    });
    let request = http::Request::post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")
        .body(definition.to_string().into_bytes())
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
        let typed = matches!(resource.definition, Definition::Builtin(rules) if rules.thorough);
        if typed && resource.group_version.group != "apiextensions.k8s.io" {
            every_field(&mut modules, resource);
        }
    }
    let out = env::var_os("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("snippets.rs"), modules.text).expect("it can be written");
    println!("cargo::rerun-if-changed=build.rs");
}

#[derive(Default)]
struct Modules {
    text: String,
    count: usize,
}

impl Modules {
    fn add(&mut self, call: &Call<'_>) -> Snippet {
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

/// Every kind of request for an object, with each of its options.
fn requests(modules: &mut Modules, object: &str, resource: &Resource) {
    let manifest = |version: Option<&str>| {
        json!({
            "apiVersion": resource.group_version.to_string(), "kind": resource.kind,
            "metadata": {"name": object.rsplit('/').next(), "namespace": "default",
                "labels": {"a": "\"quoted\" \\ \u{200b}"}, "resourceVersion": version},
            "spec": {"replicas": 5, "list": [1, -2, 1.5, true, null]},
        })
    };
    let (stored, unversioned) = (manifest(Some("100")), manifest(None));
    let mut large = unversioned.clone();
    large["spec"]["text"] = "\"# so long ".repeat(100).into();
    let scale = json!({
        "apiVersion": "autoscaling/v1", "kind": "Scale",
        "metadata": {"name": "web", "namespace": "default", "resourceVersion": "100"},
        "spec": {"replicas": 5},
    });
    let operations = json!([{"op": "replace", "path": "/spec/replicas", "value": 5}]);
    let preconditions = |conditions: Value| json!({"preconditions": conditions});
    let edited = [
        Change {
            pointer: "/spec/replicas".to_owned(),
            before: Some(3.into()),
            after: Some(5.into()),
        },
        Change {
            pointer: "/metadata/labels/a~1b".to_owned(),
            before: Some("x".into()),
            after: None,
        },
        Change {
            pointer: "/metadata/finalizers".to_owned(),
            before: None,
            after: Some(json!(["x/y"])),
        },
    ];
    let collection = object.rsplit_once('/').map_or("", |(path, _)| path);
    let json = "application/json";
    let (merge, strategic) = (
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
    );
    let (operate, apply) = (
        "application/json-patch+json",
        "application/apply-patch+yaml",
    );
    let queries = ["", "?fieldManager=someone&dryRun=All"];
    let sent = [
        ("GET", object.to_owned(), "", &Value::Null),
        ("GET", format!("{object}/status"), "", &Value::Null),
        ("GET", format!("{object}/scale"), "", &Value::Null),
        ("GET", format!("{collection}?limit=5"), "", &Value::Null),
        ("POST", collection.to_owned(), json, &unversioned),
        ("POST", collection.to_owned(), json, &large),
        ("PUT", object.to_owned(), json, &stored),
        ("PUT", object.to_owned(), json, &unversioned),
        ("PUT", format!("{object}/status"), json, &stored),
        ("PUT", format!("{object}/scale"), json, &scale),
        ("PATCH", object.to_owned(), merge, &unversioned),
        ("PATCH", object.to_owned(), merge, &stored),
        ("PATCH", object.to_owned(), strategic, &stored),
        ("PATCH", object.to_owned(), operate, &operations),
        ("PATCH", object.to_owned(), apply, &unversioned),
        ("PATCH", object.to_owned(), apply, &large),
        ("PATCH", format!("{object}/status"), merge, &stored),
        ("PATCH", format!("{object}/scale"), merge, &scale),
        ("PATCH", format!("{object}/status"), apply, &stored),
        ("PATCH", object.to_owned(), "text/plain", &unversioned),
        ("DELETE", object.to_owned(), "", &Value::Null),
        ("DELETE", collection.to_owned(), "", &Value::Null),
    ];
    let deletions = [
        preconditions(json!({"uid": "u", "resourceVersion": "100"})),
        preconditions(json!({"resourceVersion": "100"})),
        json!({"propagationPolicy": "Orphan", "gracePeriodSeconds": 5}),
    ];
    let deletions = deletions
        .iter()
        .map(|options| ("DELETE", object.to_owned(), json, options));
    for (method, path, content_type, body) in sent.into_iter().chain(deletions) {
        for query in queries {
            for (attempts, reads_again) in [(1, false), (5, true), (3, false)] {
                for edits in [None, Some(&edited[..])] {
                    modules.add(&Call {
                        method,
                        target: &format!("{path}{query}"),
                        content_type,
                        user_agent: "editor-a",
                        body,
                        resource: Some(resource),
                        edits,
                        attempts,
                        reads_again,
                    });
                }
            }
        }
        let forced = format!("{path}?fieldManager=someone&force=true");
        modules.add(&Call {
            method,
            target: &forced,
            content_type,
            user_agent: "editor-a",
            body,
            resource: Some(resource),
            edits: None,
            attempts: 1,
            reads_again: false,
        });
    }
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
        let snippet = modules.add(&Call {
            method: "PUT",
            target: &target,
            content_type: "application/json",
            user_agent: "editor-a",
            body: &body,
            resource: Some(resource),
            edits: Some(&edits),
            attempts: 1,
            reads_again: false,
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
        Type::Any => places.push((pointer.to_owned(), json!({}))),
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
