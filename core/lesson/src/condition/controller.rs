//! Conditions on the controller: its caches, its queue and its runs.

use std::fmt;

use optimist_apiserver::yaml::Located;
use optimist_controller::{Cache, Controller, Handled, KeyAddition, ReconcileResult, WorkerReport};
use optimist_simulation::{ControllerEvent, ControllerOperation, HistoryTree, Operation};
use serde_json::Value;

use super::counted::Count;
use super::{Assertion, Condition, Past, ShownValue, has, places, value_at};
use crate::FieldPath;
use crate::controller::{CONTROLLER, cache_of};
use crate::fields::{LessonResult, flag, members, word};

/// The store has this number of objects of a kind.
#[derive(Debug)]
struct Objects(String, Count);

/// This number of events has not reached the cache of a kind.
#[derive(Debug)]
struct Behind(String, Count);

/// The controller's cached copy of the object has this value at a path; `None`: it has no value
/// there.
#[derive(Debug)]
struct Cached(FieldPath, Option<Value>);

/// The last run of the controller ended in this way.
#[derive(Debug)]
struct Ended(RunEnd);

/// The controller has nothing left to do, or (`false`) has something.
#[derive(Debug)]
struct AtRest(bool);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunEnd {
    Done,
    Error,
    Requeue,
    NotReady,
}

const ENDS: [(&str, RunEnd); 4] = [
    ("done", RunEnd::Done),
    ("error", RunEnd::Error),
    ("requeue", RunEnd::Requeue),
    ("not ready", RunEnd::NotReady),
];

/// A count for each kind.
fn by_kind(value: &Located, new: fn(String, Count) -> Condition) -> LessonResult<Vec<Condition>> {
    let kinds = members(value, "kinds and numbers")?.iter();
    let counts = kinds.map(|member| Ok(new(member.key.clone(), Count::read(&member.value)?)));
    counts.collect()
}

pub(super) fn objects(value: &Located) -> LessonResult<Vec<Condition>> {
    by_kind(value, |kind, count| Condition::new(Objects(kind, count)))
}

pub(super) fn behind(value: &Located) -> LessonResult<Vec<Condition>> {
    by_kind(value, |kind, count| Condition::new(Behind(kind, count)))
}

pub(super) fn cached(value: &Located) -> LessonResult<Vec<Condition>> {
    let places = places(value)?.into_iter();
    let cached = places.map(|(path, value)| Condition::new(Cached(path, value)));
    Ok(cached.collect())
}

pub(super) fn run_ended(value: &Located) -> LessonResult<Vec<Condition>> {
    Ok(vec![Condition::new(Ended(word(value, &ENDS)?))])
}

pub(super) fn at_rest(value: &Located) -> LessonResult<Vec<Condition>> {
    Ok(vec![Condition::new(AtRest(flag(value)?))])
}

impl Objects {
    fn count(&self, tree: &HistoryTree) -> usize {
        let store = tree.world().server().store();
        let objects = store.range("/registry/");
        objects
            .filter(|(.., object)| object["kind"] == self.0.as_str())
            .count()
    }
}

impl Assertion for Objects {
    fn holds(&self, past: Past<'_>) -> bool {
        self.1.holds(self.count(past.tree()))
    }

    fn actual(&self, past: Past<'_>) -> Option<String> {
        Some(self.count(past.tree()).to_string())
    }
}

impl fmt::Display for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.1, self.0)?;
        if self.1 == Count::Exactly(1) {
            Ok(())
        } else {
            f.write_str("s")
        }
    }
}

impl Behind {
    fn count(&self, tree: &HistoryTree) -> Option<usize> {
        let cache = cache_of(tree, &self.0)?;
        let controller = tree.world().controller(CONTROLLER)?;
        Some(
            controller
                .caches()
                .get(cache)?
                .behind(tree.world().server()),
        )
    }
}

impl Assertion for Behind {
    fn holds(&self, past: Past<'_>) -> bool {
        self.count(past.tree())
            .is_some_and(|count| self.1.holds(count))
    }

    fn actual(&self, past: Past<'_>) -> Option<String> {
        Some(self.count(past.tree())?.to_string())
    }
}

impl fmt::Display for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the cache of {} is behind by {}", self.0, self.1)
    }
}

/// The controller's cached copy of the current object.
fn cached_object(tree: &HistoryTree) -> Option<&Value> {
    let subject = tree.world().subject();
    let cache = cache_of(tree, &subject.resource().kind)?;
    let cache = tree.world().controller(CONTROLLER)?.caches().get(cache)?;
    let object = cache.get(&cache.key(subject.namespace(), subject.name()));
    object.map(|object| &**object)
}

