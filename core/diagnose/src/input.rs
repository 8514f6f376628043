//! Detects the kind of a pasted or dropped text.

mod conditions;
mod detection;
mod form;
mod parts;
mod wrapped;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use optimist_apiserver::limits;
use optimist_apiserver::object::{Metadata, text};
use optimist_client::{ManifestError, WrongType, decode, to_yaml};
use serde_json::{Value, json};

use crate::message::ReportedError;
use crate::observed::{ObservedVersion, ReadError, ReadProblem, add_version, is_event};

pub use conditions::condition_messages;
pub use detection::Detection;
use detection::of_versions;
pub use form::{NamedObject, TextForm, plain};
pub use parts::parts;

/// The content of a text, by its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// An object as a cluster has it: it has a uid or `managedFields`.
    Live(Value),
    /// An object that someone wants to write: it has neither. It may name a `resourceVersion`.
    Manifest(Value),
    /// The definition of a custom resource, live or as a manifest.
    Definition(Value),
    /// Several objects, in their order. Each is one of the kinds above.
    Several(Vec<Input>),
    /// Versions over time: the events of a watch, or several versions of the same objects.
    Versions {
        /// The versions.
        versions: Vec<ObservedVersion>,
        /// The end of the text behind them.
        end: VersionsEnd,
    },
    /// An audit log of kube-apiserver, whole. It is read in slices.
    AuditLog(Arc<str>),
    /// Error messages of tools.
    Errors(Vec<ReportedError>),
}

/// The end of a text with versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionsEnd {
    /// It has nothing behind the last one.
    Whole,
    /// It ends inside of one more, as when a command is stopped while it prints. That one is left out.
    Cut,
    /// The server ended the watch with an ERROR: the message of its `metav1.Status`.
    Error(String),
}

impl Input {
    /// Writes a text that is detected as the same input; empty for error messages, whose text is
    /// the one that they were read from.
    pub fn to_text(&self) -> String {
        match self {
            Self::Live(object) | Self::Manifest(object) | Self::Definition(object) => {
                to_yaml(object)
            }
            Self::Several(several) => {
                let texts: Vec<String> = several.iter().map(Self::to_text).collect();
                texts.join("---\n")
            }
            Self::Versions { versions, end } => {
                let lines = versions.iter().map(|version| match version.event {
                    Some(event) => {
                        json!({"type": event.as_str(), "object": *version.object}).to_string()
                            + "\n"
                    }
                    None => version.object.to_string() + "\n",
                });
                let end = match end {
                    VersionsEnd::Whole => String::new(),
                    VersionsEnd::Cut => "{".to_owned(),
                    VersionsEnd::Error(message) => {
                        let status =
                            json!({"apiVersion": "v1", "kind": "Status", "message": message});
                        json!({"type": "ERROR", "object": status}).to_string() + "\n"
                    }
                };
                lines.chain([end]).collect()
            }
            Self::AuditLog(text) => text.to_string(),
            Self::Errors(_) => String::new(),
        }
    }
}

/// The reason why a text is not detected.
#[derive(Clone, Debug, PartialEq)]
pub enum NotDetected {
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
        /// The problem.
        message: String,
    },
    /// A document has structure but lacks fields that every object has.
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
    /// A list without items.
    EmptyList,
    /// An answer of the API server about objects, and not an object itself: a `Table`, or the metadata of an object
    /// alone (`PartialObjectMetadata`).
    AboutObjects {
        /// The document, counted from 1.
        document: usize,
        /// Its kind.
        kind: String,
        /// The first object that it is about.
        object: NamedObject,
    },
    /// The text, or the file, has a form that holds no object.
    Form {
        /// The form.
        form: TextForm,
        /// The line that shows it, counted from 1; 0 for a file.
        line: usize,
    },
    /// Plain text without a message that is known here.
    NoKnownMessage,
}

impl fmt::Display for NotDetected {
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
            Self::EmptyList => f.write_str("The list is empty."),
            Self::AboutObjects { document, kind, .. } => {
                write!(f, "Document {document} is a {kind}.")
            }
            Self::Form { form, line } => write!(f, "Line {line}: {form:?}"),
            Self::NoKnownMessage => f.write_str("The text has no error message that is known."),
        }
    }
}

