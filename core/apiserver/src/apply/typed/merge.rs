//! A value with everything that another one says (`typed/merge.go`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Shape, as_list, as_map, has_repeats, item_element, shape};
use crate::apply::PathElement;
use crate::object::JsonMap;
use crate::schema::{ListType, Struct, Type};

/// The first object with everything that the second one says.
pub fn merge(live: &Value, config: &Value, root: &Struct) -> Value {
    merge_into(live.clone(), config, root)
}

/// Merges like [`merge`], but changes the first object in place: most of it stays.
pub(in crate::apply) fn merge_into(mut live: Value, config: &Value, root: &Struct) -> Value {
    let shape = Shape::Struct(root);
    match (&mut live, config) {
        (Value::Object(members), Value::Object(config)) if !members.is_empty() => {
            add_members(members, config, shape);
            live
        }
        _ => merge_members(Some(&live), Some(config), shape).unwrap_or(Value::Null),
    }
}

/// Merges the members of a map that has some.
fn add_members(live: &mut JsonMap, config: &JsonMap, shape: Shape<'_>) {
    for (key, b) in config {
        let ty = shape.member(key).unwrap_or(&Type::Any);
        let merged = match (live.get_mut(key), b, super::shape(ty, Some(b))) {
            (
                Some(Value::Object(a)),
                Value::Object(b),
                shape @ (Shape::Struct(_) | Shape::Map(_) | Shape::AnyMap),
            ) if !a.is_empty() => {
                add_members(a, b, shape);
                continue;
            }
            (a, b, _) => merge_values(a.as_deref(), Some(b), ty),
        };
        match merged {
            Some(value) => live.insert(key.clone(), value),
            None => live.remove(key),
        };
    }
}

fn merge_values(live: Option<&Value>, config: Option<&Value>, ty: &Type) -> Option<Value> {
    let leaf = || config.or(live).cloned();
    if config.is_none() {
        return leaf();
    }
    match shape(ty, config.or(live)) {
        Shape::Scalar | Shape::AtomicMap | Shape::AtomicList => leaf(),
        Shape::List(list) => {
            let filled = |side| as_list(side).is_some_and(|list: &Vec<Value>| !list.is_empty());
            if filled(live) || filled(config) {
                merge_items(as_list(live), as_list(config), list)
            } else {
                leaf()
            }
        }
        shape => {
            let filled = |side| as_map(side).is_some_and(|map: &JsonMap| !map.is_empty());
            if filled(live) || filled(config) {
                merge_members(live, config, shape)
            } else {
                leaf()
            }
        }
    }
}

fn merge_members(live: Option<&Value>, config: Option<&Value>, shape: Shape<'_>) -> Option<Value> {
    let mut out = JsonMap::new();
    let (live, config) = (as_map(live), as_map(config));
    for (key, a) in live.into_iter().flatten() {
        let ty = shape.member(key).unwrap_or(&Type::Any);
        if let Some(value) = merge_values(Some(a), config.and_then(|map| map.get(key)), ty) {
            out.insert(key.clone(), value);
        }
    }
    for (key, b) in config.into_iter().flatten() {
        if live.is_none_or(|map| !map.contains_key(key)) {
            let ty = shape.member(key).unwrap_or(&Type::Any);
            if let Some(value) = merge_values(None, Some(b), ty) {
                out.insert(key.clone(), value);
            }
        }
    }
    (!out.is_empty()).then_some(Value::Object(out))
}

/// Items that both have keep the applied order; items that only the live list has stay beside
/// the neighbours they had (`visitListItems` of `typed/merge.go`).
fn merge_items(
    live: Option<&Vec<Value>>,
    config: Option<&Vec<Value>>,
    list: &ListType,
) -> Option<Value> {
    let live: Vec<(PathElement, &Value)> = elements(live, list);
    let config: Vec<(PathElement, &Value)> = elements(config, list);
    if let Some(merged) = merge_pairs(&live, &config, list) {
        return merged;
    }
    let applied: BTreeSet<&PathElement> = config.iter().map(|(element, _)| element).collect();
    let in_config = |element: &PathElement| applied.contains(element);
    let live_items = indexed(&live);
    let live_item = |element: &PathElement| live_items.get(element).copied().flatten();
    let mut shared = config
        .iter()
        .map(|(element, _)| element)
        .filter(|element| live_items.contains_key(element))
        .peekable();
    let mut merged: BTreeSet<&PathElement> = BTreeSet::new();
    let mut out = Vec::with_capacity(live.len().max(config.len()));
    let (mut l, mut r) = (0, 0);
    while l < live.len() || r < config.len() {
        if let (Some((left, _)), Some((right, item))) = (live.get(l), config.get(r)) {
            if left == right {
                merged.insert(right);
                out.extend(merge_values(live_item(left), Some(item), &list.item));
                l += 1;
                r += 1;
                shared.next();
                continue;
            }
            if in_config(left) && shared.peek().is_some_and(|next| *next != left) {
                l += 1;
                continue;
            }
        }
        if let Some((left, item)) = live.get(l) {
            if !in_config(left) {
                out.extend(merge_values(Some(item), None, &list.item));
                l += 1;
                continue;
            }
            if merged.contains(left) {
                l += 1;
            }
        }
        if let Some((right, item)) = config.get(r) {
            merged.insert(right);
            out.extend(merge_values(live_item(right), Some(item), &list.item));
            r += 1;
            if shared.peek().is_some_and(|next| *next == right) {
                shared.next();
            }
        }
    }
    (!out.is_empty()).then_some(Value::Array(out))
}

