//! The table over ways of writing, filled row by row.

mod elsewhere;
mod order;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use optimist_apiserver::apply::{Path, Places};
use optimist_client::{Preset, to_yaml};
use optimist_diagnose::case::Case;
use optimist_diagnose::completions::{
    ClaimProgress, CompletedChange, Contradiction, PartialClaims, PartialClaimsOut, SameName,
};
use optimist_diagnose::message::ReportedError;
use optimist_diagnose::scene::GivenParts;
use optimist_diagnose::ways::{
    CaseContent, ChangeContent, FieldEffect, FieldOutcome, Instruction, InstructionWarning,
    OnOwned, Remedy, RemedyKind, Row, WantedChange, Way,
};
use optimist_masking::{MASK, has_left_out, masked, masked_arc};
use optimist_simulation::HistoryTree;
use serde_json::Value;

use self::elsewhere::Elsewhere;
pub(crate) use self::elsewhere::TableWork;
pub use self::elsewhere::{TablePart, TableRequest};
use self::order::{in_order, rank};
use super::client_of;
use super::reading::CaseReading;

/// The clients that write a manifest, each with its name in links.
pub const WRITERS: [(Preset, &str); 13] = [
    (Preset::KubectlApplyServerSide, "kubectl-apply-server-side"),
    (Preset::KubectlApply, "kubectl-apply"),
    (Preset::KubectlReplace, "kubectl-replace"),
    (Preset::Helm4, "helm-4"),
    (Preset::Helm3, "helm-3"),
    (Preset::ArgoCdServerSide, "argo-cd-server-side"),
    (Preset::ArgoCdClientSide, "argo-cd"),
    (Preset::Flux, "flux"),
    (Preset::Terraform, "terraform"),
    (Preset::ControllerApply, "controller-apply"),
    (Preset::CreateOrUpdate, "create-or-update"),
    (Preset::Update, "update"),
    (Preset::MergeFrom, "merge-from"),
];

/// The most fields that have a column of their own.
const COLUMNS: usize = 2;

/// The effect on a field, and its new value.
type Fate<'a> = (FieldEffect, Option<&'a Value>);

/// A table of write methods, and the rest of the work.
#[derive(Clone, Debug)]
pub struct ChangeRun {
    table: Rc<CompletedChange>,
    /// The wanted object as it is shown; `None` before the first row.
    wanted: Option<Rc<Value>>,
    /// `true` if the values come from a scene: no message contains them.
    pub made_up: bool,
    /// `true` if values look private; `None` before the first row.
    private: Option<bool>,
    /// The object before the writes, and as it is shown: the same for most rows.
    before: Option<[Arc<Value>; 2]>,
    left: VecDeque<Way>,
    /// Shared between the states of the page: only the last one goes on.
    part: Rc<RefCell<Part>>,
    total: usize,
    /// The client that was chosen.
    pub client: Preset,
    /// The rows so far. Values that look private are masked.
    pub rows: Vec<Rc<Row>>,
    /// The instructions to make the write of each row, in the order of the rows.
    instructions: Vec<Rc<[Instruction]>>,
    /// The ways out of a conflict of the client that was chosen, once they are run.
    pub remedies: Option<Vec<Rc<SettledConflict>>>,
    /// The ways whose requests Explore can send exactly.
    explored: Vec<Way>,
    /// The messages that the client that was chosen got.
    errors: Vec<ReportedError>,
    /// A difference between a message and the row of its client.
    pub contradiction: Option<Contradiction>,
    /// The reason why the client has a conflict with a manager of its own name.
    pub same_name: Option<SameName>,
    /// `true` if the user stopped it.
    pub cancelled: bool,
    /// The job that runs it, if it is not run here.
    elsewhere: Elsewhere,
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
    Mask(Box<Row>),
    /// Checks whether Explore can take the last row.
    Explore,
    WaysOut(Box<PartialClaimsOut>),
    /// The ways out are to be put in commands, one after the other.
    Settle(VecDeque<Remedy>, Vec<Rc<SettledConflict>>),
}

/// A way out of a conflict. Values that look private are masked.
#[derive(Clone, Debug)]
pub struct SettledConflict {
    /// The way out, as it was run.
    pub out: Remedy,
    /// The instructions to do it with the chosen client, and the steps of other managers. Without
    /// values that look private or are made up. Empty if other managers are made up too.
    pub instructions: Vec<Instruction>,
    /// The manifest that the writer has from now on, as YAML; empty if values look private or are made
    /// up.
    pub manifest: String,
    /// `true` if the values come from a scene: no message contains them.
    pub made_up: bool,
    /// `true` if Explore can send exactly the same requests.
    pub can_be_explored: bool,
}

