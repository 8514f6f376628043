//! Which parts of an object are folded away at first.

use optimist_client::Line;
use serde_json::Value;

/// The place of the fold for metadata that nobody edits and everybody has.
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

/// Objects up to this many lines show all that people write.
const SHORT: usize = 18;

/// A map or list with more members than this takes long to draw.
const MANY: usize = 200;

/// Whether the value of a line is folded at first: what the server keeps for itself always, what has
/// very many members, and the inner parts of objects that are long.
pub(crate) fn folded_at_first(object: &Value, line: &Line, visible: usize) -> bool {
    let pointer = line.pointer.as_str();
    if pointer == "/metadata/managedFields" || pointer == "/status" {
        return true;
    }
    let many = || match object.pointer(pointer) {
        Some(Value::Array(list)) => list.len() > MANY,
        Some(Value::Object(map)) => map.len() > MANY,
        _ => false,
    };
    if line.below > MANY && many() {
        return true;
    }
    visible > SHORT && pointer.matches('/').count() == 2
}

/// How many lines an object has apart from those that are always folded.
pub(crate) fn visible_lines(lines: &[Line]) -> usize {
    let hidden: usize = lines
        .iter()
        .filter(|line| ["/metadata/managedFields", "/status"].contains(&line.pointer.as_str()))
        .map(|line| line.below)
        .sum();
    lines.len() - hidden
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
