//! The empty lists, maps and bytes of a document.

use serde_json::Value;

/// Empty lists and maps that a document gives and that are never written: the server tells them
/// from absent ones as long as it holds the object, which shows in messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Empties(Vec<(Vec<String>, Value)>);

impl Empties {
    /// By the path of each, with its value.
    pub(super) fn new(all: Vec<(Vec<String>, Value)>) -> Self {
        Self(all)
    }

    /// Puts back the empty lists and maps below a field, given the field's value.
    pub fn put_back(&self, field: &str, value: &mut Value) {
        for (path, empty) in &self.0 {
            let Some((first, path)) = path.split_first() else {
                continue;
            };
            let Some((last, parents)) = path.split_last() else {
                continue;
            };
            if first == field
                && let Some(Value::Object(parent)) = Self::part(value, parents)
            {
                parent.entry(last).or_insert_with(|| empty.clone());
            }
        }
    }
}

impl Empties {
    /// Puts them into the object, does something to it, and takes out those that are still empty.
    pub fn present(&self, object: &mut Value, then: impl FnOnce(&mut Value)) {
        for (path, empty) in &self.0 {
            if let Some((last, parents)) = path.split_last()
                && let Some(Value::Object(parent)) = Self::part(object, parents)
            {
                parent.entry(last).or_insert_with(|| empty.clone());
            }
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
            if let Some((last, parents)) = path.split_last()
                && let Some(Value::Object(parent)) = Self::part(object, parents)
            {
                parent.entry(last).or_insert_with(|| empty.clone());
            }
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
