//! A case that is shared without its private values, or without all values of its objects.

use std::rc::Rc;

use optimist_diagnose::anonymize::WithoutValues;
use optimist_diagnose::without_private::WithoutPrivate;
use optimist_links::Session;
use serde::{Deserialize, Serialize};

use crate::State;
use crate::effect::Effects;
use crate::jobs::{JobId, JobRequest};
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
    /// The session for links.
    pub session: Session,
    /// The text of the session.
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
    fn texts(&self) -> (&[String], Withheld) {
        match self {
            Self::Private(found) => (&found.texts, Withheld::Private),
            Self::Values(found) => (&found.texts, Withheld::Values),
        }
    }

    /// Returns whether stand-ins replace all values, and the answers of the server are the same.
    pub fn has_stand_ins(&self) -> bool {
        matches!(self, Self::Values(found) if found.same)
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
        let found = self.diagnose.to_share();
        self.share.values = Some(match found {
            None => ValuesLeftOut::Empty,
            Some((texts, settings)) if all => {
                let request = JobRequest::Values(texts, settings);
                ValuesLeftOut::Searching(self.jobs.start(request, fx))
            }
            Some((texts, _)) => {
                ValuesLeftOut::Looking(self.jobs.start(JobRequest::Private(texts), fx))
            }
        });
    }

    /// Takes the case of which something is left out.
    pub(crate) fn values_left_out(&mut self, job: JobId, found: CaseLeftOut, fx: &mut Effects<'_>) {
        let waiting = self.share.values.as_ref().and_then(ValuesLeftOut::job);
        if waiting != Some(job) {
            return;
        }
        let (texts, withheld) = found.texts();
        let Some(session) = self.diagnose.with_texts(texts, withheld) else {
            self.share.values = Some(ValuesLeftOut::Empty);
            return;
        };
        self.write_report(session.extra.clone(), found.has_stand_ins(), fx);
        self.share.values = Some(ValuesLeftOut::Found(Rc::new(SharedCase {
            text: session.to_text().into(),
            session,
            found,
        })));
    }
}
