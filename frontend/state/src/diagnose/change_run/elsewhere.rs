//! The table as a job: a worker reads the texts of the case again and runs the ways of writing, and the page takes
//! the rows as they come.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use optimist_apiserver::apply::Path;
use optimist_client::Preset;
use optimist_diagnose::case::Case;
use optimist_diagnose::input::{Detection, Input};
use optimist_diagnose::scene::GivenParts;
use optimist_diagnose::ways::{
    Instruction, InstructionLanguage, InstructionWarning, Remedy, Row, Way,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CaseReading, ChangeRun, Part, SettledConflict, in_order};
use crate::jobs::{JobId, JobResult, Work};

/// The number of bytes that are read at a time.
const BYTES: usize = 32 * 1024;

/// A request to run the table of an object.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TableRequest {
    /// The texts of the case.
    pub(in crate::diagnose) texts: Vec<String>,
    /// The position of the object among those of the texts.
    pub(in crate::diagnose) object: usize,
    /// The client that was chosen.
    pub(in crate::diagnose) client: Preset,
    /// The field manager; empty for the default of the client.
    pub(in crate::diagnose) manager: String,
    /// The parts of error messages that the user filled in.
    pub(in crate::diagnose) given: GivenParts,
    /// The object as it was read, where the page itself runs the table.
    #[serde(skip)]
    pub(in crate::diagnose) known: Option<Rc<CaseReading>>,
}

/// A part of a table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum TablePart {
    /// The table begins. What came before is of a worker that failed.
    Begin,
    /// The next value that rows share: an object, or the body of a request. It comes before them.
    Value(#[serde(with = "optimist_simulation::shared_value")] Arc<Value>),
    /// The next row.
    Row(Box<SentRow>),
    /// The next way out of the conflict.
    WayOut(Box<SentWayOut>),
}

/// A row without its values.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SentRow {
    row: Row,
    /// The positions of its values ([`Row::values_mut`]) among those that came.
    values: Vec<usize>,
    instructions: Vec<SentInstruction>,
    can_be_explored: bool,
}

/// A [`SettledConflict`] without its values.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SentWayOut {
    out: Remedy,
    values: Vec<usize>,
    instructions: Vec<SentInstruction>,
    manifest: String,
    can_be_explored: bool,
}

/// An [`Instruction`], whole. As JSON for people it has less.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SentInstruction {
    language: InstructionLanguage,
    text: String,
    has_values: bool,
    try_first: Option<String>,
    warnings: Vec<SentWarning>,
}

/// An [`InstructionWarning`].
#[derive(Clone, Debug, Serialize, Deserialize)]
enum SentWarning {
    Removes(Vec<Path>),
    NeededToCreate(Vec<String>),
    AbsentFromNew(Vec<Path>),
    OtherRecord(String),
}

impl SentInstruction {
    fn all(of: &[Instruction]) -> Vec<Self> {
        let sent = |one: &Instruction| Self {
            language: one.language,
            text: one.text.clone(),
            has_values: one.has_values,
            try_first: one.try_first.clone(),
            warnings: one.warnings.iter().map(SentWarning::from).collect(),
        };
        of.iter().map(sent).collect()
    }
}

