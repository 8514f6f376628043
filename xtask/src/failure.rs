//! The one kind of error: what went wrong, and what to try.

use std::fmt;

/// A step that did not work out, told in one line.
#[derive(Debug)]
pub struct Failure {
    what: String,
    remedy: String,
}

/// The result of a step.
pub type StageResult<T> = Result<T, Failure>;

impl Failure {
    /// `what` went wrong; `remedy` is a command to type, or a short advice.
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            remedy: remedy.into(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -- try: {}", self.what, self.remedy)
    }
}
