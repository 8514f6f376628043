//! Stand-ins, put in the place of values.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::leaves::Use;
use super::{LeafValue, decoded};

/// What stands in the place of values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StandIns {
    pub(super) numbers: BTreeMap<i64, i64>,
    pub(super) texts: BTreeMap<String, String>,
}

impl StandIns {
    /// The values that have one of these stand-ins.
    pub(super) fn behind(&self, message: &str) -> impl Iterator<Item = LeafValue> {
        let named = self.texts.iter().filter(|(_, stand_in)| {
            let plain = stand_in.trim_end_matches(":1");
            let mut found = message.match_indices(plain);
            found.any(|(at, _)| {
                let next = message[at + plain.len()..].chars().next();
                !next.is_some_and(|c| c.is_ascii_digit())
            })
        });
        named.map(|(text, _)| LeafValue::Text(text.clone()))
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
        // The longest first: a value may be a part of another.
        let mut all: Vec<_> = self.texts.iter().collect();
        all.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        let mut message = message.to_owned();
        for (text, stand_in) in all {
            message = replaced_words(&message, text, stand_in);
        }
        message
    }
}

/// A text with a value replaced where it stands for itself.
fn replaced_words(text: &str, value: &str, stand_in: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(value) {
        let (before, from) = rest.split_at(at);
        let after = &from[value.len()..];
        let part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
        let begins = !(out.chars().chain(before.chars()).next_back()).is_some_and(part);
        let ends = !after.chars().next().is_some_and(part);
        out.push_str(before);
        out.push_str(if begins && ends { stand_in } else { value });
        rest = after;
    }
    out + rest
}
