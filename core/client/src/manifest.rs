//! A manifest from a user: YAML or JSON, written by hand or copied from `kubectl get -o yaml`.

use std::fmt;

use serde_json::Value;

use super::WrongType;
use super::client_side_apply::remove_last_applied;
use super::server_fields::server_owned;
use optimist_apiserver::apply::LAST_APPLIED;
use optimist_apiserver::json;
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::{DEFAULT_NAMESPACE, Resource, Resources};
use optimist_apiserver::yaml;

/// A manifest, ready to be created.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// The object without the fields that only the server sets, with a namespace if its kind is
    /// namespaced.
    pub object: Value,
    /// The fields that were dropped because only the server sets them, such as `metadata.uid`.
    pub dropped: Vec<String>,
}

/// The reason why a manifest cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestError {
    /// The text is not YAML or JSON.
    Syntax {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// The problem.
        message: String,
    },
    /// Objects of this kind cannot be loaded.
    Kind {
        /// The kind with its version: `Job (batch/v1)`.
        kind: String,
        /// The supported kinds, separated by commas.
        others: String,
    },
    /// The text is not a manifest of a kind that this server has.
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
            ManifestError::Kind { kind, others } => {
                write!(f, "{kind} cannot be loaded. Supported kinds: {others}.")
            }
            ManifestError::Content(message) => write!(f, "{message}"),
        }
    }
}

impl std::error::Error for ManifestError {}

/// The largest text of manifests in YAML, in bytes. A real server has the same limit for a request.
pub const MAX_MANIFEST_TEXT: usize = 3 * 1024 * 1024;

/// The maximum number of documents in a text. Each document becomes a request and an object of the
/// page.
pub(super) const MAX_DOCUMENTS: usize = 200;

/// The object for a create request: without the fields that only the server sets.
pub fn bare(object: &Value) -> Value {
    let mut object = object.clone();
    for field in server_owned() {
        object.metadata_mut().remove(field);
    }
    if let Some(map) = object.as_object_mut() {
        map.remove("status");
    }
    object
}

impl Manifest {
    /// Makes a manifest of an object.
    ///
    /// # Errors
    /// If the object is not a manifest of a kind in `resources`.
    pub fn new(mut object: Value, resources: &Resources) -> Result<Self, ManifestError> {
        let resource = resource_of(&object, resources)?;
        check_name(&object)?;
        let mut dropped = drop_server_owned(&mut object);
        if resource.serves("status")
            && let Some(map) = object.as_object_mut()
            && map.remove("status").is_some()
        {
            dropped.push("status".to_owned());
        }
        if object.namespace().is_empty() {
            object.set_meta("namespace", DEFAULT_NAMESPACE);
        }
        Ok(Self { object, dropped })
    }

    /// Makes a manifest of a custom resource definition, which is not a regular object here.
    pub fn of_definition(mut object: Value) -> Self {
        let mut dropped = drop_server_owned(&mut object);
        if object
            .as_object_mut()
            .and_then(|map| map.remove("status"))
            .is_some()
        {
            dropped.push("status".to_owned());
        }
        Self { object, dropped }
    }
}

/// Removes the fields that a cluster added and returns their names. Also removes the last-applied
/// annotation of kubectl, which is an older copy of the manifest.
fn drop_server_owned(object: &mut Value) -> Vec<String> {
    let mut dropped = Vec::new();
    if !object.get("metadata").is_some_and(Value::is_object) {
        return dropped;
    }
    let metadata = object.metadata_mut();
    for field in server_owned() {
        if metadata.remove(field).is_some() {
            dropped.push(format!("metadata.{field}"));
        }
    }
    if remove_last_applied(metadata) {
        dropped.push(format!("metadata.annotations[{LAST_APPLIED}]"));
    }
    dropped
}

