//! An audit log: a job reads it, and another one replays and searches it for one of its objects.

use std::rc::Rc;
use std::sync::Arc;

use optimist_apiserver::server::{Fact, Release};
use optimist_diagnose::audit::findings::{Findings, PartialFindings};
use optimist_diagnose::audit::recorded::{CoreAnswer, RecordedHistory, RecordedStep};
use optimist_diagnose::audit::{AuditLog, AuditReader, AuditedObject};
use optimist_diagnose::lanes::RecordedLanes;
use optimist_diagnose::observed::FieldChange;
use optimist_masking::{MASK, masked};
use serde_json::Value;

use super::DiagnoseState;
use super::read_work::BYTES;
use super::recorded::manager_names;
use crate::jobs::{JobId, JobResult, Work};

/// An audit log that is read, then replayed for one of its objects.
#[derive(Clone, Debug)]
pub struct AuditRun {
    /// The thing of the case that the log is.
    pub(super) item: u32,
    /// The log, as far as it is read.
    log: Arc<AuditLog>,
    next: AuditPart,
    /// The job that does the next part; `None` before it begins.
    job: Option<JobId>,
    /// The objects of the log with their writes, those with the most first.
    pub objects: Rc<Vec<(AuditedObject, usize)>>,
    /// The position of the object that is looked at.
    pub chosen: usize,
    /// The replay of one object, once it is complete.
    pub replay: Option<Rc<AuditReplay>>,
    /// `true` if the user stopped the search.
    pub cancelled: bool,
    /// The object to look at once the log is read, before [`AuditRun::chosen`].
    wanted: Option<AuditedObject>,
    /// The object to look at as soon as the log has a request about it.
    expected: Option<AuditedObject>,
    /// The lines of a growing log that are read next.
    more: String,
}

/// The history of one object of a log.
#[derive(Debug)]
pub struct AuditReplay {
    /// The log.
    pub log: Arc<AuditLog>,
    /// The steps, with the core run beside them.
    pub history: RecordedHistory,
    /// The findings on it. Values that look private are masked.
    pub findings: Findings,
    /// The steps in lanes.
    pub lanes: RecordedLanes,
    /// The names of all managers. Their positions choose their colours and patterns.
    pub manager_names: Rc<Vec<String>>,
}

/// The part of the work that is next.
#[derive(Clone, Debug)]
enum AuditPart {
    /// These lines are to be read.
    Read(Arc<str>),
    /// The object that is looked at is to be replayed.
    Replay,
    Done,
}

/// A request for a part of the work on a log.
#[derive(Clone, Debug)]
pub enum AuditRequest {
    /// Read these lines after the log so far.
    Read(Arc<AuditLog>, Arc<str>),
    /// Replay an object, after the requests of an earlier replay if the log goes on from it.
    Replay(Arc<AuditLog>, AuditedObject, Option<Rc<AuditReplay>>),
}

/// The work on a log, in parts.
pub(crate) struct AuditWork {
    stage: AuditStage,
    /// The replay of the same object that is known.
    known: Option<Rc<AuditReplay>>,
}

enum AuditStage {
    Reading(AuditReader),
    Replaying(Arc<AuditLog>, Box<RecordedHistory>, usize),
    Searching(Arc<AuditLog>, Box<RecordedHistory>, Box<PartialFindings>),
    Masking(Box<PartialReplay>),
}

/// An [`AuditReplay`] whose values that look private are masked in parts: each is about one step.
#[derive(Debug)]
struct PartialReplay {
    log: Arc<AuditLog>,
    history: RecordedHistory,
    findings: Findings,
    lanes: RecordedLanes,
    /// The number of changes, of lost updates and of answers that are masked.
    changes: usize,
    lost: usize,
    answers: usize,
}

impl AuditRun {
    pub(super) fn new(item: u32, text: &Arc<str>, chosen: usize) -> Self {
        Self {
            item,
            log: Arc::default(),
            next: AuditPart::Read(Arc::clone(text)),
            job: None,
            objects: Rc::default(),
            chosen,
            replay: None,
            cancelled: false,
            wanted: None,
            expected: None,
            more: String::new(),
        }
    }

