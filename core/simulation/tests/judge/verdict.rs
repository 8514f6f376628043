//! The definition of a verdict, over what was shown, what was stored and what was answered:
//!
//! - An edit is the smallest thing that its writer changed: an item of a keyed list or set, a member of
//!   a map, an item of another list that was added or changed in place, else the value. Whether a map
//!   or list is atomic does not matter.
//! - It is *lost* if its writer got a 2xx for it and a later write, by an actor that had not been shown
//!   it, undid, overwrote or deleted it; *replaced* if that one had been shown it. One that already
//!   held was shown to whoever was shown it since it began to hold.
//! - A deletion is shown by an answer that the object does not exist, too.
//! - *refused*: the last answer to an actor was a refusal.
//! - *in the object*: every acknowledged edit is in the final object.

use std::fmt;

use serde_json::Value;

use super::pairs::{Place, find};

/// A leaf, and what it is to be.
pub type Leaf = (Place, Option<Value>);

/// The names of verdicts.
pub struct Kept;

impl Kept {
    pub const IN_OBJECT: &'static str = "in the object";
    pub const REPLACED: &'static str = "replaced";
    pub const LOST: &'static str = "lost";
}

/// One step of a history.
#[derive(Clone, Debug)]
pub struct Event {
    who: usize,
    pub code: u16,
    /// The object that the answer showed.
    shown: Option<Value>,
    /// The intention of a write with a 2xx, and the object that is stored since.
    wrote: Option<(Vec<Leaf>, Option<Value>)>,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.wrote.is_some() {
            "writes"
        } else {
            "reads"
        };
        let verb = if self.code >= 400 { "is told" } else { verb };
        write!(f, "{} {verb} {}", ["A", "B", "C", "D"][self.who], self.code)
    }
}

impl Event {
    pub fn shown(who: usize, object: &Value) -> Self {
        Self {
            who,
            code: 200,
            shown: Some(object.clone()),
            wrote: None,
        }
    }

    pub fn refused(who: usize, code: u16) -> Self {
        Self {
            who,
            code,
            shown: None,
            wrote: None,
        }
    }

    /// A write that was accepted. Only the leaves that are not in the object as they should be
    /// count as left out. An answer to a write shows the object, but for a deletion's.
    pub fn wrote(
        who: usize,
        leaves: Vec<Leaf>,
        _before: Option<Value>,
        after: Option<Value>,
        shows: bool,
    ) -> Self {
        Self {
            who,
            code: 200,
            shown: after.clone().filter(|_| shows),
            wrote: Some((leaves, after)),
        }
    }
}

/// Returns whether an object has a leaf. A deletion is in no object, or in one that is marked.
fn holds((place, value): &Leaf, object: Option<&Value>) -> bool {
    let Some(object) = object else {
        return place.is_empty();
    };
    if place.is_empty() {
        return object["metadata"].get("deletionTimestamp").is_some();
    }
    match (value, find(object, place)) {
        (None, found) => found.is_none(),
        (Some(value), Some(found)) => says(found, value),
        (Some(_), None) => false,
    }
}

/// Returns whether a value says all that another one does: the server fills it up.
fn says(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => wanted
            .iter()
            .all(|(name, wanted)| found.get(name).is_some_and(|found| says(found, wanted))),
        (found, wanted) => found == wanted,
    }
}

/// The verdicts of the edits.
pub fn judge(events: &[Event]) -> &'static str {
    // The object after each step. The first object was shown to an actor, or does not matter.
    let first = events.iter().find_map(|event| event.shown.clone());
    let mut stored: Vec<Option<Value>> = Vec::with_capacity(events.len());
    for event in events {
        let before = stored.last().cloned().unwrap_or_else(|| first.clone());
        stored.push(match &event.wrote {
            Some((_, after)) => after.clone(),
            None => before,
        });
    }
    let last = stored.last().and_then(Option::as_ref);
    let (mut left_out, mut replaced) = (false, false);
    for (at, event) in events.iter().enumerate() {
        for leaf in event.wrote.iter().flat_map(|(leaves, _)| leaves) {
            if !holds(leaf, stored[at].as_ref()) {
                left_out = true;
                continue;
            }
            let gone = (at + 1..events.len()).find(|i| !holds(leaf, stored[*i].as_ref()));
            let Some(gone) = gone else { continue };
            let by = events[gone].who;
            if by == event.who {
                continue;
            }
            // Since when it holds.
            let held = |i: usize| holds(leaf, stored[i].as_ref());
            let since = (0..at).rev().take_while(|i| held(*i)).last().unwrap_or(at);
            let mut between = events[since..gone].iter();
            let saw = between.any(|event| {
                let shown = match &event.shown {
                    Some(object) => holds(leaf, Some(object)),
                    None => event.code == 404 && holds(leaf, None),
                };
                event.who == by && shown
            });
            if !saw {
                return Kept::LOST;
            }
            replaced |= !holds(leaf, last);
        }
    }
    let mut told_no = Vec::new();
    for who in 0..4 {
        let last = events.iter().rev().find(|event| event.who == who);
        told_no.extend(
            last.filter(|event| event.code >= 400)
                .map(|event| event.code),
        );
    }
    if told_no.contains(&409) {
        "conflict"
    } else if told_no.contains(&404) {
        "gone"
    } else if !told_no.is_empty() {
        "not possible"
    } else if left_out {
        "left out"
    } else if replaced {
        Kept::REPLACED
    } else {
        Kept::IN_OBJECT
    }
}
