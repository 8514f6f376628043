//! The requests of each tool, by its source: its additions to manifests, its requests before and
//! after, and the objects that it leaves alone.

use optimist_apiserver::apply::{LAST_APPLIED, Managers};
use optimist_apiserver::object::Metadata;
use optimist_client::Preset;
use optimist_diagnose::case::Case;
use optimist_diagnose::input::{Input, detect};
use optimist_diagnose::ways::{Assumption, ChangeTable, OnOwned, Row, WantedChange, Way};
use serde_json::{Value, json};

use crate::live::LIVE;

fn table(live: &str, manifest: Value) -> ChangeTable {
    let Ok(Input::Live(object)) = detect(live) else {
        panic!("it is a live object");
    };
    let installed = Case::about(object).install().expect("it is installed");
    ChangeTable::new(&installed, WantedChange::manifest(manifest))
}

fn run(table: &ChangeTable, preset: Preset, on_owned: OnOwned) -> Row {
    let row = table.row(Way::Client(preset, on_owned));
    row.expect("the way can carry it")
}

/// `PATCH apply-patch+yaml ?fieldManager=helm 200` for each request.
fn told(row: &Row) -> Vec<String> {
    let requests = row.requests.iter().map(|it| {
        let media = it.content_type.rsplit('/').next().unwrap_or_default();
        let query = it.target.split_once('?').map_or("", |(_, query)| query);
        format!("{} {media} {query} {}", it.method, it.code)
    });
    requests.collect()
}

fn config_map(metadata: &Value, managed: &Value) -> String {
    let mut object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a",
        "namespace": "shop", "uid": "u", "resourceVersion": "500", "managedFields": managed},
        "data": {"a": "1"}});
    for (name, value) in metadata.as_object().expect("it is an object") {
        object.set_meta(name, value.clone());
    }
    object.to_string()
}

fn entry(manager: &str, operation: &str, fields: &Value) -> Value {
    json!({"manager": manager, "operation": operation, "apiVersion": "v1",
        "fieldsType": "FieldsV1", "fieldsV1": fields})
}

fn manifest(data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data})
}

#[test]
fn a_rendered_chart_does_not_lose_what_helm_adds_to_it() {
    // `helm template` prints neither the annotations of the release nor, in many charts, the label.
    let chart = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web",
        "labels": {"helm.sh/chart": "web-1.2.4"}},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [
                {"name": "nginx", "ports": [{"name": "http", "containerPort": 80}]}]}}}});
    let table = table(LIVE[4], chart);
    for preset in [Preset::Helm3, Preset::Helm4] {
        let row = run(&table, preset, OnOwned::Usual);
        let meta = &row.after["metadata"];
        assert_eq!(row.code, Some(200), "{preset:?} {}", row.message);
        assert_eq!(meta["annotations"]["meta.helm.sh/release-name"], "web");
        assert_eq!(meta["labels"]["app.kubernetes.io/managed-by"], "Helm");
        let way = Way::Client(preset, OnOwned::Usual);
        assert!(!table.assumptions(way).contains(&Assumption::UnknownRelease));
    }
}

#[test]
fn an_object_without_a_release_gets_none_and_that_is_said() {
    let live = config_map(&json!({}), &json!([]));
    let table = table(&live, manifest(&json!({"a": "2"})));
    for (preset, assumption) in [
        (Preset::Helm4, Assumption::UnknownRelease),
        (Preset::Flux, Assumption::UnknownKustomization),
        (Preset::Terraform, Assumption::InState),
        (Preset::ArgoCdServerSide, Assumption::UnknownApplication),
    ] {
        let row = run(&table, preset, OnOwned::Usual);
        assert_eq!(row.after["metadata"].get("labels"), None);
        assert_eq!(row.after["metadata"].get("annotations"), None);
        let said = table.assumptions(Way::Client(preset, OnOwned::Usual));
        assert!(said.contains(&assumption), "{preset:?} {said:?}");
    }
}

