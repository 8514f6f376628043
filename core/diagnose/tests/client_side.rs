//! Conflicts with what `kubectl apply` wrote without `--server-side`: what a row, its second run, its warnings and its
//! ways out say agrees with what becomes of the object.

use optimist_client::Preset;
use optimist_diagnose::case::Case;
use optimist_diagnose::ways::{
    ChangeTable, FieldEffect, InstructionWarning, OnOwned, RemedyKind, Row, WantedChange, Way,
};
use serde_json::{Value, json};

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A ConfigMap that `kubectl apply` wrote without `--server-side`, with a value that the manifest changes.
/// The annotation has the value in other words, so that the conflict is not forgiven
/// (`k8s.io/apimachinery/pkg/util/managedfields/internal/lastappliedmanager.go Apply`, v0.36).
fn of_client_side_apply() -> ChangeTable {
    let applied = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "01", "b": "2"},
        "metadata": {"name": "cfg", "namespace": "shop", "annotations": {}}});
    let owned = json!({"f:data": {".": {}, "f:a": {}, "f:b": {}},
        "f:metadata": {"f:annotations": {".": {}, format!("f:{LAST_APPLIED}"): {}}}});
    table(
        json!({LAST_APPLIED: applied.to_string()}),
        json!([{"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "v1",
            "fieldsType": "FieldsV1", "fieldsV1": owned}]),
    )
}

/// A ConfigMap of another applier, who keeps what the manifest leaves out.
fn of_applier() -> ChangeTable {
    let owned = json!({"f:data": {"f:a": {}, "f:b": {}}});
    table(
        json!({}),
        json!([{"manager": "deployer", "operation": "Apply", "apiVersion": "v1",
            "fieldsType": "FieldsV1", "fieldsV1": owned}]),
    )
}

fn table(annotations: Value, entries: Value) -> ChangeTable {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1", "b": "2"},
        "metadata": {"name": "cfg", "namespace": "shop", "uid": "u", "resourceVersion": "500",
            "annotations": annotations, "managedFields": entries}});
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "9", "b": "2"},
        "metadata": {"name": "cfg", "namespace": "shop"}});
    let installed = Case::about(object).install().expect("it is installed");
    ChangeTable::new(&installed, WantedChange::manifest(manifest))
}

fn left_out(table: &ChangeTable) -> Row {
    let way = Way::Client(Preset::KubectlApplyServerSide, OnOwned::LeaveOut);
    table.row(way).expect("it can carry the change")
}

fn printed(warnings: &[InstructionWarning], which: fn(&InstructionWarning) -> bool) -> String {
    let found: Vec<_> = warnings.iter().filter(|it| which(it)).collect();
    format!("{found:?}")
}

/// The warnings of all instructions for a row.
fn warnings(table: &ChangeTable, row: &Row) -> Vec<InstructionWarning> {
    let instructions = table.instructions(row, true).into_iter();
    instructions.flat_map(|it| it.warnings).collect()
}

#[test]
fn a_field_that_vanishes_is_not_said_to_stay_in_the_object() {
    let table = of_client_side_apply();
    let row = left_out(&table);
    let removed: Vec<_> = row.with(FieldEffect::Removed).collect();
    assert_eq!(removed.len(), 1, "{:#?}", row.fields);
    assert_eq!(row.after["data"], json!({"b": "2"}));
    let warnings = warnings(&table, &row);
    let absent = |it: &InstructionWarning| matches!(it, InstructionWarning::AbsentFromNew(_));
    assert_eq!(printed(&warnings, absent), "[]");
    let removes = |it: &InstructionWarning| matches!(it, InstructionWarning::Removes(_));
    assert_ne!(printed(&warnings, removes), "[]");
}

#[test]
fn a_field_that_the_object_keeps_is_missing_from_a_new_one() {
    let table = of_applier();
    let row = left_out(&table);
    assert_eq!(row.after["data"], json!({"a": "1", "b": "2"}));
    let warnings = warnings(&table, &row);
    let absent = |it: &InstructionWarning| matches!(it, InstructionWarning::AbsentFromNew(_));
    assert_ne!(printed(&warnings, absent), "[]");
}

#[test]
fn a_second_run_applies_what_is_left_of_the_manifest() {
    for table in [of_client_side_apply(), of_applier()] {
        let row = left_out(&table);
        let outs = table.remedies(Preset::KubectlApplyServerSide);
        let out = outs.iter().find(|out| out.kind == RemedyKind::LeaveOut);
        let out = out.expect("it is offered");
        assert_eq!(row.after["data"], out.row.after["data"]);
        let again = row.second_run.expect("it is accepted");
        assert!(!again.changes, "{again:?}");
        assert_eq!(Some(again), out.row.second_run);
    }
}

