//! A value with everything that another one says (`typed/merge.go`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{ItemKey, Shape, as_list, as_map, has_repeats, shape};
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
        let shape = super::shape(ty, Some(b));
        if let (Value::Array(b), Shape::List(list)) = (b, shape)
            && let Some(Value::Array(a)) = live.get_mut(key)
            && add_to_items(a, b, list)
        {
            continue;
        }
        let merged = match (live.get_mut(key), b, shape) {
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
        match (merged, live.get_mut(key)) {
            (Some(value), Some(member)) => *member = value,
            (Some(value), None) => drop(live.insert(key.clone(), value)),
            (None, _) => drop(live.remove(key)),
        }
    }
}

/// Merges the items of a list, if they are maps and those of the other list have the same keys in the
/// same order. Returns whether it did.
fn add_to_items(live: &mut [Value], config: &[Value], list: &ListType) -> bool {
    let Type::Struct(item) = &list.item else {
        return false;
    };
    let are_maps = |items: &[Value]| {
        let mut maps = items.iter().map(|item| as_map(Some(item)));
        maps.all(|map| map.is_some_and(|map| !map.is_empty()))
    };
    if item.atomic || live.is_empty() || !are_maps(live) || !are_maps(config) {
        return false;
    }
    let keys = [keyed(live, list), keyed(config, list)];
    let all_have_keys = keys[0].len() == live.len() && keys[1].len() == config.len();
    if !all_have_keys || !are_paired(&keys[0], &keys[1]) {
        return false;
    }
    for (live, config) in live.iter_mut().zip(config) {
        if let (Value::Object(live), Value::Object(config)) = (live, config) {
            add_members(live, config, Shape::Struct(item));
        }
    }
    true
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
    let live = keyed(live.map_or(&[], Vec::as_slice), list);
    let config = keyed(config.map_or(&[], Vec::as_slice), list);
    if let Some(merged) = merge_pairs(&live, &config, list) {
        return merged;
    }
    let applied: BTreeSet<&ItemKey<'_>> = config.iter().map(|(key, _)| key).collect();
    let in_config = |key: &ItemKey<'_>| applied.contains(key);
    let live_items = indexed(&live);
    let live_item = |key: &ItemKey<'_>| live_items.get(key).copied().flatten();
    let mut shared = config
        .iter()
        .map(|(key, _)| key)
        .filter(|key| live_items.contains_key(key))
        .peekable();
    let mut merged: BTreeSet<&ItemKey<'_>> = BTreeSet::new();
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
    live: &[(ItemKey<'_>, &Value)],
    config: &[(ItemKey<'_>, &Value)],
    list: &ListType,
) -> Option<Option<Value>> {
    if !are_paired(live, config) {
        return None;
    }
    let merge = |((_, live), (_, config)): (&(_, &Value), &(_, &Value))| {
        merge_values(Some(live), Some(config), &list.item)
    };
    let merged: Vec<Value> = live.iter().zip(config).filter_map(merge).collect();
    Some((!merged.is_empty()).then_some(Value::Array(merged)))
}

/// Returns whether two lists have the same items in the same order, each once.
fn are_paired(live: &[(ItemKey<'_>, &Value)], config: &[(ItemKey<'_>, &Value)]) -> bool {
    let mut pairs = live.iter().zip(config);
    live.len() == config.len()
        && pairs.all(|((a, _), (b, _))| a == b)
        && !has_repeats(live.iter().map(|(key, _)| key))
}

/// Items by their key. A live item that is there twice is not merged with the applied one but
/// replaced, so it has no value here.
fn indexed<'a>(
    live: &'a [(ItemKey<'a>, &'a Value)],
) -> BTreeMap<&'a ItemKey<'a>, Option<&'a Value>> {
    let mut items = BTreeMap::new();
    for (key, item) in live {
        let known = items.entry(key);
        known
            .and_modify(|first| *first = None)
            .or_insert(Some(*item));
    }
    items
}

/// The items of a list that have a key.
fn keyed<'a>(items: &'a [Value], list: &'a ListType) -> Vec<(ItemKey<'a>, &'a Value)> {
    items
        .iter()
        .filter_map(|item| Some((ItemKey::from_item(list, item).ok()?, item)))
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
            // The same items in the same order, each with everything that it had.
            (
                json!({"items": [{"k": "a", "v": 1, "set": ["x"]}, {"k": "b", "v": 1}]}),
                json!({"items": [{"k": "a", "v": 2, "set": ["y"]}, {"k": "b", "v": null}]}),
                json!({"items": [
                    {"k": "a", "v": 2, "set": ["x", "y"]},
                    {"k": "b", "v": null},
                ]}),
            ),
            (
                json!({"items": [{"k": "a", "v": 1}, {"k": "b", "v": 1}]}),
                json!({"items": [{"k": "b"}, {"k": "a"}]}),
                json!({"items": [{"k": "b", "v": 1}, {"k": "a", "v": 1}]}),
            ),
            // An item without its key, and one that is no map, are not merged.
            (
                json!({"items": [{"k": "a", "v": 1}, {"k": "b", "v": 1}]}),
                json!({"items": [{"k": "a"}, 7, {"k": "b", "v": 2}]}),
                json!({"items": [{"k": "a", "v": 1}, {"k": "b", "v": 2}]}),
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