#[test]
fn flux_keeps_the_labels_of_its_kustomization_and_argo_cd_its_tracking_id() {
    let id = "shop:/ConfigMap:shop/a";
    let owned = json!({"f:metadata": {
        "f:annotations": {".": {}, "f:argocd.argoproj.io/tracking-id": {}},
        "f:labels": {".": {}, "f:kustomize.toolkit.fluxcd.io/name": {},
            "f:kustomize.toolkit.fluxcd.io/namespace": {}}}, "f:data": {"f:a": {}}});
    let metadata = json!({"annotations": {"argocd.argoproj.io/tracking-id": id},
        "labels": {"kustomize.toolkit.fluxcd.io/name": "apps",
            "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}});
    for (preset, manager) in [
        (Preset::Flux, "kustomize-controller"),
        (Preset::ArgoCdServerSide, "argocd-controller"),
    ] {
        let live = config_map(&metadata, &json!([entry(manager, "Apply", &owned)]));
        let row = run(
            &table(&live, manifest(&json!({"a": "2"}))),
            preset,
            OnOwned::Usual,
        );
        let meta = &row.after["metadata"];
        if preset == Preset::Flux {
            assert_eq!(meta["labels"]["kustomize.toolkit.fluxcd.io/name"], "apps");
            assert_eq!(meta.get("annotations"), None);
        } else {
            assert_eq!(meta["annotations"]["argocd.argoproj.io/tracking-id"], id);
            assert_eq!(meta.get("labels"), None);
        }
        assert!(!row.second_run.expect("it was accepted").changes);
    }
}

#[test]
fn argo_cd_first_takes_over_the_entry_of_client_side_apply() {
    let owned = json!({"f:data": {".": {}, "f:a": {}, "f:b": {}}});
    let managed = json!([entry("kubectl-client-side-apply", "Update", &owned)]);
    let mut live: Value = serde_json::from_str(&config_map(&json!({}), &managed)).expect("JSON");
    live["data"]["b"] = "2".into();
    let table = table(&live.to_string(), manifest(&json!({"a": "1"})));
    let row = run(&table, Preset::ArgoCdServerSide, OnOwned::Usual);
    assert_eq!(
        told(&row),
        [
            "PATCH json-patch+json  200",
            "PATCH apply-patch+yaml fieldManager=argocd-controller&force=true 200"
        ]
    );
    assert_eq!(row.requests[0].manager, "argocd-application-controller");
    assert_eq!(row.after["data"], json!({"a": "1"}));
}

#[test]
fn argo_cd_with_force_deletes_and_creates_again_what_cannot_be_changed() {
    let mut chart = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata":
        {"name": "web"}, "spec": {"selector": {"matchLabels": {"app": "new"}}, "template": {
            "metadata": {"labels": {"app": "new"}}, "spec": {"containers": [
                {"name": "nginx", "image": "nginx:1"}]}}}});
    let usual = run(
        &table(LIVE[4], chart.clone()),
        Preset::ArgoCdClientSide,
        OnOwned::Usual,
    );
    assert_eq!(usual.code, Some(422));
    let row = run(
        &table(LIVE[4], chart.clone()),
        Preset::ArgoCdClientSide,
        OnOwned::Force,
    );
    let codes: Vec<_> = row
        .requests
        .iter()
        .map(|it| (it.method.as_str(), it.code))
        .collect();
    assert_eq!(codes, [("PATCH", 422), ("DELETE", 200), ("POST", 201)]);
    assert_ne!(row.after.uid(), row.before.uid());
    let mut wrong = chart.clone();
    wrong["spec"]["template"]["metadata"]["labels"]["app"] = "other".into();
    let wrong = table(LIVE[4], wrong);
    let row = run(&wrong, Preset::ArgoCdClientSide, OnOwned::Force);
    let codes: Vec<_> = row.requests.iter().map(|it| it.code).collect();
    assert_eq!(codes, [422, 200, 422, 201]);
    assert_eq!(
        (row.code, row.after["spec"]["replicas"].clone()),
        (Some(422), json!(5))
    );
    let tree = wrong.history(&row);
    let step = tree
        .step(tree.current())
        .and_then(|step| step.exchange.as_ref());
    assert_eq!(
        step.map(|it| (it.method.as_str(), it.code)),
        Some(("POST", 422))
    );
    chart["spec"]["selector"]["matchLabels"] = json!({"app": "web"});
    chart["spec"]["template"]["metadata"]["labels"] = json!({"app": "web"});
    let accepted = run(
        &table(LIVE[4], chart),
        Preset::ArgoCdClientSide,
        OnOwned::Force,
    );
    assert_eq!(accepted.requests.len(), 1, "nothing was refused");
}

#[test]
fn flux_does_what_the_labels_and_annotations_of_the_object_say() {
    let flux = |metadata: Value, manifest: Value| {
        let owned = json!({"f:data": {".": {}, "f:b": {}}});
        let managed = json!([entry("kubectl", "Apply", &owned)]);
        let table = table(&config_map(&metadata, &managed), manifest);
        run(&table, Preset::Flux, OnOwned::Usual)
    };
    let apply = "PATCH apply-patch+yaml fieldManager=kustomize-controller&force=true";
    let dry = format!("{apply}&dryRun=All 200");
    let apply = format!("{apply} 200");
    let cleanup = "PATCH json-patch+json fieldManager=kustomize-controller 200".to_owned();
    let wanted = || manifest(&json!({"a": "2"}));
    let of_object = |name: &str, value: &str| {
        let name = format!("kustomize.toolkit.fluxcd.io/{name}");
        told(&flux(json!({"annotations": {name: value}}), wanted()))
    };
    let usual = told(&flux(json!({}), wanted()));
    assert_eq!(usual, [dry.clone(), cleanup, apply.clone()]);
    assert_eq!(of_object("ssa", "ignore"), [""; 0]);
    assert_eq!(of_object("reconcile", "disabled"), [""; 0]);
    assert_eq!(of_object("ssa", "Merge"), [dry, apply]);
    let mut once = wanted();
    once.set_meta(
        "labels",
        json!({"kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent"}),
    );
    assert!(flux(json!({}), once).requests.is_empty());
    let old = json!({"annotations": {"fluxcd.io/sync-checksum": "x", "kept": "y"},
        "labels": {"fluxcd.io/sync-gc-mark": "z"}});
    let row = flux(old, wanted());
    assert_eq!(row.after["metadata"]["annotations"], json!({"kept": "y"}));
    assert_eq!(row.after["metadata"].get("labels"), None);
}

#[test]
fn flux_with_force_deletes_and_applies_again_what_cannot_be_changed() {
    let live = config_map(&json!({}), &json!([]));
    let mut live: Value = serde_json::from_str(&live).expect("JSON");
    live["immutable"] = true.into();
    let wanted = manifest(&json!({"a": "2"}));
    let usual = run(
        &table(&live.to_string(), wanted.clone()),
        Preset::Flux,
        OnOwned::Usual,
    );
    assert_eq!(usual.code, Some(422));
    live.set_meta(
        "annotations",
        json!({"kustomize.toolkit.fluxcd.io/force": "Enabled"}),
    );
    let row = run(
        &table(&live.to_string(), wanted),
        Preset::Flux,
        OnOwned::Usual,
    );
    let codes: Vec<_> = row
        .requests
        .iter()
        .map(|it| (it.method.as_str(), it.code))
        .collect();
    assert_eq!(codes, [("PATCH", 422), ("DELETE", 200), ("PATCH", 201)]);
    assert_eq!(row.after["data"]["a"], "2");
}

#[test]
fn kubectl_replace_writes_the_file_into_the_annotation_of_client_side_apply() {
    let live = config_map(&json!({"annotations": {LAST_APPLIED: "{}"}}), &json!([]));
    let mut wanted = manifest(&json!({"a": "2"}));
    let row = run(
        &table(&live, wanted.clone()),
        Preset::KubectlReplace,
        OnOwned::Usual,
    );
    assert_eq!(
        row.after["metadata"].get("annotations"),
        None,
        "the file has none"
    );
    wanted.set_meta("annotations", json!({LAST_APPLIED: "{}"}));
    let row = run(
        &table(&live, wanted),
        Preset::KubectlReplace,
        OnOwned::Usual,
    );
    let said = row.after["metadata"]["annotations"][LAST_APPLIED].as_str();
    assert_eq!(
        said,
        Some(
            "{\"apiVersion\":\"v1\",\"data\":{\"a\":\"2\"},\"kind\":\"ConfigMap\",\"metadata\":\
             {\"annotations\":{},\"name\":\"a\",\"namespace\":\"shop\"}}\n"
        )
    );
}

#[test]
fn client_side_apply_of_an_old_version_is_sent_six_times() {
    let live = config_map(&json!({"annotations": {LAST_APPLIED: "{}"}}), &json!([]));
    let mut wanted = manifest(&json!({"a": "2"}));
    wanted.set_meta("resourceVersion", "400");
    let row = run(
        &table(&live, wanted.clone()),
        Preset::KubectlApply,
        OnOwned::Usual,
    );
    let codes: Vec<u16> = row.requests.iter().map(|it| it.code).collect();
    assert_eq!(codes, [409; 6]);
    wanted.set_meta("resourceVersion", "500");
    let row = run(&table(&live, wanted), Preset::KubectlApply, OnOwned::Usual);
    assert_eq!(row.code, Some(200));
    let patch = &row.requests[0].sent;
    assert_eq!(patch["metadata"].get("resourceVersion"), None, "{patch}");
}

#[test]
fn an_unchanged_manifest_with_marks_of_html_sends_nothing() {
    // Recorded from kubectl: Go's encoder writes the ampersands as escapes.
    let last = concat!(
        r#"{"apiVersion":"v1","data":{"a":"x \u0026\u0026 y \u003e z"},"kind":"ConfigMap","#,
        r#""metadata":{"annotations":{},"name":"a","namespace":"shop"}}"#,
        "\n"
    );
    let live = config_map(&json!({"annotations": {LAST_APPLIED: last}}), &json!([]));
    let mut live: Value = serde_json::from_str(&live).expect("JSON");
    live["data"]["a"] = "x && y > z".into();
    let wanted = manifest(&json!({"a": "x && y > z"}));
    let row = run(
        &table(&live.to_string(), wanted),
        Preset::KubectlApply,
        OnOwned::Usual,
    );
    assert_eq!(told(&row), [""; 0]);
}

#[test]
fn code_that_patches_sends_an_empty_patch_too() {
    let owned = json!({"f:data": {".": {}, "f:a": {}}});
    let managed = json!([entry("kubectl", "Apply", &owned)]);
    let table = table(
        &config_map(&json!({}), &managed),
        manifest(&json!({"a": "1"})),
    );
    let row = run(&table, Preset::MergeFrom, OnOwned::Usual);
    assert_eq!(row.code, Some(200));
    assert_eq!(*row.requests[0].sent, json!({}));
    assert!(!row.is_written());
    let row = run(&table, Preset::CreateOrUpdate, OnOwned::Usual);
    assert!(row.requests.is_empty(), "it compares first");
}

#[test]
fn clients_that_name_no_manager_are_known_by_their_user_agent() {
    let wanted = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web"}, "spec": {"replicas": 9}});
    let table = table(LIVE[4], wanted);
    for (preset, agent) in [
        (Preset::KubectlScale, "kubectl"),
        (Preset::Autoscaler, "kube-controller-manager"),
        (Preset::Update, "controller"),
    ] {
        let row = run(&table, preset, OnOwned::Usual);
        let sent = row.requests.last().expect("it is sent");
        assert!(!sent.target.contains("fieldManager"), "{}", sent.target);
        assert_eq!((sent.manager.as_str(), row.writer.as_str()), (agent, agent));
    }
}

#[test]
fn play_gives_the_fields_to_the_managers_that_the_row_names() {
    let wanted = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "labels": {"new": "label"}}, "spec": {"replicas": 9}});
    let table = table(LIVE[4], wanted);
    let owners = |object: &Value| {
        let managed = Managers::decode(object["metadata"].get("managedFields"));
        let managed = managed.expect("they can be read");
        let all = managed
            .iter()
            .map(|it| format!("{:?} {:?}", it.manager, it.set.paths()));
        all.collect::<std::collections::BTreeSet<_>>()
    };
    for row in table.rows().into_iter().filter(|row| row.is_written()) {
        let tree = table.history(&row);
        let (_, stored) = tree.world().stored().expect("it is stored");
        let (played, promised) = (owners(stored), owners(&row.after));
        assert_eq!(played, promised, "{:?}", row.way);
    }
}

