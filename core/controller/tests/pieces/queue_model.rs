//! The work queue against a reference model: a list of what was asked for, from which the model
//! computes each answer anew.

use std::time::Duration;

use optimist_controller::{KeyPriority, ReconcileResult, WorkQueue};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
enum Operation {
    Add(u8),
    AddAfter(u8, u16),
    AddRateLimited(u8),
    Get,
    /// Ends the run of one of the keys that are processed.
    Finish(u8, ReconcileResult),
    Forget(u8),
    Wait(u16),
}

fn operation() -> impl Strategy<Value = Operation> {
    let result = prop_oneof![
        Just(ReconcileResult::Done),
        (0..50u64).prop_map(ReconcileResult::RequeueAfter),
        Just(ReconcileResult::Requeue),
        Just(ReconcileResult::Error),
        Just(ReconcileResult::TerminalError),
    ];
    prop_oneof![
        4 => (0..3u8).prop_map(Operation::Add),
        1 => (0..3u8, 0..50u16).prop_map(|(key, delay)| Operation::AddAfter(key, delay)),
        1 => (0..3u8).prop_map(Operation::AddRateLimited),
        4 => Just(Operation::Get),
        4 => (0..3u8, result).prop_map(|(key, result)| Operation::Finish(key, result)),
        1 => (0..3u8).prop_map(Operation::Forget),
        2 => (0..60u16).prop_map(Operation::Wait),
    ]
}

/// The state of each key, without any queue: the order follows from the time at which a key was
/// last able to run.
#[derive(Default)]
struct Model {
    now: u64,
    moment: u64,
    keys: [Key; 3],
}

#[derive(Clone, Copy, Default)]
struct Key {
    /// Since when the key is ready to run.
    ready: Option<u64>,
    /// A run is asked for, and another one has not ended.
    again: bool,
    runs: bool,
    /// The time at which it is queued by itself, and its place among several at the same time.
    wakes: Option<(u64, u64)>,
    failures: u32,
}

impl Model {
    fn tick(&mut self) -> u64 {
        self.moment += 1;
        self.moment
    }

    fn ask(&mut self, key: usize) {
        let moment = self.tick();
        let known = &mut self.keys[key];
        if known.runs {
            known.again = true;
        } else {
            known.ready = known.ready.or(Some(moment));
        }
    }

    fn ask_later(&mut self, key: usize, delay: u64) {
        if delay == 0 {
            return self.ask(key);
        }
        let (time, moment) = (self.now + delay, self.tick());
        let wakes = &mut self.keys[key].wakes;
        *wakes = Some(match *wakes {
            Some((before, place)) => (before.min(time), place),
            None => (time, moment),
        });
    }

    fn fail(&mut self, key: usize) {
        let failures = self.keys[key].failures;
        self.keys[key].failures += 1;
        self.ask_later(key, (5 << failures.min(30)).min(1_000_000));
    }

    fn run(&mut self) -> Option<usize> {
        let ready = (0..3).filter(|key| self.keys[*key].ready.is_some());
        let next = ready.min_by_key(|key| self.keys[*key].ready)?;
        self.keys[next].ready = None;
        self.keys[next].runs = true;
        Some(next)
    }

    fn end(&mut self, key: usize, result: ReconcileResult) {
        match result {
            ReconcileResult::Done => self.keys[key].failures = 0,
            ReconcileResult::RequeueAfter(delay) => {
                self.keys[key].failures = 0;
                if delay > 0 {
                    self.ask_later(key, delay);
                }
            }
            ReconcileResult::Requeue | ReconcileResult::Error => self.fail(key),
            ReconcileResult::TerminalError => {}
        }
        let moment = self.tick();
        let known = &mut self.keys[key];
        known.runs = false;
        if std::mem::take(&mut known.again) {
            known.ready = Some(moment);
        }
    }

    fn wait(&mut self, time: u64) {
        self.now += time;
        while let Some((_, key)) = (0..3)
            .filter_map(|key| Some((self.keys[key].wakes?, key)))
            .filter(|((time, _), _)| *time <= self.now)
            .min()
        {
            self.keys[key].wakes = None;
            self.ask(key);
        }
    }
}

const NAMES: [&str; 3] = ["default/a", "default/b", "default/c"];

/// The number of random histories; more of them with `PROPTEST_CASES`.
fn cases(usual: u32) -> u32 {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default().cases,
        None => usual,
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(500),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_queue_does_as_the_model(
        operations in proptest::collection::vec(operation(), 0..60),
    ) {
        let mut queue = WorkQueue::default();
        let mut model = Model::default();
        for operation in operations {
            let now = Duration::from_millis(model.now);
            match operation {
                Operation::Add(key) => {
                    queue.add(NAMES[usize::from(key)], KeyPriority::Usual);
                    model.ask(key.into());
                }
                Operation::AddAfter(key, delay) => {
                    let name = NAMES[usize::from(key)];
                    queue.add_after(name, Duration::from_millis(delay.into()), now);
                    model.ask_later(key.into(), delay.into());
                }
                Operation::AddRateLimited(key) => {
                    queue.add_rate_limited(NAMES[usize::from(key)], now);
                    model.fail(key.into());
                }
                Operation::Get => {
                    let expected = model.run().map(|key| NAMES[key].to_owned());
                    prop_assert_eq!(queue.get(), expected);
                }
                Operation::Finish(key, result) => {
                    let key = usize::from(key);
                    if model.keys[key].runs {
                        queue.finish(NAMES[key], result, now);
                        model.end(key, result);
                    }
                }
                Operation::Forget(key) => {
                    queue.forget(NAMES[usize::from(key)]);
                    model.keys[usize::from(key)].failures = 0;
                }
                Operation::Wait(time) => {
                    model.wait(time.into());
                    queue.advance(Duration::from_millis(model.now));
                }
            }
            for (name, key) in NAMES.iter().zip(&model.keys) {
                prop_assert_eq!(queue.num_requeues(name), key.failures);
                prop_assert_eq!(queue.processing().any(|other| other == *name), key.runs);
                let waits = queue.waiting().into_iter().find(|(other, _)| other == name);
                let wakes = key.wakes.map(|(time, _)| Duration::from_millis(time));
                prop_assert_eq!(waits.map(|(_, time)| time), wakes);
            }
        }
    }
}

