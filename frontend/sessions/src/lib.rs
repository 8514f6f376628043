//! Which sessions a browser keeps: the one that a tab has open, and every one that was set aside.
//!
//! Pure: the page reads the browser's storages, passes in what it found and the time, and carries
//! out the [`StorageEffect`]s that come back. A session is a text here; nothing looks into it.
//!
//! The rules: what was not opened is never overwritten; a session that is replaced is set aside,
//! with a name and a date; what is offered stays until it is taken or refused.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod saved_session;
mod storage_contents;
mod tab;

use std::collections::BTreeSet;

pub use saved_session::{Drafts, OfferStatus, SavedSession};
pub use storage_contents::StorageContents;

use saved_session::key;

/// The tab's own session as a text.
pub const OWN: &str = "optimist.session";
/// What else the tab knows: which sessions it set aside, and what is being typed.
pub const TAB: &str = "optimist.tab";
/// There while a kept session is being opened. Found at the start it says that the last attempt
/// stopped the page: that session is not tried again unasked.
pub const OPENING: &str = "optimist.opening";

/// One of the two storages of a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StorageArea {
    /// `sessionStorage`: for one tab, until that is closed.
    Tab,
    /// `localStorage`: for every tab, and for later.
    Browser,
}

/// What the page has to do in a storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorageEffect {
    /// Writes a value.
    Write {
        /// Where.
        place: StorageArea,
        /// Under which key.
        key: String,
        /// What.
        value: String,
    },
    /// Removes a key.
    Remove {
        /// Where.
        place: StorageArea,
        /// Which key.
        key: String,
    },
}

/// What the page shows, to be kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionSnapshot {
    /// What people call it.
    pub name: String,
    /// The session.
    pub text: String,
    /// Working copies whose text is being typed, by actor.
    pub drafts: Drafts,
    /// Whether a person made it: it is worth being kept after the tab is closed. A history that is
    /// only shown is not.
    pub own: bool,
}

/// Every session that the browser keeps, as a tab sees them.
#[derive(Clone, Debug, Default)]
pub struct Sessions {
    /// All but the tab's own, newest first.
    kept: Vec<SavedSession>,
    /// The id of the tab's own session.
    live: String,
    /// What the browser's storage has of the tab's own session, as far as this tab knows.
    known: Option<String>,
    /// Whether a person made the tab's own session.
    own: bool,
    /// What was set aside in this tab and can be returned to; the last one first.
    away: Vec<String>,
    /// Every session that this tab had.
    seen: BTreeSet<String>,
    /// The session that is being opened: it stays in the storage as it is until it is open.
    opening: Option<SavedSession>,
    /// The tab's own session, until it is opened after a reload.
    waiting: Option<SavedSession>,
    /// A manifest that is being typed.
    manifest: String,
    /// Keys whose values could not be read.
    unreadable: Vec<(StorageArea, String)>,
    /// What the tab's record was when it was last written.
    record: Option<String>,
    salt: u64,
}

impl Sessions {
    /// Every other session, newest first.
    pub fn saved(&self) -> &[SavedSession] {
        &self.kept
    }

    /// The sessions that this tab did not have yet and that were neither taken nor refused.
    pub fn offered(&self) -> impl Iterator<Item = &SavedSession> {
        let kept = self.kept.iter();
        kept.filter(|entry| {
            entry.standing == OfferStatus::Offered && !self.seen.contains(&entry.id)
        })
    }

    /// The session to return to: the last one that was set aside in this tab.
    pub fn last_away(&self) -> Option<&SavedSession> {
        let mut away = self.away.iter().rev();
        away.find_map(|id| self.entry(id))
    }

    /// A kept session.
    pub fn entry(&self, id: &str) -> Option<&SavedSession> {
        self.kept.iter().find(|entry| entry.id == id)
    }

    /// Keys whose values could not be read; they are left as they are.
    pub fn unreadable(&self) -> &[(StorageArea, String)] {
        &self.unreadable
    }

    /// The manifest that was being typed.
    pub fn manifest(&self) -> &str {
        &self.manifest
    }

    /// The key of the tab's own session in the browser's storage.
    pub fn live_key(&self) -> String {
        key(&self.live)
    }

    /// Whether a person made the tab's own session, or it is only shown.
    pub fn is_own(&self) -> bool {
        self.own
    }

    /// Whether the tab has a session that is not opened yet.
    pub fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// An id that no session has: from the time, and a number that is another one in every tab.
    fn new_id(&mut self, now: f64) -> String {
        self.salt = self
            .salt
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let id = format!("{:x}-{:x}", now.max(0.0) as u64, self.salt >> 20);
        self.seen.insert(id.clone());
        id
    }

