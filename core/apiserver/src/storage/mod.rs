//! The etcd part: one revision counter, every version of every key, compare-and-put, reads in the
//! past, and compaction.
//!
//! Values are opaque here. Cloning a store copies a few pointers; clones share their history.

mod key_values;
mod watch_cache;

use std::collections::BTreeMap;
use std::sync::Arc;

use imbl::{OrdMap, Vector};
use serde_json::Value;

pub use key_values::{KeyValue, NO_LEASE};
pub use watch_cache::WatchCache;

/// A revision of the whole store; every change takes the next one. The API server shows a key's
/// *mod revision* as `resourceVersion`.
pub type Revision = u64;

/// The largest revision that a store begins after. etcd counts in an `int64`
/// (`mvccpb.KeyValue.mod_revision`, etcd v3.6); from here no history reaches the end of that.
pub const MAX_FIRST_REVISION: Revision = 1 << 53;

/// One version of one key.
#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    /// The revision that wrote it.
    pub revision: Revision,
    /// The revision that created the key (etcd's `create_revision`).
    pub created: Revision,
    /// The value; `None` is a deletion.
    pub object: Option<Arc<Value>>,
}

/// A key and the value that it had at some revision.
pub type Entry = (Arc<str>, Arc<Value>);

/// One change of the store, in the order of revisions.
#[derive(Clone, Debug)]
pub struct Change {
    /// The revision that this change made.
    pub revision: Revision,
    /// The key that changed.
    pub key: Arc<str>,
    /// The value before; `None` if the key did not exist.
    pub before: Option<Arc<Value>>,
    /// The value after; `None` if the key was deleted.
    pub after: Option<Arc<Value>>,
}

/// A compare that failed: the key's mod revision was another (0: the key does not exist).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompareFailed {
    /// The mod revision found.
    pub actual: Revision,
}

/// A revision that the store no longer has, or does not have yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevisionError {
    /// Compacted away; the lowest revision that can still be read is given.
    Compacted(Revision),
    /// In the future; the current revision is given.
    Future(Revision),
}

/// A revisioned key-value store.
#[derive(Clone, Debug)]
pub struct Store {
    revision: Revision,
    compacted: Revision,
    keys: OrdMap<Arc<str>, Vector<Version>>,
    /// Every change, one per revision, oldest first. Compaction leaves it alone: it does not take
    /// away events that a watch has got already, or that a watch cache holds. It can be
    /// [forgotten](Self::forget).
    log: Vector<Change>,
    /// `true` if some revisions have no change.
    passed_over: bool,
    /// Up to which revision changes may be missing in the log.
    forgotten: Revision,
}

impl Default for Store {
    fn default() -> Self {
        Self::starting_after(0)
    }
}

impl Store {
    /// An empty store whose first write gets the revision after this one, or after
    /// [`MAX_FIRST_REVISION`] if that is less.
    pub fn starting_after(revision: Revision) -> Self {
        Self {
            revision: revision.min(MAX_FIRST_REVISION),
            compacted: 0,
            keys: OrdMap::new(),
            log: Vector::new(),
            passed_over: false,
            forgotten: 0,
        }
    }

    /// The revision of the latest change.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Up to which revision history has been compacted; 0 if never.
    pub fn compacted(&self) -> Revision {
        self.compacted
    }

    /// The current value of a key and its mod revision.
    pub fn get(&self, key: &str) -> Option<(Revision, &Arc<Value>)> {
        let version = self.keys.get(key)?.last()?;
        Some((version.revision, version.object.as_ref()?))
    }

    /// The revision that created a key; `None` if it does not exist.
    pub fn created(&self, key: &str) -> Option<Revision> {
        let version = self.keys.get(key)?.last()?;
        version.object.as_ref().map(|_| version.created)
    }

    /// Every version of a key that is still there, oldest first, deletions included.
    pub fn history(&self, key: &str) -> impl DoubleEndedIterator<Item = &Version> {
        self.keys
            .get(key)
            .into_iter()
            .flat_map(|versions| versions.iter())
    }

