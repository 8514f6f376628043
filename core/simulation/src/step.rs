//! One step of a history. Most steps are a request and its answer.

use std::borrow::Cow;
use std::sync::Arc;

use http::header::{CONTENT_TYPE, HeaderName, USER_AGENT, WARNING};
use http::{Method, Request, Response};
use serde_json::Value;

use super::verdict::{Done, Edit, Loss, Replaced};
use super::{
    Action, ActorId, ControllerEvent, ControllerOperation, ObjectRef, Operation, Received,
    WatchAction, World,
};
use crate::watcher::{status_code, status_line};
use optimist_apiserver::apply::Path;
use optimist_apiserver::json;
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::patch::names_version;
use optimist_apiserver::schema::Struct;
use optimist_apiserver::server::{Fact, Facts};
use optimist_apiserver::storage::Revision;
use optimist_client::{AnsweredRequest, Lost, Reply, Strategy, Write, is_conflict_status};
use optimist_client::{ValueChange, changes_by_item};

/// A request and its answer, as they went over the wire.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The method.
    pub method: Method,
    /// Path and query.
    pub target: String,
    /// The request's media type; empty for a request without a body.
    pub content_type: String,
    /// The field manager: the User-Agent.
    pub manager: String,
    /// The request's body; `null` for none.
    pub sent: Arc<Value>,
    /// The status code.
    pub code: u16,
    /// The answer's body: the object, or a `metav1.Status`. For a watch: the list of the first
    /// events.
    pub received: Arc<Value>,
    /// The texts of the answer's Warning headers.
    pub warnings: Vec<String>,
    /// The facts that explain the answer.
    pub facts: Vec<Fact>,
}

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A read that succeeded.
    Read,
    /// A write that made a new version.
    Written,
    /// A write that was accepted and changed nothing.
    Unchanged,
    /// A request that was refused; nothing was stored.
    Refused,
    /// No request was sent: a connection was dropped, or etcd was compacted.
    Done,
}

/// One step of a history.
#[derive(Clone, Debug)]
pub struct Step {
    /// The operation and its actor.
    pub operation: Operation,
    /// The request and its answer, if there was a request.
    pub exchange: Option<Exchange>,
    /// The edits of the write, compared with the object that its editor had read.
    pub edits: Vec<ValueChange>,
    /// The changes of the stored object.
    pub effect: Vec<ValueChange>,
    /// The version of the working copy from which the request was made; `None` without one.
    pub read: Option<Revision>,
    /// The object's version before; 0 if there was none.
    pub before: Revision,
    /// The object's version after; 0 if there is none.
    pub after: Revision,
    /// The store's revision after the step.
    pub revision: Revision,
    /// The events that reached the watcher.
    pub arrived: Vec<Arc<Received>>,
    /// The lost updates: edits of other actors that it removed and that its actor had not been
    /// shown.
    pub losses: Vec<Loss<ActorId>>,
    /// The edits of other actors that it replaced and that its actor had been shown.
    pub replaced: Vec<Replaced<ActorId>>,
    /// The edits that an apply of a manifest means to make. Other writes have them in `edits`.
    pub meant: Option<Vec<ValueChange>>,
    /// The fields that an apply declared with the value that was read.
    pub declared: Vec<Path>,
    /// The edits that got a 2xx and that the server did not store.
    pub left_out: Vec<Arc<Edit>>,
    /// The event in the controller.
    pub controller: Option<Arc<ControllerEvent>>,
}

/// The text of a Warning header: `299 - "unknown field \"spec.a\""` (RFC 7234, section 5.5).
fn warning_text(header: &str) -> Option<String> {
    let (_, quoted) = header.split_once('"')?;
    let quoted = quoted.strip_suffix('"').unwrap_or(quoted);
    let mut text = String::with_capacity(quoted.len());
    let mut escaped = false;
    for c in quoted.chars() {
        escaped = c == '\\' && !escaped;
        if !escaped {
            text.push(c);
        }
    }
    Some(text)
}

