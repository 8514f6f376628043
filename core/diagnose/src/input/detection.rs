//! Recognizing a text, a slice at a time.

use std::sync::Arc;

use optimist_apiserver::object::text;
use optimist_client::{ObjectReader, flatten};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::form::{self, TextForm};
use super::wrapped::Unwrapping;
use super::{
    AUDIT_GROUP, Input, MAX_LOG, MAX_TEXT, NotDetected, VersionsEnd, are_versions, check,
    is_cut_log, of_objects, too_large, wrong_document, wrong_version,
};
use crate::message::{ErrorReader, ReportedError};
use crate::observed::{ObservedVersion, ReadError, ReadProblem, VersionReader};

/// The detection of a text like [`detect`](super::detect), a slice at a time.
#[derive(Debug)]
pub struct Detection {
    text: Arc<str>,
    stage: DetectionStage,
    /// The text as the user gave it and the reason why it is not detected, if `text` is the plain
    /// one of it.
    input: Option<(Arc<str>, NotDetected)>,
}

#[derive(Debug)]
enum DetectionStage {
    Begin,
    /// The events of an audit log are taken out of the lines of another log.
    Wrapped(Unwrapping),
    Watch(VersionReader),
    /// JSON documents that follow each other: how many bytes are read, and the objects so far.
    Json(usize, Vec<Value>),
    /// YAML or JSON documents, each strictly.
    Documents(ObjectReader),
    /// Nothing with structure: error messages may be in it.
    Words(NotDetected),
    /// The errors in it are searched for.
    Errors(Box<ErrorReader>, NotDetected),
    Done(Result<Input, NotDetected>),
}

/// The fields of the first JSON document that tell the kinds of texts apart.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "apiVersion")]
    api_version: Option<String>,
    #[serde(rename = "type")]
    of_event: Option<String>,
    object: Option<IgnoredAny>,
    items: Option<IgnoredAny>,
}

impl Detection {
    /// The detection of a text, at its beginning.
    pub fn new(text: Arc<str>) -> Self {
        let trimmed = text.trim_start_matches('\u{feff}');
        let text = if trimmed.len() == text.len() {
            text
        } else {
            trimmed.into()
        };
        Self {
            text,
            stage: DetectionStage::Begin,
            input: None,
        }
    }

    /// Returns the number of bytes that are read, and the number of all.
    pub fn progress(&self) -> (usize, usize) {
        let read = match &self.stage {
            DetectionStage::Wrapped(unwrapping) => unwrapping.read(),
            DetectionStage::Watch(reader) => reader.progress().0,
            DetectionStage::Json(read, _) => *read,
            DetectionStage::Done(_) => self.text.len(),
            DetectionStage::Begin
            | DetectionStage::Documents(_)
            | DetectionStage::Words(_)
            | DetectionStage::Errors(..) => 0,
        };
        (read, self.text.len())
    }

    /// Returns whether documents are read, each as a whole: objects, or what may be some.
    pub fn reads_documents(&self) -> bool {
        matches!(
            self.stage,
            DetectionStage::Json(..) | DetectionStage::Documents(_)
        )
    }

    /// Reads until about this many bytes more are read: at least a document. Returns whether there
    /// is more.
    pub fn advance(&mut self, bytes: usize) -> bool {
        let done = DetectionStage::Done(Err(NotDetected::Empty));
        self.stage = match std::mem::replace(&mut self.stage, done) {
            DetectionStage::Begin => self.first_stage(),
            DetectionStage::Wrapped(mut unwrapping) => match unwrapping.advance(bytes) {
                true => DetectionStage::Wrapped(unwrapping),
                false => DetectionStage::Done(Ok(Input::AuditLog(unwrapping.finish()))),
            },
            DetectionStage::Watch(reader) => watched(&self.text, reader, bytes),
            DetectionStage::Json(at, found) => self.json(at, found, bytes),
            DetectionStage::Documents(reader) => read_document(reader),
            DetectionStage::Words(why) => {
                let reader = ErrorReader::new(Arc::clone(&self.text));
                DetectionStage::Errors(Box::new(reader), why)
            }
            DetectionStage::Errors(mut reader, why) => match reader.advance(bytes) {
                true => DetectionStage::Errors(reader, why),
                false => self.words(reader.finish(), why),
            },
            done => done,
        };
        !matches!(self.stage, DetectionStage::Done(_))
    }

