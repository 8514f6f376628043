//! Splits a pasted text that has messages and objects.

use std::ops::Range;

use serde::Deserialize;

use crate::message::reported_errors;

/// The longest text that is split, in bytes: it is split before anything else is shown.
pub(super) const MAX_SPLIT: usize = 1024 * 1024;

/// The longest text before or between objects that is searched for messages, in bytes.
pub(super) const MAX_WORDS: usize = 64 * 1024;

/// The fields that can be the first one of an object.
const FIRST_FIELDS: [&str; 5] = ["apiVersion:", "kind:", "metadata:", "data:", "spec:"];

/// The starts of lines that can be the first one of a message behind an object, in lower case: of a tool, of the server,
/// or the command above it.
const FIRST_WORDS: [&str; 4] = [
    "error",
    "apply failed with",
    "operation cannot be fulfilled",
    "$ ",
];

/// Splits a text into error messages and objects in YAML or JSON, where it has both: people paste the output of a command
/// and the manifest together. The parts are slices of the text, without the lines `---` between them. A text of one
/// kind is one part.
pub fn parts(text: &str) -> Vec<&str> {
    if text.len() > MAX_SPLIT {
        return vec![text];
    }
    let (mut has_message, mut has_object) = (false, false);
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut last_object = None;
    for document in documents(text) {
        let begin = document.start + object_begins(&text[document.clone()]);
        let words = document.start..begin;
        has_object |= begin < document.end;
        let end = begin + message_begins(&text[begin..document.end]);
        let object = if has_errors(&text[words.clone()]) {
            has_message = true;
            parts.push(words);
            begin..end
        } else {
            document.start..end
        };
        if !text[object.clone()].trim().is_empty() {
            match parts.last_mut() {
                // Objects that follow each other stay one text.
                Some(before) if last_object.as_ref() == Some(before) => before.end = object.end,
                _ => parts.push(object),
            }
            last_object = parts.last().cloned();
        }
        if end < document.end {
            has_message = true;
            parts.push(end..document.end);
        }
    }
    if !has_message || !has_object {
        return vec![text];
    }
    parts.into_iter().map(|part| &text[part]).collect()
}

/// The parts of a text between lines `---`.
fn documents(text: &str) -> Vec<Range<usize>> {
    let (mut documents, mut begin, mut at) = (Vec::new(), 0, 0);
    for line in text.split_inclusive('\n') {
        if line.trim_end() == "---" {
            documents.push(begin..at);
            begin = at + line.len();
        }
        at += line.len();
    }
    documents.push(begin..at);
    documents
}

/// The position of the first line that begins an object; the length of a document without one.
fn object_begins(document: &str) -> usize {
    let mut at = 0;
    for line in document.split_inclusive('\n') {
        let is_yaml = FIRST_FIELDS.iter().any(|field| line.starts_with(field));
        if is_yaml || line.starts_with('{') && is_json_object(&document[at..]) {
            return at;
        }
        at += line.len();
    }
    at
}

/// The fields that every object in JSON has.
#[derive(Deserialize)]
struct TypedObject {
    #[serde(rename = "apiVersion")]
    _api_version: String,
    kind: String,
}

/// Returns whether a text begins with an object in JSON. A `Status` is a message.
fn is_json_object(text: &str) -> bool {
    let mut objects = serde_json::Deserializer::from_str(text).into_iter::<TypedObject>();
    matches!(objects.next(), Some(Ok(object)) if object.kind != "Status")
}

/// The position of the first line of a message behind an object; the length of the text without one.
fn message_begins(object: &str) -> usize {
    let mut at = 0;
    for line in object.split_inclusive('\n') {
        let start: String = line.chars().take(32).collect::<String>().to_lowercase();
        if FIRST_WORDS.iter().any(|words| start.starts_with(words)) {
            return match has_errors(&object[at..]) {
                true => at,
                false => object.len(),
            };
        }
        at += line.len();
    }
    at
}

fn has_errors(words: &str) -> bool {
    !words.trim().is_empty() && words.len() <= MAX_WORDS && !reported_errors(words).is_empty()
}
