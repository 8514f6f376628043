//! A search for secrets in what leaves the page: also in base64, in the percent encoding, in JSON in
//! JSON, and in what is deflated or in a gzip file.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

/// The depth to which texts are decoded.
const DEPTH: usize = 8;

/// The secrets that are in a text, with what is before them.
pub fn in_text(text: &str, secrets: &[String]) -> BTreeMap<String, String> {
    let mut search = Search {
        secrets,
        found: BTreeMap::new(),
        seen: BTreeSet::new(),
        left: VecDeque::new(),
    };
    search.text(text, DEPTH);
    // What is near is decoded first.
    while let Some((text, depth)) = search.left.pop_front() {
        search.look(&text, depth);
    }
    search.found
}

struct Search<'a> {
    secrets: &'a [String],
    found: BTreeMap<String, String>,
    seen: BTreeSet<String>,
    left: VecDeque<(String, usize)>,
}

impl Search<'_> {
    fn text(&mut self, text: &str, depth: usize) {
        if depth > 0 && self.seen.insert(text.to_owned()) {
            self.left.push_back((text.to_owned(), depth));
        }
    }

    fn look(&mut self, text: &str, depth: usize) {
        for secret in self
            .secrets
            .iter()
            .filter(|secret| text.contains(&**secret))
        {
            let at = text.find(&**secret).unwrap_or_default();
            let around: String = text[..at].chars().rev().take(60).collect();
            let around: String = around.chars().rev().collect();
            self.found.entry(secret.clone()).or_insert(around);
        }
        for character in [b'%', b'\\', b'&'] {
            if text.as_bytes().contains(&character) {
                self.escaped(text, depth);
                break;
            }
        }
        let documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        for document in documents.map_while(Result::ok) {
            self.value(&document, depth);
        }
        self.words(text, depth);
    }

    fn value(&mut self, value: &Value, depth: usize) {
        match value {
            Value::String(text) => self.text(text, depth - 1),
            Value::Array(items) => items.iter().for_each(|item| self.value(item, depth)),
            Value::Object(map) => map.iter().for_each(|(key, member)| {
                self.text(key, depth - 1);
                self.value(member, depth);
            }),
            _ => {}
        }
    }

    fn escaped(&mut self, text: &str, depth: usize) {
        let percent = percent(text);
        if percent != text {
            self.text(&percent, depth - 1);
        }
        let json = text
            .replace("\\\"", "\"")
            .replace("\\n", "\n")
            .replace("\\\\", "\\");
        if json != text {
            self.text(&json, depth - 1);
        }
        let markup = text
            .replace("&#34;", "\"")
            .replace("&#38;", "&")
            .replace("&#60;", "<")
            .replace("&#62;", ">");
        if markup != text {
            self.text(&markup, depth - 1);
        }
    }

    fn words(&mut self, text: &str, depth: usize) {
        let of_base64 =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_' | '=');
        let plain = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
        let of_urls = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);
        for word in text
            .split(|c| !of_base64(c))
            .filter(|word| word.len() >= 12)
        {
            let assigned = word
                .trim_end_matches('=')
                .rsplit('=')
                .next()
                .unwrap_or_default();
            let begin = assigned.as_ptr() as usize - word.as_ptr() as usize;
            // The text of a session has its version before its base64.
            let assigned = &word[begin..];
            for word in [word, assigned, assigned.get(1..).unwrap_or_default()] {
                for engine in [&plain, &of_urls] {
                    if let Ok(bytes) = engine.decode(word) {
                        self.bytes(&bytes, depth);
                    }
                }
            }
        }
    }

    fn bytes(&mut self, bytes: &[u8], depth: usize) {
        self.text(&String::from_utf8_lossy(bytes), depth - 1);
        for skipped in [0, 2, 10] {
            let Some(deflated) = bytes.get(skipped..) else {
                continue;
            };
            let inflated = miniz_oxide::inflate::decompress_to_vec_with_limit(deflated, 1 << 24);
            if let Ok(text) = inflated.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                && text.len() > 2
            {
                self.text(&text, depth - 1);
            }
        }
    }
}

fn percent(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind
            .get(..2)
            .and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        match byte.filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
