//! JSON with its scalars as they were spelled: `10` and `10.0`, `"a"` and `"\u0061"` are not the
//! same text, and a JSON patch compares texts.

use std::collections::HashSet;

use serde_json::Value;

use super::{Node, SyntaxError, parse};
use crate::go;

/// A document whose scalars are text.
#[derive(Clone, Debug, PartialEq)]
pub enum Raw {
    /// `null`.
    Null,
    /// Any other scalar, as it was spelled.
    Scalar(String),
    /// A list.
    Array(Vec<Raw>),
    /// An object: its members as written, repeated ones too.
    Object(Vec<(String, Raw)>),
}

impl Raw {
    /// Parses a document.
    ///
    /// # Errors
    /// Works as [`parse`].
    pub fn parse(text: &[u8]) -> Result<Self, SyntaxError> {
        // Known to be JSON and not too deep after this, so that reading need not look for mistakes.
        parse(text)?;
        let text = String::from_utf8_lossy(text);
        Ok(RawReader { text: &text, at: 0 }.value())
    }

    /// A member of an object; of repeated ones the last, as Go decodes.
    pub fn get(&self, key: &str) -> Option<&Raw> {
        match self {
            Raw::Object(members) => members
                .iter()
                .rev()
                .find_map(|(name, raw)| (name == key).then_some(raw)),
            _ => None,
        }
    }

    /// Returns whether an object in it, or it, has a member twice.
    pub fn has_repeats(&self) -> bool {
        match self {
            Raw::Array(items) => items.iter().any(Raw::has_repeats),
            Raw::Object(members) => {
                let mut seen = HashSet::new();
                let mut twice = members.iter().map(|(name, _)| !seen.insert(name));
                (members.len() > 1 && twice.any(|twice| twice))
                    || members.iter().any(|(_, raw)| raw.has_repeats())
            }
            Raw::Null | Raw::Scalar(_) => false,
        }
    }

    /// It as one line of text, with its members in their order, as Go's encoder writes a
    /// `json.RawMessage`: without spaces, and what HTML would mistake escaped.
    pub fn compact(&self) -> String {
        let mut out = String::new();
        self.push(&mut out);
        go::escape_html(&out)
    }

    fn push(&self, out: &mut String) {
        match self {
            Raw::Null => out.push_str("null"),
            Raw::Scalar(text) => out.push_str(text),
            Raw::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    item.push(out);
                }
                out.push(']');
            }
            Raw::Object(members) => {
                out.push('{');
                for (i, (name, member)) in members.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    go::push_json_string(name, out);
                    out.push(':');
                    member.push(out);
                }
                out.push('}');
            }
        }
    }

    /// The first number in it that no float of 64 bits holds, as it is spelled.
    pub fn huge_number(&self) -> Option<&str> {
        match self {
            Raw::Null => None,
            Raw::Scalar(text) => {
                // The letters of the shortest such numbers are `1e309`; without an exponent it is longer.
                let is_number = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
                let is_huge =
                    is_number && text.len() >= 5 && text.parse().is_ok_and(f64::is_infinite);
                is_huge.then_some(text.as_str())
            }
            Raw::Array(items) => items.iter().find_map(Raw::huge_number),
            Raw::Object(members) => members.iter().find_map(|(_, raw)| raw.huge_number()),
        }
    }

    /// The text of a string.
    pub fn string(&self) -> Option<String> {
        match self {
            Raw::Scalar(text) if text.starts_with('"') => unquote(text),
            _ => None,
        }
    }

    /// The name of this kind of value in messages of Go's JSON package.
    pub fn go_kind(&self) -> &'static str {
        match self {
            Raw::Null => "null",
            Raw::Scalar(text) if text.starts_with('"') => "string",
            Raw::Scalar(text) if text.starts_with(['t', 'f']) => "bool",
            Raw::Scalar(_) => "number",
            Raw::Array(_) => "array",
            Raw::Object(_) => "object",
        }
    }
}

