//! Events as they go over the wire: many watchers see the same change, and it is written once for all of them.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use crate::server::{EventType, Resources, Watch, WatchEvent};

/// More lines are not kept: watchers ask for the newest ones.
const MOST: usize = 64;

/// More bytes are not kept.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// The newest lines.
#[derive(Debug, Default)]
pub(super) struct NewestLines {
    lines: VecDeque<SharedLine>,
    bytes: usize,
}

#[derive(Debug)]
struct SharedLine {
    /// It is kept, so that no other object gets its address.
    object: Arc<Value>,
    event_type: EventType,
    media_type: &'static str,
    written: Bytes,
}

impl NewestLines {
    /// Returns an event as a watcher gets it.
    pub(super) fn written(
        &mut self,
        watch: &Watch,
        event: &WatchEvent,
        resources: &Resources,
    ) -> Bytes {
        let media_type = watch.media_type();
        let is_same = |line: &&SharedLine| {
            Arc::ptr_eq(&line.object, &event.object)
                && line.event_type == event.event_type
                && line.media_type == media_type
        };
        if let Some(line) = self.lines.iter().rev().find(is_same) {
            return line.written.clone();
        }
        let written = Bytes::from(watch.written(event, resources));
        // An object that only this event has was made for this watcher.
        if Arc::strong_count(&event.object) > 1 {
            self.keep(SharedLine {
                object: Arc::clone(&event.object),
                event_type: event.event_type,
                media_type,
                written: written.clone(),
            });
        }
        written
    }

    fn keep(&mut self, line: SharedLine) {
        self.bytes += line.written.len();
        self.lines.push_back(line);
        while self.lines.len() > MOST || self.bytes > MOST_BYTES {
            let Some(oldest) = self.lines.pop_front() else {
                return;
            };
            self.bytes -= oldest.written.len();
        }
    }

    /// Drops all: the kinds have changed, by which objects are written.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
