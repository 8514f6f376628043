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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn null_removes_maps_merge_and_lists_are_replaced_whole() {
        let mut target = json!({"a": {"b": 1, "c": 2}, "list": [1, 2], "x": "y"});
        merge(&mut target, &json!({"a": {"b": null, "d": {"e": null, "f": 3}}, "list": [3], "x": {"z": 1}}));
        assert_eq!(
            target,
            json!({"a": {"c": 2, "d": {"f": 3}}, "list": [3], "x": {"z": 1}})
        );
    }
}
