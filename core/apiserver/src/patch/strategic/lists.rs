//! Lists in a strategic merge patch: how items are merged, and their order afterwards. An order
//! that the patch names wins over the order of its items, and that over the order of the original;
//! an item that only the patch has goes before the items with which it cannot be compared.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::shape::{ListShape, Shape};
use super::{
    PATCH, SET_ELEMENT_ORDER, StrategicError, StrategicResult, Target, list_of, merge_map,
    mistyped, other, same, unhashable, unknown_directive, without_directives,
};
use crate::go;
use crate::json::sorted_text;
use crate::object::JsonMap;

/// Follows the `$setElementOrder` directives of a map: merges the lists that they are for, and
/// puts their items in order.
pub(super) fn set_element_order(
    original: &mut JsonMap,
    patch: &mut JsonMap,
    shape: Shape<'_>,
    into: Target,
) -> StrategicResult<()> {
    let directives = patch
        .keys()
        .filter(|key| key.starts_with(SET_ELEMENT_ORDER));
    for directive in directives.cloned().collect::<Vec<_>>() {
        let order = patch.remove(&directive).unwrap_or_default();
        let Value::Array(order) = order else {
            return mistyped(&Value::Array(Vec::new()), &order);
        };
        let name = list_of(&directive, SET_ELEMENT_ORDER).ok_or(StrategicError::Malformed(
            "invalid patch format of setElementOrder list",
        ))?;
        let before = original.get(name).map(as_list).transpose()?.cloned();
        let patched = patch.get_mut(name).map(as_list_mut).transpose()?;
        let list = shape.list(name)?;
        if let Some(patched) = &patched {
            check_order(patched, &order, list.key)?;
        }
        let item_kinds = element_kind(&[
            before.as_deref().unwrap_or_default(),
            patched.as_ref().map_or(&[][..], |items| items.as_slice()),
        ]);
        let merged = match (before.clone(), patched) {
            (None, None) => continue,
            (Some(before), None) => before,
            (None, Some(items)) => items.iter_mut().filter_map(without_directives).collect(),
            (Some(before), Some(items)) if list.merges => merge(before, items, &list, false, into)?,
            (Some(_), Some(items)) => items.clone(),
        };
        let (listed, rest) = partition(merged, &order, list.key)?;
        let maps = item_kinds? == "map";
        let before = before.unwrap_or_default();
        let sorted = in_order(listed, rest, &order, &before, list.key, maps)?;
        original.insert(name.to_owned(), Value::Array(sorted));
        patch.remove(name);
    }
    Ok(())
}

/// Merges the items of a patch into a list, or for a deletion takes them out of it.
pub(super) fn merge(
    original: Vec<Value>,
    patch: &mut [Value],
    list: &ListShape<'_>,
    deletion: bool,
    into: Target,
) -> StrategicResult<Vec<Value>> {
    if original.is_empty() && patch.is_empty() {
        return Ok(original);
    }
    let maps = element_kind(&[&original, patch])? == "map";
    if !maps && deletion {
        let gone: HashSet<String> = patch.iter().map(Value::to_string).collect();
        return Ok(original
            .into_iter()
            .filter(|item| !gone.contains(&sorted_text(item)))
            .collect());
    }
    if !maps {
        let both = original.iter().chain(patch.iter()).cloned().collect();
        let (patched, rest) = partition(deduplicate(both), patch, list.key)?;
        return in_order(patched, rest, patch, &original, list.key, false);
    }
    if list.key.is_empty() {
        let kind = list.item.kind();
        return other(format!("cannot merge lists without merge key for {kind}"));
    }
    let (mut merged, mut items) = follow_directives(original, patch, list.key)?;
    let known = merged.len();
    let mut positions = KeyPositions::new(&merged, list.key);
    for item in items.iter_mut().filter_map(|item| item.as_object_mut()) {
        let value = member(item, list.key)?.clone();
        match positions.find(&merged, list.key, &value)? {
            Some(at) => {
                if let Some(Value::Object(target)) = merged.get_mut(at) {
                    *target = merge_map(std::mem::take(target), item, list.item, into)?;
                    if target.get(list.key) != Some(&value) {
                        positions = KeyPositions::default();
                    }
                }
            }
            None => {
                positions.push(merged.len(), &value);
                merged.push(Value::Object(item.clone()));
            }
        }
    }
    let items: Vec<Value> = items.into_iter().map(|item| item.clone()).collect();
    let before = merged.get(..known).unwrap_or_default().to_vec();
    let (patched, rest) = partition(merged, &items, list.key)?;
    in_order(patched, rest, &items, &before, list.key, true)
}

