//! A case without the values of its objects. A stand-in takes the place of each value, so that the
//! case still works: a link to it gives the same answers.
//!
//! The rule:
//! - Equal values have equal stand-ins, in every object, manifest, version, message, `managedFields`,
//!   last-applied annotation and request of the case; different values have different ones. So what
//!   agrees, agrees still.
//! - Types stay: a text becomes `value-1`, an image with a tag `value-1:1`, a time another time, base64
//!   another base64. Whole numbers become small ones in the same order; 0 stays 0, and negative numbers
//!   stay negative. Booleans, `null`, empty texts and numbers with a fraction stay.
//! - What structure and validation need stays: names of fields and of members of maps, `apiVersion`,
//!   `kind`, names and namespaces, finalizers, owner references, managers, the keys of list items,
//!   values that the server fills in by default, quantities and percentages. So do equal values
//!   elsewhere, because they can be read all the same.
//! - Definitions of custom resources stay: they are structure. A text that is not detected is left out
//!   whole. Of an error message the lines stay that say something; of a request of an audit log, what
//!   [`audit`](crate::audit) reads of it.
//! - A value whose stand-in changes an answer stays ([`ValueSearch`]).

mod answers;
mod leaves;
mod replace;
mod search;
pub(crate) mod texts;

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use optimist_apiserver::environment::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::input::{Input, detect};
use leaves::Use;
use replace::words;
use texts::Roots;

pub use answers::CaseSettings;
pub use replace::StandIns;
pub use search::{ValueSearch, WithoutValues};

/// A value of an object that can be left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum LeafValue {
    /// A whole number.
    Number(i64),
    /// A text; for base64, the text behind it.
    Text(String),
}

/// The reason why a value stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum StayReason {
    /// It is the name or the namespace of an object.
    Name,
    /// It is an API version or a kind.
    Kind,
    /// It tells the items of a list apart.
    ListKey,
    /// It is the name of a manager.
    Manager,
    /// The server fills it in by default.
    Default,
    /// It is a quantity or a percentage, which the server reads.
    Quantity,
    /// It is a finalizer, or refers to an owner.
    Structure,
    /// An error message has it.
    Message,
    /// Its stand-in changes an answer.
    Answer,
}

/// The texts of a case, with the kinds of their values.
#[derive(Clone, Debug)]
pub struct CaseValues {
    input: Vec<Option<Input>>,
    texts: Vec<String>,
    roots: Roots,
    stays: BTreeMap<LeafValue, StayReason>,
    values: BTreeSet<LeafValue>,
    /// Images with a tag.
    tagged: BTreeSet<String>,
}

impl CaseValues {
    /// Reads the texts of a case.
    pub fn read(texts: &[String]) -> Self {
        let mut input = Vec::new();
        let mut needed = Vec::new();
        for text in texts {
            let mut one = detect(text).ok();
            let text = match &one {
                Some(Input::Errors(errors)) => texts::needed_lines(text, errors),
                Some(Input::AuditLog(log)) => Some(texts::needed_of_log(log)),
                _ => Some(text.clone()),
            };
            one = one.filter(|_| text.is_some());
            input.push(one);
            needed.push(text.unwrap_or_default());
        }
        let roots = Roots::read(input.iter().flatten());
        let mut found = FoundValues::default();
        for (one, text) in input.iter().zip(&needed) {
            if let Some(one) = one {
                texts::rewrite(one, text, &roots, &mut |leaf, of| found.add(leaf, of));
            }
        }
        found
            .values
            .retain(|value| !found.stays.contains_key(value));
        Self {
            input,
            texts: needed,
            roots,
            stays: found.stays,
            values: found.values,
            tagged: found.tagged,
        }
    }

    /// The values that can be left out.
    pub fn values(&self) -> &BTreeSet<LeafValue> {
        &self.values
    }

    /// The values that stay in any case, and why.
    pub fn stays(&self) -> &BTreeMap<LeafValue, StayReason> {
        &self.stays
    }

    /// The stand-ins of all values but those that are kept.
    pub fn stand_ins(&self, kept: &BTreeSet<LeafValue>) -> StandIns {
        let out = || self.values.iter().filter(|value| !kept.contains(value));
        let anchors = self.stays.keys().chain(kept.iter()).filter_map(number);
        let mut anchors: BTreeSet<i64> = anchors.collect();
        anchors.insert(0);
        let numbers = ranked(out().filter_map(number), &anchors);
        let mut texts = BTreeMap::new();
        let (mut next, mut seconds) = (0, 0);
        let taken = taken(&self.texts);
        for value in out() {
            let LeafValue::Text(text) = value else {
                continue;
            };
            let stand_in = if let Some(ending) = time_ending(text) {
                seconds += 1;
                let time = Timestamp { seconds }.to_string();
                format!("{}{ending}", time.trim_end_matches('Z'))
            } else {
                next += 1;
                while taken.contains(&next) {
                    next += 1;
                }
                match self.tagged.contains(text) {
                    true => format!("{STAND_IN}{next}:1"),
                    false => format!("{STAND_IN}{next}"),
                }
            };
            texts.insert(text.clone(), stand_in);
        }
        StandIns::new(numbers, texts)
    }

