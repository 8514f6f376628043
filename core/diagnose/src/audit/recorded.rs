//! What happened to one object by an audit log: steps that were observed, with the core run beside
//! each of them.

use std::sync::Arc;

use optimist_apiserver::apply::{ManagedFieldsOperation, Manager};
use optimist_apiserver::environment::Environment;
use optimist_apiserver::object::{GroupVersion, Metadata, text};
use optimist_apiserver::server::{ApiServer, Release, Resource};
use optimist_simulation::Exchange;
use serde_json::{Value, json};

use super::run::{carry_out, changes, object_of, predict, set_clock};
use super::{AuditEvent, AuditLog, AuditedObject};
use crate::case::schemaless;
use crate::observed::{FieldChange, ObservedVersion};

/// A client: the same user with the same program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditClient {
    /// The user.
    pub user: String,
    /// The User-Agent.
    pub agent: String,
}

/// What the core says to a recorded request.
#[derive(Clone, Debug)]
pub enum CoreAnswer {
    /// The same answer. The facts of the exchange explain it.
    Same {
        /// The request and the core's answer.
        exchange: Exchange,
        /// What was compared.
        compared: Compared,
        /// The media types of a patch that all give this answer: the log does not have the type.
        patch_types: Vec<&'static str>,
    },
    /// Another answer.
    Other {
        /// The request and the core's answer.
        exchange: Exchange,
        /// In what they differ.
        differences: Vec<Difference>,
    },
    /// The core was not run.
    NotRun(NotRun),
}

/// What was compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// Only the status code.
    Code,
    /// The status code and the answer.
    Answer,
}

/// Why the core was not run.
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
}

/// A difference between two answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The place, as a JSON pointer (RFC 6901); empty for the status code.
    pub pointer: String,
    /// What was recorded.
    pub recorded: Option<Value>,
    /// What the core answers.
    pub core: Option<Value>,
}

/// A recorded request.
#[derive(Clone, Debug)]
pub struct RecordedStep {
    /// The request and its answer, as a position in [`AuditLog::events`].
    pub event: usize,
    /// Who sent it, as a position in [`RecordedHistory::clients`].
    pub client: usize,
    /// The manager of a write.
    pub manager: Option<Manager>,
    /// What the core says.
    pub prediction: CoreAnswer,
    /// The object before, as far as it is known.
    pub before: Option<Arc<Value>>,
    /// The object after, as far as it is known.
    pub after: Option<Arc<Value>>,
    /// The fields that an accepted write changed.
    pub changes: Vec<FieldChange>,
}

impl RecordedStep {
    /// Whether the object has another version afterwards; `None` if a version is not known.
    pub fn changed(&self) -> Option<bool> {
        let version = |object: &Option<Arc<Value>>| {
            let object = object.as_ref()?;
            Some(object.resource_version().to_owned())
        };
        Some(version(&self.before)? != version(&self.after)?)
    }
}

/// What happened to one object.
#[derive(Clone, Debug)]
pub struct RecordedHistory {
    /// The object.
    pub object: AuditedObject,
    /// The clients, in the order of their first request.
    pub clients: Vec<AuditClient>,
    /// The requests to the object, and the lists and watches of its collection.
    pub steps: Vec<RecordedStep>,
    /// Whether no definition of the object's kind is known: its fields are merged without a schema.
    pub schemaless: bool,
    server: ApiServer,
    resource: Option<Arc<Resource>>,
    state: State,
    next: usize,
}

/// What is known of the object.
#[derive(Clone, Debug)]
enum State {
    Unknown,
    Absent,
    Present(Arc<Value>),
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
            state: State::Unknown,
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

    /// Replays up to this many events of the log. Whether there is more.
    pub fn advance(&mut self, log: &AuditLog, events: usize) -> bool {
        let until = self
            .next
            .saturating_add(events.max(1))
            .min(log.events.len());
        for at in self.next..until {
            let event = &log.events[at];
            let of_object = event.object.is(&self.object);
            let of_collection = event.object.name.is_empty()
                && event.object.is_beside(&self.object)
                && !creates_another(event, &self.object);
            if of_object || of_collection {
                self.step(at, event);
            }
        }
        self.next = until;
        until < log.events.len()
    }

    /// Replays to the end.
    #[must_use]
    pub fn finish(mut self, log: &AuditLog) -> Self {
        while self.advance(log, usize::MAX / 2) {}
        self
    }

    /// How many answers the core predicts, how many not, and for how many it was not run.
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

    /// The versions of the object that the log has.
    pub fn versions(&self) -> Vec<ObservedVersion> {
        let mut versions: Vec<ObservedVersion> = Vec::new();
        for object in self.steps.iter().filter_map(|step| step.after.as_ref()) {
            let last = versions.last().map(|last| last.object.resource_version());
            if last != Some(object.resource_version()) {
                versions.push(ObservedVersion {
                    event: None,
                    object: (**object).clone(),
                });
            }
        }
        versions
    }

    fn step(&mut self, at: usize, event: &AuditEvent) {
        self.learn_kind(event);
        set_clock(&mut self.server, event.received);
        self.learn_before(event);
        let before = match &self.state {
            State::Present(object) => Some(Arc::clone(object)),
            _ => None,
        };
        let prediction = self.predict(event, before.as_deref());
        let accepted = event.code.is_some_and(|code| code < 300);
        if accepted && !event.is_dry_run() {
            self.take_over(event, &prediction);
        }
        let after = match &self.state {
            State::Present(object) => Some(Arc::clone(object)),
            _ => None,
        };
        let manager = event.is_write().then(|| manager_of(event, &prediction));
        let changes = match (&before, &after, &self.resource) {
            (Some(before), Some(after), Some(resource)) if accepted && event.is_write() => {
                changes(before, after, resource, manager.as_ref())
            }
            _ => Vec::new(),
        };
        let client = self.client(event);
        self.steps.push(RecordedStep {
            event: at,
            client,
            manager,
            prediction,
            before,
            after,
            changes,
        });
    }

