//! A branch of a recorded history: a session in Play that begins with what the server had after a step, as far as the
//! history says it. Of the objects of the server, a log says those with requests, and a watch its object alone.

use std::cell::RefCell;
use std::rc::Rc;

use optimist_diagnose::audit::recorded::Branching;
use optimist_diagnose::case::Case;
use optimist_sessions::StorageArea;
use optimist_simulation::{HistoryTree, Start, World};

use super::{DiagnoseState, RecordedSource};
use crate::State;
use crate::address::Page;
use crate::effect::Effects;
use crate::persistence::fnv_1a;

/// The key of the last branch in the tab's storage.
const BRANCH: &str = "optimist.branch";

/// A branch that is being made.
#[derive(Clone, Debug)]
pub(super) struct BranchRun {
    /// Shared between the states of the page: only the last one goes on.
    stage: Rc<RefCell<Option<Stage>>>,
    row: usize,
    source: BranchSource,
}

/// The parts from which a branch is made.
#[derive(Debug)]
enum Stage {
    /// The objects of a log, which are looked for.
    Log(Box<Branching>),
    /// One object, at a version that was observed.
    Version(Box<Case>),
}

/// The world in which a branch begins, and the number of other objects that the log names and it does not have.
type Branch = (World, usize);

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
    /// Begins to make a branch after the selected step of a recorded history.
    pub(super) fn begin_branch(&mut self) {
        let begun = self.selected_step().and_then(|step| {
            let (stage, source) = match step.source {
                RecordedSource::AuditLog => self.log_stage(step.row)?,
                RecordedSource::Versions => {
                    let case = self.reading()?.case.at_version(step.row)?;
                    (Stage::Version(Box::new(case)), BranchSource::Versions)
                }
            };
            Some(BranchRun {
                stage: Rc::new(RefCell::new(Some(stage))),
                row: step.row,
                source,
            })
        });
        self.branching = begun;
    }

    fn log_stage(&self, row: usize) -> Option<(Stage, BranchSource)> {
        let run = self.audit.as_ref()?;
        let replay = run.replay.as_ref()?;
        let branching = replay.history.branch(row, &replay.log)?;
        let mut items = self.items.iter();
        let source = match items.any(|item| item.live && item.id == run.item) {
            true => BranchSource::LiveLog,
            false => BranchSource::Log,
        };
        Some((Stage::Log(Box::new(branching)), source))
    }
}

impl BranchRun {
    /// Looks a little further. The branch, once it is found.
    fn advance(&self) -> Option<Option<Branch>> {
        let mut stage = self.stage.borrow_mut();
        if let Some(Stage::Log(branching)) = stage.as_mut()
            && branching.advance()
        {
            return None;
        }
        Some(match stage.take() {
            Some(Stage::Log(branching)) => branching.finish().map(|it| (it.world, it.missing)),
            Some(Stage::Version(case)) => case.install().ok().map(|it| (it.world, 0)),
            None => None,
        })
    }
}

impl State {
    /// Makes the branch that is asked for, for a slice, and opens it in Play once it is there.
    pub(super) fn branch_further(&mut self, fx: &mut Effects<'_>) {
        let Some(run) = self.diagnose.branching.clone() else {
            return;
        };
        let Some(made) = fx.slice(|| run.advance()) else {
            return;
        };
        self.case().branching = None;
        let Some((world, missing)) = made else {
            return;
        };
        let point = BranchStep {
            row: run.row,
            source: run.source,
            missing,
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
