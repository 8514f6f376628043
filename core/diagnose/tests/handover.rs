//! The steps of the ways out in which other managers give fields up: what one command of the writer's tool does by
//! itself is that one command, and only what somebody has to send is a step of its own.

use std::process::Command;

use optimist_client::Preset;
use optimist_diagnose::case::Case;
use optimist_diagnose::ways::{
    CaseContent, ChangeTable, Instruction, InstructionLanguage, InstructionWarning, Remedy,
    RemedyKind, WantedChange,
};
use serde_json::{Value, json};

/// A ConfigMap that kubectl applied without `--server-side`, and that another manager applied too.
fn migrated_later() -> Value {
    let applied = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1", "gone": "x"},
        "metadata": {"name": "cfg", "namespace": "shop", "annotations": {}}});
    json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "cfg", "namespace": "shop", "uid": "u", "resourceVersion": "500",
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": applied.to_string()},
            "managedFields": [
                {"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "v1",
                 "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {".": {}, "f:a": {}, "f:gone": {}},
                    "f:metadata": {"f:annotations": {".": {},
                        "f:kubectl.kubernetes.io/last-applied-configuration": {}}}}},
                {"manager": "other", "operation": "Apply", "apiVersion": "v1",
                 "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:b": {}, "f:a": {}}}}]},
        "data": {"a": "1", "b": "2", "gone": "x"}})
}

fn table_of(live: Value, manager: &str, data: Value) -> ChangeTable {
    let installed = Case::about(live).install();
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "cfg", "namespace": "shop"}, "data": data});
    let change = WantedChange {
        manager: Some(manager.to_owned()),
        ..WantedChange::manifest(manifest)
    };
    ChangeTable::new(&installed.expect("it is installed"), change)
}

/// The writer has another value for a field of the other manager alone.
fn table() -> ChangeTable {
    table_of(migrated_later(), "kubectl", json!({"a": "1", "b": "3"}))
}

fn out(table: &ChangeTable, kind: RemedyKind) -> (Remedy, Vec<Instruction>) {
    let outs = table.remedies(Preset::KubectlApplyServerSide);
    let out = outs.into_iter().find(|out| out.kind == kind);
    let out = out.expect("it is offered");
    let steps = table.instructions_out(&out, CaseContent::Whole);
    (out, steps)
}

/// The commands of the steps, without comments.
fn commands(steps: &[Instruction]) -> Vec<&str> {
    let shell = steps
        .iter()
        .filter(|it| it.language == InstructionLanguage::Shell);
    let lines = shell.flat_map(|it| it.text.lines());
    let commands = lines.filter(|line| line.starts_with("kubectl "));
    commands.collect()
}

#[test]
fn what_kubectl_migrates_by_itself_is_no_step_of_its_own() {
    let table = table();
    let (out, steps) = out(&table, RemedyKind::Transfer);
    let sent = |media: &str| {
        let requests = out.row.requests.iter();
        requests
            .filter(|it| it.content_type.contains(media))
            .count()
    };
    assert!(!out.row.is_refused());
    assert_eq!(sent("json-patch"), 1, "kubectl migrates once");
    let commands = commands(&steps);
    assert_eq!(commands.len(), 2, "{commands:#?}");
    for command in commands {
        assert!(
            command.starts_with("kubectl apply --server-side"),
            "{command}"
        );
    }
    let others: Vec<&str> = steps
        .iter()
        .map(|it| it.text.as_str())
        .filter(|it| it.starts_with('#'))
        .collect();
    assert_eq!(others.len(), 1, "{others:#?}");
    assert!(
        others[0].starts_with("# other applies .data.b:"),
        "{others:?}"
    );
}

#[test]
fn the_step_after_which_a_field_is_gone_has_the_warning() {
    let table = table();
    let (out, steps) = out(&table, RemedyKind::Transfer);
    let applied = &out.row.requests;
    let is_there = |object: &Value| object.pointer("/data/gone").is_some();
    let migrated = applied
        .iter()
        .position(|it| it.content_type.contains("json-patch"));
    let migrated = migrated.expect("kubectl migrates");
    assert!(is_there(&applied[migrated].received) && !is_there(&applied[migrated + 1].received));
    let warned: Vec<usize> = steps
        .iter()
        .enumerate()
        .filter(|(_, it)| {
            it.warnings.iter().any(|it| match it {
                InstructionWarning::Removes(fields) => {
                    fields.iter().map(ToString::to_string).collect::<Vec<_>>() == [".data.gone"]
                }
                _ => false,
            })
        })
        .map(|(at, _)| at)
        .collect();
    assert_eq!(warned, [0], "{steps:#?}");
}

#[test]
fn a_step_by_hand_stops_if_its_entry_is_not_there() {
    // The writer has another value for a field of client-side apply, and another name than kubectl's.
    let mut live = migrated_later();
    let entries = live["metadata"]["managedFields"].as_array_mut();
    entries.expect("it has owners").truncate(1);
    let table = table_of(live, "deployer", json!({"a": "2"}));
    let (_, steps) = out(&table, RemedyKind::Migrate);
    let by_hand = steps.iter().find(|it| it.text.contains("managedFields"));
    let by_hand = by_hand.expect("an entry changes by hand");
    // A kubectl that finds another entry at the place, and tells of each patch.
    let run = |entry: &str, script: &str| {
        let kubectl = format!(
            "kubectl() {{ case $1 in get) printf '7\\nx Update  v1\\n{entry}\\n';; *) echo SENT \
             \"$@\";; esac; }}\n"
        );
        let output = Command::new("sh")
            .args(["-c", &format!("{kubectl}{script}")])
            .output();
        let output = output.expect("there is a shell");
        let texts =
            [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
        (output.status.success(), texts)
    };
    let dry = by_hand.try_first.as_deref().expect("it writes");
    for script in [by_hand.text.as_str(), dry] {
        let (accepted, [sent, _]) = run("kubectl-client-side-apply Update  v1", script);
        assert!(
            accepted && sent.contains("/managedFields/1/manager"),
            "{sent}"
        );
        let (accepted, [sent, said]) = run("y Update  v1", script);
        assert!(!accepted);
        assert_eq!(sent, "");
        assert!(
            said.contains("no such entry of managedFields was found"),
            "{said}"
        );
    }
}

#[test]
fn a_step_that_gives_fields_to_an_entry_names_the_entry_that_gives_them() {
    let mut live = migrated_later();
    let entries = &mut live["metadata"]["managedFields"];
    entries[1]["manager"] = "deployer".into();
    entries[1]["fieldsV1"] = json!({"f:data": {"f:b": {}}});
    let table = table_of(live, "deployer", json!({"a": "2", "b": "2"}));
    let (_, steps) = out(&table, RemedyKind::Migrate);
    let says = steps.iter().filter_map(|it| it.text.lines().next());
    let says: Vec<&str> = says
        .filter(|it| it.contains("Only managedFields"))
        .collect();
    assert_eq!(says.len(), 2, "{says:#?}");
    let gets = "# The entry of deployer (Apply) also gets ";
    let from = " from the entry of kubectl-client-side-apply (Update). ";
    assert!(
        says[0].starts_with(gets) && says[0].contains(from),
        "{}",
        says[0]
    );
    assert!(says[0].contains(".data.a"), "{}", says[0]);
    assert!(
        says[1].starts_with("# kubectl-client-side-apply gives up "),
        "{}",
        says[1]
    );
}
