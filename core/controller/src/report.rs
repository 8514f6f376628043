//! Reports of a controller's steps, as data.

use std::time::Duration;

use optimist_client::{Call, ReflectorProgress};

use crate::api_error::ApiError;
use crate::cache::Notification;
use crate::predicate::Predicate;
use crate::program::Touched;
use crate::queue::ReconcileResult;

/// The effect of adding a key to the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyAddition {
    /// It was queued.
    Queued,
    /// It is queued already: the two additions make one run.
    AlreadyQueued,
    /// It is being processed: it is queued when its run is over.
    AfterItsRun,
}

/// The action of the queue on a key at the end of its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueReaction {
    /// The key is added after this time; `None` if it does not wait.
    pub after: Option<Duration>,
    /// The number of counted failures of the key.
    pub failures: u32,
    /// `true` if the key was queued again at once, because it was added during its run.
    pub queued_again: bool,
}

/// The effect of a notification.
#[derive(Clone, Debug, PartialEq)]
pub struct Handled {
    /// The notification.
    pub notification: Notification,
    /// The predicate that dropped it; `None` if it reached the handler.
    pub dropped_by: Option<Predicate>,
    /// The keys that the handler added, each with the effect on the queue.
    pub keys: Vec<(String, KeyAddition)>,
}

/// The report of a step of a cache.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheReport {
    /// The action of the reflector.
    pub progress: ReflectorProgress,
    /// The notifications to the handlers, in order.
    pub handled: Vec<Handled>,
}

/// The report of a step of a worker.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkerReport {
    /// It took a key, and its run begins.
    Taken {
        /// The key.
        key: String,
    },
    /// It took a key, and the run failed at once: a cache does not have what earlier runs for the
    /// key wrote (`EnsureReady` of Kubernetes 1.36).
    NotReady {
        /// The key.
        key: String,
        /// The action of the queue.
        queue: QueueReaction,
    },
    /// It performed statements.
    Performed {
        /// The key of the run.
        key: String,
        /// The numbers of the statements, in order. Only the first one touches more than the
        /// variables of the run.
        statements: Vec<usize>,
        /// The part of the controller that the first one touched, if it sent no request.
        touched: Touched,
        /// The request that was sent, if one was.
        call: Option<Call>,
        /// The error of the read or the request. The program took it into account.
        error: Option<ApiError>,
    },
    /// The run is over.
    Finished {
        /// The key of the run.
        key: String,
        /// The number of the statement that ended it; `None` at the end of the program.
        statement: Option<usize>,
        /// The request that was sent, if one was.
        call: Option<Call>,
        /// The error that ended it.
        error: Option<ApiError>,
        /// Its result.
        result: ReconcileResult,
        /// The action of the queue.
        queue: QueueReaction,
    },
}

impl WorkerReport {
    /// The key.
    pub fn key(&self) -> &str {
        match self {
            Self::Taken { key }
            | Self::NotReady { key, .. }
            | Self::Performed { key, .. }
            | Self::Finished { key, .. } => key,
        }
    }

    /// The request that was sent, if one was.
    pub fn call(&self) -> Option<&Call> {
        match self {
            Self::Performed { call, .. } | Self::Finished { call, .. } => call.as_ref(),
            Self::Taken { .. } | Self::NotReady { .. } => None,
        }
    }
}