impl std::error::Error for NotDetected {}

/// The largest audit log, in bytes.
pub const MAX_LOG: usize = 64 * 1024 * 1024;

/// The largest other text, in bytes. YAML has a lower limit of its own.
pub const MAX_TEXT: usize = 16 * 1024 * 1024;

/// The group of the events of an audit log (`k8s.io/apiserver/pkg/apis/audit/v1`).
pub(crate) const AUDIT_GROUP: &str = "audit.k8s.io/";

/// The text of a file: UTF-8 or UTF-16, which the redirection of Windows PowerShell writes. Without a
/// byte order mark it is UTF-16 if every second byte is 0 and no other.
///
/// # Errors
/// If the file is too large, or is no text.
pub fn text_of_file(file: &[u8]) -> Result<Cow<'_, str>, NotDetected> {
    if file.len() > MAX_LOG {
        return Err(too_large(file.len(), MAX_LOG));
    }
    if let Some(form) = TextForm::of_file(file) {
        return Err(NotDetected::Form { form, line: 0 });
    }
    let zero = |from: usize| file.iter().skip(from).step_by(2).all(|byte| *byte == 0);
    let any = |from: usize| file.iter().skip(from).step_by(2).any(|byte| *byte == 0);
    let (units, unit): (_, fn([u8; 2]) -> u16) = match file {
        [0xff, 0xfe, units @ ..] => (units, u16::from_le_bytes),
        [0xfe, 0xff, units @ ..] => (units, u16::from_be_bytes),
        [_, 0, ..] if zero(1) && !any(0) => (file, u16::from_le_bytes),
        [0, _, ..] if zero(0) && !any(1) => (file, u16::from_be_bytes),
        _ => {
            let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
            if let Ok(text) = std::str::from_utf8(file) {
                return Ok(Cow::Borrowed(text));
            }
            let text = decode(file).map_err(|error| NotDetected::NotText(error.to_string()));
            return text.map(Cow::Owned);
        }
    };
    let units = units.chunks(2).map(|two| match two {
        [a, b] => unit([*a, *b]),
        // Half a character: no character has this value.
        _ => 0xd800,
    });
    let text: Result<String, _> = char::decode_utf16(units).collect();
    let message = "The file is not UTF-16 text. Save it as UTF-8.";
    let text = text.map_err(|_| NotDetected::NotText(message.to_owned()));
    text.map(Cow::Owned)
}

/// Detects the input in a text. The fields of a text with structure name its kind; a text without
/// structure is searched for error messages. Additions of a terminal or a web page are left out
/// ([`plain`]).
///
/// # Errors
/// The missing part or the problem.
pub fn detect(text: &str) -> Result<Input, NotDetected> {
    let mut detection = Detection::new(text.into());
    while detection.advance(usize::MAX) {}
    detection.finish()
}

fn too_large(bytes: usize, limit: usize) -> NotDetected {
    NotDetected::TooLarge { bytes, limit }
}

/// Returns whether a text is the end of an audit log, which begins inside of a line.
fn is_cut_log(text: &str) -> bool {
    let second = text
        .lines()
        .nth(1)
        .filter(|line| line.contains(AUDIT_GROUP));
    let second = second.and_then(|line| serde_json::from_str(line).ok());
    second.as_ref().is_some_and(is_audit)
}

/// Returns whether a document is an event of an audit log, or a list of them.
pub(crate) fn is_audit(document: &Value) -> bool {
    text(document, "apiVersion").starts_with(AUDIT_GROUP)
}

fn wrong_version(error: ReadError) -> NotDetected {
    match error.problem {
        ReadProblem::Syntax(message) => NotDetected::Syntax {
            line: error.line,
            column: 0,
            message,
        },
        ReadProblem::NoObject => NotDetected::Missing {
            document: error.document,
            fields: vec!["object.metadata"],
        },
        ReadProblem::Event(of) => NotDetected::WatchEvent(of),
    }
}

fn wrong_document(error: ManifestError) -> NotDetected {
    match error {
        ManifestError::Syntax {
            line,
            column,
            message,
        } => NotDetected::Syntax {
            line,
            column,
            message,
        },
        other => NotDetected::Content(other.to_string()),
    }
}

