//! The history of one object by an audit log: the observed steps, each with a run of the core
//! beside it.

mod branch;
mod known;
mod missing;
mod play;

use std::sync::Arc;

use optimist_apiserver::apply::{ManagedFieldsOperation, Manager};
use optimist_apiserver::environment::Environment;
use optimist_apiserver::object::{GroupVersion, Metadata, text};
use optimist_apiserver::server::{ApiServer, Release, Resource};
use optimist_simulation::Exchange;
use serde_json::{Value, json};

use super::run::{changes, predict, set_clock};
use super::{AuditEvent, AuditLog, AuditedObject};
use crate::case::schemaless;
use crate::observed::{FieldChange, ObservedVersion};
pub use branch::{Branch, Branching};
pub use known::KnownObject;
pub(super) use missing::is_whole;

/// A client: the same user with the same program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditClient {
    /// The user.
    pub user: String,
    /// The User-Agent.
    pub agent: String,
}

/// The core's answer to a recorded request.
#[derive(Clone, Debug)]
pub enum CoreAnswer {
    /// The same answer. The facts of the exchange explain it.
    Same {
        /// The request and the core's answer.
        exchange: Exchange,
        /// The compared part of the answers.
        compared: Compared,
        /// The media types of a patch that all give this answer: the log does not have the type.
        patch_types: Vec<&'static str>,
    },
    /// Another answer.
    Other {
        /// The request and the core's answer.
        exchange: Exchange,
        /// The differences between the two answers.
        differences: Vec<Difference>,
    },
    /// The core was not run.
    NotRun(NotRun),
}

/// The part of the answers that was compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// Only the status code.
    Code,
    /// The status code and the answer.
    Answer,
}

/// The reason why the core was not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotRun {
    /// The state of the object before the request is not in the log.
    UnknownState,
    /// The log does not have the body of the request (level Metadata).
    NoBody,
    /// The log does not have the code of the answer.
    NoAnswer,
    /// The core does not run this verb.
    Verb,
    /// The answer to this write has changes of other managers: the log lacks a write before it.
    MissingWrite,
    /// The answer to this read has another version than the object had by the requests before.
    OtherVersion,
    /// Something else than the object refused it: rights, a quota, a budget, a webhook, the load.
    OtherReason,
    /// The log has no `managedFields`, so the owners that an apply met are not known.
    UnknownOwners,
}

/// A difference between two answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The place, as a JSON pointer (RFC 6901); empty for the status code.
    pub pointer: String,
    /// The recorded value.
    pub recorded: Option<Value>,
    /// The core's value.
    pub core: Option<Value>,
}

/// A recorded request.
#[derive(Clone, Debug)]
pub struct RecordedStep {
    /// The request and its answer, as a position in [`AuditLog::events`].
    pub event: usize,
    /// The client, as a position in [`RecordedHistory::clients`].
    pub client: usize,
    /// The manager of a write.
    pub manager: Option<Manager>,
    /// The core's answer.
    pub prediction: CoreAnswer,
    /// The object before, as far as it is known.
    pub before: Option<Arc<Value>>,
    /// The source of the object before.
    pub known_before: KnownObject,
    /// The object after, as far as it is known.
    pub after: Option<Arc<Value>>,
    /// The source of the object after.
    pub known_after: KnownObject,
    /// The fields that an accepted write changed.
    pub changes: Vec<FieldChange>,
}

impl RecordedStep {
    /// The version before, if the log has it.
    pub fn version_before(&self) -> Option<&str> {
        self.known_before.version_of(self.before.as_deref())
    }

    /// The version after, if the log has it.
    pub fn version_after(&self) -> Option<&str> {
        self.known_after.version_of(self.after.as_deref())
    }

    /// Returns whether the object has another version afterwards; `None` if a version is not known.
    pub fn changed(&self) -> Option<bool> {
        let version = |object: &Option<Arc<Value>>| {
            let object = object.as_ref()?;
            Some(object.resource_version().to_owned())
        };
        Some(version(&self.before)? != version(&self.after)?)
    }
}

