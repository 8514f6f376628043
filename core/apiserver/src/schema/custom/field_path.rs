//! Paths by which a rule names the field that its message is about (`ValidFieldPath`).

use crate::schema::openapi::{Additional, Schema};

/// The path in the form in which messages show it, without a dot in front; `None` if it leads to no
/// field of the schema.
pub fn normalized(path: &str, schema: &Schema) -> Option<String> {
    let mut shown = String::new();
    let mut rest = path;
    let mut schema = schema;
    while !rest.is_empty() {
        let (name, after) = match rest.strip_prefix("['") {
            Some(quoted) => {
                let end = end_of_quoted(quoted)?;
                let after = quoted[end + 1..].strip_prefix(']')?;
                (unescaped(&quoted[..end])?, after)
            }
            None => {
                let named = rest.strip_prefix('.')?;
                let end = named.find(['.', '[', ']']).unwrap_or(named.len());
                (named[..end].to_owned(), &named[end..])
            }
        };
        schema = match (&schema.additional, schema.properties.is_empty()) {
            (_, false) => {
                if !shown.is_empty() {
                    shown.push('.');
                }
                shown.push_str(&name);
                schema.properties.get(&name)?
            }
            (Some(Additional::Of(values)), true) => {
                shown.push_str(&format!("[{name}]"));
                values
            }
            _ => return None,
        };
        rest = after;
    }
    (!shown.is_empty()).then_some(shown)
}

/// The end of a quoted name.
fn end_of_quoted(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (i, c) in text.char_indices() {
        match c {
            '\'' if !escaped => return Some(i),
            c => escaped = c == '\\',
        }
    }
    None
}

fn unescaped(text: &str) -> Option<String> {
    let mut name = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        name.push(match c {
            '\\' => match chars.next()? {
                'a' => '\u{7}',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'v' => '\u{b}',
                c @ ('\'' | '\\') => c,
                _ => return None,
            },
            c => c,
        });
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_leads_to_a_field_or_is_none() {
        let schema = json!({"type": "object", "properties": {
            "a.b": {"type": "string"},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        }});
        let schema = Schema::parse(&schema).unwrap();
        let shown = |path: &str| normalized(path, &schema);
        assert_eq!(shown(".labels").as_deref(), Some("labels"));
        assert_eq!(shown(".labels['x']").as_deref(), Some("labels[x]"));
        assert_eq!(shown("['a.b']").as_deref(), Some("a.b"));
        for wrong in ["labels", ".other", ".labels[0]", ".labels['x'", "."] {
            assert_eq!(shown(wrong), None, "{wrong}");
        }
    }
}
