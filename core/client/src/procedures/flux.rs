//! Flux's kustomize-controller.

use std::mem::discriminant;
use std::sync::Arc;

use optimist_apiserver::apply::{LAST_APPLIED, from_fields_v1, to_fields_v1};
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::pointer::escape;
use serde_json::{Value, json};

use super::agent::Agent;
use super::deletion::Deletion;
use super::part::PartList;
use super::upgrade::Progress;
use crate::{Next, Patch, Reply};

/// The labels and annotations by which people tell Flux how to treat an object.
const SSA: &str = "kustomize.toolkit.fluxcd.io/ssa";
const RECONCILE: &str = "kustomize.toolkit.fluxcd.io/reconcile";
const FORCE: &str = "kustomize.toolkit.fluxcd.io/force";

/// Annotations and labels that Flux removes.
const REMOVED_ANNOTATIONS: [&str; 3] = [
    LAST_APPLIED,
    "kustomize.toolkit.fluxcd.io/checksum",
    "fluxcd.io/sync-checksum",
];
const REMOVED_LABELS: [&str; 1] = ["fluxcd.io/sync-gc-mark"];

/// Returns whether a label or an annotation has this value (`AnyInMetadata` in `fluxcd/pkg/ssa/utils`, v0.76:
/// the case of the value does not matter).
fn says(object: &Value, name: &str, value: &str) -> bool {
    let metadata = object.metadata();
    ["labels", "annotations"].iter().any(|of| {
        let said = metadata.and_then(|meta| meta.get(*of)?.get(name)?.as_str());
        said.is_some_and(|said| said.eq_ignore_ascii_case(value))
    })
}

/// The manager and User-Agent of Flux.
const MANAGER: &str = "kustomize-controller";

/// A reconciliation of one object: nothing for an object that is excluded; a dry run; then entries
/// of kubectl become kustomize-controller's, and the annotation of client-side apply goes; then the
/// apply, if the dry run showed a difference or something was cleaned up
/// (`fluxcd/pkg/ssa/manager_apply.go ApplyAll`, and kustomize-controller's
/// `kustomization_controller.go apply`).
#[derive(Clone, Debug, PartialEq, Hash)]
pub(super) struct Flux {
    agent: Agent,
    manifest: Arc<Value>,
    /// The object as it was read.
    live: Arc<Value>,
    /// `true` if the Kustomization has `spec.force`.
    force: bool,
    stage: FluxStage,
}

#[derive(Clone, Debug, PartialEq, Hash)]
enum FluxStage {
    DryRun,
    CleaningUp(Arc<Value>),
    Deleting(Deletion),
    Applying,
    Done,
}

impl Flux {
    pub(super) fn new(agent: Agent, manifest: Value, live: Arc<Value>, force: bool) -> Self {
        let either = |name, value| says(&manifest, name, value) || says(&live, name, value);
        let excluded = either(RECONCILE, "disabled")
            || either(SSA, "Ignore")
            || says(&manifest, SSA, "IfNotPresent");
        Self {
            agent,
            stage: match excluded {
                true => FluxStage::Done,
                false => FluxStage::DryRun,
            },
            manifest: Arc::new(manifest),
            live,
            force,
        }
    }

    /// Returns whether the manifest or the object says so.
    fn is_told(&self, name: &str, value: &str) -> bool {
        says(&self.manifest, name, value) || says(&self.live, name, value)
    }

    pub(super) fn next(&self) -> Next {
        let apply = || self.agent.apply(&self.manifest, Some(true));
        match &self.stage {
            FluxStage::DryRun => self.agent.sends(&apply(), true),
            FluxStage::CleaningUp(patch) => {
                let patch = Patch::Json((**patch).clone());
                self.agent.sends(&self.agent.patch(patch), false)
            }
            FluxStage::Deleting(deletion) => deletion.next(),
            FluxStage::Applying => self.agent.sends(&apply(), false),
            FluxStage::Done => Next::Done,
        }
    }

    pub(super) fn answered(&mut self, reply: &Reply) {
        // `fluxcd/pkg/ssa/manager_apply.go ApplyAll` and `shouldForceApply`, v0.76: not for an object that is not there.
        let exists = !self.live.resource_version().is_empty();
        let forces = exists && (self.force || self.is_told(FORCE, "enabled"));
        match &mut self.stage {
            FluxStage::DryRun if reply.is_accepted() => self.compare(&reply.body),
            // Flux takes any 409 and any 422 for one about a field that cannot be changed
            // (`IsImmutableError` in `fluxcd/pkg/ssa/errors`, v0.76).
            FluxStage::DryRun if forces && matches!(reply.code, 409 | 422) => {
                self.stage = FluxStage::Deleting(Deletion::new(&self.agent));
            }
            FluxStage::CleaningUp(_) if reply.is_accepted() => self.stage = FluxStage::Applying,
            FluxStage::Deleting(deletion) => match deletion.answered(reply) {
                Progress::More => {}
                Progress::Accepted => self.stage = FluxStage::Applying,
                Progress::Nothing | Progress::Refused => self.stage = FluxStage::Done,
            },
            _ => self.stage = FluxStage::Done,
        }
    }

