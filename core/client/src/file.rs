//! A file that a user loads: errors that concern the whole file, and its objects.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use super::manifest::{MAX_DOCUMENTS, ManifestDocument, documents_up_to, is_json};
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
        refuse_many(&found, MAX_DOCUMENTS)?;
    }
    Ok(found)
}

/// The largest text with the objects of a cluster or of a chart, in bytes.
pub const MAX_OBJECTS_TEXT: usize = 64 * 1024 * 1024;

/// The most objects of such a text.
pub const MAX_OBJECTS: usize = 10_000;

/// Reads like [`objects`] after [`refuse_repeated_keys`], but a document at a time.
#[derive(Debug)]
pub struct ObjectReader {
    text: Arc<str>,
    /// The documents that are not read yet.
    left: VecDeque<DocumentPlace>,
    found: Vec<Value>,
    /// The most objects.
    most: usize,
}

/// The place of a document, or of a list's item, in its text.
#[derive(Debug)]
struct DocumentPlace {
    range: Range<usize>,
    /// The number of lines above it.
    above: usize,
    /// `true` if it is an item of a list, with the `- ` before it.
    is_item: bool,
}

impl ObjectReader {
    /// A reader at the beginning of a text.
    ///
    /// # Errors
    /// If the text is too large or has too many documents.
    pub fn new(text: Arc<str>) -> Result<Self, ManifestError> {
        let left = places(&text, documents(&text)?);
        Ok(Self {
            left,
            text,
            found: Vec::new(),
            most: MAX_DOCUMENTS,
        })
    }

    /// A reader of everything that a cluster or a chart has: up to [`MAX_OBJECTS_TEXT`] and
    /// [`MAX_OBJECTS`]. A list that kubectl printed in YAML is read an item at a time.
    ///
    /// # Errors
    /// If the text is too large or has too many documents.
    pub fn of_many(text: Arc<str>) -> Result<Self, ManifestError> {
        let documents = documents_up_to(&text, MAX_OBJECTS_TEXT, MAX_OBJECTS)?;
        let mut left = VecDeque::new();
        for place in places(&text, documents) {
            let document = text.get(place.range.clone()).unwrap_or_default();
            match list_items(document) {
                Some(items) => left.extend(items.into_iter().map(|item| DocumentPlace {
                    range: place.range.start + item.range.start..place.range.start + item.range.end,
                    above: place.above + item.above,
                    ..item
                })),
                None => left.push_back(place),
            }
        }
        Ok(Self {
            left,
            text,
            found: Vec::new(),
            most: MAX_OBJECTS,
        })
    }

    /// The line at which the next document begins, counted from 1.
    pub fn line(&self) -> usize {
        let Some(DocumentPlace { range, above, .. }) = self.left.front() else {
            return self.text.lines().count();
        };
        let document = self.text.get(range.clone()).unwrap_or_default();
        let blank = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with('#');
        above + document.lines().take_while(blank).count() + 1
    }

    /// Reads the next document. Returns whether there is more.
    ///
    /// # Errors
    /// If it is neither YAML nor JSON, or has a duplicate key, or if there are too many objects.
    pub fn advance(&mut self) -> Result<bool, ManifestError> {
        let Some(place) = self.left.pop_front() else {
            return Ok(false);
        };
        let DocumentPlace { range, above, .. } = place;
        let text = self.text.get(range).unwrap_or_default();
        let item = text.strip_prefix("- ").filter(|_| place.is_item);
        let item = item.map(|rest| format!("  {rest}"));
        let text = item.as_deref().unwrap_or(text);
        let document = ManifestDocument { text, above };
        let object = match place.is_item {
            // An item that begins with a brace is YAML, too.
            true => document.read_yaml()?,
            false => document.read_once()?,
        };
        flatten(object, &mut self.found);
        refuse_many(&self.found, self.most)?;
        Ok(!self.left.is_empty())
    }

    /// The objects so far.
    pub fn objects(&self) -> &[Value] {
        &self.found
    }

    /// The objects.
    pub fn finish(self) -> Vec<Value> {
        self.found
    }
}

