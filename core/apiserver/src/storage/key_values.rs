//! The key-value pairs of etcd, with etcd's counters (`go.etcd.io/etcd/api/v3/mvccpb/kv.proto`
//! `KeyValue`, v3.6).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{Change, Revision, Store};

/// A key and one of its values.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyValue {
    /// The key.
    pub key: Arc<str>,
    /// The revision that created the key; 0 of a deletion, which etcd keeps without one.
    pub create_revision: Revision,
    /// The revision that wrote this value: the `resourceVersion` of the object.
    pub mod_revision: Revision,
    /// The number of values that the key had since it was created, with this one; 0 of a deletion.
    pub version: u64,
    /// The value; `None` is a deletion: a tombstone.
    pub object: Option<Arc<Value>>,
    /// `true` if compaction has taken it.
    pub compacted: bool,
}

/// The lease of every key of an API server but those of Events and of master leases: none.
pub const NO_LEASE: i64 = 0;

impl Store {
    /// Every value that the keys with a prefix have had, oldest first, also those that compaction
    /// has taken.
    pub fn key_values(&self, prefix: &str) -> Vec<KeyValue> {
        let mut living: BTreeMap<&str, (Revision, u64)> = BTreeMap::new();
        let mut found = Vec::new();
        for change in self.log_after(0) {
            if !change.key.starts_with(prefix) {
                continue;
            }
            let (create_revision, version) = match (&change.before, &change.after) {
                (_, None) => {
                    living.remove(&*change.key);
                    (0, 0)
                }
                (before, Some(_)) => {
                    let known = living.entry(&change.key).or_insert((change.revision, 0));
                    if before.is_none() {
                        *known = (change.revision, 0);
                    }
                    known.1 += 1;
                    *known
                }
            };
            found.push(KeyValue {
                key: Arc::clone(&change.key),
                create_revision,
                mod_revision: change.revision,
                version,
                object: change.after.clone(),
                compacted: self.is_compacted(change),
            });
        }
        found
    }

    /// The value of a key at a revision, or now; `None` if the key does not exist then.
    pub fn key_value_at(&self, key: &str, revision: Revision) -> Option<KeyValue> {
        let values = self.key_values(key).into_iter().rev();
        let mut values = values.filter(|value| *value.key == *key);
        let last = values.find(|value| value.mod_revision <= revision);
        last.filter(|value| value.object.is_some())
    }

    fn is_compacted(&self, change: &Change) -> bool {
        let mut kept = self.history(&change.key);
        !kept.any(|version| version.revision == change.revision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn put(store: &mut Store, key: &str, expected: Revision) {
        let object = |_| Arc::new(json!({}));
        store.put_if(key, expected, object).unwrap();
    }

    #[test]
    fn a_key_counts_its_versions_and_begins_again_after_a_deletion() {
        let mut store = Store::starting_after(99);
        put(&mut store, "/a/x", 0);
        put(&mut store, "/a/y", 0);
        put(&mut store, "/a/x", 100);
        store.delete_if("/a/x", 102).unwrap();
        put(&mut store, "/a/x", 0);
        put(&mut store, "/b", 0);
        let counted: Vec<_> = store
            .key_values("/a/")
            .iter()
            .map(|value| (value.create_revision, value.mod_revision, value.version))
            .collect();
        assert_eq!(
            counted,
            [
                (100, 100, 1),
                (101, 101, 1),
                (100, 102, 2),
                (0, 103, 0),
                (104, 104, 1)
            ]
        );
        let at = |revision| {
            store
                .key_value_at("/a/x", revision)
                .map(|value| value.version)
        };
        assert_eq!(
            [at(99), at(102), at(103), at(104)],
            [None, Some(2), None, Some(1)]
        );
    }

    #[test]
    fn what_compaction_took_is_marked_and_still_counts() {
        let mut store = Store::default();
        put(&mut store, "/x", 0);
        put(&mut store, "/x", 1);
        store.delete_if("/x", 2).unwrap();
        put(&mut store, "/x", 0);
        put(&mut store, "/x", 4);
        store.compact(3).unwrap();
        let marks = |store: &Store| -> Vec<bool> {
            let values = store.key_values("/x");
            values.iter().map(|value| value.compacted).collect()
        };
        assert_eq!(marks(&store), [true, true, true, false, false]);
        store.compact(5).unwrap();
        assert_eq!(marks(&store), [true, true, true, true, false]);
        assert_eq!(store.key_values("/x")[4].version, 2);
    }
}
