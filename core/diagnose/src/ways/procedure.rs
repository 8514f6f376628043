//! The requests of each way, as its client sends them.

use std::sync::Arc;

use http::Request;
use optimist_apiserver::apply::{LAST_APPLIED, Managers, Set, compare, field_set};
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::{Definition, Fact};
use optimist_client::{
    Call, Preset, Sender, Strategy, WorkingCopy, Write, annotated, bare, three_way_patch,
    upgrade_patch,
};
use optimist_simulation::Exchange;
use serde_json::{Value, json};

use super::{Client, OnOwned, ReleaseMethod, Way, manifest, tracking, version_of};

/// The agent of controllers whose manager was not chosen.
const CONTROLLER: &str = "controller";

/// The most rounds in which conflicting fields are left out. Each leaves out at least one field.
const ROUNDS: usize = 100;

impl Client<'_> {
    /// Runs a way. `None` if the way cannot carry the change; nothing is sent if the client sees that
    /// there is nothing to do.
    pub(super) fn run(&mut self, way: Way) -> Option<()> {
        let Way::Client(preset, on_owned) = way else {
            self.create();
            return Some(());
        };
        let write = preset.write(self.resource())?;
        if self.live.is_null() && !self.applies_to_nothing(preset) {
            return self.create_by(preset, &write);
        }
        match preset {
            Preset::KubectlReplace => self.replace(&write),
            Preset::KubectlApply | Preset::ArgoCdClientSide => {
                self.apply_in_the_client(preset, &write, on_owned);
            }
            Preset::KubectlApplyServerSide => self.kubectl_apply(preset, &write, on_owned),
            Preset::ArgoCdServerSide => self.argo_cd_apply(preset, &write),
            Preset::Helm4 => self.helm_4(&write, on_owned),
            Preset::Terraform | Preset::ControllerApply => {
                self.apply(preset, &write, on_owned);
            }
            Preset::Flux => self.flux(&write),
            Preset::Helm3 => self.helm_3(&write),
            Preset::KubectlScale | Preset::Autoscaler => return self.scale(preset, &write),
            Preset::KubectlLabel => return self.label(&write),
            Preset::KubectlEdit | Preset::Update | Preset::MergeFrom | Preset::CreateOrUpdate => {
                self.edit(preset, &write);
            }
        }
        Some(())
    }

    /// The manager that a write goes by.
    pub(super) fn manager(&self, preset: Preset, write: &Write) -> String {
        if let Some((_, manager)) = self.change.refused.as_ref().filter(|it| it.0 == preset) {
            return manager.clone();
        }
        if matches!(preset, Preset::Helm3 | Preset::Helm4)
            && let Some(manager) = tracking::helm_manager(self.first)
        {
            return manager;
        }
        let chosen = self.change.manager.as_ref();
        let chosen = chosen.filter(|_| preset.manager_is_chosen());
        let own = chosen.or(write.manager.as_ref()).cloned();
        own.unwrap_or_else(|| CONTROLLER.to_owned())
    }

    fn create(&mut self) {
        let body = bare(&self.manifest(None, "kubectl-create"));
        let call = Call::Create {
            namespace: self.subject.namespace().to_owned(),
            object: Arc::new(body),
        };
        let sender = Sender {
            manager: Some("kubectl-create"),
            is_strict: true,
            ..Sender::new("kubectl")
        };
        self.send(&call, sender);
    }

    /// Whether a client creates an object by an apply. Then the object is one of which only the name is
    /// known.
    fn applies_to_nothing(&mut self, preset: Preset) -> bool {
        let applies = matches!(
            preset,
            Preset::KubectlApplyServerSide
                | Preset::Helm4
                | Preset::ArgoCdServerSide
                | Preset::Flux
                | Preset::Terraform
                | Preset::ControllerApply
        );
        if applies {
            self.live = self.subject.unread();
        }
        applies
    }

    /// What a client does about an object that is not there: client-side apply with its annotation
    /// (`k8s.io/kubectl/pkg/cmd/apply/apply.go applyOneObject`, v0.36), Helm 3
    /// (`helm.sh/helm/v3/pkg/kube/client.go createResource`, v3.21), `CreateOrUpdate`. `None` for a
    /// client that changes what is there.
    fn create_by(&mut self, preset: Preset, write: &Write) -> Option<()> {
        let manager = self.manager(preset, write);
        self.live = self.subject.unread();
        let body = self.manifest(Some(preset), &manager);
        let body = match preset {
            Preset::KubectlApply | Preset::ArgoCdClientSide => annotated(&body),
            Preset::Helm3 | Preset::CreateOrUpdate => body,
            _ => return None,
        };
        let call = Call::Create {
            namespace: self.subject.namespace().to_owned(),
            object: Arc::new(body),
        };
        let sender = Sender {
            manager: write.manager.as_ref().map(|_| &*manager),
            is_strict: preset.validates_strictly(),
            ..Sender::new(&manager)
        };
        self.send(&call, sender);
        Some(())
    }

    /// `kubectl replace`: without a version in the file it sends the one that is stored
    /// (`k8s.io/cli-runtime/pkg/resource/helper.go Replace`, v0.36). The annotation of client-side apply
    /// gets the text of the file, if the file has one (`k8s.io/kubectl/pkg/util/apply.go
    /// CreateOrUpdateAnnotation`, v0.36).
    fn replace(&mut self, write: &Write) {
        let mut body = match &self.change.content {
            super::ChangeContent::Manifest(manifest) => manifest::of_object(manifest, &self.live),
            super::ChangeContent::Edited(_) => self.edited(),
        };
        let annotations = body.metadata().and_then(|meta| meta.get("annotations"));
        if annotations.is_some_and(|all| all.get(LAST_APPLIED).is_some()) {
            body = annotated(&body);
        }
        if body.resource_version().is_empty() {
            body.set_meta("resourceVersion", version_of(&self.live));
        }
        self.write(Preset::KubectlReplace, write, &body);
    }

    fn edited(&self) -> Value {
        let copy = self.copy();
        copy.edited()
            .map(|object| (**object).clone())
            .unwrap_or_default()
    }

    /// The edits alone, in the body of the strategy.
    fn edit(&mut self, preset: Preset, write: &Write) {
        let copy = self.copy();
        // Code sends its request also without an edit. `CreateOrUpdate` compares first.
        if copy.is_edited() || matches!(preset, Preset::Update | Preset::MergeFrom) {
            self.send_copy(preset, write, &copy);
        }
    }

    fn send_copy(&mut self, preset: Preset, write: &Write, copy: &WorkingCopy) {
        let manager = self.manager(preset, write);
        if let Some(body) = write.body(self.resource(), copy, &manager) {
            self.write(preset, write, &body);
        }
    }

    /// Replicas alone.
    fn scale(&mut self, preset: Preset, write: &Write) -> Option<()> {
        let edited = self.edited();
        let replicas = edited.pointer("/spec/replicas")?.clone();
        let differs = self.first.pointer("/spec/replicas") != Some(&replicas);
        if !differs {
            return None;
        }
        if self.live.pointer("/spec/replicas") == Some(&replicas) && preset == Preset::Autoscaler {
            return Some(());
        }
        let mut object = (*self.live).clone();
        object["spec"]["replicas"] = replicas.clone();
        let mut copy = WorkingCopy::default();
        copy.settle(Arc::clone(&self.live));
        copy.edit(object);
        if preset == Preset::KubectlScale {
            // `ScaleSimple` sends the patch whatever the present number is.
            self.write(preset, write, &json!({"spec": {"replicas": replicas}}));
        } else {
            self.send_copy(preset, write, &copy);
        }
        Some(())
    }

    /// Labels alone.
    fn label(&mut self, write: &Write) -> Option<()> {
        let labels = |object: &Value| object.pointer("/metadata/labels").cloned();
        let wanted = labels(&self.edited());
        if labels(self.first) == wanted {
            return None;
        }
        let mut object = (*self.live).clone();
        object.set_meta("labels", wanted.unwrap_or_default());
        let mut copy = WorkingCopy::default();
        copy.settle(Arc::clone(&self.live));
        copy.edit(object);
        if copy.is_edited() {
            self.send_copy(Preset::KubectlLabel, write, &copy);
        }
        Some(())
    }

    /// What a former manifest declared, with the edits.
    pub(super) fn declared_and_edited(&self, former: &Value) -> Value {
        let edited = self.edited();
        let root = &self.resource().root;
        let changed = compare(&self.live, &edited, root);
        let fields = field_set(former, root)
            .union(&changed.added)
            .union(&changed.modified);
        manifest::part(&edited, &fields, self.resource())
    }

    /// Helm 3 (`createPatch`): kinds that Helm was not built with get a patch of the difference
    /// between the two manifests, whatever the object has.
    fn helm_3(&mut self, write: &Write) {
        let previous = self.change.previous.clone().unwrap_or_else(|| {
            let owned = self.owned_by(&self.manager(Preset::Helm3, write));
            manifest::part(&self.live, &owned, self.resource())
        });
        let previous = bare(&manifest::of_object(&previous, &self.live));
        let manifest = match &self.change.content {
            super::ChangeContent::Manifest(manifest) => {
                bare(&manifest::of_object(manifest, &self.live))
            }
            super::ChangeContent::Edited(_) => self.declared_and_edited(&previous),
        };
        let manifest = tracking::tracked(Preset::Helm3, manifest, &self.live);
        let patch = match self.resource().definition {
            Definition::Builtin(_) => {
                three_way_patch(self.resource(), &previous, &self.live, &manifest)
            }
            Definition::Custom(_) => optimist_apiserver::patch::merge_diff(&previous, &manifest),
        };
        if !is_empty(&patch) {
            self.write(Preset::Helm3, write, &patch);
        }
    }

    /// What a manager owns, by any operation on the object itself.
    fn owned_by(&self, name: &str) -> Set {
        let managed = self
            .live
            .metadata()
            .and_then(|meta| meta.get("managedFields"));
        let managers = Managers::decode(managed).unwrap_or_default();
        let own = managers
            .iter()
            .filter(|owned| owned.manager.name == name && owned.manager.subresource.is_empty());
        own.fold(Set::default(), |all, owned| all.union(&owned.set))
    }

    /// An apply of the manifest. Whether it was accepted.
    pub(super) fn apply(&mut self, preset: Preset, write: &Write, on_owned: OnOwned) -> bool {
        let manager = self.manager(preset, write);
        let mut body = self.manifest(Some(preset), &manager);
        let write = Write {
            force: write.force || on_owned == OnOwned::Force,
            manager: Some(manager),
            ..write.clone()
        };
        for _ in 0..ROUNDS {
            self.write(preset, &write, &body);
            let Some(exchange) = self.sent.last() else {
                return false;
            };
            let conflicts = exchange.facts.iter().filter_map(|fact| match fact {
                Fact::OwnedByOther { field, .. } => Some(field.clone()),
                _ => None,
            });
            let conflicts: Vec<String> = conflicts.collect();
            if on_owned != OnOwned::LeaveOut || conflicts.is_empty() {
                return exchange.code < 300;
            }
            let fields = manifest::printed(&body, &conflicts, self.resource());
            let left = manifest::without(&body, &fields);
            if left == body {
                return false;
            }
            body = left;
        }
        false
    }

    /// Helm 4: an entry that Helm owns by Update becomes part of its applier's entry first, if the last
    /// release was applied in the client.
    fn helm_4(&mut self, write: &Write, on_owned: OnOwned) {
        if self.takes_over_release(write) {
            self.apply(Preset::Helm4, write, on_owned);
        }
    }

    /// Makes what Helm owns by Update part of its applier's entry, if the last release was applied in the
    /// client. Whether the server took it, or there was nothing to do.
    pub(super) fn takes_over_release(&mut self, write: &Write) -> bool {
        let manager = self.manager(Preset::Helm4, write);
        let own = [manager.clone()];
        let migrates = self.change.last_release == ReleaseMethod::ClientSide;
        let patch = upgrade_patch(&self.live, &own, &manager).filter(|_| migrates);
        let Some(patch) = patch else {
            return true;
        };
        let by = Write {
            manager: Some(manager),
            ..Write::usual(Strategy::JsonPatch)
        };
        self.write(Preset::Helm4, &by, &patch)
    }

    /// Sends a body as another manager. Whether it was accepted.
    pub(super) fn write_as(&mut self, write: &Write, body: &Value, manager: &str) -> bool {
        let call = write.call(&self.live, body.clone());
        self.send(&call, write.sender(manager))
    }

    /// Sends a body as a write does. Whether it was accepted.
    pub(super) fn write(&mut self, preset: Preset, write: &Write, body: &Value) -> bool {
        let manager = self.manager(preset, write);
        let own = preset.manager_is_chosen() && self.change.manager.is_some();
        let helm = matches!(preset, Preset::Helm3 | Preset::Helm4);
        let named = write.strategy == Strategy::Apply || (own || helm) && write.manager.is_some();
        let call = write.call(&self.live, body.clone());
        let sender = Sender {
            manager: match preset {
                // They name no manager: the server takes their User-Agent.
                Preset::KubectlScale | Preset::Autoscaler => None,
                _ if named => Some(&*manager),
                _ => write.manager.as_deref(),
            },
            is_strict: preset.validates_strictly(),
            ..write.sender(&manager)
        };
        self.send(&call, sender)
    }

    /// Sends a request about the object. Whether it was accepted.
    pub(super) fn send(&mut self, call: &Call, sender: Sender<'_>) -> bool {
        let request = call.request(self.resource(), sender);
        request.is_some_and(|request| self.exchange(request))
    }

    /// Sends a request, and keeps it with its answer. Whether it was accepted.
    pub(super) fn exchange(&mut self, request: Request<Vec<u8>>) -> bool {
        let response = self.server.handle(request.clone());
        let exchange = Exchange::new(&request, &response);
        let accepted = exchange.code < 300;
        self.sent.push(exchange);
        accepted
    }
}

/// Whether a patch has nothing.
pub(super) fn is_empty(patch: &Value) -> bool {
    patch.as_object().is_some_and(|members| members.is_empty())
}
