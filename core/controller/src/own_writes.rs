//! A controller's memory of its own writes, so that it does not act on a cache that has not seen them. All
//! of it is lost when the controller restarts.

use std::time::Duration;

use imbl::OrdMap;

use crate::cache::Cache;
use crate::version::compare_versions;

/// The time that expectations hold (`ExpectationsTimeout`).
pub const EXPECTATIONS_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// The numbers of creations and deletions that a controller waits for, by the key of the owner
/// (`k8s.io/kubernetes/pkg/controller/controller_utils.go`, `ControllerExpectations`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expectations {
    by_owner: OrdMap<String, Expected>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Expected {
    creations: i64,
    deletions: i64,
    since: Duration,
}

impl Expectations {
    /// Waits for this number of creations and deletions for an owner, and for nothing else
    /// (`SetExpectations`).
    pub fn set(&mut self, owner: &str, creations: i64, deletions: i64, now: Duration) {
        let expected = Expected {
            creations,
            deletions,
            since: now,
        };
        self.by_owner.insert(owner.to_owned(), expected);
    }

    /// A creation was seen, or failed (`CreationObserved`).
    pub fn creation_observed(&mut self, owner: &str) {
        if let Some(expected) = self.by_owner.get_mut(owner) {
            expected.creations -= 1;
        }
    }

    /// A deletion was seen, or failed (`DeletionObserved`).
    pub fn deletion_observed(&mut self, owner: &str) {
        if let Some(expected) = self.by_owner.get_mut(owner) {
            expected.deletions -= 1;
        }
    }

    /// Returns whether a controller may act for an owner (`SatisfiedExpectations`): everything was seen,
    /// nothing was expected, or five minutes have passed.
    pub fn satisfied(&self, owner: &str, now: Duration) -> bool {
        self.by_owner.get(owner).is_none_or(|expected| {
            (expected.creations <= 0 && expected.deletions <= 0)
                || now.saturating_sub(expected.since) > EXPECTATIONS_TIMEOUT
        })
    }

    /// The owners for which it waits: key, creations, deletions, and since when.
    pub fn pending(&self) -> impl Iterator<Item = (&str, i64, i64, Duration)> {
        self.by_owner
            .iter()
            .filter(|(_, expected)| expected.creations > 0 || expected.deletions > 0)
            .map(|(owner, expected)| {
                let Expected {
                    creations,
                    deletions,
                    since,
                } = *expected;
                (owner.as_str(), creations, deletions, since)
            })
    }
}

/// The highest version that a controller wrote, by owner and kind
/// (`k8s.io/kubernetes/pkg/controller/util/consistency`, v1.36; `StaleControllerConsistency…`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsistencyStore {
    /// By the owner's key: its uid, and the version by the path of the collection.
    by_owner: OrdMap<String, (String, OrdMap<String, String>)>,
}

impl ConsistencyStore {
    /// Notes a write for an owner (`WroteAt`). An owner with another uid is another object: writes for the
    /// old one do not count any more.
    pub fn wrote_at(&mut self, owner: &str, uid: &str, collection: &str, version: &str) {
        let written = self.by_owner.entry(owner.to_owned()).or_default();
        if written.0 != uid {
            *written = (uid.to_owned(), OrdMap::new());
        }
        raise(&mut written.1, collection, version);
    }

    /// Returns whether the caches have every write that was made for an owner (`EnsureReady`).
    pub fn is_ready<'a>(
        &self,
        owner: &str,
        mut caches: impl Iterator<Item = &'a Cache> + Clone,
    ) -> bool {
        let written = self.by_owner.get(owner);
        written.is_none_or(|(_, versions)| {
            caches.all(|cache| {
                let version = versions.get(cache.prefix());
                version.is_none_or(|version| cache.has_reached(version))
            })
        })
    }

    /// Forgets an owner that was deleted (`Clear`).
    pub fn clear(&mut self, owner: &str) {
        self.by_owner.remove(owner);
    }

    /// The noted versions: owner, collection and version.
    pub fn versions(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.by_owner.iter().flat_map(|(owner, (_, versions))| {
            versions.iter().map(move |(collection, version)| {
                (owner.as_str(), collection.as_str(), version.as_str())
            })
        })
    }
}

/// The last write of each object, by the client that wrote it (controller-runtime v0.25,
/// `EnableReadYourWritesConsistency`). Writes whose answer has no version are not covered: a
/// deletion, or an answer that was lost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnWrites {
    /// By the path of the collection and the key.
    versions: OrdMap<(String, String), String>,
    /// The highest version by collection.
    highest: OrdMap<String, String>,
}

impl OwnWrites {
    /// Notes a write.
    pub fn wrote(&mut self, collection: &str, key: &str, version: &str) {
        self.versions
            .insert((collection.to_owned(), key.to_owned()), version.to_owned());
        raise(&mut self.highest, collection, version);
    }

    /// Returns whether a cached Get of a key may answer: the cache has the client's last write of the key.
    pub fn may_get(&self, cache: &Cache, key: &str) -> bool {
        let version = self
            .versions
            .get(&(cache.prefix().to_owned(), key.to_owned()));
        version.is_none_or(|version| cache.has_reached(version))
    }

    /// Returns whether a cached List may answer: the cache has the client's highest write of the kind.
    pub fn may_list(&self, cache: &Cache) -> bool {
        let version = self.highest.get(cache.prefix());
        version.is_none_or(|version| cache.has_reached(version))
    }

    /// The noted versions: collection, key and version.
    pub fn versions(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.versions.iter().map(|((collection, key), version)| {
            (collection.as_str(), key.as_str(), version.as_str())
        })
    }
}

/// Stores a version unless a higher one is stored.
fn raise(versions: &mut OrdMap<String, String>, collection: &str, version: &str) {
    let known = versions.get(collection);
    if known.is_none_or(|known| compare_versions(known, version).is_none_or(|order| order.is_lt()))
    {
        versions.insert(collection.to_owned(), version.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_are_satisfied_when_all_was_seen_or_after_five_minutes() {
        let mut expectations = Expectations::default();
        let start = Duration::from_secs(10);
        assert!(expectations.satisfied("a", start), "nothing is expected");
        expectations.set("a", 2, 0, start);
        expectations.creation_observed("a");
        assert!(!expectations.satisfied("a", start));
        assert!(!expectations.satisfied("a", start + EXPECTATIONS_TIMEOUT));
        let late = start + EXPECTATIONS_TIMEOUT + Duration::from_nanos(1);
        assert!(expectations.satisfied("a", late), "kubernetes#129795");
        expectations.creation_observed("a");
        assert!(expectations.satisfied("a", start));
        expectations.set("a", 0, 1, start);
        assert!(!expectations.satisfied("a", start));
        assert!(expectations.satisfied("b", start), "by owner");
        expectations.deletion_observed("a");
        assert!(expectations.satisfied("a", start));
    }

    #[test]
    fn only_a_higher_version_is_noted_and_another_uid_starts_again() {
        let mut store = ConsistencyStore::default();
        let versions = |store: &ConsistencyStore| -> Vec<String> {
            store
                .versions()
                .map(|(_, _, version)| version.to_owned())
                .collect()
        };
        store.wrote_at("a", "1", "configmaps", "99");
        store.wrote_at("a", "1", "configmaps", "100");
        store.wrote_at("a", "1", "configmaps", "98");
        assert_eq!(versions(&store), ["100"]);
        store.wrote_at("a", "2", "configmaps", "97");
        assert_eq!(versions(&store), ["97"]);
        store.clear("a");
        assert_eq!(versions(&store), [""; 0]);
    }
}
