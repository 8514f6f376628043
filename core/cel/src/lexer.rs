//! The words of an expression (`cel-go/parser/gen/CEL.g4`).

use std::fmt;

use super::ast::ParseError;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Lexeme {
    Symbol(&'static str),
    Ident(String),
    /// A name of a field in backticks, with them.
    Escaped(String),
    /// A whole number, without a sign.
    Int(String),
    Uint(String),
    Float(String),
    String(String),
    Bytes(Vec<u8>),
    End,
}

/// The token as messages show it.
impl fmt::Display for Lexeme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lexeme::Symbol(text) => f.write_str(text),
            Lexeme::Ident(text)
            | Lexeme::Escaped(text)
            | Lexeme::Int(text)
            | Lexeme::Float(text) => f.write_str(text),
            Lexeme::Uint(text) => write!(f, "{text}u"),
            Lexeme::String(text) => write!(f, "\"{text}\""),
            Lexeme::Bytes(_) => f.write_str("b\"\""),
            Lexeme::End => f.write_str("<EOF>"),
        }
    }
}

const MALFORMED: &str = "unable to unescape string";

/// Longer ones first.
const SYMBOLS: [&str; 24] = [
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", "(", ")",
    "[", "]", "{", "}", ",", ".",
];

/// All tokens, each with the index of its first character, and what is no token.
pub(super) fn tokens(text: &[char]) -> (Vec<(Lexeme, usize)>, Vec<ParseError>) {
    let (mut found, mut mistakes) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(&c) = text.get(at) {
        if matches!(c, ' ' | '\t' | '\r' | '\n' | '\u{c}') {
            at += 1;
        } else if text[at..].starts_with(&['/', '/']) {
            let line = text[at..].iter().position(|c| *c == '\n');
            at = line.map_or(text.len(), |length| at + length);
        } else {
            let end = match token(text, at) {
                Ok((token, end)) => {
                    found.push((token, at));
                    end
                }
                Err(Unknown { mistake, end }) => {
                    mistakes.push(mistake);
                    end
                }
            };
            at = end;
        }
    }
    found.push((Lexeme::End, text.len()));
    (found, mistakes)
}

/// Characters that are no token, and where the next one begins.
struct Unknown {
    mistake: ParseError,
    end: usize,
}

impl Unknown {
    /// The reader stops at the character that does not fit, which is skipped with what came before it.
    fn up_to(text: &[char], at: usize, last: usize) -> Self {
        let end = (last + 1).min(text.len());
        let skipped: String = text[at..end].iter().collect();
        let message = format!("Syntax error: token recognition error at: '{skipped}'");
        Self {
            mistake: ParseError::new(at, message),
            end,
        }
    }
}

fn token(text: &[char], at: usize) -> Result<(Lexeme, usize), Unknown> {
    if let Some(read) = quoted(text, at)? {
        return Ok(read);
    }
    let c = text[at];
    let next = text.get(at + 1).copied().unwrap_or(' ');
    if c.is_ascii_alphabetic() || c == '_' {
        let end = end_of(text, at, |c| c.is_ascii_alphanumeric() || c == '_');
        return Ok((Lexeme::Ident(text[at..end].iter().collect()), end));
    }
    if c == '`' {
        let inside = |c: char| c.is_ascii_alphanumeric() || "_.-/ ".contains(c);
        let end = end_of(text, at + 1, inside);
        if end > at + 1 && text.get(end) == Some(&'`') {
            return Ok((Lexeme::Escaped(text[at..=end].iter().collect()), end + 1));
        }
        return Err(Unknown::up_to(text, at, end));
    }
    if c.is_ascii_digit() || (c == '.' && next.is_ascii_digit()) {
        return Ok(number(text, at));
    }
    for symbol in SYMBOLS {
        let end = at + symbol.len();
        if end <= text.len() && symbol.chars().eq(text[at..end].iter().copied()) {
            return Ok((Lexeme::Symbol(symbol), end));
        }
    }
    // These begin a longer symbol.
    let last = at + usize::from(matches!(c, '=' | '&' | '|'));
    Err(Unknown::up_to(text, at, last))
}

fn end_of(text: &[char], at: usize, belongs: impl Fn(char) -> bool) -> usize {
    let rest = &text[at..];
    let length = rest.iter().position(|c| !belongs(*c));
    at + length.unwrap_or(rest.len())
}

fn number(text: &[char], at: usize) -> (Lexeme, usize) {
    let digits = |at| end_of(text, at, |c| c.is_ascii_digit());
    let is = |at: usize, wanted: &str| text.get(at).is_some_and(|c| wanted.contains(*c));
    let hex = text[at] == '0' && is(at + 1, "x");
    let hex_end = end_of(text, (at + 2).min(text.len()), |c| c.is_ascii_hexdigit());
    if hex && hex_end > at + 2 {
        return whole(text, at, hex_end);
    }
    let mut end = digits(at);
    let mut float = false;
    if is(end, ".") && text.get(end + 1).is_some_and(char::is_ascii_digit) {
        float = true;
        end = digits(end + 1);
    }
    if is(end, "eE") {
        let exponent = end + 1 + usize::from(is(end + 1, "+-"));
        if text.get(exponent).is_some_and(char::is_ascii_digit) {
            float = true;
            end = digits(exponent);
        }
    }
    if float {
        return (Lexeme::Float(text[at..end].iter().collect()), end);
    }
    whole(text, at, end)
}

