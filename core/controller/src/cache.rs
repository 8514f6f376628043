//! The cache of one kind: the server's log of changes and a cursor in it
//! (`k8s.io/client-go/tools/cache`: `reflector.go`, `the_real_fifo.go`, `controller.go
//! processDeltas`).
//!
//! The caller moves the cursor. Each event changes the cache first, and then becomes one
//! notification: since client-go 1.33, events of one key are not merged on their way.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::{ApiServer, EventType, Resource, WatchEvent};
use optimist_apiserver::storage::Change;
use optimist_client::{AnsweredRequest, ListMode, ObjectStore, Reflector, ReflectorProgress};

use crate::client::{collection, key};
use crate::version::compare_versions;

/// A notification to the handlers of a cache (`cache.ResourceEventHandler`).
#[derive(Clone, Debug, PartialEq)]
pub enum Notification {
    /// `OnAdd`: the cache did not have the object.
    Added {
        /// The object.
        object: Arc<Value>,
        /// `true` if the object is part of the first list (`isInInitialList`).
        initial: bool,
    },
    /// `OnUpdate`: the cache had an object of this key. After a relist the two can have different
    /// uids: the object was deleted and created again in between. In a resync the two are equal.
    Updated {
        /// The object that the cache had.
        old: Arc<Value>,
        /// The object that the cache has now.
        new: Arc<Value>,
    },
    /// `OnDelete`.
    Deleted {
        /// The last known state of the object.
        object: Arc<Value>,
        /// `true` if the deletion was missed and a relist found it (`DeletedFinalStateUnknown`, a
        /// tombstone): then the object can be older than its last state.
        final_state_unknown: bool,
    },
}

impl fmt::Display for Notification {
    /// The event with the object: `MODIFIED web 102`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let event = match self {
            Self::Added { .. } => EventType::Added,
            Self::Updated { .. } => EventType::Modified,
            Self::Deleted { .. } => EventType::Deleted,
        };
        let object = self.object();
        write!(
            f,
            "{} {} {}",
            event.as_str(),
            object.name(),
            object.resource_version()
        )
    }
}

impl Notification {
    /// The object that it is about: of an update, the new one.
    pub fn object(&self) -> &Arc<Value> {
        match self {
            Self::Added { object, .. } | Self::Deleted { object, .. } => object,
            Self::Updated { new, .. } => new,
        }
    }

    /// The key of the object (`MetaNamespaceKeyFunc`).
    pub fn key(&self) -> String {
        ObjectStore::key(self.object())
    }
}

/// The result of a step of a cache.
#[derive(Clone, Debug, PartialEq)]
pub struct CacheStep {
    /// The action of the reflector.
    pub progress: ReflectorProgress,
    /// The notifications to the handlers, in order.
    pub notifications: Vec<Notification>,
}

/// The cache of one kind in one namespace. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Cache {
    resource: Arc<Resource>,
    namespace: Arc<str>,
    /// The prefix of the keys of its objects in etcd.
    prefix: Arc<str>,
    list_mode: ListMode,
    reflector: Arc<Reflector>,
    has_synced: bool,
}

impl Cache {
    /// An empty cache of a kind, in a namespace if the kind has namespaces.
    pub fn new(resource: Arc<Resource>, namespace: &str, list_mode: ListMode) -> Self {
        let reflector = Arc::new(Reflector::new(resource.path(namespace, ""), list_mode));
        Self {
            namespace: namespace.into(),
            prefix: collection(&resource, namespace).into(),
            resource,
            list_mode,
            reflector,
            has_synced: false,
        }
    }

    /// The kind of its objects.
    pub fn resource(&self) -> &Arc<Resource> {
        &self.resource
    }

    /// Its objects.
    pub fn objects(&self) -> &ObjectStore {
        self.reflector.store()
    }

    /// The key of an object: a kind without namespaces has the name alone.
    pub fn key(&self, namespace: &str, name: &str) -> String {
        match self.resource.namespaced {
            true => key(namespace, name),
            false => name.to_owned(),
        }
    }

    /// The object of a key: `namespace/name`, or the name alone for a kind without namespaces.
    pub fn get(&self, key: &str) -> Option<&Arc<Value>> {
        self.objects().get(key)
    }

    /// The version of the last list or event that reached it (`LastStoreSyncResourceVersion`);
    /// empty before the first list.
    pub fn version(&self) -> &str {
        self.reflector.resource_version()
    }

