//! The differences between two objects, as text for people.

use std::fmt;

use serde_json::Value;

use super::server_fields::SET_BY_EVERY_WRITE;

use crate::visible;
use optimist_apiserver::pointer as json_pointer;

/// A value that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueChange {
    /// Where, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// The old value.
    pub before: Option<Value>,
    /// The new value.
    pub after: Option<Value>,
}

impl ValueChange {
    /// The last part of the path: `replicas`, `ports[0]`.
    pub fn field(&self) -> String {
        let mut parts = self.pointer.rsplit('/');
        let last = json_pointer::unescape(parts.next().unwrap_or_default());
        match parts.next() {
            Some(list) if !list.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()) => {
                format!("{}[{last}]", json_pointer::unescape(list))
            }
            _ => last,
        }
    }

    /// Whether it is in a field that every write changes, such as `resourceVersion`.
    pub fn is_bookkeeping(&self) -> bool {
        let rest = self.pointer.strip_prefix("/metadata/");
        let field = rest.and_then(|rest| rest.split('/').next());
        field.is_some_and(|field| SET_BY_EVERY_WRITE.contains(&field))
    }
}

impl fmt::Display for ValueChange {
    /// `replicas 3→5`, `+label x`, `−label`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = self.field();
        let text = match (&self.before, &self.after) {
            (Some(before), Some(after)) => {
                let (before, after) = brief_both(before, after, BRIEF);
                format!("{field} {before}→{after}")
            }
            (None, Some(after)) => format!("+{field} {}", brief(after)),
            (_, None) => format!("−{field}"),
        };
        f.write_str(&visible(&text))
    }
}

/// `spec.replicas` for the JSON pointer `/spec/replicas`.
pub fn dotted(pointer: &str) -> String {
    let parts = pointer.trim_start_matches('/').split('/');
    let names: Vec<String> = parts.map(json_pointer::unescape).collect();
    visible(&names.join(".")).into_owned()
}

/// The maximum number of characters that are shown of a value.
const BRIEF: usize = 24;

/// The number of characters that are shown before the first difference.
const LEAD: usize = 6;

/// Two different values, each shortened so that they still look different. If both would be cut to
/// the same text, they are shown from shortly before their first difference. If only their types or
/// hidden characters differ, they are shown as JSON.
pub fn brief_both(before: &Value, after: &Value, most: usize) -> (String, String) {
    let plain = |value: &Value| match value {
        Value::String(text) => cut(text, 0, most),
        other => brief(other),
    };
    let short = (plain(before), plain(after));
    let alike = |a: &str, b: &str| a.split_whitespace().eq(b.split_whitespace());
    if before == after || !alike(&short.0, &short.1) {
        return short;
    }
    let (before, after) = (before.to_string(), after.to_string());
    let same = before.chars().zip(after.chars());
    let same = same.take_while(|(a, b)| a == b).count();
    let longest = before.chars().count().max(after.chars().count());
    let from = if longest <= most {
        0
    } else {
        same.saturating_sub(LEAD)
    };
    (cut(&before, from, most), cut(&after, from, most))
}

/// At most `most` characters of a text, from a start position on.
fn cut(text: &str, from: usize, most: usize) -> String {
    let rest = text.chars().skip(from);
    let lead = if from > 0 { "…" } else { "" };
    if rest.clone().nth(most).is_none() {
        return format!("{lead}{}", rest.collect::<String>());
    }
    format!("{lead}{}…", rest.take(most - 1).collect::<String>())
}

fn brief(value: &Value) -> String {
    match value {
        Value::String(text) => cut(text, 0, BRIEF),
        Value::Array(_) => "[…]".to_owned(),
        // An item of a list is identified by its name.
        Value::Object(fields) => match fields.get("name") {
            Some(Value::String(name)) => cut(name, 0, BRIEF),
            _ => "{…}".to_owned(),
        },
        other => other.to_string(),
    }
}

/// The values that differ, in the order of the objects' members. A subtree that was added or
/// removed is one change.
pub fn changes(before: &Value, after: &Value) -> Vec<ValueChange> {
    let mut found = Vec::new();
    collect(before, after, String::new(), &mut found);
    found
}

fn collect(before: &Value, after: &Value, pointer: String, found: &mut Vec<ValueChange>) {
    let mut child = |key: &str, a: Option<&Value>, b: Option<&Value>| {
        let key = json_pointer::escape(key);
        let pointer = format!("{pointer}/{key}");
        match (a, b) {
            (Some(a), Some(b)) => collect(a, b, pointer, found),
            (before, after) => found.push(ValueChange {
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
        (a, b) => found.push(ValueChange {
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

    #[test]
    fn a_change_shows_what_would_reorder_it_as_an_escape() {
        let found = changes(&json!({"user": "admin"}), &json!({"user": "\u{202e}nimda"}));
        assert_eq!(found[0].to_string(), "user admin→\\u202Enimda");
        let found = changes(&json!({}), &json!({"a\u{2066}": 1}));
        assert_eq!(found[0].to_string(), "+a\\u2066 1");
    }

    #[test]
    fn two_values_that_differ_never_look_alike() {
        let shown = |before: Value, after: Value| {
            let (before, after) = (json!({"a": before}), json!({"a": after}));
            changes(&before, &after)[0].to_string()
        };
        let image = |tag: &str| json!(format!("registry.example.com/team/nginx:{tag}"));
        assert_eq!(
            shown(image("1.14.2"), image("1.15.0")),
            r#"a …nx:1.14.2"→…nx:1.15.0""#
        );
        assert_eq!(shown(json!("5"), json!(5)), r#"a "5"→5"#);
        assert_eq!(shown(json!("x"), json!("x ")), r#"a "x"→"x ""#);
        assert_eq!(shown(json!("x\n"), json!("x")), r#"a "x\n"→"x""#);
        let long = |end: &str| json!(format!("{}{end}{}", "a".repeat(500), "b".repeat(500)));
        let shown = shown(long("1"), long("2"));
        assert!(
            shown.contains("aaa1bbb") && shown.contains("aaa2bbb"),
            "{shown}"
        );
        assert!(shown.chars().count() < 60, "{shown}");
    }
}
