//! Accepted differences, each with its reason.

use std::path::Path;
use std::{fs, io};

use serde::Deserialize;

use super::compare::Difference;

/// Known differences of one step.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exception {
    /// The name of the recording.
    pub sequence: String,
    /// The number of the step, from 0.
    pub step: usize,
    /// The reason why this difference is tolerated.
    pub reason: String,
    /// The places: JSON pointers into the answer; each covers everything below it.
    pub pointers: Vec<String>,
}

impl Exception {
    /// Returns the position of the pointer that covers this difference.
    pub(super) fn covering(&self, difference: &Difference) -> Option<usize> {
        self.pointers.iter().position(|pointer| {
            let below = difference.pointer.strip_prefix(pointer.as_str());
            below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}

/// A list of known differences.
#[derive(Clone, Debug, Default)]
pub struct Exceptions(Vec<Exception>);

impl Exceptions {
    /// The exceptions of this repository.
    pub fn embedded() -> Self {
        Self::parse(include_str!("../exceptions.json"))
            .expect("the embedded exceptions are well-formed")
    }

    /// The exceptions in a JSON text: a list of objects with the members of [`Exception`].
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text).map(Exceptions)
    }

    /// The exceptions in a file.
    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(Self::parse(&fs::read_to_string(path)?)?)
    }

    /// The exceptions of one recording.
    pub fn for_recording<'a>(&'a self, recording: &'a str) -> impl Iterator<Item = &'a Exception> {
        self.0
            .iter()
            .filter(move |exception| exception.sequence == recording)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Exception> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_covers_itself_and_what_is_below() {
        let text =
            r#"[{"sequence":"s","step":2,"reason":"r","pointers":["/status","/response/data"]}]"#;
        let exceptions = Exceptions::parse(text).unwrap();
        let exception = exceptions.for_recording("s").next().unwrap();
        let covering = |pointer: &str| {
            exception.covering(&Difference {
                pointer: pointer.into(),
                expected: None,
                got: None,
            })
        };
        assert_eq!(covering("/status"), Some(0));
        assert_eq!(covering("/response/data/a"), Some(1));
        assert_eq!(covering("/response/database"), None);
        assert_eq!(exceptions.for_recording("other").count(), 0);
    }
}
