//! The events of a watch.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::object::Metadata;
use crate::server::{Resources, wire};
use crate::status::Status;

/// The annotation of the bookmark that ends the initial events
/// (`metav1.InitialEventsAnnotationKey`).
pub const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// The type of a change to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventType {
    /// It exists and the watcher did not know, or it is selected now and was not.
    Added,
    /// It changed.
    Modified,
    /// It was deleted, or is selected no more: the object is the one before, with the version of
    /// the change.
    Deleted,
    /// Nothing up to the version that the object names.
    Bookmark,
    /// The watch is over; the object is a `metav1.Status`.
    Error,
}

impl EventType {
    /// `ADDED`, `MODIFIED`, ...
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
            Self::Bookmark => "BOOKMARK",
            Self::Error => "ERROR",
        }
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One event of a watch.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchEvent {
    /// The type of the event.
    pub event_type: EventType,
    /// The object, a bookmark in its shape, or the error.
    pub object: Arc<Value>,
}

impl WatchEvent {
    /// The event as JSON.
    pub fn to_json(&self) -> Value {
        json!({"type": self.event_type.as_str(), "object": *self.object})
    }

    /// The event as it goes over the wire: one line of JSON.
    pub fn to_line(&self, resources: &Resources) -> String {
        wire::event_line(self.event_type.as_str(), &self.object, resources)
    }

    /// Returns whether this is the bookmark that ends the initial events.
    pub fn ends_initial_events(&self) -> bool {
        let annotations = self.object.metadata().and_then(|m| m.get("annotations"));
        self.event_type == EventType::Bookmark
            && annotations.and_then(|a| a.get(INITIAL_EVENTS_END)) == Some(&"true".into())
    }

    pub(super) fn new(event_type: EventType, object: Arc<Value>) -> Self {
        Self { event_type, object }
    }

    pub(super) fn error(status: &Status) -> Self {
        Self::new(EventType::Error, Arc::new(status.to_json()))
    }
}
