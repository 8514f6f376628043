//! Documents as they go over the wire: the members of built-in kinds, of `Status` and of tables in
//! the order of Go's structs, those of custom resources sorted, as Go writes maps.

use serde_json::Value;

use super::resource::Definition;
use super::table::MetaVersion;
use super::{Resources, actions};
use crate::apply::element_order;
use crate::json::{push_sorted, push_text, sorted};
use crate::object::{JsonMap, text};
use crate::schema::{DefinitionPart, Omit, Struct, Type, builtin};

/// A document's text.
pub(super) fn written(document: &Value, resources: &Resources) -> String {
    let mut out = String::with_capacity(2048);
    write(document, resources, &mut out);
    out
}

/// The line of a watch event.
pub(super) fn event_line(event_type: &str, object: &Value, resources: &Resources) -> String {
    let mut out = format!("{{\"type\":\"{event_type}\",\"object\":");
    write(object, resources, &mut out);
    out.push_str("}\n");
    out
}

/// A value of a built-in type, as messages show it: without the empty maps and lists that Go leaves
/// out (`omitempty`).
pub(super) fn of_type(name: &str, value: &Value) -> String {
    let mut out = String::new();
    match builtin(name) {
        Some(root) => of_struct(&without_empty(value, root), root, &mut out),
        None => push_sorted(value, &mut out),
    }
    out
}

fn without_empty(value: &Value, root: &Struct) -> Value {
    let Value::Object(map) = value else {
        return value.clone();
    };
    let is_left_out = |name: &str, value: &Value| {
        let omits = root
            .field(name)
            .is_some_and(|field| field.omit == Omit::Empty);
        let none = match value {
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => {
                let is_map = root
                    .field(name)
                    .is_some_and(|it| matches!(it.ty, Type::Map(_)));
                is_map && members.is_empty()
            }
            _ => false,
        };
        omits && none
    };
    let kept = map.iter().filter(|(name, value)| !is_left_out(name, value));
    let inner = |name: &str, value: &Value| match (root.field(name).map(|field| &field.ty), value) {
        (Some(Type::Struct(inner)), value) => without_empty(value, inner),
        (Some(Type::List(list)), Value::Array(items)) => match &list.item {
            Type::Struct(inner) => items
                .iter()
                .map(|item| without_empty(item, inner))
                .collect(),
            _ => value.clone(),
        },
        _ => value.clone(),
    };
    kept.map(|(name, value)| (name.clone(), inner(name, value)))
        .collect()
}

/// A value of a type.
pub(super) fn of_root(root: &Struct, value: &Value) -> String {
    let mut out = String::new();
    of_struct(value, root, &mut out);
    out
}

/// A value of any type, also of a type that is not a struct.
pub(super) fn of_value(ty: &Type, value: &Value) -> String {
    let mut out = String::new();
    typed(value, ty, &mut out);
    out
}

/// The order of members in a struct which is not a kind, and the orders inside of them.
struct MemberOrder {
    names: &'static [&'static str],
    inner: &'static [(&'static str, &'static MemberOrder)],
}

static CAUSE: MemberOrder = MemberOrder {
    names: &["reason", "message", "field"],
    inner: &[],
};
static DETAILS: MemberOrder = MemberOrder {
    names: &[
        "name",
        "group",
        "kind",
        "uid",
        "causes",
        "retryAfterSeconds",
    ],
    inner: &[("causes", &CAUSE)],
};
static LIST_META: MemberOrder = MemberOrder {
    names: &[
        "selfLink",
        "resourceVersion",
        "continue",
        "remainingItemCount",
    ],
    inner: &[],
};
static STATUS: MemberOrder = MemberOrder {
    names: &[
        "kind",
        "apiVersion",
        "metadata",
        "status",
        "message",
        "reason",
        "details",
        "code",
    ],
    inner: &[("metadata", &LIST_META), ("details", &DETAILS)],
};
static COLUMN: MemberOrder = MemberOrder {
    names: &["name", "type", "format", "description", "priority"],
    inner: &[],
};
static ROW_CONDITION: MemberOrder = MemberOrder {
    names: &["type", "status", "reason", "message"],
    inner: &[],
};
static ROW: MemberOrder = MemberOrder {
    names: &["cells", "conditions", "object"],
    inner: &[("conditions", &ROW_CONDITION)],
};
static TABLE: MemberOrder = MemberOrder {
    names: &[
        "kind",
        "apiVersion",
        "metadata",
        "columnDefinitions",
        "rows",
    ],
    inner: &[
        ("metadata", &LIST_META),
        ("columnDefinitions", &COLUMN),
        ("rows", &ROW),
    ],
};
static LIST: MemberOrder = MemberOrder {
    names: &["kind", "apiVersion", "metadata", "items"],
    inner: &[("metadata", &LIST_META)],
};
static PARTIAL: MemberOrder = MemberOrder {
    names: &["kind", "apiVersion", "metadata"],
    inner: &[],
};

