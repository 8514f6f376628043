//! Stand-ins, put in the place of values.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::leaves::Use;
use super::{LeafValue, decoded};

/// The stand-ins of values.
#[derive(Clone, Debug, Default)]
pub struct StandIns {
    numbers: BTreeMap<i64, i64>,
    texts: BTreeMap<String, String>,
    /// The texts by their first word, to find them in messages.
    by_word: BTreeMap<String, Vec<String>>,
    /// The texts by their stand-ins.
    behind: BTreeMap<String, String>,
}

impl StandIns {
    pub(super) fn new(numbers: BTreeMap<i64, i64>, texts: BTreeMap<String, String>) -> Self {
        let mut by_word: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut behind = BTreeMap::new();
        for (text, stand_in) in &texts {
            if let Some(word) = words(text).next() {
                let of = by_word.entry(word.to_owned()).or_default();
                of.push(text.clone());
            }
            let plain = stand_in.trim_end_matches(":1").to_owned();
            behind.insert(plain, text.clone());
        }
        Self {
            numbers,
            texts,
            by_word,
            behind,
        }
    }

    /// The values whose stand-ins a message names.
    pub(super) fn named_in(&self, message: &str) -> Vec<LeafValue> {
        let named = words(message).filter_map(|word| self.behind.get(word));
        named.map(|text| LeafValue::Text(text.clone())).collect()
    }

    pub(super) fn replace(&self, leaf: &mut Value, of: Use) {
        if matches!(of, Use::Stays(_)) {
            return;
        }
        if let Some(number) = leaf.as_i64() {
            if let Some(stand_in) = self.numbers.get(&number) {
                *leaf = (*stand_in).into();
            }
            return;
        }
        let Value::String(text) = leaf else { return };
        match of {
            Use::Message => *text = self.in_message(text),
            Use::Selector => {
                let labels = text.split(',').map(|one| match one.split_once('=') {
                    Some((key, value)) => format!("{key}={}", self.text(value)),
                    None => one.to_owned(),
                });
                let labels: Vec<String> = labels.collect();
                *text = labels.join(",");
            }
            Use::Bytes => {
                let plain = decoded(text).unwrap_or_else(|| text.clone());
                if let Some(stand_in) = self.texts.get(&plain) {
                    // What is no base64 stays none: the server says so.
                    *text = match STANDARD.decode(&*text) {
                        Ok(_) => STANDARD.encode(stand_in),
                        Err(_) => stand_in.clone(),
                    };
                }
            }
            _ => *text = self.text(text).to_owned(),
        }
    }

    fn text<'a>(&'a self, text: &'a str) -> &'a str {
        self.texts.get(text).map_or(text, String::as_str)
    }

    /// A message with the stand-ins of the values that it names.
    fn in_message(&self, message: &str) -> String {
        let found = words(message).filter_map(|word| self.by_word.get(word));
        let mut found: Vec<&String> = found.flatten().collect();
        // The longest first: a value may be a part of another.
        found.sort_by_key(|text| (std::cmp::Reverse(text.len()), *text));
        found.dedup();
        let mut message = message.to_owned();
        for text in found {
            message = replaced_words(&message, text, self.text(text));
        }
        message
    }
}

/// Returns whether a character belongs to a word: a name, a stand-in.
fn of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_')
}

pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c| !of_word(c));
    words.filter(|word| !word.is_empty())
}

/// A text with a value replaced where it stands for itself.
fn replaced_words(text: &str, value: &str, stand_in: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(value) {
        let (before, from) = rest.split_at(at);
        let after = &from[value.len()..];
        let begins = !(out.chars().chain(before.chars()).next_back()).is_some_and(of_word);
        let ends = !after.chars().next().is_some_and(of_word);
        out.push_str(before);
        out.push_str(if begins && ends { stand_in } else { value });
        rest = after;
    }
    out + rest
}
