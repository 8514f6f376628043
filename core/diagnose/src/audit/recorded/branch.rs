//! The state of a server after a request of its log, to go on from.

use std::sync::Arc;

use optimist_apiserver::object::{Metadata, text};
use optimist_simulation::{Start, World};
use serde_json::Value;

use super::super::run::object_of;
use super::{KnownObject, RecordedHistory, RecordedState};
use crate::audit::{AuditEvent, AuditLog, AuditedObject};
use crate::case::{defines, fitted, is_built_in, open_definition};

/// The maximum number of objects beside the one whose history is looked at.
const MAX_OTHERS: usize = 40;

/// Finds the objects that the server had after a request, a little at a time.
#[derive(Debug)]
pub struct Branching {
    /// The requests up to this one.
    log: AuditLog,
    /// The object whose history is looked at.
    subject: LoggedObject,
    /// The objects that are not looked for yet.
    waiting: Vec<AuditedObject>,
    /// The object that is looked for.
    current: Option<RecordedHistory>,
    found: Vec<LoggedObject>,
    missing: usize,
}

/// An object, and the name of its resource in paths.
#[derive(Debug)]
struct LoggedObject {
    object: Value,
    resource: String,
}

/// A world that begins where a log was.
#[derive(Clone, Debug)]
pub struct Branch {
    /// Its server has the objects with their versions and owners. Nobody has read them.
    pub world: World,
    /// The number of these objects.
    pub objects: usize,
    /// The number of other objects with requests until then that it does not have: the log does not say what they
    /// were, or they are too many.
    pub missing: usize,
}

impl RecordedHistory {
    /// Begins to find what the server had after a step. `None` if the object is not known to be there then.
    pub fn branch(&self, at: usize, log: &AuditLog) -> Option<Branching> {
        let step = self.steps.get(at)?;
        let subject = LoggedObject::new(step.after.as_deref()?, step.known_after, &self.object);
        let log = log.first(step.event + 1);
        let others = log.objects().into_iter().map(|(object, _)| object);
        let mut waiting: Vec<_> = others.filter(|other| !other.is(&self.object)).collect();
        let missing = waiting.len().saturating_sub(MAX_OTHERS);
        waiting.truncate(MAX_OTHERS);
        Some(Branching {
            log,
            subject,
            waiting,
            current: None,
            found: Vec::new(),
            missing,
        })
    }

    /// Follows the object through the next request, without steps: the core runs only what the log does not say.
    /// Returns whether there is more.
    fn follow(&mut self, log: &AuditLog) -> bool {
        let Some(event) = log.events.get(self.next) else {
            return false;
        };
        self.next += 1;
        if self.concerns(event) {
            self.prepare(event);
            let run = if is_told(event) {
                None
            } else {
                Some(self.predict(event, self.state.object().as_deref()))
            };
            self.record(event, run.as_ref().and_then(|run| run.exchange()));
        }
        true
    }
}

/// Returns whether a log says itself what a request did to its object.
fn is_told(event: &AuditEvent) -> bool {
    let has_object = event.verb != "delete" && object_of(event).is_some();
    has_object || !event.is_write() || !event.is_accepted()
}

impl LoggedObject {
    fn new(object: &Value, known: KnownObject, of: &AuditedObject) -> Self {
        let mut object = object.clone();
        if known.version_of(Some(&object)).is_none() {
            // A version of another server: the next one of this server is as true.
            object.metadata_mut().remove("resourceVersion");
        }
        Self {
            object,
            resource: of.resource.clone(),
        }
    }
}

impl Branching {
    /// Follows one object through one more request. Returns whether there is more.
    pub fn advance(&mut self) -> bool {
        let Some(history) = &mut self.current else {
            let next = self.waiting.pop();
            self.current = next.map(|object| RecordedHistory::new(object, &[], Default::default()));
            return self.current.is_some();
        };
        if history.follow(&self.log) {
            return true;
        }
        match &history.state {
            RecordedState::Present(object, known) => {
                self.found
                    .push(LoggedObject::new(object, *known, &history.object));
            }
            RecordedState::Absent => {}
            RecordedState::Unknown => self.missing += 1,
        }
        self.current = None;
        true
    }

    /// The world with the objects. If they cannot all be there, it has only the one whose history is looked at.
    /// `None` if no server can have that one.
    pub fn finish(mut self) -> Option<Branch> {
        while self.advance() {}
        let Self {
            subject,
            found,
            mut missing,
            ..
        } = self;
        let others = found.len();
        // Beside other objects, a definition is created anew, and has another version.
        let is_definition = text(&subject.object, "kind") == "CustomResourceDefinition";
        let all = found.iter().chain([&subject]);
        if let Some(world) = (!is_definition).then(|| world(all)).flatten() {
            let objects = others + 1;
            return Some(Branch {
                world,
                objects,
                missing,
            });
        }
        missing += others;
        Some(Branch {
            world: world([&subject])?,
            objects: 1,
            missing,
        })
    }
}

/// A world with these objects; the last one is its subject.
fn world<'a>(found: impl IntoIterator<Item = &'a LoggedObject>) -> Option<World> {
    let mut objects: Vec<Value> = Vec::new();
    let mut resources = Vec::new();
    for one in found {
        let (object, _) = fitted(one.object.clone()).ok()?;
        objects.push(object);
        resources.push(one.resource.as_str());
    }
    let mut definitions: Vec<Value> = Vec::new();
    for (object, resource) in objects.iter().zip(resources) {
        let mut known = objects.iter().chain(&definitions);
        if !is_built_in(object) && !known.any(|known| defines(known, object)) {
            definitions.push(open_definition(object, Some(resource), &mut Vec::new()));
        }
    }
    let texts: Vec<String> = definitions
        .iter()
        .chain(&objects)
        .map(|object| format!("{object}\n"))
        .collect();
    let start = Start {
        installed: true,
        ..Start::with(&texts.join("---\n"))
    };
    Some(World::from_start(Arc::new(start)).ok()?.0)
}