/// The history of one object.
#[derive(Clone, Debug)]
pub struct RecordedHistory {
    /// The object.
    pub object: AuditedObject,
    /// The clients, in the order of their first request.
    pub clients: Vec<AuditClient>,
    /// The requests to the object, and the lists and watches of its collection.
    pub steps: Vec<Arc<RecordedStep>>,
    /// `true` if no definition of the object's kind is known: its fields are merged without a schema.
    pub schemaless: bool,
    server: ApiServer,
    resource: Option<Arc<Resource>>,
    state: RecordedState,
    next: usize,
}

/// The known state of the object.
#[derive(Clone, Debug)]
enum RecordedState {
    Unknown,
    Absent,
    Present(Arc<Value>, KnownObject),
}

impl RecordedState {
    fn known_object(&self) -> KnownObject {
        match self {
            RecordedState::Unknown => KnownObject::Unknown,
            RecordedState::Absent => KnownObject::Absent,
            RecordedState::Present(_, known) => *known,
        }
    }

    fn object(&self) -> Option<Arc<Value>> {
        self.present().map(|(object, _)| Arc::clone(object))
    }

    fn present(&self) -> Option<(&Arc<Value>, KnownObject)> {
        match self {
            RecordedState::Present(object, known) => Some((object, *known)),
            _ => None,
        }
    }
}

impl RecordedHistory {
    /// The history of an object, before its first step. Definitions are those of custom resources.
    pub fn new(object: AuditedObject, definitions: &[Value], release: Release) -> Self {
        let mut server = ApiServer::new(Environment::default(), 1);
        server.set_release(release);
        if !object.namespace.is_empty() && object.namespace != "default" {
            let namespace = json!({"metadata": {"name": object.namespace}});
            post(&mut server, "/api/v1/namespaces", &namespace);
        }
        for definition in definitions {
            define(&mut server, definition);
        }
        let mut history = Self {
            object,
            clients: Vec::new(),
            steps: Vec::new(),
            schemaless: false,
            server,
            resource: None,
            state: RecordedState::Unknown,
            next: 0,
        };
        history.find_resource();
        history
    }

    fn find_resource(&mut self) {
        let AuditedObject {
            group,
            version,
            resource,
            ..
        } = &self.object;
        let found = self.server.resources().by_path(group, version, resource);
        self.resource = found.cloned();
    }

    /// Replays up to this many events of the log. Returns whether there is more.
    pub fn advance(&mut self, log: &AuditLog, events: usize) -> bool {
        let until = self
            .next
            .saturating_add(events.max(1))
            .min(log.events.len());
        for at in self.next..until {
            let event = &log.events[at];
            if self.concerns(event) {
                self.step(at, event);
            }
        }
        self.next = until;
        until < log.events.len()
    }

    /// Returns whether a request is about the object or its collection.
    fn concerns(&self, event: &AuditEvent) -> bool {
        let of_collection = event.object.name.is_empty()
            && event.object.is_beside(&self.object)
            && !creates_another(event, &self.object);
        event.object.is(&self.object) || of_collection
    }

    /// Replays to the end.
    #[must_use]
    pub fn finish(mut self, log: &AuditLog) -> Self {
        while self.advance(log, usize::MAX / 2) {}
        self
    }

    /// Returns the number of answers that the core predicts, of those that it does not, and of
    /// those for which it was not run.
    pub fn counts(&self) -> (usize, usize, usize) {
        let mut counts = (0, 0, 0);
        for step in &self.steps {
            match step.prediction {
                CoreAnswer::Same { .. } => counts.0 += 1,
                CoreAnswer::Other { .. } => counts.1 += 1,
                CoreAnswer::NotRun(_) => counts.2 += 1,
            }
        }
        counts
    }

    /// The kind of the object; `None` if it is not known.
    pub fn resource(&self) -> Option<&Arc<Resource>> {
        self.resource.as_ref()
    }

