//! A document while a JSON patch changes it: opened only where a path leads.

use std::collections::{BTreeMap, BTreeSet};
use std::num::{IntErrorKind, ParseIntError};

use imbl::Vector;
use serde_json::Value;

use super::failed::PlaceError;
use crate::go;
use crate::json::Raw;
use crate::pointer::unescape;

/// A value while it is patched: a part that no path has led into stays as it was written. A `null`
/// in a document is an absent [`Slot`].
#[derive(Clone, Debug)]
pub(super) enum Tree {
    /// From the stored object.
    Stored(Value),
    /// From the patch, no member repeated.
    Written(Raw),
    /// The `null` that an operation carries: a value, unlike those inside of documents.
    Null,
    Map(BTreeMap<String, Slot>),
    /// Items are put in and taken out anywhere, one after the other: a list of them all would be
    /// moved each time.
    List(Vector<Slot>),
}

pub(super) type Slot = Option<Tree>;

type AtPlace<T> = Result<T, PlaceError>;

/// A key in a map, or an index in a list.
pub(super) enum TreePlace<'a> {
    Key(&'a mut BTreeMap<String, Slot>, String),
    Index(&'a mut Vector<Slot>, String),
}

/// Follows a path up to its last part. The text before the first slash does not count.
pub(super) fn find<'a>(root: &'a mut Tree, path: &str) -> AtPlace<TreePlace<'a>> {
    let mut parts: Vec<String> = path.split('/').skip(1).map(unescape).collect();
    let last = parts.pop().ok_or(PlaceError::NoParent)?;
    let mut tree = root;
    for part in parts {
        let slot = match tree.place(part)? {
            TreePlace::Key(map, key) => map.get_mut(&key),
            TreePlace::Index(list, index) => {
                let at = existing(&index, list.len()).map_err(|_| PlaceError::NoParent)?;
                list.get_mut(at)
            }
        };
        tree = slot.and_then(Option::as_mut).ok_or(PlaceError::NoParent)?;
    }
    tree.place(last)
}

/// The position of an item that is there; negative indices count from the end.
fn existing(index: &str, length: usize) -> AtPlace<usize> {
    let outside = || PlaceError::NoIndex(index.to_owned());
    let at: i64 = index.parse().map_err(|error: ParseIntError| {
        let index = index.to_owned();
        match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => PlaceError::HugeNumber(index),
            _ => PlaceError::NoNumber(index),
        }
    })?;
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let at = if at < 0 {
        at.saturating_add(length)
    } else {
        at
    };
    if at < 0 || at >= length {
        return Err(outside());
    }
    usize::try_from(at).map_err(|_| outside())
}

impl<'a> TreePlace<'a> {
    /// The value; an absent key is as good as a `null`, an absent index is a mistake.
    pub(super) fn get(&self) -> AtPlace<Option<&Tree>> {
        Ok(match self {
            TreePlace::Key(map, key) => map.get(key).and_then(Option::as_ref),
            TreePlace::Index(list, index) => list
                .get(existing(index, list.len())?)
                .and_then(Option::as_ref),
        })
    }

