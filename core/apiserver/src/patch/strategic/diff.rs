//! The strategic merge patches that clients compute: the one that makes one object of another
//! (`strategicpatch.CreateTwoWayMergePatch`), and the one of `kubectl apply`
//! (`strategicpatch.CreateThreeWayMergePatch`).

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::shape::{ListShape, Shape};
use super::{
    DELETE_FROM_PRIMITIVE_LIST, PATCH, RETAIN_KEYS, SET_ELEMENT_ORDER, StrategicResult, Target,
    lists, merge_map,
};
use crate::go;
use crate::json::sorted_text;
use crate::object::JsonMap;
use crate::schema::{Struct, Type};

/// Returns the strategic merge patch that changes `read` into `edited`. Items of lists are told
/// apart by their merge keys; directives remove items or move them.
///
/// # Errors
/// The same errors as in the client: for an object or list that differs and whose field the kind
/// does not have, and for items without their merge key.
pub fn strategic_diff(read: &Value, edited: &Value, root: &Arc<Struct>) -> StrategicResult<Value> {
    let ty = Type::Struct(Arc::clone(root));
    let (read, edited) = (lists::as_map(read)?, lists::as_map(edited)?);
    diff_maps(read, edited, Shape::new(&ty, false), false, Wanted::ALL).map(Value::Object)
}

/// Returns the strategic merge patch that gives an object what a manifest has, and takes from it what
/// only the last manifest had: the changes from the object to the manifest, and the deletions from the last
/// manifest to the new one. A field with the strategy `retainKeys` loses what the manifest does not have,
/// whoever wrote it.
///
/// # Errors
////// The same as of [`strategic_diff`].
pub fn strategic_three_way(
    last: &Value,
    manifest: &Value,
    read: &Value,
    root: &Arc<Struct>,
) -> StrategicResult<Value> {
    let ty = Type::Struct(Arc::clone(root));
    let shape = Shape::new(&ty, false);
    let manifest = lists::as_map(manifest)?;
    let mut changes = diff_maps(
        lists::as_map(read)?,
        manifest,
        shape,
        false,
        Wanted::CHANGES,
    )?;
    let deletions = diff_maps(
        lists::as_map(last)?,
        manifest,
        shape,
        false,
        Wanted::DELETIONS,
    )?;
    merge_map(deletions, &mut changes, shape, Target::Patch).map(Value::Object)
}

/// The differences that a patch makes good (`DiffOptions`).
#[derive(Clone, Copy)]
struct Wanted {
    /// Fields that only the object before has are removed.
    deletions: bool,
    /// Fields that the object after has alone, or with another value, are written.
    changes: bool,
}

impl Wanted {
    const ALL: Self = Self {
        deletions: true,
        changes: true,
    };
    const CHANGES: Self = Self {
        deletions: false,
        changes: true,
    };
    const DELETIONS: Self = Self {
        deletions: true,
        changes: false,
    };
}

fn diff_maps(
    before: &JsonMap,
    after: &JsonMap,
    shape: Shape<'_>,
    retains_keys: bool,
    wanted: Wanted,
) -> StrategicResult<JsonMap> {
    let mut patch = JsonMap::new();
    for (key, new) in after {
        match (before.get(key), new) {
            (Some(Value::Object(old)), Value::Object(new)) => {
                let Some(found) = ignore_if_equal(shape.field(key), old == new)? else {
                    continue;
                };
                let rules = &found.field.patch;
                if rules.replace {
                    if wanted.changes {
                        patch.insert(key.clone(), Value::Object(new.clone()));
                    }
                    continue;
                }
                let inner = diff_maps(old, new, found.shape, rules.retain_keys, wanted)?;
                if !inner.is_empty() {
                    patch.insert(key.clone(), Value::Object(inner));
                }
            }
            (Some(Value::Array(old)), Value::Array(new)) => {
                let Some(list) = ignore_if_equal(shape.list(key), old == new)? else {
                    continue;
                };
                if list.merges {
                    diff_lists(key, old, new, &list, &mut patch, wanted)?;
                } else if wanted.changes && old != new {
                    patch.insert(key.clone(), Value::Array(new.clone()));
                }
            }
            (Some(old), new) if old == new => {}
            (_, new) if wanted.changes => {
                patch.insert(key.clone(), new.clone());
            }
            _ => {}
        }
    }
    let gone = before.iter().filter(|(key, _)| !after.contains_key(*key));
    let has_more = gone.clone().any(|(_, value)| !value.is_null());
    if wanted.deletions {
        patch.extend(gone.map(|(key, _)| (key.clone(), Value::Null)));
    }
    if retains_keys && (has_more || !patch.is_empty()) {
        let kept = after.iter().filter(|(_, value)| !value.is_null());
        let kept: Vec<Value> = kept.map(|(key, _)| key.as_str().into()).collect();
        if !kept.is_empty() {
            patch.insert(RETAIN_KEYS.to_owned(), Value::Array(kept));
        }
    }
    Ok(patch)
}

/// A field that the kind does not have matters only where it differs.
fn ignore_if_equal<T>(found: StrategicResult<T>, alike: bool) -> StrategicResult<Option<T>> {
    match found {
        Err(_) if alike => Ok(None),
        found => found.map(Some),
    }
}

