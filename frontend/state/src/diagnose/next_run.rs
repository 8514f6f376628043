//! The options of a client after "the object has been modified": a job runs one after the other.

use std::collections::VecDeque;
use std::rc::Rc;

use optimist_client::WriteMethod;
use optimist_diagnose::case::Installed;
use optimist_diagnose::modified::{NEXT, NextAttempt, attempt};
use optimist_diagnose::ways::Instruction;
use optimist_simulation::HistoryTree;

use super::reading::CaseReading;
use crate::jobs::{JobId, JobPart, JobResult, Work};

/// The options of a client whose Update was refused.
#[derive(Clone, Debug)]
pub struct NextRun {
    /// The request for a job that runs them; `None` once it has ended.
    request: Option<NextWritesRequest>,
    job: Option<JobId>,
    /// The results so far.
    pub done: Vec<Rc<NextOutcome>>,
}

/// A request to run the options of a client.
#[derive(Clone, Debug)]
pub struct NextWritesRequest {
    installed: Rc<Installed>,
    /// The subresource that the refused write went to.
    subresource: Option<String>,
}

/// The result of an option.
#[derive(Clone, Debug)]
pub struct NextOutcome {
    /// The write.
    pub attempt: NextAttempt,
    /// The way with kubectl, command by command.
    pub commands: Vec<Instruction>,
    /// Its code in Go.
    pub go: Option<String>,
}

impl NextRun {
    /// The run for an object; `None` if no error message says that a client has to
    /// repeat its change.
    pub(super) fn start(reading: &CaseReading) -> Option<Self> {
        let mut errors = reading.case.errors.iter();
        let refused = errors.find(|error| error.is_for_redo())?;
        let installed = reading.installed.as_ref().ok()?;
        installed.object()?;
        Some(Self {
            request: Some(NextWritesRequest {
                installed: Rc::new(installed.clone()),
                subresource: refused.object.subresource.clone(),
            }),
            job: None,
            done: Vec::new(),
        })
    }

    /// Returns whether an option is left to run.
    pub fn is_running(&self) -> bool {
        self.request.is_some()
    }

    /// The job that runs them.
    pub(super) fn job(&self) -> Option<JobId> {
        self.job
    }

    /// The request for a job, which then runs them.
    pub(super) fn begin_job(&mut self, job: JobId) -> Option<NextWritesRequest> {
        self.job = Some(job);
        self.request.clone()
    }

    /// All options are run.
    pub(super) fn end(&mut self) {
        self.request = None;
        self.job = None;
    }

    /// The history of a next write, for Play.
    pub(super) fn history(&self, method: WriteMethod) -> Option<HistoryTree> {
        let found = self.done.iter().find(|one| one.attempt.method == method)?;
        Some(found.attempt.history.clone())
    }
}

/// The options of a request, one after the other.
pub(crate) struct NextWork {
    request: NextWritesRequest,
    left: VecDeque<WriteMethod>,
    /// The results that nobody has taken.
    found: VecDeque<Rc<NextOutcome>>,
}

impl NextWork {
    pub(crate) fn new(request: NextWritesRequest) -> Self {
        Self {
            request,
            left: NEXT.into(),
            found: VecDeque::new(),
        }
    }
}

impl Work for NextWork {
    fn advance(&mut self) -> Option<JobResult> {
        let Some(method) = self.left.pop_front() else {
            return Some(JobResult::Next);
        };
        if let Some(attempt) = attempt(&self.request.installed, method) {
            self.found.push_back(Rc::new(NextOutcome {
                commands: attempt.commands(self.request.subresource.as_deref()),
                go: attempt.go(),
                attempt,
            }));
        }
        None
    }

    fn take_part(&mut self) -> Option<JobPart> {
        self.found.pop_front().map(JobPart::Next)
    }

    fn progress(&self) -> (usize, usize) {
        (NEXT.len() - self.left.len(), NEXT.len())
    }
}
