//! The sessions that a browser keeps: the open session of a tab, and all archived sessions.
//!
//! The code is pure: the page reads the browser's storages, passes their content and the time, and
//! performs the returned [`StorageEffect`]s. A session is an opaque text here.
//!
//! The rules: a session that was not opened is never overwritten. A replaced session is archived
//! with a name and a date. An offered session stays until the user accepts or refuses it.
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
/// The other data of the tab: the sessions that it archived, and the unfinished texts.
pub const TAB: &str = "optimist.tab";
/// The key exists while a kept session is being opened. If it exists at the start, the last attempt
/// stopped the page, and the page does not open that session again automatically.
pub const OPENING: &str = "optimist.opening";

/// One of the two storages of a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StorageArea {
    /// `sessionStorage`: for one tab, until it is closed.
    Tab,
    /// `localStorage`: for all tabs, and kept after they are closed.
    Browser,
}

/// A change of a storage that the page has to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorageEffect {
    /// Writes a value.
    Write {
        /// The storage.
        place: StorageArea,
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// Removes a key.
    Remove {
        /// The storage.
        place: StorageArea,
        /// The key.
        key: String,
    },
}

/// The content of the page, to be kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionSnapshot {
    /// The name that the user gave it.
    pub name: String,
    /// The session.
    pub text: String,
    /// Unfinished texts of working copies, by actor.
    pub drafts: Drafts,
    /// `true` if the user made it. Such a session is kept after the tab is closed. A history that
    /// the user has only opened is not.
    pub own: bool,
}

/// All sessions that the browser keeps, from the view of a tab.
#[derive(Clone, Debug, Default)]
pub struct Sessions {
    /// All sessions except the tab's own, newest first.
    kept: Vec<SavedSession>,
    /// The id of the tab's own session.
    live: String,
    /// The stored form of the tab's own session, as far as this tab knows.
    known: Option<String>,
    /// `true` if the user made the tab's own session.
    own: bool,
    /// The sessions that were archived in this tab, the last one first.
    away: Vec<String>,
    /// Every session that this tab had.
    seen: BTreeSet<String>,
    /// The session that is being opened. It stays unchanged in the storage until it is open.
    opening: Option<SavedSession>,
    /// The tab's own session, until it is opened after a reload.
    waiting: Option<SavedSession>,
    /// An unfinished manifest.
    manifest: String,
    /// Keys whose values could not be read.
    unreadable: Vec<(StorageArea, String)>,
    /// The tab's record when it was last written.
    record: Option<String>,
    salt: u64,
}

impl Sessions {
    /// Every other session, newest first.
    pub fn saved(&self) -> &[SavedSession] {
        &self.kept
    }

    /// The sessions that this tab did not have yet and that the user neither accepted nor refused.
    pub fn offered(&self) -> impl Iterator<Item = &SavedSession> {
        let kept = self.kept.iter();
        kept.filter(|entry| {
            entry.standing == OfferStatus::Offered && !self.seen.contains(&entry.id)
        })
    }

    /// The session to return to: the last session that was archived in this tab.
    pub fn last_away(&self) -> Option<&SavedSession> {
        let mut away = self.away.iter().rev();
        away.find_map(|id| self.entry(id))
    }

    /// A kept session.
    pub fn entry(&self, id: &str) -> Option<&SavedSession> {
        self.kept.iter().find(|entry| entry.id == id)
    }

    /// Keys whose values could not be read. They are not changed.
    pub fn unreadable(&self) -> &[(StorageArea, String)] {
        &self.unreadable
    }

    /// The unfinished manifest.
    pub fn manifest(&self) -> &str {
        &self.manifest
    }

    /// The key of the tab's own session in the browser's storage.
    pub fn live_key(&self) -> String {
        key(&self.live)
    }

    /// Returns whether the user made the tab's own session. `false` if the user has only opened it.
    pub fn is_own(&self) -> bool {
        self.own
    }

    /// Returns whether the tab has a session that is not opened yet.
    pub fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// A new id: from the time, and a number that differs between tabs.
    fn new_id(&mut self, now: f64) -> String {
        self.salt = self
            .salt
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let id = format!("{:x}-{:x}", now.max(0.0) as u64, self.salt >> 20);
        self.seen.insert(id.clone());
        id
    }

