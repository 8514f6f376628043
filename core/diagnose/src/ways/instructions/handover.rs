//! The steps in which other managers give fields up, each by whom it is for.

use optimist_apiserver::object::text;
use optimist_client::{Preset, Strategy, to_yaml};
use optimist_code::kubectl_object;
use optimist_code::one_line;
use optimist_simulation::Exchange;
use serde_json::Value;

use super::entries::{EntryChange, changes, named};
use super::lines::changed_lines;
use super::warning::of_writer;
use super::{Instruction, InstructionLanguage, applies};
use crate::ways::{ChangeTable, OnOwned, Remedy, Row};

impl ChangeTable {
    /// Returns the steps of a way out in which other managers give fields up: the apply of the
    /// writer with its own tool, and the changes in the entries of the others.
    pub(super) fn handover(&self, out: &Remedy, preset: Preset, values: bool) -> Vec<Instruction> {
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
        for sent in &row.requests {
            if sent.code >= 300 {
                break;
            }
            if sent.content_type == Strategy::JsonPatch.media_type() {
                let found = changes(before, &sent.received);
                all.extend(found.iter().filter_map(|it| it.instruction(&object)));
            } else if applies(sent) && is_by(sent, &row.writer) {
                all.extend(self.own_apply(row, preset, (applied, sent), values));
                applied = Some(&sent.sent);
            } else if applies(sent) {
                let found = changes(before, &sent.received);
                all.extend(found.iter().find_map(other_apply));
            }
            before = &sent.received;
        }
        all
    }

    /// An apply of the writer: the lines of its manifest that change, and the command of its tool.
    fn own_apply(
        &self,
        row: &Row,
        preset: Preset,
        (applied, sent): (Option<&Value>, &Exchange),
        values: bool,
    ) -> Vec<Instruction> {
        let lines = match applied {
            None => self.lines(preset, row, &sent.sent),
            Some(applied) => changed_lines(&to_yaml(applied), &to_yaml(&sent.sent))
                .map(|text| Instruction::with_values(InstructionLanguage::Lines, text)),
        };
        let lines = lines.map(|it| if values { it } else { it.without_values() });
        let mut all: Vec<Instruction> = lines.into_iter().collect();
        if preset == Preset::KubectlApplyServerSide {
            let sent = Some(sent).filter(|_| values);
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

fn is_by(sent: &Exchange, manager: &str) -> bool {
    let (_, query) = sent.target.split_once('?').unwrap_or_default();
    let mut options = form_urlencoded::parse(query.as_bytes());
    options.any(|(name, value)| name == "fieldManager" && value == manager)
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
