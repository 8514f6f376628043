//! The table promises what a run does: every request of a row is sent again to a fresh server, and
//! gets the same answers and leaves the same object. And the promises about well-known situations.

use http::{Request, header};
use optimist_apiserver::apply::Managers;
use optimist_apiserver::object::Metadata;
use optimist_client::Preset;
use optimist_diagnose::case::{Case, Installed};
use optimist_diagnose::input::{Input, detect};
use optimist_diagnose::ways::{
    ChangeTable, FieldEffect, OnOwned, Remedy, RemedyKind, Row, WantedChange, Way,
};
use optimist_simulation::World;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::live::LIVE;

fn installed(text: &str) -> Installed {
    let Ok(Input::Live(object)) = detect(text) else {
        panic!("it is a live object");
    };
    Case::about(object).install().expect("it is installed")
}

fn get(world: &World, server: &mut optimist_apiserver::server::ApiServer) -> Value {
    let request = optimist_client::get_request(&world.subject().path(), "test");
    let answer = server.handle(request.expect("it is a request"));
    serde_json::from_slice(answer.body()).expect("it is JSON")
}

/// Sends the requests of a row to a fresh server, by hand.
fn replayed(installed: &Installed, row: &Row) {
    let mut server = installed.world.server().clone();
    for sent in &row.requests {
        let request = Request::builder()
            .method(sent.method.clone())
            .uri(&sent.target)
            .header(header::CONTENT_TYPE, &sent.content_type)
            .header(header::USER_AGENT, &sent.manager)
            .body(sent.sent.to_string().into_bytes())
            .expect("it is a request");
        let answer = server.handle(request);
        let body: Value = serde_json::from_slice(answer.body()).expect("it is JSON");
        assert_eq!(
            (answer.status().as_u16(), &body),
            (sent.code, &*sent.received),
            "{:?}",
            row.way
        );
    }
    let object = get(&installed.world, &mut server);
    assert_eq!(object, *row.after, "{:?}", row.way);
    agrees(row);
}

/// Checks that a row agrees with its two objects on each field.
fn agrees(row: &Row) {
    let managers = |object: &Value| {
        let managed = object.metadata().and_then(|meta| meta.get("managedFields"));
        Managers::decode(managed).expect("they can be read")
    };
    let (old, new) = (managers(&row.before), managers(&row.after));
    for field in &row.fields {
        let label = format!("{:?} {}", row.way, field.field);
        assert_eq!(
            field.before.as_ref(),
            field.field.find(&row.before),
            "{label}"
        );
        assert_eq!(
            field.after.as_ref(),
            field.field.find(&row.after),
            "{label}"
        );
        for (owners, managers) in [(&field.owners_before, &old), (&field.owners_after, &new)] {
            let found = managers
                .iter()
                .filter(|owned| owned.set.contains(&field.field));
            let found: Vec<_> = found.map(|owned| owned.manager.clone()).collect();
            assert_eq!(*owners, found, "{label}");
        }
        let changed = field.before != field.after;
        let expected = match field.effect {
            FieldEffect::TakenOver
            | FieldEffect::Changed
            | FieldEffect::Added
            | FieldEffect::Removed => changed,
            FieldEffect::Refused => row.code == Some(409) && !row.is_written(),
            FieldEffect::Kept
            | FieldEffect::Shared
            | FieldEffect::OwnersChanged
            | FieldEffect::LeftBehind => !changed,
        };
        assert!(expected, "{label}: {field:?}");
        if field.effect == FieldEffect::Shared {
            let (before, after) = (&field.owners_before, &field.owners_after);
            let more = after.len() > before.len() && before.iter().all(|it| after.contains(it));
            assert!(more, "{label}: {field:?}");
        }
    }
    if row.is_refused() {
        let mut left = row.with(FieldEffect::LeftBehind);
        assert!(left.next().is_none(), "{:?} was refused", row.way);
    }
    if !row.is_written() {
        let says = |effect| row.with(effect).next().is_some();
        assert!(
            !says(FieldEffect::Changed) && !says(FieldEffect::TakenOver),
            "{:?}",
            row.way
        );
    }
    assert_eq!(row.is_refused(), !row.message.is_empty(), "{:?}", row.way);
}

