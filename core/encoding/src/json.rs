//! JSON as it was written: member order and repeated keys kept, so that decoding can report
//! what is wrong in the order in which the server would.

mod huge_numbers;
mod plain;
mod raw;
mod syntax;
mod zeros;

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

pub use plain::parse as parse_plain;
pub use raw::Raw;

use crate::go;

/// A parsed document.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A number that no float of 64 bits holds, as it is spelled: `1e999`.
    HugeNumber(String),
    /// A string.
    String(String),
    /// A list.
    Array(Vec<Node>),
    /// An object: its members as written, repeated ones too.
    Object(Vec<(String, Node)>),
}

/// Text that is not JSON. It prints as Go's error does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1.
    pub column: usize,
    /// The error, in Go's words.
    pub message: String,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SyntaxError {}

/// Parses a document. As in Go, bytes that are not UTF-8 and escaped halves of surrogate pairs
/// become the replacement character.
///
/// # Errors
/// If the text is not JSON, or nested more than 128 deep.
pub fn parse(text: &[u8]) -> Result<Node, SyntaxError> {
    if let Some(node) = str::from_utf8(text).ok().and_then(parse_plain) {
        return Ok(node);
    }
    let given = text;
    let text = &*zeros::without_sign(given);
    serde_json::from_slice(text).or_else(|error| {
        if let Some(message) = syntax::syntax_error(given) {
            return Err(SyntaxError::new(&error, message));
        }
        let lossy = String::from_utf8_lossy(text);
        huge_numbers::parse(&replace_lone_surrogates(&lossy)).map_err(|error| {
            let whole = error.to_string();
            let message = whole.split(" at line ").next().unwrap_or(&whole);
            SyntaxError::new(&error, message.to_owned())
        })
    })
}

/// Go's error if a number in a document does not fit where Go reads values without a type
/// (`convertNumber` of `sigs.k8s.io/json`). It is about the first such number.
pub fn huge_number_error(node: &Node) -> Option<String> {
    let number = huge_number(node)?;
    Some(format!(
        "json: cannot unmarshal number {number} into Go value of type float64"
    ))
}

/// The first number in a document that no float of 64 bits holds, as it is spelled.
fn huge_number(node: &Node) -> Option<&str> {
    match node {
        Node::HugeNumber(text) => Some(text),
        Node::Array(items) => items.iter().find_map(huge_number),
        Node::Object(members) => members.iter().find_map(|(_, node)| huge_number(node)),
        _ => None,
    }
}

impl SyntaxError {
    fn new(error: &serde_json::Error, message: String) -> Self {
        Self {
            line: error.line().max(1),
            column: error.column().max(1),
            message,
        }
    }
}

/// Go's error if a text is no JSON object (`json.Unmarshal` into a map).
pub fn object_error(text: &[u8]) -> Option<String> {
    let kind = match parse(text) {
        Err(error) => return Some(error.message),
        Ok(Node::Object(_) | Node::Null) => return None,
        Ok(Node::Array(_)) => "array",
        Ok(Node::String(_)) => "string",
        Ok(Node::Bool(_)) => "bool",
        Ok(_) => "number",
    };
    Some(format!(
        "json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
    ))
}

/// Replaces each escaped surrogate without its other half by an escaped replacement character.
fn replace_lone_surrogates(text: &str) -> Cow<'_, str> {
    let unit = |at: usize| {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u32::from_str_radix(digits, 16).ok()
    };
    let mut fixed = Cow::Borrowed(text);
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| rest.find('\\')) {
        at += next;
        match (unit(at), unit(at + 6)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => at += 12,
            (Some(0xd800..0xe000), _) => {
                fixed.to_mut().replace_range(at..at + 6, "\\ufffd");
                at += 6;
            }
            _ => at += 2,
        }
    }
    fixed
}

