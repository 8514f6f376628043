//! Sessions that go out as texts and come in as links or files.

use std::cell::RefCell;
use std::rc::Rc;

use optimist_simulation::RunTree;
use optimist_text::share::{MAX_STEPS, MAX_WEIGHT, Replay, Session, ShareError, weight_of};

use super::{Dialog, Page, State};
use crate::browser;

/// A session that is being opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Opening {
    /// What is left to be done.
    replay: Option<Rc<RefCell<Replay>>>,
    /// Why the last one was not opened.
    pub(crate) problem: Option<String>,
    /// Whether it is kept here, where it was before.
    pub(crate) still_kept: bool,
}

/// What is shared where private values are left out of it.
#[derive(Clone, Debug)]
pub(crate) struct Redacted {
    pub(crate) session: Session,
    /// The same done again, for exports; `None` if it cannot be.
    pub(crate) tree: Option<Rc<RunTree>>,
}

/// What the tree on the stage weighs, so that what is made here can be opened again.
#[derive(Clone, Debug, Default)]
pub(super) struct Weight {
    /// How many of its nodes were weighed, and what they weigh.
    weighed: (usize, usize),
}

impl Weight {
    /// Whether the tree can be opened from a link or a file. Only the nodes that came since the
    /// last time are weighed; a tree in whose place another one came has a weight of its own.
    pub(super) fn fits(&mut self, tree: &RunTree) -> bool {
        let (from, before) = self.weighed;
        let steps = (from..tree.len()).filter_map(|node| tree.step(node));
        let weight = before + steps.map(weight_of).sum::<usize>();
        let fits = weight <= MAX_WEIGHT && tree.len() <= MAX_STEPS;
        if fits {
            self.weighed = (tree.len(), weight);
        }
        fits
    }
}

/// How long the page may be away for a part of it, in milliseconds.
const SLICE: f64 = 12.0;

/// The session that a fragment carries: `#/play?s=1pY5L…`.
pub(crate) fn carried(fragment: &str) -> Option<&str> {
    let (_, query) = fragment.split_once('?')?;
    query.split('&').find_map(|pair| pair.strip_prefix("s="))
}

impl Opening {
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
        let explored = (self.page == Page::Explore).then(|| self.handover.session());
        explored.flatten().unwrap_or_else(|| self.session())
    }

    /// Leaves the values out of what is shared that look private, or no longer.
    #[inline(never)] // not on the first screen
    pub(super) fn redact(&mut self, on: bool) {
        self.redacted = on.then(|| {
            let session = self.shared();
            let session = session.without(&session.private_values());
            let tree = session.clone().replay().finish().ok().map(Rc::new);
            Rc::new(Redacted { session, tree })
        });
    }

    /// Begins to open a session.
    #[inline(never)] // not on the first screen
    pub(super) fn open_session(&mut self, text: &str) {
        match Session::parse(text) {
            Ok(session) => {
                self.opening.replay = Some(Rc::new(RefCell::new(session.replay())));
                self.opening.problem = None;
                self.dialog = None;
            }
            Err(error) => self.not_opened(&error),
        }
    }

    #[inline(never)] // not on the first screen
    fn not_opened(&mut self, error: &ShareError) {
        let still_kept = self.not_opened_kept();
        self.opening = Opening {
            replay: None,
            problem: Some(error.to_string()),
            still_kept,
        };
        self.dialog = Some(Dialog::Share);
        // A reload is not to try it again.
        if carried(&browser::fragment()).is_some() {
            browser::go(self.page.fragment());
        }
    }

    /// Goes on with opening for a little while.
    #[inline(never)] // not on the first screen
    pub(super) fn open_further(&mut self) {
        let Some(replay) = self.opening.replay.take() else {
            return;
        };
        let begin = js_sys::Date::now();
        let opened = loop {
            let opened = replay.borrow_mut().advance(4);
            if !matches!(opened, Ok(None)) || js_sys::Date::now() - begin > SLICE {
                break opened;
            }
        };
        let tree = match opened {
            Ok(None) => {
                self.opening.replay = Some(replay);
                return;
            }
            Ok(Some(tree)) => tree,
            Err(error) => return self.not_opened(&error),
        };
        let (learning, explored, setup) = {
            let replay = replay.borrow();
            let session = replay.session();
            let explored = session.page == Page::Explore.slug();
            (session.learning.clone(), explored, session.extra.clone())
        };
        match learning {
            None if explored => {
                self.opened_elsewhere();
                self.handover.ask(tree, setup);
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
    fn play_session(&mut self, tree: &Rc<RunTree>) {
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
        // The link is done: a reload must not undo what is done from here on.
        browser::go(Page::Play.fragment());
    }
}
