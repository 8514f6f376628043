//! Values as Go writes them.

use serde_json::Value;

use optimist_apiserver::go::quote;

/// Text as a raw string if possible, otherwise as a quoted string.
pub(crate) fn raw(text: &str) -> String {
    if text.contains(['`', '\r']) {
        quote(text)
    } else {
        format!("`{text}`")
    }
}

/// A JSON value as a Go literal.
pub(crate) fn literal(value: &Value) -> String {
    match value {
        Value::Null => "nil".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Number(n) if n.is_i64() => format!("int64({n})"),
        Value::Number(n) => format!("float64({n})"),
        Value::String(text) => quote(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(literal).collect();
            format!("[]any{{{}}}", items.join(", "))
        }
        Value::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(key, value)| format!("{}: {}", quote(key), literal(value)))
                .collect();
            format!("map[string]any{{{}}}", members.join(", "))
        }
    }
}
