//! Nothing is claimed that depends on what a text does not say: it is said what would decide it.

use optimist_apiserver::apply::Path;
use optimist_client::Preset;
use optimist_diagnose::case::{Case, Installed};
use optimist_diagnose::completions::{
    CompletedChange, CompletionAnswer, Contradiction, OpenQuestion, RemedyEffect, SameName, Then,
};
use optimist_diagnose::input::{Input, detect};
use optimist_diagnose::message::{ReportedError, reported_errors};
use optimist_diagnose::scene::{GivenParts, Scene};
use optimist_diagnose::ways::{
    CaseContent, ChangeTable, FieldEffect, InstructionLanguage, OnOwned, ReleaseMethod, Remedy,
    RemedyKind, Row, WantedChange, Way,
};
use serde_json::{Value, json};

fn error(message: &str) -> ReportedError {
    let mut errors = reported_errors(message);
    assert_eq!(errors.len(), 1, "{message}");
    errors.remove(0)
}

/// The refused write of a message alone, under every answer.
fn of_message(message: &str) -> CompletedChange {
    let error = error(message);
    let given = GivenParts::default();
    let scene = Scene::rebuild(&error, &given).expect("there is a scene");
    let mut change = CompletedChange::of_scene(&scene, &error, &given).expect("it was an apply");
    change.complete();
    change
}

fn kubectl(conflict: &str) -> String {
    format!(
        "error: Apply failed with 1 conflict: conflict with {conflict}\nPlease review the fields above"
    )
}

fn helm(object: &str, conflict: &str) -> String {
    format!(
        "Error: UPGRADE FAILED: conflict occurred while applying object {object}: Apply failed with 1 \
         conflict: conflict with {conflict}"
    )
}

const DEPLOYMENT: &str = "shop/web apps/v1, Kind=Deployment";

fn usual(preset: Preset) -> Way {
    Way::Client(preset, OnOwned::Usual)
}

fn row(change: &CompletedChange, way: Way) -> Row {
    change.row(way).expect("the way can carry it")
}

fn out(outs: &[Remedy], kind: RemedyKind) -> &Remedy {
    let found = outs.iter().find(|out| out.kind == kind);
    found.unwrap_or_else(|| panic!("{kind:?} is not offered"))
}

#[test]
fn the_client_that_got_a_message_gets_it_again_also_for_its_own_name() {
    for (conflict, by_update) in [
        ("\"helm\" using apps/v1: .spec.replicas", true),
        ("\"helm\": .spec.replicas", false),
    ] {
        let message = helm(DEPLOYMENT, conflict);
        let change = of_message(&message);
        let row = row(&change, usual(Preset::Helm4));
        assert_eq!(row.code, Some(409), "{conflict}");
        assert_eq!(Contradiction::between(&error(&message), &row), None);
        let same = SameName::find(&error(&message)).expect("it is the name of Helm");
        assert_eq!((same.manager.as_str(), same.by_update), ("helm", by_update));
        let outs = change.remedies(Preset::Helm4);
        let settling = outs
            .iter()
            .filter(|out| out.settling() == RemedyEffect::Settles);
        assert!(settling.count() > 2, "{conflict}");
        // The entry by Update can become the one of the apply.
        let migrates = outs.iter().any(|out| out.kind == RemedyKind::Migrate);
        assert_eq!(migrates, by_update);
    }
}

#[test]
fn leaving_fields_out_settles_only_if_no_client_side_apply_is_taken_over() {
    let change = of_message(&kubectl(
        "\"kubectl-client-side-apply\" using apps/v1: .spec.replicas",
    ));
    let outs = change.remedies(Preset::KubectlApplyServerSide);
    let leave = out(&outs, RemedyKind::LeaveOut);
    assert_eq!(leave.settling(), RemedyEffect::Depends);
    assert!(!leave.settles);
    let client_side = CompletionAnswer::ClientSideApply("kubectl-client-side-apply".to_owned());
    let decided = leave
        .row
        .open
        .iter()
        .filter(|one| one.answer == client_side);
    let then: Vec<&Then> = decided.map(|one| &one.then).collect();
    assert!(then.contains(&&Then::DoesNotSettle), "{then:?}");
    let reset = |then: &&Then| matches!(then, Then::Reset(fields) if fields[0].to_string() == ".spec.replicas");
    assert!(then.iter().any(reset), "{then:?}");
    // What holds under every answer is said.
    let force = out(&outs, RemedyKind::Force);
    assert_eq!(force.settling(), RemedyEffect::Settles);
}

