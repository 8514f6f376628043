//! The session outlives a reload: each tab keeps its own, and the last one of any tab is offered to
//! a new one.

use std::cell::RefCell;
use std::rc::Rc;

use optimist_simulation::RunTree;
use optimist_text::share::Session;

use super::{Page, State};
use crate::browser;

/// What a tab keeps for itself.
pub(crate) const OWN: &str = "optimist.session";
/// What any tab kept last.
const LAST: &str = "optimist.last-session";
/// There while a kept session is being opened. Found at the start it says that the last attempt
/// brought the page down: it is not tried again unasked.
const OPENING: &str = "optimist.opening";

/// What was kept last, so that keeping it again takes as long as what changed.
#[derive(Debug)]
struct Last {
    of: Rc<RunTree>,
    session: Session,
}

/// What is known of keeping.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    /// A session that can be opened again, if that is wanted.
    pub(crate) offered: Option<String>,
    /// Whether the browser refuses to keep anything, and nobody was told yet.
    pub(crate) refused: bool,
    /// Whether that was told.
    told: bool,
    /// To be opened as soon as Play is.
    waiting: Option<String>,
    /// Whether what is being opened was kept here.
    restoring: bool,
    last: Rc<RefCell<Option<Last>>>,
}

impl State {
    /// Finds what was kept, as the page opens.
    pub(super) fn find_kept(&mut self) {
        let failed = browser::kept(OPENING).is_some();
        match browser::kept(OWN) {
            Some(own) if failed => {
                browser::keep(OPENING, None);
                self.kept.offered = Some(own);
            }
            Some(own) => self.kept.waiting = Some(own),
            None => self.kept.offered = browser::remembered(LAST),
        }
    }

    /// Opens what was kept, once the page that it belongs on is.
    pub(super) fn restore(&mut self) {
        if self.page == Page::Learn {
            return;
        }
        if let Some(text) = self.kept.waiting.take() {
            self.reopen(&text);
        }
    }

    /// Opens a session that was kept here.
    pub(super) fn reopen(&mut self, text: &str) {
        browser::keep(OPENING, Some("1"));
        self.kept.restoring = true;
        self.open_session(text);
    }

    /// A link is opened instead of what was kept, which can still be had.
    pub(super) fn set_aside(&mut self) {
        if let Some(own) = self.kept.waiting.take() {
            self.kept.offered = Some(own);
        }
    }

    /// A session was opened, or could not be; whether it is one that was kept here.
    pub(super) fn opened_kept(&mut self) -> bool {
        if self.kept.restoring {
            browser::keep(OPENING, None);
        }
        std::mem::take(&mut self.kept.restoring)
    }

    /// Opens what was offered.
    pub(super) fn take_offer(&mut self) {
        if let Some(text) = self.kept.offered.take() {
            self.open_session(&text);
        }
    }

    /// Keeps the session of Play. Whether there is something new to tell.
    pub(super) fn keep(&mut self) -> bool {
        // A lesson keeps its own place, and what is half opened is not yet a session.
        if self.learn.is_on_stage() || self.is_working() || self.kept.waiting.is_some() {
            return false;
        }
        // Nothing was done yet, and nothing is to be replaced.
        if self.tree.len() == 1 && browser::kept(OWN).is_none() {
            return false;
        }
        let last = self.kept.last.take();
        let session = match &last {
            Some(Last { of, .. }) if Rc::ptr_eq(of, &self.tree) => {
                self.kept.last.replace(last);
                return false;
            }
            Some(Last { of, session }) => session.renewed(of, &self.tree),
            None => self.session(),
        };
        let text = session.to_text();
        let of = Rc::clone(&self.tree);
        self.kept.last.replace(Some(Last { of, session }));
        let kept = browser::keep(OWN, Some(&text));
        browser::remember(LAST, Some(&text));
        if kept || self.kept.told {
            return false;
        }
        self.kept.refused = true;
        self.kept.told = true;
        true
    }
}
