//! Finds values that look private, and makes texts and objects without them. There is one
//! definition, for objects, messages and free text, in Play and in Diagnose, in links, files,
//! Markdown and scripts.
//!
//! A value is private
//! - by its place: the data of a Secret;
//! - by the name of its field, variable, option or key, in an object, in a file that an object has in
//!   it, in a command, in a message (`names.rs`, `pairs.rs`);
//! - by its shape: a token of a known issuer, a private key, the user of a URL, a word that looks
//!   random (`shapes.rs`);
//! - if base64, JSON or YAML in it has such a value;
//! - where it equals a value that is private elsewhere in what is shared (`known.rs`).
//!
//! Names, kinds, labels, images, numbers, times and versions stay. The search is a heuristic: it can
//! miss a value.
//!
//! ```
//! use optimist_masking::{MASK, masked_text};
//!
//! let shown = masked_text("curl -u admin:hunter2 https://example.com");
//! assert!(shown.contains(MASK) && !shown.contains("hunter2"));
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod commands;
mod encoded;
mod known;
mod names;
mod object;
mod pairs;
mod refusals;
mod shapes;
mod structure;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use optimist_apiserver::pointer::escape;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use known::Known;
pub use structure::{has_structure, names_secret};

/// The stand-in for a private value in an object that is displayed.
pub const MASK: &str = "••••••";

/// The beginning of the stand-in for a private value in a shared object.
pub const STAND_IN: &str = "left-out-";

/// A value that looks private.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Private {
    /// The field that it was found in: `data.password`, `DB_PASSWORD`.
    pub field: String,
    /// A description of the value: `a password`.
    pub looks_like: Cow<'static, str>,
}

/// The kind of stand-in that replaces private values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StandInStyle {
    /// [`MASK`], to be shown.
    Mask,
    /// Stand-ins: equal values have equal ones, different values have different ones, so that a history
    /// with them has the same results.
    StandIns,
}

/// Takes private values out of texts and objects that are displayed or shared together.
///
/// Call [`Masking::object`] and [`Masking::text`] for each part first. Then the values are known, and
/// [`Masking::known_values`] takes them out where nothing else betrays them.
#[derive(Clone, Debug)]
pub struct Masking {
    style: StandInStyle,
    /// Objects without a kind can be parts of a Secret: patches, edits.
    of_secret: bool,
    /// The private values with the numbers of their stand-ins.
    values: BTreeMap<String, usize>,
    found: BTreeMap<String, Private>,
    /// The number of the last stand-in.
    last: usize,
    /// Words that stand where they are not private.
    public: BTreeSet<String>,
    /// `true` if the text is a message: its lines are sentences.
    in_message: bool,
    /// The number of texts that this text is inside of.
    depth: usize,
    /// Short texts of objects in which nothing is private: the versions of an object have mostly the
    /// same ones.
    plain: Plain,
}

/// Texts in which nothing is private, by the name of their field.
#[derive(Clone, Debug, Default)]
struct Plain {
    /// Looked at with and without what looks random.
    texts: BTreeMap<String, [BTreeSet<String>; 2]>,
    /// The keys of items in owned paths.
    items: BTreeSet<String>,
}

impl Plain {
    /// Longer texts are not kept.
    const MAX: usize = 256;

    fn has(&self, name: &str, random: bool, text: &str) -> bool {
        let known = self.texts.get(name);
        known.is_some_and(|known| known[usize::from(random)].contains(text))
    }

    fn keep(&mut self, name: &str, random: bool, text: &str) {
        if text.len() > Self::MAX {
            return;
        }
        if !self.texts.contains_key(name) {
            self.texts.insert(name.to_owned(), Default::default());
        }
        if let Some(known) = self.texts.get_mut(name) {
            known[usize::from(random)].insert(text.to_owned());
        }
    }
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PrivateSpan {
    range: Range<usize>,
    /// The name before it.
    field: Option<Range<usize>>,
    looks_like: &'static str,
    /// The text that replaces it; `None`: the stand-in for the whole value.
    replacement: Option<String>,
}

impl PrivateSpan {
    fn new(range: Range<usize>, looks_like: &'static str) -> Self {
        Self {
            range,
            field: None,
            looks_like,
            replacement: None,
        }
    }
}

impl Masking {
    /// Starts a search that puts [`MASK`] in the place of each private value, for texts on a screen.
    pub fn for_display() -> Self {
        Self::new(StandInStyle::Mask)
    }

    /// With a stand-in in the place of each value, to be shared. `texts`: what is shared has stand-ins
    /// of its own if it was shared before.
    pub fn shared<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut masking = Self::new(StandInStyle::StandIns);
        for text in texts {
            masking.last = masking.last.max(last_stand_in(text));
        }
        masking
    }