/// The repeated members of a document and of everything in it, as strict decoding into a map
/// names them: `duplicate field "data.a"`.
pub fn duplicates(node: &Node) -> Vec<String> {
    let paths = repeated_members(node).into_iter();
    paths
        .map(|path| format!("duplicate field {}", go::quote(&path)))
        .collect()
}

/// The paths of the repeated members of a document and of everything in it: `data.a`
/// (`sigs.k8s.io/json`, which stops at 100).
pub fn repeated_members(node: &Node) -> Vec<String> {
    fn walk(node: &Node, path: &mut String, found: &mut Vec<String>) {
        let here = path.len();
        match node {
            Node::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    path.push_str(&format!("[{i}]"));
                    walk(item, path, found);
                    path.truncate(here);
                }
            }
            Node::Object(members) => {
                let mut seen = std::collections::BTreeSet::new();
                for (name, member) in members {
                    if here > 0 {
                        path.push('.');
                    }
                    path.push_str(name);
                    if !seen.insert(name)
                        && found.len() < MAX_STRICT_ERRORS
                        && !found.contains(path)
                    {
                        found.push(path.clone());
                    }
                    walk(member, path, found);
                    path.truncate(here);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(node, &mut String::new(), &mut found);
    found
}

/// The maximum number of errors of one document (`sigs.k8s.io/json`).
pub const MAX_STRICT_ERRORS: usize = 100;

impl Node {
    /// A member of an object; of repeated ones the last, as Go decodes.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Node::Object(members) => members
                .iter()
                .rev()
                .find_map(|(name, node)| (name == key).then_some(node)),
            _ => None,
        }
    }

    /// A member that is text.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(Node::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The name of this kind of value in messages of Go's JSON package.
    pub fn go_kind(&self) -> &'static str {
        match self {
            Node::Null => "null",
            Node::Bool(_) => "bool",
            Node::Number(_) | Node::HugeNumber(_) => "number",
            Node::String(_) => "string",
            Node::Array(_) => "array",
            Node::Object(_) => "object",
        }
    }
}

impl From<Value> for Node {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Node::Null,
            Value::Bool(b) => Node::Bool(b),
            Value::Number(n) => Node::Number(n),
            Value::String(s) => Node::String(s),
            Value::Array(items) => Node::Array(items.into_iter().map(Node::from).collect()),
            Value::Object(map) => Node::Object(
                map.into_iter()
                    .map(|(key, value)| (key, Node::from(value)))
                    .collect(),
            ),
        }
    }
}