/// A change of every scalar in `spec` or `data` that is reached by member names.
fn change_of(object: &Value, picks: &[usize], leave_out: bool) -> Value {
    let mut manifest = optimist_client::bare(object);
    manifest.metadata_mut().remove("annotations");
    let mut places = Vec::new();
    places_of(&manifest, "", &mut places);
    for pick in picks {
        let Some(place) = places.get(pick % places.len().max(1)) else {
            continue;
        };
        // The same place can be picked twice.
        let Some(value) = manifest.pointer_mut(place) else {
            continue;
        };
        *value = match &*value {
            Value::Number(number) => json!(number.as_i64().unwrap_or(1) + 1),
            Value::Bool(value) => json!(!*value),
            Value::String(text) if text.ends_with('x') => json!("y"),
            _ => json!("x"),
        };
        if leave_out
            && let Some((above, name)) = place.rsplit_once('/')
            && let Some(Value::Object(members)) = manifest.pointer_mut(above)
        {
            members.remove(name);
        }
    }
    manifest
}

fn places_of(value: &Value, pointer: &str, places: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members.iter().filter(|(name, _)| !name.contains('/')) {
                let identity = pointer == "/metadata" && name != "labels";
                if !identity && !["apiVersion", "kind"].contains(&name.as_str()) {
                    places_of(member, &format!("{pointer}/{name}"), places);
                }
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                places_of(item, &format!("{pointer}/{i}"), places);
            }
        }
        _ => places.push(pointer.to_owned()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_the_table_promises_is_what_a_run_does(
        which in 0..LIVE.len(),
        picks in proptest::collection::vec(0usize..60, 1..4),
        leave_out: bool,
        edited: bool,
    ) {
        let installed = installed(LIVE[which]);
        let live = installed.object().expect("it is stored");
        let manifest = change_of(live, &picks, leave_out);
        let change = if edited {
            let mut object = get(&installed.world, &mut installed.world.server().clone());
            for part in ["spec", "data"] {
                if let Some(value) = manifest.get(part) {
                    object[part] = value.clone();
                }
            }
            WantedChange::edited(object)
        } else {
            WantedChange::manifest(manifest)
        };
        let rows = ChangeTable::new(&installed, change).rows();
        prop_assert!(rows.len() >= 15);
        for row in &rows {
            replayed(&installed, row);
        }
    }
}

fn deployment(manifest: &str) -> ChangeTable {
    let Ok(Input::Manifest(manifest)) = detect(manifest) else {
        panic!("it is a manifest");
    };
    ChangeTable::new(&installed(LIVE[4]), WantedChange::manifest(manifest))
}

/// A chart that still names the replicas that an HPA scales.
const CHART: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels: {app.kubernetes.io/managed-by: Helm, helm.sh/chart: web-1.2.4}
  annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: live}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: nginx
        ports: [{name: http, containerPort: 80}]
";

fn effect_of(row: &Row, field: &str) -> Option<FieldEffect> {
    let mut fields = row.fields.iter();
    let found = fields.find(|one| one.field.to_string() == field);
    found.map(|one| one.effect)
}

#[test]
fn helm_4_is_refused_for_the_replicas_of_an_autoscaler_and_settles_without_them() {
    let table = deployment(CHART);
    let row = |on_owned| {
        let row = table.row(Way::Client(Preset::Helm4, on_owned));
        row.expect("the way can carry it")
    };
    let refused = row(OnOwned::Usual);
    assert_eq!(refused.code, Some(409));
    assert_eq!(
        refused.message,
        "Apply failed with 1 conflict: conflict with \"kube-controller-manager\" with subresource \
         \"scale\" using apps/v1: .spec.replicas"
    );
    assert_eq!(
        effect_of(&refused, ".spec.replicas"),
        Some(FieldEffect::Refused)
    );
    assert_eq!(refused.second_run, None);
    let forced = row(OnOwned::Force);
    assert_eq!(forced.code, Some(200));
    assert_eq!(
        effect_of(&forced, ".spec.replicas"),
        Some(FieldEffect::TakenOver)
    );
    let back: Vec<_> = forced
        .taken_back
        .iter()
        .map(|it| (it.field.to_string(), it.autoscaler))
        .collect();
    assert_eq!(back, [(".spec.replicas".to_owned(), true)]);
    let settled = row(OnOwned::LeaveOut);
    assert_eq!((settled.code, settled.requests.len()), (Some(200), 2));
    assert_eq!(settled.after["spec"]["replicas"], 5);
    assert_eq!(
        effect_of(&settled, ".metadata.labels.helm.sh/chart"),
        Some(FieldEffect::Changed)
    );
    assert!(settled.taken_back.is_empty());
    let again = settled.second_run.expect("it was accepted");
    assert!(!again.changes);
}

