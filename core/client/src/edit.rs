//! Changes one value of an object.

use std::fmt;

use serde_json::Value;

use optimist_apiserver::json::Node;
use optimist_apiserver::{pointer as json_pointer, yaml};

/// The reason why a value cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditError {
    /// The path does not exist.
    Missing(String),
    /// The text is not YAML, or is not valid at this path.
    Text(String),
    /// The text does not have the type of the value.
    Type {
        /// The expected type: `a number`, `true or false`.
        expected: &'static str,
        /// The typed text.
        text: String,
    },
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EditError::Missing(pointer) => write!(f, "{pointer} does not exist"),
            EditError::Text(why) => f.write_str(why),
            EditError::Type { expected, text } => write!(f, "“{text}” is not {expected}"),
        }
    }
}

impl std::error::Error for EditError {}

/// The object with the scalar at a JSON pointer (RFC 6901) set to the typed text. The type does not
/// change: a number remains a number, and text remains text even if it looks like a number.
/// Unchanged lines keep their line endings, which a text field does not preserve.
///
/// # Errors
/// If there is no scalar at this path, or the text does not have its type.
pub fn edit_scalar(object: &Value, pointer: &str, typed: &str) -> Result<Value, EditError> {
    let mut edited = object.clone();
    let place = edited
        .pointer_mut(pointer)
        .ok_or_else(|| EditError::Missing(pointer.to_owned()))?;
    let wrong = |expected| EditError::Type {
        expected,
        text: typed.to_owned(),
    };
    let resolved = yaml::resolve(typed.trim());
    *place = match (&*place, resolved) {
        (Value::String(old), _) => with_line_ends(old, typed).into(),
        (Value::Number(old), Node::Number(new)) if new.is_i64() || !old.is_i64() => new.into(),
        (Value::Number(old), new) if old.is_i64() => {
            return Err(wrong(integer(typed.trim(), &new)));
        }
        (Value::Number(_), _) => return Err(wrong("a number")),
        (Value::Bool(_), Node::Bool(new)) => new.into(),
        (Value::Bool(_), _) => return Err(wrong("true or false")),
        (Value::Null, new) => new.into(),
        _ => return Err(EditError::Missing(pointer.to_owned())),
    };
    Ok(edited)
}

/// Names the form of an integer that a typed text does not have: digits, in 64 bits.
fn integer(typed: &str, resolved: &Node) -> &'static str {
    let digits = typed.trim_start_matches(['+', '-']);
    let is_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match resolved {
        _ if is_digits => "a number from -9223372036854775808 to 9223372036854775807",
        Node::Number(_) | Node::HugeNumber(..) => "a number in digits alone, such as 3",
        _ => "a whole number",
    }
}

/// The text of a field that ends every line with a line feed
/// (<https://html.spec.whatwg.org/#the-textarea-element:concept-fe-api-value>), with the line
/// endings of the old text. Unchanged lines at the beginning and at the end keep their line
/// endings. A new line gets the line ending of the first line.
fn with_line_ends(old: &str, typed: &str) -> String {
    if !old.contains('\r') {
        return typed.to_owned();
    }
    let (before, after) = (lines_of(old), lines_of(typed));
    let same =
        |(a, b): &(&(&str, &str), &(&str, &str))| a.0 == b.0 && a.1.is_empty() == b.1.is_empty();
    let head = before.iter().zip(&after).take_while(same).count();
    let most = before.len().min(after.len()) - head;
    let tails = before.iter().rev().zip(after.iter().rev());
    let tail = tails.take(most).take_while(same).count();
    let usual = before.first().map_or("\n", |line| line.1);
    let middle = after[head..after.len() - tail].iter();
    let middle = middle.map(|(text, end)| (*text, if end.is_empty() { "" } else { usual }));
    let kept = before[..head].iter().copied();
    let rest = before[before.len() - tail..].iter().copied();
    let all = kept.chain(middle).chain(rest);
    all.flat_map(|(text, end)| [text, end]).collect()
}

/// Lines, each with its line ending: CR LF, CR, LF, or nothing at the end of the text.
fn lines_of(text: &str) -> Vec<(&str, &str)> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\r', '\n']) {
        let end = if rest[at..].starts_with("\r\n") { 2 } else { 1 };
        lines.push((&rest[..at], &rest[at..at + end]));
        rest = &rest[at + end..];
    }
    lines.push((rest, ""));
    lines
}