    /// Keeps the content of the page. `present` is the current value of
    /// [`live_key`](Self::live_key) in the browser's storage: if another tab wrote it, this tab's
    /// session gets a new key, and the other session stays.
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
            let entry = SavedSession::new(self.live.clone(), shown, now);
            let value = entry.to_value();
            effects.push(write(StorageArea::Browser, &entry.key(), &value));
            self.known = Some(value);
        }
        effects.extend(self.record(Some(&shown.drafts)));
        effects
    }

    /// Records the unfinished manifest.
    pub fn type_manifest(&mut self, text: &str) {
        text.clone_into(&mut self.manifest);
    }

    /// Archives the shown session before another one is opened. It is not kept if the user did not
    /// make it. If `back` is set, [`last_away`](Self::last_away) returns it. Returns its id.
    pub fn archive(
        &mut self,
        shown: &SessionSnapshot,
        back: bool,
        now: f64,
    ) -> (Option<String>, Vec<StorageEffect>) {
        // The session that is being opened keeps its key.
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
                let entry = SavedSession::new(self.live.clone(), shown, now);
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

    /// The tab's own session has no key in the browser's storage any more.
    fn drop_live(&mut self) -> Option<StorageEffect> {
        self.known
            .take()
            .map(|_| remove(StorageArea::Browser, &key(&self.live)))
    }

    /// Starts a new own session of the tab, which is not kept yet. The previous session must
    /// already have its own key.
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

    /// Starts to open a kept session. The shown session must be archived before. The kept session
    /// does not change until [`opened`](Self::opened) or [`not_opened`](Self::not_opened) is
    /// called.
    pub fn open(&mut self, id: &str) -> Option<(SavedSession, Vec<StorageEffect>)> {
        let entry = self.entry(id)?.clone();
        Some(self.begin_to_open(entry))
    }

    /// Starts to open the session that the tab had before a reload.
    pub fn open_waiting(&mut self) -> Option<(SavedSession, Vec<StorageEffect>)> {
        let entry = self.waiting.take()?;
        Some(self.begin_to_open(entry))
    }

    fn begin_to_open(&mut self, entry: SavedSession) -> (SavedSession, Vec<StorageEffect>) {
        self.opening = Some(entry.clone());
        (entry, vec![write(StorageArea::Tab, OPENING, "1")])
    }

    /// Returns whether a kept session is being opened.
    pub fn is_opening(&self) -> bool {
        self.opening.is_some()
    }

    /// Makes the opened session the tab's own. `None` if it was not a kept session.
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
            // If the browser's storage was full, the session was in the tab's storage.
            remove(StorageArea::Tab, &entry.key()),
        ];
        effects.extend(self.record(Some(&entry.drafts)));
        Some((entry, effects))
    }

    /// Records that a session could not be opened. It stays kept and is no longer offered. Records
    /// that the tab has this session. `false` if it is not a kept session.
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

    /// Keeps a session that another part cannot use.
    pub fn keep_unopened(&mut self, name: &str, text: &str, now: f64) -> Vec<StorageEffect> {
        if self.kept.iter().any(|entry| entry.text == text) {
            return Vec::new();
        }
        let shown = SessionSnapshot {
            name: name.to_owned(),
            text: text.to_owned(),
            ..SessionSnapshot::default()
        };
        let entry = SavedSession::new(self.new_id(now), &shown, now);
        vec![self.stand(entry, OfferStatus::Unopened)]
    }

    /// Adds a session to the kept sessions.
    fn stand(&mut self, entry: SavedSession, standing: OfferStatus) -> StorageEffect {
        let entry = SavedSession { standing, ..entry };
        let effect = write(StorageArea::Browser, &entry.key(), &entry.to_value());
        self.insert(entry);
        effect
    }

    /// Records that the tab's own session is not opened after a reload, because another one is
    /// opened. The user can return to it later.
    pub fn archive_waiting(&mut self, now: f64) -> Vec<StorageEffect> {
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

    /// Deletes a kept session at the user's request.
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

    /// The alternative if the browser refused an effect; empty if there is none. First the oldest
    /// refused session is deleted to make room, then the tab's own storage is used.
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
        // The tab also has its own session in its own storage.
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
