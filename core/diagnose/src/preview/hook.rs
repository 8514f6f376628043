//! Hooks of Helm and Argo CD: objects that are no part of the ordinary write.

use optimist_apiserver::object::{Metadata, text};
use optimist_client::Preset;
use serde::Serialize;
use serde_json::Value;

use super::DeliveryTool;
use super::sync_wave::SyncPhase;
use super::unnamed::is_unnamed;
use crate::ways::ReleaseMethod;

/// A hook, and what becomes of its object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hook {
    /// The events at which it runs, in the words of its annotation: `pre-upgrade`, `PostSync`.
    pub events: Vec<String>,
    /// The action of the tool when it runs.
    pub action: HookAction,
    /// `true` if its object is deleted when it has succeeded.
    pub deleted_if_succeeded: bool,
    /// `true` if its object is deleted when it has failed.
    pub deleted_if_failed: bool,
}

/// The action of a tool that runs a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum HookAction {
    /// It deletes the object of this name, and creates it again.
    Recreated,
    /// It creates the object, and fails if there is one.
    Created,
    /// It applies the object, also to one that is there.
    Applied,
    /// It creates an object with another name each time.
    Named,
    /// It fails, because its object has no name.
    Fails,
    /// This write does not run it.
    NotRun,
    /// No manifest names it. The tool does not delete it with its other objects.
    Left,
}

/// The annotations of one tool.
struct HookAnnotations {
    hook: &'static str,
    policy: &'static str,
    policies: [&'static str; 3],
}

const HELM: HookAnnotations = HookAnnotations {
    hook: "helm.sh/hook",
    policy: "helm.sh/hook-delete-policy",
    policies: ["before-hook-creation", "hook-succeeded", "hook-failed"],
};

const ARGO_CD: HookAnnotations = HookAnnotations {
    hook: "argocd.argoproj.io/hook",
    policy: "argocd.argoproj.io/hook-delete-policy",
    policies: ["BeforeHookCreation", "HookSucceeded", "HookFailed"],
};

impl Hook {
    /// Reads the hook that a manifest is for a tool; `None` if it is an ordinary object. `release`: whether Helm has a
    /// release before this write; `None` if nothing says it.
    pub(super) fn read(
        tool: &DeliveryTool,
        manifest: &Value,
        release: Option<bool>,
    ) -> Option<Self> {
        let (events, policies) = match tool.preset {
            Preset::Helm3 | Preset::Helm4 => of_helm(manifest)?,
            Preset::ArgoCdClientSide | Preset::ArgoCdServerSide => of_argo_cd(manifest)?,
            _ => return None,
        };
        let has = |at: usize| policies.contains(&at);
        let runs = (!tool.preset.is_helm() || events.iter().all(|event| is_event(event)))
            && events.iter().any(|event| runs(tool.preset, event, release));
        let action = match runs {
            true => action(tool, manifest, policies.is_empty() || has(0)),
            false => HookAction::NotRun,
        };
        Some(Self {
            action,
            deleted_if_succeeded: runs && has(1),
            deleted_if_failed: runs && has(2),
            events,
        })
    }

