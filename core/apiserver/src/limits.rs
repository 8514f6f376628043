//! What is too much for a server that answers within one frame of a page. A real server has time,
//! and other limits; here a request beyond these is refused before the work, with a message that
//! says whose limit it is.

use serde_json::Value;

use crate::json::Node;
use crate::status::{Refusal, Status};

/// The maximum number of values of an object or patch: maps, lists and their members. A text counts
/// once more for every 64 bytes of text.
pub const MAX_VALUES: usize = 100_000;

/// This number of bytes of text counts as one more value.
const TEXT: usize = 64;

/// The maximum nesting depth of an object or patch. Recursion then needs little stack.
pub const MAX_DEPTH: usize = 100;

/// Refuses an object, or a patch, that has too many values or nests too deep.
///
/// # Errors
/// 413, in words of this page.
pub fn check(value: &Value) -> Result<(), Refusal> {
    refuse(measure(value, MAX_DEPTH, &mut MAX_VALUES.clone()))
}

/// As [`check`], for a document as it was parsed.
///
/// # Errors
/// 413, in words of this page.
pub fn check_node(node: &Node) -> Result<(), Refusal> {
    refuse(measure(node, MAX_DEPTH, &mut MAX_VALUES.clone()))
}

/// How many values there are, counted up to `most`.
pub fn count(value: &Value, most: usize) -> usize {
    counted(value, most)
}

/// As [`count`], for a document as it was parsed.
pub fn count_node(node: &Node, most: usize) -> usize {
    counted(node, most)
}

fn counted<T: Nested>(value: &T, most: usize) -> usize {
    let mut left = most;
    match measure(value, usize::MAX, &mut left) {
        Some(_) => most,
        None => most - left,
    }
}

/// The refusal of what nests too deep.
pub fn too_deep() -> Refusal {
    Status::too_large(format!(
        "this is too much for this page, which takes objects that nest {MAX_DEPTH} deep"
    ))
}

fn refuse(excess: Option<Excess>) -> Result<(), Refusal> {
    Err(match excess {
        None => return Ok(()),
        Some(Excess::Deep) => too_deep(),
        Some(Excess::Many) => Status::too_large(format!(
            "this is too much for this page, which takes objects of {MAX_VALUES} values"
        )),
    })
}

enum Excess {
    Many,
    Deep,
}

/// Something that has others of its kind in it.
trait Nested: Sized {
    /// How many values it counts as, without what is in it.
    fn weight(&self) -> usize;

    /// Shows what is in it, until something is found.
    fn find<T>(&self, visit: impl FnMut(&Self) -> Option<T>) -> Option<T>;
}

/// A text, or the keys of a map.
fn of_texts<'a>(texts: impl Iterator<Item = &'a String>) -> usize {
    1 + texts.map(|text| text.len() / TEXT).sum::<usize>()
}

impl Nested for Value {
    fn weight(&self) -> usize {
        match self {
            Value::String(text) => of_texts(std::iter::once(text)),
            Value::Object(members) => of_texts(members.keys()),
            _ => 1,
        }
    }

    fn find<T>(&self, visit: impl FnMut(&Self) -> Option<T>) -> Option<T> {
        match self {
            Value::Array(items) => items.iter().find_map(visit),
            Value::Object(members) => members.values().find_map(visit),
            _ => None,
        }
    }
}

impl Nested for Node {
    fn weight(&self) -> usize {
        match self {
            Node::String(text) => of_texts(std::iter::once(text)),
            Node::Object(members) => of_texts(members.iter().map(|(key, _)| key)),
            _ => 1,
        }
    }

    fn find<T>(&self, mut visit: impl FnMut(&Self) -> Option<T>) -> Option<T> {
        match self {
            Node::Array(items) => items.iter().find_map(visit),
            Node::Object(members) => members.iter().find_map(|(_, member)| visit(member)),
            _ => None,
        }
    }
}

fn measure<T: Nested>(value: &T, depth: usize, left: &mut usize) -> Option<Excess> {
    match left.checked_sub(value.weight()) {
        Some(rest) => *left = rest,
        None => return Some(Excess::Many),
    }
    value.find(|inner| match depth {
        0 => Some(Excess::Deep),
        depth => measure(inner, depth - 1, left),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_object_may_have_so_many_values_and_nest_so_deep() {
        let list = |n: usize| Value::Array(vec![Value::Null; n]);
        assert!(check(&list(MAX_VALUES - 1)).is_ok());
        assert!(check(&list(MAX_VALUES)).is_err());
        let nested = |n: usize| (0..n).fold(Value::Null, |inner, _| json!([inner]));
        assert!(check(&nested(MAX_DEPTH)).is_ok());
        assert!(check(&nested(MAX_DEPTH + 1)).is_err());
        assert!(check_node(&Node::from(nested(MAX_DEPTH + 1))).is_err());
        assert_eq!(count(&json!({"a": [1, {}]}), 100), 4);
        assert_eq!(count(&list(1000), 10), 10);
        let text = "x".repeat(640);
        assert_eq!(count(&json!({text.clone(): [text]}), 100), 33 - 10);
    }
}
