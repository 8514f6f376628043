//! The size of a document: the number of its values, and how deep it nests.

use serde_json::Value;

use crate::json::Node;

/// The maximum nesting depth of a document. Recursion then needs little stack.
pub const MAX_DEPTH: usize = 100;

/// This number of bytes of text counts as one more value.
const TEXT: usize = 64;

/// The limit that a document exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// It has too many values.
    Many,
    /// It nests too deep.
    Deep,
}

/// A document whose values can be counted: maps, lists and their members. A text counts once more
/// for every 64 bytes of text.
pub trait Measured: Sized {
    /// Subtracts the number of values from `left`.
    ///
    /// # Errors
    /// If there are more than `left` values, or a value is nested deeper than `depth`.
    fn measure(&self, depth: usize, left: &mut usize) -> Result<(), Excess>;

    /// Counts the values, up to `most`.
    fn count(&self, most: usize) -> usize {
        let mut left = most;
        match self.measure(usize::MAX, &mut left) {
            Ok(()) => most - left,
            Err(_) => most,
        }
    }
}

impl Measured for Value {
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

impl Measured for Node {
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

fn below<T: Measured>(inner: &T, depth: usize, left: &mut usize) -> Result<(), Excess> {
    inner.measure(depth.checked_sub(1).ok_or(Excess::Deep)?, left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_text_counts_once_more_for_every_64_bytes() {
        assert_eq!(json!({"a": [1, {}]}).count(100), 4);
        assert_eq!(Value::Array(vec![Value::Null; 1000]).count(10), 10);
        let text = "x".repeat(640);
        assert_eq!(json!({text.clone(): [text]}).count(100), 33 - 10);
    }
}
