//! A client's copy of a collection: objects by key (`k8s.io/client-go/tools/cache`: `Store`).

use std::sync::Arc;

use imbl::OrdMap;
use imbl::ordmap::DiffItem;
use serde_json::Value;

use optimist_apiserver::object::Metadata;

/// Objects by `namespace/name`. Cloning is cheap.
#[derive(Clone, Debug, Default)]
pub struct ObjectStore {
    objects: OrdMap<Arc<str>, Arc<Value>>,
}

impl ObjectStore {
    /// The key of an object (`MetaNamespaceKeyFunc`).
    pub fn key(object: &Value) -> String {
        object_key(object.namespace(), object.name())
    }

    /// The object of a key.
    pub fn get(&self, key: &str) -> Option<&Arc<Value>> {
        self.objects.get(key)
    }

    /// All objects, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Arc<Value>)> {
        self.objects
            .iter()
            .map(|(key, object)| (key.as_ref(), object))
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Returns whether the store is empty.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
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
        match self.objects.get_mut(key.as_str()) {
            Some(known) => *known = object,
            None => {
                self.objects.insert(key.into(), object);
            }
        }
    }

    /// Removes the object with this object's key.
    pub fn remove(&mut self, object: &Value) {
        self.objects.remove(Self::key(object).as_str());
    }

    /// Replaces all objects of the store by these objects.
    pub fn replace(&mut self, objects: impl IntoIterator<Item = Arc<Value>>) {
        let keyed = |object: Arc<Value>| (Arc::from(Self::key(&object)), object);
        self.objects = objects.into_iter().map(keyed).collect();
    }

    /// Replaces all objects by those that a client reads. An answer can share its objects, but a client reads new ones:
    /// one whose key the store has is copied, because somebody may hold the object that was read before.
    pub(super) fn replace_with_read(&mut self, objects: Vec<Arc<Value>>) {
        let read = |object: Arc<Value>| match self.get(&Self::key(&object)) {
            Some(_) => Arc::new(Value::clone(&object)),
            None => object,
        };
        let objects: Vec<_> = objects.into_iter().map(read).collect();
        self.replace(objects);
    }
}

/// `namespace/name`, or the name alone.
pub fn object_key(namespace: &str, name: &str) -> String {
    match namespace {
        "" => name.to_owned(),
        namespace => [namespace, "/", name].concat(),
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

    #[test]
    fn differences_are_what_was_added_changed_and_removed() {
        let mut before = ObjectStore::default();
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
    fn a_list_brings_new_objects_also_if_it_shares_them() {
        let (mut store, shared) = (ObjectStore::default(), object("x", "a", ""));
        store.replace_with_read(vec![Arc::clone(&shared)]);
        let is_shared = |store: &ObjectStore| Arc::ptr_eq(store.get("x/a").unwrap(), &shared);
        assert!(is_shared(&store), "nobody holds an earlier one");
        store.replace_with_read(vec![Arc::clone(&shared)]);
        assert!(!is_shared(&store));
        assert_eq!(store.get("x/a"), Some(&shared));
        store.replace([Arc::clone(&shared)]);
        store.put(object("x", "a", "changed in place"));
        store.replace_with_read(vec![Arc::clone(&shared)]);
        assert!(
            !is_shared(&store),
            "somebody may hold the one before the change"
        );
    }

    #[test]
    fn keys_have_the_namespace_where_there_is_one() {
        assert_eq!(ObjectStore::key(&object("x", "a", "")), "x/a");
        assert_eq!(ObjectStore::key(&object("", "a", "")), "a");
    }
}
