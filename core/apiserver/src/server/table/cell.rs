//! The cells of a table, described by a row of `columns.txt`.

use serde_json::Value;

use super::JsonPath;
use super::calls::{self, CellFunction, items};
use super::rows::since;
use crate::environment::Timestamp;
use crate::object::Metadata;

/// The source of a column's cells.
#[derive(Debug)]
pub(super) enum Cell {
    /// The name of the object.
    Name,
    /// The time since the object was created.
    Age,
    /// A text or a number, as text.
    Text(JsonPath, Otherwise),
    /// A number; 0 where there is none.
    Number(JsonPath),
    /// A number as it is, or a text.
    Value(JsonPath, Otherwise),
    /// A boolean, and its value if the object does not have it.
    Flag(JsonPath, bool),
    /// `True`, `False` or `<unset>`.
    Yes(JsonPath),
    /// The number of members or items at these paths, together.
    Count(Vec<JsonPath>),
    /// The time since a moment.
    Since(JsonPath, Otherwise),
    /// A member of each item.
    Each(JsonPath, JsonPath, Otherwise),
    /// Labels.
    Labels(JsonPath),
    /// A label selector.
    Selector(JsonPath, Otherwise),
    /// Two numbers.
    Ratio(JsonPath, JsonPath),
    /// Two texts.
    Slash(JsonPath, JsonPath),
    /// The value that a function returns.
    Call(CellFunction),
}

/// The text of a cell that has nothing to show.
#[derive(Debug, Default)]
pub(super) struct Otherwise {
    text: &'static str,
    /// `true` if also instead of an empty text.
    instead_of_empty: bool,
}

impl Otherwise {
    fn read(words: &[&'static str]) -> Option<Self> {
        let (text, instead_of_empty) = match words {
            [] => ("", false),
            ["else", text] => (*text, true),
            ["unset", text] => (*text, false),
            _ => return None,
        };
        Some(Self {
            text,
            instead_of_empty,
        })
    }

    fn or(&self, found: Option<String>) -> Value {
        match found {
            Some(found) if !(found.is_empty() && self.instead_of_empty) => found.into(),
            _ => self.text.into(),
        }
    }
}

impl Cell {
    /// Reads a cell of the table; `None` if it is not one.
    pub(super) fn read(row: &'static str) -> Option<Self> {
        let words: Vec<&'static str> = row.split(' ').collect();
        let path = |word: &str| JsonPath::parse(word);
        Some(match words.as_slice() {
            ["name"] => Self::Name,
            ["age"] => Self::Age,
            ["text", at, rest @ ..] => Self::Text(path(at)?, Otherwise::read(rest)?),
            ["number", at] => Self::Number(path(at)?),
            ["value", at, rest @ ..] => Self::Value(path(at)?, Otherwise::read(rest)?),
            ["flag", at] => Self::Flag(path(at)?, false),
            ["flag", at, "else", "true"] => Self::Flag(path(at)?, true),
            ["yes", at] => Self::Yes(path(at)?),
            ["count", at @ ..] => Self::Count(at.iter().map(|at| path(at)).collect::<Option<_>>()?),
            ["since", at, rest @ ..] => Self::Since(path(at)?, Otherwise::read(rest)?),
            ["each", at, member, rest @ ..] => {
                Self::Each(path(at)?, path(member)?, Otherwise::read(rest)?)
            }
            ["labels", at] => Self::Labels(path(at)?),
            ["selector", at, rest @ ..] => Self::Selector(path(at)?, Otherwise::read(rest)?),
            ["ratio", a, b] => Self::Ratio(path(a)?, path(b)?),
            ["slash", a, b] => Self::Slash(path(a)?, path(b)?),
            ["call", name] => Self::Call(calls::named(name)?),
            _ => return None,
        })
    }

    /// Returns the content of an object's cell.
    pub(super) fn content(&self, object: &Value, now: Timestamp) -> Value {
        let number = |path: &JsonPath| path.first(object).and_then(Value::as_i64).unwrap_or(0);
        let printed = |path: &JsonPath| path.first(object).and_then(print);
        match self {
            Self::Name => object.name().into(),
            Self::Age => since(&object["metadata"]["creationTimestamp"], now).into(),
            Self::Text(path, otherwise) => otherwise.or(printed(path)),
            Self::Number(path) => number(path).into(),
            Self::Value(path, otherwise) => match path.first(object) {
                Some(number @ Value::Number(_)) => number.clone(),
                found => otherwise.or(found.and_then(print)),
            },
            Self::Flag(path, unset) => {
                let found = path.first(object).and_then(Value::as_bool);
                found.unwrap_or(*unset).into()
            }
            Self::Yes(path) => match path.first(object).and_then(Value::as_bool) {
                Some(true) => "True".into(),
                Some(false) => "False".into(),
                None => "<unset>".into(),
            },
            Self::Count(paths) => paths
                .iter()
                .filter_map(|path| path.first(object))
                .map(count)
                .sum::<usize>()
                .into(),
            Self::Since(path, otherwise) => {
                let time = path.first(object).filter(|time| !time.is_null());
                otherwise.or(time.map(|time| since(time, now)))
            }
            Self::Each(path, member, otherwise) => {
                let list = path.first(object).filter(|list| list.is_array());
                otherwise.or(list.map(|list| {
                    let texts = items(list).map(|item| member.first(item).and_then(print));
                    let texts: Vec<String> = texts.map(Option::unwrap_or_default).collect();
                    texts.join(",")
                }))
            }
            Self::Labels(path) => labels(path.first(object)).into(),
            Self::Selector(path, otherwise) => {
                let found = path.first(object).map(crate::server::scale::selector);
                otherwise.or(Some(found.unwrap_or_default()))
            }
            Self::Ratio(a, b) => format!("{}/{}", number(a), number(b)).into(),
            Self::Slash(a, b) => {
                let text = |path: &JsonPath| printed(path).unwrap_or_default();
                format!("{}/{}", text(a), text(b)).into()
            }
            Self::Call(call) => call(object, now),
        }
    }
}

/// A text or a number.
fn print(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn count(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    }
}

/// `labels.FormatLabels`.
fn labels(labels: Option<&Value>) -> String {
    let labels = labels.and_then(Value::as_object).into_iter().flatten();
    let mut labels: Vec<String> = labels
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    labels.sort_unstable();
    match labels.as_slice() {
        [] => "<none>".to_owned(),
        labels => labels.join(","),
    }
}
