//! Text from a session in a POSIX shell script: as one word, in a comment, as the input of a
//! command. The shell never runs this text.

use optimist_client::visible;

/// A literal word for a POSIX shell; in quotes only if needed.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    quote_always(word)
}

/// A word in quotes.
pub fn quote_always(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Text for a comment or a title: without line breaks, and with terminal control characters
/// escaped.
pub fn one_line(text: &str) -> String {
    visible(&text.replace(['\n', '\r'], " ")).into_owned()
}

/// A delimiter for a here-document: a line that the text does not contain.
pub fn delimiter(text: &str, word: &str) -> String {
    let mut end = word.to_owned();
    while text.lines().any(|line| line == end) {
        end.push('_');
    }
    end
}

/// A script without NUL: shells drop it when they read, so that `EO\0F` would end a here-document.
pub fn without_nul(script: String) -> String {
    if script.contains('\0') {
        return script.replace('\0', "\u{fffd}");
    }
    script
}
