//! An object as YAML, line by line. Each line has the path of its value.

use serde_json::Value;

use optimist_apiserver::json::Node;
use optimist_apiserver::pointer as json_pointer;
use optimist_apiserver::yaml::resolve;

use crate::visible::{is_hidden, visible};

/// One line of YAML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Leading spaces.
    pub indent: usize,
    /// The text before the key: `- ` for each list item that begins on this line.
    pub dashes: String,
    /// The key, as YAML writes it; `None` for a bare list item.
    pub key: Option<String>,
    /// The value on this line; `None` where the value follows on the next lines.
    pub value: Option<Token>,
    /// The path, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// The paths of the list items that begin on this line, outermost first.
    pub items: Vec<String>,
    /// The number of following lines that belong to this value.
    pub below: usize,
}

/// A value on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The value as YAML writes it.
    pub text: String,
    /// The value as a person would type it.
    pub plain: String,
    /// `true` if it can be edited in place: scalars can, `{}` and `[]` cannot.
    pub scalar: bool,
}

impl Line {
    /// Writes the line as YAML, without a line break.
    fn write(&self, out: &mut String) {
        out.extend(std::iter::repeat_n(' ', self.indent));
        out.push_str(&self.dashes);
        if let Some(key) = &self.key {
            out.push_str(key);
            out.push(':');
        }
        if let Some(token) = &self.value {
            if self.key.is_some() {
                out.push(' ');
            }
            out.push_str(&token.text);
        }
    }

    /// Returns the line as YAML, without a line break.
    pub fn to_yaml(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }
}

/// The lines of an object.
pub fn lines(value: &Value) -> Vec<Line> {
    let mut writer = YamlWriter {
        with_places: true,
        ..YamlWriter::default()
    };
    writer.block(value, 0, "");
    writer.lines
}

/// An object as YAML, as `kubectl get -o yaml` prints it.
pub fn to_yaml(value: &Value) -> String {
    let mut out = String::new();
    let mut writer = YamlWriter::default();
    writer.block(value, 0, "");
    for line in writer.lines {
        line.write(&mut out);
        out.push('\n');
    }
    out
}

#[derive(Default)]
struct YamlWriter {
    lines: Vec<Line>,
    /// `true` if lines are to know their places and their values as a person would type them.
    with_places: bool,
    /// Dashes and items waiting for the line that they begin.
    dashes: String,
    items: Vec<String>,
}

impl YamlWriter {
    fn block(&mut self, value: &Value, indent: usize, pointer: &str) {
        match value {
            Value::Object(map) if !map.is_empty() => {
                for (key, value) in map {
                    let pointer = self.below(pointer, || json_pointer::escape(key));
                    let key = Some(scalar(&Value::String(key.clone())));
                    let nested = matches!(value, Value::Array(list) if !list.is_empty())
                        || matches!(value, Value::Object(map) if !map.is_empty());
                    if !nested {
                        self.line(indent, key, Some(value), &pointer);
                        continue;
                    }
                    let at = self.lines.len();
                    self.line(indent, key, None, &pointer);
                    // Lists are not indented below their key, as in the output of kubectl.
                    let deeper = if value.is_array() { 0 } else { 2 };
                    self.block(value, indent + deeper, &pointer);
                    self.lines[at].below = self.lines.len() - at - 1;
                }
            }
            Value::Array(list) if !list.is_empty() => {
                for (i, item) in list.iter().enumerate() {
                    let pointer = self.below(pointer, || i.to_string());
                    self.dashes.push_str("- ");
                    self.items.extend(self.with_places.then(|| pointer.clone()));
                    self.block(item, indent + 2, &pointer);
                }
            }
            value => self.line(indent, None, Some(value), pointer),
        }
    }

    /// The place of a part of a value; empty if lines are not to know it.
    fn below(&self, pointer: &str, part: impl FnOnce() -> String) -> String {
        match self.with_places {
            true => format!("{pointer}/{}", part()),
            false => String::new(),
        }
    }

