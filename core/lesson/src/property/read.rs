//! Reads a property, and says what is wrong where.

use optimist_apiserver::object::JsonMap;
use optimist_apiserver::yaml::{Content, Located, Member, parse_located};
use optimist_checker::is_interchangeable;
use optimist_controller::program::Kind;
use optimist_simulation::ActorId;
use optimist_simulation::explore::{HistoryProperty, Occurrence};
use serde_json::Value;

use super::{FieldBound, PropertyScope, StoredCondition, WrittenProperty};
use crate::FieldPath;
use crate::path::UnknownPart;

/// The keys with which a property begins. The last one is for a controller alone.
const KEYS: [&str; 5] = ["never", "always", "at rest", "before", "settles"];

/// The keys of a condition. The last one is for a controller alone.
const CONDITIONS: [&str; 8] = [
    "stored", "same", "contains", "exists", "not", "all", "any", "objects",
];

/// An error in the text of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyError {
    /// Counted from 1.
    pub line: usize,
    /// The position in the line, in characters, counted from 1.
    pub column: usize,
    /// The mistake there.
    pub kind: PropertyErrorKind,
    /// `true` if the property is of a search with a controller.
    pub of_controller: bool,
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
    /// It counts objects of a kind that is not known, with those that are.
    Kind(String, String),
    /// It names a uid or a time, which tells no states of the search apart.
    Interchangeable(String),
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
    /// The schema of the kind has no such field.
    NoSuchField {
        /// The kind.
        kind: String,
        /// The path, as far as the part that is not there.
        path: String,
        /// The fields that are known in its place. Empty: no field can be there.
        known: String,
    },
    /// The field has a version that does not tell states of the search apart.
    Version(String),
    /// Two paths are needed.
    TwoPaths,
    /// A text is needed.
    Text,
    /// `yes` or `no` is needed.
    Flag,
    /// `yes` is needed.
    Yes,
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
        of_controller: false,
    })
}

fn wrong_key<T>(at: &Member, kind: PropertyErrorKind) -> PropertyResult<T> {
    Err(PropertyError {
        line: at.line,
        column: at.column,
        kind,
        of_controller: false,
    })
}

/// Reads the property of a search.
///
/// # Errors
/// The first error, and its place.
pub(super) fn property(text: &str, scope: PropertyScope<'_>) -> PropertyResult<WrittenProperty> {
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
            of_controller: false,
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
        "never" => never(value, scope),
        "always" => Ok(HistoryProperty::Always(conditions(value, scope)?)),
        "at rest" => Ok(HistoryProperty::AtRest(conditions(value, scope)?)),
        "before" => before(value, scope),
        "settles" if scope.kinds.is_some() => match value.content {
            Content::Scalar(Value::Bool(true), _) => Ok(HistoryProperty::Settles),
            _ => wrong(value, PropertyErrorKind::Yes),
        },
        "settles" => wrong_key(member, PropertyErrorKind::Settles),
        key => wrong_key(member, PropertyErrorKind::Unknown(Some(key.to_owned()))),
    }
}

fn never(value: &Located, scope: PropertyScope<'_>) -> PropertyResult<WrittenProperty> {
    match &value.content {
        Content::List(items) => match &items[..] {
            [one] => never(one, scope),
            [_, second, ..] => wrong(second, PropertyErrorKind::Second(written_word(second))),
            [] => wrong(value, PropertyErrorKind::NoCondition),
        },
        Content::Map(_) => {
            let condition = Box::new(conditions(value, scope)?);
            Ok(HistoryProperty::Always(StoredCondition::Not(condition)))
        }
        Content::Scalar(_, text) => match text.trim() {
            "lost edit" => Ok(HistoryProperty::NoEditLost),
            "" => wrong(value, PropertyErrorKind::NoCondition),
            counts if counts.starts_with("more than ") => more_than(value, counts, scope),
            other => wrong(value, PropertyErrorKind::Forbidden(other.to_owned())),
        },
    }
}

/// Reads that there are more objects of a kind than a number.
fn more_than(
    value: &Located,
    written: &str,
    scope: PropertyScope<'_>,
) -> PropertyResult<WrittenProperty> {
    if scope.kinds.is_none() {
        return wrong(value, PropertyErrorKind::CountsObjects(written.to_owned()));
    }
    let mut words = written.split_whitespace().skip(2);
    let (number, kind) = (words.next().unwrap_or_default(), words.next());
    let (Some(name), None) = (kind, words.next()) else {
        return wrong(value, PropertyErrorKind::Forbidden(written.to_owned()));
    };
    let Ok(most) = number.parse::<u32>() else {
        return wrong(value, PropertyErrorKind::Number(number.to_owned()));
    };
    let Some(kind) = kind_named(name, scope) else {
        return wrong(value, unknown_kind(name, scope));
    };
    let bound = FieldBound::AtMost(most.into());
    Ok(HistoryProperty::Always(StoredCondition::Objects(
        kind, bound,
    )))
}

