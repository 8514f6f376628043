//! The options of Argo CD that one object can have.

use std::collections::HashSet;

use optimist_client::Preset;
use optimist_client::tracking::{SYNC_OPTIONS, says};
use serde_json::Value;

use super::cluster::key;
use super::unnamed::is_unnamed;

/// The way in which Argo CD writes one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SyncOptions {
    /// With or without server-side apply.
    pub(super) preset: Preset,
    /// `true` if it replaces the object instead of applying it.
    pub(super) replace: bool,
}

impl SyncOptions {
    /// Reads the options of an object (`argo-cd/gitops-engine/pkg/sync/sync_context.go applyObject` and
    /// `shouldUseServerSideApply`, v3.5). Other tools have none. `live`: the object in the cluster, if there is one.
    pub(super) fn read(preset: Preset, manifest: &Value, live: Option<&Value>) -> Self {
        let said = |object: &Value, word| says(object, SYNC_OPTIONS, word);
        if !preset.is_argo_cd() {
            return Self {
                preset,
                replace: false,
            };
        }
        let preset = match preset {
            _ if said(manifest, "ServerSideApply=false") => Preset::ArgoCdClientSide,
            _ if said(manifest, "ServerSideApply=true") => Preset::ArgoCdServerSide,
            preset => preset,
        };
        Self {
            preset,
            replace: said(manifest, "Replace=true")
                || live.is_some_and(|it| said(it, "Replace=true")),
        }
    }
}

/// Keeps the last manifest of each object (`argo-cd/controller/state.go NormalizeTargetObjects`, v3.5).
pub(super) fn keep_last(manifests: &mut Vec<Value>) {
    let mut known = HashSet::new();
    manifests.reverse();
    manifests.retain(|manifest| is_unnamed(manifest) || known.insert(key(manifest)));
    manifests.reverse();
}
