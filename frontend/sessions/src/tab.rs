//! The data of a tab besides its session: the sessions that it had, and the unfinished texts.

use serde_json::{Value, json};

use super::saved_session::{Drafts, drafts_of_json, drafts_to_json};
use super::{Sessions, StorageArea, StorageEffect, TAB, write};

/// The record of a tab, as it was found.
#[derive(Clone, Debug, Default)]
pub(crate) struct TabRecord {
    pub(crate) live: String,
    pub(crate) shown: bool,
    pub(crate) away: Vec<String>,
    pub(crate) seen: Vec<String>,
    pub(crate) drafts: Drafts,
    pub(crate) manifest: String,
}

impl TabRecord {
    /// Reads the tab's storage; `None` if it is not a record.
    pub(crate) fn of_value(value: &str) -> Option<Self> {
        let json: Value = serde_json::from_str(value).ok()?;
        let words = |key: &str| {
            let words = json
                .get(key)
                .and_then(Value::as_array)
                .into_iter()
                .flatten();
            words.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let word = |key: &str| json.get(key).and_then(Value::as_str).unwrap_or_default();
        json.is_object().then(|| Self {
            live: word("live").to_owned(),
            shown: json.get("shown").and_then(Value::as_bool).unwrap_or(false),
            away: words("away"),
            seen: words("seen"),
            drafts: drafts_of_json(json.get("drafts")),
            manifest: word("manifest").to_owned(),
        })
    }
}

impl Sessions {
    /// Writes the tab's record if it changed, without empty drafts.
    pub(crate) fn record(&mut self, drafts: Option<&Drafts>) -> Option<StorageEffect> {
        let known = |id: &&String| self.entry(id).is_some() || **id == self.live;
        let seen: Vec<&String> = self.seen.iter().filter(known).collect();
        let record = json!({
            "live": self.live,
            "shown": !self.own,
            "away": self.away,
            "seen": seen,
            "drafts": drafts.map(drafts_to_json),
            "manifest": self.manifest,
        });
        let record = record.to_string();
        if self.record.as_ref() == Some(&record) {
            return None;
        }
        self.record = Some(record.clone());
        Some(write(StorageArea::Tab, TAB, &record))
    }

    /// Keeps the unfinished manifest if there is nothing else to keep.
    pub fn save_manifest(&mut self) -> Option<StorageEffect> {
        let drafts = self.record.as_deref().and_then(TabRecord::of_value);
        let drafts = drafts.map(|record| record.drafts);
        if self.record.is_none() && self.manifest.is_empty() {
            return None;
        }
        self.record(drafts.as_ref())
    }
}
