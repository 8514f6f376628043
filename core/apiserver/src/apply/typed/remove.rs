//! A value without the fields of a set (`typed/remove.go`).

use serde_json::Value;

use super::{Shape, as_list, as_map, item_element, shape};
use crate::apply::{PathElement, Set};
use crate::object::JsonMap;
use crate::schema::{Struct, Type};

/// Returns an object without the fields and items of a set. A value that loses its last member
/// becomes null, or stays empty if `keeps_emptied` is `true` (`typed/remove.go`).
pub fn remove(value: &Value, set: &Set, root: &Struct, keeps_emptied: bool) -> Value {
    remove_members(value, set, Shape::Struct(root), keeps_emptied)
}

fn remove_from(value: &Value, set: &Set, ty: &Type, keeps_emptied: bool) -> Value {
    match shape(ty, Some(value)) {
        Shape::Scalar => value.clone(),
        _ if value.is_null() => Value::Null,
        Shape::AtomicMap if keeps_emptied => Value::Object(JsonMap::new()),
        Shape::AtomicList if keeps_emptied => Value::Array(Vec::new()),
        Shape::AtomicMap | Shape::AtomicList => Value::Null,
        Shape::List(list) => {
            let mut out = Vec::new();
            for item in as_list(Some(value)).into_iter().flatten() {
                let element = item_element(list, item).ok();
                if element.as_ref().is_some_and(|e| set.has_member(e)) {
                    continue;
                }
                out.push(match element.as_ref().and_then(|e| set.below(e)) {
                    Some(below) => remove_from(item, below, &list.item, keeps_emptied),
                    None => item.clone(),
                });
            }
            if out.is_empty() && !keeps_emptied {
                return Value::Null;
            }
            Value::Array(out)
        }
        shape => remove_members(value, set, shape, keeps_emptied),
    }
}

fn remove_members(value: &Value, set: &Set, shape: Shape<'_>, keeps_emptied: bool) -> Value {
    let mut out = JsonMap::new();
    for (key, value) in as_map(Some(value)).into_iter().flatten() {
        let element = PathElement::Field(key.clone());
        if set.has_member(&element) {
            continue;
        }
        let kept = match set.below(&element) {
            Some(below) => {
                let ty = shape.member(key).unwrap_or(&Type::Any);
                remove_from(value, below, ty, keeps_emptied)
            }
            None => value.clone(),
        };
        out.insert(key.clone(), kept);
    }
    if out.is_empty() && !keeps_emptied {
        return Value::Null;
    }
    Value::Object(out)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::field_set;
    use super::super::sample::{object, root};
    use super::remove;

    #[test]
    fn the_fields_of_a_set_go_and_what_loses_all_becomes_null_or_stays() {
        for (spec, mentioned, emptied, kept) in [
            (
                json!({"n": 1, "s": "x"}),
                json!({"n": 0}),
                json!({"s": "x"}),
                json!({"s": "x"}),
            ),
            (
                json!({"n": 1, "map": {"a": "1"}}),
                json!({"map": {"a": ""}}),
                json!({"n": 1, "map": null}),
                json!({"n": 1, "map": {}}),
            ),
            (
                json!({"n": 1, "set": ["a", "b"]}),
                json!({"set": ["a"]}),
                json!({"n": 1, "set": ["b"]}),
                json!({"n": 1, "set": ["b"]}),
            ),
            (
                json!({"n": 1, "set": ["a"]}),
                json!({"set": ["a"]}),
                json!({"n": 1, "set": null}),
                json!({"n": 1, "set": []}),
            ),
            (
                json!({"n": 1, "items": [{"k": "a", "v": 1}, {"k": "b", "v": 1}]}),
                json!({"items": [{"k": "a"}]}),
                json!({"n": 1, "items": [{"k": "b", "v": 1}]}),
                json!({"n": 1, "items": [{"k": "b", "v": 1}]}),
            ),
            (
                json!({"n": 1, "box": {"a": 1}, "list": ["x"]}),
                json!({"box": {"b": 2}, "list": ["y"]}),
                json!({"n": 1}),
                json!({"n": 1}),
            ),
        ] {
            let set = field_set(&object(mentioned.clone()), &root());
            let value = object(spec.clone());
            assert_eq!(
                remove(&value, &set, &root(), false),
                object(emptied),
                "{spec} {mentioned}"
            );
            assert_eq!(
                remove(&value, &set, &root(), true),
                object(kept),
                "{spec} {mentioned}"
            );
        }
    }
}