#[test]
fn each_client_says_what_it_writes_of_a_manifest() {
    let table = deployment(CHART);
    let code = |preset| {
        let row = table.row(Way::Client(preset, OnOwned::Usual));
        let row = row.expect("the way can carry it");
        (row.code, row.after["spec"]["replicas"].clone())
    };
    for (preset, expected) in [
        (Preset::KubectlApplyServerSide, (Some(409), json!(5))),
        (Preset::KubectlApply, (Some(200), json!(3))),
        (Preset::KubectlScale, (Some(200), json!(3))),
        (Preset::KubectlLabel, (Some(200), json!(5))),
        (Preset::KubectlReplace, (Some(422), json!(5))),
        (Preset::MergeFrom, (Some(200), json!(3))),
        (Preset::Helm3, (Some(200), json!(3))),
        // Argo CD owned the image alone, and the chart does not name it: it would be removed.
        (Preset::ArgoCdServerSide, (Some(422), json!(5))),
        (Preset::Flux, (Some(200), json!(3))),
        (Preset::Terraform, (Some(409), json!(5))),
    ] {
        assert_eq!(code(preset), expected, "{preset:?}");
    }
    let create = table.row(Way::Create).expect("the way can carry it");
    assert_eq!(
        (create.code, create.reason.as_str()),
        (Some(422), "Invalid")
    );
    let whole = CHART.replace(
        "- name: nginx",
        "- {image: a, name: nginx}\n      - name: other",
    );
    let whole = whole.replace("ports:", "image: b\n        ports:");
    let create = deployment(&whole)
        .row(Way::Create)
        .expect("the way can carry it");
    assert_eq!(
        (create.code, create.reason.as_str()),
        (Some(409), "AlreadyExists")
    );
}

#[test]
fn a_row_opens_in_play_at_its_last_request() {
    let table = deployment(CHART);
    for row in table
        .rows()
        .into_iter()
        .filter(|row| !row.requests.is_empty())
    {
        let tree = table.history(&row);
        let last = tree
            .step(tree.current())
            .and_then(|step| step.exchange.as_ref());
        let last = last.expect("it is a request");
        assert_eq!(Some(last.code), row.code, "{:?}", row.way);
        let stored = tree
            .world()
            .stored()
            .expect("it is stored")
            .1
            .resource_version();
        assert_eq!(stored, row.after.resource_version(), "{:?}", row.way);
    }
}

#[test]
fn a_value_that_the_server_writes_in_another_way_is_not_said_to_be_another() {
    let chart = CHART.replace(
        "        ports:",
        "        resources: {requests: {cpu: 0.1, memory: 65536Ki}}\n        ports:",
    );
    let row = deployment(&chart).row(Way::Client(Preset::KubectlApply, OnOwned::Usual));
    let row = row.expect("the way can carry it");
    let requests = ".spec.template.spec.containers[name=\"nginx\"].resources.requests";
    for name in ["cpu", "memory"] {
        let effect = effect_of(&row, &format!("{requests}.{name}"));
        assert_ne!(effect, Some(FieldEffect::Kept), "{name}");
        assert_ne!(effect, Some(FieldEffect::Changed), "{name}");
    }
    let secret = installed(LIVE[8]);
    let mut manifest = optimist_client::bare(secret.object().expect("it is stored"));
    manifest["stringData"] = json!({"new": "x"});
    let rows = ChangeTable::new(&secret, WantedChange::manifest(manifest));
    let row = rows.row(Way::Client(Preset::KubectlApplyServerSide, OnOwned::Force));
    let row = row.expect("the way can carry it");
    let told: Vec<_> = row
        .fields
        .iter()
        .map(|it| (it.field.to_string(), it.effect))
        .collect();
    assert!(
        told.contains(&(".data.new".to_owned(), FieldEffect::Added)),
        "{told:?}"
    );
    assert!(row.with(FieldEffect::Kept).next().is_none(), "{told:?}");
}

