//! The table over ways of writing: a job runs them, and fills it row by row.

mod order;
mod table_run;
mod table_work;

use std::collections::VecDeque;
use std::rc::Rc;

use optimist_apiserver::apply::Path;
use optimist_client::Preset;
use optimist_diagnose::case::Case;
use optimist_diagnose::completions::{CompletedChange, Contradiction, SameName};
use optimist_diagnose::message::ReportedError;
use optimist_diagnose::scene::GivenParts;
use optimist_diagnose::ways::{
    FieldEffect, Instruction, OnOwned, ReceivedRow, Remedy, RemedyKind, Row, RowBodies,
    RowReceiver, WantedChange, Way,
};
use optimist_simulation::HistoryTree;
use serde_json::Value;

use self::order::{in_order, rank};
pub(crate) use self::table_work::TableWork;
use self::table_work::{PartContent, SentWay, SentWayOut};
pub use self::table_work::{TablePart, TableRequest};
use super::reading::CaseReading;
use crate::jobs::JobId;

/// The clients that write a manifest.
pub const WRITERS: [Preset; 13] = [
    Preset::KubectlApplyServerSide,
    Preset::KubectlApply,
    Preset::KubectlReplace,
    Preset::Helm4,
    Preset::Helm3,
    Preset::ArgoCdServerSide,
    Preset::ArgoCdClientSide,
    Preset::Flux,
    Preset::Terraform,
    Preset::ControllerApply,
    Preset::CreateOrUpdate,
    Preset::Update,
    Preset::MergeFrom,
];

/// The most fields that have a column of their own.
const COLUMNS: usize = 2;

/// The effect on a field, and its new value.
type Fate<'a> = (FieldEffect, Option<&'a Value>);

/// A table of write methods, as far as it is run.
#[derive(Clone, Debug)]
pub struct ChangeRun {
    /// Before the first row.
    table: Rc<CompletedChange>,
    /// `true` if the values come from a scene: no message contains them.
    pub made_up: bool,
    left: VecDeque<Way>,
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
    /// The job that runs it; `None` before it begins and after it has ended.
    job: Option<JobId>,
    /// `true` once a worker could not run it: the page does.
    refused: bool,
    received: ReceivedTable,
}