fn resource_of<'a>(
    object: &Value,
    resources: &'a Resources,
) -> Result<&'a Resource, ManifestError> {
    let served = || {
        let mut kinds: Vec<String> = resources
            .iter()
            .filter(|resource| resource.namespaced)
            .map(|resource| format!("{} ({})", resource.kind, resource.group_version))
            .collect();
        kinds.sort();
        kinds.join(", ")
    };
    let (api_version, kind) = (text(object, "apiVersion"), text(object, "kind"));
    if !object.is_object() || api_version.is_empty() || kind.is_empty() {
        let message = "This is not a manifest: apiVersion and kind are missing.".to_owned();
        return Err(ManifestError::Content(message));
    }
    let resource = resources
        .by_kind(api_version, kind)
        .filter(|resource| resource.namespaced);
    let resource = resource.map(|resource| &**resource);
    resource.ok_or_else(|| ManifestError::Kind {
        kind: format!("{kind} ({api_version})"),
        others: served(),
    })
}

/// Checks that the name exists and is a string.
fn check_name(object: &Value) -> Result<(), ManifestError> {
    if let Some(wrong) = WrongType::in_names(object) {
        return Err(ManifestError::Content(wrong.to_string()));
    }
    if object.name().is_empty() && object.meta_text("generateName").is_empty() {
        let message = "metadata.name is missing.".to_owned();
        return Err(ManifestError::Content(message));
    }
    Ok(())
}

/// Parses text that looks like JSON as JSON, so that its errors use the terms of JSON.
pub fn read(manifest: &str) -> Result<Value, ManifestError> {
    if is_json(manifest) {
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

/// Returns whether a text looks like JSON.
pub(super) fn is_json(manifest: &str) -> bool {
    manifest.trim_start().starts_with('{')
}

/// A document of a text that has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManifestDocument<'a> {
    /// The document.
    pub text: &'a str,
    /// The number of lines of the whole text above it.
    pub above: usize,
}

impl ManifestDocument<'_> {
    /// Its content, parsed by `read`.
    ///
    /// # Errors
    /// If it is neither YAML nor JSON. Line numbers refer to the whole text.
    pub fn read(&self) -> Result<Value, ManifestError> {
        read(self.text).map_err(|error| match error {
            ManifestError::Syntax {
                line,
                column,
                message,
            } => ManifestError::Syntax {
                line: line + self.above,
                column,
                message,
            },
            content => content,
        })
    }
}

/// The documents of a text, separated by `---`, without documents that have only comments. If all
/// documents have only comments, the last one is returned.
///
/// # Errors
/// If the text is too large or has too many documents, or if more than a comment follows `---` in its line
/// (`k8s.io/apimachinery/pkg/util/yaml/decoder.go YAMLReader.Read`, v0.36).
pub fn documents(text: &str) -> Result<Vec<ManifestDocument<'_>>, ManifestError> {
    documents_up_to(text, MAX_MANIFEST_TEXT, MAX_DOCUMENTS)
}