#[test]
fn a_migration_from_client_side_apply_runs_as_kubectl_runs_it() {
    let live = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a",
        "namespace": "shop", "uid": "u", "resourceVersion": "500",
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"},
        "managedFields": [{"manager": "kubectl-client-side-apply", "operation": "Update",
            "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1": {
                "f:data": {".": {}, "f:a": {}, "f:b": {}}, "f:metadata": {"f:annotations": {".": {},
                "f:kubectl.kubernetes.io/last-applied-configuration": {}}}}}]},
        "data": {"a": "1", "b": "2"}}"#;
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
        "data": {"a": "1"}});
    let table = ChangeTable::new(&installed(live), WantedChange::manifest(manifest));
    let row = table.row(Way::Client(Preset::KubectlApplyServerSide, OnOwned::Usual));
    let row = row.expect("the way can carry it");
    let sent: Vec<&str> = row
        .requests
        .iter()
        .map(|it| it.content_type.as_str())
        .collect();
    let (apply, json) = (
        "application/apply-patch+yaml",
        "application/json-patch+json",
    );
    assert_eq!(sent, [apply, apply, json, apply]);
    assert!(
        row.requests[1]
            .target
            .contains("fieldManager=kubectl-last-applied")
    );
    assert_eq!(
        row.after["data"],
        json!({"a": "1"}),
        "what the manifest left out is gone"
    );
    assert!(!row.second_run.expect("it was accepted").changes);
}

/// Each way out with its codes, whether it settles, and the replicas and their owners afterwards.
fn told(out: &Remedy) -> (RemedyKind, Vec<u16>, bool, Value, Vec<String>) {
    let codes = out.row.requests.iter().map(|it| it.code).collect();
    let managed = Managers::decode(out.row.after["metadata"].get("managedFields"));
    let managed = managed.expect("they can be read");
    let field = optimist_apiserver::apply::Path(vec![
        optimist_apiserver::apply::PathElement::Field("spec".to_owned()),
        optimist_apiserver::apply::PathElement::Field("replicas".to_owned()),
    ]);
    let owners = managed.iter().filter(|owned| owned.set.contains(&field));
    let owners = owners.map(|owned| owned.manager.name.clone()).collect();
    let replicas = out.row.after["spec"]["replicas"].clone();
    (out.kind, codes, out.settles, replicas, owners)
}

#[test]
fn every_way_out_of_a_conflict_is_run_with_its_consequences() {
    let outs = deployment(CHART).remedies(Preset::Helm4);
    let (helm, scaler) = ("helm".to_owned(), "kube-controller-manager".to_owned());
    let told: Vec<_> = outs.iter().map(told).collect();
    assert_eq!(
        told,
        [
            (
                RemedyKind::LeaveOut,
                vec![200],
                true,
                json!(5),
                vec![scaler.clone()]
            ),
            (
                // The autoscaler changes the value that was agreed on.
                RemedyKind::Agree,
                vec![200],
                false,
                json!(5),
                vec![helm.clone(), scaler]
            ),
            (
                RemedyKind::Transfer,
                vec![200, 200, 200],
                false,
                json!(3),
                vec![helm.clone()]
            ),
            (RemedyKind::Force, vec![200], false, json!(3), vec![helm]),
        ]
    );
    assert!(outs[0].manifest.pointer("/spec/replicas").is_none());
    for out in &outs {
        replayed(&installed(LIVE[4]), &out.row);
        let resource = installed(LIVE[4]).world.resource().clone();
        assert_eq!(out.row.commands(&resource).len(), out.row.requests.len());
    }
}

