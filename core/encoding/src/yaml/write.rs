//! Writes YAML as `sigs.k8s.io/yaml` does: keys sorted, lists not indented.

use std::fmt::Write;

use serde_json::Value;

use super::scalar_text::{write_key, write_text};

/// A document, with a line break at its end.
pub fn written(document: &Value) -> String {
    let mut out = String::new();
    match document {
        Value::Object(map) if !map.is_empty() => block(document, 0, &mut out),
        Value::Array(items) if !items.is_empty() => block(document, 0, &mut out),
        other => scalar(other, 0, &mut out),
    }
    out
}

/// The lines of a map or list that is not empty.
fn block(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut members: Vec<_> = map.iter().collect();
            members.sort_by_key(|(name, _)| name.as_str());
            for (i, (name, member)) in members.into_iter().enumerate() {
                // The first member of an item is on the line of its dash.
                if i > 0 || !out.ends_with("- ") {
                    out.push_str(&" ".repeat(indent));
                }
                write_key(name, out);
                out.push(':');
                let below = matches!(member, Value::Object(map) if !map.is_empty());
                let listed = matches!(member, Value::Array(items) if !items.is_empty());
                if below || listed {
                    out.push('\n');
                    block(member, if listed { indent } else { indent + 2 }, out);
                } else {
                    out.push(' ');
                    scalar(member, indent, out);
                }
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                if i > 0 || !out.ends_with("- ") {
                    out.push_str(&" ".repeat(indent));
                }
                out.push_str("- ");
                match item {
                    Value::Object(map) if !map.is_empty() => block(item, indent + 2, out),
                    Value::Array(items) if !items.is_empty() => block(item, indent + 2, out),
                    other => scalar(other, indent, out),
                }
            }
        }
        other => scalar(other, indent, out),
    }
}

fn scalar(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::String(text) => {
            write_text(text, indent + 2, out);
            out.push('\n');
        }
        other => {
            let _ = writeln!(out, "{other}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::parse;
    use serde_json::json;

    #[test]
    fn what_is_written_is_read_again() {
        let document = json!({
            "kind": "ConfigMap", "empty": {}, "none": [], "no": null,
            "data": {"a": "true", "b": "1", "c": "x: y", "d": "- z", "e": "", "f": "it's", "y": "n",
                "script": "a\n\n  b\n", "open": "a\nb", "tab": "\t", "last": "a\n\n"},
            "list": [{"name": "a", "items": [1, [2, {"x": 1.5}]]}, "plain", []],
        });
        let text = written(&document);
        assert_eq!(Value::from(parse(&text).unwrap().node), document, "{text}");
        assert!(text.starts_with("data:\n  a: \"true\"\n"), "{text}");
        assert!(text.contains("list:\n- items:\n  - 1\n"), "{text}");
    }

    #[test]
    fn a_long_text_is_folded_at_the_first_space_after_80_characters() {
        let word = "abcdefgh ".repeat(11);
        let (plain, rest) = word.trim().split_at(80);
        for (given, expected) in [
            (
                word.trim().to_owned(),
                format!("a: {plain}\n  {}\n", rest.trim()),
            ),
            (
                format!("# {}", word.trim()),
                format!("a: '# {plain}\n  {}'\n", rest.trim()),
            ),
            (" \n".to_owned(), "a: \" \\n\"\n".to_owned()),
            ("\na".to_owned(), "a: |2-\n\n  a\n".to_owned()),
            ("x: y".to_owned(), "a: 'x: y'\n".to_owned()),
            ("1:30".to_owned(), "a: \"1:30\"\n".to_owned()),
            (
                "\u{1}\u{1f600}".to_owned(),
                "a: \"\\x01\\U0001F600\"\n".to_owned(),
            ),
            ("-x".to_owned(), "a: -x\n".to_owned()),
            ("?".to_owned(), "a: '?'\n".to_owned()),
        ] {
            assert_eq!(written(&json!({ "a": given })), expected);
        }
    }
}
