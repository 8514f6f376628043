//! Previews of manifests that tools read in unexpected ways.

use crate::previewed::row;
use optimist_apiserver::server::Release;
use optimist_client::Preset;
use optimist_diagnose::preview::{
    AfterRefusal, Assumed, DeliveryTool, FieldChangeKind, HandOverKind, Preview, PreviewInput,
    PreviewOutcome, PreviewRow, Pruning,
};
use serde_json::{Value, json};

const TOOLS: [Preset; 8] = [
    Preset::KubectlApply,
    Preset::KubectlApplyServerSide,
    Preset::Helm3,
    Preset::Helm4,
    Preset::ArgoCdClientSide,
    Preset::ArgoCdServerSide,
    Preset::Flux,
    Preset::Terraform,
];

fn run(preset: Preset, live: &[Value], earlier: Option<&[Value]>, next: &[Value]) -> Preview {
    Preview::run(PreviewInput {
        left_out: Vec::new(),
        live: live.to_vec(),
        next: next.to_vec(),
        earlier: earlier.map(<[Value]>::to_vec),
        tool: DeliveryTool {
            prune: match preset {
                Preset::ArgoCdClientSide | Preset::ArgoCdServerSide => Pruning::Tracked,
                _ => Pruning::None,
            },
            ..DeliveryTool::new(preset)
        },
        namespace: Some("shop".to_owned()),
        release: Release::default(),
    })
}

fn settings(name: &str, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"},
        "data": {"key": value}})
}

/// Makes an object one of the cluster, which Helm applied and whose other field somebody set.
fn in_cluster(mut object: Value) -> Value {
    let name = object["metadata"]["name"].as_str().unwrap().to_owned();
    object["data"]["other"] = "1".into();
    let meta = object["metadata"].as_object_mut().unwrap();
    meta.insert("uid".to_owned(), name.as_str().into());
    meta.insert("resourceVersion".to_owned(), "700".into());
    let tracking = format!("shop:/ConfigMap:shop/{name}");
    object["metadata"]["annotations"]["argocd.argoproj.io/tracking-id"] = tracking.into();
    object["metadata"]["managedFields"] = json!([
        {"manager": "helm", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
            "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:data": {"f:key": {}}}},
        {"manager": "somebody", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
            "time": "2026-01-01T00:00:00Z", "fieldsV1": {"f:data": {"f:other": {}}}}]);
    object
}

fn with_option(mut object: Value, option: &str) -> Value {
    object["metadata"]["annotations"]["argocd.argoproj.io/sync-options"] = option.into();
    object
}

fn definition(versions: &[&str]) -> Value {
    let storage = versions.last();
    let versions: Vec<Value> = versions
        .iter()
        .map(|name| {
            json!({"name": name, "served": true, "storage": Some(name) == storage,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}}})
        })
        .collect();
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"}, "spec": {"group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": versions}})
}

