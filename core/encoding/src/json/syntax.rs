//! The errors of Go's JSON scanner for text that is not JSON (`encoding/json`, `scanner.go`). Go
//! works byte by byte, and takes the end of the text for one more space before it says that the end
//! was unexpected.

use crate::go;

/// The maximum nesting depth of a document in Go.
const MAX_DEPTH: usize = 10_000;

/// Go's error; `None` if the text is valid JSON for Go.
pub(super) fn syntax_error(text: &[u8]) -> Option<String> {
    let mut scanner = Scanner {
        text,
        at: 0,
        open: Vec::new(),
    };
    match scanner.document() {
        Ok(()) => None,
        Err(Fault::UnexpectedEnd) => Some("unexpected end of JSON input".to_owned()),
        Err(Fault::Invalid(byte, context)) => {
            let c = char::from(byte);
            let shown = match c {
                '\'' => "\\'".to_owned(),
                '"' => "\"".to_owned(),
                c => go::quote(&c.to_string()).trim_matches('"').to_owned(),
            };
            Some(format!("invalid character '{shown}' {context}"))
        }
    }
}

enum Fault {
    UnexpectedEnd,
    Invalid(u8, String),
}

#[derive(Clone, Copy, PartialEq)]
enum Open {
    Array,
    Object,
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    open: Vec<Open>,
}

impl Scanner<'_> {
    fn document(&mut self) -> Result<(), Fault> {
        loop {
            // One turn reads one scalar, or opens one list or object.
            let mut closed = self.value()?;
            loop {
                let Some(&inside) = self.open.last() else {
                    return match self.space() {
                        None => Ok(()),
                        Some(byte) => Err(invalid(byte, "after top-level value")),
                    };
                };
                if !closed {
                    closed = true;
                    // Just opened: it may close at once.
                    match (inside, self.space()) {
                        (_, None) => return Err(Fault::UnexpectedEnd),
                        (Open::Array, Some(b']')) | (Open::Object, Some(b'}')) => {
                            self.close();
                            continue;
                        }
                        (Open::Array, Some(_)) => break,
                        (Open::Object, Some(_)) => {
                            self.key()?;
                            break;
                        }
                    }
                }
                match (inside, self.space()) {
                    (_, None) => return Err(Fault::UnexpectedEnd),
                    (Open::Array, Some(b']')) | (Open::Object, Some(b'}')) => self.close(),
                    (Open::Array, Some(b',')) => {
                        self.at += 1;
                        break;
                    }
                    (Open::Object, Some(b',')) => {
                        self.at += 1;
                        self.key()?;
                        break;
                    }
                    (Open::Array, Some(byte)) => return Err(invalid(byte, "after array element")),
                    (Open::Object, Some(byte)) => {
                        return Err(invalid(byte, "after object key:value pair"));
                    }
                }
            }
        }
    }

    fn close(&mut self) {
        self.at += 1;
        self.open.pop();
    }

    /// Reads a scalar, or opens a list or object; tells whether the value is complete.
    fn value(&mut self) -> Result<bool, Fault> {
        let first = self.space().ok_or(Fault::UnexpectedEnd)?;
        let open = match first {
            b'{' => Open::Object,
            b'[' => Open::Array,
            _ => {
                self.scalar(first)?;
                return Ok(true);
            }
        };
        self.at += 1;
        self.open.push(open);
        if self.open.len() > MAX_DEPTH {
            return Err(invalid(first, "exceeded max depth"));
        }
        Ok(false)
    }

    fn scalar(&mut self, first: u8) -> Result<(), Fault> {
        self.at += 1;
        match first {
            b'"' => self.string(),
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            b'-' | b'0'..=b'9' => self.number(first),
            byte => Err(invalid(byte, "looking for beginning of value")),
        }
    }

    fn key(&mut self) -> Result<(), Fault> {
        match self.space() {
            None => return Err(Fault::UnexpectedEnd),
            Some(b'"') => {
                self.at += 1;
                self.string()?;
            }
            Some(byte) => return Err(invalid(byte, "looking for beginning of object key string")),
        }
        match self.space() {
            None => Err(Fault::UnexpectedEnd),
            Some(b':') => {
                self.at += 1;
                Ok(())
            }
            Some(byte) => Err(invalid(byte, "after object key")),
        }
    }

    /// The rest of a string, its opening quote being read.
    fn string(&mut self) -> Result<(), Fault> {
        loop {
            let byte = *self.text.get(self.at).ok_or(Fault::UnexpectedEnd)?;
            self.at += 1;
            match byte {
                b'"' => return Ok(()),
                b'\\' => self.escape()?,
                0..0x20 => return Err(invalid(byte, "in string literal")),
                _ => {}
            }
        }
    }

    fn escape(&mut self) -> Result<(), Fault> {
        match self.next_byte() {
            b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => Ok(()),
            b'u' => {
                for _ in 0..4 {
                    let byte = self.next_byte();
                    if !byte.is_ascii_hexdigit() {
                        return Err(invalid(byte, "in \\u hexadecimal character escape"));
                    }
                }
                Ok(())
            }
            byte => Err(invalid(byte, "in string escape code")),
        }
    }

    /// The rest of a literal, its first letter being read.
    fn literal(&mut self, word: &str) -> Result<(), Fault> {
        for expected in word.bytes().skip(1) {
            let byte = self.next_byte();
            if byte != expected {
                let expected = char::from(expected);
                let context = format!("in literal {word} (expecting '{expected}')");
                return Err(Fault::Invalid(byte, context));
            }
        }
        Ok(())
    }

    /// The rest of a number, its first byte being read.
    fn number(&mut self, first: u8) -> Result<(), Fault> {
        let mut lead = first;
        if first == b'-' {
            lead = self.next_byte();
            if !lead.is_ascii_digit() {
                return Err(invalid(lead, "in numeric literal"));
            }
        }
        if lead != b'0' {
            self.digits();
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digit("after decimal point in numeric literal")?;
            self.digits();
        }
        if matches!(self.text.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.text.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digit("in exponent of numeric literal")?;
            self.digits();
        }
        Ok(())
    }

    fn digit(&mut self, context: &str) -> Result<(), Fault> {
        let byte = self.next_byte();
        if byte.is_ascii_digit() {
            return Ok(());
        }
        Err(invalid(byte, context))
    }

    fn digits(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
    }

    /// The next byte; at the end a space, as in Go.
    fn next_byte(&mut self) -> u8 {
        let byte = self.text.get(self.at).copied().unwrap_or(b' ');
        self.at += 1;
        byte
    }

    /// Skips white space; the next byte, not taken.
    fn space(&mut self) -> Option<u8> {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }
}

