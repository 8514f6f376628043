//! The phases and waves in which Argo CD syncs (`argo-cd/gitops-engine/pkg/sync/sync_tasks.go`, v3.5).

use optimist_apiserver::object::{Metadata, text};
use serde_json::Value;

use super::{hook, order};
use crate::case::ObjectId;

/// A part of a sync. Argo CD goes from one to the next once everything of it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SyncWave {
    phase: SyncPhase,
    wave: i64,
}

/// A phase of a sync, in its order (`sync_tasks.go syncPhaseOrder`, v3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SyncPhase {
    PreSync,
    Sync,
    PostSync,
    SyncFail,
}

impl SyncWave {
    /// The one after all waves of the sync phase, in which Argo CD deletes objects with `PruneLast`.
    pub(super) const LAST: Self = Self {
        phase: SyncPhase::Sync,
        wave: i64::MAX,
    };

    /// Returns the wave that an object names itself, in the sync phase.
    pub(super) fn named_by(object: &Value) -> Self {
        Self {
            phase: SyncPhase::Sync,
            wave: wave(object),
        }
    }
}

/// A manifest in a phase of a sync.
#[derive(Clone, Copy)]
struct WaveTask<'a> {
    at: usize,
    manifest: &'a Value,
    wave: SyncWave,
}

/// Returns the positions of manifests in the order in which Argo CD writes them, each with its wave. `destination`: the
/// namespace of the application, if it is known. A hook of several phases stands where it runs first.
pub(super) fn of_manifests(
    manifests: &[Value],
    destination: Option<&str>,
) -> Vec<(usize, SyncWave)> {
    let mut tasks: Vec<WaveTask<'_>> = Vec::new();
    for (at, manifest) in manifests.iter().enumerate() {
        let phases = hook::sync_phases(manifest).into_iter();
        tasks.extend(phases.map(|phase| WaveTask {
            at,
            manifest,
            wave: SyncWave {
                phase,
                wave: wave(manifest),
            },
        }));
    }
    tasks.sort_by_key(|task| (task.wave, kind_order(task.manifest), task.manifest.name()));
    lift(&mut tasks, namespace_name, |manifest| {
        needed_namespace(manifest, destination)
    });
    lift(&mut tasks, defined_kind, |manifest| {
        let id = ObjectId::from_object(manifest);
        Some((id.group, id.kind))
    });
    let mut waves: Vec<(usize, SyncWave)> = Vec::new();
    for task in tasks {
        if !waves.iter().any(|(at, _)| *at == task.at) {
            waves.push((task.at, task.wave));
        }
    }
    waves
}

/// Moves what other manifests need before the first of them, and into its phase and wave (`sync_tasks.go adjustDeps`,
/// v3.5): a namespace before the objects in it, and a definition before the objects of its kind. What comes before them
/// by itself stays where it is.
fn lift<'a, K: PartialEq>(
    tasks: &mut [WaveTask<'a>],
    made: impl Fn(&'a Value) -> Option<K>,
    needed: impl Fn(&'a Value) -> Option<K>,
) {
    // The keys that were needed so far, with the position at which each is needed first.
    let mut first: Vec<(K, usize)> = Vec::new();
    for at in 0..tasks.len() {
        let manifest = tasks[at].manifest;
        if let Some(key) = made(manifest) {
            let Some(index) = first.iter().find(|(it, _)| *it == key).map(|it| it.1) else {
                continue;
            };
            tasks[at].wave = tasks[index].wave;
            tasks[index..=at].rotate_right(1);
            for (_, position) in first.iter_mut().filter(|it| it.1 >= index) {
                *position += 1;
            }
        } else if let Some(key) = needed(manifest)
            && !first.iter().any(|(it, _)| *it == key)
        {
            first.push((key, at));
        }
    }
}

/// Returns the place of a kind in a wave: as under Helm, but for three kinds that Argo CD does not know (`sync_tasks.go
/// kindOrder`, v3.5).
fn kind_order(manifest: &Value) -> usize {
    let kind = text(manifest, "kind");
    let is_unknown = kind == "PriorityClass" || kind.ends_with("WebhookConfiguration");
    let known = order::helm_position(kind).filter(|_| !is_unknown);
    known.unwrap_or(usize::MAX)
}

fn namespace_name(manifest: &Value) -> Option<&str> {
    let is_one = text(manifest, "kind") == "Namespace" && text(manifest, "apiVersion") == "v1";
    is_one.then(|| manifest.name())
}

/// Returns the namespace in which an object is for Argo CD: it gives an object without one that of the application, also if
/// its kind has none (`sync_context.go getSyncTasks`, v3.5).
fn needed_namespace<'a>(manifest: &'a Value, destination: Option<&'a str>) -> Option<&'a str> {
    let own = Some(manifest.namespace()).filter(|namespace| !namespace.is_empty());
    own.or(destination)
}

fn defined_kind(manifest: &Value) -> Option<(String, String)> {
    let is_definition = text(manifest, "kind") == "CustomResourceDefinition"
        && ObjectId::from_object(manifest).group == "apiextensions.k8s.io";
    let spec = manifest.get("spec").filter(|_| is_definition)?;
    let kind = spec.get("names")?.get("kind")?.as_str()?;
    Some((text(spec, "group").to_owned(), kind.to_owned()))
}

/// Returns the number of the wave that an object names (`argo-cd/gitops-engine/pkg/sync/syncwaves/waves.go Wave`, v3.5).
fn wave(object: &Value) -> i64 {
    let annotations = object.metadata().and_then(|meta| meta.get("annotations"));
    let number = |name: &str| annotations?.get(name)?.as_str()?.parse().ok();
    let wave = number("argocd.argoproj.io/sync-wave");
    wave.or_else(|| number("helm.sh/hook-weight"))
        .unwrap_or_default()
}
