//! Previews of a tool's writes to many objects.

use crate::previewed::row;
use optimist_apiserver::server::Release;
use optimist_apiserver::server::Selector;
use optimist_client::Preset;
use optimist_diagnose::case::ObjectId;
use optimist_diagnose::preview::{
    AfterRefusal, Assumed, DeliveryTool, FieldChangeKind, HandOverKind, Preview, PreviewInput,
    PreviewOutcome, Pruning, Trouble,
};
use optimist_diagnose::ways::{InstructionLanguage, InstructionWarning, ReleaseMethod};
use serde_json::{Value, json};

/// A Deployment that Helm applied and an autoscaler scaled.
fn web() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "uid": "u1", "resourceVersion": "700",
            "annotations": {"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "shop"},
            "labels": {"app.kubernetes.io/managed-by": "Helm", "tier": "old"},
            "managedFields": [
                {"manager": "helm", "operation": "Apply", "apiVersion": "apps/v1", "fieldsType": "FieldsV1",
                    "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:metadata": {"f:annotations": {
                        "f:meta.helm.sh/release-name": {}, "f:meta.helm.sh/release-namespace": {}},
                        "f:labels": {"f:app.kubernetes.io/managed-by": {}}},
                    "f:spec": {"f:selector": {}, "f:template": {"f:metadata": {"f:labels": {"f:app": {}}},
                        "f:spec": {"f:containers": {"k:{\"name\":\"web\"}": {".": {}, "f:name": {}, "f:image": {}}}}}}}},
                {"manager": "kube-controller-manager", "operation": "Update", "apiVersion": "apps/v1",
                    "fieldsType": "FieldsV1", "subresource": "scale", "time": "2026-01-02T00:00:00Z",
                    "fieldsV1": {"f:spec": {"f:replicas": {}}}},
                {"manager": "ci", "operation": "Update", "apiVersion": "apps/v1", "fieldsType": "FieldsV1",
                    "time": "2026-01-02T00:00:00Z", "fieldsV1": {"f:metadata": {"f:labels": {"f:tier": {}}}}}]},
        "spec": {"replicas": 7, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "nginx:1.27"}]}}}})
}

fn manifest(replicas: Option<u32>, image: &str) -> Value {
    let mut manifest = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": image}]}}}});
    if let Some(replicas) = replicas {
        manifest["spec"]["replicas"] = replicas.into();
    }
    manifest
}

fn settings(name: &str, key: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {key: "1"}})
}

fn live(mut object: Value, version: u32) -> Value {
    object["metadata"]["namespace"] = "shop".into();
    object["metadata"]["uid"] = format!("u{version}").into();
    object["metadata"]["resourceVersion"] = version.to_string().into();
    object
}

fn preview(tool: DeliveryTool, live: Vec<Value>, next: Vec<Value>) -> Preview {
    Preview::run(input(tool, live, next))
}

fn input(tool: DeliveryTool, live: Vec<Value>, next: Vec<Value>) -> PreviewInput {
    PreviewInput {
        left_out: Vec::new(),
        live,
        next,
        earlier: None,
        tool,
        namespace: Some("shop".to_owned()),
        release: Release::default(),
    }
}

