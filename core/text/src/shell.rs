//! Text from a session in a POSIX shell script: as one word, in a comment, as the input of a command.
//! Whatever the text is, the shell does not run it.

use optimist_client::visible;

/// A word as a POSIX shell takes it literally; in quotes only where that is needed.
pub(crate) fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    quote_always(word)
}

/// A word in quotes.
pub(crate) fn quote_always(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Text for a comment or a title: it cannot end the line, and what a terminal would obey is shown.
pub(crate) fn one_line(text: &str) -> String {
    visible(&text.replace(['\n', '\r'], " ")).into_owned()
}

/// A line that is not in a text, for the end of a here-document with that text.
pub(crate) fn delimiter(text: &str, word: &str) -> String {
    let mut end = word.to_owned();
    while text.lines().any(|line| line == end) {
        end.push('_');
    }
    end
}

/// A script without NUL: shells drop it when they read, so that `EO\0F` would end a here-document.
pub(crate) fn without_nul(script: String) -> String {
    if script.contains('\0') {
        return script.replace('\0', "\u{fffd}");
    }
    script
}
