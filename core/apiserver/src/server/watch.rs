//! Watches: the version at which they begin, the event that each change is to a watcher, and their
//! end (`k8s.io/apiserver/pkg/storage`: `cacher/cacher.go`, `cacher/cache_watcher.go` and
//! `etcd3/watcher.go`; `pkg/endpoints/handlers/watch.go`).
//!
//! A [`Watch`] is plain data that the caller polls: it holds where it is in the history of the
//! store, not the store.

mod event;

use std::sync::Arc;
use std::time::Duration;

use imbl::Vector;
use serde_json::Value;

pub use self::event::{EventType, INITIAL_EVENTS_END, WatchEvent};
use super::list::{MAX_WAIT, RETRY_SECONDS};
use super::list_options::{ListOptions, parse_version};
use super::scope::Scope;
use super::selector::Selector;
use super::view::{Format, ResponseForm, STREAMED, View};
use super::{ApiServer, RequestInfo, Resource, Resources};
use crate::go;
use crate::status::{Refusal, Status};
use crate::storage::{Change, Revision, WatchCache};

/// The shortest time after which a watch ends that names none, and half of the longest
/// (`MinRequestTimeout`).
const SHORTEST_DEFAULT: Duration = Duration::from_secs(1800);
/// The interval between bookmarks of a watch (`defaultBookmarkFrequency`).
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);
/// The time between the last bookmark of a watch and its end.
const LAST_BOOKMARK_BEFORE: Duration = Duration::from_secs(2);
/// The time of the first check for bookmarks after a watch was opened (`dispatchEvents`).
const FIRST_TICK: Duration = Duration::from_secs(1);

/// An open watch. Cloning is cheap, and a clone is independent: a watch may be polled on any
/// clone of the server that it was opened on.
#[derive(Clone, Debug)]
pub struct Watch {
    resource: Arc<Resource>,
    scope: Scope,
    selector: Selector,
    /// `true` if the watch cache serves it, rather than etcd.
    cached: bool,
    bookmarks: bool,
    initial_events: Option<bool>,
    /// Of the server: a watch ends with it.
    run: u64,
    opened: Duration,
    deadline: Duration,
    state: WatchedState,
    view: View,
    /// The number of tables that it has sent: only the first one names the columns.
    tables: usize,
}

#[derive(Clone, Debug)]
enum WatchedState {
    /// The initial events must not be older than a version that is still to come.
    Waiting(Revision),
    /// Some events are ready, and everything after a revision is to follow.
    Streaming(WatchStream),
    /// There are no more events, except perhaps an error that has not been read.
    Ended(Option<WatchEvent>),
}

#[derive(Clone, Debug)]
struct WatchStream {
    ready: Vector<WatchEvent>,
    after: Revision,
    /// Plain bookmarks must be newer than the version with which the watch began.
    bookmarks_after: Revision,
    next_bookmark: Option<Duration>,
}

impl Watch {
    /// Opens a watch.
    ///
    /// # Errors
    /// A refusal before the stream begins; every later error is an event in the stream.
    pub(super) fn open(server: &ApiServer, info: &RequestInfo) -> Result<Self, Refusal> {
        let options = ListOptions::read(info)?;
        let version = parse_version(&options.version).map_err(Status::internal)?;
        if info.view.format == Format::Yaml {
            // YAML has no serializer for streams (`NegotiateOutputMediaTypeStream`).
            return Err(Status::not_acceptable(&format!(
                "only the following media types are accepted: {STREAMED}"
            )));
        }
        let opened = server.environment.elapsed();
        let timeout = timeout(server, options.timeout_seconds);
        let mut watch = Self {
            resource: Arc::clone(info.stored_resource()),
            scope: Scope::new(info, &options),
            cached: server.caches.cache(info.stored_resource()).is_some(),
            bookmarks: options.bookmarks,
            initial_events: options.initial_events,
            run: server.caches.run(),
            opened,
            deadline: opened.saturating_add(timeout.unwrap_or_default()),
            selector: options.selector,
            view: info.view,
            tables: 0,
            state: WatchedState::Ended(None),
        };
        let newest = server.store.revision();
        watch.state = match (watch.cached, watch.initial_events) {
            _ if timeout.is_none() => return Ok(watch),
            // The newest state is the one that etcd has now.
            (_, Some(_)) if options.version.is_empty() => watch.start(server, newest),
            (true, Some(true)) if version > newest => WatchedState::Waiting(version),
            (false, Some(true)) if version > newest => watch.too_large(version, newest),
            (false, Some(false)) if version == 0 => watch.start(server, newest),
            _ => watch.start(server, version),
        };
        Ok(watch)
    }

