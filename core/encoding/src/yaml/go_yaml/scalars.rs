//! Makes tokens of texts without quotes, of tags and of directives (`scannerc.go`).

use saphyr_parser::ScalarStyle;

use super::YamlMistake;
use super::scanner::TokenScanner;
use super::token::{
    Mark, TokenKind, is_blank, is_blank_or_end, is_break, is_break_or_end, is_word,
};

/// The line breaks and spaces between two parts of a text.
#[derive(Default)]
pub(super) struct Gap {
    pub(super) spaces: String,
    /// The first line break.
    pub(super) leading: String,
    /// All others.
    pub(super) trailing: String,
    pub(super) has_breaks: bool,
}

impl Gap {
    /// Writes what a folded text has in its place.
    pub(super) fn fold_into(&mut self, out: &mut String) {
        if !self.has_breaks {
            out.push_str(&self.spaces);
        } else if !self.leading.starts_with('\n') {
            out.push_str(&self.leading);
            out.push_str(&self.trailing);
        } else if self.trailing.is_empty() {
            out.push(' ');
        } else {
            out.push_str(&self.trailing);
        }
        *self = Self::default();
    }

    /// Takes a space, or a line break.
    pub(super) fn add_next(&mut self, scanner: &mut TokenScanner<'_>) {
        if is_blank(scanner.ahead(0)) {
            match self.has_breaks {
                false => scanner.read(&mut self.spaces),
                true => scanner.skip(),
            }
        } else if self.has_breaks {
            scanner.read_break(&mut self.trailing);
        } else {
            self.spaces.clear();
            scanner.read_break(&mut self.leading);
            self.has_breaks = true;
        }
    }
}

/// The end of a block of text.
#[derive(Clone, Copy, PartialEq)]
enum Chomping {
    Strip,
    Clip,
    Keep,
}

