//! A file that a user loads: errors that concern the whole file, and its objects.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use super::manifest::{MAX_DOCUMENTS, ManifestDocument, is_json};
use super::{ManifestError, documents, visible};
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::{json, yaml};

/// The display name of an object: `Deployment web (apps/v1)`.
pub fn title(object: &Value) -> String {
    let or = |text: &str, other: &str| if text.is_empty() { other } else { text }.to_owned();
    let kind = or(text(object, "kind"), "an object without a kind");
    let name = or(object.name(), object.meta_text("generateName"));
    let title = match text(object, "apiVersion") {
        "" => format!("{kind} {name}").trim_end().to_owned(),
        version if name.is_empty() => format!("{kind} ({version})"),
        version => format!("{kind} {name} ({version})"),
    };
    visible(&title).into_owned()
}

/// The text of a file.
///
/// # Errors
/// If it is not UTF-8. The error names the line.
pub fn decode(file: &[u8]) -> Result<String, ManifestError> {
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    std::str::from_utf8(file).map(str::to_owned).map_err(|error| {
        let (before, wrong) = file.split_at(error.valid_up_to());
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let byte = wrong.first().copied().unwrap_or_default();
        ManifestError::Content(format!(
            "The file is not UTF-8 text: line {line} has the byte 0x{byte:02X}. Save it as UTF-8."
        ))
    })
}

/// The objects of a text, in their order: from its documents and from lists, which `kubectl get -o
/// yaml` prints for several objects (`k8s.io/cli-runtime/pkg/resource, FlattenListVisitor`).
///
/// # Errors
/// If a document is neither YAML nor JSON, or if there are too many objects.
pub fn objects(manifests: &str) -> Result<Vec<Value>, ManifestError> {
    let mut found = Vec::new();
    for document in documents(manifests)? {
        flatten(document.read()?, &mut found);
        refuse_many(&found)?;
    }
    Ok(found)
}

/// As [`objects`] after [`refuse_repeated_keys`], a document at a time.
#[derive(Debug)]
pub struct ObjectReader {
    text: Arc<str>,
    /// The documents that are not read yet, each with the number of lines above it.
    left: VecDeque<(Range<usize>, usize)>,
    found: Vec<Value>,
}

impl ObjectReader {
    /// A reader at the beginning of a text.
    ///
    /// # Errors
    /// If the text is too large or has too many documents.
    pub fn new(text: Arc<str>) -> Result<Self, ManifestError> {
        let begin = text.as_ptr() as usize;
        let left = documents(&text)?.into_iter().map(|document| {
            let at = document.text.as_ptr() as usize - begin;
            (at..at + document.text.len(), document.above)
        });
        Ok(Self {
            left: left.collect(),
            text: Arc::clone(&text),
            found: Vec::new(),
        })
    }

    /// Reads the next document. Whether there is more.
    ///
    /// # Errors
    /// If it is neither YAML nor JSON, or has a duplicate key, or if there are too many objects.
    pub fn advance(&mut self) -> Result<bool, ManifestError> {
        let Some((range, above)) = self.left.pop_front() else {
            return Ok(false);
        };
        let text = self.text.get(range).unwrap_or_default();
        let object = ManifestDocument { text, above }.read_once()?;
        flatten(object, &mut self.found);
        refuse_many(&self.found)?;
        Ok(!self.left.is_empty())
    }

    /// The objects so far.
    pub fn found(&self) -> &[Value] {
        &self.found
    }

    /// The objects.
    pub fn finish(self) -> Vec<Value> {
        self.found
    }
}

impl ManifestDocument<'_> {
    /// Its content, without a duplicate key.
    fn read_once(&self) -> Result<Value, ManifestError> {
        let below = |line| line + self.above;
        if is_json(self.text) {
            let node =
                json::parse(self.text.as_bytes()).map_err(|error| ManifestError::Syntax {
                    line: below(error.line),
                    column: error.column,
                    message: error.message,
                })?;
            refuse_repeated(json::duplicates(&node).into_iter().next())?;
            return Ok(node.into());
        }
        let document = yaml::parse(self.text).map_err(|error| ManifestError::Syntax {
            line: below(error.line),
            column: error.column,
            message: error.message,
        })?;
        let first = document.duplicates.into_iter().next();
        refuse_repeated(first.map(|first| {
            let line = below(first.line);
            yaml::DuplicateKey { line, ..first }.to_string()
        }))?;
        Ok(document.node.into())
    }
}

