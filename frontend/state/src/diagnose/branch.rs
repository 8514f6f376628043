//! A branch of a recorded history: a session in Play that begins with what the server had after a step, as far as the
//! history says it. Of the objects of the server, a log says those with requests, and a watch its object alone.

use std::rc::Rc;

use optimist_diagnose::audit::recorded::Branching;
use optimist_sessions::StorageArea;
use optimist_simulation::{HistoryTree, Start, World};

use super::{AuditReplay, CaseReading, DiagnoseState, RecordedSource};
use crate::State;
use crate::address::Page;
use crate::effect::Effects;
use crate::jobs::{JobId, JobRequest, JobResult, Work};
use crate::persistence::fnv_1a;

/// The key of the last branch in the tab's storage.
const BRANCH: &str = "optimist.branch";

/// A branch that a job makes.
#[derive(Clone, Debug)]
pub(super) struct BranchRun {
    job: JobId,
    row: usize,
    source: BranchSource,
}

/// A request to make the world in which a branch begins.
#[derive(Clone, Debug)]
pub enum BranchRequest {
    /// After a step of a log.
    Log(Rc<AuditReplay>, usize),
    /// At a version of an object that was observed.
    Version(Rc<CaseReading>, usize),
}

/// The world in which a branch begins.
#[derive(Clone, Debug)]
pub struct BranchStart {
    world: World,
    /// The number of other objects that the log names and the world does not have.
    missing: usize,
}

/// The making of a branch, in parts.
pub(crate) struct BranchWork {
    request: BranchRequest,
    /// The objects of a log, which are looked for.
    branching: Option<Branching>,
}

impl BranchRequest {
    /// Begins to look for the objects of a log; in place of an error the branch of a version, if there is one.
    fn begin_search(&self) -> Result<Branching, Option<BranchStart>> {
        match self {
            Self::Log(replay, row) => replay.history.branch(*row, &replay.log).ok_or(None),
            Self::Version(reading, row) => {
                let case = reading.case.at_version(*row);
                let installed = case.and_then(|case| case.install().ok());
                Err(installed.map(|it| BranchStart {
                    world: it.world,
                    missing: 0,
                }))
            }
        }
    }
}

/// The history from which a session branches off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchSource {
    /// An audit log.
    Log,
    /// The log of a running server.
    LiveLog,
    /// The versions of one object, brought or followed.
    Versions,
}

impl BranchSource {
    /// All, in the order of their numbers in the tab's storage.
    const ALL: [Self; 3] = [Self::Log, Self::LiveLog, Self::Versions];
}

/// The step of a recorded history after which a session begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchStep {
    /// The position of the step among those of its object.
    pub row: usize,
    /// The history.
    pub source: BranchSource,
    /// The number of objects of the log that the session does not have.
    pub missing: usize,
    /// The version of its object at the start.
    pub version: u64,
    /// Tells the session from others: a digest of its start.
    start: u64,
}

impl BranchStep {
    /// Returns whether a session begins here.
    fn begins(&self, start: &Start) -> bool {
        self.start == fnv_1a(&start.manifests)
    }

    fn to_text(self) -> String {
        let source = self.source as usize;
        let Self { row, missing, .. } = self;
        format!("{} {row} {missing} {source} {}", self.start, self.version)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split(' ').map(|number| number.parse::<u64>().ok());
        let mut next = || numbers.next().flatten();
        let start = next()?;
        let mut position = || usize::try_from(next()?).ok();
        Some(Self {
            start,
            row: position()?,
            missing: position()?,
            source: *BranchSource::ALL.get(position()?)?,
            version: next()?,
        })
    }
}

impl DiagnoseState {
    /// The request for the branch after the selected step of a recorded history, and what the history is.
    fn branch_request(&self) -> Option<(BranchRequest, BranchSource, usize)> {
        let step = self.selected_step()?;
        let (request, source) = match step.source {
            RecordedSource::AuditLog => {
                let run = self.audit.as_ref()?;
                let mut items = self.items.iter();
                let source = match items.any(|item| item.live && item.id == run.item) {
                    true => BranchSource::LiveLog,
                    false => BranchSource::Log,
                };
                (BranchRequest::Log(run.replay.clone()?, step.row), source)
            }
            RecordedSource::Versions => {
                let reading = Rc::clone(self.reading()?);
                let request = BranchRequest::Version(reading, step.row);
                (request, BranchSource::Versions)
            }
        };
        Some((request, source, step.row))
    }

    /// The job that makes a branch.
    pub(super) fn branch_job(&self) -> Option<JobId> {
        self.branching.as_ref().map(|run| run.job)
    }
}

impl BranchWork {
    pub(crate) fn new(request: BranchRequest) -> Self {
        Self {
            request,
            branching: None,
        }
    }
}

impl Work for BranchWork {
    fn advance(&mut self) -> Option<JobResult> {
        let start = match self.branching.take() {
            None => match self.request.begin_search() {
                Ok(begun) => {
                    self.branching = Some(begun);
                    return None;
                }
                Err(start) => start,
            },
            Some(mut branching) => {
                if branching.advance() {
                    self.branching = Some(branching);
                    return None;
                }
                branching.finish().map(|it| BranchStart {
                    world: it.world,
                    missing: it.missing,
                })
            }
        };
        Some(JobResult::Branch(start.map(Box::new)))
    }

    fn progress(&self) -> (usize, usize) {
        (0, 1)
    }
}

impl State {
    /// Begins to make a branch after the selected step of a recorded history.
    pub(super) fn begin_branch(&mut self, fx: &mut Effects<'_>) {
        let request = self.diagnose.branch_request();
        self.case().branching = request.map(|(request, source, row)| {
            let job = self.jobs.start(JobRequest::Branch(request), fx);
            BranchRun { job, row, source }
        });
    }

    /// Opens the branch that a job has made in Play, if there is one.
    pub(crate) fn branch_is_made(
        &mut self,
        id: JobId,
        start: Option<BranchStart>,
        fx: &mut Effects<'_>,
    ) {
        if self.diagnose.branch_job() != Some(id) {
            return;
        }
        let (Some(run), Some(start)) = (self.case().branching.take(), start) else {
            return;
        };
        let world = start.world;
        let point = BranchStep {
            row: run.row,
            source: run.source,
            missing: start.missing,
            version: world.stored().map_or(0, |(version, _)| version),
            start: fnv_1a(&world.start().manifests),
        };
        fx.write(StorageArea::Tab, BRANCH, Some(point.to_text()));
        self.branch = Some(point);
        self.open_in_play(HistoryTree::new(world), fx);
    }

    /// Finds the branch that the tab had before a reload.
    pub(crate) fn find_branch(&mut self, fx: &Effects<'_>) {
        let kept = fx.read(StorageArea::Tab, BRANCH);
        self.branch = kept.and_then(|text| BranchStep::parse(&text));
    }

    /// The step of a recorded history after which the session in Play begins; `None` if it begins otherwise.
    pub fn branch_point(&self) -> Option<BranchStep> {
        let point = self.branch.filter(|_| self.page == Page::Play)?;
        point.begins(self.world().start()).then_some(point)
    }
}
