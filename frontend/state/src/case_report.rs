//! A case as Markdown, as it is shared: a job runs everything in it again, and writes it.

use std::rc::Rc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::State;
use crate::diagnose::DiagnoseState;
use crate::effect::Effects;
use crate::jobs::{JobId, JobRequest, JobResult, Work};
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

/// The reading and running of a case outside of the page, in parts.
pub(crate) struct CaseWork {
    pub(crate) case: DiagnoseState,
    write: WriteReport,
    /// The part that is being done.
    part: Option<Box<dyn Work>>,
}

impl CaseWork {
    pub(crate) fn new(case: DiagnoseState, write: WriteReport) -> Self {
        Self {
            case,
            write,
            part: None,
        }
    }

    /// Does a little. Returns whether there is more.
    pub(crate) fn advance(&mut self) -> bool {
        let Some(part) = &mut self.part else {
            let request = self.case.begin_job(JobId::ONLY, || false);
            self.part = request.map(|request| request.into_work(self.write));
            return self.part.is_some();
        };
        let done = part.advance();
        while let Some(found) = part.take_part() {
            self.case.take_part(found);
        }
        if let Some(result) = done {
            self.part = None;
            self.case.take_result(result);
        }
        true
    }
}

/// The Markdown of a request, in parts.
pub(crate) struct ReportWork {
    run: CaseWork,
    stand_ins: bool,
}

impl ReportWork {
    pub(crate) fn new(request: &ReportRequest, write: WriteReport) -> Self {
        let mut case = DiagnoseState::default();
        case.open_link(&request.case);
        Self {
            run: CaseWork::new(case, write),
            stand_ins: request.stand_ins,
        }
    }
}

impl Work for ReportWork {
    fn advance(&mut self) -> Option<JobResult> {
        if self.run.advance() {
            return None;
        }
        let markdown = (self.run.write)(&self.run.case, self.stand_ins);
        Some(JobResult::Report(markdown))
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
