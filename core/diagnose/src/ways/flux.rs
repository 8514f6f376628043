//! The requests of Flux's kustomize-controller.

use optimist_apiserver::apply::{LAST_APPLIED, from_fields_v1, to_fields_v1};
use optimist_apiserver::object::{Metadata, text};
use optimist_client::{Preset, Strategy, Write};
use serde_json::{Value, json};

use super::{Client, OnOwned, read};

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

/// Whether a label or an annotation has this value (`AnyInMetadata` in `fluxcd/pkg/ssa/utils`, v0.76:
/// the case of the value does not matter).
fn says(object: &Value, name: &str, value: &str) -> bool {
    let metadata = object.metadata();
    ["labels", "annotations"].iter().any(|of| {
        let said = metadata.and_then(|meta| meta.get(*of)?.get(name)?.as_str());
        said.is_some_and(|said| said.eq_ignore_ascii_case(value))
    })
}

impl Client<'_> {
    /// Flux: nothing for an object that is excluded; a dry run; then entries of kubectl become kustomize-controller's, and the annotation of
    /// client-side apply goes; then the apply, if the dry run showed a difference or something was
    /// cleaned up (`fluxcd/pkg/ssa/manager_apply.go ApplyAll`, and kustomize-controller's
    /// `kustomization_controller.go apply`).
    pub(super) fn flux(&mut self, write: &Write) {
        let manifest = self.manifest(Some(Preset::Flux), "kustomize-controller");
        let either = |name, value| says(&manifest, name, value) || says(&self.live, name, value);
        let excluded = either(RECONCILE, "disabled")
            || either(SSA, "Ignore")
            || says(&manifest, SSA, "IfNotPresent");
        let (merges, forces) = (either(SSA, "Merge"), either(FORCE, "enabled"));
        if excluded {
            return;
        }
        let dry = Write {
            dry_run: true,
            ..write.clone()
        };
        if !self.apply(Preset::Flux, &dry, OnOwned::Usual) {
            if forces && self.is_immutable() {
                self.create_again(write);
            }
            return;
        }
        let shown = self
            .sent
            .last()
            .map(|exchange| (*exchange.received).clone());
        let drifted = shown.is_some_and(|shown| drifted(&self.live, &shown));
        let cleanup = if merges {
            Vec::new()
        } else {
            cleanup(&self.live)
        };
        let cleaned = !cleanup.is_empty();
        if cleaned {
            let by = Write {
                manager: Some("kustomize-controller".to_owned()),
                ..Write::usual(Strategy::JsonPatch)
            };
            if !self.write(Preset::Flux, &by, &Value::Array(cleanup)) {
                return;
            }
        }
        if drifted || cleaned {
            self.apply(Preset::Flux, write, OnOwned::Usual);
        }
    }

    /// Whether Flux takes the last answer for one about a field that cannot be changed: any 409 and any
    /// 422 (`IsImmutableError` in `fluxcd/pkg/ssa/errors`, v0.76).
    fn is_immutable(&self) -> bool {
        let code = self.sent.last().map(|exchange| exchange.code);
        matches!(code, Some(409 | 422))
    }

    /// Flux deletes the object, and applies it when it is gone.
    fn create_again(&mut self, write: &Write) {
        if self.delete("kustomize-controller") && read(self.server, self.subject).is_null() {
            self.apply(Preset::Flux, write, OnOwned::Usual);
        }
    }
}

/// Whether a dry run showed other labels, annotations or content (`hasDrifted`).
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
            let name = optimist_apiserver::pointer::escape(name);
            operations.push(json!({"op": "remove", "path": format!("/metadata/{of}/{name}")}));
        }
    }
    let managed = live.metadata().and_then(|meta| meta.get("managedFields"));
    let Some(entries) = managed.and_then(Value::as_array) else {
        return operations;
    };
    let own = "kustomize-controller";
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
