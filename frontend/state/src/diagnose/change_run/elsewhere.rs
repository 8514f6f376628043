//! The table as a job: a worker reads the texts of the case again and runs the ways of writing, and the page takes
//! the rows as they come.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use optimist_client::Preset;
use optimist_diagnose::case::Case;
use optimist_diagnose::compact::Compact;
use optimist_diagnose::input::{Detection, Input};
use optimist_diagnose::scene::GivenParts;
use optimist_diagnose::ways::{
    Instruction, ReceivedRow, Remedy, RemedyKind, Row, RowBodies, RowPart, RowReceiver, RowSender,
    Way,
};
use optimist_diagnose::{compact_enum, compact_struct};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CaseReading, ChangeRun, Part, SettledConflict, in_order};
use crate::jobs::{JobId, JobPart, JobResult, Work};

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

/// A part of a table, in its compact form.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TablePart(String);

/// The content of a part of a table.
enum PartContent {
    /// The table begins. What came before is of a worker that failed.
    Begin,
    /// The next part of a row, or of the row of a way out.
    Row(RowPart),
    /// The rest of the row that came.
    Way(SentWay),
    /// The rest of the row that came: it is the one of a way out.
    WayOut(SentWayOut),
}

/// A row of the table without its fields and requests.
struct SentWay {
    instructions: Vec<Instruction>,
    can_be_explored: bool,
}

/// A [`SettledConflict`] without its row. The manifest is there as YAML.
struct SentWayOut {
    kind: RemedyKind,
    settles: bool,
    others_own: bool,
    manifest: String,
    with: SentWay,
}

compact_enum!(PartContent { 0 Begin, 1 Row(it), 2 Way(it), 3 WayOut(it) });
compact_struct!(SentWay {
    instructions,
    can_be_explored
});
compact_struct!(SentWayOut {
    kind,
    settles,
    others_own,
    manifest,
    with
});

impl TableRequest {
    /// The number of bytes of the texts.
    pub(crate) fn size(&self) -> usize {
        self.texts.iter().map(String::len).sum()
    }
}

/// The table of a request, in parts.
pub(crate) struct TableWork {
    request: TableRequest,
    stage: TableStage,
    /// The parts that nobody has taken.
    parts: VecDeque<TablePart>,
    sender: RowSender,
    /// The number of rows that were sent.
    rows: usize,
}

enum TableStage {
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
            None => TableStage::Read(texts.into(), None, Vec::new()),
        };
        Self {
            request,
            stage,
            parts: VecDeque::from([TablePart(PartContent::Begin.to_compact())]),
            sender: RowSender::default(),
            rows: 0,
        }
    }

    /// Reads a part of the texts; the object, once all are read.
    fn read(
        &self,
        mut left: VecDeque<String>,
        detection: Option<Box<Detection>>,
        mut read: Vec<Input>,
    ) -> TableStage {
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
        TableStage::Read(left, detection, read)
    }

    fn install(&self, read: &[Input]) -> TableStage {
        let Some(case) = Case::all_of(read).into_iter().nth(self.request.object) else {
            return TableStage::End(false);
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
            let row = &run.rows[at];
            self.send_row(row);
            self.send(&PartContent::Way(SentWay {
                instructions: run.instructions[at].to_vec(),
                can_be_explored: run.can_be_explored(row.way),
            }));
        }
        self.rows = whole;
    }

    fn send_way_out(&mut self, settled: &SettledConflict) {
        let out = &settled.out;
        self.send_row(&out.row);
        self.send(&PartContent::WayOut(SentWayOut {
            kind: out.kind,
            settles: out.settles,
            others_own: out.others_own,
            manifest: settled.manifest.clone(),
            with: SentWay {
                instructions: settled.instructions.clone(),
                can_be_explored: settled.can_be_explored,
            },
        }));
    }

    fn send_row(&mut self, row: &Row) {
        for part in self.sender.parts(row) {
            self.send(&PartContent::Row(part));
        }
    }

    fn send(&mut self, part: &PartContent) {
        self.parts.push_back(TablePart(part.to_compact()));
    }
}

fn begun(request: &TableRequest, reading: &CaseReading) -> TableStage {
    let run = ChangeRun::start(reading, request.client, &request.manager, &request.given);
    run.map_or(TableStage::End(false), |run| TableStage::Run(Box::new(run)))
}

impl Work for TableWork {
    fn advance(&mut self) -> Option<JobResult> {
        self.stage = match std::mem::replace(&mut self.stage, TableStage::End(false)) {
            TableStage::Read(left, detection, read) => self.read(left, detection, read),
            TableStage::Run(mut run) => {
                let is_over = run.advance().is_some();
                self.send_rows(&run);
                if is_over {
                    for settled in run.remedies.iter().flatten() {
                        self.send_way_out(settled);
                    }
                    TableStage::End(true)
                } else {
                    TableStage::Run(run)
                }
            }
            TableStage::End(is_run) => return Some(JobResult::Table(is_run)),
        };
        None
    }