impl From<&AnsweredRequest> for Exchange {
    fn from(answered: &AnsweredRequest) -> Self {
        let (request, response) = (&answered.request, &answered.response);
        let header = |name: HeaderName| {
            let value = request.headers().get(name);
            let value = value.and_then(|value| value.to_str().ok());
            value.unwrap_or_default().to_owned()
        };
        let warnings = response
            .headers()
            .get_all(WARNING)
            .iter()
            .filter_map(|value| warning_text(std::str::from_utf8(value.as_bytes()).ok()?));
        let facts = response.extensions().get::<Facts>();
        Self {
            method: request.method().clone(),
            target: request.uri().to_string(),
            content_type: header(CONTENT_TYPE),
            manager: header(USER_AGENT),
            sent: Arc::clone(answered.sent()),
            code: response.status().as_u16(),
            received: Arc::clone(answered.received()),
            warnings: warnings.collect(),
            facts: facts.map(|facts| facts.0.clone()).unwrap_or_default(),
        }
    }
}

impl From<&Exchange> for Reply {
    fn from(exchange: &Exchange) -> Self {
        Self {
            code: exchange.code,
            body: Arc::clone(&exchange.received),
        }
    }
}

impl Exchange {
    /// A watch that was opened, with the events that came at once. Others come later.
    pub(super) fn stream(request: &Request<Vec<u8>>, events: Vec<Value>) -> Self {
        let mut exchange = Self::new(request, &Response::default());
        exchange.received = Arc::new(Value::Array(events));
        exchange
    }

    /// Returns whether it opened a watch, whose answer is a list of events.
    fn has_events(&self) -> bool {
        self.received.is_array()
    }

    /// A request and its answer.
    pub fn new(request: &Request<Vec<u8>>, response: &Response<Vec<u8>>) -> Self {
        Self::from(&AnsweredRequest::new(request.clone(), response.clone()))
    }

    /// The resourceVersion of the object or list in the answer; `None` for an answer without one.
    pub fn answered_version(&self) -> Option<&str> {
        let version = self.received.resource_version();
        (!version.is_empty()).then_some(version)
    }

    /// The field manager of a write: the option `fieldManager`, or the User-Agent up to its version
    /// (`k8s.io/apiserver/pkg/endpoints/handlers/create.go managerOrUserAgent`, v0.36).
    pub fn field_manager(&self) -> Cow<'_, str> {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        let mut options = form_urlencoded::parse(query.as_bytes());
        let named = options.find(|(name, _)| name == "fieldManager");
        let agent = self.manager.split('/').next().unwrap_or_default();
        named.map_or(Cow::Borrowed(agent), |(_, manager)| manager)
    }

    /// The resourceVersion in the query of a watch or a list; empty for none.
    pub fn asked_version(&self) -> &str {
        let asked = self.target.split_once("resourceVersion=");
        let asked = asked.and_then(|(_, rest)| rest.split('&').next());
        asked.unwrap_or_default()
    }

    /// Returns whether the request created, changed or deleted an object, whichever it named.
    pub fn has_written(&self) -> bool {
        let mut facts = self.facts.iter();
        facts.any(|fact| {
            matches!(
                fact,
                Fact::Created(_) | Fact::Stored { .. } | Fact::Terminating(_) | Fact::Deleted(_)
            )
        }) && !self.is_dry_run()
    }

    /// Returns whether the server accepted a dry run.
    pub fn is_dry_run(&self) -> bool {
        self.facts.contains(&Fact::DryRun)
    }

    /// The resourceVersion that the request carried as a precondition.
    pub fn precondition(&self) -> Option<&str> {
        let version = self.sent.resource_version();
        (!version.is_empty()).then_some(version)
    }

    /// Returns whether the request names the version that it is for, in its object or in its patch.
    pub fn names_version(&self) -> bool {
        names_version(&self.sent)
    }

    /// Returns whether the reason is Conflict (`errors.IsConflict`). Not every 409 has this reason.
    pub fn is_conflict(&self) -> bool {
        is_conflict_status(self.code, &self.received)
    }

    /// Returns whether the request is about an object: it names it, or creates it.
    pub(super) fn addresses(&self, object: &ObjectRef) -> bool {
        object.is_addressed_by(&self.method, &self.target, self.sent.name())
    }

    /// Returns whether the server noted that the result equals the stored object.
    pub fn is_unchanged(&self) -> bool {
        let mut facts = self.facts.iter();
        facts.any(|fact| matches!(fact, Fact::Unchanged(_)))
    }

    /// `409 Conflict`: the code and its reason, or the standard phrase.
    pub fn status_line(&self) -> String {
        let code = http::StatusCode::from_u16(self.code).ok();
        let phrase = code.and_then(|code| code.canonical_reason());
        let reason = match text(&self.received, "reason") {
            "" => phrase.unwrap_or_default(),
            reason if self.code >= 400 => reason,
            _ => phrase.unwrap_or_default(),
        };
        format!("{} {reason}", self.code)
    }

    /// The server's message, if it refused the request. `None` also for a refusal that is no Status, as of a
    /// path that is not served.
    pub fn message(&self) -> Option<&str> {
        let message = (self.code >= 400).then(|| text(&self.received, "message"));
        message.filter(|message| !message.is_empty())
    }
}