/// Merges two lists that have the same items in the same order, each once; `None` for others.
fn merge_pairs(
    live: &[(PathElement, &Value)],
    config: &[(PathElement, &Value)],
    list: &ListType,
) -> Option<Option<Value>> {
    let mut pairs = live.iter().zip(config);
    let are_paired = live.len() == config.len() && pairs.all(|((a, _), (b, _))| a == b);
    if !are_paired || has_repeats(live.iter().map(|(element, _)| element)) {
        return None;
    }
    let merge = |((_, live), (_, config)): (&(_, &Value), &(_, &Value))| {
        merge_values(Some(live), Some(config), &list.item)
    };
    let merged: Vec<Value> = live.iter().zip(config).filter_map(merge).collect();
    Some((!merged.is_empty()).then_some(Value::Array(merged)))
}

/// Items by their key. A live item that is there twice is not merged with the applied one but
/// replaced, so it has no value here.
fn indexed<'a>(
    live: &'a [(PathElement, &'a Value)],
) -> BTreeMap<&'a PathElement, Option<&'a Value>> {
    let mut items = BTreeMap::new();
    for (element, item) in live {
        let known = items.entry(element);
        known
            .and_modify(|first| *first = None)
            .or_insert(Some(*item));
    }
    items
}

fn elements<'a>(items: Option<&'a Vec<Value>>, list: &ListType) -> Vec<(PathElement, &'a Value)> {
    items
        .into_iter()
        .flatten()
        .filter_map(|item| Some((item_element(list, item).ok()?, item)))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::sample::{object, root};
    use super::merge;

    #[test]
    fn what_is_applied_comes_on_top_of_what_is_there() {
        for (live, config, expected) in [
            (
                json!({"n": 1, "s": "x"}),
                json!({"n": 2}),
                json!({"n": 2, "s": "x"}),
            ),
            (json!({"n": 1}), json!({"n": null}), json!({"n": null})),
            (
                json!({"map": {"a": "1", "b": "1"}}),
                json!({"map": {"b": "2"}}),
                json!({"map": {"a": "1", "b": "2"}}),
            ),
            (
                json!({"box": {"a": 1}}),
                json!({"box": {"b": 2}}),
                json!({"box": {"b": 2}}),
            ),
            (
                json!({"list": ["a", "b"]}),
                json!({"list": ["c"]}),
                json!({"list": ["c"]}),
            ),
            (
                json!({"set": ["b"]}),
                json!({"set": ["a", "b"]}),
                json!({"set": ["a", "b"]}),
            ),
            // Items of the live list stay beside their neighbours.
            (
                json!({"set": ["z", "a", "m"]}),
                json!({"set": ["m", "b", "z"]}),
                json!({"set": ["a", "m", "b", "z"]}),
            ),
            (
                json!({"items": [{"k": "a", "v": 1}, {"k": "b", "v": 1}]}),
                json!({"items": [{"k": "b", "v": 2}, {"k": "c"}]}),
                json!({"items": [{"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": "c"}]}),
            ),
            // Of an item that is there twice nothing is kept.
            (
                json!({"items": [{"k": "a", "v": 1}, {"k": "a", "v": 2}]}),
                json!({"items": [{"k": "a", "set": ["x"]}]}),
                json!({"items": [{"k": "a", "set": ["x"]}]}),
            ),
            (
                json!({"set": ["a"]}),
                json!({"set": []}),
                json!({"set": ["a"]}),
            ),
            (
                json!({"n": 1}),
                json!({"n": 1, "set": []}),
                json!({"n": 1, "set": []}),
            ),
        ] {
            let merged = merge(&object(live.clone()), &object(config.clone()), &root());
            assert_eq!(merged, object(expected), "{live} {config}");
        }
    }
}