    /// The versions of the object that the log has, or that follow from its requests: without what the core made up.
    pub fn versions(&self) -> Vec<ObservedVersion> {
        let mut versions: Vec<ObservedVersion> = Vec::new();
        let mut last = None;
        for step in &self.steps {
            let Some(object) = &step.after else { continue };
            if last != Some(object.resource_version()) {
                versions.push(ObservedVersion {
                    event: None,
                    object: without_made_up(object, step.known_after),
                });
            }
            last = Some(object.resource_version());
        }
        versions
    }

    /// Numbers the objects that had the name one after the other: the number of each step. An object that is created
    /// after a deletion is another one.
    pub(super) fn objects(&self) -> Vec<usize> {
        let (mut object, mut uid) = (0, None);
        let steps = self.steps.iter().map(|step| {
            let is_told = !step.known_after.made_up().contains(&"uid");
            let told = step.after.as_deref().filter(|_| is_told).map(Metadata::uid);
            let is_other = told.is_some_and(|told| uid.is_some_and(|known| known != told));
            object += usize::from(is_other || step.known_after == KnownObject::Absent);
            uid = match step.known_after {
                KnownObject::Absent => None,
                _ => told.or(uid),
            };
            object
        });
        steps.collect()
    }

    fn step(&mut self, at: usize, event: &AuditEvent) {
        self.prepare(event);
        let (before, known_before) = (self.state.object(), self.state.known_object());
        let mut prediction = self.predict(event, before.as_deref());
        let compared = before.as_ref().and_then(|it| self.in_version_of(it, event));
        self.record(event, prediction.exchange());
        let (after, known_after) = (self.state.object(), self.state.known_object());
        let manager = event.is_write().then(|| manager_of(event, &prediction));
        let wrote = event.is_accepted() && event.is_write();
        let mut changes = match (&compared, &after, self.resource_of(event)) {
            (Some(before), Some(after), Some(resource)) if wrote => {
                changes(before, after, resource, manager.as_ref())
            }
            _ => Vec::new(),
        };
        if known_after == KnownObject::Recorded
            && missing::leave_out_others(&mut changes, after.as_deref(), &prediction)
        {
            prediction = CoreAnswer::NotRun(NotRun::MissingWrite);
        }
        let client = self.client(event);
        self.steps.push(Arc::new(RecordedStep {
            event: at,
            client,
            manager,
            prediction,
            before,
            known_before,
            after,
            known_after,
            changes,
        }));
    }

    /// The kind in the version in which a request is made.
    pub(super) fn resource_of(&self, event: &AuditEvent) -> Option<&Arc<Resource>> {
        let (object, of) = (&event.object, &self.object);
        let resources = self.server.resources();
        let found = resources.by_path(&of.group, &object.version, &of.resource);
        found.or(self.resource.as_ref())
    }

    /// The object as it was before a request, in the version in which the request is made: what two versions of a kind
    /// name otherwise is no change. `None` if the server cannot convert it.
    fn in_version_of(&mut self, object: &Arc<Value>, event: &AuditEvent) -> Option<Arc<Value>> {
        let resource = self.resource_of(event)?;
        if text(object, "apiVersion") == resource.group_version.to_string() {
            return Some(Arc::clone(object));
        }
        let path = resource.path(&self.object.namespace, &self.object.name);
        let request = optimist_client::get_request(&path, "optimist")?;
        let response = self.server.handle(request);
        let read = response.status().is_success();
        let object: Option<Value> = serde_json::from_slice(response.body()).ok();
        object.filter(|_| read).map(Arc::new)
    }

    /// Learns what a request says of the time before it.
    fn prepare(&mut self, event: &AuditEvent) {
        self.learn_kind(event);
        set_clock(&mut self.server, event.received);
        self.learn_before(event);
    }

    /// Takes what a request did to the object. `run`: the request on the core.
    fn record(&mut self, event: &AuditEvent, run: Option<&Exchange>) {
        match event.code {
            _ if event.is_dry_run() => {}
            None | Some(500..) => self.take_unanswered(event),
            Some(_) if event.is_accepted() => self.take_over(event, run),
            Some(_) => {}
        }
    }

