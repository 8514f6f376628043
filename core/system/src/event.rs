//! What can happen in a system, and what is known of it afterwards.

use optimist_client::AnsweredRequest;
use optimist_ledger::Done;
use serde::{Deserialize, Serialize};

use super::ProcessId;

/// One thing that can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Event {
    /// An editor sends its next request, and is answered. A second passes before.
    Request(ProcessId),
    /// A cache of a controller gets its next event. If its watch was lost, it lists.
    Deliver {
        /// The controller.
        process: ProcessId,
        /// The cache.
        cache: usize,
    },
    /// The worker of a controller takes the next key. A second passes before.
    Take(ProcessId),
    /// The worker of a controller performs the next visible statement.
    Step(ProcessId),
    /// The next waiting key of a controller is added. The time until then passes.
    Wake(ProcessId),
    /// The process of a controller ends, starts again and lists.
    Restart(ProcessId),
    /// The expectations of all controllers run out: more than five minutes pass.
    ExpectationsRunOut,
}

impl Event {
    /// Whether it is a fault. A fault need not happen; every other event that stays possible
    /// happens at last (weak fairness).
    pub fn is_fault(self) -> bool {
        matches!(self, Self::Restart(_) | Self::ExpectationsRunOut)
    }

    /// Whether a process does something with the server that it decided by itself.
    pub fn is_action(self) -> bool {
        matches!(self, Self::Step(_) | Self::Request(_))
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

/// What is known of an event that was performed.
#[derive(Clone, Debug, Default)]
pub struct Performed {
    /// The request that was sent, with its answer.
    pub answered: Option<AnsweredRequest>,
    /// What it did to the edits of others. Known only if the system [keeps its
    /// ledger](super::System::keeps_ledger).
    pub done: Done<ProcessId>,
}