/// A definition as the server has it.
fn established(versions: &[&str]) -> Value {
    let mut definition = definition(versions);
    definition["metadata"]["uid"] = "d1".into();
    definition["metadata"]["resourceVersion"] = "600".into();
    let condition = |of: &str| json!({"type": of, "status": "True", "reason": "Accepted", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"});
    definition["status"] = json!({"acceptedNames": definition["spec"]["names"], "storedVersions": versions,
        "conditions": [condition("NamesAccepted"), condition("Established")]});
    definition
}

fn widget(version: &str) -> Value {
    json!({"apiVersion": format!("example.com/{version}"), "kind": "Widget",
        "metadata": {"name": "gear", "namespace": "shop"}, "spec": {}})
}

#[test]
fn a_version_that_the_release_does_not_serve_is_not_taken_for_a_kind_without_a_definition() {
    let ingress = json!({"apiVersion": "networking.k8s.io/v1beta1", "kind": "Ingress",
        "metadata": {"name": "front", "namespace": "shop"}, "spec": {}});
    for preset in TOOLS {
        let preview = run(preset, &[], None, std::slice::from_ref(&ingress));
        let row = row(&preview, "front");
        assert_eq!(row.outcome, PreviewOutcome::NotRun, "{preset:?}");
        assert_eq!(
            row.message,
            "The server has no kind Ingress in networking.k8s.io/v1beta1."
        );
    }
    // A kind has the same scope in all versions.
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1beta1", "kind": "ClusterRole", "metadata": {"name": "reader"}});
    let preview = run(Preset::Helm4, &[], None, &[role]);
    assert_eq!(row(&preview, "reader").object.namespace, "");
    // A cluster that has such an object serves the version.
    let mut old = ingress.clone();
    old["metadata"]["uid"] = "i1".into();
    let preview = run(Preset::KubectlApply, &[old], None, &[ingress]);
    assert_ne!(row(&preview, "front").outcome, PreviewOutcome::NotRun);
}

#[test]
fn a_tool_that_looks_kinds_up_first_does_not_find_one_that_it_is_about_to_define() {
    let next = [definition(&["v1"]), widget("v1")];
    let gear = |preset: Preset, live: &[Value], earlier: Option<&[Value]>| {
        let preview = run(preset, live, earlier, &next);
        let after = preview.after_refusal;
        let definition = row(&preview, "widgets.example.com").outcome;
        (row(&preview, "gear").clone(), definition, after)
    };
    for preset in [Preset::KubectlApply, Preset::KubectlApplyServerSide] {
        let (row, definition, after) = gear(preset, &[], None);
        assert_eq!((row.outcome, row.code), (PreviewOutcome::Refused, None));
        assert_eq!(
            row.message,
            "no matches for kind \"Widget\" in version \"example.com/v1\"; ensure CRDs are installed first"
        );
        assert_eq!(
            (definition, after),
            (PreviewOutcome::Created, AfterRefusal::GoesOn)
        );
    }
    let (row, definition, after) = gear(Preset::Terraform, &[], None);
    assert_eq!(row.outcome, PreviewOutcome::Refused);
    assert!(
        row.message
            .ends_with("no matches for kind \"Widget\" in group \"example.com\"")
    );
    assert_eq!(
        (definition, after),
        (PreviewOutcome::NotReached, AfterRefusal::ReadsAllFirst)
    );
    for preset in [Preset::Helm3, Preset::Helm4] {
        let (row, _, _) = gear(preset, &[], None);
        assert_eq!(row.outcome, PreviewOutcome::Created, "{preset:?}");
        assert!(row.assumed.contains(&Assumed::DefinitionOfCrds), "{row:?}");
        let (row, definition, after) = gear(preset, &[], Some(&[settings("old", "1")]));
        assert_eq!(row.outcome, PreviewOutcome::Refused, "{preset:?}");
        assert_eq!(
            (definition, after),
            (PreviewOutcome::NotReached, AfterRefusal::ReadsAllFirst)
        );
    }
    for preset in [
        Preset::ArgoCdClientSide,
        Preset::ArgoCdServerSide,
        Preset::Flux,
    ] {
        let (row, _, _) = gear(preset, &[], None);
        assert_eq!(row.outcome, PreviewOutcome::Created, "{preset:?}");
        assert!(!row.assumed.contains(&Assumed::DefinitionOfCrds), "{row:?}");
    }
    // The cluster has the kind already.
    for preset in TOOLS {
        let (row, _, _) = gear(preset, &[established(&["v1"])], None);
        assert_eq!(row.outcome, PreviewOutcome::Created, "{preset:?}");
        assert!(!row.assumed.contains(&Assumed::DefinitionOfCrds), "{row:?}");
    }
}

#[test]
fn kubectl_does_not_find_the_version_that_it_is_about_to_define() {
    let next = [definition(&["v1beta1", "v1"]), widget("v1")];
    let live = [established(&["v1beta1"])];
    let outcomes = |preset| {
        let preview = run(preset, &live, None, &next);
        ["widgets.example.com", "gear"].map(|name| row(&preview, name).outcome)
    };
    let refused = [PreviewOutcome::Changed, PreviewOutcome::Refused];
    assert_eq!(outcomes(Preset::KubectlApply), refused);
    assert_eq!(
        outcomes(Preset::ArgoCdServerSide),
        [PreviewOutcome::Changed, PreviewOutcome::Created]
    );
}

#[test]
fn what_only_the_decoder_says_is_not_what_the_manifest_wants() {
    let mut next = definition(&["v1"]);
    next["metadata"]["labels"] = json!({"tier": "new"});
    for preset in TOOLS {
        let preview = run(
            preset,
            &[established(&["v1"])],
            None,
            std::slice::from_ref(&next),
        );
        let row = row(&preview, "widgets.example.com");
        let is_kept = |change| change == FieldChangeKind::NotReverted;
        assert!(!row.fields.iter().any(|it| is_kept(it.change)), "{row:#?}");
        assert!(
            !row.fields.iter().any(|it| it.field.starts_with(".status")),
            "{row:#?}"
        );
    }
}

/// A row without its options, which differ.
fn effects(row: &PreviewRow) -> (PreviewOutcome, String, Vec<(String, FieldChangeKind)>) {
    let fields = row
        .fields
        .iter()
        .filter(|it| !it.field.contains("sync-options"));
    let fields = fields.map(|it| (it.field.clone(), it.change)).collect();
    (row.outcome, row.writer.clone(), fields)
}

#[test]
fn argo_cd_writes_an_object_in_the_way_that_its_options_say() {
    let live = [in_cluster(settings("a", "1"))];
    let of = |preset, option: &str| {
        let next = [with_option(settings("a", "2"), option)];
        row(&run(preset, &live, None, &next), "a").clone()
    };
    let (client, server) = (Preset::ArgoCdClientSide, Preset::ArgoCdServerSide);
    let [by_client, by_server] = [client, server].map(|preset| effects(&of(preset, "")));
    assert_ne!(by_client, by_server);
    assert_eq!(effects(&of(client, "ServerSideApply=true")), by_server);
    assert_eq!(
        effects(&of(server, "Validate=false, ServerSideApply=false")),
        by_client
    );
    assert_eq!(effects(&of(server, "Force=true")), by_server);
    for preset in [client, server] {
        let replaced = of(preset, "Replace=true");
        assert_eq!(replaced.outcome, PreviewOutcome::NotRun);
        assert!(
            replaced.message.contains("Replace=true"),
            "{}",
            replaced.message
        );
        let next = [with_option(settings("new", "2"), "Replace=true")];
        let preview = run(preset, &[], None, &next);
        let created = row(&preview, "new");
        assert_eq!(
            (created.outcome, created.code),
            (PreviewOutcome::Created, Some(201))
        );
    }
    // The object in the cluster can have the option, too. Other tools know none.
    let option = with_option(in_cluster(settings("a", "1")), "Replace=true");
    let next = [settings("a", "2")];
    let preview = run(client, std::slice::from_ref(&option), None, &next);
    assert_eq!(row(&preview, "a").outcome, PreviewOutcome::NotRun);
    let preview = run(Preset::Helm3, &[option], None, &next);
    assert_eq!(row(&preview, "a").outcome, PreviewOutcome::Changed);
}

#[test]
fn argo_cd_waits_for_the_confirmation_of_a_deletion() {
    let live = [
        in_cluster(settings("stays", "1")),
        in_cluster(with_option(settings("asks", "1"), "Prune=confirm")),
        in_cluster(settings("goes", "1")),
        in_cluster(with_option(settings("kept", "1"), "Prune=false")),
    ];
    let preview = run(Preset::ArgoCdServerSide, &live, None, &live[..1]);
    let of = |name| {
        (
            row(&preview, name).outcome,
            row(&preview, name)
                .assumed
                .contains(&Assumed::DeletionConfirmed),
        )
    };
    assert_eq!(of("asks"), (PreviewOutcome::Deleted, true));
    assert_eq!(of("goes"), (PreviewOutcome::Deleted, false));
    assert_eq!(of("kept"), (PreviewOutcome::NotTouched, false));
}

#[test]
fn argo_cd_keeps_the_last_of_two_manifests_for_one_object() {
    let next = [settings("a", "1"), settings("b", "1"), settings("a", "2")];
    let preview = run(Preset::ArgoCdServerSide, &[], None, &next);
    assert_eq!(preview.rows.len(), 2);
    assert_eq!(row(&preview, "a").fields[0].after, Some(json!("2")));
    let live = [in_cluster(settings("a", "1"))];
    let preview = run(Preset::ArgoCdServerSide, &live, None, &next);
    assert_eq!(row(&preview, "a").fields[0].after, Some(json!("2")));
    // kubectl writes one after the other.
    let preview = run(Preset::KubectlApply, &[], None, &next);
    assert_eq!(preview.rows.len(), 3);
}

#[test]
fn an_empty_list_that_is_not_stored_changes_its_owners_once_and_no_version_after_that() {
    // kubernetes/kubernetes#131175; since v1.31 `fieldmanager/equality.go` takes an empty list for none.
    let manifest = |subjects: Option<Value>| {
        let mut binding = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": "readers"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"}});
        if let Some(subjects) = subjects {
            binding["subjects"] = subjects;
        }
        binding
    };
    let mut live = manifest(None);
    live["metadata"]["uid"] = "b1".into();
    live["metadata"]["resourceVersion"] = "700".into();
    live["metadata"]["managedFields"] = json!([{"manager": "kubectl", "operation": "Apply",
        "apiVersion": "rbac.authorization.k8s.io/v1", "fieldsType": "FieldsV1", "time": "2026-01-01T00:00:00Z",
        "fieldsV1": {"f:roleRef": {}}}]);
    let of = |subjects| {
        let next = [manifest(subjects)];
        let preview = run(
            Preset::KubectlApplyServerSide,
            std::slice::from_ref(&live),
            None,
            &next,
        );
        row(&preview, "readers").clone()
    };
    for subjects in [Some(json!([])), None, Some(Value::Null)] {
        let row = of(subjects);
        assert_eq!(
            (row.outcome, row.troubles),
            (PreviewOutcome::Unchanged, vec![])
        );
    }
}

#[test]
fn a_way_out_that_is_refused_too_is_none() {
    let kinds = |immutable: bool| {
        let mut object = in_cluster(settings("fixed", "1"));
        object["immutable"] = immutable.into();
        let mut manifest = settings("fixed", "1");
        manifest["data"]["other"] = "2".into();
        let preview = run(Preset::Helm4, &[object], None, &[manifest]);
        let row = row(&preview, "fixed");
        assert_eq!(row.outcome, PreviewOutcome::Conflict);
        row.hand_overs.iter().map(|it| it.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(false), [HandOverKind::Leave, HandOverKind::TakeOver]);
    assert_eq!(kinds(true), [HandOverKind::Leave]);
}
