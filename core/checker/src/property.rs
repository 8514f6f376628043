//! The properties that a search checks.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::ApiServer;
use optimist_apiserver::storage::Change;

use optimist_controller::controller_of;
use optimist_controller::program::Kind;
use optimist_system::{Event, Performed};

/// A property that must hold in every state and for every step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Safety {
    /// There are never more than this number of objects of a kind.
    AtMost(usize, Kind),
    /// No object of a kind is deleted whose controller (`ownerReferences`) lives.
    NotDeletedWhileOwnerLives(Kind),
    /// No step removes a finalizer from an object of a kind that is not about to go.
    KeepsFinalizer(String, Kind),
    /// No acknowledged edit is lost: no write removes an edit of another process that its writer
    /// had not been shown, as the ledger ([`optimist_ledger`]) defines it.
    NoEditLost,
}

/// A property that must hold at rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Goal {
    /// There is this number of objects of a kind.
    Count(usize, Kind),
    /// There are as many objects of a kind as a field says.
    CountIs(Kind, FieldOf),
    /// A field has this value.
    Equal(FieldOf, Value),
    /// Two fields are equal; two missing fields are equal.
    Same(FieldOf, FieldOf),
    /// The same, with numbers compared as texts.
    SameText(FieldOf, FieldOf),
    /// A text is in a list of texts.
    Contains(FieldOf, String),
}

/// A field of an object in the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldOf {
    /// The kind of the object.
    pub kind: Kind,
    /// Its name; it is the first object of this name in any namespace.
    pub name: String,
    /// The field, as a JSON pointer.
    pub field: String,
}

impl Safety {
    /// Returns whether it holds for an event, and for the objects afterwards.
    pub fn holds(&self, before: &ApiServer, after: &ApiServer, performed: &Performed) -> bool {
        match self {
            Self::NoEditLost => performed.done.losses.is_empty(),
            _ => self.holds_between(before, after),
        }
    }

    /// Returns whether it holds for a step between two servers, and for the objects afterwards. The objects
    /// alone do not say whether an edit was lost: the ledger does.
    pub fn holds_between(&self, before: &ApiServer, after: &ApiServer) -> bool {
        match self {
            Self::NoEditLost => true,
            Self::AtMost(most, kind) => count(after, kind) <= *most,
            Self::NotDeletedWhileOwnerLives(kind) => {
                let mut changes = changes(before, after, kind);
                !changes.any(|change| match (&change.before, &change.after) {
                    (Some(deleted), None) => owner_lives(after, deleted),
                    _ => false,
                })
            }
            Self::KeepsFinalizer(finalizer, kind) => {
                let has = |object: &Value| object.finalizers().contains(&finalizer.as_str());
                let mut changes = changes(before, after, kind);
                !changes.any(|change| match (&change.before, &change.after) {
                    (Some(old), Some(new)) => has(old) && !has(new) && !is_deleting(new),
                    _ => false,
                })
            }
        }
    }
}

impl Safety {
    /// Returns whether it holds at the start, before any step.
    pub(super) fn holds_at(&self, server: &ApiServer) -> bool {
        match self {
            Self::AtMost(most, kind) => count(server, kind) <= *most,
            _ => true,
        }
    }

    /// Returns whether it holds by the objects after a step alone, whatever the step was.
    pub(super) fn is_of_objects(&self) -> bool {
        matches!(self, Self::AtMost(..))
    }

    /// Returns whether an event could have violated it: somebody did something, and, for an edit to be lost,
    /// to an object with an edit of another process. An object must be there that must not be deleted,
    /// or whose finalizer must stay.
    pub(super) fn is_tried(&self, event: Event, before: &ApiServer, performed: &Performed) -> bool {
        match self {
            Self::NoEditLost => performed.done.contested,
            Self::AtMost(..) => event.is_action(),
            Self::NotDeletedWhileOwnerLives(kind) => {
                event.is_action() && any(before, kind, |object| owner_lives(before, object))
            }
            Self::KeepsFinalizer(finalizer, kind) => {
                let has = |object: &Value| object.finalizers().contains(&finalizer.as_str());
                event.is_action() && any(before, kind, has)
            }
        }
    }
}

impl Goal {
    /// Returns whether it is true of the objects of a server.
    pub fn is_true(&self, server: &ApiServer) -> bool {
        match self {
            Self::Count(number, kind) => count(server, kind) == *number,
            Self::CountIs(kind, field) => {
                field.value(server) == Some(Value::from(count(server, kind)))
            }
            Self::Equal(field, value) => field.value(server).as_ref() == Some(value),
            Self::Same(a, b) => a.value(server) == b.value(server),
            Self::SameText(a, b) => {
                let text = |field: &FieldOf| match field.value(server) {
                    Some(Value::String(text)) => Some(text),
                    other => other.map(|value| value.to_string()),
                };
                text(a) == text(b)
            }
            Self::Contains(field, text) => field
                .value(server)
                .and_then(|list| Some(list.as_array()?.iter().any(|item| *item == *text)))
                .unwrap_or_default(),
        }
    }
}

impl FieldOf {
    fn value(&self, server: &ApiServer) -> Option<Value> {
        let prefix = prefix(server, &self.kind)?;
        let mut objects = server.store().range(&prefix);
        let (_, _, object) = objects.find(|(_, _, object)| object.name() == self.name)?;
        object.pointer(&self.field).cloned()
    }
}

/// The number of objects of a kind, in all namespaces.
pub(super) fn count(server: &ApiServer, kind: &Kind) -> usize {
    let prefix = prefix(server, kind);
    prefix.map_or(0, |prefix| server.store().range(&prefix).count())
}

/// Returns whether some object of a kind is so, in any namespace.
fn any(server: &ApiServer, kind: &Kind, is_so: impl Fn(&Value) -> bool) -> bool {
    prefix(server, kind).is_some_and(|prefix| {
        let mut objects = server.store().range(&prefix);
        objects.any(|(_, _, object)| is_so(object))
    })
}

fn prefix(server: &ApiServer, kind: &Kind) -> Option<String> {
    let resource = server.resources().by_kind(&kind.api_version, &kind.kind)?;
    Some(format!("{}/", resource.storage_prefix))
}

fn is_deleting(object: &Value) -> bool {
    !object.meta_text("deletionTimestamp").is_empty()
}

/// The changes of a kind between two states.
fn changes<'a>(
    before: &ApiServer,
    after: &'a ApiServer,
    kind: &Kind,
) -> impl Iterator<Item = &'a Change> {
    let prefix = prefix(after, kind);
    let log = after.store().log_after(before.store().revision());
    log.filter(move |change| {
        let prefix = prefix.as_ref();
        prefix.is_some_and(|prefix| change.key.starts_with(prefix))
    })
}

/// Returns whether the controller of an object is in the store and is not about to go.
fn owner_lives(server: &ApiServer, object: &Value) -> bool {
    let Some(reference) = controller_of(object) else {
        return false;
    };
    let kind = Kind::new(text(reference, "apiVersion"), text(reference, "kind"));
    let Some(prefix) = prefix(server, &kind) else {
        return false;
    };
    server
        .store()
        .range(&prefix)
        .any(|(_, _, owner)| owner.uid() == text(reference, "uid") && !is_deleting(owner))
}