    /// The current values whose keys begin with `prefix`, in key order.
    pub fn range<'a>(
        &'a self,
        prefix: &'a str,
    ) -> impl Iterator<Item = (&'a Arc<str>, Revision, &'a Arc<Value>)> {
        self.keys
            .range(Arc::<str>::from(prefix)..)
            .take_while(move |(key, _)| key.starts_with(prefix))
            .filter_map(|(key, versions)| {
                let version = versions.last()?;
                Some((key, version.revision, version.object.as_ref()?))
            })
    }

    /// The values under keys that begin with `prefix` as they were at a revision, in key order, also
    /// at a compacted revision: the current values without the later changes.
    pub fn rewound(&self, prefix: &str, revision: Revision) -> Vec<Entry> {
        let now = self
            .range(prefix)
            .map(|(key, _, object)| (Arc::clone(key), Arc::clone(object)));
        let mut taken_back = BTreeMap::new();
        for change in self.log_after(revision) {
            if change.key.starts_with(prefix) {
                let first = taken_back.entry(Arc::clone(&change.key));
                first.or_insert_with(|| change.before.clone());
            }
        }
        if taken_back.is_empty() {
            return now.collect();
        }
        let mut then: BTreeMap<_, _> = now.collect();
        for (key, before) in taken_back {
            match before {
                Some(object) => then.insert(key, object),
                None => then.remove(&key),
            };
        }
        then.into_iter().collect()
    }

    /// The changes after a revision, oldest first.
    ///
    /// # Errors
    /// If changes after that revision have been compacted away.
    pub fn changes_after(
        &self,
        revision: Revision,
    ) -> Result<impl Iterator<Item = &Change>, RevisionError> {
        if revision.saturating_add(1) < self.compacted {
            return Err(RevisionError::Compacted(self.compacted));
        }
        Ok(self.log_after(revision))
    }

    /// The changes after a revision, compacted or not, oldest first.
    pub fn log_after(&self, revision: Revision) -> impl Iterator<Item = &Change> {
        // There is one change per revision, but for those that were passed over.
        let newer = self.revision.saturating_sub(revision);
        let newer = usize::try_from(newer).unwrap_or(usize::MAX);
        let mut start = self.log.len().saturating_sub(newer);
        if self.passed_over {
            let found = self
                .log
                .binary_search_by_key(&revision, |change| change.revision);
            start = found.map_or_else(|next| next, |at| at + 1);
        }
        self.log.focus().narrow(start..).into_iter()
    }

    /// Writes a key if its mod revision is still `expected` (0: if it does not exist); `object`
    /// is asked for the value that the new revision gets.
    ///
    /// # Errors
    /// If the key has another mod revision. Nothing is written then.
    pub fn put_if(
        &mut self,
        key: &str,
        expected: Revision,
        object: impl FnOnce(Revision) -> Arc<Value>,
    ) -> Result<Arc<Value>, CompareFailed> {
        self.compare(key, expected)?;
        let object = object(self.revision + 1);
        self.record(key, Some(Arc::clone(&object)));
        Ok(object)
    }

    /// Deletes a key if its mod revision is still `expected`. The deletion takes a revision.
    ///
    /// # Errors
    /// If the key has another mod revision or does not exist.
    pub fn delete_if(&mut self, key: &str, expected: Revision) -> Result<Revision, CompareFailed> {
        self.compare(key, expected)?;
        if expected == 0 {
            return Err(CompareFailed { actual: 0 });
        }
        self.record(key, None);
        Ok(self.revision)
    }

    /// Skips revisions, as if other keys had been written: the next write gets the revision after
    /// this, which is [`MAX_FIRST_REVISION`] at most. Nothing happens if it has been reached.
    pub fn pass_over(&mut self, revision: Revision) {
        let revision = revision.min(MAX_FIRST_REVISION);
        if revision > self.revision {
            self.passed_over |= !self.log.is_empty();
            self.revision = revision;
        }
    }

    /// Forgets all versions that were no longer current at `revision`. Changes from `revision` on
    /// can still be watched, but the version that the change at `revision` itself replaced is gone.
    ///
    /// # Errors
    /// If that revision is in the future, or already compacted.
    pub fn compact(&mut self, revision: Revision) -> Result<(), RevisionError> {
        if revision > self.revision {
            return Err(RevisionError::Future(self.revision));
        }
        if revision <= self.compacted {
            return Err(RevisionError::Compacted(self.compacted));
        }
        self.compacted = revision;
        let keys = std::mem::take(&mut self.keys);
        self.keys = keys
            .into_iter()
            .filter_map(|(key, mut versions)| {
                let superseded = versions
                    .iter()
                    .take_while(|version| version.revision <= revision)
                    .count()
                    .saturating_sub(1);
                versions = versions.skip(superseded);
                let first = versions.front()?;
                if first.object.is_none() && first.revision <= revision {
                    versions.pop_front();
                }
                (!versions.is_empty()).then_some((key, versions))
            })
            .collect();
        Ok(())
    }

    /// Up to which revision changes may be missing in the log; 0 if never.
    pub fn forgotten(&self) -> Revision {
        self.forgotten
    }

    /// Drops the changes up to the compacted revision from the log, but for those that somebody
    /// still holds: a store that is compacted and forgets does not grow with its history.
    pub fn forget(&mut self, is_held: impl Fn(&Change) -> bool) {
        self.forgotten = self.compacted;
        let held = |change: &&Change| change.revision > self.forgotten || is_held(change);
        let kept: Vector<Change> = self.log.iter().filter(held).cloned().collect();
        self.passed_over |= kept.len() < self.log.len();
        self.log = kept;
    }

    fn compare(&self, key: &str, expected: Revision) -> Result<(), CompareFailed> {
        let actual = self.get(key).map_or(0, |(revision, _)| revision);
        if actual == expected {
            Ok(())
        } else {
            Err(CompareFailed { actual })
        }
    }

    fn record(&mut self, key: &str, object: Option<Arc<Value>>) {
        self.revision += 1;
        let key: Arc<str> = match self.keys.get_key_value(key) {
            Some((key, _)) => Arc::clone(key),
            None => Arc::from(key),
        };
        let before = self.get(&key).map(|(_, object)| Arc::clone(object));
        self.log.push_back(Change {
            revision: self.revision,
            key: Arc::clone(&key),
            before,
            after: object.clone(),
        });
        let created = self.created(&key).unwrap_or(self.revision);
        self.keys.entry(key).or_default().push_back(Version {
            revision: self.revision,
            created,
            object,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_key_knows_which_revision_created_it() {
        let mut store = Store::default();
        let object = |_| Arc::new(json!({}));
        store.put_if("/a", 0, object).unwrap();
        store.put_if("/a", 1, object).unwrap();
        assert_eq!(store.created("/a"), Some(1));
        store.compact(2).unwrap();
        assert_eq!(store.created("/a"), Some(1));
        store.delete_if("/a", 2).unwrap();
        assert_eq!(store.created("/a"), None);
        store.put_if("/a", 0, object).unwrap();
        assert_eq!(store.created("/a"), Some(4));
    }

    fn put(
        store: &mut Store,
        key: &str,
        expected: Revision,
        value: Value,
    ) -> Result<Revision, CompareFailed> {
        store
            .put_if(key, expected, |_| Arc::new(value))
            .map(|_| store.revision())
    }

    #[test]
    fn only_the_writer_that_names_the_current_revision_writes() {
        let mut store = Store::starting_after(99);
        assert_eq!(put(&mut store, "/a", 0, json!(1)), Ok(100));
        assert_eq!(put(&mut store, "/a", 100, json!(2)), Ok(101));
        assert_eq!(
            put(&mut store, "/a", 100, json!(3)),
            Err(CompareFailed { actual: 101 })
        );
        assert_eq!(store.revision(), 101);
        assert_eq!(
            store.get("/a").map(|(r, v)| (r, v.as_ref().clone())),
            Some((101, json!(2)))
        );
    }

    #[test]
    fn a_store_that_begins_at_the_end_of_all_numbers_still_counts() {
        let mut store = Store::starting_after(u64::MAX);
        let first = put(&mut store, "/a", 0, json!(1)).unwrap();
        assert_eq!(first, MAX_FIRST_REVISION + 1);
        assert_eq!(put(&mut store, "/a", first, json!(2)), Ok(first + 1));
    }

    #[test]
    fn creating_twice_fails_and_deleting_takes_a_revision() {
        let mut store = Store::default();
        assert_eq!(put(&mut store, "/a", 0, json!(1)), Ok(1));
        assert_eq!(
            put(&mut store, "/a", 0, json!(1)),
            Err(CompareFailed { actual: 1 })
        );
        assert_eq!(store.delete_if("/a", 1), Ok(2));
        assert_eq!(store.get("/a"), None);
        assert_eq!(store.delete_if("/a", 0), Err(CompareFailed { actual: 0 }));
        assert_eq!(put(&mut store, "/a", 0, json!(2)), Ok(3));
        assert_eq!(store.history("/a").count(), 3);
    }

    #[test]
    fn a_clone_is_a_branch_that_does_not_touch_the_other() {
        let mut store = Store::default();
        put(&mut store, "/a", 0, json!(1)).unwrap();
        let mut branch = store.clone();
        put(&mut branch, "/a", 1, json!("branch")).unwrap();
        assert_eq!(store.revision(), 1);
        assert_eq!(
            store.get("/a").map(|(_, v)| v.as_ref().clone()),
            Some(json!(1))
        );
    }

    #[test]
    fn changes_are_found_though_revisions_were_passed_over() {
        let mut store = Store::default();
        put(&mut store, "/a", 0, json!(1)).unwrap();
        store.pass_over(9);
        assert_eq!(put(&mut store, "/a", 1, json!(2)), Ok(10));
        store.pass_over(5);
        assert_eq!(put(&mut store, "/b", 0, json!(1)), Ok(11));
        let after = |revision| {
            let changes = store.changes_after(revision).unwrap();
            changes.map(|change| change.revision).collect::<Vec<_>>()
        };
        assert_eq!(after(0), [1, 10, 11]);
        assert_eq!(after(1), [10, 11]);
        assert_eq!(after(5), [10, 11]);
        assert_eq!(after(10), [11]);
        assert!(after(11).is_empty());
    }

    #[test]
    fn a_range_is_one_collection_in_key_order() {
        let mut store = Store::default();
        for key in ["/x/b", "/x/a", "/xy/c", "/y/d"] {
            put(&mut store, key, 0, json!(key)).unwrap();
        }
        let keys: Vec<&str> = store.range("/x/").map(|(key, _, _)| key.as_ref()).collect();
        assert_eq!(keys, ["/x/a", "/x/b"]);
    }

    #[test]
    fn compaction_keeps_what_is_current_and_forgets_the_rest() {
        let mut store = Store::default();
        put(&mut store, "/a", 0, json!(1)).unwrap();
        put(&mut store, "/b", 0, json!(1)).unwrap();
        put(&mut store, "/a", 1, json!(2)).unwrap();
        store.delete_if("/b", 2).unwrap();
        assert_eq!(store.compact(9), Err(RevisionError::Future(4)));
        store.compact(4).unwrap();
        assert_eq!(store.compact(4), Err(RevisionError::Compacted(4)));
        assert_eq!(store.history("/a").count(), 1);
        assert_eq!(store.history("/b").count(), 0);
        assert_eq!(store.get("/a").map(|(r, _)| r), Some(3));
        assert!(store.changes_after(2).is_err());
        assert_eq!(store.changes_after(3).unwrap().count(), 1);
    }

    #[test]
    fn what_is_compacted_and_held_by_nobody_is_forgotten() {
        let mut store = Store::default();
        put(&mut store, "/held", 0, json!(1)).unwrap();
        for revision in [0, 2, 3, 4] {
            put(&mut store, "/a", revision, json!(revision)).unwrap();
        }
        store.forget(|_| false);
        assert_eq!(store.log_after(0).count(), 5, "nothing was compacted");
        store.compact(4).unwrap();
        store.forget(|change| &*change.key == "/held");
        let left = |revision| {
            let log = store.log_after(revision).map(|change| change.revision);
            log.collect::<Vec<_>>()
        };
        assert_eq!(left(0), [1, 5]);
        assert_eq!(left(1), [5]);
        assert_eq!(left(3), [5]);
        assert_eq!(left(5), [0; 0]);
        assert_eq!(store.forgotten(), 4);
        assert_eq!(put(&mut store, "/a", 5, json!(9)), Ok(6));
        assert_eq!(store.log_after(4).count(), 2);
    }

    #[test]
    fn the_past_can_be_read_also_after_it_was_compacted() {
        let mut store = Store::starting_after(10);
        put(&mut store, "/x/a", 0, json!(1)).unwrap();
        put(&mut store, "/x/b", 0, json!(1)).unwrap();
        put(&mut store, "/x/a", 11, json!(2)).unwrap();
        store.delete_if("/x/b", 12).unwrap();
        store.compact(13).unwrap();
        let at = |revision| {
            let found = store.rewound("/x/", revision).into_iter();
            found
                .map(|(key, value)| format!("{key}={value}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(at(10), [""; 0]);
        assert_eq!(at(11), ["/x/a=1"]);
        assert_eq!(at(13), ["/x/a=2", "/x/b=1"]);
        assert_eq!(at(14), ["/x/a=2"]);
    }
}