impl From<Raw> for Node {
    fn from(raw: Raw) -> Self {
        match raw {
            Raw::Null => Node::Null,
            Raw::Scalar(text) => parse(text.as_bytes()).unwrap_or(Node::Null),
            Raw::Array(items) => Node::Array(items.into_iter().map(Node::from).collect()),
            Raw::Object(members) => Node::Object(
                members
                    .into_iter()
                    .map(|(key, raw)| (key, Node::from(raw)))
                    .collect(),
            ),
        }
    }
}

impl From<Raw> for Value {
    fn from(raw: Raw) -> Self {
        Node::from(raw).into()
    }
}

fn unquote(text: &str) -> Option<String> {
    match parse(text.as_bytes()) {
        Ok(Node::String(text)) => Some(text),
        _ => None,
    }
}

struct RawReader<'a> {
    text: &'a str,
    at: usize,
}

impl RawReader<'_> {
    fn value(&mut self) -> Raw {
        match self.peek() {
            Some(b'{') => {
                self.at += 1;
                let mut members = Vec::new();
                while let Some(b'"') = self.peek() {
                    let key = unquote(self.string()).unwrap_or_default();
                    self.skip(b':');
                    members.push((key, self.value()));
                    self.skip(b',');
                }
                self.skip(b'}');
                Raw::Object(members)
            }
            Some(b'[') => {
                self.at += 1;
                let mut items = Vec::new();
                while !matches!(self.peek(), None | Some(b']')) {
                    items.push(self.value());
                    self.skip(b',');
                }
                self.skip(b']');
                Raw::Array(items)
            }
            Some(b'"') => Raw::Scalar(self.string().to_owned()),
            Some(b'n') => {
                self.word();
                Raw::Null
            }
            Some(_) => Raw::Scalar(self.word().to_owned()),
            None => Raw::Null,
        }
    }

    /// A string with its quotes.
    fn string(&mut self) -> &str {
        let start = self.at;
        let bytes = self.text.as_bytes();
        self.at += 1;
        while let Some(byte) = bytes.get(self.at) {
            self.at += match byte {
                b'\\' => 2,
                _ => 1,
            };
            if *byte == b'"' {
                break;
            }
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// A literal or a number.
    fn word(&mut self) -> &str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = rest
            .find(|c: char| ",]}:".contains(c) || c.is_ascii_whitespace())
            // At least one, so that reading always comes to an end.
            .map_or(rest.len(), |end| end.max(1));
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn skip(&mut self, byte: u8) {
        if self.peek() == Some(byte) {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn scalars_keep_their_spelling() {
        let raw =
            Raw::parse(br#" {"a\n" : [10.0, "\u0061\"", null ,true,{}, [] ], "b":1e1} "#).unwrap();
        let scalar = |text: &str| Raw::Scalar(text.to_owned());
        let items = vec![
            scalar("10.0"),
            scalar(r#""\u0061\"""#),
            Raw::Null,
            scalar("true"),
            Raw::Object(vec![]),
            Raw::Array(vec![]),
        ];
        assert_eq!(raw.get("a\n"), Some(&Raw::Array(items)));
        assert_eq!(raw.get("b"), Some(&scalar("1e1")));
        assert_eq!(
            Value::from(raw),
            json!({"a\n": [10.0, "a\"", null, true, {}, []], "b": 10.0})
        );
    }

    #[test]
    fn it_is_written_in_its_order_as_go_writes_raw_messages() {
        let raw =
            Raw::parse(br#" {"b<" : [1.0, null , {"z":"&","a": 1}], "a":"\u0061"} "#).unwrap();
        assert_eq!(
            raw.compact(),
            r#"{"b\u003c":[1.0,null,{"z":"\u0026","a":1}],"a":"\u0061"}"#
        );
        let repeated = Raw::parse(br#"{"b": 1, "a": 2, "b": {"y": 1, "x": 2, "y": 3}}"#).unwrap();
        assert!(repeated.has_repeats() && repeated.get("b").is_some_and(Raw::has_repeats));
        assert_eq!(
            repeated.compact(),
            r#"{"b":1,"a":2,"b":{"y":1,"x":2,"y":3}}"#
        );
    }
}
