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
pub fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut parts = text.split("\u{1b}[");
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let end = part.find(|c: char| ('@'..='~').contains(&c));
        out.push_str(end.map_or("", |end| &part[end + 1..]));
    }
    out
}

/// A text with plain quotation marks in the place of those of web pages and of typography.
pub(super) fn with_plain_quotes(text: &str) -> String {
    const OTHERS: [(&str, &str); 9] = [
        ("&quot;", "\""),
        ("&#34;", "\""),
        ("&#39;", "'"),
        ("&apos;", "'"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&amp;", "&"),
        ("\u{201c}", "\""),
        ("\u{201d}", "\""),
    ];
    let mut text = text.to_owned();
    for (other, plain) in OTHERS {
        if text.contains(other) {
            text = text.replace(other, plain);
        }
    }
    text
}

/// Joins the lines of a message that a terminal or a mail broke at a space.
pub(super) fn without_wraps(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let last = joined.rsplit('\n').nth(1).unwrap_or_default().trim_end();
        let next = line.trim_start();
        if !last.is_empty() && breaks_message(last, next) {
            joined.truncate(joined.trim_end().len());
            joined.push(' ');
            joined.push_str(next);
        } else {
            joined.push_str(line);
        }
    }
    joined
}

/// Returns whether a line ends inside of a message that the next line goes on with.
fn breaks_message(last: &str, next: &str) -> bool {
    const FULFILLED: &str = "Operation cannot be fulfilled on ";
    const PHRASES: [&str; 3] = [
        FULFILLED,
        ": the object has been modified; please apply your changes to the latest version and try again",
        "Apply failed with 1 conflict: conflict with ",
    ];
    let inside = |phrase: &&str| {
        let spaces = phrase.match_indices(' ').map(|(at, _)| phrase.split_at(at));
        let mut parts = spaces.map(|(before, behind)| (before, behind.trim_start()));
        parts.any(|(before, behind)| {
            // The end of the phrase can be in a later line.
            let begins = next.starts_with(behind) || behind.starts_with(next.trim_end());
            !next.trim().is_empty() && last.ends_with(before) && begins
        })
    };
    let resource = || last.rsplit_once(FULFILLED).map(|(_, resource)| resource);
    let names = |resource: &str| !resource.contains(char::is_whitespace) && next.starts_with('"');
    let manager = || last.rsplit_once(" with \"").map(|(before, _)| before);
    PHRASES.iter().any(inside)
        || resource().is_some_and(names)
        || next.starts_with("using ") && manager().is_some_and(|it| it.contains("conflict"))
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
    fn a_message_that_was_broken_at_a_space_is_whole_again() {
        let whole = "error: Operation cannot be fulfilled on deployments.apps \"web\": the object has been modified; \
                     please apply your changes to the latest version and try again";
        for (at, _) in whole.match_indices(' ').skip(1) {
            let broken = format!("a\n{}\n  {}\nb\n", &whole[..at], &whole[at + 1..]);
            assert_eq!(without_wraps(&broken), format!("a\n{whole}\nb\n"));
        }
        let narrow = whole.replace("the object has been", "the\nobject\nhas been");
        assert_eq!(without_wraps(&narrow), whole);
        let apply = "Apply failed with 1 conflict: conflict with \"kubectl-edit\"\nusing apps/v1: .spec.replicas\n- a\n";
        assert_eq!(without_wraps(apply), apply.replacen('\n', " ", 1));
    }

    #[test]
    fn quotation_marks_of_a_page_are_plain() {
        assert_eq!(
            with_plain_quotes("a &quot;b&quot; \u{201c}c\u{201d}"),
            r#"a "b" "c""#
        );
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
