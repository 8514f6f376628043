//! Makes tokens of a text (`scannerc.go`).

use std::collections::VecDeque;

use super::YamlMistake;
use super::token::{
    Mark, TokenKind, YamlToken, is_blank, is_blank_or_end, is_break, is_break_or_end, is_word,
};

/// A token that may be a key, if a colon follows it on its line.
#[derive(Clone, Copy, Default)]
struct SimpleKey {
    is_possible: bool,
    is_required: bool,
    number: usize,
    mark: Mark,
}

/// The furthest that a colon may be from the begin of its key, in characters.
const MOST_OF_KEY: usize = 1024;

pub(super) struct TokenScanner<'a> {
    text: &'a [char],
    /// The same, if each of its characters is one byte.
    plain: Option<&'a str>,
    pub(super) mark: Mark,
    tokens: VecDeque<YamlToken>,
    /// The number of tokens that were taken.
    taken: usize,
    ended: bool,
    pub(super) flow_level: usize,
    /// The column of the block that is open; -1 for the document.
    pub(super) indent: isize,
    indents: Vec<isize>,
    pub(super) allows_key: bool,
    keys: Vec<SimpleKey>,
}

impl<'a> TokenScanner<'a> {
    pub(super) fn new(text: &'a [char], plain: Option<&'a str>) -> Self {
        Self {
            text,
            plain,
            mark: Mark::default(),
            tokens: VecDeque::new(),
            taken: 0,
            ended: false,
            flow_level: 0,
            indent: -1,
            indents: Vec::new(),
            allows_key: true,
            keys: vec![SimpleKey::default()],
        }
    }

    /// The character this far ahead; NUL where the text has ended.
    pub(super) fn ahead(&self, by: usize) -> char {
        self.text.get(self.mark.index + by).copied().unwrap_or('\0')
    }

    pub(super) fn skip(&mut self) {
        self.mark.index += 1;
        self.mark.column += 1;
    }

    /// Takes a character.
    pub(super) fn read(&mut self, into: &mut String) {
        into.push(self.ahead(0));
        self.skip();
    }

    /// Takes characters up to one that is special, as most of a text has none.
    pub(super) fn read_run(&mut self, into: &mut String, is_special: impl Fn(char) -> bool) {
        let rest = self.text.get(self.mark.index..).unwrap_or_default();
        let end = rest.iter().position(|c| is_special(*c));
        let run = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let (from, to) = (self.mark.index, self.mark.index + run.len());
        match self.plain.and_then(|plain| plain.get(from..to)) {
            Some(run) => into.push_str(run),
            None => into.extend(run),
        }
        self.mark.index += run.len();
        self.mark.column += run.len();
    }

    /// Takes the end of a line, as it counts in a text.
    pub(super) fn read_break(&mut self, into: &mut String) {
        match self.ahead(0) {
            c @ ('\u{2028}' | '\u{2029}') => into.push(c),
            _ => into.push('\n'),
        }
        self.skip_break();
    }

    pub(super) fn skip_break(&mut self) {
        self.mark.index += match (self.ahead(0), self.ahead(1)) {
            ('\r', '\n') => 2,
            _ => 1,
        };
        self.mark.column = 0;
        self.mark.line += 1;
    }

    pub(super) fn skip_blanks(&mut self) {
        while is_blank(self.ahead(0)) {
            self.skip();
        }
    }

    pub(super) fn skip_comment(&mut self) {
        if self.ahead(0) == '#' {
            while !is_break_or_end(self.ahead(0)) {
                self.skip();
            }
        }
    }

    pub(super) fn fail<T>(&self, problem: &str) -> Result<T, YamlMistake> {
        Err(YamlMistake::of_scanner(problem, self.mark))
    }

    /// The next token, which stays.
    pub(super) fn peek(&mut self) -> Result<&YamlToken, YamlMistake> {
        self.fetch_more()?;
        let mark = self.mark;
        let next = self.tokens.front();
        next.ok_or_else(|| YamlMistake::of_scanner("unexpected end", mark))
    }

    /// Takes the next token.
    pub(super) fn take_token(&mut self) -> Result<YamlToken, YamlMistake> {
        self.fetch_more()?;
        match self.tokens.pop_front() {
            Some(token) => {
                self.taken += 1;
                Ok(token)
            }
            None => self.fail("unexpected end"),
        }
    }

    /// Makes tokens until it is known whether the next one is a key.
    fn fetch_more(&mut self) -> Result<(), YamlMistake> {
        loop {
            if !self.tokens.is_empty() {
                let next = self.taken;
                let key = self
                    .keys
                    .iter()
                    .position(|key| key.is_possible && key.number == next);
                let Some(key) = key else {
                    return Ok(());
                };
                if !self.is_valid(key)? {
                    return Ok(());
                }
            }
            if self.ended {
                return Ok(());
            }
            self.fetch()?;
        }
    }