#[test]
fn an_applier_gives_a_field_up_by_applying_without_it() {
    let live = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a",
        "namespace": "shop", "uid": "u", "resourceVersion": "500",
        "managedFields": [{"manager": "one", "operation": "Apply", "apiVersion": "v1",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:a": {}, "f:b": {}}}},
            {"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "v1",
            "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:c": {}}}}]},
        "data": {"a": "1", "b": "2", "c": "3"}}"#;
    let change = |data: Value| {
        WantedChange::manifest(json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "a"}, "data": data}))
    };
    let outs = |data| {
        let table = ChangeTable::new(&installed(live), change(data));
        table.remedies(Preset::KubectlApplyServerSide)
    };
    let of_applier = outs(json!({"a": "9"}));
    let transfer = of_applier
        .iter()
        .find(|out| out.kind == RemedyKind::Transfer);
    let transfer = transfer.expect("it is offered");
    assert!(transfer.settles);
    assert_eq!(
        transfer.row.after["data"],
        json!({"a": "9", "b": "2", "c": "3"})
    );
    assert!(transfer.row.requests[1].target.contains("fieldManager=one"));
    assert!(of_applier.iter().all(|out| out.kind != RemedyKind::Migrate));
    let of_client = outs(json!({"c": "9"}));
    let migrate = of_client.iter().find(|out| out.kind == RemedyKind::Migrate);
    let migrate = migrate.expect("it is offered");
    assert!(migrate.settles);
    assert_eq!(
        migrate.row.after["data"],
        json!({"a": "1", "b": "2", "c": "9"})
    );
    assert_eq!(outs(json!({"new": "1"})).len(), 0, "there is no conflict");
}

#[test]
fn a_field_that_a_manifest_leaves_out_is_not_said_to_keep_another_value() {
    let manifest = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "live"}, "spec": {"replicas": 2}});
    let table = ChangeTable::new(&installed(LIVE[4]), WantedChange::manifest(manifest));
    let way = Way::Client(Preset::KubectlApplyServerSide, OnOwned::Force);
    let row = table.row(way).expect("it can carry a manifest");
    assert_eq!(
        effect_of(&row, ".spec.replicas"),
        Some(FieldEffect::TakenOver)
    );
    // The type requires both, so Go's decoder fills them with null.
    assert_eq!(effect_of(&row, ".spec.selector"), None);
    let kept: Vec<String> = row
        .with(FieldEffect::Kept)
        .map(|it| it.field.to_string())
        .collect();
    assert_eq!(kept, [""; 0]);
}

#[test]
fn a_default_that_no_manifest_had_is_not_left_behind() {
    let manifest = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "a"}},
            "template": {"metadata": {"labels": {"app": "a"}},
                "spec": {"containers": [{"name": "a", "image": "b"}]}}}});
    // Who creates an object by Update owns also what the server fills in.
    let mut live = manifest.clone();
    live["metadata"] = json!({"name": "a", "namespace": "shop", "uid": "u",
        "resourceVersion": "500", "managedFields": [
        {"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "apps/v1",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {"f:annotations": {
            "f:kubectl.kubernetes.io/last-applied-configuration": {}}},
            "f:spec": {"f:progressDeadlineSeconds": {},
            "f:replicas": {}, "f:minReadySeconds": {}, "f:revisionHistoryLimit": {},
            "f:strategy": {"f:rollingUpdate": {".": {}, "f:maxSurge": {}, "f:maxUnavailable": {}},
                "f:type": {}}}}}]});
    live["spec"]["minReadySeconds"] = 5.into();
    live["spec"]["progressDeadlineSeconds"] = 600.into();
    let left = |live: &Value| {
        let installed = Case::about(live.clone())
            .install()
            .expect("it is installed");
        let table = ChangeTable::new(&installed, WantedChange::manifest(manifest.clone()));
        let row = table.row(Way::Client(Preset::KubectlApply, OnOwned::Usual));
        let row = row.expect("the way can carry it");
        let left = row.with(FieldEffect::LeftBehind);
        left.map(|it| it.field.to_string()).collect::<Vec<_>>()
    };
    // Nothing says what the manifest had. The server fills in no such value.
    assert_eq!(left(&live), [".spec.minReadySeconds"]);
    // What was applied last is known, and had neither.
    let mut applied = manifest.clone();
    applied["spec"]["replicas"] = 1.into();
    live["metadata"]["annotations"] = json!({
        "kubectl.kubernetes.io/last-applied-configuration": applied.to_string()});
    assert_eq!(left(&live), [""; 0]);
}

