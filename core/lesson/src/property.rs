//! A property of one's own, in the language of lessons: `never: [lost edit]`, `never: [more than 1 ConfigMap]`,
//! `always: {stored: {spec.replicas: at most 5}}`, `at rest: {exists: yes}`,
//! `settles: yes`, `before: [A writes, B reads]`.

mod examples;
mod read;

use std::sync::Arc;

use optimist_apiserver::server::Resource;
use optimist_controller::program::{Kind, ReadyProgram};
use optimist_simulation::explore::{
    AnyCondition, HistoryProperty, ObjectCondition, Occurrence, StoredObjects,
};
use optimist_simulation::{ActorId, World};
use serde_json::Value;

use super::FieldPath;
use super::condition::has_same;
pub use examples::{example_controller_properties, example_properties};
pub use read::{PropertyError, PropertyErrorKind};

/// A property that somebody wrote.
pub type WrittenProperty = HistoryProperty<StoredCondition>;

/// Parses a property of a search in which these actors take part, in the order of their indexes.
///
/// # Errors
/// The first error, and its place.
pub fn parse_property(text: &str, actors: &[ActorId]) -> Result<WrittenProperty, PropertyError> {
    let actors: Vec<_> = actors.iter().copied().zip(0..).collect();
    let scope = PropertyScope {
        actors: &actors,
        kinds: None,
        resource: None,
    };
    read::property(text, scope)
}

/// Parses a property of the search of a controller's orders from a world. It can also count objects, of the kinds that
/// [`known_kinds`] returns, and ask whether every history comes to rest. One more actor can take part than those
/// that have edits. A field that the schema of the object's kind cannot have is an error.
///
/// # Errors
/// The first error, and its place.
pub fn parse_controller_property(
    text: &str,
    world: &World,
    one_more: Option<ActorId>,
) -> Result<HistoryProperty<AnyCondition>, PropertyError> {
    let kinds = known_kinds(world);
    let takes_part = |id: &ActorId| {
        ActorId::EDITORS.contains(id)
            || world.controller(*id).is_some()
            || one_more == Some(*id)
            || world.copy(*id).is_edited()
    };
    let actors = ActorId::ALL.into_iter().filter(takes_part);
    let actors: Vec<_> = actors.map(|id| (id, id as usize)).collect();
    let scope = PropertyScope {
        actors: &actors,
        kinds: Some(&kinds),
        resource: Some(world.resource()),
    };
    let read = read::property(text, scope);
    let any = |condition| -> AnyCondition { Arc::new(condition) };
    read.map(|property: WrittenProperty| property.map(any))
        .map_err(|error| PropertyError {
            of_controller: true,
            ..error
        })
}

