//! `FieldsV1`, the form in which an object stores a set of fields (`fieldpath/serialize.go`).

use serde_json::{Map, Value};

use super::{PathElement, Set};
use crate::go;
use crate::json::{self, Node};
use crate::object::JsonMap;

/// The name of the field itself among the names of what is below it.
pub(super) const ITSELF: &str = ".";

/// Writes a set.
pub fn to_fields_v1(set: &Set) -> Value {
    let mut fields = Value::Null;
    write_over(set, &mut fields);
    fields
}

/// Writes a set over another one, and keeps what is the same: a write mostly changes few of a manager's fields.
pub(super) fn write_over(set: &Set, fields: &mut Value) {
    write_member(set, false, fields);
}

/// Writes what is below a field over what was written there, and whether the field itself is a member.
pub(super) fn write_member(set: &Set, is_member: bool, fields: &mut Value) {
    let before = match fields {
        Value::Object(map) => map,
        other => {
            *other = Value::Object(Map::new());
            return write_member(set, is_member, other);
        }
    };
    if has_names(set, is_member, before) {
        let below = before.iter_mut().filter(|(name, _)| *name != ITSELF);
        for (node, (_, below)) in set.nodes().iter().zip(below) {
            write_member(&node.children, node.member, below);
        }
        return;
    }
    let mut before = std::mem::take(before);
    let mut map = Map::new();
    for node in set.nodes() {
        let name = write_element(&node.element);
        let mut below = before.remove(&name).unwrap_or_default();
        write_member(&node.children, node.member, &mut below);
        map.insert(name, below);
    }
    if is_member && !set.is_empty() {
        map.insert(ITSELF.to_owned(), Value::Object(Map::new()));
    }
    *fields = Value::Object(map);
}

/// The name of the field that a path element is, as it is written.
pub(super) fn name_of(element: &str) -> Option<&str> {
    element.strip_prefix("f:")
}

/// Returns whether a written map has the names of these elements, and of the field itself if it is a member,
/// in their order.
fn has_names(set: &Set, is_member: bool, map: &JsonMap) -> bool {
    let names_itself = is_member && !set.is_empty();
    let names = map.keys().filter(|name| *name != ITSELF);
    map.contains_key(ITSELF) == names_itself
        && map.len() == set.nodes().len() + usize::from(names_itself)
        && set
            .nodes()
            .iter()
            .zip(names)
            .all(|(node, name)| match &node.element {
                PathElement::Field(field) => name_of(name) == Some(field),
                other => *name == write_element(other),
            })
}

/// Reads a set; `None` if a key is not a path element. Kinds of elements that are not known are
/// skipped.
pub fn from_fields_v1(fields: &Value) -> Option<Set> {
    match fields {
        Value::Null => Some(Set::default()),
        Value::Object(map) => read_map(map),
        _ => None,
    }
}

/// Reads a set like [`from_fields_v1`].
pub(super) fn read_map(map: &JsonMap) -> Option<Set> {
    read(map).map(|(set, _)| set)
}

/// The children, and whether the field itself is a member.
fn read(map: &JsonMap) -> Option<(Set, bool)> {
    let mut found = Vec::with_capacity(map.len());
    let mut member = false;
    for (key, value) in map {
        if key == ITSELF {
            member = true;
            continue;
        }
        let element = match read_element(key)? {
            Element::Known(element) => element,
            Element::Unknown => continue,
        };
        let (children, child_is_member) = match value {
            Value::Object(inner) => read(inner)?,
            // Read like an empty map (`readIterV1`).
            Value::Null => (Set::default(), true),
            _ => return None,
        };
        found.push((element, child_is_member, children));
    }
    // The names of items are in another order than the items.
    let set = Set::collect(found);
    let member = member || set.is_empty();
    Some((set, member))
}

enum Element {
    Known(PathElement),
    Unknown,
}

/// A number is read as a float, which changes large integers (`value.ReadJSONIter` of
/// `sigs.k8s.io/structured-merge-diff`).
fn as_float(value: Value) -> Value {
    /// Up to here, a float holds every integer.
    const EXACT: u64 = 1 << 53;
    match value.as_i64().map(i64::unsigned_abs).or(value.as_u64()) {
        Some(large) if large > EXACT => value.as_f64().map_or(value, Value::from),
        _ => value,
    }
}

fn read_element(key: &str) -> Option<Element> {
    let (kind, text) = (key.get(..2)?, key.get(2..)?);
    if !kind.ends_with(':') {
        return None;
    }
    let element = match kind {
        "f:" => PathElement::Field(text.to_owned()),
        "v:" => PathElement::Value(as_float(serde_json::from_str(text).ok()?)),
        "k:" => {
            let Node::Object(fields) = json::parse(text.as_bytes()).ok()? else {
                return None;
            };
            PathElement::Key(sorted_fields(fields))
        }
        "i:" => PathElement::Index(text.parse().ok()?),
        _ => return Some(Element::Unknown),
    };
    Some(Element::Known(element))
}