    fn new(style: StandInStyle) -> Self {
        Self {
            style,
            of_secret: false,
            values: BTreeMap::new(),
            found: BTreeMap::new(),
            last: 0,
            public: BTreeSet::new(),
            in_message: false,
            depth: 0,
            plain: Plain::default(),
        }
    }

    /// Takes `data` without a kind for that of a Secret, as in the patch of one.
    #[must_use]
    pub fn with_secrets(mut self, any: bool) -> Self {
        self.of_secret = any;
        self
    }

    /// Returns the private values that were found, sorted by their fields.
    pub fn findings(&self) -> Vec<Private> {
        let mut found: Vec<Private> = self.found.values().cloned().collect();
        found.sort();
        found
    }

    /// Returns whether no private value was found.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Puts a stand-in of the user's own in the place of a value, wherever it is: of a person's name.
    pub fn leave_out(&mut self, field: &str, looks_like: &'static str, value: &str) -> String {
        self.stand_in(field.to_owned(), looks_like, value)
    }

    /// Returns the stand-in for a private value, and records the value.
    fn stand_in(&mut self, field: String, looks_like: &'static str, value: &str) -> String {
        if names::is_left_out(value) {
            return value.to_owned();
        }
        let number = *self.values.entry(value.to_owned()).or_insert_with(|| {
            self.last += 1;
            self.last
        });
        let looks_like = Cow::Borrowed(looks_like);
        let private = || Private { field, looks_like };
        self.found.entry(value.to_owned()).or_insert_with(private);
        self.replacement(number)
    }

    fn replacement(&self, number: usize) -> String {
        match self.style {
            StandInStyle::Mask => MASK.to_owned(),
            StandInStyle::StandIns => format!("{STAND_IN}{number}"),
        }
    }
}

/// Returns the largest number of a stand-in in a text.
fn last_stand_in(text: &str) -> usize {
    let places = text.match_indices(STAND_IN);
    let numbers = places.filter_map(|(at, _)| {
        let rest = &text[at + STAND_IN.len()..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).take(9).count();
        rest[..digits].parse().ok()
    });
    numbers.max().unwrap_or(0)
}

/// Returns whether a text has stand-ins, so that it is of no use in a command.
pub fn has_left_out(text: &str) -> bool {
    text.contains(MASK) || last_stand_in(text) > 0
}

/// An object with [`MASK`] in the place of each value that looks private, to be shown.
pub fn masked(object: &Value) -> Value {
    hidden(object).unwrap_or_else(|| object.clone())
}

/// Like [`masked`], but returns the same object if nothing in it looks private.
pub fn masked_arc(object: &Arc<Value>) -> Arc<Value> {
    hidden(object).map_or_else(|| Arc::clone(object), Arc::new)
}

/// The parts of an object that [`masked`] changes, each with its place as a JSON pointer (RFC 6901), for
/// [`with_parts`].
pub fn masked_parts(object: &Value) -> Vec<(String, Value)> {
    let mut parts = Vec::new();
    if let Some(hidden) = hidden(object) {
        differing(object, hidden, &mut String::new(), &mut parts);
    }
    parts
}

/// An object with other values at some places: what [`masked`] returns, for the parts of [`masked_parts`].
pub fn with_parts(object: &Value, parts: &[(String, Value)]) -> Value {
    let mut object = object.clone();
    for (pointer, value) in parts {
        if let Some(place) = object.pointer_mut(pointer) {
            *place = value.clone();
        }
    }
    object
}

/// Adds the smallest parts in which two values differ. A map with other keys, and a list of another length, is one.
fn differing(one: &Value, other: Value, at: &mut String, parts: &mut Vec<(String, Value)>) {
    let length = at.len();
    let mut below = |one: &Value, other: Value, name: &str| {
        at.push('/');
        at.push_str(name);
        differing(one, other, at, parts);
        at.truncate(length);
    };
    match (one, other) {
        (Value::Object(one), Value::Object(other)) if one.keys().eq(other.keys()) => {
            for ((name, one), (_, other)) in one.iter().zip(other) {
                below(one, other, &escape(name));
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (position, (one, other)) in one.iter().zip(other).enumerate() {
                below(one, other, &position.to_string());
            }
        }
        (one, other) if *one != other => parts.push((at.clone(), other)),
        _ => {}
    }
}

fn hidden(object: &Value) -> Option<Value> {
    let mut masking = Masking::for_display();
    let mut hidden = object.clone();
    masking.object(&mut hidden);
    if masking.is_empty() {
        return None;
    }
    masking.known_values().replace(&mut hidden);
    Some(hidden)
}

/// A text with [`MASK`] in the place of each value that looks private, to be shown; the rest letter for
/// letter.
pub fn masked_text(text: &str) -> String {
    let mut masking = Masking::for_display();
    let Some(hidden) = masking.message(text) else {
        return text.to_owned();
    };
    masking.known_values().replaced(&hidden).unwrap_or(hidden)
}