/// The object without the member or item at a JSON pointer.
///
/// # Errors
/// If the path does not exist.
pub fn remove_at(object: &Value, pointer: &str) -> Result<Value, EditError> {
    let missing = || EditError::Missing(pointer.to_owned());
    let mut edited = object.clone();
    let (parent, last) = pointer.rsplit_once('/').ok_or_else(missing)?;
    let last = json_pointer::unescape(last);
    match edited.pointer_mut(parent) {
        Some(Value::Object(map)) => {
            map.remove(&last).ok_or_else(missing)?;
        }
        Some(Value::Array(list)) => {
            let i: usize = last.parse().map_err(|_| missing())?;
            if i >= list.len() {
                return Err(missing());
            }
            list.remove(i);
        }
        _ => return Err(missing()),
    }
    Ok(edited)
}

/// Adds the typed members (`key: value`) to the map at a JSON pointer, or the typed item to the
/// list. Both are YAML. Returns the object and the path of the new value.
///
/// # Errors
/// If the path is not a map or list, the text is not YAML or not a member, or a member exists
/// already.
pub fn add_at(object: &Value, pointer: &str, typed: &str) -> Result<(Value, String), EditError> {
    let node = yaml::parse(typed).map_err(|error| EditError::Text(error.message))?;
    let typed = Value::from(node.node);
    let mut edited = object.clone();
    let place = edited.pointer_mut(pointer);
    let last = match (place, typed) {
        (Some(Value::Array(list)), item) if !item.is_null() => {
            list.push(item);
            (list.len() - 1).to_string()
        }
        (Some(Value::Array(_)), _) => {
            return Err(EditError::Text("type the item, as YAML".to_owned()));
        }
        (Some(Value::Object(map)), Value::Object(members)) if !members.is_empty() => {
            if let Some(key) = members.keys().find(|key| map.contains_key(*key)) {
                return Err(EditError::Text(format!("{key} exists already")));
            }
            let first = members.keys().next().cloned().unwrap_or_default();
            map.extend(members);
            json_pointer::escape(&first)
        }
        (Some(Value::Object(_)), _) => {
            return Err(EditError::Text("type it as “key: value”".to_owned()));
        }
        _ => return Err(EditError::Missing(pointer.to_owned())),
    };
    Ok((edited, format!("{pointer}/{last}")))
}

/// Parses a whole text as an object, in YAML or JSON.
///
/// # Errors
/// If the text is neither, with line and column, or is not an object.
pub(super) fn edit_text(typed: &str) -> Result<Value, EditError> {
    if let Some(line) = second_document(typed) {
        let message = format!("line {line}: another document begins here, and this is one object");
        return Err(EditError::Text(message));
    }
    let document = yaml::parse(typed).map_err(|error| EditError::Text(error.to_string()))?;
    if let Some(repeated) = document.duplicates.first() {
        return Err(EditError::Text(repeated.to_string()));
    }
    match Value::from(document.node) {
        Value::Object(object) if object.get("metadata").is_some_and(|meta| !meta.is_object()) => {
            Err(EditError::Text("metadata has to be a map".to_owned()))
        }
        object @ Value::Object(_) => Ok(object),
        _ => Err(EditError::Text("this is no object".to_owned())),
    }
}

