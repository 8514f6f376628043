//! Texts: with structure (JSON, YAML), or free, with parts of either in it.

use std::ops::Range;

use optimist_client::{objects, to_yaml};
use serde_json::Value;

use super::encoded::{self, Base64Content};
use super::{Masking, PrivateSpan, commands, pairs, shapes};

/// The maximum number of texts inside each other: a manifest in an annotation in a manifest in a
/// log.
const MAX_DEPTH: usize = 6;

/// The values of a text in JSON or YAML; JSON documents may follow each other, as in a watch. `None`
/// if it is a plain text.
fn read(text: &str) -> Option<(Vec<Value>, bool)> {
    let structured = |all: &[Value]| all.iter().any(|it| it.is_object() || it.is_array());
    if text.trim_start().starts_with(['{', '[']) {
        let documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        let json: Result<Vec<Value>, _> = documents.collect();
        if let Ok(json) = json {
            return Some((json, true));
        }
    }
    if !text.contains(": ") && !text.contains(":\n") && !text.contains("- ") {
        return None;
    }
    let yaml = objects(text).ok()?;
    let json = text.trim_start().starts_with(['{', '[']);
    structured(&yaml).then_some((yaml, json))
}

/// Returns whether a text is JSON or YAML as a whole.
pub fn has_structure(text: &str) -> bool {
    read(text).is_some()
}

impl Masking {
    /// Returns the text without private values; `None` if it has none. Records the private values.
    pub fn text(&mut self, text: &str) -> Option<String> {
        self.within(text, true, &String::new)
    }

    /// Like [`Masking::text`] for a message: all text that is not private stays letter for letter.
    pub fn message(&mut self, text: &str) -> Option<String> {
        self.depth += 1;
        self.in_message = true;
        let new = self.free(text, true, &String::new);
        self.in_message = false;
        self.depth -= 1;
        new
    }

    /// Like [`Masking::text`]. With `random`, it also removes words that look random.
    pub(super) fn within(
        &mut self,
        text: &str,
        random: bool,
        path: &dyn Fn() -> String,
    ) -> Option<String> {
        if self.depth >= MAX_DEPTH {
            // Nobody nests texts like this by chance.
            return Some(self.stand_in(path(), "a text in a text in a text", text));
        }
        self.depth += 1;
        let new = self.nested(text, random, path);
        self.depth -= 1;
        new
    }

    fn nested(&mut self, text: &str, random: bool, path: &dyn Fn() -> String) -> Option<String> {
        let has_structure =
            text.contains('\n') && text.contains(':') || text.trim_start().starts_with(['{', '[']);
        if has_structure && let Some((mut values, json)) = read(text) {
            let before = values.clone();
            values.iter_mut().for_each(|value| self.object(value));
            if values != before || self.has_private_comment(text, json) {
                return Some(written(&values, json, text.ends_with('\n')));
            }
            return None;
        }
        match encoded::decoded(text) {
            Some(Base64Content::Text(inner)) => {
                if let Some(inner) = self.within(&inner, random, path) {
                    return Some(encoded::encode(&inner));
                }
            }
            Some(Base64Content::Packed) => {
                return Some(self.stand_in(path(), "compressed data", text));
            }
            _ => {}
        }
        self.free(text, random, path)
    }

    /// Returns whether a comment of YAML has something private. A comment is in no object, so the
    /// search of objects cannot find it.
    fn has_private_comment(&mut self, text: &str, json: bool) -> bool {
        if json || !text.contains('#') {
            return false;
        }
        let comments = text
            .lines()
            .filter_map(|line| Some(&line[line.find('#')?..]));
        let comments: Vec<&str> = comments.collect();
        self.free(&comments.join("\n"), true, &String::new)
            .is_some()
    }