/// A kind that can be counted, by its name.
fn kind_named(name: &str, scope: PropertyScope<'_>) -> Option<Kind> {
    let mut kinds = scope.kinds.into_iter().flatten();
    kinds.find(|kind| kind.kind == name).cloned()
}

fn unknown_kind(name: &str, scope: PropertyScope<'_>) -> PropertyErrorKind {
    let kinds = scope.kinds.into_iter().flatten();
    let known: Vec<&str> = kinds.map(|kind| kind.kind.as_str()).collect();
    PropertyErrorKind::Kind(name.to_owned(), known.join(", "))
}

/// Reads numbers of objects, by kind.
fn objects(value: &Located, scope: PropertyScope<'_>) -> PropertyResult<Vec<StoredCondition>> {
    let counts = fields(value)?.iter().map(|count| {
        let Some(kind) = kind_named(&count.key, scope) else {
            return wrong_key(count, unknown_kind(&count.key, scope));
        };
        match bound(&count.value)? {
            FieldBound::Is(Some(number)) if !number.is_u64() => wrong(
                &count.value,
                PropertyErrorKind::Number(written_word(&count.value)),
            ),
            FieldBound::Is(None) => wrong(&count.value, PropertyErrorKind::Number(String::new())),
            bound => Ok(StoredCondition::Objects(kind, bound)),
        }
    });
    counts.collect()
}

