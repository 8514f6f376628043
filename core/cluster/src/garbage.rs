//! The garbage collector (`pkg/controller/garbagecollector/garbagecollector.go`, v1.36): it handles objects
//! whose owners are gone or wait for them.

use std::sync::Arc;

use http::Method;
use optimist_apiserver::object::{FOREGROUND, Metadata, ORPHAN, text};
use optimist_apiserver::server::{ApiServer, Resource};
use serde_json::{Value, json};

use crate::requests::{ApiAccess, MANAGER, everywhere, kinds, list, send};

/// An object and its kind.
struct Item {
    resource: Arc<Resource>,
    object: Value,
}

/// The state of the object that an owner reference points to (`classifyReferences`).
#[derive(Clone, Copy, PartialEq)]
enum Owner {
    /// An object that stays.
    Solid,
    /// A kind that is not served, or one that this object cannot refer to: nothing is done then, whatever the
    /// other owners are.
    Unknown,
    /// Nothing.
    Absent,
    /// An object that waits until its dependents are deleted.
    Waiting,
}

/// Looks at each object once.
pub(crate) fn look(access: &mut ApiAccess<'_>) {
    let items = items(access);
    for item in &items {
        item.look(access, &items);
    }
}

/// All objects but events, which have no part in this (`DefaultIgnoredResources`).
fn items(access: &mut ApiAccess<'_>) -> Vec<Item> {
    let mut items = Vec::new();
    for resource in kinds(access.server) {
        if resource.plural == "events" {
            continue;
        }
        for object in list(access, &everywhere(&resource)) {
            let resource = Arc::clone(&resource);
            items.push(Item { resource, object });
        }
    }
    items
}

impl Item {
    fn look(&self, access: &mut ApiAccess<'_>, items: &[Item]) {
        let finalizers = self.object.finalizers();
        let dependents = || items.iter().filter(|item| item.is_owned_by(&self.object));
        if self.is_terminating() {
            if finalizers.contains(&ORPHAN) {
                dependents().for_each(|item| item.forget_owner(access, self.object.uid()));
                if dependents().next().is_none() {
                    self.remove_finalizer(access, ORPHAN);
                }
            } else if finalizers.contains(&FOREGROUND)
                && !dependents().any(|item| item.blocks(&self.object))
            {
                self.remove_finalizer(access, FOREGROUND);
            }
            return;
        }
        let mut owners = Vec::new();
        for reference in self.references() {
            owners.push((reference, self.owner(access.server, reference, items)));
        }
        let of = |wanted: Owner| owners.iter().any(|(_, owner)| *owner == wanted);
        let stays = !of(Owner::Absent) && !of(Owner::Waiting);
        if owners.is_empty() || of(Owner::Unknown) || stays {
            return;
        }
        if of(Owner::Solid) {
            let solid = owners.iter().filter(|(_, owner)| *owner == Owner::Solid);
            let solid = solid.map(|(reference, _)| (*reference).clone()).collect();
            return self.patch(access, json!({"ownerReferences": Value::Array(solid)}));
        }
        let foreground = of(Owner::Waiting) && dependents().next().is_some();
        if foreground && dependents().any(Item::waits_for_dependents) {
            // Each waits for the other: this one no longer holds up its owners.
            self.unblock_owners(access);
        }
        let policy = if foreground {
            "Foreground"
        } else if finalizers.contains(&ORPHAN) {
            "Orphan"
        } else if finalizers.contains(&FOREGROUND) {
            "Foreground"
        } else {
            "Background"
        };
        let options = json!({"apiVersion": "v1", "kind": "DeleteOptions",
            "preconditions": {"uid": self.object.uid()}, "propagationPolicy": policy});
        send(access, MANAGER, Method::DELETE, &self.path(), &options);
    }

    /// Returns the owner to which a reference points. The owner is in the same namespace, or in none.
    fn owner(&self, server: &ApiServer, reference: &Value, items: &[Item]) -> Owner {
        let (version, kind) = (text(reference, "apiVersion"), text(reference, "kind"));
        let Some(resource) = server.resources().by_kind(version, kind) else {
            return Owner::Unknown;
        };
        if resource.namespaced && self.object.namespace().is_empty() {
            return Owner::Unknown;
        }
        let namespace = match resource.namespaced {
            true => self.object.namespace(),
            false => "",
        };
        let found = items.iter().find(|item| {
            item.resource.storage_prefix == resource.storage_prefix
                && item.object.name() == text(reference, "name")
                && item.object.namespace() == namespace
                && item.object.uid() == text(reference, "uid")
        });
        match found {
            None => Owner::Absent,
            Some(owner) if owner.waits_for_dependents() => Owner::Waiting,
            Some(_) => Owner::Solid,
        }
    }

    fn references(&self) -> impl Iterator<Item = &Value> {
        let references = self.object["metadata"]["ownerReferences"].as_array();
        references.into_iter().flatten()
    }

    fn is_owned_by(&self, owner: &Value) -> bool {
        self.references().any(|it| text(it, "uid") == owner.uid())
    }

    /// Returns whether the owner must not go before this object (`blockOwnerDeletion`).
    fn blocks(&self, owner: &Value) -> bool {
        self.references()
            .any(|it| text(it, "uid") == owner.uid() && it["blockOwnerDeletion"] == true)
    }

    fn is_terminating(&self) -> bool {
        !self.object.meta_text("deletionTimestamp").is_empty()
    }

    fn waits_for_dependents(&self) -> bool {
        self.is_terminating() && self.object.finalizers().contains(&FOREGROUND)
    }

    fn path(&self) -> String {
        self.resource
            .path(self.object.namespace(), self.object.name())
    }

    /// Writes metadata of this very object.
    fn patch(&self, access: &mut ApiAccess<'_>, mut metadata: Value) {
        metadata["uid"] = self.object.uid().into();
        let patch = json!({"metadata": metadata});
        send(access, MANAGER, Method::PATCH, &self.path(), &patch);
    }

    fn forget_owner(&self, access: &mut ApiAccess<'_>, uid: &str) {
        let others = self.references().filter(|it| text(it, "uid") != uid);
        let others = others.cloned().collect();
        self.patch(access, json!({"ownerReferences": Value::Array(others)}));
    }

    fn unblock_owners(&self, access: &mut ApiAccess<'_>) {
        let mut references: Vec<Value> = self.references().cloned().collect();
        for reference in &mut references {
            if reference["blockOwnerDeletion"] == true {
                reference["blockOwnerDeletion"] = false.into();
            }
        }
        self.patch(access, json!({"ownerReferences": references}));
    }

    fn remove_finalizer(&self, access: &mut ApiAccess<'_>, finalizer: &str) {
        let mut others = self.object.finalizers();
        others.retain(|it| *it != finalizer);
        let version = self.object.resource_version();
        self.patch(
            access,
            json!({"finalizers": others, "resourceVersion": version}),
        );
    }
}
