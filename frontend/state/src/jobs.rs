//! Long work as jobs: one mechanism for everything that takes longer than a frame.
//!
//! The state asks for a job by [`BrowserEffect::StartJob`] and keeps its number. Whoever performs the effect
//! runs the job in a [`JobQueue`] and sends what it reports back as [`Msg::Job`](crate::Msg::Job): the
//! page in slices, a worker of the page, a test. A request that is data can go to a worker
//! ([`JobMsg`]); the result of any other one is too large to travel, and stays in the page.

use std::collections::{BTreeMap, VecDeque};
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::sync::Arc;

use optimist_diagnose::audit::AuditLog;
use optimist_diagnose::preview::{Preview, PreviewRun};
use optimist_lesson::SwitchFinding;
use optimist_links::{Replay, Session, ShareError};
use optimist_simulation::HistoryTree;
use optimist_simulation::explore::{Search, SearchStatus};
use serde::{Deserialize, Serialize};

use crate::State;
use crate::case_report::{ReportRequest, ReportWork, WriteReport};
use crate::diagnose::{
    AuditReplay, AuditRequest, AuditWork, BranchRequest, BranchStart, BranchWork, CaseReading,
    FoundObject, NextOutcome, NextWork, NextWritesRequest, ObjectsRequest, ObjectsWork, ReadItem,
    ReadWork, TablePart, TableRequest, TableWork,
};
use crate::effect::{BrowserEffect, Effects, slice};
use crate::learn::{SwitchesRequest, SwitchesWork};
use crate::orders::{MOST_STATES, OrdersFinding, OrdersRequest, OrdersWork};
use crate::without_values::{LeaveOutRequest, LeaveOutWork, LinkedCase};

/// The least time between two reports of a job's progress, in milliseconds: each draws the page again.
const REPORTING: f64 = 100.0;

/// The bytes of a case that a worker gets. A shorter one takes less time than the start of the worker. To write and read
/// a longer one as a message would hold the page.
const WORTH_SENDING: RangeInclusive<usize> = 50_000..=4_000_000;

/// Returns whether a worker gets a case of this size, in bytes.
pub(crate) fn is_worth_sending(bytes: usize) -> bool {
    WORTH_SENDING.contains(&bytes)
}

/// The number of a job. It never comes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct JobId(u32);

impl JobId {
    /// The only one of a queue that has one job after the other.
    pub(crate) const ONLY: Self = Self(0);
}

/// A request for long work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum JobRequest {
    /// Search every order of a controller's steps and an editor's request.
    Orders(OrdersRequest),
    /// Perform the steps of a session again. Its result stays in the page.
    #[serde(skip)]
    Replay(Box<Session>),
    /// Search every order of the requests of a challenge.
    #[serde(skip)]
    Challenge(Box<Search>),
    /// Search every history of a controller with the chosen switches.
    Switches(SwitchesRequest),
    /// Leave values out of a case, and write the rest as a link and as Markdown.
    LeaveOut(Box<LeaveOutRequest>),
    /// Read a text of a case: only the objects in it travel.
    Read(String),
    /// Read a text of a case, whatever it is.
    #[serde(skip)]
    ReadInPage(Rc<str>),
    /// Read the facts about each object of a case.
    #[serde(skip)]
    Objects(Rc<ObjectsRequest>),
    /// Run the options of a client after "the object has been modified".
    #[serde(skip)]
    Next(NextWritesRequest),
    /// Run the preview of all objects of a case.
    #[serde(skip)]
    Preview(Rc<PreviewRun>),
    /// Write a case as Markdown, once everything in it has run.
    Report(Box<ReportRequest>),
    /// Run every way of writing for an object of a case.
    Table(Box<TableRequest>),
    /// Read or replay an audit log of a case.
    #[serde(skip)]
    Audit(AuditRequest),
    /// Make the start of a branch of a recorded history.
    #[serde(skip)]
    Branch(BranchRequest),
}

/// A report of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum JobReport {
    /// The number of parts that are done, and the number of all parts.
    Progress(usize, usize),
    /// A part of the result.
    Part(JobPart),
    /// The result. The job has ended.
    Done(JobResult),
}

