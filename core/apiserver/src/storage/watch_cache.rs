//! The memory of the API server's watch cache for one resource
//! (`k8s.io/apiserver/pkg/storage/cacher/watch_cache.go`).
//!
//! The cache is never behind the store here, so its objects are those of the store, and its events
//! are changes of the store. It adds only a limit: how far back it reaches, compaction or not.

use std::time::Duration;

use imbl::Vector;

use super::Revision;

/// The least number of events that are kept (`defaultLowerBoundCapacity`).
const LEAST: usize = 100;
/// The greatest number of events that are kept (`defaultUpperBoundCapacity`).
const MOST: usize = 100 * 1024;
/// The time for which events are kept while there is room (`DefaultEventFreshDuration`).
const FRESH: Duration = Duration::from_secs(75);

/// The reach of one resource's watch cache into the past.
#[derive(Clone, Debug)]
pub struct WatchCache {
    listed: Revision,
    revision: Revision,
    events: Vector<(Revision, Duration)>,
    capacity: usize,
    dropped: bool,
    snapshots: Revision,
}

impl WatchCache {
    /// A cache that was filled by listing at a revision.
    pub fn listed_at(revision: Revision) -> Self {
        Self {
            listed: revision,
            revision,
            events: Vector::new(),
            capacity: LEAST,
            dropped: false,
            snapshots: revision,
        }
    }

    /// The version of the cache as a whole: that of its latest event or of a later moment at which
    /// it is known that there was none.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The version of the latest event, or of the list if there was none.
    pub fn latest_event(&self) -> Revision {
        let latest = self.events.back();
        latest.map_or(self.listed, |(revision, _)| *revision)
    }

    /// The oldest version from which it can be watched; everything after it is there.
    pub fn watchable_from(&self) -> Revision {
        match self.events.front() {
            Some((oldest, _)) if self.dropped => oldest.saturating_sub(1),
            _ => self.listed,
        }
    }

    /// The oldest version at which it can be listed.
    pub fn listable_from(&self) -> Revision {
        self.snapshots
    }

    /// Takes in an event. A full cache makes room: it grows while its oldest event is still fresh
    /// and shrinks when it is mostly stale.
    pub fn record(&mut self, revision: Revision, at: Duration) {
        self.resize(at);
        if self.events.len() >= self.capacity {
            self.events.pop_front();
            self.dropped = true;
        }
        self.events.push_back((revision, at));
        self.revision = revision;
        // A full cache gives up the older snapshots, even when it drops no event yet.
        if let Some((oldest, _)) = self.events.front()
            && self.events.len() >= self.capacity
        {
            self.snapshots = self.snapshots.max(*oldest);
        }
    }

    /// Notes that there was no event up to a revision (a progress notification).
    pub fn progress(&mut self, revision: Revision) {
        self.revision = self.revision.max(revision);
    }

    fn resize(&mut self, now: Duration) {
        if self.events.len() < self.capacity {
            return;
        }
        let age = |index: usize| {
            let event = self.events.get(index);
            event.map_or(Duration::ZERO, |(_, at)| now.saturating_sub(*at))
        };
        if age(0) < FRESH {
            self.capacity = (self.capacity * 2).min(MOST);
        } else if age(self.events.len() - self.capacity / 4) > FRESH {
            self.capacity = (self.capacity / 2).max(LEAST);
            let surplus = self.events.len().saturating_sub(self.capacity);
            self.events = self.events.skip(surplus);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(count: u64, gap: Duration) -> WatchCache {
        let mut cache = WatchCache::listed_at(1000);
        for i in 1..=count {
            let times = u32::try_from(i).unwrap();
            cache.record(1000 + i, gap * times);
        }
        cache
    }

    #[test]
    fn a_cache_reaches_back_to_its_list_until_it_drops_an_event() {
        assert_eq!(filled(99, Duration::ZERO).watchable_from(), 1000);
        assert_eq!(filled(5000, Duration::ZERO).watchable_from(), 1000);
        let slow = Duration::from_secs(1);
        assert_eq!(filled(100, slow).watchable_from(), 1000);
        assert_eq!(filled(101, slow).watchable_from(), 1001);
    }

    #[test]
    fn snapshots_older_than_the_oldest_event_go_whenever_the_cache_is_full() {
        assert_eq!(filled(99, Duration::ZERO).listable_from(), 1000);
        // Full at 100 events, though it grows at the next one and drops nothing.
        assert_eq!(filled(100, Duration::ZERO).listable_from(), 1001);
        assert_eq!(filled(150, Duration::ZERO).listable_from(), 1001);
        assert_eq!(filled(150, Duration::ZERO).watchable_from(), 1000);
    }

    #[test]
    fn a_cache_that_grew_shrinks_when_events_get_rare() {
        let mut cache = filled(150, Duration::ZERO);
        for i in 0..60 {
            cache.record(1151 + i, Duration::from_secs(1000 + 10 * i));
        }
        assert_eq!(cache.watchable_from(), 1210 - 100);
    }
}