    /// Keeps what the page shows. `present` is what the browser's storage has under
    /// [`live_key`](Self::live_key) now: if another tab wrote it, this tab's session becomes a
    /// session of its own, and the other one stays.
    pub fn save(
        &mut self,
        shown: &SessionSnapshot,
        now: f64,
        present: Option<&str>,
    ) -> Vec<StorageEffect> {
        if self.waiting.is_some() || self.opening.is_some() {
            return Vec::new();
        }
        self.own = shown.own;
        let mut effects = vec![write(StorageArea::Tab, OWN, &shown.text)];
        if shown.own {
            if present.is_some() && present != self.known.as_deref() {
                self.live = self.new_id(now);
            }
            let entry = SavedSession::of(self.live.clone(), shown, now);
            let value = entry.to_value();
            effects.push(write(StorageArea::Browser, &entry.key(), &value));
            self.known = Some(value);
        }
        effects.extend(self.record(Some(&shown.drafts)));
        effects
    }

    /// Notes the manifest that is being typed.
    pub fn type_manifest(&mut self, text: &str) {
        text.clone_into(&mut self.manifest);
    }

    /// Makes place for another session. The one that is shown is kept, unless nobody made it; it
    /// is what [`last_away`](Self::last_away) leads to if `back` says so. Gives its id.
    pub fn set_aside(
        &mut self,
        shown: &SessionSnapshot,
        back: bool,
        now: f64,
    ) -> (Option<String>, Vec<StorageEffect>) {
        // What is being opened keeps its place.
        if self
            .opening
            .as_ref()
            .is_some_and(|entry| entry.id == self.live)
        {
            self.live = self.new_id(now);
            self.known = None;
        }
        let mut effects = Vec::new();
        let same = self.kept.iter().find(|entry| {
            entry.text == shown.text && entry.drafts == shown.drafts && entry.id != self.live
        });
        let id = match same.map(|entry| entry.id.clone()) {
            Some(id) => {
                effects.extend(self.drop_live());
                Some(id)
            }
            None if shown.own => {
                let entry = SavedSession::of(self.live.clone(), shown, now);
                effects.push(write(StorageArea::Browser, &entry.key(), &entry.to_value()));
                let id = entry.id.clone();
                self.insert(entry);
                Some(id)
            }
            None => {
                effects.extend(self.drop_live());
                None
            }
        };
        if let (true, Some(id)) = (back, &id) {
            self.away.retain(|known| known != id);
            self.away.push(id.clone());
        }
        effects.push(self.begin_new(now));
        effects.extend(self.record(None));
        (id, effects)
    }

    /// The tab's own session has no place in the browser's storage any more.
    fn drop_live(&mut self) -> Option<StorageEffect> {
        self.known
            .take()
            .map(|_| remove(StorageArea::Browser, &key(&self.live)))
    }

    /// From now on the tab's own session is another one, of which nothing is kept yet. What it
    /// had before must have a place of its own by now.
    fn begin_new(&mut self, now: f64) -> StorageEffect {
        self.live = self.new_id(now);
        self.own = false;
        self.known = None;
        remove(StorageArea::Tab, OWN)
    }

    fn insert(&mut self, entry: SavedSession) {
        self.kept.retain(|known| known.id != entry.id);
        let at = self.kept.iter().position(|known| known.date <= entry.date);
        self.kept.insert(at.unwrap_or(self.kept.len()), entry);
    }

    /// Begins to open a kept session. What is shown must have been set aside. It is still kept as
    /// it is; [`opened`](Self::opened) or [`not_opened`](Self::not_opened) says how that ended.
    pub fn open(&mut self, id: &str) -> Option<(SavedSession, Vec<StorageEffect>)> {
        let entry = self.entry(id)?.clone();
        Some(self.begin_to_open(entry))
    }

    /// Begins to open the session that the tab had before a reload.
    pub fn open_waiting(&mut self) -> Option<(SavedSession, Vec<StorageEffect>)> {
        let entry = self.waiting.take()?;
        Some(self.begin_to_open(entry))
    }

    fn begin_to_open(&mut self, entry: SavedSession) -> (SavedSession, Vec<StorageEffect>) {
        self.opening = Some(entry.clone());
        (entry, vec![write(StorageArea::Tab, OPENING, "1")])
    }

    /// Whether a kept session is being opened.
    pub fn is_opening(&self) -> bool {
        self.opening.is_some()
    }

