//! Hooks of Helm and Argo CD in a preview.

use crate::previewed::row;
use optimist_apiserver::server::Release;
use optimist_client::Preset;
use optimist_diagnose::preview::{
    DeliveryTool, Hook, HookAction, Preview, PreviewInput, PreviewOutcome, Pruning,
};
use optimist_diagnose::ways::ReleaseMethod;
use serde_json::{Value, json};

fn object(name: &str, annotations: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"key": "2"},
        "metadata": {"name": name, "annotations": annotations}})
}

fn live(name: &str, annotations: Value) -> Value {
    let mut live = object(name, annotations);
    live["metadata"]["namespace"] = "shop".into();
    live["metadata"]["uid"] = name.into();
    live["metadata"]["annotations"]["meta.helm.sh/release-name"] = "shop".into();
    live["metadata"]["annotations"]["meta.helm.sh/release-namespace"] = "shop".into();
    live["metadata"]["annotations"]["argocd.argoproj.io/tracking-id"] =
        format!("shop:/ConfigMap:shop/{name}").into();
    live["data"]["key"] = "1".into();
    live
}

fn run(tool: DeliveryTool, before: Vec<Value>, next: Vec<Value>) -> Preview {
    Preview::run(PreviewInput {
        left_out: Vec::new(),
        earlier: Some(before.clone()),
        live: before,
        next,
        tool,
        namespace: Some("shop".to_owned()),
        release: Release::default(),
    })
}

fn tool(preset: Preset) -> DeliveryTool {
    DeliveryTool {
        prune: match preset {
            Preset::ArgoCdClientSide | Preset::ArgoCdServerSide => Pruning::Tracked,
            _ => Pruning::None,
        },
        ..DeliveryTool::new(preset)
    }
}

/// The hook of a manifest, whose object is there already.
fn hook(tool: DeliveryTool, annotations: &Value) -> Option<Hook> {
    let before = vec![live("hook", annotations.clone()), live("other", json!({}))];
    let next = vec![
        object("hook", annotations.clone()),
        object("other", json!({})),
    ];
    let preview = run(tool, before, next);
    assert_ne!(row(&preview, "other").outcome, PreviewOutcome::Hook);
    let row = row(&preview, "hook");
    assert_eq!(row.hook.is_some(), row.outcome == PreviewOutcome::Hook);
    assert!(row.hook.is_none() || row.code.is_none() && row.fields.is_empty());
    row.hook.clone()
}

#[test]
fn a_hook_of_helm_is_deleted_and_created_anew_unless_its_policies_say_otherwise() {
    let policy = |policy: &str| {
        let mut annotations = json!({"helm.sh/hook": "pre-upgrade, post-install"});
        if !policy.is_empty() {
            annotations["helm.sh/hook-delete-policy"] = policy.into();
        }
        annotations
    };
    let action = |tool: DeliveryTool, annotations: &Value| {
        let hook = hook(tool, annotations).expect("it is a hook");
        (
            hook.action,
            hook.deleted_if_succeeded,
            hook.deleted_if_failed,
        )
    };
    for preset in [Preset::Helm3, Preset::Helm4] {
        let usual = action(tool(preset), &policy(""));
        assert_eq!(usual, (HookAction::Recreated, false, false), "{preset:?}");
        let both = policy("before-hook-creation,hook-succeeded");
        assert_eq!(
            action(tool(preset), &both),
            (HookAction::Recreated, true, false)
        );
    }
    let kept = policy("hook-failed");
    let created = (HookAction::Created, false, true);
    assert_eq!(action(tool(Preset::Helm3), &kept), created);
    assert_eq!(
        action(tool(Preset::Helm4), &kept),
        (HookAction::Applied, false, true)
    );
    let client_side = DeliveryTool {
        last_release: Some(ReleaseMethod::ClientSide),
        ..tool(Preset::Helm4)
    };
    assert_eq!(action(client_side, &kept), created);
    // The release exists, so that this is an upgrade.
    for events in [
        "pre-install",
        "test",
        "pre-delete,post-rollback",
        "nonsense",
        "pre-upgrade,nonsense",
    ] {
        let hook = hook(tool(Preset::Helm3), &json!({"helm.sh/hook": events}));
        assert_eq!(
            hook.map(|it| it.action),
            Some(HookAction::NotRun),
            "{events}"
        );
    }
}

