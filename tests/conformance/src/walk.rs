//! Visits the parts of answers, and knows what a `resourceVersion` belongs to.

use serde_json::{Map, Value, json};

/// The subject of a `resourceVersion`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Level {
    /// Of an object.
    Object,
    /// Of a collection: of a list, a table, a status or a bookmark.
    Collection,
}

/// The meaning of a value's place for the `metadata` in it.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Plain,
    /// The `metadata` of an object; the level is that of its version.
    Metadata(Level),
    /// The object of a bookmark event.
    Bookmark,
}

/// The place of a member, given the object it is in and the place of that object.
fn place_of(name: &str, parent: &Map<String, Value>, place: Place) -> Place {
    let text = |name: &str| parent.get(name).and_then(Value::as_str);
    match name {
        "metadata" => {
            let collection = place == Place::Bookmark
                || text("kind")
                    .is_some_and(|k| k.ends_with("List") || k == "Table" || k == "Status");
            Place::Metadata(if collection {
                Level::Collection
            } else {
                Level::Object
            })
        }
        "object" if text("type") == Some("BOOKMARK") => Place::Bookmark,
        _ => Place::Plain,
    }
}

/// Calls `f` with every `resourceVersion`, the members of an object in sorted order.
pub(super) fn for_each_version(value: &Value, f: &mut impl FnMut(&str, Level)) {
    fn go(value: &Value, place: Place, f: &mut impl FnMut(&str, Level)) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| go(item, Place::Plain, f)),
            Value::Object(members) => {
                for (name, member) in members {
                    match member {
                        Value::String(version) if name == "resourceVersion" => {
                            let level = if let Place::Metadata(level) = place {
                                level
                            } else {
                                Level::Object
                            };
                            f(version, level);
                        }
                        _ => go(member, place_of(name, members, place), f),
                    }
                }
            }
            _ => {}
        }
    }
    go(value, Place::Plain, f);
}

/// Replaces the versions of collections, which unrelated writes move, by one and the same text.
pub(super) fn loosen_collections(value: &mut Value) {
    fn go(value: &mut Value, place: Place) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| go(item, Place::Plain)),
            Value::Object(members) => {
                // Places depend on the neighbours `kind` and `type`, so they are found out first.
                let places: Vec<Place> = members
                    .keys()
                    .map(|name| place_of(name, members, place))
                    .collect();
                for ((name, member), inner) in members.iter_mut().zip(places) {
                    if name == "resourceVersion" && place == Place::Metadata(Level::Collection) {
                        *member = json!("<list>");
                    } else {
                        go(member, inner);
                    }
                }
            }
            _ => {}
        }
    }
    go(value, Place::Plain);
}

/// Calls `f` with every string and the name of the member it is or is in a list of.
pub(super) fn for_each_text<'v>(
    value: &'v Value,
    key: Option<&'v str>,
    f: &mut impl FnMut(Option<&str>, &str),
) {
    match value {
        Value::Object(members) => members
            .iter()
            .for_each(|(name, member)| for_each_text(member, Some(name), f)),
        Value::Array(items) => items.iter().for_each(|item| for_each_text(item, key, f)),
        Value::String(text) => f(key, text),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_are_loosened_and_objects_in_them_are_not() {
        let mut list = json!({"kind": "PodList", "metadata": {"resourceVersion": "rv3"},
            "items": [{"metadata": {"resourceVersion": "rv1"}}]});
        loosen_collections(&mut list);
        assert_eq!(
            list,
            json!({"kind": "PodList", "metadata": {"resourceVersion": "<list>"},
                "items": [{"metadata": {"resourceVersion": "rv1"}}]})
        );
    }
}
