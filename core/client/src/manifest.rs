//! A manifest as people have it: YAML or JSON, written by hand or copied from `kubectl get -o yaml`.

use std::fmt;

use serde_json::Value;

use optimist_apiserver::json;
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::{DEFAULT_NAMESPACE, Resources};
use optimist_apiserver::yaml;

/// A manifest, ready to be created.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The object without the fields that the server owns, in a namespace if its kind has one.
    pub object: Value,
    /// The fields that were dropped because the server owns them, such as `metadata.uid`.
    pub dropped: Vec<String>,
}

/// Why a manifest cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestError {
    /// The text is no YAML or JSON.
    Syntax {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// The text is no manifest of a kind that is served here.
    Content(String),
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ManifestError::Syntax {
                line,
                column,
                message,
            } => write!(f, "Line {line}, column {column}: {message}"),
            ManifestError::Content(message) => write!(f, "{message}"),
        }
    }
}

impl std::error::Error for ManifestError {}

/// What the server owns: a new object must not bring it along.
const SERVER_OWNED: [&str; 8] = [
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "managedFields",
];

/// The largest manifest in bytes; a real server takes no larger request either.
const LARGEST: usize = 3 * 1024 * 1024;

/// An object as a new one is sent: without what the server owns.
pub fn bare(object: &Value) -> Value {
    let mut object = object.clone();
    for field in SERVER_OWNED {
        object.metadata_mut().remove(field);
    }
    if let Some(map) = object.as_object_mut() {
        map.remove("status");
    }
    object
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// If the text is neither YAML nor JSON, or no manifest of a kind in `resources`.
    pub fn parse(manifest: &str, resources: &Resources) -> Result<Self, ManifestError> {
        if manifest.len() > LARGEST {
            let message = format!("The manifest is larger than {LARGEST} bytes.");
            return Err(ManifestError::Content(message));
        }
        let mut object = read(manifest)?;
        let served = || {
            let mut kinds: Vec<String> = resources
                .iter()
                .filter(|resource| resource.namespaced)
                .map(|resource| format!("{} ({})", resource.kind, resource.group_version))
                .collect();
            kinds.sort();
            kinds.join(", ")
        };
        let (api_version, kind) = (text(&object, "apiVersion"), text(&object, "kind"));
        if !object.is_object() || api_version.is_empty() || kind.is_empty() {
            let message = format!(
                "This is no manifest: it needs apiVersion and kind. Kinds that can be loaded: {}.",
                served()
            );
            return Err(ManifestError::Content(message));
        }
        let resource = resources
            .by_kind(api_version, kind)
            .filter(|resource| resource.namespaced)
            .ok_or_else(|| {
                ManifestError::Content(format!(
                    "{kind} ({api_version}) cannot be loaded. Kinds that can: {}.",
                    served()
                ))
            })?;
        let mut dropped = Vec::new();
        for field in SERVER_OWNED {
            if object.metadata_mut().remove(field).is_some() {
                dropped.push(format!("metadata.{field}"));
            }
        }
        if resource.serves("status")
            && let Some(map) = object.as_object_mut()
            && map.remove("status").is_some()
        {
            dropped.push("status".to_owned());
        }
        if object.name().is_empty() && object.meta_text("generateName").is_empty() {
            let message = "metadata.name is missing.".to_owned();
            return Err(ManifestError::Content(message));
        }
        if object.namespace().is_empty() {
            object.set_meta("namespace", DEFAULT_NAMESPACE);
        }
        Ok(Self { object, dropped })
    }
}

/// JSON where it looks like JSON, so that mistakes are named in its terms.
pub fn read(manifest: &str) -> Result<Value, ManifestError> {
    if manifest.trim_start().starts_with('{') {
        let node = json::parse(manifest.as_bytes()).map_err(|error| ManifestError::Syntax {
            line: error.line,
            column: error.column,
            message: error.message,
        })?;
        return Ok(node.into());
    }
    let document = yaml::parse(manifest).map_err(|error| ManifestError::Syntax {
        line: error.line,
        column: error.column,
        message: error.message,
    })?;
    Ok(document.node.into())
}

/// The documents of a text, parted by `---`. Each begins with as many empty lines as others came
/// before it, so that its mistakes are named with their line in the whole text.
pub fn documents(text: &str) -> Vec<String> {
    let mut documents = Vec::new();
    let mut document = String::new();
    let mut written = false;
    for (number, line) in text.lines().enumerate() {
        if line.trim_end() == "---" {
            if written {
                documents.push(std::mem::take(&mut document));
            }
            document = "\n".repeat(number + 1);
            written = false;
        } else {
            let content = line.trim();
            written |= !content.is_empty() && !content.starts_with('#');
            document.push_str(line);
            document.push('\n');
        }
    }
    if written || documents.is_empty() {
        documents.push(document);
    }
    documents
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Manifest, ManifestError> {
        Manifest::parse(text, &Resources::builtin())
    }

    #[test]
    fn what_kubectl_prints_loads_without_what_the_server_owns() {
        let manifest = parse(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: nginx\n  uid: abc\n  \
             resourceVersion: '7'\nspec: {}\nstatus:\n  replicas: 1\n",
        )
        .unwrap();
        assert_eq!(
            manifest.dropped,
            ["metadata.uid", "metadata.resourceVersion", "status"]
        );
        assert_eq!(manifest.object.namespace(), "default");
    }

    #[test]
    fn a_broken_manifest_is_named_with_line_and_column() {
        assert!(matches!(
            parse("apiVersion: v1\nkind: ConfigMap\n  data: x\n"),
            Err(ManifestError::Syntax { line: 3, .. })
        ));
        assert!(matches!(
            parse("{\n \"kind\": oops}"),
            Err(ManifestError::Syntax { line: 2, .. })
        ));
    }

    #[test]
    fn a_kind_that_is_not_served_is_named_with_those_that_are() {
        let error = parse("apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}").unwrap_err();
        let text = error.to_string();
        assert!(text.contains("Job (batch/v1)") && text.contains("Deployment (apps/v1)"));
        assert!(parse("- just\n- a list").is_err());
        assert!(parse("").is_err());
        assert!(parse("apiVersion: v1\nkind: ConfigMap").is_err());
    }
}
