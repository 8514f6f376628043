//! Finds the values of an object, and tells which of them its structure needs.

use optimist_apiserver::apply::{LAST_APPLIED, from_fields_v1, to_fields_v1};
use optimist_apiserver::schema::{ListKind, Scalar, Struct, Type, fill_defaults};
use optimist_client::tracking::MANAGED_BY;
use serde_json::{Map, Value};

use super::StayReason;

/// The purpose of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It stays where it is. With a reason, equal values elsewhere stay too.
    Stays(Option<StayReason>),
    /// A value.
    Value,
    /// A value in base64.
    Bytes,
    /// The image of a container: its text decides a default (`imagePullPolicy`).
    Image,
    /// A selector of labels as a text: `app=web,tier=front`.
    Selector,
    /// A text with values in it.
    Message,
}

/// Is called for each leaf, and may replace it.
pub(super) type Visit<'a> = dyn FnMut(&mut Value, Use) + 'a;

/// Metadata that the server sets or needs. Its values stay where they are, and say nothing about
/// others.
const OF_SERVER: [&str; 7] = [
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
];

/// Visits the leaves of an object, or of a part of one. `root` is the type of its kind, if it is known.
pub(super) fn object(value: &mut Value, root: Option<&Struct>, visit: &mut Visit<'_>) {
    let Value::Object(members) = value else {
        return any(value, None, visit);
    };
    let scale = members.get("kind").and_then(Value::as_str) == Some("Scale");
    for (name, member) in members.iter_mut() {
        match name.as_str() {
            "apiVersion" | "kind" => visit(member, Use::Stays(Some(StayReason::Kind))),
            "metadata" => metadata(member, root, visit),
            "status" if scale => {
                if let Some(selector) = member.get_mut("selector") {
                    visit(selector, Use::Selector);
                }
                let ty = Type::Any;
                if let Some(replicas) = member.get_mut("replicas") {
                    any(replicas, Some(&ty), visit);
                }
            }
            _ => {
                let ty = root.and_then(|root| root.member(name));
                any(member, ty, visit);
            }
        }
    }
}

fn metadata(value: &mut Value, root: Option<&Struct>, visit: &mut Visit<'_>) {
    let Value::Object(members) = value else {
        return any(value, None, visit);
    };
    for (name, member) in members.iter_mut() {
        match name.as_str() {
            "name" | "namespace" | "generateName" => {
                visit(member, Use::Stays(Some(StayReason::Name)));
            }
            "finalizers" | "ownerReferences" => all(member, StayReason::Structure, visit),
            "managedFields" => managed_fields(member, visit),
            "annotations" => annotations(member, root, visit),
            server if OF_SERVER.contains(&server) => visit(member, Use::Stays(None)),
            "labels" => labels(member, visit),
            _ => any(member, None, visit),
        }
    }
}

fn labels(value: &mut Value, visit: &mut Visit<'_>) {
    if let Some(label) = value.get_mut(MANAGED_BY) {
        visit(label, Use::Stays(Some(StayReason::Manager)));
    }
    any(value, None, visit);
}

fn annotations(value: &mut Value, root: Option<&Struct>, visit: &mut Visit<'_>) {
    let Value::Object(members) = value else {
        return any(value, None, visit);
    };
    for (name, member) in members.iter_mut() {
        let manifest = member.as_str().filter(|_| name == LAST_APPLIED);
        let manifest = manifest.and_then(|text| serde_json::from_str::<Value>(text).ok());
        match manifest {
            Some(mut manifest) if manifest.is_object() => {
                object(&mut manifest, root, visit);
                // As kubectl writes it (`k8s.io/kubectl/pkg/util/apply.go`, v1.36).
                *member = format!("{manifest}\n").into();
            }
            _ => any(member, None, visit),
        }
    }
}

/// The entries keep their managers and their paths. A path that has a value in it (`v:"x"`) has the
/// stand-in of the value; the keys of list items (`k:{"name":"x"}`) stay.
fn managed_fields(value: &mut Value, visit: &mut Visit<'_>) {
    for entry in value.as_array_mut().into_iter().flatten() {
        for (name, member) in entry.as_object_mut().into_iter().flatten() {
            match name.as_str() {
                "fieldsV1" => {
                    paths(member, visit);
                    // The server sorts the paths.
                    if let Some(set) = from_fields_v1(member) {
                        *member = to_fields_v1(&set);
                    }
                }
                "manager" => visit(member, Use::Stays(Some(StayReason::Manager))),
                _ => visit(member, Use::Stays(None)),
            }
        }
    }
}

fn paths(value: &mut Value, visit: &mut Visit<'_>) {
    let Value::Object(members) = value else {
        return;
    };
    let before = std::mem::take(members);
    let mut after = Map::new();
    for (mut element, mut below) in before {
        paths(&mut below, visit);
        match element.split_once(':') {
            Some(("v", json)) => {
                if let Ok(mut item) = serde_json::from_str(json) {
                    visit(&mut item, Use::Value);
                    element = format!("v:{item}");
                }
            }
            Some(("k", json)) => {
                let key: Result<Value, _> = serde_json::from_str(json);
                if let Ok(mut key) = key {
                    all(&mut key, StayReason::ListKey, visit);
                }
            }
            _ => {}
        }
        after.insert(element, below);
    }
    *members = after;
}