impl ChangeRun {
    /// Starts the table of a case; `None` without a live object and a manifest. `given` are the parts
    /// that people added to error messages.
    pub(super) fn start(
        reading: &CaseReading,
        client: Preset,
        manager: &str,
        given: &GivenParts,
    ) -> Option<Self> {
        let table = completed(reading, manager, given)?;
        let errors = reading.case.errors.iter();
        let own = errors.filter(|error| error.tool.is_none_or(|it| client_of(it) == Some(client)));
        let errors: Vec<ReportedError> = own.cloned().collect();
        let left = in_order(client);
        Some(Self {
            made_up: table.is_made_up(),
            table: Rc::new(table),
            wanted: None,
            private: None,
            before: None,
            // The ways out come last.
            total: left.len() + 1,
            left,
            part: Rc::default(),
            remedies: None,
            client,
            rows: Vec::new(),
            instructions: Vec::new(),
            explored: Vec::new(),
            same_name: errors.iter().find_map(SameName::find),
            errors,
            contradiction: None,
            cancelled: false,
            elsewhere: Elsewhere::default(),
        })
    }

    /// Returns the number of ways that were run and the number of all ways; `None` if none is left.
    pub fn progress(&self) -> Option<(usize, usize)> {
        let left = self.left.len() + usize::from(self.remedies.is_none());
        (left > 0 && !self.cancelled).then(|| (self.total - left, self.total))
    }

