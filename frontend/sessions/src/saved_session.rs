//! A kept session as a value of a storage.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::SessionSnapshot;

/// Texts that belong to a session and are in none of its steps: unfinished ones of working copies, by actor
/// (`A`, `B`, `C`), and others by a name.
pub type Drafts = BTreeMap<String, String>;

/// The prefix of a key of a kept session, before its id.
pub(crate) const PREFIX: &str = "optimist.kept.";

/// The version of the format of a value.
const VERSION: u64 = 1;

/// The state of an offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OfferStatus {
    /// A new tab offers it.
    #[default]
    Offered,
    /// The user refused it. It is deleted first if the storage is full.
    Refused,
    /// It could not be opened.
    Unopened,
    /// The user did not make it: a history that a tab only shows. It is not kept for other tabs.
    Shown,
}

const STANDINGS: [(&str, OfferStatus); 4] = [
    ("shown", OfferStatus::Shown),
    ("offered", OfferStatus::Offered),
    ("refused", OfferStatus::Refused),
    ("unopened", OfferStatus::Unopened),
];

/// A session that is kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SavedSession {
    /// Its id, unique in this browser.
    pub id: String,
    /// Its name; may be empty.
    pub name: String,
    /// The time at which it was last kept, in milliseconds since 1970; 0 if unknown.
    pub date: f64,
    /// The session.
    pub text: String,
    /// Unfinished texts of working copies.
    pub drafts: Drafts,
    /// The state of its offer.
    pub standing: OfferStatus,
}

pub(crate) fn key(id: &str) -> String {
    format!("{PREFIX}{id}")
}

pub(crate) fn drafts_to_json(drafts: &Drafts) -> Value {
    let drafts = drafts.iter();
    Value::Object(
        drafts
            .map(|(actor, text)| (actor.clone(), text.as_str().into()))
            .collect(),
    )
}

/// Drafts from JSON, without invalid entries.
pub(crate) fn drafts_of_json(json: Option<&Value>) -> Drafts {
    let members = json.and_then(Value::as_object).into_iter().flatten();
    let drafts =
        members.filter_map(|(actor, text)| Some((actor.clone(), text.as_str()?.to_owned())));
    drafts.collect()
}

impl SavedSession {
    /// Makes a session that is offered, from a snapshot of the page.
    pub(crate) fn new(id: String, snapshot: &SessionSnapshot, now: f64) -> Self {
        Self {
            id,
            name: snapshot.name.clone(),
            date: now,
            text: snapshot.text.clone(),
            drafts: snapshot.drafts.clone(),
            standing: OfferStatus::Offered,
        }
    }

    pub(crate) fn key(&self) -> String {
        key(&self.id)
    }

    pub(crate) fn to_value(&self) -> String {
        let mut map = Map::new();
        map.insert("v".into(), VERSION.into());
        map.insert("name".into(), self.name.as_str().into());
        map.insert("date".into(), json!(self.date));
        if !self.drafts.is_empty() {
            map.insert("drafts".into(), drafts_to_json(&self.drafts));
        }
        let standing = STANDINGS.iter().find(|(_, known)| *known == self.standing);
        if let Some((word, _)) = standing.filter(|_| self.standing != OfferStatus::Offered) {
            map.insert("standing".into(), (*word).into());
        }
        map.insert("text".into(), self.text.as_str().into());
        Value::Object(map).to_string()
    }

    /// Reads a value of a storage; `None` if it is not a session, or has a later version.
    pub(crate) fn of_value(id: &str, value: &str) -> Option<Self> {
        let json: Value = serde_json::from_str(value).ok()?;
        if json.get("v").and_then(Value::as_u64) != Some(VERSION) {
            return None;
        }
        let word = json.get("standing").and_then(Value::as_str);
        let standing = STANDINGS.iter().find(|(known, _)| Some(*known) == word);
        let name = json.get("name").and_then(Value::as_str).unwrap_or_default();
        Some(Self {
            id: id.to_owned(),
            name: name.to_owned(),
            date: json.get("date").and_then(Value::as_f64).unwrap_or(0.0),
            text: json.get("text")?.as_str()?.to_owned(),
            drafts: drafts_of_json(json.get("drafts")),
            standing: standing.map_or(OfferStatus::Offered, |(_, standing)| *standing),
        })
    }
}
