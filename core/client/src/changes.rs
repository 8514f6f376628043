//! What differs between two objects, for people.

use std::fmt;

use serde_json::Value;

/// One value that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Where, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// What was there.
    pub before: Option<Value>,
    /// What is there now.
    pub after: Option<Value>,
}

impl Change {
    /// The last part of the path: `replicas`, `ports[0]`.
    pub fn field(&self) -> String {
        let mut parts = self.pointer.rsplit('/');
        let last = unescape(parts.next().unwrap_or_default());
        match parts.next() {
            Some(list) if !list.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()) => {
                format!("{}[{last}]", unescape(list))
            }
            _ => last,
        }
    }

    /// Whether it is in a field that every write moves, so that nobody means it.
    pub fn is_bookkeeping(&self) -> bool {
        ["managedFields", "resourceVersion", "generation"]
            .iter()
            .any(|field| {
                let rest = self.pointer.strip_prefix("/metadata/");
                let rest = rest.and_then(|rest| rest.strip_prefix(field));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
    }
}

impl fmt::Display for Change {
    /// `replicas 3→5`, `+label x`, `−label`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = self.field();
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => write!(f, "{field} {}→{}", brief(before), brief(after)),
            (None, Some(after)) => write!(f, "+{field} {}", brief(after)),
            (_, None) => write!(f, "−{field}"),
        }
    }
}

/// A member's name, as a part of a JSON pointer has it.
pub fn unescape(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

fn brief(value: &Value) -> String {
    match value {
        Value::String(text) if text.chars().count() <= 24 => text.clone(),
        Value::String(text) => {
            let head: String = text.chars().take(23).collect();
            format!("{head}…")
        }
        Value::Array(_) => "[…]".to_owned(),
        // An item of a list is known by its name.
        Value::Object(fields) => match fields.get("name") {
            Some(Value::String(name)) => name.chars().take(24).collect(),
            _ => "{…}".to_owned(),
        },
        other => other.to_string(),
    }
}

/// The values that differ, in the order of the objects' members; whole subtrees that came or went
/// are one change.
pub fn changes(before: &Value, after: &Value) -> Vec<Change> {
    let mut found = Vec::new();
    collect(before, after, String::new(), &mut found);
    found
}

fn collect(before: &Value, after: &Value, pointer: String, found: &mut Vec<Change>) {
    let mut child = |key: &str, a: Option<&Value>, b: Option<&Value>| {
        let key = key.replace('~', "~0").replace('/', "~1");
        let pointer = format!("{pointer}/{key}");
        match (a, b) {
            (Some(a), Some(b)) => collect(a, b, pointer, found),
            (before, after) => found.push(Change {
                pointer,
                before: before.cloned(),
                after: after.cloned(),
            }),
        }
    };
    match (before, after) {
        (a, b) if a == b => {}
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in a {
                child(key, Some(value), b.get(key));
            }
            for (key, value) in b.iter().filter(|(key, _)| !a.contains_key(*key)) {
                child(key, None, Some(value));
            }
        }
        (Value::Array(a), Value::Array(b)) => {
            for i in 0..a.len().max(b.len()) {
                child(&i.to_string(), a.get(i), b.get(i));
            }
        }
        (a, b) => found.push(Change {
            pointer,
            before: Some(a.clone()),
            after: Some(b.clone()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn changes_read_like_what_was_done() {
        let before = json!({"spec": {"replicas": 3, "list": [1, 2]}, "a/b": 1});
        let after = json!({"spec": {"replicas": 5, "list": [1]}, "new": {"x": 1}});
        let text: Vec<String> = changes(&before, &after)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(text, ["−a/b", "−list[1]", "replicas 3→5", "+new {…}"]);
    }
}