impl Assertion for Cached {
    fn holds(&self, past: Past<'_>) -> bool {
        has(cached_object(past.tree()), &self.0, self.1.as_ref())
    }

    fn actual(&self, past: Past<'_>) -> Option<String> {
        Some(value_at(cached_object(past.tree()), &self.0))
    }
}

impl fmt::Display for Cached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} in the cache is {}",
            self.0,
            ShownValue(self.1.as_ref())
        )
    }
}

/// Returns the ends of the controller's runs, in order.
fn ends(past: Past<'_>) -> impl DoubleEndedIterator<Item = RunEnd> {
    past.steps()
        .filter_map(|step| match step.controller.as_deref()? {
            ControllerEvent::Worker(WorkerReport::NotReady { .. }) => Some(RunEnd::NotReady),
            ControllerEvent::Worker(WorkerReport::Finished { result, .. }) => Some(match result {
                ReconcileResult::Done => RunEnd::Done,
                ReconcileResult::Error | ReconcileResult::TerminalError => RunEnd::Error,
                ReconcileResult::Requeue | ReconcileResult::RequeueAfter(_) => RunEnd::Requeue,
            }),
            _ => None,
        })
}

/// Counts the runs that have ended.
pub(super) fn runs(past: Past<'_>) -> usize {
    ends(past).count()
}

/// Counts the dropped watches and the restarts.
pub(super) fn interruptions(past: Past<'_>) -> usize {
    past.count(|step| {
        matches!(
            step.operation,
            Operation::Control(
                _,
                ControllerOperation::DropWatch(_) | ControllerOperation::Restart
            )
        )
    })
}

/// Returns the events that reached the handlers of the controller.
fn handled_events(past: Past<'_>) -> impl Iterator<Item = &Handled> {
    let events = past.steps().filter_map(|step| step.controller.as_deref());
    let told = events.filter_map(|event| match event {
        ControllerEvent::Delivered { report, .. } => Some(report.handled.as_slice()),
        ControllerEvent::Resynced { handled, .. } => Some(handled.as_slice()),
        _ => None,
    });
    told.flatten()
}

/// Counts the events that a predicate dropped.
pub(super) fn dropped(past: Past<'_>) -> usize {
    handled_events(past)
        .filter(|handled| handled.dropped_by.is_some())
        .count()
}

/// Counts the events that were delivered.
pub(super) fn delivered(past: Past<'_>) -> usize {
    handled_events(past).count()
}

/// Counts the additions of a key that made no further run, because the key was queued already.
pub(super) fn merged(past: Past<'_>) -> usize {
    let keys = handled_events(past).flat_map(|handled| &handled.keys);
    keys.filter(|(_, addition)| *addition == KeyAddition::AlreadyQueued)
        .count()
}

/// Counts the keys in the queue.
pub(super) fn queued(past: Past<'_>) -> usize {
    let controller = past.tree().world().controller(CONTROLLER);
    controller.map_or(0, |controller| controller.queue().queued().count())
}

/// Counts the keys that wait for their time.
pub(super) fn waiting(past: Past<'_>) -> usize {
    let controller = past.tree().world().controller(CONTROLLER);
    controller.map_or(0, |controller| controller.queue().waiting().len())
}

impl Assertion for Ended {
    fn holds(&self, past: Past<'_>) -> bool {
        ends(past).next_back() == Some(self.0)
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            RunEnd::Done => "the last run returned no error",
            RunEnd::Error => "the last run returned an error",
            RunEnd::Requeue => "the last run asked to run again",
            RunEnd::NotReady => "the controller waits for its own version",
        })
    }
}

impl Assertion for AtRest {
    fn holds(&self, past: Past<'_>) -> bool {
        let tree = past.tree();
        let rests = |controller: &Controller| {
            let queue = controller.queue();
            let mut caches = controller.caches().iter();
            let is_behind = caches.any(|cache| cache.behind(tree.world().server()) > 0);
            // Before its first list or watch, a cache does not know what exists.
            let has_begun = |cache: &Cache| !cache.version().is_empty();
            controller.caches().iter().all(has_begun)
                && controller.run().is_none()
                && queue.queued().next().is_none()
                && queue.next_ready().is_none()
                && !is_behind
        };
        tree.world().controller(CONTROLLER).is_some_and(rests) == self.0
    }
}

impl fmt::Display for AtRest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            true => "the controller is at rest",
            false => "the controller has something left to do",
        })
    }
}
