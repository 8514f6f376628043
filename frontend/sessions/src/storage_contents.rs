//! The content of the browser's storages when a tab opens.

use std::collections::BTreeMap;

use super::saved_session::{PREFIX, SavedSession, key};
use super::tab::TabRecord;
use super::{OPENING, OWN, OfferStatus, Sessions, StorageArea, StorageEffect, TAB, remove, write};

/// The key in which earlier versions kept the last session of all tabs.
const LAST: &str = "optimist.last-session";
/// The key in which earlier versions kept the session that was replaced.
const OWN_BEFORE: &str = "optimist.own-session";

/// The content of the two storages; empty if the browser does not allow one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StorageContents {
    /// `sessionStorage`.
    pub tab: BTreeMap<String, String>,
    /// `localStorage`.
    pub browser: BTreeMap<String, String>,
}

impl StorageContents {
    /// Returns the content of a storage.
    fn area(&self, place: StorageArea) -> &BTreeMap<String, String> {
        match place {
            StorageArea::Tab => &self.tab,
            StorageArea::Browser => &self.browser,
        }
    }
}

impl Sessions {
    /// Reads the sessions when a tab opens. `salt` is a number that differs between tabs.
    pub fn read(found: &StorageContents, now: f64, salt: u64) -> (Self, Vec<StorageEffect>) {
        let mut sessions = Self {
            salt,
            ..Self::default()
        };
        let mut effects = Vec::new();
        sessions.read_entries(found);
        let record = sessions.read_record(found);
        sessions.manifest.clone_from(&record.manifest);
        sessions.away.clone_from(&record.away);
        sessions.seen.extend(record.seen.iter().cloned());
        match found.tab.get(OWN) {
            Some(text) => {
                effects.extend(sessions.find_own(text, record, now));
            }
            None => drop(sessions.begin_new(now)),
        }
        if found.tab.contains_key(OPENING) {
            effects.push(remove(StorageArea::Tab, OPENING));
            if let Some(entry) = sessions.waiting.take() {
                sessions.seen.remove(&entry.id);
                effects.push(sessions.stand(entry, OfferStatus::Offered));
                effects.push(sessions.begin_new(now));
            }
        }
        effects.extend(sessions.find_earlier(found, now));
        (sessions, effects)
    }

    /// Reads the storages again, because other tabs may have written.
    pub fn look_again(&mut self, found: &StorageContents) {
        self.kept.clear();
        self.unreadable.clear();
        self.read_entries(found);
        let live = self.live.clone();
        self.kept.retain(|entry| entry.id != live);
    }

    fn read_entries(&mut self, found: &StorageContents) {
        for place in [StorageArea::Browser, StorageArea::Tab] {
            let entries = found.area(place).iter();
            for (key, value) in entries.filter(|(key, _)| key.starts_with(PREFIX)) {
                match SavedSession::of_value(&key[PREFIX.len()..], value) {
                    Some(entry) if self.entry(&entry.id).is_none() => self.insert(entry),
                    Some(_) => {}
                    None => self.unreadable.push((place, key.clone())),
                }
            }
        }
    }

    fn read_record(&mut self, found: &StorageContents) -> TabRecord {
        let value = found.tab.get(TAB);
        let record = value.map(|value| TabRecord::of_value(value));
        if let Some(None) = record {
            self.unreadable.push((StorageArea::Tab, TAB.to_owned()));
        }
        self.record = value.cloned();
        record.flatten().unwrap_or_default()
    }

    /// The tab's own session from before a reload. If another tab has changed it since, both stay.
    fn find_own(&mut self, text: &str, record: TabRecord, now: f64) -> Option<StorageEffect> {
        let stored = self.entry(&record.live).cloned();
        let drafts = record.drafts;
        let entry = match stored.filter(|entry| entry.text == text) {
            Some(entry) => {
                self.kept.retain(|known| known.id != entry.id);
                self.live.clone_from(&entry.id);
                self.known = Some(entry.to_value());
                SavedSession { drafts, ..entry }
            }
            None => {
                // The text gets its own key below.
                drop(self.begin_new(now));
                SavedSession {
                    id: self.live.clone(),
                    text: text.to_owned(),
                    date: now,
                    drafts,
                    standing: if record.shown {
                        OfferStatus::Shown
                    } else {
                        OfferStatus::Offered
                    },
                    ..SavedSession::default()
                }
            }
        };
        self.seen.insert(entry.id.clone());
        let missing = self.known.is_none() && !record.shown;
        let effect = missing.then(|| {
            let value = entry.to_value();
            self.known = Some(value.clone());
            write(StorageArea::Browser, &key(&entry.id), &value)
        });
        self.waiting = Some(entry);
        effect
    }

    /// Converts the data of earlier versions of Optimist.
    fn find_earlier(&mut self, found: &StorageContents, now: f64) -> Vec<StorageEffect> {
        let mut effects = Vec::new();
        for (place, key) in [(StorageArea::Tab, OWN_BEFORE), (StorageArea::Browser, LAST)] {
            let Some(text) = found.area(place).get(key) else {
                continue;
            };
            let own = self
                .waiting
                .as_ref()
                .is_some_and(|entry| entry.text == *text);
            let known = self.kept.iter().find(|entry| entry.text == *text);
            let mut id = known.map(|entry| entry.id.clone());
            if !own && id.is_none() {
                let entry = SavedSession {
                    id: self.new_id(now),
                    text: text.clone(),
                    ..SavedSession::default()
                };
                self.seen.remove(&entry.id);
                id = Some(entry.id.clone());
                effects.push(self.stand(entry, OfferStatus::Offered));
            }
            if let (StorageArea::Tab, Some(id)) = (place, id) {
                self.away.push(id);
            }
            effects.push(remove(place, key));
        }
        effects
    }
}
