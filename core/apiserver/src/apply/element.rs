//! One step of a field's path (`fieldpath/element.go`).

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde_json::Value;

use crate::go;
use crate::json::sorted;

/// One step of a field path: it selects a child of a value.
#[derive(Clone, Debug)]
pub enum PathElement {
    /// A member of a struct or map.
    Field(String),
    /// The item of a keyed list that has these fields, sorted by name.
    Key(Vec<(String, Value)>),
    /// The item of a set that is this value.
    Value(Value),
    /// The item of an atomic list at this position.
    Index(i64),
}

impl Ord for PathElement {
    fn cmp(&self, other: &Self) -> Ordering {
        use PathElement::{Field, Index, Key, Value};
        match (self, other) {
            (Field(a), Field(b)) => a.cmp(b),
            (Key(a), Key(b)) => compare_keys(a, b),
            (Value(a), Value(b)) => compare_values(a, b),
            (Index(a), Index(b)) => a.cmp(b),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PathElement {
    fn rank(&self) -> u8 {
        match self {
            PathElement::Field(_) => 0,
            PathElement::Key(_) => 1,
            PathElement::Value(_) => 2,
            PathElement::Index(_) => 3,
        }
    }
}

impl PartialOrd for PathElement {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PathElement {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for PathElement {}

impl Hash for PathElement {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rank().hash(state);
        match self {
            PathElement::Field(name) => name.hash(state),
            PathElement::Key(fields) => {
                fields.len().hash(state);
                for (name, value) in fields {
                    name.hash(state);
                    hash_value(value, state);
                }
            }
            PathElement::Value(value) => hash_value(value, state),
            PathElement::Index(index) => index.hash(state),
        }
    }
}

/// Hashes a value as [`compare_values`] compares it: 1 is 1.0.
fn hash_value(value: &Value, state: &mut impl Hasher) {
    match value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            // -0 is 0.
            (number + 0.0).to_bits().hash(state);
        }
        Value::Array(items) => {
            items.len().hash(state);
            items.iter().for_each(|item| hash_value(item, state));
        }
        Value::Object(members) => {
            members.len().hash(state);
            for (name, value) in sorted(members) {
                name.hash(state);
                hash_value(value, state);
            }
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.hash(state),
    }
}

impl fmt::Display for PathElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathElement::Field(name) => write!(f, ".{name}"),
            PathElement::Key(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(name, value)| format!("{name}={}", print(value)))
                    .collect();
                write!(f, "[{}]", fields.join(","))
            }
            PathElement::Value(value) => write!(f, "[={}]", print(value)),
            PathElement::Index(i) => write!(f, "[{i}]"),
        }
    }
}

fn compare_keys(a: &[(String, Value)], b: &[(String, Value)]) -> Ordering {
    for ((a_name, a_value), (b_name, b_value)) in a.iter().zip(b) {
        let order = a_name
            .cmp(b_name)
            .then_with(|| compare_values(a_value, b_value));
        if order != Ordering::Equal {
            return order;
        }
    }
    a.len().cmp(&b.len())
}

/// The order of values: numbers, strings, booleans, lists, maps, null; 1 equals 1.0.
pub(super) fn compare_values(a: &Value, b: &Value) -> Ordering {
    fn rank(value: &Value) -> u8 {
        match value {
            Value::Number(_) => 0,
            Value::String(_) => 1,
            Value::Bool(_) => 2,
            Value::Array(_) => 3,
            Value::Object(_) => 4,
            Value::Null => 5,
        }
    }
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => a
                .as_f64()
                .partial_cmp(&b.as_f64())
                .unwrap_or(Ordering::Equal),
        },
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => {
            let items = a.iter().zip(b).map(|(a, b)| compare_values(a, b));
            items
                .into_iter()
                .find(|order| order.is_ne())
                .unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Value::Object(a), Value::Object(b)) => {
            let members = sorted(a).zip(sorted(b));
            let members = members.map(|((a_key, a), (b_key, b))| {
                a_key.cmp(b_key).then_with(|| compare_values(a, b))
            });
            members
                .into_iter()
                .find(|order| order.is_ne())
                .unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

fn print(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::String(text) => go::quote(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(print).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(members) => sorted(members)
            .map(|(name, value)| format!("{name}={}", print(value)))
            .collect(),
        other => go::print(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::hash::{BuildHasher, RandomState};

    #[test]
    fn elements_that_are_equal_have_the_same_hash_and_others_have_not() {
        let state = RandomState::new();
        let same = |a: Value, b: Value| {
            let key = |value: &Value| PathElement::Key(vec![("port".to_owned(), value.clone())]);
            let hash = |value: &Value| {
                let elements = [PathElement::Value(value.clone()), key(value)];
                elements.map(|element| state.hash_one(element))
            };
            assert_eq!(key(&a) == key(&b), hash(&a) == hash(&b), "{a} {b}");
            hash(&a) == hash(&b)
        };
        assert!(same(json!(1), json!(1.0)) && same(json!(0.0), json!(-0.0)));
        assert!(same(
            json!({"a": [1], "b": 2}),
            json!({"b": 2.0, "a": [1.0]})
        ));
        assert!(!same(json!(1), json!(2)) && !same(json!(1), json!("1")));
        assert!(!same(json!([1]), json!([1, 1])) && !same(json!({"a": 1}), json!({"b": 1})));
    }
}