/// Takes the items with a `$patch` directive out of a patch: `delete` removes from the original,
/// `replace` puts the rest of the patch in its place.
fn follow_directives<'a>(
    mut original: Vec<Value>,
    patch: &'a mut [Value],
    key: &str,
) -> StrategicResult<(Vec<Value>, Vec<&'a mut Value>)> {
    let mut plain = Vec::with_capacity(patch.len());
    let mut replace = false;
    let positions = KeyPositions::new(&original, key);
    let mut gone = HashSet::new();
    for item in patch {
        if item.get(PATCH).is_none() {
            plain.push(item);
            continue;
        }
        let map = as_map(item)?;
        let directive = map.get(PATCH).unwrap_or(&Value::Null);
        match directive.as_str() {
            Some("delete") => {
                let value = member(map, key)?;
                if let (Some(_), Some(value)) = (&positions.known, value.as_str()) {
                    gone.insert(value.to_owned());
                    continue;
                }
                while let Some(at) = position(&original, key, value)? {
                    original.remove(at);
                }
            }
            Some("replace") => replace = true,
            Some("merge") => return other("merging lists cannot yet be specified in the patch"),
            _ => return Err(unknown_directive(directive, map)),
        }
    }
    let stays = |item: &Value| {
        let value = item.get(key).and_then(Value::as_str);
        value.is_none_or(|value| !gone.contains(value))
    };
    original.retain(stays);
    if replace {
        return Ok((
            plain.into_iter().map(|item| item.clone()).collect(),
            Vec::new(),
        ));
    }
    Ok((original, plain))
}

/// The items of a patch must be in the order that it names, and it must name all of them.
fn check_order(patch: &[Value], order: &[Value], key: &str) -> StrategicResult<()> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut kept = Vec::with_capacity(patch.len());
    for item in patch {
        // Deletions do not count in lists of maps.
        if key.is_empty() || as_map(item)?.get(PATCH) != Some(&"delete".into()) {
            kept.push(item);
        }
    }
    let mut kept = kept.into_iter().peekable();
    let mut named = order.iter();
    while let Some(item) = kept.peek() {
        let Some(next) = named.as_slice().first() else {
            return other(format!(
                "The order in patch list:\n{}\n doesn't match {SET_ELEMENT_ORDER} list:\n{}\n",
                go::print(&Value::Array(patch.to_vec())),
                go::print(&Value::Array(order.to_vec())),
            ));
        };
        if item.get(PATCH).is_some() {
            kept.next();
            continue;
        }
        let equal = if key.is_empty() {
            same(item, next)?
        } else {
            let (item, next) = (as_map(item)?, as_map(next)?);
            same(member(item, key)?, member(next, key)?)?
        };
        if equal {
            kept.next();
        }
        named.next();
    }
    Ok(())
}

/// Parts the items that a list names from the others.
fn partition(
    items: Vec<Value>,
    named: &[Value],
    key: &str,
) -> StrategicResult<(Vec<Value>, Vec<Value>)> {
    if key.is_empty() {
        if items.iter().chain(named).any(unhashable) {
            return Err(StrategicError::Panics);
        }
        let named: HashSet<String> = named.iter().map(go::json).collect();
        return Ok(items
            .into_iter()
            .partition(|item| named.contains(&go::json(item))));
    }
    let (mut listed, mut rest) = (Vec::new(), Vec::new());
    let positions = KeyPositions::new(named, key);
    for item in items {
        let value = member(as_map(&item)?, key)?;
        match positions.find(named, key, value)? {
            Some(_) => listed.push(item),
            None => rest.push(item),
        }
    }
    Ok((listed, rest))
}