    fn predict(&self, event: &AuditEvent, before: Option<&Value>) -> CoreAnswer {
        let Some(resource) = &self.resource else {
            return CoreAnswer::NotRun(NotRun::UnknownState);
        };
        let of_collection = matches!(event.verb.as_str(), "list" | "watch");
        if matches!(self.state, State::Unknown) && !of_collection {
            return CoreAnswer::NotRun(NotRun::UnknownState);
        }
        predict(&self.server, event, resource, before)
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

    /// What an answer says about the object before the request.
    fn learn_before(&mut self, event: &AuditEvent) {
        let created = event.code == Some(201) && event.object.subresource.is_empty();
        let missing = event.code == Some(404) && event.object.is(&self.object);
        if (created || missing) && matches!(self.state, State::Unknown) {
            self.state = State::Absent;
        }
        // An accepted write with a version and a uid was made on the object that has them.
        let accepted = event.code == Some(200) && event.verb == "update";
        let (State::Present(object), Some(sent), true) = (&self.state, &event.request, accepted)
        else {
            return;
        };
        let mut known = (**object).clone();
        for field in ["resourceVersion", "uid"] {
            let said = sent.meta_text(field);
            if !said.is_empty() {
                known.set_meta(field, said);
            }
        }
        if known != **object {
            self.install(&Arc::new(known));
        }
    }

    /// Makes the recorded result the state, or the core's own where the log has none.
    fn take_over(&mut self, event: &AuditEvent, prediction: &CoreAnswer) {
        if event.verb == "list" {
            self.take_from_list(event);
            return;
        }
        if event.verb == "delete" {
            self.take_deletion(event, prediction);
            return;
        }
        if let Some(object) = object_of(event) {
            self.install(&object);
            return;
        }
        let exchange = match prediction {
            CoreAnswer::Same { exchange, .. } | CoreAnswer::Other { exchange, .. } => exchange,
            CoreAnswer::NotRun(_) => {
                if event.is_write() {
                    self.state = State::Unknown;
                }
                return;
            }
        };
        if event.is_write() && exchange.code < 300 {
            carry_out(&mut self.server, event, exchange);
            self.read_state();
            // A Scale has the version of its object.
            let version = event.response.as_deref().map(Metadata::resource_version);
            if let (State::Present(object), Some(version)) = (&self.state, version)
                && !version.is_empty()
            {
                let mut object = (**object).clone();
                object.set_meta("resourceVersion", version);
                self.install(&Arc::new(object));
            }
        } else if event.is_write() {
            self.state = State::Unknown;
        }
    }

    fn take_from_list(&mut self, event: &AuditEvent) {
        let whole =
            event.query("labelSelector").is_none() && event.query("fieldSelector").is_none();
        let Some(list) = event.response.as_ref().filter(|_| whole) else {
            return;
        };
        let Some(items) = list.get("items").and_then(Value::as_array) else {
            return;
        };
        let complete = list.pointer("/metadata/continue").is_none();
        let is_it = |item: &&Value| {
            item.name() == self.object.name && item.namespace() == self.object.namespace
        };
        let found = items.iter().find(is_it);
        match (found, &self.state) {
            (Some(item), State::Unknown | State::Absent) => {
                let mut item = item.clone();
                // Items of a list have no kind of their own.
                if let Some(resource) = &self.resource {
                    item["apiVersion"] = resource.group_version.to_string().into();
                    item["kind"] = resource.kind.as_str().into();
                }
                self.install(&Arc::new(item));
            }
            (None, State::Unknown) if complete => self.state = State::Absent,
            _ => {}
        }
    }

    fn take_deletion(&mut self, event: &AuditEvent, prediction: &CoreAnswer) {
        let waits =
            object_of(event).filter(|object| !object.meta_text("deletionTimestamp").is_empty());
        if let Some(object) = waits {
            self.install(&object);
            return;
        }
        match prediction {
            CoreAnswer::Same { exchange, .. } | CoreAnswer::Other { exchange, .. } => {
                carry_out(&mut self.server, event, exchange);
                self.read_state();
            }
            CoreAnswer::NotRun(_) => self.state = State::Unknown,
        }
    }

    fn install(&mut self, object: &Arc<Value>) {
        let installed = self.server.install((**object).clone());
        let known = |state: &State| match state {
            State::Present(known) => known.resource_version() == object.resource_version(),
            _ => false,
        };
        self.state = match installed {
            Ok(stored) => State::Present(stored),
            // A read of the version that is stored already, or an older one.
            Err(_) if known(&self.state) => return,
            Err(_) => State::Unknown,
        };
    }

    /// The object as the server has it.
    fn read_state(&mut self) {
        let Some(resource) = &self.resource else {
            return;
        };
        let path = resource.path(&self.object.namespace, &self.object.name);
        let request = optimist_client::get_request(&path, "optimist");
        let Some(response) = request.map(|request| self.server.handle(request)) else {
            return;
        };
        let object = serde_json::from_slice(response.body()).unwrap_or_default();
        self.state = if response.status().is_success() {
            State::Present(Arc::new(object))
        } else {
            State::Absent
        };
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

/// Whether a POST to the collection creates another object.
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
