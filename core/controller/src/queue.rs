//! The work queue (`k8s.io/client-go/util/workqueue`: `queue.go`, `delaying_queue.go`,
//! `rate_limiting_queue.go`, `default_rate_limiters.go`), in virtual time.
//!
//! controller-runtime has a queue of its own, which it uses by default since v0.23
//! (`pkg/controller/priorityqueue/priorityqueue.go`, read at v0.24.1): [`WorkQueue::prioritizing`].
//! It differs in two points: keys have priorities, and a key is ready or waits, never both.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use imbl::{OrdMap, OrdSet, Vector};
use serde::{Deserialize, Serialize};

use crate::report::{KeyAddition, QueueReaction};

/// The delay after the first failure of an item.
pub const BASE_DELAY: Duration = Duration::from_millis(5);
/// The longest delay after a failure.
pub const MAX_DELAY: Duration = Duration::from_secs(1000);

/// The result of a reconcile (`sigs.k8s.io/controller-runtime/pkg/reconcile`, `Result` and error).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReconcileResult {
    /// `Result{}`: nothing more to do until something changes.
    Done,
    /// `Result{RequeueAfter: d}`: again after this number of milliseconds.
    RequeueAfter(u64),
    /// `Result{Requeue: true}`, deprecated since controller-runtime v0.21: again after the backoff.
    Requeue,
    /// An error: again after the backoff. A conflict is an error like any other.
    Error,
    /// A `TerminalError`: not again until something changes.
    TerminalError,
}

/// The priority of a key in a queue with priorities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyPriority {
    /// The key of an object of the first list, or of one that has not changed (`LowPriority`).
    Low,
    /// Any other key.
    #[default]
    Usual,
}

/// A work queue of keys. Cloning is cheap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkQueue {
    queue: Vector<Arc<str>>,
    dirty: OrdSet<Arc<str>>,
    processing: OrdSet<Arc<str>>,
    /// The time at which each waiting key is added.
    waiting: OrdMap<Arc<str>, WaitingKey>,
    failures: OrdMap<Arc<str>, u32>,
    /// The number of places given so far: to keys that wait, and to all keys of a queue with priorities.
    given: u64,
    /// `None` for a queue without priorities.
    priorities: Option<Priorities>,
}

/// The priorities of keys.
#[derive(Clone, Debug, Default, PartialEq)]
struct Priorities {
    /// The places of the keys that are ready or wait.
    places: OrdMap<Arc<str>, QueuePlace>,
    /// The priorities that the keys had that are being processed.
    taken: OrdMap<Arc<str>, KeyPriority>,
}

/// A smaller place is taken sooner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct QueuePlace {
    priority: Reverse<KeyPriority>,
    number: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct WaitingKey {
    ready_at: Duration,
    /// Of two keys that are ready at the same time, the one that waited first is added first.
    /// client-go promises no order.
    place: u64,
}

impl WorkQueue {
    /// The queue of controller-runtime, with priorities.
    pub fn prioritizing() -> Self {
        Self {
            priorities: Some(Priorities::default()),
            ..Self::default()
        }
    }

    /// The same queue without keys.
    pub fn emptied(&self) -> Self {
        match self.priorities {
            Some(_) => Self::prioritizing(),
            None => Self::default(),
        }
    }

    /// Marks a key as in need of processing (`Add`): nothing if it is marked; else it is queued,
    /// unless it is being processed. Without priorities, a key that waits waits on.
    pub fn add(&mut self, key: &str, priority: KeyPriority) -> KeyAddition {
        let processing = self.processing.contains(key);
        if self.priorities.is_some() {
            self.place(key, priority);
            self.waiting.remove(key);
        }
        if !self.dirty.contains(key) {
            let key = Arc::from(key);
            self.dirty.insert(Arc::clone(&key));
            if !processing {
                self.enqueue(key);
                return KeyAddition::Queued;
            }
        }
        self.order();
        match processing {
            true => KeyAddition::AfterItsRun,
            false => KeyAddition::AlreadyQueued,
        }
    }

