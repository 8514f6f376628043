//! The identity of an object.

use std::fmt;

use optimist_apiserver::object::{GroupVersion, Metadata, text};
use serde_json::Value;

use crate::message::ObjectHint;

/// The identity of a case's object. The version of the group does not tell objects apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectId {
    /// The API group; empty for the core group.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The namespace; empty if it is not said, or if the kind has none.
    pub namespace: String,
    /// The name; `PREFIX*` for a manifest that has a `generateName` in its place.
    pub name: String,
}

impl ObjectId {
    /// The identity of an object.
    pub fn from_object(object: &Value) -> Self {
        let version = GroupVersion::parse(text(object, "apiVersion"));
        let prefix = object.meta_text("generateName");
        Self {
            group: version.map(|version| version.group).unwrap_or_default(),
            kind: text(object, "kind").to_owned(),
            namespace: object.namespace().to_owned(),
            name: match object.name() {
                "" if !prefix.is_empty() => format!("{prefix}*"),
                name => name.to_owned(),
            },
        }
    }

    /// The namespace; `default` if it is not said.
    pub fn namespace_or_default(&self) -> &str {
        match self.namespace.as_str() {
            "" => "default",
            namespace => namespace,
        }
    }

    /// Returns whether a server makes the rest of the name. Two such manifests are never the same object.
    pub fn is_generated(&self) -> bool {
        self.name.ends_with('*')
    }

    /// Returns whether both can be the same object. A namespace that is not said can be any.
    pub fn may_be(&self, other: &Self) -> bool {
        let namespaces = [&self.namespace, &other.namespace];
        self.group == other.group
            && self.kind == other.kind
            && self.name == other.name
            && (namespaces[0] == namespaces[1] || namespaces.iter().any(|it| it.is_empty()))
    }

    /// Returns whether an error message can be about this object: nothing that it says is otherwise.
    pub fn fits(&self, hint: &ObjectHint) -> bool {
        let said = |said: &Option<String>, own: &str| said.as_deref().is_none_or(|it| it == own);
        let group = hint.api_version.as_deref().and_then(GroupVersion::parse);
        let resource = hint.resource.as_deref().map(|resource| {
            let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
            let kind = self.kind.to_ascii_lowercase();
            group == self.group && plural.starts_with(kind.trim_end_matches('y'))
        });
        said(&hint.kind, &self.kind)
            && said(&hint.name, &self.name)
            && (said(&hint.namespace, &self.namespace) || self.namespace.is_empty())
            && group.is_none_or(|version| version.group == self.group)
            && resource.unwrap_or(true)
    }
}

impl fmt::Display for ObjectId {
    /// `Deployment shop/web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.kind)?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}
