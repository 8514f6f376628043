//! The empty lists, maps and bytes of a document, and its quantities as they were written.

use serde_json::Value;

use super::{ListKind, Struct, Type};

/// A part of an object, by its path.
pub(super) type EmptyPart = (Vec<String>, Value);

/// Empty lists and maps that a document gives and that are never written: the server tells them
/// from absent ones as long as it holds the object, which shows in messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Empties(Vec<EmptyPart>, Spellings);

/// Quantities in lists that were not written in their canonical form, which the server tells from the same
/// amount in another form where it compares a list as a whole.
type Spellings = Vec<EmptyPart>;

impl Empties {
    /// By the path of each, with its value; and the quantities.
    pub(super) fn new(all: Vec<EmptyPart>, spellings: Spellings) -> Self {
        Self(all, spellings)
    }

    /// Does something to an object whose lists that are compared as a whole are as the document gives them
    /// (`listReflect.EqualsUsing` of `sigs.k8s.io/structured-merge-diff/value` compares what Go holds).
    pub fn present_in_whole_lists(
        &self,
        object: &mut Value,
        root: &Struct,
        then: impl FnOnce(&mut Value),
    ) {
        let whole = |parts: &[EmptyPart]| -> Vec<EmptyPart> {
            let inside = parts
                .iter()
                .filter(|(path, _)| is_in_whole_list(root, path));
            inside.cloned().collect()
        };
        let mut canonical = whole(&self.1);
        Self::swap(object, &mut canonical);
        Self(whole(&self.0), Vec::new()).present(object, then);
        Self::swap(object, &mut canonical);
    }

    /// Gives an object these parts, and takes those that it had.
    fn swap(object: &mut Value, parts: &mut [EmptyPart]) {
        for (path, value) in parts {
            if let Some(place) = Self::part(object, path) {
                std::mem::swap(place, value);
            }
        }
    }

    /// Returns whether there is one below a field that no default has replaced.
    pub fn has_any_absent_below(&self, field: &str, object: &Value) -> bool {
        let find = |path: &[String]| {
            path.iter().try_fold(object, |value, part| match value {
                Value::Array(items) => items.get(part.parse::<usize>().ok()?),
                value => value.get(part),
            })
        };
        let mut paths = self.0.iter().map(|(path, _)| path);
        paths.any(|path| path.len() > 1 && path[0] == field && find(path).is_none())
    }

    /// Returns whether there is one below a field, or the field is one.
    pub fn has_any_in(&self, field: &str) -> bool {
        let mut paths = self.0.iter().map(|(path, _)| path);
        paths.any(|path| path.first().is_some_and(|first| first == field))
    }

    /// Puts back the empty lists and maps below a field, given the field's value.
    pub fn put_back(&self, field: &str, value: &mut Value) {
        for (path, empty) in &self.0 {
            if let Some((first, path)) = path.split_first()
                && first == field
            {
                Self::put(value, path, empty);
            }
        }
    }
}

impl Empties {
    /// Puts them into the object, does something to it, and takes out those that are still empty.
    pub fn present(&self, object: &mut Value, then: impl FnOnce(&mut Value)) {
        for (path, empty) in &self.0 {
            Self::put(object, path, empty);
        }
        then(object);
        for (path, empty) in &self.0 {
            if let Some((last, parents)) = path.split_last()
                && let Some(Value::Object(parent)) = Self::part(object, parents)
                && parent.get(last) == Some(empty)
            {
                parent.remove(last);
            }
        }
    }

    /// Puts the empty bytes into the object: unlike an empty list, etcd holds them.
    pub fn put_bytes(&self, object: &mut Value) {
        for (path, empty) in self.0.iter().filter(|(_, empty)| empty.is_string()) {
            Self::put(object, path, empty);
        }
    }

    /// Puts an empty part into an object where its parent is there and has none.
    fn put(object: &mut Value, path: &[String], empty: &Value) {
        if let Some((last, parents)) = path.split_last()
            && let Some(Value::Object(parent)) = Self::part(object, parents)
        {
            parent.entry(last).or_insert_with(|| empty.clone());
        }
    }

    fn part<'a>(object: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
        path.iter().try_fold(object, |value, part| match value {
            Value::Array(items) => items.get_mut(part.parse::<usize>().ok()?),
            Value::Object(map) => map.get_mut(part),
            _ => None,
        })
    }
}

/// Returns whether a part is in a list that server-side apply owns as a whole.
fn is_in_whole_list(root: &Struct, path: &[String]) -> bool {
    let mut is_whole = root.atomic;
    let Some((first, rest)) = path.split_first() else {
        return false;
    };
    let Some(mut ty) = root.field(first).map(|field| &field.ty) else {
        return false;
    };
    for part in rest {
        ty = match ty {
            Type::List(list) => {
                if is_whole || matches!(list.kind, ListKind::Atomic) {
                    return true;
                }
                &list.item
            }
            Type::Map(map) => {
                is_whole |= map.atomic;
                &map.value
            }
            Type::Struct(inner) => {
                is_whole |= inner.atomic;
                match inner.field(part) {
                    Some(field) => &field.ty,
                    None => return false,
                }
            }
            Type::Scalar(_) | Type::Any | Type::Definition(_) => return false,
        };
    }
    false
}