/// Splits like [`documents`], but with other limits.
pub(super) fn documents_up_to(
    text: &str,
    bytes: usize,
    most: usize,
) -> Result<Vec<ManifestDocument<'_>>, ManifestError> {
    if text.len() > bytes {
        let message = format!("The manifest is larger than {bytes} bytes.");
        return Err(ManifestError::Content(message));
    }
    let mut documents = Vec::new();
    // The start of the current document, and the number of lines above it.
    let (mut begin, mut above) = (0, 0);
    let mut written = false;
    let mut end = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let content = line.trim();
        if let Some(rest) = line.strip_prefix("---").map(str::trim) {
            if !rest.is_empty() && !rest.starts_with('#') {
                return Err(ManifestError::Syntax {
                    line: number + 1,
                    column: 4,
                    message: format!("invalid Yaml document separator: {rest}"),
                });
            }
            if written {
                let text = text.get(begin..end).unwrap_or_default();
                documents.push(ManifestDocument { text, above });
            }
            (begin, above, written) = (end + line.len(), number + 1, false);
        } else {
            written |= !content.is_empty() && !content.starts_with('#');
        }
        end += line.len();
    }
    if written || documents.is_empty() {
        let text = text.get(begin..).unwrap_or_default();
        documents.push(ManifestDocument { text, above });
    }
    if documents.len() > most {
        let message = format!(
            "The text has {} documents. The maximum is {most}.",
            documents.len()
        );
        return Err(ManifestError::Content(message));
    }
    Ok(documents)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Manifest, ManifestError> {
        Manifest::new(read(text)?, &Resources::builtin())
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
    fn what_kubectl_last_applied_is_dropped_and_named() {
        let manifest = parse(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n  annotations:\n    \
             kubectl.kubernetes.io/last-applied-configuration: '{\"data\": {\"password\": \"1\"}}'\n",
        )
        .unwrap();
        assert_eq!(
            manifest.dropped,
            ["metadata.annotations[kubectl.kubernetes.io/last-applied-configuration]"]
        );
        assert_eq!(
            manifest.object["metadata"],
            serde_json::json!({"name": "x", "namespace": "default"})
        );
    }

    #[test]
    fn a_name_that_is_no_string_is_said_to_be_none() {
        for (name, told) in [
            (
                "name: 5",
                "metadata.name is the number 5: without quotes, YAML reads a number. Put the value in quotes.",
            ),
            (
                "name: yes",
                "metadata.name is the boolean true: without quotes, YAML reads y, yes, on and true so. Put \
                 the value in quotes.",
            ),
            ("name: [a]", "metadata.name is a list. It must be a string."),
            (
                "name: a, namespace: 7",
                "metadata.namespace is the number 7: without quotes, YAML reads a number. Put the value in quotes.",
            ),
            ("labels: {}", "metadata.name is missing."),
        ] {
            let error = parse(&format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {{{name}}}"
            ));
            assert_eq!(error.unwrap_err().to_string(), told);
        }
    }

    #[test]
    fn documents_are_parted_and_their_mistakes_have_the_lines_of_the_text() {
        let text = "# only this\r\n---\r\na: 1\n--- \n\n---\nb: 2\nc: [\n";
        let documents = documents(text).unwrap();
        let texts: Vec<(&str, usize)> = documents.iter().map(|d| (d.text, d.above)).collect();
        assert_eq!(texts, [("a: 1\n", 2), ("b: 2\nc: [\n", 6)]);
        assert!(matches!(
            documents[1].read(),
            Err(ManifestError::Syntax { line: 8.., .. })
        ));
    }

    #[test]
    fn a_comment_may_follow_the_separator_and_nothing_else() {
        let text = "a: 1\n--- # Source: b.yaml\nb: 2\n---# c\nc: 3\n";
        let found = documents(text).unwrap();
        let texts: Vec<(&str, usize)> = found.iter().map(|d| (d.text, d.above)).collect();
        assert_eq!(texts, [("a: 1\n", 0), ("b: 2\n", 2), ("c: 3\n", 4)]);
        for rest in ["{b: 2}", "!!map", "b: 2"] {
            let error = documents(&format!("a: 1\n--- {rest}\n")).unwrap_err();
            let told = format!("Line 2, column 4: invalid Yaml document separator: {rest}");
            assert_eq!(error.to_string(), told);
        }
        assert_eq!(documents("a: |\n  --- b\n").map(|all| all.len()), Ok(1));
    }

    #[test]
    fn too_many_documents_are_refused_before_any_is_read() {
        let lines = "---\n".repeat(700_000);
        assert_eq!(documents(&lines).map(|documents| documents.len()), Ok(1));
        let many = "a: [\n---\n".repeat(MAX_DOCUMENTS + 1);
        let error = documents(&many).unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "The text has {} documents. The maximum is {MAX_DOCUMENTS}.",
                MAX_DOCUMENTS + 1
            )
        );
        assert!(documents(&" ".repeat(MAX_MANIFEST_TEXT + 1)).is_err());
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
        let error =
            parse("apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: x}").unwrap_err();
        let text = error.to_string();
        assert!(text.contains("Gadget (example.com/v1)") && text.contains("Deployment (apps/v1)"));
        assert!(parse("- just\n- a list").is_err());
        assert!(parse("").is_err());
        assert!(parse("apiVersion: v1\nkind: ConfigMap").is_err());
    }
}