    /// Returns the input in the text.
    ///
    /// # Errors
    /// The missing part or the problem.
    pub fn finish(self) -> Result<Input, NotDetected> {
        match self.stage {
            DetectionStage::Done(result) => result,
            _ => Err(NotDetected::Empty),
        }
    }

    fn first_stage(&self) -> DetectionStage {
        let text = &*self.text;
        if text.len() > MAX_LOG {
            return DetectionStage::Done(Err(too_large(text.len(), MAX_LOG)));
        }
        if text.trim().is_empty() {
            return DetectionStage::Done(Err(NotDetected::Empty));
        }
        let head = head(text);
        let is_audit = |(head, _): &(Head, usize)| {
            let version = head.api_version.as_deref().unwrap_or_default();
            version.starts_with(AUDIT_GROUP)
        };
        // An array of events: `jq -s .` makes one of a log.
        let in_array = text.trim_start().strip_prefix('[').and_then(self::head);
        let is_log = head.as_ref().is_some_and(is_audit) || in_array.as_ref().is_some_and(is_audit);
        if is_log || is_cut_log(text) {
            return DetectionStage::Done(Ok(Input::AuditLog(Arc::clone(&self.text))));
        }
        if let Some(unwrapping) = Unwrapping::detect(&self.text) {
            return DetectionStage::Wrapped(unwrapping);
        }
        if text.len() > MAX_TEXT {
            return DetectionStage::Done(Err(too_large(text.len(), MAX_TEXT)));
        }
        match head {
            Some((head, _)) if head.of_event.is_some() && head.object.is_some() => {
                DetectionStage::Watch(VersionReader::new(Arc::clone(&self.text)))
            }
            Some((head, end)) if head.items.is_some() || !text[end..].trim().is_empty() => {
                DetectionStage::Json(0, Vec::new())
            }
            // An array of objects: `jq .items` makes one of a list.
            None if in_array.is_some_and(|(head, _)| head.api_version.is_some()) => {
                DetectionStage::Json(0, Vec::new())
            }
            _ => self.documents(),
        }
    }

    fn documents(&self) -> DetectionStage {
        match ObjectReader::new(Arc::clone(&self.text)) {
            Ok(reader) => DetectionStage::Documents(reader),
            Err(error) => DetectionStage::Words(wrong_document(error)),
        }
    }

    /// JSON documents without separators, as `kubectl get -w -o json` prints them.
    fn json(&self, begin: usize, mut found: Vec<Value>, bytes: usize) -> DetectionStage {
        let rest = &self.text[begin..];
        let mut documents = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        while documents.byte_offset() < bytes {
            match documents.next() {
                Some(Ok(document)) => {
                    let known = found.len();
                    match document {
                        Value::Array(objects) => {
                            objects.into_iter().for_each(|it| flatten(it, &mut found));
                        }
                        one => flatten(one, &mut found),
                    }
                    if let Err(why) = checked(&found, known) {
                        return DetectionStage::Words(why);
                    }
                }
                // One object is read strictly, and says what is wrong with it.
                Some(Err(error)) if error.is_eof() && are_versions(&found) => {
                    return DetectionStage::Done(of_objects(found).map(cut));
                }
                None if found.len() > 1 || rest.trim_start().starts_with('[') => {
                    return concluded(found);
                }
                None | Some(Err(_)) => return self.documents(),
            }
        }
        DetectionStage::Json(begin + documents.byte_offset(), found)
    }

    fn words(&mut self, errors: Vec<ReportedError>, why: NotDetected) -> DetectionStage {
        if !errors.is_empty() {
            return DetectionStage::Done(Ok(Input::Errors(errors)));
        }
        let why = match why {
            NotDetected::Syntax { .. } if !form::looks_like_object(&self.text) => {
                NotDetected::NoKnownMessage
            }
            why => why,
        };
        if let Some((text, first)) = self.input.take() {
            // Lines are the same in both.
            let form =
                TextForm::detect(&self.text, &why).or_else(|| TextForm::detect(&text, &first));
            return DetectionStage::Done(Err(form.unwrap_or(why)));
        }
        match form::plain(&self.text) {
            Some(plain) => {
                let text = std::mem::replace(&mut self.text, plain.into());
                self.input = Some((text, why));
                DetectionStage::Begin
            }
            None => DetectionStage::Done(Err(TextForm::detect(&self.text, &why).unwrap_or(why))),
        }
    }
}

