//! The simple JSON paths that definitions use for columns and selectable fields
//! (`k8s.io/client-go/util/jsonpath`).

use serde_json::Value;

/// A path such as `.spec.items[0].name` or `.status.conditions[?(@.type=="Ready")].status`.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath(Vec<JsonPathStep>);

#[derive(Clone, Debug, PartialEq)]
enum JsonPathStep {
    Member(String),
    Index(i64),
    All,
    /// The items of which the member on the path has this text.
    Where(JsonPath, String),
}

impl JsonPath {
    /// Reads a path; `None` if it is not one of these simple ones.
    pub fn parse(text: &str) -> Option<Self> {
        let mut steps = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix('.') {
                let (name, after) = member(after);
                if name.is_empty() && !after.starts_with('[') {
                    return (after.is_empty() && steps.is_empty()).then_some(Self(steps));
                }
                if name == "*" {
                    steps.push(JsonPathStep::All);
                } else if !name.is_empty() {
                    steps.push(JsonPathStep::Member(name));
                }
                rest = after;
            } else {
                let inner = rest.strip_prefix('[')?;
                let end = closing(inner)?;
                steps.push(bracket(&inner[..end])?);
                rest = &inner[end + 1..];
            }
        }
        Some(Self(steps))
    }

    /// The first value on the path.
    pub fn first<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        find(&self.0, value)
    }
}

/// The name up to the next step; a backslash takes the next character as it is.
fn member(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            '\\' => name.extend(chars.next().map(|(_, c)| c)),
            '.' | '[' => return (name, &text[i..]),
            c => name.push(c),
        }
    }
    (name, "")
}

/// Returns the position at which the open bracket closes.
fn closing(text: &str) -> Option<usize> {
    let mut quote = None;
    for (i, c) in text.char_indices() {
        match (quote, c) {
            (None, ']') => return Some(i),
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
    }
    None
}

fn bracket(inner: &str) -> Option<JsonPathStep> {
    let inner = inner.trim();
    if inner == "*" {
        return Some(JsonPathStep::All);
    }
    if let Some(name) = quoted(inner) {
        return Some(JsonPathStep::Member(name.to_owned()));
    }
    if let Some(filter) = inner.strip_prefix("?(").and_then(|f| f.strip_suffix(')')) {
        let (left, right) = filter.split_once("==")?;
        let path = JsonPath::parse(left.trim().strip_prefix('@')?)?;
        let right = right.trim();
        return Some(JsonPathStep::Where(
            path,
            quoted(right).unwrap_or(right).to_owned(),
        ));
    }
    inner.parse().ok().map(JsonPathStep::Index)
}

fn quoted(text: &str) -> Option<&str> {
    let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inner('\'').or_else(|| inner('"'))
}

fn find<'a>(steps: &[JsonPathStep], value: &'a Value) -> Option<&'a Value> {
    let Some((step, rest)) = steps.split_first() else {
        return Some(value);
    };
    match step {
        JsonPathStep::Member(name) => find(rest, value.get(name)?),
        JsonPathStep::Index(index) => {
            let items = value.as_array()?;
            let index = match index {
                0.. => usize::try_from(*index).ok()?,
                _ => items.len().checked_sub(usize::try_from(-index).ok()?)?,
            };
            find(rest, items.get(index)?)
        }
        JsonPathStep::All => match value {
            Value::Array(items) => items.iter().find_map(|item| find(rest, item)),
            Value::Object(map) => map.values().find_map(|item| find(rest, item)),
            _ => None,
        },
        JsonPathStep::Where(path, wanted) => value.as_array()?.iter().find_map(|item| {
            let found = match path.first(item)? {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let fits = found == *wanted;
            fits.then(|| find(rest, item))?
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_finds_members_items_and_what_a_filter_selects() {
        let object = json!({
            "spec": {"items": [{"name": "a"}, {"name": "b"}], "a.b": 1},
            "status": {"conditions": [{"type": "X"}, {"type": "Ready", "status": "True"}]},
        });
        for (path, found) in [
            (".spec.items[0].name", json!("a")),
            (".spec.items[-1].name", json!("b")),
            (".spec.items[*].name", json!("a")),
            (r".spec.a\.b", json!(1)),
            (".spec['a.b']", json!(1)),
            (
                r#".status.conditions[?(@.type=="Ready")].status"#,
                json!("True"),
            ),
        ] {
            assert_eq!(
                JsonPath::parse(path).unwrap().first(&object),
                Some(&found),
                "{path}"
            );
        }
        for path in [".spec.items[7]", ".nothing", ".spec.items.name"] {
            assert_eq!(
                JsonPath::parse(path).unwrap().first(&object),
                None,
                "{path}"
            );
        }
        assert_eq!(JsonPath::parse(".a[").map(|_| ()), None);
    }
}
