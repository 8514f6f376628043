//! Changing one value in place.

use std::fmt;

use serde_json::Value;

use crate::json::Node;
use crate::yaml;

/// Why a value cannot be changed so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditError {
    /// Nothing is at that place.
    Missing(String),
    /// The text is not of the type that the value has.
    Type {
        /// What the value is: `a number`, `true or false`.
        expected: &'static str,
        /// What was typed.
        text: String,
    },
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EditError::Missing(pointer) => write!(f, "there is nothing at {pointer}"),
            EditError::Type { expected, text } => write!(f, "“{text}” is not {expected}"),
        }
    }
}

impl std::error::Error for EditError {}

/// The object with the scalar at a JSON pointer (RFC 6901) set to what was typed. The type stays:
/// a number remains a number, and text remains text even if it looks like a number.
///
/// # Errors
/// If there is no scalar at that place, or the text is not of its type.
pub fn edit_scalar(object: &Value, pointer: &str, typed: &str) -> Result<Value, EditError> {
    let mut edited = object.clone();
    let place = edited
        .pointer_mut(pointer)
        .ok_or_else(|| EditError::Missing(pointer.to_owned()))?;
    let wrong = |expected| EditError::Type {
        expected,
        text: typed.to_owned(),
    };
    let resolved = yaml::resolve(typed.trim());
    *place = match (&*place, resolved) {
        (Value::String(_), _) => typed.into(),
        (Value::Number(old), Node::Number(new)) if new.is_i64() || !old.is_i64() => new.into(),
        (Value::Number(old), _) if old.is_i64() => return Err(wrong("a whole number")),
        (Value::Number(_), _) => return Err(wrong("a number")),
        (Value::Bool(_), Node::Bool(new)) => new.into(),
        (Value::Bool(_), _) => return Err(wrong("true or false")),
        (Value::Null, new) => new.into(),
        _ => return Err(EditError::Missing(pointer.to_owned())),
    };
    Ok(edited)
}

/// The object without the member or item at a JSON pointer.
///
/// # Errors
/// If there is nothing at that place.
pub fn remove_at(object: &Value, pointer: &str) -> Result<Value, EditError> {
    let missing = || EditError::Missing(pointer.to_owned());
    let mut edited = object.clone();
    let (parent, last) = pointer.rsplit_once('/').ok_or_else(missing)?;
    let last = last.replace("~1", "/").replace("~0", "~");
    match edited.pointer_mut(parent) {
        Some(Value::Object(map)) => {
            map.remove(&last).ok_or_else(missing)?;
        }
        Some(Value::Array(list)) => {
            let i: usize = last.parse().map_err(|_| missing())?;
            if i >= list.len() {
                return Err(missing());
            }
            list.remove(i);
        }
        _ => return Err(missing()),
    }
    Ok(edited)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_number_stays_a_number_and_text_stays_text() {
        let object = json!({"replicas": 3, "image": "nginx", "paused": true});
        assert_eq!(
            edit_scalar(&object, "/replicas", " 5 ").unwrap()["replicas"],
            5
        );
        assert_eq!(edit_scalar(&object, "/image", "5").unwrap()["image"], "5");
        assert_eq!(
            edit_scalar(&object, "/paused", "no").unwrap()["paused"],
            false
        );
        let error = edit_scalar(&object, "/replicas", "many").unwrap_err();
        assert_eq!(error.to_string(), "“many” is not a whole number");
        assert!(edit_scalar(&object, "/paused", "5").is_err());
        assert!(edit_scalar(&object, "/nowhere", "5").is_err());
    }

    #[test]
    fn members_and_items_can_be_removed() {
        let object = json!({"a/b": 1, "list": [1, 2]});
        assert_eq!(
            remove_at(&object, "/a~1b").unwrap(),
            json!({"list": [1, 2]})
        );
        assert_eq!(remove_at(&object, "/list/0").unwrap()["list"], json!([2]));
        assert!(remove_at(&object, "/list/7").is_err());
    }
}