    /// Returns whether the first list has reached it (`HasSynced`).
    pub fn has_synced(&self) -> bool {
        self.has_synced
    }

    /// Returns whether its watch is open and its last list is complete.
    pub fn is_watching(&self) -> bool {
        self.reflector.is_watching()
    }

    /// Returns whether it has everything up to a version. A version that cannot be compared counts as
    /// reached (`pkg/controller/util/consistency` of Kubernetes 1.36 treats it so).
    pub fn has_reached(&self, version: &str) -> bool {
        self.has_synced && compare_versions(self.version(), version).is_none_or(Ordering::is_ge)
    }

    /// The number of [changes](Self::missed) by which it is behind.
    pub fn behind(&self, server: &ApiServer) -> usize {
        self.missed(server).count()
    }

    /// Returns whether it is [behind](Self::behind) at all.
    pub fn is_behind(&self, server: &ApiServer) -> bool {
        self.missed(server).next().is_some()
    }

    /// The changes of its collection that the server has and the cache has not.
    pub fn missed<'a>(&'a self, server: &'a ApiServer) -> impl Iterator<Item = &'a Change> {
        let version = self.version().parse().unwrap_or_default();
        let log = server.store().log_after(version);
        log.filter(|change| change.key.starts_with(self.prefix()))
    }

    /// The prefix of the keys of its objects in etcd.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns whether it begins with a list, which accepts any version.
    pub fn lists_first(&self) -> bool {
        self.list_mode == ListMode::List
    }

    /// The events that its watch brings next, in their order, without bookmarks; of a closed watch, those of the next
    /// one. Empty if the cache gets the whole collection first.
    pub fn upcoming_events(&self, server: &ApiServer) -> Vec<WatchEvent> {
        let mut events = self.reflector.upcoming_events(server);
        events.retain(|event| event.event_type != EventType::Bookmark);
        events
    }

    /// Performs the next step: sends one request, or delivers one event. A bookmark is an event
    /// that tells the handlers nothing.
    pub fn step(&mut self, server: &mut ApiServer) -> CacheStep {
        self.step_most(server, 1)
    }

    /// Sends the next request of a cache that has no open watch: a list, or the watch. A watch that
    /// begins with the existing objects brings them at once.
    pub fn connect(&mut self, server: &mut ApiServer) -> CacheStep {
        let step = self.step(server);
        match self.reflector.is_connected() && !self.is_watching() {
            true => self.step_most(server, usize::MAX),
            false => step,
        }
    }

    /// Lists, if a list is due, and opens the watch. Returns the notifications for the handlers. A
    /// version that is too old for a watch only shows when its first event is delivered.
    pub fn sync(&mut self, server: &mut ApiServer) -> Vec<Notification> {
        let mut notifications = Vec::new();
        // A list can be refused once, and a watch can be refused once; a list has few pages.
        for _ in 0..SYNC_STEPS {
            if self.is_watching() {
                break;
            }
            notifications.extend(self.step_most(server, usize::MAX).notifications);
        }
        notifications
    }

    /// Delivers the next event that changes the cache. Bookmarks before it are read, and a watch
    /// that has ended is opened again. `None` if no event is there or no watch is open.
    pub fn deliver(&mut self, server: &mut ApiServer) -> Option<Notification> {
        let step = self.deliver_step(server)?;
        step.notifications.into_iter().next()
    }

    /// The same, with the step of the reflector: an event was read, the watch was lost, or a request was
    /// sent. `None` if no event is there or no watch is open.
    pub fn deliver_step(&mut self, server: &mut ApiServer) -> Option<CacheStep> {
        if !self.is_watching() {
            return None;
        }
        let mut last = None;
        loop {
            let step = self.step(server);
            if !step.notifications.is_empty() {
                return Some(step);
            }
            match step.progress {
                ReflectorProgress::Received(0) => return last,
                ReflectorProgress::Lost { .. } | ReflectorProgress::Refused { .. } => {
                    return Some(step);
                }
                _ => last = Some(step),
            }
        }
    }

    /// Returns whether there is an answer to [take](Self::take_answered).
    pub(crate) fn has_answered(&self) -> bool {
        self.reflector.has_answered()
    }