impl From<SentInstruction> for Instruction {
    fn from(sent: SentInstruction) -> Self {
        Self {
            language: sent.language,
            text: sent.text,
            has_values: sent.has_values,
            try_first: sent.try_first,
            warnings: sent.warnings.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<&InstructionWarning> for SentWarning {
    fn from(warning: &InstructionWarning) -> Self {
        match warning.clone() {
            InstructionWarning::Removes(paths) => Self::Removes(paths),
            InstructionWarning::NeededToCreate(fields) => Self::NeededToCreate(fields),
            InstructionWarning::AbsentFromNew(paths) => Self::AbsentFromNew(paths),
            InstructionWarning::OtherRecord { manager } => Self::OtherRecord(manager),
        }
    }
}

impl From<SentWarning> for InstructionWarning {
    fn from(sent: SentWarning) -> Self {
        match sent {
            SentWarning::Removes(paths) => Self::Removes(paths),
            SentWarning::NeededToCreate(fields) => Self::NeededToCreate(fields),
            SentWarning::AbsentFromNew(paths) => Self::AbsentFromNew(paths),
            SentWarning::OtherRecord(manager) => Self::OtherRecord { manager },
        }
    }
}

impl TableRequest {
    /// The number of bytes of the texts.
    pub(crate) fn size(&self) -> usize {
        self.texts.iter().map(String::len).sum()
    }
}

/// The table of a request, in parts.
pub(crate) struct TableWork {
    request: TableRequest,
    stage: Stage,
    /// The parts that nobody has taken.
    parts: VecDeque<TablePart>,
    /// The values that were sent.
    values: Vec<Arc<Value>>,
    /// The number of rows that were sent.
    rows: usize,
}

enum Stage {
    /// The texts that are left, the one that is being read, and what was read.
    Read(VecDeque<String>, Option<Box<Detection>>, Vec<Input>),
    Run(Box<ChangeRun>),
    End(bool),
}

impl TableWork {
    pub(crate) fn new(mut request: TableRequest) -> Self {
        let texts = std::mem::take(&mut request.texts);
        let stage = match request.known.take() {
            Some(known) => begun(&request, &known),
            None => Stage::Read(texts.into(), None, Vec::new()),
        };
        Self {
            request,
            stage,
            parts: VecDeque::from([TablePart::Begin]),
            values: Vec::new(),
            rows: 0,
        }
    }

    /// Reads a part of the texts; the object, once all are read.
    fn read(
        &self,
        mut left: VecDeque<String>,
        detection: Option<Box<Detection>>,
        mut read: Vec<Input>,
    ) -> Stage {
        let detection = match detection {
            Some(mut detection) => {
                if detection.advance(BYTES) {
                    Some(detection)
                } else {
                    read.extend(detection.finish());
                    None
                }
            }
            None => match left.pop_front() {
                Some(text) => Some(Box::new(Detection::new(text.into()))),
                None => return self.install(&read),
            },
        };
        Stage::Read(left, detection, read)
    }

    fn install(&self, read: &[Input]) -> Stage {
        let Some(case) = Case::all_of(read).into_iter().nth(self.request.object) else {
            return Stage::End(false);
        };
        let reading = CaseReading {
            installed: case.install(),
            case,
            ownership: None,
            history: None,
            scene: None,
            is_audited: false,
        };
        begun(&self.request, &reading)
    }

    /// Sends the rows that are whole and not sent yet.
    fn send_rows(&mut self, run: &ChangeRun) {
        let whole = run.rows.len() - usize::from(matches!(*run.part.borrow(), Part::Explore));
        for at in self.rows..whole {
            let mut row = Row::clone(&run.rows[at]);
            let sent = SentRow {
                values: self.take_values(&mut row),
                instructions: SentInstruction::all(&run.instructions[at]),
                can_be_explored: run.can_be_explored(row.way),
                row,
            };
            self.parts.push_back(TablePart::Row(Box::new(sent)));
        }
        self.rows = whole;
    }

    fn send_way_out(&mut self, settled: &SettledConflict) {
        let mut out = settled.out.clone();
        let sent = SentWayOut {
            values: self.take_values(&mut out.row),
            out,
            instructions: SentInstruction::all(&settled.instructions),
            manifest: settled.manifest.clone(),
            can_be_explored: settled.can_be_explored,
        };
        self.parts.push_back(TablePart::WayOut(Box::new(sent)));
    }

    /// Takes the values out of a row, and sends those that are new. Returns their positions.
    fn take_values(&mut self, row: &mut Row) -> Vec<usize> {
        let (known, parts) = (&mut self.values, &mut self.parts);
        let position = |value: &mut Arc<Value>| {
            let value = std::mem::take(value);
            let mut others = known.iter();
            let at = others.position(|it| Arc::ptr_eq(it, &value) || *it == value);
            at.unwrap_or_else(|| {
                parts.push_back(TablePart::Value(Arc::clone(&value)));
                known.push(value);
                known.len() - 1
            })
        };
        row.values_mut().map(position).collect()
    }
}

fn begun(request: &TableRequest, reading: &CaseReading) -> Stage {
    let run = ChangeRun::start(reading, request.client, &request.manager, &request.given);
    run.map_or(Stage::End(false), |run| Stage::Run(Box::new(run)))
}

impl Work for TableWork {
    fn advance(&mut self) -> Option<JobResult> {
        self.stage = match std::mem::replace(&mut self.stage, Stage::End(false)) {
            Stage::Read(left, detection, read) => self.read(left, detection, read),
            Stage::Run(mut run) => {
                let is_over = run.advance().is_some();
                self.send_rows(&run);
                if is_over {
                    for settled in run.remedies.iter().flatten() {
                        self.send_way_out(settled);
                    }
                    Stage::End(true)
                } else {
                    Stage::Run(run)
                }
            }
            Stage::End(is_run) => return Some(JobResult::Table(is_run)),
        };
        None
    }

    fn take_part(&mut self) -> Option<TablePart> {
        self.parts.pop_front()
    }

    fn progress(&self) -> (usize, usize) {
        match &self.stage {
            Stage::Run(run) => run.progress().unwrap_or((0, 1)),
            Stage::Read(..) | Stage::End(_) => (0, 1),
        }
    }
}

/// The job that runs a table, and what came from it.
#[derive(Clone, Debug, Default)]
pub(super) struct Elsewhere {
    /// `None` if no job runs it.
    job: Option<JobId>,
    /// `true` once a job did not do it.
    refused: bool,
    /// The values that rows share.
    values: Vec<Arc<Value>>,
    outs: Vec<Rc<SettledConflict>>,
}

impl ChangeRun {
    /// The job that runs it; `None` if it is run here, or was stopped.
    pub(crate) fn job(&self) -> Option<JobId> {
        self.elsewhere.job.filter(|_| !self.cancelled)
    }

    /// Returns whether there is more to run here.
    pub(crate) fn works_in_slices(&self) -> bool {
        self.progress().is_some() && self.elsewhere.job.is_none()
    }

    /// Returns whether nothing of it is run yet, and a job may run it.
    pub(in crate::diagnose) fn is_fresh(&self) -> bool {
        let is_begun = self.left.len() + 1 < self.total || self.elsewhere.job.is_some();
        !is_begun && !self.cancelled && !self.elsewhere.refused
    }

    /// Waits for a job that runs it.
    pub(in crate::diagnose) fn wait_for(&mut self, job: JobId) {
        self.elsewhere.job = Some(job);
    }

    /// Takes a part from the job that runs it.
    pub(in crate::diagnose) fn take_part(&mut self, part: TablePart) {
        match part {
            TablePart::Begin => {
                self.left = in_order(self.client);
                self.rows.clear();
                self.instructions.clear();
                self.explored.clear();
                self.elsewhere.values.clear();
                self.elsewhere.outs.clear();
            }
            TablePart::Value(value) => self.elsewhere.values.push(value),
            TablePart::Row(sent) => self.take_row(*sent),
            TablePart::WayOut(mut sent) => {
                self.put_values(&mut sent.out.row, &sent.values);
                let settled = SettledConflict {
                    out: sent.out,
                    instructions: sent.instructions.into_iter().map(Into::into).collect(),
                    manifest: sent.manifest,
                    made_up: self.made_up,
                    can_be_explored: sent.can_be_explored,
                };
                self.elsewhere.outs.push(Rc::new(settled));
            }
        }
    }

    fn take_row(&mut self, mut sent: SentRow) {
        self.put_values(&mut sent.row, &sent.values);
        let way = sent.row.way;
        // Some ways before it cannot carry the change.
        while self.left.pop_front().is_some_and(|left: Way| left != way) {}
        self.compare(&sent.row);
        self.rows.push(Rc::new(sent.row));
        let instructions: Vec<Instruction> =
            sent.instructions.into_iter().map(Into::into).collect();
        self.instructions.push(instructions.into());
        self.explored.extend(sent.can_be_explored.then_some(way));
    }

    /// Puts the values into a row that came without them.
    fn put_values(&self, row: &mut Row, positions: &[usize]) {
        for (place, at) in row.values_mut().zip(positions) {
            if let Some(value) = self.elsewhere.values.get(*at) {
                *place = Arc::clone(value);
            }
        }
    }

    /// The job has ended. If it could not run the table, it is run here.
    pub(in crate::diagnose) fn end_job(&mut self, is_run: bool) {
        let elsewhere = std::mem::take(&mut self.elsewhere);
        self.elsewhere.refused = !is_run;
        if is_run {
            self.left.clear();
            self.remedies = Some(elsewhere.outs);
        }
    }
}
