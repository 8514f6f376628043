//! Keeps sessions across a reload, a closed tab and the opening of another session.
//! `optimist_sessions` decides which sessions are kept, and where; this module passes the content
//! of the page to it, and its effects to the browser.

use std::rc::Rc;

use optimist_links::Session;
use optimist_sessions::{Drafts, OWN, SessionSnapshot, Sessions, StorageArea, StorageEffect};
use optimist_simulation::{ActorId, HistoryTree, NGINX};

use crate::State;
use crate::address::Page;
use crate::editing::RawYaml;
use crate::effect::Effects;
use crate::share::{PROPERTY, ShareMsg, THIRD};
use crate::view::Dialog;

/// The FNV-1a hash of a text with 64 bits: the same in every build of this program, so it can be stored.
pub(crate) fn fnv_1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The session of a history, as it was recorded last. The next snapshot reads only the changes since then.
#[derive(Clone, Debug)]
struct Last {
    of: Rc<HistoryTree>,
    session: Rc<Session>,
    /// The texts that were typed when it was kept; `None` before the browser keeps it.
    drafts: Option<Drafts>,
}

/// Data in the browser's storages that the page cannot read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnreadableData {
    /// The text that was being typed in this tab.
    Typing,
    /// A session.
    Session,
    /// The progress in the lessons.
    Lessons,
    /// The question that Explore showed in this tab.
    Explored,
}

/// The state of the browser's storages, as this tab knows it.
#[derive(Clone, Debug, Default)]
pub struct Persistence {
    /// The sessions that the browser keeps.
    pub sessions: Rc<Sessions>,
    /// `true` if the browser refuses to store anything, and the page must say so.
    pub refused: bool,
    /// `true` if the page has said so.
    told: bool,
    /// The data that could not be read when the page opened, and that the page must name.
    pub unreadable: Vec<UnreadableData>,
    /// `true` if the header must lead from the session that is being opened back to the current
    /// one.
    back: bool,
    /// The displayed session as it was when it opened, if the user did not make it.
    shown: Option<Rc<Session>>,
    /// The session that was archived last, by its id, and its tree, to show it again at once.
    archived: Option<(String, Rc<HistoryTree>)>,
    last: Option<Last>,
}

/// A message about the sessions that the browser keeps.
#[derive(Clone, Debug)]
pub enum PersistenceMsg {
    /// Saves the session, for after a reload.
    Save,
    /// The browser refused to change a storage.
    Refused(StorageEffect),
    /// Shows another history, and archives the current session.
    Enter(Rc<HistoryTree>),
    /// Goes back to the session that was archived last.
    Return,
    /// Opens the offered session.
    TakeOffer,
    /// Dismisses the notice on kept sessions.
    Dismiss,
    /// Opens a kept session, by its id.
    Reopen(String),
    /// Forgets a kept session.
    Remove(String),
}

/// The session of a history of Play. Its steps are those of the session that was opened, if it is known: to find
/// them in the history again would hold the page.
fn session_in_play(tree: &HistoryTree, opened: Option<&Session>) -> Session {
    let mut session = match opened {
        Some(opened) => opened.renewed(tree, tree),
        None => Session::from_tree(tree),
    };
    Page::Play.slug().clone_into(&mut session.page);
    session
}

impl State {
    pub(crate) fn update_persistence(&mut self, msg: PersistenceMsg, fx: &mut Effects<'_>) {
        match msg {
            PersistenceMsg::Save => self.save(fx),
            PersistenceMsg::Refused(effect) => self.refused(&effect, fx),
            PersistenceMsg::Enter(tree) => self.enter_shown(tree, None, fx),
            PersistenceMsg::Return => self.return_to_own(fx),
            PersistenceMsg::TakeOffer => self.take_offer(fx),
            PersistenceMsg::Dismiss => self.dismiss_kept(fx),
            PersistenceMsg::Reopen(id) => {
                self.view.dialog = None;
                self.reopen(&id, true, fx);
            }
            PersistenceMsg::Remove(id) => fx.keep(self.sessions().remove(&id)),
        }
    }

