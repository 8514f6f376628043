//! The ways out of the conflicts of one object, instead of force for all.

use optimist_apiserver::object::Metadata;
use optimist_client::Preset;
use serde::Serialize;

use crate::ownership::label;
use crate::ways::{CaseContent, ChangeTable, Instruction, Remedy, RemedyKind, Row};

/// A way out of the conflicts of one object, that was run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HandOver {
    /// The kind of the way out.
    pub kind: HandOverKind,
    /// `true` if it settles the conflict: all was accepted, the next write changes nothing, and nobody is
    /// known to write the fields again.
    pub settles: bool,
    /// `true` if a client-side `kubectl apply` had set a value that the way out changes. Run again with its manifest, it
    /// meets no conflict and writes its value back.
    pub client_side_may_write: bool,
    /// The `resourceVersion` of the manifest, if the server refuses it when the tool runs again: the object has another
    /// version then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub once_for_version: Option<String>,
    /// The managers that will write their values again.
    pub written_back_by: Vec<String>,
    /// The instructions, in their order.
    pub steps: Vec<Instruction>,
    /// `true` if the tool has no option for this one object: its own option concerns everything that it
    /// writes. The steps then use kubectl, in the name of the tool, unless kubectl would remove fields that the tool
    /// keeps: then they are the tool's own.
    pub tool_has_no_option: bool,
}

/// A way out, for one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum HandOverKind {
    /// The fields are left to their owner: they leave the manifest.
    Leave,
    /// The fields of client-side apply become the tool's, by a patch of `managedFields` that tests the
    /// entries which it changes.
    Migrate,
    /// The tool takes the fields over, in this object alone.
    TakeOver,
}

/// The ways out that keep the hand-over small, the smallest first.
const KINDS: [RemedyKind; 3] = [RemedyKind::LeaveOut, RemedyKind::Migrate, RemedyKind::Force];

/// The ways out of the conflicts of an object, without those that the API server refuses too, and the refusals of these.
/// Without `values`, which may be private, a command names the manifest as a file.
pub(super) fn choices(
    table: &ChangeTable,
    preset: Preset,
    refused: &Row,
    values: bool,
) -> (Vec<HandOver>, Vec<Row>) {
    let (mut choices, mut refusals) = (Vec::new(), Vec::new());
    for out in table.ways_out_of(refused, &KINDS) {
        match out.row.is_refused() {
            true => refusals.push(out.row),
            false => choices.extend(hand_over(table, preset, &out, values)),
        }
    }
    (choices, refusals)
}

fn hand_over(table: &ChangeTable, preset: Preset, out: &Remedy, values: bool) -> Option<HandOver> {
    let kind = match out.kind {
        RemedyKind::LeaveOut => HandOverKind::Leave,
        RemedyKind::Migrate => HandOverKind::Migrate,
        RemedyKind::Force => HandOverKind::TakeOver,
        RemedyKind::Agree | RemedyKind::Transfer => return None,
    };
    let content = match values {
        true => CaseContent::Whole,
        false => CaseContent::Masked,
    };
    // `helm upgrade --force-conflicts` forces every object of the release.
    let tool_has_no_option = kind == HandOverKind::TakeOver && preset == Preset::Helm4;
    let instructions = if tool_has_no_option {
        table.by_kubectl(&out.row, content)
    } else {
        table.instructions_out(out, content)
    };
    let mut back: Vec<String> = out
        .row
        .taken_back
        .iter()
        .map(|it| label(&it.manager))
        .collect();
    back.dedup();
    let again = out.row.second_run.as_ref().and_then(|again| again.code);
    let version = out.manifest.resource_version();
    let is_once = again == Some(409) && !version.is_empty();
    Some(HandOver {
        kind,
        once_for_version: is_once.then(|| version.to_owned()),
        settles: out.settles,
        client_side_may_write: out.client_side_may_write,
        written_back_by: back,
        steps: instructions,
        tool_has_no_option,
    })
}
