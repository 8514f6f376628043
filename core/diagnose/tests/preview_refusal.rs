//! What a tool does with the objects that it would delete, when another object is refused.

mod previewed;

use optimist_apiserver::server::{Release, Selector};
use optimist_client::Preset;
use optimist_diagnose::preview::{
    AfterRefusal, Assumed, DeliveryTool, Outcome, Preview, PreviewInput, Pruning, Trouble,
};
use previewed::row;
use serde_json::{Value, json};

/// A ConfigMap of the cluster that every tool takes for its own.
fn own(name: &str, version: u32) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"key": "1"}, "metadata": {
        "name": name, "namespace": "shop", "uid": format!("u{version}"),
        "resourceVersion": version.to_string(),
        "labels": {"app": "shop", "applyset.kubernetes.io/part-of": "applyset-a-v1", "kustomize.toolkit.fluxcd.io/name": "shop",
            "kustomize.toolkit.fluxcd.io/namespace": "shop"},
        "annotations": {"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "shop",
            "argocd.argoproj.io/tracking-id": format!("shop:/ConfigMap:shop/{name}"),
            "kubectl.kubernetes.io/last-applied-configuration": "{}"}}})
}

/// An object whose data nobody can change.
fn immutable() -> Value {
    let mut object = own("fixed", 700);
    object["immutable"] = true.into();
    object
}

fn manifest(value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "immutable": true, "data": {"key": value},
        "metadata": {"name": "fixed", "labels": {"app": "shop"}}})
}

fn tool(preset: Preset) -> DeliveryTool {
    let prune = match preset {
        Preset::KubectlApply => Pruning::Selected(Selector::parse("app=shop", "").unwrap()),
        Preset::KubectlApplyServerSide => Pruning::ApplySet {
            id: "applyset-a-v1".to_owned(),
        },
        Preset::Flux | Preset::ArgoCdClientSide | Preset::ArgoCdServerSide => Pruning::Tracked,
        _ => Pruning::None,
    };
    DeliveryTool {
        prune,
        // The objects have no managedFields, so that an apply without it is refused already. With force, a
        // client-side apply would delete the object and create it again.
        force: !matches!(preset, Preset::KubectlApply | Preset::ArgoCdClientSide),
        ..DeliveryTool::new(preset)
    }
}

fn run(preset: Preset, live: Vec<Value>, next: Vec<Value>) -> Preview {
    Preview::of(PreviewInput {
        earlier: Some(live.clone()),
        live,
        next,
        tool: tool(preset),
        namespace: Some("shop".to_owned()),
        release: Release::default(),
    })
}

#[test]
fn an_object_is_deleted_only_if_the_tool_comes_to_it() {
    use AfterRefusal::{DeletesNothing, GoesOn, StopsAfterWave, StopsAtCreate, StopsBeforeStage};
    for (preset, after, deletes) in [
        (Preset::Helm3, StopsAtCreate, false),
        (Preset::Helm4, StopsAtCreate, false),
        (Preset::KubectlApply, DeletesNothing, false),
        (Preset::KubectlApplyServerSide, DeletesNothing, false),
        (Preset::Flux, StopsBeforeStage, false),
        (Preset::ArgoCdClientSide, StopsAfterWave, true),
        (Preset::ArgoCdServerSide, StopsAfterWave, true),
        (Preset::Terraform, GoesOn, true),
    ] {
        let live = vec![immutable(), own("old", 701)];
        let refused = run(preset, live.clone(), vec![manifest("2")]);
        assert_eq!(refused.after_refusal, after, "{preset:?}");
        assert_eq!(row(&refused, "fixed").code, Some(422), "{preset:?}");
        let old = row(&refused, "old");
        if deletes {
            assert_eq!(old.outcome, Outcome::Deleted, "{preset:?}");
        } else {
            assert_eq!(old.outcome, Outcome::KeptForNow, "{preset:?}");
            assert_eq!(old.troubles, [Trouble::DeletedLater]);
            assert_eq!(old.code, None);
        }
        let whole = run(preset, live, vec![manifest("1")]);
        assert!(whole.is_whole(), "{preset:?}");
        assert_eq!(row(&whole, "old").outcome, Outcome::Deleted, "{preset:?}");
    }
}

fn in_wave(mut object: Value, wave: &str) -> Value {
    object["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"] = wave.into();
    object
}

#[test]
fn argo_cd_deletes_first_in_a_wave_and_the_objects_of_the_last_wave_first() {
    let mut last = own("last", 703);
    last["metadata"]["annotations"]["argocd.argoproj.io/sync-options"] =
        "Validate=false,PruneLast=true".into();
    let live = vec![
        immutable(),
        own("wave-0", 701),
        in_wave(own("wave-1", 702), "1"),
        last,
    ];
    let outcomes = |wave: &str| {
        let next = vec![in_wave(manifest("2"), wave)];
        let preview = run(Preset::ArgoCdServerSide, live.clone(), next);
        ["wave-0", "wave-1", "last"].map(|name| row(&preview, name).outcome)
    };
    let (deleted, kept) = (Outcome::Deleted, Outcome::KeptForNow);
    assert_eq!(outcomes("-1"), [kept, kept, kept]);
    assert_eq!(outcomes("0"), [kept, deleted, kept]);
    assert_eq!(outcomes("1"), [deleted, deleted, kept]);
}