/// The kinds of objects that a property of a controller can count: those that it watches, that of the current
/// object, and those of the ready programs.
pub fn known_kinds(world: &World) -> Vec<Kind> {
    let watched = watched_kinds(world).cloned();
    let resource = world.resource();
    let current = Kind::new(&resource.group_version.to_string(), &resource.kind);
    let usual = [current, ReadyProgram::widget(), ReadyProgram::config_map()];
    let mut kinds: Vec<Kind> = Vec::new();
    for kind in watched.chain(usual) {
        if !kinds.iter().any(|known| known.kind == kind.kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// The kinds that the controllers of a world watch.
fn watched_kinds(world: &World) -> impl Iterator<Item = &Kind> {
    let controllers = world.controllers();
    let watches = controllers.flat_map(|(_, it)| &it.code().program().watches);
    watches.map(|watched| &watched.kind)
}

/// The actors and the kinds of objects that a property can name.
#[derive(Clone, Copy)]
struct PropertyScope<'a> {
    /// The actors that take part, and their numbers in the search.
    actors: &'a [(ActorId, usize)],
    /// The kinds that it can count, if a controller takes part. `None`: the search has one object.
    kinds: Option<&'a [Kind]>,
    /// The kind of the object, if a path must be one of its schema.
    resource: Option<&'a Resource>,
}

/// A condition on the stored objects of a moment. A deleted object has no fields.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredCondition {
    /// A field has a value, or is within a bound.
    Stored(FieldPath, FieldBound),
    /// The object has the same value, and has one, at two places.
    Same(FieldPath, FieldPath),
    /// A list has a text.
    Contains(FieldPath, String),
    /// The number of objects of a kind, in all namespaces, is within a bound.
    Objects(Kind, FieldBound),
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
    /// Returns whether it accepts a value; `None`: there is none.
    fn accepts(&self, value: Option<&Value>) -> bool {
        let number = || value?.as_f64();
        match self {
            Self::Is(wanted) => value == wanted.as_ref(),
            Self::AtMost(most) => number().is_some_and(|number| number <= *most as f64),
            Self::AtLeast(least) => number().is_some_and(|number| number >= *least as f64),
        }
    }
}

/// The fields that must be there for a condition of a property to hold, or not to hold: all that it
/// names but those that must be absent.
pub fn named_fields(property: &WrittenProperty) -> Vec<&FieldPath> {
    let conditions: Vec<&StoredCondition> = match property {
        HistoryProperty::Always(condition) | HistoryProperty::AtRest(condition) => vec![condition],
        HistoryProperty::Before(first, second) => {
            let conditions = [first, second].into_iter().filter_map(|part| match part {
                Occurrence::Holds(condition) => Some(condition),
                Occurrence::Reads(_) | Occurrence::Writes(_) | Occurrence::IsRefused(_) => None,
            });
            conditions.collect()
        }
        HistoryProperty::NoEditLost | HistoryProperty::Settles => Vec::new(),
    };
    conditions
        .into_iter()
        .flat_map(StoredCondition::fields)
        .collect()
}

impl StoredCondition {
    fn fields(&self) -> Vec<&FieldPath> {
        match self {
            Self::Stored(_, FieldBound::Is(None)) | Self::Objects(..) | Self::Exists(_) => {
                Vec::new()
            }
            Self::Stored(path, _) | Self::Contains(path, _) => vec![path],
            Self::Same(one, other) => vec![one, other],
            Self::Not(condition) => condition.fields(),
            Self::All(all) | Self::Any(all) => all.iter().flat_map(Self::fields).collect(),
        }
    }
}

impl ObjectCondition for StoredCondition {
    fn holds(&self, stored: StoredObjects<'_>) -> bool {
        let object = stored.object();
        match self {
            Self::Stored(path, bound) => bound.accepts(object.and_then(|object| path.find(object))),
            Self::Same(one, other) => has_same(object, [one, other]),
            Self::Contains(path, text) => object
                .and_then(|object| path.find(object)?.as_array())
                .is_some_and(|items| items.iter().any(|item| *item == **text)),
            Self::Objects(kind, bound) => bound.accepts(Some(&stored.count(kind).into())),
            Self::Exists(exists) => object.is_some() == *exists,
            Self::Not(condition) => !condition.holds(stored),
            Self::All(all) => all.iter().all(|condition| condition.holds(stored)),
            Self::Any(any) => any.iter().any(|condition| condition.holds(stored)),
        }
    }

    fn sees_same(&self, one: StoredObjects<'_>, other: StoredObjects<'_>) -> bool {
        let same = |path: &FieldPath| {
            let [one, other] = [one, other].map(|stored| stored.object());
            one.and_then(|object| path.find(object)) == other.and_then(|object| path.find(object))
        };
        match self {
            Self::Stored(path, _) | Self::Contains(path, _) => same(path),
            Self::Same(first, second) => same(first) && same(second),
            Self::Objects(kind, _) => one.count(kind) == other.count(kind),
            Self::Exists(_) => one.object().is_some() == other.object().is_some(),
            Self::Not(condition) => condition.sees_same(one, other),
            Self::All(all) | Self::Any(all) => {
                all.iter().all(|condition| condition.sees_same(one, other))
            }
        }
    }
}