/// Sorts the items that a patch named by its order and the rest as it was, and merges the two: each
/// item of the rest stays before those that followed it in the original.
fn in_order(
    named: Vec<Value>,
    rest: Vec<Value>,
    order: &[Value],
    before: &[Value],
    key: &str,
    maps: bool,
) -> StrategicResult<Vec<Value>> {
    if maps {
        for item in named.iter().chain(order).chain(&rest).chain(before) {
            member(as_map(item)?, key)?;
        }
    }
    let order = ItemRanks::new(order, key, maps);
    let before = ItemRanks::new(before, key, maps);
    let mut named = order.sort(named).into_iter().peekable();
    let mut rest = before.sort(rest).into_iter().peekable();
    let mut all = Vec::with_capacity(named.len() + rest.len());
    loop {
        let earlier = match (rest.peek(), named.peek()) {
            (None, None) => return Ok(all),
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(left), Some(right)) => match (before.rank(left), before.rank(right)) {
                (Some(left), Some(right)) => left < right,
                _ => false,
            },
        };
        all.extend(if earlier { rest.next() } else { named.next() });
    }
}

/// The rank of each item in a list, by its identity.
struct ItemRanks<'a> {
    ranks: HashMap<String, usize>,
    key: &'a str,
    maps: bool,
}

impl<'a> ItemRanks<'a> {
    fn new(items: &[Value], key: &'a str, maps: bool) -> Self {
        let mut ranks = Self {
            ranks: HashMap::with_capacity(items.len()),
            key,
            maps,
        };
        for (i, item) in items.iter().enumerate() {
            let identity = ranks.identity(item);
            ranks.ranks.entry(identity).or_insert(i);
        }
        ranks
    }

    fn identity(&self, item: &Value) -> String {
        match item.get(self.key) {
            Some(value) if self.maps => sorted_text(value),
            _ => sorted_text(item),
        }
    }

    fn rank(&self, item: &Value) -> Option<usize> {
        self.ranks.get(&self.identity(item)).copied()
    }

    /// Sorts stably, deletions last. Items that the list does not name come first, each before
    /// those that it follows.
    fn sort(&self, items: Vec<Value>) -> Vec<Value> {
        let deletes = |item: &Value| self.maps && item.get(PATCH) == Some(&"delete".into());
        let (deletions, kept): (Vec<Value>, Vec<Value>) = items.into_iter().partition(deletes);
        let ranked: Vec<(Option<usize>, Value)> = kept
            .into_iter()
            .map(|item| (self.rank(&item), item))
            .collect();
        let mut sorted = ranked;
        if sorted.iter().all(|(rank, _)| rank.is_some()) {
            sorted.sort_by_key(|(rank, _)| *rank);
        } else {
            insertion_sort(&mut sorted);
        }
        let kept = sorted.into_iter().map(|(_, item)| item);
        kept.chain(deletions).collect()
    }
}

/// Go's stable sort, which goes by insertion in blocks of twenty, under an order in which whatever
/// has no rank is less than anything.
fn insertion_sort<T>(items: &mut [(Option<usize>, T)]) {
    for block in items.chunks_mut(20) {
        for i in 1..block.len() {
            for j in (1..=i).rev() {
                let less = match (block[j].0, block[j - 1].0) {
                    (Some(left), Some(right)) => left < right,
                    _ => true,
                };
                if !less {
                    break;
                }
                block.swap(j, j - 1);
            }
        }
    }
}