#[test]
fn a_command_that_applies_nothing_is_not_taken_for_client_side_apply() {
    let asked = |manager: &str| {
        let change = of_message(&kubectl(&format!(
            "\"{manager}\" using apps/v1: .spec.replicas"
        )));
        let outs = change.remedies(Preset::KubectlApplyServerSide);
        let client_side = CompletionAnswer::ClientSideApply(manager.to_owned());
        let mut open = outs.iter().flat_map(|out| &out.row.open);
        open.any(|one| one.answer == client_side)
    };
    // Any name can be that of `kubectl apply --field-manager`, and `kubectl replace` renews the annotation.
    for manager in ["kubectl-client-side-apply", "deployer", "kubectl-replace"] {
        assert!(asked(manager), "{manager}");
    }
    for manager in [
        "kubectl-edit",
        "kubectl-patch",
        "kubectl-set",
        "kubectl-label",
    ] {
        assert!(!asked(manager), "{manager}");
    }
}

#[test]
fn only_the_lines_of_the_fields_that_a_message_names_go() {
    let lines = |conflict: &str| {
        let change = of_message(&kubectl(conflict));
        let outs = change.remedies(Preset::KubectlApplyServerSide);
        let leave = out(&outs, RemedyKind::LeaveOut);
        let all = change.first().instructions_out(leave, CaseContent::MadeUp);
        let lines = all
            .iter()
            .find(|it| it.language == InstructionLanguage::Lines);
        lines.expect("it has lines").text.clone()
    };
    // Beside the limit of the message, the manifest may have one of the memory.
    let container = ".spec.template.spec.containers[name=\"nginx\"]";
    assert_eq!(
        lines(&format!(
            "\"helm\" using apps/v1: {container}.resources.limits.cpu"
        )),
        "  spec:\n    template:\n      spec:\n        containers:\n        - name:\n          resources:\n            \
         limits:\n-             cpu:\n"
    );
    assert_eq!(
        lines("\"helm\" using apps/v1: .metadata.labels.tier"),
        "  metadata:\n    labels:\n-     tier:\n"
    );
    assert_eq!(
        lines("\"helm\" using apps/v1: .spec.replicas"),
        "  spec:\n-   replicas:\n"
    );
}

#[test]
fn a_conflict_in_a_definition_has_ways_out() {
    let of_kubectl = kubectl("\"helm\" using apiextensions.k8s.io/v1: .spec.versions");
    let of_helm = helm(
        "foos.example.com apiextensions.k8s.io/v1, Kind=CustomResourceDefinition",
        "\"kubectl-client-side-apply\" using apiextensions.k8s.io/v1: .spec.versions",
    );
    for (message, client) in [
        (of_kubectl, Preset::KubectlApplyServerSide),
        (of_helm, Preset::Helm4),
    ] {
        let change = of_message(&message);
        let outs = change.remedies(client);
        assert!(outs.len() > 3, "{message}");
        for out in outs {
            assert_ne!(out.row.code, Some(422), "{:?}", out.kind);
            let open: Vec<_> = out.row.open.iter().collect();
            assert_ne!(
                out.settling(),
                RemedyEffect::DoesNotSettle,
                "{:?} {open:?}",
                out.kind
            );
        }
    }
}

#[test]
fn a_refusal_of_values_that_are_made_up_is_never_claimed() {
    // No made-up value of this field is one that the server takes.
    let message = helm(
        "shop/web v1, Kind=Service",
        "\"ops\" using v1: .spec.clusterIPs",
    );
    let change = of_message(&message);
    let mut unknown = 0;
    for way in Way::all() {
        let Some(row) = change.row(way) else { continue };
        assert_ne!(row.code, Some(422), "{way:?}: {}", row.message);
        unknown += usize::from(row.open.iter().any(|one| one.then == Then::NoValidValues));
    }
    assert!(unknown > 0);
    for out in change.remedies(Preset::Helm4) {
        assert_ne!(out.row.code, Some(422), "{:?}", out.kind);
        let invalid = out
            .row
            .open
            .iter()
            .any(|one| one.then == Then::NoValidValues);
        assert!(!invalid || out.settling() == RemedyEffect::Depends);
    }
}

#[test]
fn of_fields_that_the_message_does_not_name_nothing_is_said() {
    let change = of_message(&helm(DEPLOYMENT, "\"ops\" using apps/v1: .spec.replicas"));
    for way in Way::all() {
        let Some(row) = change.row(way) else { continue };
        for field in &row.fields {
            assert_eq!(field.field.to_string(), ".spec.replicas", "{way:?}");
        }
        assert!(row.values_made_up);
    }
    let replace = row(&change, usual(Preset::KubectlReplace));
    let more = |one: &&optimist_diagnose::completions::OpenQuestion| {
        one.answer == CompletionAnswer::MoreFields && one.then == Then::OthersVanish
    };
    assert!(
        replace.open.iter().any(|one| more(&one)),
        "{:?}",
        replace.open
    );
}

fn installed(object: &Value) -> Installed {
    Case::about(object.clone())
        .install()
        .expect("it is installed")
}

