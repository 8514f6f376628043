//! A set of fields as an object has it written. Of most managers, a write changes few fields or none: those are
//! changed where they are written, and the others are not read.

use std::borrow::Cow;

use serde_json::Value;

use super::Set;
use super::fields_v1::{ITSELF, name_of, read_map, write_element, write_member};
use crate::object::JsonMap;
use crate::schema::{ListKind, Struct, Type};

/// A set of fields, read only where that is needed.
#[derive(Clone, Debug)]
pub(super) enum StoredSet<'a> {
    /// The map that [`to_fields_v1`](super::to_fields_v1) writes.
    Written(Cow<'a, JsonMap>),
    /// A tree.
    Read(Set),
}

impl From<Set> for StoredSet<'_> {
    fn from(set: Set) -> Self {
        StoredSet::Read(set)
    }
}

impl From<StoredSet<'_>> for Set {
    fn from(stored: StoredSet<'_>) -> Self {
        match stored {
            StoredSet::Written(map) => read_map(&map).unwrap_or_default(),
            StoredSet::Read(set) => set,
        }
    }
}

impl<'a> StoredSet<'a> {
    /// A set where it is written; `None` if it is written in any other way than this server writes it.
    pub(super) fn borrowed(fields: &'a Value) -> Option<Self> {
        let map = fields.as_object().filter(|map| is_own_set(map))?;
        Some(StoredSet::Written(Cow::Borrowed(map)))
    }

    /// Takes a written set out of its object; `None`, and it stays there, if it is written in any other way than
    /// this server writes it.
    pub(super) fn taken(fields: &mut Value) -> Option<Self> {
        match fields {
            Value::Object(map) if is_own_set(map) => {
                Some(StoredSet::Written(Cow::Owned(std::mem::take(map))))
            }
            _ => None,
        }
    }

    /// Returns whether it has no members.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            StoredSet::Written(map) => map.is_empty(),
            StoredSet::Read(set) => set.is_empty(),
        }
    }

    /// Works as [`Set::subtract`].
    pub(super) fn subtract(&mut self, other: &Set) {
        match self {
            StoredSet::Written(map) if other.is_empty() || map.is_empty() => {}
            StoredSet::Written(map) => subtract(map.to_mut(), other),
            StoredSet::Read(set) => set.subtract(other),
        }
    }

    /// Works as [`Set::absorb`].
    pub(super) fn absorb(&mut self, other: Set) {
        match self {
            StoredSet::Written(map) => absorb(map.to_mut(), &other),
            StoredSet::Read(set) => set.absorb(other),
        }
    }

    /// Works as [`Set::intersection`].
    pub(super) fn intersection(&self, other: &Set) -> Set {
        match self {
            StoredSet::Written(map) => intersection(map, other),
            StoredSet::Read(set) => set.intersection(other),
        }
    }

    /// Works as [`Set::reconcile`].
    pub(super) fn reconcile(&mut self, root: &Struct) {
        match self {
            StoredSet::Written(map) if fits(map, root) => {}
            StoredSet::Written(map) => {
                let mut set = read_map(map).unwrap_or_default();
                set.reconcile(root);
                *self = StoredSet::Read(set);
            }
            StoredSet::Read(set) => set.reconcile(root),
        }
    }
}

/// Returns whether this is how this server writes what is below a field.
fn is_own_form(map: &JsonMap) -> bool {
    map.iter().all(|(name, below)| match below {
        Value::Object(below) if name == ITSELF => below.is_empty() && map.len() > 1,
        Value::Object(below) => is_own_name(name) && is_own_form(below),
        _ => false,
    })
}

/// Returns whether this is how this server writes a path element. Of the ways to write a number only whole ones are
/// known: 1 is 1.0.
fn is_own_name(name: &str) -> bool {
    let Some((kind, text)) = name.split_at_checked(2) else {
        return false;
    };
    match kind {
        "f:" => true,
        "v:" => after_scalar(text) == Some(""),
        "k:" => is_own_key(text),
        _ => false,
    }
}

