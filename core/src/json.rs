//! JSON as it was written: member order and repeated keys kept, so that decoding can report
//! what is wrong in the order in which the server would.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// A parsed document.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(String),
    /// A list.
    Array(Vec<Node>),
    /// An object: its members as written, repeated ones too.
    Object(Vec<(String, Node)>),
}

/// Text that is no JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}, column {}: {}",
            self.line, self.column, self.message
        )
    }
}

impl std::error::Error for SyntaxError {}

/// Parses a document.
///
/// # Errors
/// If the text is no JSON, or nested more than 128 deep.
pub fn parse(text: &[u8]) -> Result<Node, SyntaxError> {
    serde_json::from_slice(text).map_err(|error| {
        let whole = error.to_string();
        let message = whole.split(" at line ").next().unwrap_or(&whole);
        SyntaxError {
            line: error.line().max(1),
            column: error.column().max(1),
            message: message.to_owned(),
        }
    })
}

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

    /// What Go's JSON package calls this kind of value in messages.
    pub fn go_kind(&self) -> &'static str {
        match self {
            Node::Null => "null",
            Node::Bool(_) => "bool",
            Node::Number(_) => "number",
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
    /// Repeated keys: the last one counts.
    fn from(node: Node) -> Self {
        match node {
            Node::Null => Value::Null,
            Node::Bool(b) => Value::Bool(b),
            Node::Number(n) => Value::Number(n),
            Node::String(s) => Value::String(s),
            Node::Array(items) => Value::Array(items.into_iter().map(Value::from).collect()),
            Node::Object(members) => Value::Object(
                members
                    .into_iter()
                    .map(|(key, node)| (key, Value::from(node)))
                    .collect::<Map<_, _>>(),
            ),
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

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(parse("[".repeat(5000).as_bytes()).is_err());
    }
}
