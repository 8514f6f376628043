//! The error type of this program: the problem, and a remedy to try.

use std::fmt;

/// A failed step, described in one line.
#[derive(Debug)]
pub struct Failure {
    what: String,
    remedy: String,
}

/// The result of a step.
pub type StageResult<T> = Result<T, Failure>;

impl Failure {
    /// `what` describes the problem; `remedy` is a command to run, or short advice.
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
