//! Texts inside of texts: a message in a JSON log line, in a `Status` in a Python string, in a frame.

use std::borrow::Cow;

/// Removes the additions of pipelines and letters from each line: carriage returns, times, marks of
/// quotations.
pub(super) fn without_line_decoration(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let mut lines: Vec<&str> = text.lines().collect();
    for decoration in [time, quotation] {
        let bare = |line: &&str| line.is_empty() || decoration(line).is_some();
        if lines.len() > 1 && lines.iter().all(bare) {
            lines = lines
                .iter()
                .map(|it| decoration(it).unwrap_or(it))
                .collect();
        }
    }
    lines.join("\n")
}

/// Returns the line without the time with which a pipeline begins it.
fn time(line: &str) -> Option<&str> {
    let (time, behind) = line.split_once(' ').unwrap_or((line, ""));
    let is_time = |c: char| c.is_ascii_digit() || "-:.TZ+".contains(c);
    let (date, _) = time.split_once('T')?;
    (date.len() == 10 && time.chars().all(is_time)).then_some(behind)
}

fn quotation(line: &str) -> Option<&str> {
    let behind = line.strip_prefix('>')?;
    Some(behind.strip_prefix(' ').unwrap_or(behind))
}

/// A text without the sequences by which terminals change colours (ECMA-48, CSI).
pub(super) fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut parts = text.split("\u{1b}[");
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let end = part.find(|c: char| ('@'..='~').contains(&c));
        out.push_str(end.map_or("", |end| &part[end + 1..]));
    }
    out
}

/// Takes away the frame that Terraform draws, `│ ` before each line.
pub(super) fn without_frame(text: &str) -> String {
    let framed = |line: &str| line.trim_start().starts_with(['│', '╷', '╵']);
    if !text.lines().any(framed) {
        return text.to_owned();
    }
    let inner = |line: &str| {
        let line = line.trim_start_matches(['│', '╷', '╵']);
        line.strip_prefix(' ').unwrap_or(line).to_owned()
    };
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines().map(inner) {
        match lines.last_mut() {
            Some(last) if is_wrapped(last, &line) => {
                last.push(' ');
                last.push_str(&line);
            }
            _ => lines.push(line),
        }
    }
    lines.join("\n")
}

/// Returns whether Terraform broke a long line at a space. Its own lines begin with spaces, a mark
/// or `Error`.
fn is_wrapped(last: &str, line: &str) -> bool {
    let text = |line: &str| !line.is_empty() && !line.starts_with([' ', '-', '*', '\t']);
    last.len() > 50
        && text(last)
        && text(line)
        && !["Error: ", "Warning: "]
            .iter()
            .any(|it| line.starts_with(it))
}

/// Reads the text from its beginning to the end of the string that it stands in, and takes away the
/// escapes. The backslashes before its first inner quote tell how often it is quoted; a quote with
/// fewer ends it.
pub(super) fn unquoted(text: &str) -> Cow<'_, str> {
    let escapes = |at: usize| text[..at].bytes().rev().take_while(|b| *b == b'\\').count();
    let quotes = || text.match_indices('"').map(|(at, _)| at);
    let inner = quotes().next().map_or(0, escapes);
    if inner == 0 {
        return Cow::Borrowed(text);
    }
    let end = quotes().find(|at| escapes(*at) < inner);
    let mut plain = text[..end.map_or(text.len(), |at| at - escapes(at))].to_owned();
    while plain.contains("\\\"") {
        plain = once_unescaped(&plain);
    }
    Cow::Owned(plain)
}

/// Takes away one level of escapes, as in JSON, Go and Python.
fn once_unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        plain.push(match (c, rest.clone().next()) {
            ('\\', Some('n')) => '\n',
            ('\\', Some('t')) => '\t',
            ('\\', Some(other)) => other,
            _ => {
                plain.push(c);
                continue;
            }
        });
        rest.next();
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_in_a_message_ends_where_its_string_ends() {
        let log = r#"conflict with \"kubectl\": .spec.x","reason":"Conflict"}"#;
        assert_eq!(unquoted(log), r#"conflict with "kubectl": .spec.x"#);
    }

    #[test]
    fn a_message_may_be_quoted_several_times() {
        let log = r#"conflict with \\\\\"kubectl\\\\\" using v1: .data\"}'"#;
        assert_eq!(unquoted(log), r#"conflict with "kubectl" using v1: .data"#);
    }

    #[test]
    fn a_frame_goes_and_other_lines_stay() {
        assert_eq!(
            without_frame("╷\n│ Error: a\n│\n│   b\n╵"),
            "\nError: a\n\n  b\n"
        );
        assert_eq!(without_frame("a | b\nc"), "a | b\nc");
    }
}
