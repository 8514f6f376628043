//! Texts as they are written: in a style, and folded (`go.yaml.in/yaml/v2`: `encode.go`, stringv;
//! `emitterc.go`, yaml_emitter_analyze_scalar and the writers of each style).

use super::{Node, resolve};

/// The width after which a line is folded at the next space.
const WIDTH: usize = 80;

/// The style of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextStyle {
    Plain,
    Single,
    Double,
    Block,
}

/// Writes a text behind what is written already. Lines that follow are indented so far.
pub(super) fn write_text(text: &str, indent: usize, out: &mut String) {
    match style(text) {
        TextStyle::Block => block(text, indent, out),
        TextStyle::Double => double(text, Some(indent), out),
        quoted => {
            let quotes = quoted == TextStyle::Single;
            single_line(text, quotes, Some(indent), out);
        }
    }
}

/// Writes a text as a key: on one line.
pub(super) fn write_key(text: &str, out: &mut String) {
    match style(text) {
        TextStyle::Block | TextStyle::Double => double(text, None, out),
        TextStyle::Single => single_line(text, true, None, out),
        // An empty key is quoted.
        TextStyle::Plain => single_line(text, text.is_empty(), None, out),
    }
}

fn style(text: &str) -> TextStyle {
    let special = text.chars().any(|c| !is_printable(c)) || has_space_before_break(text);
    if text.contains('\n') {
        return match special || text.ends_with(' ') {
            true => TextStyle::Double,
            false => TextStyle::Block,
        };
    }
    if !matches!(resolve(text), Node::String(_)) || is_base_60(text) {
        return TextStyle::Double;
    }
    match (special, is_plain(text)) {
        (true, _) => TextStyle::Double,
        (false, true) => TextStyle::Plain,
        (false, false) => TextStyle::Single,
    }
}

fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn has_space_before_break(text: &str) -> bool {
    let after = text.chars().skip(1);
    text.chars()
        .zip(after)
        .any(|(c, next)| c == ' ' && is_break(next))
}

/// Returns whether YAML 1.1 could read it as a number of base 60, such as `1:30`.
fn is_base_60(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = digits.split(':');
    let first = parts.next().unwrap_or_default();
    let mut rest: Vec<&str> = parts.collect();
    let Some(last) = rest.last_mut() else {
        return false;
    };
    if let Some((whole, fraction)) = last.split_once('.') {
        if !fraction.chars().all(|c| c.is_ascii_digit() || c == '_') {
            return false;
        }
        *last = whole;
    }
    first.starts_with(|c: char| c.is_ascii_digit())
        && first.chars().all(|c| c.is_ascii_digit() || c == '_')
        && rest.iter().all(|part| match part.as_bytes() {
            [digit] => digit.is_ascii_digit(),
            [tens, digit] => (b'0'..=b'5').contains(tens) && digit.is_ascii_digit(),
            _ => false,
        })
}

/// Returns whether a text of one line needs no quotes in a block.
fn is_plain(text: &str) -> bool {
    const FIRST: &str = "#,[]{}&*!|>'\"%@`";
    let is_blank = |c: Option<char>| matches!(c, None | Some(' ' | '\t'));
    let mut chars = text.chars();
    let first = chars.next();
    let lone = matches!(first, Some('?' | ':' | '-')) && is_blank(chars.next());
    !(lone
        || text.starts_with("---")
        || text.starts_with("...")
        || text.starts_with(|c| FIRST.contains(c) || c == ' ')
        || text.ends_with([' ', ':'])
        || text.contains(": ")
        || text.contains(" #"))
}

/// The characters on the last line.
fn column(out: &str) -> usize {
    out.rsplit('\n').next().unwrap_or_default().chars().count()
}

/// Begins a line.
fn fold(indent: usize, out: &mut String) -> usize {
    out.push('\n');
    out.push_str(&" ".repeat(indent));
    indent
}

/// A text without quotes or in single ones. It is not folded without an indent.
fn single_line(text: &str, quotes: bool, indent: Option<usize>, out: &mut String) {
    if quotes {
        out.push('\'');
    }
    let mut column = column(out);
    let mut after_space = false;
    let mut chars = text.char_indices().peekable();
    while let Some((i, c)) = chars.next() {
        let before_space = matches!(chars.peek(), Some((_, ' ')));
        let inside = !quotes || (i > 0 && chars.peek().is_some());
        if let (' ', Some(indent)) = (c, indent)
            && !after_space
            && column > WIDTH
            && inside
            && !before_space
        {
            column = fold(indent, out);
        } else {
            if quotes && c == '\'' {
                out.push('\'');
                column += 1;
            }
            out.push(c);
            column += 1;
        }
        after_space = c == ' ';
    }
    if quotes {
        out.push('\'');
    }
}

/// A text in double quotes.
fn double(text: &str, indent: Option<usize>, out: &mut String) {
    out.push('"');
    let mut column = column(out);
    let mut after_space = false;
    let mut chars = text.char_indices().peekable();
    while let Some((i, c)) = chars.next() {
        if !is_printable(c) || is_break(c) || matches!(c, '"' | '\\') {
            let escaped = escape(c);
            out.push_str(&escaped);
            column += escaped.len();
        } else if let (' ', Some(indent)) = (c, indent)
            && !after_space
            && column > WIDTH
            && i > 0
            && chars.peek().is_some()
        {
            column = fold(indent, out);
            if matches!(chars.peek(), Some((_, ' '))) {
                out.push('\\');
                column += 1;
            }
        } else {
            out.push(c);
            column += 1;
        }
        after_space = c == ' ';
    }
    out.push('"');
}

fn escape(c: char) -> String {
    let short = match c {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{a0}' => '_',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        other => {
            let code = u32::from(other);
            return match code {
                0..=0xff => format!("\\x{code:02X}"),
                0x100..=0xffff => format!("\\u{code:04X}"),
                _ => format!("\\U{code:08X}"),
            };
        }
    };
    format!("\\{short}")
}

/// A text of several lines, line by line.
fn block(text: &str, indent: usize, out: &mut String) {
    let hint = if text.starts_with([' ', '\n']) {
        "2"
    } else {
        ""
    };
    let keep = match (text.ends_with("\n\n") || text == "\n", text.ends_with('\n')) {
        (true, _) => "+",
        (false, true) => "",
        (false, false) => "-",
    };
    out.push('|');
    out.push_str(hint);
    out.push_str(keep);
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        out.push('\n');
        if !line.is_empty() {
            out.push_str(&" ".repeat(indent));
            out.push_str(line);
        }
    }
}
