//! Decides which parts of an object are folded at first.

use serde_json::Value;

/// Metadata that every object has and that users do not edit.
pub(crate) fn is_quiet(pointer: &str) -> bool {
    [
        "/metadata/creationTimestamp",
        "/metadata/namespace",
        "/metadata/uid",
        "/metadata/selfLink",
    ]
    .contains(&pointer)
}

/// Returns whether a JSON pointer is above another one, or the same.
pub(crate) fn holds(outer: &str, inner: &str) -> bool {
    inner
        .strip_prefix(outer)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Describes the folded content in a word.
pub(crate) fn size(value: &Value) -> String {
    match value {
        Value::Array(list) => counted(list.len(), "item"),
        Value::Object(map) => counted(map.len(), "field"),
        _ => String::new(),
    }
}

/// `1 field`, `2 fields`.
pub(crate) fn counted(count: usize, word: &str) -> String {
    match count {
        1 => format!("1 {word}"),
        count => format!("{count} {word}s"),
    }
}
