//! The consequences of a refused object for the other objects of a tool.

use std::collections::{BTreeSet, HashMap};

use optimist_client::Preset;
use optimist_client::tracking::{SYNC_OPTIONS, says};
use serde::Serialize;
use serde_json::Value;

use super::cluster::Key;
use super::removed::Removal;
use super::row::{PreviewOutcome, PreviewRow, Trouble};
use super::sync_wave::SyncWave;
use super::{Assumed, DeliveryTool, Pruning, order};

/// A tool's treatment of the other objects when one is refused. The fields of a row show the result of its own manifest,
/// whatever became of the others. Its outcome is [`NotReached`](super::PreviewOutcome::NotReached) or
/// [`KeptForNow`](super::PreviewOutcome::KeptForNow) if the tool does not come to it.
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
    /// It writes the others of the same sync wave, and nothing of the waves and phases after it. A namespace is written in
    /// the wave of the first object in it, and a definition in that of the first object of its kind (`sync_tasks.go
    /// adjustDeps`). A wave begins with its deletions (`argo-cd/gitops-engine/pkg/sync/sync_context.go Sync` and
    /// `runTasks`, v3.5). The dry run before the first wave
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
    /// The sync waves of the manifests under Argo CD.
    pub(super) waves: HashMap<&'a Key, SyncWave>,
}

impl Delivery<'_> {
    /// Changes the rows of objects that no manifest names and whose deletion the tool does not come to.
    pub(super) fn keep_unreached(&self, rows: &mut [PreviewRow]) {
        if self.after == AfterRefusal::GoesOn {
            return;
        }
        let manifests = |is_so: fn(PreviewOutcome) -> bool| -> Vec<Key> {
            let rows = rows.iter().filter(|row| is_so(row.outcome)).map(key);
            rows.filter(|key| self.manifests.contains_key(key))
                .collect()
        };
        let refused = manifests(|it| it.is_refusal() && it != PreviewOutcome::NotRun);
        let unknown = manifests(|it| it == PreviewOutcome::NotRun);
        for row in rows
            .iter_mut()
            .filter(|it| it.outcome == PreviewOutcome::Deleted)
        {
            let key = key(row);
            let Some(object) = self.objects.get(&key) else {
                continue;
            };
            if self.manifests.contains_key(&key) {
                continue;
            }
            if self.come_first(&refused, object) {
                *row = PreviewRow {
                    later: Some(PreviewOutcome::Deleted),
                    assumed: std::mem::take(&mut row.assumed),
                    troubles: vec![Trouble::DeletedLater],
                    ..PreviewRow::new(row.object.clone(), PreviewOutcome::KeptForNow)
                };
            } else if self.come_first(&unknown, object) {
                row.assumed.push(Assumed::OthersAccepted);
            }
        }
    }

    /// Says in the rows, which are in the order of the writes, where the tool stops: which objects it does not come to,
    /// and which ones it has written before.
    pub(super) fn tell_stop(&self, rows: &mut [PreviewRow]) {
        let Some(stop) = self.stop(rows) else {
            return;
        };
        for (at, row) in rows.iter_mut().enumerate() {
            let manifest = self.manifests.get(&key(row)).copied();
            let is_reached = match (&stop, manifest) {
                (_, None) => true,
                (Stop::AtStart, _) => false,
                (Stop::At(stop), _) => at <= *stop,
                (Stop::AfterWave(last), Some(manifest)) => self.wave(&key(row), manifest) <= *last,
                (Stop::BeforeStage(refused), Some(manifest)) => {
                    let stage = order::stage(manifest);
                    stage < *refused || stage == *refused && row.outcome.is_refusal()
                }
            };
            if !is_reached {
                row.leave_unreached();
            } else if row.has_effect() {
                row.troubles.push(Trouble::DoneBeforeStop);
            }
        }
    }

    /// Returns where the tool stops; `None` if it goes on with the other manifests.
    fn stop(&self, rows: &[PreviewRow]) -> Option<Stop> {
        let refused = || {
            let rows = rows.iter().enumerate();
            rows.filter(|(_, row)| {
                row.outcome.is_refusal() && row.outcome != PreviewOutcome::NotRun
            })
            .filter_map(|(at, row)| Some((at, key(row), *self.manifests.get(&key(row))?)))
        };
        match self.after {
            AfterRefusal::GoesOn | AfterRefusal::DeletesNothing => None,
            AfterRefusal::ChecksFirst | AfterRefusal::ReadsAllFirst => {
                refused().next().map(|_| Stop::AtStart)
            }
            AfterRefusal::StopsAtCreate => {
                let mut created = refused().filter(|(_, key, _)| !self.objects.contains_key(key));
                created.next().map(|(at, _, _)| Stop::At(at))
            }
            AfterRefusal::StopsAfterWave => {
                let waves = refused().map(|(_, key, manifest)| self.wave(&key, manifest));
                waves.min().map(Stop::AfterWave)
            }
            AfterRefusal::StopsBeforeStage => {
                let stages = refused().map(|(_, _, manifest)| order::stage(manifest));
                stages.min().map(Stop::BeforeStage)
            }
        }
    }

    /// Returns whether the tool comes to one of these manifests before it deletes an object.
    fn come_first(&self, manifests: &[Key], object: &Value) -> bool {
        match self.after {
            AfterRefusal::GoesOn => false,
            AfterRefusal::DeletesNothing
            | AfterRefusal::StopsAtCreate
            | AfterRefusal::ChecksFirst
            | AfterRefusal::ReadsAllFirst
            | AfterRefusal::StopsBeforeStage => !manifests.is_empty(),
            AfterRefusal::StopsAfterWave => {
                let deleted = self.wave_of_deletion(object);
                let waves = manifests.iter().filter_map(|key| self.waves.get(key));
                waves.into_iter().any(|wave| *wave < deleted)
            }
        }
    }

    /// Returns the sync wave in which Argo CD deletes an object: the waves of the objects to delete, the last first; with
    /// `PruneLast`, the one after all others (`sync_context.go getSyncTasks`, v3.5).
    fn wave_of_deletion(&self, object: &Value) -> SyncWave {
        if says(object, SYNC_OPTIONS, "PruneLast=true") {
            return SyncWave::LAST;
        }
        let own = SyncWave::named_by(object);
        let others = self.objects.iter();
        let others = others.filter(|(key, object)| {
            !self.manifests.contains_key(**key) && self.removal.is_of_application(object)
        });
        let waves: BTreeSet<SyncWave> = others.map(|(_, it)| SyncWave::named_by(it)).collect();
        let position = waves.iter().position(|it| *it == own);
        let reversed = position.and_then(|at| waves.iter().rev().nth(at));
        reversed.copied().unwrap_or(own)
    }

    /// Returns the sync wave in which Argo CD writes a manifest.
    fn wave(&self, key: &Key, manifest: &Value) -> SyncWave {
        let wave = self.waves.get(key).copied();
        wave.unwrap_or_else(|| SyncWave::named_by(manifest))
    }
}

/// The place among the manifests at which a tool stops.
enum Stop {
    /// Before the first.
    AtStart,
    /// At this row.
    At(usize),
    /// After this sync wave.
    AfterWave(SyncWave),
    /// Before this stage.
    BeforeStage(usize),
}

fn key(row: &PreviewRow) -> Key {
    let id = row.object.id();
    (id.group, id.kind, id.namespace, id.name)
}
