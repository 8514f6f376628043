//! The differences between two objects, as text for people.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use super::aligned_rows::item_ids;
use super::server_fields::SET_BY_EVERY_WRITE;
use super::value_type::ValueType;

use crate::visible;
use optimist_apiserver::pointer as json_pointer;
use optimist_apiserver::schema::Struct;

/// A value that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueChange {
    /// The place of the value, as a JSON pointer (RFC 6901).
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

    /// Returns whether it is in a field that every write changes, such as `resourceVersion`.
    pub fn is_bookkeeping(&self) -> bool {
        let rest = self.pointer.strip_prefix("/metadata/");
        let field = rest.and_then(|rest| rest.split('/').next());
        field.is_some_and(|field| SET_BY_EVERY_WRITE.contains(&field))
    }
}

impl fmt::Display for ValueChange {
    /// `replicas 3→5`, `+label x`, `−label`. A precision is the number of characters that are shown of
    /// a value. Where that cuts one, only the new value is shown: `image →…1.16.1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = self.field();
        let text = match (&self.before, &self.after) {
            (Some(before), Some(after)) => {
                let most = f.precision().unwrap_or(BRIEF);
                let (before, after) = brief_both(before, after, most);
                let is_cut = [&before, &after].iter().any(|text| text.contains('…'));
                match f.precision().filter(|_| is_cut) {
                    Some(_) => format!("{field} →{after}"),
                    None => format!("{field} {before}→{after}"),
                }
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

/// The maximum number of characters that are shown before the first difference, and after the last one.
const LEAD: usize = 6;

/// Two different values. A text of more than `most` characters is shortened to the part that differs,
/// with a few characters around it. If only types or hidden characters differ, both are shown as JSON.
pub fn brief_both(before: &Value, after: &Value, most: usize) -> (String, String) {
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => brief(other),
    };
    let (first, second) = (plain(before), plain(after));
    let alike = |a: &str, b: &str| a.split_whitespace().eq(b.split_whitespace());
    if before == after || !alike(&first, &second) {
        return brief_texts(&first, &second, most);
    }
    brief_texts(&before.to_string(), &after.to_string(), most)
}

/// Two texts, each with the part that differs from the other one if it is long.
fn brief_texts(before: &str, after: &str, most: usize) -> (String, String) {
    let (before, after): (Vec<char>, Vec<char>) =
        (before.chars().collect(), after.chars().collect());
    let longest = before.len().max(after.len());
    if longest <= most {
        return (before.iter().collect(), after.iter().collect());
    }
    let same = |(a, b): &(&char, &char)| a == b;
    let head = before.iter().zip(&after).take_while(same).count();
    let rest = before.len().min(after.len()) - head;
    let tails = before.iter().rev().zip(after.iter().rev());
    let tail = tails.take(rest).take_while(same).count();
    let from = word_before(&before, head);
    let part = |text: &[char]| {
        let to = text.len() - tail.saturating_sub(LEAD);
        let lead = if from > 0 { "…" } else { "" };
        let end = if to < text.len() { "…" } else { "" };
        let part: String = text.get(from..to).unwrap_or_default().iter().collect();
        format!("{lead}{}{end}", shorten(&part, most))
    };
    (part(&before), part(&after))
}

/// Returns the beginning of the word in which two texts begin to differ, or a position a few
/// characters before the difference.
fn word_before(text: &[char], differs: usize) -> usize {
    let from = differs.saturating_sub(LEAD);
    let lead = text.get(from..differs).unwrap_or_default();
    let begins = lead
        .iter()
        .rposition(|c| matches!(c, '/' | ':' | '@' | '=' | ',' | ' '));
    begins.map_or(from, |at| from + at + 1)
}

/// A text of at most `most` characters: one that is longer loses its middle, because names differ in
/// their beginnings, and images and paths in their ends.
pub fn shorten(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(1);
    let (head, tail) = (kept / 2, kept - kept / 2);
    let chars = || text.chars();
    let (head, tail) = (chars().take(head), chars().skip(length - tail));
    head.chain(['…']).chain(tail).collect()
}

fn brief(value: &Value) -> String {
    match value {
        Value::String(text) => shorten(text, BRIEF),
        Value::Array(_) => "[…]".to_owned(),
        // An item of a list is identified by its name.
        Value::Object(fields) => match fields.get("name") {
            Some(Value::String(name)) => shorten(name, BRIEF),
            _ => "{…}".to_owned(),
        },
        other => other.to_string(),
    }
}

/// The values that differ, in the order of the objects' members. A subtree that was added or
/// removed is one change.
pub fn changes(before: &Value, after: &Value) -> Vec<ValueChange> {
    changes_of_type(before, after, ValueType::Unknown)
}

/// Compares like [`changes`], but compares the items of a list with keys with those of the same
/// keys. The pointer of a value that is gone has the keys of items instead of their positions.
pub fn changes_by_item(before: &Value, after: &Value, root: &Struct) -> Vec<ValueChange> {
    changes_of_type(before, after, ValueType::Struct(root))
}

fn changes_of_type(before: &Value, after: &Value, ty: ValueType<'_>) -> Vec<ValueChange> {
    let mut found = Vec::new();
    if before != after {
        collect((before, after), &Default::default(), ty, &mut found);
    }
    found
}

/// Adds the changes between two different values. `place` is a pointer into the object after the change, and one with
/// the keys of items.
fn collect(
    (before, after): (&Value, &Value),
    place: &[String; 2],
    ty: ValueType<'_>,
    found: &mut Vec<ValueChange>,
) {
    let mut child = |names: [&str; 2], ty, sides: (Option<&Value>, Option<&Value>)| {
        if sides.0 == sides.1 {
            return;
        }
        let inner = |i: usize| format!("{}/{}", place[i], json_pointer::escape(names[i]));
        let inner = [inner(0), inner(1)];
        if let (Some(a), Some(b)) = sides {
            return collect((a, b), &inner, ty, found);
        }
        let [pointer, by_keys] = inner;
        found.push(ValueChange {
            pointer: if sides.1.is_some() { pointer } else { by_keys },
            before: sides.0.cloned(),
            after: sides.1.cloned(),
        });
    };
    match (before, after) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in a {
                child([key, key], ty.member(key), (Some(value), b.get(key)));
            }
            for (key, value) in b.iter().filter(|(key, _)| !a.contains_key(*key)) {
                child([key, key], ty.member(key), (None, Some(value)));
            }
        }
        (Value::Array(a), Value::Array(b)) => match (ids(before, ty), ids(after, ty)) {
            (Some(old), Some(new)) => {
                for (id, item) in old.iter().zip(a).filter(|(id, _)| !new.contains(id)) {
                    child([id, id], ty.item(), (Some(item), None));
                }
                for (i, (id, item)) in new.iter().zip(b).enumerate() {
                    let same = old.iter().position(|other| other == id);
                    let same = same.and_then(|at| a.get(at));
                    child([&i.to_string(), id], ty.item(), (same, Some(item)));
                }
            }
            _ => {
                for i in 0..a.len().max(b.len()) {
                    let at = i.to_string();
                    child([&at, &at], ty.item(), (a.get(i), b.get(i)));
                }
            }
        },
        (a, b) => found.push(ValueChange {
            pointer: place[0].clone(),
            before: Some(a.clone()),
            after: Some(b.clone()),
        }),
    }
}

