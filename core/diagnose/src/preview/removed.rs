//! Previews objects that no manifest names.

use std::collections::HashSet;
use std::sync::Arc;

use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::ApiServer;
use optimist_client::tracking::{SYNC_OPTIONS, says};
use optimist_client::{Call, Preconditions, Preset, Sender};
use serde_json::Value;

use super::cluster::{Cluster, Key, key};
use super::row::{PreviewObject, PreviewOutcome, PreviewRow, Trouble};
use super::{Assumed, DeliveryTool, Hook, PreviewInput, Pruning};
use crate::ways::{DeliveredBy, applied_by};

/// A tool's action on an object that no manifest names.
enum RemovedFate {
    Deleted(Option<Assumed>),
    NotTouched(Option<Assumed>),
}

/// The owner of this write's objects, and the objects of the write before.
#[derive(Debug)]
pub(super) struct Removal {
    tool: DeliveryTool,
    by: DeliveredBy,
    earlier: Option<Vec<Key>>,
    /// `true` if the cluster has one of the objects that are written.
    exists: bool,
    /// The namespaces of the manifests.
    namespaces: HashSet<String>,
}

impl Removal {
    /// Reads to whom the objects belong that are written again.
    pub(super) fn read(input: &PreviewInput, cluster: &Cluster, next: &HashSet<Key>) -> Self {
        let written = cluster.objects.iter().filter(|(key, _)| next.contains(key));
        let mut written: Vec<&Value> = written.map(|(_, object)| &**object).collect();
        let exists = !written.is_empty();
        written.extend(&input.next);
        let earlier = input.earlier.as_ref();
        Self {
            tool: input.tool.clone(),
            by: DeliveredBy::from_objects(&written),
            earlier: earlier.map(|all| all.iter().map(key).collect()),
            exists,
            namespaces: Pruning::namespaces(input),
        }
    }

    /// Returns whether an object belongs to the application of Argo CD that is delivered.
    pub(super) fn is_of_application(&self, object: &Value) -> bool {
        let own = DeliveredBy::from_objects(&[object]);
        own.application.is_some() && own.application == self.by.application
    }

    /// Returns whether Helm has a release before this write; `None` if nothing says it.
    pub(super) fn knows_release(&self, input: &PreviewInput) -> Option<bool> {
        match &input.earlier {
            Some(earlier) => Some(!earlier.is_empty()),
            None => (self.exists || self.by.release.is_some()).then_some(true),
        }
    }

    /// Returns the row of an object that no manifest names.
    pub(super) fn row(&self, server: &mut ApiServer, object: &Value) -> PreviewRow {
        if let Some(hook) = Hook::left(&self.tool, object) {
            return PreviewRow::of_hook(PreviewObject::from_manifest(object), hook);
        }
        let mut row = PreviewRow::new(
            PreviewObject::from_manifest(object),
            PreviewOutcome::NotTouched,
        );
        match self.fate(object) {
            RemovedFate::NotTouched(assumed) => row.assumed.extend(assumed),
            RemovedFate::Deleted(assumed) => {
                row.assumed.extend(assumed);
                delete(server, object, &mut row);
            }
        }
        row
    }

    fn fate(&self, object: &Value) -> RemovedFate {
        let own = DeliveredBy::from_objects(&[object]);
        let tool = &self.tool;
        match tool.preset {
            Preset::Helm3 | Preset::Helm4 => self.of_helm(object, &own),
            Preset::ArgoCdClientSide | Preset::ArgoCdServerSide => {
                let option = |word| says(object, SYNC_OPTIONS, word);
                let is_own = (own.application.as_ref(), self.by.application.as_ref());
                let fate = pruned(
                    is_own,
                    tool.prune == Pruning::Tracked && !option("Prune=false"),
                );
                match fate {
                    // `sync_context.go objRequiresPruneConfirmation`, v3.5.
                    RemovedFate::Deleted(None) if option("Prune=confirm") => {
                        RemovedFate::Deleted(Some(Assumed::DeletionConfirmed))
                    }
                    fate => fate,
                }
            }
            Preset::Flux => {
                let kept = says(object, "kustomize.toolkit.fluxcd.io/prune", "disabled");
                let is_own = (own.kustomization.as_ref(), self.by.kustomization.as_ref());
                pruned(is_own, tool.prune == Pruning::Tracked && !kept)
            }
            Preset::Terraform => self.of_terraform(object),
            Preset::KubectlApply | Preset::KubectlApplyServerSide
                if tool.prune.deletes(object, &self.namespaces) =>
            {
                RemovedFate::Deleted(None)
            }
            _ => RemovedFate::NotTouched(None),
        }
    }