static GROUP_VERSION: MemberOrder = MemberOrder {
    names: &["groupVersion", "version"],
    inner: &[],
};
static GROUP: MemberOrder = MemberOrder {
    names: &["kind", "apiVersion", "name", "versions", "preferredVersion"],
    inner: &[
        ("versions", &GROUP_VERSION),
        ("preferredVersion", &GROUP_VERSION),
    ],
};
static GROUPS: MemberOrder = MemberOrder {
    names: &["kind", "apiVersion", "groups"],
    inner: &[("groups", &GROUP)],
};
static LISTED_RESOURCE: MemberOrder = MemberOrder {
    names: &[
        "name",
        "singularName",
        "namespaced",
        "group",
        "version",
        "kind",
        "verbs",
        "shortNames",
        "categories",
        "storageVersionHash",
    ],
    inner: &[],
};
static RESOURCES: MemberOrder = MemberOrder {
    names: &["kind", "apiVersion", "groupVersion", "resources"],
    inner: &[("resources", &LISTED_RESOURCE)],
};

const META: &str = MetaVersion::V1.api_version();
const META_BETA: &str = MetaVersion::V1Beta1.api_version();

/// Writes a document as the kind that its `kind` field names.
fn write(document: &Value, resources: &Resources, out: &mut String) {
    let (version, kind) = (text(document, "apiVersion"), text(document, "kind"));
    let each = |name: &str, member: &Value, out: &mut String| match name {
        "items" => list(member, out, |item, out| write(item, resources, out)),
        "object" => write(member, resources, out),
        "metadata" => of_named("ObjectMeta", member, out),
        _ => push_sorted(member, out),
    };
    match (version, kind) {
        ("v1", "Status") => ordered(document, &STATUS, out, &each),
        (META | META_BETA, "Table") => ordered(document, &TABLE, out, &each),
        (META | META_BETA, "PartialObjectMetadataList") => ordered(document, &LIST, out, &each),
        (META | META_BETA, "PartialObjectMetadata") => ordered(document, &PARTIAL, out, &each),
        ("v1", "APIGroup") => ordered(document, &GROUP, out, &each),
        ("v1", "APIGroupList") => ordered(document, &GROUPS, out, &each),
        ("v1" | "", "APIResourceList") => ordered(document, &RESOURCES, out, &each),
        ("autoscaling/v1", "Scale") => of_named("Scale", document, out),
        _ => of_kind(document, version, kind, resources, out),
    }
}

fn of_kind(document: &Value, version: &str, kind: &str, resources: &Resources, out: &mut String) {
    let root = |kind: &str| {
        let known = resources.by_kind(version, kind);
        let resource = known.or_else(|| actions::taken(version, kind))?;
        matches!(resource.definition, Definition::Builtin(_)).then_some(&resource.root)
    };
    if let Some(root) = root(kind) {
        return of_struct(document, root, out);
    }
    match kind.strip_suffix("List").and_then(root) {
        Some(root) => ordered(document, &LIST, out, &|name, member, out| match name {
            "items" => list(member, out, |item, out| of_struct(item, root, out)),
            _ => push_sorted(member, out),
        }),
        None => push_sorted(document, out),
    }
}

fn of_named(name: &str, value: &Value, out: &mut String) {
    match builtin(name) {
        Some(root) => of_struct(value, root, out),
        None => push_sorted(value, out),
    }
}

fn list(value: &Value, out: &mut String, mut item: impl FnMut(&Value, &mut String)) {
    let Value::Array(items) = value else {
        return push_sorted(value, out);
    };
    out.push('[');
    for (i, value) in items.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        item(value, out);
    }
    out.push(']');
}

/// Writes a member's name. `first` says whether it is the first member.
fn name_of(name: &str, first: &mut bool, out: &mut String) {
    if !std::mem::take(first) {
        out.push(',');
    }
    push_text(name, out);
    out.push(':');
}

/// Writes the members in this order, and after them those that it does not name.
fn members(
    map: &JsonMap,
    names: &[&str],
    out: &mut String,
    mut member: impl FnMut(&str, &Value, &mut String),
) {
    let mut first = true;
    out.push('{');
    for name in names {
        if let Some(value) = map.get(*name) {
            name_of(name, &mut first, out);
            member(name, value, out);
        }
    }
    let others = sorted(map);
    for (name, value) in others.filter(|(name, _)| !names.contains(&name.as_str())) {
        name_of(name, &mut first, out);
        member(name, value, out);
    }
    out.push('}');
}

fn ordered(
    value: &Value,
    order: &'static MemberOrder,
    out: &mut String,
    leaf: &dyn Fn(&str, &Value, &mut String),
) {
    match value {
        Value::Array(_) => list(value, out, |item, out| ordered(item, order, out, leaf)),
        Value::Object(map) => {
            members(map, order.names, out, |name, value, out| {
                match order.inner.iter().find(|(inner, _)| *inner == name) {
                    Some((_, inner)) => ordered(value, inner, out, leaf),
                    None => leaf(name, value, out),
                }
            });
        }
        other => push_sorted(other, out),
    }
}

