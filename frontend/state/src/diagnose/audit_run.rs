//! An audit log: read, replayed and searched a slice at a time.

use std::cell::RefCell;
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

use super::recorded::manager_names;

/// The number of bytes that are read at a time: less than a slice of the work.
const BYTES: usize = 32 * 1024;

/// An audit log that is read, then replayed for one of its objects.
#[derive(Clone, Debug)]
pub struct AuditRun {
    /// The thing of the case that the log is.
    pub(super) item: u32,
    /// Shared between the states of the page: only the last one goes on.
    stage: Rc<RefCell<Stage>>,
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

#[derive(Debug)]
enum Stage {
    Reading(AuditReader),
    Replaying(Arc<AuditLog>, Box<RecordedHistory>, usize),
    Searching(Arc<AuditLog>, Box<RecordedHistory>, Box<PartialFindings>),
    Masking(Box<PartialReplay>),
    Done(Arc<AuditLog>),
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
            stage: Rc::new(RefCell::new(Stage::Reading(AuditReader::new(Arc::clone(
                text,
            ))))),
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
        let log = match &*self.stage.borrow() {
            Stage::Done(log) if !self.more.is_empty() => AuditLog::clone(log),
            _ => return,
        };
        let looked_at = self.objects.get(self.chosen);
        self.wanted = looked_at.map(|(object, _)| object.clone());
        let lines = std::mem::take(&mut self.more);
        let reader = AuditReader::after(log, lines.into());
        self.stage = Rc::new(RefCell::new(Stage::Reading(reader)));
    }

    /// Returns the work that is done and all work; `None` if it is done or was stopped.
    pub fn progress(&self) -> Option<(usize, usize)> {
        if self.cancelled {
            return None;
        }
        match &*self.stage.borrow() {
            Stage::Reading(reader) => Some(reader.progress()),
            Stage::Replaying(log, _, done) => Some((*done, log.events.len())),
            Stage::Searching(log, ..) => Some((log.events.len(), log.events.len())),
            Stage::Masking(partial) => {
                let all = partial.log.events.len();
                Some((all, all))
            }
            Stage::Done(_) => None,
        }
    }

    /// Returns whether the log is still being read, and no object is replayed yet.
    pub fn is_reading(&self) -> bool {
        matches!(*self.stage.borrow(), Stage::Reading(_))
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
        let log = match &*self.stage.borrow() {
            Stage::Reading(_) => {
                let wanted = self.objects.get(position);
                self.wanted = wanted.map(|(object, _)| object.clone());
                return;
            }
            Stage::Masking(partial) => Arc::clone(&partial.log),
            Stage::Replaying(log, ..) | Stage::Searching(log, ..) | Stage::Done(log) => {
                Arc::clone(log)
            }
        };
        self.chosen = position;
        self.cancelled = false;
        self.replay = None;
        let stage = self.start_replay(log);
        self.stage = Rc::new(RefCell::new(stage));
    }

    /// Starts the replay of the selected object: after the requests that are replayed already, if it is known,
    /// else before the first one.
    fn start_replay(&mut self, log: Arc<AuditLog>) -> Stage {
        self.chosen = self.chosen.min(self.objects.len().saturating_sub(1));
        let Some((object, _)) = self.objects.get(self.chosen) else {
            return Stage::Done(log);
        };
        let known = self.replay.as_deref();
        let known = known.filter(|it| it.history.object == *object && log.continues(&it.log));
        match known {
            Some(known) => {
                let done = known.log.events.len();
                Stage::Replaying(log, Box::new(known.history.clone()), done)
            }
            None => {
                let history = RecordedHistory::new(object.clone(), &[], Release::default());
                Stage::Replaying(log, Box::new(history), 0)
            }
        }
    }

    /// Reads or replays a little. Something if all is done.
    pub(super) fn advance(&mut self) -> Option<()> {
        let stage = Rc::clone(&self.stage);
        let mut stage = stage.borrow_mut();
        let more = match &mut *stage {
            Stage::Reading(reader) => reader.advance(BYTES),
            Stage::Replaying(log, history, done) => {
                *done += 1;
                history.advance(log, 1)
            }
            Stage::Searching(log, history, found) => found.advance(history, log),
            Stage::Masking(partial) => partial.mask_next(self.replay.as_deref()),
            Stage::Done(_) => return Some(()),
        };
        if !more {
            let whole = std::mem::replace(&mut *stage, Stage::Done(Arc::default()));
            *stage = self.next(whole);
        }
        let done = matches!(*stage, Stage::Done(_)).then_some(());
        drop(stage);
        self.read_more();
        done
    }

    /// Returns the stage that follows a complete stage.
    fn next(&mut self, whole: Stage) -> Stage {
        match whole {
            Stage::Reading(reader) => {
                let log = Arc::new(reader.finish());
                self.objects = Rc::new(log.objects());
                let wanted = self.wanted.take();
                let at = |object: &Option<_>| self.position(object.as_ref()?);
                let expected = at(&self.expected);
                if let Some(at) = expected.or_else(|| at(&wanted)) {
                    self.chosen = at;
                }
                self.expected.take_if(|_| expected.is_some());
                self.start_replay(log)
            }
            Stage::Replaying(log, history, _) => Stage::Searching(log, history, Box::default()),
            Stage::Searching(log, history, found) => {
                let findings = found.findings;
                let lanes = RecordedLanes::of_log(&history, &log, &findings);
                Stage::Masking(Box::new(PartialReplay {
                    log,
                    history: *history,
                    findings,
                    lanes,
                    changes: 0,
                    lost: 0,
                    answers: 0,
                }))
            }
            Stage::Masking(masked) => {
                let log = Arc::clone(&masked.log);
                self.replay = Some(Rc::new(masked.finish()));
                Stage::Done(log)
            }
            done => done,
        }
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
