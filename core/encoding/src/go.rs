//! Functions of Go's standard library that an answer of the API server shows: printing, base64,
//! times, addresses.

pub mod base64;
mod duration;
pub mod netip;
pub mod pem;
pub mod time;

pub use duration::parse_duration;

use std::fmt::Write;

use serde_json::{Map, Value};

/// A string as Go's `%q` prints it (`strconv.Quote`).
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\u{b}' => out.push_str("\\v"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            c if unprintable(c) && c as u32 > 0xffff => {
                let _ = write!(out, "\\U{:08x}", c as u32);
            }
            c if unprintable(c) => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Returns whether Go does not count a character beyond ASCII as printable (`strconv.IsPrint`):
/// controls, spaces, format characters, private use.
fn unprintable(c: char) -> bool {
    c.is_control()
        || (c != ' ' && c.is_whitespace())
        || matches!(c as u32,
            0xad | 0x600..=0x605 | 0x61c | 0x6dd | 0x70f | 0x180e | 0x200b..=0x200f
            | 0x202a..=0x202e | 0x2060..=0x206f | 0xe000..=0xf8ff | 0xfeff | 0xfff0..=0xfffb
            | 0xfffe | 0xffff | 0xe0000..=0xe0fff | 0xf0000..)
}

/// Returns whether Go counts a character as printable (`unicode.IsPrint`).
pub fn is_printable(c: char) -> bool {
    !unprintable(c)
}

/// A list of strings as Go's `%q` prints a `[]string`.
pub fn quote_list<S: AsRef<str>>(items: &[S]) -> String {
    let quoted: Vec<String> = items.iter().map(|item| quote(item.as_ref())).collect();
    format!("[{}]", quoted.join(" "))
}

fn print_list(items: &[Value], print: fn(&Value) -> String) -> String {
    let items: Vec<String> = items.iter().map(print).collect();
    format!("[{}]", items.join(" "))
}

fn print_map(map: &Map<String, Value>, print: fn(&Value) -> String) -> String {
    let members: Vec<String> = crate::json::sorted(map)
        .map(|(key, value)| format!("{key}:{}", print(value)))
        .collect();
    format!("map[{}]", members.join(" "))
}

/// A decoded JSON value as Go's `%v` prints it: `map[a:1 b:[x y]]`, `<nil>`.
pub fn print(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) => number(n),
        Value::String(s) => s.clone(),
        Value::Array(items) => print_list(items, print),
        Value::Object(map) => print_map(map, print),
    }
}

/// The integer that a whole float is when it is read again: JSON has it without a fraction, with as few digits as
/// tell it from other floats, and zeros after them. `None` for other numbers.
pub fn integer(n: &serde_json::Number) -> Option<serde_json::Number> {
    let float = n.as_f64().filter(|f| n.is_f64() && f.fract() == 0.0)?;
    // 2^63 is the first float that is too large.
    let fits = (-(2f64.powi(63))..2f64.powi(63)).contains(&float);
    let written: i64 = fits.then(|| float.to_string().parse().ok())??;
    Some(serde_json::Number::from(written))
}

/// A number as Go's `%v` prints an int64 or a float64.
pub fn number(n: &serde_json::Number) -> String {
    match (n.as_i64(), n.as_f64()) {
        (Some(i), _) => i.to_string(),
        (None, Some(f)) if f == 0.0 || (1e-4..1e6).contains(&f.abs()) => f.to_string(),
        (None, Some(f)) => {
            let text = format!("{f:e}");
            match text.split_once('e') {
                Some((mantissa, exponent)) => {
                    let exponent: i32 = exponent.parse().unwrap_or(0);
                    let sign = if exponent < 0 { '-' } else { '+' };
                    format!("{mantissa}e{sign}{:02}", exponent.abs())
                }
                None => text,
            }
        }
        (None, None) => n.to_string(),
    }
}

/// `strings.ToLower`, as far as a name can tell: letters beyond ASCII matter only where their
/// small form is in it, which two have (U+0130 and the Kelvin sign).
pub fn lower(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\u{130}' => 'i',
            '\u{212a}' => 'k',
            c => c.to_ascii_lowercase(),
        })
        .collect()
}