#[test]
fn who_owns_a_field_as_a_whole_or_writes_by_a_browser_does_not_write_again() {
    let object = |manager: &str, fields: Value| {
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a",
            "namespace": "shop", "uid": "u", "resourceVersion": "500", "managedFields": [
            {"manager": manager, "operation": "Update", "apiVersion": "example.com/v1",
                "fieldsType": "FieldsV1", "fieldsV1": fields}]},
            "spec": {"a": 1, "b": {"c": 1}}})
    };
    let manifest = json!({"apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "a"}, "spec": {"a": 2, "b": {"c": 2}}});
    let back = |object: Value| {
        let installed = Case::about(object).install().expect("it is installed");
        let change = WantedChange::manifest(manifest.clone());
        let table = ChangeTable::new(&installed, change);
        let row = table.row(Way::Client(Preset::KubectlApplyServerSide, OnOwned::Force));
        let row = row.expect("it can carry a manifest");
        assert_eq!(effect_of(&row, ".spec"), None, "it is no value of its own");
        row.taken_back.len()
    };
    assert_eq!(back(object("operator", json!({"f:spec": {"f:a": {}}}))), 1);
    assert_eq!(back(object("operator", json!({"f:spec": {}}))), 0);
    assert_eq!(back(object("Mozilla", json!({"f:spec": {"f:a": {}}}))), 0);
}

#[test]
fn an_item_that_the_object_does_not_have_keeps_no_value_that_only_a_decoder_adds() {
    let installed = installed(LIVE[4]);
    let mut manifest = Value::clone(installed.object().expect("it is stored"));
    let containers = &mut manifest["spec"]["template"]["spec"]["containers"];
    let added = json!({"name": "added", "image": "example:1"});
    containers.as_array_mut().expect("a list").push(added);
    manifest["metadata"] = json!({"name": "web", "namespace": "live"});
    let table = ChangeTable::new(&installed, WantedChange::manifest(manifest));
    // It is refused: the object exists.
    let row = table.row(Way::Create).expect("it can carry it");
    assert_eq!(row.code, Some(409));
    let named = |field: &str| {
        row.fields
            .iter()
            .any(|it| it.field.to_string().ends_with(field))
    };
    assert!(named("[name=\"added\"].image"));
    assert!(!named("[name=\"added\"].resources"));
}

#[test]
fn owners_in_another_order_are_the_same_owners() {
    let entry = |manager: &str| {
        json!({"manager": manager, "operation": "Apply", "apiVersion": "v1",
            "time": "2026-01-01T00:00:00Z", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {"f:k": {}}}})
    };
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a",
        "namespace": "b", "uid": "00000000-0000-4000-8000-00000000000a", "resourceVersion": "7",
        "managedFields": [entry("kubectl"), entry("second")]}, "data": {"k": "1"}});
    let installed = Case::about(object).install().expect("it is installed");
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "b"}, "data": {"k": "1", "new": "2"}});
    let table = ChangeTable::new(&installed, WantedChange::manifest(manifest));
    let way = Way::Client(Preset::KubectlApplyServerSide, OnOwned::Usual);
    let row = table.row(way).expect("it can carry it");
    // The entry of the writer is the newest now, and comes last.
    let owners = |object: &Value| -> Vec<String> {
        let all = object["metadata"]["managedFields"]
            .as_array()
            .expect("a list")
            .iter();
        all.map(|it| it["manager"].to_string()).collect()
    };
    assert_ne!(owners(&row.before), owners(&row.after));
    assert_eq!(effect_of(&row, ".data.k"), None);
}
