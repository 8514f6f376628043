//! Which sessions a browser keeps: the one that a tab has open, and every one that was set aside.
//!
//! Pure: the page reads the browser's storages, passes in what it found and the time, and carries
//! out the [`Effect`]s that come back. A session is a text here; nothing looks into it.
//!
//! The rules: what was not opened is never overwritten; a session that is replaced is set aside,
//! with a name and a date; what is offered stays until it is taken or refused.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod entry;
mod found;
mod tab;

use std::collections::BTreeSet;

pub use entry::{Drafts, Entry, Standing};
pub use found::Found;

use entry::key;

/// The tab's own session as a text.
pub const OWN: &str = "optimist.session";
/// What else the tab knows: which sessions it set aside, and what is being typed.
pub const TAB: &str = "optimist.tab";
/// There while a kept session is being opened. Found at the start it says that the last attempt
/// stopped the page: that session is not tried again unasked.
pub const OPENING: &str = "optimist.opening";

/// One of the two storages of a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// `sessionStorage`: for one tab, until that is closed.
    Tab,
    /// `localStorage`: for every tab, and for later.
    Browser,
}

/// What the page has to do in a storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Writes a value.
    Write {
        /// Where.
        place: Place,
        /// Under which key.
        key: String,
        /// What.
        value: String,
    },
    /// Removes a key.
    Remove {
        /// Where.
        place: Place,
        /// Which key.
        key: String,
    },
}

/// What the page shows, to be kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
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
    kept: Vec<Entry>,
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
    opening: Option<Entry>,
    /// The tab's own session, until it is opened after a reload.
    waiting: Option<Entry>,
    /// A manifest that is being typed.
    manifest: String,
    /// Keys whose values could not be read.
    unreadable: Vec<(Place, String)>,
    /// What the tab's record was when it was last written.
    record: Option<String>,
    salt: u64,
}

impl Sessions {
    /// Every other session, newest first.
    pub fn kept(&self) -> &[Entry] {
        &self.kept
    }

    /// The sessions that this tab did not have yet and that were neither taken nor refused.
    pub fn offered(&self) -> impl Iterator<Item = &Entry> {
        let kept = self.kept.iter();
        kept.filter(|entry| entry.standing == Standing::Offered && !self.seen.contains(&entry.id))
    }

    /// The session to return to: the last one that was set aside in this tab.
    pub fn last_away(&self) -> Option<&Entry> {
        let mut away = self.away.iter().rev();
        away.find_map(|id| self.entry(id))
    }

    /// A kept session.
    pub fn entry(&self, id: &str) -> Option<&Entry> {
        self.kept.iter().find(|entry| entry.id == id)
    }

