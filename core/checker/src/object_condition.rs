//! Conditions on the stored objects of a moment.

use std::fmt;
use std::sync::Arc;

use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::ApiServer;
use optimist_controller::program::Kind;
use optimist_ledger::ObjectRef;
use serde_json::Value;

use crate::property::count;

/// A condition on the stored objects of a moment.
pub trait ObjectCondition: fmt::Debug {
    /// Returns whether it holds.
    fn holds(&self, stored: StoredObjects<'_>) -> bool;

    /// Returns whether the parts of two moments at which it looks are the same.
    fn sees_same(&self, one: StoredObjects<'_>, other: StoredObjects<'_>) -> bool;
}

/// A condition of any type.
pub type AnyCondition = Arc<dyn ObjectCondition + Send + Sync>;

/// The objects that a condition sees at a moment: the object that it is about, and how many objects of a kind there are.
#[derive(Clone, Copy, Debug)]
pub enum StoredObjects<'a> {
    /// One object alone; `None` if it does not exist.
    One(Option<&'a Value>),
    /// All objects of a server, and which of them it is about.
    All(&'a ApiServer, &'a ObjectRef),
}

impl<'a> StoredObjects<'a> {
    /// The object; `None` if it does not exist.
    pub fn object(self) -> Option<&'a Value> {
        match self {
            Self::One(object) => object,
            Self::All(server, object) => {
                let stored = server.store().get(object.key());
                stored.map(|(_, object)| &**object)
            }
        }
    }

    /// The number of objects of a kind, in all namespaces.
    pub fn count(self, kind: &Kind) -> usize {
        match self {
            Self::One(object) => {
                let is_one = |object: &&Value| {
                    text(object, "apiVersion") == kind.api_version
                        && text(object, "kind") == kind.kind
                };
                usize::from(object.filter(is_one).is_some())
            }
            Self::All(server, _) => count(server, kind),
        }
    }

    /// Returns whether it is about an object that a process was shown.
    pub(super) fn is_about(object: &ObjectRef, shown: &Value) -> bool {
        let resource = object.resource();
        shown.name() == object.name()
            && shown.namespace() == object.namespace()
            && text(shown, "kind") == resource.kind
            && text(shown, "apiVersion") == resource.group_version.to_string()
    }
}
