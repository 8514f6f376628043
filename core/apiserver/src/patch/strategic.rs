//! Strategic merge patch (`k8s.io/apimachinery/pkg/util/strategicpatch`, v1.36): a merge patch
//! whose lists merge by the keys that the types declare, with directives among the data:
//! `$patch` in a map or list item, `$retainKeys` in a map, `$setElementOrder/<list>` and
//! `$deleteFromPrimitiveList/<list>` beside a list.

mod diff;
mod lists;
mod shape;

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use crate::go;
use crate::object::JsonMap;
use crate::schema::{Struct, Type};
use shape::Shape;

pub use diff::{strategic_diff, strategic_three_way};

const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const SET_ELEMENT_ORDER: &str = "$setElementOrder";
const DELETE_FROM_PRIMITIVE_LIST: &str = "$deleteFromPrimitiveList";

/// The reason why a patch gives no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StrategicError {
    /// A directive that is not formed as it should be.
    Malformed(&'static str),
    /// A list of lists.
    ListOfLists,
    /// Anything else that the library reports.
    Other(String),
    /// The server's library panics over it.
    Panics,
}

type StrategicResult<T> = Result<T, StrategicError>;

fn other<T>(message: impl Into<String>) -> StrategicResult<T> {
    Err(StrategicError::Other(message.into()))
}

/// Merges a patch into an object. As upstream, the patch is used up on the way: directives that
/// were followed and `null` members that had nothing to remove are gone from it afterwards, and
/// messages about the result show the rest of it.
///
/// # Errors
/// If the patch does not fit the object.
pub fn strategic_merge(
    original: JsonMap,
    patch: &mut JsonMap,
    root: &Arc<Struct>,
) -> StrategicResult<JsonMap> {
    let ty = Type::Struct(Arc::clone(root));
    merge_map(original, patch, Shape::new(&ty, false), Target::Object)
}

/// The target of a merge: an object, or another patch (`MergeOptions`).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    /// An object: directives are followed, and `null` removes.
    Object,
    /// Another patch: its directives and `null`s stay, for the object.
    Patch,
}

fn merge_map(
    mut original: JsonMap,
    patch: &mut JsonMap,
    shape: Shape<'_>,
    into: Target,
) -> StrategicResult<JsonMap> {
    if patch.contains_key(PATCH) {
        return apply_directive(patch);
    }
    match into {
        Target::Object => retain_keys(&mut original, patch)?,
        Target::Patch => keep_directives(&mut original, patch)?,
    }
    lists::set_element_order(&mut original, patch, shape, into)?;
    // Upstream goes through a map of Go, which most often starts with the member that was written first:
    // deletions from a list are written beside it, after it.
    let deletes = |key: &&String| key.starts_with(DELETE_FROM_PRIMITIVE_LIST);
    let (last, first): (Vec<&String>, Vec<&String>) = patch.keys().partition(deletes);
    let keys: Vec<String> = first.into_iter().chain(last).cloned().collect();
    for key in keys {
        if let Some(value) = patch.get_mut(&key) {
            merge_member(&mut original, &key, value, shape, into)?;
        }
    }
    Ok(original)
}

/// Merges one member of a patch, whose key can be the directive of a list.
fn merge_member(
    original: &mut JsonMap,
    key: &str,
    value: &mut Value,
    shape: Shape<'_>,
    into: Target,
) -> StrategicResult<()> {
    let deletion = key.starts_with(DELETE_FROM_PRIMITIVE_LIST);
    if into == Target::Patch && (deletion || value.is_null()) {
        original.insert(key.to_owned(), value.clone());
        return Ok(());
    }
    let name = if deletion {
        list_of_deletion(key)?
    } else {
        key
    };
    if value.is_null() {
        original.remove(name);
        return Ok(());
    }
    let current = original.get_mut(name);
    let alike = current
        .as_deref()
        .is_some_and(|current| go::reflect_kind(current) == go::reflect_kind(value));
    match (current, value) {
        (Some(Value::Object(current)), Value::Object(value)) => {
            let found = shape.field(name)?;
            if found.field.patch.replace {
                current.clone_from(value);
            } else {
                *current = merge_map(std::mem::take(current), value, found.shape, into)?;
            }
        }
        (Some(Value::Array(current)), Value::Array(value)) => {
            let list = shape.list(name)?;
            *current = if list.merges || deletion {
                lists::merge(std::mem::take(current), value, &list, deletion, into)?
            } else {
                value.clone()
            };
        }
        (_, value) if alike || !deletion => {
            if !alike && into == Target::Object {
                discard_nulls(value);
            }
            match without_directives(value) {
                Some(value) => original.insert(name.to_owned(), value),
                None => original.remove(name),
            };
        }
        _ => {}
    }
    Ok(())
}

