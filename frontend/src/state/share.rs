//! Sessions that go out as texts and come in as links or files.

use std::cell::RefCell;
use std::rc::Rc;

use optimist_apiserver::server::Release;
use optimist_simulation::HistoryTree;
use optimist_text::share::{Private, Replay, Session, ShareError};

use super::{Dialog, Page, State};
use crate::browser;

/// A session that is being opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionLoad {
    /// What is left to be done.
    replay: Option<Rc<RefCell<Replay>>>,
    /// Why the last one was not opened.
    pub(crate) problem: Option<String>,
    /// Whether it is kept here, where it was before.
    pub(crate) still_kept: bool,
    /// Whether it is what is on the stage, done again.
    in_place: bool,
}

/// What is shared where private values are left out of it.
#[derive(Clone, Debug)]
pub(crate) struct Redacted {
    pub(crate) session: Session,
    /// What was left out of it.
    pub(crate) private: Vec<Private>,
    pub(crate) replay: ReplayState,
}

/// How far a session is repeated, for the exports of it.
#[derive(Clone, Debug)]
pub(crate) enum ReplayState {
    /// Some steps are left.
    Running(Rc<RefCell<Replay>>),
    /// All steps are done.
    Done(Rc<HistoryTree>),
    /// It cannot be done without the values.
    Failed,
}

impl ReplayState {
    /// How many steps are done, and how many there are, while some are left.
    pub(crate) fn progress(&self) -> Option<(usize, usize)> {
        match self {
            ReplayState::Running(replay) => Some(replay.borrow().progress()),
            _ => None,
        }
    }
}

/// How long the page may be away for a part of it, in milliseconds.
const SLICE: f64 = 12.0;

/// The session that a fragment carries: `#/play?s=1pY5L…`.
pub(crate) fn carried(fragment: &str) -> Option<&str> {
    let (_, query) = fragment.split_once('?')?;
    query.split('&').find_map(|pair| pair.strip_prefix("s="))
}

/// Goes on with a session for a little while; what was done once all is done.
pub(super) fn slice(replay: &RefCell<Replay>) -> Result<Option<HistoryTree>, ShareError> {
    let begin = js_sys::Date::now();
    loop {
        let done = replay.borrow_mut().advance(1);
        if !matches!(done, Ok(None)) || js_sys::Date::now() - begin > SLICE {
            return done;
        }
    }
}

impl SessionLoad {
    /// How many steps are done, and how many there are.
    pub(crate) fn progress(&self) -> Option<(usize, usize)> {
        let replay = self.replay.as_ref()?;
        Some(replay.borrow().progress())
    }
}

impl State {
    /// What is on the stage, as a session.
    pub(crate) fn session(&self) -> Session {
        let (mut session, page) = match self.learn.learning() {
            Some(learning) => (Session::of_lesson(&self.tree, learning), Page::Learn),
            None => (Session::of(&self.tree), Page::Play),
        };
        page.slug().clone_into(&mut session.page);
        session
    }

    /// What the page that is open shows, as a session.
    pub(crate) fn shared(&self) -> Session {
        let explored = (self.page == Page::Explore).then(|| self.transfer.session());
        explored.flatten().unwrap_or_else(|| self.session())
    }

    /// Leaves the values out of what is shared that look private, or no longer.
    #[inline(never)] // not on the first screen
    pub(super) fn redact(&mut self, on: bool) {
        self.redacted = on.then(|| {
            let session = self.shared();
            let private = session.private_values();
            let session = session.without(&private);
            let replay = session.clone().replay();
            Rc::new(Redacted {
                session,
                private,
                replay: ReplayState::Running(Rc::new(RefCell::new(replay))),
            })
        });
    }