/// Reads a mapping whose members must all hold.
fn conditions(value: &Located, scope: PropertyScope<'_>) -> PropertyResult<StoredCondition> {
    let Content::Map(members) = &value.content else {
        return wrong(value, PropertyErrorKind::NoCondition);
    };
    let mut all = Vec::new();
    for member in members {
        match member.key.as_str() {
            "stored" => {
                for place in fields(&member.value)? {
                    let bound = bound(&place.value)?;
                    let path = path(&place.key, (place.line, place.column), scope)?;
                    if let FieldBound::Is(Some(wanted)) = &bound {
                        check_told_apart(wanted, &place.value, scope)?;
                    }
                    if scope.kinds.is_some()
                        && path.is_generation()
                        && bound != FieldBound::Is(None)
                    {
                        return wrong_key(place, PropertyErrorKind::Version(place.key.clone()));
                    }
                    all.push(StoredCondition::Stored(path, bound));
                }
            }
            "contains" => {
                for place in fields(&member.value)? {
                    let path = path(&place.key, (place.line, place.column), scope)?;
                    let text = text(&place.value)?.to_owned();
                    check_told_apart(&text.as_str().into(), &place.value, scope)?;
                    all.push(StoredCondition::Contains(path, text));
                }
            }
            "same" => all.push(same(&member.value, scope)?),
            "objects" if scope.kinds.is_some() => all.extend(objects(&member.value, scope)?),
            "exists" => match member.value.content {
                Content::Scalar(Value::Bool(exists), _) => {
                    all.push(StoredCondition::Exists(exists));
                }
                _ => return wrong(&member.value, PropertyErrorKind::Flag),
            },
            "not" => all.push(StoredCondition::Not(Box::new(conditions(
                &member.value,
                scope,
            )?))),
            "all" => all.push(StoredCondition::All(each(&member.value, scope)?)),
            "any" => all.push(StoredCondition::Any(each(&member.value, scope)?)),
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
fn each(value: &Located, scope: PropertyScope<'_>) -> PropertyResult<Vec<StoredCondition>> {
    match &value.content {
        Content::List(items) if !items.is_empty() => {
            items.iter().map(|item| conditions(item, scope)).collect()
        }
        _ => wrong(value, PropertyErrorKind::NoCondition),
    }
}

fn same(value: &Located, scope: PropertyScope<'_>) -> PropertyResult<StoredCondition> {
    let Content::List(items) = &value.content else {
        return wrong(value, PropertyErrorKind::TwoPaths);
    };
    let [one, other] = &items[..] else {
        return wrong(value, PropertyErrorKind::TwoPaths);
    };
    // The search of a controller's orders keeps the order of generations.
    let generation = |at: &Located| {
        let path = FieldPath::parse(text(at).ok()?).ok()?;
        path.is_generation().then_some(path)
    };
    if scope.kinds.is_some()
        && let [Some(one), Some(other)] = [one, other].map(generation)
    {
        return Ok(StoredCondition::Same(one, other));
    }
    let read = |at: &Located| {
        let written = text(at)?;
        let path = path(written, (at.line, at.column), scope)?;
        match scope.kinds.is_some() && path.is_generation() {
            true => wrong(at, PropertyErrorKind::Version(written.to_owned())),
            false => Ok(path),
        }
    };
    Ok(StoredCondition::Same(read(one)?, read(other)?))
}

/// Checks that a value tells states of the search of a controller's orders apart.
fn check_told_apart(wanted: &Value, at: &Located, scope: PropertyScope<'_>) -> PropertyResult<()> {
    if scope.kinds.is_none() {
        return Ok(());
    }
    let all = |members: &JsonMap| {
        members.iter().try_for_each(|(name, member)| {
            if matches!(
                name.as_str(),
                "generation" | "observedGeneration" | "resourceVersion"
            ) {
                return wrong(at, PropertyErrorKind::Version(name.clone()));
            }
            check_told_apart(member, at, scope)
        })
    };
    match wanted {
        Value::String(text) if is_interchangeable(text) => {
            wrong(at, PropertyErrorKind::Interchangeable(text.clone()))
        }
        Value::Array(items) => items
            .iter()
            .try_for_each(|item| check_told_apart(item, at, scope)),
        Value::Object(members) => all(members),
        _ => Ok(()),
    }
}

/// The fields of a mapping: one at least.
fn fields(value: &Located) -> PropertyResult<&[Member]> {
    match &value.content {
        Content::Map(members) if !members.is_empty() => Ok(members),
        _ => wrong(value, PropertyErrorKind::NoCondition),
    }
}

/// Reads the path of a field that an object of the kind can have.
fn path(
    written: &str,
    (line, column): (usize, usize),
    scope: PropertyScope<'_>,
) -> PropertyResult<FieldPath> {
    let error = |kind: PropertyErrorKind| PropertyError {
        line,
        column,
        kind,
        of_controller: false,
    };
    let path = FieldPath::parse(written)
        .map_err(|_| error(PropertyErrorKind::NotAPath(written.to_owned())))?;
    // Both are one state of a search.
    if path.is_versioned() {
        return Err(error(PropertyErrorKind::Version(written.to_owned())));
    }
    let unknown = scope.resource.and_then(|resource| {
        let unknown = path.unknown_in(&resource.root)?;
        Some((resource.kind.clone(), unknown))
    });
    match unknown {
        Some((kind, UnknownPart { path, known })) => {
            let known = known.join(", ");
            Err(error(PropertyErrorKind::NoSuchField { kind, path, known }))
        }
        None => Ok(path),
    }
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

fn before(value: &Located, scope: PropertyScope<'_>) -> PropertyResult<WrittenProperty> {
    match &value.content {
        Content::List(items) if items.len() == 2 => {
            let [first, second] = [&items[0], &items[1]].map(|item| occurrence(item, scope));
            Ok(HistoryProperty::Before(first?, second?))
        }
        _ => wrong(value, PropertyErrorKind::TwoOccurrences),
    }
}

/// The actors that are known also where they do not take part.
const USUAL: [ActorId; 3] = [ActorId::A, ActorId::B, ActorId::C];

fn occurrence(
    value: &Located,
    scope: PropertyScope<'_>,
) -> PropertyResult<Occurrence<StoredCondition>> {
    let Content::Scalar(_, written) = &value.content else {
        return Ok(Occurrence::Holds(conditions(value, scope)?));
    };
    let known = written.trim().split_once(' ').and_then(|(letter, does)| {
        let acting = scope.actors.iter().map(|(actor, _)| *actor);
        let actor = USUAL
            .into_iter()
            .chain(acting)
            .find(|it| it.letter() == letter)?;
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
    match scope.actors.iter().find(|(it, _)| *it == actor) {
        Some((_, number)) => Ok(occurrence(*number)),
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

impl PropertyError {
    /// Returns the words that can stand where one is not known.
    pub fn known_words(&self) -> &'static [&'static str] {
        let words: &[&str] = match self.kind {
            PropertyErrorKind::Unknown(_) => &KEYS,
            PropertyErrorKind::UnknownCondition(_) => &CONDITIONS,
            _ => return &[],
        };
        let (_, of_editors) = words.split_last().unwrap_or((&"", &[]));
        if self.of_controller {
            words
        } else {
            of_editors
        }
    }
}
