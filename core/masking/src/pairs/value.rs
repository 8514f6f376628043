//! The extents of values behind their names.

use std::ops::Range;

use super::{PairName, Scan, is_of_name, is_quote};
use crate::names::by_name;

/// The search for the closing quote of a value ends after this many bytes.
const MAX_QUOTED: usize = 1 << 16;

impl Scan<'_> {
    /// The value behind the `:` or `=` at a position.
    pub(super) fn value(&self, at: usize, key: &PairName) -> Option<Range<usize>> {
        let colon = self.at(at) == b':';
        let mut begin = at + 1;
        if self.at(begin) == b'>' {
            begin += 1;
        }
        let spaced = matches!(self.at(begin), b' ' | b'\t' | b'\r' | b'\n');
        while matches!(self.at(begin), b' ' | b'\t' | b'\r') {
            begin += 1;
        }
        let first = self.begins_line(key);
        if begin >= self.bytes.len() || self.at(begin) == b'\n' {
            return (colon && first).then(|| self.block(begin, key)).flatten();
        }
        if let Some(quoted) = self.quoted(begin) {
            return Some(quoted);
        }
        let end = self.end_of_line(begin);
        if key.is_quoted && !first {
            // Of JSON only a number; else it is a sentence: `secrets "token": the object…`.
            let digits = self.bytes[begin..end]
                .iter()
                .take_while(|byte| byte.is_ascii_digit());
            return Some(begin..begin + digits.count()).filter(|range| !range.is_empty());
        }
        if first && (!colon || spaced) {
            return Some(self.lines(begin, end, key, colon));
        }
        let of_header = colon && matches!(by_name(self.name(key)), Some("a token"));
        let open = self
            .text
            .get(self.begin_of_line(key.begin)..key.begin)
            .unwrap_or_default();
        let in_flow = colon && open.rfind('{') > open.rfind('}');
        let line = self.text.get(begin..end)?;
        let stop = |(i, c): (usize, char)| match c {
            '"' | '\'' | '`' => true,
            _ if of_header && spaced && line.starts_with(|c: char| c.is_ascii_uppercase()) => false,
            ',' | '}' if in_flow => true,
            ';' | '&' | ',' => assigns(&line[i + 1..]),
            c => c.is_whitespace() && !in_flow,
        };
        let length = line
            .char_indices()
            .find(|one| stop(*one))
            .map_or(line.len(), |(i, _)| i);
        let value = line[..length].trim_end_matches(|c: char| {
            c.is_whitespace() || matches!(c, '\\' | ')' | ']' | '}' | ',' | ';')
        });
        Some(begin..begin + value.len()).filter(|range| !range.is_empty())
    }

    /// A value in quotes; their backslashes are those before the first one.
    pub(super) fn quoted(&self, begin: usize) -> Option<Range<usize>> {
        let escapes = self.bytes[begin..]
            .iter()
            .take_while(|byte| **byte == b'\\')
            .count();
        let quote = Some(self.at(begin + escapes)).filter(|byte| is_quote(*byte))?;
        let inside = begin + escapes + 1;
        let end = match escapes {
            0 => self.bytes.len().min(inside + MAX_QUOTED),
            _ => self.end_of_line(inside),
        };
        let mut run = 0;
        for at in inside..end {
            let byte = self.at(at);
            if byte == quote && (run == escapes || escapes == 0 && run % 2 == 0) {
                let range = inside..at - escapes.min(run);
                return Some(range).filter(|range| range.start < range.end);
            }
            run = if byte == b'\\' { run + 1 } else { 0 };
        }
        let end = self.end_of_line(inside);
        Some(inside..end).filter(|range| range.start < range.end)
    }

    /// The rest of a line, with the lines that continue it.
    fn lines(&self, begin: usize, end: usize, key: &PairName, colon: bool) -> Range<usize> {
        let line = self.text.get(begin..end).unwrap_or_default();
        if self.reading.sentences
            && let Some((word, rest)) = line.split_once(' ')
            && rest.contains([':', '='])
        {
            return begin..begin + word.len();
        }
        let is_block = line.trim_end().len() <= 3 && line.starts_with(['|', '>']);
        match self.block(end, key).filter(|_| colon) {
            Some(block) if is_block => block,
            Some(block) => begin..block.end,
            None => begin..begin + line.trim_end().len(),
        }
    }

    /// The lines below a name that belong to it, if they are no fields.
    fn block(&self, end_of_line: usize, key: &PairName) -> Option<Range<usize>> {
        let depth = key.begin - self.begin_of_line(key.begin);
        let mut block: Option<Range<usize>> = None;
        let mut at = end_of_line + 1;
        while at < self.bytes.len() {
            let end = self.end_of_line(at);
            let line = self.text.get(at..end)?;
            let marks = |c: char| matches!(c, ' ' | '\t' | '+' | '-' | '>' | '<');
            let inner = line.trim_start_matches(marks);
            if !inner.trim().is_empty() {
                let begin = at + line.len() - inner.len();
                if begin - at <= depth || block.is_none() && is_field(inner) {
                    break;
                }
                let from = block.map_or(begin, |block| block.start);
                block = Some(from..at + line.trim_end().len());
            }
            at = end + 1;
        }
        block
    }

    /// The argument behind an option: the next word, also as the next item of a list.
    pub(super) fn argument(&self, at: usize) -> Option<Range<usize>> {
        let rest = self.text.get(at..)?;
        let gap =
            rest.find(|c: char| !c.is_whitespace() && !matches!(c, '"' | '\'' | ',' | '\\' | '`'))?;
        let (between, value) = rest.split_at(gap);
        let lines = between.matches('\n').count();
        let continued = between.contains('\\') || between.contains(',');
        let (begin, value) = match value.strip_prefix("- ") {
            Some(item) if lines == 1 => {
                let item = item.trim_start_matches(['"', '\'', ' ']);
                (rest.len() - item.len() + at, item)
            }
            _ if lines > 0 && !continued => return None,
            _ => (at + gap, value),
        };
        let end = value.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`'));
        let value = value[..end.unwrap_or(value.len())].trim_end_matches(['\\', ',', ']']);
        let is_option = value.starts_with("--") || value.len() == 2 && value.starts_with('-');
        (!is_option && !value.is_empty()).then(|| begin..begin + value.len())
    }
}

/// Returns whether a line begins with the name of a field.
pub(super) fn is_field(line: &str) -> bool {
    let plain = line.trim_start_matches(['"', '\'']);
    let length = plain.bytes().take_while(|byte| is_of_name(*byte)).count();
    let rest = plain[length..].trim_start_matches(['"', '\'']);
    length > 0 && (rest.starts_with(": ") || rest.trim_end() == ":")
}

/// Returns whether a text begins with another assignment: `Encrypt=true`.
fn assigns(text: &str) -> bool {
    let text = text.trim_start();
    let length = text
        .bytes()
        .take_while(|byte| is_of_name(*byte) || *byte == b' ')
        .count();
    length > 0 && text[length..].starts_with('=')
}
