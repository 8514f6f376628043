//! The edits that a sentence names, one or several.

use serde_json::Value;

use super::judge::names;
use super::moment::Moment;
use super::said::{Part, Said};

/// Returns whether the last step took away each edit that a sentence names, and whether its actor had been
/// shown them, if this is asked.
pub fn replaces(said: &Said, at: &Moment<'_>, shown: bool) -> Option<bool> {
    let owner = at.named(&said.text("owner"))?;
    let gone = at.judge().gone();
    let is_gone = |edit: &NamedEdit<'_>| {
        let mut gone = gone
            .iter()
            .filter(|gone| gone.owner == owner && (gone.shown || !shown));
        gone.any(|gone| edit.is_at(&gone.place, gone.value.as_ref()))
    };
    Some(edits_named(said)?.iter().all(is_gone))
}

/// The edits that a sentence names, one after another.
fn edits_named(said: &Said) -> Option<Vec<NamedEdit<'_>>> {
    let parts = match and_more(said) {
        Some(more) => more.parts("fields"),
        None => said.parts("edits"),
    };
    let mut named = Vec::new();
    for part in parts {
        match part {
            Part::Said(edit) => named.push(NamedEdit::Said(edit)),
            Part::Text(text) => {
                let names = text.split(", ").filter(|name| !name.is_empty());
                named.extend(names.map(|name| NamedEdit::Name(name.to_owned())));
            }
        }
    }
    (!named.is_empty()).then_some(named)
}

/// An edit as a sentence names it.
enum NamedEdit<'a> {
    Said(&'a Said),
    /// An item or a map is called by its name alone.
    Name(String),
}

impl NamedEdit<'_> {
    /// Returns whether it is the edit at a place.
    fn is_at(&self, place: &[String], value: Option<&Value>) -> bool {
        let edit = match self {
            Self::Said(edit) => edit,
            Self::Name(name) => return names(place).contains(name),
        };
        match (edit.name(), value) {
            ("deletion", _) => place.is_empty() || place[..] == ["metadata", "deletionTimestamp"],
            ("edit_removed", None) => names(place).contains(&edit.text("field")),
            ("edit_removed", Some(_)) => false,
            ("edit_set", Some(value)) => {
                names(place).contains(&edit.text("field"))
                    && begins(&brief(value), &edit.text("value"))
            }
            ("edit_owner_reference", _) => {
                let mut parts = place.iter();
                parts.any(|part| part.starts_with("ownerReferences "))
            }
            _ => false,
        }
    }
}

/// Counts the edits that a sentence speaks of, also those that it does not name.
pub fn edits_counted(said: &Said) -> Option<u64> {
    let more = match and_more(said) {
        Some(more) => more.number("count").filter(|count| *count > 0)?,
        None => 0,
    };
    Some(edits_named(said)?.len() as u64 + more)
}

/// The edits of a sentence that does not name all of them.
fn and_more(said: &Said) -> Option<&Said> {
    let inner = said.inner("edits");
    inner.filter(|inner| inner.name() == "fields_and_more")
}

/// Returns whether an edit that is named is the one at a place.
pub fn is_edit(said: &Said, argument: &str, place: &[String], value: Option<&Value>) -> bool {
    let edit = match said.inner(argument) {
        Some(edit) => NamedEdit::Said(edit),
        None => NamedEdit::Name(said.text(argument)),
    };
    edit.is_at(place, value)
}

/// A value as text. One without a character is in quotation marks.
pub fn brief(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "\"\"".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns whether a text is another one, or begins with it where that one is cut.
pub fn begins(text: &str, said: &str) -> bool {
    match said.strip_suffix('…') {
        Some(head) => text.starts_with(head),
        None => text == said || said.starts_with('[') || said.starts_with('{'),
    }
}