    fn predict(&self, event: &AuditEvent, before: Option<&Value>) -> CoreAnswer {
        let Some(resource) = &self.resource else {
            return CoreAnswer::NotRun(NotRun::UnknownState);
        };
        let of_collection = matches!(event.verb.as_str(), "list" | "watch");
        if matches!(self.state, RecordedState::Unknown) && !of_collection {
            return CoreAnswer::NotRun(NotRun::UnknownState);
        }
        let known = before.map(|object| (object, self.state.known_object()));
        if known.is_some_and(|known| missing::shows_other_version(event, known)) {
            return CoreAnswer::NotRun(NotRun::OtherVersion);
        }
        let answer = predict(&self.server, event, resource, known);
        if known.is_some_and(|known| missing::lacks_owners(known, &answer)) {
            return CoreAnswer::NotRun(NotRun::UnknownOwners);
        }
        if missing::is_of_others(event, &answer) {
            return CoreAnswer::NotRun(NotRun::OtherReason);
        }
        if known.is_some_and(|known| missing::names_made_up(event, known, &answer)) {
            return CoreAnswer::NotRun(NotRun::UnknownState);
        }
        answer
    }

    /// A custom resource without a definition is served without a schema.
    fn learn_kind(&mut self, event: &AuditEvent) {
        let said = [&event.response, &event.request];
        let mut said = said.into_iter().flatten();
        if self.resource.is_some() || self.object.group.is_empty() {
            return;
        }
        let is_kind = |it: &&Arc<Value>| {
            let version = GroupVersion::parse(text(it, "apiVersion"));
            version.is_some_and(|version| version.group == self.object.group)
                && !it.name().is_empty()
        };
        if let Some(object) = said.find(is_kind) {
            let mut object = (**object).clone();
            object.set_meta("namespace", self.object.namespace.as_str());
            define(
                &mut self.server,
                &schemaless(&object, &self.object.resource),
            );
            self.schemaless = true;
            self.find_resource();
        }
    }

    fn client(&mut self, event: &AuditEvent) -> usize {
        let client = AuditClient {
            user: event.user.clone(),
            agent: event.agent.clone(),
        };
        let known = self.clients.iter().position(|known| *known == client);
        known.unwrap_or_else(|| {
            self.clients.push(client);
            self.clients.len() - 1
        })
    }
}

/// An object without what the core made up.
fn without_made_up(object: &Arc<Value>, known: KnownObject) -> Arc<Value> {
    let mut object = Arc::clone(object);
    for member in known.made_up() {
        Arc::make_mut(&mut object).metadata_mut().remove(*member);
    }
    object
}

/// Returns whether a POST to the collection creates another object.
fn creates_another(event: &AuditEvent, object: &AuditedObject) -> bool {
    let name = [&event.response, &event.request];
    let mut name = name.into_iter().flatten().map(|it| it.name());
    event.verb == "create" && name.find(|name| !name.is_empty()) != Some(object.name.as_str())
}

/// The manager of a write: the operation follows from the patch that predicts the answer.
fn manager_of(event: &AuditEvent, prediction: &CoreAnswer) -> Manager {
    let applies = match prediction {
        CoreAnswer::Same { exchange, .. } | CoreAnswer::Other { exchange, .. } => {
            exchange.content_type.contains("apply-patch")
        }
        CoreAnswer::NotRun(_) => event.query("force").is_some(),
    };
    let operation = if applies {
        ManagedFieldsOperation::Apply
    } else {
        ManagedFieldsOperation::Update
    };
    let version = GroupVersion::new(event.object.group.clone(), event.object.version.clone());
    let version = version.to_string();
    Manager::new(
        &event.manager(),
        operation,
        &version,
        &event.object.subresource,
    )
}

fn define(server: &mut ApiServer, definition: &Value) {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    post(server, path, &optimist_client::bare(definition));
}

fn post(server: &mut ApiServer, path: &str, body: &Value) {
    let request = http::Request::post(path)
        .header(http::header::CONTENT_TYPE, "application/json")
        .header(http::header::USER_AGENT, "optimist")
        .body(body.to_string().into_bytes());
    if let Ok(request) = request {
        server.handle(request);
    }
}