fn of_struct(value: &Value, root: &Struct, out: &mut String) {
    let Value::Object(map) = value else {
        return push_sorted(value, out);
    };
    // A value has few of the fields that its type has.
    let mut members = Vec::with_capacity(map.len());
    for (name, value) in sorted(map) {
        members.push((root.position(name).unwrap_or(usize::MAX), name, value));
    }
    members.sort_by_key(|(position, _, _)| *position);
    let mut first = true;
    out.push('{');
    for (position, name, value) in members {
        name_of(name, &mut first, out);
        match root.fields.get(position) {
            _ if name == "fieldsV1" => fields(value, out),
            Some(field) => typed(value, &field.ty, out),
            None => push_sorted(value, out),
        }
    }
    out.push('}');
}

fn typed(value: &Value, ty: &Type, out: &mut String) {
    match (ty, value) {
        (Type::Struct(inner), _) => of_struct(value, inner, out),
        (Type::Definition(_), _) => schema(value, out),
        (Type::List(inner), _) => list(value, out, |item, out| typed(item, &inner.item, out)),
        (Type::Map(inner), Value::Object(map)) => {
            let mut first = true;
            out.push('{');
            for (name, value) in sorted(map) {
                name_of(name, &mut first, out);
                typed(value, &inner.value, out);
            }
            out.push('}');
        }
        _ => push_sorted(value, out),
    }
}

/// Writes a schema of a CustomResourceDefinition, or what stands for one.
fn schema(value: &Value, out: &mut String) {
    match value {
        Value::Array(_) => list(value, out, schema),
        _ => of_struct(value, DefinitionPart::schema(), out),
    }
}

/// A set of fields in the order of its path elements (`fieldpath/serialize.go`).
pub(super) fn fields(value: &Value, out: &mut String) {
    let Value::Object(map) = value else {
        return push_sorted(value, out);
    };
    let mut first = true;
    let mut one = |name: &String, value: &Value, out: &mut String| {
        name_of(name, &mut first, out);
        fields(value, out);
    };
    out.push('{');
    // Only keys and values of items are ordered in another way than as text.
    let is_item = |name: &&String| !name.starts_with("f:") && *name != ".";
    if map.keys().filter(is_item).nth(1).is_some() {
        let mut members: Vec<(&String, &Value)> = map.iter().collect();
        members.sort_by_cached_key(|(name, _)| element_order(name));
        for (name, value) in members {
            one(name, value, out);
        }
    } else {
        for (name, value) in sorted(map) {
            one(name, value, out);
        }
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text_of(value: &Value) -> String {
        written(value, &Resources::builtin())
    }

    #[test]
    fn built_in_kinds_are_written_in_the_order_of_their_structs() {
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"b": "1", "a": "2"},
            "metadata": {"uid": "u", "name": "n"}});
        assert_eq!(
            text_of(&map),
            r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"n","uid":"u"},"data":{"a":"2","b":"1"}}"#
        );
        let list = json!({"apiVersion": "v1", "kind": "ConfigMapList", "metadata": {},
            "items": [{"data": {}, "metadata": {"uid": "u", "name": "n"}}]});
        assert_eq!(
            text_of(&list),
            r#"{"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"n","uid":"u"},"data":{}}]}"#
        );
    }

    #[test]
    fn a_message_shows_an_empty_selector_without_its_empty_members() {
        let shown = |selector: &Value| of_type("LabelSelector", selector);
        let empty = json!({"matchLabels": {}, "matchExpressions": []});
        assert_eq!(shown(&empty), "{}");
        assert_eq!(
            shown(&json!({"matchLabels": {"a": "b"}, "matchExpressions": []})),
            r#"{"matchLabels":{"a":"b"}}"#
        );
    }

    #[test]
    fn a_status_is_written_in_its_order() {
        let status = json!({"apiVersion": "v1", "kind": "Status", "metadata": {}, "code": 409,
            "details": {"kind": "k", "name": "n", "causes": [{"field": "f", "message": "m"}]},
            "message": "m", "status": "Failure"});
        assert_eq!(
            text_of(&status),
            r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"m","details":{"name":"n","kind":"k","causes":[{"message":"m","field":"f"}]},"code":409}"#
        );
    }

    #[test]
    fn custom_resources_are_written_sorted() {
        let object = json!({"kind": "Widget", "apiVersion": "demo.example.com/v1", "spec": {}});
        assert_eq!(
            text_of(&object),
            r#"{"apiVersion":"demo.example.com/v1","kind":"Widget","spec":{}}"#
        );
    }

    #[test]
    fn fields_are_written_in_the_order_of_path_elements() {
        let ports = json!({"k:{\"port\":443}": {}, "k:{\"port\":80}": {}, ".": {}, "f:a": {}});
        let mut out = String::new();
        fields(&ports, &mut out);
        assert_eq!(
            out,
            r#"{".":{},"f:a":{},"k:{\"port\":80}":{},"k:{\"port\":443}":{}}"#
        );
    }
}
