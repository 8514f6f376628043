//! Two answers to one question: what a row of Diagnose says of a write, and what the same write does in
//! Play, from the same object, by an editor who sends it.
//!
//! `OPTIMIST_CLAIMS` sets how many writes are tried.

use std::collections::BTreeSet;

use optimist_apiserver::apply::{Managers, differing};
use optimist_apiserver::object::{Metadata, text};
use optimist_client::{Preset, Strategy as WriteStrategy};
use optimist_diagnose::case::Installed;
use optimist_diagnose::ways::{ChangeTable, FieldEffect, OnOwned, Row, WantedChange, Way};
use optimist_simulation::{Action, ActorId, Exchange, HistoryTree, Operation};
use proptest::strategy::{Strategy, ValueTree};
use serde_json::Value;

use crate::written::{Written, change, histories, number, object_of, runner, tell};

/// The clients that send one request, which an editor in Play can send as well.
const CLIENTS: [Preset; 6] = [
    Preset::Update,
    Preset::MergeFrom,
    Preset::KubectlEdit,
    Preset::ControllerApply,
    Preset::Terraform,
    Preset::KubectlApplyServerSide,
];

/// The number of times that something was compared.
#[derive(Debug, Default)]
struct Counts {
    writes: usize,
    refused: usize,
    fields: usize,
    not_sent: usize,
}

#[test]
fn a_row_says_what_the_same_write_does_in_play() {
    let wanted = number("OPTIMIST_CLAIMS", 10) * 6;
    let mut runner = runner();
    let mut counts = Counts::default();
    while counts.writes + counts.not_sent < wanted {
        let history = histories().new_tree(&mut runner).expect("it is made");
        let (before, last) = history.current();
        let Some(installed) = object_of(&before) else {
            continue;
        };
        for preset in CLIENTS {
            compare(&installed, &last, preset, &mut counts);
        }
    }
    tell(
        "rows of Diagnose in Play",
        &format!(
            "{} writes, {} of them refused, and {} fields compared",
            counts.writes, counts.refused, counts.fields
        ),
    );
    assert!(
        counts.refused > 0 && counts.fields > counts.writes,
        "{counts:?}"
    );
}

fn compare(installed: &Installed, last: &Written, preset: Preset, counts: &mut Counts) {
    let content = edited(installed, &last.manifest);
    let wanted = WantedChange {
        content: WantedChange::edited(content.clone()).content,
        ..change(last)
    };
    let row = ChangeTable::new(installed, wanted).row(Way::Client(preset, OnOwned::Usual));
    // kubectl may migrate, which is more than one write.
    let Some(row) = row.filter(|row| row.requests.len() < 2) else {
        return;
    };
    let Some(sent) = row.requests.first() else {
        counts.not_sent += 1;
        return;
    };
    let mut tree = HistoryTree::new(installed.world.clone());
    tree.act(Operation::Act(ActorId::A, Action::Get));
    tree.world_mut().copy_mut(ActorId::A).edit(content);
    let write = preset.write(installed.resource()).expect("it can write");
    let mut write = optimist_client::Write {
        manager: Some(row.writer.clone()),
        ..write
    };
    // An editor who applies types the manifest: it is the same one.
    if write.strategy == WriteStrategy::Apply {
        write.body = Some(sent.sent.to_string());
    }
    // Diagnose shows one attempt: nobody else writes here.
    write.force |= sent.target.contains("force=true");
    tree.world_mut()
        .actor_mut(ActorId::A)
        .set_write(write.clone());
    let node = tree.act(Operation::Act(ActorId::A, Action::Send(write.clone())));
    let step = node.and_then(|node| tree.step(node)?.exchange.clone());
    let Some(answer) = step else {
        panic!("{preset:?} is not sent in Play");
    };
    counts.writes += 1;
    counts.refused += usize::from(row.is_refused());
    let of_apply = write.strategy == WriteStrategy::Apply;
    let label = format!(
        "{preset:?} {of_apply}\n{}\n{}\n{}",
        row.before, sent.sent, answer.sent
    );
    assert_eq!(row.code, Some(answer.code), "{label}");
    assert_eq!(row.message, text_of(&answer), "{label}");
    let (_, stored) = tree.world().stored().expect("it is stored");
    says_of_fields(&row, stored, installed, &answer, &label, counts);
}

/// The object as a person edits it: with what the manifest says.
fn edited(installed: &Installed, manifest: &Value) -> Value {
    let live = installed.object().expect("it is stored");
    let mut edited = (**live).clone();
    for part in ["spec", "data"] {
        let Some(Value::Object(members)) = manifest.get(part) else {
            continue;
        };
        for (name, value) in members {
            edited[part][name] = value.clone();
        }
    }
    if let Some(labels) = manifest["metadata"].get("labels") {
        edited.set_meta("labels", labels.clone());
    }
    edited
}

fn text_of(answer: &Exchange) -> &str {
    if answer.code < 300 {
        return "";
    }
    text(&answer.received, "message")
}

/// Checks that the fields of a row equal those of the stored object in Play.
fn says_of_fields(
    row: &Row,
    stored: &Value,
    installed: &Installed,
    answer: &Exchange,
    label: &str,
    counts: &mut Counts,
) {
    let managed = stored.metadata().and_then(|meta| meta.get("managedFields"));
    let managers = Managers::decode(managed).expect("they can be read");
    for field in &row.fields {
        counts.fields += 1;
        assert_eq!(
            field.after.as_ref(),
            field.field.find(stored),
            "{} {label}",
            field.field
        );
        let owners = managers
            .iter()
            .filter(|owned| owned.set.contains(&field.field));
        let owners: Vec<_> = owners.map(|owned| owned.manager.clone()).collect();
        assert_eq!(field.owners_after, owners, "{} {label}", field.field);
    }
    // And every field that changed in Play is one that the row says changed.
    let changed = [
        FieldEffect::TakenOver,
        FieldEffect::Changed,
        FieldEffect::Added,
        FieldEffect::Removed,
    ];
    let said = row.fields.iter().filter(|it| changed.contains(&it.effect));
    let said: BTreeSet<String> = said.map(|it| it.field.to_string()).collect();
    let root = &installed.resource().root;
    let done = differing(&row.before, stored, root).into_iter();
    let done = done.map(|path| path.to_string()).filter(|path| {
        let own = [
            ".metadata.managedFields",
            ".metadata.resourceVersion",
            ".metadata.generation",
        ];
        !own.iter().any(|own| path.starts_with(own))
    });
    let done: BTreeSet<String> = done.collect();
    // A new item of a list is one difference, and the row has its fields as well.
    let around = |all: &BTreeSet<String>, path: &str| all.iter().any(|it| path.starts_with(it));
    assert!(
        said.iter().all(|path| around(&done, path)),
        "{said:?} {done:?} {label}"
    );
    assert!(
        done.iter().all(|path| said.contains(path)),
        "{said:?} {done:?} {label}"
    );
    let causes = answer
        .received
        .pointer("/details/causes")
        .and_then(Value::as_array);
    let causes = causes.filter(|_| answer.code == 409).into_iter().flatten();
    let causes: BTreeSet<String> = causes
        .map(|cause| text(cause, "field").to_owned())
        .collect();
    let refused = row
        .with(FieldEffect::Refused)
        .map(|it| it.field.to_string());
    assert_eq!(refused.collect::<BTreeSet<String>>(), causes, "{label}");
}
