//! A case that is shared without its private values, or without all values of its objects.

use std::rc::Rc;

use optimist_diagnose::anonymize::{CaseSettings, ValueSearch, WithoutValues};
use optimist_diagnose::without_private::{PrivateSearch, WithoutPrivate};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::State;
use crate::case_report::{CaseReport, ReportRequest, ReportWork, WriteReport, text_size};
use crate::diagnose::case_session;
use crate::effect::Effects;
use crate::jobs::{JobId, JobPart, JobRequest, JobResult, Work};
use crate::share::Withheld;

/// The most characters of a case whose values can be left out: its answers are computed again and
/// again.
pub const MAX_SEARCHED: usize = 1_000_000;

/// The most characters of a case that can be searched for values that look private: a link with
/// more does not open.
pub const MAX_LOOKED_THROUGH: usize = 16_000_000;

/// A case of which something is left out, and how far it is.
#[derive(Clone, Debug)]
pub enum ValuesLeftOut {
    /// The search for private values is running.
    Looking(JobId),
    /// The answers with and without values are compared.
    Searching(JobId),
    /// The values that stay are known.
    Found(Rc<SharedCase>),
    /// Nothing is left of the case.
    Empty,
    /// The case has more than this many characters.
    TooLarge(usize),
}

/// A case of which something is left out.
#[derive(Clone, Debug)]
pub struct SharedCase {
    /// The text of its session.
    pub text: Rc<str>,
    /// The values that were left out.
    pub found: CaseLeftOut,
}

/// The values that were left out of a case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum CaseLeftOut {
    /// The values that look private.
    Private(WithoutPrivate),
    /// The values of the objects.
    Values(WithoutValues),
}

impl CaseLeftOut {
    /// Takes the texts, without the values.
    fn take_texts(&mut self) -> Vec<String> {
        std::mem::take(match self {
            Self::Private(found) => &mut found.texts,
            Self::Values(found) => &mut found.texts,
        })
    }

    /// Returns whether stand-ins replace all values, and the answers of the server are the same.
    pub fn has_stand_ins(&self) -> bool {
        matches!(self, Self::Values(found) if found.same)
    }
}

/// The text of a session for links, with the values that were left out of it.
pub type LinkedCase = (String, CaseLeftOut);

/// A request to leave values out of a case, and to write what is left of it as a link and as Markdown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LeaveOutRequest {
    /// The case as links have it, with its values.
    case: Value,
    /// The settings to compare its answers with, if all values are left out; else the private ones are.
    settings: Option<CaseSettings>,
}

impl LeaveOutRequest {
    /// The number of bytes of its texts.
    pub(crate) fn size(&self) -> usize {
        text_size(&self.case)
    }
}

/// The work on a [`LeaveOutRequest`], in parts.
pub(crate) struct LeaveOutWork {
    case: Value,
    stage: LeaveOutStage,
    /// The rest of the case, until somebody takes it.
    left: Option<Option<LinkedCase>>,
    write: WriteReport,
}

enum LeaveOutStage {
    Private(Box<PrivateSearch>),
    Values(Box<ValueSearch>),
    Report(Box<ReportWork>),
    /// Nothing is left of the case.
    Empty,
}

impl LeaveOutWork {
    pub(crate) fn new(request: LeaveOutRequest, write: WriteReport) -> Self {
        let texts = request.case["texts"].as_array().into_iter().flatten();
        let texts: Vec<String> = texts
            .filter_map(|it| Some(it.as_str()?.to_owned()))
            .collect();
        Self {
            case: request.case,
            stage: match request.settings {
                None => LeaveOutStage::Private(Box::new(PrivateSearch::new(&texts))),
                Some(settings) => {
                    LeaveOutStage::Values(Box::new(ValueSearch::new(&texts, &settings)))
                }
            },
            left: None,
            write,
        }
    }

    /// Writes the link, and begins to write the Markdown.
    fn take_found(&mut self, mut found: CaseLeftOut) {
        self.case["texts"] = found.take_texts().into();
        let stand_ins = found.has_stand_ins();
        let session = case_session(std::mem::take(&mut self.case));
        self.stage = match &session {
            Some(session) => {
                let report = ReportRequest::new(session.extra.clone(), stand_ins);
                LeaveOutStage::Report(Box::new(ReportWork::new(&report, self.write)))
            }
            None => LeaveOutStage::Empty,
        };
        self.left = Some(session.map(|session| (session.to_text(), found)));
    }
}

impl Work for LeaveOutWork {
    fn advance(&mut self) -> Option<JobResult> {
        let found = match &mut self.stage {
            LeaveOutStage::Private(search) => match search.advance() {
                true => return None,
                false => CaseLeftOut::Private(search.result().cloned().unwrap_or_default()),
            },
            LeaveOutStage::Values(search) => match search.advance() {
                true => return None,
                false => CaseLeftOut::Values(search.result()?),
            },
            LeaveOutStage::Report(report) => return report.advance(),
            LeaveOutStage::Empty => return Some(JobResult::Report),
        };
        self.take_found(found);
        None
    }

    fn take_part(&mut self) -> Option<JobPart> {
        let left = self.left.take().map(JobPart::LeftOut);
        left.or_else(|| match &mut self.stage {
            LeaveOutStage::Report(report) => report.take_part(),
            _ => None,
        })
    }

    /// The number of compared cases is known, and not the number that is left.
    fn progress(&self) -> (usize, usize) {
        match &self.stage {
            LeaveOutStage::Values(search) => (search.attempts(), search.attempts() + 1),
            _ => (0, 1),
        }
    }
}

impl ValuesLeftOut {
    /// The job that leaves them out; `None` once it has ended.
    pub(crate) fn job(&self) -> Option<JobId> {
        match self {
            Self::Looking(job) | Self::Searching(job) => Some(*job),
            Self::Found(_) | Self::Empty | Self::TooLarge(_) => None,
        }
    }
}

impl State {
    /// Begins to leave values out of the case, or to write all of it as Markdown. A case that is too large is not even
    /// read.
    pub(crate) fn leave_values_out(&mut self, what: Withheld, fx: &mut Effects<'_>) {
        if what == Withheld::Nothing {
            if let Some(session) = self.case_session() {
                self.write_report(session.extra, false, fx);
            }
            return;
        }
        let all = what == Withheld::Values;
        let limit = if all {
            MAX_SEARCHED
        } else {
            MAX_LOOKED_THROUGH
        };
        if self.diagnose.size() > limit {
            self.share.values = Some(ValuesLeftOut::TooLarge(limit));
            return;
        }
        let Some((case, settings)) = self.diagnose.to_share(what) else {
            self.share.values = Some(ValuesLeftOut::Empty);
            return;
        };
        let request = LeaveOutRequest {
            case,
            settings: all.then_some(settings),
        };
        let job = self.jobs.start(JobRequest::LeaveOut(Box::new(request)), fx);
        self.share.values = Some(match all {
            true => ValuesLeftOut::Searching(job),
            false => ValuesLeftOut::Looking(job),
        });
    }

    /// Takes what is left of the case without the values. The job goes on with its Markdown.
    pub(crate) fn values_left_out(&mut self, job: JobId, left: Option<LinkedCase>) {
        let waiting = self.share.values.as_ref().and_then(ValuesLeftOut::job);
        if waiting != Some(job) {
            return;
        }
        self.share.values = Some(match left {
            Some((text, found)) => {
                self.share.report = Some(CaseReport::Running(job, Vec::new()));
                let text = text.into();
                ValuesLeftOut::Found(Rc::new(SharedCase { text, found }))
            }
            None => ValuesLeftOut::Empty,
        });
    }
}