/// A part of the result of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum JobPart {
    /// An object, for [`JobRequest::Read`].
    Object(FoundObject),
    /// A thing, for [`JobRequest::ReadInPage`].
    #[serde(skip)]
    Item(Box<ReadItem>),
    /// The result of an option, for [`JobRequest::Next`].
    #[serde(skip)]
    Next(Rc<NextOutcome>),
    /// A part of the rows, for [`JobRequest::Table`].
    Table(TablePart),
    /// The rest of a case, for [`JobRequest::LeaveOut`]; `None` for nothing.
    LeftOut(Option<LinkedCase>),
    /// The position of a part of the Markdown and the part, for [`JobRequest::Report`] and [`JobRequest::LeaveOut`].
    Report(usize, String),
}

/// The result of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum JobResult {
    /// The result of [`JobRequest::Orders`].
    Orders(OrdersFinding),
    /// The result of [`JobRequest::Replay`]: the history, or why a step is not possible.
    #[serde(skip)]
    Replayed(Result<Rc<HistoryTree>, ShareError>),
    /// The result of [`JobRequest::Challenge`].
    #[serde(skip)]
    Challenge(Box<Search>),
    /// The result of [`JobRequest::Switches`]; `None` if the lesson has no ready program.
    Switches(Option<SwitchFinding>),
    /// The end of [`JobRequest::Read`] and [`JobRequest::ReadInPage`]: `false` if the text has something else than
    /// objects, or nothing, and the page has to read it. What it has came in parts.
    Read(bool),
    /// The result of [`JobRequest::Objects`].
    #[serde(skip)]
    Objects(Vec<Rc<CaseReading>>),
    /// The end of [`JobRequest::Next`].
    #[serde(skip)]
    Next,
    /// The result of [`JobRequest::Preview`].
    #[serde(skip)]
    Preview(Rc<Preview>),
    /// The end of [`JobRequest::Report`] and of [`JobRequest::LeaveOut`]. The Markdown came in parts.
    Report,
    /// The end of [`JobRequest::Table`]: `false` if the case has no table. The table came in parts.
    Table(bool),
    /// The result of [`AuditRequest::Read`].
    #[serde(skip)]
    AuditLog(Arc<AuditLog>),
    /// The result of [`AuditRequest::Replay`].
    #[serde(skip)]
    AuditReplay(Rc<AuditReplay>),
    /// The result of [`JobRequest::Branch`]: `None` if there is none.
    #[serde(skip)]
    Branch(Option<Box<BranchStart>>),
}

/// A message to a worker of the page.
#[derive(Debug, Serialize, Deserialize)]
pub enum JobMsg {
    /// Start a job.
    Start(JobId, JobRequest),
    /// Stop a job.
    Cancel(JobId),
}

/// A message of a worker to the page.
#[derive(Debug, Serialize, Deserialize)]
pub enum WorkerMsg {
    /// The worker listens.
    Ready,
    /// A job reports.
    Report(JobId, JobReport),
}

/// Work that is done in parts.
pub(crate) trait Work {
    /// Does the next part. Returns the result after the last one.
    fn advance(&mut self) -> Option<JobResult>;

    /// Takes the next part of the result that is known already.
    fn take_part(&mut self) -> Option<JobPart> {
        None
    }

    /// The number of parts that are done, and the number of all parts.
    fn progress(&self) -> (usize, usize);
}

impl JobRequest {
    /// The progress before the first part.
    fn progress(&self) -> (usize, usize) {
        match self {
            Self::Orders(_) => (0, MOST_STATES),
            Self::Replay(session) => (0, session.steps()),
            Self::Audit(request) => request.progress(),
            Self::Preview(run) => run.progress(),
            _ => (0, 1),
        }
    }

    /// Returns whether a worker does it, if there is one: it is data, and worth the message.
    pub fn can_travel(&self) -> bool {
        match self {
            Self::Orders(_) | Self::Switches(_) => true,
            Self::LeaveOut(request) => is_worth_sending(request.size()),
            Self::Read(text) => is_worth_sending(text.len()),
            Self::Report(request) => is_worth_sending(request.size()),
            Self::Table(request) => is_worth_sending(request.size()),
            Self::Replay(_)
            | Self::Challenge(_)
            | Self::ReadInPage(_)
            | Self::Objects(_)
            | Self::Next(_)
            | Self::Preview(_)
            | Self::Audit(_)
            | Self::Branch(_) => false,
        }
    }