    /// Returns whether events may still come.
    pub fn is_open(&self) -> bool {
        !matches!(self.state, WatchedState::Ended(None))
    }

    /// Returns the time at which something happens without a write: a bookmark, the end of the wait
    /// for a version, or the end of the watch. On the clock of the server's environment; `None`
    /// once it is over.
    pub fn next_due(&self) -> Option<Duration> {
        match &self.state {
            WatchedState::Waiting(_) => Some(self.opened.saturating_add(MAX_WAIT)),
            WatchedState::Streaming(stream) => {
                let bookmark = stream.next_bookmark.unwrap_or(self.deadline);
                Some(bookmark.min(self.deadline))
            }
            WatchedState::Ended(_) => None,
        }
    }

    /// The keys of the store whose changes it can show: one key, or what all of them begin with. `None` while any change
    /// can let it begin.
    #[cfg(feature = "tower")]
    pub(crate) fn keys(&self) -> Option<&str> {
        match &self.state {
            WatchedState::Waiting(_) => None,
            WatchedState::Streaming(_) | WatchedState::Ended(_) => Some(self.scope.prefix()),
        }
    }

    /// The media type of the stream.
    pub fn media_type(&self) -> &'static str {
        match self.view.format {
            #[cfg(feature = "protobuf")]
            Format::Protobuf => super::protobuf::WATCH_MEDIA_TYPE,
            Format::Json | Format::Yaml => "application/json",
        }
    }

    /// An event as it goes over the wire to this watcher: a line of JSON, or a frame of protobuf.
    pub fn written(&self, event: &WatchEvent, resources: &Resources) -> Vec<u8> {
        #[cfg(feature = "protobuf")]
        if self.view.format == Format::Protobuf
            && let Some(frame) = super::protobuf::frame(event)
        {
            return frame;
        }
        event.to_line(resources).into_bytes()
    }

    /// The kind of the objects.
    pub fn resource(&self) -> &Arc<Resource> {
        &self.resource
    }

    /// Takes the events that have arrived since the last poll. After the last one, which may be an
    /// error, the watch [is no longer open](Self::is_open).
    pub fn poll(&mut self, server: &ApiServer) -> Vec<WatchEvent> {
        let mut events = self.arrived(server);
        let is_error = |event: &WatchEvent| event.event_type == EventType::Error;
        if self.view.shape == ResponseForm::MetadataList && !events.iter().all(is_error) {
            // No object is a list of metadata: the encoder of the stream gives up
            // (`pkg/endpoints/handlers/response.go`, asPartialObjectMetadataList).
            self.state = WatchedState::Ended(None);
            return Vec::new();
        }
        for event in events
            .iter_mut()
            .filter(|event| event.event_type != EventType::Error)
        {
            let now = server.environment.now();
            let first = self.tables == 0;
            let shown = self
                .view
                .of_event(&self.resource, &event.object, first, now);
            if let Some(shown) = shown {
                self.tables += 1;
                event.object = Arc::new(shown);
            }
        }
        events
    }

    /// The events as they are.
    fn arrived(&mut self, server: &ApiServer) -> Vec<WatchEvent> {
        let now = server.environment.elapsed();
        if let WatchedState::Waiting(version) = self.state {
            self.state = self.waited(server, version, now);
        }
        let (events, ended) = match std::mem::replace(&mut self.state, WatchedState::Ended(None)) {
            WatchedState::Waiting(version) => {
                self.state = WatchedState::Waiting(version);
                return Vec::new();
            }
            WatchedState::Ended(error) => return error.into_iter().collect(),
            WatchedState::Streaming(mut stream) => {
                let mut events: Vec<_> = std::mem::take(&mut stream.ready).into_iter().collect();
                let goes_on = server.caches.run() == self.run && !self.misses(&stream, server);
                let ended = !goes_on
                    || now >= self.deadline
                    || !server.resources.still_serve(&self.resource);
                if goes_on {
                    self.stream(&mut stream, server, now.min(self.deadline), &mut events);
                }
                self.state = WatchedState::Streaming(stream);
                (events, ended)
            }
        };
        if ended {
            self.state = WatchedState::Ended(None);
        }
        events
    }

    /// Returns whether the server may have [forgotten](ApiServer::forget) the next change.
    fn misses(&self, stream: &WatchStream, server: &ApiServer) -> bool {
        let is_missed = |cache: &WatchCache| stream.after < cache.watchable_from();
        stream.after < server.store.forgotten()
            && server.caches.cache(&self.resource).is_none_or(is_missed)
    }

    /// The result of waiting for a version (`waitUntilFreshAndBlock`).
    fn waited(&self, server: &ApiServer, version: Revision, now: Duration) -> WatchedState {
        let patience = self.opened.saturating_add(MAX_WAIT);
        let until = now.min(patience).min(self.deadline);
        if server.caches.run() != self.run {
            WatchedState::Ended(None)
        } else if server.caches.revision_at(until) >= version {
            self.start(server, version)
        } else if until == self.deadline {
            WatchedState::Ended(None)
        } else if now >= patience {
            self.too_large(version, server.store.revision())
        } else {
            WatchedState::Waiting(version)
        }
    }

    /// The stream from a version; 0 is anywhere.
    fn start(&self, server: &ApiServer, version: Revision) -> WatchedState {
        match server.caches.cache(&self.resource) {
            Some(cache) => self.start_from_cache(server, cache, version),
            None => self.start_from_store(server, version),
        }
    }

    /// `Cacher.Watch` and `getAllEventsSinceLocked`.
    fn start_from_cache(
        &self,
        server: &ApiServer,
        cache: &WatchCache,
        version: Revision,
    ) -> WatchedState {
        // A cache that is too old catches up with the newest state.
        let newest = server.store.revision();
        let cached = if version > cache.revision() {
            newest.max(cache.revision())
        } else {
            cache.revision()
        };
        if self.initial_events == Some(true) || (self.initial_events.is_none() && version == 0) {
            let mut ready = self.everything(server);
            if self.streams_list() {
                ready.push_back(self.bookmark(cached, true));
            }
            return WatchedState::Streaming(WatchStream {
                ready,
                after: newest,
                bookmarks_after: cached.max(version),
                next_bookmark: self.first_bookmark(),
            });
        }
        let after = if version == 0 { cached } else { version };
        let oldest = cache.watchable_from();
        if after < oldest {
            let why = format!("too old resource version: {after} ({oldest})");
            return self.failed(&Status::expired(why));
        }
        WatchedState::Streaming(WatchStream {
            ready: Vector::new(),
            after,
            bookmarks_after: after.max(cache.latest_event()),
            next_bookmark: self.first_bookmark(),
        })
    }

    /// `watchChan.startWatching`. Only the bookmark that ends the initial events is ever sent.
    fn start_from_store(&self, server: &ApiServer, version: Revision) -> WatchedState {
        let newest = server.store.revision();
        let mut ready = Vector::new();
        let mut after = version;
        if self.initial_events == Some(true) || (self.initial_events.is_none() && version == 0) {
            ready = self.everything(server);
            after = newest;
            if self.streams_list() {
                ready.push_back(self.bookmark(after, true));
            }
        }
        let Ok(mut changes) = server.store.changes_after(after) else {
            let why = "The resourceVersion for the provided watch is too old.";
            return self.failed(&Status::expired(why));
        };
        // What the change at the compacted revision replaced is gone, unless it replaced nothing.
        let first = changes.next().filter(|change| {
            change.revision == server.store.compacted()
                && change.before.is_some()
                && self.scope.contains(&change.key)
        });
        if let Some(change) = first {
            return self.failed(&Status::internal_error(&format!(
                "etcd event received with PrevKv=nil (key={}, modRevision={}, type={})",
                go::quote(&change.key),
                change.revision,
                if change.after.is_some() {
                    "PUT"
                } else {
                    "DELETE"
                },
            )));
        }
        WatchedState::Streaming(WatchStream {
            ready,
            after,
            bookmarks_after: after,
            next_bookmark: None,
        })
    }

    /// Adds the events until a moment.
    fn stream(
        &self,
        stream: &mut WatchStream,
        server: &ApiServer,
        until: Duration,
        events: &mut Vec<WatchEvent>,
    ) {
        while let Some(due) = stream.next_bookmark.filter(|due| *due <= until) {
            let then = server.caches.revision_at(due);
            self.changes(stream, server, then, events);
            let cached = server.caches.cache(&self.resource);
            let version = cached.map_or(then, |cache| cache.revision().min(then));
            if version > stream.bookmarks_after {
                events.push(self.bookmark(version, false));
            }
            stream.next_bookmark = self.bookmark_after(due);
        }
        let last = if until == self.deadline {
            server.caches.revision_at(until)
        } else {
            Revision::MAX
        };
        self.changes(stream, server, last, events);
    }

    /// Adds the changes up to a revision.
    fn changes(
        &self,
        stream: &mut WatchStream,
        server: &ApiServer,
        last: Revision,
        events: &mut Vec<WatchEvent>,
    ) {
        for change in server.store.log_after(stream.after) {
            if change.revision > last {
                break;
            }
            stream.after = change.revision;
            if self.scope.contains(&change.key) {
                events.extend(self.event(server, change));
            }
        }
    }

    /// Returns the event of a change for this watcher (`convertToWatchEvent`,
    /// `watchChan.transform`).
    fn event(&self, server: &ApiServer, change: &Change) -> Option<WatchEvent> {
        let selected = |object: &Option<Arc<Value>>| {
            let object = object.as_ref().map(|stored| self.as_read(server, stored));
            object.filter(|object| self.selector.matches(object))
        };
        match (selected(&change.before), selected(&change.after)) {
            (None, None) => None,
            (None, Some(now)) => Some(WatchEvent::new(EventType::Added, now)),
            (Some(_), Some(now)) => Some(WatchEvent::new(EventType::Modified, now)),
            (Some(before), None) => {
                let deleted = server.shown_deleted(before, change.revision);
                Some(WatchEvent::new(EventType::Deleted, deleted))
            }
        }
    }

    /// A stored object as it is read.
    fn as_read(&self, server: &ApiServer, stored: &Arc<Value>) -> Arc<Value> {
        let mut object = server.read_back(&self.resource, stored);
        self.resource.show(&mut object);
        object
    }

    /// The objects that are there, as if they were new.
    fn everything(&self, server: &ApiServer) -> Vector<WatchEvent> {
        let objects = self.scope.now(&server.store).into_iter();
        objects
            .map(|(_, stored)| self.as_read(server, &stored))
            .filter(|object| self.selector.matches(object))
            .map(|object| WatchEvent::new(EventType::Added, object))
            .collect()
    }

    fn bookmark(&self, version: Revision, ends_initial_events: bool) -> WatchEvent {
        let mut object = self.resource.unset();
        let metadata = &mut object["metadata"];
        metadata["resourceVersion"] = version.to_string().into();
        if ends_initial_events {
            metadata["annotations"][INITIAL_EVENTS_END] = "true".into();
        }
        WatchEvent::new(EventType::Bookmark, Arc::new(object))
    }

    fn streams_list(&self) -> bool {
        self.initial_events == Some(true) && self.bookmarks
    }

    /// Returns the time of the first plain bookmark: at once if the client waited for the end of
    /// the initial events (`nextBookmarkTime`).
    fn first_bookmark(&self) -> Option<Duration> {
        if self.streams_list() {
            Some(self.opened.saturating_add(FIRST_TICK))
        } else {
            self.bookmark_after(self.opened)
        }
    }

    fn bookmark_after(&self, moment: Duration) -> Option<Duration> {
        let last = self.deadline.saturating_sub(LAST_BOOKMARK_BEFORE);
        let next = moment.saturating_add(BOOKMARK_EVERY).min(last);
        (self.bookmarks && next > moment).then_some(next)
    }

    fn too_large(&self, version: Revision, newest: Revision) -> WatchedState {
        self.failed(&Status::too_large_version(version, newest, RETRY_SECONDS))
    }

    fn failed(&self, why: &Status) -> WatchedState {
        WatchedState::Ended(Some(WatchEvent::error(why)))
    }
}

/// The time that a watch may last; `None` if it is over before it begins. A number of seconds becomes one of
/// nanoseconds, which may overflow (`time.Duration` in `k8s.io/apiserver/pkg/endpoints/handlers/get.go ListResource`,
/// v1.36).
fn timeout(server: &ApiServer, seconds: Option<i64>) -> Option<Duration> {
    match seconds.unwrap_or_default().wrapping_mul(1_000_000_000) {
        0 => Some(SHORTEST_DEFAULT.mul_f64(1.0 + server.environment.clone().fraction())),
        nanoseconds => u64::try_from(nanoseconds).ok().map(Duration::from_nanos),
    }
}

#[cfg(test)]
mod tests;
