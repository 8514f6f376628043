//! The operations of a controller, each of which can be chosen alone, and their results.

use std::fmt;
use std::time::Duration;

use optimist_client::Lost;
use optimist_controller::{CacheReport, Handled, WorkerReport};
use serde::{Deserialize, Serialize};

/// An operation of a controller. A cache is named by its number, in the order of the kinds that the
/// program watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ControllerOperation {
    /// A cache without an open watch sends its next request: a list, or the watch. A watch that
    /// begins with the existing objects brings them at once.
    Connect(usize),
    /// A cache that begins with a list sends it, and an API server answers that does not have the last
    /// write yet: the list accepts any version (`resourceVersion=0`).
    ListBehind(usize),
    /// The next event reaches a cache.
    Deliver(usize),
    /// The worker takes the next key, or performs the next statement that others can see.
    Step,
    /// The worker performs the next statement, which writes, and the network loses the request or the
    /// answer. It takes no key.
    StepLosing(Lost),
    /// The watch of a cache is dropped: events on their way are lost.
    DropWatch(usize),
    /// The handlers get every object of a cache again, from the cache.
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
            Self::ListBehind(_) => "list from a server that is behind",
            Self::Deliver(_) => "event delivered",
            Self::Step => "step",
            Self::StepLosing(Lost::Request) => "step, request lost",
            Self::StepLosing(Lost::Answer) => "step, answer lost",
            Self::DropWatch(_) => "watch dropped",
            Self::Resync(_) => "resync",
            Self::Restart => "restart",
            Self::Wake => "waiting key added",
        })
    }
}

/// The report of an operation of a controller.
#[derive(Clone, Debug, PartialEq)]
pub enum ControllerEvent {
    /// A cache sent a request.
    Connected {
        /// The cache.
        cache: usize,
        /// The report of its reflector and its handlers.
        report: CacheReport,
    },
    /// An event reached a cache, or the watch was lost instead.
    Delivered {
        /// The cache.
        cache: usize,
        /// The report of its reflector and its handlers.
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
        /// The outcome of each notification.
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
