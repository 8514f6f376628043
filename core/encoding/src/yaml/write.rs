//! Writes YAML as `sigs.k8s.io/yaml` does: keys sorted, lists not indented.

use std::fmt::Write;

use serde_json::Value;

use super::{Node, resolve};

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
                out.push_str(&text(name));
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
        Value::String(long) if is_text_block(long) => {
            let keep = match (long.ends_with("\n\n"), long.ends_with('\n')) {
                (true, _) => "+",
                (false, true) => "",
                (false, false) => "-",
            };
            let _ = writeln!(out, "|{keep}");
            for line in long.trim_end_matches('\n').split('\n') {
                if !line.is_empty() {
                    out.push_str(&" ".repeat(indent + 2));
                    out.push_str(line);
                }
                out.push('\n');
            }
            let more = long.len() - long.trim_end_matches('\n').len();
            out.push_str(&"\n".repeat(more.saturating_sub(1)));
        }
        Value::String(string) => {
            let _ = writeln!(out, "{}", text(string));
        }
        other => {
            let _ = writeln!(out, "{other}");
        }
    }
}

/// Returns whether a text of several lines can be written line by line.
fn is_text_block(text: &str) -> bool {
    text.contains('\n')
        && !text.starts_with([' ', '\n'])
        && text.chars().all(|c| c == '\n' || !c.is_control())
        && !text.lines().any(|line| line.ends_with(' '))
}

/// A text on one line, quoted where it would be read as something else.
fn text(text: &str) -> String {
    const INDICATORS: &str = "-?:,[]{}#&*!|>'\"%@`";
    if text.chars().any(char::is_control) || !matches!(resolve(text), Node::String(_)) {
        return Value::from(text).to_string();
    }
    let plain = !text.is_empty()
        && text.trim() == text
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':')
        && !text.starts_with(|c| INDICATORS.contains(c));
    let dashed = text.starts_with(['-', '?', ':'])
        && text.chars().nth(1).is_some_and(|c| !c.is_whitespace())
        && !text.contains(": ")
        && !text.contains(" #");
    if plain || dashed {
        return text.to_owned();
    }
    if text.is_empty() {
        return "\"\"".to_owned();
    }
    format!("'{}'", text.replace('\'', "''"))
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
}