    fn take_part(&mut self) -> Option<JobPart> {
        self.parts.pop_front().map(JobPart::Table)
    }

    fn progress(&self) -> (usize, usize) {
        match &self.stage {
            TableStage::Run(run) => run.progress().unwrap_or((0, 1)),
            TableStage::Read(..) | TableStage::End(_) => (0, 1),
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
    /// Shared between the states of the page: only the last one goes on.
    receiver: Rc<RefCell<RowReceiver>>,
    /// The row that came last, until it is known to what it belongs.
    row: Rc<RefCell<Option<ReceivedRow>>>,
    /// The bodies of the requests of each row.
    bodies: Vec<RowBodies>,
    outs: Vec<Rc<SettledConflict>>,
    /// The bodies of the requests of each way out.
    bodies_of_outs: Vec<RowBodies>,
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
    pub(in crate::diagnose) fn take_part(&mut self, part: &TablePart) {
        match PartContent::from_compact(&part.0) {
            // Both are the same program.
            None => {}
            Some(PartContent::Begin) => {
                self.left = in_order(self.client);
                self.rows.clear();
                self.instructions.clear();
                self.explored.clear();
                self.elsewhere = Elsewhere {
                    job: self.elsewhere.job,
                    ..Elsewhere::default()
                };
            }
            Some(PartContent::Row(part)) => {
                if let Some(row) = self.elsewhere.receiver.borrow_mut().receive(part) {
                    self.elsewhere.row.replace(Some(row));
                }
            }
            Some(PartContent::Way(sent)) => self.take_way(sent),
            Some(PartContent::WayOut(sent)) => self.take_way_out(sent),
        }
    }

    fn take_way(&mut self, sent: SentWay) {
        let Some(received) = self.elsewhere.row.take() else {
            return;
        };
        let row = received.row;
        self.elsewhere.bodies.push(received.bodies);
        let way = row.way;
        // Some ways before it cannot carry the change.
        while self.left.pop_front().is_some_and(|left: Way| left != way) {}
        self.compare(&row);
        self.rows.push(Rc::new(row));
        self.instructions.push(sent.instructions.into());
        self.explored.extend(sent.can_be_explored.then_some(way));
    }

    fn take_way_out(&mut self, sent: SentWayOut) {
        let Some(received) = self.elsewhere.row.take() else {
            return;
        };
        let out = Remedy {
            kind: sent.kind,
            row: received.row,
            // Its text is all that is shown of it.
            manifest: Value::Null,
            settles: sent.settles,
            others_own: sent.others_own,
        };
        self.elsewhere.bodies_of_outs.push(received.bodies);
        let settled = SettledConflict {
            out,
            can_be_explored: sent.with.can_be_explored,
            instructions: sent.with.instructions,
            manifest: sent.manifest,
            made_up: self.made_up,
        };
        self.elsewhere.outs.push(Rc::new(settled));
    }

    /// The job has ended. If it could not run the table, it is run here.
    pub(in crate::diagnose) fn end_job(&mut self, is_run: bool) {
        self.elsewhere.job = None;
        self.elsewhere.refused = !is_run;
        if is_run {
            self.left.clear();
            self.remedies = Some(std::mem::take(&mut self.elsewhere.outs));
        }
    }

    /// A row with the bodies of its requests.
    pub(super) fn whole_row(&self, way: Way) -> Option<Row> {
        let at = self.rows.iter().position(|row| row.way == way)?;
        let bodies = self.elsewhere.bodies.get(at);
        Some(self.with_bodies(&self.rows[at], bodies))
    }

    /// A way out with the bodies of its requests.
    pub(super) fn whole_out(&self, kind: RemedyKind) -> Option<Remedy> {
        let mut outs = self.remedies.iter().flatten();
        let at = outs.position(|settled| settled.out.kind == kind)?;
        let out = &self.remedies.as_ref()?.get(at)?.out;
        let bodies = self.elsewhere.bodies_of_outs.get(at);
        Some(Remedy {
            row: self.with_bodies(&out.row, bodies),
            ..out.clone()
        })
    }

    /// Those that were run here have their bodies.
    fn with_bodies(&self, row: &Row, bodies: Option<&RowBodies>) -> Row {
        match bodies {
            Some(bodies) => self.elsewhere.receiver.borrow().whole(row, bodies),
            None => row.clone(),
        }
    }
}