impl Step {
    pub(super) fn new(
        operation: Operation,
        exchange: Option<Exchange>,
        edits: Vec<ValueChange>,
        stored: (Option<&Value>, Option<&Value>),
        root: &Struct,
    ) -> Self {
        let version = |object: Option<&Value>| {
            object
                .and_then(|object| object.resource_version().parse().ok())
                .unwrap_or(0)
        };
        let (before, after) = (version(stored.0), version(stored.1));
        let effect = match stored {
            (Some(old), Some(new)) if before != after => changes_by_item(old, new, root)
                .into_iter()
                .filter(|change| !change.is_bookkeeping())
                .collect(),
            _ => Vec::new(),
        };
        Self {
            operation,
            exchange,
            edits,
            effect,
            read: None,
            before,
            after,
            revision: 0,
            arrived: Vec::new(),
            losses: Vec::new(),
            replaced: Vec::new(),
            meant: None,
            declared: Vec::new(),
            left_out: Vec::new(),
            controller: None,
        }
    }

    /// Records its effect on the edits of others.
    pub(super) fn has_done(&mut self, done: Done<ActorId>) {
        (self.losses, self.replaced, self.left_out) = (done.losses, done.replaced, done.left_out);
    }

    /// Records the events that reached the watcher.
    pub(super) fn arrive(&mut self, arrived: Vec<Arc<Received>>) {
        if matches!(self.operation, Operation::Watch(_))
            && let Some(exchange) = &mut self.exchange
            && !arrived.is_empty()
        {
            let events = arrived.iter().map(|received| received.event.to_json());
            exchange.received = Arc::new(events.collect());
        }
        self.arrived = arrived;
    }

    /// The actor of the step, if there is one.
    pub fn actor(&self) -> Option<ActorId> {
        match self.operation {
            Operation::Act(actor, _) | Operation::Control(actor, _) => Some(actor),
            _ => None,
        }
    }

    /// The action of the actor, if there is one.
    pub fn action(&self) -> Option<&Action> {
        match &self.operation {
            Operation::Act(_, action) => Some(action),
            _ => None,
        }
    }

    /// The body as it was written by hand, if no JSON value says the same: it is no JSON, or an object in it
    /// has a member twice.
    pub fn sent_text(&self) -> Option<&str> {
        let text = match self.action()? {
            Action::Send(Write { body, .. }) => body.as_deref()?,
            Action::Request(by_hand) if by_hand.carries_body() => &by_hand.body,
            _ => return None,
        };
        let is_value = self.exchange.as_ref()?.sent.as_ref() != &Value::Null
            && json::parse(text.as_bytes())
                .is_ok_and(|node| json::repeated_members(&node).is_empty());
        (!is_value && !text.trim().is_empty()).then_some(text)
    }

    /// The write method, if the step sent an actor's edits.
    pub fn write(&self) -> Option<&Write> {
        match self.action()? {
            Action::Send(write) => Some(write),
            _ => None,
        }
    }

    /// Returns whether an actor's edits were sent.
    pub fn is_send(&self) -> bool {
        self.write().is_some()
    }

    /// Returns whether an actor's edits were sent in a body that was written by hand.
    pub fn is_by_hand(&self) -> bool {
        self.write().is_some_and(|write| write.body.is_some())
    }

    /// Returns whether it was an apply with force.
    pub fn is_forced(&self) -> bool {
        self.write()
            .is_some_and(|write| write.strategy == Strategy::Apply && write.force)
    }

    /// Returns whether the server answered and the client received nothing.
    pub fn is_answer_lost(&self) -> bool {
        let lost = ControllerOperation::StepLosing(Lost::Answer);
        matches!(self.operation, Operation::Control(_, operation) if operation == lost)
    }

