//! A controller as the third actor of a history.
//!
//! Each operation is one step: one request, one event, one statement that others can see, or one
//! thing that happens to the controller. Its requests are those of [`ActorId::C`](crate::ActorId).

use std::fmt;
use std::time::Duration;

use optimist_apiserver::server::EventType;
use optimist_apiserver::storage::Revision;
use optimist_controller::program::{Program, ReadyProgram};
use optimist_controller::{CacheReport, ClientRelease, Handled, WorkerReport};
use serde::{Deserialize, Serialize};

use crate::{HistoryTree, NodeId, Operation};

/// The controller of a history.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ControllerStart {
    /// What it does.
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

/// What a controller does.
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

/// An operation of a controller. A cache is named by its number, in the order of the kinds that the
/// program watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ControllerOperation {
    /// A cache without an open watch sends its next request: a list, or the watch. A watch that
    /// begins with the existing objects brings them at once.
    Connect(usize),
    /// The next event reaches a cache.
    Deliver(usize),
    /// The worker takes the next key, or performs the next statement that others can see.
    Step,
    /// The watch of a cache is dropped: events on their way are lost.
    DropWatch(usize),
    /// The handlers are told of every object of a cache again, from the cache.
    Resync(usize),
    /// The process ends and starts again with empty memory.
    Restart,
    /// The time passes until the next waiting key, and the key is added to the queue.
    Wake,
}

impl fmt::Display for ControllerOperation {
    /// In English, for exports and command lines. The page takes its words from its catalogue.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect(_) => "connect",
            Self::Deliver(_) => "event delivered",
            Self::Step => "step",
            Self::DropWatch(_) => "watch dropped",
            Self::Resync(_) => "resync",
            Self::Restart => "restart",
            Self::Wake => "waiting key added",
        })
    }
}

/// What a step of a controller did.
#[derive(Clone, Debug, PartialEq)]
pub enum ControllerEvent {
    /// A cache sent a request.
    Connected {
        /// The cache.
        cache: usize,
        /// What its reflector did, and what the handlers were told.
        report: CacheReport,
    },
    /// An event reached a cache, or the watch was lost instead.
    Delivered {
        /// The cache.
        cache: usize,
        /// What its reflector did, and what the handlers were told.
        report: CacheReport,
    },
    /// A watch was dropped.
    WatchDropped {
        /// The cache.
        cache: usize,
        /// The number of events that were on their way.
        on_the_way: usize,
    },
    /// The handlers were told of every object of a cache again.
    Resynced {
        /// The cache.
        cache: usize,
        /// What became of each notification.
        handled: Vec<Handled>,
    },
    /// The process started again.
    Restarted,
    /// A waiting key was added to the queue.
    Woken {
        /// The time that passed until then.
        after: Duration,
    },
    /// The worker took a key or performed statements.
    Worker(WorkerReport),
}

/// An event that the server has sent, or will send when the watch is open again, and that has not
/// reached a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventOnTheWay {
    /// The revision that the change made: the version of the event.
    pub revision: Revision,
    /// ADDED, MODIFIED or DELETED.
    pub event_type: EventType,
    /// The kind of the object.
    pub kind: String,
    /// The name of the object.
    pub name: String,
}

/// More requests than a controller sends until its watches are open, and more steps than a run of a
/// sensible program has.
const MOST_STEPS: usize = 500;

impl HistoryTree {
    /// Lets each cache of the controller list and open its watch, with one node for each request.
    /// Returns the last node; `None` if all watches are open.
    pub fn connect_controller(&mut self) -> Option<NodeId> {
        let mut last = None;
        for _ in 0..MOST_STEPS {
            let caches = self.world().controller()?.caches();
            let closed = caches.iter().position(|cache| !cache.is_watching());
            let Some(cache) = closed else {
                break;
            };
            let operation = ControllerOperation::Connect(cache);
            last = Some(self.act_once(Operation::Control(operation))?);
        }
        last
    }

    /// Runs the reconcile of the controller to its end, with one node for each step. Without a run,
    /// the worker takes the next key first. Returns the last node; `None` if the worker waits.
    pub fn run_controller(&mut self) -> Option<NodeId> {
        let mut last = None;
        for _ in 0..MOST_STEPS {
            let step = Operation::Control(ControllerOperation::Step);
            let Some(node) = self.act_once(step) else {
                break;
            };
            last = Some(node);
            if self.world().controller()?.run().is_none() {
                break;
            }
        }
        last
    }
}
