//! A case as Markdown, as it is shared: a job runs everything in it again, and writes it.

use std::cell::Cell;
use std::rc::Rc;

use optimist_sessions::{StorageArea, StorageContents};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::State;
use crate::diagnose::DiagnoseState;
use crate::effect::{Effects, Platform};
use crate::jobs::{JobId, JobQueue, JobReport, JobRequest, JobResult, Work};
use crate::share::ShareState;

/// Writes a case as Markdown, once everything in it has run. `true` if stand-ins replace its values.
pub type WriteReport = fn(&DiagnoseState, bool) -> String;

/// A request to write a case as Markdown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReportRequest {
    /// The case as links have it.
    case: Value,
    /// `true` if stand-ins replace its values.
    stand_ins: bool,
}

/// The Markdown of the shared case.
#[derive(Clone, Debug)]
pub enum CaseReport {
    /// A job writes it.
    Running(JobId),
    /// It is written.
    Done(Rc<str>),
}

impl ReportRequest {
    pub(crate) fn new(case: Value, stand_ins: bool) -> Self {
        Self { case, stand_ins }
    }

    /// The number of bytes of its texts.
    pub(crate) fn size(&self) -> usize {
        text_size(&self.case)
    }
}

/// The number of bytes of the texts of a case as links have it.
pub(crate) fn text_size(case: &Value) -> usize {
    let texts = case["texts"].as_array().into_iter().flatten();
    texts.filter_map(Value::as_str).map(str::len).sum()
}

/// The Markdown of a request, in parts.
pub(crate) struct ReportWork {
    case: DiagnoseState,
    stand_ins: bool,
    write: WriteReport,
    /// The job that the case waits for.
    jobs: JobQueue,
    clock: StepClock,
}

/// No browser, and a clock on which each part of the work takes a slice.
#[derive(Default)]
struct StepClock(Cell<f64>);

impl Platform for StepClock {
    fn now(&self) -> f64 {
        self.0.set(self.0.get() + 1000.0);
        self.0.get()
    }

    fn read(&self, _: StorageArea, _: &str) -> Option<String> {
        None
    }

    fn storages(&self) -> StorageContents {
        StorageContents::default()
    }
}

impl ReportWork {
    pub(crate) fn new(request: &ReportRequest, write: WriteReport) -> Self {
        let mut case = DiagnoseState::default();
        case.open_link(&request.case);
        Self {
            case,
            stand_ins: request.stand_ins,
            write,
            jobs: JobQueue::new(write),
            clock: StepClock::default(),
        }
    }
}

impl Work for ReportWork {
    fn advance(&mut self) -> Option<JobResult> {
        if self.case.works_in_slices() {
            self.case.work(&Effects::new(&self.clock));
            return None;
        }
        if let Some(request) = self.case.job_request(|| false) {
            self.case.wait_for(JobId::ONLY);
            self.jobs.start(JobId::ONLY, request, 0.0);
        }
        self.jobs.advance(0.0, &|| self.clock.now());
        match self.jobs.take_report() {
            Some((id, JobReport::Done(JobResult::AuditLog(log)))) => self.case.take_log(id, log),
            Some((id, JobReport::Done(JobResult::AuditReplay(it)))) => {
                self.case.take_replay(id, it);
            }
            _ => {}
        }
        if self.case.is_working() {
            return None;
        }
        Some(JobResult::Report((self.write)(&self.case, self.stand_ins)))
    }

    fn progress(&self) -> (usize, usize) {
        (0, 1)
    }
}

impl ShareState {
    /// Takes the Markdown of the case.
    pub(crate) fn take_report(&mut self, id: JobId, markdown: String) {
        if matches!(self.report, Some(CaseReport::Running(job)) if job == id) {
            self.report = Some(CaseReport::Done(markdown.into()));
        }
    }
}

impl State {
    /// Asks for the Markdown of a case as links have it.
    pub(crate) fn write_report(&mut self, case: Value, stand_ins: bool, fx: &mut Effects<'_>) {
        let request = JobRequest::Report(Box::new(ReportRequest::new(case, stand_ins)));
        self.share.report = Some(CaseReport::Running(self.jobs.start(request, fx)));
    }
}