fn diff_lists(
    name: &str,
    before: &[Value],
    after: &[Value],
    list: &ListShape<'_>,
    patch: &mut JsonMap,
    wanted: Wanted,
) -> StrategicResult<()> {
    let mut put = |name: String, items: Vec<Value>| {
        if !items.is_empty() {
            patch.insert(name, Value::Array(items));
        }
    };
    if before.is_empty() {
        if wanted.changes {
            put(name.to_owned(), after.to_vec());
        }
        return Ok(());
    }
    let order = format!("{SET_ELEMENT_ORDER}/{name}");
    if lists::element_kind(&[before, after])? == "map" {
        let items = diff_items(before, after, list, wanted)?;
        let (old, new) = (keys(before, list)?, keys(after, list)?);
        if !items.is_empty() || wanted.changes && old != new {
            let only_key = |key: &Value| with_key(JsonMap::new(), list, key);
            put(order, new.into_iter().map(only_key).collect());
        }
        put(name.to_owned(), items);
        return Ok(());
    }
    let (old, new): (Vec<_>, Vec<_>) = (before.iter().collect(), after.iter().collect());
    let (mut gone, mut added) = (Vec::new(), Vec::new());
    for pair in paired(&old, &new) {
        match pair {
            (Some(old), None) if wanted.deletions => gone.push(before[old].clone()),
            (None, Some(new)) if wanted.changes => added.push(new),
            _ => {}
        }
    }
    let first = first_positions(after.iter());
    added.sort_by_cached_key(|new| first.get(&sorted_text(&after[*new])));
    // The client sorts what was read before it compares: what stood in another order then differs.
    let sorted = sorted(&old).into_iter().map(|(_, old)| &before[old]);
    if !gone.is_empty() || wanted.changes && sorted.ne(after) {
        put(order, after.to_vec());
    }
    let added = added.into_iter().map(|new| after[new].clone());
    put(name.to_owned(), added.collect());
    let deletions = format!("{DELETE_FROM_PRIMITIVE_LIST}/{name}");
    put(deletions, lists::deduplicate(gone));
    Ok(())
}

/// Returns the changed and added items, in the order of the edited list, and then the removed ones.
fn diff_items(
    before: &[Value],
    after: &[Value],
    list: &ListShape<'_>,
    wanted: Wanted,
) -> StrategicResult<Vec<Value>> {
    let (old_keys, new_keys) = (keys(before, list)?, keys(after, list)?);
    let (mut kept, mut gone) = (Vec::new(), Vec::new());
    for pair in paired(&old_keys, &new_keys) {
        match pair {
            (Some(old), Some(new)) => {
                let (old, new_item) = (lists::as_map(&before[old])?, lists::as_map(&after[new])?);
                let item = diff_maps(old, new_item, list.item, list.retains_keys, wanted)?;
                if !item.is_empty() {
                    kept.push((new, with_key(item, list, new_keys[new])));
                }
            }
            (None, Some(new)) if wanted.changes => kept.push((new, after[new].clone())),
            (Some(old), None) if wanted.deletions => {
                let directive = (PATCH.to_owned(), "delete".into());
                let directive = JsonMap::from_iter([directive]);
                gone.push(with_key(directive, list, old_keys[old]));
            }
            _ => {}
        }
    }
    let first = first_positions(new_keys.iter().copied());
    kept.sort_by_cached_key(|(new, _)| first.get(&sorted_text(new_keys[*new])));
    let kept = kept.into_iter().map(|(_, item)| item);
    Ok(kept.chain(gone).collect())
}

/// Returns the first position of each value.
fn first_positions<'a>(values: impl Iterator<Item = &'a Value>) -> HashMap<String, usize> {
    let mut first = HashMap::new();
    for (i, value) in values.enumerate() {
        first.entry(sorted_text(value)).or_insert(i);
    }
    first
}

fn with_key(mut item: JsonMap, list: &ListShape<'_>, key: &Value) -> Value {
    item.insert(list.key.to_owned(), key.clone());
    Value::Object(item)
}

fn keys<'a>(items: &'a [Value], list: &ListShape<'_>) -> StrategicResult<Vec<&'a Value>> {
    let key = |item| lists::member(lists::as_map(item)?, list.key);
    items.iter().map(key).collect()
}

/// The positions of values in the order of their texts; of equal ones the last comes first, as the
/// client's sorting has it.
fn sorted(values: &[&Value]) -> Vec<(String, usize)> {
    let texts = values.iter().map(|value| go::print(value));
    let mut sorted: Vec<(String, usize)> = texts.zip(0..).collect();
    sorted.reverse();
    sorted.sort_by(|(left, _), (right, _)| left.cmp(right));
    sorted
}

/// Pairs the values of two lists by their texts. A value without a counterpart is removed or added.
fn paired(before: &[&Value], after: &[&Value]) -> Vec<(Option<usize>, Option<usize>)> {
    let (before, after) = (sorted(before), sorted(after));
    let (mut old, mut new) = (before.into_iter().peekable(), after.into_iter().peekable());
    let mut pairs = Vec::new();
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return pairs,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((left, _)), Some((right, _))) => left.cmp(right),
        };
        let mut pair = (None, None);
        if order.is_le() {
            pair.0 = old.next().map(|(_, i)| i);
        }
        if order.is_ge() {
            pair.1 = new.next().map(|(_, i)| i);
        }
        pairs.push(pair);
    }
}
