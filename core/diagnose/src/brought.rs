//! What a pasted or dropped text is.

use std::fmt;
use std::sync::Arc;

use optimist_apiserver::limits;
use optimist_apiserver::object::{Metadata, text};
use optimist_client::{ManifestError, decode, objects, refuse_repeated_keys, to_yaml};
use serde_json::{Value, json};

use crate::message::{ReportedError, reported_errors};
use crate::observed::{ObservedVersion, ReadProblem, observed_versions};

/// What a text is.
#[derive(Clone, Debug, PartialEq)]
pub enum Brought {
    /// An object as a cluster has it: it has a uid or `managedFields`.
    Live(Value),
    /// An object that someone wants to write: it has neither. It may name a `resourceVersion`.
    Manifest(Value),
    /// The definition of a custom resource, live or as a manifest.
    Definition(Value),
    /// Several objects, in their order. Each is one of the kinds above.
    Several(Vec<Brought>),
    /// Versions over time: the events of a watch, or several versions of the same objects.
    Versions(Vec<ObservedVersion>),
    /// An audit log of kube-apiserver, whole. It is read in slices.
    AuditLog(Arc<str>),
    /// Error messages of tools.
    Errors(Vec<ReportedError>),
}

impl Brought {
    /// As a text that is recognized as the same; empty for error messages, whose text is what they
    /// were read from.
    pub fn to_text(&self) -> String {
        match self {
            Self::Live(object) | Self::Manifest(object) | Self::Definition(object) => {
                to_yaml(object)
            }
            Self::Several(several) => {
                let texts: Vec<String> = several.iter().map(Self::to_text).collect();
                texts.join("---\n")
            }
            Self::Versions(versions) => {
                let lines = versions.iter().map(|version| match version.event {
                    Some(event) => {
                        json!({"type": event.as_str(), "object": version.object}).to_string() + "\n"
                    }
                    None => version.object.to_string() + "\n",
                });
                lines.collect()
            }
            Self::AuditLog(text) => text.to_string(),
            Self::Errors(_) => String::new(),
        }
    }
}

/// Why a text is not recognized.
#[derive(Clone, Debug, PartialEq)]
pub enum NotRecognized {
    /// It has no content.
    Empty,
    /// It is larger than the limit; both in bytes.
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// An object has too many values or nests too deep. The words are those of
    /// [`optimist_apiserver::limits`].
    TooMuch(String),
    /// The file is not text. The words name the line.
    NotText(String),
    /// It looks like YAML or JSON, and is not. Counted from 1.
    Syntax {
        /// The line.
        line: usize,
        /// The column; 0 if it is not known.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// A document has structure and lacks what makes it an object.
    Missing {
        /// The document, counted from 1.
        document: usize,
        /// The fields that are missing: `apiVersion`, `kind`, `metadata.name`.
        fields: Vec<&'static str>,
    },
    /// Another mistake in a document, in words: a duplicate key, too many documents.
    Content(String),
    /// An event of a watch that carries no object, for example an ERROR: its type.
    WatchEvent(String),
    /// Plain text without a message that is known here.
    NoKnownMessage,
}

impl fmt::Display for NotRecognized {
    /// In English, for tests and command lines. The page takes its words from its catalogue.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("The text is empty."),
            Self::TooLarge { bytes, limit } => {
                write!(f, "The text has {bytes} bytes. The maximum is {limit}.")
            }
            Self::TooMuch(message) | Self::NotText(message) | Self::Content(message) => {
                f.write_str(message)
            }
            Self::Syntax {
                line,
                column,
                message,
            } => write!(f, "Line {line}, column {column}: {message}"),
            Self::Missing { document, fields } => {
                write!(f, "Document {document} lacks {}.", fields.join(", "))
            }
            Self::WatchEvent(of) => write!(f, "A watch event of type {of} has no object."),
            Self::NoKnownMessage => f.write_str("The text has no error message that is known."),
        }
    }
}

impl std::error::Error for NotRecognized {}