/// The fields of a key, sorted by name; of repeated ones the last counts.
fn sorted_fields(fields: Vec<(String, Node)>) -> Vec<(String, Value)> {
    let fields = fields.into_iter();
    let mut fields: Vec<(String, Value)> = fields
        .map(|(name, it)| (name, as_float(it.into())))
        .collect();
    fields.sort_by(|(name, _), (other, _)| name.cmp(other));
    fields.dedup_by(|later, earlier| {
        let is_repeated = later.0 == earlier.0;
        if is_repeated {
            std::mem::swap(later, earlier);
        }
        is_repeated
    });
    fields
}

/// Returns a key that orders the members of a written set: the field itself first, then by path element.
pub fn element_order(name: &str) -> impl Ord {
    let element = match read_element(name) {
        Some(Element::Known(element)) => Some(element),
        _ => None,
    };
    // `None`, which comes first, is the field itself.
    (element, name.to_owned())
}

/// A value as JSON. Go writes a whole float without a fraction.
fn written(value: &Value) -> String {
    match value {
        Value::Number(_) => go::json(value),
        value => value.to_string(),
    }
}

pub(super) fn write_element(element: &PathElement) -> String {
    match element {
        PathElement::Field(name) => ["f:", name].concat(),
        PathElement::Value(value) => format!("v:{}", written(value)),
        PathElement::Key(fields) => {
            let mut text = b"k:{".to_vec();
            for (i, (name, value)) in fields.iter().enumerate() {
                if i > 0 {
                    text.push(b',');
                }
                // Memory takes every byte, and JSON is UTF-8.
                let _ = serde_json::to_writer(&mut text, name);
                text.push(b':');
                text.extend(written(value).into_bytes());
            }
            text.push(b'}');
            String::from_utf8(text).unwrap_or_default()
        }
        PathElement::Index(i) => format!("i:{i}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_stored_is_read_and_written_back_alike() {
        let fields = json!({
            "f:metadata": {"f:labels": {".": {}, "f:app": {}}, "f:finalizers": {"v:\"a/b\"": {}}},
            "f:spec": {"f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}}}},
        });
        let set = from_fields_v1(&fields).unwrap();
        assert_eq!(to_fields_v1(&set), fields);
        let paths: Vec<String> = set.paths().iter().map(ToString::to_string).collect();
        assert_eq!(
            paths,
            [
                ".metadata.labels",
                ".metadata.finalizers[=\"a/b\"]",
                ".metadata.labels.app",
                ".spec.ports[containerPort=80,protocol=\"TCP\"]",
                ".spec.ports[containerPort=80,protocol=\"TCP\"].name",
            ]
        );
    }

    #[test]
    fn a_float_in_a_set_stays_the_one_that_is_written() {
        let fields = json!({"f:spec": {"f:sizes": {
            "v:-0.12227325763441953": {}, "v:322110458005.1736": {}, "v:9.834497869073661e+28": {},
        }}});
        let set = from_fields_v1(&fields).unwrap();
        assert_eq!(to_fields_v1(&set), fields);
    }

    #[test]
    fn a_set_is_written_alike_whatever_was_written_there_before() {
        let written = [
            json!({}),
            json!({"f:spec": {}}),
            json!({"f:spec": {".": {}, "f:a": {}}}),
            json!({"f:spec": {"f:a": {}, "f:b": {}}}),
            json!({"f:spec": {"f:b": {".": {}, "k:{\"port\":443}": {}, "k:{\"port\":80}": {}}}}),
            json!({"f:spec": {"f:b": {"k:{\"port\":80}": {".": {}, "f:name": {}}}}, "f:data": {}}),
            json!({"f:data": {"v:1": {}, "v:\"x\"": {}, "i:0": {}}}),
        ];
        let others = [json!(null), json!([1]), json!({"f:spec": null, "z:": 1})];
        for fields in &written {
            let set = from_fields_v1(fields).unwrap();
            for before in written.iter().chain(&others) {
                let mut over = before.clone();
                write_over(&set, &mut over);
                assert_eq!(over, *fields, "over {before}");
            }
        }
    }

    #[test]
    fn the_fields_of_a_key_are_sorted_and_of_repeated_ones_the_last_counts() {
        let key = r#"k:{"protocol":"TCP","port":1,"port":2}"#;
        let set = from_fields_v1(&json!({key: {}})).unwrap();
        let sorted = r#"k:{"port":2,"protocol":"TCP"}"#;
        assert_eq!(to_fields_v1(&set), json!({sorted: {}}));
        assert_eq!(from_fields_v1(&json!({"k:[1]": {}})), None);
    }

    #[test]
    fn a_key_that_is_no_path_element_spoils_the_set_and_an_unknown_kind_is_skipped() {
        assert_eq!(from_fields_v1(&json!({"nonsense": {}})), None);
        assert_eq!(
            from_fields_v1(&json!({"z:later": {}})),
            Some(Set::default())
        );
    }
}