/// A value as Go's JSON encoder writes it: keys sorted, and what HTML would mistake escaped.
pub fn json(value: &Value) -> String {
    let mut out = String::new();
    write_json(value, &mut out);
    out
}

fn write_json(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(n) => out.push_str(&json_number(n)),
        Value::String(text) => push_json_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_json(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (i, (key, value)) in crate::json::sorted(map).enumerate() {
                if i > 0 {
                    out.push(',');
                }
                push_json_string(key, out);
                out.push(':');
                write_json(value, out);
            }
            out.push('}');
        }
    }
}

/// Integral floats are written without a fraction, very small and large ones with an exponent.
fn json_number(n: &serde_json::Number) -> String {
    match (n.as_i64(), n.as_u64(), n.as_f64()) {
        (Some(i), _, _) => i.to_string(),
        (None, Some(u), _) => u.to_string(),
        (None, None, Some(f)) if f == 0.0 || (1e-6..1e21).contains(&f.abs()) => f.to_string(),
        _ => number(n).replace("e-0", "e-"),
    }
}

/// JSON in which what HTML would mistake is escaped, in texts alone (`json.HTMLEscape`).
pub fn escape_html(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}

/// Appends a text as Go's JSON encoder writes it.
pub(crate) fn push_json_string(text: &str, out: &mut String) {
    out.push('"');
    // Nearly all text is written as it is; 0xe2 begins the two separators of lines.
    let may_need_escapes =
        |byte| matches!(byte, 0..0x20 | b'"' | b'\\' | b'<' | b'>' | b'&' | 0xe2);
    if !text.bytes().any(may_need_escapes) {
        out.push_str(text);
        out.push('"');
        return;
    }
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..'\u{20}' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// The kind of a decoded JSON value as Go's `reflect` names it (`reflect.Kind`).
pub fn reflect_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Number(n) if n.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    }
}

/// The kind of a JSON value as errors of `encoding/json` name it.
pub fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The type of a decoded JSON value as `%s` prints it (`reflect.Type`).
pub fn reflect_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
        scalar => reflect_kind(scalar),
    }
}

/// The type of a decoded JSON value as `%T` prints it.
pub fn dynamic_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        value => reflect_type(value),
    }
}

/// A decoded JSON value as Go's `%s` prints it: with a mark if it is not a text.
pub fn print_as_text(value: &Value) -> String {
    match value {
        Value::Null => "%!s(<nil>)".to_owned(),
        Value::Bool(_) | Value::Number(_) => {
            format!("%!s({}={})", reflect_kind(value), print(value))
        }
        Value::String(text) => text.clone(),
        Value::Array(items) => print_list(items, print_as_text),
        Value::Object(map) => print_map(map, print_as_text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_print_as_go_prints_them() {
        assert_eq!(quote("a\u{1}\"b\"\n"), r#""a\x01\"b\"\n""#);
        assert_eq!(quote_list(&["a", "b"]), r#"["a" "b"]"#);
        assert_eq!(
            print(&json!({"b": [1, "x", null], "a": true})),
            "map[a:true b:[1 x <nil>]]"
        );
        assert_eq!(print(&json!(1.5)), "1.5");
        assert_eq!(print(&json!(1e21)), "1e+21");
        assert_eq!(print(&json!(1234567.5)), "1.2345675e+06");
    }

    #[test]
    fn json_is_written_as_go_writes_it() {
        assert_eq!(
            json(&json!({"b": "<a> & \"b\"\u{1}", "a": [10.0, 1.5, 1e21, 1e-7, null, true]})),
            r#"{"a":[10,1.5,1e+21,1e-7,null,true],"b":"\u003ca\u003e \u0026 \"b\"\u0001"}"#
        );
    }

    #[test]
    fn what_is_no_text_shows_it_where_text_is_wanted() {
        assert_eq!(print_as_text(&json!("a")), "a");
        assert_eq!(print_as_text(&json!(5)), "%!s(int64=5)");
        assert_eq!(
            print_as_text(&json!([null, 1.5])),
            "[%!s(<nil>) %!s(float64=1.5)]"
        );
    }
}
