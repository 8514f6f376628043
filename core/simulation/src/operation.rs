//! Operations: everything that takes a step.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Action, ActorId, ControllerOperation, WatchAction};

/// An operation that takes a step, and who does it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Operation {
    /// An actor acts.
    Act(ActorId, Action),
    /// The watcher acts.
    Watch(WatchAction),
    /// Etcd is compacted at its current revision.
    Compact {
        /// `true` if the API server is restarted too, so that its watch cache is empty as well.
        restart: bool,
    },
    /// Some seconds pass. Keys of controllers whose time has come are added to their queues.
    Wait(u32),
    /// A controller does something, or something happens to it.
    Control(ActorId, ControllerOperation),
}

impl fmt::Display for Operation {
    /// A word or two: `GET`, `WATCH from 100`, `compact and restart`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Operation::Act(_, Action::Get | Action::GetScale) => "GET",
            Operation::Act(_, Action::Send(_)) => "send",
            Operation::Act(_, Action::Create) => "create",
            Operation::Act(_, Action::Delete(_) | Action::DeleteRetrying(..)) => "DELETE",
            Operation::Act(_, Action::Request(by_hand)) => &by_hand.method,
            Operation::Watch(WatchAction::Open(version)) if !version.is_empty() => {
                return write!(f, "WATCH from {version}");
            }
            Operation::Watch(WatchAction::Open(_)) => "WATCH",
            Operation::Watch(WatchAction::Resume) => "WATCH again",
            Operation::Watch(WatchAction::Drop) => "connection dropped",
            Operation::Watch(WatchAction::List) => "LIST",
            Operation::Compact { restart: false } => "compact",
            Operation::Compact { restart: true } => "compact and restart",
            Operation::Wait(seconds) => return write!(f, "{seconds} s pass"),
            Operation::Control(_, operation) => return operation.fmt(f),
        })
    }
}