    /// The last request of its reflector with its answer, unless it was taken.
    pub fn take_answered(&mut self) -> Option<Box<AnsweredRequest>> {
        // Nothing is copied only to find nothing.
        self.has_answered()
            .then(|| Arc::make_mut(&mut self.reflector).take_answered())?
    }

    /// Drops the watch: events on their way are lost. The next watch starts at the version of the
    /// cache; if the server answers 410, the reflector lists again.
    pub fn drop_watch(&mut self) {
        Arc::make_mut(&mut self.reflector).disconnect();
    }

    /// Tells the handlers of every object again, without a request (`SyncAll` of
    /// `processDeltas`).
    pub fn resync(&self) -> Vec<Notification> {
        let objects = self.objects().iter();
        objects
            .map(|(_, object)| Notification::Updated {
                old: Arc::clone(object),
                new: Arc::clone(object),
            })
            .collect()
    }

    /// Forgets everything, as when the process of the controller restarts. To fill the cache from
    /// an API server that is behind, [`sync`](Self::sync) with an older snapshot of the server:
    /// the first list accepts any version.
    pub fn restart(&mut self) {
        *self = Self::new(Arc::clone(&self.resource), &self.namespace, self.list_mode);
    }

    /// Replaces an object without the server, like a client that changes a cached object in place.
    pub fn change_in_place(&mut self, object: Arc<Value>) {
        Arc::make_mut(&mut self.reflector).store_mut().put(object);
    }

    fn step_most(&mut self, server: &mut ApiServer, most: usize) -> CacheStep {
        let before = self.objects().clone();
        let version = self.version().to_owned();
        let reflector = Arc::make_mut(&mut self.reflector);
        let progress = reflector.step(server, most);
        let deleted = reflector.take_deleted();
        let notifications = match &progress {
            ReflectorProgress::Synced { .. } => self.replaced(&before),
            ReflectorProgress::Received(_) | ReflectorProgress::Closed => {
                let changed = self.changed(&before, deleted);
                match changed.is_empty() && version != self.version() {
                    true => self.unchanged().into_iter().collect(),
                    false => changed,
                }
            }
            _ => Vec::new(),
        };
        CacheStep {
            progress,
            notifications,
        }
    }

    /// Notifies the handlers of a list: of the objects that are not there any more, then of every
    /// object of the list, also the unchanged ones (`reconcileReplacement`).
    fn replaced(&mut self, before: &ObjectStore) -> Vec<Notification> {
        let initial = !self.has_synced;
        self.has_synced = true;
        let now = self.objects();
        let gone = before.iter().filter(|(key, _)| now.get(key).is_none());
        let mut notifications: Vec<_> = gone
            .map(|(_, object)| Notification::Deleted {
                object: Arc::clone(object),
                final_state_unknown: true,
            })
            .collect();
        notifications.extend(now.iter().map(|(key, object)| match before.get(key) {
            Some(old) => Notification::Updated {
                old: Arc::clone(old),
                new: Arc::clone(object),
            },
            None => Notification::Added {
                object: Arc::clone(object),
                initial,
            },
        }));
        notifications
    }

    /// Notifies the handlers of an event whose object the cache has already, because a client
    /// replaced the cached object with the answer to its write. A bookmark has no object.
    fn unchanged(&self) -> Option<Notification> {
        let mut objects = self.objects().iter().map(|(_, object)| object);
        let object = objects.find(|object| object.resource_version() == self.version())?;
        Some(Notification::Updated {
            old: Arc::clone(object),
            new: Arc::clone(object),
        })
    }

    /// Notifies the handlers of at most one event.
    fn changed(&self, before: &ObjectStore, mut deleted: Option<Arc<Value>>) -> Vec<Notification> {
        let differences = before.differences(self.objects());
        differences
            .filter_map(|difference| match difference {
                (None, Some(object)) => Some(Notification::Added {
                    object: Arc::clone(object),
                    initial: false,
                }),
                (Some(old), Some(new)) => Some(Notification::Updated {
                    old: Arc::clone(old),
                    new: Arc::clone(new),
                }),
                (Some(_), None) => deleted.take().map(|object| Notification::Deleted {
                    object,
                    final_state_unknown: false,
                }),
                (None, None) => None,
            })
            .collect()
    }
}

/// More steps than a sync can need, with lists of up to 30,000 objects.
const SYNC_STEPS: usize = 64;
