//! Sessions that go out as texts and come in as links or files.

use std::cell::RefCell;
use std::rc::Rc;

use optimist_text::share::{Replay, Session, ShareError};

use super::{Dialog, Page, State};
use crate::browser;

/// A session that is being opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Opening {
    /// What is left to be done.
    replay: Option<Rc<RefCell<Replay>>>,
    /// Why the last one was not opened.
    pub(crate) problem: Option<String>,
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
        session.page = page.fragment().trim_start_matches("#/").to_owned();
        session
    }

    /// What the page that is open shows, as a session.
    pub(crate) fn shared(&self) -> Session {
        let explored = (self.page == Page::Explore).then(|| self.handover.session());
        explored.flatten().unwrap_or_else(|| self.session())
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
        self.opened_kept();
        self.opening = Opening {
            replay: None,
            problem: Some(error.to_string()),
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
        let learning = replay.borrow().session().learning.clone();
        let explored = replay.borrow().session().page == "explore";
        match learning {
            None if explored => {
                let setup = replay.borrow().session().extra.clone();
                self.handover.ask(tree, setup);
                self.page = Page::Explore;
                browser::go(Page::Explore.fragment());
            }
            Some(learning) => {
                self.page = Page::Learn;
                self.set_stage();
                self.open_linked_lesson(learning, tree);
            }
            None if self.opened_kept() => {
                self.enter(Rc::new(tree));
                self.loaded = None;
            }
            None => {
                self.page = Page::Play;
                self.set_stage();
                // What was there is not lost: the header leads back to it.
                if self.tree.len() > 1 {
                    self.put_aside();
                }
                self.enter(Rc::new(tree));
                self.loaded = None;
                // The link is done: a reload must not undo what is done from here on.
                browser::go(Page::Play.fragment());
            }
        }
    }
}