    fn line(&mut self, indent: usize, key: Option<String>, value: Option<&Value>, pointer: &str) {
        let dashes = std::mem::take(&mut self.dashes);
        let indent = indent.saturating_sub(dashes.len());
        let value = value.map(|value| Token {
            text: scalar(value),
            plain: match value {
                _ if !self.with_places => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            },
            scalar: !value.is_object() && !value.is_array(),
        });
        self.lines.push(Line {
            indent,
            dashes,
            key,
            value,
            pointer: pointer.to_owned(),
            items: std::mem::take(&mut self.items),
            below: 0,
        });
    }
}

/// A scalar on one line: plain if YAML reads it back as the same text, otherwise quoted.
fn scalar(value: &Value) -> String {
    let Value::String(text) = value else {
        return value.to_string();
    };
    let special = text.is_empty()
        || text.starts_with([
            ' ', '-', '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"',
            '%', '@', '`', '=', '<',
        ])
        || text.ends_with([' ', ':'])
        || text.contains(": ")
        || text.contains(" #")
        || text.chars().any(is_hidden);
    let plain = !special && matches!(resolve(text), Node::String(_)) && !looks_like_time(text);
    if plain {
        text.clone()
    } else {
        // Line breaks and tabs are escapes already: JSON, and so YAML, reads all of them back.
        visible(&value.to_string()).into_owned()
    }
}

/// YAML 1.1 reads dates and times as such, so kubectl quotes them.
fn looks_like_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 8
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && bytes[4] == b'-'
        && bytes[5].is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use optimist_apiserver::yaml;
    use serde_json::json;

    #[test]
    fn it_reads_as_kubectl_prints_it() {
        let object = json!({
            "metadata": {"name": "web", "resourceVersion": "100", "labels": {}},
            "spec": {"containers": [{"name": "nginx", "args": ["-v", "on"]}, {"name": "b"}]},
        });
        assert_eq!(
            to_yaml(&object),
            "metadata:\n  labels: {}\n  name: web\n  resourceVersion: \"100\"\nspec:\n  containers:\n  \
             - args:\n    - \"-v\"\n    - \"on\"\n    name: nginx\n  - name: b\n"
        );
    }

    #[test]
    fn what_is_written_is_read_back_alike() {
        let object = json!({
            "a": "true", "b": true, "c": "1.5", "d": "", "e": "x: y", "f": "line\nbreak", "g": null,
            "h": "2026-01-01T00:00:00Z", "i": [[1, [2]], {}], "y": "n", "k/~": {"l": "#m"},
        });
        let text = to_yaml(&object);
        let back = serde_json::Value::from(yaml::parse(&text).unwrap().node);
        assert_eq!(back, object, "{text}");
    }

    #[test]
    fn a_value_that_would_reorder_its_line_is_escaped_and_read_back_alike() {
        let object =
            json!({"user\u{202e}": "admin\u{2066}\u{200b}", "esc": "\u{9b}2J\u{1b}\u{7f}"});
        let text = to_yaml(&object);
        assert!(!text.chars().any(|c| is_hidden(c) && c != '\n'), "{text:?}");
        assert!(text.contains(r#""admin\u2066\u200B""#), "{text}");
        let back = serde_json::Value::from(yaml::parse(&text).unwrap().node);
        assert_eq!(back, object, "{text}");
    }

    #[test]
    fn every_line_knows_the_place_that_it_shows() {
        let lines = lines(&json!({"a": [{"b": 1, "c": 2}]}));
        let places: Vec<&str> = lines.iter().map(|line| line.pointer.as_str()).collect();
        assert_eq!(places, ["/a", "/a/0/b", "/a/0/c"]);
        assert_eq!(lines[0].below, 2);
        assert_eq!(lines[1].items, ["/a/0"]);
        assert_eq!((lines[1].indent, lines[1].dashes.as_str()), (0, "- "));
        assert_eq!(lines[2].indent, 2);
    }
}
