//! Which parts of an object are folded away at first.

use serde_json::Value;

pub(crate) use crate::state::{folded_at_first, visible_lines};

/// The path of the fold for metadata that every object has and that users do not edit.
pub(crate) const QUIET: &str = "/metadata/…";

/// Metadata behind that fold.
pub(crate) fn is_quiet(pointer: &str) -> bool {
    [
        "/metadata/creationTimestamp",
        "/metadata/namespace",
        "/metadata/uid",
        "/metadata/selfLink",
    ]
    .contains(&pointer)
}

/// Whether one place holds another.
pub(crate) fn holds(outer: &str, inner: &str) -> bool {
    inner
        .strip_prefix(outer)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What a fold hides, in a word.
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
