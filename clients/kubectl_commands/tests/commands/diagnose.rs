//! The commands of Diagnose: of each way of writing, of each way out, and after "the object has been
//! modified".

use optimist_client::{Preset, bare, to_yaml};
use optimist_diagnose::case::{Case, Installed};
use optimist_diagnose::input::{Input, detect};
use optimist_diagnose::modified::{NEXT, attempt};
use optimist_diagnose::ways::{
    CaseContent, ChangeTable, Instruction, InstructionLanguage, RemedyKind, Row, WantedChange, Way,
};
use serde_json::{Value, json};

use super::run::{Expected, Tried};

#[path = "../../../../core/diagnose/tests/live/mod.rs"]
mod live;

/// The fields that a manifest changes, where the object has them.
const EDITS: [(&str, &str); 12] = [
    ("/spec/replicas", "7"),
    ("/spec/template/spec/containers/0/image", "\"example:9\""),
    ("/spec/schedule", "\"0 1 * * *\""),
    ("/spec/maxReplicas", "9"),
    ("/spec/sessionAffinity", "\"ClientIP\""),
    ("/spec/minAvailable", "2"),
    ("/spec/rules/0/host", "\"other.example.com\""),
    ("/data/mode", "\"other\""),
    ("/data/a", "\"other\""),
    ("/data/word", "\"b3RoZXI=\""),
    ("/spec/suspend", "true"),
    ("/spec/paused", "true"),
];

/// The clients whose conflicts have ways out.
const REFUSED: [Preset; 3] = [
    Preset::KubectlApplyServerSide,
    Preset::Helm4,
    Preset::Terraform,
];

pub fn all() -> Vec<Tried> {
    let mut all = Vec::new();
    for text in live::LIVE {
        let Ok(Input::Live(object)) = detect(text) else {
            panic!("it is a live object");
        };
        let installed = Case::about(object.clone())
            .install()
            .expect("it is installed");
        for manifest in manifests(&object) {
            let table = ChangeTable::new(&installed, WantedChange::manifest(manifest.clone()));
            for row in table.rows() {
                rows(&mut all, &installed, &table, (&row, &manifest));
            }
            for preset in REFUSED {
                ways_out(&mut all, &installed, &table, preset);
            }
        }
        next_writes(&mut all, &installed);
    }
    migrations(&mut all);
    all
}

/// The ways out of a conflict over an object that kubectl applied without `--server-side`, and that another manager
/// applied too: the apply of kubectl migrates it.
fn migrations(all: &mut Vec<Tried>) {
    let applied = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1", "gone": "x"},
        "metadata": {"name": "migrated", "namespace": "shop", "annotations": {}}});
    let live = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "migrated", "namespace": "shop", "uid": "u", "resourceVersion": "500",
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": applied.to_string()},
            "managedFields": [
                {"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "v1",
                 "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {".": {}, "f:a": {}, "f:gone": {}},
                    "f:metadata": {"f:annotations": {".": {},
                        "f:kubectl.kubernetes.io/last-applied-configuration": {}}}}},
                {"manager": "other", "operation": "Apply", "apiVersion": "v1",
                 "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:b": {}, "f:a": {}}}}]},
        "data": {"a": "1", "b": "2", "gone": "x"}});
    let installed = Case::about(live).install().expect("it is installed");
    for (manager, data) in [
        ("kubectl", json!({"a": "1", "b": "3"})),
        ("kubectl", json!({"a": "2", "b": "3"})),
        ("deployer", json!({"a": "1", "b": "3"})),
        ("deployer", json!({"a": "2", "gone": "y"})),
    ] {
        let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "migrated", "namespace": "shop"}, "data": data});
        let change = WantedChange {
            manager: Some(manager.to_owned()),
            ..WantedChange::manifest(manifest)
        };
        let table = ChangeTable::new(&installed, change);
        ways_out(all, &installed, &table, Preset::KubectlApplyServerSide);
    }
}

/// The whole object with other values, and a part of it.
fn manifests(object: &Value) -> Vec<Value> {
    let mut whole = bare(object);
    whole
        .as_object_mut()
        .expect("it is an object")
        .remove("status");
    for (pointer, value) in EDITS {
        if let Some(place) = whole.pointer_mut(pointer) {
            *place = serde_json::from_str(value).expect("it is JSON");
        }
    }
    let part = json!({"apiVersion": whole["apiVersion"], "kind": whole["kind"],
        "metadata": {"name": whole["metadata"]["name"], "labels": {"team": "a b"}}});
    vec![whole, part]
}

fn is_run(one: &Instruction) -> bool {
    let mut lines = one.text.lines().filter(|line| !line.starts_with('#'));
    one.language == InstructionLanguage::Shell && lines.any(|line| line.contains("kubectl "))
}

