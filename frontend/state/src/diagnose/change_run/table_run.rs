//! Runs the ways of writing of a table, one after the other.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use optimist_client::{Preset, to_yaml};
use optimist_diagnose::completions::{
    ClaimProgress, CompletedChange, PartialClaims, PartialClaimsOut,
};
use optimist_diagnose::ways::{
    CaseContent, ChangeContent, Instruction, InstructionWarning, Remedy, RemedyKind, Row, Way,
};
use optimist_masking::{has_left_out, masked, masked_arc};
use serde_json::Value;

use super::{SettledConflict, in_order};

/// The ways of writing of a table that are left, and what is known for all rows.
pub(super) struct TableRun {
    table: Rc<CompletedChange>,
    client: Preset,
    /// The wanted object as it is shown; `None` before the first row.
    wanted: Option<Rc<Value>>,
    /// `true` if the values come from a scene: no message contains them.
    made_up: bool,
    /// `true` if values look private; `None` before the first row.
    private: Option<bool>,
    /// The object before the writes, and as it is shown: the same for most rows.
    before: Option<[Arc<Value>; 2]>,
    left: VecDeque<Way>,
    part: Part,
}

/// A finding of a part of the run.
pub(super) enum TableFinding {
    /// A row, its instructions, and whether Explore can send exactly its requests.
    Row(Box<Row>, Vec<Instruction>, bool),
    /// A way out of a conflict of the client.
    WayOut(Box<SettledConflict>),
}

/// The next part of the work. Each part is short, also for a large object.
#[derive(Debug, Default)]
enum Part {
    /// Fills in the parts that a text does not contain, in another way.
    #[default]
    Complete,
    /// The next row.
    Next,
    Row(Box<PartialClaims>),
    /// The instructions of a row are to be written.
    Instruct(Box<Row>),
    /// A row is to be masked.
    Mask(Box<Row>, Vec<Instruction>),
    /// Checks whether Explore can take a row.
    Explore(Box<Row>, Vec<Instruction>),
    WaysOut(Box<PartialClaimsOut>),
    /// The ways out are to be put in commands, one after the other.
    Settle(VecDeque<Remedy>),
}

impl TableRun {
    pub(super) fn new(table: Rc<CompletedChange>, client: Preset) -> Self {
        Self {
            made_up: table.is_made_up(),
            table,
            client,
            wanted: None,
            private: None,
            before: None,
            left: in_order(client),
            part: Part::default(),
        }
    }

    /// The number of ways that were run and the number of all; the ways out of a conflict count as one.
    pub(super) fn progress(&self) -> (usize, usize) {
        let all = in_order(self.client).len();
        (all - self.left.len(), all + 1)
    }

    /// Runs the next part of a way. Returns whether there is more, and what it has found.
    pub(super) fn advance(&mut self) -> (bool, Option<TableFinding>) {
        let mut found = None;
        self.part = match std::mem::take(&mut self.part) {
            Part::Complete => match Rc::make_mut(&mut self.table).complete_next() {
                true => Part::Complete,
                false => Part::Next,
            },
            Part::Next => match self.left.pop_front() {
                Some(way) => Part::Row(Box::new(self.table.begin_claims(way))),
                None => Part::WaysOut(Box::new(self.table.begin_ways_out(self.client))),
            },
            Part::Row(row) => match self.table.advance(*row) {
                ClaimProgress::More(row) => Part::Row(row),
                ClaimProgress::Done(Some(row)) => Part::Instruct(row),
                ClaimProgress::Done(None) => Part::Next,
            },
            Part::Instruct(row) => {
                let content = match self.table.knows_values_of(row.way) {
                    false => CaseContent::WithoutValues,
                    true if self.is_private(&row) => CaseContent::Masked,
                    true => CaseContent::Whole,
                };
                let mut instructions = self.table.first().instructions_with(&row, content);
                self.keep_known(&mut instructions);
                Part::Mask(row, instructions)
            }
            Part::Mask(mut row, instructions) => {
                self.mask(&mut row);
                Part::Explore(row, instructions)
            }
            Part::Explore(row, instructions) => {
                let can_be_explored = self.table.first().can_be_explored(&row);
                found = Some(TableFinding::Row(row, instructions, can_be_explored));
                Part::Next
            }
            Part::WaysOut(mut outs) => match self.table.advance_ways_out(&mut outs) {
                true => Part::WaysOut(outs),
                false => Part::Settle(outs.outs.into()),
            },
            Part::Settle(mut outs) => match outs.pop_front() {
                Some(out) => {
                    found = Some(TableFinding::WayOut(Box::new(self.settled(out))));
                    Part::Settle(outs)
                }
                None => return (false, None),
            },
        };
        (true, found)
    }

