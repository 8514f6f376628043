//! A page without a browser: its state, and storages in memory.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};

use optimist_sessions::{StorageArea, StorageContents, StorageEffect};
use optimist_simulation::ActorId;
use optimist_state::{
    BrowserEffect, DiagnoseState, EditMsg, JobId, JobQueue, JobRequest, Msg, Platform, RequestMsg,
    SLICE, State, Typing, run,
};

/// A stand-in for the browser.
pub struct Memory {
    pub storages: RefCell<StorageContents>,
    /// The addresses that were set, one after the other.
    pub addresses: RefCell<Vec<String>>,
    /// The elements that got the keyboard, one after the other.
    pub focused: RefCell<Vec<String>>,
    /// `true` if the storage for all tabs takes nothing.
    pub full: Cell<bool>,
    /// `true` if the storage of the tab is.
    pub tab_full: Cell<bool>,
    /// The jobs that run.
    pub jobs: RefCell<JobQueue>,
    /// `true` if jobs can travel to a worker.
    pub has_worker: Cell<bool>,
    /// The jobs that travelled, and wait for a worker.
    pub sent: RefCell<VecDeque<(JobId, JobRequest)>>,
    now: Cell<f64>,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            storages: RefCell::default(),
            addresses: RefCell::default(),
            focused: RefCell::default(),
            full: Cell::default(),
            tab_full: Cell::default(),
            jobs: RefCell::new(JobQueue::new(report)),
            has_worker: Cell::default(),
            sent: RefCell::default(),
            now: Cell::default(),
        }
    }
}

/// What stands for the Markdown of a case: the answers to each way of writing, and whether it has stand-ins.
pub fn report(case: &DiagnoseState, stand_ins: bool) -> String {
    let rows = case.table.iter().flat_map(|table| &table.rows);
    let rows: Vec<_> = rows.map(|row| (row.way, row.code)).collect();
    format!("{rows:?} {stand_ins}")
}

impl Platform for Memory {
    /// Every look at the clock is a millisecond later.
    fn now(&self) -> f64 {
        self.now.set(self.now.get() + 1.0);
        self.now.get()
    }

    fn read(&self, area: StorageArea, key: &str) -> Option<String> {
        let storages = self.storages.borrow();
        let storage = match area {
            StorageArea::Tab => &storages.tab,
            StorageArea::Browser => &storages.browser,
        };
        storage.get(key).cloned()
    }

    fn storages(&self) -> StorageContents {
        self.storages.borrow().clone()
    }

    fn has_worker(&self) -> bool {
        self.has_worker.get()
    }
}

impl Memory {
    fn perform(&self, effect: &BrowserEffect) -> bool {
        match effect {
            BrowserEffect::Storage(effect) | BrowserEffect::MustStore(effect) => {
                return self.change(effect);
            }
            BrowserEffect::GoTo(fragment) | BrowserEffect::ReplaceAddress(fragment) => {
                self.addresses.borrow_mut().push(fragment.clone());
            }
            BrowserEffect::Focus(id) => self.focused.borrow_mut().push(id.clone()),
            BrowserEffect::StartJob(id, request) => {
                let request = JobRequest::clone(request);
                match self.has_worker.get() && request.can_travel() {
                    true => self.sent.borrow_mut().push_back((*id, request)),
                    false => self.jobs.borrow_mut().start(*id, request, self.now()),
                }
            }
            BrowserEffect::CancelJob(id) => self.jobs.borrow_mut().cancel(*id),
            BrowserEffect::Then(msg) => {
                panic!("{msg:?} is a message, and none of the browser's effects")
            }
        }
        true
    }

    fn change(&self, effect: &StorageEffect) -> bool {
        let mut storages = self.storages.borrow_mut();
        let (StorageEffect::Write { place, .. } | StorageEffect::Remove { place, .. }) = effect;
        let storage = match place {
            StorageArea::Tab if self.tab_full.get() => return false,
            StorageArea::Tab => &mut storages.tab,
            StorageArea::Browser if self.full.get() => return false,
            StorageArea::Browser => &mut storages.browser,
        };
        match effect {
            StorageEffect::Write { key, value, .. } => {
                storage.insert(key.clone(), value.clone());
            }
            StorageEffect::Remove { key, .. } => drop(storage.remove(key)),
        }
        true
    }
}

/// A page.
pub struct Page {
    pub state: State,
    pub browser: Memory,
}

impl Page {
    /// A page in a new browser.
    pub fn open() -> Self {
        Self::open_at("", Memory::default())
    }

    /// A page at a fragment, in a browser that may have kept something.
    pub fn open_at(fragment: &str, browser: Memory) -> Self {
        static SALT: AtomicU64 = AtomicU64::new(1);
        let salt = SALT.fetch_add(1 << 30, Ordering::Relaxed);
        let (mut state, effects) = State::open(fragment, salt, &browser);
        run(&mut state, effects, &browser, &|effect| {
            browser.perform(effect)
        });
        let mut page = Self { state, browser };
        page.finish_work();
        page
    }

    /// The page after a reload at a fragment.
    pub fn reload(self, fragment: &str) -> Self {
        Self::open_at(fragment, self.browser)
    }

    /// Returns the effects that a message asks of the browser.
    pub fn effects(&mut self, msg: impl Into<Msg>) -> Vec<BrowserEffect> {
        self.state.update(msg.into(), &self.browser)
    }

    /// Sends a message and does what follows.
    pub fn send(&mut self, msg: impl Into<Msg>) {
        let effects = self.effects(msg);
        run(&mut self.state, effects, &self.browser, &|effect| {
            self.browser.perform(effect)
        });
    }

    /// Works for a slice.
    pub fn work(&mut self) {
        let now = || self.browser.now();
        self.browser.jobs.borrow_mut().advance(SLICE, &now);
        let report = self.browser.jobs.borrow_mut().take_report();
        if let Some((id, report)) = report {
            self.send(Msg::Job(id, report));
        }
    }

    /// Works until nothing takes long any more.
    pub fn finish_work(&mut self) {
        for _ in 0..10_000 {
            if !self.state.is_working() {
                return;
            }
            self.work();
        }
        panic!("the work does not end");
    }

    /// Reads as an editor, types over a value and sends that.
    pub fn write(&mut self, editor: ActorId, pointer: &str, value: &str) {
        self.send(RequestMsg::Get(editor));
        self.type_over(editor, pointer, value);
        self.send(RequestMsg::Send(editor));
    }

    /// Types over a value in place.
    pub fn type_over(&mut self, editor: ActorId, pointer: &str, value: &str) {
        let pointer = pointer.to_owned();
        self.send(EditMsg::Start(
            editor,
            Typing::Value,
            pointer,
            String::new(),
        ));
        self.send(EditMsg::Commit(value.to_owned()));
    }

    /// Returns how many steps the current history has.
    pub fn steps(&self) -> usize {
        self.state.session.tree.current_path().len() - 1
    }

    /// The stored value at a pointer.
    pub fn stored(&self, pointer: &str) -> String {
        let (_, object) = self.state.world().stored().expect("the object is there");
        object
            .pointer(pointer)
            .map_or("none".into(), ToString::to_string)
    }

    /// The keys of a storage that begin so.
    pub fn keys(&self, area: StorageArea, prefix: &str) -> Vec<String> {
        let storages = self.browser.storages.borrow();
        let storage = match area {
            StorageArea::Tab => &storages.tab,
            StorageArea::Browser => &storages.browser,
        };
        let keys = storage.keys().filter(|key| key.starts_with(prefix));
        keys.cloned().collect()
    }
}