#[test]
fn helm_writes_by_the_name_of_the_program_that_runs_it() {
    let owned = json!({"f:data": {".": {}, "f:a": {}}, "f:metadata": {"f:annotations": {".": {},
        "f:meta.helm.sh/release-name": {}, "f:meta.helm.sh/release-namespace": {}}}});
    let metadata = json!({"annotations": {"meta.helm.sh/release-name": "shop",
        "meta.helm.sh/release-namespace": "shop"}});
    for (manager, expected) in [
        ("helm-controller", "helm-controller"),
        (
            "terraform-provider-helm_v3.1.0",
            "terraform-provider-helm_v3.1.0",
        ),
        // Somebody annotated the object so that Helm takes it.
        ("kubectl-annotate", "helm"),
    ] {
        for (preset, operation) in [(Preset::Helm3, "Update"), (Preset::Helm4, "Apply")] {
            let live = config_map(&metadata, &json!([entry(manager, operation, &owned)]));
            let table = table(&live, manifest(&json!({"a": "2"})));
            let row = run(&table, preset, OnOwned::Usual);
            assert_eq!(row.writer, expected, "{preset:?}");
        }
    }
}

#[test]
fn a_release_of_flux_keeps_its_labels_and_is_changed_in_its_helm_release() {
    let labels = json!({"helm.toolkit.fluxcd.io/name": "web",
        "helm.toolkit.fluxcd.io/namespace": "apps"});
    let owned = json!({"f:data": {".": {}, "f:a": {}}, "f:metadata": {"f:annotations": {".": {},
        "f:meta.helm.sh/release-name": {}}, "f:labels": {".": {},
        "f:helm.toolkit.fluxcd.io/name": {}, "f:helm.toolkit.fluxcd.io/namespace": {}}}});
    let metadata = json!({"labels": labels, "annotations": {"meta.helm.sh/release-name": "web",
        "meta.helm.sh/release-namespace": "shop"}});
    let live = config_map(
        &metadata,
        &json!([entry("helm-controller", "Apply", &owned)]),
    );
    let table = table(&live, manifest(&json!({"a": "2"})));
    let row = run(&table, Preset::Helm4, OnOwned::Usual);
    let kept = &row.after["metadata"]["labels"];
    for (name, value) in labels.as_object().expect("it is an object") {
        assert_eq!(kept[name], *value);
    }
    let all = table.instructions(&row, true);
    assert!(
        all[0]
            .text
            .ends_with("flux reconcile helmrelease web -n apps --with-source\n"),
        "{}",
        all[0].text
    );
}
