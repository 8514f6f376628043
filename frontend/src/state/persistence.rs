//! Sessions outlive a reload and a closed tab, and what takes their place. Which ones, and where,
//! decides `optimist_sessions`; here it is told what the page shows, and its effects are done.

use std::cell::RefCell;
use std::rc::Rc;

use optimist_sessions::{Drafts, SessionSnapshot, Sessions, StorageArea, StorageEffect};
use optimist_simulation::{ActorId, HistoryTree, NGINX};
use optimist_text::share::Session;

use super::{Dialog, Msg, Page, RawYaml, State};
use crate::browser;

pub(crate) use optimist_sessions::OWN;

/// What was kept last, so that keeping it again takes as long as what changed.
#[derive(Debug)]
struct Last {
    of: Rc<HistoryTree>,
    session: Session,
    drafts: Drafts,
}

/// What is known of keeping.
#[derive(Clone, Debug, Default)]
pub(crate) struct Persistence {
    pub(crate) sessions: Rc<Sessions>,
    /// Whether the browser refuses to keep anything, and that is to be said.
    pub(crate) refused: bool,
    /// Whether that was said.
    told: bool,
    /// What could not be read as the page opened, and is to be said.
    pub(crate) unreadable: Vec<&'static str>,
    /// Whether what is being opened is returned from, to what is shown now.
    back: bool,
    /// What is shown as it was when it came, if nobody here made it.
    shown: Option<Rc<Session>>,
    /// The last session that was set aside, by its id, ready to be shown again.
    aside: Option<(String, Rc<HistoryTree>)>,
    last: Rc<RefCell<Option<Last>>>,
}

impl State {
    /// Finds what was kept, as the page opens.
    pub(super) fn find_kept(&mut self) {
        let salt = (js_sys::Math::random() * 1e15) as u64;
        let (sessions, effects) = Sessions::found(&browser::storages(), js_sys::Date::now(), salt);
        let mut unreadable = Vec::new();
        for (place, key) in sessions.unreadable() {
            let what = match (place, key.as_str()) {
                (StorageArea::Tab, optimist_sessions::TAB) => "what was being typed in this tab",
                _ => "a session that is kept here",
            };
            if !unreadable.contains(&what) {
                unreadable.push(what);
            }
        }
        if !super::learn::progress_is_readable() {
            unreadable.push("how far you got in the lessons");
        }
        self.draft.text = sessions.manifest().to_owned();
        self.persistence.unreadable = unreadable;
        self.persistence.sessions = Rc::new(sessions);
        self.perform(effects);
    }

    fn sessions(&mut self) -> &mut Sessions {
        Rc::make_mut(&mut self.persistence.sessions)
    }

    /// Does to the storages what is to be done. What the browser refuses is done another way, or
    /// said.
    fn perform(&mut self, effects: Vec<StorageEffect>) {
        let mut left: Vec<StorageEffect> = effects.into_iter().rev().collect();
        while let Some(effect) = left.pop() {
            if browser::perform(&effect) {
                continue;
            }
            let other = self.sessions().failed(&effect);
            let lost = other.is_empty() && matches!(effect, StorageEffect::Write { .. });
            if lost && !self.persistence.told {
                self.persistence.refused = true;
                self.persistence.told = true;
            }
            left.extend(other.into_iter().rev());
        }
    }

    /// Opens what the tab had before, once the page that it belongs on is open.
    pub(super) fn restore(&mut self) {
        if self.page == Page::Learn {
            return;
        }
        if let Some((entry, effects)) = self.sessions().open_waiting() {
            self.perform(effects);
            self.persistence.back = false;
            self.open_session(&entry.text);
        }
    }

    /// Begins to open a kept session; `back` if it is to lead back to what is shown now.
    pub(super) fn reopen(&mut self, id: &str, back: bool) {
        self.sessions().look_again(&browser::storages());
        if let Some((entry, effects)) = self.sessions().open(id) {
            self.perform(effects);
            self.persistence.back = back;
            self.open_session(&entry.text);
        }
    }

    /// A link is opened instead of what the tab had, which can be returned to.
    pub(super) fn put_off(&mut self) {
        let effects = self.sessions().put_off(js_sys::Date::now());
        self.perform(effects);
    }

    /// Sets what is shown aside, if a person made it, to show something else. Whether the header
    /// leads back to it.
    pub(super) fn put_aside(&mut self, back: bool) {
        let shown = self.snapshot();
        let now = js_sys::Date::now();
        let (id, effects) = self.sessions().set_aside(&shown, back, now);
        self.perform(effects);
        self.persistence.aside = id.map(|id| (id, Rc::clone(&self.tree)));
        self.persistence.last = Rc::default();
        self.persistence.shown = None;
    }

    /// Shows a history that nobody here made.
    pub(super) fn enter_shown(&mut self, tree: Rc<HistoryTree>) {
        self.put_aside(true);
        self.persistence.shown = Some(Rc::new(Session::of(&tree)));
        self.enter(tree);
        self.loaded = None;
    }

    /// Shows a session that was kept here; `false` if what was opened is none.
    pub(super) fn enter_kept(&mut self, tree: &Rc<HistoryTree>) -> bool {
        if !self.persistence.sessions.is_opening() {
            return false;
        }
        self.put_aside(self.persistence.back);
        let Some((entry, effects)) = self.sessions().opened() else {
            return false;
        };
        self.perform(effects);
        if !self.persistence.sessions.is_own() {
            self.persistence.shown = Some(Rc::new(Session::of(tree)));
        }
        self.enter(Rc::clone(tree));
        self.loaded = None;
        self.type_again(&entry.drafts);
        true
    }

