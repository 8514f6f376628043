//! Only the fields of a set (`ExtractItems` of `typed/typed.go`).

use serde_json::Value;

use super::{Shape, as_list, as_map, item_element, shape};
use crate::apply::{PathElement, Set};
use crate::object::JsonMap;
use crate::schema::{Struct, Type};

/// Only the fields and items of a set, with the keys that list items need.
pub fn extract(value: &Value, set: &Set, root: &Struct) -> Value {
    extract_members(value, set, Shape::Struct(root))
}

fn extract_members(value: &Value, set: &Set, shape: Shape<'_>) -> Value {
    let mut out = JsonMap::new();
    for (key, value) in as_map(Some(value)).into_iter().flatten() {
        let element = PathElement::Field(key.clone());
        let ty = shape.member(key).unwrap_or(&Type::Any);
        if let Some(below) = set.below(&element) {
            out.insert(key.clone(), extract_value(value, below, ty));
        } else if set.has_member(&element) {
            out.insert(key.clone(), extract_value(value, &Set::default(), ty));
        }
    }
    Value::Object(out)
}

/// Returns the parts of a value that are in a set. A value that is owned as a whole comes whole; a
/// struct, map or list that is owned without any of its members comes empty.
fn extract_value(value: &Value, set: &Set, ty: &Type) -> Value {
    match shape(ty, Some(value)) {
        Shape::Scalar | Shape::AtomicMap | Shape::AtomicList => value.clone(),
        Shape::List(list) => {
            let mut out = Vec::new();
            for item in as_list(Some(value)).into_iter().flatten() {
                let Ok(element) = item_element(list, item) else {
                    continue;
                };
                let below = set.below(&element);
                if below.is_none() && !set.has_member(&element) {
                    continue;
                }
                let nothing = Set::default();
                let mut part = extract_value(item, below.unwrap_or(&nothing), &list.item);
                if let (PathElement::Key(fields), Value::Object(part)) = (element, &mut part) {
                    for (key, value) in fields {
                        part.entry(key).or_insert(value);
                    }
                }
                out.push(part);
            }
            Value::Array(out)
        }
        shape => extract_members(value, set, shape),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::field_set;
    use super::super::sample::{object, root};
    use super::extract;

    #[test]
    fn only_the_fields_of_a_set_are_left_with_the_keys_of_items() {
        for (spec, mentioned, expected) in [
            (json!({"n": 1, "s": "x"}), json!({"n": 0}), json!({"n": 1})),
            (
                json!({"map": {"a": "1", "b": "2"}, "box": {"a": 1, "b": 2}}),
                json!({"map": {"a": ""}, "box": {"a": 0}}),
                json!({"map": {"a": "1"}, "box": {"a": 1, "b": 2}}),
            ),
            (
                json!({"set": ["a", "b"]}),
                json!({"set": ["b"]}),
                json!({"set": ["b"]}),
            ),
            (
                json!({"items": [{"k": "a", "v": 1, "set": ["x"]}, {"k": "b"}]}),
                json!({"items": [{"k": "a", "v": 0}]}),
                json!({"items": [{"k": "a", "v": 1}]}),
            ),
        ] {
            let set = field_set(&object(mentioned.clone()), &root());
            let part = extract(&object(spec.clone()), &set, &root());
            assert_eq!(part, object(expected), "{spec} {mentioned}");
        }
    }
}
