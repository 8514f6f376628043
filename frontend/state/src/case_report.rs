//! A case as Markdown, as it is shared: a job runs everything in it again, and writes it.

use std::collections::VecDeque;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::State;
use crate::diagnose::DiagnoseState;
use crate::effect::Effects;
use crate::jobs::{JobId, JobPart, JobRequest, JobResult, Work};
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
    /// A job writes it. These are the parts so far.
    Running(JobId, Vec<Rc<str>>),
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

/// The bytes of a part of the Markdown: the page takes one part after the other from a worker.
const PART: usize = 200_000;

/// The Markdown of a request, in parts.
pub(crate) struct ReportWork {
    run: CaseWork,
    stand_ins: bool,
    /// The parts that nobody has taken.
    written: VecDeque<JobPart>,
}

impl ReportWork {
    pub(crate) fn new(request: &ReportRequest, write: WriteReport) -> Self {
        let mut case = DiagnoseState::default();
        case.open_link(&request.case);
        Self {
            run: CaseWork::new(case, write),
            stand_ins: request.stand_ins,
            written: VecDeque::new(),
        }
    }
}

/// A text in parts of about [`PART`] bytes.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut ends = (PART..rest.len()).chain([rest.len()]);
        let end = ends.find(|end| rest.is_char_boundary(*end))?;
        let (part, after) = rest.split_at(end);
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

impl Work for ReportWork {
    fn advance(&mut self) -> Option<JobResult> {
        if self.run.advance() {
            return None;
        }
        let markdown = (self.run.write)(&self.run.case, self.stand_ins);
        let parts = parts(&markdown).map(str::to_owned).enumerate();
        self.written = parts.map(|(at, part)| JobPart::Report(at, part)).collect();
        Some(JobResult::Report)
    }

    fn take_part(&mut self) -> Option<JobPart> {
        self.written.pop_front()
    }

    fn progress(&self) -> (usize, usize) {
        (0, 1)
    }
}

impl ShareState {
    /// Takes a part of the Markdown of the case. A worker that failed has sent the first ones before.
    pub(crate) fn take_report_part(&mut self, id: JobId, position: usize, part: String) {
        if let Some(CaseReport::Running(job, parts)) = &mut self.report
            && *job == id
        {
            parts.truncate(position);
            parts.push(part.into());
        }
    }

    /// The Markdown of the case is written.
    pub(crate) fn end_report(&mut self, id: JobId) {
        if let Some(CaseReport::Running(job, parts)) = &self.report
            && *job == id
        {
            self.report = Some(CaseReport::Done(parts.concat().into()));
        }
    }
}

impl State {
    /// Asks for the Markdown of a case as links have it.
    pub(crate) fn write_report(&mut self, case: Value, stand_ins: bool, fx: &mut Effects<'_>) {
        let request = JobRequest::Report(Box::new(ReportRequest::new(case, stand_ins)));
        let job = self.jobs.start(request, fx);
        self.share.report = Some(CaseReport::Running(job, Vec::new()));
    }
}

#[cfg(test)]
mod tests {
    use super::{PART, parts};

    #[test]
    fn parts_are_short_and_no_character_is_divided_or_lost() {
        for text in ["", "short", &"\u{20ac}".repeat(PART), &"a".repeat(PART)] {
            let found: Vec<&str> = parts(text).collect();
            assert_eq!(found.concat(), text);
            assert!(found.iter().all(|part| part.len() <= PART + 3));
            assert_eq!(found.len(), text.len().div_ceil(PART));
        }
    }
}