/// Returns the beginning of a text in JSON, and the position at which the first document ends.
fn head(text: &str) -> Option<(Head, usize)> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Head>();
    let head = documents.next()?.ok()?;
    Some((head, documents.byte_offset()))
}

fn watched(text: &str, mut reader: VersionReader, bytes: usize) -> DetectionStage {
    match reader.advance(bytes) {
        Ok(true) => DetectionStage::Watch(reader),
        Err(error) if is_end(&error, &text[reader.progress().0..]) => {
            let rest = &text[reader.progress().0..];
            let versions = reader.finish();
            match versions.is_empty() {
                // The Status in it is an error message.
                true => DetectionStage::Words(wrong_version(error)),
                false => DetectionStage::Done(of_versions(versions, ended(rest))),
            }
        }
        Err(error) if is_begun(&error, &text[reader.progress().0..]) => {
            match of_versions(reader.finish(), VersionsEnd::Cut) {
                Ok(input) => DetectionStage::Done(Ok(input)),
                Err(_) => not_watched(text, error),
            }
        }
        Err(error) => not_watched(text, error),
        Ok(false) => DetectionStage::Done(of_versions(reader.finish(), VersionsEnd::Whole)),
    }
}

fn not_watched(text: &str, error: ReadError) -> DetectionStage {
    let why = wrong_version(error);
    DetectionStage::Done(Err(TextForm::detect(text, &why).unwrap_or(why)))
}

/// Returns whether a watch was read up to its last event, which the text ends in: a command was stopped while it printed.
fn is_begun(error: &ReadError, rest: &str) -> bool {
    let mut left = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
    matches!(error.problem, ReadProblem::Syntax(_))
        && matches!(left.next(), Some(Err(error)) if error.is_eof())
}

/// Versions of which the last one is cut.
fn cut(input: Input) -> Input {
    match input {
        Input::Versions { versions, .. } => Input::Versions {
            versions,
            end: VersionsEnd::Cut,
        },
        input => input,
    }
}

/// Returns whether a watch was read up to its last event, an ERROR: the server ends the watch with it
/// (`k8s.io/apiserver/pkg/storage/cacher/cache_watcher.go process`, v0.36).
fn is_end(error: &ReadError, rest: &str) -> bool {
    let mut left = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
    error.problem == ReadProblem::Event("ERROR".to_owned())
        && left.next().is_some_and(|event| event.is_ok())
        && left.next().is_none()
}

/// The end of a watch with an ERROR.
fn ended(error: &str) -> VersionsEnd {
    let event: Value = serde_json::from_str(error).unwrap_or_default();
    VersionsEnd::Error(text(&event["object"], "message").to_owned())
}

pub(super) fn of_versions(
    versions: Vec<ObservedVersion>,
    end: VersionsEnd,
) -> Result<Input, NotDetected> {
    if versions.is_empty() {
        return Err(NotDetected::WatchEvent("BOOKMARK".to_owned()));
    }
    let mut objects = versions.iter().enumerate();
    let wrong = objects.find_map(|(at, version)| check(&version.object, at + 1).err());
    wrong.map_or(Ok(Input::Versions { versions, end }), Err)
}

fn read_document(mut reader: ObjectReader) -> DetectionStage {
    let known = reader.objects().len();
    let more = reader.advance().map_err(wrong_document);
    match more.and_then(|more| checked(reader.objects(), known).map(|()| more)) {
        Ok(true) => DetectionStage::Documents(reader),
        Ok(false) => concluded(spread(reader.finish())),
        Err(why) => DetectionStage::Words(why),
    }
}

/// The objects, and those in arrays: `yq .items` makes one of a list.
fn spread(found: Vec<Value>) -> Vec<Value> {
    let mut objects = Vec::with_capacity(found.len());
    for one in found {
        match one {
            Value::Array(items) => items.into_iter().for_each(|it| flatten(it, &mut objects)),
            one => objects.push(one),
        }
    }
    objects
}

/// Checks the objects from this position on.
fn checked(found: &[Value], known: usize) -> Result<(), NotDetected> {
    let mut objects = found.iter().enumerate().skip(known);
    objects.try_for_each(|(at, object)| check(object, at + 1))
}

fn concluded(found: Vec<Value>) -> DetectionStage {
    match of_objects(found) {
        Ok(input) => DetectionStage::Done(Ok(input)),
        Err(why) => DetectionStage::Words(why),
    }
}
