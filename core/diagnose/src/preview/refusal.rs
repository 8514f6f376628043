//! What a tool does with the other objects when one is refused.

use std::collections::{BTreeSet, HashMap};

use optimist_apiserver::object::Metadata;
use optimist_client::Preset;
use serde::Serialize;
use serde_json::Value;

use super::cluster::Key;
use super::removed::{Removal, says};
use super::row::{Outcome, PreviewRow, Trouble};
use super::{Assumed, DeliveryTool, Pruning};

/// A tool's treatment of the other objects when one is refused. The row of an object that is written shows the result
/// of its own manifest, whatever became of the others. An object is [`Deleted`](Outcome::Deleted) only if the tool
/// comes to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum AfterRefusal {
    /// It writes and deletes the others (`k8s.io/kubectl/pkg/cmd/apply/apply.go Run`, v0.36; Terraform, where nothing
    /// depends on the refused one).
    GoesOn,
    /// It writes them, and deletes nothing (`k8s.io/kubectl/pkg/cmd/apply/apply.go Run`, v0.36: it prunes only
    /// if every apply succeeded).
    DeletesNothing,
    /// It goes on after a refused change of an object that exists, and stops at an object that it cannot create. In
    /// both cases it deletes nothing (`helm.sh/helm/v4/pkg/kube/client.go update`, v4.2; the same in v3.21).
    StopsAtCreate,
    /// It compares all objects with its release before the first write: it writes and deletes nothing
    /// (`helm.sh/helm/v4/pkg/action/upgrade.go performUpgrade`, v4.2).
    ChecksFirst,
    /// It reads all manifests before the first write, and refuses one of them: it writes and deletes nothing.
    ReadsAllFirst,
    /// It writes the others of the same sync wave, and nothing of the waves after it. A wave begins with its deletions
    /// (`argo-cd/gitops-engine/pkg/sync/sync_context.go Sync` and `runTasks`, v3.5). The dry run before the first wave
    /// is one of the client, which asks no server whether it accepts an object (`applyObject`).
    StopsAfterWave,
    /// It sends a dry run of each object of a stage before it writes the stage, and writes nothing of a stage in which
    /// one is refused. Definitions, cluster roles and namespaces come in a stage before the others, and so do kinds
    /// whose names end with `Class` (`fluxcd/pkg/ssa/manager_apply.go ApplyAllStaged` and `ApplyAll`, v0.76). It
    /// deletes after all stages (`fluxcd/kustomize-controller/internal/controller/kustomization_controller.go
    /// reconcile`, v1.9).
    StopsBeforeStage,
}

impl DeliveryTool {
    /// Returns the tool's treatment of the other objects when one is refused.
    pub fn after_refusal(&self) -> AfterRefusal {
        match self.preset {
            Preset::Helm3 | Preset::Helm4 => AfterRefusal::StopsAtCreate,
            Preset::ArgoCdClientSide | Preset::ArgoCdServerSide => AfterRefusal::StopsAfterWave,
            Preset::Flux => AfterRefusal::StopsBeforeStage,
            _ if self.preset.is_kubectl() && self.prune != Pruning::None => {
                AfterRefusal::DeletesNothing
            }
            _ => AfterRefusal::GoesOn,
        }
    }
}

/// The manifests and the objects of a preview, by their keys.
pub(super) struct Delivery<'a> {
    pub(super) after: AfterRefusal,
    pub(super) manifests: HashMap<&'a Key, &'a Value>,
    pub(super) objects: HashMap<&'a Key, &'a Value>,
    pub(super) removal: &'a Removal,
}

impl Delivery<'_> {
    /// Changes the rows of objects that no manifest names and whose deletion the tool does not come to.
    pub(super) fn keep_unreached(&self, rows: &mut [PreviewRow]) {
        if self.after == AfterRefusal::GoesOn {
            return;
        }
        let manifests = |is_so: fn(Outcome) -> bool| -> Vec<&Value> {
            let rows = rows.iter().filter(|row| is_so(row.outcome));
            rows.filter_map(|row| self.manifests.get(&key(row)).copied())
                .collect()
        };
        let refused = manifests(|it| it.is_refusal() && it != Outcome::NotRun);
        let unknown = manifests(|it| it == Outcome::NotRun);
        for row in rows.iter_mut().filter(|it| it.outcome == Outcome::Deleted) {
            let key = key(row);
            let Some(object) = self.objects.get(&key) else {
                continue;
            };
            if self.manifests.contains_key(&key) {
                continue;
            }
            if self.come_first(&refused, object) {
                *row = PreviewRow {
                    assumed: std::mem::take(&mut row.assumed),
                    troubles: vec![Trouble::DeletedLater],
                    ..PreviewRow::new(row.object.clone(), Outcome::KeptForNow)
                };
            } else if self.come_first(&unknown, object) {
                row.assumed.push(Assumed::OthersAccepted);
            }
        }
    }

    /// Returns whether the tool comes to one of these manifests before it deletes an object.
    fn come_first(&self, manifests: &[&Value], object: &Value) -> bool {
        match self.after {
            AfterRefusal::GoesOn => false,
            AfterRefusal::DeletesNothing
            | AfterRefusal::StopsAtCreate
            | AfterRefusal::ChecksFirst
            | AfterRefusal::ReadsAllFirst
            | AfterRefusal::StopsBeforeStage => !manifests.is_empty(),
            AfterRefusal::StopsAfterWave => {
                let deleted = self.wave_of_deletion(object);
                manifests.iter().any(|manifest| wave(manifest) < deleted)
            }
        }
    }

    /// Returns the sync wave in which Argo CD deletes an object: the waves of the objects to delete, the last first; with
    /// `PruneLast`, the one after all others (`sync_context.go getSyncTasks`, v3.5).
    fn wave_of_deletion(&self, object: &Value) -> i64 {
        if says(object, "argocd.argoproj.io/sync-options", "PruneLast=true") {
            return i64::MAX;
        }
        let others = self.objects.iter();
        let others = others.filter(|(key, object)| {
            !self.manifests.contains_key(**key) && self.removal.is_of_application(object)
        });
        let waves: BTreeSet<i64> = others.map(|(_, object)| wave(object)).collect();
        let position = waves.iter().position(|it| *it == wave(object));
        let reversed = position.and_then(|at| waves.iter().rev().nth(at));
        reversed.copied().unwrap_or_else(|| wave(object))
    }
}

fn key(row: &PreviewRow) -> Key {
    let id = row.object.id();
    (id.group, id.kind, id.namespace, id.name)
}

/// Returns the sync wave of an object under Argo CD (`argo-cd/gitops-engine/pkg/sync/syncwaves/waves.go Wave`, v3.5).
fn wave(object: &Value) -> i64 {
    let annotations = object.metadata().and_then(|meta| meta.get("annotations"));
    let number = |name: &str| annotations?.get(name)?.as_str()?.parse().ok();
    let wave = number("argocd.argoproj.io/sync-wave");
    wave.or_else(|| number("helm.sh/hook-weight"))
        .unwrap_or_default()
}