/// Returns the places of documents in their text.
fn places(text: &str, documents: Vec<ManifestDocument<'_>>) -> VecDeque<DocumentPlace> {
    let begin = text.as_ptr() as usize;
    let places = documents.into_iter().map(|document| {
        let at = document.text.as_ptr() as usize - begin;
        DocumentPlace {
            range: at..at + document.text.len(),
            above: document.above,
            is_item: false,
        }
    });
    places.collect()
}

/// The items of a YAML document that is a list as kubectl prints it: `items:` alone in its line, and
/// each item begins with `- ` at the margin. `None` for any other document: it is read whole.
fn list_items(document: &str) -> Option<Vec<DocumentPlace>> {
    let mut items: Vec<DocumentPlace> = Vec::new();
    let (mut at, mut inside, mut is_list) = (0, false, false);
    for (number, line) in document.split_inclusive('\n').enumerate() {
        let end = at + line.len();
        let content = line.trim_end();
        is_list |= content == "kind: List";
        if line.starts_with("- ") && inside {
            items.push(DocumentPlace {
                range: at..end,
                above: number,
                is_item: true,
            });
        } else if content.is_empty() || line.starts_with("  ") {
            if let (true, Some(last)) = (inside, items.last_mut()) {
                last.range.end = end;
            }
        } else {
            inside = content == "items:";
            // Anything else at the margin is a field of the list, or a form that is not known here.
            let is_field = inside || content.starts_with(|c: char| c.is_ascii_alphabetic());
            is_field.then_some(())?;
        }
        at = end;
    }
    (is_list && !items.is_empty()).then_some(items)
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
        self.read_yaml()
    }

    fn read_yaml(&self) -> Result<Value, ManifestError> {
        let below = |line| line + self.above;
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

fn refuse_many(found: &[Value], most: usize) -> Result<(), ManifestError> {
    if found.len() <= most {
        return Ok(());
    }
    Err(ManifestError::Content(format!(
        "The file has more than {most} objects, the maximum of this page."
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
/// (`k8s.io/apimachinery/pkg/apis/meta/v1/unstructured, decodeToList`). A list whose items are null, as Go
/// writes a slice that has none, is an empty one.
pub fn flatten(mut object: Value, found: &mut Vec<Value>) {
    let list = text(&object, "kind")
        .strip_suffix("List")
        .map(str::to_owned);
    let items = match object.get_mut("items") {
        Some(Value::Array(items)) if list.is_some() => std::mem::take(items),
        Some(Value::Null) if list.is_some() => Vec::new(),
        _ => return found.push(object),
    };
    let kind = list.unwrap_or_default();
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
        assert_eq!(
            objects("apiVersion: v1\nkind: List\nitems: null\n"),
            Ok(Vec::new())
        );
    }

    #[test]
    fn a_list_that_kubectl_printed_is_read_an_item_at_a_time_as_it_is_read_whole() {
        let text = "apiVersion: v1\nitems:\n- apiVersion: v1\n  data:\n    a: |\n      - x\n\n      y\n  kind: \
             ConfigMap\n  metadata: {name: a}\n- {apiVersion: v1, kind: Pod, metadata: {name: b}}\nkind: List\n\
             metadata:\n  resourceVersion: \"\"\n";
        let mut reader = ObjectReader::of_many(text.into()).unwrap();
        assert_eq!(reader.line(), 3);
        assert_eq!(reader.advance(), Ok(true));
        assert_eq!((reader.line(), reader.objects().len()), (11, 1));
        while reader.advance().unwrap() {}
        assert_eq!(reader.finish(), objects(text).unwrap());
        let many: String = (0..300)
            .map(|at| format!("---\nkind: ConfigMap\nmetadata: {{name: a{at}}}\n"))
            .collect();
        assert!(ObjectReader::new(many.as_str().into()).is_err());
        let mut reader = ObjectReader::of_many(many.as_str().into()).unwrap();
        while reader.advance().unwrap() {}
        assert_eq!(reader.finish().len(), 300);
        let wrong = text.replace("kind: Pod, metadata", "kind: Pod, kind: Pod, metadata");
        let mut reader = ObjectReader::of_many(wrong.as_str().into()).unwrap();
        reader.advance().unwrap();
        let error = reader.advance().unwrap_err().to_string();
        assert!(error.starts_with("line 11:"), "{error}");
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