/// The results of the job that runs a table, beside its rows.
#[derive(Clone, Debug, Default)]
struct ReceivedTable {
    receiver: Rc<RowReceiver>,
    /// The row that came last, until it is known to what it belongs.
    row: Option<Rc<ReceivedRow>>,
    /// The bodies of the requests of each row.
    bodies: Vec<RowBodies>,
    outs: Vec<Rc<SettledConflict>>,
    /// The bodies of the requests of each way out.
    bodies_of_outs: Vec<RowBodies>,
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
        let own = errors.filter(|error| error.tool.is_none_or(|it| it.client() == Some(client)));
        let errors: Vec<ReportedError> = own.cloned().collect();
        let left = in_order(client);
        Some(Self {
            made_up: table.is_made_up(),
            table: Rc::new(table),
            // The ways out come last.
            total: left.len() + 1,
            left,
            remedies: None,
            client,
            rows: Vec::new(),
            instructions: Vec::new(),
            explored: Vec::new(),
            same_name: errors.iter().find_map(SameName::find),
            errors,
            contradiction: None,
            cancelled: false,
            job: None,
            refused: false,
            received: ReceivedTable::default(),
        })
    }

    /// Returns the number of ways that were run and the number of all ways; `None` if none is left.
    pub fn progress(&self) -> Option<(usize, usize)> {
        let left = self.left.len() + usize::from(self.remedies.is_none());
        (left > 0 && !self.cancelled).then(|| (self.total - left, self.total))
    }

    /// The job that runs it; `None` if none does, or it was stopped.
    pub(super) fn job(&self) -> Option<JobId> {
        self.job.filter(|_| !self.cancelled)
    }

    /// The request for a job, which then runs it. A worker gets these texts of the case, whose object at this position it
    /// is about.
    pub(super) fn begin_job(
        &mut self,
        job: JobId,
        (texts, object): (Vec<String>, usize),
        manager: String,
        given: GivenParts,
    ) -> TableRequest {
        self.job = Some(job);
        TableRequest {
            texts,
            object,
            client: self.client,
            manager,
            given,
            known: Some(Rc::clone(&self.table)),
        }
    }

    /// Returns whether a worker may run it: none has tried.
    pub(super) fn may_travel(&self) -> bool {
        !self.refused
    }

    /// Takes a part from the job that runs it.
    pub(super) fn take_part(&mut self, part: &TablePart) {
        match part.content() {
            // Both are the same program.
            None => {}
            Some(PartContent::Begin) => {
                self.left = in_order(self.client);
                self.rows.clear();
                self.instructions.clear();
                self.explored.clear();
                self.received = ReceivedTable::default();
            }
            Some(PartContent::Row(part)) => {
                let receiver = Rc::make_mut(&mut self.received.receiver);
                if let Some(row) = receiver.receive(part) {
                    self.received.row = Some(Rc::new(row));
                }
            }
            Some(PartContent::Way(sent)) => self.take_way(sent),
            Some(PartContent::WayOut(sent)) => self.take_way_out(sent),
        }
    }

    fn take_row(&mut self) -> Option<ReceivedRow> {
        self.received.row.take().map(Rc::unwrap_or_clone)
    }

    fn take_way(&mut self, sent: SentWay) {
        let Some(ReceivedRow { row, bodies }) = self.take_row() else {
            return;
        };
        self.received.bodies.push(bodies);
        let way = row.way;
        // Some ways before it cannot carry the change.
        while self.left.pop_front().is_some_and(|left: Way| left != way) {}
        self.compare(&row);
        self.rows.push(Rc::new(row));
        self.instructions.push(sent.instructions.into());
        self.explored.extend(sent.can_be_explored.then_some(way));
    }

    fn take_way_out(&mut self, sent: SentWayOut) {
        let Some(ReceivedRow { row, bodies }) = self.take_row() else {
            return;
        };
        let out = Remedy {
            kind: sent.kind,
            row,
            // Its text is all that is shown of it.
            manifest: Value::Null,
            settles: sent.settles,
            others_own: sent.others_own,
            client_side_may_write: sent.client_side_may_write,
        };
        self.received.bodies_of_outs.push(bodies);
        let settled = SettledConflict {
            out,
            can_be_explored: sent.with.can_be_explored,
            instructions: sent.with.instructions,
            manifest: sent.manifest,
            made_up: self.made_up,
        };
        self.received.outs.push(Rc::new(settled));
    }

    /// The job has ended. If a worker could not run the table, the page runs it.
    pub(super) fn end(&mut self, is_run: bool) {
        self.job = None;
        self.refused = !is_run;
        if is_run {
            self.left.clear();
            self.remedies = Some(std::mem::take(&mut self.received.outs));
        }
    }

    /// A row with the bodies of its requests.
    fn whole_row(&self, way: Way) -> Option<Row> {
        let at = self.rows.iter().position(|row| row.way == way)?;
        let bodies = self.received.bodies.get(at)?;
        Some(self.received.receiver.whole(&self.rows[at], bodies))
    }

    /// A way out with the bodies of its requests.
    fn whole_out(&self, kind: RemedyKind) -> Option<Remedy> {
        let outs = self.remedies.as_deref()?;
        let at = outs.iter().position(|settled| settled.out.kind == kind)?;
        let out = &outs[at].out;
        let bodies = self.received.bodies_of_outs.get(at)?;
        Some(Remedy {
            row: self.received.receiver.whole(&out.row, bodies),
            ..out.clone()
        })
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

    /// The fields that have a column: the first of those that change.
    pub fn columns(&self) -> Vec<Path> {
        self.changed_fields().into_iter().take(COLUMNS).collect()
    }

    /// The fields that change and have no column.
    pub fn fields_without_column(&self) -> Vec<Path> {
        self.changed_fields().into_iter().skip(COLUMNS).collect()
    }

    /// The fields that change, and list items that go: those that are refused or taken over when the client that was
    /// chosen writes, and those that change without a value in the manifest, then those whose fate differs most between
    /// the rows.
    fn changed_fields(&self) -> Vec<Path> {
        let mut found: Vec<(Path, bool, Vec<Fate<'_>>)> = Vec::new();
        for row in &self.rows {
            for field in &row.fields {
                let gone = row.gone_item(field);
                let is_set = row.is_set_by_server(field);
                let is_other = field.wanted.is_some() && field.wanted != field.before;
                if gone.is_none() && !is_set && !is_other {
                    continue;
                }
                let path = gone.unwrap_or_else(|| field.field.clone());
                let own = rank(row.way, self.client) == 0;
                let contested = is_set
                    || own && matches!(field.effect, FieldEffect::Refused | FieldEffect::TakenOver);
                let fate = (field.effect, field.after.as_ref());
                let known = found.iter().position(|(known, ..)| *known == path);
                let at = known.unwrap_or_else(|| {
                    found.push((path, false, Vec::new()));
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
        found.into_iter().map(|(path, ..)| path).collect()
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
        let given = GivenParts {
            manager: given.manager.clone(),
            ..reading.given.clone()
        };
        return CompletedChange::of_scene(scene, case.errors.first()?, &given);
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