    /// Takes the next key (`Get`). The caller says when it is [done](Self::done). `None` if the
    /// queue is empty; client-go would wait.
    pub fn get(&mut self) -> Option<String> {
        let key = self.queue.pop_front()?;
        self.processing.insert(Arc::clone(&key));
        self.dirty.remove(&key);
        if let Some(Priorities { places, taken }) = &mut self.priorities {
            let place = places.remove(&key);
            let priority = place.map_or(KeyPriority::Usual, |place| place.priority.0);
            taken.insert(Arc::clone(&key), priority);
        }
        Some(key.to_string())
    }

    /// Gives a key its place, or a better one if its priority rises.
    fn place(&mut self, key: &str, priority: KeyPriority) {
        let place = QueuePlace {
            priority: Reverse(priority),
            number: self.given,
        };
        let Some(priorities) = &mut self.priorities else {
            return;
        };
        let known = priorities.places.get(key);
        if known.is_none_or(|known| known.priority > place.priority) {
            priorities.places.insert(key.into(), place);
            self.given += 1;
        }
    }

    fn enqueue(&mut self, key: Arc<str>) {
        self.queue.push_back(key);
        self.order();
    }

    /// Orders the queued keys by their places; nothing without priorities.
    fn order(&mut self) {
        if let Some(Priorities { places, .. }) = &self.priorities {
            self.queue
                .sort_by(|one, other| places.get(one).cmp(&places.get(other)));
        }
    }

    /// The priority that a key has while it is processed.
    fn taken_with(&self, key: &str) -> KeyPriority {
        let taken = self.priorities.as_ref().and_then(|it| it.taken.get(key));
        taken.copied().unwrap_or_default()
    }

    /// Ends the processing of a key (`Done`): it is queued again if it was marked meanwhile.
    pub fn done(&mut self, key: &str) {
        self.processing.remove(key);
        if let Some(priorities) = &mut self.priorities {
            priorities.taken.remove(key);
        }
        if self.dirty.contains(key) && !self.queue.iter().any(|queued| **queued == *key) {
            self.enqueue(key.into());
        }
    }

    /// Adds a key when a time has passed (`AddAfter`), with the priority with which it was taken. A
    /// key that waits already is added at the earlier of the two times. With priorities, a key that
    /// is ready does not wait as well.
    pub fn add_after(&mut self, key: &str, delay: Duration, now: Duration) {
        let priority = self.taken_with(key);
        if delay.is_zero() {
            self.add(key, priority);
            return;
        }
        if self.priorities.is_some() {
            self.place(key, priority);
            if self.dirty.contains(key) {
                self.order();
                return;
            }
        }
        let ready_at = now.saturating_add(delay);
        match self.waiting.get_mut(key) {
            Some(waiting) => waiting.ready_at = waiting.ready_at.min(ready_at),
            None => {
                let place = self.given;
                self.given += 1;
                let waiting = WaitingKey { ready_at, place };
                self.waiting.insert(key.into(), waiting);
            }
        }
    }

    /// Counts a failure of a key, and adds the key after its backoff (`AddRateLimited` with
    /// `TypedItemExponentialFailureRateLimiter`, the default of controller-runtime since v0.23).
    /// Returns the backoff.
    pub fn add_rate_limited(&mut self, key: &str, now: Duration) -> Duration {
        let failures = self.num_requeues(key);
        self.failures.insert(key.into(), failures.saturating_add(1));
        let delay = backoff(failures);
        self.add_after(key, delay, now);
        delay
    }

    /// Forgets the failures of a key (`Forget`).
    pub fn forget(&mut self, key: &str) {
        self.failures.remove(key);
    }

    /// The number of counted failures of a key (`NumRequeues`).
    pub fn num_requeues(&self, key: &str) -> u32 {
        self.failures.get(key).copied().unwrap_or_default()
    }

    /// Adds the keys whose time has come (`waitingLoop`).
    pub fn advance(&mut self, now: Duration) {
        let mut ready: Vec<_> = self
            .waiting
            .iter()
            .filter(|(_, waiting)| waiting.ready_at <= now)
            .map(|(key, waiting)| (*waiting, key.clone()))
            .collect();
        ready.sort();
        for (_, key) in ready {
            self.waiting.remove(&key);
            let mut priority = KeyPriority::Usual;
            if let Some(Priorities { places, .. }) = &mut self.priorities
                && let Some(place) = places.remove(&key)
            {
                // Its place counts from now on, not from when it began to wait.
                priority = place.priority.0;
            }
            self.add(&key, priority);
        }
    }