/// Returns whether these are the fields of a key as this server writes them: sorted, each once.
fn is_own_key(text: &str) -> bool {
    let mut last = "";
    let mut rest = text.strip_prefix('{');
    while let Some(member) = rest {
        let Some((name, value)) = member
            .strip_prefix('"')
            .and_then(|member| member.split_once("\":"))
        else {
            return false;
        };
        if !is_plain(name) || name <= last {
            return false;
        }
        last = name;
        match after_scalar(value) {
            Some("}") => return true,
            Some(more) => rest = more.strip_prefix(','),
            None => return false,
        }
    }
    false
}

/// Returns what follows a string without escapes or a whole number.
fn after_scalar(text: &str) -> Option<&str> {
    if let Some(text) = text.strip_prefix('"') {
        let (text, rest) = text.split_once('"')?;
        return is_plain(text).then_some(rest);
    }
    /// The most digits that a float always holds: such numbers are read as floats.
    const MOST_DIGITS: usize = 15;
    let end = text.bytes().position(|byte| !byte.is_ascii_digit());
    let (digits, rest) = text.split_at_checked(end.unwrap_or(text.len()))?;
    let is_canonical = !digits.starts_with('0') || digits == "0";
    let is_whole = is_canonical && (1..=MOST_DIGITS).contains(&digits.len());
    (is_whole && !rest.starts_with(['.', 'e', 'E'])).then_some(rest)
}

fn is_plain(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\')
}

/// Returns whether a field is itself a member, given what is written below it.
fn is_member(below: &JsonMap) -> bool {
    below.is_empty() || below.contains_key(ITSELF)
}

fn has_children(below: &JsonMap) -> bool {
    below.len() > usize::from(below.contains_key(ITSELF))
}

/// Writes whether a field is itself a member. It is one or has children.
fn set_member(below: &mut JsonMap, is_member: bool) {
    if is_member && has_children(below) {
        if !below.contains_key(ITSELF) {
            below.insert(ITSELF.to_owned(), Value::Object(JsonMap::new()));
        }
    } else {
        below.remove(ITSELF);
    }
}

fn subtract(map: &mut JsonMap, other: &Set) {
    for node in other.nodes() {
        let name = write_element(&node.element);
        let Some(Value::Object(below)) = map.get_mut(&name) else {
            continue;
        };
        let stays = is_member(below) && !node.member;
        subtract(below, &node.children);
        if stays || has_children(below) {
            set_member(below, stays);
        } else {
            map.remove(&name);
        }
    }
}

fn absorb(map: &mut JsonMap, other: &Set) {
    for node in other.nodes() {
        let name = write_element(&node.element);
        if let Some(Value::Object(below)) = map.get_mut(&name) {
            let member = is_member(below) || node.member;
            absorb(below, &node.children);
            set_member(below, member);
        } else {
            let mut below = Value::Null;
            write_member(&node.children, node.member, &mut below);
            map.insert(name, below);
        }
    }
}

fn intersection(map: &JsonMap, other: &Set) -> Set {
    let both = other.nodes().iter().filter_map(|node| {
        let below = map.get(&write_element(&node.element))?.as_object()?;
        let children = intersection(below, &node.children);
        Some((
            node.element.clone(),
            is_member(below) && node.member,
            children,
        ))
    });
    Set::sorted(both)
}

/// Returns whether no field is owned below one that is owned as a whole ([`Set::reconcile`]).
fn fits(map: &JsonMap, ty: &Struct) -> bool {
    parents(map).all(|(name, below)| {
        let ty = name_of(name).and_then(|name| ty.member(name));
        ty.is_none_or(|ty| fits_type(below, ty))
    })
}

fn fits_type(below: &JsonMap, ty: &Type) -> bool {
    let item = match ty {
        Type::Struct(inner) => return !inner.atomic && fits(below, inner),
        Type::Map(inner) if !inner.atomic => &inner.value,
        Type::List(inner) if inner.kind != ListKind::Atomic => &inner.item,
        Type::Map(_) | Type::List(_) => return false,
        Type::Scalar(_) | Type::Any | Type::Definition(_) => return true,
    };
    parents(below).all(|(_, below)| fits_type(below, item))
}

/// The fields that have others below them.
fn parents(map: &JsonMap) -> impl Iterator<Item = (&String, &JsonMap)> {
    let fields = map.iter();
    let fields = fields.filter_map(|(name, below)| Some((name, below.as_object()?)));
    fields.filter(|(_, below)| has_children(below))
}