    pub(super) fn wake(&mut self) {
        if let FluxStage::Deleting(deletion) = &mut self.stage {
            deletion.wake();
        }
    }

    pub(super) fn add_parts<'a>(&'a self, parts: &mut PartList<'a>) {
        parts.plain((&self.agent, self.force, discriminant(&self.stage)));
        parts.object(&self.manifest);
        parts.object(&self.live);
        match &self.stage {
            FluxStage::CleaningUp(patch) => parts.object(patch),
            FluxStage::Deleting(deletion) => parts.plain(deletion),
            FluxStage::DryRun | FluxStage::Applying | FluxStage::Done => {}
        }
    }

    pub(super) fn is_deleting(&self) -> bool {
        matches!(&self.stage, FluxStage::Deleting(deletion) if deletion.is_deleting())
    }

    /// Returns whether its next request stores nothing.
    pub(super) fn is_dry_run(&self) -> bool {
        self.stage == FluxStage::DryRun
    }

    /// Decides the next step after the dry run.
    fn compare(&mut self, shown: &Value) {
        let cleanup = match self.is_told(SSA, "Merge") {
            true => Vec::new(),
            false => cleanup(&self.live),
        };
        self.stage = if !cleanup.is_empty() {
            FluxStage::CleaningUp(Arc::new(Value::Array(cleanup)))
        } else if drifted(&self.live, shown) {
            FluxStage::Applying
        } else {
            FluxStage::Done
        };
    }
}

/// Returns whether a dry run showed other labels, annotations or content (`hasDrifted`).
fn drifted(live: &Value, shown: &Value) -> bool {
    let in_metadata = ["labels", "annotations"].iter().any(|field| {
        let of = |object: &Value| object.metadata().and_then(|meta| meta.get(*field)).cloned();
        of(live) != of(shown)
    });
    let content = |object: &Value| {
        let mut object = object.clone();
        if let Some(members) = object.as_object_mut() {
            members.remove("metadata");
            members.remove("status");
        }
        object
    };
    in_metadata || content(live) != content(shown)
}

/// The entries that kustomize-controller takes over, by the beginning of their names.
const TAKEN_OVER_BY_FLUX: [(&str, &str); 4] = [
    ("kubectl", "Apply"),
    ("kubectl", "Update"),
    ("before-first-apply", "Update"),
    ("kustomize-controller", "Update"),
];

/// The JSON patch by which Flux cleans up (`cleanupMetadata`, `PatchReplaceFieldsManagers`).
fn cleanup(live: &Value) -> Vec<Value> {
    let mut operations = Vec::new();
    let names = REMOVED_ANNOTATIONS.map(|name| ("annotations", name));
    let labels = REMOVED_LABELS.map(|name| ("labels", name));
    for (of, name) in names.into_iter().chain(labels) {
        let entries = live.metadata().and_then(|meta| meta.get(of));
        if entries.is_some_and(|all| all.get(name).is_some()) {
            let name = escape(name);
            operations.push(json!({"op": "remove", "path": format!("/metadata/{of}/{name}")}));
        }
    }
    let entries = live.managed_entries();
    let own = MANAGER;
    let is_own =
        |entry: &Value| text(entry, "manager") == own && text(entry, "operation") == "Apply";
    let mut applied = entries.iter().rfind(|entry| is_own(entry)).cloned();
    let skipped = applied.clone();
    let (mut kept, mut edited) = (Vec::new(), false);
    for entry in entries
        .iter()
        .filter(|entry| Some(*entry) != skipped.as_ref())
    {
        let taken = TAKEN_OVER_BY_FLUX.iter().any(|(name, operation)| {
            text(entry, "manager").starts_with(name)
                && text(entry, "operation") == *operation
                && text(entry, "subresource").is_empty()
        });
        if !taken {
            kept.push(entry.clone());
            continue;
        }
        edited = true;
        match &mut applied {
            None => {
                let mut first = entry.clone();
                first["manager"] = own.into();
                first["operation"] = "Apply".into();
                applied = Some(first);
            }
            Some(applied) => {
                let sets = [&applied["fieldsV1"], &entry["fieldsV1"]].map(from_fields_v1);
                if let [Some(a), Some(b)] = sets {
                    applied["fieldsV1"] = to_fields_v1(&a.union(&b));
                }
            }
        }
    }
    if edited {
        kept.extend(applied);
        let path = "/metadata/managedFields";
        operations.push(json!({"op": "replace", "path": path, "value": kept}));
    }
    operations
}