    /// The value that is there, to change it.
    pub(super) fn into_value(self) -> Option<&'a mut Tree> {
        match self {
            TreePlace::Key(map, key) => map.get_mut(&key)?.as_mut(),
            TreePlace::Index(list, index) => {
                let at = existing(&index, list.len()).ok()?;
                list.get_mut(at)?.as_mut()
            }
        }
    }

    pub(super) fn add(self, value: Slot) -> AtPlace<()> {
        match self {
            TreePlace::Key(map, key) => {
                map.insert(key, value);
            }
            TreePlace::Index(list, index) if index == "-" => list.push_back(value),
            TreePlace::Index(list, index) => {
                // One more place than there are items: the end is one too.
                let at = existing(&index, list.len() + 1)?;
                list.insert(at, value);
            }
        }
        Ok(())
    }

    pub(super) fn set(self, value: Slot) -> AtPlace<()> {
        match self {
            TreePlace::Key(map, key) => {
                map.insert(key, value);
            }
            TreePlace::Index(list, index) => {
                let at = existing(&index, list.len())?;
                if let Some(slot) = list.get_mut(at) {
                    *slot = value;
                }
            }
        }
        Ok(())
    }

    /// Takes the value away.
    pub(super) fn remove(self) -> AtPlace<Slot> {
        match self {
            TreePlace::Key(map, key) => map.remove(&key).ok_or(PlaceError::NoKey(key)),
            TreePlace::Index(list, index) => {
                let at = existing(&index, list.len())?;
                Ok(list.remove(at))
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

    /// Takes maps and lists apart to the end. A stored value stays: its members have no order.
    pub(super) fn open_whole(&mut self) {
        self.open_written();
        match self {
            Tree::Map(map) => map.values_mut().flatten().for_each(Tree::open_whole),
            Tree::List(items) => items.iter_mut().flatten().for_each(Tree::open_whole),
            _ => {}
        }
    }

    fn open_written(&mut self) {
        if matches!(self, Tree::Written(_)) {
            self.open();
        }
    }

    fn place(&mut self, part: String) -> AtPlace<TreePlace<'_>> {
        self.open();
        match self {
            Tree::Map(map) => Ok(TreePlace::Key(map, part)),
            Tree::List(list) => Ok(TreePlace::Index(list, part)),
            _ => Err(PlaceError::NoParent),
        }
    }

    /// Its size in bytes, spelled out.
    pub(super) fn size(&self) -> usize {
        match self {
            Tree::Stored(value) => go::json(value).len(),
            tree => go::json(&tree.clone().into()).len(),
        }
    }

    /// Returns its depth, at most `most`: 0 for a scalar.
    pub(super) fn depth(&self, most: usize) -> usize {
        TreeView::Tree(self).depth(most)
    }
}

/// A borrowed value of either form.
#[derive(Clone, Copy)]
pub(super) enum TreeView<'a> {
    Tree(&'a Tree),
    Stored(&'a Value),
    Written(&'a Raw),
}

/// An absent value is a `null` inside of a document.
type Seen<'a> = Option<TreeView<'a>>;

impl<'a> TreeView<'a> {
    fn stored(value: &'a Value) -> Seen<'a> {
        (!value.is_null()).then_some(TreeView::Stored(value))
    }

    fn written(raw: &'a Raw) -> Seen<'a> {
        (*raw != Raw::Null).then_some(TreeView::Written(raw))
    }

    /// Returns the view of a value that no path has led into as stored or written; any other view
    /// stays as it is.
    fn inner(self) -> Self {
        match self {
            TreeView::Tree(Tree::Stored(value)) => TreeView::Stored(value),
            TreeView::Tree(Tree::Written(raw)) => TreeView::Written(raw),
            other => other,
        }
    }

    /// The number of members; `None` if it is not a map.
    fn size(self) -> Option<usize> {
        match self.inner() {
            TreeView::Tree(Tree::Map(map)) => Some(map.len()),
            TreeView::Stored(Value::Object(map)) => Some(map.len()),
            // The last of repeated members counts.
            TreeView::Written(Raw::Object(members)) => {
                let names = members.iter().map(|(name, _)| name);
                Some(names.collect::<BTreeSet<_>>().len())
            }
            _ => None,
        }
    }

    /// The number of items; `None` if it is not a list.
    fn length(self) -> Option<usize> {
        match self.inner() {
            TreeView::Tree(Tree::List(items)) => Some(items.len()),
            TreeView::Stored(Value::Array(items)) => Some(items.len()),
            TreeView::Written(Raw::Array(items)) => Some(items.len()),
            _ => None,
        }
    }

    fn items(self) -> Box<dyn Iterator<Item = Seen<'a>> + 'a> {
        match self.inner() {
            TreeView::Tree(Tree::List(items)) => {
                Box::new(items.iter().map(|slot| slot.as_ref().map(TreeView::Tree)))
            }
            TreeView::Stored(Value::Array(items)) => Box::new(items.iter().map(TreeView::stored)),
            TreeView::Written(Raw::Array(items)) => Box::new(items.iter().map(TreeView::written)),
            _ => Box::new(std::iter::empty()),
        }
    }

    /// Its members.
    fn members(self) -> BTreeMap<&'a str, Seen<'a>> {
        match self.inner() {
            TreeView::Tree(Tree::Map(map)) => map
                .iter()
                .map(|(key, slot)| (key.as_str(), slot.as_ref().map(TreeView::Tree)))
                .collect(),
            TreeView::Stored(Value::Object(map)) => map
                .iter()
                .map(|(key, value)| (key.as_str(), TreeView::stored(value)))
                .collect(),
            TreeView::Written(Raw::Object(members)) => members
                .iter()
                .map(|(key, raw)| (key.as_str(), TreeView::written(raw)))
                .collect(),
            _ => BTreeMap::new(),
        }
    }

    /// Returns its depth, at most `most`: 0 for a scalar.
    pub(super) fn depth(self, most: usize) -> usize {
        if most == 0 {
            return 0;
        }
        let deepest = |inner: &mut dyn Iterator<Item = Seen<'a>>| {
            let depths = inner.map(|seen| seen.map_or(0, |view| view.depth(most - 1)));
            1 + depths.max().unwrap_or(0)
        };
        if self.size().is_some() {
            deepest(&mut self.members().into_values())
        } else if self.length().is_some() {
            deepest(&mut self.items())
        } else {
            0
        }
    }

    /// A scalar as it is spelled: in a stored object as Go's encoder spells it.
    fn spelled(self) -> String {
        match self.inner() {
            TreeView::Stored(value) => go::json(value),
            TreeView::Written(Raw::Scalar(text)) => text.clone(),
            _ => String::new(),
        }
    }
}

/// Maps and lists are equal by their content, scalars by their spelling. The library does not
/// expect `null` in a list.
pub(super) fn equal(left: Seen<'_>, right: Seen<'_>) -> AtPlace<bool> {
    let (Some(left), Some(right)) = (left, right) else {
        return Err(PlaceError::Panics);
    };
    // Sizes first: what was written in the patch is looked at, never more of the other.
    if left.size() != right.size() || left.length() != right.length() {
        return Ok(false);
    }
    if left.size().is_some() {
        return equal_members(left, right);
    }
    if left.length().is_some() {
        for (left, right) in left.items().zip(right.items()) {
            if !equal(left, right)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    Ok(left.spelled() == right.spelled())
}

fn equal_members(left: TreeView<'_>, right: TreeView<'_>) -> AtPlace<bool> {
    let (left, right) = (left.members(), right.members());
    for (key, left) in left {
        let same = match (left, right.get(key)) {
            (_, None) => false,
            (None, Some(None)) => true,
            (None, Some(Some(_))) | (Some(_), Some(None)) => false,
            (left, Some(right)) => equal(left, *right)?,
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}

impl From<Tree> for Raw {
    /// Members in the order of the library: sorted where a path has led in, else as they were.
    fn from(tree: Tree) -> Self {
        let slot = |slot: Slot| slot.map_or(Raw::Null, Raw::from);
        match tree {
            Tree::Stored(value) => Raw::parse(go::json(&value).as_bytes()).unwrap_or(Raw::Null),
            Tree::Written(raw) => raw,
            Tree::Null => Raw::Null,
            Tree::Map(map) => Raw::Object(map.into_iter().map(|(k, v)| (k, slot(v))).collect()),
            Tree::List(items) => Raw::Array(items.into_iter().map(slot).collect()),
        }
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