    /// Reads the kept sessions when the page opens. `salt` is a number that differs between tabs.
    pub(crate) fn find_kept(&mut self, salt: u64, fx: &mut Effects<'_>) {
        let (sessions, effects) = Sessions::read(&fx.storages(), fx.now(), salt);
        let mut unreadable = Vec::new();
        for (place, key) in sessions.unreadable() {
            let what = match (place, key.as_str()) {
                (StorageArea::Tab, optimist_sessions::TAB) => UnreadableData::Typing,
                _ => UnreadableData::Session,
            };
            if !unreadable.contains(&what) {
                unreadable.push(what);
            }
        }
        if !crate::learn::progress_is_readable(fx) {
            unreadable.push(UnreadableData::Lessons);
        }
        self.manifest.text = sessions.manifest().to_owned();
        self.persistence.unreadable = unreadable;
        self.persistence.sessions = Rc::new(sessions);
        fx.keep(effects);
        let typed = self
            .persistence
            .unreadable
            .contains(&UnreadableData::Typing);
        let typed = typed.then(|| fx.read(StorageArea::Tab, optimist_sessions::TAB));
        if let Some(text) = typed.flatten() {
            // The next snapshot is written over it.
            self.keep_unopened("Unfinished texts", &text, fx);
        }
    }

    fn sessions(&mut self) -> &mut Sessions {
        Rc::make_mut(&mut self.persistence.sessions)
    }

    /// Stores a refused value in another place, or makes the page say that it is lost.
    fn refused(&mut self, effect: &StorageEffect, fx: &mut Effects<'_>) {
        if self.case_refused(effect) {
            return;
        }
        let other = self.sessions().failed(effect);
        let lost = other.is_empty() && matches!(effect, StorageEffect::Write { .. });
        if lost && !self.persistence.told {
            self.persistence.refused = true;
            self.persistence.told = true;
        }
        fx.keep(other);
    }

    /// Opens the session that the tab had before a reload, unless Learn is open.
    pub(crate) fn restore(&mut self, fx: &mut Effects<'_>) {
        if self.page == Page::Learn {
            return;
        }
        if let Some((entry, effects)) = self.sessions().open_waiting() {
            fx.keep(effects);
            self.persistence.back = false;
            fx.then(ShareMsg::Open(entry.text));
        }
    }

    /// Begins to open a kept session. `back` is `true` if the header must lead back to the current
    /// one.
    fn reopen(&mut self, id: &str, back: bool, fx: &mut Effects<'_>) {
        self.sessions().look_again(&fx.storages());
        if let Some((entry, effects)) = self.sessions().open(id) {
            fx.keep(effects);
            self.persistence.back = back;
            fx.then(ShareMsg::Open(entry.text));
        }
    }

    /// Archives the session that the tab had before, because a link is opened. The user can return
    /// to it.
    pub(crate) fn archive_waiting(&mut self, fx: &mut Effects<'_>) {
        fx.keep(self.sessions().archive_waiting(fx.now()));
    }

    /// Archives the displayed session, if the user made it, before another one is displayed. `back`
    /// is `true` if the header must lead back to it.
    pub(crate) fn archive_shown(&mut self, back: bool, fx: &mut Effects<'_>) {
        let shown = self.snapshot();
        let (id, effects) = self.sessions().archive(&shown, back, fx.now());
        fx.keep(effects);
        self.persistence.archived = id.map(|id| (id, Rc::clone(&self.session.tree)));
        self.persistence.last = None;
        self.persistence.shown = None;
    }

    /// Shows a history that the user did not make. `opened` is the session whose steps were repeated to
    /// get it, if there is one.
    pub(crate) fn enter_shown(
        &mut self,
        tree: Rc<HistoryTree>,
        opened: Option<&Session>,
        fx: &mut Effects<'_>,
    ) {
        self.archive_shown(true, fx);
        self.persistence.shown = Some(self.record_entered(&tree, opened));
        self.enter(tree);
        self.manifest.loaded = None;
    }

