//! JSON merge patch (RFC 7396).

use serde_json::{Map, Value};

use crate::object::map_mut;

/// Applies a merge patch: members replace members, `null` removes, anything else replaces whole.
pub fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(members) = patch else {
        *target = patch.clone();
        return;
    };
    let map = map_mut(target);
    for (key, value) in members {
        match value {
            Value::Null => {
                map.remove(key);
            }
            Value::Object(_) => {
                let inner = map
                    .entry(key.clone())
                    .or_insert_with(|| Value::Object(Map::new()));
                merge(inner, value);
            }
            other => {
                map.insert(key.clone(), other.clone());
            }
        }
    }
}

/// The merge patch that makes `after` of `before`. A member that becomes `null` cannot be told
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
            &json!({"a": {"b": null, "d": {"e": null, "f": 3}}, "list": [3], "x": {"z": 1}}),
        );
        assert_eq!(
            target,
            json!({"a": {"c": 2, "d": {"f": 3}}, "list": [3], "x": {"z": 1}})
        );
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