    /// Keys whose values could not be read; they are left as they are.
    pub fn unreadable(&self) -> &[(Place, String)] {
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
    pub fn save(&mut self, shown: &Snapshot, now: f64, present: Option<&str>) -> Vec<Effect> {
        if self.waiting.is_some() || self.opening.is_some() {
            return Vec::new();
        }
        self.own = shown.own;
        let mut effects = vec![write(Place::Tab, OWN, &shown.text)];
        if shown.own {
            if present.is_some() && present != self.known.as_deref() {
                self.live = self.new_id(now);
            }
            let entry = Entry::of(self.live.clone(), shown, now);
            let value = entry.to_value();
            effects.push(write(Place::Browser, &entry.key(), &value));
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
        shown: &Snapshot,
        back: bool,
        now: f64,
    ) -> (Option<String>, Vec<Effect>) {
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
                let entry = Entry::of(self.live.clone(), shown, now);
                effects.push(write(Place::Browser, &entry.key(), &entry.to_value()));
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
    fn drop_live(&mut self) -> Option<Effect> {
        self.known
            .take()
            .map(|_| remove(Place::Browser, &key(&self.live)))
    }

    /// From now on the tab's own session is another one, of which nothing is kept yet. What it
    /// had before must have a place of its own by now.
    fn begin_new(&mut self, now: f64) -> Effect {
        self.live = self.new_id(now);
        self.own = false;
        self.known = None;
        remove(Place::Tab, OWN)
    }

    fn insert(&mut self, entry: Entry) {
        self.kept.retain(|known| known.id != entry.id);
        let at = self.kept.iter().position(|known| known.date <= entry.date);
        self.kept.insert(at.unwrap_or(self.kept.len()), entry);
    }

    /// Begins to open a kept session. What is shown must have been set aside. It is still kept as
    /// it is; [`opened`](Self::opened) or [`not_opened`](Self::not_opened) says how that ended.
    pub fn open(&mut self, id: &str) -> Option<(Entry, Vec<Effect>)> {
        let entry = self.entry(id)?.clone();
        Some(self.begin_to_open(entry))
    }

    /// Begins to open the session that the tab had before a reload.
    pub fn open_waiting(&mut self) -> Option<(Entry, Vec<Effect>)> {
        let entry = self.waiting.take()?;
        Some(self.begin_to_open(entry))
    }

    fn begin_to_open(&mut self, entry: Entry) -> (Entry, Vec<Effect>) {
        self.opening = Some(entry.clone());
        (entry, vec![write(Place::Tab, OPENING, "1")])
    }

    /// Whether a kept session is being opened.
    pub fn is_opening(&self) -> bool {
        self.opening.is_some()
    }

    /// The session that was being opened is the tab's own now. `None` if it was not one of these.
    pub fn opened(&mut self) -> Option<(Entry, Vec<Effect>)> {
        let entry = self.opening.take()?;
        self.kept.retain(|known| known.id != entry.id);
        self.away.retain(|id| *id != entry.id);
        self.seen.insert(entry.id.clone());
        self.live.clone_from(&entry.id);
        let only_shown = entry.standing == Standing::Shown;
        self.own = !only_shown;
        self.known = (!only_shown).then(|| entry.to_value());
        let mut effects = vec![
            remove(Place::Tab, OPENING),
            write(Place::Tab, OWN, &entry.text),
            // Where there was no room in the browser's storage it was here.
            remove(Place::Tab, &entry.key()),
        ];
        effects.extend(self.record(Some(&entry.drafts)));
        Some((entry, effects))
    }

    /// The session that was being opened could not be: it stays kept, and is no longer offered.
    /// The tab has a new session. `false` if it was not one of these.
    pub fn not_opened(&mut self, now: f64) -> (bool, Vec<Effect>) {
        let Some(entry) = self.opening.take() else {
            return (false, Vec::new());
        };
        self.away.retain(|id| *id != entry.id);
        let own = entry.id == self.live;
        let mut effects = vec![remove(Place::Tab, OPENING)];
        effects.push(self.stand(entry, Standing::Unopened));
        if own {
            effects.push(self.begin_new(now));
        }
        effects.extend(self.record(None));
        (true, effects)
    }

    /// Keeps a session that something else cannot make use of.
    pub fn keep_unopened(&mut self, name: &str, text: &str, now: f64) -> Vec<Effect> {
        if self.kept.iter().any(|entry| entry.text == text) {
            return Vec::new();
        }
        let shown = Snapshot {
            name: name.to_owned(),
            text: text.to_owned(),
            ..Snapshot::default()
        };
        let entry = Entry::of(self.new_id(now), &shown, now);
        vec![self.stand(entry, Standing::Unopened)]
    }

    /// Puts a session among the kept ones.
    fn stand(&mut self, entry: Entry, standing: Standing) -> Effect {
        let entry = Entry { standing, ..entry };
        let effect = write(Place::Browser, &entry.key(), &entry.to_value());
        self.insert(entry);
        effect
    }

    /// The tab's own session is not opened after a reload, because something else is: it is
    /// returned to later.
    pub fn put_off(&mut self, now: f64) -> Vec<Effect> {
        let Some(entry) = self.waiting.take() else {
            return Vec::new();
        };
        let mut effects = Vec::new();
        if entry.standing != Standing::Shown {
            self.away.push(entry.id.clone());
            effects.push(self.stand(entry, Standing::Offered));
        }
        effects.push(self.begin_new(now));
        effects.extend(self.record(None));
        effects
    }

    /// Offers none of the offered sessions again; they stay in the list.
    pub fn refuse(&mut self) -> Vec<Effect> {
        let offered: Vec<Entry> = self.offered().cloned().collect();
        let refused = offered.into_iter();
        refused
            .map(|entry| self.stand(entry, Standing::Refused))
            .collect()
    }

    /// Forgets a kept session, as a person asks.
    pub fn remove(&mut self, id: &str) -> Vec<Effect> {
        self.kept.retain(|entry| entry.id != id);
        self.away.retain(|known| known != id);
        let mut effects = vec![
            remove(Place::Browser, &key(id)),
            remove(Place::Tab, &key(id)),
        ];
        effects.extend(self.record(None));
        effects
    }

    /// What else to do where the browser refused an effect; nothing if there is nothing else. The
    /// oldest refused session makes room, and then the tab's own storage is tried.
    pub fn failed(&mut self, effect: &Effect) -> Vec<Effect> {
        let Effect::Write { place, key, value } = effect else {
            return Vec::new();
        };
        if *place == Place::Tab {
            return Vec::new();
        }
        let refused = self.kept.iter().rev();
        let mut refused = refused.filter(|entry| entry.standing == Standing::Refused);
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
        vec![write(Place::Tab, key, value)]
    }
}

fn write(place: Place, key: &str, value: &str) -> Effect {
    Effect::Write {
        place,
        key: key.to_owned(),
        value: value.to_owned(),
    }
}

fn remove(place: Place, key: &str) -> Effect {
    Effect::Remove {
        place,
        key: key.to_owned(),
    }
}
