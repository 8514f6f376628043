//! A client's copy of a collection: objects by key, with indices (`k8s.io/client-go/tools/cache`:
//! `Indexer`, `ThreadSafeStore`).

use std::sync::Arc;

use imbl::ordmap::DiffItem;
use imbl::{OrdMap, OrdSet};
use serde_json::Value;

use optimist_apiserver::object::Metadata;

/// The values by which an index finds an object.
pub type IndexFn = fn(&Value) -> Vec<String>;

/// The index of objects by their namespace (`cache.NamespaceIndex`).
pub const NAMESPACE_INDEX: &str = "namespace";

/// Objects by `namespace/name`. Cloning is cheap.
#[derive(Clone, Debug, Default)]
pub struct IndexedStore {
    objects: OrdMap<String, Arc<Value>>,
    indices: Vec<Index>,
}

#[derive(Clone, Debug)]
struct Index {
    name: &'static str,
    values: IndexFn,
    keys: OrdMap<String, OrdSet<String>>,
}

impl IndexedStore {
    /// An empty store with an index by namespace.
    pub fn new() -> Self {
        let mut store = Self::default();
        store.add_index(NAMESPACE_INDEX, |object| {
            vec![object.namespace().to_owned()]
        });
        store
    }

    /// Adds an index, also for the objects that are already in the store.
    pub fn add_index(&mut self, name: &'static str, values: IndexFn) {
        let mut index = Index {
            name,
            values,
            keys: OrdMap::new(),
        };
        for (key, object) in &self.objects {
            index.insert(key, object);
        }
        self.indices.push(index);
    }

    /// The key of an object (`MetaNamespaceKeyFunc`).
    pub fn key(object: &Value) -> String {
        match object.namespace() {
            "" => object.name().to_owned(),
            namespace => format!("{namespace}/{}", object.name()),
        }
    }

    /// The object of a key.
    pub fn get(&self, key: &str) -> Option<&Arc<Value>> {
        self.objects.get(key)
    }

    /// All objects, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Arc<Value>)> {
        self.objects
            .iter()
            .map(|(key, object)| (key.as_str(), object))
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether the store is empty.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The objects that an index finds for a value, by key; empty if the index does not exist.
    pub fn by_index(&self, name: &str, value: &str) -> impl Iterator<Item = &Arc<Value>> {
        let index = self.indices.iter().find(|index| index.name == name);
        let keys = index.and_then(|index| index.keys.get(value));
        keys.into_iter()
            .flat_map(OrdSet::iter)
            .filter_map(|key| self.objects.get(key))
    }

    /// The objects that differ in another store, by key: the object here and the object there.
    /// Parts that both stores share are passed over.
    pub fn differences<'a>(
        &'a self,
        other: &'a Self,
    ) -> impl Iterator<Item = (Option<&'a Arc<Value>>, Option<&'a Arc<Value>>)> {
        self.objects.diff(&other.objects).map(|item| match item {
            DiffItem::Add(_, there) => (None, Some(there)),
            DiffItem::Update { old, new } => (Some(old.1), Some(new.1)),
            DiffItem::Remove(_, here) => (Some(here), None),
        })
    }

    /// Adds an object or replaces the object with the same key.
    pub fn put(&mut self, object: Arc<Value>) {
        let key = Self::key(&object);
        let before = self.objects.insert(key.clone(), Arc::clone(&object));
        for index in &mut self.indices {
            if let Some(before) = &before {
                index.remove(&key, before);
            }
            index.insert(&key, &object);
        }
    }

    /// Removes the object with this object's key.
    pub fn remove(&mut self, object: &Value) {
        let key = Self::key(object);
        if let Some(before) = self.objects.remove(&key) {
            for index in &mut self.indices {
                index.remove(&key, &before);
            }
        }
    }

    /// Replaces all objects of the store by these objects.
    pub fn replace(&mut self, objects: impl IntoIterator<Item = Arc<Value>>) {
        self.objects.clear();
        for index in &mut self.indices {
            index.keys.clear();
        }
        for object in objects {
            self.put(object);
        }
    }
}

impl Index {
    fn insert(&mut self, key: &str, object: &Value) {
        for value in (self.values)(object) {
            self.keys.entry(value).or_default().insert(key.to_owned());
        }
    }

    fn remove(&mut self, key: &str, object: &Value) {
        for value in (self.values)(object) {
            if let Some(keys) = self.keys.get_mut(&value) {
                keys.remove(key);
                if keys.is_empty() {
                    self.keys.remove(&value);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(namespace: &str, name: &str, app: &str) -> Arc<Value> {
        Arc::new(json!({"metadata": {
            "namespace": namespace, "name": name, "labels": {"app": app}}}))
    }

    fn names<'a>(objects: impl Iterator<Item = &'a Arc<Value>>) -> Vec<&'a str> {
        objects.map(|object| object.name()).collect()
    }

    #[test]
    fn an_index_follows_what_is_put_removed_and_replaced() {
        let mut store = IndexedStore::new();
        store.put(object("x", "a", "web"));
        store.add_index("app", |object| {
            let app = object.pointer("/metadata/labels/app");
            app.and_then(Value::as_str)
                .map(str::to_owned)
                .into_iter()
                .collect()
        });
        store.put(object("y", "b", "web"));
        assert_eq!(names(store.by_index("app", "web")), ["a", "b"]);
        store.put(object("x", "a", "api"));
        assert_eq!(names(store.by_index("app", "web")), ["b"]);
        assert_eq!(names(store.by_index(NAMESPACE_INDEX, "x")), ["a"]);
        store.remove(&object("y", "b", ""));
        assert_eq!(store.by_index("app", "web").count(), 0);
        store.replace([object("z", "c", "web")]);
        assert_eq!(names(store.by_index("app", "web")), ["c"]);
        assert_eq!(store.by_index("app", "api").count(), 0);
        assert_eq!(store.len(), 1);
        assert_eq!(store.by_index("nothing", "web").count(), 0);
    }

    #[test]
    fn differences_are_what_was_added_changed_and_removed() {
        let mut before = IndexedStore::new();
        before.replace(["a", "b", "c"].map(|name| object("x", name, "web")));
        let mut after = before.clone();
        assert_eq!(before.differences(&after).count(), 0);
        after.put(object("x", "b", "api"));
        after.put(object("x", "d", "web"));
        after.remove(&object("x", "c", ""));
        let found: Vec<_> = before
            .differences(&after)
            .map(|(before, after)| (before.map(|o| o.name()), after.map(|o| o.name())))
            .collect();
        let (b, c, d) = (Some("b"), Some("c"), Some("d"));
        assert_eq!(found, [(b, b), (c, None), (None, d)]);
    }

    #[test]
    fn keys_have_the_namespace_where_there_is_one() {
        assert_eq!(IndexedStore::key(&object("x", "a", "")), "x/a");
        assert_eq!(IndexedStore::key(&object("", "a", "")), "a");
    }
}