impl From<Node> for Value {
    /// Repeated keys: the last one counts. A number that is too large is `null`, as what Go makes of it
    /// beside the error ([`huge_number_error`]).
    fn from(node: Node) -> Self {
        match node {
            Node::Null | Node::HugeNumber(_) => Value::Null,
            Node::Bool(b) => Value::Bool(b),
            Node::Number(n) => Value::Number(n),
            Node::String(s) => Value::String(s),
            Node::Array(items) => Value::Array(items.into_iter().map(Value::from).collect()),
            Node::Object(members) => {
                // `collect` sorts first. Of few members, that is most of the work.
                const FEW: usize = 16;
                let few = members.len() <= FEW;
                let members = members.into_iter();
                let members = members.map(|(key, node)| (key, Value::from(node)));
                Value::Object(if few {
                    let mut map = Map::new();
                    members.for_each(|(key, value)| drop(map.insert(key, value)));
                    map
                } else {
                    members.collect()
                })
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Number::from_f64(value).map_or(Node::Null, Node::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Node, E> {
        Ok(Node::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Node::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = access.next_entry()? {
            members.push(member);
        }
        Ok(Node::Object(members))
    }
}

/// The members of an object by name: a map keeps another order where something else in the program
/// turns on `preserve_order` of `serde_json`.
pub fn sorted(map: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    /// `true` if maps keep the order of insertion.
    static KEEPS_ORDER: LazyLock<bool> = LazyLock::new(|| {
        let members = ["b", "a"].map(|name| (name.to_owned(), Value::Null));
        !Map::from_iter(members).keys().is_sorted()
    });
    let in_order = !*KEEPS_ORDER || map.keys().is_sorted();
    let mut others = Vec::new();
    if !in_order {
        others.extend(map);
        others.sort_by_key(|(name, _)| *name);
    }
    map.iter().filter(move |_| in_order).chain(others)
}

/// A value as text, with the members of objects sorted.
pub fn sorted_text(value: &Value) -> String {
    let mut text = String::new();
    push_sorted(value, &mut text);
    text
}

/// Appends a value as text, with the members of objects sorted.
pub fn push_sorted(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => push_text(text, out),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                push_sorted(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (i, (name, member)) in sorted(map).enumerate() {
                if i > 0 {
                    out.push(',');
                }
                push_text(name, out);
                out.push(':');
                push_sorted(member, out);
            }
            out.push('}');
        }
        // Go writes floats in another form.
        Value::Number(number) if number.is_f64() => out.push_str(&crate::go::json(value)),
        other => out.push_str(&other.to_string()),
    }
}

/// Appends a text as JSON.
pub fn push_text(text: &str, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('"');
    if is_plain(text.as_bytes()) {
        out.push_str(text);
    } else {
        push_escaped(text, out);
    }
    out.push('"');
}

/// Returns whether JSON writes all of these bytes as they are.
fn is_plain(bytes: &[u8]) -> bool {
    let Some(last) = bytes.last_chunk() else {
        return bytes.iter().all(|byte| escape(*byte).is_none());
    };
    // Most texts are short, so eight bytes at once are faster than what the compiler makes of a loop.
    // The last eight overlap those before them.
    let mut chunks = bytes
        .chunks_exact(8)
        .filter_map(|chunk| chunk.first_chunk());
    chunks.all(eight_are_plain) && eight_are_plain(last)
}

/// Decides like [`is_plain`], for eight bytes.
fn eight_are_plain(bytes: &[u8; 8]) -> bool {
    special_bits(bytes) == 0
}

/// Finds the first byte that JSON does not write as it is; `None` if there is none.
fn first_special(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(chunk) = bytes.get(at..)?.first_chunk() {
        let special = special_bits(chunk);
        if special != 0 {
            return Some(at + special.trailing_zeros() as usize / 8);
        }
        at += chunk.len();
    }
    let rest = bytes.get(at..)?;
    let special = rest.iter().position(|byte| escape(*byte).is_some())?;
    Some(at + special)
}

/// Looks at eight bytes in one number. The highest bit of a byte of the result says that this byte is one
/// that JSON does not write as it is, or that it follows one that is.
fn special_bits(bytes: &[u8; 8]) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let word = u64::from_le_bytes(*bytes);
    let is_zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let is_control = word.wrapping_sub(ONES * u64::from(b' ')) & !word;
    let is_quote = is_zero(word ^ (ONES * u64::from(b'"')));
    let is_backslash = is_zero(word ^ (ONES * u64::from(b'\\')));
    (is_control | is_quote | is_backslash) & (ONES << 7)
}

/// Returns the character behind the backslash for a byte that JSON does not write as it is.
fn escape(byte: u8) -> Option<char> {
    Some(match byte {
        b'"' => '"',
        b'\\' => '\\',
        0x08 => 'b',
        0x0c => 'f',
        b'\n' => 'n',
        b'\r' => 'r',
        b'\t' => 't',
        0..b' ' => 'u',
        _ => return None,
    })
}

fn push_escaped(text: &str, out: &mut String) {
    let mut begin = 0;
    for (i, byte) in text.bytes().enumerate() {
        let Some(escape) = escape(byte) else { continue };
        out.push_str(text.get(begin..i).unwrap_or_default());
        out.push('\\');
        out.push(escape);
        if escape == 'u' {
            out.push_str(&format!("{byte:04x}"));
        }
        begin = i + 1;
    }
    out.push_str(text.get(begin..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_float_is_the_nearest_one() {
        for text in [
            "9.834497869073661e+28",
            "322110458005.1736",
            "-0.12227325763441953",
            "12345678901234567890123",
        ] {
            let nearest = Number::from_f64(text.parse().unwrap()).unwrap();
            let list = Node::Array(vec![Node::Number(1.into()), Node::Number(nearest)]);
            assert_eq!(parse(format!("[1, {text}]").as_bytes()), Ok(list));
        }
    }

    #[test]
    fn a_minus_before_a_zero_is_in_the_error_as_it_was_sent() {
        let message = parse(b"{-0:1}").unwrap_err().message;
        assert!(
            message.starts_with("invalid character '-' looking"),
            "{message}"
        );
    }

    #[test]
    fn the_first_special_byte_is_found_wherever_it_is() {
        for byte in 0..=u8::MAX {
            for at in 0..20 {
                let mut bytes = [b'\xc3'; 20];
                bytes[at] = byte;
                // A second one behind it must not matter.
                bytes[19] = b'"';
                let expected = bytes.iter().position(|byte| escape(*byte).is_some());
                assert_eq!(first_special(&bytes), expected, "{byte} at {at}");
            }
        }
        assert_eq!(first_special(b"0123456789"), None);
    }

    #[test]
    fn order_and_repeated_keys_are_kept_and_the_last_one_counts() {
        let node = parse(br#"{"b": 1, "a": 2, "b": [true, null, 1.5]}"#).unwrap();
        let Node::Object(members) = &node else {
            panic!("an object")
        };
        let keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["b", "a", "b"]);
        assert_eq!(
            Value::from(node),
            serde_json::json!({"a": 2, "b": [true, null, 1.5]})
        );
    }

    #[test]
    fn a_mistake_is_named_with_its_line_and_column() {
        let error = parse(b"{\n  \"a\": nope\n}").unwrap_err();
        assert_eq!((error.line, error.column), (2, 9));
        assert_eq!(
            error.to_string(),
            "invalid character 'o' in literal null (expecting 'u')"
        );
        assert!(parse("[".repeat(5000).as_bytes()).is_err());
    }

    #[test]
    fn what_is_no_unicode_is_replaced_as_go_does() {
        let text = |bytes: &[u8]| parse(bytes).unwrap();
        let replaced = Node::String("a\u{fffd}b".to_owned());
        assert_eq!(text(br#""a\ud800b""#), replaced);
        assert_eq!(text(b"\"a\xffb\""), replaced);
        assert_eq!(
            text(br#""\ud83d\ude00\\ud800""#),
            Node::String("\u{1f600}\\ud800".to_owned())
        );
    }

    #[test]
    fn repeated_members_are_named_with_their_path_each_once() {
        let node = parse(br#"{"a": [{"x": 1, "x": 2, "x": 3}], "a": {"y": 1, "y": 1}}"#).unwrap();
        assert_eq!(
            duplicates(&node),
            [
                r#"duplicate field "a[0].x""#,
                r#"duplicate field "a""#,
                r#"duplicate field "a.y""#
            ]
        );
    }

    #[test]
    fn a_text_is_written_as_serde_json_writes_it() {
        let long = "a text of many bytes: \u{e9}\u{1f600}\u{7f}";
        for special in (0..=0x80).filter_map(char::from_u32) {
            for length in 0..20 {
                for at in 0..=length {
                    let mut text = "abcdefghijklmnopqrst"[..length].to_owned();
                    text.insert(at, special);
                    let mut written = String::new();
                    push_text(&text, &mut written);
                    assert_eq!(written, Value::from(text).to_string());
                }
            }
            let text = format!("{long}{special}{long}");
            assert_eq!(
                sorted_text(&text.clone().into()),
                Value::from(text).to_string()
            );
        }
    }
}
