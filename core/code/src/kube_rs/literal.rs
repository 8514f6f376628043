//! Values as Rust literals.

use serde_json::Value;

/// Text as a Rust string literal.
pub(crate) fn string(text: &str) -> String {
    format!("{text:?}")
}

/// The maximum length of JSON in a macro call, because of the recursion limit of macros.
const MAX_LITERAL_LENGTH: usize = 600;

/// A JSON value as an expression of type `Value`.
pub(crate) fn literal(value: &Value) -> String {
    let text = value.to_string();
    if text.len() > MAX_LITERAL_LENGTH {
        let text = format!("{value:#}");
        let mut hashes = "#".to_owned();
        while text.contains(&format!("\"{hashes}")) {
            hashes.push('#');
        }
        return format!("serde_json::from_str::<Value>(r{hashes}\"{text}\"{hashes})?");
    }
    let mut out = "json!(".to_owned();
    write_json(value, text.len() > 72, 0, &mut out);
    out.push(')');
    out
}

fn write_json(value: &Value, laid_out: bool, depth: usize, out: &mut String) {
    let (open, close, count) = match value {
        Value::Array(items) => ('[', ']', items.len()),
        Value::Object(members) => ('{', '}', members.len()),
        Value::String(text) => return out.push_str(&string(text)),
        scalar => return out.push_str(&scalar.to_string()),
    };
    let new_line = |out: &mut String, depth: usize| {
        if laid_out && count > 0 {
            out.push('\n');
            out.extend(std::iter::repeat_n("    ", depth));
        }
    };
    let separate = |out: &mut String, i: usize| {
        if i > 0 {
            out.push_str(if laid_out { "," } else { ", " });
        }
    };
    out.push(open);
    match value {
        Value::Object(members) => {
            for (i, (key, member)) in members.iter().enumerate() {
                separate(out, i);
                new_line(out, depth + 1);
                out.push_str(&string(key));
                out.push_str(": ");
                write_json(member, laid_out, depth + 1, out);
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                separate(out, i);
                new_line(out, depth + 1);
                // Each item of a list has its own line.
                write_json(item, false, 0, out);
            }
        }
        _ => {}
    }
    new_line(out, depth);
    out.push(close);
}