#[test]
fn one_look_says_what_is_refused_created_deleted_and_left_alone_the_worst_first() {
    let helm = DeliveryTool::new(Preset::Helm4);
    let mut gone = settings("gone", "a");
    gone["metadata"]["annotations"] =
        json!({"meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "shop"});
    let mut kept = gone.clone();
    kept["metadata"]["name"] = "kept".into();
    kept["metadata"]["annotations"]["helm.sh/resource-policy"] = "keep".into();
    let before = vec![
        web(),
        live(gone, 701),
        live(kept, 702),
        live(settings("other", "a"), 703),
    ];
    let next = vec![settings("new", "a"), manifest(Some(2), "nginx:1.28")];
    let preview = preview(helm, before, next);
    let outcomes: Vec<(&str, PreviewOutcome)> = preview
        .rows
        .iter()
        .map(|row| (row.object.name.as_str(), row.outcome))
        .collect();
    let expected = [
        ("web", PreviewOutcome::Conflict),
        ("gone", PreviewOutcome::KeptForNow),
        ("new", PreviewOutcome::Created),
        ("kept", PreviewOutcome::NotTouched),
        ("other", PreviewOutcome::NotTouched),
    ];
    assert_eq!(outcomes, expected);
    assert_eq!(preview.outcomes[&PreviewOutcome::NotTouched], 2);
    assert!(!preview.is_whole());
    let web = row(&preview, "web");
    assert_eq!(web.code, Some(409));
    let refused: Vec<(&str, &[String])> = web
        .fields
        .iter()
        .filter(|field| field.change == FieldChangeKind::Refused)
        .map(|field| (field.field.as_str(), field.owners.as_slice()))
        .collect();
    let owners = ["kube-controller-manager (Update, /scale)".to_owned()];
    assert_eq!(refused, [(".spec.replicas", &owners[..])]);
    assert!(
        row(&preview, "gone")
            .assumed
            .contains(&Assumed::PreviousRelease)
    );
}

#[test]
fn a_conflict_has_hand_overs_for_its_object_alone_and_their_dry_runs_come_first() {
    let mut helm = DeliveryTool::new(Preset::Helm4);
    helm.last_release = Some(ReleaseMethod::ServerSide);
    let preview = preview(helm, vec![web()], vec![manifest(Some(2), "nginx:1.28")]);
    let web = row(&preview, "web");
    let kinds: Vec<HandOverKind> = web.hand_overs.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [HandOverKind::Leave, HandOverKind::TakeOver]);
    let leave = &web.hand_overs[0];
    assert!(leave.settles);
    assert!(leave.steps[0].text.contains("-   replicas: 2"), "{leave:?}");
    let take = &web.hand_overs[1];
    assert!(!take.settles && take.tool_has_no_option);
    let back = ["kube-controller-manager (Update, /scale)"];
    assert_eq!(take.written_back_by, back);
    let step = take
        .steps
        .iter()
        .find(|it| it.language == InstructionLanguage::Shell)
        .unwrap();
    assert!(step.text.contains("--force-conflicts") && step.text.contains("--field-manager=helm"));
    let first = step.try_first.as_deref().unwrap();
    assert!(first.contains("--dry-run=server"), "{first}");
}

#[test]
fn force_says_whose_values_it_overwrites_and_who_writes_them_back() {
    let mut helm = DeliveryTool::new(Preset::Helm4);
    helm.force = true;
    let preview = preview(helm, vec![web()], vec![manifest(Some(2), "nginx:1.27")]);
    let web = row(&preview, "web");
    assert_eq!(web.outcome, PreviewOutcome::Changed);
    assert_eq!(web.troubles, [Trouble::Overwritten, Trouble::WrittenBack]);
    let field = &web.fields[0];
    assert_eq!(
        (field.field.as_str(), field.change),
        (".spec.replicas", FieldChangeKind::Overwritten)
    );
    assert_eq!(
        (&field.before, &field.after),
        (&Some(json!(7)), &Some(json!(2)))
    );
    assert_eq!(
        field.written_back_by,
        ["kube-controller-manager (Update, /scale)"]
    );
}

#[test]
fn a_field_that_left_the_manifest_and_stays_is_named_with_its_owner() {
    let helm = DeliveryTool::new(Preset::Helm4);
    let mut earlier = manifest(None, "nginx:1.27");
    earlier["metadata"]["labels"] = json!({"tier": "old"});
    let input = PreviewInput {
        earlier: Some(vec![earlier]),
        ..input(helm, vec![web()], vec![manifest(None, "nginx:1.27")])
    };
    let preview = Preview::run(input);
    let web = row(&preview, "web");
    assert_eq!(web.troubles, [Trouble::KeptAlthoughRemoved], "{web:#?}");
    let field = &web.fields[0];
    assert_eq!(
        (field.field.as_str(), &field.owners[0][..]),
        (".metadata.labels.tier", "ci (Update)")
    );
}

#[test]
fn an_object_that_seems_to_be_left_out_is_deleted_and_that_is_an_assumption() {
    let gone = live(settings("gone", "a"), 7);
    let earlier = vec![settings("gone", "a"), manifest(None, "nginx:1.27")];
    let next = vec![manifest(None, "nginx:1.27")];
    for (tool, outcome) in [
        (Preset::Helm3, PreviewOutcome::Deleted),
        (Preset::Helm4, PreviewOutcome::Deleted),
        (Preset::Terraform, PreviewOutcome::Deleted),
        (Preset::KubectlApply, PreviewOutcome::NotTouched),
    ] {
        let whole = PreviewInput {
            earlier: Some(earlier.clone()),
            ..input(
                DeliveryTool::new(tool),
                vec![web(), gone.clone()],
                next.clone(),
            )
        };
        let known = Preview::run(whole.clone());
        let assumed = Preview::run(PreviewInput {
            left_out: vec![ObjectId::from_object(&gone)],
            ..whole
        });
        for (preview, is_assumed) in [(&known, false), (&assumed, true)] {
            let row = row(preview, "gone");
            assert_eq!(row.outcome, outcome, "{row:#?}");
            assert_eq!(
                row.assumed.contains(&Assumed::LeftOut),
                is_assumed,
                "{row:#?}"
            );
        }
    }
}

#[test]
fn what_is_wrong_with_a_manifest_is_said_and_the_others_go_on() {
    let tool = DeliveryTool::new(Preset::KubectlApply);
    let mut wrong = manifest(Some(2), "nginx:1.28");
    wrong["metadata"]["name"] = "wrong".into();
    wrong["spec"]["template"]["spec"]["containers"] = json!([]);
    let gadget = json!({"apiVersion": "apps/v1", "kind": "Gadget", "metadata": {"name": "gadget"}});
    let preview = preview(tool, Vec::new(), vec![wrong, gadget, settings("new", "a")]);
    assert_eq!(row(&preview, "wrong").outcome, PreviewOutcome::Invalid);
    assert!(
        row(&preview, "wrong")
            .message
            .contains("spec.template.spec.containers")
    );
    assert_eq!(row(&preview, "gadget").outcome, PreviewOutcome::NotRun);
    let new = row(&preview, "new");
    assert_eq!(new.outcome, PreviewOutcome::Created);
    let namespace = "shop".to_owned();
    assert!(
        new.assumed
            .contains(&Assumed::NamespaceExists { namespace })
    );
}

#[test]
fn a_manifest_before_its_namespace_is_refused_by_kubectl_and_not_by_a_tool_that_sorts() {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}});
    let mut inside = settings("inside", "a");
    inside["metadata"]["namespace"] = "team".into();
    let next = vec![inside, namespace];
    for (preset, expected) in [
        (Preset::KubectlApply, PreviewOutcome::Refused),
        (Preset::Helm3, PreviewOutcome::Created),
        (Preset::Flux, PreviewOutcome::Created),
        (Preset::ArgoCdClientSide, PreviewOutcome::Created),
    ] {
        let preview = preview(DeliveryTool::new(preset), Vec::new(), next.clone());
        assert_eq!(row(&preview, "inside").outcome, expected, "{preset:?}");
    }
}

