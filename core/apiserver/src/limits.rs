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
    refuse(value.measure(MAX_DEPTH, &mut MAX_VALUES.clone()))
}

/// As [`check`], for a document as it was parsed.
///
/// # Errors
/// 413, in words of this page.
pub fn check_node(node: &Node) -> Result<(), Refusal> {
    refuse(node.measure(MAX_DEPTH, &mut MAX_VALUES.clone()))
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
    match value.measure(usize::MAX, &mut left) {
        Ok(()) => most - left,
        Err(_) => most,
    }
}

/// The refusal of what nests too deep.
pub fn too_deep() -> Refusal {
    Status::too_large(format!(
        "this is too much for this page, which takes objects that nest {MAX_DEPTH} deep"
    ))
}

fn refuse(measured: Result<(), Excess>) -> Result<(), Refusal> {
    measured.map_err(|excess| match excess {
        Excess::Deep => too_deep(),
        Excess::Many => Status::too_large(format!(
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
    /// Takes what it counts as, and all that is in it, from what is left.
    fn measure(&self, depth: usize, left: &mut usize) -> Result<(), Excess>;
}

impl Nested for Value {
    fn measure(&self, depth: usize, left: &mut usize) -> Result<(), Excess> {
        spend(1, left)?;
        match self {
            Value::String(text) => spend(text.len() / TEXT, left),
            Value::Array(items) => items.iter().try_for_each(|item| below(item, depth, left)),
            Value::Object(members) => members.iter().try_for_each(|(name, member)| {
                spend(name.len() / TEXT, left)?;
                below(member, depth, left)
            }),
            _ => Ok(()),
        }
    }
}

impl Nested for Node {
    fn measure(&self, depth: usize, left: &mut usize) -> Result<(), Excess> {
        spend(1, left)?;
        match self {
            Node::String(text) => spend(text.len() / TEXT, left),
            Node::Array(items) => items.iter().try_for_each(|item| below(item, depth, left)),
            Node::Object(members) => members.iter().try_for_each(|(name, member)| {
                spend(name.len() / TEXT, left)?;
                below(member, depth, left)
            }),
            _ => Ok(()),
        }
    }
}

fn spend(weight: usize, left: &mut usize) -> Result<(), Excess> {
    *left = left.checked_sub(weight).ok_or(Excess::Many)?;
    Ok(())
}

fn below<T: Nested>(inner: &T, depth: usize, left: &mut usize) -> Result<(), Excess> {
    inner.measure(depth.checked_sub(1).ok_or(Excess::Deep)?, left)
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
