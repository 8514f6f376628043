//! The interface to the browser: the queries of the state, and the effects that it asks for.

use optimist_sessions::{StorageArea, StorageContents, StorageEffect};

use crate::jobs::{JobId, JobRequest};
use crate::persistence::PersistenceMsg;
use crate::{Msg, State};

/// The queries that the state can ask of the browser. None of them changes the browser: an
/// [`BrowserEffect`] does.
pub trait Platform {
    /// The time, in milliseconds since 1970.
    fn now(&self) -> f64;

    /// A value of a storage; `None` where there is none or the browser forbids the storage.
    fn read(&self, area: StorageArea, key: &str) -> Option<String>;

    /// Everything in the storages.
    fn storages(&self) -> StorageContents;

    /// Returns whether jobs that can travel are done elsewhere than in the page.
    fn has_worker(&self) -> bool {
        false
    }
}

/// A change that the state asks of the browser.
#[derive(Clone, Debug)]
pub enum BrowserEffect {
    /// Changes a storage. If the browser refuses, nothing else is done.
    Storage(StorageEffect),
    /// Changes a storage. If the browser refuses, [`PersistenceMsg::Refused`] follows.
    MustStore(StorageEffect),
    /// Goes to another fragment of the address.
    GoTo(String),
    /// Says another fragment in the address, without a new entry in the browser's history.
    ReplaceAddress(String),
    /// Gives the keyboard to an element, by its id, after the next rendering.
    Focus(String),
    /// Starts a job. What it reports comes back as [`Msg::Job`].
    StartJob(JobId, Box<JobRequest>),
    /// Stops a job.
    CancelJob(JobId),
    /// Goes on with a message, after the effects before this one.
    Then(Box<Msg>),
}

/// The duration of a slice of long work, in milliseconds. The page does not react during a slice, and
/// the last part of a slice may take as long again.
pub const SLICE: f64 = 20.0;

/// Repeats a step of long work until it gives something or `budget` milliseconds are over. `None`
/// if there is more to do.
pub fn slice<T>(
    budget: f64,
    now: &dyn Fn() -> f64,
    mut step: impl FnMut() -> Option<T>,
) -> Option<T> {
    let begin = now();
    loop {
        let done = step();
        if done.is_some() || now() - begin > budget {
            return done;
        }
    }
}

/// The effects of one update, and the questions that it may ask the browser.
pub(crate) struct Effects<'a> {
    platform: &'a dyn Platform,
    list: Vec<BrowserEffect>,
}

impl<'a> Effects<'a> {
    pub(crate) fn new(platform: &'a dyn Platform) -> Self {
        Self {
            platform,
            list: Vec::new(),
        }
    }

    pub(crate) fn into_list(self) -> Vec<BrowserEffect> {
        self.list
    }

    pub(crate) fn push(&mut self, effect: BrowserEffect) {
        self.list.push(effect);
    }

    pub(crate) fn then(&mut self, msg: impl Into<Msg>) {
        self.push(BrowserEffect::Then(Box::new(msg.into())));
    }

    pub(crate) fn go_to(&mut self, fragment: &str) {
        self.push(BrowserEffect::GoTo(fragment.to_owned()));
    }

    pub(crate) fn keep(&mut self, effects: impl IntoIterator<Item = StorageEffect>) {
        self.list
            .extend(effects.into_iter().map(BrowserEffect::MustStore));
    }

    /// Writes to a storage or removes from it; a refusal only means that nothing is remembered.
    pub(crate) fn write(&mut self, place: StorageArea, key: &str, value: Option<String>) {
        let key = key.to_owned();
        self.push(BrowserEffect::Storage(match value {
            Some(value) => StorageEffect::Write { place, key, value },
            None => StorageEffect::Remove { place, key },
        }));
    }

    pub(crate) fn now(&self) -> f64 {
        self.platform.now()
    }

    pub(crate) fn has_worker(&self) -> bool {
        self.platform.has_worker()
    }

    pub(crate) fn storages(&self) -> StorageContents {
        self.platform.storages()
    }

    /// Returns the value that a storage will have under a key after the effects so far.
    pub(crate) fn read(&self, area: StorageArea, key: &str) -> Option<String> {
        for effect in self.list.iter().rev() {
            match effect {
                BrowserEffect::Storage(effect) | BrowserEffect::MustStore(effect) => match effect {
                    StorageEffect::Write {
                        place,
                        key: written,
                        value,
                    } if *place == area && written == key => return Some(value.clone()),
                    StorageEffect::Remove {
                        place,
                        key: removed,
                    } if *place == area && removed == key => return None,
                    _ => {}
                },
                _ => {}
            }
        }
        self.platform.read(area, key)
    }
}

/// Carries out effects and everything that follows from them. `perform` does one in the browser and
/// says whether the browser let it; it is never asked about [`BrowserEffect::Then`].
pub fn run(
    state: &mut State,
    effects: Vec<BrowserEffect>,
    platform: &dyn Platform,
    perform: &dyn Fn(&BrowserEffect) -> bool,
) {
    let mut left: Vec<BrowserEffect> = effects.into_iter().rev().collect();
    while let Some(effect) = left.pop() {
        let msg = match effect {
            BrowserEffect::Then(msg) => *msg,
            effect => match (perform(&effect), effect) {
                (false, BrowserEffect::MustStore(effect)) => PersistenceMsg::Refused(effect).into(),
                _ => continue,
            },
        };
        left.extend(state.update(msg, platform).into_iter().rev());
    }
}