fn invalid(byte: u8, context: &str) -> Fault {
    Fault::Invalid(byte, context.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_told_in_gos_words() {
        for (text, words) in [
            ("", "unexpected end of JSON input"),
            ("{", "unexpected end of JSON input"),
            (r#"{"a": 1"#, "unexpected end of JSON input"),
            (r#"["a"#, "unexpected end of JSON input"),
            (
                "{not json",
                "invalid character 'n' looking for beginning of object key string",
            ),
            (
                "[1,]",
                "invalid character ']' looking for beginning of value",
            ),
            ("{} true", "invalid character 't' after top-level value"),
            ("[1 2]", "invalid character '2' after array element"),
            (r#"{"a" 1}"#, "invalid character '1' after object key"),
            (
                r#"{"a": 1 "b"}"#,
                "invalid character '\"' after object key:value pair",
            ),
            (
                "'a'",
                r"invalid character '\'' looking for beginning of value",
            ),
            (
                "tru",
                "invalid character ' ' in literal true (expecting 'e')",
            ),
            (
                "[nil]",
                "invalid character 'i' in literal null (expecting 'u')",
            ),
            (
                "1.",
                "invalid character ' ' after decimal point in numeric literal",
            ),
            ("-x", "invalid character 'x' in numeric literal"),
            ("01", "invalid character '1' after top-level value"),
            (
                "1ex",
                "invalid character 'x' in exponent of numeric literal",
            ),
            (r#""\x""#, "invalid character 'x' in string escape code"),
            (
                r#""\u12g4""#,
                r"invalid character 'g' in \u hexadecimal character escape",
            ),
            ("\"a\nb\"", r"invalid character '\n' in string literal"),
            (
                "\u{c1}",
                "invalid character 'Ã' looking for beginning of value",
            ),
        ] {
            assert_eq!(
                syntax_error(text.as_bytes()).as_deref(),
                Some(words),
                "{text}"
            );
        }
    }

    #[test]
    fn valid_json_has_no_error_up_to_the_depth_that_go_allows() {
        for text in [
            r#"{"a": [1, -0.5e+3, {"b": {}}, [], "\u00e9\n", null, true, false]}"#,
            " 0 ",
        ] {
            assert_eq!(syntax_error(text.as_bytes()), None, "{text}");
        }
        let deep = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert_eq!(syntax_error(deep(10_000).as_bytes()), None);
        assert_eq!(
            syntax_error(deep(10_001).as_bytes()).as_deref(),
            Some("invalid character '[' exceeded max depth")
        );
    }
}
