//! The owners of a field before and after a write, in words.

use optimist_apiserver::apply::Manager;
use optimist_client::Preset;
use optimist_diagnose::case::Case;
use optimist_diagnose::message::reported_errors;
use optimist_diagnose::ownership::label;
use optimist_diagnose::ways::{
    ChangeTable, FieldEffect, FieldOutcome, OnOwned, ReleaseMethod, WantedChange, Way,
};
use optimist_messages::cards;
use optimist_messages::diagnose::{error_facts, owners_change, written};
use optimist_messages::value;
use serde_json::{Value, json};

/// A Deployment with one entry, which owns its replicas and its selector.
fn deployment(manager: &str, operation: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "uid": "u", "resourceVersion": "5",
            "managedFields": [{"manager": manager, "operation": operation, "apiVersion": "apps/v1",
                "fieldsType": "FieldsV1",
                "fieldsV1": {"f:spec": {"f:replicas": {}, "f:selector": {}}}}]},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "app", "image": "web:1"}]}}}})
}

/// The effects of an apply with force on all fields.
fn fields(live: &Value, preset: Preset, last_release: ReleaseMethod) -> Vec<FieldOutcome> {
    let manifest = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"}, "spec": live["spec"]});
    let installed = Case::about(live.clone()).install();
    let change = WantedChange {
        last_release,
        ..WantedChange::manifest(manifest)
    };
    let table = ChangeTable::new(&installed.expect("it is installed"), change);
    let row = table.row(Way::Client(preset, OnOwned::Force));
    row.map(|row| row.fields).unwrap_or_default()
}

/// The effect on the selector, in words.
fn selector(preset: Preset, last_release: ReleaseMethod) -> (FieldEffect, String) {
    let fields = fields(&deployment("helm", "Update"), preset, last_release);
    let mut fields = fields
        .iter()
        .filter(|it| it.field.to_string() == ".spec.selector");
    let selector = fields.next().expect("its owners change");
    (selector.effect, owners_change(selector))
}

#[test]
fn a_manager_that_owns_a_field_by_another_operation_is_told_apart_from_itself() {
    // Helm makes the entry of its former Update its applier's.
    assert_eq!(
        selector(Preset::Helm4, ReleaseMethod::ClientSide),
        (
            FieldEffect::OwnersChanged,
            "helm (Update) → helm (Apply)".to_owned()
        )
    );
    assert_eq!(
        selector(Preset::Helm4, ReleaseMethod::ServerSide),
        (
            FieldEffect::Shared,
            "helm (Update) → helm (Apply), helm (Update)".to_owned()
        )
    );
}

#[test]
fn a_manager_of_a_name_of_its_own_is_its_name() {
    assert_eq!(
        selector(Preset::KubectlApplyServerSide, ReleaseMethod::ClientSide),
        (FieldEffect::Shared, "helm → kubectl, helm".to_owned())
    );
}

#[test]
fn no_change_of_owners_reads_as_none() {
    let managers = [
        "helm",
        "argocd-controller",
        "kubectl",
        "kubectl-client-side-apply",
    ];
    let mut changes = 0;
    for manager in managers {
        for operation in ["Update", "Apply"] {
            let live = deployment(manager, operation);
            for preset in Preset::all() {
                for outcome in &fields(&live, preset, ReleaseMethod::ClientSide) {
                    let says = owners_change(outcome);
                    let (old, new) = (&outcome.owners_before, &outcome.owners_after);
                    let same = old.len() == new.len() && old.iter().all(|it| new.contains(it));
                    let sides = says.split_once(" → ");
                    assert_eq!(sides.is_none(), same, "{says}");
                    if let Some((before, after)) = sides {
                        assert_ne!(
                            before, after,
                            "{manager} {operation} {preset:?}: {outcome:?}"
                        );
                        changes += 1;
                    }
                }
            }
        }
    }
    assert!(changes > 20, "{changes}");
}

#[test]
fn a_manager_without_a_name_is_said_to_have_none() {
    let live = deployment("", "Update");
    let case = Case::about(live.clone());
    let ownership = case.install().expect("it is installed").ownership();
    let managers: Vec<&Manager> = ownership.managers.iter().map(|it| &it.manager).collect();
    assert_eq!(cards::managers(&managers), "(no name)");
    assert_eq!(label(managers[0]), "(no name) (Update)");
    let conflict = "Apply failed with 1 conflict: conflict with \"\" using apps/v1: .spec.replicas";
    let errors = reported_errors(conflict);
    assert!(
        error_facts(&errors[0]).ends_with(" · (no name)"),
        "{}",
        error_facts(&errors[0])
    );
}

#[test]
fn a_text_without_a_character_is_seen() {
    assert_eq!(written(Some(&json!(""))), "\"\"");
    assert_eq!(value(Some(&json!(""))), "\"\"");
}
