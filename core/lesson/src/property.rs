//! A property of one's own, in the language of lessons: `never: [lost edit]`,
//! `always: {stored: {spec.replicas: at most 5}}`, `at rest: {exists: yes}`,
//! `before: [A writes, B reads]`.

mod examples;
mod read;

use optimist_simulation::explore::{HistoryProperty, ObjectCondition};
use serde_json::Value;

use super::FieldPath;
use super::condition::{has, has_same};
pub use examples::example_properties;
pub use read::{PropertyError, PropertyErrorKind};

/// A property that somebody wrote.
pub type WrittenProperty = HistoryProperty<StoredCondition>;

/// Parses a property of a search with a number of actors.
///
/// # Errors
/// The first error, and its place.
pub fn parse_property(text: &str, actors: usize) -> Result<WrittenProperty, PropertyError> {
    read::property(text, actors)
}

/// A condition on the stored object. A deleted object has no fields.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredCondition {
    /// A field has a value, or is within a bound.
    Stored(FieldPath, FieldBound),
    /// The object has the same value, and has one, at two places.
    Same(FieldPath, FieldPath),
    /// A list has a text.
    Contains(FieldPath, String),
    /// The object exists, or (`false`) does not.
    Exists(bool),
    /// The condition does not hold.
    Not(Box<StoredCondition>),
    /// All of these hold.
    All(Vec<StoredCondition>),
    /// At least one of these holds.
    Any(Vec<StoredCondition>),
}

/// The value or the bound that a field must have.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldBound {
    /// This value; `None`: there is none.
    Is(Option<Value>),
    /// A number that is not larger.
    AtMost(i64),
    /// A number that is not smaller.
    AtLeast(i64),
}

impl FieldBound {
    fn holds_at(&self, path: &FieldPath, object: Option<&Value>) -> bool {
        let number = || path.find(object?)?.as_f64();
        match self {
            Self::Is(wanted) => has(object, path, wanted.as_ref()),
            Self::AtMost(most) => number().is_some_and(|number| number <= *most as f64),
            Self::AtLeast(least) => number().is_some_and(|number| number >= *least as f64),
        }
    }
}

impl ObjectCondition for StoredCondition {
    fn holds(&self, object: Option<&Value>) -> bool {
        match self {
            Self::Stored(path, bound) => bound.holds_at(path, object),
            Self::Same(one, other) => has_same(object, [one, other]),
            Self::Contains(path, text) => object
                .and_then(|object| path.find(object)?.as_array())
                .is_some_and(|items| items.iter().any(|item| *item == **text)),
            Self::Exists(exists) => object.is_some() == *exists,
            Self::Not(condition) => !condition.holds(object),
            Self::All(all) => all.iter().all(|condition| condition.holds(object)),
            Self::Any(any) => any.iter().any(|condition| condition.holds(object)),
        }
    }

    fn sees_same(&self, one: Option<&Value>, other: Option<&Value>) -> bool {
        let same = |path: &FieldPath| {
            one.and_then(|object| path.find(object)) == other.and_then(|object| path.find(object))
        };
        match self {
            Self::Stored(path, _) | Self::Contains(path, _) => same(path),
            Self::Same(first, second) => same(first) && same(second),
            Self::Exists(_) => one.is_some() == other.is_some(),
            Self::Not(condition) => condition.sees_same(one, other),
            Self::All(all) | Self::Any(all) => {
                all.iter().all(|condition| condition.sees_same(one, other))
            }
        }
    }
}