    pub(crate) fn into_work(self, write: WriteReport) -> Box<dyn Work> {
        match self {
            Self::Orders(request) => Box::new(OrdersWork::new(request)),
            Self::Replay(session) => Box::new(session.replay()),
            Self::Challenge(search) => Box::new(ChallengeWork(Some(search))),
            Self::Switches(request) => Box::new(SwitchesWork::new(&request)),
            Self::LeaveOut(request) => Box::new(LeaveOutWork::new(*request, write)),
            Self::Read(text) => Box::new(ReadWork::new(text)),
            Self::ReadInPage(text) => Box::new(ReadWork::in_page(&text)),
            Self::Objects(request) => Box::new(ObjectsWork::new(request)),
            Self::Next(request) => Box::new(NextWork::new(request)),
            Self::Preview(run) => Box::new(Rc::unwrap_or_clone(run)),
            Self::Report(request) => Box::new(ReportWork::new(&request, write)),
            Self::Table(request) => Box::new(TableWork::new(*request)),
            Self::Audit(request) => Box::new(AuditWork::new(request)),
            Self::Branch(request) => Box::new(BranchWork::new(request)),
        }
    }
}

impl Work for Replay {
    fn advance(&mut self) -> Option<JobResult> {
        let done = Replay::advance(self, 1).transpose()?;
        Some(JobResult::Replayed(done.map(Rc::new)))
    }

    fn progress(&self) -> (usize, usize) {
        Replay::progress(self)
    }
}

/// The search of a challenge; `None` once it has ended.
struct ChallengeWork(Option<Box<Search>>);

impl Work for ChallengeWork {
    fn advance(&mut self) -> Option<JobResult> {
        let mut search = self.0.take()?;
        if search.advance(8) == SearchStatus::Running {
            self.0 = Some(search);
            return None;
        }
        Some(JobResult::Challenge(search))
    }

    fn progress(&self) -> (usize, usize) {
        (0, 1)
    }
}

/// A job that is running.
struct Job {
    id: JobId,
    work: Box<dyn Work>,
    /// The time of its last report.
    reported: f64,
}

/// The jobs that run in one place, each for a slice in turn. A report waits until somebody takes it: a job
/// can end before anybody listens, because a page that draws for long registers its listeners after that.
pub struct JobQueue {
    write: WriteReport,
    jobs: VecDeque<Job>,
    /// The reports that nobody has taken: of each job its parts and the last other one.
    reports: VecDeque<(JobId, JobReport)>,
}

impl JobQueue {
    /// A queue without jobs. `write` writes a case as Markdown.
    pub fn new(write: WriteReport) -> Self {
        Self {
            write,
            jobs: VecDeque::new(),
            reports: VecDeque::new(),
        }
    }

    /// Starts a job behind the others.
    pub fn start(&mut self, id: JobId, request: JobRequest, now: f64) {
        self.jobs.push_back(Job {
            id,
            work: request.into_work(self.write),
            reported: now,
        });
    }

    /// Stops a job. It reports nothing any more.
    pub fn cancel(&mut self, id: JobId) {
        self.jobs.retain(|job| job.id != id);
        self.reports.retain(|(of, _)| *of != id);
    }

    /// Returns whether no job is left.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Returns whether there are reports that nobody has taken.
    pub fn has_reports(&self) -> bool {
        !self.reports.is_empty()
    }

    /// Works on the next job for `budget` milliseconds. The last part may take longer.
    pub fn advance(&mut self, budget: f64, now: &dyn Fn() -> f64) {
        let Some(mut job) = self.jobs.pop_front() else {
            return;
        };
        let done = slice(budget, now, || job.work.advance());
        while let Some(part) = job.work.take_part() {
            self.report(job.id, JobReport::Part(part));
        }
        if let Some(done) = done {
            return self.report(job.id, JobReport::Done(done));
        }
        if now() - job.reported >= REPORTING {
            job.reported = now();
            let (done, all) = job.work.progress();
            self.report(job.id, JobReport::Progress(done, all));
        }
        self.jobs.push_back(job);
    }

