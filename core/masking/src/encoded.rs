//! Texts in base64 and in the percent encoding, with something private in them.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::shapes;

/// The shortest word that is decoded.
const MIN: usize = 12;

const fn lenient() -> GeneralPurposeConfig {
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true)
}

const PLAIN: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, lenient());
const OF_URLS: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, lenient());

/// The content of a text in base64.
pub(super) enum Base64Content {
    /// Text.
    Text(String),
    /// Compressed data, which nobody can look at.
    Packed,
    /// Other bytes.
    Bytes,
}

/// Decodes a text that is base64 as a whole, also in several lines; `None` if it is not base64.
pub(super) fn decoded(text: &str) -> Option<Base64Content> {
    if text.len() < MIN {
        return None;
    }
    let joined: String = text.split_whitespace().collect();
    let bytes = PLAIN
        .decode(&joined)
        .or_else(|_| OF_URLS.decode(&joined))
        .ok()?;
    Some(match String::from_utf8(bytes) {
        Ok(text) if is_readable(&text) => Base64Content::Text(text),
        Ok(_) => Base64Content::Bytes,
        // The beginnings of gzip (RFC 1952) and zlib (RFC 1950).
        Err(error) => match error.as_bytes() {
            [0x1f, 0x8b, 8, ..] | [0x78, 0x9c | 0xda, ..] => Base64Content::Packed,
            _ => Base64Content::Bytes,
        },
    })
}

fn is_readable(text: &str) -> bool {
    let control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    !text.is_empty() && !text.contains(control)
}

/// A text as base64.
pub(super) fn encode(text: &str) -> String {
    PLAIN.encode(text)
}

/// The text with each word in base64 or in the percent encoding as `new` has it; `None` if nothing is
/// new.
pub(super) fn rewrite(text: &str, mut new: impl FnMut(&str) -> Option<String>) -> Option<String> {
    let mut out = String::new();
    let mut done = 0;
    for word in shapes::words(text) {
        if word.len() < MIN || word.start < done {
            continue;
        }
        // `key=` before it is none of it.
        let whole = &text[word.clone()];
        let assigned = whole
            .trim_end_matches('=')
            .rfind('=')
            .map_or(0, |at| at + 1);
        let Some(Base64Content::Text(inner)) = decoded(&whole[assigned..]) else {
            continue;
        };
        if let Some(inner) = new(&inner) {
            out.push_str(&text[done..word.start + assigned]);
            out.push_str(&encode(&inner));
            done = word.end;
        }
    }
    let first = (done > 0).then(|| out + &text[done..]);
    let now = first.as_deref().unwrap_or(text);
    percent(now, new).or(first)
}

fn percent(text: &str, mut new: impl FnMut(&str) -> Option<String>) -> Option<String> {
    if !text.contains('%') {
        return None;
    }
    let mut changed = false;
    let parts = text.split_inclusive(|c: char| c.is_whitespace() || matches!(c, '"' | '\''));
    let parts = parts.map(|part| {
        let inner = part.contains('%').then(|| unescaped(part)).flatten();
        let inner = inner.and_then(|inner| new(&inner));
        changed |= inner.is_some();
        let inner = inner.map(|inner| escaped(&inner));
        inner.unwrap_or_else(|| part.to_owned())
    });
    let all: String = parts.collect();
    changed.then_some(all)
}

/// A text without its escapes (RFC 3986, section 2.1); `None` if it has none.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    let mut any = false;
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind
            .get(..2)
            .and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        match byte.filter(|_| *first == b'%') {
            Some(byte) => {
                any = true;
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    any.then(|| String::from_utf8(bytes).ok()).flatten()
}

fn escaped(text: &str) -> String {
    // The mask is shown as it is.
    let kept =
        |c: char| c.is_ascii_graphic() && !matches!(c, '%' | '"' | '\'') || super::MASK.contains(c);
    let (text, end) = match text.strip_suffix(['"', '\'', ' ', '\n']) {
        Some(text_) => (text_, &text[text_.len()..]),
        None => (text, ""),
    };
    let mut out = String::new();
    for c in text.chars() {
        if kept(c) {
            out.push(c);
        } else {
            for byte in c.to_string().bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    out + end
}
