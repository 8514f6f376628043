//! Compares two values of a type (`typed/compare.go`).

use serde_json::Value;

use super::{Item, Shape, as_list, as_map, equal, groups, shape, sorted_items};
use crate::apply::{PathElement, Set};
use crate::schema::{ListType, Struct, Type};

/// The differences between one object and another one of the same type. No field is in two of the
/// sets, except an item that is there twice in only one of the objects.
#[derive(Clone, Debug, Default)]
pub struct TypedComparison {
    /// Fields that only the first one has.
    pub removed: Set,
    /// Fields that both have, with different values.
    pub modified: Set,
    /// Fields that only the second one has.
    pub added: Set,
}

impl TypedComparison {
    /// Without the fields of a set and all below them.
    pub fn without(mut self, set: &Set) -> Self {
        for fields in [&mut self.removed, &mut self.modified, &mut self.added] {
            fields.subtract_recursively(set);
        }
        self
    }

    /// Returns whether nothing differs.
    fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.modified.is_empty() && self.added.is_empty()
    }

    fn add(&mut self, element: &PathElement, mark: Presence, below: TypedComparison) {
        for (set, this, children) in [
            (&mut self.removed, Presence::Removed, below.removed),
            (&mut self.modified, Presence::Modified, below.modified),
            (&mut self.added, Presence::Added, below.added),
        ] {
            if mark == this || !children.is_empty() {
                set.add(element.clone(), mark == this, children);
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    Same,
    Removed,
    Modified,
    Added,
}

/// Compares two objects.
pub fn compare(before: &Value, after: &Value, root: &Struct) -> TypedComparison {
    compare_members(Some(before), Some(after), Shape::Struct(root))
}

fn compare_values(
    before: Option<&Value>,
    after: Option<&Value>,
    ty: &Type,
) -> (Presence, TypedComparison) {
    if are_equal(before, after) {
        return (Presence::Same, TypedComparison::default());
    }
    compare_different(before, after, ty)
}

fn are_equal(before: Option<&Value>, after: Option<&Value>) -> bool {
    matches!((before, after), (Some(before), Some(after)) if equal(before, after))
}

/// Compares values that are not equal.
fn compare_different(
    before: Option<&Value>,
    after: Option<&Value>,
    ty: &Type,
) -> (Presence, TypedComparison) {
    let whole = match (before, after) {
        (None, _) => Presence::Added,
        (_, None) => Presence::Removed,
        _ => Presence::Modified,
    };
    let both = before.is_some() && after.is_some();
    let shape_after = shape(ty, after.or(before));
    if both && matches!(ty, Type::Any) {
        let shape_before = shape(ty, before);
        let differ = std::mem::discriminant(&shape_before) != std::mem::discriminant(&shape_after);
        if differ {
            let mut comparison = TypedComparison::default();
            for shape in [shape_before, shape_after] {
                if matches!(shape, Shape::AnyMap) {
                    comparison = compare_members(before, after, shape);
                }
            }
            return (Presence::Modified, comparison);
        }
    }
    let descends = match shape_after {
        Shape::Scalar | Shape::AtomicMap | Shape::AtomicList => false,
        Shape::List(_) => [before, after]
            .iter()
            .any(|side| as_list(*side).is_some_and(|list| !list.is_empty())),
        _ => [before, after]
            .iter()
            .any(|side| as_map(*side).is_some_and(|map| !map.is_empty())),
    };
    if !descends {
        return (whole, TypedComparison::default());
    }
    let below = match shape_after {
        Shape::List(list) => compare_items(before, after, list),
        shape => compare_members(before, after, shape),
    };
    (if both { Presence::Same } else { whole }, below)
}

fn compare_members(
    before: Option<&Value>,
    after: Option<&Value>,
    shape: Shape<'_>,
) -> TypedComparison {
    let mut comparison = TypedComparison::default();
    let (before, after) = (as_map(before), as_map(after));
    let mut visit = |key: &String, a: Option<&Value>, b: Option<&Value>| {
        if are_equal(a, b) {
            return;
        }
        let ty = shape.member(key).unwrap_or(&Type::Any);
        let (mark, below) = compare_different(a, b, ty);
        if mark != Presence::Same || !below.is_empty() {
            comparison.add(&PathElement::Field(key.clone()), mark, below);
        }
    };
    for (key, a) in before.into_iter().flatten() {
        visit(key, Some(a), after.and_then(|map| map.get(key)));
    }
    for (key, b) in after.into_iter().flatten() {
        if before.is_none_or(|map| !map.contains_key(key)) {
            visit(key, None, Some(b));
        }
    }
    comparison
}

fn compare_items<'a>(
    before: Option<&'a Value>,
    after: Option<&'a Value>,
    list: &'a ListType,
) -> TypedComparison {
    let mut comparison = TypedComparison::default();
    let items = sorted_items([before, after], list);
    for (key, [a, b]) in groups(&items) {
        let first = |side: &[Item<'a>]| side.first().map(|item| item.value);
        let (mark, below) = match (a, b) {
            ([] | [_], [] | [_]) => compare_values(first(a), first(b), &list.item),
            ([_, _, ..], [_, _, ..]) => {
                let mut pairs = a.iter().zip(b);
                let same = a.len() == b.len() && pairs.all(|(a, b)| equal(a.value, b.value));
                let mark = if same {
                    Presence::Same
                } else {
                    Presence::Modified
                };
                (mark, TypedComparison::default())
            }
            ([_, _, ..], _) => {
                if let Some(item) = first(b) {
                    let (mark, below) = compare_values(None, Some(item), &list.item);
                    comparison.add(&key.to_element(), mark, below);
                }
                (Presence::Removed, TypedComparison::default())
            }
            (_, [_, _, ..]) => {
                if let Some(item) = first(a) {
                    let (mark, below) = compare_values(Some(item), None, &list.item);
                    comparison.add(&key.to_element(), mark, below);
                }
                (Presence::Added, TypedComparison::default())
            }
        };
        if mark != Presence::Same || !below.is_empty() {
            comparison.add(&key.to_element(), mark, below);
        }
    }
    comparison
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::sample::{object, paths, root};
    use super::compare;

    #[test]
    fn each_field_that_differs_is_removed_modified_or_added() {
        for (before, after, removed, modified, added) in [
            (json!({"n": 1}), json!({"n": 1.0}), vec![], vec![], vec![]),
            (
                json!({"n": 1}),
                json!({"n": 2, "s": "x"}),
                vec![],
                vec![".n"],
                vec![".s"],
            ),
            (
                json!({"n": 1, "s": "x"}),
                json!({"s": null}),
                vec![".n"],
                vec![".s"],
                vec![],
            ),
            (
                json!({"map": {"a": "1", "b": "1"}}),
                json!({"map": {"b": "2", "c": "2"}}),
                vec![".map.a"],
                vec![".map.b"],
                vec![".map.c"],
            ),
            // The map goes with its members.
            (
                json!({"n": 1, "map": {"a": "1"}}),
                json!({"n": 1}),
                vec![".map", ".map.a"],
                vec![],
                vec![],
            ),
            (
                json!({"box": {"a": 1}}),
                json!({"box": {"b": 1}}),
                vec![],
                vec![".box"],
                vec![],
            ),
            (
                json!({"list": ["a"]}),
                json!({"list": ["a", "b"]}),
                vec![],
                vec![".list"],
                vec![],
            ),
            (
                json!({"set": ["a", "b"]}),
                json!({"set": ["c", "b"]}),
                vec![".set[=\"a\"]"],
                vec![],
                vec![".set[=\"c\"]"],
            ),
            // The order of items is no difference.
            (
                json!({"set": ["a", "b"]}),
                json!({"set": ["b", "a"]}),
                vec![],
                vec![],
                vec![],
            ),
            (
                json!({"items": [{"k": "a", "v": 1}]}),
                json!({"items": [{"k": "b"}, {"k": "a", "v": 2}]}),
                vec![],
                vec![".items[k=\"a\"].v"],
                vec![".items[k=\"b\"]", ".items[k=\"b\"].k"],
            ),
            // A second item with the same key cannot be distinguished from the first.
            (
                json!({"items": [{"k": "a", "v": 1}]}),
                json!({"items": [{"k": "a", "v": 1}, {"k": "a", "v": 1}]}),
                vec![".items[k=\"a\"]", ".items[k=\"a\"].k", ".items[k=\"a\"].v"],
                vec![],
                vec![".items[k=\"a\"]"],
            ),
        ] {
            let differs = compare(&object(before.clone()), &object(after.clone()), &root());
            assert_eq!(paths(&differs.removed), removed, "{before} {after}");
            assert_eq!(paths(&differs.modified), modified, "{before} {after}");
            assert_eq!(paths(&differs.added), added, "{before} {after}");
        }
    }
}