fn widget(version: &str) -> Value {
    json!({"apiVersion": format!("example.com/{version}"), "kind": "Widget",
        "metadata": {"name": "small", "namespace": "shop", "uid": "w", "resourceVersion": "900",
            "managedFields": [{"manager": "old", "operation": "Update", "apiVersion": "example.com/v1beta1",
                "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:size": {}}}, "time": "2026-01-01T00:00:00Z"}]},
        "spec": {"size": 1}})
}

#[test]
fn a_version_that_the_definition_lost_is_stuck_in_managed_fields() {
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}});
    let tool = DeliveryTool::new(Preset::Flux);
    let mut next = widget("v1");
    next["metadata"] = json!({"name": "small"});
    next["spec"]["size"] = 2.into();
    let both = vec![definition, next.clone()];
    let with = preview(tool.clone(), vec![widget("v1")], both);
    let small = row(&with, "small");
    assert_eq!(small.stuck[0].api_version, "example.com/v1beta1");
    assert!(
        small
            .message
            .contains("request to convert CR to an invalid group/version"),
        "{small:?}"
    );
    assert!(
        row(&with, "widgets.example.com")
            .assumed
            .contains(&Assumed::DefinitionOfManifest)
    );
    // Without the definition, nobody can say which versions it has.
    let without = preview(tool, vec![widget("v1")], vec![next]);
    let small = row(&without, "small");
    assert!(small.stuck.is_empty() && small.assumed.contains(&Assumed::NoDefinition));
    assert_eq!(small.outcome, PreviewOutcome::Changed);
}