    /// The session that was being opened is the tab's own now. `None` if it was not one of these.
    pub fn opened(&mut self) -> Option<(SavedSession, Vec<StorageEffect>)> {
        let entry = self.opening.take()?;
        self.kept.retain(|known| known.id != entry.id);
        self.away.retain(|id| *id != entry.id);
        self.seen.insert(entry.id.clone());
        self.live.clone_from(&entry.id);
        let only_shown = entry.standing == OfferStatus::Shown;
        self.own = !only_shown;
        self.known = (!only_shown).then(|| entry.to_value());
        let mut effects = vec![
            remove(StorageArea::Tab, OPENING),
            write(StorageArea::Tab, OWN, &entry.text),
            // Where there was no room in the browser's storage it was here.
            remove(StorageArea::Tab, &entry.key()),
        ];
        effects.extend(self.record(Some(&entry.drafts)));
        Some((entry, effects))
    }

    /// The session that was being opened could not be: it stays kept, and is no longer offered.
    /// The tab has a new session. `false` if it was not one of these.
    pub fn not_opened(&mut self, now: f64) -> (bool, Vec<StorageEffect>) {
        let Some(entry) = self.opening.take() else {
            return (false, Vec::new());
        };
        self.away.retain(|id| *id != entry.id);
        let own = entry.id == self.live;
        let mut effects = vec![remove(StorageArea::Tab, OPENING)];
        effects.push(self.stand(entry, OfferStatus::Unopened));
        if own {
            effects.push(self.begin_new(now));
        }
        effects.extend(self.record(None));
        (true, effects)
    }

    /// Keeps a session that something else cannot make use of.
    pub fn keep_unopened(&mut self, name: &str, text: &str, now: f64) -> Vec<StorageEffect> {
        if self.kept.iter().any(|entry| entry.text == text) {
            return Vec::new();
        }
        let shown = SessionSnapshot {
            name: name.to_owned(),
            text: text.to_owned(),
            ..SessionSnapshot::default()
        };
        let entry = SavedSession::of(self.new_id(now), &shown, now);
        vec![self.stand(entry, OfferStatus::Unopened)]
    }

    /// Puts a session among the kept ones.
    fn stand(&mut self, entry: SavedSession, standing: OfferStatus) -> StorageEffect {
        let entry = SavedSession { standing, ..entry };
        let effect = write(StorageArea::Browser, &entry.key(), &entry.to_value());
        self.insert(entry);
        effect
    }

    /// The tab's own session is not opened after a reload, because something else is: it is
    /// returned to later.
    pub fn put_off(&mut self, now: f64) -> Vec<StorageEffect> {
        let Some(entry) = self.waiting.take() else {
            return Vec::new();
        };
        let mut effects = Vec::new();
        if entry.standing != OfferStatus::Shown {
            self.away.push(entry.id.clone());
            effects.push(self.stand(entry, OfferStatus::Offered));
        }
        effects.push(self.begin_new(now));
        effects.extend(self.record(None));
        effects
    }

    /// Offers none of the offered sessions again; they stay in the list.
    pub fn refuse(&mut self) -> Vec<StorageEffect> {
        let offered: Vec<SavedSession> = self.offered().cloned().collect();
        let refused = offered.into_iter();
        refused
            .map(|entry| self.stand(entry, OfferStatus::Refused))
            .collect()
    }

    /// Forgets a kept session, as a person asks.
    pub fn remove(&mut self, id: &str) -> Vec<StorageEffect> {
        self.kept.retain(|entry| entry.id != id);
        self.away.retain(|known| known != id);
        let mut effects = vec![
            remove(StorageArea::Browser, &key(id)),
            remove(StorageArea::Tab, &key(id)),
        ];
        effects.extend(self.record(None));
        effects
    }

    /// What else to do where the browser refused an effect; nothing if there is nothing else. The
    /// oldest refused session makes room, and then the tab's own storage is tried.
    pub fn failed(&mut self, effect: &StorageEffect) -> Vec<StorageEffect> {
        let StorageEffect::Write { place, key, value } = effect else {
            return Vec::new();
        };
        if *place == StorageArea::Tab {
            return Vec::new();
        }
        let refused = self.kept.iter().rev();
        let mut refused = refused.filter(|entry| entry.standing == OfferStatus::Refused);
        if let Some(id) = refused.next().map(|entry| entry.id.clone()) {
            let mut effects = self.remove(&id);
            effects.push(effect.clone());
            return effects;
        }
        // The tab keeps its own session in its storage anyway.
        if *key == self.live_key() {
            self.known = None;
            return Vec::new();
        }
        vec![write(StorageArea::Tab, key, value)]
    }
}

fn write(place: StorageArea, key: &str, value: &str) -> StorageEffect {
    StorageEffect::Write {
        place,
        key: key.to_owned(),
        value: value.to_owned(),
    }
}

fn remove(place: StorageArea, key: &str) -> StorageEffect {
    StorageEffect::Remove {
        place,
        key: key.to_owned(),
    }
}
