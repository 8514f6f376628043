//! JSON merge patch as `evanphx/json-patch` v4.13 does it. It differs from RFC 7396 in one thing:
//! where a patch adds something, `null` members are left out also inside of its lists.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::json::Raw;
use crate::object::JsonMap;

/// Applies a merge patch: maps merge, `null` removes, anything else replaces whole.
pub fn merge(target: &mut Value, patch: &Value) {
    match (target, patch) {
        (Value::Object(target), Value::Object(patch)) => merge_members(target, patch),
        // A list in the place of a map is taken as it is.
        (target @ Value::Object(_), patch) => *target = patch.clone(),
        (target, patch) => *target = pruned(patch),
    }
}

fn merge_members(target: &mut JsonMap, patch: &JsonMap) {
    for (key, value) in patch {
        if value.is_null() {
            target.remove(key);
            continue;
        }
        match target.get_mut(key) {
            Some(current) => merge(current, value),
            None => {
                target.insert(key.clone(), pruned(value));
            }
        }
    }
}

/// A value without the `null` members of its maps; items of lists stay.
fn pruned(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(key, value)| (key.clone(), pruned(value)))
            .collect(),
        Value::Array(items) => items.iter().map(pruned).collect(),
        scalar => scalar.clone(),
    }
}

/// Merges like [`merge`], but keeps the order of a written document. As in the library, the objects
/// that the patch opens are sorted, and the rest stays as it was.
pub fn merge_in_order(document: Raw, patch: Raw) -> Raw {
    match (document, patch) {
        (Raw::Object(document), Raw::Object(patch)) => {
            let mut members: BTreeMap<String, Raw> = document.into_iter().collect();
            // Of repeated members the last one counts.
            let patch: BTreeMap<String, Raw> = patch.into_iter().collect();
            for (name, raw) in patch {
                let merged = match (members.remove(&name), raw) {
                    (_, Raw::Null) => continue,
                    (Some(current), raw) if current != Raw::Null => merge_in_order(current, raw),
                    (_, raw) => opened(raw),
                };
                members.insert(name, merged);
            }
            Raw::Object(members.into_iter().collect())
        }
        // A list in the place of a map is taken as it is.
        (Raw::Object(_), patch) => patch,
        (_, patch) => opened(patch),
    }
}

/// Returns the part that a patch adds: opened to its end to leave out `null` members.
fn opened(raw: Raw) -> Raw {
    match raw {
        Raw::Object(members) => {
            let last: BTreeMap<String, Raw> = members.into_iter().collect();
            let members = last.into_iter().filter(|(_, raw)| *raw != Raw::Null);
            Raw::Object(members.map(|(name, raw)| (name, opened(raw))).collect())
        }
        Raw::Array(items) => Raw::Array(items.into_iter().map(opened).collect()),
        scalar => scalar,
    }
}

/// The merge patch that changes `before` to `after`. A member that becomes `null` cannot be told
/// from one that is removed; lists that differ are carried whole.
pub fn merge_diff(before: &Value, after: &Value) -> Value {
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return after.clone();
    };
    let mut patch = Map::new();
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    for (key, new) in after {
        match before.get(key) {
            Some(old) if old == new => {}
            Some(old @ Value::Object(_)) if new.is_object() => {
                patch.insert(key.clone(), merge_diff(old, new));
            }
            _ => {
                patch.insert(key.clone(), new.clone());
            }
        }
    }
    Value::Object(patch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn null_removes_maps_merge_and_lists_are_replaced_whole() {
        let mut target = json!({"a": {"b": 1, "c": 2}, "list": [1, 2], "x": "y"});
        merge(
            &mut target,
            &json!({"a": {"b": null, "d": {"e": null, "f": 3}}, "list": [3], "x": {"z": 1, "n": null}}),
        );
        assert_eq!(
            target,
            json!({"a": {"c": 2, "d": {"f": 3}}, "list": [3], "x": {"z": 1}})
        );
    }

    #[test]
    fn nulls_in_lists_are_pruned_unless_the_list_replaces_a_map() {
        let list = json!([{"a": null, "b": 1}, null]);
        for (before, after) in [
            (json!({}), json!([{"b": 1}, null])),
            (json!({"l": null}), json!([{"b": 1}, null])),
            (json!({"l": [1]}), json!([{"b": 1}, null])),
            (json!({"l": {"x": 1}}), list.clone()),
        ] {
            let mut target = before.clone();
            merge(&mut target, &json!({"l": list}));
            assert_eq!(target["l"], after, "{before}");
        }
    }

    #[test]
    fn what_a_patch_names_is_sorted_and_the_rest_stays_as_it_is_written() {
        let document = r#"{"z":{"b":1,"a":2},"m":{"y":{"d":1,"c":2},"x":1,"n":null},"l":{"b":1}}"#;
        let patch = r#"{"m":{"x":{"q":1,"p":null,"o":[{"f":1,"e":2}]},"x2":0},"l":[{"b":1,"a":2}],"m2":null}"#;
        let raw = |text: &str| Raw::parse(text.as_bytes()).unwrap();
        let merged = merge_in_order(raw(document), raw(patch));
        assert_eq!(
            merged.compact(),
            r#"{"l":[{"b":1,"a":2}],"m":{"n":null,"x":{"o":[{"e":2,"f":1}],"q":1},"x2":0,"y":{"d":1,"c":2}},"z":{"b":1,"a":2}}"#
        );
        let mut same = Value::from(raw(document));
        merge(&mut same, &raw(patch).into());
        assert_eq!(Value::from(merged), same);
    }

    #[test]
    fn the_difference_applied_gives_the_changed_object() {
        let before = json!({"a": {"b": 1, "c": 2}, "list": [1, 2], "gone": 1});
        let after = json!({"a": {"b": 1, "c": 3}, "list": [2], "new": {"x": 1}});
        let patch = merge_diff(&before, &after);
        assert_eq!(
            patch,
            json!({"a": {"c": 3}, "list": [2], "gone": null, "new": {"x": 1}})
        );
        let mut patched = before;
        merge(&mut patched, &patch);
        assert_eq!(patched, after);
    }
}
