//! Controllers as actors of a history.
//!
//! Each operation is one step: one request, one event, one statement that others can see, or one
//! thing that happens to a controller.

use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::{EventType, WatchEvent};
use optimist_apiserver::storage::Revision;
use optimist_controller::ClientRelease;
use optimist_controller::program::{Program, ReadyProgram};
use optimist_system::ControllerOperation;
use serde::{Deserialize, Serialize};

use crate::{ActorId, HistoryTree, NodeId, Operation};

/// A controller of a history.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ControllerStart {
    /// The program that it runs.
    pub program: ControllerProgram,
    /// The namespace of its caches; by default that of the last object of the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The release of its libraries; in a history that does not say it, the first one.
    #[serde(default, skip_serializing_if = "ClientRelease::is_first")]
    pub release: ClientRelease,
}

impl ControllerStart {
    /// A controller with the present libraries, in the namespace of the last object.
    pub fn new(program: ControllerProgram) -> Self {
        Self {
            program,
            namespace: None,
            release: ClientRelease::V1_36,
        }
    }
}

/// The program of a controller.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ControllerProgram {
    /// A ready program with its switches.
    Ready(ReadyProgram),
    /// A program that is written out.
    Written(Program),
}

impl ControllerProgram {
    /// The program in data.
    pub fn program(&self) -> Program {
        match self {
            Self::Ready(ready) => ready.program(),
            Self::Written(program) => program.clone(),
        }
    }
}

impl From<ReadyProgram> for ControllerStart {
    fn from(ready: ReadyProgram) -> Self {
        Self::new(ControllerProgram::Ready(ready))
    }
}

/// The definition of the custom resource with which the ready programs work by default, and an
/// object of it, as manifests for a [`Start`](crate::Start).
pub const WIDGET: &str = include_str!("controller/widget.yaml");

/// An event that the server has sent, or will send when the watch is open again, and that has not
/// reached a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventOnTheWay {
    /// The revision that the change made: the version of the event. 0 of an ERROR.
    pub revision: Revision,
    /// ADDED, MODIFIED, DELETED, or ERROR, which ends the watch.
    pub event_type: EventType,
    /// The kind of the object.
    pub kind: String,
    /// The name of the object; of an ERROR, the code of its `metav1.Status`.
    pub name: String,
}

impl EventOnTheWay {
    /// The event of a watch of objects of a kind.
    pub(crate) fn new(event: &WatchEvent, kind: &str) -> Self {
        let (revision, name) = match event.event_type {
            EventType::Error => (0, event.object["code"].to_string()),
            _ => {
                let version = event.object.resource_version().parse();
                (version.unwrap_or_default(), event.object.name().to_owned())
            }
        };
        Self {
            revision,
            event_type: event.event_type,
            kind: kind.to_owned(),
            name,
        }
    }
}

/// More requests than a controller sends until its watches are open, and more steps than a run of a
/// sensible program has.
const MOST_STEPS: usize = 500;

impl HistoryTree {
    /// Lets each cache of a controller list and open its watch, with one node for each request.
    /// Returns the last node; `None` if all watches are open.
    pub fn connect_controller(&mut self, id: ActorId) -> Option<NodeId> {
        let mut last = None;
        for _ in 0..MOST_STEPS {
            let caches = self.world().controller(id)?.caches();
            let closed = caches.iter().position(|cache| !cache.is_watching());
            let Some(cache) = closed else {
                break;
            };
            let operation = ControllerOperation::Connect(cache);
            last = Some(self.act_once(Operation::Control(id, operation))?);
        }
        last
    }

    /// Starts a controller again. A server that does not have the last write answers the first list of
    /// each cache that begins with one; the watches come from the present server. Returns the last node;
    /// `None` if no list was answered so: nothing was written before, or each cache begins with a watch.
    pub fn restart_behind(&mut self, id: ActorId) -> Option<NodeId> {
        let caches = self.world().controller(id)?.caches().len();
        let mut control = |operation| self.act_once(Operation::Control(id, operation));
        control(ControllerOperation::Restart)?;
        let lists = (0..caches).filter_map(|cache| control(ControllerOperation::ListBehind(cache)));
        let listed = lists.last()?;
        Some(self.connect_controller(id).unwrap_or(listed))
    }

    /// Runs the reconcile of a controller to its end, with one node for each step. Without a run,
    /// the worker takes the next key first. Returns the last node; `None` if the worker waits.
    pub fn run_controller(&mut self, id: ActorId) -> Option<NodeId> {
        let mut last = None;
        for _ in 0..MOST_STEPS {
            let step = Operation::Control(id, ControllerOperation::Step);
            let Some(node) = self.act_once(step) else {
                break;
            };
            last = Some(node);
            if self.world().controller(id)?.run().is_none() {
                break;
            }
        }
        last
    }
}