    /// Handles the result of a reconcile, and ends the processing of the key
    /// (`sigs.k8s.io/controller-runtime/pkg/internal/controller/controller.go reconcileHandler`).
    pub fn finish(&mut self, key: &str, result: ReconcileResult, now: Duration) -> QueueReaction {
        let mut after = None;
        match result {
            ReconcileResult::Done | ReconcileResult::RequeueAfter(0) => self.forget(key),
            ReconcileResult::RequeueAfter(milliseconds) => {
                self.forget(key);
                let delay = Duration::from_millis(milliseconds);
                self.add_after(key, delay, now);
                after = Some(delay);
            }
            ReconcileResult::Requeue | ReconcileResult::Error => {
                after = Some(self.add_rate_limited(key, now));
            }
            ReconcileResult::TerminalError => {}
        }
        // A key that waits already waits no longer for that.
        if let Some(waiting) = self.waiting.get(key) {
            after = after.map(|_| waiting.ready_at.saturating_sub(now));
        }
        self.done(key);
        QueueReaction {
            after,
            failures: self.num_requeues(key),
            queued_again: self.dirty.contains(key),
        }
    }

    /// The queued keys, first in, first out.
    pub fn queued(&self) -> impl Iterator<Item = &str> {
        self.queue.iter().map(Arc::as_ref)
    }

    /// The keys in need of processing; those of them that are being processed are not queued.
    pub fn dirty(&self) -> impl Iterator<Item = &str> {
        self.dirty.iter().map(Arc::as_ref)
    }

    /// The keys that are being processed.
    pub fn processing(&self) -> impl Iterator<Item = &str> {
        self.processing.iter().map(Arc::as_ref)
    }

    /// The waiting keys with the times at which they are added, soonest first.
    pub fn waiting(&self) -> Vec<(&str, Duration)> {
        let mut waiting: Vec<_> = self.waiting.iter().collect();
        waiting.sort_by_key(|(_, waiting)| **waiting);
        waiting
            .into_iter()
            .map(|(key, waiting)| (key.as_ref(), waiting.ready_at))
            .collect()
    }

    /// In the order of their places, the keys of a queue with priorities that are ready or wait,
    /// then those that are being processed; each with its priority.
    pub fn priorities(&self) -> Vec<(&str, KeyPriority)> {
        let Some(Priorities { places, taken }) = &self.priorities else {
            return Vec::new();
        };
        let mut places: Vec<_> = places.iter().collect();
        places.sort_by_key(|(_, place)| **place);
        let places = places.into_iter();
        let places = places.map(|(key, place)| (key.as_ref(), place.priority.0));
        let taken = taken
            .iter()
            .map(|(key, priority)| (key.as_ref(), *priority));
        places.chain(taken).collect()
    }

    /// The time at which the next waiting key is added.
    pub fn next_ready(&self) -> Option<Duration> {
        self.waiting.values().map(|waiting| waiting.ready_at).min()
    }
}

/// The delay after this number of earlier failures: 5 ms, doubled each time, at most 1000 s.
pub fn backoff(failures: u32) -> Duration {
    let doubled = 1_u32.checked_shl(failures).unwrap_or(u32::MAX);
    BASE_DELAY.saturating_mul(doubled).min(MAX_DELAY)
}

#[cfg(test)]
mod tests {
    use super::KeyPriority::{Low, Usual};
    use super::*;

    const NOW: Duration = Duration::ZERO;

    fn queued(queue: &WorkQueue) -> Vec<&str> {
        queue.queued().collect()
    }

    #[test]
    fn many_adds_make_one_run() {
        let mut queue = WorkQueue::default();
        for _ in 0..5 {
            queue.add("a", Usual);
        }
        assert_eq!(queued(&queue), ["a"]);
        assert_eq!(queue.get().as_deref(), Some("a"));
        assert_eq!(queue.get(), None);
    }

    #[test]
    fn a_key_that_is_added_while_it_is_processed_runs_once_more_afterwards() {
        let mut queue = WorkQueue::default();
        queue.add("a", Usual);
        queue.get();
        queue.add("a", Usual);
        queue.add("a", Usual);
        assert_eq!(queue.get(), None, "never two workers on one key");
        assert_eq!(queue.dirty().collect::<Vec<_>>(), ["a"]);
        queue.finish("a", ReconcileResult::Done, NOW);
        assert_eq!(queue.get().as_deref(), Some("a"));
        queue.finish("a", ReconcileResult::Done, NOW);
        assert_eq!(queue, WorkQueue::default());
    }

