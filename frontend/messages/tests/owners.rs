//! The owners of a field before and after a write, in words.

use optimist_apiserver::apply::{ManagedFieldsOperation, Manager};
use optimist_client::Preset;
use optimist_diagnose::case::Case;
use optimist_diagnose::fight_remedy::FightRemedy;
use optimist_diagnose::message::reported_errors;
use optimist_diagnose::ownership::label;
use optimist_diagnose::ways::{
    ChangeTable, FieldEffect, FieldOutcome, OnOwned, ReleaseMethod, WantedChange, Way,
};
use optimist_messages::cards;
use optimist_messages::diagnose::{
    entry_owner, error_facts, line_owners, owners_change, written, written_change,
};
use optimist_messages::lanes::fight_remedy;
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

fn manager(name: &str, operation: ManagedFieldsOperation, subresource: &str) -> Manager {
    Manager::new(name, operation, "v1", subresource)
}

#[test]
fn two_entries_of_one_name_are_told_apart_by_what_they_do() {
    let mut live = deployment("flux", "Apply");
    let mut other = live["metadata"]["managedFields"][0].clone();
    other["operation"] = "Update".into();
    let entries = live["metadata"]["managedFields"].as_array_mut();
    entries.expect("it has owners").push(other);
    let installed = Case::about(live).install().expect("it is installed");
    let ownership = installed.ownership();
    let named = ownership
        .managers
        .iter()
        .map(|it| entry_owner(&ownership, it));
    assert_eq!(named.collect::<Vec<_>>(), ["flux (Apply)", "flux (Update)"]);
    let replicas = ownership
        .lines
        .iter()
        .find(|it| it.line.pointer == "/spec/replicas");
    let replicas = replicas.expect("it has a line");
    assert_eq!(
        line_owners(&ownership, replicas),
        "flux (Apply), flux (Update)"
    );
}

#[test]
fn a_way_out_of_a_fight_names_the_subresource_of_a_manager() {
    let [apply, update] = [
        ManagedFieldsOperation::Apply,
        ManagedFieldsOperation::Update,
    ];
    let scale = manager("kubectl", update, "scale");
    let applies = manager("kubectl", apply, "");
    let remedy = |keeper: &Manager, other: &Manager| {
        fight_remedy(&FightRemedy {
            keeper: keeper.clone(),
            others: vec![other.clone()],
            has_gap: false,
        })
    };
    assert_eq!(
        remedy(&scale, &applies),
        "Leave it to kubectl · /scale. Take it out of what kubectl applies."
    );
    assert_eq!(
        remedy(&applies, &scale),
        "Leave it to kubectl. Let kubectl · /scale no longer set it."
    );
    // Of two entries without a subresource, the operation is the difference.
    assert_eq!(
        remedy(&applies, &manager("kubectl", update, "")),
        "Leave it to kubectl (Apply). Let kubectl no longer set it."
    );
}

#[test]
fn two_long_values_show_where_they_differ() {
    let metrics = |target: u32| {
        json!([{"resource": {"name": "cpu", "target": {"averageUtilization": target, "type": "Utilization"}},
            "type": "Resource"}])
    };
    let said = written_change(Some(&metrics(80)), Some(&metrics(70)));
    let (before, after) = said.split_once(" → ").expect("it is a change");
    assert!(
        before.contains("\":80,") && after.contains("\":70,"),
        "{said}"
    );
    // Whatever is in sight stays as it is.
    assert_eq!(written_change(Some(&json!(8)), None), "8 → absent");
    let long = "x".repeat(200);
    let said = written_change(Some(&json!(long)), Some(&json!(format!("{long}y"))));
    assert!(said.ends_with("xy"), "{said}");
}