fn live(name: &str) -> Value {
    let Ok(Input::Live(object)) = detect(name) else {
        panic!("it is a live object");
    };
    object
}

#[test]
fn a_row_that_contradicts_the_message_is_said() {
    let installed = installed(&live(include_str!("live/deployment.yaml")));
    let chart = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "live"}, "spec": {"replicas": 5}});
    let mut change = CompletedChange::of_input(&installed, &[], WantedChange::manifest(chart));
    change.complete();
    let row = row(&change, usual(Preset::KubectlApplyServerSide));
    let message = kubectl("\"ops\" using apps/v1: .spec.replicas");
    let said = Contradiction::between(&error(&message), &row).expect("the row is accepted");
    assert_eq!(said.said, [".spec.replicas"]);
    assert_ne!(said.code, Some(409));
    let other = error(
        "Error from server (Conflict): Operation cannot be fulfilled on deployments.apps \"web\": the \
         object has been modified; please apply your changes to the latest version and try again",
    );
    assert_eq!(Contradiction::between(&other, &row), None);
}

#[test]
fn what_was_brought_leaves_nothing_open() {
    let installed = installed(&live(include_str!("live/deployment.yaml")));
    let manifest = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "live"}, "spec": {"replicas": 9}});
    let mut change = CompletedChange::of_input(&installed, &[], WantedChange::manifest(manifest));
    change.complete();
    assert_eq!(change.answers().count(), 0);
    for way in Way::all() {
        let Some(claimed) = change.row(way) else {
            continue;
        };
        let run = change.first().row(way).expect("it can carry it");
        assert_eq!(
            (claimed.code, &claimed.fields),
            (run.code, &run.fields),
            "{way:?}"
        );
        assert!(
            claimed.open.is_empty() && !claimed.values_made_up,
            "{way:?}"
        );
    }
}

#[test]
fn without_owners_the_answer_to_an_apply_is_open() {
    let mut object = live(include_str!("live/configmap.yaml"));
    object["metadata"]
        .as_object_mut()
        .expect("it is a map")
        .remove("managedFields");
    let installed = installed(&object);
    let key = object["data"]
        .as_object()
        .expect("it has data")
        .keys()
        .next()
        .expect("one");
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": object["metadata"]["name"]}, "data": {(key.as_str()): "another"}});
    let mut change = CompletedChange::of_input(&installed, &[], WantedChange::manifest(manifest));
    change.complete();
    let row = row(&change, usual(Preset::ControllerApply));
    // This client applies with force. Whether somebody writes again is not known.
    assert_eq!((row.code, row.taken_back.len()), (Some(200), 0));
    assert_eq!(change.answers().count(), 3);
    let row = change
        .row(usual(Preset::Terraform))
        .expect("it can carry it");
    // The server refuses if nobody owns it, or if somebody else does, and accepts if the writer does.
    assert_eq!(row.code, None);
    let own = OpenQuestion {
        answer: CompletionAnswer::AppliedBefore,
        then: Then::Code {
            first: Some(409),
            other: Some(200),
        },
    };
    assert!(row.open.contains(&own), "{:?}", row.open);
    assert_eq!(row.with(FieldEffect::Refused).count(), 0);
}

#[test]
fn without_owners_nothing_is_said_of_who_owned_a_field() {
    let mut object = live(include_str!("live/configmap.yaml"));
    object["metadata"]
        .as_object_mut()
        .expect("it is a map")
        .remove("managedFields");
    let installed = installed(&object);
    let mut manifest = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": object["metadata"]["name"]}});
    manifest["data"] = json!({"a-new-key": "a"});
    let mut change = CompletedChange::of_input(&installed, &[], WantedChange::manifest(manifest));
    change.complete();
    for way in Way::all() {
        let row = change.row(way);
        let fields = row.iter().flat_map(|row| &row.fields);
        for field in fields.filter(|field| field.before.is_some()) {
            assert_eq!(field.owners_before, [], "{way:?} {}", field.field);
        }
    }
}

#[test]
fn helm_takes_its_former_entries_over_only_after_a_client_side_release() {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a",
        "namespace": "shop", "uid": "u", "resourceVersion": "500", "managedFields": [
        {"manager": "helm", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {"f:a": {}}}}]}, "data": {"a": "1"}});
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"},
        "data": {"a": "2"}});
    let change = WantedChange::manifest(manifest);
    let mut change = CompletedChange::of_input(&installed(&object), &[], change);
    change.complete();
    let row = row(&change, usual(Preset::Helm4));
    let open = &row.open[0];
    assert_eq!(open.answer, CompletionAnswer::ServerSideRelease);
    let code = Then::Code {
        first: Some(200),
        other: Some(409),
    };
    assert_eq!(open.then, code);
    assert_eq!(row.code, None);
    let refused = |row: &Row| row.with(FieldEffect::Refused).next().is_some();
    assert!(!refused(&row), "it is not claimed");
}

