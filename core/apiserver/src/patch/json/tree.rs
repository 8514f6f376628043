//! A document while a JSON patch changes it: opened only where a path leads.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{JsonPatchError, Outcome};
use crate::go;
use crate::json::Raw;

/// A value while it is patched: what no path has led into stays as it was written. A `null` in a
/// document is an absent [`Slot`].
#[derive(Clone, Debug)]
pub(super) enum Tree {
    /// From the stored object.
    Stored(Value),
    /// From the patch.
    Written(Raw),
    /// The `null` that an operation carries: a value, unlike those inside of documents.
    Null,
    Map(BTreeMap<String, Slot>),
    List(Vec<Slot>),
}

pub(super) type Slot = Option<Tree>;

/// A key in a map, or an index in a list.
pub(super) enum Place<'a> {
    Key(&'a mut BTreeMap<String, Slot>, String),
    Index(&'a mut Vec<Slot>, String),
}

/// Follows a path up to its last part. What comes before the first slash does not count.
pub(super) fn find<'a>(root: &'a mut Tree, path: &str) -> Outcome<Place<'a>> {
    let mut parts: Vec<String> = path.split('/').skip(1).map(unescape).collect();
    let last = parts.pop().ok_or(JsonPatchError::DoesNotApply)?;
    let mut tree = root;
    for part in parts {
        let slot = match tree.place(part)? {
            Place::Key(map, key) => map.get_mut(&key),
            Place::Index(list, index) => {
                let at = existing(&index, list.len())?;
                list.get_mut(at)
            }
        };
        tree = slot
            .and_then(Option::as_mut)
            .ok_or(JsonPatchError::DoesNotApply)?;
    }
    tree.place(last)
}

/// `~1` is a slash and `~0` a tilde; any other tilde is itself.
fn unescape(part: &str) -> String {
    let mut plain = String::with_capacity(part.len());
    let mut rest = part;
    while let Some(at) = rest.find('~') {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        let (c, length) = match from.as_bytes() {
            [b'~', b'1', ..] => ('/', 2),
            [b'~', b'0', ..] => ('~', 2),
            _ => ('~', 1),
        };
        plain.push(c);
        rest = from.get(length..).unwrap_or_default();
    }
    plain.push_str(rest);
    plain
}

/// The position of an item that is there; negative indices count from the end.
fn existing(index: &str, length: usize) -> Outcome<usize> {
    let at: i64 = index.parse().map_err(|_| JsonPatchError::DoesNotApply)?;
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let at = if at < 0 {
        at.saturating_add(length)
    } else {
        at
    };
    if at < 0 || at >= length {
        return Err(JsonPatchError::DoesNotApply);
    }
    usize::try_from(at).map_err(|_| JsonPatchError::DoesNotApply)
}

impl Place<'_> {
    /// The value; an absent key is as good as a `null`, an absent index is a mistake.
    pub(super) fn get(&self) -> Outcome<Option<&Tree>> {
        Ok(match self {
            Place::Key(map, key) => map.get(key).and_then(Option::as_ref),
            Place::Index(list, index) => list
                .get(existing(index, list.len())?)
                .and_then(Option::as_ref),
        })
    }

    pub(super) fn add(self, value: Slot) -> Outcome<()> {
        match self {
            Place::Key(map, key) => {
                map.insert(key, value);
            }
            Place::Index(list, index) if index == "-" => list.push(value),
            Place::Index(list, index) => {
                // One more place than there are items: the end is one too.
                let at = existing(&index, list.len() + 1)?;
                list.insert(at, value);
            }
        }
        Ok(())
    }

    pub(super) fn set(self, value: Slot) -> Outcome<()> {
        match self {
            Place::Key(map, key) => {
                map.insert(key, value);
            }
            Place::Index(list, index) => {
                let at = existing(&index, list.len())?;
                if let Some(slot) = list.get_mut(at) {
                    *slot = value;
                }
            }
        }
        Ok(())
    }

    pub(super) fn remove(self) -> Outcome<()> {
        match self {
            Place::Key(map, key) => map
                .remove(&key)
                .map(|_| ())
                .ok_or(JsonPatchError::DoesNotApply),
            Place::Index(list, index) => {
                let at = existing(&index, list.len())?;
                list.remove(at);
                Ok(())
            }
        }
    }
}

impl Tree {
    /// Takes a map or list apart, one level deep.
    pub(super) fn open(&mut self) {
        let stored = |value: Value| (!value.is_null()).then_some(Tree::Stored(value));
        let written = |raw: Raw| (raw != Raw::Null).then_some(Tree::Written(raw));
        *self = match std::mem::replace(self, Tree::Null) {
            Tree::Stored(Value::Object(map)) => {
                Tree::Map(map.into_iter().map(|(k, v)| (k, stored(v))).collect())
            }
            Tree::Stored(Value::Array(items)) => {
                Tree::List(items.into_iter().map(stored).collect())
            }
            Tree::Written(Raw::Object(members)) => {
                Tree::Map(members.into_iter().map(|(k, v)| (k, written(v))).collect())
            }
            Tree::Written(Raw::Array(items)) => {
                Tree::List(items.into_iter().map(written).collect())
            }
            other => other,
        };
    }

    fn place(&mut self, part: String) -> Outcome<Place<'_>> {
        self.open();
        match self {
            Tree::Map(map) => Ok(Place::Key(map, part)),
            Tree::List(list) => Ok(Place::Index(list, part)),
            _ => Err(JsonPatchError::DoesNotApply),
        }
    }

    /// Its size in bytes, spelled out.
    pub(super) fn size(&self) -> usize {
        go::json(&self.clone().into()).len()
    }

    /// A scalar as it is spelled: in a stored object as Go's encoder spells it.
    fn spelled(&self) -> String {
        match self {
            Tree::Stored(value) => go::json(value),
            Tree::Written(Raw::Scalar(text)) => text.clone(),
            _ => String::new(),
        }
    }
}

/// Maps and lists are equal by their content, scalars by their spelling. The library does not
/// expect `null` in a list.
pub(super) fn equal(left: Slot, right: Slot) -> Outcome<bool> {
    let (Some(mut left), Some(mut right)) = (left, right) else {
        return Err(JsonPatchError::Panics);
    };
    left.open();
    right.open();
    match (left, right) {
        (Tree::Map(left), Tree::Map(mut right)) => {
            if left.len() != right.len() {
                return Ok(false);
            }
            for (key, left) in left {
                let same = match (left, right.remove(&key)) {
                    (_, None) => false,
                    (None, Some(None)) => true,
                    (None, Some(Some(_))) | (Some(_), Some(None)) => false,
                    (left, Some(right)) => equal(left, right)?,
                };
                if !same {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Tree::List(left), Tree::List(right)) => {
            if left.len() != right.len() {
                return Ok(false);
            }
            for (left, right) in left.into_iter().zip(right) {
                if !equal(left, right)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Tree::Map(_) | Tree::List(_), _) | (_, Tree::Map(_) | Tree::List(_)) => Ok(false),
        (left, right) => Ok(left.spelled() == right.spelled()),
    }
}

impl From<Tree> for Value {
    fn from(tree: Tree) -> Self {
        let slot = |slot: Slot| slot.map_or(Value::Null, Value::from);
        match tree {
            Tree::Stored(value) => value,
            Tree::Written(raw) => raw.into(),
            Tree::Null => Value::Null,
            Tree::Map(map) => map.into_iter().map(|(k, v)| (k, slot(v))).collect(),
            Tree::List(items) => items.into_iter().map(slot).collect(),
        }
    }
}