/// Drops repeated scalars: the last one takes the place of each that is dropped.
pub(super) fn deduplicate(items: Vec<Value>) -> Vec<Value> {
    let mut numbers: HashMap<String, usize> = HashMap::with_capacity(items.len());
    let mut numbered: Vec<(usize, Value)> = Vec::with_capacity(items.len());
    // How often there is one more of each.
    let mut more: Vec<usize> = Vec::new();
    for item in items {
        let number = *numbers.entry(sorted_text(&item)).or_insert(more.len());
        match more.get_mut(number) {
            Some(more) => *more += 1,
            None => more.push(0),
        }
        numbered.push((number, item));
    }
    let mut i = 0;
    while let Some(&(number, _)) = numbered.get(i) {
        let mut j = i + 1;
        while more[number] > 0 && j < numbered.len() {
            if numbered[j].0 == number {
                numbered.swap_remove(j);
                more[number] -= 1;
            } else {
                j += 1;
            }
        }
        i += 1;
    }
    numbered.into_iter().map(|(_, item)| item).collect()
}

/// The one kind of all items.
pub(super) fn element_kind(lists: &[&[Value]]) -> StrategicResult<&'static str> {
    let mut kind = None;
    for item in lists.iter().flat_map(|list| list.iter()) {
        let this = go::reflect_kind(item);
        match kind {
            None if item.is_null() => return Err(StrategicError::Panics),
            None if item.is_array() => return Err(StrategicError::ListOfLists),
            None => kind = Some(this),
            Some(kind) if kind == this => {}
            Some(_) => {
                let lists: Vec<String> = lists
                    .iter()
                    .map(|list| go::print(&Value::Array(list.to_vec())))
                    .collect();
                let lists = lists.join(" ");
                return other(format!("list element types are not identical: [{lists}]"));
            }
        }
    }
    kind.map_or_else(|| other("no elements in any of the given slices"), Ok)
}

/// The positions of a list's items, by the texts of their keys.
#[derive(Default)]
struct KeyPositions {
    /// `None` if a key is not text, or an item is not a map: then it has to be searched.
    known: Option<HashMap<String, usize>>,
}

impl KeyPositions {
    fn new(items: &[Value], key: &str) -> Self {
        let mut known = HashMap::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            match item.as_object().map(|map| map.get(key)) {
                Some(None) => {}
                Some(Some(Value::String(text))) => {
                    known.entry(text.clone()).or_insert(i);
                }
                _ => return Self::default(),
            }
        }
        Self { known: Some(known) }
    }

    /// The first item whose key has this value.
    fn find(&self, items: &[Value], key: &str, value: &Value) -> StrategicResult<Option<usize>> {
        match (&self.known, value) {
            (Some(known), Value::String(text)) => Ok(known.get(text).copied()),
            _ => position(items, key, value),
        }
    }

    /// Takes note of an item that comes to the list.
    fn push(&mut self, at: usize, value: &Value) {
        match (&mut self.known, value) {
            (Some(known), Value::String(text)) => {
                known.entry(text.clone()).or_insert(at);
            }
            _ => self.known = None,
        }
    }
}

/// The first item whose key has this value, by a linear search.
fn position(items: &[Value], key: &str, value: &Value) -> StrategicResult<Option<usize>> {
    for (i, item) in items.iter().enumerate() {
        let Value::Object(map) = item else {
            return other(format!("value for key {i} is not a map"));
        };
        if let Some(found) = map.get(key)
            && same(found, value)?
        {
            return Ok(Some(i));
        }
    }
    Ok(None)
}

pub(super) fn member<'a>(map: &'a JsonMap, key: &str) -> StrategicResult<&'a Value> {
    match map.get(key) {
        Some(value) => Ok(value),
        None => other(format!(
            "map: {} does not contain declared merge key: {key}",
            go::print(&Value::Object(map.clone()))
        )),
    }
}

pub(super) fn as_map(value: &Value) -> StrategicResult<&JsonMap> {
    match value {
        Value::Object(map) => Ok(map),
        value => mistyped(&Value::Object(JsonMap::new()), value),
    }
}

fn as_list(value: &Value) -> StrategicResult<&Vec<Value>> {
    match value {
        Value::Array(items) => Ok(items),
        value => mistyped(&Value::Array(Vec::new()), value),
    }
}

fn as_list_mut(value: &mut Value) -> StrategicResult<&mut Vec<Value>> {
    match value {
        Value::Array(items) => Ok(items),
        value => mistyped(&Value::Array(Vec::new()), value),
    }
}