/// Returns whether this is how this server writes a set.
fn is_own_set(map: &JsonMap) -> bool {
    !map.contains_key(ITSELF) && is_own_form(map)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::typed::sample::root;
    use super::super::{from_fields_v1, to_fields_v1};
    use super::*;

    fn sets() -> Vec<Value> {
        vec![
            json!({}),
            json!({"f:spec": {}}),
            json!({"f:spec": {".": {}, "f:n": {}}}),
            json!({"f:spec": {"f:n": {}, "f:s": {}}, "f:data": {}}),
            json!({"f:spec": {"f:map": {".": {}, "f:a": {}, "f:b": {}}}}),
            json!({"f:spec": {"f:items": {"k:{\"k\":\"1\"}": {".": {}, "f:k": {}, "f:v": {}}}}}),
            json!({"f:spec": {"f:items": {".": {}, "k:{\"k\":\"1\"}": {}, "k:{\"k\":\"2\"}": {"f:v": {}}}}}),
            json!({"f:spec": {"f:set": {"v:\"x\"": {}, "v:1": {}}, "f:box": {".": {}, "f:a": {"f:c": {}}}}}),
            json!({"f:spec": {"f:list": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {}}}}),
        ]
    }

    fn read(fields: &Value) -> Set {
        from_fields_v1(fields).unwrap()
    }

    fn written(stored: StoredSet<'_>) -> Value {
        match stored {
            StoredSet::Written(map) => Value::Object(map.into_owned()),
            StoredSet::Read(set) => to_fields_v1(&set),
        }
    }

    #[test]
    fn a_written_set_is_changed_like_one_that_is_read() {
        for one in sets() {
            let stored = StoredSet::borrowed(&one).expect("this server writes it so");
            assert_eq!(Set::from(stored.clone()), read(&one));
            assert_eq!(stored.is_empty(), read(&one).is_empty());
            for other in sets() {
                let other = read(&other);
                let (mut less, mut more) = (stored.clone(), stored.clone());
                less.subtract(&other);
                more.absorb(other.clone());
                let (difference, union) = (read(&one).difference(&other), read(&one).union(&other));
                assert_eq!(
                    written(less),
                    to_fields_v1(&difference),
                    "{one} - {other:?}"
                );
                assert_eq!(written(more), to_fields_v1(&union), "{one} + {other:?}");
                let both = read(&one).intersection(&other);
                assert_eq!(stored.intersection(&other), both, "{one} and {other:?}");
            }
        }
    }

    #[test]
    fn a_written_set_follows_the_schema_like_one_that_is_read() {
        for fields in sets() {
            let (mut stored, mut set) = (StoredSet::borrowed(&fields).unwrap(), read(&fields));
            stored.reconcile(&root());
            set.reconcile(&root());
            assert_eq!(written(stored), to_fields_v1(&set), "{fields}");
        }
    }

    #[test]
    fn a_set_that_another_one_wrote_in_its_own_way_is_read() {
        for fields in [
            json!(null),
            json!({".": {}}),
            json!({"nonsense": {}}),
            json!({"f:a": null}),
            json!({"f:a": {".": {}}}),
            json!({"f:a": {".": {"f:b": {}}, "f:b": {}}}),
            json!({"z:a": {}}),
            json!({"v:1.0": {}}),
            json!({"v:01": {}}),
            json!({"v: 1": {}}),
            json!({"v:1e3": {}}),
            json!({"v:\"\\u0061\"": {}}),
            json!({"k:{}": {}}),
            json!({"k:{\"a\":1": {}}),
            json!({"k:{\"a\":1}x": {}}),
            json!({"k:{\"a\": 1}": {}}),
            json!({"k:{\"b\":1,\"a\":1}": {}}),
            json!({"k:{\"a\":1,\"a\":1}": {}}),
            json!({"k:[1]": {}}),
            json!({"i:0": {}}),
        ] {
            assert!(StoredSet::borrowed(&fields).is_none(), "{fields}");
            let mut left = fields.clone();
            assert!(StoredSet::taken(&mut left).is_none());
            assert_eq!(left, fields);
        }
    }
}