/// The largest audit log, in bytes.
pub const MAX_LOG: usize = 64 * 1024 * 1024;

/// The largest other text, in bytes. YAML has a lower limit of its own.
pub const MAX_TEXT: usize = 16 * 1024 * 1024;

/// The group of the events of an audit log (`k8s.io/apiserver/pkg/apis/audit/v1`).
pub(crate) const AUDIT_GROUP: &str = "audit.k8s.io/";

/// As [`recognize`], for a file: UTF-8, or UTF-16 with a byte order mark, which the redirection of
/// Windows PowerShell writes.
///
/// # Errors
/// As [`recognize`]; and if the file is not text.
pub fn recognize_file(file: &[u8]) -> Result<Brought, NotRecognized> {
    if file.len() > MAX_LOG {
        return Err(too_large(file.len(), MAX_LOG));
    }
    let unit: fn([u8; 2]) -> u16 = match file {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => {
            let text = decode(file).map_err(|error| NotRecognized::NotText(error.to_string()))?;
            return recognize(&text);
        }
    };
    let units = file[2..].chunks(2).map(|two| match two {
        [a, b] => unit([*a, *b]),
        // Half a character: no character has this value.
        _ => 0xd800,
    });
    let text: Result<String, _> = char::decode_utf16(units).collect();
    let message = "The file is not UTF-16 text. Save it as UTF-8.";
    recognize(&text.map_err(|_| NotRecognized::NotText(message.to_owned()))?)
}

/// Decides what a text is. A text with structure is what its fields say it is; a text without is
/// searched for error messages.
///
/// # Errors
/// What is missing or wrong.
pub fn recognize(text: &str) -> Result<Brought, NotRecognized> {
    let text = text.trim_start_matches('\u{feff}');
    if text.len() > MAX_LOG {
        return Err(too_large(text.len(), MAX_LOG));
    }
    if text.trim().is_empty() {
        return Err(NotRecognized::Empty);
    }
    let first = first_json(text);
    if first.as_ref().is_some_and(is_audit) || is_cut_log(text) {
        return Ok(Brought::AuditLog(text.into()));
    }
    if first.as_ref().is_some_and(is_event) && text.len() <= MAX_TEXT {
        return watch(text);
    }
    if text.len() > MAX_TEXT {
        return Err(too_large(text.len(), MAX_TEXT));
    }
    let structured = structured(text);
    if let Ok(brought) = structured {
        return Ok(brought);
    }
    let errors = reported_errors(text);
    if !errors.is_empty() {
        return Ok(Brought::Errors(errors));
    }
    structured
}

fn too_large(bytes: usize, limit: usize) -> NotRecognized {
    NotRecognized::TooLarge { bytes, limit }
}

/// The first JSON document of a text that begins with one.
fn first_json(text: &str) -> Option<Value> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let mut documents = serde_json::Deserializer::from_str(text).into_iter();
    documents.next()?.ok()
}

/// Whether a text is the end of an audit log, which begins inside of a line.
fn is_cut_log(text: &str) -> bool {
    let second = text
        .lines()
        .nth(1)
        .filter(|line| line.contains(AUDIT_GROUP));
    let second = second.and_then(|line| serde_json::from_str(line).ok());
    second.as_ref().is_some_and(is_audit)
}

/// Whether a document is an event of an audit log, or a list of them.
pub(crate) fn is_audit(document: &Value) -> bool {
    text(document, "apiVersion").starts_with(AUDIT_GROUP)
}

fn is_event(document: &Value) -> bool {
    document.get("type").is_some_and(Value::is_string) && document.get("object").is_some()
}

