//! From a notification to the keys that are added to the queue
//! (`sigs.k8s.io/controller-runtime/pkg/handler`: `enqueue.go`, `enqueue_owner.go`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use optimist_apiserver::object::{GroupVersion, Metadata, text};

use crate::cache::Notification;
use crate::client::key;

/// The keys that a notification adds to the queue: keys, never the event.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Handler {
    /// The key of the object itself (`EnqueueRequestForObject`).
    Object,
    /// The key of its owner (`EnqueueRequestForOwner`).
    Owner {
        /// The apiVersion of the owner's kind, of which the group counts.
        #[serde(rename = "apiVersion")]
        api_version: String,
        /// The owner's kind.
        kind: String,
        /// `true` if only the owner that is the controller counts (`OnlyControllerOwner`, which
        /// `Owns` of the builder sets).
        #[serde(rename = "onlyController", default)]
        only_controller: bool,
    },
    /// The keys of the objects of a kind that it owns, as far as the cache has them (`EnqueueRequestsFromMapFunc`, with a
    /// function that lists them).
    Dependents {
        /// The apiVersion of their kind.
        #[serde(rename = "apiVersion")]
        api_version: String,
        /// Their kind.
        kind: String,
    },
}

impl Handler {
    /// The keys that follow from the notification alone, each once. An update counts for the old and the new object. Owners are taken to
    /// be in the namespace of the object.
    pub fn keys(&self, notification: &Notification) -> Vec<String> {
        let (api_version, kind, only_controller) = match self {
            Self::Object => return vec![notification.key()],
            // The controller finds them in its cache.
            Self::Dependents { .. } => return Vec::new(),
            Self::Owner {
                api_version,
                kind,
                only_controller,
            } => (api_version, kind, only_controller),
        };
        let old = match notification {
            Notification::Updated { old, .. } => Some(old),
            _ => None,
        };
        let objects = old.into_iter().chain([notification.object()]);
        let owners = objects.flat_map(|object| owners(object, api_version, kind, *only_controller));
        let mut keys: Vec<_> = owners.collect();
        keys.sort();
        keys.dedup();
        keys
    }
}

/// `getOwnerReconcileRequest`.
fn owners(
    object: &Value,
    api_version: &str,
    kind: &str,
    only_controller: bool,
) -> impl Iterator<Item = String> {
    let group = |api_version: &str| GroupVersion::parse(api_version).map(|version| version.group);
    let is_of_group = move |other: &str| other == api_version || group(other) == group(api_version);
    let (controller, all) = match only_controller {
        true => (controller_of(object), None),
        false => (None, Some(owner_references(object))),
    };
    let references = controller.into_iter().chain(all.into_iter().flatten());
    references
        .filter(move |reference| {
            text(reference, "kind") == kind && is_of_group(text(reference, "apiVersion"))
        })
        .map(|reference| key(object.namespace(), text(reference, "name")))
}

/// `metadata.ownerReferences`.
pub fn owner_references(object: &Value) -> impl Iterator<Item = &Value> {
    let references = object
        .metadata()
        .and_then(|meta| meta.get("ownerReferences"));
    references.and_then(Value::as_array).into_iter().flatten()
}

/// The owner that is the controller of an object (`metav1.GetControllerOf`).
pub fn controller_of(object: &Value) -> Option<&Value> {
    owner_references(object).find(|reference| reference.get("controller") == Some(&true.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::Arc;

    fn owned(owners: &[(&str, &str, &str, bool)]) -> Arc<Value> {
        let references: Vec<_> = owners
            .iter()
            .map(|(api_version, kind, name, controller)| {
                json!({"apiVersion": api_version, "kind": kind, "name": name, "uid": name,
                    "controller": controller})
            })
            .collect();
        Arc::new(json!({"metadata": {
            "name": "child", "namespace": "default", "ownerReferences": references}}))
    }

    fn added(object: Arc<Value>) -> Notification {
        Notification::Added {
            object,
            initial: false,
        }
    }

    fn of_deployments(only_controller: bool) -> Handler {
        Handler::Owner {
            api_version: "apps/v1".to_owned(),
            kind: "Deployment".to_owned(),
            only_controller,
        }
    }

    #[test]
    fn an_object_adds_its_own_key() {
        let keys = Handler::Object.keys(&added(owned(&[])));
        assert_eq!(keys, ["default/child"]);
    }

    #[test]
    fn a_child_adds_the_key_of_its_owner_of_that_kind_and_group() {
        let child = owned(&[
            ("apps/v1beta1", "Deployment", "a", false),
            ("apps/v1", "Deployment", "b", true),
            ("apps/v1", "ReplicaSet", "c", false),
            ("demo.example.com/v1", "Deployment", "d", false),
        ]);
        let keys = of_deployments(false).keys(&added(Arc::clone(&child)));
        assert_eq!(
            keys,
            ["default/a", "default/b"],
            "the version does not count"
        );
        assert_eq!(of_deployments(true).keys(&added(child)), ["default/b"]);
    }

    #[test]
    fn an_update_adds_the_keys_of_the_old_and_the_new_owner_each_once() {
        let (a, b) = (
            owned(&[("apps/v1", "Deployment", "a", true)]),
            owned(&[("apps/v1", "Deployment", "b", true)]),
        );
        let update = |old: &Arc<Value>, new: &Arc<Value>| Notification::Updated {
            old: Arc::clone(old),
            new: Arc::clone(new),
        };
        let keys = of_deployments(true).keys(&update(&a, &b));
        assert_eq!(keys, ["default/a", "default/b"]);
        assert_eq!(of_deployments(true).keys(&update(&a, &a)), ["default/a"]);
    }
}
