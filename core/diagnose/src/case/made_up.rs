//! Names that no input says, and what commands have in their place.

use optimist_apiserver::object::{Metadata, text};
use optimist_simulation::ObjectRef;
use serde_json::Value;

use super::ObjectId;

/// The parts of an object's identity that no input says. The core runs with a value in their place. A
/// command must not: it could write to another object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MadeUpIdentity {
    /// `true` if the kind is taken from what most messages are about: neither a kind nor a resource is said.
    pub kind: bool,
    /// `true` if the name is made up.
    pub name: bool,
    /// `true` if the namespace is made up.
    pub namespace: bool,
}

impl MadeUpIdentity {
    /// Returns the name of an object for a command: `NAME` if it is made up.
    pub fn name(self, object: &ObjectRef) -> &str {
        if self.name { "NAME" } else { object.name() }
    }

    /// Returns the namespace of an object for a command: `NAMESPACE` if it is made up.
    pub fn namespace(self, object: &ObjectRef) -> &str {
        if self.namespace {
            "NAMESPACE"
        } else {
            object.namespace()
        }
    }

    /// Returns the identity of an object for a title, with these names in it. A namespace that is not said stays out.
    pub fn title(self, id: &ObjectId) -> ObjectId {
        let named = |is_made_up: bool, name: &str, placeholder: &str| {
            let is_shown = is_made_up && !name.is_empty();
            if is_shown { placeholder } else { name }.to_owned()
        };
        ObjectId {
            kind: named(self.kind, &id.kind, "KIND"),
            namespace: named(self.namespace, &id.namespace, "NAMESPACE"),
            name: named(self.name, &id.name, "NAME"),
            ..id.clone()
        }
    }

    /// Returns the target of a request about an object for code, with these names in its path.
    pub(crate) fn target(self, object: &ObjectRef, target: &str) -> String {
        let path = object.path();
        let Some(rest) = target.strip_prefix(&path) else {
            return target.to_owned();
        };
        let resource = object.resource();
        resource.path(self.namespace(object), self.name(object)) + rest
    }

    /// Returns the body of a request about an object for code, with these names in it.
    pub(crate) fn body(self, object: &ObjectRef, body: &Value) -> Value {
        let mut body = body.clone();
        let names = [
            (self.namespace, "namespace", self.namespace(object)),
            (self.name, "name", self.name(object)),
        ];
        for (is_made_up, field, name) in names {
            if is_made_up && !text(&body["metadata"], field).is_empty() {
                body.set_meta(field, name);
            }
        }
        body
    }
}