    /// Returns whether the manifests of the last write have this object; `None` if they were not brought.
    fn was_written(&self, object: &Value) -> Option<bool> {
        let id = key(object);
        // A manifest need not name its namespace.
        let is_same = |it: &Key| {
            (&it.0, &it.1, &it.3) == (&id.0, &id.1, &id.3) && (it.2.is_empty() || it.2 == id.2)
        };
        Some(self.earlier.as_ref()?.iter().any(is_same))
    }

    /// Returns the fate of an object under Terraform: it deletes objects that its state has and the
    /// configuration has not. The object itself does not show in whose state it is: every configuration has
    /// the same field manager (`hashicorp/terraform/internal/terraform/node_resource_plan_orphan.go
    /// managedResourceExecute`, v1).
    fn of_terraform(&self, object: &Value) -> RemovedFate {
        match self.was_written(object) {
            Some(true) => RemovedFate::Deleted(None),
            None if applied_by(object, "Terraform") => {
                RemovedFate::NotTouched(Some(Assumed::State))
            }
            _ => RemovedFate::NotTouched(None),
        }
    }

    /// Returns the fate of an object under Helm: it deletes objects that the last release had and this one
    /// does not, but for those to be kept (`helm.sh/helm/v4/pkg/kube/client.go update`, v4.2; the
    /// annotation: `ResourcePolicyAnno`).
    fn of_helm(&self, object: &Value, own: &DeliveredBy) -> RemovedFate {
        if says(object, "helm.sh/resource-policy", "keep") {
            return RemovedFate::NotTouched(None);
        }
        match self.was_written(object) {
            Some(true) => return RemovedFate::Deleted(None),
            Some(false) => return RemovedFate::NotTouched(None),
            None => {}
        }
        match (&own.release, &self.by.release) {
            (Some(own), Some(release)) if own == release => {
                RemovedFate::Deleted(Some(Assumed::PreviousRelease))
            }
            (Some(_), None) => RemovedFate::NotTouched(Some(Assumed::Tracking)),
            _ => RemovedFate::NotTouched(None),
        }
    }
}

/// Returns the fate of an object that belongs to a tool which prunes.
fn pruned<T: PartialEq>(own: (Option<&T>, Option<&T>), prunes: bool) -> RemovedFate {
    match own {
        (Some(own), Some(by)) if own == by && prunes => RemovedFate::Deleted(None),
        (Some(_), None) if prunes => RemovedFate::NotTouched(Some(Assumed::Tracking)),
        _ => RemovedFate::NotTouched(None),
    }
}

/// Deletes an object. Its dependents go in the background.
fn delete(server: &mut ApiServer, object: &Value, row: &mut PreviewRow) {
    let (api_version, kind) = (&object["apiVersion"], &object["kind"]);
    let names = api_version.as_str().zip(kind.as_str());
    let resource = names.and_then(|(version, kind)| server.resources().by_kind(version, kind));
    let call = Call::Delete {
        object: Arc::new(object.clone()),
        preconditions: Preconditions::default(),
        in_background: true,
    };
    let request = resource.and_then(|resource| call.request(resource, Sender::new("optimist")));
    let Some(request) = request else {
        "This kind is not served.".clone_into(&mut row.message);
        (row.outcome, row.troubles) = (PreviewOutcome::NotRun, vec![Trouble::Refused]);
        return;
    };
    let response = server.handle(request);
    row.code = Some(response.status().as_u16());
    let answer: Value = serde_json::from_slice(response.body()).unwrap_or_default();
    if !response.status().is_success() {
        row.message = answer["message"].as_str().unwrap_or_default().to_owned();
        (row.outcome, row.troubles) = (PreviewOutcome::Refused, vec![Trouble::Refused]);
        return;
    }
    (row.outcome, row.troubles) = (PreviewOutcome::Deleted, vec![Trouble::Deleted]);
    let held = answer.metadata().and_then(|meta| meta.get("finalizers"));
    let held = held.and_then(Value::as_array).into_iter().flatten();
    row.finalizers = held.filter_map(Value::as_str).map(str::to_owned).collect();
}