    fn settled(&mut self, mut out: Remedy) -> SettledConflict {
        let shown = masked(&out.manifest);
        let private = has_left_out(&shown.to_string()) || self.is_private(&out.row);
        // The others have steps of their own, with values of the object.
        let of_manifest = matches!(out.kind, RemedyKind::Force | RemedyKind::LeaveOut);
        let known = !self.made_up || of_manifest && self.table.knows_values_of(out.row.way);
        let content = match (known, private) {
            (false, _) => CaseContent::MadeUp,
            (true, true) => CaseContent::Masked,
            (true, false) => CaseContent::Whole,
        };
        let mut instructions = self.table.first().instructions_out(&out, content);
        self.keep_known(&mut instructions);
        let can_be_explored = self.table.first().out_can_be_explored(&out);
        let manifest = match content {
            CaseContent::Whole => to_yaml(&out.manifest),
            _ => String::new(),
        };
        self.mask(&mut out.row);
        out.manifest = shown;
        SettledConflict {
            out,
            instructions,
            manifest,
            can_be_explored,
            made_up: self.made_up,
        }
    }

    /// Leaves out of warnings the facts about the made-up object: the fields that it loses.
    fn keep_known(&self, instructions: &mut [Instruction]) {
        for one in instructions.iter_mut().filter(|_| self.made_up) {
            let known = |it: &InstructionWarning| {
                !matches!(
                    it,
                    InstructionWarning::Removes(_)
                        | InstructionWarning::AbsentFromNew(_)
                        | InstructionWarning::NotInDryRun(_)
                        | InstructionWarning::RemovedByKubectl(_)
                )
            };
            one.warnings.retain(known);
        }
    }

    /// Returns whether values in the object or in the manifest look private. All rows begin with
    /// the same object.
    fn is_private(&mut self, row: &Row) -> bool {
        if let Some(known) = self.private {
            return known;
        }
        let (shown, wanted) = (self.shown_before(row), self.shown_wanted());
        let before = &row.before;
        // A stand-in must not get into a cluster.
        let private = has_left_out(&wanted.to_string())
            || has_left_out(&before.to_string())
            || shown != *before;
        self.private = Some(private);
        private
    }

    /// The wanted object, with the values that look private masked.
    fn shown_wanted(&mut self) -> Rc<Value> {
        let (ChangeContent::Manifest(wanted) | ChangeContent::Edited(wanted)) =
            &self.table.first().change().content;
        let shown = self.wanted.get_or_insert_with(|| Rc::new(masked(wanted)));
        Rc::clone(shown)
    }

    /// The object before the write of a row, with the values that look private masked.
    fn shown_before(&mut self, row: &Row) -> Arc<Value> {
        let known = self.before.as_ref();
        if let Some([_, shown]) = known.filter(|[before, _]| Arc::ptr_eq(before, &row.before)) {
            return Arc::clone(shown);
        }
        let shown = masked_arc(&row.before);
        self.before = Some([Arc::clone(&row.before), Arc::clone(&shown)]);
        shown
    }

    /// Masks the values of a row that look private.
    fn mask(&mut self, row: &mut Row) {
        let private = self.is_private(row);
        row.mask(self.shown_before(row), &self.shown_wanted(), private);
    }
}