fn rows(
    all: &mut Vec<Tried>,
    installed: &Installed,
    table: &ChangeTable,
    (row, manifest): (&Row, &Value),
) {
    let name = format!(
        "{} of {}",
        name_of(row.way),
        installed.world.subject().name()
    );
    let applied = row
        .requests
        .iter()
        .rev()
        .find(|it| it.content_type.contains("apply-patch"));
    let server_side = matches!(row.way, Way::Client(Preset::KubectlApplyServerSide, _));
    let file = applied
        .filter(|_| server_side)
        .map_or(manifest, |it| &*it.sent);
    let tried = |script: &str, expected| Tried {
        name: name.clone(),
        server: installed.world.server().clone(),
        script: script.to_owned(),
        files: vec![("MANIFEST.yaml", to_yaml(file))],
        expected,
    };
    let path = || installed.world.subject().path();
    for values in [true, false] {
        for one in table
            .instructions(row, values)
            .iter()
            .filter(|it| is_run(it))
        {
            if one.text.contains("kubectl edit") {
                all.push(tried(&one.text, Expected::Understood));
                continue;
            }
            let first = one.try_first.as_deref().expect("it writes");
            if row.is_refused() {
                all.push(tried(&one.text, refusal(row)));
                all.push(tried(first, refusal(row)));
            } else {
                all.push(tried(
                    &one.text,
                    Expected::Object(path(), (*row.after).clone()),
                ));
                all.push(tried(first, Expected::Nothing(path())));
            }
        }
    }
}

fn name_of(way: Way) -> String {
    format!("{way:?}")
}

/// kubectl prints the message of an invalid object in words of its own.
fn refusal(row: &Row) -> Expected {
    let message = match row.reason.as_str() {
        "Invalid" => String::new(),
        _ => row.message.clone(),
    };
    Expected::Refused(message)
}

fn ways_out(all: &mut Vec<Tried>, installed: &Installed, table: &ChangeTable, preset: Preset) {
    let path = installed.world.subject().path();
    for out in table.remedies(preset) {
        if out.row.is_refused() {
            continue;
        }
        let name = format!(
            "{:?} of {preset:?}: {}",
            out.kind,
            installed.world.subject().name()
        );
        let tried = |script: String, expected| Tried {
            name: name.clone(),
            server: installed.world.server().clone(),
            script,
            files: Vec::new(),
            expected,
        };
        let steps = table.instructions_out(&out, CaseContent::Whole);
        let shell = steps
            .iter()
            .filter(|it| it.language == InstructionLanguage::Shell);
        let mut others = others_apply(&out.row, installed).into_iter();
        let texts = shell.clone().map(|it| match is_run(it) {
            true => Some(it.text.clone()),
            // Another manager has its turn.
            false if it.text.contains(" applies ") => others.next(),
            false => None,
        });
        if let Some(script) = texts.collect::<Option<String>>() {
            assert_eq!(others.next(), None, "a step of another manager is missing");
            let object = Expected::Object(path.clone(), (*out.row.after).clone());
            all.push(tried(script, object));
        }
        if !matches!(out.kind, RemedyKind::Transfer | RemedyKind::Migrate) {
            continue;
        }
        for one in shell.filter(|it| it.text.contains("managedFields")) {
            all.push(tried(one.text.clone(), Expected::Accepted));
            let first = one.try_first.clone().expect("it writes");
            all.push(tried(first, Expected::Nothing(path.clone())));
        }
    }
}

/// The commands by which other managers apply in a way out.
fn others_apply(row: &Row, installed: &Installed) -> Vec<String> {
    let own = format!("fieldManager={}", row.writer);
    let is_other =
        |target: &str| !target.contains(&own) && !target.contains("kubectl-last-applied");
    let commands = row.commands(installed.world.resource()).into_iter();
    let sent = commands.zip(&row.requests);
    let others =
        sent.filter(|(_, it)| it.content_type.contains("apply-patch") && is_other(&it.target));
    others.map(|(command, _)| command).collect()
}

fn next_writes(all: &mut Vec<Tried>, installed: &Installed) {
    let object = installed.object().expect("it is there");
    let meta = json!({"name": object["metadata"]["name"], "namespace": object["metadata"]["namespace"],
        "annotations": {"a": "b"}});
    let fields =
        json!({"apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": meta});
    let patch = json!({"metadata": {"annotations": {"a": "b"}}});
    let subresources = [None, Some("status")];
    let resource = installed.world.resource();
    for subresource in subresources {
        if subresource.is_some_and(|name| !resource.serves(name)) {
            continue;
        }
        for next in NEXT {
            let attempt = attempt(installed, next).expect("it is run");
            let script = |dry_run: bool| -> String {
                let commands = attempt.commands(subresource);
                let texts = commands.iter().map(|it| match &it.try_first {
                    Some(first) if dry_run => first.clone(),
                    _ => it.text.clone(),
                });
                texts.collect()
            };
            if script(false).is_empty() {
                continue;
            }
            for dry_run in [true, false] {
                let path = installed.world.subject().path();
                all.push(Tried {
                    name: format!("{next:?} {subresource:?} of {}", object["metadata"]["name"]),
                    server: installed.world.server().clone(),
                    script: script(dry_run),
                    files: vec![
                        ("FIELDS.yaml", fields.to_string()),
                        ("PATCH.yaml", patch.to_string()),
                    ],
                    expected: match dry_run {
                        true => Expected::Nothing(path),
                        false => Expected::Accepted,
                    },
                });
            }
        }
    }
}