    /// Shows the result of an earlier part of the log, until this one is read, and then the same
    /// object.
    pub(super) fn continuing(self, earlier: &Self) -> Self {
        let looked_at = earlier.objects.get(earlier.chosen);
        let looked_at = looked_at.map(|(object, _)| object.clone());
        Self {
            objects: Rc::clone(&earlier.objects),
            chosen: earlier.chosen,
            replay: earlier.replay.clone(),
            wanted: looked_at.or_else(|| earlier.wanted.clone()),
            ..self
        }
    }

    /// Adds lines to the log. Only these are read, and only their requests are replayed.
    pub(super) fn extend(&mut self, lines: &str) {
        self.cancelled = false;
        self.more.push_str(lines);
        self.read_more();
    }

    /// Begins to read the lines that came meanwhile, if nothing else is done.
    fn read_more(&mut self) {
        if self.more.is_empty() || !matches!(self.next, AuditPart::Done) {
            return;
        }
        let looked_at = self.objects.get(self.chosen);
        self.wanted = looked_at.map(|(object, _)| object.clone());
        self.next = AuditPart::Read(std::mem::take(&mut self.more).into());
    }

    /// Returns whether something is left to do, and the user has not stopped it.
    pub fn is_running(&self) -> bool {
        !self.cancelled && !matches!(self.next, AuditPart::Done)
    }

    /// The job that does the next part.
    pub fn job(&self) -> Option<JobId> {
        self.job
    }

    /// The request for the next part, which a job then does.
    pub(super) fn begin_job(&mut self, job: JobId) -> Option<AuditRequest> {
        let log = Arc::clone(&self.log);
        let request = match &self.next {
            AuditPart::Read(lines) => AuditRequest::Read(log, Arc::clone(lines)),
            AuditPart::Replay => {
                let (object, _) = self.objects.get(self.chosen)?;
                AuditRequest::Replay(log, object.clone(), self.replay.clone())
            }
            AuditPart::Done => return None,
        };
        self.job = Some(job);
        Some(request)
    }

    /// Stops the work. Another object or more lines begin the part again.
    pub(super) fn cancel(&mut self) {
        self.cancelled = true;
        self.job = None;
    }

    /// Returns whether the log is still being read, and no object is replayed yet.
    pub fn is_reading(&self) -> bool {
        matches!(self.next, AuditPart::Read(_))
    }

    /// Looks at an object as soon as the log has a request about it, unless another one is chosen
    /// before.
    pub(super) fn expect(&mut self, object: AuditedObject) {
        match self.position(&object) {
            Some(at) if !self.is_reading() => self.choose(at),
            _ => self.expected = Some(object),
        }
    }

    fn position(&self, object: &AuditedObject) -> Option<usize> {
        self.objects.iter().position(|(one, _)| one.is(object))
    }

    /// Looks at another object of the log.
    pub(super) fn choose(&mut self, position: usize) {
        self.expected = None;
        if self.is_reading() {
            let wanted = self.objects.get(position);
            self.wanted = wanted.map(|(object, _)| object.clone());
            return;
        }
        self.chosen = position;
        self.cancelled = false;
        self.replay = None;
        self.begin_replay();
    }

    /// Begins to replay the object that is looked at, if there is one.
    fn begin_replay(&mut self) {
        self.chosen = self.chosen.min(self.objects.len().saturating_sub(1));
        self.job = None;
        self.next = match self.objects.is_empty() {
            true => AuditPart::Done,
            false => AuditPart::Replay,
        };
    }

    /// Takes the log that a job has read.
    fn take_log(&mut self, log: Arc<AuditLog>) {
        self.objects = Rc::new(log.objects());
        self.log = log;
        let wanted = self.wanted.take();
        let at = |object: &Option<_>| self.position(object.as_ref()?);
        let expected = at(&self.expected);
        if let Some(at) = expected.or_else(|| at(&wanted)) {
            self.chosen = at;
        }
        self.expected.take_if(|_| expected.is_some());
        self.begin_replay();
    }