/// A Deployment of client-side apply with a limit that its manifest writes in other words than the server.
fn of_deployment(manifest: Value) -> ChangeTable {
    let said = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"annotations": {}, "name": "web", "namespace": "shop"}, "spec": spec("nginx:1.25", "0.5")});
    let owned = json!({"f:metadata": {"f:annotations": {".": {}, format!("f:{LAST_APPLIED}"): {}}},
        "f:spec": {"f:selector": {}, "f:template": {"f:metadata": {"f:labels": {".": {}, "f:app": {}}},
            "f:spec": {"f:containers": {"k:{\"name\":\"web\"}": {".": {}, "f:image": {}, "f:name": {},
                "f:resources": {".": {}, "f:limits": {".": {}, "f:cpu": {}}}}}}}}});
    let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web",
        "namespace": "shop", "uid": "u", "resourceVersion": "500",
        "annotations": {LAST_APPLIED: said.to_string()},
        "managedFields": [{"manager": "kubectl-client-side-apply", "operation": "Update",
            "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "fieldsV1": owned}]},
        "spec": spec("nginx:1.25", "500m")});
    let installed = Case::about(object).install().expect("it is installed");
    let manifest = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"}, "spec": manifest});
    ChangeTable::new(&installed, WantedChange::manifest(manifest))
}

fn spec(image: &str, cpu: &str) -> Value {
    json!({"selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [
            {"name": "web", "image": image, "resources": {"limits": {"cpu": cpu}}}]}}})
}

#[test]
fn the_old_manifest_writes_only_values_back_that_it_has_in_another_way() {
    for (manifest, kind, expected) in [
        // The object keeps what the old manifest says.
        (spec("nginx:1.25", "1"), RemedyKind::Agree, false),
        (spec("nginx:1.25", "1"), RemedyKind::Force, true),
        // The image changes beside the field in conflict.
        (spec("nginx:1.26", "1"), RemedyKind::Agree, true),
    ] {
        let table = of_deployment(manifest.clone());
        let outs = table.remedies(Preset::KubectlApplyServerSide);
        let out = outs.iter().find(|out| out.kind == kind);
        let out = out.expect("it is offered");
        assert!(out.settles, "{manifest} {kind:?}");
        assert_eq!(out.client_side_may_write, expected, "{manifest} {kind:?}");
    }
}

#[test]
fn nothing_is_taken_over_by_nobody() {
    let table = of_deployment(spec("nginx:1.25", "1"));
    let row = left_out(&table);
    let limits = row
        .after
        .pointer("/spec/template/spec/containers/0/resources");
    assert_eq!(limits, Some(&json!({})));
    let taken: Vec<_> = row.with(FieldEffect::TakenOver).collect();
    let owned = taken.iter().all(|field| !field.owners_after.is_empty());
    assert!(owned, "{taken:#?}");
    let resources = row
        .fields
        .iter()
        .find(|it| it.field.to_string().ends_with(".resources"));
    assert_eq!(resources.map(|it| it.effect), Some(FieldEffect::Changed));
}

#[test]
fn a_value_that_the_manifest_no_longer_has_is_set_by_the_server() {
    let spec = |more: Value| {
        let mut spec = json!({"maxReplicas": 10,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}});
        optimist_apiserver::patch::merge(&mut spec, &more);
        spec
    };
    let said = json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"annotations": {}, "name": "web", "namespace": "shop"},
        "spec": spec(json!({"minReplicas": 2}))});
    let owned = json!({"f:metadata": {"f:annotations": {".": {}, format!("f:{LAST_APPLIED}"): {}}},
        "f:spec": {"f:maxReplicas": {}, "f:minReplicas": {}, "f:scaleTargetRef": {}}});
    let object = json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web",
        "namespace": "shop", "uid": "u", "resourceVersion": "500",
        "annotations": {LAST_APPLIED: said.to_string()},
        "managedFields": [{"manager": "kubectl-client-side-apply", "operation": "Update",
            "apiVersion": "autoscaling/v2", "fieldsType": "FieldsV1", "fieldsV1": owned}]},
        "spec": said["spec"]});
    let installed = Case::about(object).install().expect("it is installed");
    let manifest = json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "shop"}, "spec": spec(json!({"maxReplicas": 12}))});
    let table = ChangeTable::new(&installed, WantedChange::manifest(manifest));
    for (preset, expected) in [
        (Preset::KubectlApply, vec![".spec.minReplicas"]),
        (Preset::KubectlReplace, vec![".spec.minReplicas"]),
        // The object keeps what an edit does not touch.
        (Preset::KubectlEdit, vec![]),
    ] {
        let row = table
            .row(Way::Client(preset, OnOwned::Usual))
            .expect("it is run");
        let set: Vec<_> = row.set_by_server().map(|it| it.field.to_string()).collect();
        assert_eq!(set, expected, "{preset:?}");
    }
}
