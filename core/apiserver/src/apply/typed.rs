//! Values of a known type: the algorithms of merging, a module each.

mod compare;
mod extract;
mod field_set;
mod item_key;
mod merge;
mod remove;
#[cfg(test)]
pub(super) mod sample;
mod validate;

use serde_json::Value;

use super::{Path, PathElement};
use crate::object::JsonMap;
use crate::schema::{DefinitionPart, ListKind, ListType, MapType, Struct, Type};

pub use compare::{TypedComparison, compare};
pub use extract::extract;
pub use field_set::field_set;
pub(super) use item_key::ItemKey;
pub use merge::merge;
pub(super) use merge::merge_into;
pub use remove::remove;
pub use validate::validate;

/// A type seen the way merging sees it.
#[derive(Clone, Copy)]
pub(super) enum Shape<'a> {
    Scalar,
    AtomicMap,
    Struct(&'a Struct),
    Map(&'a MapType),
    AnyMap,
    AtomicList,
    List(&'a ListType),
}

/// Returns the shape of a value. If the type leaves it open, the value decides.
pub(super) fn shape<'a>(ty: &'a Type, value: Option<&Value>) -> Shape<'a> {
    match ty {
        Type::Scalar(_) => Shape::Scalar,
        Type::Struct(inner) if inner.atomic => Shape::AtomicMap,
        Type::Struct(inner) => Shape::Struct(inner),
        Type::Map(inner) if inner.atomic => Shape::AtomicMap,
        Type::Map(inner) => Shape::Map(inner),
        Type::List(inner) if inner.kind == ListKind::Atomic => Shape::AtomicList,
        Type::List(inner) => Shape::List(inner),
        Type::Definition(DefinitionPart::Schema) => Shape::Struct(DefinitionPart::schema()),
        Type::Any | Type::Definition(_) => match value {
            Some(Value::Array(_)) => Shape::AtomicList,
            Some(Value::Object(_)) | None | Some(Value::Null) => Shape::AnyMap,
            Some(_) => Shape::Scalar,
        },
    }
}

impl<'a> Shape<'a> {
    /// The type of a member; `None` where it is not declared.
    pub(super) fn member(self, name: &str) -> Option<&'a Type> {
        match self {
            Shape::Struct(inner) => inner.member(name),
            Shape::Map(inner) => Some(&inner.value),
            Shape::AnyMap => Some(&Type::Any),
            _ => None,
        }
    }

    /// Returns whether a member is one of the declared fields of a struct.
    fn declares(self, name: &str) -> bool {
        matches!(self, Shape::Struct(inner) if inner.field(name).is_some())
    }
}

/// Returns the path element that tells an item of a list from the others.
pub(super) fn item_element(list: &ListType, item: &Value) -> Result<PathElement, String> {
    ItemKey::from_item(list, item).map(ItemKey::into_element)
}

fn as_map(value: Option<&Value>) -> Option<&JsonMap> {
    value.and_then(Value::as_object)
}

fn as_list(value: Option<&Value>) -> Option<&Vec<Value>> {
    value.and_then(Value::as_array)
}

/// An item of one of two lists, with its key.
#[derive(Debug)]
pub(super) struct Item<'a> {
    pub(super) key: ItemKey<'a>,
    side: usize,
    pub(super) value: &'a Value,
}

/// The items of two lists that have a key: sorted by it, then by list, then as they are there.
pub(super) fn sorted_items<'a>(sides: [Option<&'a Value>; 2], list: &'a ListType) -> Vec<Item<'a>> {
    let lengths = sides.map(|side| as_list(side).map_or(0, Vec::len));
    let mut items = Vec::with_capacity(lengths.iter().sum());
    for (side, values) in sides.into_iter().enumerate() {
        for value in as_list(values).into_iter().flatten() {
            if let Ok(key) = ItemKey::from_item(list, value) {
                items.push(Item { key, side, value });
            }
        }
    }
    items.sort_by(|a, b| a.key.cmp(&b.key));
    items
}

/// The items with each key: those of the first list, and those of the second one. There is one at
/// least.
pub(super) fn groups<'i, 'v>(
    items: &'i [Item<'v>],
) -> impl Iterator<Item = (&'i ItemKey<'v>, [&'i [Item<'v>]; 2])> {
    let groups = items.chunk_by(|a, b| a.key == b.key);
    groups.filter_map(|group| {
        let (first, second) = group.split_at(group.partition_point(|item| item.side == 0));
        Some((&group.first()?.key, [first, second]))
    })
}

/// Returns whether two of these are equal.
pub(super) fn has_repeats<'k, 'a: 'k>(keys: impl Iterator<Item = &'k ItemKey<'a>>) -> bool {
    let mut sorted: Vec<&ItemKey<'a>> = keys.collect();
    sorted.sort();
    sorted.windows(2).any(|pair| pair.first() == pair.last())
}

/// Equality for merging: 1 equals 1.0.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|((a_key, a), (b_key, same))| {
                    // Members in the same order need no look-up.
                    let other = if a_key == b_key {
                        Some(same)
                    } else {
                        b.get(a_key)
                    };
                    other.is_some_and(|other| equal(a, other))
                })
        }
        _ => a == b,
    }
}

impl From<PathElement> for Path {
    fn from(element: PathElement) -> Self {
        Path(vec![element])
    }
}
