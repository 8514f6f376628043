//! What an answer shows of an object.

use serde_json::Value;

use super::ObjectRef;
use super::step::Exchange;
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::Fact;

impl Exchange {
    /// Whether the answer contains the stored object, alone or in a list. A Scale has the same uid
    /// but another kind.
    pub(super) fn shows(&self, stored: &Value) -> bool {
        let alone = text(&self.received, "kind") == text(stored, "kind")
            && self.received.uid() == stored.uid();
        let mut items = self.items().into_iter().flatten();
        alone || items.any(|item| item.uid() == stored.uid())
    }

    /// Whether the answer tells that an object that is not stored does not exist: it is a 404 that
    /// names the object, a refusal because no object has the uid, or a list without the object.
    pub(super) fn shows_absence(&self, object: &ObjectRef) -> bool {
        let resource = object.resource();
        let path = self.target.split('?').next().unwrap_or_default();
        let segments: Vec<&str> = path.split('/').collect();
        let mut pairs = segments.windows(2);
        let in_namespace =
            !resource.namespaced || pairs.any(|pair| *pair == ["namespaces", object.namespace()]);
        let details = &self.received["details"];
        let names_object = text(details, "name") == object.name()
            && text(details, "kind") == resource.plural
            && text(details, "group") == resource.group_version.group;
        if in_namespace && names_object {
            let no_uid = |fact: &Fact| matches!(fact, Fact::UidDiffered { stored: None, .. });
            return self.code == 404 || self.facts.iter().any(no_uid);
        }
        // A query can leave objects out.
        let collections = [object.namespace(), ""].map(|namespace| resource.path(namespace, ""));
        self.code == 200 && self.items().is_some() && collections.contains(&self.target)
    }

    fn items(&self) -> Option<&Vec<Value>> {
        self.received.get("items")?.as_array()
    }
}
