//! A change beside the object as a tool has read it: the tool makes its write of both.

use std::sync::Arc;

use optimist_apiserver::apply::{Managers, Set, compare, field_set};
use optimist_apiserver::patch::merge_diff;
use optimist_apiserver::server::{Definition, Resource};
use serde_json::Value;

use super::tracking;
use crate::{
    ChangeContent, ObjectRef, Preset, Strategy, WantedChange, WorkingCopy, Write, bare,
    manifest_fields, three_way_patch,
};

/// The agent of controllers whose manager was not chosen.
const CONTROLLER: &str = "controller";

/// A change, and the object as its tool has read it.
#[derive(Clone, Debug)]
pub struct ReadChange<'a> {
    /// The object to change.
    pub object: &'a ObjectRef,
    /// The change.
    pub change: &'a WantedChange,
    /// The object as it was when the change was thought of.
    pub first: &'a Arc<Value>,
    /// The object as it was read now.
    pub live: Arc<Value>,
}

impl ReadChange<'_> {
    /// The patch of Helm 3 (`createPatch`): kinds that Helm was not built with get a patch of the difference
    /// between the two manifests, whatever the object has.
    pub(super) fn helm_3_patch(&self, manager: &str) -> Value {
        let previous = self.change.previous.clone().unwrap_or_else(|| {
            let owned = self.owned_by(manager);
            manifest_fields::part(&self.live, &owned, self.resource())
        });
        let previous = bare(&manifest_fields::of_object(&previous, &self.live));
        let manifest = match &self.change.content {
            ChangeContent::Manifest(_) => bare(&self.manifest_after(&previous)),
            ChangeContent::Edited(_) => self.manifest_after(&previous),
        };
        let manifest = tracking::tracked(Preset::Helm3, manifest, &self.live);
        match self.resource().definition {
            Definition::Builtin(_) => {
                three_way_patch(self.resource(), &previous, &self.live, &manifest)
            }
            Definition::Custom(_) => merge_diff(&previous, &manifest),
        }
    }

    pub(super) fn resource(&self) -> &Resource {
        self.object.resource()
    }

    /// A working copy with the change.
    pub fn copy(&self) -> WorkingCopy {
        let mut copy = WorkingCopy::default();
        match &self.change.content {
            ChangeContent::Manifest(manifest) => {
                copy.settle(Arc::clone(&self.live));
                let manifest = manifest_fields::of_object(manifest, &self.live);
                let merged = manifest_fields::merged(&self.live, &manifest, self.resource());
                copy.edit(merged);
            }
            ChangeContent::Edited(object) => {
                copy.settle(Arc::clone(self.first));
                copy.edit(object.clone());
                copy.refresh(Arc::clone(&self.live), &self.resource().root);
            }
        }
        copy
    }

    /// The object with the change.
    pub(super) fn edited(&self) -> Value {
        let copy = self.copy();
        let edited = copy.edited().map(|object| (**object).clone());
        edited.unwrap_or_default()
    }

    /// Returns the manifest of a manager: the one in the change, or for an edited object the fields
    /// that the manager declared before, with the edits. The additions of the tool are in it.
    pub fn manifest(&self, preset: Option<Preset>, manager: &str) -> Value {
        let manifest = self.untracked(manager);
        match preset {
            Some(preset) => tracking::tracked(preset, manifest, &self.live),
            None => manifest,
        }
    }

    fn untracked(&self, manager: &str) -> Value {
        match &self.change.content {
            ChangeContent::Manifest(manifest) => manifest_fields::of_object(manifest, &self.live),
            ChangeContent::Edited(_) => {
                let write = Write {
                    manager: Some(manager.to_owned()),
                    ..Write::usual(Strategy::Apply)
                };
                let body = write.body(self.resource(), &self.copy(), manager);
                body.unwrap_or_else(|| Value::Object(Default::default()))
            }
        }
    }

    /// Returns the manifest in the change, or for an edited object the fields that a former one
    /// declared, with the edits.
    pub(super) fn manifest_after(&self, former: &Value) -> Value {
        match &self.change.content {
            ChangeContent::Manifest(manifest) => manifest_fields::of_object(manifest, &self.live),
            ChangeContent::Edited(_) => self.declared_and_edited(former),
        }
    }

    fn declared_and_edited(&self, former: &Value) -> Value {
        let edited = self.edited();
        let root = &self.resource().root;
        let changed = compare(&self.live, &edited, root);
        let fields = field_set(former, root)
            .union(&changed.added)
            .union(&changed.modified);
        manifest_fields::part(&edited, &fields, self.resource())
    }

    /// The manager that a write goes by.
    pub fn manager(&self, preset: Preset, write: &Write) -> String {
        if let Some((_, manager)) = self.change.refused.as_ref().filter(|it| it.0 == preset) {
            return manager.clone();
        }
        if preset.is_helm()
            && let Some(manager) = tracking::helm_manager(self.first)
        {
            return manager;
        }
        let chosen = self.change.manager.as_ref();
        let chosen = chosen.filter(|_| preset.manager_is_chosen());
        let own = chosen.or(write.manager.as_ref()).cloned();
        own.unwrap_or_else(|| CONTROLLER.to_owned())
    }

    /// Returns the fields that a manager owns, by any operation on the object itself.
    pub(super) fn owned_by(&self, name: &str) -> Set {
        let managers = Managers::of_object(&self.live);
        let own = managers
            .iter()
            .filter(|owned| owned.manager.name == name && owned.manager.subresource.is_empty());
        own.fold(Set::default(), |all, owned| all.union(&owned.set))
    }
}

/// Returns whether a client applies server-side: it creates an object by an apply, too. Then the object is
/// one of which only the name is known.
pub(super) fn applies(preset: Preset) -> bool {
    matches!(
        preset,
        Preset::KubectlApplyServerSide
            | Preset::Helm4
            | Preset::ArgoCdServerSide
            | Preset::Flux
            | Preset::Terraform
            | Preset::ControllerApply
    )
}
