//! A branch of a log: a session in Play that begins with what the server had after a step.

use std::cell::RefCell;
use std::rc::Rc;

use optimist_diagnose::audit::recorded::{Branch, Branching};
use optimist_sessions::StorageArea;
use optimist_simulation::{HistoryTree, Start};

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
    stage: Rc<RefCell<Option<Branching>>>,
    row: usize,
    is_live: bool,
}

/// The step of a log after which a session begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchPoint {
    /// The position of the step among those of its object.
    pub row: usize,
    /// `true` for the log of a running server.
    pub is_live: bool,
    /// The number of objects of the log that the session does not have.
    pub missing: usize,
    /// Tells the session from others: a digest of its start.
    start: u64,
}

impl BranchPoint {
    fn new(row: usize, is_live: bool, branch: &Branch) -> Self {
        Self {
            row,
            is_live,
            missing: branch.missing,
            start: fnv_1a(&branch.world.start().manifests),
        }
    }

    /// Returns whether a session begins here.
    fn begins(&self, start: &Start) -> bool {
        self.start == fnv_1a(&start.manifests)
    }

    fn to_text(self) -> String {
        let live = u8::from(self.is_live);
        format!("{} {} {} {live}", self.start, self.row, self.missing)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split(' ').map(|number| number.parse::<u64>().ok());
        let mut next = || numbers.next().flatten();
        Some(Self {
            start: next()?,
            row: next()?.try_into().ok()?,
            missing: next()?.try_into().ok()?,
            is_live: next()? == 1,
        })
    }
}

impl DiagnoseState {
    /// Begins to make a branch after the selected step of the log.
    pub(super) fn begin_branch(&mut self) {
        let Some(step) = self.selected_step() else {
            return;
        };
        let (RecordedSource::AuditLog, Some(run)) = (step.source, &self.audit) else {
            return;
        };
        let branching = run.replay.as_ref();
        let branching = branching.and_then(|replay| replay.history.branch(step.row, &replay.log));
        let mut items = self.items.iter();
        let is_live = items.any(|item| item.live && item.id == run.item);
        self.branching = branching.map(|branching| BranchRun {
            stage: Rc::new(RefCell::new(Some(branching))),
            row: step.row,
            is_live,
        });
    }
}

impl BranchRun {
    /// Looks a little further. The branch, once it is found.
    fn advance(&self) -> Option<Option<Branch>> {
        let mut stage = self.stage.borrow_mut();
        if stage.as_mut().is_some_and(Branching::advance) {
            return None;
        }
        Some(stage.take().and_then(Branching::finish))
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
        let Some(branch) = made else {
            return;
        };
        let point = BranchPoint::new(run.row, run.is_live, &branch);
        fx.write(StorageArea::Tab, BRANCH, Some(point.to_text()));
        self.branch = Some(point);
        self.open_in_play(HistoryTree::new(branch.world), fx);
    }

    /// Finds the branch that the tab had before a reload.
    pub(crate) fn find_branch(&mut self, fx: &Effects<'_>) {
        let kept = fx.read(StorageArea::Tab, BRANCH);
        self.branch = kept.and_then(|text| BranchPoint::parse(&text));
    }

    /// The step of a log after which the session in Play begins; `None` if it begins otherwise.
    pub fn branch_point(&self) -> Option<BranchPoint> {
        let point = self.branch.filter(|_| self.page == Page::Play)?;
        point.begins(self.world().start()).then_some(point)
    }
}
