//! Private values in free text by the names before them: `password: x`, `"token": "x"`, `PGPASS=x`,
//! `--password x`, `<pwd>x</pwd>`. The text may be cut, escaped, a difference of two files, or part of
//! a sentence.

mod value;

use std::ops::Range;

use self::value::is_field;
use super::PrivateSpan;
use super::names::{by_name, is_blank};
use super::refusals::{self, REFUSALS};

/// The longest name before a value.
const MAX_NAME: usize = 120;

/// A value can follow this many bytes after a name, if both have a field: `name: DB_PASSWORD,
/// value: x`.
const NEAR: usize = 200;

/// The rules for reading a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairRules {
    /// `data` is that of a Secret.
    pub(super) secret: bool,
    /// Lines are sentences, and not those of a file: behind a value something else may follow.
    pub(super) sentences: bool,
}

/// Finds the values whose names say that they are private.
pub(super) fn find(text: &str, reading: PairRules, found: &mut Vec<PrivateSpan>) {
    let mut scan = Scan {
        text,
        bytes: text.as_bytes(),
        reading,
        near: None,
        found,
    };
    for at in 0..text.len() {
        match scan.bytes[at] {
            b':' | b'=' => scan.pair(at),
            b'>' => scan.element(at),
            b' ' | b'\t' | b'\n' | b'"' | b'\'' => scan.word(at),
            _ => {}
        }
    }
    refusals::find(text, reading.secret, scan.found);
}

struct Scan<'a> {
    text: &'a str,
    bytes: &'a [u8],
    reading: PairRules,
    /// The position after a field that names a private variable, and what the variable's value
    /// looks like.
    near: Option<(usize, &'static str)>,
    found: &'a mut Vec<PrivateSpan>,
}

/// A name before a value.
struct PairName {
    range: Range<usize>,
    /// The start of the quote before the name, or of the name itself.
    begin: usize,
    is_quoted: bool,
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/')
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

impl Scan<'_> {
    fn at(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(b'\n')
    }

