//! The table as a job: it runs the ways of writing, and the page takes the rows as they come. A worker reads the texts
//! of the case again for it.

use std::collections::VecDeque;
use std::rc::Rc;

use optimist_client::Preset;
use optimist_diagnose::case::Case;
use optimist_diagnose::compact::Compact;
use optimist_diagnose::completions::CompletedChange;
use optimist_diagnose::input::{Detection, Input};
use optimist_diagnose::scene::GivenParts;
use optimist_diagnose::ways::{Instruction, RemedyKind, Row, RowPart, RowSender};
use optimist_diagnose::{compact_enum, compact_struct};
use serde::{Deserialize, Serialize};

use super::table_run::{TableFinding, TableRun};
use super::{CaseReading, SettledConflict, completed};
use crate::diagnose::read_work::BYTES;
use crate::jobs::{JobPart, JobResult, Work};

/// A request to run the table of an object.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TableRequest {
    /// The texts of the case; none if it stays in the page.
    pub(in crate::diagnose) texts: Vec<String>,
    /// The position of the object among those of the texts.
    pub(in crate::diagnose) object: usize,
    /// The client that was chosen.
    pub(in crate::diagnose) client: Preset,
    /// The field manager; empty for the default of the client.
    pub(in crate::diagnose) manager: String,
    /// The parts of error messages that the user filled in.
    pub(in crate::diagnose) given: GivenParts,
    /// The table before its first row, where the page itself runs it.
    #[serde(skip)]
    pub(in crate::diagnose) known: Option<Rc<CompletedChange>>,
}

/// A part of a table, in its compact form.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TablePart(String);

/// The content of a part of a table.
pub(super) enum PartContent {
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
pub(super) struct SentWay {
    pub(super) instructions: Vec<Instruction>,
    pub(super) can_be_explored: bool,
}

/// A [`SettledConflict`] without its row. The manifest is there as YAML.
pub(super) struct SentWayOut {
    pub(super) kind: RemedyKind,
    pub(super) settles: bool,
    pub(super) others_own: bool,
    pub(super) client_side_may_write: bool,
    pub(super) manifest: String,
    pub(super) with: SentWay,
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
    client_side_may_write,
    manifest,
    with
});

impl TablePart {
    /// The content; `None` if it is not of this program.
    pub(super) fn content(&self) -> Option<PartContent> {
        PartContent::from_compact(&self.0)
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
    stage: TableStage,
    /// The parts that nobody has taken.
    parts: VecDeque<TablePart>,
    sender: RowSender,
}

enum TableStage {
    /// The texts that are left, and what was read.
    Read(VecDeque<Detection>, Vec<Input>),
    Run(Box<TableRun>),
    End(bool),
}

impl TableWork {
    pub(crate) fn new(mut request: TableRequest) -> Self {
        let texts = std::mem::take(&mut request.texts);
        let stage = match request.known.take() {
            Some(known) => TableStage::Run(Box::new(TableRun::new(known, request.client))),
            None => {
                let texts = texts.into_iter().map(|text| Detection::new(text.into()));
                TableStage::Read(texts.collect(), Vec::new())
            }
        };
        Self {
            request,
            stage,
            parts: VecDeque::from([TablePart(PartContent::Begin.to_compact())]),
            sender: RowSender::default(),
        }
    }

    /// Reads a part of the texts; the object, once all are read.
    fn read(&self, mut left: VecDeque<Detection>, mut read: Vec<Input>) -> TableStage {
        match left.front_mut().map(|text| text.advance(BYTES)) {
            Some(true) => {}
            Some(false) => read.extend(left.pop_front().and_then(|text| text.finish().ok())),
            None => return self.install(&read),
        }
        TableStage::Read(left, read)
    }

    fn install(&self, read: &[Input]) -> TableStage {
        let Some(case) = Case::all_of(read).into_iter().nth(self.request.object) else {
            return TableStage::End(false);
        };
        let reading = CaseReading {
            installed: case.install(),
            case: Rc::new(case),
            ownership: None,
            history: None,
            scene: None,
            given: GivenParts::default(),
            unused_manifests: Vec::new(),
            is_audited: false,
        };
        let request = &self.request;
        match completed(&reading, &request.manager, &request.given) {
            Some(table) => TableStage::Run(Box::new(TableRun::new(Rc::new(table), request.client))),
            None => TableStage::End(false),
        }
    }

    fn send_finding(&mut self, found: TableFinding) {
        match found {
            TableFinding::Row(row, instructions, can_be_explored) => {
                self.send_row(&row);
                self.send(&PartContent::Way(SentWay {
                    instructions,
                    can_be_explored,
                }));
            }
            TableFinding::WayOut(settled) => self.send_way_out(*settled),
        }
    }

    fn send_way_out(&mut self, settled: SettledConflict) {
        let out = settled.out;
        self.send_row(&out.row);
        self.send(&PartContent::WayOut(SentWayOut {
            kind: out.kind,
            settles: out.settles,
            others_own: out.others_own,
            client_side_may_write: out.client_side_may_write,
            manifest: settled.manifest,
            with: SentWay {
                instructions: settled.instructions,
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

impl Work for TableWork {
    fn advance(&mut self) -> Option<JobResult> {
        self.stage = match std::mem::replace(&mut self.stage, TableStage::End(false)) {
            TableStage::Read(left, read) => self.read(left, read),
            TableStage::Run(mut run) => {
                let (more, found) = run.advance();
                found.into_iter().for_each(|found| self.send_finding(found));
                match more {
                    true => TableStage::Run(run),
                    false => TableStage::End(true),
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
            TableStage::Run(run) => run.progress(),
            TableStage::Read(..) | TableStage::End(_) => (0, 1),
        }
    }
}