    /// Returns whether it was only a read.
    pub fn is_read(&self) -> bool {
        self.actor().is_some() && !self.is_write()
    }

    /// Returns whether it was a write or a delete.
    fn is_write(&self) -> bool {
        match &self.operation {
            Operation::Act(_, Action::Get | Action::GetScale) => false,
            Operation::Act(_, Action::Request(by_hand)) => by_hand.method != "GET",
            Operation::Act(..) => true,
            Operation::Control(..) => {
                let exchange = self.exchange.as_ref();
                exchange.is_some_and(|exchange| exchange.method != Method::GET)
            }
            _ => false,
        }
    }

    /// Returns whether it was a write whose answer has an object of this version.
    pub(super) fn has_written_version(&self, version: Revision) -> bool {
        let answer = self
            .exchange
            .as_ref()
            .filter(|exchange| exchange.code < 300 && exchange.has_written());
        self.is_write()
            && answer
                .is_some_and(|answer| answer.received.resource_version() == version.to_string())
    }

    /// Returns whether the step opened a watch.
    pub fn is_stream(&self) -> bool {
        let opens = match &self.operation {
            Operation::Watch(action) => {
                matches!(action, WatchAction::Open(_) | WatchAction::Resume)
            }
            Operation::Control(..) => self.exchange.as_ref().is_some_and(Exchange::has_events),
            Operation::Act(_, Action::Request(_)) => {
                self.exchange.as_ref().is_some_and(Exchange::has_events)
            }
            _ => false,
        };
        opens
            && self
                .exchange
                .as_ref()
                .is_some_and(|exchange| exchange.code < 400)
    }

    /// The `metav1.Status` of the ERROR that a watch began with.
    fn error(&self) -> Option<&Value> {
        match &self.operation {
            Operation::Watch(_) => self.arrived.iter().find_map(|received| received.status()),
            Operation::Act(_, Action::Request(_)) => {
                let events = self.exchange.as_ref()?.received.as_array()?;
                let error = events.iter().find(|event| text(event, "type") == "ERROR");
                error.map(|event| &event["object"])
            }
            _ => None,
        }
    }

    /// The object that the request names, where the world has several. With its kind if another
    /// kind has an object of that name.
    pub fn object_of_several(&self, world: &World) -> Option<String> {
        let exchange = self.exchange.as_ref().filter(|_| self.actor().is_some())?;
        if world.subjects().count() < 2 {
            return None;
        }
        let mut subjects = world.subjects();
        let subject = subjects.find(|subject| exchange.addresses(subject))?;
        let same_name = |other: &&ObjectRef| other.name() == subject.name();
        Some(match world.subjects().filter(same_name).count() {
            1 => subject.name().to_owned(),
            _ => subject.to_string(),
        })
    }

    /// The facts that explain the answer.
    pub fn facts(&self) -> &[Fact] {
        self.exchange
            .as_ref()
            .map(|exchange| exchange.facts.as_slice())
            .unwrap_or_default()
    }

    /// `409 Conflict`; `410 Expired` for a watch that starts with this error; empty if no request
    /// was sent.
    pub fn status_line(&self) -> String {
        match (self.error(), &self.exchange) {
            (Some(error), _) => status_line(error),
            (None, Some(exchange)) => exchange.status_line(),
            (None, None) => String::new(),
        }
    }

    /// The status code of the answer; of a watch that begins with an error, that of the error.
    pub fn code(&self) -> Option<u16> {
        let error = self.error().and_then(status_code);
        error.or(self.exchange.as_ref().map(|exchange| exchange.code))
    }

    /// The server's message, if it refused the request.
    pub fn message(&self) -> Option<&str> {
        match self.error() {
            Some(error) => Some(text(error, "message")),
            None => self.exchange.as_ref()?.message(),
        }
    }

    /// The outcome of the request.
    pub fn outcome(&self) -> Outcome {
        let Some(exchange) = &self.exchange else {
            return Outcome::Done;
        };
        if exchange.code >= 400 || self.error().is_some() {
            Outcome::Refused
        } else if !self.is_write() {
            Outcome::Read
        } else if self.before == self.after {
            Outcome::Unchanged
        } else {
            Outcome::Written
        }
    }
}