#[test]
fn secrets_are_masked_in_every_part_of_a_preview() {
    let secret = |value: &str| {
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key"},
            "stringData": {"password": value}})
    };
    let mut before = live(secret(""), 700);
    before["data"] = json!({"password": "Y2FuYXJ5LW9sZA=="});
    before.as_object_mut().unwrap().remove("stringData");
    before["metadata"]["managedFields"] = json!([{"manager": "operator", "operation": "Update",
        "apiVersion": "v1", "fieldsType": "FieldsV1", "time": "2026-01-01T00:00:00Z",
        "fieldsV1": {"f:data": {"f:password": {}}}}]);
    for (preset, force) in [
        (Preset::KubectlApplyServerSide, false),
        (Preset::KubectlApplyServerSide, true),
        (Preset::Helm3, false),
        (Preset::Flux, false),
    ] {
        let tool = DeliveryTool {
            force,
            ..DeliveryTool::new(preset)
        };
        let preview = preview(tool, vec![before.clone()], vec![secret("canary-new")]);
        let text = serde_json::to_string(&preview).unwrap();
        for canary in ["canary", "Y2FuYXJ5", "LW9sZA"] {
            assert!(!text.contains(canary), "{preset:?}: {text}");
        }
        assert_ne!(row(&preview, "key").outcome, PreviewOutcome::Unchanged);
    }
}

#[test]
fn a_tool_that_prunes_deletes_only_its_own() {
    let own = |name: &str, id: &str| {
        let mut object = settings(name, "a");
        object["metadata"]["annotations"] = json!({"argocd.argoproj.io/tracking-id": id});
        object
    };
    let before = vec![
        live(own("a", "shop:/ConfigMap:shop/a"), 700),
        live(own("b", "shop:/ConfigMap:shop/b"), 701),
        live(own("c", "team:/ConfigMap:shop/c"), 702),
        live(own("d", "shop:/ConfigMap:shop/a"), 703),
    ];
    let both = [
        (Pruning::None, PreviewOutcome::NotTouched),
        (Pruning::Tracked, PreviewOutcome::Deleted),
    ];
    for (prune, expected) in both {
        let tool = DeliveryTool {
            prune,
            ..DeliveryTool::new(Preset::ArgoCdServerSide)
        };
        let preview = preview(tool, before.clone(), vec![settings("a", "b")]);
        assert_eq!(row(&preview, "b").outcome, expected);
        assert_eq!(row(&preview, "c").outcome, PreviewOutcome::NotTouched);
        // A copy of an object has the id of the original.
        assert_eq!(row(&preview, "d").outcome, PreviewOutcome::NotTouched);
    }
}

fn labelled(name: &str, app: &str, last_applied: bool) -> Value {
    let mut object = settings(name, "a");
    object["metadata"]["labels"] = json!({"app": app});
    if last_applied {
        let annotations = json!({"kubectl.kubernetes.io/last-applied-configuration": "{}"});
        object["metadata"]["annotations"] = annotations;
    }
    object
}

