//! Conditions on the watcher's connection.

use std::fmt;

use optimist_apiserver::yaml::{Content, Located};
use optimist_simulation::Connection;
use serde_json::Value;

use super::answer::status_code;
use super::{Assertion, Condition, Past};
use crate::fields::{LessonError, LessonResult};

/// The state of the watch of the current object.
#[derive(Clone, Copy, Debug, PartialEq)]
enum WatchState {
    None,
    Open,
    Dropped,
    Closed,
    Listed,
    /// The server refused it, or ended it with an error of this code.
    Failed(u16),
}

const WORDS: [(&str, WatchState); 5] = [
    ("none", WatchState::None),
    ("open", WatchState::Open),
    ("dropped", WatchState::Dropped),
    ("closed", WatchState::Closed),
    ("listed", WatchState::Listed),
];

pub(super) fn watch(value: &Located) -> LessonResult<Vec<Condition>> {
    let watch = match &value.content {
        Content::Scalar(Value::String(word), _) => {
            let known = WORDS.iter().find(|(known, _)| known == word);
            known.map(|(_, watch)| *watch).ok_or_else(|| {
                let words = WORDS.map(|(word, _)| word).join(", ");
                LessonError::new(value.line, format!("a watch is {words} or a status code"))
            })?
        }
        _ => WatchState::Failed(status_code(value)?),
    };
    Ok(vec![Condition::new(watch)])
}

/// Returns the state of the watch after a part of a history.
fn watch_after(past: Past<'_>) -> WatchState {
    match past.tree().world().watcher().connection() {
        Connection::None => WatchState::None,
        Connection::Open { .. } => WatchState::Open,
        Connection::Dropped => WatchState::Dropped,
        Connection::Closed => WatchState::Closed,
        Connection::Listed => WatchState::Listed,
        Connection::Failed { code, .. } => WatchState::Failed(*code),
    }
}

impl Assertion for WatchState {
    fn holds(&self, past: Past<'_>) -> bool {
        watch_after(past) == *self
    }

    fn actual(&self, past: Past<'_>) -> Option<String> {
        Some(watch_after(past).word())
    }
}

impl WatchState {
    fn word(self) -> String {
        match (self, WORDS.iter().find(|(_, watch)| *watch == self)) {
            (WatchState::Failed(code), _) => code.to_string(),
            (_, Some((word, _))) => (*word).to_owned(),
            (_, None) => String::new(),
        }
    }
}

impl fmt::Display for WatchState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WatchState::Failed(code) => write!(f, "the watch ends with {code}"),
            WatchState::None => f.write_str("no watch was opened"),
            WatchState::Listed => f.write_str("the watcher has listed again"),
            other => write!(f, "the watch is {}", other.word()),
        }
    }
}
