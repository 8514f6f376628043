//! Reads the mappings of a lesson's text. Errors name the line.

use std::fmt;

use serde_json::Value;

use optimist_apiserver::yaml::{Content, Located, Member, YamlError};

/// An error in a lesson, with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LessonError {
    /// Counted from 1.
    pub line: usize,
    /// The message, without a full stop at its end.
    pub message: String,
}

impl LessonError {
    pub(super) fn new(line: usize, message: impl Into<String>) -> Self {
        let mut message = message.into();
        // Other messages end with a full stop. Without it, a caller can put this message into a
        // sentence.
        message.truncate(message.trim_end_matches('.').len());
        Self { line, message }
    }
}

impl fmt::Display for LessonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for LessonError {}

impl From<YamlError> for LessonError {
    fn from(error: YamlError) -> Self {
        Self::new(error.line, error.message)
    }
}

pub(super) type LessonResult<T> = Result<T, LessonError>;

/// A mapping whose keys are all known.
pub(super) struct KnownKeys<'a> {
    pub(super) line: usize,
    pub(super) members: &'a [Member],
}

impl<'a> KnownKeys<'a> {
    /// Reads a mapping with only these keys.
    pub(super) fn read(located: &'a Located, what: &str, known: &[&str]) -> LessonResult<Self> {
        let members = members(located, what)?;
        for member in members {
            if !known.contains(&member.key.as_str()) {
                return Err(Self::unknown(member, what, known));
            }
        }
        Ok(Self {
            line: located.line,
            members,
        })
    }

    /// Makes the error of a key that is not known.
    pub(super) fn unknown(member: &Member, what: &str, known: &[&str]) -> LessonError {
        let message = format!(
            "{what} has no “{}”. It may have: {}",
            member.key,
            known.join(", ")
        );
        LessonError::new(member.line, message)
    }

    pub(super) fn get(&self, key: &str) -> Option<&'a Located> {
        let member = self.members.iter().find(|member| member.key == key);
        member.map(|member| &member.value)
    }

    /// The line of a key; the first line of the mapping if the key is absent.
    pub(super) fn line_of(&self, key: &str) -> usize {
        let member = self.members.iter().find(|member| member.key == key);
        member.map_or(self.line, |member| member.line)
    }

    pub(super) fn needed(&self, key: &str) -> LessonResult<&'a Located> {
        self.get(key)
            .ok_or_else(|| LessonError::new(self.line, format!("“{key}” is missing here")))
    }

    pub(super) fn text(&self, key: &str) -> LessonResult<Option<String>> {
        self.get(key).map(text).transpose()
    }

    pub(super) fn needed_text(&self, key: &str) -> LessonResult<String> {
        text(self.needed(key)?)
    }

    pub(super) fn flag(&self, key: &str) -> LessonResult<Option<bool>> {
        self.get(key).map(flag).transpose()
    }

    pub(super) fn number(&self, key: &str) -> LessonResult<Option<u64>> {
        self.get(key).map(number).transpose()
    }

    /// The items of a list; empty if the key is absent.
    pub(super) fn items(&self, key: &str) -> LessonResult<&'a [Located]> {
        self.get(key).map_or(Ok(&[]), items)
    }
}

pub(super) fn members<'a>(located: &'a Located, what: &str) -> LessonResult<&'a [Member]> {
    match &located.content {
        Content::Map(members) => Ok(members),
        _ => Err(LessonError::new(
            located.line,
            format!("{what} must be a mapping (key: value)"),
        )),
    }
}

pub(super) fn items(located: &Located) -> LessonResult<&[Located]> {
    match &located.content {
        Content::List(items) => Ok(items),
        _ => Err(LessonError::new(
            located.line,
            "a list is needed here (lines that begin with “- ”)",
        )),
    }
}

/// Text, also if it looks like another type: `Yes`, `1`.
pub(super) fn text(located: &Located) -> LessonResult<String> {
    match &located.content {
        Content::Scalar(value, written) if !value.is_null() => Ok(written.trim_end().to_owned()),
        _ => Err(LessonError::new(located.line, "text is needed here")),
    }
}

pub(super) fn flag(located: &Located) -> LessonResult<bool> {
    match located.content {
        Content::Scalar(Value::Bool(flag), _) => Ok(flag),
        _ => Err(LessonError::new(located.line, "yes or no is needed here")),
    }
}

pub(super) fn number(located: &Located) -> LessonResult<u64> {
    match &located.content {
        Content::Scalar(Value::Number(number), _) => number.as_u64(),
        _ => None,
    }
    .ok_or_else(|| LessonError::new(located.line, "a whole number is needed here"))
}

/// One of several words.
pub(super) fn word<T: Clone>(located: &Located, words: &[(&str, T)]) -> LessonResult<T> {
    let text = text(located)?;
    let found = words.iter().find(|(word, _)| *word == text);
    found.map(|(_, meaning)| meaning.clone()).ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let message = format!("“{text}” is not known. Known: {}", known.join(", "));
        LessonError::new(located.line, message)
    })
}
