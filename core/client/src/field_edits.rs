//! An actor's edits, each the smallest value that the actor changed. So an edit can be repeated on
//! an object that other actors have changed since.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use serde_json::Value;

use super::Intent;
use super::server_fields::set_by_writes;
use optimist_apiserver::apply::{Path, PathElement, Places, changed_parts, covers, part_of};
use optimist_apiserver::go::base64;
use optimist_apiserver::schema::Struct;

/// The fields that the server sets when it stores an object.
static SET_BY_WRITES: LazyLock<Vec<Path>> = LazyLock::new(|| set_by_writes().paths());

/// A field and its intended value. The field is a member of a map, an item of a keyed list or set,
/// an item of a list without keys, or another value. An atomic map or list has other owners and
/// conflicts, but its edits are the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Edit {
    /// The field; the empty path is the whole object.
    pub path: Path,
    /// Its value; `None` to remove it.
    pub value: Option<Value>,
}

impl Edit {
    /// The edits between an object that was read and the edited object. A list without keys is one
    /// value, unless items were only added to it, items were only removed from it, or one item was
    /// changed in place. Then the edits are those of the items. The fields that the server changes
    /// with every write are not edits.
    pub fn between(read: &Value, edited: &Value, root: &Struct) -> Vec<Arc<Edit>> {
        let edits = Self::all_between(read, edited, root, &SET_BY_WRITES);
        edits.into_iter().map(Arc::new).collect()
    }

    /// The edits outside of some fields.
    fn all_between(read: &Value, edited: &Value, root: &Struct, outside: &[Path]) -> Vec<Edit> {
        let mut edits = Vec::new();
        let (mut old, mut new) = (Places::new(read), Places::new(edited));
        for path in changed_parts(read, edited, root) {
            if outside.iter().any(|field| field.overlaps(&path)) {
                continue;
            }
            let (before, after) = (old.find(&path.0), new.find(&path.0));
            if let Some(items) = items_between(before, after) {
                edits.extend(items.into_iter().map(|(item, added)| {
                    let mut path = path.clone();
                    path.0.push(PathElement::Value(item.clone()));
                    let value = added.then(|| item.clone());
                    Edit { path, value }
                }));
                continue;
            }
            let value = after.cloned();
            edits.push(Edit { path, value });
        }
        edits
    }

    /// The edit that deletes the object.
    pub fn deletion() -> Arc<Self> {
        Arc::new(Self {
            path: Path(Vec::new()),
            value: None,
        })
    }

    /// Returns whether a stored object has the edit. If the object is deleted, only its deletion holds.
    pub fn holds_in(&self, object: Option<&Value>, root: &Struct) -> bool {
        self.holds_at(object.map(Places::new).as_mut(), root)
    }

    /// Returns the same as [`holds_in`](Self::holds_in), for many edits in one object.
    pub fn holds_at(&self, object: Option<&mut Places<'_>>, root: &Struct) -> bool {
        let Some(object) = object else {
            return self.is_deletion();
        };
        match (&self.value, self.found_in(object, root)) {
            (None, None) => true,
            // Who deletes again can make it sooner. The object is deleted all the same.
            (Some(_), Some(_)) if self.is_deletion() => true,
            (Some(wanted), Some(found)) => covers(found, wanted, &self.path, root),
            _ => false,
        }
    }

    /// Returns whether it is the deletion of the object, or its `deletionTimestamp`.
    pub fn is_deletion(&self) -> bool {
        let is = |element: &PathElement, name: &str| matches!(element, PathElement::Field(field) if field == name);
        match self.path.0.as_slice() {
            [] => self.value.is_none(),
            [metadata, mark] => {
                self.value.is_some() && is(metadata, "metadata") && is(mark, "deletionTimestamp")
            }
            _ => false,
        }
    }