#[test]
fn kubectl_prunes_what_it_applied_and_its_selector_matches_and_writes_only_what_matches() {
    let mut role = labelled("role", "shop", true);
    role["apiVersion"] = json!("rbac.authorization.k8s.io/v1");
    role["kind"] = json!("Role");
    role.as_object_mut().unwrap().remove("data");
    let mut before: Vec<Value> = [
        labelled("old", "shop", true),
        labelled("by-hand", "shop", false),
        labelled("of-another", "other", true),
        labelled("not-written", "other", true),
        role,
        labelled("elsewhere", "shop", true),
    ]
    .into_iter()
    .enumerate()
    .map(|(at, object)| live(object, 700 + u32::try_from(at).unwrap()))
    .collect();
    before[5]["metadata"]["namespace"] = json!("other");
    let next = vec![
        labelled("new", "shop", false),
        labelled("not-written", "other", false),
    ];
    let tool = DeliveryTool {
        prune: Pruning::Selected(Selector::parse("app=shop", "").unwrap()),
        ..DeliveryTool::new(Preset::KubectlApply)
    };
    let pruned = preview(tool, before.clone(), next.clone());
    let outcome = |name: &str| row(&pruned, name).outcome;
    assert_eq!(outcome("new"), PreviewOutcome::Created);
    assert_eq!(outcome("old"), PreviewOutcome::Deleted);
    for kept in ["by-hand", "of-another", "not-written", "role", "elsewhere"] {
        assert_eq!(outcome(kept), PreviewOutcome::NotTouched, "{kept}");
    }
    let without = preview(DeliveryTool::new(Preset::KubectlApply), before, next);
    assert_eq!(row(&without, "old").outcome, PreviewOutcome::NotTouched);
}

#[test]
fn kubectl_labels_the_members_of_an_apply_set_and_prunes_the_other_members() {
    let member = |name: &str, id: &str| {
        let mut object = labelled(name, "shop", false);
        object["metadata"]["labels"]["applyset.kubernetes.io/part-of"] = json!(id);
        object
    };
    let before = vec![
        live(member("old", "applyset-a-v1"), 700),
        live(member("of-another", "applyset-b-v1"), 701),
        live(labelled("in-none", "shop", true), 702),
    ];
    for preset in [Preset::KubectlApply, Preset::KubectlApplyServerSide] {
        let tool = DeliveryTool {
            prune: Pruning::ApplySet {
                id: "applyset-a-v1".to_owned(),
            },
            ..DeliveryTool::new(preset)
        };
        let next = vec![labelled("in-none", "shop", false)];
        let preview = preview(tool, before.clone(), next);
        assert_eq!(row(&preview, "old").outcome, PreviewOutcome::Deleted);
        assert_eq!(
            row(&preview, "of-another").outcome,
            PreviewOutcome::NotTouched
        );
        let written = row(&preview, "in-none");
        let label = ".metadata.labels.applyset.kubernetes.io/part-of";
        let added = written.fields.iter().find(|field| field.field == label);
        assert_eq!(added.unwrap().after, Some(json!("applyset-a-v1")));
    }
}

#[test]
fn terraform_deletes_what_its_state_has_and_without_the_state_says_that_it_is_not_known() {
    let before = |manager: &str| {
        let mut object = settings("old", "a");
        object["metadata"]["managedFields"] = json!([{"manager": manager, "operation": "Apply",
            "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:key": {}}}}]);
        vec![live(object, 700)]
    };
    let run = |manager: &str, state: Option<&str>| {
        let tool = DeliveryTool::new(Preset::Terraform);
        let mut input = input(tool, before(manager), vec![settings("new", "a")]);
        input.earlier = state.map(|name| vec![settings(name, "a")]);
        let preview = Preview::run(input);
        let row = row(&preview, "old");
        (row.outcome, row.assumed.contains(&Assumed::State))
    };
    assert_eq!(
        run("Terraform", Some("old")),
        (PreviewOutcome::Deleted, false)
    );
    assert_eq!(
        run("kubectl", Some("old")),
        (PreviewOutcome::Deleted, false)
    );
    assert_eq!(
        run("Terraform", Some("other")),
        (PreviewOutcome::NotTouched, false)
    );
    assert_eq!(run("Terraform", None), (PreviewOutcome::NotTouched, true));
    assert_eq!(run("kubectl", None), (PreviewOutcome::NotTouched, false));
}