    #[test]
    fn the_backoff_of_a_key_doubles_from_5_ms_to_1000_s() {
        let mut queue = WorkQueue::default();
        let delays: Vec<_> = (0..4)
            .map(|_| queue.add_rate_limited("a", NOW).as_millis())
            .collect();
        assert_eq!(delays, [5, 10, 20, 40]);
        assert_eq!(queue.waiting(), [("a", Duration::from_millis(5))]);
        assert_eq!(queue.add_rate_limited("b", NOW), BASE_DELAY, "per key");
        assert_eq!(backoff(17), Duration::from_millis(655_360));
        for failures in [18, 31, 32, u32::MAX] {
            assert_eq!(backoff(failures), MAX_DELAY, "{failures}");
        }
        queue.forget("a");
        assert_eq!(queue.add_rate_limited("a", NOW), BASE_DELAY);
    }

    #[test]
    fn each_result_has_its_effect() {
        use ReconcileResult::{Done, Error, Requeue, RequeueAfter, TerminalError};
        let after = |result| {
            let mut queue = WorkQueue::default();
            queue.add_rate_limited("a", NOW);
            queue.advance(BASE_DELAY);
            queue.get();
            queue.finish("a", result, NOW);
            let waits = queue.next_ready().map(|ready| ready.as_millis());
            (queue.num_requeues("a"), waits)
        };
        assert_eq!(after(Done), (0, None));
        assert_eq!(after(RequeueAfter(0)), (0, None));
        assert_eq!(after(RequeueAfter(30_000)), (0, Some(30_000)));
        assert_eq!(after(Requeue), (2, Some(10)));
        assert_eq!(after(Error), (2, Some(10)));
        assert_eq!(after(TerminalError), (1, None));
    }

    #[test]
    fn a_waiting_key_can_also_be_added_now_and_runs_twice() {
        let mut queue = WorkQueue::default();
        queue.add_after("a", MAX_DELAY, NOW);
        queue.add_after("a", BASE_DELAY, NOW);
        queue.add_after("a", MAX_DELAY, NOW);
        assert_eq!(queue.next_ready(), Some(BASE_DELAY), "the earlier time");
        queue.add("a", Usual);
        queue.get();
        queue.finish("a", ReconcileResult::Done, NOW);
        queue.advance(BASE_DELAY);
        assert_eq!(queued(&queue), ["a"]);
    }

    #[test]
    fn waiting_keys_are_added_in_the_order_of_their_times() {
        let mut queue = WorkQueue::default();
        queue.add_after("late", Duration::from_secs(2), NOW);
        queue.add_after("soon", Duration::from_secs(1), NOW);
        queue.advance(Duration::from_millis(999));
        assert_eq!(queued(&queue), [""; 0]);
        queue.advance(Duration::from_secs(5));
        assert_eq!(queued(&queue), ["soon", "late"]);
    }

    #[test]
    fn with_priorities_an_addition_ends_the_wait_of_a_key() {
        let mut queue = WorkQueue::prioritizing();
        queue.add("a", Usual);
        queue.get();
        queue.finish("a", ReconcileResult::Error, NOW);
        assert_eq!(queue.next_ready(), Some(BASE_DELAY));
        assert_eq!(queue.add("a", Usual), KeyAddition::Queued);
        assert_eq!(queue.next_ready(), None);
        queue.get();
        queue.finish("a", ReconcileResult::Done, NOW);
        assert_eq!(
            queue,
            WorkQueue {
                given: queue.given,
                ..WorkQueue::prioritizing()
            }
        );
    }

    #[test]
    fn a_key_of_the_first_list_comes_after_one_that_changed() {
        let mut queue = WorkQueue::prioritizing();
        for key in ["a", "b", "c"] {
            queue.add(key, Low);
        }
        queue.add("d", Usual);
        queue.add("c", Usual);
        assert_eq!(queued(&queue), ["d", "c", "a", "b"]);
        let mut queue = WorkQueue::default();
        queue.add("a", Low);
        queue.add("b", Usual);
        assert_eq!(queued(&queue), ["a", "b"], "client-go has no priorities");
    }
}
