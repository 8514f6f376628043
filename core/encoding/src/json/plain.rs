//! Reads plain JSON, which is nearly all that a server gets: letters that are not escaped by number,
//! and whole numbers.
//! `serde_json` reads the rest, and says what is wrong.

use serde_json::Number;

use super::{Node, first_special};
use crate::size::MAX_DEPTH;

/// Reads a document; `None` if it is not plain, nests deep, or is not JSON.
pub fn parse(text: &str) -> Option<Node> {
    let mut reader = PlainReader { text, at: 0 };
    let node = reader.value(MAX_DEPTH)?;
    reader.skip_space();
    (reader.at == text.len()).then_some(node)
}

struct PlainReader<'a> {
    text: &'a str,
    at: usize,
}

impl PlainReader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Moves on if this byte is the next that is no space.
    fn takes(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Moves on behind the next byte that is no space.
    fn next(&mut self) -> Option<u8> {
        self.skip_space();
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    fn value(&mut self, depth: usize) -> Option<Node> {
        self.skip_space();
        match self.peek()? {
            b'"' => self.string().map(Node::String),
            b'{' => self.members(depth.checked_sub(1)?),
            b'[' => self.items(depth.checked_sub(1)?),
            b'n' => self.word("null", Node::Null),
            b't' => self.word("true", Node::Bool(true)),
            b'f' => self.word("false", Node::Bool(false)),
            _ => self.whole_number(),
        }
    }

    fn word(&mut self, word: &str, node: Node) -> Option<Node> {
        self.text.get(self.at..)?.starts_with(word).then(|| {
            self.at += word.len();
            node
        })
    }

    fn members(&mut self, depth: usize) -> Option<Node> {
        self.at += 1;
        if self.takes(b'}') {
            return Some(Node::Object(Vec::new()));
        }
        let mut members = Vec::with_capacity(4);
        loop {
            self.skip_space();
            let name = self.string()?;
            if self.next()? != b':' {
                return None;
            }
            members.push((name, self.value(depth)?));
            match self.next()? {
                b',' => {}
                b'}' => return Some(Node::Object(members)),
                _ => return None,
            }
        }
    }

    fn items(&mut self, depth: usize) -> Option<Node> {
        self.at += 1;
        if self.takes(b']') {
            return Some(Node::Array(Vec::new()));
        }
        let mut items = Vec::with_capacity(4);
        loop {
            items.push(self.value(depth)?);
            match self.next()? {
                b',' => {}
                b']' => return Some(Node::Array(items)),
                _ => return None,
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        let text = self.text.get(self.at..)?.strip_prefix('"')?;
        let length = first_special(text.as_bytes())?;
        if text.as_bytes().get(length) != Some(&b'"') {
            return self.escaped_string();
        }
        self.at += length + 2;
        text.get(..length).map(str::to_owned)
    }

    /// A string with escapes in it.
    fn escaped_string(&mut self) -> Option<String> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = self.text.get(self.at..)?;
            let length = first_special(rest.as_bytes())?;
            text.push_str(rest.get(..length)?);
            self.at += length + 1;
            match rest.as_bytes().get(length)? {
                b'"' => return Some(text),
                b'\\' => text.push(self.escaped()?),
                _ => return None,
            }
        }
    }

    /// The letter that an escape stands for. `serde_json` reads those by number.
    fn escaped(&mut self) -> Option<char> {
        let letter = match self.peek()? {
            letter @ (b'"' | b'\\' | b'/') => char::from(letter),
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            _ => return None,
        };
        self.at += 1;
        Some(letter)
    }

    fn whole_number(&mut self) -> Option<Node> {
        /// The most digits that are always a number of 64 bits.
        const MOST_DIGITS: usize = 18;
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        let digits = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        let count = self.at - digits;
        let begins_with_zero = self.text.as_bytes().get(digits) == Some(&b'0');
        let is_whole = !matches!(self.peek(), Some(b'.' | b'e' | b'E'));
        if count > MOST_DIGITS || !is_whole || begins_with_zero && (count > 1 || digits > start) {
            return None;
        }
        let number: i64 = self.text.get(start..self.at)?.parse().ok()?;
        Some(Node::Number(Number::from(number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_serde(text: &str) -> Option<Node> {
        serde_json::from_str(text).ok()
    }

    #[test]
    fn what_is_read_is_what_serde_reads() {
        for text in [
            r#"{"a": {"b": [1, -20, 0, true, false, null, "ü", ""]}, "a": [], "": {}}"#,
            " [ ] ",
            "\"text\"",
            "\t{\r\n}\n",
            "999999999999999999",
            r#"{"k:{\"a\":1}": "\\ \/ü\n\t\r", "": "\""}"#,
        ] {
            let read = parse(text);
            assert!(read.is_some(), "{text}");
            assert_eq!(read, by_serde(text), "{text}");
        }
    }

    #[test]
    fn what_is_not_plain_or_no_json_is_left_to_serde() {
        for text in [
            "",
            " ",
            "{",
            "[1",
            "[1,]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "{} {}",
            "nul",
            "truex",
            "-",
            "-0",
            "01",
            "1.5",
            "1e3",
            "1000000000000000000",
            "\"\\u0041\"",
            "\"\\x\"",
            "\"\\",
            "\"\\\"",
            "\"a\nb\"",
            "\"open",
            "+1",
            "'a'",
            "\u{feff}{}",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(parse(&nested(MAX_DEPTH)).is_some());
        assert_eq!(parse(&nested(MAX_DEPTH + 1)), None);
    }
}