    /// Records the session of a history that is entered, for the first snapshot of it.
    fn record_entered(&mut self, tree: &Rc<HistoryTree>, opened: Option<&Session>) -> Rc<Session> {
        let session = Rc::new(session_in_play(tree, opened));
        self.persistence.last = Some(Last {
            of: Rc::clone(tree),
            session: Rc::clone(&session),
            drafts: None,
        });
        session
    }

    /// Shows the kept session that was being opened; `false` if the opened session is not a kept
    /// one. `opened` is that session; without it, it is read from its history.
    pub(crate) fn enter_kept(
        &mut self,
        tree: &Rc<HistoryTree>,
        opened: Option<&Session>,
        fx: &mut Effects<'_>,
    ) -> bool {
        if !self.persistence.sessions.is_opening() {
            return false;
        }
        self.archive_shown(self.persistence.back, fx);
        let Some((entry, effects)) = self.sessions().opened() else {
            return false;
        };
        fx.keep(effects);
        let session = self.record_entered(tree, opened);
        if !self.persistence.sessions.is_own() {
            self.persistence.shown = Some(session);
        }
        self.enter(Rc::clone(tree));
        self.manifest.loaded = None;
        self.type_again(&entry.drafts);
        let asked = |key: &str| entry.drafts.get(key).map(String::as_str);
        self.ask_again(asked(PROPERTY), asked(THIRD), fx);
        true
    }

    /// Records that the opened session is not displayed in Play, so it is not the session of this
    /// tab.
    pub(crate) fn opened_elsewhere(&mut self, fx: &mut Effects<'_>) {
        if let Some((_, effects)) = self.sessions().opened() {
            fx.keep(effects);
            self.persistence.last = None;
        }
    }

    /// Reports that a session could not be opened. Returns whether it was a kept session, which
    /// stays kept.
    pub(crate) fn not_opened_kept(&mut self, fx: &mut Effects<'_>) -> bool {
        let (kept, effects) = self.sessions().not_opened(fx.now());
        fx.keep(effects);
        kept
    }

    /// Goes back to the session that was archived last.
    fn return_to_own(&mut self, fx: &mut Effects<'_>) {
        let away = self.persistence.sessions.last_away();
        let Some(id) = away.map(|entry| entry.id.clone()) else {
            return;
        };
        let archived = self.persistence.archived.take();
        let Some((_, tree)) = archived.filter(|(known, _)| *known == id) else {
            return self.reopen(&id, false, fx);
        };
        if let Some((_, effects)) = self.sessions().open(&id) {
            fx.keep(effects);
            self.persistence.back = false;
            self.enter_kept(&tree, None, fx);
        }
    }

    /// Opens the offered session, or lists the sessions if several are offered.
    fn take_offer(&mut self, fx: &mut Effects<'_>) {
        let offered = self.persistence.sessions.offered();
        let offered: Vec<String> = offered.map(|entry| entry.id.clone()).collect();
        match offered.as_slice() {
            [id] => self.reopen(id, true, fx),
            _ => self.list_sessions(fx),
        }
    }

    pub(crate) fn list_sessions(&mut self, fx: &Effects<'_>) {
        self.sessions().look_again(&fx.storages());
        self.view.dialog = Some(Dialog::Sessions);
    }

    /// Dismisses the notice on kept sessions. An offered session stays in the list.
    fn dismiss_kept(&mut self, fx: &mut Effects<'_>) {
        if self.persistence.refused {
            self.persistence.refused = false;
        } else if !self.persistence.unreadable.is_empty() {
            self.persistence.unreadable.clear();
        } else {
            fx.keep(self.sessions().refuse());
        }
    }

    /// Keeps a text that was kept for something that can no longer use it.
    pub(crate) fn keep_unopened(&mut self, name: &str, text: &str, fx: &mut Effects<'_>) {
        fx.keep(self.sessions().keep_unopened(name, text, fx.now()));
    }

