//! What a tool does with the objects that it would delete, when another object is refused.

use crate::previewed::row;
use optimist_apiserver::server::{Release, Selector};
use optimist_client::Preset;
use optimist_diagnose::preview::{
    AfterRefusal, Assumed, DeliveryTool, Preview, PreviewInput, PreviewOutcome, Pruning, Trouble,
};
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
        // client-side apply and Flux would delete the object and create it again.
        force: !matches!(
            preset,
            Preset::KubectlApply | Preset::ArgoCdClientSide | Preset::Flux
        ),
        ..DeliveryTool::new(preset)
    }
}

fn run(preset: Preset, live: Vec<Value>, next: Vec<Value>) -> Preview {
    Preview::run(PreviewInput {
        left_out: Vec::new(),
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
            assert_eq!(old.outcome, PreviewOutcome::Deleted, "{preset:?}");
        } else {
            assert_eq!(old.outcome, PreviewOutcome::KeptForNow, "{preset:?}");
            assert_eq!(old.troubles, [Trouble::DeletedLater]);
            assert_eq!(old.code, None);
        }
        let whole = run(preset, live, vec![manifest("1")]);
        assert!(whole.is_whole(), "{preset:?}");
        assert_eq!(
            row(&whole, "old").outcome,
            PreviewOutcome::Deleted,
            "{preset:?}"
        );
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
    let (deleted, kept) = (PreviewOutcome::Deleted, PreviewOutcome::KeptForNow);
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
        assert_eq!(row(&preview, "x").outcome, PreviewOutcome::NotRun);
        let old = row(&preview, "old");
        assert_eq!(old.outcome, PreviewOutcome::Deleted);
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
            (PreviewOutcome::Refused, None),
            "{preset:?}"
        );
        assert_eq!(row.message, words, "{preset:?}");
        assert_eq!(preview.after_refusal, after, "{preset:?}");
        assert_eq!(preview.rows.len(), 4, "{preset:?}");
        let whole = self::row(&preview, "fixed");
        assert!(!whole.outcome.is_refusal(), "{preset:?}");
        let old = self::row(&preview, "old").outcome;
        let kept = if after == GoesOn {
            PreviewOutcome::Deleted
        } else {
            PreviewOutcome::KeptForNow
        };
        assert_eq!(old, kept, "{preset:?}");
    }
}

