//! Makes tokens of texts in quotes (`yaml_parser_scan_flow_scalar` of `scannerc.go`).

use saphyr_parser::ScalarStyle;

use super::YamlMistake;
use super::scalars::Gap;
use super::scanner::TokenScanner;
use super::token::{TokenKind, is_blank, is_blank_or_end, is_break};

impl TokenScanner<'_> {
    pub(super) fn fetch_quoted(&mut self, is_single: bool) -> Result<(), YamlMistake> {
        self.note_key()?;
        self.allows_key = false;
        let quote = if is_single { '\'' } else { '"' };
        let start = self.mark;
        self.skip();
        let mut text = String::new();
        loop {
            if self.mark.column == 0 && self.is_marker() {
                return self.fail("found unexpected document indicator");
            }
            if self.ahead(0) == '\0' {
                return self.fail("found unexpected end of stream");
            }
            let mut gap = Gap::default();
            loop {
                self.read_run(&mut text, |c| {
                    is_blank_or_end(c) || matches!(c, '\'' | '"' | '\\')
                });
                if is_blank_or_end(self.ahead(0)) {
                    break;
                }
                match (self.ahead(0), self.ahead(1)) {
                    ('\'', '\'') if is_single => {
                        text.push('\'');
                        self.skip();
                        self.skip();
                    }
                    (c, _) if c == quote => break,
                    ('\\', next) if !is_single && is_break(next) => {
                        self.skip();
                        self.skip_break();
                        gap.has_breaks = true;
                        break;
                    }
                    ('\\', next) if !is_single => self.escaped(next, &mut text)?,
                    _ => self.read(&mut text),
                }
            }
            if self.ahead(0) == quote {
                break;
            }
            while is_blank(self.ahead(0)) || is_break(self.ahead(0)) {
                gap.add_next(self);
            }
            gap.fold_into(&mut text);
        }
        self.skip();
        let style = match is_single {
            true => ScalarStyle::SingleQuoted,
            false => ScalarStyle::DoubleQuoted,
        };
        self.push(TokenKind::Scalar(text, style), start);
        Ok(())
    }

    /// Takes an escaped character; `letter` follows the backslash.
    fn escaped(&mut self, letter: char, text: &mut String) -> Result<(), YamlMistake> {
        let (character, digits) = match letter {
            '0' => ('\0', 0),
            'a' => ('\u{7}', 0),
            'b' => ('\u{8}', 0),
            't' | '\t' => ('\t', 0),
            'n' => ('\n', 0),
            'v' => ('\u{b}', 0),
            'f' => ('\u{c}', 0),
            'r' => ('\r', 0),
            'e' => ('\u{1b}', 0),
            ' ' | '"' | '\'' | '\\' => (letter, 0),
            'N' => ('\u{85}', 0),
            '_' => ('\u{a0}', 0),
            'L' => ('\u{2028}', 0),
            'P' => ('\u{2029}', 0),
            'x' => ('\0', 2),
            'u' => ('\0', 4),
            'U' => ('\0', 8),
            _ => return self.fail("found unknown escape character"),
        };
        self.skip();
        self.skip();
        if digits == 0 {
            text.push(character);
            return Ok(());
        }
        let mut code = 0u32;
        for k in 0..digits {
            match self.ahead(k).to_digit(16) {
                Some(digit) => code = code.wrapping_shl(4) | digit,
                None => return self.fail("did not find expected hexdecimal number"),
            }
        }
        match char::from_u32(code) {
            Some(character) => text.push(character),
            None => return self.fail("found invalid Unicode character escape code"),
        }
        (0..digits).for_each(|_| self.skip());
        Ok(())
    }
}