    /// The texts of the case with these stand-ins. A text that is not detected is left out.
    pub fn rewritten(&self, stand_ins: &StandIns) -> Vec<String> {
        let all = self.input.iter().zip(&self.texts);
        let texts = all.filter_map(|(one, text)| {
            Some(texts::rewrite(
                one.as_ref()?,
                text,
                &self.roots,
                &mut |leaf, of| {
                    stand_ins.replace(leaf, of);
                },
            ))
        });
        texts.collect()
    }

    /// Returns the number of the case's texts of a kind.
    fn count(&self, of: fn(&Option<Input>) -> bool) -> usize {
        self.input.iter().filter(|one| of(one)).count()
    }
}

/// The beginning of the stand-in of a text.
const STAND_IN: &str = "value-";

/// Returns the numbers of texts in a case that look like stand-ins: no stand-in may be a value of
/// it.
fn taken(texts: &[String]) -> BTreeSet<usize> {
    let places = texts.iter().flat_map(|text| text.split(STAND_IN).skip(1));
    let numbers = places.filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit());
        rest[..end.unwrap_or(rest.len())].parse().ok()
    });
    numbers.collect()
}

fn number(value: &LeafValue) -> Option<i64> {
    match value {
        LeafValue::Number(number) => Some(*number),
        LeafValue::Text(_) => None,
    }
}

/// Numbers in the same order, each as small as those that stay allow.
fn ranked(numbers: impl Iterator<Item = i64>, anchors: &BTreeSet<i64>) -> BTreeMap<i64, i64> {
    let mut all: BTreeMap<Option<i64>, Vec<i64>> = BTreeMap::new();
    for number in numbers.filter(|number| !anchors.contains(number)) {
        let below = anchors.range(..number).next_back().copied();
        all.entry(below).or_default().push(number);
    }
    let mut ranks = BTreeMap::new();
    for (below, mut numbers) in all {
        numbers.sort_unstable();
        let count = i64::try_from(numbers.len()).unwrap_or(i64::MAX);
        // Without one below they end right below the first that stays.
        let first = anchors.first().copied().unwrap_or(0);
        let begin = below.map_or(first - count, |below| below + 1);
        ranks.extend(numbers.into_iter().zip(begin..));
    }
    ranks
}

/// The end of a time behind its seconds: `Z`, `.123456Z`; `None` if a text is no time.
fn time_ending(text: &str) -> Option<&'static str> {
    let time = text.get(..19)?;
    let shape = time.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        10 => byte == b'T',
        13 | 16 => byte == b':',
        _ => byte.is_ascii_digit(),
    });
    let rest = shape.then(|| &text[19..])?;
    match rest {
        "Z" => Some("Z"),
        _ if rest.starts_with('.') && rest.ends_with('Z') && rest.len() == 8 => Some(".000000Z"),
        _ => None,
    }
}

/// The values found in the texts of a case.
#[derive(Default)]
struct FoundValues {
    stays: BTreeMap<LeafValue, StayReason>,
    values: BTreeSet<LeafValue>,
    tagged: BTreeSet<String>,
}

impl FoundValues {
    fn add(&mut self, leaf: &Value, of: Use) {
        match of {
            Use::Stays(None) => {}
            Use::Stays(Some(reason)) => {
                if let Some(value) = leaf_value(leaf, of) {
                    self.stays.entry(value).or_insert(reason);
                }
            }
            Use::Value | Use::Bytes | Use::Image => {
                if let Some(value) = leaf_value(leaf, of) {
                    if let LeafValue::Text(text) = &value
                        && of == Use::Image
                        && has_tag(text)
                    {
                        self.tagged.insert(text.clone());
                    }
                    self.values.insert(value);
                }
            }
            Use::Selector => {
                for (_, value) in selector(leaf.as_str().unwrap_or_default()) {
                    self.values.insert(LeafValue::Text(value.to_owned()));
                }
            }
            Use::Message => {
                // A message may name a value, so that the core's message must name it too.
                let text = leaf.as_str().unwrap_or_default();
                for word in words(text) {
                    if let Ok(number) = word.parse() {
                        let number = LeafValue::Number(number);
                        self.stays.entry(number).or_insert(StayReason::Message);
                    }
                }
            }
        }
    }
}

/// Returns whether an image has a tag other than the one without which it is pulled.
fn has_tag(image: &str) -> bool {
    let name = image.rsplit('/').next().unwrap_or_default();
    name.split_once(':').is_some_and(|(_, tag)| tag != "latest")
}

/// The labels of a selector.
fn selector(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split(',').filter_map(|one| one.split_once('='))
}

fn leaf_value(leaf: &Value, of: Use) -> Option<LeafValue> {
    match leaf {
        Value::Number(number) => number.as_i64().map(LeafValue::Number),
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(LeafValue::Text(match of {
            Use::Bytes => decoded(text).unwrap_or_else(|| text.clone()),
            _ => text.clone(),
        })),
        _ => None,
    }
}

/// Returns the text behind a base64 encoding, if it is text.
fn decoded(text: &str) -> Option<String> {
    String::from_utf8(STANDARD.decode(text).ok()?).ok()
}