    /// Takes the replay of the object that is looked at.
    fn take_replay(&mut self, replay: Rc<AuditReplay>) {
        self.replay = Some(replay);
        self.job = None;
        self.next = AuditPart::Done;
    }
}

impl AuditRequest {
    /// The progress before the first part.
    pub(crate) fn progress(&self) -> (usize, usize) {
        match self {
            Self::Read(_, lines) => (0, lines.len()),
            Self::Replay(log, ..) => (0, log.events.len()),
        }
    }
}

impl AuditWork {
    pub(crate) fn new(request: AuditRequest) -> Self {
        let (log, object, known) = match request {
            AuditRequest::Read(log, lines) => {
                let reader = AuditReader::after(Arc::unwrap_or_clone(log), lines);
                return Self {
                    stage: AuditStage::Reading(reader),
                    known: None,
                };
            }
            AuditRequest::Replay(log, object, known) => (log, object, known),
        };
        let known = known.filter(|it| it.history.object == object && log.continues(&it.log));
        let (history, done) = match &known {
            Some(known) => (known.history.clone(), known.log.events.len()),
            None => {
                let history = RecordedHistory::new(object, &[], Release::default());
                (history, 0)
            }
        };
        Self {
            stage: AuditStage::Replaying(log, Box::new(history), done),
            known,
        }
    }

    /// Does the next part of the stage. Returns whether there is more of it.
    fn advance_stage(&mut self) -> bool {
        match &mut self.stage {
            AuditStage::Reading(reader) => reader.advance(BYTES),
            AuditStage::Replaying(log, history, done) => {
                *done += 1;
                history.advance(log, 1)
            }
            AuditStage::Searching(log, history, found) => found.advance(history, log),
            AuditStage::Masking(partial) => partial.mask_next(self.known.as_deref()),
        }
    }
}

impl Work for AuditWork {
    fn advance(&mut self) -> Option<JobResult> {
        if self.advance_stage() {
            return None;
        }
        let ended = AuditStage::Reading(AuditReader::new("".into()));
        self.stage = match std::mem::replace(&mut self.stage, ended) {
            AuditStage::Reading(reader) => {
                return Some(JobResult::AuditLog(Arc::new(reader.finish())));
            }
            AuditStage::Replaying(log, history, _) => {
                AuditStage::Searching(log, history, Box::default())
            }
            AuditStage::Searching(log, history, found) => {
                let findings = found.findings;
                let lanes = RecordedLanes::of_log(&history, &log, &findings);
                AuditStage::Masking(Box::new(PartialReplay {
                    log,
                    history: *history,
                    findings,
                    lanes,
                    changes: 0,
                    lost: 0,
                    answers: 0,
                }))
            }
            AuditStage::Masking(masked) => {
                return Some(JobResult::AuditReplay(Rc::new(masked.finish())));
            }
        };
        None
    }

    fn progress(&self) -> (usize, usize) {
        let whole = |log: &AuditLog| (log.events.len(), log.events.len());
        match &self.stage {
            AuditStage::Reading(reader) => reader.progress(),
            AuditStage::Replaying(log, _, done) => (*done, log.events.len()),
            AuditStage::Searching(log, ..) => whole(log),
            AuditStage::Masking(partial) => whole(&partial.log),
        }
    }
}

impl DiagnoseState {
    /// Takes the log that a job has read.
    pub(super) fn take_log(&mut self, log: Arc<AuditLog>) {
        if let Some(run) = &mut self.audit {
            run.take_log(log);
            if !run.is_running() {
                self.audit_is_done();
            }
        }
    }

    /// Takes the replay of an object of the log.
    pub(super) fn take_replay(&mut self, replay: Rc<AuditReplay>) {
        if let Some(run) = &mut self.audit {
            run.take_replay(replay);
            self.audit_is_done();
        }
    }

    fn audit_is_done(&mut self) {
        self.audit.iter_mut().for_each(AuditRun::read_more);
        self.look_again();
    }
}

