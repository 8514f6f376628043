//! JSON with its members in the order in which they were written.
//!
//! The order of a request's members is part of what was recorded: a server reports unknown fields
//! in the order in which it meets them. `serde_json`'s map sorts, and its order-keeping variant is
//! a feature that would be switched on for the whole workspace, the core included.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// A JSON value whose objects keep the order of their members.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number
    Number(Number),
    /// A string
    Text(String),
    /// A list
    List(Vec<Tree>),
    /// An object; no name occurs twice
    Object(Vec<(String, Tree)>),
}

impl Tree {
    /// The member of an object.
    pub fn get(&self, name: &str) -> Option<&Tree> {
        match self {
            Tree::Object(members) => members.iter().find(|(n, _)| n == name).map(|(_, v)| v),
            _ => None,
        }
    }

    /// Sets a member: in its place if it is there, else at the end. Does nothing on other values
    /// than objects.
    pub fn insert(&mut self, name: &str, value: Tree) {
        if let Tree::Object(members) = self {
            match members.iter_mut().find(|(n, _)| n == name) {
                Some((_, old)) => *old = value,
                None => members.push((name.to_owned(), value)),
            }
        }
    }

    /// Returns whether this is an object with such a member.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The string, if this is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Tree::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The same value for `serde_json`, which sorts the members.
    pub fn to_value(&self) -> Value {
        match self {
            Tree::Null => Value::Null,
            Tree::Bool(b) => Value::Bool(*b),
            Tree::Number(n) => Value::Number(n.clone()),
            Tree::Text(t) => Value::String(t.clone()),
            Tree::List(items) => Value::Array(items.iter().map(Tree::to_value).collect()),
            Tree::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|(n, v)| (n.clone(), v.to_value()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Tree::Null => out.push_str("null"),
            Tree::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
            Tree::Number(n) => out.push_str(&n.to_string()),
            Tree::Text(t) => write_text(t, out),
            Tree::List(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push_str(", ");
                    }
                    item.write(out);
                }
                out.push(']');
            }
            Tree::Object(members) => {
                out.push('{');
                for (i, (name, value)) in members.iter().enumerate() {
                    if i > 0 {
                        out.push_str(", ");
                    }
                    write_text(name, out);
                    out.push_str(": ");
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

/// Writes a string the way the recorder did: everything outside ASCII is escaped.
fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            _ => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push('"');
}

/// The JSON text as the recorder sent it: `", "` and `": "` between the parts, ASCII only. Sizes
/// count for a server, so the bytes are the same as those that were recorded.
impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.write(&mut out);
        f.write_str(&out)
    }
}

impl From<&Value> for Tree {
    fn from(value: &Value) -> Self {
        match value {
            Value::Null => Tree::Null,
            Value::Bool(b) => Tree::Bool(*b),
            Value::Number(n) => Tree::Number(n.clone()),
            Value::String(s) => Tree::Text(s.clone()),
            Value::Array(items) => Tree::List(items.iter().map(Tree::from).collect()),
            Value::Object(members) => {
                Tree::Object(members.iter().map(|(n, v)| (n.clone(), v.into())).collect())
            }
        }
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Number::from_f64(value).map_or(Tree::Null, Tree::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Tree, E> {
        Ok(Tree::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Tree, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Tree::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Tree, A::Error> {
        let mut tree = Tree::Object(Vec::new());
        while let Some((name, value)) = object.next_entry::<String, Tree>()? {
            tree.insert(&name, value);
        }
        Ok(tree)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order_and_the_last_of_equal_names_wins() {
        let tree: Tree = serde_json::from_str(r#"{"z":1,"a":[true,null,10.0],"z":"ü\n"}"#).unwrap();
        assert_eq!(
            tree.to_string(),
            r#"{"z": "\u00fc\n", "a": [true, null, 10.0]}"#
        );
    }

    #[test]
    fn characters_beyond_sixteen_bits_become_two_escapes() {
        assert_eq!(
            Tree::Text("\u{1F600}\u{7f}".into()).to_string(),
            r#""\ud83d\ude00\u007f""#
        );
    }
}
