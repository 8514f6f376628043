//! The server, its editors and its watcher at one moment.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::step::{Exchange, Step};
use super::watcher::{WatchAction, Watcher};
use crate::client::{Manifest, ManifestError, WorkingCopy, Write, get_request};
use crate::environment::Environment;
use crate::object::{Metadata, text};
use crate::server::{ApiServer, Resource, key_of};
use crate::storage::{Revision, Version};

/// One of the two editors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum EditorId {
    A,
    B,
}

impl EditorId {
    /// Both.
    pub const BOTH: [EditorId; 2] = [EditorId::A, EditorId::B];

    /// `Editor A`.
    pub fn name(self) -> &'static str {
        match self {
            EditorId::A => "Editor A",
            EditorId::B => "Editor B",
        }
    }

    /// Its field manager, which it also sends as User-Agent.
    pub fn manager(self) -> &'static str {
        match self {
            EditorId::A => "editor-a",
            EditorId::B => "editor-b",
        }
    }
}

/// What an editor can do that takes a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Read the object. Unsent edits are redone on what is read.
    Get,
    /// Send the edits.
    Send(Write),
}

/// Everything that takes a step, and who does it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// An editor acts.
    Edit(EditorId, Action),
    /// The watcher acts.
    Watch(WatchAction),
    /// Someone compacts etcd at its current revision.
    Compact {
        /// Whether the API server is restarted too, so that its watch cache is empty as well.
        restart: bool,
    },
}

impl fmt::Display for Operation {
    /// A word or two: `GET`, `WATCH from 100`, `compact and restart`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operation::Edit(_, Action::Get) => "GET",
            Operation::Edit(_, Action::Send(_)) => "send",
            Operation::Watch(WatchAction::Open(version)) if !version.is_empty() => {
                return write!(f, "WATCH from {version}");
            }
            Operation::Watch(WatchAction::Open(_)) => "WATCH",
            Operation::Watch(WatchAction::Resume) => "WATCH again",
            Operation::Watch(WatchAction::Drop) => "connection dropped",
            Operation::Watch(WatchAction::List) => "LIST",
            Operation::Compact { restart: false } => "compact",
            Operation::Compact { restart: true } => "compact and restart",
        })
    }
}

/// An editor at one moment.
#[derive(Clone, Debug, Default)]
pub struct Editor {
    /// Its working copy.
    pub copy: WorkingCopy,
    /// How it would send its edits.
    pub write: Write,
}

/// Why a manifest could not become the stored object.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadError {
    /// It is no manifest that can be loaded.
    Manifest(ManifestError),
    /// The server refused it, with its message.
    Refused {
        /// The HTTP status code.
        code: u16,
        /// The server's words.
        message: String,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Manifest(error) => write!(f, "{error}"),
            LoadError::Refused { code, message } => {
                write!(f, "The server refuses it ({code}): {message}")
            }
        }
    }
}

impl std::error::Error for LoadError {}

impl From<ManifestError> for LoadError {
    fn from(error: ManifestError) -> Self {
        LoadError::Manifest(error)
    }
}

/// The version that the first stored object gets.
const FIRST_VERSION: Revision = 100;

/// The server, the object that it is all about, both editors and the watcher. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct World {
    server: ApiServer,
    resource: Arc<Resource>,
    key: String,
    editors: [Editor; 2],
    watcher: Watcher,
}

impl World {
    /// A server that has just stored a manifest, two editors who have not read it, and a watcher
    /// who does not watch yet. Says which fields of the manifest were dropped because the server owns them.
    ///
    /// # Errors
    /// If the text is no manifest of a kind that is served, or the server refuses it.
    pub fn load(manifest: &str) -> Result<(Self, Vec<String>), LoadError> {
        let probe = ApiServer::default();
        let manifest = Manifest::parse(manifest, probe.resources())?;
        let namespace = manifest.object.namespace().to_owned();
        let another = namespace != crate::server::DEFAULT_NAMESPACE;
        let first = FIRST_VERSION - u64::from(another);
        let mut server = ApiServer::new(Environment::default(), first);
        if another {
            let body = serde_json::json!({"metadata": {"name": namespace}});
            send(&mut server, "/api/v1/namespaces", &body)?;
        }
        let (api_version, kind) = (
            text(&manifest.object, "apiVersion"),
            text(&manifest.object, "kind"),
        );
        let resource = server.resources().by_kind(api_version, kind).cloned();
        let resource = resource.ok_or_else(|| {
            ManifestError::Content(format!("{kind} ({api_version}) is not served."))
        })?;
        let path =
            resource.path(&namespace, "") + "?fieldManager=kubectl-create&fieldValidation=Strict";
        let object = send(&mut server, &path, &manifest.object)?;
        let world = Self {
            key: key_of(&resource, &object),
            watcher: Watcher::new(&resource, &object),
            server,
            resource,
            editors: Default::default(),
        };
        Ok((world, manifest.dropped))
    }

    /// An editor.
    pub fn editor(&self, id: EditorId) -> &Editor {
        &self.editors[id as usize]
    }

    /// An editor, to edit its working copy or its way of writing; neither is a step.
    pub fn editor_mut(&mut self, id: EditorId) -> &mut Editor {
        &mut self.editors[id as usize]
    }