#[test]
fn helm_3_creates_an_object_with_a_generated_name_when_it_installs_and_argo_cd_when_it_replaces() {
    let install = |preset, earlier, next: Value| {
        let preview = Preview::run(PreviewInput {
            left_out: Vec::new(),
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
    assert_eq!(
        (known.outcome, known.code),
        (PreviewOutcome::Created, Some(201))
    );
    assert!(
        known.troubles.is_empty() && known.assumed.is_empty(),
        "{known:?}"
    );
    let unknown = install(Preset::Helm3, None, unnamed());
    assert_eq!(unknown.outcome, PreviewOutcome::Created);
    assert_eq!(unknown.assumed, [Assumed::FirstRelease]);
    let applied = install(Preset::Helm4, Some(Vec::new()), unnamed());
    let words = "server-side apply failed for object shop/ v1, Kind=ConfigMap: resource name may not be empty";
    assert_eq!(
        (applied.outcome, &*applied.message),
        (PreviewOutcome::Refused, words)
    );
    let mut replaced = unnamed();
    replaced["metadata"]["annotations"] =
        json!({"argocd.argoproj.io/sync-options": "Replace=true"});
    let argo = install(Preset::ArgoCdClientSide, None, replaced.clone());
    assert_eq!(
        (argo.outcome, argo.code),
        (PreviewOutcome::Created, Some(201))
    );
    assert_eq!(argo.troubles, [Trouble::CreatedEachTime]);
    let mut wrong = unnamed();
    wrong["data"]["a b"] = "2".into();
    let wrong = install(Preset::Helm3, None, wrong);
    assert_eq!(
        (wrong.outcome, wrong.code),
        (PreviewOutcome::Invalid, Some(422))
    );
    assert!(wrong.message.contains("data[a b]"), "{wrong:?}");
}

fn named(mut object: Value, name: &str) -> Value {
    object["metadata"]["name"] = name.into();
    object
}

/// A new ConfigMap that the server refuses.
fn wrong(name: &str) -> Value {
    named(
        json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a b": ""}, "metadata": {"labels": {"app": "shop"}}}),
        name,
    )
}

fn deliver(
    preset: Preset,
    live: Vec<Value>,
    next: Vec<Value>,
) -> Vec<(String, PreviewOutcome, Vec<Trouble>)> {
    let rows = run(preset, live, next).rows.into_iter();
    let mut rows: Vec<_> = rows
        .map(|it| (it.object.name, it.outcome, it.troubles))
        .collect();
    rows.sort();
    rows
}

fn said(
    name: &str,
    outcome: PreviewOutcome,
    trouble: Trouble,
) -> (String, PreviewOutcome, Vec<Trouble>) {
    (name.to_owned(), outcome, vec![trouble])
}

/// A Secret comes before a ConfigMap in Helm's order, and a Service after it.
fn secret_and_service() -> [Value; 2] {
    [
        json!({"apiVersion": "v1", "kind": "Service", "spec": {"ports": [{"port": 80}]},
            "metadata": {"name": "after"}}),
        json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": {"name": "before"}}),
    ]
}

#[test]
fn helm_writes_in_its_order_until_an_object_that_it_cannot_create_and_every_row_says_so() {
    let (written, left) = (Trouble::DoneBeforeStop, Trouble::NotReached);
    for preset in [Preset::Helm3, Preset::Helm4] {
        let [after, before] = secret_and_service();
        let next = vec![after, wrong("wrong"), before, manifest("1")];
        let rows = deliver(preset, vec![immutable()], next.clone());
        let [after, before, _, wrong] = rows.as_slice() else {
            panic!("{rows:?}");
        };
        assert_eq!(
            *before,
            said("before", PreviewOutcome::Created, written),
            "{preset:?}"
        );
        assert_eq!(
            *wrong,
            said("wrong", PreviewOutcome::Invalid, Trouble::Refused)
        );
        assert_eq!(*after, said("after", PreviewOutcome::NotReached, left));
        // A refused change does not stop it.
        let mut changed = next.clone();
        changed[1] = manifest("2");
        changed.pop();
        let rows = deliver(preset, vec![immutable()], changed);
        let created = |name: &str| (name.to_owned(), PreviewOutcome::Created, Vec::new());
        assert_eq!(
            rows[..2],
            [created("after"), created("before")],
            "{preset:?}"
        );
        // Nor does it stop when it installs.
        let mut installed = next;
        installed.pop();
        let rows = deliver(preset, Vec::new(), installed);
        assert_eq!(
            rows[..2],
            [created("after"), created("before")],
            "{preset:?}"
        );
    }
}

#[test]
fn a_row_that_is_not_reached_keeps_what_the_write_would_change() {
    let [after, _] = secret_and_service();
    let preview = run(
        Preset::Helm4,
        vec![immutable()],
        vec![manifest("1"), wrong("wrong"), after],
    );
    let after = row(&preview, "after");
    assert_eq!(
        (after.outcome, after.code),
        (PreviewOutcome::NotReached, None)
    );
    assert_eq!(after.later, Some(PreviewOutcome::Created));
    assert!(
        after
            .fields
            .iter()
            .any(|it| it.field.starts_with(".spec.ports")),
        "{after:#?}"
    );
    assert!(after.writer.is_empty());
    assert_eq!(preview.outcomes[&PreviewOutcome::NotReached], 1);
}

#[test]
fn argo_cd_does_not_come_to_the_next_wave_and_flux_to_the_stage_of_what_is_refused() {
    let (written, left) = (Trouble::DoneBeforeStop, Trouble::NotReached);
    let own = |name: &str| {
        named(
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}),
            name,
        )
    };
    let next = vec![
        in_wave(own("c-last"), "2"),
        in_wave(own("a-first"), "-1"),
        own("b-same"),
        wrong("d-wrong"),
        in_wave(wrong("e-wrong"), "2"),
    ];
    let rows = deliver(Preset::ArgoCdServerSide, Vec::new(), next);
    assert_eq!(rows[0], said("a-first", PreviewOutcome::Created, written));
    assert_eq!(rows[1], said("b-same", PreviewOutcome::Created, written));
    assert_eq!(rows[2], said("c-last", PreviewOutcome::NotReached, left));
    assert_eq!(
        rows[3],
        said("d-wrong", PreviewOutcome::Invalid, Trouble::Refused)
    );
    assert_eq!(rows[4].2, [Trouble::Refused, left]);
    let class = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "b-class"},
        "provisioner": "example.com/a"});
    let space = named(
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {}}),
        "a-space",
    );
    let next = vec![
        own("c-last"),
        class.clone(),
        wrong("d-wrong"),
        space.clone(),
    ];
    let rows = deliver(Preset::Flux, Vec::new(), next);
    assert_eq!(rows[0], said("a-space", PreviewOutcome::Created, written));
    assert_eq!(rows[1], said("b-class", PreviewOutcome::Created, written));
    assert_eq!(rows[2], said("c-last", PreviewOutcome::NotReached, left));
    let mut refused = class;
    refused["provisioner"] = "".into();
    let rows = deliver(
        Preset::Flux,
        Vec::new(),
        vec![own("c-last"), refused, space],
    );
    assert_eq!(rows[0], said("a-space", PreviewOutcome::Created, written));
    assert_eq!(rows[1].1, PreviewOutcome::Invalid);
    assert_eq!(rows[2], said("c-last", PreviewOutcome::NotReached, left));
}

