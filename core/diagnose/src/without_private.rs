//! The texts of a case without what looks private in them, to be shared.
//!
//! What is private, and what takes its place, decides [`optimist_masking`]. Of an error message
//! the lines stay that say something, of a request of an audit log what
//! [`audit`](crate::audit) reads of it; people have stand-ins for their names. A text that is not
//! detected is left out whole.

use std::collections::VecDeque;

use optimist_masking::{Masking, Private, has_structure, names_secret};
use serde_json::Value;

use crate::anonymize::texts::{needed_lines, needed_of_log};
use crate::input::{Input, detect};

/// A case without what looks private.
#[derive(Clone, Debug, Default)]
pub struct WithoutPrivate {
    /// Its texts.
    pub texts: Vec<String>,
    /// What was left out.
    pub private: Vec<Private>,
    /// How many texts are error messages: the lines stay that are read.
    pub messages: usize,
    /// How many texts are audit logs: what is read of a request stays.
    pub logs: usize,
    /// How many texts are left out whole, because they are not detected.
    pub undetected: usize,
}

/// Leaves out what looks private, a text at a time.
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

    /// Reads one text. Whether there is more to do.
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

    /// The case without what looks private; `None` while there is more to do.
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

    /// What is read of a log. Programs keep their names, people do not.
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