#[test]
fn argo_cd_reads_its_own_hooks_and_those_of_helm() {
    for preset in [Preset::ArgoCdClientSide, Preset::ArgoCdServerSide] {
        let action = |annotations: Value| hook(tool(preset), &annotations).map(|it| it.action);
        let own = |event: &str| action(json!({"argocd.argoproj.io/hook": event}));
        assert_eq!(own("PreSync"), Some(HookAction::Recreated));
        assert_eq!(own("Skip"), Some(HookAction::NotRun));
        assert_eq!(own("PostDelete"), Some(HookAction::NotRun));
        let helm = |event: &str| action(json!({"helm.sh/hook": event}));
        assert_eq!(helm("pre-install"), Some(HookAction::Recreated));
        assert_eq!(helm("pre-rollback"), Some(HookAction::NotRun));
        assert_eq!(helm("crd-install"), None);
        let kept = json!({"argocd.argoproj.io/hook": "Sync",
            "argocd.argoproj.io/hook-delete-policy": "HookSucceeded"});
        let hook = hook(tool(preset), &kept).expect("it is a hook");
        assert_eq!(hook.action, HookAction::Applied);
        assert!(hook.deleted_if_succeeded && !hook.deleted_if_failed);
    }
}

#[test]
fn the_other_tools_write_a_hook_as_any_object() {
    let annotations = json!({"helm.sh/hook": "pre-upgrade", "argocd.argoproj.io/hook": "PreSync"});
    for preset in [Preset::KubectlApply, Preset::Flux, Preset::Terraform] {
        assert_eq!(hook(tool(preset), &annotations), None, "{preset:?}");
    }
    let argo = json!({"argocd.argoproj.io/hook": "PreSync"});
    assert_eq!(hook(tool(Preset::Helm4), &argo), None);
}

#[test]
fn a_hook_that_left_the_chart_is_not_deleted_with_it() {
    for (preset, annotations) in [
        (Preset::Helm3, json!({"helm.sh/hook": "pre-upgrade"})),
        (Preset::Helm4, json!({"helm.sh/hook": "pre-upgrade"})),
        (
            Preset::ArgoCdServerSide,
            json!({"argocd.argoproj.io/hook": "PreSync"}),
        ),
    ] {
        let before = vec![
            live("hook", annotations),
            live("gone", json!({})),
            live("other", json!({})),
        ];
        let preview = run(tool(preset), before, vec![object("other", json!({}))]);
        let hook = row(&preview, "hook");
        let action = hook.hook.as_ref().map(|it| it.action);
        assert_eq!(
            (hook.outcome, action),
            (PreviewOutcome::Hook, Some(HookAction::Left)),
            "{preset:?}"
        );
        let gone = row(&preview, "gone").outcome;
        assert!(
            [PreviewOutcome::Deleted, PreviewOutcome::KeptForNow].contains(&gone),
            "{preset:?} {gone:?}"
        );
    }
}

#[test]
fn a_hook_without_a_name_gets_one_from_argo_cd_and_fails_with_helm() {
    let of = |preset: Preset, annotations: Value| {
        let mut hook = object("", annotations);
        hook["metadata"]["generateName"] = "migrate-".into();
        let preview = run(tool(preset), Vec::new(), vec![hook]);
        row(&preview, "migrate-*").hook.as_ref().map(|it| it.action)
    };
    let helm = json!({"helm.sh/hook": "pre-install"});
    let kept =
        json!({"helm.sh/hook": "pre-install", "helm.sh/hook-delete-policy": "hook-succeeded"});
    assert_eq!(
        of(Preset::ArgoCdClientSide, helm.clone()),
        Some(HookAction::Named)
    );
    assert_eq!(of(Preset::Helm3, helm), Some(HookAction::Fails));
    assert_eq!(of(Preset::Helm3, kept.clone()), Some(HookAction::Named));
    assert_eq!(of(Preset::Helm4, kept), Some(HookAction::Fails));
}
