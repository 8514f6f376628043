//! Definitions in place of those that were not brought.

use optimist_apiserver::apply::{Managers, Path, PathElement};
use optimist_apiserver::object::{GroupVersion, Metadata, map_mut, text};
use serde_json::{Value, json};

/// Makes a definition of the object's kind that keeps every field; it knows of lists only as much as the owners
/// show. All versions that the object and its managers name are served. `/status` and `/scale` are served if a
/// manager wrote there.
pub(crate) fn schemaless(object: &Value, plural: &str) -> Value {
    let own = GroupVersion::parse(text(object, "apiVersion"));
    let own = own.unwrap_or_else(|| GroupVersion::new("", ""));
    let managers = Managers::of_object(object);
    let mut versions = vec![own.version.clone()];
    let mut subresources = serde_json::Map::new();
    for owned in managers.iter() {
        let version = GroupVersion::parse(&owned.api_version);
        let version = version.filter(|version| version.group == own.group);
        versions.extend(version.map(|version| version.version));
        match owned.manager.subresource.as_str() {
            "status" => drop(subresources.insert("status".to_owned(), json!({}))),
            "scale" => {
                let paths = json!({"specReplicasPath": ".spec.replicas",
                    "statusReplicasPath": ".status.replicas"});
                subresources.insert("scale".to_owned(), paths);
            }
            _ => {}
        }
    }
    versions.sort();
    versions.dedup();
    let schema = deduced_schema(&paths_of(&managers), false);
    let versions: Vec<Value> = versions
        .iter()
        .map(|version| {
            json!({"name": version, "served": true, "storage": *version == own.version,
                "schema": {"openAPIV3Schema": schema}, "subresources": subresources})
        })
        .collect();
    let mut annotations = serde_json::Map::new();
    // The server refuses definitions in these groups without a word about their approval
    // (`k8s.io/apiextensions-apiserver/pkg/apihelpers/helpers.go GetAPIApprovalState`, v1.36).
    if own.group.ends_with(".k8s.io") || own.group.ends_with(".kubernetes.io") {
        let approval = "unapproved, written in place of the definition that was not brought";
        annotations.insert("api-approved.kubernetes.io".to_owned(), approval.into());
    }
    let kind = text(object, "kind");
    let scope = if object.namespace().is_empty() {
        "Cluster"
    } else {
        "Namespaced"
    };
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{}", own.group), "annotations": annotations},
        "spec": {"group": own.group, "scope": scope, "versions": versions,
            "names": {"plural": plural, "singular": kind.to_ascii_lowercase(), "kind": kind,
                "listKind": format!("{kind}List")}}})
}

pub(super) fn paths_of(managers: &Managers) -> Vec<Path> {
    managers
        .iter()
        .flat_map(|owned| owned.set.paths())
        .collect()
}

/// Returns whether a path selects an item of a list by keys or by value.
pub(super) fn selects_items(path: &Path) -> bool {
    let mut elements = path.0.iter();
    elements.any(|it| matches!(it, PathElement::Key(_) | PathElement::Value(_)))
}

/// The schema of an object of which only paths are known: every field is kept, and the lists in which
/// the paths select items by keys or by value are merged so. With `texts`, the last field of each path
/// is a text.
pub(crate) fn deduced_schema(paths: &[Path], texts: bool) -> Value {
    let mut schema = open_schema();
    for path in paths {
        let mut at = &mut schema;
        for (depth, element) in path.0.iter().enumerate() {
            let last = depth + 1 == path.0.len();
            at = match element {
                // The server defines the metadata of custom resources itself.
                PathElement::Field(name) if depth == 0 && name == "metadata" => break,
                PathElement::Field(name) => {
                    let leads_on = path.0[depth + 1..]
                        .iter()
                        .any(|it| !matches!(it, PathElement::Field(_)));
                    if !leads_on && !texts || !at["items"].is_null() {
                        break;
                    }
                    let leaf = json!({"type": "string"});
                    let member = || if last { leaf } else { open_schema() };
                    let properties = map_mut(&mut at["properties"]);
                    properties.entry(name.as_str()).or_insert_with(member)
                }
                PathElement::Key(keys) => {
                    set_list(at, keys);
                    &mut at["items"]
                }
                PathElement::Value(value) => {
                    let items = json!({"type": type_of(value)});
                    *at = json!({"type": "array", "x-kubernetes-list-type": "set", "items": items});
                    break;
                }
                PathElement::Index(_) => break,
            };
        }
    }
    schema
}

fn open_schema() -> Value {
    json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

fn set_list(at: &mut Value, keys: &[(String, Value)]) {
    if at["type"] == "array" {
        return;
    }
    let mut items = open_schema();
    for (name, value) in keys {
        items["properties"][name] = json!({"type": type_of(value)});
    }
    let names: Vec<&String> = keys.iter().map(|(name, _)| name).collect();
    items["required"] = json!(names);
    *at = json!({"type": "array", "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": names, "items": items});
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        _ => "string",
    }
}