    /// Reads a hook in the cluster that no manifest names. Neither tool deletes it with its other objects: Helm has no
    /// hooks among those of a release (`helm.sh/helm/v4/pkg/release/v1/util/manifest_sorter.go`, v4.2), and Argo CD skips
    /// them (`argo-cd/gitops-engine/pkg/sync/sync_context.go getSyncTasks`, v3.5).
    pub(super) fn left(tool: &DeliveryTool, object: &Value) -> Option<Self> {
        let hook = Self::read(tool, object, None)?;
        Some(Self {
            action: HookAction::Left,
            deleted_if_succeeded: false,
            deleted_if_failed: false,
            ..hook
        })
    }
}

/// Returns the words of an annotation; `None` if there is none.
fn words(object: &Value, name: &str) -> Option<Vec<String>> {
    let annotations = object.metadata()?.get("annotations")?;
    let said = annotations.get(name)?.as_str()?.split(',');
    Some(said.map(|it| it.trim().to_owned()).collect())
}

/// Returns the positions of the delete policies that an object has.
fn policies(object: &Value, names: &HookAnnotations) -> Vec<usize> {
    let said = words(object, names.policy).unwrap_or_default();
    let has = |at: &usize| said.iter().any(|it| it == names.policies[*at]);
    (0..names.policies.len()).filter(has).collect()
}

fn of_helm(object: &Value) -> Option<(Vec<String>, Vec<usize>)> {
    let events = words(object, HELM.hook)?.into_iter();
    let events = events.map(|event| event.to_lowercase()).collect();
    Some((events, policies(object, &HELM)))
}

/// Returns whether Helm knows an event. It skips a hook of which it does not know all events
/// (`manifest_sorter.go sort`, v4.2).
fn is_event(event: &str) -> bool {
    let of_pairs = event
        .strip_prefix("pre-")
        .or_else(|| event.strip_prefix("post-"));
    let pairs = ["install", "upgrade", "delete", "rollback"];
    of_pairs.is_some_and(|it| pairs.contains(&it)) || ["test", "test-success"].contains(&event)
}

/// Argo CD reads the annotations of Helm, if its own do not name a type (`argo-cd/gitops-engine/pkg/sync/hook/hook.go
/// IsHook` and `Types`, `delete_policy.go DeletePolicies`, v3.5).
fn of_argo_cd(object: &Value) -> Option<(Vec<String>, Vec<usize>)> {
    let own = words(object, ARGO_CD.hook);
    let helm = words(object, HELM.hook).filter(|events| *events != ["crd-install"]);
    let events = own.or(helm)?;
    let mut all = policies(object, &ARGO_CD);
    all.extend(policies(object, &HELM));
    Some((events, all))
}

/// Returns the phases of a sync in which Argo CD writes a manifest (`argo-cd/gitops-engine/pkg/sync/sync_phase.go syncPhases`,
/// v3.5). A hook without a phase is not written.
pub(super) fn sync_phases(manifest: &Value) -> Vec<SyncPhase> {
    let Some((events, _)) = of_argo_cd(manifest).filter(|(events, _)| *events != ["Skip"]) else {
        return vec![SyncPhase::Sync];
    };
    let phases = events.iter().filter_map(|event| match event.as_str() {
        "PreSync" | "pre-install" | "pre-upgrade" => Some(SyncPhase::PreSync),
        "Sync" => Some(SyncPhase::Sync),
        "PostSync" | "post-install" | "post-upgrade" => Some(SyncPhase::PostSync),
        "SyncFail" => Some(SyncPhase::SyncFail),
        _ => None,
    });
    let mut phases: Vec<SyncPhase> = phases.collect();
    phases.sort();
    phases.dedup();
    phases
}

/// Returns whether a write runs a hook at this event. The hooks of a deletion, a rollback and a test are not part of a
/// write (`helm.sh/helm/v4/pkg/action/install.go performInstall`, `upgrade.go releasingUpgrade`, v4.2;
/// `argo-cd/gitops-engine/pkg/sync/sync_phase.go syncPhases`, v3.5).
fn runs(preset: Preset, event: &str, release: Option<bool>) -> bool {
    match event {
        "pre-install" | "post-install" if preset.is_helm() => release != Some(true),
        "pre-upgrade" | "post-upgrade" if preset.is_helm() => release != Some(false),
        "pre-install" | "post-install" | "pre-upgrade" | "post-upgrade" => true,
        "PreSync" | "Sync" | "PostSync" | "SyncFail" => !preset.is_helm(),
        _ => false,
    }
}

/// `helm.sh/helm/v4/pkg/action/hooks.go execHookWithDelayedShutdown` and `deleteHookByPolicy`, v4.2, the same in v3.21;
/// `argo-cd/gitops-engine/pkg/sync/sync_context.go getSyncTasks` and `runTasks`, v3.5.
fn action(tool: &DeliveryTool, manifest: &Value, deletes_first: bool) -> HookAction {
    let applies = match tool.preset {
        Preset::Helm3 => false,
        Preset::Helm4 => tool.last_release != Some(ReleaseMethod::ClientSide),
        _ => true,
    };
    // Helm deletes no definition.
    let deletes_first = deletes_first
        && !(tool.preset.is_helm() && text(manifest, "kind") == "CustomResourceDefinition");
    match (is_unnamed(manifest), tool.preset.is_helm()) {
        (true, true) if deletes_first || applies => HookAction::Fails,
        (true, _) => HookAction::Named,
        (false, _) if deletes_first => HookAction::Recreated,
        (false, _) if applies => HookAction::Applied,
        (false, _) => HookAction::Created,
    }
}
