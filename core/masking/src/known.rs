//! Values that are known to be private, where nothing else betrays them.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::{Masking, StandInStyle, encoded};

/// Shorter values are in other texts by chance.
const MIN: usize = 6;

/// Shorter values than this stand for themselves only between other characters.
const PART_OF_WORD: usize = 12;

/// The first bytes by which values are looked up.
type FirstBytes = [u8; 4];

/// The private values of a [`Masking`], with their stand-ins.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The longest first: a value may be a part of another.
    by_start: BTreeMap<FirstBytes, Vec<(String, String)>>,
    /// The bytes that begin a value.
    begins: Vec<bool>,
}

impl Masking {
    /// Collects the private values that were found so far.
    pub fn known_values(&self) -> Known {
        let mut known = Known {
            begins: vec![false; 256],
            ..Known::default()
        };
        for (value, number) in &self.values {
            if value.len() < MIN || self.is_public(value) {
                continue;
            }
            let new = self.replacement(*number);
            let encoded = match self.style {
                StandInStyle::Mask => new.clone(),
                StandInStyle::StandIns => STANDARD.encode(&new),
            };
            known.add(value, &new);
            known.add(value.trim(), &new);
            for text in [value.clone(), format!("{value}\n")] {
                known.add(
                    STANDARD.encode(&text).trim_end_matches('='),
                    encoded.trim_end_matches('='),
                );
            }
            // As a part of JSON, and in JSON in JSON.
            let escaped = Value::from(value.as_str()).to_string();
            let escaped = escaped.get(1..escaped.len() - 1).unwrap_or_default();
            if escaped != value {
                known.add(escaped, &new);
            }
        }
        for all in known.by_start.values_mut() {
            all.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        }
        known
    }
}

fn start(text: &[u8]) -> Option<FirstBytes> {
    text.get(..4)?.try_into().ok()
}

impl Known {
    fn add(&mut self, value: &str, new: &str) {
        let (Some(start), true) = (start(value.as_bytes()), value.len() >= MIN) else {
            return;
        };
        self.begins[usize::from(start[0])] = true;
        let of = self.by_start.entry(start).or_default();
        if !of.iter().any(|(known, _)| known == value) {
            of.push((value.to_owned(), new.to_owned()));
        }
    }

    /// Takes the values out of an object.
    pub fn replace(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(new) = self.replaced(text) {
                    *text = new;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.replace(item)),
            Value::Object(map) => {
                map.values_mut().for_each(|member| self.replace(member));
                if map.keys().any(|key| self.replaced(key).is_some()) {
                    let members = std::mem::take(map).into_iter();
                    let renamed =
                        members.map(|(key, member)| (self.replaced(&key).unwrap_or(key), member));
                    *map = renamed.collect::<Map<_, _>>();
                }
            }
            _ => {}
        }
    }

    /// The text without the values; `None` if it has none.
    pub fn replaced(&self, text: &str) -> Option<String> {
        if self.by_start.is_empty() {
            return None;
        }
        let plain = self.replaced_plain(text);
        let now = plain.as_deref().unwrap_or(text);
        let decoded = encoded::rewrite(now, |inner| self.replaced_plain(inner));
        decoded.or(plain)
    }

    fn replaced_plain(&self, text: &str) -> Option<String> {
        let bytes = text.as_bytes();
        let mut out = String::new();
        let (mut done, mut at) = (0, 0);
        while at < bytes.len() {
            let found = self.begins[usize::from(bytes[at])]
                .then(|| self.at(text, at))
                .flatten();
            match found {
                Some((value, new)) => {
                    out.push_str(text.get(done..at).unwrap_or_default());
                    out.push_str(new);
                    at += value.len();
                    done = at;
                }
                None => at += 1,
            }
        }
        (done > 0).then(|| out + text.get(done..).unwrap_or_default())
    }

    /// The value at a place of a text.
    fn at(&self, text: &str, at: usize) -> Option<&(String, String)> {
        let bytes = text.as_bytes();
        let all = self.by_start.get(&start(bytes.get(at..)?)?)?;
        all.iter().find(|(value, _)| {
            let end = at + value.len();
            let inside = |of: Option<&u8>| of.is_some_and(u8::is_ascii_alphanumeric);
            let joined = || {
                let before = at.checked_sub(1).and_then(|at| bytes.get(at));
                inside(before) && inside(bytes.get(at))
                    || inside(bytes.get(end)) && inside(bytes.get(end - 1))
            };
            bytes[at..].starts_with(value.as_bytes()) && (value.len() >= PART_OF_WORD || !joined())
        })
    }
}
