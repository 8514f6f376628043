//! Checks of built-in kinds as rows of a table (`pkg/apis/*/validation`, v1.36).
//!
//! Most functions named `ValidateX` upstream make the same few checks: a field is required, a number
//! is in a range, a text is one of several, a field must not change. `kinds.checks` has these as
//! rows, in the order in which upstream makes them. A check of another form is a function in Rust,
//! and a row calls it by name.

mod words;

pub(in crate::server) use words::same_in_go;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

use crate::field::ErrorPath;
use crate::object::{is_zero, text};
use crate::status::FieldError;

static TABLE: LazyLock<CheckTable> = LazyLock::new(|| parse(include_str!("kinds.checks")));
static ABSENT: Value = Value::Null;

/// The rows of each type, and of each kind (`Ingress`, `Ingress/status`), by name.
type CheckTable = BTreeMap<&'static str, Vec<CheckRow>>;

/// A value that is checked, with its surroundings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checked<'a> {
    /// The value; null if it is absent.
    pub(super) value: &'a Value,
    /// The stored value of the same field; `None` when an object is created, and below lists.
    pub(super) stored: Option<&'a Value>,
    /// The path of the value, as errors name it.
    pub(super) path: &'a ErrorPath<'a>,
    /// The whole object.
    pub(super) object: &'a Value,
    /// The whole stored object; `None` when an object is created.
    pub(super) live: Option<&'a Value>,
}

