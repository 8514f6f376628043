//! A reference to an observed object.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use http::Method;
use serde_json::{Value, json};

use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::{Resource, key_of};

use crate::Subresource;

/// A reference to an object of a world. The object may be deleted.
#[derive(Clone, Debug)]
pub struct ObjectRef {
    resource: Arc<Resource>,
    namespace: Arc<str>,
    name: Arc<str>,
    key: Arc<str>,
}

impl ObjectRef {
    /// The reference to the object with this kind, namespace and name.
    pub fn new(resource: &Arc<Resource>, object: &Value) -> Self {
        Self {
            resource: Arc::clone(resource),
            namespace: object.namespace().into(),
            name: object.name().into(),
            key: key_of(resource, object).into(),
        }
    }

    /// Its kind.
    pub fn resource(&self) -> &Arc<Resource> {
        &self.resource
    }

    /// Its namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its key in the store.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns whether a request is about the object: it names it, or creates it by the name that the
    /// request's body has.
    pub fn is_addressed_by(&self, method: &Method, target: &str, sent_name: &str) -> bool {
        let path = target.split('?').next().unwrap_or_default();
        let rest = path.strip_prefix(&self.path());
        let is_named = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let is_created = *method == Method::POST
            && sent_name == self.name()
            && self.path() == format!("{path}/{}", self.name());
        is_named || is_created
    }

    /// Returns the object as an actor knows it that has not read it: its name and namespace.
    pub fn unread(&self) -> Arc<Value> {
        let metadata = json!({"name": self.name(), "namespace": self.namespace()});
        Arc::new(json!({"metadata": metadata}))
    }

    /// Its path on the server.
    pub fn path(&self) -> String {
        self.resource.path(&self.namespace, &self.name)
    }

    /// The path of its Scale.
    pub fn scale_path(&self) -> String {
        format!("{}/{}", self.path(), Subresource::Scale.name())
    }
}

impl Hash for ObjectRef {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl PartialEq for ObjectRef {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for ObjectRef {}

impl fmt::Display for ObjectRef {
    /// `Deployment nginx-deployment`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.resource.kind, self.name)
    }
}
