//! The requests of `kubectl apply`, also where Argo CD runs it.

use std::sync::Arc;

use optimist_apiserver::apply::{LAST_APPLIED, ManagedFieldsOperation, Managers, Set};
use optimist_apiserver::object::Metadata;
use optimist_client::{
    Call, Preconditions, Preset, Sender, Strategy, Write, annotated, client_side_managers,
    last_applied, three_way_patch, upgrade_patch,
};
use optimist_simulation::{ByHand, Exchange};
use serde_json::{Value, json};

use super::procedure::is_empty;
use super::{ChangeContent, Client, OnOwned, manifest, read, tracking};

/// How often a patch is sent again after a 409 (`maxPatchRetry` in
/// `k8s.io/kubectl/pkg/cmd/apply/patcher.go`, v0.36).
const RETRIES: usize = 5;

/// The manager by which Argo CD migrates from client-side apply, if an Application does not name
/// another one (`argo-cd/gitops-engine/pkg/sync/common/types.go
/// DefaultClientSideApplyMigrationManager`, v3.5).
const CLIENT_SIDE: &str = "kubectl-client-side-apply";

impl Client<'_> {
    /// Client-side apply (`k8s.io/kubectl/pkg/cmd/apply/patcher.go Patch`, v0.36). An empty patch is
    /// not sent. With `--force` a refused patch is followed by a deletion and a creation
    /// (`deleteAndCreate`).
    pub(super) fn apply_in_the_client(&mut self, preset: Preset, write: &Write, on_owned: OnOwned) {
        let manifest = match &self.change.content {
            ChangeContent::Manifest(manifest) => manifest::of_object(manifest, &self.live),
            ChangeContent::Edited(_) => self.declared_and_edited(&last_applied(&self.live)),
        };
        let manifest = annotated(&tracking::tracked(preset, manifest, &self.live));
        let last = last_applied(&self.live);
        let patch = three_way_patch(self.resource(), &last, &self.live, &manifest);
        if is_empty(&patch) {
            return;
        }
        let mut code = None;
        for _ in 0..=RETRIES {
            self.write(preset, write, &patch);
            code = self.sent.last().map(|exchange| exchange.code);
            if code != Some(409) {
                break;
            }
        }
        if on_owned == OnOwned::Force && matches!(code, Some(409 | 422)) {
            self.delete_and_create(preset, write, &manifest);
        }
    }

    fn delete_and_create(&mut self, preset: Preset, write: &Write, manifest: &Value) {
        let manager = write.manager.clone().unwrap_or_default();
        // kubectl waits until the object is gone. A finalizer can hold it.
        if !self.delete(&manager) || !read(self.server, self.subject).is_null() {
            return;
        }
        let sender = Sender {
            manager: Some(&manager),
            is_strict: preset.validates_strictly(),
            ..Sender::new(&manager)
        };
        for object in [manifest, &*Arc::clone(&self.live)] {
            let mut object = object.clone();
            object.metadata_mut().remove("resourceVersion");
            let call = Call::Create {
                namespace: self.subject.namespace().to_owned(),
                object: Arc::new(object),
            };
            if self.send(&call, sender) {
                return;
            }
        }
    }

    /// Deletes the object; its dependents go in the background. Whether it was accepted.
    pub(super) fn delete(&mut self, user_agent: &str) -> bool {
        let call = Call::Delete {
            object: Arc::clone(&self.live),
            preconditions: Preconditions::default(),
            in_background: true,
        };
        self.send(&call, Sender::new(user_agent))
    }

    /// `kubectl apply --server-side`, which afterwards migrates from client-side apply
    /// (`k8s.io/kubectl/pkg/cmd/apply/apply.go saveLastApplyAnnotationIfNecessary,
    /// migrateToSSAIfNecessary`, v0.36).
    pub(super) fn kubectl_apply(&mut self, preset: Preset, write: &Write, on_owned: OnOwned) {
        if self.apply(preset, write, on_owned) {
            let manager = self.manager(preset, write);
            self.migrate(preset, &manager);
        }
    }

    /// What kubectl does after its apply was accepted. Whether all of it was accepted.
    pub(super) fn migrate(&mut self, preset: Preset, manager: &str) -> bool {
        let object = read(self.server, self.subject);
        if manager == "kubectl" && !self.keep_annotation(&object) {
            return false;
        }
        let object = read(self.server, self.subject);
        let former = client_side_managers(&object);
        let Some(patch) = upgrade_patch(&object, &former, manager) else {
            return true;
        };
        let Some(first) = self.sent.first().cloned() else {
            return true;
        };
        let by = Write {
            manager: Some(manager.to_owned()),
            ..Write::usual(Strategy::JsonPatch)
        };
        self.write(preset, &by, &patch) && {
            let last = self.last_apply(&first);
            let again = ByHand::from(&last).request(&last.manager);
            again.is_some_and(|again| self.exchange(again))
        }
    }

    /// The apply of the manifest that was accepted.
    fn last_apply(&self, first: &Exchange) -> Exchange {
        let mut applies = self
            .sent
            .iter()
            .rev()
            .filter(|it| it.content_type == Strategy::Apply.media_type())
            .filter(|it| !it.target.contains("fieldManager=kubectl-last-applied"));
        applies.find(|it| it.code < 300).unwrap_or(first).clone()
    }

    /// The annotation of client-side apply gets an applier, so that the migration does not remove it.
    fn keep_annotation(&mut self, object: &Value) -> bool {
        let annotation = object.pointer("/metadata/annotations");
        let annotation = annotation.and_then(|all| all.get(LAST_APPLIED)).cloned();
        let managed = object.metadata().and_then(|meta| meta.get("managedFields"));
        let managers = Managers::decode(managed).unwrap_or_default();
        let field = ["metadata", "annotations", LAST_APPLIED];
        let field = Set::of_fields(&[&field]);
        let applied = managers.iter().any(|owned| {
            owned.manager.operation == ManagedFieldsOperation::Apply && field.is_subset(&owned.set)
        });
        let Some(annotation) = annotation.filter(|_| !applied) else {
            return true;
        };
        let mut body = manifest::part(object, &Set::default(), self.subject.resource());
        body.set_meta("annotations", json!({LAST_APPLIED: annotation}));
        let call = Call::Apply {
            base: Arc::clone(&self.live),
            object: Arc::new(body),
            force: None,
            subresource: None,
        };
        let sender = Sender {
            manager: Some("kubectl-last-applied"),
            is_strict: true,
            ..Sender::new("kubectl")
        };
        self.send(&call, sender)
    }

    /// Argo CD with `ServerSideApply=true`: first the entry of kubectl's client-side apply becomes Argo
    /// CD's, then kubectl applies (`argo-cd/gitops-engine/pkg/sync/sync_context.go applyObject,
    /// performCSAUpgradeMigration`, v3.5).
    pub(super) fn argo_cd_apply(&mut self, preset: Preset, write: &Write) {
        let from = [CLIENT_SIDE.to_owned()];
        let manager = self.manager(preset, write);
        let updates = |owned: &optimist_apiserver::apply::Owned| {
            owned.manager.name == CLIENT_SIDE
                && owned.manager.operation == ManagedFieldsOperation::Update
        };
        let managed = self
            .live
            .metadata()
            .and_then(|meta| meta.get("managedFields"));
        let managers = Managers::decode(managed).unwrap_or_default();
        let patch = upgrade_patch(&self.live, &from, &manager);
        if let Some(patch) = patch.filter(|_| managers.iter().any(updates)) {
            let call = Write::usual(Strategy::JsonPatch).call(&self.live, patch);
            if !self.send(&call, Sender::new("argocd-application-controller")) {
                return;
            }
        }
        self.kubectl_apply(preset, write, OnOwned::Usual);
    }
}
