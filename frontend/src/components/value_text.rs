//! Values as text: cut where they are long, as a block where they have several lines.

use optimist_client::{Token, brief_both, visible};
use serde_json::Value;

/// Longer values are cut; the whole of it is in the field that edits it.
const MAX_LENGTH: usize = 160;

/// The text of a value: a string of several lines is a block (YAML's `|`).
pub(super) fn text(token: &Token) -> String {
    if !token.scalar || !token.plain.contains('\n') || !token.text.starts_with('"') {
        return cut(&token.text);
    }
    let mut block = "|".to_owned();
    for line in token.plain.lines() {
        block.push('\n');
        block.push_str(&cut(line));
    }
    block
}

/// What a text was: where it is cut just as what it is now, from shortly before they differ.
pub(super) fn was(text: &str, now: Option<&Value>) -> String {
    match now {
        Some(Value::String(now)) if cut(now) == cut(text) => {
            let (before, _) = brief_both(&text.into(), &now.as_str().into(), MAX_LENGTH);
            visible(&before).into_owned()
        }
        Some(now) if !now.is_string() => visible(&Value::from(text).to_string()).into_owned(),
        _ => cut(text),
    }
}

pub(super) fn cut(text: &str) -> String {
    if text.chars().count() <= MAX_LENGTH {
        return visible(text).into_owned();
    }
    let head: String = text.chars().take(MAX_LENGTH).collect();
    format!("{}…", visible(&head))
}