/// The line, counted from 1, at which a second document with content begins. The reader of YAML takes the first one.
fn second_document(text: &str) -> Option<usize> {
    let says = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let separates = |line: &str| line == "---" || line.starts_with("--- ");
    let (mut has_content, mut separator) = (false, None);
    for (number, line) in (1..).zip(text.lines()) {
        match (separates(line), separator) {
            (true, _) => separator = has_content.then_some(number),
            (false, Some(_)) if says(line) => return separator,
            (false, _) => has_content |= says(line) && !line.starts_with('%'),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_number_stays_a_number_and_text_stays_text() {
        let object = json!({"replicas": 3, "image": "nginx", "paused": true});
        assert_eq!(
            edit_scalar(&object, "/replicas", " 5 ").unwrap()["replicas"],
            5
        );
        assert_eq!(edit_scalar(&object, "/image", "5").unwrap()["image"], "5");
        assert_eq!(
            edit_scalar(&object, "/paused", "no").unwrap()["paused"],
            false
        );
        let error = edit_scalar(&object, "/replicas", "many").unwrap_err();
        assert_eq!(error.to_string(), "“many” is not a whole number");
        let told = |typed: &str| {
            let error = edit_scalar(&object, "/replicas", typed).unwrap_err();
            error.to_string()
        };
        for whole in ["1.0", "1e1"] {
            let expected = format!("“{whole}” is not a number in digits alone, such as 3");
            assert_eq!(told(whole), expected);
        }
        let large = "99999999999999999999";
        let range = "a number from -9223372036854775808 to 9223372036854775807";
        assert_eq!(told(large), format!("“{large}” is not {range}"));
        assert!(edit_scalar(&object, "/paused", "5").is_err());
        assert!(edit_scalar(&object, "/nowhere", "5").is_err());
    }

    #[test]
    fn lines_that_were_not_typed_over_keep_their_ends() {
        let set = |old: &str, typed: &str| {
            let edited = edit_scalar(&json!({"text": old}), "/text", typed).unwrap();
            edited["text"].as_str().unwrap_or_default().to_owned()
        };
        assert_eq!(set("a\nb\n", "a\nc\n"), "a\nc\n");
        assert_eq!(set("a\r\nb\r\n", "a\nb\n"), "a\r\nb\r\n");
        assert_eq!(set("a\r\nb\nc\rd", "a\nb\nc\nd"), "a\r\nb\nc\rd");
        assert_eq!(set("a\r\nb\r\n", "a\nx\ny\nb\n"), "a\r\nx\r\ny\r\nb\r\n");
        assert_eq!(set("a\r\na\r\n", "a\n"), "a\r\n");
        assert_eq!(set("a\rb", ""), "");
        assert_eq!(set("", "a\nb"), "a\nb");
    }

    #[test]
    fn members_and_items_are_added_as_they_are_typed() {
        let object = json!({"labels": {"a": "b"}, "list": [1]});
        let (edited, at) = add_at(&object, "/labels", "example.com/x: 'yes'").unwrap();
        assert_eq!(edited["labels"], json!({"a": "b", "example.com/x": "yes"}));
        assert_eq!(at, "/labels/example.com~1x");
        let (edited, at) = add_at(&object, "/list", "{name: sidecar, ports: [80]}").unwrap();
        assert_eq!(edited["list"][1], json!({"name": "sidecar", "ports": [80]}));
        assert_eq!(at, "/list/1");
        let refused = |at: &str, text: &str| add_at(&object, at, text).unwrap_err().to_string();
        assert_eq!(refused("/labels", "a: c"), "a exists already");
        assert_eq!(refused("/labels", "a"), "type it as “key: value”");
        assert_eq!(refused("/list", ""), "type the item, as YAML");
        assert_eq!(refused("/nowhere", "1"), "/nowhere does not exist");
        assert!(!refused("/labels", "a: [").is_empty());
    }

    #[test]
    fn a_whole_text_is_an_object_or_says_in_which_line_it_is_none() {
        assert_eq!(edit_text("a: 1\nb: [2]\n"), Ok(json!({"a": 1, "b": [2]})));
        let wrong = |text: &str| edit_text(text).unwrap_err().to_string();
        assert!(wrong("a: 1\nb: [1, 2\nc: 3\n").starts_with("line "));
        assert_eq!(
            wrong("a: 1\na: 2\n"),
            r#"line 2: key "a" already set in map"#
        );
        assert_eq!(wrong("- a"), "this is no object");
        assert_eq!(
            wrong("---\na: 1\n---\na: 2\n"),
            "line 3: another document begins here, and this is one object"
        );
        for one in [
            "---\na: 1\n",
            "# a\n---\na: 1\n---\n# b\n",
            "%YAML 1.1\n---\na: 1\n",
        ] {
            assert_eq!(edit_text(one), Ok(json!({"a": 1})), "{one}");
        }
    }

    #[test]
    fn members_and_items_can_be_removed() {
        let object = json!({"a/b": 1, "list": [1, 2]});
        assert_eq!(
            remove_at(&object, "/a~1b").unwrap(),
            json!({"list": [1, 2]})
        );
        assert_eq!(remove_at(&object, "/list/0").unwrap()["list"], json!([2]));
        assert!(remove_at(&object, "/list/7").is_err());
    }
}
