//! Reads a property, and says what is wrong where.

use optimist_apiserver::yaml::{Content, Located, Member, parse_located};
use optimist_simulation::ActorId;
use optimist_simulation::explore::{HistoryProperty, Occurrence};
use serde_json::Value;

use super::{FieldBound, StoredCondition, WrittenProperty};
use crate::FieldPath;

/// The keys with which a property begins.
const KEYS: [&str; 4] = ["never", "always", "at rest", "before"];

/// The keys of a condition.
const CONDITIONS: [&str; 7] = ["stored", "same", "contains", "exists", "not", "all", "any"];

/// An error in the text of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyError {
    /// Counted from 1.
    pub line: usize,
    /// The position in the line, in characters, counted from 1.
    pub column: usize,
    /// The mistake there.
    pub kind: PropertyErrorKind,
}

/// A mistake in the text of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PropertyErrorKind {
    /// It is not YAML, with the words of the parser.
    Yaml(String),
    /// It does not begin with a key that is known here. `None`: it has no key.
    Unknown(Option<String>),
    /// It has a second key.
    Second(String),
    /// It asks whether every history comes to rest, which is so by construction.
    Settles,
    /// It counts objects, and the search has one.
    CountsObjects(String),
    /// A word after `never` that is not known.
    Forbidden(String),
    /// There is no condition where one is needed.
    NoCondition,
    /// A condition has a key that is not known.
    UnknownCondition(String),
    /// The text is no path of a field.
    NotAPath(String),
    /// The field has a version that does not tell states of the search apart.
    Version(String),
    /// Two paths are needed.
    TwoPaths,
    /// A text is needed.
    Text,
    /// `yes` or `no` is needed.
    Flag,
    /// A whole number is needed after `at most` and `at least`.
    Number(String),
    /// Two occurrences are needed.
    TwoOccurrences,
    /// The text is no occurrence.
    Occurrence(String),
    /// The actor does not take part.
    NoSuchActor(ActorId),
}

type PropertyResult<T> = Result<T, PropertyError>;

fn wrong<T>(at: &Located, kind: PropertyErrorKind) -> PropertyResult<T> {
    Err(PropertyError {
        line: at.line,
        column: at.column,
        kind,
    })
}

fn wrong_key<T>(at: &Member, kind: PropertyErrorKind) -> PropertyResult<T> {
    Err(PropertyError {
        line: at.line,
        column: at.column,
        kind,
    })
}

/// Reads the property of a search with a number of actors.
///
/// # Errors
/// The first error, and its place.
pub(super) fn property(text: &str, actors: usize) -> PropertyResult<WrittenProperty> {
    let located = parse_located(text).map_err(|error| {
        // The parser can stop after the end of the text.
        let last = text.lines().count().max(1);
        let length = text.lines().last().map_or(0, |line| line.chars().count());
        let column = match error.line > last {
            true => length + 1,
            false => error.column,
        };
        PropertyError {
            line: error.line.min(last),
            column,
            kind: PropertyErrorKind::Yaml(error.message),
        }
    })?;
    let Content::Map(members) = &located.content else {
        let known = |text: &String| (!text.is_empty()).then(|| text.clone());
        let text = match &located.content {
            Content::Scalar(_, text) => known(text),
            _ => None,
        };
        return wrong(&located, PropertyErrorKind::Unknown(text));
    };
    let Some((member, more)) = members.split_first() else {
        return wrong(&located, PropertyErrorKind::Unknown(None));
    };
    if let Some(second) = more.first() {
        return wrong_key(second, PropertyErrorKind::Second(second.key.clone()));
    }
    let value = &member.value;
    match member.key.as_str() {
        "never" => never(value),
        "always" => Ok(HistoryProperty::Always(conditions(value)?)),
        "at rest" => Ok(HistoryProperty::AtRest(conditions(value)?)),
        "before" => before(value, actors),
        "settles" => wrong_key(member, PropertyErrorKind::Settles),
        key => wrong_key(member, PropertyErrorKind::Unknown(Some(key.to_owned()))),
    }
}

fn never(value: &Located) -> PropertyResult<WrittenProperty> {
    match &value.content {
        Content::List(items) => match &items[..] {
            [one] => never(one),
            [_, second, ..] => wrong(second, PropertyErrorKind::Second(written_word(second))),
            [] => wrong(value, PropertyErrorKind::NoCondition),
        },
        Content::Map(_) => {
            let condition = Box::new(conditions(value)?);
            Ok(HistoryProperty::Always(StoredCondition::Not(condition)))
        }
        Content::Scalar(_, text) => match text.trim() {
            "lost edit" => Ok(HistoryProperty::NoEditLost),
            "" => wrong(value, PropertyErrorKind::NoCondition),
            counts if counts.starts_with("more than ") => {
                wrong(value, PropertyErrorKind::CountsObjects(counts.to_owned()))
            }
            other => wrong(value, PropertyErrorKind::Forbidden(other.to_owned())),
        },
    }
}

