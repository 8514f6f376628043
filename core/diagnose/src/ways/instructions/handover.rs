//! The steps in which other managers give fields up, each by whom it is for.

use optimist_apiserver::apply::Path;
use optimist_apiserver::object::text;
use optimist_client::{Preset, Strategy};
use optimist_code::kubectl_object;
use optimist_code::one_line;
use optimist_simulation::Exchange;
use serde_json::Value;

use super::entries::{EntryChange, changes, named};
use super::warning::{not_in_dry_run, of_writer};
use super::{CaseContent, Instruction, InstructionWarning, applies};
use crate::ways::{ChangeTable, FieldEffect, OnOwned, Remedy, Row};

impl ChangeTable {
    /// Returns the steps of a way out in which other managers give fields up: the apply of the
    /// writer with its own tool, and the changes in the entries of the others.
    pub(super) fn handover(
        &self,
        out: &Remedy,
        preset: Preset,
        content: CaseContent,
    ) -> Vec<Instruction> {
        let row = &out.row;
        let subject = self.subject();
        let (namespace, name) = (self.command_namespace(), self.command_name());
        let object = kubectl_object(subject.resource(), namespace, name);
        let Some(object) = object else {
            return Vec::new();
        };
        let mut all = Vec::new();
        let mut before: &Value = &row.before;
        let mut applied: Option<&Value> = None;
        for step in steps(row) {
            let Some(last) = step.last().filter(|it| it.code < 300) else {
                break;
            };
            let mut instructions: Vec<Instruction> = match &step {
                HandoverStep::Tool(requests) => {
                    // kubectl applies again after it has migrated: its command is the same one.
                    let Some(sent) = requests.iter().rev().find(|it| applies(it)) else {
                        continue;
                    };
                    let own = self.own_apply(row, preset, (applied, sent), content);
                    applied = Some(&sent.sent);
                    own
                }
                HandoverStep::Entries(sent) => {
                    let found = changes(before, &sent.received);
                    let all = found.iter().filter_map(|it| it.instruction(&object));
                    all.collect()
                }
                HandoverStep::OtherApply(sent) => {
                    let found = changes(before, &sent.received);
                    found.iter().find_map(other_apply).into_iter().collect()
                }
            };
            if let Some(first) = instructions.first_mut() {
                first.warnings.extend(removed(row, before, &step));
            }
            all.extend(instructions);
            before = &last.received;
        }
        all
    }

    /// An apply of the writer: the lines of its manifest that change, and the command of its tool.
    fn own_apply(
        &self,
        row: &Row,
        preset: Preset,
        (applied, sent): (Option<&Value>, &Exchange),
        content: CaseContent,
    ) -> Vec<Instruction> {
        let lines = match applied {
            None => self.lines(preset, row, &sent.sent, content),
            Some(applied) => self.lines_between(row, (applied, &sent.sent), content),
        };
        let mut all: Vec<Instruction> = lines.into_iter().collect();
        if preset == Preset::KubectlApplyServerSide {
            let sent = Some(sent).filter(|_| content == CaseContent::Whole);
            let mut apply = self.server_side(row, OnOwned::Usual, sent);
            if let Some(apply) = &mut apply {
                apply.warnings.extend(of_writer(row));
            }
            all.extend(apply);
        } else {
            all.extend(self.tool(row).instructions(preset, OnOwned::Usual));
        }
        all
    }
}

/// One step of a way out, by its sender.
enum HandoverStep<'a> {
    /// One command of the writer's tool, with every request that the tool sends by itself.
    Tool(&'a [Exchange]),
    /// A change of entries of `managedFields`, by hand.
    Entries(&'a Exchange),
    /// The apply of another manager.
    OtherApply(&'a Exchange),
}

impl<'a> HandoverStep<'a> {
    fn last(&self) -> Option<&'a Exchange> {
        match self {
            Self::Tool(requests) => requests.last(),
            Self::Entries(sent) | Self::OtherApply(sent) => Some(sent),
        }
    }
}

/// The steps of a row, in their order.
fn steps(row: &Row) -> Vec<HandoverStep<'_>> {
    let mut steps = Vec::new();
    let mut at = 0;
    while let Some(sent) = row.requests.get(at) {
        let run = row.tool_runs.iter().find(|(first, _)| *first == at);
        let run = run.and_then(|(first, end)| row.requests.get(*first..*end));
        match run.filter(|requests| !requests.is_empty()) {
            Some(requests) => {
                steps.push(HandoverStep::Tool(requests));
                at += requests.len();
                continue;
            }
            None if sent.content_type == Strategy::JsonPatch.media_type() => {
                steps.push(HandoverStep::Entries(sent));
            }
            None => steps.push(HandoverStep::OtherApply(sent)),
        }
        at += 1;
    }
    steps
}

/// Warnings about the fields that vanish in one step.
fn removed(row: &Row, before: &Value, step: &HandoverStep<'_>) -> Vec<InstructionWarning> {
    let Some(after) = step.last().map(|it| &it.received) else {
        return Vec::new();
    };
    let fields = row.with(FieldEffect::Removed).map(|it| &it.field);
    let gone = fields.filter(|it| it.find(before).is_some() && it.find(after).is_none());
    let gone: Vec<Path> = gone.cloned().collect();
    if gone.is_empty() {
        return Vec::new();
    }
    let hidden = match step {
        HandoverStep::Tool(requests) => not_in_dry_run(&gone, requests),
        _ => None,
    };
    let mut all = vec![InstructionWarning::Removes(gone)];
    all.extend(hidden);
    all
}

/// Returns the instruction for another applier. Its command is not known; it has a manifest of its
/// own.
fn other_apply(change: &EntryChange<'_>) -> Option<Instruction> {
    let fields = change.given_up();
    if fields.is_empty() {
        return None;
    }
    let manager = one_line(text(change.before, "manager"));
    let fields = named(&fields);
    Some(Instruction::command(format!(
        "# {manager} applies {fields}: take it out of the manifest of {manager}, and let {manager} apply \
         again.\n# Go on when it is done.\n"
    )))
}