    /// Makes a snapshot of Play, for the browser's storages.
    fn snapshot(&mut self) -> SessionSnapshot {
        let tree = &self.session.tree;
        let session = match self.persistence.last.take() {
            Some(Last { of, session, .. }) if Rc::ptr_eq(&of, tree) => session,
            Some(Last { of, session, .. }) => Rc::new(session.renewed(&of, tree)),
            None => Rc::new(session_in_play(tree, None)),
        };
        let subject = self.world().subject();
        let steps = match session.steps() {
            1 => "1 step".to_owned(),
            steps => format!("{steps} steps"),
        };
        let name = format!("{} {}, {steps}", subject.resource().kind, subject.name());
        let drafts = self.drafts();
        let snapshot = SessionSnapshot {
            name,
            text: session.to_text(),
            drafts: drafts.clone(),
            own: self.is_own(&session),
        };
        self.persistence.last = Some(Last {
            of: Rc::clone(tree),
            session,
            drafts: Some(drafts),
        });
        snapshot
    }

    /// The working copies that are typed as a whole, and what somebody asks of a controller.
    fn drafts(&self) -> Drafts {
        let raw = self.editing.raw.iter();
        let raw = raw.map(|(id, raw)| (id.letter().to_owned(), raw.text.clone()));
        let asked = self.shared_question().into_iter();
        raw.chain(asked.map(|(key, said)| (key.to_owned(), said.to_owned())))
            .collect()
    }

    /// Returns whether the user made the session of Play, so that it must not be lost.
    fn is_own(&self, session: &Session) -> bool {
        let typed = self.editing.raw.values().any(|raw| raw.error.is_some());
        match &self.persistence.shown {
            Some(shown) => typed || !session.does_the_same(shown),
            None => {
                let world = self.world();
                let edited = ActorId::ALL
                    .into_iter()
                    .any(|id| world.copy(id).is_edited());
                session.steps() > 0 || typed || edited || self.is_loaded()
            }
        }
    }

    /// Returns whether the session began with other objects than those of the page.
    fn is_loaded(&self) -> bool {
        self.world().start().manifests != NGINX
    }

    /// Saves the session of Play, and the texts that the user is typing.
    fn save(&mut self, fx: &mut Effects<'_>) {
        self.keep_draft(fx);
        let manifest = self.manifest.text.clone();
        self.sessions().type_manifest(&manifest);
        // A lesson keeps its own place, and what is half opened is not yet a session.
        let busy = self.learn.is_on_stage() || self.is_working();
        if busy || self.persistence.sessions.is_waiting() || self.is_untouched(fx) {
            fx.keep(self.sessions().save_manifest());
        } else {
            let shown = self.snapshot();
            let present = fx.read(StorageArea::Browser, &self.persistence.sessions.live_key());
            fx.keep(self.sessions().save(&shown, fx.now(), present.as_deref()));
        }
    }

    /// Nothing was done yet, and nothing is to be replaced, or all of it is kept already.
    fn is_untouched(&self, fx: &Effects<'_>) -> bool {
        let last = self.persistence.last.as_ref();
        match last.and_then(|last| Some((&last.of, last.drafts.as_ref()?))) {
            Some((of, drafts)) => Rc::ptr_eq(of, &self.session.tree) && *drafts == self.drafts(),
            None => {
                let one = self.session.tree.len() == 1;
                let empty = one && self.editing.raw.is_empty() && !self.is_loaded();
                empty && fx.read(StorageArea::Tab, OWN).is_none()
            }
        }
    }

    /// Restores the texts that the user was typing when the session was kept.
    fn type_again(&mut self, drafts: &Drafts) {
        for id in ActorId::ALL {
            let Some(text) = drafts.get(id.letter()) else {
                continue;
            };
            if self.world().copy(id).edited().is_none() {
                continue;
            }
            match self.world().copy(id).text() {
                Some(known) if known == *text => {
                    let raw = RawYaml {
                        text: known,
                        error: None,
                    };
                    self.editing.insert_raw(id, raw);
                }
                _ => self.editing.type_raw(&mut self.session, id, text.clone()),
            }
        }
    }
}