    /// Repeats what is shared without private values for a little while.
    #[inline(never)] // not on the first screen
    pub(super) fn redact_further(&mut self) {
        let Some(redacted) = self.redacted.as_deref() else {
            return;
        };
        let ReplayState::Running(replay) = &redacted.replay else {
            return;
        };
        let state = match slice(replay) {
            Ok(None) => return,
            Ok(Some(tree)) => ReplayState::Done(Rc::new(tree)),
            Err(_) => ReplayState::Failed,
        };
        self.redacted = Some(Rc::new(Redacted {
            replay: state,
            ..redacted.clone()
        }));
    }

    /// Begins to open a session.
    #[inline(never)] // not on the first screen
    pub(super) fn open_session(&mut self, text: &str) {
        match Session::parse(text) {
            Ok(session) => {
                self.begin_replay(session, false);
                self.dialog = None;
            }
            Err(error) => self.not_opened(&error),
        }
    }

    fn begin_replay(&mut self, session: Session, in_place: bool) {
        self.opening.replay = Some(Rc::new(RefCell::new(session.replay())));
        self.opening.problem = None;
        self.opening.in_place = in_place;
    }

    /// Does what is on the stage again, on a server of another release.
    #[inline(never)] // not on the first screen
    pub(super) fn change_release(&mut self, release: Release) {
        if release != self.world().server().release() {
            self.playing = false;
            self.begin_replay(self.session().at_release(release), true);
        }
    }

    #[inline(never)] // not on the first screen
    fn not_opened(&mut self, error: &ShareError) {
        let still_kept = self.not_opened_kept();
        self.opening = SessionLoad {
            replay: None,
            problem: Some(error.to_string()),
            still_kept,
            in_place: false,
        };
        self.dialog = Some(Dialog::Share);
    }

    /// How many steps of what is being opened are done, and how many there are.
    pub(crate) fn progress(&self) -> Option<(usize, usize)> {
        self.opening.progress().or_else(|| self.learn.progress())
    }

    /// Opens no further what is being opened. What was kept stays kept.
    #[inline(never)] // not on the first screen
    pub(super) fn cancel_opening(&mut self) {
        if self.opening.replay.take().is_some() && !self.opening.in_place {
            self.not_opened_kept();
        }
        self.cancel_lesson();
    }

    /// Goes on with opening for a little while.
    #[inline(never)] // not on the first screen
    pub(super) fn open_further(&mut self) {
        let Some(replay) = self.opening.replay.take() else {
            return;
        };
        let tree = match slice(&replay) {
            Ok(None) => {
                self.opening.replay = Some(replay);
                return;
            }
            Ok(Some(tree)) => tree,
            Err(error) => return self.not_opened(&error),
        };
        if std::mem::take(&mut self.opening.in_place) {
            let tab = self.server_tab;
            self.enter(Rc::new(tree));
            self.server_tab = tab;
            return;
        }
        let (learning, explored, setup) = {
            let replay = replay.borrow();
            let session = replay.session();
            let explored = session.page == Page::Explore.slug();
            (session.learning.clone(), explored, session.extra.clone())
        };
        match learning {
            None if explored => {
                self.opened_elsewhere();
                self.transfer.ask(tree, setup);
                self.page = Page::Explore;
                browser::go(Page::Explore.fragment());
            }
            Some(learning) => {
                self.opened_elsewhere();
                self.page = Page::Learn;
                self.set_stage();
                self.open_linked_lesson(learning, tree);
            }
            None => self.play_session(&Rc::new(tree)),
        }
    }

    /// Shows a session that was opened in Play.
    #[inline(never)] // not on the first screen
    fn play_session(&mut self, tree: &Rc<HistoryTree>) {
        // What was kept is opened behind whatever page is open.
        let page = self.page;
        self.page = Page::Play;
        self.set_stage();
        if self.enter_kept(tree) {
            self.page = page;
            self.set_stage();
            return;
        }
        // What was there is not lost: the header leads back to it.
        self.enter_shown(Rc::clone(tree));
        browser::go(Page::Play.fragment());
    }
}