fn whole(text: &[char], at: usize, end: usize) -> (Lexeme, usize) {
    let digits = text[at..end].iter().collect();
    match text.get(end) {
        Some('u' | 'U') => (Lexeme::Uint(digits), end + 1),
        _ => (Lexeme::Int(digits), end),
    }
}

/// A string or bytes, if one begins here. Letters before a literal that does not end are a name, and quotes of
/// several lines that do not end are an empty string first.
fn quoted(text: &[char], at: usize) -> Result<Option<(Lexeme, usize)>, Unknown> {
    let (mut raw, mut bytes, mut start) = (false, false, at);
    while let Some(c) = text.get(start) {
        match c {
            'r' | 'R' if !raw => raw = true,
            'b' | 'B' if !bytes && !raw => bytes = true,
            _ => break,
        }
        start += 1;
    }
    let Some(&quote) = text.get(start).filter(|c| matches!(c, '"' | '\'')) else {
        return Ok(None);
    };
    let mut marks = match text[start..].starts_with(&[quote; 3]) {
        true => 3,
        false => 1,
    };
    let mut end = end_of_literal(text, start + marks, (quote, marks), raw);
    if end.is_err() && marks == 3 {
        marks = 1;
        end = Ok(start + 1);
    }
    let end = match end {
        Ok(end) => end,
        Err(_) if start > at => return Ok(None),
        Err(last) => return Err(Unknown::up_to(text, at, last)),
    };
    let body = &text[start + marks..end];
    let end = end + marks;
    let content = unescaped(body, raw, bytes).map_err(|why| Unknown {
        mistake: ParseError::new(at, why),
        end,
    })?;
    let token = if bytes {
        Lexeme::Bytes(content)
    } else {
        Lexeme::String(String::from_utf8_lossy(&content).into_owned())
    };
    Ok(Some((token, end)))
}

/// Returns where the marks at the end of a literal begin, or the character that cannot be in it.
fn end_of_literal(
    text: &[char],
    mut at: usize,
    (quote, marks): (char, usize),
    raw: bool,
) -> Result<usize, usize> {
    loop {
        match text.get(at) {
            None => return Err(at),
            Some('\n' | '\r') if marks == 1 => return Err(at),
            Some('\\') if !raw => at = end_of_escape(text, at + 1)?,
            Some(_) if text[at..].starts_with(&[quote; 3][..marks]) => return Ok(at),
            Some(_) => at += 1,
        }
    }
}

/// Returns where an escape ends whose letter is at this place, or the character that cannot be in it.
fn end_of_escape(text: &[char], at: usize) -> Result<usize, usize> {
    let (digits, radix) = match text.get(at) {
        Some('x' | 'X') => (2, 16),
        Some('u') => (4, 16),
        Some('U') => (8, 16),
        Some('0'..='3') => (2, 8),
        Some(letter) if simple(*letter).is_some() => (0, 16),
        _ => return Err(at),
    };
    let mut places = at + 1..at + 1 + digits;
    let wrong = places.find(|place| !text.get(*place).is_some_and(|c| c.is_digit(radix)));
    wrong.map_or(Ok(at + 1 + digits), Err)
}

/// Returns the content of a literal, with its escapes resolved (`cel-go/parser/unescape.go`).
fn unescaped(body: &[char], raw: bool, bytes: bool) -> Result<Vec<u8>, String> {
    let mut content = Vec::new();
    let push = |content: &mut Vec<u8>, c: char| {
        content.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    };
    let mut at = 0;
    while let Some(&c) = body.get(at) {
        at += 1;
        if c != '\\' || raw {
            push(&mut content, c);
            continue;
        }
        let escape = body.get(at).copied().unwrap_or('\\');
        at += 1;
        let (digits, radix) = match escape {
            'x' | 'X' => (2, 16),
            'u' if !bytes => (4, 16),
            'U' if !bytes => (8, 16),
            '0'..='3' => {
                at -= 1;
                (3, 8)
            }
            _ => {
                push(&mut content, simple(escape).ok_or(MALFORMED)?);
                continue;
            }
        };
        let code: String = body.iter().skip(at).take(digits).collect();
        at += digits;
        let value = u32::from_str_radix(&code, radix).ok();
        let value = value.filter(|_| code.len() == digits).ok_or(MALFORMED)?;
        match u8::try_from(value) {
            Ok(byte) if bytes => content.push(byte),
            _ => push(&mut content, char::from_u32(value).ok_or(MALFORMED)?),
        }
    }
    Ok(content)
}

fn simple(escape: char) -> Option<char> {
    Some(match escape {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '\\' | '\'' | '"' | '`' | '?' => escape,
        _ => return None,
    })
}