    /// A text without structure.
    pub(super) fn free(
        &mut self,
        text: &str,
        random: bool,
        path: &dyn Fn() -> String,
    ) -> Option<String> {
        let mut spans = Vec::new();
        let parts = self.parts(text, &mut spans);
        let reading = pairs::PairRules {
            secret: speaks_of_secret(text),
            sentences: self.in_message,
        };
        pairs::find(text, reading, &mut spans);
        commands::find(text, &mut spans);
        shapes::find(text, random, &mut spans);
        spans.retain(|span| {
            let inside = |part: &Range<usize>| {
                part.contains(&span.range.start) && span.range.end <= part.end
            };
            span.replacement.is_some() || !parts.iter().any(inside)
        });
        let plain = self.rebuilt(text, spans, path);
        let now = plain.as_deref().unwrap_or(text);
        let inner = encoded::rewrite(now, |inner| self.within(inner, random, path));
        inner.or(plain)
    }

    /// Finds the JSON in a text. Adds a span for each part of it that has private values.
    fn parts(&mut self, text: &str, spans: &mut Vec<PrivateSpan>) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let mut from = 0;
        while let Some(at) = text[from..].find(['{', '[']).map(|at| from + at) {
            from = at + 1;
            let inside = text[from..].trim_start();
            if !inside.starts_with(['"', '{', '[', '}']) {
                continue;
            }
            let mut documents =
                serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
            let Some(Ok(mut value)) = documents.next() else {
                continue;
            };
            let end = at + documents.byte_offset();
            let before = value.clone();
            if speaks_of_secret(&text[..at]) && value.get("kind").is_none() {
                let of_secret = std::mem::replace(&mut self.of_secret, true);
                self.object(&mut value);
                self.of_secret = of_secret;
            } else {
                self.object(&mut value);
            }
            if value != before {
                spans.push(PrivateSpan {
                    replacement: Some(value.to_string()),
                    ..PrivateSpan::new(at..end, "")
                });
            }
            // `data: {"a": "b"}` in a Secret is found by the name before it.
            parts.push(at + 1..end);
            from = end;
        }
        parts
    }

    /// Replaces the private parts of a text.
    fn rebuilt(
        &mut self,
        text: &str,
        mut spans: Vec<PrivateSpan>,
        path: &dyn Fn() -> String,
    ) -> Option<String> {
        if spans.is_empty() {
            return None;
        }
        spans.sort_by_key(|span| (span.range.start, std::cmp::Reverse(span.range.end)));
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        let mut changed = false;
        for span in spans {
            // What begins in another part and ends behind it is private too.
            let begin = span.range.start.max(done);
            let Some(value) = text.get(begin..span.range.end).filter(|it| !it.is_empty()) else {
                continue;
            };
            let new = match span.replacement {
                Some(new) if begin == span.range.start => new,
                _ if super::names::is_blank(value) => continue,
                _ => {
                    let field = span.field.and_then(|field| text.get(field));
                    let field = field.map(|name| name.trim_start_matches('-').to_owned());
                    self.stand_in(field.unwrap_or_else(path), span.looks_like, value)
                }
            };
            changed |= new != value;
            out.push_str(text.get(done..begin).unwrap_or_default());
            out.push_str(&new);
            done = span.range.end;
        }
        out.push_str(text.get(done..).unwrap_or_default());
        changed.then_some(out)
    }
}

/// Returns whether a text has, or had, a Secret in it.
fn speaks_of_secret(text: &str) -> bool {
    names_secret(text)
        || ["Secret", "secret/", "secrets "]
            .iter()
            .any(|word| text.contains(word))
}

fn written(values: &[Value], json: bool, ends: bool) -> String {
    let texts: Vec<String> = values
        .iter()
        .map(|value| {
            if json {
                value.to_string()
            } else {
                to_yaml(value)
            }
        })
        .collect();
    let mut text = texts.join(if json { "\n" } else { "---\n" });
    if !ends {
        text.truncate(text.trim_end_matches('\n').len());
    } else if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Returns whether a text says that one of its objects is a Secret, also where the text is escaped.
pub fn names_secret(text: &str) -> bool {
    text.match_indices("Secret").any(|(at, word)| {
        let before = text[..at].trim_end_matches(['"', '\'', '\\', ' ']);
        let behind = text[at + word.len()..].chars().next();
        before.ends_with(['=', ':'])
            && before
                .trim_end_matches(['=', ':', '"', '\\', ' '])
                .to_ascii_lowercase()
                .ends_with("kind")
            && !behind.is_some_and(char::is_alphanumeric)
    }) || text.contains("/secrets")
}