    /// The edit of `data` that an edit of the `stringData` of a Secret becomes
    /// (`pkg/apis/core/v1/conversion.go Convert_v1_Secret_To_core_Secret`, v1.36): no object has that field.
    fn in_data(&self) -> Option<Self> {
        let [PathElement::Field(field), key] = self.path.0.as_slice() else {
            return None;
        };
        let text = self.value.as_ref()?.as_str()?;
        (field == "stringData").then(|| Self {
            path: Path(vec![PathElement::Field("data".to_owned()), key.clone()]),
            value: Some(base64::encode(text.as_bytes()).into()),
        })
    }

    /// The value of the field in an object. An item of a list without keys matches an item that
    /// contains all its members, because the server may have added defaults.
    fn found_in<'a>(&self, object: &mut Places<'a>, root: &Struct) -> Option<&'a Value> {
        let Some((PathElement::Value(item), list)) = self.path.0.split_last() else {
            return object.find(&self.path.0);
        };
        if item.is_string() {
            return object.find_item(list, item);
        }
        let items = object.find(list)?.as_array()?;
        items
            .iter()
            .find(|found| covers(found, item, &self.path, root))
    }

    /// The edit as the server stored it, which may have normalized the value; `None` if the server
    /// did not store it.
    pub fn as_stored(
        &self,
        before: Option<&mut Places<'_>>,
        mut after: Option<&mut Places<'_>>,
        root: &Struct,
    ) -> Option<Self> {
        if let Some(data) = self.in_data() {
            return data.as_stored(before, after, root);
        }
        if self.path.0.is_empty() && after.is_some() {
            // Marked for deletion: the server removes it with its last finalizer.
            let field = |name: &str| PathElement::Field(name.to_owned());
            let path = Path(vec![field("metadata"), field("deletionTimestamp")]);
            let value = after.and_then(|object| object.find(&path.0).cloned());
            return value.map(|value| Self {
                path,
                value: Some(value),
            });
        }
        let before = before.and_then(|object| self.found_in(object, root).cloned());
        let found = after
            .as_mut()
            .and_then(|object| self.found_in(object, root).cloned());
        let value = match (&self.value, found) {
            (Some(wanted), Some(found)) => {
                let part = part_of(&found, wanted, &self.path, root);
                (part == *wanted
                    || covers(&found, wanted, &self.path, root)
                    || before.as_ref() != Some(&found))
                .then_some(Some(part))
            }
            (None, None) => Some(None),
            // The field was removed, and the server set another value, such as a default.
            (None, Some(found)) if before.as_ref() != Some(&found) => Some(Some(found)),
            _ => None,
        };
        value.map(|value| Self {
            path: self.path.clone(),
            value,
        })
    }

    /// The same edit at the position that its item has after a write, if the item is in a list
    /// without keys and the write moved it: it added or removed other items.
    pub fn moved(&self, before: &Value, after: &Value) -> Option<Self> {
        let is_index = |element: &PathElement| matches!(element, PathElement::Index(_));
        let at = self.path.0.iter().position(is_index)?;
        let list = Path(self.path.0.get(..at)?.to_vec());
        let item = Path(self.path.0.get(..=at)?.to_vec()).find(before)?;
        let items = list.find(after)?.as_array()?;
        if list.find(before)?.as_array()?.len() == items.len() {
            return None;
        }
        let now = items.iter().position(|other| other == item)?;
        let mut moved = self.clone();
        *moved.path.0.get_mut(at)? = PathElement::Index(i64::try_from(now).ok()?);
        Some(moved)
    }

    /// The number of maps and lists above a removed field that the edited object does not have
    /// either.
    pub(super) fn parents_gone(&self, edited: &Value) -> usize {
        let above = |n: usize| Path(self.path.0[..self.path.0.len() - n].to_vec());
        let depth = self.path.0.len();
        let gone = (1..depth).take_while(|n| above(*n).find(edited).is_none());
        if self.value.is_some() {
            0
        } else {
            gone.count()
        }
    }
}

