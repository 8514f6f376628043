//! Limits of programs that come from links and files, so that no program fills the memory.

use std::fmt;

use serde_json::Value;

use super::Program;

/// The most bytes of a program as JSON.
const MOST_BYTES: usize = 64 * 1024;

/// The most bytes of a name: that of a field manager
/// (`k8s.io/apimachinery/pkg/apis/meta/v1/validation`, `FieldManagerMaxLength`).
const LONGEST_NAME: usize = 128;

/// A text gets no more from its placeholders once it has this number of bytes.
pub(super) const LONGEST_TEXT: usize = 4 * 1024;

/// The most values of an object of a variable. etcd takes requests up to 1.5 MiB.
const MOST_VALUES: usize = 100_000;

/// The reason why a program cannot be a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramProblem {
    /// The name is empty, too long, or has a character that cannot be in a header.
    Name,
    /// The program is too long.
    TooLong,
}

impl fmt::Display for ProgramProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => write!(
                f,
                "The name of a controller has 1 to {LONGEST_NAME} letters, digits, dots, dashes \
                 or underscores."
            ),
            Self::TooLong => write!(f, "A program has at most {MOST_BYTES} bytes of JSON."),
        }
    }
}

impl std::error::Error for ProgramProblem {}

impl Program {
    /// Checks whether it can be the program of a controller.
    ///
    /// # Errors
    /// The reason why it cannot.
    pub fn check(&self) -> Result<(), ProgramProblem> {
        let usual = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        if self.name.is_empty() || self.name.len() > LONGEST_NAME || !self.name.bytes().all(usual) {
            return Err(ProgramProblem::Name);
        }
        let json = serde_json::to_string(self).map_err(|_| ProgramProblem::TooLong)?;
        match json.len() <= MOST_BYTES {
            true => Ok(()),
            false => Err(ProgramProblem::TooLong),
        }
    }
}

/// Returns whether an object has more values than any object that a server stores. A program that copies an
/// object into itself doubles it each time.
pub(super) fn is_too_large(object: &Value) -> bool {
    fn counted(value: &Value, left: usize) -> Option<usize> {
        let left = left.checked_sub(1)?;
        match value {
            Value::Object(members) => members
                .values()
                .try_fold(left, |left, value| counted(value, left)),
            Value::Array(items) => items
                .iter()
                .try_fold(left, |left, item| counted(item, left)),
            _ => Some(left),
        }
    }
    counted(object, MOST_VALUES).is_none()
}
