//! An object that is followed on a real API server: a list, and watches from there on
//! (<https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes>).

use optimist_apiserver::object::{Metadata, text};
use serde_json::{Value, json};

use super::answer::normalized;
use super::{NotAnswered, RemoteAnswer, RemoteKind, RemoteRequest};

/// The code that says that the server no longer has the versions after the one that was named.
const GONE: u16 = 410;

/// The longest line of a watch, in bytes. An object has 1.5 MiB at most in etcd, and its event little more.
const LONGEST_LINE: usize = 16 << 20;

/// The way to read the answer to a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchReading {
    /// While it comes. The watch lasts some minutes.
    Stream,
    /// At its end. The watch lasts some seconds, because nothing is seen before.
    Whole,
}

/// The versions of an object, as a server tells them. It says which request comes next and what the answer means.
#[derive(Clone, Debug)]
pub struct Following {
    kind: RemoteKind,
    namespace: String,
    name: String,
    secrets: bool,
    /// The version from which the next watch goes on. `None` if the object has to be listed before.
    after: Option<String>,
    /// Version and uid of the object that was told last.
    told: (String, String),
    /// `true` if nothing came after the list.
    is_listed: bool,
    /// The bytes of a line that has not ended.
    rest: Vec<u8>,
}

/// The content of a part of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FollowedPart {
    /// The events, a line each, as Diagnose reads them.
    pub lines: String,
    /// `true` if there may be versions that were never told.
    pub has_gap: bool,
    /// The reason why the object cannot be followed any more.
    pub problem: Option<NotAnswered>,
}

impl Following {
    /// Follows an object from the version that was read.
    pub fn new(kind: &RemoteKind, object: &Value, secrets: bool) -> Self {
        Self {
            kind: kind.clone(),
            namespace: object.namespace().to_owned(),
            name: object.name().to_owned(),
            secrets,
            after: Some(object.resource_version().to_owned()),
            told: identity(object),
            // It was read, and can be older than all that the server still has.
            is_listed: false,
            rest: Vec::new(),
        }
    }

    /// Returns whether the next request is a list. Otherwise it is a watch.
    pub fn lists(&self) -> bool {
        self.after.is_none()
    }

    /// The next request. `None` if its path has a name that no path takes.
    pub fn request(&self, reading: WatchReading) -> Option<RemoteRequest> {
        let (kind, namespace, name) = (&self.kind, &self.namespace, &self.name);
        match &self.after {
            Some(after) => RemoteRequest::watch(kind, namespace, name, after, reading),
            None => RemoteRequest::named(kind, namespace, name),
        }
    }

    /// Takes the answer to a list. The object is told if it is another version than the last one; which versions
    /// were between them is not known.
    pub fn listed(&mut self, answer: &RemoteAnswer) -> FollowedPart {
        let list = match answer.list(&self.kind, self.secrets) {
            Ok(list) if list.version.is_empty() => Err(NotAnswered::NotAnApiServer),
            list => list,
        };
        let list = match list {
            Ok(list) => list,
            Err(problem) => return FollowedPart::ended(problem),
        };
        self.after = Some(list.version);
        self.is_listed = true;
        let mut part = FollowedPart {
            has_gap: true,
            ..FollowedPart::default()
        };
        let found = list
            .objects
            .iter()
            .find(|object| object.name() == self.name);
        if let Some(object) = found.filter(|object| identity(object) != self.told) {
            let of = match object.uid() == self.told.1 {
                true => "MODIFIED",
                false => "ADDED",
            };
            part.tell(of, object);
            self.told = identity(object);
        }
        part
    }

    /// Takes the answer to a watch that has another code than 200.
    pub fn refused(&mut self, answer: &RemoteAnswer) -> FollowedPart {
        match answer.document() {
            Ok(_) => FollowedPart::ended(NotAnswered::NotAnApiServer),
            Err(problem) => {
                let mut part = FollowedPart::default();
                self.end(problem, &mut part);
                part
            }
        }
    }

    /// Takes bytes of a watch, as they come: a part can end in the middle of a line or of a character.
    pub fn read(&mut self, bytes: &[u8]) -> FollowedPart {
        let mut part = FollowedPart::default();
        self.rest.extend_from_slice(bytes);
        let mut rest = std::mem::take(&mut self.rest);
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = rest.drain(..=end).collect();
            self.event(&line, &mut part);
            if self.lists() || part.problem.is_some() {
                return part;
            }
        }
        if rest.len() > LONGEST_LINE {
            return FollowedPart {
                problem: Some(NotAnswered::NotAnApiServer),
                ..part
            };
        }
        self.rest = rest;
        part
    }

    /// Takes the end of a watch. A line that broke off is told again by the next one.
    pub fn ended(&mut self) -> FollowedPart {
        let mut part = FollowedPart::default();
        let line = std::mem::take(&mut self.rest);
        if serde_json::from_slice::<Value>(&line).is_ok() {
            self.event(&line, &mut part);
        }
        part
    }

    /// Takes a watch that was read as a whole.
    pub fn whole(&mut self, answer: &RemoteAnswer) -> FollowedPart {
        let mut part = self.read(answer.body.as_bytes());
        if !self.lists() && part.problem.is_none() {
            let last = self.ended();
            part.lines.push_str(&last.lines);
            part.problem = last.problem;
        }
        part
    }

    /// Takes an event (`k8s.io/apimachinery/pkg/apis/meta/v1/watch.go WatchEvent`).
    fn event(&mut self, line: &[u8], part: &mut FollowedPart) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let event: Value = serde_json::from_slice(line).unwrap_or_default();
        let Some(object) = event.get("object").filter(|object| object.is_object()) else {
            part.problem = Some(NotAnswered::NotAnApiServer);
            return;
        };
        match text(&event, "type") {
            // The object of a bookmark has a version and nothing else.
            "BOOKMARK" => self.go_on_after(object),
            "ERROR" => {
                let code = object.get("code").and_then(Value::as_u64);
                let problem = NotAnswered::Refused {
                    code: code
                        .and_then(|code| code.try_into().ok())
                        .unwrap_or_default(),
                    message: text(object, "message").to_owned(),
                };
                self.end(problem, part);
            }
            of @ ("ADDED" | "MODIFIED" | "DELETED") => {
                self.go_on_after(object);
                if object.name() == self.name {
                    part.tell(of, &normalized(&self.kind, object.clone(), self.secrets));
                    self.told = identity(object);
                }
            }
            _ => part.problem = Some(NotAnswered::NotAnApiServer),
        }
    }

    fn go_on_after(&mut self, object: &Value) {
        self.after = Some(object.resource_version().to_owned());
        self.is_listed = false;
    }

    /// Ends a watch. A server that lacks the versions is asked for a list, but not twice for the same ones.
    fn end(&mut self, problem: NotAnswered, part: &mut FollowedPart) {
        let is_gone = matches!(problem, NotAnswered::Refused { code: GONE, .. });
        if is_gone && !self.is_listed {
            self.after = None;
            self.rest.clear();
        } else {
            part.problem = Some(problem);
        }
    }
}

impl FollowedPart {
    fn ended(problem: NotAnswered) -> Self {
        Self {
            problem: Some(problem),
            ..Self::default()
        }
    }

    fn tell(&mut self, of: &str, object: &Value) {
        let line = json!({"type": of, "object": object});
        self.lines.push_str(&format!("{line}\n"));
    }
}

fn identity(object: &Value) -> (String, String) {
    (
        object.resource_version().to_owned(),
        object.uid().to_owned(),
    )
}