#[test]
fn a_tool_that_reads_all_manifests_first_comes_to_none_and_one_that_goes_on_comes_to_all() {
    let own = named(
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"labels": {"app": "shop"}}}),
        "a",
    );
    for preset in [Preset::Flux, Preset::ArgoCdClientSide] {
        let rows = deliver(preset, Vec::new(), vec![own.clone(), unnamed()]);
        assert_eq!(
            rows[0],
            said("a", PreviewOutcome::NotReached, Trouble::NotReached),
            "{preset:?}"
        );
    }
    for preset in [
        Preset::KubectlApply,
        Preset::KubectlApplyServerSide,
        Preset::Terraform,
    ] {
        let rows = deliver(preset, Vec::new(), vec![own.clone(), unnamed()]);
        assert_eq!(
            rows[0],
            ("a".to_owned(), PreviewOutcome::Created, Vec::new()),
            "{preset:?}"
        );
    }
}

#[test]
fn an_object_without_the_metadata_of_a_release_is_only_taken_to_be_in_one() {
    let assumed = |preset, label: &str| {
        let mut object = own("taken", 700);
        object["metadata"]["labels"]["app.kubernetes.io/managed-by"] = label.into();
        let next = ["taken", "new"].map(|name| {
            json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"key": "2"},
                "metadata": {"name": name, "namespace": "shop"}})
        });
        let preview = Preview::run(PreviewInput {
            left_out: Vec::new(),
            earlier: None,
            live: vec![object],
            next: next.to_vec(),
            tool: DeliveryTool::new(preset),
            namespace: None,
            release: Release::default(),
        });
        let taken = |name| row(&preview, name).assumed.contains(&Assumed::InRelease);
        ["taken", "new"].map(taken)
    };
    for preset in [Preset::Helm3, Preset::Helm4] {
        assert_eq!(assumed(preset, "Kustomize"), [true, false]);
        assert_eq!(assumed(preset, "Helm"), [false, false]);
    }
    assert_eq!(assumed(Preset::KubectlApply, "Kustomize"), [false, false]);
}

#[test]
fn what_a_tool_does_not_come_to_is_no_trouble_of_this_write() {
    let object = |name: &str, version: u32| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"key": "1"}, "metadata": {"name": name,
            "namespace": "shop", "uid": name, "resourceVersion": version.to_string(),
            "managedFields": [{"manager": "operator", "operation": "Update", "apiVersion": "v1",
                "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:key": {}}}}]}})
    };
    let next = |others: &[Value]| {
        let theirs = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"key": "2"},
            "metadata": {"name": "theirs", "namespace": "shop"}});
        [&[theirs], others].concat()
    };
    let live = || vec![object("theirs", 700), object("alone", 701)];
    let run = |next: Vec<Value>| {
        Preview::run(PreviewInput {
            left_out: Vec::new(),
            earlier: None,
            live: live(),
            next,
            tool: tool(Preset::ArgoCdServerSide),
            namespace: Some("shop".to_owned()),
            release: Release::default(),
        })
    };
    for (others, outcome, counted, concerned) in [
        (vec![], PreviewOutcome::Changed, Some(1), 1),
        // The tool reads all manifests before its first write.
        (vec![unnamed()], PreviewOutcome::NotReached, None, 2),
    ] {
        let preview = run(next(&others));
        let theirs = row(&preview, "theirs");
        assert_eq!(theirs.outcome, outcome);
        assert!(
            theirs.troubles.contains(&Trouble::Overwritten),
            "{theirs:?}"
        );
        assert_eq!(theirs.happens(Trouble::Overwritten), counted.is_some());
        for trouble in [Trouble::Overwritten, Trouble::WrittenBack] {
            assert_eq!(
                preview.troubles.get(&trouble).copied(),
                counted,
                "{trouble:?}"
            );
        }
        assert_eq!(row(&preview, "alone").outcome, PreviewOutcome::NotTouched);
        assert_eq!(
            preview.concerned(),
            concerned,
            "what is not touched does not count"
        );
    }
}