fn watch(text: &str) -> Result<Brought, NotRecognized> {
    let versions = observed_versions(text).map_err(|error| match error.problem {
        ReadProblem::Syntax(message) => NotRecognized::Syntax {
            line: error.line,
            column: 0,
            message,
        },
        ReadProblem::NoObject => NotRecognized::Missing {
            document: error.document,
            fields: vec!["object.metadata"],
        },
        ReadProblem::Event(of) => NotRecognized::WatchEvent(of),
    })?;
    for (at, version) in versions.iter().enumerate() {
        check(&version.object, at + 1)?;
    }
    if versions.is_empty() {
        return Err(NotRecognized::WatchEvent("BOOKMARK".to_owned()));
    }
    Ok(Brought::Versions(versions))
}

/// What a text of objects is.
fn structured(text: &str) -> Result<Brought, NotRecognized> {
    let found = documents(text)?;
    for (at, object) in found.iter().enumerate() {
        check(object, at + 1)?;
    }
    // A Status is an answer of the server, and holds an error message.
    if found
        .iter()
        .any(|object| self::text(object, "kind") == "Status")
    {
        return Err(NotRecognized::NoKnownMessage);
    }
    if are_versions(&found) {
        let versions = found.into_iter();
        let versions = versions.map(|object| ObservedVersion {
            event: None,
            object,
        });
        return Ok(Brought::Versions(versions.collect()));
    }
    let mut kinds: Vec<Brought> = found.into_iter().map(kind_of).collect();
    match kinds.len() {
        0 => Err(NotRecognized::Empty),
        1 => Ok(kinds.remove(0)),
        _ => Ok(Brought::Several(kinds)),
    }
}

/// The objects of a text: YAML or JSON documents, or JSON documents without separators, as
/// `kubectl get -w -o json` prints them.
fn documents(text: &str) -> Result<Vec<Value>, NotRecognized> {
    if text.trim_start().starts_with('{')
        && let Ok(found) = json_documents(text)
        && found.len() > 1
    {
        return Ok(found);
    }
    let wrong = |error: ManifestError| match error {
        ManifestError::Syntax {
            line,
            column,
            message,
        } => NotRecognized::Syntax {
            line,
            column,
            message,
        },
        other => NotRecognized::Content(other.to_string()),
    };
    let found = objects(text).map_err(wrong)?;
    refuse_repeated_keys(text).map_err(wrong)?;
    Ok(found)
}

fn json_documents(text: &str) -> serde_json::Result<Vec<Value>> {
    let mut found = Vec::new();
    for document in serde_json::Deserializer::from_str(text).into_iter() {
        let mut document: Value = document?;
        match document.get_mut("items").and_then(Value::as_array_mut) {
            Some(items) => found.append(items),
            None => found.push(document),
        }
    }
    Ok(found)
}

/// Refuses what is no object, and what is too much.
fn check(object: &Value, document: usize) -> Result<(), NotRecognized> {
    limits::check(object).map_err(|refusal| NotRecognized::TooMuch(refusal.message))?;
    let mut fields = Vec::new();
    for field in ["apiVersion", "kind"] {
        if text(object, field).is_empty() {
            fields.push(field);
        }
    }
    let named = !object.name().is_empty() || text(object, "kind") == "Status";
    if !named {
        fields.push("metadata.name");
    }
    if fields.is_empty() {
        return Ok(());
    }
    Err(NotRecognized::Missing { document, fields })
}

fn kind_of(object: Value) -> Brought {
    if text(&object, "kind") == "CustomResourceDefinition" {
        return Brought::Definition(object);
    }
    let meta = object.metadata();
    let has = |field: &str| meta.is_some_and(|meta| meta.contains_key(field));
    if has("uid") || has("managedFields") {
        Brought::Live(object)
    } else {
        Brought::Manifest(object)
    }
}

/// Whether objects are versions of one object: at least two, of the same uid, and of different
/// `resourceVersion`s.
fn are_versions(objects: &[Value]) -> bool {
    let Some((first, others)) = objects.split_first() else {
        return false;
    };
    let differs = |other: &Value| other.resource_version() != first.resource_version();
    !others.is_empty()
        && !first.uid().is_empty()
        && others.iter().all(|other| other.uid() == first.uid())
        && others.iter().any(differs)
}