/// Returns the identities of a list's items; `None` if no keys tell the items apart.
fn ids(list: &Value, ty: ValueType<'_>) -> Option<Vec<String>> {
    let ids: Option<Vec<String>> = item_ids(Some(list), ty.item_keys()).into_iter().collect();
    let ids = ids?;
    let different: BTreeSet<&String> = ids.iter().collect();
    (different.len() == ids.len()).then_some(ids)
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
    fn items_with_keys_are_compared_with_themselves() {
        let resources = optimist_apiserver::server::Resources::builtin();
        let root = &resources.by_kind("v1", "Pod").unwrap().root;
        let pod = |containers: Value| json!({"spec": {"containers": containers}});
        let changed = |before: Value, after: Value| -> Vec<(String, String)> {
            let found = changes_by_item(&pod(before), &pod(after), root);
            let found = found.iter();
            found
                .map(|it| (it.pointer.replace("/spec/containers", ""), it.to_string()))
                .collect()
        };
        let item = |name: &str| json!({"name": name, "image": name});
        let told = |pointer: &str, text: &str| (pointer.to_owned(), text.to_owned());
        assert_eq!(
            changed(
                json!([item("nginx"), item("sidecar")]),
                json!([item("nginx"), item("proxy")])
            ),
            [
                told("/sidecar", "−sidecar"),
                told("/1", "+containers[1] proxy")
            ]
        );
        let mut newer = item("nginx");
        newer["image"] = "nginx:2".into();
        assert_eq!(
            changed(json!([item("nginx")]), json!([item("first"), newer])),
            [
                told("/0", "+containers[0] first"),
                told("/1/image", "image nginx→nginx:2")
            ]
        );
        let nameless = json!([{"image": "a"}]);
        assert_eq!(
            changed(nameless, json!([{"image": "b"}])),
            [told("/0/image", "image a→b")]
        );
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
        assert_eq!(shown(image("1.14.2"), image("1.15.0")), "a …1.14.2→…1.15.0");
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

    #[test]
    fn a_long_value_that_changed_shows_the_part_that_differs() {
        let shown = |before: &str, after: &str| {
            changes(&json!({"a": before}), &json!({"a": after}))[0].to_string()
        };
        assert_eq!(
            shown(
                "nginx:1.14.2-alpine3.9-slim-arm64",
                "nginx:1.16.1-alpine3.9-slim-arm64"
            ),
            "a …1.14.2-alpin…→…1.16.1-alpin…"
        );
        let digest = |end: &str| format!("example.com/app@sha256:{}{end}", "0".repeat(60));
        assert_eq!(shown(&digest("aa"), &digest("bb")), "a …000000aa→…000000bb");
        // Where all of it differs, its beginning and its end are shown.
        let image = |host: &str, tag: &str| format!("{host}.example.com/a/long/path/of/app:{tag}");
        let all = shown(&image("one", "v1"), &image("two", "v2"));
        for part in ["one", "v1→", "two", "v2"] {
            assert!(all.contains(part), "{all}");
        }
        let change = &changes(&json!({"a": "nginx:1.14.2"}), &json!({"a": "nginx:1.16.1"}))[0];
        assert_eq!(format!("{change}"), "a nginx:1.14.2→nginx:1.16.1");
        assert_eq!(format!("{change:.10}"), "a →…1.16.1");
    }

    #[test]
    fn a_text_that_is_too_long_keeps_its_beginning_and_its_end() {
        assert_eq!(shorten("nginx:1.16.1", 12), "nginx:1.16.1");
        assert_eq!(
            shorten("registry.example.com/team/nginx:1.16.1", 16),
            "registr…x:1.16.1"
        );
        assert_eq!(shorten("ab", 1), "…");
        assert_eq!(shorten("ab", 0), "…");
    }
}
