//! Removes everything from the texts of a case that looks private, so that people can share them.
//!
//! [`optimist_masking`] decides which values are private, and gives their stand-ins. Of an
//! error message, only the lines with a meaning stay; of a request of an audit log, only the parts
//! that [`audit`](crate::audit) reads. People get stand-ins for their names. A text that is not
//! detected is left out whole.

use std::collections::VecDeque;

use optimist_masking::{Masking, Private, has_structure, names_secret};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::anonymize::texts::{needed_lines, needed_of_log};
use crate::input::{Input, detect};

/// A case without values that look private.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WithoutPrivate {
    /// Its texts.
    pub texts: Vec<String>,
    /// The private values that were left out.
    pub private: Vec<Private>,
    /// The number of texts that are error messages: their readable lines stay.
    pub messages: usize,
    /// The number of texts that are audit logs: the parts of a request that the crate reads stay.
    pub logs: usize,
    /// The number of texts that are left out whole, because they are not detected.
    pub undetected: usize,
}

/// Leaves out values that look private, a text at a time.
#[derive(Clone, Debug)]
pub struct PrivateSearch {
    left: VecDeque<String>,
    masking: Masking,
    done: WithoutPrivate,
    is_done: bool,
}

impl PrivateSearch {
    /// Begins with the texts of a case. Nothing is read yet.
    pub fn new(texts: &[String]) -> Self {
        let any = texts.iter().any(|text| names_secret(text));
        let all = texts.iter().map(String::as_str);
        Self {
            left: texts.iter().cloned().collect(),
            masking: Masking::shared(all).with_secrets(any),
            done: WithoutPrivate::default(),
            is_done: false,
        }
    }

    /// Reads one text. Returns whether there is more to do.
    pub fn advance(&mut self) -> bool {
        match self.left.pop_front() {
            Some(text) => self.read(text),
            None if !self.is_done => {
                let known = self.masking.known_values();
                for text in &mut self.done.texts {
                    if let Some(new) = known.replaced(text) {
                        *text = new;
                    }
                }
                self.done.private = self.masking.findings();
                self.is_done = true;
            }
            None => {}
        }
        !self.is_done
    }

    /// Returns the case without values that look private; `None` while there is more to do.
    pub fn result(&self) -> Option<&WithoutPrivate> {
        self.is_done.then_some(&self.done)
    }

    fn read(&mut self, text: String) {
        let new = match detect(&text) {
            Ok(Input::Errors(errors)) => {
                self.done.messages += 1;
                let lines = needed_lines(&text, &errors);
                lines.map(|lines| self.masking.message(&lines).unwrap_or(lines))
            }
            Ok(Input::AuditLog(_)) => {
                self.done.logs += 1;
                Some(self.log(&text))
            }
            Ok(structured) => {
                // What a terminal printed around an object is in no object.
                let text = match has_structure(&text) {
                    true => text,
                    false => structured.to_text(),
                };
                Some(self.masking.text(&text).unwrap_or(text))
            }
            Err(_) => None,
        };
        match new {
            Some(new) => self.done.texts.push(new),
            None => self.done.undetected += 1,
        }
    }

    /// Returns the parts of a log that the crate reads. Programs keep their names, people do not.
    fn log(&mut self, log: &str) -> String {
        let needed = needed_of_log(log);
        let events = needed.lines().map(|line| {
            let Ok(mut event) = serde_json::from_str::<Value>(line) else {
                return String::new();
            };
            if let Some(user) = event.pointer_mut("/user/username") {
                let name = user.as_str().unwrap_or_default();
                if !name.is_empty() && !name.starts_with("system:") {
                    *user = self
                        .masking
                        .leave_out("user.username", "a user", name)
                        .into();
                }
            }
            self.masking.object(&mut event);
            format!("{event}\n")
        });
        events.collect()
    }
}