    fn end_of_line(&self, from: usize) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        let length = rest.iter().position(|byte| *byte == b'\n');
        length.map_or(self.bytes.len(), |length| from + length)
    }

    fn begin_of_line(&self, from: usize) -> usize {
        let before = self.bytes.get(..from).unwrap_or_default();
        let at = before.iter().rposition(|byte| *byte == b'\n');
        at.map_or(0, |at| at + 1)
    }

    /// The name that ends before a position.
    fn key(&self, end: usize) -> Option<PairName> {
        let mut end = end;
        while end > 0 && matches!(self.at(end - 1), b' ' | b':') {
            end -= 1;
        }
        let quote = Some(self.at(end.checked_sub(1)?)).filter(|byte| is_quote(*byte));
        if quote.is_some() {
            end -= 1;
            while end > 0 && self.at(end - 1) == b'\\' {
                end -= 1;
            }
        }
        let first = end.saturating_sub(MAX_NAME);
        let mut begin = end;
        let inside = |byte: u8| match quote {
            Some(quote) => byte != quote && byte != b'\n',
            None => is_of_name(byte),
        };
        while begin > first && inside(self.at(begin - 1)) {
            begin -= 1;
        }
        let is_quoted = quote.is_some();
        (begin < end).then(|| {
            let mut before = begin - usize::from(is_quoted && begin > 0);
            while is_quoted && before > 0 && self.at(before - 1) == b'\\' {
                before -= 1;
            }
            PairName {
                range: begin..end,
                begin: before,
                is_quoted,
            }
        })
    }

    fn name(&self, key: &PairName) -> &str {
        self.text.get(key.range.clone()).unwrap_or_default()
    }

    /// Returns whether a name is the first word of its line, behind the marks of lists, differences
    /// and comments.
    fn begins_line(&self, key: &PairName) -> bool {
        let before = self.text.get(self.begin_of_line(key.begin)..key.begin);
        let before = before.unwrap_or_default();
        let marks = |c: char| {
            c.is_whitespace()
                || matches!(c, '-' | '+' | '>' | '<' | '#' | '*' | '|' | '!' | ';' | '/')
        };
        let words = before.trim_matches(marks);
        words.is_empty() || matches!(words, "export" | "set" | "ENV" | "ARG" | "env" | "SET")
    }

    fn pair(&mut self, at: usize) {
        let next = self.at(at + 1);
        if self.at(at) == b':' && matches!(next, b'/' | b':' | b'=') {
            return;
        }
        let Some(key) = self.key(at) else { return };
        let name = self.name(&key);
        let secret = self.reading.secret && name == "data" || name.ends_with("stringData");
        if secret {
            return self.data(at + 1, &key);
        }
        // In a sentence this is a kind: `/v1, Kind=Secret: Apply failed`.
        let is_kind = matches!(name, "Secret" | "secrets") && self.reading.sentences;
        let mut looks_like = by_name(name).filter(|_| !is_kind);
        if looks_like.is_none() {
            match name {
                "name" | "key" | "Name" | "Key" => {
                    let range = self.value(at, &key);
                    let named = range.and_then(|range| by_name(self.text.get(range)?));
                    self.near = named.map(|named| (at, named));
                }
                "value" | "Value" | "val" => {
                    let near = self.near.take().filter(|(named, _)| at - named < NEAR);
                    looks_like = near.map(|(_, looks_like)| looks_like);
                }
                _ => {}
            }
        }
        let Some(looks_like) = looks_like else { return };
        if let Some(range) = self.value(at, &key) {
            self.add_value(Some(key.range), range, looks_like);
        }
    }

    /// Records a value as private, unless the server has refused it or it is a placeholder.
    fn add_value(
        &mut self,
        field: Option<Range<usize>>,
        value: Range<usize>,
        looks_like: &'static str,
    ) {
        let text = self.text.get(value.clone()).unwrap_or_default();
        let refused = REFUSALS.iter().any(|refusal| text.starts_with(refusal));
        if !refused && !is_blank(text) {
            self.found.push(PrivateSpan {
                field,
                ..PrivateSpan::new(value, looks_like)
            });
        }
    }

    /// All values of the data of a Secret.
    fn data(&mut self, begin: usize, key: &PairName) {
        let rest = self.text.get(begin..).unwrap_or_default();
        let inner = rest.trim_start_matches([' ', '\t']);
        let open = begin + rest.len() - inner.len();
        if inner.starts_with('{') || inner.starts_with("map[") {
            return self.in_braces(open + 1);
        }
        if !inner.starts_with(['\n', '\r']) || !self.begins_line(key) {
            return;
        }
        let depth = key.begin - self.begin_of_line(key.begin);
        let mut at = self.end_of_line(open) + 1;
        while at < self.bytes.len() {
            let end = self.end_of_line(at);
            let line = self.text.get(at..end).unwrap_or_default();
            let inner = line.trim_start_matches([' ', '\t', '+', '-']);
            let deep = line.len() - inner.len();
            if !inner.trim().is_empty() && deep <= depth {
                return;
            }
            let field = at + deep;
            let value = is_field(inner).then(|| inner.find(':')).flatten();
            let range = value.and_then(|colon| {
                let key = self.key(field + colon)?;
                Some((key.range.clone(), self.value(field + colon, &key)?))
            });
            let mut next = end + 1;
            if let Some((field, range)) = range {
                next = next.max(self.end_of_line(range.end) + 1);
                self.add_value(Some(field), range, "data of a Secret");
            }
            at = next;
        }
    }

    /// All values in braces, also where the text is cut.
    fn in_braces(&mut self, begin: usize) {
        let mut at = begin;
        while at < self.bytes.len() && !matches!(self.at(at), b'}' | b']') {
            let colon = self.at(at) == b':';
            let key = colon.then(|| self.key(at)).flatten();
            at += 1;
            let Some(key) = key else { continue };
            let range = match self.quoted(at + usize::from(self.at(at) == b' ')) {
                Some(range) => Some(range),
                None => self.value(at - 1, &key),
            };
            if let Some(range) = range {
                at = range.end + 1;
                self.add_value(Some(key.range), range, "data of a Secret");
            }
        }
    }

    /// The text of an XML element that begins before a position.
    fn element(&mut self, at: usize) {
        let begin = at.saturating_sub(MAX_NAME);
        let open = self.bytes[begin..at].iter().rposition(|byte| *byte == b'<');
        let Some(open) = open.map(|open| begin + open + 1) else {
            return;
        };
        let name = self.text.get(open..at).unwrap_or_default();
        let Some(looks_like) = name.split(' ').next().and_then(by_name) else {
            return;
        };
        let rest = self.text.get(at + 1..).unwrap_or_default();
        if let Some(length) = rest.find('<').filter(|length| *length > 0) {
            self.add_value(Some(open..at), at + 1..at + 1 + length, looks_like);
        }
    }

    /// A word that ends before a position: an option, or a name without a sign behind it.
    fn word(&mut self, at: usize) {
        let first = at.saturating_sub(MAX_NAME);
        let mut begin = at;
        while begin > first && is_of_name(self.at(begin - 1)) {
            begin -= 1;
        }
        let word = self.text.get(begin..at).unwrap_or_default();
        if word.len() < 2 {
            return;
        }
        if word.starts_with("--") {
            if let Some(looks_like) = by_name(word)
                && let Some(value) = self.argument(at)
            {
                self.add_value(Some(begin..at), value, looks_like);
            }
            return;
        }
        let by = word.eq_ignore_ascii_case("by");
        let plain = [
            "password",
            "passwd",
            "pwd",
            "requirepass",
            "masterauth",
            "passphrase",
        ];
        let named = plain.iter().any(|it| word.eq_ignore_ascii_case(it));
        let line = self
            .text
            .get(self.begin_of_line(begin)..begin)
            .unwrap_or_default();
        let identified = by && line.trim_end().to_ascii_uppercase().ends_with("IDENTIFIED");
        if !named && !identified || !matches!(self.at(at), b' ' | b'\t') {
            return;
        }
        let rest = self.text.get(at..self.end_of_line(at)).unwrap_or_default();
        let value = rest.trim_start();
        let from = at + rest.len() - value.len();
        let words = value.split_whitespace().count();
        let begins = line.trim().is_empty() && words == 1;
        let of_login = line.contains("login ") || line.contains("user ");
        let range = match self.quoted(from) {
            Some(range) if identified || !begins => Some(range),
            Some(range) => Some(range),
            None if begins || of_login || identified => {
                let length = value.find(char::is_whitespace).unwrap_or(value.len());
                let value = value[..length].trim_end_matches([';', ',']);
                Some(from..from + value.len())
            }
            None => None,
        };
        if let Some(range) = range.filter(|range| !range.is_empty()) {
            self.add_value(Some(begin..at), range, "a password");
        }
    }
}