/// A check in Rust.
pub(super) type FieldCheck = fn(&Checked<'_>, &mut Vec<FieldError>);

/// A row: a field of a type, and its checks in order.
#[derive(Debug, PartialEq)]
struct CheckRow {
    on: On,
    path: Vec<Segment>,
    /// `true` if an absent field is passed over (`?`).
    optional: bool,
    words: Vec<Word>,
}

/// The requests to which a row applies.
#[derive(Clone, Copy, Debug, PartialEq)]
enum On {
    Create,
    Update,
    Both,
}

/// A part of a row's path.
#[derive(Debug, PartialEq)]
enum Segment {
    /// A member of an object; `.` is the value itself, and is no segment.
    Field(&'static str),
    /// Each item of a list (`[]`).
    Items,
    /// Each value of a map (`{}`).
    Values,
}

/// A check, with the text after `=`.
#[derive(Debug, PartialEq)]
struct Word {
    name: &'static str,
    argument: &'static str,
}

/// Checks an object of a built-in kind; the stored one is given on update. `None` if the table has no
/// checks of this kind.
pub(super) fn validate(object: &Value, live: Option<&Value>) -> Option<Vec<FieldError>> {
    let kind = text(object, "kind");
    has(kind).then(|| rows_of(kind, object, live))
}

/// Checks an object whose status is written. `None` if the table has no checks of this status.
pub(super) fn validate_status(object: &Value, live: &Value) -> Option<Vec<FieldError>> {
    validate_through("status", object, live)
}

/// Checks an object that is written through a subresource. `None` if the table has no checks of it.
pub(super) fn validate_through(
    subresource: &str,
    object: &Value,
    live: &Value,
) -> Option<Vec<FieldError>> {
    let kind = format!("{}/{subresource}", text(object, "kind"));
    has(&kind).then(|| rows_of(&kind, object, Some(live)))
}

/// Makes the checks of a type of a part of an object of which nothing is stored.
pub(super) fn of_type(
    type_name: &str,
    value: &Value,
    path: &ErrorPath<'_>,
    object: &Value,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let whole = Checked {
        value,
        stored: None,
        path,
        object,
        live: None,
    };
    whole.is_a(type_name, &mut errors);
    errors
}

/// Returns whether the table has checks of a kind.
pub(super) fn has(kind: &str) -> bool {
    TABLE.contains_key(kind)
}

fn rows_of(kind: &str, object: &Value, live: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let whole = Checked {
        value: object,
        stored: live,
        path: &ErrorPath::ROOT,
        object,
        live,
    };
    whole.is_a(kind, &mut errors);
    errors
}

impl<'a> Checked<'a> {
    /// Makes the checks of a type.
    pub(super) fn is_a(&self, type_name: &str, errors: &mut Vec<FieldError>) {
        for row in TABLE.get(type_name).into_iter().flatten() {
            let applies = match row.on {
                On::Both => true,
                On::Create => self.live.is_none(),
                On::Update => self.live.is_some(),
            };
            if applies {
                self.walk(&row.path, row, errors);
            }
        }
    }

    /// The check of a member of this object.
    pub(super) fn child<R>(&self, name: &str, then: impl FnOnce(&Checked<'_>) -> R) -> R {
        let path = match name {
            "" => *self.path,
            name => self.path.child(name),
        };
        then(&Checked {
            value: &self.value[name],
            stored: self.stored.map(|stored| &stored[name]),
            path: &path,
            ..*self
        })
    }

    fn walk(&self, path: &[Segment], row: &CheckRow, errors: &mut Vec<FieldError>) {
        let Some((first, rest)) = path.split_first() else {
            if !row.optional || !self.value.is_null() {
                self.check(&row.words, errors);
            }
            return;
        };
        match first {
            Segment::Field(name) => self.child(name, |child| child.walk(rest, row, errors)),
            Segment::Items => {
                for (i, item) in self.value.as_array().into_iter().flatten().enumerate() {
                    let path = self.path.index(i);
                    self.part(item, &path).walk(rest, row, errors);
                }
            }
            Segment::Values => {
                for (key, value) in self.value.as_object().into_iter().flatten() {
                    let path = self.path.key(key);
                    self.part(value, &path).walk(rest, row, errors);
                }
            }
        }
    }

    /// The check of a part of this value, such as an item of a list, of which nothing is stored.
    pub(super) fn part<'b>(&self, value: &'b Value, path: &'b ErrorPath<'b>) -> Checked<'b>
    where
        'a: 'b,
    {
        Checked {
            value,
            stored: None,
            path,
            object: self.object,
            live: self.live,
        }
    }

    /// Makes checks one after the other. A required field that is absent is not checked further, nor one that
    /// is empty and need not be set.
    fn check(&self, words: &[Word], errors: &mut Vec<FieldError>) {
        for word in words {
            let before = errors.len();
            words::check(word.name, word.argument, self, errors);
            if matches!(word.name, "required" | "present") && errors.len() > before
                || word.name == "if-set" && self.is_zero()
            {
                return;
            }
        }
    }

    /// Returns whether the field is absent, or has the zero value of its type.
    pub(super) fn is_zero(&self) -> bool {
        is_zero(self.value)
    }

    /// The stored value of the field; null if it is absent, `None` when an object is created.
    pub(super) fn before(&self) -> Option<&'a Value> {
        self.stored.or(self.live.map(|_| &ABSENT))
    }
}

fn parse(table: &'static str) -> CheckTable {
    let mut types = CheckTable::new();
    let mut current = None;
    for line in table.lines() {
        let line = match line.strip_prefix('#') {
            Some(_) => continue,
            None => line,
        };
        match line.strip_prefix('\t') {
            Some(row) => {
                if let Some(rows) = current.and_then(|name| types.get_mut(name)) {
                    rows.push(parse_row(row));
                }
            }
            None if line.is_empty() => {}
            None => {
                current = Some(line);
                types.insert(line, Vec::new());
            }
        }
    }
    types
}

fn parse_row(row: &'static str) -> CheckRow {
    let (on, row) = match row.split_at_checked(2) {
        Some(("+ ", rest)) => (On::Create, rest),
        Some(("~ ", rest)) => (On::Update, rest),
        _ => (On::Both, row),
    };
    let mut words = words_of(row);
    let path = words.next().map_or("", |word| word.name);
    let (path, optional) = match path.strip_suffix('?') {
        Some(path) => (path, true),
        None => (path, false),
    };
    CheckRow {
        on,
        path: parse_path(path),
        optional,
        words: words.collect(),
    }
}

fn parse_path(path: &'static str) -> Vec<Segment> {
    let mut segments = Vec::new();
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let name = part.trim_end_matches(['[', ']', '{', '}']);
        if !name.is_empty() {
            segments.push(Segment::Field(name));
        }
        match &part[name.len()..] {
            "[]" => segments.push(Segment::Items),
            "{}" => segments.push(Segment::Values),
            _ => {}
        }
    }
    segments
}