#[test]
fn terraform_does_not_write_what_exists_outside_of_its_state() {
    let run = |state: Option<&str>| {
        let tool = DeliveryTool::new(Preset::Terraform);
        let before = vec![live(settings("taken", "a"), 700)];
        let next = vec![settings("taken", "b"), settings("new", "b")];
        let mut input = input(tool, before, next);
        input.earlier = state.map(|name| vec![settings(name, "a")]);
        Preview::run(input)
    };
    let of_another = run(Some("other"));
    let taken = row(&of_another, "taken");
    assert_eq!((taken.outcome, taken.code), (PreviewOutcome::Refused, None));
    assert!(
        taken
            .message
            .ends_with("resource \"shop/taken\" already exists")
    );
    assert_eq!(row(&of_another, "new").outcome, PreviewOutcome::Created);
    let own = run(Some("taken"));
    assert_eq!(row(&own, "taken").outcome, PreviewOutcome::Changed);
    let unknown = run(None);
    let taken = row(&unknown, "taken");
    assert_eq!(taken.outcome, PreviewOutcome::Changed);
    assert!(taken.assumed.contains(&Assumed::InState));
    assert!(!row(&unknown, "new").assumed.contains(&Assumed::InState));
}

#[test]
fn kubectl_prunes_nothing_while_an_object_is_refused() {
    let after = |prune: Pruning| {
        DeliveryTool {
            prune,
            ..DeliveryTool::new(Preset::KubectlApply)
        }
        .after_refusal()
    };
    let all = Pruning::Selected(Selector::default());
    assert_eq!(after(all), AfterRefusal::DeletesNothing);
    assert_eq!(after(Pruning::None), AfterRefusal::GoesOn);
}

#[test]
fn helm_writes_nothing_if_an_object_that_is_new_in_the_chart_belongs_to_nobody_or_another_release()
{
    let of = |release: Option<&str>, name: &str| {
        let mut object = settings(name, "a");
        if let Some(release) = release {
            object["metadata"]["labels"] = json!({"app.kubernetes.io/managed-by": "Helm"});
            object["metadata"]["annotations"] = json!({"meta.helm.sh/release-name": release,
                "meta.helm.sh/release-namespace": "shop"});
        }
        object
    };
    let run = |preset: Preset, taken: Option<&str>, known: bool| {
        let before = vec![
            live(of(Some("web"), "own"), 700),
            live(of(taken, "taken"), 701),
        ];
        let next = vec![settings("own", "b"), settings("taken", "b")];
        let mut input = input(DeliveryTool::new(preset), before, next);
        input.earlier = known.then(|| vec![settings("own", "a")]);
        let preview = Preview::run(input);
        let taken = row(&preview, "taken");
        (taken.outcome, taken.code, preview.after_refusal)
    };
    for preset in [Preset::Helm3, Preset::Helm4] {
        for other in [None, Some("another")] {
            let refused = (PreviewOutcome::Refused, None, AfterRefusal::ChecksFirst);
            assert_eq!(run(preset, other, true), refused, "{other:?}");
            assert_ne!(run(preset, other, false).2, AfterRefusal::ChecksFirst);
        }
        let (outcome, _, after) = run(preset, Some("web"), true);
        assert_eq!(
            (outcome, after),
            (PreviewOutcome::Changed, AfterRefusal::StopsAtCreate)
        );
    }
    let of_flux = run(Preset::Flux, None, true);
    assert_eq!(of_flux.0, PreviewOutcome::Changed);
}

