//! Objects that come from elsewhere, as they are.

use std::sync::Arc;

use serde_json::Value;

use super::{ApiServer, key_of};
use crate::object::{Metadata, text};

impl ApiServer {
    /// Puts an object into the store as it is, with its uid, times and `managedFields`, in place of
    /// one of the same name: what a restored copy of etcd would hold. Nothing is filled in or
    /// checked; only the resourceVersion is new. Gives back what was stored; `None` where the kind
    /// is not served or the object has no name.
    pub fn install(&mut self, mut object: Value) -> Option<Arc<Value>> {
        let kind = text(&object, "kind");
        let resource = self.resources.by_kind(text(&object, "apiVersion"), kind)?;
        if object.name().is_empty() || resource.namespaced == object.namespace().is_empty() {
            return None;
        }
        let resource = Arc::clone(resource);
        let key = key_of(&resource, &object);
        let before = self.store.get(&key).map_or(0, |(revision, _)| revision);
        let stored = self.store.put_if(&key, before, |revision| {
            object.set_meta("resourceVersion", revision.to_string());
            Arc::new(object)
        });
        let now = self.environment.elapsed();
        self.caches.follow(&self.store, now);
        stored.ok().map(|stored| resource.read_back(&stored))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_installed_object_is_read_as_it_came_but_for_its_version() {
        let mut server = ApiServer::default();
        let mut object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a", "namespace": "default", "uid": "u", "resourceVersion": "7",
                "managedFields": [{"manager": "m", "operation": "Update", "apiVersion": "v1",
                    "time": "2001-01-01T00:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {}}}]},
            "data": {"k": "v"},
        });
        let stored = server.install(object.clone()).unwrap();
        assert_ne!(stored.resource_version(), "7");
        object.set_meta("resourceVersion", stored.resource_version());
        assert_eq!(*stored, object);
        assert!(
            server
                .install(json!({"apiVersion": "v1", "kind": "Nothing"}))
                .is_none()
        );
    }
}
