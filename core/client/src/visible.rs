//! Characters that are invisible, or that change how the text around them is displayed.

use std::borrow::Cow;
use std::fmt::Write;

/// Returns whether a character is invisible or reorders the text around it: control characters and the
/// Unicode controls of bidirectional text (UAX #9, section 2). With them a value can look like
/// another value. Line breaks and tabs also count.
pub fn is_hidden(c: char) -> bool {
    let bidirectional = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    // Zero width, and line separators.
    let blank = matches!(
        c,
        '\u{200b}'..='\u{200d}' | '\u{2028}' | '\u{2029}' | '\u{2060}' | '\u{feff}'
    );
    c.is_control() || bidirectional || blank
}

/// A text with its hidden characters as escapes, such as `\u202E`; line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    let kept = |c: char| !is_hidden(c) || matches!(c, '\n' | '\t');
    if text.chars().all(kept) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if kept(c) {
            shown.push(c);
        } else {
            // Writing to a string does not fail.
            let _ = write!(shown, "\\u{:04X}", u32::from(c));
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reorders_or_hides_text_is_escaped_and_the_rest_stays() {
        assert_eq!(
            visible("user\u{202e}nimda\u{2066}"),
            "user\\u202Enimda\\u2066"
        );
        assert_eq!(
            visible("a\u{1b}[2Jb\0\u{feff}"),
            "a\\u001B[2Jb\\u0000\\uFEFF"
        );
        let plain = "שלום, 世界\n\té";
        assert!(matches!(visible(plain), Cow::Borrowed(text) if text == plain));
    }
}
