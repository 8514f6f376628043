//! The operation at which a patch ends, and the words of the server's library for it.

use serde_json::Value;

use super::JsonPatchError;
use crate::go;

/// The operation of a patch that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedOperation {
    /// Its place in the patch, from 0.
    pub position: usize,
    /// The operation: `test`, `remove` and so on; empty if the patch does not name one.
    pub op: String,
    /// The path, as it was written.
    pub path: String,
    /// For a `test` that found another value: the wanted value and the one that was there, `None`
    /// if there was none.
    pub differed: Option<(Value, Option<Value>)>,
    /// The reason, as the server's library tells it.
    pub reason: String,
}

/// The reason why something is not done at a place of a document.
#[derive(Debug, PartialEq)]
pub(super) enum PlaceError {
    /// The place is in nothing.
    NoParent,
    /// The map does not have the key.
    NoKey(String),
    /// The list does not reach to the index.
    NoIndex(String),
    /// The index is no number.
    NoNumber(String),
    /// The index is more than a number of 64 bits.
    HugeNumber(String),
    /// The server's library panics over it.
    Panics,
}

impl PlaceError {
    /// The words of the server's library (`gopkg.in/evanphx/json-patch.v4`).
    fn words(&self) -> String {
        match self {
            PlaceError::NoParent => "missing value".to_owned(),
            PlaceError::NoKey(key) => {
                format!("Unable to remove nonexistent key: {key}: missing value")
            }
            PlaceError::NoIndex(index) => {
                format!("Unable to access invalid index: {index}: invalid index referenced")
            }
            PlaceError::NoNumber(text) => {
                let text = go::quote(text);
                format!("strconv.Atoi: parsing {text}: invalid syntax")
            }
            PlaceError::HugeNumber(text) => {
                let text = go::quote(text);
                format!("strconv.Atoi: parsing {text}: value out of range")
            }
            PlaceError::Panics => String::new(),
        }
    }

    /// The words for an item that cannot be added.
    fn words_of_addition(&self) -> String {
        match self {
            PlaceError::NoNumber(text) | PlaceError::HugeNumber(text) => {
                format!(
                    "value was not a proper array index: '{text}': {}",
                    self.words()
                )
            }
            fault => fault.words(),
        }
    }
}

/// The end of a patch at one of its operations.
#[derive(Debug)]
pub(super) struct OperationError {
    pub(super) error: JsonPatchError,
    /// The reason, as the server's library tells it.
    pub(super) reason: String,
}

impl OperationError {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self {
            error: JsonPatchError::DoesNotApply,
            reason: reason.into(),
        }
    }

    /// A failure without words.
    pub(super) fn plain(error: JsonPatchError) -> Self {
        Self {
            error,
            reason: String::new(),
        }
    }

    /// A place of an operation that is in nothing.
    pub(super) fn missing(op: &str, what: &str) -> Self {
        let missing = PlaceError::NoParent.words();
        Self::new(format!("{op} operation does not apply: {what}: {missing}"))
    }

    /// A fault at a place that is there.
    pub(super) fn at(op: &str, preposition: &str, path: &str, fault: &PlaceError) -> Self {
        let words = fault.words();
        Self::caused_by(
            fault,
            format!("error in {op} for {preposition}: '{path}': {words}"),
        )
    }

    /// A fault at the place of a new value.
    pub(super) fn adding(op: &str, path: &str, fault: &PlaceError) -> Self {
        let words = fault.words_of_addition();
        Self::caused_by(
            fault,
            match op {
                "copy" => format!("error while adding value during copy: {words}"),
                op => format!("error in {op} for path: '{path}': {words}"),
            },
        )
    }

    fn caused_by(fault: &PlaceError, reason: String) -> Self {
        match fault {
            PlaceError::Panics => Self::plain(JsonPatchError::Panics),
            _ => Self::new(reason),
        }
    }
}