/// Returns whether what is said to come is what came in a run.
fn came(then: &Then, run: &Row) -> bool {
    let of = |field: &Path| run.fields.iter().find(|it| it.field == *field);
    let effect_of = |field| of(field).map(|it| it.effect);
    match then {
        Then::Code { other, .. } => *other == run.code,
        Then::Written { changes } => {
            let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
            *changes == (version(&run.before) != version(&run.after))
        }
        Then::SecondRun { changes } => run
            .second_run
            .as_ref()
            .is_some_and(|it| it.changes == *changes),
        Then::NoEffect(fields) => fields.iter().all(|field| of(field).is_none()),
        Then::Effect(effect, fields) => {
            fields.iter().all(|field| effect_of(field) == Some(*effect))
        }
        Then::Vanish(fields) => fields.iter().all(|field| field.find(&run.after).is_none()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_said_to_come_after_a_server_side_release_comes_in_a_run_after_one() {
    let entry = |operation: &str, fields: Value| {
        json!({"manager": "helm", "operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": fields}})
    };
    let both = json!({"f:a": {}, "f:b": {}});
    // The other release writes nothing where Helm has applied the manifest before.
    let entries = [
        json!([entry("Update", both.clone())]),
        json!([entry("Apply", json!({"f:a": {}})), entry("Update", both)]),
    ];
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "1"}});
    let mut said = Vec::new();
    for entries in entries {
        let object = installed(
            &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "shop",
                "uid": "u", "resourceVersion": "500", "managedFields": entries}, "data": {"a": "1", "b": "2"}}),
        );
        let wanted = WantedChange::manifest(manifest.clone());
        let mut change = CompletedChange::of_input(&object, &[], wanted.clone());
        change.complete();
        let after_one = WantedChange {
            last_release: ReleaseMethod::ServerSide,
            ..wanted
        };
        let after_one = ChangeTable::new(&object, after_one);
        for way in Way::all() {
            let (Some(claim), Some(run)) = (change.row(way), after_one.row(way)) else {
                continue;
            };
            for one in claim.open {
                assert_eq!(one.answer, CompletionAnswer::ServerSideRelease);
                assert!(came(&one.then, &run), "{way:?} {:?}", one.then);
                said.push(one.then);
            }
        }
    }
    let written = |then: &Then| *then == Then::Written { changes: false };
    let of = |fields: &[Path], name: &str| fields.iter().any(|it| it.to_string() == name);
    let kept = |then: &Then| matches!(then, Then::NoEffect(fields) if of(fields, ".data.a"));
    let left = |then: &Then| matches!(then, Then::Effect(FieldEffect::LeftBehind, fields) if of(fields, ".data.b"));
    assert!(said.iter().any(written), "{said:?}");
    assert!(said.iter().any(kept), "{said:?}");
    assert!(said.iter().any(left), "{said:?}");
}

#[test]
fn a_message_with_the_object_claims_nothing_that_depends_on_the_manifest() {
    let installed = installed(&live(include_str!("live/deployment.yaml")));
    let message = helm(
        "live/web apps/v1, Kind=Deployment",
        "\"kube-controller-manager\" with subresource \"scale\" using apps/v1: .spec.replicas",
    );
    let change = CompletedChange::of_message(&installed, &[], &error(&message));
    let mut change = change.expect("it was an apply");
    change.complete();
    assert!(
        change
            .answers()
            .any(|answer| *answer == CompletionAnswer::SmallManifest)
    );
    let row = row(&change, usual(Preset::Helm4));
    assert_eq!(row.code, Some(409));
    assert_eq!(Contradiction::between(&error(&message), &row), None);
    assert!(
        row.fields
            .iter()
            .all(|it| it.field.to_string() == ".spec.replicas")
    );
}

#[test]
fn a_command_does_not_write_by_a_name_that_the_tool_does_not_have() {
    let conflict =
        "Apply failed with 1 conflict: conflict with \"kubectl-set\" using apps/v1: .spec.replicas";
    let pulumi = format!(
        "Server-side apply field conflict detected. See https://www.pulumi.com/registry/ for help: {conflict}"
    );
    let named = format!(
        "The resource managed by field manager \"pulumi-kubernetes-77\" had an apply conflict: {conflict}"
    );
    for (message, writer) in [(pulumi, "MANAGER"), (named, "pulumi-kubernetes-77")] {
        let change = of_message(&message);
        let outs = change.remedies(Preset::KubectlApplyServerSide);
        let force = out(&outs, RemedyKind::Force);
        let all = change.first().instructions_out(force, CaseContent::MadeUp);
        let option = format!(" --field-manager={writer} ");
        assert!(!all.is_empty());
        for one in all {
            assert!(one.text.contains(&option), "{}", one.text);
        }
    }
}