#[test]
fn helm_says_each_reason_why_an_object_does_not_belong_to_the_release() {
    let with = |name: &str, labels: Value, annotations: Value| {
        let mut object = settings(name, "a");
        object["metadata"]["labels"] = labels;
        object["metadata"]["annotations"] = annotations;
        object
    };
    let helm = json!({"app.kubernetes.io/managed-by": "Helm"});
    let of = |name: &str| {
        json!({"meta.helm.sh/release-name": name,
        "meta.helm.sh/release-namespace": "shop"})
    };
    let reasons = |own: Value, taken: (Value, Value)| {
        let before = vec![
            live(with("own", helm.clone(), own), 700),
            live(with("taken", taken.0, taken.1), 701),
        ];
        let next = vec![settings("own", "b"), settings("taken", "b")];
        let mut input = input(DeliveryTool::new(Preset::Helm4), before, next);
        input.earlier = Some(vec![settings("own", "a")]);
        let message = row(&Preview::run(input), "taken").message.clone();
        let (begins, why) = message.split_once(" metadata; ").unwrap();
        assert_eq!(
            begins,
            "Unable to continue with update: ConfigMap \"taken\" in namespace \"shop\" exists and cannot be imported \
             into the current release: invalid ownership"
        );
        why.split("; ").map(str::to_owned).collect::<Vec<_>>()
    };
    let label = "label validation error: missing key \"app.kubernetes.io/managed-by\": must be set to \"Helm\"";
    let name =
        "annotation validation error: missing key \"meta.helm.sh/release-name\": must be set to";
    let namespace = "annotation validation error: missing key \"meta.helm.sh/release-namespace\": must be set to";
    let all = |release: &str, its_namespace: &str| {
        [
            label.to_owned(),
            format!("{name} \"{release}\""),
            format!("{namespace} \"{its_namespace}\""),
        ]
    };
    assert_eq!(
        reasons(of("web"), (json!({}), json!({}))),
        all("web", "shop")
    );
    let other = "annotation validation error: key \"meta.helm.sh/release-name\" must equal \"web\": current value is \
                 \"another\"";
    assert_eq!(reasons(of("web"), (helm.clone(), of("another"))), [other]);
    // Nothing says which release it is.
    assert_eq!(
        reasons(json!({}), (json!({}), json!({}))),
        all("RELEASE", "shop")
    );
}

#[test]
fn an_object_without_owners_gets_them_with_the_second_apply_and_rests_then() {
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}});
    for preset in [Preset::Helm4, Preset::Flux, Preset::KubectlApplyServerSide] {
        let preview = preview(DeliveryTool::new(preset), Vec::new(), vec![secret.clone()]);
        assert!(row(&preview, "a").troubles.is_empty(), "{preset:?}");
    }
}

/// A ConfigMap that `kubectl apply` wrote in the client, with a key that the next manifest does not have.
fn applied_in_the_client() -> Value {
    let last = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "shop"},
        "data": {"LOG": "info", "extra": "keep-me"}});
    json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "settings", "namespace": "shop", "uid": "u1", "resourceVersion": "700",
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": format!("{last}\n"),
                "meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "shop"},
            "labels": {"app.kubernetes.io/managed-by": "Helm"},
            "managedFields": [{"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "v1",
                "fieldsType": "FieldsV1", "time": "2026-01-01T00:00:00Z", "fieldsV1": {
                    "f:data": {".": {}, "f:LOG": {}, "f:extra": {}}, "f:metadata": {"f:annotations": {".": {},
                        "f:kubectl.kubernetes.io/last-applied-configuration": {}}}}}]},
        "data": {"LOG": "info", "extra": "keep-me"}})
}

