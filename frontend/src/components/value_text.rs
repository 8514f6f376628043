//! Values as text: cut where they are long, as a block where they have several lines.

use optimist_client::{Token, brief_both, shorten, visible};
use serde_json::Value;
use yew::{Html, html};

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

/// Returns the text of a value; of a long one, the part that differs from another text.
pub(super) fn brief(token: &Token, other: Option<&str>) -> String {
    let long = token.plain.chars().count() > MAX_LENGTH && !token.plain.contains('\n');
    match other.filter(|_| long) {
        Some(other) => differing(&token.plain, other),
        None => text(token),
    }
}

fn differing(text: &str, other: &str) -> String {
    let (part, _) = brief_both(&text.into(), &other.into(), MAX_LENGTH);
    visible(&part).into_owned()
}

/// Returns the length in bytes of the end of a text that begins with the first word that differs
/// from another text; 0 if the whole text is short.
pub(super) fn tail(text: &str, other: &str) -> usize {
    const SHORT: usize = 8;
    /// The end of a longer word would need all of the line.
    const LEAD: usize = 6;
    let both = text.char_indices().zip(other.chars());
    let same = both.take_while(|((_, a), b)| a == b).count();
    if text.chars().count() <= SHORT || same == 0 {
        return 0;
    }
    let lead = text.chars().take(same).collect::<Vec<_>>();
    let word = lead
        .iter()
        .rposition(|c| matches!(c, '/' | ':' | '@' | '='));
    let from = word.map_or(0, |at| at + 1).max(same.saturating_sub(LEAD));
    let from = text.char_indices().nth(from).map_or(0, |(at, _)| at);
    text.len() - from
}

/// A text whose middle gives way where a line is too short for it, so that its end stays in sight. Its
/// last `value` bytes say a value, and the last `end` bytes of that differ from another one.
pub(super) fn end_in_sight(text: &str, value: usize, end: usize) -> Html {
    let at = |bytes: usize| text.len().checked_sub(bytes);
    let parts = at(value).zip(at(end)).filter(|_| end > 0);
    let parts = parts.and_then(|(value, end)| {
        let (rest, end) = text.split_at_checked(end)?;
        let (begin, middle) = rest.split_at_checked(value)?;
        Some([begin, middle, end])
    });
    match parts {
        Some([begin, middle, end]) if !middle.is_empty() => html! {
            <span class="ends">
                if !begin.is_empty() {
                    <span>{ begin.to_owned() }</span>
                }
                <span class="middle">{ middle.to_owned() }</span>
                <span>{ end.to_owned() }</span>
            </span>
        },
        _ => text.to_owned().into(),
    }
}

/// Returns the earlier text of a value; of a long one, the part that differs from the current text.
pub(super) fn was(text: &str, now: Option<&Value>) -> String {
    match now {
        Some(Value::String(now)) => differing(text, now),
        Some(now) if !now.is_string() => visible(&Value::from(text).to_string()).into_owned(),
        _ => cut(text),
    }
}

pub(super) fn cut(text: &str) -> String {
    visible(&shorten(text, MAX_LENGTH)).into_owned()
}