    /// The stored object and its version; `None` once it is deleted.
    pub fn stored(&self) -> Option<(Revision, &Arc<Value>)> {
        self.server.store().get(&self.key)
    }

    /// The watcher.
    pub fn watcher(&self) -> &Watcher {
        &self.watcher
    }

    /// How many changes of the object a watcher without a connection has not heard of.
    pub fn missed(&self) -> usize {
        let seen = self.watcher.seen().parse();
        seen.map_or(0, |seen| self.revisions_after(seen).count())
    }

    /// Every revision at which the object changed, compacted or not, oldest first.
    pub fn revisions(&self) -> impl Iterator<Item = Revision> {
        self.revisions_after(0)
    }

    fn revisions_after(&self, revision: Revision) -> impl Iterator<Item = Revision> {
        self.server
            .store()
            .log_after(revision)
            .filter(|change| *change.key == *self.key)
            .map(|change| change.revision)
    }

    /// Every version of the object that etcd still has, oldest first.
    pub fn versions(&self) -> impl DoubleEndedIterator<Item = &Version> {
        self.server.store().history(&self.key)
    }

    /// By how many versions an editor's copy is behind; 0 before its first read.
    pub fn stale_by(&self, id: EditorId) -> usize {
        let read = self.editor(id).copy.resource_version();
        let Some(read) = read.and_then(|version| version.parse::<Revision>().ok()) else {
            return 0;
        };
        self.revisions_after(read).count()
    }

    /// The kind of the object.
    pub fn resource(&self) -> &Arc<Resource> {
        &self.resource
    }

    /// The API server.
    pub fn server(&self) -> &ApiServer {
        &self.server
    }

    /// The request that an action would send; `None` for a write before the first read.
    pub fn preview(&self, id: EditorId, action: &Action) -> Option<Request<Vec<u8>>> {
        let copy = &self.editor(id).copy;
        match action {
            Action::Get => {
                let (_, object) = self
                    .versions()
                    .rev()
                    .find_map(|version| Some((version.revision, version.object.as_ref()?)))?;
                get_request(&self.resource, object, id.manager())
            }
            Action::Send(write) => write.request(&self.resource, copy, id.manager()),
        }
    }

    /// Does something, and lets the watcher hear of it. `None` if it cannot be done now.
    pub fn act(&mut self, operation: Operation) -> Option<Step> {
        let mut step = match operation {
            Operation::Edit(id, action) => self.edit(id, action)?,
            Operation::Watch(action) => self.watch(action)?,
            Operation::Compact { restart } => self.compact(restart)?,
        };
        step.arrive(self.watcher.poll(&self.server));
        Some(step)
    }

    fn watch(&mut self, action: WatchAction) -> Option<Step> {
        let exchange = self.watcher.act(&mut self.server, &action)?;
        Some(self.aside(Operation::Watch(action), exchange))
    }

    fn compact(&mut self, restart: bool) -> Option<Step> {
        let newest = self.server.store().revision();
        let compacted = self.server.compact(newest).is_ok();
        if restart {
            self.server.restart();
        } else if !compacted {
            return None;
        }
        Some(self.aside(Operation::Compact { restart }, None))
    }

    /// A step beside the object.
    fn aside(&self, operation: Operation, exchange: Option<Exchange>) -> Step {
        let stored = self.stored().map(|(_, object)| &**object);
        Step::new(operation, exchange, Vec::new(), (stored, stored))
    }

    /// Sends an editor's request and takes in the answer.
    fn edit(&mut self, id: EditorId, action: Action) -> Option<Step> {
        let request = self.preview(id, &action)?;
        self.server
            .environment_mut()
            .advance(Duration::from_secs(1));
        let before = self.stored().map(|(_, object)| Arc::clone(object));
        let edits = self.editor(id).copy.edits();
        let response = self.server.handle(request.clone());
        let exchange = Exchange::new(&request, &response);
        if exchange.code < 400 {
            let object = Arc::clone(&exchange.received);
            let copy = &mut self.editor_mut(id).copy;
            match action {
                Action::Get => copy.refresh(object),
                Action::Send(_) => copy.settle(object),
            }
        }
        let after = self.stored().map(|(_, object)| Arc::clone(object));
        let stored = (before.as_deref(), after.as_deref());
        let operation = Operation::Edit(id, action);
        Some(Step::new(operation, Some(exchange), edits, stored))
    }
}

fn send(server: &mut ApiServer, path: &str, body: &Value) -> Result<Value, LoadError> {
    let request = Request::post(path)
        .header(http::header::CONTENT_TYPE, "application/json")
        .header(http::header::USER_AGENT, "kubectl")
        .body(body.to_string().into_bytes())
        .map_err(|error| LoadError::Manifest(ManifestError::Content(error.to_string())))?;
    let response = server.handle(request);
    let answer: Value = serde_json::from_slice(response.body()).unwrap_or(Value::Null);
    if response.status().is_success() {
        return Ok(answer);
    }
    Err(LoadError::Refused {
        code: response.status().as_u16(),
        message: text(&answer, "message").to_owned(),
    })
}
