//! Text of others in Markdown documents, in the dialect of GitHub and GitLab: nothing in it is markup.

use optimist_client::visible;
use optimist_code::one_line;

/// Text on one line, in a paragraph, a list or a cell of a table.
pub fn text(text: &str) -> String {
    let text = one_line(text).replace('\t', " ");
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    let mut chars = text.trim().chars().peekable();
    let mut number = true;
    while let Some(c) = chars.next() {
        // At the beginning of a line these make a list, a heading or a rule.
        let begins = match before {
            None => "-+=:".contains(c),
            Some(_) => number && ".)".contains(c),
        };
        number &= c.is_ascii_digit();
        if begins || "\\`*_{}[]<>#!|~&$".contains(c) {
            out.push('\\');
        }
        out.push(c);
        // A name after an `@` is told of the issue. The empty comment is not shown.
        let named = chars.peek().is_some_and(char::is_ascii_alphanumeric);
        if c == '@' && named && !before.is_some_and(char::is_alphanumeric) {
            out.push_str("<!-- -->");
        }
        before = Some(c);
    }
    out
}

/// Code on one line, also in a cell of a table. A pipe ends a cell even in code, so such code is
/// written in HTML, with each sign as a character reference: a reference is never markup
/// (CommonMark 0.31, section 2.5).
pub fn code(code: &str) -> String {
    let code = one_line(code).replace('\t', " ");
    if code.trim().is_empty() {
        return String::new();
    }
    if !code.contains(['|', '`', '\\']) {
        return format!("`{code}`");
    }
    let mut out = String::from("<code>");
    for c in code.chars() {
        if c.is_ascii_punctuation() {
            out.push_str(&format!("&#{};", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out + "</code>"
}

/// A code block, with a fence that is not in the text.
pub fn fenced(language: &str, text: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    let text = visible(text);
    format!("{fence}{language}\n{text}\n{fence}\n")
}

/// A row of a table. The cells are Markdown.
pub fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// The head of a table. The cells are Markdown.
pub fn head(cells: &[String]) -> String {
    format!("{}|{}\n", row(cells), "---|".repeat(cells.len()))
}

/// Markdown that is folded, with a line to open it.
pub fn folded(summary: &str, body: &str) -> String {
    let summary = one_line(summary);
    let summary = summary.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<details><summary>{summary}</summary>\n\n{}\n\n</details>\n",
        body.trim()
    )
}