    fn fetch(&mut self) -> Result<(), YamlMistake> {
        self.skip_to_token();
        self.unroll(self.mark.column as isize);
        let (c, next) = (self.ahead(0), self.ahead(1));
        if c == '\0' {
            return self.fetch_end();
        }
        let at_margin = self.mark.column == 0;
        if at_margin && c == '%' {
            return self.fetch_directive();
        }
        if at_margin && self.is_marker() {
            return self.fetch_marker(c == '-');
        }
        let in_flow = self.flow_level > 0;
        match c {
            '[' => self.open(TokenKind::FlowSequenceStart),
            '{' => self.open(TokenKind::FlowMappingStart),
            ']' => self.close(TokenKind::FlowSequenceEnd),
            '}' => self.close(TokenKind::FlowMappingEnd),
            ',' => {
                self.forget_key()?;
                self.allows_key = true;
                self.push_character(TokenKind::FlowEntry);
                Ok(())
            }
            '-' if is_blank_or_end(next) => self.fetch_block_entry(),
            '?' if in_flow || is_blank_or_end(next) => self.fetch_key(),
            ':' if in_flow || is_blank_or_end(next) => self.fetch_value(),
            '*' | '&' => self.fetch_anchor(c == '*'),
            '!' => self.fetch_tag(),
            '|' | '>' if !in_flow => self.fetch_block_scalar(c == '|'),
            '\'' | '"' => self.fetch_quoted(c == '\''),
            _ if Self::begins_plain(c, next, in_flow) => self.fetch_plain(),
            _ => self.fail("found character that cannot start any token"),
        }
    }

    /// Returns whether the text goes on with `---` or `...`.
    pub(super) fn is_marker(&self) -> bool {
        let first = self.ahead(0);
        matches!(first, '-' | '.')
            && self.ahead(1) == first
            && self.ahead(2) == first
            && is_blank_or_end(self.ahead(3))
    }

    fn begins_plain(c: char, next: char, in_flow: bool) -> bool {
        let is_indicator = matches!(
            c,
            '-' | '?'
                | ':'
                | ','
                | '['
                | ']'
                | '{'
                | '}'
                | '#'
                | '&'
                | '*'
                | '!'
                | '|'
                | '>'
                | '\''
                | '"'
                | '%'
                | '@'
                | '`'
        );
        !(is_blank_or_end(c) || is_indicator)
            || c == '-' && !is_blank(next)
            || !in_flow && matches!(c, '?' | ':') && !is_blank_or_end(next)
    }

    fn skip_to_token(&mut self) {
        loop {
            while self.ahead(0) == ' '
                || self.ahead(0) == '\t' && (self.flow_level > 0 || !self.allows_key)
            {
                self.skip();
            }
            self.skip_comment();
            if !is_break(self.ahead(0)) {
                return;
            }
            self.skip_break();
            if self.flow_level == 0 {
                self.allows_key = true;
            }
        }
    }

    /// Returns whether a token can still be a key.
    fn is_valid(&mut self, key: usize) -> Result<bool, YamlMistake> {
        let here = self.mark;
        let Some(key) = self.keys.get_mut(key).filter(|key| key.is_possible) else {
            return Ok(false);
        };
        if key.mark.line < here.line || key.mark.index + MOST_OF_KEY < here.index {
            if key.is_required {
                return self.fail("could not find expected ':'");
            }
            key.is_possible = false;
            return Ok(false);
        }
        Ok(true)
    }

    /// Notes that the next token may be a key.
    pub(super) fn note_key(&mut self) -> Result<(), YamlMistake> {
        if !self.allows_key {
            return Ok(());
        }
        let is_required = self.flow_level == 0 && self.indent == self.mark.column as isize;
        let key = SimpleKey {
            is_possible: true,
            is_required,
            number: self.taken + self.tokens.len(),
            mark: self.mark,
        };
        self.forget_key()?;
        if let Some(last) = self.keys.last_mut() {
            *last = key;
        }
        Ok(())
    }

