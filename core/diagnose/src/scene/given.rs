//! The parts that are added to a message.

use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::{Resource, Resources};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::MissingPart;
use crate::message::ReportedError;

/// The parts that a person adds to a message. `None` where nothing is added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenParts {
    /// Group and version.
    pub api_version: Option<String>,
    /// The kind.
    pub kind: Option<String>,
    /// The namespace.
    pub namespace: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The field manager of the refused write.
    pub manager: Option<String>,
    /// The manifest of the refused write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Value>,
    /// The manifest of the write before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_manifest: Option<Value>,
}

impl GivenParts {
    /// Takes a manifest, and its identity for what was not given. If another object was given, it is not the manifest of
    /// the refused write.
    #[must_use]
    pub fn or_of_manifest(self, manifest: &Value) -> Self {
        let said = |value: &str| (!value.is_empty()).then(|| value.to_owned());
        let is_given = |given: &Option<String>, own: &str| {
            given.is_none() || own.is_empty() || given.as_deref() == Some(own)
        };
        let is_of_object = is_given(&self.api_version, text(manifest, "apiVersion"))
            && is_given(&self.kind, text(manifest, "kind"))
            && is_given(&self.namespace, manifest.namespace())
            && is_given(&self.name, manifest.name());
        Self {
            api_version: self
                .api_version
                .or_else(|| said(text(manifest, "apiVersion"))),
            kind: self.kind.or_else(|| said(text(manifest, "kind"))),
            namespace: self.namespace.or_else(|| said(manifest.namespace())),
            name: self.name.or_else(|| said(manifest.name())),
            manifest: is_of_object.then(|| manifest.clone()),
            ..self
        }
    }

    /// Returns a message whose object has what a person adds, where the message says nothing. A name that no API server
    /// takes is not added.
    #[must_use]
    pub fn completed(&self, error: &ReportedError) -> ReportedError {
        let (given, _) = self.without_refused_names(None);
        let mut error = error.clone();
        let object = &mut error.object;
        if object.resource.is_none() && object.kind.is_none() {
            object.kind = given.kind;
            object.api_version = given.api_version.or(object.api_version.take());
        }
        object.name = object.name.take().or(given.name);
        object.namespace = object.namespace.take().or(given.namespace);
        error
    }

    /// Returns the parts without a name and a namespace that no API server takes, and why it takes neither.
    pub(super) fn without_refused_names(
        &self,
        resource: Option<&Resource>,
    ) -> (Self, Vec<MissingPart>) {
        let mut given = self.clone();
        let mut refused = Vec::new();
        let name = self.name.as_deref().unwrap_or("example");
        let namespace = self.namespace.as_deref().unwrap_or("default");
        let [of_name, of_namespace] = reasons(resource, name, namespace);
        if let Some(reason) = of_name
            && let Some(name) = given.name.take()
        {
            refused.push(MissingPart::RefusedName { name, reason });
        }
        if let Some(reason) = of_namespace
            && let Some(namespace) = given.namespace.take()
        {
            refused.push(MissingPart::RefusedNamespace { namespace, reason });
        }
        (given, refused)
    }

    pub(crate) fn without_manifest(&self) -> Self {
        Self {
            manifest: None,
            previous_manifest: None,
            ..self.clone()
        }
    }
}

/// Returns why an API server takes no object with a name in a namespace: the reasons for the name, and those for the
/// namespace. A kind that is not built in has names of the same form as a ConfigMap.
fn reasons(resource: Option<&Resource>, name: &str, namespace: &str) -> [Option<String>; 2] {
    let is_config_map = |one: &&Resource| one.kind == "ConfigMap";
    let builtin = Resources::builtin();
    let mut all = builtin.iter().map(|one| &**one);
    let Some(resource) = resource.or_else(|| all.find(is_config_map)) else {
        return [None, None];
    };
    let mut object = json!({"apiVersion": resource.group_version.to_string(), "kind": resource.kind,
        "metadata": {"name": name}});
    if resource.namespaced {
        object.set_meta("namespace", namespace);
    }
    super::sample::skeleton(&mut object);
    let errors = resource.validate("", &object, None);
    ["metadata.name", "metadata.namespace"].map(|field| {
        let own = errors.iter().filter(|error| error.field == field);
        let details: Vec<&str> = own.map(|error| error.detail.as_str()).collect();
        (!details.is_empty()).then(|| details.join("; "))
    })
}