impl PartialReplay {
    /// Masks the values of the next step. Those of the steps of an earlier replay are masked. Returns whether there is
    /// more.
    fn mask_next(&mut self, earlier: Option<&AuditReplay>) -> bool {
        let steps = &mut self.history.steps;
        if self.changes < self.findings.changes.len() {
            let changes = &mut self.findings.changes[self.changes..];
            self.changes += mask_changes_of_step(changes, steps);
        } else if let Some(lost) = self.findings.lost.get_mut(self.lost) {
            let written = steps.get(lost.written);
            let object = written.and_then(|step| step.after.as_deref().map(masked));
            if let Some(value) = object.and_then(|object| lost.field.find(&object).cloned()) {
                lost.value = value;
            }
            self.lost += 1;
        } else if let Some(step) = steps.get_mut(self.answers) {
            let earlier = earlier.and_then(|it| it.history.steps.get(self.answers));
            if !earlier.is_some_and(|known| Arc::ptr_eq(known, step)) {
                mask_answer(Arc::make_mut(step), &self.log);
            }
            self.answers += 1;
        } else {
            return false;
        }
        true
    }

    fn finish(self) -> AuditReplay {
        let steps = self.history.steps.iter();
        let objects = steps.filter_map(|step| step.after.as_deref());
        let manager_names = manager_names(&self.lanes, objects);
        AuditReplay {
            history: self.history,
            findings: self.findings,
            lanes: self.lanes,
            manager_names,
            log: self.log,
        }
    }
}

/// Masks the values of the first changes, which are of one step. Returns their number.
fn mask_changes_of_step(
    changes: &mut [(usize, FieldChange)],
    steps: &[Arc<RecordedStep>],
) -> usize {
    let Some(at) = changes.first().map(|(at, _)| *at) else {
        return 0;
    };
    let count = changes.partition_point(|(of, _)| *of <= at);
    if let Some(step) = steps.get(at) {
        let shown = |object: &Option<Arc<Value>>| object.as_deref().map(masked).unwrap_or_default();
        let (before, after) = (shown(&step.before), shown(&step.after));
        for (_, change) in &mut changes[..count] {
            change.before = change.field.find(&before).cloned();
            change.after = change.field.find(&after).cloned();
        }
    }
    count
}

/// Masks the values in which the answers to a step differ, if they look private.
fn mask_answer(step: &mut RecordedStep, log: &AuditLog) {
    mask_facts(step);
    let CoreAnswer::Other {
        exchange,
        differences,
    } = &mut step.prediction
    else {
        return;
    };
    let recorded = log.events.get(step.event);
    let recorded = recorded.and_then(|event| event.response.as_deref());
    let (recorded, core) = (recorded.map(masked), masked(&exchange.received));
    for one in differences.iter_mut().filter(|one| !one.pointer.is_empty()) {
        let shown = |value: &mut Option<Value>, masked: Option<&Value>| {
            if let (Some(value), Some(masked)) = (value, masked) {
                // What is compared is not all as it was answered: a new version is a word.
                if value.is_object() || value.is_array() || is_masked(masked) {
                    *value = masked.clone();
                }
            }
        };
        shown(
            &mut one.recorded,
            recorded.as_ref().and_then(|it| it.pointer(&one.pointer)),
        );
        shown(&mut one.core, core.pointer(&one.pointer));
    }
}

/// Leaves the values out of the facts of a patch of an object that has private ones.
fn mask_facts(step: &mut RecordedStep) {
    let (CoreAnswer::Same { exchange, .. } | CoreAnswer::Other { exchange, .. }) =
        &mut step.prediction
    else {
        return;
    };
    for fact in &mut exchange.facts {
        if let Fact::OperationFailed(failed) = fact
            && step
                .before
                .as_deref()
                .is_some_and(|before| masked(before) != *before)
        {
            failed.differed = None;
        }
    }
}

/// Returns whether a value is the mask of a private value.
fn is_masked(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.contains(MASK))
}
