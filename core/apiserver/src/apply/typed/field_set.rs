//! The fields that a value mentions (`typed/tofieldset.go`).

use serde_json::Value;

use super::{Shape, as_map, shape, sorted_items};
use crate::apply::{PathElement, Set};
use crate::object::JsonMap;
use crate::schema::{ListType, Struct, Type};

/// Every leaf field and list item that an object mentions.
pub fn field_set(value: &Value, root: &Struct) -> Set {
    members_set(value, Shape::Struct(root))
}

/// Returns whether the field itself is a member, and the members below it.
fn value_set(value: &Value, ty: &Type) -> (bool, Set) {
    match shape(ty, Some(value)) {
        Shape::Scalar | Shape::AtomicMap | Shape::AtomicList => (true, Set::default()),
        Shape::List(list) => (false, items_set(value, list)),
        shape => (false, members_set(value, shape)),
    }
}

fn members_set(value: &Value, shape: Shape<'_>) -> Set {
    let mut set = Set::default();
    for (key, value) in as_map(Some(value)).into_iter().flatten() {
        let (own, children) = match shape.member(key) {
            Some(ty) => value_set(value, ty),
            None => (true, Set::default()),
        };
        let bare = value.is_null() || value.as_object().is_some_and(JsonMap::is_empty);
        let member = own || bare || !shape.declares(key);
        set.add(PathElement::Field(key.clone()), member, children);
    }
    set
}

fn items_set(value: &Value, list: &ListType) -> Set {
    let mut items = sorted_items([Some(value), None], list)
        .into_iter()
        .peekable();
    let nodes = std::iter::from_fn(|| {
        let item = items.next()?;
        let mut is_unique = true;
        while items.next_if(|next| next.key == item.key).is_some() {
            is_unique = false;
        }
        // Of items that are not unique, only the fact that they are there is owned.
        let children = if is_unique {
            value_set(item.value, &list.item).1
        } else {
            Set::default()
        };
        Some((item.key.into_element(), true, children))
    });
    Set::sorted(nodes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::sample::{object, paths, root};
    use super::field_set;

    #[test]
    fn a_value_mentions_its_leaves_and_its_items() {
        for (spec, expected) in [
            (json!({}), vec![""]),
            (json!({"n": 1, "s": null}), vec![".n", ".s"]),
            (json!({"map": {}}), vec![".map"]),
            (json!({"map": {"a": "1"}}), vec![".map.a"]),
            (
                json!({"box": {"a": 1}, "list": ["x"]}),
                vec![".box", ".list"],
            ),
            (json!({"any": {"a": {"b": 1}}}), vec![".any.a", ".any.a.b"]),
            (
                json!({"set": ["b", "a"]}),
                vec![".set[=\"a\"]", ".set[=\"b\"]"],
            ),
            // An empty list mentions nothing, not even itself.
            (json!({"set": [], "n": 1}), vec![".n"]),
            (
                json!({"items": [{"k": "a", "v": 1}]}),
                vec![".items[k=\"a\"]", ".items[k=\"a\"].k", ".items[k=\"a\"].v"],
            ),
            // Of items that are there twice only that they are there.
            (
                json!({"items": [{"k": "a", "v": 1}, {"k": "a", "v": 2}]}),
                vec![".items[k=\"a\"]"],
            ),
        ] {
            let set = field_set(&object(spec.clone()), &root());
            assert_eq!(paths(&set), expected, "{spec}");
        }
    }
}