/// `$patch`: the patch replaces or deletes the map.
fn apply_directive(patch: &mut JsonMap) -> StrategicResult<JsonMap> {
    match patch.get(PATCH).and_then(Value::as_str) {
        Some("replace") => {
            patch.remove(PATCH);
            Ok(patch.clone())
        }
        Some("delete") => Ok(JsonMap::new()),
        _ => {
            let directive = patch.get(PATCH).unwrap_or(&Value::Null);
            Err(unknown_directive(directive, patch))
        }
    }
}

/// The list from which `$deleteFromPrimitiveList/…` deletes; the key itself if it names none.
fn list_of_deletion(key: &str) -> StrategicResult<&str> {
    let malformed = StrategicError::Malformed("invalid patch format of primitive list");
    let name = list_of(key, DELETE_FROM_PRIMITIVE_LIST).ok_or(malformed)?;
    Ok(if name.is_empty() { key } else { name })
}

/// `$retainKeys`: of the original only the listed keys stay, and the patch may have no others.
fn retain_keys(original: &mut JsonMap, patch: &mut JsonMap) -> StrategicResult<()> {
    const MALFORMED: StrategicError =
        StrategicError::Malformed("invalid patch format of retainKeys");
    let Some(directive) = patch.remove(RETAIN_KEYS) else {
        return Ok(());
    };
    let Value::Array(kept) = directive else {
        return Err(MALFORMED);
    };
    if kept.iter().any(unhashable) {
        return Err(StrategicError::Panics);
    }
    let kept: HashSet<&str> = kept.iter().filter_map(Value::as_str).collect();
    for (key, value) in patch.iter() {
        let parallel =
            key.starts_with(DELETE_FROM_PRIMITIVE_LIST) || key.starts_with(SET_ELEMENT_ORDER);
        if !value.is_null() && !parallel && !kept.contains(key.as_str()) {
            return Err(MALFORMED);
        }
    }
    original.retain(|key, _| kept.contains(key.as_str()));
    Ok(())
}

/// Moves the directives of a map from a patch to the patch into which it is merged. Both patches are about one
/// object that is wanted, so they have the same directives (`applyRetainKeysDirective`,
/// `mergePatchIntoOriginal`).
fn keep_directives(original: &mut JsonMap, patch: &mut JsonMap) -> StrategicResult<()> {
    let orders = patch.iter();
    let orders = orders.filter(|(key, _)| key.starts_with(SET_ELEMENT_ORDER));
    let mut directives: Vec<(String, Value)> = orders
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    directives.extend(patch.remove_entry(RETAIN_KEYS));
    for (key, value) in directives {
        if original.get(&key).is_some_and(|it| *it != value) {
            return other(format!("{key} differs in the two patches"));
        }
        original.insert(key, value);
    }
    Ok(())
}

/// The list that a directive is for, `containers` of `$setElementOrder/containers`.
fn list_of<'a>(key: &'a str, directive: &str) -> Option<&'a str> {
    let (prefix, list) = key.split_once('/')?;
    (prefix == directive).then_some(list)
}

/// Removes `null` members of maps, however deep.
fn discard_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(discard_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(discard_nulls),
        _ => {}
    }
}

/// Returns the value to put where nothing was. Maps with a `$patch` directive are left out,
/// whatever else is in them. Returns `None` if the value itself is such a map.
fn without_directives(value: &mut Value) -> Option<Value> {
    match value {
        Value::Object(map) if map.contains_key(PATCH) => None,
        Value::Object(map) => {
            map.retain(|_, member| match without_directives(member) {
                Some(kept) => {
                    *member = kept;
                    true
                }
                None => false,
            });
            Some(Value::Object(map.clone()))
        }
        Value::Array(items) => {
            let kept = items.iter_mut().filter_map(without_directives).collect();
            Some(Value::Array(kept))
        }
        scalar => Some(scalar.clone()),
    }
}

fn unknown_directive(directive: &Value, map: &JsonMap) -> StrategicError {
    let directive = go::print_as_text(directive);
    let map = go::print(&Value::Object(map.clone()));
    StrategicError::Other(format!("unknown patch type: {directive} in map: {map}"))
}

fn mistyped<T>(expected: &Value, actual: &Value) -> StrategicResult<T> {
    other(format!(
        "expected a {}, but received a {}",
        go::reflect_type(expected),
        go::reflect_type(actual)
    ))
}

/// Returns whether Go cannot use a value as the key of a map.
fn unhashable(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

/// Go's `==` on two decoded values, which panics where both are maps or both are lists.
fn same(left: &Value, right: &Value) -> StrategicResult<bool> {
    if unhashable(left) && go::reflect_kind(left) == go::reflect_kind(right) {
        return Err(StrategicError::Panics);
    }
    Ok(left == right)
}

#[cfg(test)]
mod tests;
