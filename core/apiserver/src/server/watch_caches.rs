//! The watch caches of all resources, and the passage of time for watches.

use std::time::Duration;

use imbl::{OrdMap, Vector};

use super::{Resource, Resources};
use crate::storage::{Change, Revision, Store, WatchCache};

/// The caches of one run of the server.
#[derive(Clone, Debug)]
pub(super) struct WatchCaches {
    enabled: bool,
    run: u64,
    /// By where etcd keeps the objects: versions of a resource share one.
    caches: OrdMap<String, WatchCache>,
    followed: Revision,
    /// The last revision of each moment at which there was a change.
    moments: Vector<(Duration, Revision)>,
    changes: u64,
}

impl WatchCaches {
    /// The caches of a server that has just started.
    pub(super) fn started(store: &Store, resources: &Resources, now: Duration) -> Self {
        let mut caches = Self {
            enabled: true,
            run: 0,
            caches: OrdMap::new(),
            followed: store.revision(),
            moments: Vector::unit((now, store.revision())),
            changes: 0,
        };
        caches.fill(store, resources);
        caches
    }

    /// Returns the number of times that a request has changed the caches.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Starts the server again, with or without watch caches.
    pub(super) fn restart(&mut self, enabled: bool, store: &Store, resources: &Resources) {
        self.enabled = enabled;
        self.run += 1;
        self.caches.clear();
        self.fill(store, resources);
    }

    /// Returns whether the server runs with watch caches.
    pub(super) fn enabled(&self) -> bool {
        self.enabled
    }

    /// Returns the number of restarts of the server: a watch does not outlive a run.
    pub(super) fn run(&self) -> u64 {
        self.run
    }

    /// The cache of a resource, if it has one.
    pub(super) fn cache(&self, resource: &Resource) -> Option<&WatchCache> {
        self.caches.get(&resource.storage_prefix)
    }

    /// Lets the cache of a resource catch up with the store, as a read that must see the newest
    /// state does (`ConditionalProgressRequester`).
    pub(super) fn catch_up(&mut self, resource: &Resource, revision: Revision) {
        let prefix = &resource.storage_prefix;
        let is_behind = |cache: &WatchCache| cache.revision() < revision;
        if self.caches.get(prefix).is_some_and(is_behind)
            && let Some(cache) = self.caches.get_mut(prefix)
        {
            cache.progress(revision);
            self.changes += 1;
        }
    }

    /// Takes in the changes that have been written.
    pub(super) fn follow(&mut self, store: &Store, now: Duration) {
        if store.revision() == self.followed {
            return;
        }
        self.changes += 1;
        for change in store.log_after(self.followed) {
            if let Some(prefix) = self.prefix_of(&change.key)
                && let Some(cache) = self.caches.get_mut(prefix)
            {
                cache.record(change.revision, now);
            }
        }
        self.followed = store.revision();
        if self.moments.back().is_some_and(|(at, _)| *at == now) {
            self.moments.pop_back();
        }
        self.moments.push_back((now, self.followed));
    }

    /// Returns whether the cache of the changed resource holds a change.
    pub(super) fn holds(&self, change: &Change) -> bool {
        let prefix = self.prefix_of(&change.key);
        let cache = prefix.and_then(|prefix| self.caches.get(prefix));
        cache.is_some_and(|cache| change.revision > cache.watchable_from())
    }

    /// The start of a key by which a resource has its cache. A key has fewer starts than there are resources.
    fn prefix_of<'a>(&self, key: &'a str) -> Option<&'a str> {
        let starts = key.match_indices('/').filter_map(|(end, _)| key.get(..end));
        let mut cached = starts.filter(|start| self.caches.contains_key(*start));
        cached.next()
    }

    /// Forgets the moments of changes that the store has forgotten.
    pub(super) fn forget(&mut self, forgotten: Revision) {
        while self
            .moments
            .get(1)
            .is_some_and(|(_, revision)| *revision <= forgotten)
        {
            self.moments.pop_front();
        }
    }

    /// The revision of the store at a moment.
    pub(super) fn revision_at(&self, moment: Duration) -> Revision {
        let later = self.moments.binary_search_by(|(at, _)| {
            if *at <= moment {
                std::cmp::Ordering::Less
            } else {
                std::cmp::Ordering::Greater
            }
        });
        let later = later.unwrap_or_else(|index| index);
        let last = later
            .checked_sub(1)
            .and_then(|index| self.moments.get(index));
        last.map_or(0, |(_, revision)| *revision)
    }

    /// Gives each resource that has no cache yet one.
    pub(super) fn fill(&mut self, store: &Store, resources: &Resources) {
        if !self.enabled {
            return;
        }
        for resource in resources.iter().filter(|resource| is_cached(resource)) {
            let prefix = &resource.storage_prefix;
            if !self.caches.contains_key(prefix) {
                self.changes += 1;
                let cache = WatchCache::listed_at(store.revision());
                self.caches.insert(prefix.clone(), cache);
            }
        }
    }
}

/// Events change too often to be worth a cache (`DefaultWatchCacheSizes`).
fn is_cached(resource: &Resource) -> bool {
    resource.plural != "events"
        || !matches!(resource.group_version.group.as_str(), "" | "events.k8s.io")
}