/// Splits a row into words. The text after `=` may be in quotes, and then may have spaces.
fn words_of(row: &'static str) -> impl Iterator<Item = Word> {
    let mut rest = row.trim();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.find([' ', '=']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let (argument, after) = match after.strip_prefix('=') {
            None => ("", after),
            Some(after) => match after
                .strip_prefix('"')
                .and_then(|text| text.split_once('"'))
            {
                Some((text, after)) => (text, after),
                None => after.split_at(after.find(' ').unwrap_or(after.len())),
            },
        };
        rest = after.trim_start();
        Some(Word { name, argument })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::kinds::kinds;
    use crate::schema::{Struct, Type};

    #[test]
    fn a_row_has_a_path_and_words_with_arguments() {
        assert_eq!(
            parse_row("~ rules[].paths{}.type? enum=A,B immutable=\"may not be changed\" X"),
            CheckRow {
                on: On::Update,
                path: vec![
                    Segment::Field("rules"),
                    Segment::Items,
                    Segment::Field("paths"),
                    Segment::Values,
                    Segment::Field("type"),
                ],
                optional: true,
                words: vec![
                    Word {
                        name: "enum",
                        argument: "A,B"
                    },
                    Word {
                        name: "immutable",
                        argument: "may not be changed"
                    },
                    Word {
                        name: "X",
                        argument: ""
                    },
                ],
            }
        );
    }

    /// Follows a row's path through the types; says where it ends, or which part is unknown.
    fn follow(root: &Struct, path: &[Segment]) -> Result<(), String> {
        let Some((first, rest)) = path.split_first() else {
            return Ok(());
        };
        let Segment::Field(name) = first else {
            return Err(format!("{}: a type has no items", root.name));
        };
        let field = root
            .field(name)
            .ok_or(format!("{} has no {name}", root.name))?;
        let (ty, rest) = match (&field.ty, rest.split_first()) {
            (Type::List(list), Some((Segment::Items, rest))) => (&list.item, rest),
            (Type::Map(map), Some((Segment::Values, rest))) => (&map.value, rest),
            (ty, _) => (ty, rest),
        };
        match ty {
            Type::Struct(inner) => follow(inner, rest),
            _ if rest.is_empty() => Ok(()),
            _ => Err(format!("{}.{name} has no fields", root.name)),
        }
    }

    #[test]
    fn each_path_of_a_kind_is_in_its_type_and_each_word_is_known() {
        for (name, rows) in TABLE.iter() {
            let kind = name.split('/').next().unwrap_or_default();
            let facts = kinds().iter().find(|facts| facts.kind == kind);
            let root = facts.and_then(|facts| facts.root());
            for row in rows {
                if let Some(root) = root {
                    follow(root, &row.path).unwrap();
                }
                for word in &row.words {
                    let known = words::is_known(word.name, word.argument);
                    assert!(known || TABLE.contains_key(word.name), "{name}: {word:?}");
                }
            }
        }
    }

    #[test]
    fn every_kind_without_rows_has_rules_of_its_own() {
        let builtin = crate::server::Resources::builtin();
        let kinds = builtin.iter().map(|resource| &*resource.kind);
        let mut without: Vec<&str> = kinds.filter(|kind| !has(kind)).collect();
        without.sort_unstable();
        without.dedup();
        let own = [
            "ConfigMap",
            "CustomResourceDefinition",
            "Deployment",
            "Event",
            "Lease",
            "Namespace",
            "Pod",
            "Service",
        ];
        assert_eq!(without, own);
    }
}