#[test]
fn what_could_not_be_run_is_taken_to_be_accepted_and_the_row_says_so() {
    let unknown = json!({"apiVersion": "apps/v1", "kind": "Nothing", "metadata": {"name": "x"}});
    for (preset, assumes) in [(Preset::Helm4, true), (Preset::Terraform, false)] {
        let live = vec![own("old", 701)];
        let preview = run(preset, live, vec![unknown.clone()]);
        assert_eq!(row(&preview, "x").outcome, Outcome::NotRun);
        let old = row(&preview, "old");
        assert_eq!(old.outcome, Outcome::Deleted);
        let assumed = old.assumed.contains(&Assumed::OthersAccepted);
        assert_eq!(assumed, assumes, "{preset:?}");
    }
}

fn unnamed() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"key": "1"},
        "metadata": {"generateName": "migrate-", "labels": {"app": "shop"}}})
}

#[test]
fn a_manifest_without_a_name_is_refused_in_the_words_of_its_tool_and_the_other_rows_are_shown() {
    use AfterRefusal::{DeletesNothing, GoesOn, ReadsAllFirst, StopsAtCreate};
    let kubectl = "from migrate-: cannot use generate name with apply";
    let helm = "could not get information about the resource: resource name may not be empty";
    for (preset, after, words) in [
        (Preset::Helm3, StopsAtCreate, helm),
        (Preset::Helm4, StopsAtCreate, helm),
        (Preset::KubectlApply, DeletesNothing, kubectl),
        (Preset::KubectlApplyServerSide, DeletesNothing, kubectl),
        (
            Preset::Flux,
            ReadsAllFirst,
            "kustomize build failed: missing metadata.name in object",
        ),
        (Preset::ArgoCdClientSide, ReadsAllFirst, kubectl),
        (Preset::ArgoCdServerSide, ReadsAllFirst, kubectl),
        (
            Preset::Terraform,
            GoesOn,
            "Failed to determine if resource \"shop/\" exists: name is required",
        ),
    ] {
        // Two of them are two objects.
        let next = vec![manifest("1"), unnamed(), unnamed()];
        let preview = run(preset, vec![immutable(), own("old", 701)], next);
        let row = row(&preview, "migrate-*");
        assert_eq!(
            (row.outcome, row.code),
            (Outcome::Refused, None),
            "{preset:?}"
        );
        assert_eq!(row.message, words, "{preset:?}");
        assert_eq!(preview.after_refusal, after, "{preset:?}");
        assert_eq!(preview.rows.len(), 4, "{preset:?}");
        let whole = self::row(&preview, "fixed");
        assert!(!whole.outcome.is_refusal(), "{preset:?}");
        let old = self::row(&preview, "old").outcome;
        let kept = if after == GoesOn {
            Outcome::Deleted
        } else {
            Outcome::KeptForNow
        };
        assert_eq!(old, kept, "{preset:?}");
    }
}

#[test]
fn helm_3_creates_an_object_with_a_generated_name_when_it_installs_and_argo_cd_when_it_replaces() {
    let install = |preset, earlier, next: Value| {
        let preview = Preview::of(PreviewInput {
            live: Vec::new(),
            next: vec![next],
            earlier,
            tool: DeliveryTool::new(preset),
            namespace: Some("shop".to_owned()),
            release: Release::default(),
        });
        row(&preview, "migrate-*").clone()
    };
    let known = install(Preset::Helm3, Some(Vec::new()), unnamed());
    assert_eq!((known.outcome, known.code), (Outcome::Created, Some(201)));
    assert!(
        known.troubles.is_empty() && known.assumed.is_empty(),
        "{known:?}"
    );
    let unknown = install(Preset::Helm3, None, unnamed());
    assert_eq!(unknown.outcome, Outcome::Created);
    assert_eq!(unknown.assumed, [Assumed::FirstRelease]);
    let applied = install(Preset::Helm4, Some(Vec::new()), unnamed());
    let words = "server-side apply failed for object shop/ v1, Kind=ConfigMap: resource name may not be empty";
    assert_eq!(
        (applied.outcome, &*applied.message),
        (Outcome::Refused, words)
    );
    let mut replaced = unnamed();
    replaced["metadata"]["annotations"] =
        json!({"argocd.argoproj.io/sync-options": "Replace=true"});
    let argo = install(Preset::ArgoCdClientSide, None, replaced.clone());
    assert_eq!((argo.outcome, argo.code), (Outcome::Created, Some(201)));
    assert_eq!(argo.troubles, [Trouble::CreatedEachTime]);
    let mut wrong = unnamed();
    wrong["data"]["a b"] = "2".into();
    let wrong = install(Preset::Helm3, None, wrong);
    assert_eq!((wrong.outcome, wrong.code), (Outcome::Invalid, Some(422)));
    assert!(wrong.message.contains("data[a b]"), "{wrong:?}");
}
