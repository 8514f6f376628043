//! The events of a system, and their results.

use optimist_client::AnsweredRequest;
use optimist_ledger::Done;
use serde::{Deserialize, Serialize};

use super::{ControllerEvent, Faults, ProcessId};

/// One thing that can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Event {
    /// A procedure sends its next request, and is answered. A second passes before.
    Request(ProcessId),
    /// A cache of a controller gets its next event. If its watch was lost, it lists.
    Deliver {
        /// The controller.
        process: ProcessId,
        /// The cache.
        cache: u16,
    },
    /// The worker of a controller takes the next key. A second passes before.
    Take(ProcessId),
    /// The worker of a controller performs the next visible statement.
    Step(ProcessId),
    /// The next waiting key of a controller is added. The time until then passes.
    Wake(ProcessId),
    /// The process of a controller ends, starts again and lists.
    Restart(ProcessId),
    /// The same, and the lists are answered by an API server that does not have the last write yet: a
    /// first list asks for any version (`resourceVersion=0`).
    RestartBehind(ProcessId),
    /// The expectations of all controllers run out: more than five minutes pass.
    ExpectationsRunOut,
    /// A process writes and the server does it, but the answer is lost. A procedure sends the same
    /// again; a run of a controller fails.
    AnswerLost(ProcessId),
    /// A controller writes, and the request never arrives: its run fails. A procedure sends the same
    /// again, as if it had not sent it.
    RequestLost(ProcessId),
    /// A watch of a controller breaks. It watches again from where it was, or lists.
    WatchBroken {
        /// The controller.
        process: ProcessId,
        /// The cache.
        cache: u16,
    },
    /// Etcd is compacted at its current revision, and the API server restarts: all watches end, and
    /// none can go on from an earlier version.
    Compaction,
}

impl Event {
    /// Returns whether it is a fault. A fault need not happen; every other event that stays possible
    /// happens at last (weak fairness).
    pub fn is_fault(self) -> bool {
        Faults::default().left(self).is_some()
    }

    /// Returns whether a process does something with the server that it decided by itself.
    pub fn is_action(self) -> bool {
        matches!(self, Self::Step(_) | Self::Request(_) | Self::AnswerLost(_))
    }

    /// The process of an event that depends on this process, the server and the ledger alone, and
    /// changes nothing else. `None` if other processes or another server take part in it.
    pub fn process(self) -> Option<ProcessId> {
        match self {
            Self::Request(process)
            | Self::Take(process)
            | Self::Step(process)
            | Self::Wake(process)
            | Self::Restart(process)
            | Self::AnswerLost(process)
            | Self::RequestLost(process)
            | Self::Deliver { process, .. }
            | Self::WatchBroken { process, .. } => Some(process),
            Self::RestartBehind(_) | Self::ExpectationsRunOut | Self::Compaction => None,
        }
    }

    /// An event of the same thread of control: two events of one thread have the same. A worker is one
    /// thread, and so is each cache.
    pub fn thread(self) -> Self {
        match self {
            Self::Step(process) => Self::Take(process),
            other => other,
        }
    }
}

/// The result of an event that was performed.
#[derive(Clone, Debug)]
pub struct Performed<Name = ProcessId> {
    /// The request that was sent, with its answer. In a box: most events send none.
    pub answered: Option<Box<AnsweredRequest>>,
    /// Its effect on the edits of others. Known only if the system [keeps its
    /// ledger](super::System::keeps_ledger).
    pub done: Done<Name>,
    /// The report of a controller.
    pub controller: Option<ControllerEvent>,
}

impl<Name> Default for Performed<Name> {
    fn default() -> Self {
        Self {
            answered: None,
            done: Done::default(),
            controller: None,
        }
    }
}