    pub(super) fn forget_key(&mut self) -> Result<(), YamlMistake> {
        match self.keys.last_mut() {
            Some(key) if key.is_possible && key.is_required => {
                self.fail("could not find expected ':'")
            }
            Some(key) => {
                key.is_possible = false;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Opens a block where the text is indented further.
    fn roll(&mut self, column: usize, number: Option<usize>, kind: TokenKind, mark: Mark) {
        if self.flow_level > 0 || self.indent >= column as isize {
            return;
        }
        self.indents.push(self.indent);
        self.indent = column as isize;
        let token = YamlToken {
            kind,
            start: mark,
            end: mark,
        };
        let at = number.map_or(self.tokens.len(), |number| number - self.taken);
        self.tokens.insert(at.min(self.tokens.len()), token);
    }

    /// Closes the blocks that are indented further.
    fn unroll(&mut self, column: isize) {
        if self.flow_level > 0 {
            return;
        }
        while self.indent > column {
            self.push(TokenKind::BlockEnd, self.mark);
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    /// Adds a token that goes from a place to here.
    pub(super) fn push(&mut self, kind: TokenKind, start: Mark) {
        let end = self.mark;
        self.tokens.push_back(YamlToken { kind, start, end });
    }

    fn push_character(&mut self, kind: TokenKind) {
        let start = self.mark;
        self.skip();
        self.push(kind, start);
    }

    fn fetch_end(&mut self) -> Result<(), YamlMistake> {
        if self.mark.column != 0 {
            self.mark.column = 0;
            self.mark.line += 1;
        }
        self.unroll(-1);
        self.forget_key()?;
        self.allows_key = false;
        self.ended = true;
        self.push(TokenKind::StreamEnd, self.mark);
        Ok(())
    }

    fn fetch_marker(&mut self, begins: bool) -> Result<(), YamlMistake> {
        self.unroll(-1);
        self.forget_key()?;
        self.allows_key = false;
        let start = self.mark;
        (0..3).for_each(|_| self.skip());
        let kind = match begins {
            true => TokenKind::DocumentStart,
            false => TokenKind::DocumentEnd,
        };
        self.push(kind, start);
        Ok(())
    }

    fn open(&mut self, kind: TokenKind) -> Result<(), YamlMistake> {
        self.note_key()?;
        self.keys.push(SimpleKey::default());
        self.flow_level += 1;
        self.allows_key = true;
        self.push_character(kind);
        Ok(())
    }

    fn close(&mut self, kind: TokenKind) -> Result<(), YamlMistake> {
        self.forget_key()?;
        if self.flow_level > 0 {
            self.flow_level -= 1;
            self.keys.pop();
        }
        self.allows_key = false;
        self.push_character(kind);
        Ok(())
    }

    /// Begins a block at this column, if none is open there; not in a list or a map in brackets.
    fn begin_block(&mut self, kind: TokenKind, problem: &str) -> Result<(), YamlMistake> {
        if self.flow_level > 0 {
            return Ok(());
        }
        if !self.allows_key {
            return self.fail(problem);
        }
        let mark = self.mark;
        self.roll(mark.column, None, kind, mark);
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Result<(), YamlMistake> {
        let problem = "block sequence entries are not allowed in this context";
        self.begin_block(TokenKind::BlockSequenceStart, problem)?;
        self.forget_key()?;
        self.allows_key = true;
        self.push_character(TokenKind::BlockEntry);
        Ok(())
    }

    fn fetch_key(&mut self) -> Result<(), YamlMistake> {
        let problem = "mapping keys are not allowed in this context";
        self.begin_block(TokenKind::BlockMappingStart, problem)?;
        self.forget_key()?;
        self.allows_key = self.flow_level == 0;
        self.push_character(TokenKind::Key);
        Ok(())
    }

    fn fetch_value(&mut self) -> Result<(), YamlMistake> {
        let last = self.keys.len().saturating_sub(1);
        if self.is_valid(last)? {
            let key = self.keys.get(last).copied().unwrap_or_default();
            let token = YamlToken {
                kind: TokenKind::Key,
                start: key.mark,
                end: key.mark,
            };
            let at = key.number - self.taken;
            self.tokens.insert(at.min(self.tokens.len()), token);
            let kind = TokenKind::BlockMappingStart;
            self.roll(key.mark.column, Some(key.number), kind, key.mark);
            if let Some(key) = self.keys.get_mut(last) {
                key.is_possible = false;
            }
            self.allows_key = false;
        } else {
            let problem = "mapping values are not allowed in this context";
            self.begin_block(TokenKind::BlockMappingStart, problem)?;
            self.allows_key = self.flow_level == 0;
        }
        self.push_character(TokenKind::Value);
        Ok(())
    }

    fn fetch_anchor(&mut self, is_alias: bool) -> Result<(), YamlMistake> {
        self.note_key()?;
        self.allows_key = false;
        let start = self.mark;
        self.skip();
        let mut name = String::new();
        while is_word(self.ahead(0)) {
            self.read(&mut name);
        }
        let next = self.ahead(0);
        let ends =
            is_blank_or_end(next) || matches!(next, '?' | ':' | ',' | ']' | '}' | '%' | '@' | '`');
        if name.is_empty() || !ends {
            return self.fail("did not find expected alphabetic or numeric character");
        }
        let kind = match is_alias {
            true => TokenKind::Alias(name),
            false => TokenKind::Anchor(name),
        };
        self.push(kind, start);
        Ok(())
    }

    fn fetch_directive(&mut self) -> Result<(), YamlMistake> {
        self.unroll(-1);
        self.forget_key()?;
        self.allows_key = false;
        let start = self.mark;
        let kind = self.directive()?;
        self.push(kind, start);
        self.skip_line_end()
    }

    fn fetch_tag(&mut self) -> Result<(), YamlMistake> {
        self.note_key()?;
        self.allows_key = false;
        let start = self.mark;
        let (handle, suffix) = self.tag()?;
        self.push(TokenKind::Tag(handle, suffix), start);
        Ok(())
    }
}