/// Reads a mapping whose members must all hold.
fn conditions(value: &Located) -> PropertyResult<StoredCondition> {
    let Content::Map(members) = &value.content else {
        return wrong(value, PropertyErrorKind::NoCondition);
    };
    let mut all = Vec::new();
    for member in members {
        match member.key.as_str() {
            "stored" => {
                for place in fields(&member.value)? {
                    let path = path(&place.key, (place.line, place.column))?;
                    all.push(StoredCondition::Stored(path, bound(&place.value)?));
                }
            }
            "contains" => {
                for place in fields(&member.value)? {
                    let path = path(&place.key, (place.line, place.column))?;
                    let text = text(&place.value)?.to_owned();
                    all.push(StoredCondition::Contains(path, text));
                }
            }
            "same" => all.push(same(&member.value)?),
            "exists" => match member.value.content {
                Content::Scalar(Value::Bool(exists), _) => {
                    all.push(StoredCondition::Exists(exists));
                }
                _ => return wrong(&member.value, PropertyErrorKind::Flag),
            },
            "not" => all.push(StoredCondition::Not(Box::new(conditions(&member.value)?))),
            "all" => all.push(StoredCondition::All(each(&member.value)?)),
            "any" => all.push(StoredCondition::Any(each(&member.value)?)),
            key => {
                let kind = PropertyErrorKind::UnknownCondition(key.to_owned());
                return wrong_key(member, kind);
            }
        }
    }
    match all.len() {
        0 => wrong(value, PropertyErrorKind::NoCondition),
        1 => Ok(all.remove(0)),
        _ => Ok(StoredCondition::All(all)),
    }
}

/// Reads a list of conditions.
fn each(value: &Located) -> PropertyResult<Vec<StoredCondition>> {
    match &value.content {
        Content::List(items) if !items.is_empty() => items.iter().map(conditions).collect(),
        _ => wrong(value, PropertyErrorKind::NoCondition),
    }
}

fn same(value: &Located) -> PropertyResult<StoredCondition> {
    match &value.content {
        Content::List(items) if items.len() == 2 => {
            let read = |at: &Located| path(text(at)?, (at.line, at.column));
            Ok(StoredCondition::Same(read(&items[0])?, read(&items[1])?))
        }
        _ => wrong(value, PropertyErrorKind::TwoPaths),
    }
}

/// The fields of a mapping: one at least.
fn fields(value: &Located) -> PropertyResult<&[Member]> {
    match &value.content {
        Content::Map(members) if !members.is_empty() => Ok(members),
        _ => wrong(value, PropertyErrorKind::NoCondition),
    }
}

fn path(written: &str, (line, column): (usize, usize)) -> PropertyResult<FieldPath> {
    let error = |kind: fn(String) -> PropertyErrorKind| PropertyError {
        line,
        column,
        kind: kind(written.to_owned()),
    };
    let path = FieldPath::parse(written).map_err(|_| error(PropertyErrorKind::NotAPath))?;
    // Both are one state of a search.
    if path.is_versioned() {
        return Err(error(PropertyErrorKind::Version));
    }
    Ok(path)
}

fn bound(value: &Located) -> PropertyResult<FieldBound> {
    let Content::Scalar(Value::String(text), _) = &value.content else {
        let value = Value::from(value);
        return Ok(FieldBound::Is((!value.is_null()).then_some(value)));
    };
    let number = |written: &str| {
        let number = written.trim().parse();
        number.or_else(|_| wrong(value, PropertyErrorKind::Number(written.trim().to_owned())))
    };
    if let Some(written) = text.strip_prefix("at most ") {
        return Ok(FieldBound::AtMost(number(written)?));
    }
    if let Some(written) = text.strip_prefix("at least ") {
        return Ok(FieldBound::AtLeast(number(written)?));
    }
    Ok(FieldBound::Is(Some(text.as_str().into())))
}

fn before(value: &Located, actors: usize) -> PropertyResult<WrittenProperty> {
    match &value.content {
        Content::List(items) if items.len() == 2 => {
            let [first, second] = [&items[0], &items[1]].map(|item| occurrence(item, actors));
            Ok(HistoryProperty::Before(first?, second?))
        }
        _ => wrong(value, PropertyErrorKind::TwoOccurrences),
    }
}

fn occurrence(value: &Located, actors: usize) -> PropertyResult<Occurrence<StoredCondition>> {
    let Content::Scalar(_, written) = &value.content else {
        return Ok(Occurrence::Holds(conditions(value)?));
    };
    let known = written.trim().split_once(' ').and_then(|(letter, does)| {
        let actor = ActorId::ALL.into_iter().find(|it| it.letter() == letter)?;
        let occurrence: fn(usize) -> Occurrence<StoredCondition> = match does.trim() {
            "reads" => Occurrence::Reads,
            "writes" => Occurrence::Writes,
            "is refused" => Occurrence::IsRefused,
            _ => return None,
        };
        Some((actor, occurrence))
    });
    let Some((actor, occurrence)) = known else {
        return wrong(value, PropertyErrorKind::Occurrence(written.clone()));
    };
    let position = ActorId::ALL.iter().position(|it| *it == actor);
    match position.filter(|position| *position < actors) {
        Some(position) => Ok(occurrence(position)),
        None => wrong(value, PropertyErrorKind::NoSuchActor(actor)),
    }
}

fn text(value: &Located) -> PropertyResult<&str> {
    match &value.content {
        Content::Scalar(scalar, text) if !scalar.is_null() => Ok(text.trim_end()),
        _ => wrong(value, PropertyErrorKind::Text),
    }
}

/// A part as it is written, if it is a word.
fn written_word(value: &Located) -> String {
    match &value.content {
        Content::Scalar(_, text) => text.clone(),
        _ => String::new(),
    }
}

impl PropertyErrorKind {
    /// Returns the words that can stand where one is not known.
    pub fn known_words(&self) -> &'static [&'static str] {
        match self {
            Self::Unknown(_) => &KEYS,
            Self::UnknownCondition(_) => &CONDITIONS,
            _ => &[],
        }
    }
}