    /// Runs the next part of a way. Something if that was the last one.
    pub(super) fn advance(&mut self) -> Option<()> {
        let part = self.part.take();
        let next = match part {
            Part::Complete => {
                if Rc::make_mut(&mut self.table).complete_next() {
                    Part::Complete
                } else {
                    Part::Next
                }
            }
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
                let values = !self.made_up && !self.is_private(&row);
                let mut instructions = self.table.first().instructions(&row, values);
                self.keep_known(&mut instructions);
                self.instructions.push(instructions.into());
                self.compare(&row);
                Part::Mask(row)
            }
            Part::Mask(mut row) => {
                self.mask(&mut row);
                self.rows.push(Rc::new(*row));
                Part::Explore
            }
            Part::Explore => {
                let last = self.rows.last();
                let last = last.filter(|row| self.table.first().can_be_explored(row));
                self.explored.extend(last.map(|row| row.way));
                Part::Next
            }
            Part::WaysOut(mut outs) => {
                if self.table.advance_ways_out(&mut outs) {
                    Part::WaysOut(outs)
                } else {
                    Part::Settle(outs.outs.into(), Vec::new())
                }
            }
            Part::Settle(mut outs, mut settled) => match outs.pop_front() {
                Some(out) => {
                    settled.push(Rc::new(self.settled(out)));
                    Part::Settle(outs, settled)
                }
                None => {
                    self.remedies = Some(settled);
                    return Some(());
                }
            },
        };
        self.part.replace(next);
        None
    }

    fn settled(&mut self, mut out: Remedy) -> SettledConflict {
        let shown = masked(&out.manifest);
        let private = has_left_out(&shown.to_string()) || self.is_private(&out.row);
        let content = match (self.made_up, private) {
            (true, _) => CaseContent::MadeUp,
            (false, true) => CaseContent::WithoutValues,
            (false, false) => CaseContent::Whole,
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
                    InstructionWarning::Removes(_) | InstructionWarning::AbsentFromNew(_)
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
        let (before, wanted) = (self.shown_before(row), self.shown_wanted());
        let after = if row.before == row.after {
            Arc::clone(&before)
        } else {
            masked_arc(&row.after)
        };
        let mut places = [&*before, &*after, &*wanted].map(Places::new);
        for outcome in &mut row.fields {
            mask_field(outcome, &mut places);
        }
        row.before = before;
        row.after = after;
    }

    /// Compares the messages with the row of the client that got them.
    fn compare(&mut self, row: &Row) {
        if row.way == Way::Client(self.client, OnOwned::Usual) {
            let mut errors = self.errors.iter();
            let contradiction = errors.find_map(|error| Contradiction::between(error, row));
            self.contradiction = contradiction;
        }
    }

    /// The row of the client that was chosen, as it writes without options; `None` until it is run.
    pub fn usual_row(&self) -> Option<&Row> {
        let way = Way::Client(self.client, OnOwned::Usual);
        let row = self.rows.iter().find(|row| row.way == way)?;
        Some(row)
    }

    /// Returns the instructions to make the write of a row. Without values that look private or are
    /// made up.
    pub fn instructions(&self, way: Way) -> &[Instruction] {
        let at = self.rows.iter().position(|row| row.way == way);
        at.map_or(&[], |at| &self.instructions[at])
    }

    /// The history of a way out, for Play.
    pub(super) fn history_out(&self, kind: RemedyKind) -> Option<HistoryTree> {
        let out = self.whole_out(kind)?;
        Some(self.table.first().history(&out.row))
    }

    /// The history of a way, for Play.
    pub(super) fn history(&self, way: Way) -> Option<HistoryTree> {
        Some(self.table.first().history(&self.whole_row(way)?))
    }

    /// Returns whether Explore can send exactly the requests of a way.
    pub fn can_be_explored(&self, way: Way) -> bool {
        self.explored.contains(&way)
    }

    /// A way before it is sent, with somebody who writes in between, for Explore.
    pub(super) fn in_between(&self, way: Way) -> Option<HistoryTree> {
        self.table.first().in_between(&self.whole_row(way)?)
    }

    /// A way out before it is sent, with somebody who writes in between, for Explore.
    pub(super) fn in_between_out(&self, kind: RemedyKind) -> Option<HistoryTree> {
        self.table.first().in_between_out(&self.whole_out(kind)?)
    }

    /// Returns the assumptions of a way that the input does not confirm.
    pub fn assumptions(&self, way: Way) -> Vec<optimist_diagnose::ways::Assumption> {
        self.table.first().assumptions(way)
    }

    /// Returns whether a row is displayed before the user asks for all rows.
    pub fn is_first(&self, row: &Row) -> bool {
        rank(row.way, self.client) < 2
    }

    /// The fields that have a column: of the change, those that are refused or taken over when the
    /// client that was chosen writes, then those whose fate differs most between the rows.
    pub fn columns(&self) -> Vec<Path> {
        let mut found: Vec<(Path, bool, Vec<Fate<'_>>)> = Vec::new();
        for row in &self.rows {
            for field in &row.fields {
                if field.wanted.is_none() || field.wanted == field.before {
                    continue;
                }
                let own = rank(row.way, self.client) == 0;
                let contested =
                    own && matches!(field.effect, FieldEffect::Refused | FieldEffect::TakenOver);
                let fate = (field.effect, field.after.as_ref());
                let known = found.iter().position(|(path, ..)| *path == field.field);
                let at = known.unwrap_or_else(|| {
                    found.push((field.field.clone(), false, Vec::new()));
                    found.len() - 1
                });
                let (_, any, fates) = &mut found[at];
                *any |= contested;
                if !fates.contains(&fate) {
                    fates.push(fate);
                }
            }
        }
        // Stable: else in the order of paths.
        found.sort_by_key(|(_, contested, fates)| std::cmp::Reverse((*contested, fates.len())));
        let paths = found.into_iter().take(COLUMNS);
        paths.map(|(path, ..)| path).collect()
    }

    /// The fields for which the server refuses the writes of the client that was chosen.
    pub(super) fn refused(&self) -> impl Iterator<Item = String> {
        let own = self
            .rows
            .iter()
            .filter(|row| rank(row.way, self.client) == 0);
        let refused = own.flat_map(|row| row.with(FieldEffect::Refused));
        refused.map(|outcome| outcome.field.to_string())
    }
}

/// The change of a case, with each possible value of the parts that its texts do not contain.
fn completed(reading: &CaseReading, manager: &str, given: &GivenParts) -> Option<CompletedChange> {
    let case = &reading.case;
    if let Some(scene) = &reading.scene {
        return CompletedChange::of_scene(scene, case.errors.first()?, given);
    }
    let installed = reading.installed.as_ref().ok()?;
    let Some(manifest) = case.manifest.clone() else {
        let of = |error| CompletedChange::of_message(installed, &case.definitions, error);
        return case.errors.iter().find_map(of);
    };
    let change = wanted(case, manager, manifest);
    Some(CompletedChange::of_input(
        installed,
        &case.definitions,
        change,
    ))
}

/// The change of a manifest that the case has, by a field manager; empty for the default of each tool.
pub(super) fn wanted(case: &Case, manager: &str, manifest: Value) -> WantedChange {
    let manager = manager.trim();
    WantedChange {
        manager: (!manager.is_empty()).then(|| manager.to_owned()),
        previous: case.previous_manifest.clone(),
        address: case.errors.iter().find_map(|it| it.address.clone()),
        ..WantedChange::manifest(manifest)
    }
}

/// Masks a field. The places are those before, after, and in the wanted object.
fn mask_field(outcome: &mut FieldOutcome, places: &mut [Places<'_>; 3]) {
    let field = &outcome.field.0;
    let shown = places.each_mut().map(|object| object.find(field).cloned());
    let hides = |value: &Option<Value>| value.as_ref().is_some_and(|it| *it == MASK);
    let private = shown.iter().any(hides);
    let [before, after, said] = shown;
    if outcome.before.is_some() {
        outcome.before = before;
    }
    if outcome.after.is_some() {
        outcome.after = after;
    }
    if outcome.wanted.is_some() {
        // A manifest may write a value elsewhere than the server stores it.
        outcome.wanted = if private {
            Some(MASK.into())
        } else {
            said.or(outcome.wanted.take())
        };
    }
}