/// All leaves stay.
fn all(value: &mut Value, reason: StayReason, visit: &mut Visit<'_>) {
    match value {
        Value::Object(members) => members
            .values_mut()
            .for_each(|member| all(member, reason, visit)),
        Value::Array(items) => items.iter_mut().for_each(|item| all(item, reason, visit)),
        leaf => visit(leaf, Use::Stays(Some(reason))),
    }
}

/// A value of a type, if that is known.
pub(super) fn any(value: &mut Value, ty: Option<&Type>, visit: &mut Visit<'_>) {
    match (value, ty) {
        (Value::Object(members), Some(Type::Struct(inner))) => {
            for (name, member) in members.iter_mut() {
                field(member, name, inner, visit);
            }
        }
        (Value::Object(members), ty) => {
            let of = match ty {
                Some(Type::Map(map)) => Some(&map.value),
                _ => None,
            };
            for (name, member) in members.iter_mut() {
                untyped(member, name, of, visit);
            }
        }
        (Value::Array(items), Some(Type::List(list))) => {
            for item in items {
                if let ListKind::Map(keys) = &list.kind {
                    for key in keys {
                        if let Some(key) = item.get_mut(key) {
                            visit(key, Use::Stays(Some(StayReason::ListKey)));
                        }
                    }
                }
                any(item, Some(&list.item), visit);
            }
        }
        (Value::Array(items), _) => items.iter_mut().for_each(|item| any(item, None, visit)),
        (leaf, ty) => {
            let of = use_of(leaf, ty);
            visit(leaf, of);
        }
    }
}

fn untyped(member: &mut Value, name: &str, ty: Option<&Type>, visit: &mut Visit<'_>) {
    match name {
        "apiVersion" | "kind" if member.is_string() => {
            visit(member, Use::Stays(Some(StayReason::Kind)));
        }
        "image" if member.is_string() => visit(member, Use::Image),
        _ => any(member, ty, visit),
    }
}

fn field(member: &mut Value, name: &str, inner: &Struct, visit: &mut Visit<'_>) {
    let known = inner.field(name);
    let default = known.and_then(|field| field.default.as_ref());
    if !member.is_boolean() && default == Some(member) {
        return all(member, StayReason::Default, visit);
    }
    if name == "observedGeneration" {
        return visit(member, Use::Stays(None));
    }
    untyped(member, name, inner.member(name), visit);
}

/// Returns the purpose of a leaf of a type.
fn use_of(leaf: &Value, ty: Option<&Type>) -> Use {
    let Some(text) = leaf.as_str() else {
        return Use::Value;
    };
    let scalar = match ty {
        Some(Type::Scalar(scalar)) => *scalar,
        _ => return Use::Value,
    };
    let percent = || {
        text.strip_suffix('%')
            .is_some_and(|it| it.parse::<u32>().is_ok())
    };
    match scalar {
        Scalar::Bytes => Use::Bytes,
        Scalar::Quantity => Use::Stays(Some(StayReason::Quantity)),
        Scalar::IntOrString if percent() => Use::Stays(Some(StayReason::Quantity)),
        _ => Use::Value,
    }
}

/// Fields on which the defaults of others depend (`imagePullPolicy` on `image`).
const DECIDING: [&str; 5] = ["image", "type", "name", "apiVersion", "kind"];

/// Visits the values of an object that the server fills in where they are missing.
pub(super) fn defaults(object: &Value, root: &Struct, visit: &mut Visit<'_>) {
    let mut filled = object.clone();
    strip(&mut filled);
    fill_defaults(&mut filled, root);
    equal(object, &filled, visit);
}

/// Takes out the leaves of maps that do not decide on others.
fn strip(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, member| {
                let leaf = !member.is_object() && !member.is_array();
                !leaf || DECIDING.contains(&name.as_str())
            });
            members.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Visits the leaves that were taken out and came back.
fn equal(value: &Value, filled: &Value, visit: &mut Visit<'_>) {
    match (value, filled) {
        (Value::Object(members), Value::Object(others)) => {
            for (name, member) in members {
                if let Some(other) = others.get(name).filter(|_| !DECIDING.contains(&&**name)) {
                    equal(member, other, visit);
                }
            }
        }
        (Value::Array(items), Value::Array(others)) => {
            // Items that are leaves were not taken out.
            let pairs = items
                .iter()
                .zip(others)
                .filter(|(item, _)| item.is_object());
            pairs.for_each(|(item, other)| equal(item, other, visit));
        }
        (leaf, other) if leaf == other => {
            visit(&mut leaf.clone(), Use::Stays(Some(StayReason::Default)));
        }
        _ => {}
    }
}