/// Returns the input that the objects of one text are.
fn of_objects(found: Vec<Value>) -> Result<Input, NotDetected> {
    // An item of an array is another array, which is no object.
    if let Some(at) = found.iter().position(Value::is_array) {
        return Err(NotDetected::Missing {
            document: at + 1,
            fields: vec!["apiVersion", "kind", "metadata.name"],
        });
    }
    // A Status is an answer of the server, and holds an error message.
    if found
        .iter()
        .any(|object| self::text(object, "kind") == "Status")
    {
        return Err(NotDetected::NoKnownMessage);
    }
    if found.iter().any(is_event) {
        return of_events(found);
    }
    if are_versions(&found) {
        let versions = found.into_iter();
        let versions = versions.map(|object| ObservedVersion {
            event: None,
            object: Arc::new(object),
        });
        return Ok(Input::Versions {
            versions: versions.collect(),
            end: VersionsEnd::Whole,
        });
    }
    let mut kinds: Vec<Input> = found.into_iter().map(kind_of).collect();
    match kinds.len() {
        0 => Err(NotDetected::EmptyList),
        1 => Ok(kinds.remove(0)),
        _ => Ok(Input::Several(kinds)),
    }
}

/// The versions in the events of a watch, a document each: `kubectl get -w -o yaml --output-watch-events` prints them
/// (`k8s.io/cli-runtime/pkg/printers/yaml.go PrintObj`, v0.36).
fn of_events(found: Vec<Value>) -> Result<Input, NotDetected> {
    let (mut versions, mut end) = (Vec::new(), VersionsEnd::Whole);
    let last = found.len() - 1;
    for (at, event) in found.into_iter().enumerate() {
        let message = text(&event["object"], "message").to_owned();
        match add_version(event, &mut versions) {
            Ok(()) => {}
            Err(ReadProblem::Event(of)) if of == "ERROR" && at == last && at > 0 => {
                end = VersionsEnd::Error(message);
            }
            Err(problem) => {
                return Err(wrong_version(ReadError {
                    document: at + 1,
                    line: 0,
                    problem,
                }));
            }
        }
    }
    of_versions(versions, end)
}

/// Refuses a document that is no object, or that is too large. In an array, each item is checked.
fn check(object: &Value, document: usize) -> Result<(), NotDetected> {
    limits::check(object).map_err(|refusal| NotDetected::TooMuch(refusal.message))?;
    if is_event(object) {
        return Ok(());
    }
    if let Value::Array(objects) = object {
        return objects.iter().try_for_each(|one| check(one, document));
    }
    if text(object, "apiVersion").starts_with(ABOUT_OBJECTS) {
        return Err(NotDetected::AboutObjects {
            document,
            kind: text(object, "kind").to_owned(),
            object: NamedObject::first_of(object),
        });
    }
    if let Some(wrong) = WrongType::in_object(object) {
        let message = format!("Document {document}: {wrong} {}", wrong.refusal());
        return Err(NotDetected::Content(message));
    }
    let mut fields = Vec::new();
    for field in ["apiVersion", "kind"] {
        if text(object, field).is_empty() {
            fields.push(field);
        }
    }
    let named = !object.name().is_empty()
        || !object.meta_text("generateName").is_empty()
        || text(object, "kind") == "Status";
    if !named {
        fields.push("metadata.name");
    }
    if fields.is_empty() {
        return Ok(());
    }
    Err(NotDetected::Missing { document, fields })
}

/// The group of the answers that are about objects
/// (`k8s.io/apimachinery/pkg/apis/meta/v1/types.go Table, PartialObjectMetadata`, v0.36).
const ABOUT_OBJECTS: &str = "meta.k8s.io/";

fn kind_of(object: Value) -> Input {
    if text(&object, "kind") == "CustomResourceDefinition" {
        return Input::Definition(object);
    }
    let meta = object.metadata();
    let has = |field: &str| meta.is_some_and(|meta| meta.contains_key(field));
    if has("uid") || has("managedFields") {
        Input::Live(object)
    } else {
        Input::Manifest(object)
    }
}

/// Returns whether objects are versions of one object: at least two, of the same uid, and of different
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