impl TokenScanner<'_> {
    pub(super) fn fetch_plain(&mut self) -> Result<(), YamlMistake> {
        self.note_key()?;
        self.allows_key = false;
        let indent = self.indent + 1;
        let (start, mut end) = (self.mark, self.mark);
        let (mut text, mut gap) = (String::new(), Gap::default());
        loop {
            if self.mark.column == 0 && self.is_marker() || self.ahead(0) == '#' {
                break;
            }
            while !is_blank_or_end(self.ahead(0)) && !self.ends_plain() {
                if gap.has_breaks || !gap.spaces.is_empty() {
                    gap.fold_into(&mut text);
                }
                self.read(&mut text);
                self.read_run(&mut text, |c| {
                    is_blank_or_end(c) || matches!(c, ':' | ',' | '?' | '[' | ']' | '{' | '}')
                });
                end = self.mark;
            }
            let next = self.ahead(0);
            if !(is_blank(next) || is_break(next)) {
                break;
            }
            while is_blank(self.ahead(0)) || is_break(self.ahead(0)) {
                let is_left = (self.mark.column as isize) < indent;
                if gap.has_breaks && is_left && self.ahead(0) == '\t' {
                    return self.fail("found a tab character that violates indentation");
                }
                gap.add_next(self);
            }
            if self.flow_level == 0 && (self.mark.column as isize) < indent {
                break;
            }
        }
        let has_breaks = gap.has_breaks;
        let here = std::mem::replace(&mut self.mark, end);
        self.push(TokenKind::Scalar(text, ScalarStyle::Plain), start);
        self.mark = here;
        if has_breaks {
            self.allows_key = true;
        }
        Ok(())
    }

    fn ends_plain(&self) -> bool {
        let c = self.ahead(0);
        c == ':' && is_blank_or_end(self.ahead(1))
            || self.flow_level > 0 && matches!(c, ',' | '?' | '[' | ']' | '{' | '}')
    }

    pub(super) fn fetch_block_scalar(&mut self, is_literal: bool) -> Result<(), YamlMistake> {
        self.forget_key()?;
        self.allows_key = true;
        let start = self.mark;
        self.skip();
        let (chomping, increment) = self.block_header()?;
        let mut indent = match increment {
            0 => 0,
            by => self.indent.max(0) as usize + by,
        };
        let (mut text, mut leading, mut trailing) = (String::new(), String::new(), String::new());
        let mut had_blank = false;
        let mut end = self.block_breaks(&mut indent, &mut trailing)?;
        while self.mark.column == indent && self.ahead(0) != '\0' {
            let has_blank = is_blank(self.ahead(0));
            if !is_literal && !had_blank && !has_blank && leading.starts_with('\n') {
                if trailing.is_empty() {
                    text.push(' ');
                }
            } else {
                text.push_str(&leading);
            }
            leading.clear();
            text.push_str(&std::mem::take(&mut trailing));
            had_blank = has_blank;
            self.read_run(&mut text, is_break_or_end);
            if is_break(self.ahead(0)) {
                self.read_break(&mut leading);
            }
            end = self.block_breaks(&mut indent, &mut trailing)?;
        }
        if chomping != Chomping::Strip {
            text.push_str(&leading);
        }
        if chomping == Chomping::Keep {
            text.push_str(&trailing);
        }
        let style = match is_literal {
            true => ScalarStyle::Literal,
            false => ScalarStyle::Folded,
        };
        let here = std::mem::replace(&mut self.mark, end);
        self.push(TokenKind::Scalar(text, style), start);
        self.mark = here;
        Ok(())
    }

    /// The rest of the line behind `|` or `>`.
    fn block_header(&mut self) -> Result<(Chomping, usize), YamlMistake> {
        let (mut chomping, mut increment) = (Chomping::Clip, 0);
        let mut has_chomping = false;
        for _ in 0..2 {
            match self.ahead(0) {
                c @ ('+' | '-') if !has_chomping => {
                    has_chomping = true;
                    chomping = match c {
                        '+' => Chomping::Keep,
                        _ => Chomping::Strip,
                    };
                    self.skip();
                }
                '0' if increment == 0 => {
                    return self.fail("found an indentation indicator equal to 0");
                }
                c @ '1'..='9' if increment == 0 => {
                    increment = c.to_digit(10).unwrap_or(0) as usize;
                    self.skip();
                }
                _ => {}
            }
        }
        self.skip_line_end()?;
        Ok((chomping, increment))
    }

    /// Takes the rest of a line that may have a comment, and nothing else.
    pub(super) fn skip_line_end(&mut self) -> Result<(), YamlMistake> {
        self.skip_blanks();
        self.skip_comment();
        if !is_break_or_end(self.ahead(0)) {
            return self.fail("did not find expected comment or line break");
        }
        if is_break(self.ahead(0)) {
            self.skip_break();
        }
        Ok(())
    }

    /// Takes the indentation and the empty lines of a block, whose indentation is found by its first line if it is 0.
    fn block_breaks(
        &mut self,
        indent: &mut usize,
        breaks: &mut String,
    ) -> Result<Mark, YamlMistake> {
        let mut end = self.mark;
        let mut furthest = 0;
        loop {
            while (*indent == 0 || self.mark.column < *indent) && self.ahead(0) == ' ' {
                self.skip();
            }
            furthest = furthest.max(self.mark.column);
            if (*indent == 0 || self.mark.column < *indent) && self.ahead(0) == '\t' {
                return self.fail("found a tab character where an indentation space is expected");
            }
            if !is_break(self.ahead(0)) {
                break;
            }
            self.read_break(breaks);
            end = self.mark;
        }
        if *indent == 0 {
            *indent = furthest.max((self.indent + 1).max(1) as usize);
        }
        Ok(end)
    }

    /// A tag: its handle and what follows.
    pub(super) fn tag(&mut self) -> Result<(String, String), YamlMistake> {
        let (mut handle, mut suffix);
        if self.ahead(1) == '<' {
            self.skip();
            self.skip();
            handle = String::new();
            suffix = self.tag_uri("")?;
            if self.ahead(0) != '>' {
                return self.fail("did not find the expected '>'");
            }
            self.skip();
        } else {
            handle = self.tag_handle(false)?;
            if handle.len() > 1 && handle.ends_with('!') {
                suffix = self.tag_uri("")?;
            } else {
                suffix = self.tag_uri(&handle)?;
                handle = "!".to_owned();
                if suffix.is_empty() {
                    std::mem::swap(&mut handle, &mut suffix);
                }
            }
        }
        if !is_blank_or_end(self.ahead(0)) {
            return self.fail("did not find expected whitespace or line break");
        }
        Ok((handle, suffix))
    }

    fn tag_handle(&mut self, in_directive: bool) -> Result<String, YamlMistake> {
        if self.ahead(0) != '!' {
            return self.fail("did not find expected '!'");
        }
        let mut handle = String::new();
        self.read(&mut handle);
        while is_word(self.ahead(0)) {
            self.read(&mut handle);
        }
        if self.ahead(0) == '!' {
            self.read(&mut handle);
        } else if in_directive && handle != "!" {
            return self.fail("did not find expected '!'");
        }
        Ok(handle)
    }

    fn tag_uri(&mut self, head: &str) -> Result<String, YamlMistake> {
        let mut bytes = head.get(1..).unwrap_or_default().as_bytes().to_vec();
        let mut has_any = !head.is_empty();
        loop {
            match self.ahead(0) {
                '%' => {
                    let digit = |c: char| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                    let (high, low) = (digit(self.ahead(1)), digit(self.ahead(2)));
                    let (Some(high), Some(low)) = (high, low) else {
                        return self.fail("did not find URI escaped octet");
                    };
                    bytes.push(high << 4 | low);
                    (0..3).for_each(|_| self.skip());
                }
                c if is_word(c) || ";/?:@&=+$,.!~*'()[]".contains(c) => {
                    bytes.extend(c.to_string().into_bytes());
                    self.skip();
                }
                _ => break,
            }
            has_any = true;
        }
        match has_any {
            true => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            false => self.fail("did not find expected tag URI"),
        }
    }

    pub(super) fn directive(&mut self) -> Result<TokenKind, YamlMistake> {
        self.skip();
        let mut name = String::new();
        while is_word(self.ahead(0)) {
            self.read(&mut name);
        }
        if name.is_empty() {
            return self.fail("could not find expected directive name");
        }
        if !is_blank_or_end(self.ahead(0)) {
            return self.fail("found unexpected non-alphabetical character");
        }
        match name.as_str() {
            "YAML" => {
                self.skip_blanks();
                let major = self.version_number()?;
                if self.ahead(0) != '.' {
                    return self.fail("did not find expected digit or '.' character");
                }
                self.skip();
                Ok(TokenKind::Version(major, self.version_number()?))
            }
            "TAG" => {
                self.skip_blanks();
                let handle = self.tag_handle(true)?;
                if !is_blank(self.ahead(0)) {
                    return self.fail("did not find expected whitespace");
                }
                self.skip_blanks();
                let prefix = self.tag_uri("")?;
                if !is_blank_or_end(self.ahead(0)) {
                    return self.fail("did not find expected whitespace or line break");
                }
                Ok(TokenKind::TagDirective(handle, prefix))
            }
            _ => self.fail("found unknown directive name"),
        }
    }

    fn version_number(&mut self) -> Result<u32, YamlMistake> {
        /// The most digits of a number.
        const MOST: usize = 2;
        let (mut value, mut length) = (0, 0);
        while let Some(digit) = self.ahead(0).to_digit(10) {
            length += 1;
            if length > MOST {
                return self.fail("found extremely long version number");
            }
            value = value * 10 + digit;
            self.skip();
        }
        match length {
            0 => self.fail("did not find expected version number"),
            _ => Ok(value),
        }
    }
}