    /// Adds a report, in the place of an earlier one of the same job that is no part of its result: of a job in a
    /// worker too.
    pub fn report(&mut self, id: JobId, report: JobReport) {
        let stays = |report: &JobReport| matches!(report, JobReport::Part(_));
        self.reports.retain(|(of, it)| *of != id || stays(it));
        self.reports.push_back((id, report));
    }

    /// Takes the next report.
    pub fn take_report(&mut self) -> Option<(JobId, JobReport)> {
        self.reports.pop_front()
    }
}

/// The jobs that the state waits for.
#[derive(Clone, Debug, Default)]
pub struct Jobs {
    last: u32,
    /// The progress of each.
    running: BTreeMap<JobId, (usize, usize)>,
}

impl Jobs {
    /// Asks for a job.
    pub(crate) fn start(&mut self, request: JobRequest, fx: &mut Effects<'_>) -> JobId {
        let id = self.next();
        self.start_as(id, request, fx);
        id
    }

    /// The number of the next job.
    pub(crate) fn next(&mut self) -> JobId {
        self.last += 1;
        JobId(self.last)
    }

    /// Asks for a job with a number that was kept for it.
    pub(crate) fn start_as(&mut self, id: JobId, request: JobRequest, fx: &mut Effects<'_>) {
        self.running.insert(id, request.progress());
        fx.push(BrowserEffect::StartJob(id, Box::new(request)));
    }

    /// Stops all jobs but these.
    fn keep_only(&mut self, wanted: &[JobId], fx: &mut Effects<'_>) {
        let running = self.running.keys().copied();
        for id in running
            .filter(|id| !wanted.contains(id))
            .collect::<Vec<_>>()
        {
            self.running.remove(&id);
            fx.push(BrowserEffect::CancelJob(id));
        }
    }

    /// The progress of a job; `None` if it has ended.
    pub fn progress(&self, id: JobId) -> Option<(usize, usize)> {
        self.running.get(&id).copied()
    }

    /// Returns whether a job is running.
    pub fn is_running(&self, id: JobId) -> bool {
        self.running.contains_key(&id)
    }

    /// Returns whether no job is running.
    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }
}

impl State {
    /// Stops the jobs whose results nothing waits for any more.
    pub(crate) fn stop_unwanted_jobs(&mut self, fx: &mut Effects<'_>) {
        if self.jobs.is_empty() {
            return;
        }
        let shared = self.share.jobs();
        let learned = self.learn.jobs();
        let orders = self.orders().map(|orders| orders.job);
        let case = self.diagnose.jobs();
        let wanted: Vec<JobId> = shared.chain(learned).chain(orders).chain(case).collect();
        self.jobs.keep_only(&wanted, fx);
    }

    /// Takes the report of a job. The report of a job that was stopped may come late.
    pub(crate) fn take_report(&mut self, id: JobId, report: JobReport, fx: &mut Effects<'_>) {
        let Some(progress) = self.jobs.running.get_mut(&id) else {
            return;
        };
        let result = match report {
            JobReport::Progress(done, all) => {
                *progress = (done, all);
                return;
            }
            JobReport::Part(JobPart::LeftOut(left)) => return self.values_left_out(id, left),
            JobReport::Part(JobPart::Report(at, part)) => {
                return self.share.take_report_part(id, at, part);
            }
            JobReport::Part(part) => return self.take_case_part(id, part),
            JobReport::Done(result) => result,
        };
        self.jobs.running.remove(&id);
        match result {
            JobResult::Orders(found) => self.orders_found(id, found),
            JobResult::Replayed(tree) => self.replayed(id, tree, fx),
            JobResult::Challenge(search) => self.challenge_searched(id, &search, fx),
            JobResult::Switches(found) => self.switches_searched(id, found, fx),
            JobResult::Report => self.share.end_report(id),
            JobResult::Branch(start) => self.branch_is_made(id, start.map(|it| *it), fx),
            result => self.take_case_result(id, result, fx),
        }
    }

    /// Takes a session that was performed again to where it is waited for.
    fn replayed(
        &mut self,
        id: JobId,
        tree: Result<Rc<HistoryTree>, ShareError>,
        fx: &mut Effects<'_>,
    ) {
        if self.share.opening.is_job(id) {
            self.opened(tree, fx);
        } else if self.learn.is_reopened_by(id) {
            self.reopened(tree, fx);
        } else {
            self.redacted_is_replayed(id, tree);
        }
    }
}