fn refuse_many(found: &[Value]) -> Result<(), ManifestError> {
    if found.len() <= MAX_DOCUMENTS {
        return Ok(());
    }
    Err(ManifestError::Content(format!(
        "The file has more than {MAX_DOCUMENTS} objects, the maximum of this page."
    )))
}

fn refuse_repeated(key: Option<String>) -> Result<(), ManifestError> {
    key.map_or(Ok(()), |first| {
        Err(ManifestError::Content(format!(
            "{first}. Only one of them would be loaded: take one out."
        )))
    })
}

/// Adds an object, or the items of a list. An item without version and kind gets those of its list
/// (`k8s.io/apimachinery/pkg/apis/meta/v1/unstructured, decodeToList`).
pub fn flatten(mut object: Value, found: &mut Vec<Value>) {
    let list = text(&object, "kind")
        .strip_suffix("List")
        .map(str::to_owned);
    let items = object.get_mut("items").and_then(Value::as_array_mut);
    let (Some(kind), Some(items)) = (list, items) else {
        return found.push(object);
    };
    let items = std::mem::take(items);
    let version = text(&object, "apiVersion");
    for mut item in items {
        let bare = text(&item, "kind").is_empty() && text(&item, "apiVersion").is_empty();
        if let Some(members) = item.as_object_mut().filter(|_| bare && !kind.is_empty()) {
            members.insert("apiVersion".to_owned(), version.into());
            members.insert("kind".to_owned(), kind.as_str().into());
        }
        flatten(item, found);
    }
}

/// Refuses a text with a duplicate key, because only one of the two values would be loaded.
///
/// # Errors
/// The key and its position, or that the text is too large.
pub fn refuse_repeated_keys(manifests: &str) -> Result<(), ManifestError> {
    for document in documents(manifests)? {
        let repeated = if is_json(document.text) {
            let node = json::parse(document.text.as_bytes()).ok();
            node.and_then(|node| json::duplicates(&node).into_iter().next())
        } else {
            let found = yaml::parse(document.text).ok();
            let first = found.and_then(|found| found.duplicates.into_iter().next());
            first.map(|first| {
                let line = first.line + document.above;
                yaml::DuplicateKey { line, ..first }.to_string()
            })
        };
        refuse_repeated(repeated)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_its_items_and_an_item_without_a_kind_has_that_of_its_list() {
        let text = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n\
             - apiVersion: v1\n  kind: List\n  items: [{apiVersion: v1, kind: Pod, metadata: {name: b}}]\n\
             ---\n{\"apiVersion\": \"v1\", \"kind\": \"ConfigMapList\", \"items\": [{\"metadata\": {\"name\": \"c\"}}]}\n";
        let titles: Vec<String> = objects(text).unwrap().iter().map(title).collect();
        assert_eq!(
            titles,
            ["ConfigMap a (v1)", "Pod b (v1)", "ConfigMap c (v1)"]
        );
    }

    #[test]
    fn a_repeated_key_and_a_byte_that_is_no_text_are_named_with_their_line() {
        let repeated = |text: &str| refuse_repeated_keys(text).map_err(|error| error.to_string());
        let twice = "kind: ConfigMap\n---\ndata:\n  a: 1\n  a: 2\n";
        assert!(
            repeated(twice)
                .unwrap_err()
                .starts_with("line 5: key \"a\" already set in map")
        );
        assert!(
            repeated(r#"{"a": 1, "a": 2}"#)
                .unwrap_err()
                .starts_with("duplicate field \"a\"")
        );
        assert_eq!(repeated("a: 1\n---\na: 2\n"), Ok(()));
        let error = decode(b"kind: ConfigMap\nname: caf\xe9\n")
            .unwrap_err()
            .to_string();
        assert!(error.contains("line 2 has the byte 0xE9"), "{error}");
        assert_eq!(
            decode("\u{feff}kind: caf\u{e9}".as_bytes()).unwrap(),
            "kind: caf\u{e9}"
        );
    }
}