/// An item of controller-runtime's queue, as `priorityqueue.go` has it.
#[derive(Clone, Copy)]
struct Item {
    key: usize,
    added: u64,
    priority: KeyPriority,
    ready_at: Option<u64>,
}

/// The queue with priorities: one list of items, each ready or waiting, and the keys that are
/// locked because a worker has them.
#[derive(Default)]
struct Prioritized {
    now: u64,
    added: u64,
    items: Vec<Item>,
    locked: Vec<(usize, KeyPriority)>,
    failures: [u32; 3],
}

impl Prioritized {
    fn add(&mut self, key: usize, priority: KeyPriority, after: u64) {
        let ready_at = (after > 0).then(|| self.now + after);
        let added = self.added;
        match self.items.iter_mut().find(|item| item.key == key) {
            None => {
                self.added += 1;
                self.items.push(Item {
                    key,
                    added,
                    priority,
                    ready_at,
                });
            }
            Some(item) => {
                item.ready_at = item.ready_at.and_then(|at| Some(at.min(ready_at?)));
                if priority > item.priority {
                    self.added += 1;
                    (item.priority, item.added) = (priority, added);
                }
            }
        }
    }

    fn priority_of(&self, key: usize) -> KeyPriority {
        let locked = self.locked.iter().find(|(locked, _)| *locked == key);
        locked.map_or(KeyPriority::Usual, |(_, priority)| *priority)
    }

    fn fail(&mut self, key: usize) {
        let delay = (5 << self.failures[key].min(30)).min(1_000_000);
        self.failures[key] += 1;
        self.add(key, self.priority_of(key), delay);
    }

    fn get(&mut self) -> Option<usize> {
        let free = |item: &&Item| {
            item.ready_at.is_none() && !self.locked.iter().any(|(key, _)| *key == item.key)
        };
        let ready = self.items.iter().filter(free);
        let next = *ready.min_by_key(|item| (std::cmp::Reverse(item.priority), item.added))?;
        self.items.retain(|item| item.key != next.key);
        self.locked.push((next.key, next.priority));
        Some(next.key)
    }

    fn finish(&mut self, key: usize, result: ReconcileResult) {
        match result {
            ReconcileResult::Done | ReconcileResult::RequeueAfter(0) => self.failures[key] = 0,
            ReconcileResult::RequeueAfter(delay) => {
                self.failures[key] = 0;
                self.add(key, self.priority_of(key), delay);
            }
            ReconcileResult::Requeue | ReconcileResult::Error => self.fail(key),
            ReconcileResult::TerminalError => {}
        }
        self.locked.retain(|(locked, _)| *locked != key);
    }

    fn wait(&mut self, time: u64) {
        self.now += time;
        loop {
            let due = self
                .items
                .iter_mut()
                .filter(|item| item.ready_at <= Some(self.now));
            let due = due.filter(|item| item.ready_at.is_some());
            let Some(item) = due.min_by_key(|item| (item.ready_at, item.added)) else {
                break;
            };
            (item.ready_at, item.added) = (None, self.added);
            self.added += 1;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(500),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_queue_with_priorities_does_as_that_of_controller_runtime(
        operations in proptest::collection::vec((operation(), any::<bool>()), 0..60),
    ) {
        let mut queue = WorkQueue::prioritizing();
        let mut model = Prioritized::default();
        for (operation, low) in operations {
            let now = Duration::from_millis(model.now);
            let priority = if low { KeyPriority::Low } else { KeyPriority::Usual };
            match operation {
                Operation::Add(key) => {
                    queue.add(NAMES[usize::from(key)], priority);
                    model.add(key.into(), priority, 0);
                }
                Operation::AddAfter(..) | Operation::AddRateLimited(_) => {}
                Operation::Get => {
                    let expected = model.get().map(|key| NAMES[key].to_owned());
                    prop_assert_eq!(queue.get(), expected);
                }
                Operation::Finish(key, result) => {
                    let key = usize::from(key);
                    if model.locked.iter().any(|(locked, _)| *locked == key) {
                        queue.finish(NAMES[key], result, now);
                        model.finish(key, result);
                    }
                }
                Operation::Forget(key) => {
                    queue.forget(NAMES[usize::from(key)]);
                    model.failures[usize::from(key)] = 0;
                }
                Operation::Wait(time) => {
                    model.wait(time.into());
                    queue.advance(Duration::from_millis(model.now));
                }
            }
            for (key, name) in NAMES.iter().enumerate() {
                let item = model.items.iter().find(|item| item.key == key);
                let waits = queue.waiting().into_iter().find(|(other, _)| other == name);
                let wakes = item.and_then(|item| item.ready_at).map(Duration::from_millis);
                prop_assert_eq!(waits.map(|(_, time)| time), wakes);
                let ready = item.is_some_and(|item| item.ready_at.is_none());
                prop_assert_eq!(queue.dirty().any(|other| other == *name), ready);
                prop_assert_eq!(queue.num_requeues(name), model.failures[key]);
            }
        }
    }
}