/// Removes the value at a path, and up to `parents` of the maps and lists above it if they become
/// empty.
pub(super) fn remove(path: &Path, parents: usize, object: &mut Value) {
    path.remove(object);
    for n in 1..=parents.min(path.0.len().saturating_sub(1)) {
        let parent = Path(path.0[..path.0.len() - n].to_vec());
        match parent.find(object) {
            Some(Value::Object(members)) if members.is_empty() => parent.remove(object),
            Some(Value::Array(items)) if items.is_empty() => parent.remove(object),
            _ => return,
        }
    }
}

/// Repeats the edits of one object on another object. `None` if the edits cannot be expressed as
/// fields, such as an item without the key of its list. In a list that is as it was read, an item comes to
/// the place at which it was put in.
pub fn redone(read: &Value, edited: &Value, onto: &Value, root: &Struct) -> Option<Value> {
    let intent = Intent::of_edits(Edit::all_between(read, edited, root, &[]).iter(), edited);
    let on_read = intent.done_on(read);
    let in_order = on_read == *edited;
    (in_order || same_but_for_order(&on_read, edited)).then(|| {
        let mut redone = intent.done_on(onto);
        if !in_order {
            order_as_edited(&mut redone, read, edited, onto);
        }
        redone
    })
}

/// Gives the lists that are the same in `onto` as in `read` the order of the edited object.
fn order_as_edited(redone: &mut Value, read: &Value, edited: &Value, onto: &Value) {
    match (redone, read, edited, onto) {
        (Value::Object(redone), read, edited, onto) => {
            for (name, member) in redone {
                let others = [read, edited, onto].map(|other| other.get(name));
                if let [Some(read), Some(edited), Some(onto)] = others {
                    order_as_edited(member, read, edited, onto);
                }
            }
        }
        (redone @ Value::Array(_), read, edited, onto)
            if read == onto && same_but_for_order(redone, edited) =>
        {
            redone.clone_from(edited);
        }
        (Value::Array(redone), Value::Array(read), Value::Array(edited), Value::Array(onto))
            if [read.len(), edited.len(), onto.len()] == [redone.len(); 3] =>
        {
            let others = read.iter().zip(edited).zip(onto);
            for (item, ((read, edited), onto)) in redone.iter_mut().zip(others) {
                order_as_edited(item, read, edited, onto);
            }
        }
        _ => {}
    }
}

/// Returns whether two values are equal except for the order of their lists.
fn same_but_for_order(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(name, a)| b.get(name).is_some_and(|b| same_but_for_order(a, b)))
        }
        (Value::Array(a), Value::Array(b)) => {
            let mut rest: Vec<&Value> = b.iter().collect();
            a.len() == b.len()
                && a.iter().all(|item| {
                    let at = rest
                        .iter()
                        .position(|other| same_but_for_order(item, other));
                    at.map(|at| rest.swap_remove(at)).is_some()
                })
        }
        (a, b) => a == b,
    }
}

/// The items that only one of two lists has, each once, and whether it was added. An absent list
/// has no items. `None` if the lists also differ in other ways.
fn items_between<'a>(
    before: Option<&'a Value>,
    after: Option<&'a Value>,
) -> Option<Vec<(&'a Value, bool)>> {
    let items = |side: Option<&'a Value>| match side {
        None => Some(&[][..]),
        Some(Value::Array(items)) => Some(items.as_slice()),
        Some(_) => None,
    };
    let (before, after) = (items(before)?, items(after)?);
    let added = after.len() > before.len();
    let (fewer, more) = if added {
        (before, after)
    } else {
        (after, before)
    };
    let mut rest = fewer.iter().peekable();
    let mut items: Vec<(&Value, bool)> = Vec::new();
    for item in more {
        if rest.next_if_eq(&item).is_none() {
            items.push((item, added));
        }
    }
    let mut seen: HashSet<String> = fewer.iter().map(Value::to_string).collect();
    let mut once = |(item, _): &(&Value, bool)| seen.insert(item.to_string());
    let all = rest.next().is_none() && items.iter().all(&mut once);
    (all && !items.is_empty()).then_some(items)
}