#[test]
fn kubectl_stands_in_for_helm_only_where_it_removes_nothing_that_helm_keeps() {
    let next = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"},
        "data": {"LOG": "debug"}});
    let mut helm = DeliveryTool::new(Preset::Helm4);
    helm.last_release = Some(ReleaseMethod::ServerSide);
    let by_helm = preview(helm, vec![applied_in_the_client()], vec![next.clone()]);
    let outs = &row(&by_helm, "settings").hand_overs;
    let take = outs.iter().find(|it| it.kind == HandOverKind::TakeOver);
    let take = take.unwrap_or_else(|| panic!("{:?}", row(&by_helm, "settings")));
    let removed = |it: &InstructionWarning| match it {
        InstructionWarning::RemovedByKubectl(fields) => {
            fields.iter().any(|it| it.to_string() == ".data.extra")
        }
        _ => false,
    };
    // The next kubectl apply of the old manifest meets no conflict.
    assert!(take.client_side_may_write, "{take:?}");
    for step in &take.steps {
        assert!(!step.text.contains("kubectl apply"), "{step:?}");
        assert!(step.warnings.iter().any(removed), "{step:?}");
    }
    assert!(take.steps[0].text.contains("helm upgrade shop"), "{take:?}");
    // The dry run of kubectl does not show what kubectl removes when it writes.
    let mut tool = DeliveryTool::new(Preset::KubectlApplyServerSide);
    tool.manager = Some("ci".to_owned());
    let by_kubectl = preview(tool, vec![applied_in_the_client()], vec![next]);
    let outs = &row(&by_kubectl, "settings").hand_overs;
    let take = outs.iter().find(|it| it.kind == HandOverKind::TakeOver);
    let warnings = &take.expect("kubectl can take over").steps[0].warnings;
    let hidden = |it: &InstructionWarning| match it {
        InstructionWarning::NotInDryRun(fields) => {
            fields.iter().any(|it| it.to_string() == ".data.extra")
        }
        _ => false,
    };
    assert!(warnings.iter().any(hidden), "{warnings:?}");
}

#[test]
fn the_newest_entry_of_helm_says_how_the_last_release_was_applied() {
    let mut older = web();
    let entries = older["metadata"]["managedFields"]
        .as_array_mut()
        .expect("a list");
    entries.push(json!({"manager": "helm", "operation": "Update", "apiVersion": "apps/v1", "fieldsType": "FieldsV1",
        "time": "2025-12-31T00:00:00Z", "fieldsV1": {"f:metadata": {"f:labels": {"f:old": {}}}}}));
    let mut newer = older.clone();
    newer["metadata"]["managedFields"][3]["time"] = "2026-02-01T00:00:00Z".into();
    let assumed = |live: Value| {
        let helm = DeliveryTool::new(Preset::Helm4);
        let preview = preview(helm, vec![live], vec![manifest(None, "nginx:1.28")]);
        row(&preview, "web").assumed.clone()
    };
    let of_older = assumed(older);
    assert!(
        of_older.contains(&Assumed::ServerSideRelease),
        "{of_older:?}"
    );
    assert!(
        !of_older.contains(&Assumed::ClientSideRelease),
        "{of_older:?}"
    );
    let of_newer = assumed(newer);
    assert!(
        of_newer.contains(&Assumed::ClientSideRelease),
        "{of_newer:?}"
    );
}

#[test]
fn another_object_of_the_release_names_the_release() {
    let mut unnamed = applied_in_the_client();
    let metadata = unnamed["metadata"].as_object_mut().expect("a map");
    metadata.remove("labels");
    metadata["annotations"]
        .as_object_mut()
        .expect("a map")
        .retain(|name, _| !name.contains("helm"));
    let next = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"},
        "data": {"LOG": "debug"}});
    let mut helm = DeliveryTool::new(Preset::Helm4);
    helm.last_release = Some(ReleaseMethod::ServerSide);
    let both = vec![next, manifest(None, "nginx:1.27")];
    let preview = preview(helm, vec![unnamed, web()], both);
    let steps = row(&preview, "settings")
        .hand_overs
        .iter()
        .flat_map(|it| &it.steps);
    let upgrades: Vec<&str> = steps
        .map(|it| it.text.as_str())
        .filter(|it| it.contains("helm upgrade"))
        .collect();
    assert!(!upgrades.is_empty());
    for text in upgrades {
        assert!(text.contains("helm upgrade shop "), "{text}");
    }
}
