//! The parts that are added to a message.

use optimist_apiserver::object::{Metadata, text};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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

    pub(crate) fn without_manifest(&self) -> Self {
        Self {
            manifest: None,
            previous_manifest: None,
            ..self.clone()
        }
    }
}