    /// Something was opened that is shown elsewhere than in Play: it is nobody's session here.
    pub(super) fn opened_elsewhere(&mut self) {
        if let Some((_, effects)) = self.sessions().opened() {
            self.perform(effects);
            self.persistence.last = Rc::default();
        }
    }

    /// What was being opened could not be; whether it was kept here, and still is.
    pub(super) fn not_opened_kept(&mut self) -> bool {
        let (kept, effects) = self.sessions().not_opened(js_sys::Date::now());
        self.perform(effects);
        kept
    }

    /// Goes back to the session that was set aside last.
    pub(super) fn return_to_own(&mut self) {
        let Some(id) = self
            .persistence
            .sessions
            .last_away()
            .map(|entry| entry.id.clone())
        else {
            return;
        };
        match self
            .persistence
            .aside
            .take()
            .filter(|(known, _)| *known == id)
        {
            Some((_, tree)) => {
                if let Some((_, effects)) = self.sessions().open(&id) {
                    self.perform(effects);
                    self.persistence.back = false;
                    self.enter_kept(&tree);
                }
            }
            None => self.reopen(&id, false),
        }
    }

    /// Opens what is offered, or lists it where that is more than one.
    pub(super) fn take_offer(&mut self) {
        let offered = self.persistence.sessions.offered();
        let offered: Vec<String> = offered.map(|entry| entry.id.clone()).collect();
        match offered.as_slice() {
            [id] => self.reopen(id, true),
            _ => self.list_sessions(),
        }
    }

    pub(super) fn list_sessions(&mut self) {
        self.sessions().look_again(&browser::storages());
        self.dialog = Some(Dialog::Sessions);
    }

    pub(super) fn remove_session(&mut self, id: &str) {
        let effects = self.sessions().remove(id);
        self.perform(effects);
    }

    /// Says nothing more of what was kept; what was offered stays in the list.
    pub(super) fn dismiss_kept(&mut self) {
        if self.persistence.refused {
            self.persistence.refused = false;
        } else if !self.persistence.unreadable.is_empty() {
            self.persistence.unreadable.clear();
        } else {
            let effects = self.sessions().refuse();
            self.perform(effects);
        }
    }

    /// Keeps a text that was kept for something that can no longer use it.
    pub(super) fn keep_unopened(&mut self, name: &str, text: &str) {
        let effects = self
            .sessions()
            .keep_unopened(name, text, js_sys::Date::now());
        self.perform(effects);
    }

    /// What Play shows, as it is kept.
    fn snapshot(&self) -> SessionSnapshot {
        let session = match self.persistence.last.take() {
            Some(Last { of, session, .. }) if Rc::ptr_eq(&of, &self.tree) => session,
            Some(Last { of, session, .. }) => session.renewed(&of, &self.tree),
            None => {
                let mut session = Session::of(&self.tree);
                Page::Play.slug().clone_into(&mut session.page);
                session
            }
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
        let of = Rc::clone(&self.tree);
        let last = Last {
            of,
            session,
            drafts,
        };
        self.persistence.last.replace(Some(last));
        snapshot
    }

    /// The working copies that are typed as a whole.
    fn drafts(&self) -> Drafts {
        let raw = self.raw.iter();
        raw.map(|(id, raw)| (letter(*id), raw.text.clone()))
            .collect()
    }

    /// Whether a person made what Play shows, so that it would be missed.
    fn is_own(&self, session: &Session) -> bool {
        let typed = self.raw.values().any(|raw| raw.error.is_some());
        match &self.persistence.shown {
            Some(shown) => typed || !session.does_the_same(shown),
            None => {
                let world = self.world();
                let edited = ActorId::ALL
                    .into_iter()
                    .any(|id| world.copy(id).is_edited());
                let loaded = world.start().manifests != NGINX;
                session.steps() > 0 || typed || edited || loaded
            }
        }
    }

    /// Keeps the session of Play. Whether there is something new to tell.
    pub(super) fn keep(&mut self) -> bool {
        let told = self.persistence.told;
        let draft = self.draft.text.clone();
        self.sessions().type_manifest(&draft);
        // A lesson keeps its own place, and what is half opened is not yet a session.
        let busy = self.learn.is_on_stage() || self.is_working();
        if busy || self.persistence.sessions.is_waiting() || self.is_untouched() {
            let effect = self.sessions().save_manifest();
            self.perform(effect.into_iter().collect());
        } else {
            let shown = self.snapshot();
            let present = browser::remembered(&self.persistence.sessions.live_key());
            let now = js_sys::Date::now();
            let effects = self.sessions().save(&shown, now, present.as_deref());
            self.perform(effects);
        }
        self.persistence.told != told
    }

    /// Nothing was done yet, and nothing is to be replaced, or all of it is kept already.
    fn is_untouched(&self) -> bool {
        let last = self.persistence.last.take();
        let same = last
            .as_ref()
            .map(|last| Rc::ptr_eq(&last.of, &self.tree) && last.drafts == self.drafts());
        self.persistence.last.replace(last);
        match same {
            Some(same) => same,
            None => {
                let loaded = self.world().start().manifests != NGINX;
                let empty = self.tree.len() == 1 && self.raw.is_empty() && !loaded;
                empty && browser::kept(OWN).is_none()
            }
        }
    }

    /// Types again what was being typed when the session was kept.
    fn type_again(&mut self, drafts: &Drafts) {
        for id in ActorId::ALL {
            let Some(text) = drafts.get(&letter(id)) else {
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
                    Rc::make_mut(&mut self.raw).insert(id, raw);
                }
                _ => self.apply(Msg::RawText(id, text.clone())),
            }
        }
    }
}

fn letter(id: ActorId) -> String {
    match id {
        ActorId::A => "A",
        ActorId::B => "B",
        ActorId::C => "C",
    }
    .to_owned()
}
