//! Makes events of tokens (`parserc.go`), and knows anchors (`decode.go`).

use std::borrow::Cow;
use std::collections::HashMap;

use saphyr_parser::{Event, ScalarStyle, Span, Tag};

use super::scanner::TokenScanner;
use super::token::{Mark, TokenKind, YamlToken};
use super::{Events, Most, YamlMistake};

/// The anchor and the tag before a node.
#[derive(Default)]
struct NodeProperties {
    anchor: usize,
    tag: Option<Tag>,
}

pub(super) struct EventParser<'a> {
    scanner: TokenScanner<'a>,
    events: Events,
    /// The number of each anchor; the last one of its name counts.
    anchors: HashMap<String, usize>,
    last_anchor: usize,
    /// The prefixes of tags by their handles.
    prefixes: HashMap<String, String>,
    depth: usize,
    most_depth: usize,
    most_events: usize,
}

impl<'a> EventParser<'a> {
    pub(super) fn new(text: &'a [char], plain: Option<&'a str>, most: Most) -> Self {
        Self {
            scanner: TokenScanner::new(text, plain),
            events: Vec::new(),
            anchors: HashMap::new(),
            last_anchor: 0,
            prefixes: HashMap::new(),
            depth: 0,
            most_depth: most.depth,
            most_events: most.events,
        }
    }

    fn next_is(&mut self, kinds: &[TokenKind]) -> Result<bool, YamlMistake> {
        if self.events.len() > self.most_events {
            return Err(YamlMistake::TooLarge(self.scanner.mark.span()));
        }
        let token = self.scanner.peek()?;
        Ok(kinds.contains(&token.kind))
    }

    fn mark(&mut self) -> Result<Mark, YamlMistake> {
        Ok(self.scanner.peek()?.start)
    }

    fn emit(&mut self, event: Event<'static>, span: Span) {
        self.events.push((event, span));
    }

    /// A value that is not there.
    fn emit_nothing(&mut self, at: Mark) {
        let event = Event::Scalar(Cow::Borrowed(""), ScalarStyle::Plain, 0, None);
        self.emit(event, at.span());
    }

    pub(super) fn document(mut self) -> Result<Events, YamlMistake> {
        let begins_plainly = match self.scanner.peek()?.kind {
            TokenKind::StreamEnd => return Ok(self.events),
            TokenKind::Version(..) | TokenKind::TagDirective(..) | TokenKind::DocumentStart => {
                false
            }
            _ => true,
        };
        self.directives()?;
        if begins_plainly {
            self.node(true, false)?;
        } else {
            match self.scanner.peek()?.kind {
                TokenKind::DocumentStart => {}
                // A text of directives alone.
                _ => {
                    let at = self.mark()?;
                    let problem = "did not find expected <document start>";
                    return Err(YamlMistake::of_parser(problem, at, at));
                }
            }
            self.scanner.take_token()?;
            let token = self.scanner.peek()?;
            let start = token.start;
            match token.kind {
                TokenKind::Version(..)
                | TokenKind::TagDirective(..)
                | TokenKind::DocumentStart
                | TokenKind::DocumentEnd
                | TokenKind::StreamEnd => self.emit_nothing(start),
                _ => self.node(true, false)?,
            }
        }
        // What follows must begin with a token.
        self.scanner.peek()?;
        Ok(self.events)
    }

    fn directives(&mut self) -> Result<(), YamlMistake> {
        let mut has_version = false;
        loop {
            let token = self.scanner.peek()?;
            let at = token.start;
            let wrong = |problem: &str| Err(YamlMistake::of_parser(problem, at, at));
            match token.kind.clone() {
                TokenKind::Version(..) if has_version => {
                    return wrong("found duplicate %YAML directive");
                }
                TokenKind::Version(1, 1) => has_version = true,
                TokenKind::Version(..) => return wrong("found incompatible YAML document"),
                TokenKind::TagDirective(handle, prefix) => {
                    if self.prefixes.insert(handle, prefix).is_some() {
                        return wrong("found duplicate %TAG directive");
                    }
                }
                _ => break,
            }
            self.scanner.take_token()?;
        }
        for (handle, prefix) in [("!", "!"), ("!!", "tag:yaml.org,2002:")] {
            let known = self.prefixes.entry(handle.to_owned());
            known.or_insert_with(|| prefix.to_owned());
        }
        Ok(())
    }

    /// A node; `may_be_indentless` is whether it may be a list that is not indented.
    fn node(&mut self, in_block: bool, may_be_indentless: bool) -> Result<(), YamlMistake> {
        let token = self.scanner.peek()?;
        let start = token.start;
        if let TokenKind::Alias(name) = &token.kind {
            let (name, span) = (name.clone(), start.span_to(token.end));
            self.scanner.take_token()?;
            let Some(anchor) = self.anchors.get(&name) else {
                let problem = format!("unknown anchor '{name}' referenced");
                return Err(YamlMistake::anywhere(problem, start));
            };
            let event = Event::Alias(*anchor);
            self.emit(event, span);
            return Ok(());
        }
        if self.depth > self.most_depth {
            return Err(YamlMistake::TooDeep(start.span()));
        }
        self.depth += 1;
        let properties = self.properties(start)?;
        self.content(properties, start, in_block, may_be_indentless)?;
        self.depth -= 1;
        Ok(())
    }

    /// The next token, if it is an anchor or a tag; nothing otherwise.
    fn properties_token(&mut self) -> Result<TokenKind, YamlMistake> {
        let kind = &self.scanner.peek()?.kind;
        Ok(match kind {
            TokenKind::Anchor(_) | TokenKind::Tag(..) => kind.clone(),
            _ => TokenKind::StreamEnd,
        })
    }

    fn properties(&mut self, start: Mark) -> Result<NodeProperties, YamlMistake> {
        let mut properties = NodeProperties::default();
        let (mut has_anchor, mut has_tag) = (false, false);
        let mut tag = None;
        for _ in 0..2 {
            match self.properties_token()? {
                TokenKind::Anchor(name) if !has_anchor => {
                    has_anchor = true;
                    self.last_anchor += 1;
                    properties.anchor = self.last_anchor;
                    self.anchors.insert(name, self.last_anchor);
                }
                TokenKind::Tag(handle, suffix) if !has_tag => {
                    has_tag = true;
                    tag = Some((handle, suffix, self.mark()?));
                }
                _ => break,
            }
            self.scanner.take_token()?;
        }
        // Tokens are made before the tag is looked at.
        self.scanner.peek()?;
        if let Some((handle, suffix, at)) = tag {
            properties.tag = Some(self.tag(&handle, suffix, start, at)?);
        }
        Ok(properties)
    }

    fn tag(&self, handle: &str, suffix: String, start: Mark, at: Mark) -> Result<Tag, YamlMistake> {
        if handle.is_empty() {
            return Ok(Tag {
                handle: String::new(),
                suffix,
            });
        }
        match self.prefixes.get(handle) {
            Some(prefix) => Ok(Tag {
                handle: prefix.clone(),
                suffix,
            }),
            None => Err(YamlMistake::of_parser(
                "found undefined tag handle",
                start,
                at,
            )),
        }
    }

    fn content(
        &mut self,
        properties: NodeProperties,
        start: Mark,
        in_block: bool,
        may_be_indentless: bool,
    ) -> Result<(), YamlMistake> {
        if matches!(self.scanner.peek()?.kind, TokenKind::Scalar(..)) {
            return self.scalar(properties, start);
        }
        let YamlToken {
            kind,
            start: at,
            end,
        } = self.scanner.peek()?.clone();
        let NodeProperties { anchor, tag } = properties;
        let is_bare = anchor == 0 && tag.is_none();
        let tag = tag.map(Cow::Owned);
        let list = |tag| (Event::SequenceStart(anchor, tag), start.span_to(end));
        let map = |tag| (Event::MappingStart(anchor, tag), start.span_to(end));
        match kind {
            TokenKind::BlockEntry if may_be_indentless => {
                self.events.push(list(tag));
                self.indentless_list()
            }
            TokenKind::FlowSequenceStart => {
                self.events.push(list(tag));
                self.flow_list()
            }
            TokenKind::FlowMappingStart => {
                self.events.push(map(tag));
                self.flow_map()
            }
            TokenKind::BlockSequenceStart if in_block => {
                self.events.push(list(tag));
                self.block_list()
            }
            TokenKind::BlockMappingStart if in_block => {
                self.events.push(map(tag));
                self.block_map()
            }
            _ if !is_bare => {
                let event = Event::Scalar(Cow::Borrowed(""), ScalarStyle::Plain, anchor, tag);
                self.emit(event, start.span());
                Ok(())
            }
            _ => {
                let problem = "did not find expected node content";
                Err(YamlMistake::of_parser(problem, start, at))
            }
        }
    }

    fn scalar(&mut self, properties: NodeProperties, start: Mark) -> Result<(), YamlMistake> {
        let token = self.scanner.take_token()?;
        if let TokenKind::Scalar(text, style) = token.kind {
            let tag = properties.tag.map(Cow::Owned);
            let event = Event::Scalar(Cow::Owned(text), style, properties.anchor, tag);
            self.emit(event, start.span_to(token.end));
        }
        Ok(())
    }

    fn end(&mut self, event: Event<'static>) -> Result<(), YamlMistake> {
        let token = self.scanner.take_token()?;
        self.emit(event, token.start.span_to(token.end));
        Ok(())
    }

    fn block_list(&mut self) -> Result<(), YamlMistake> {
        let begin = self.scanner.take_token()?.start;
        loop {
            let token = self.scanner.peek()?;
            let (end, start) = (token.end, token.start);
            match token.kind {
                TokenKind::BlockEntry => {}
                TokenKind::BlockEnd => return self.end(Event::SequenceEnd),
                _ => {
                    let problem = "did not find expected '-' indicator";
                    return Err(YamlMistake::of_parser(problem, begin, start));
                }
            }
            self.scanner.take_token()?;
            match self.next_is(&[TokenKind::BlockEntry, TokenKind::BlockEnd])? {
                true => self.emit_nothing(end),
                false => self.node(true, false)?,
            }
        }
    }

    fn indentless_list(&mut self) -> Result<(), YamlMistake> {
        const ENDS: [TokenKind; 4] = [
            TokenKind::BlockEntry,
            TokenKind::Key,
            TokenKind::Value,
            TokenKind::BlockEnd,
        ];
        while self.next_is(&[TokenKind::BlockEntry])? {
            let end = self.scanner.take_token()?.end;
            match self.next_is(&ENDS)? {
                true => self.emit_nothing(end),
                false => self.node(true, false)?,
            }
        }
        let at = self.mark()?;
        self.emit(Event::SequenceEnd, at.span());
        Ok(())
    }

    fn block_map(&mut self) -> Result<(), YamlMistake> {
        const ENDS: [TokenKind; 3] = [TokenKind::Key, TokenKind::Value, TokenKind::BlockEnd];
        let begin = self.scanner.take_token()?.start;
        loop {
            let token = self.scanner.peek()?;
            let (start, end) = (token.start, token.end);
            match token.kind {
                TokenKind::Key => {}
                TokenKind::BlockEnd => return self.end(Event::MappingEnd),
                _ => {
                    let problem = "did not find expected key";
                    return Err(YamlMistake::of_parser(problem, begin, start));
                }
            }
            self.scanner.take_token()?;
            match self.next_is(&ENDS)? {
                true => self.emit_nothing(end),
                false => self.node(true, true)?,
            }
            let token = self.scanner.peek()?;
            let (start, end) = (token.start, token.end);
            if token.kind != TokenKind::Value {
                self.emit_nothing(start);
                continue;
            }
            self.scanner.take_token()?;
            match self.next_is(&ENDS)? {
                true => self.emit_nothing(end),
                false => self.node(true, true)?,
            }
        }
    }

    /// Takes the comma before an entry that is not the first.
    fn comma(&mut self, is_first: bool, begin: Mark, problem: &str) -> Result<(), YamlMistake> {
        if is_first {
            return Ok(());
        }
        let token = self.scanner.peek()?;
        if token.kind != TokenKind::FlowEntry {
            return Err(YamlMistake::of_parser(problem, begin, token.start));
        }
        self.scanner.take_token()?;
        Ok(())
    }

    fn flow_list(&mut self) -> Result<(), YamlMistake> {
        const END: [TokenKind; 1] = [TokenKind::FlowSequenceEnd];
        let begin = self.scanner.take_token()?.start;
        let mut is_first = true;
        while !self.next_is(&END)? {
            self.comma(is_first, begin, "did not find expected ',' or ']'")?;
            is_first = false;
            if self.next_is(&[TokenKind::Key])? {
                self.pair()?;
            } else if !self.next_is(&END)? {
                self.node(false, false)?;
            } else {
                break;
            }
        }
        self.end(Event::SequenceEnd)
    }

    /// A mapping of one member in a flow sequence.
    fn pair(&mut self) -> Result<(), YamlMistake> {
        const ENDS: [TokenKind; 2] = [TokenKind::FlowEntry, TokenKind::FlowSequenceEnd];
        let YamlToken { start, end, .. } = self.scanner.take_token()?;
        self.emit(Event::MappingStart(0, None), start.span_to(end));
        let token = self.scanner.peek()?;
        let (kind, end) = (token.kind.clone(), token.end);
        if kind == TokenKind::Value || ENDS.contains(&kind) {
            // Upstream takes the token, which is the colon or the comma.
            self.scanner.take_token()?;
            self.emit_nothing(end);
        } else {
            self.node(false, false)?;
        }
        let at = self.mark()?;
        if self.next_is(&[TokenKind::Value])? {
            self.scanner.take_token()?;
            if self.next_is(&ENDS)? {
                self.emit_nothing(at);
            } else {
                self.node(false, false)?;
            }
        } else {
            self.emit_nothing(at);
        }
        let at = self.mark()?;
        self.emit(Event::MappingEnd, at.span());
        Ok(())
    }

    fn flow_map(&mut self) -> Result<(), YamlMistake> {
        const END: [TokenKind; 1] = [TokenKind::FlowMappingEnd];
        const ENDS: [TokenKind; 3] = [
            TokenKind::Value,
            TokenKind::FlowEntry,
            TokenKind::FlowMappingEnd,
        ];
        let begin = self.scanner.take_token()?.start;
        let mut is_first = true;
        while !self.next_is(&END)? {
            self.comma(is_first, begin, "did not find expected ',' or '}'")?;
            is_first = false;
            if self.next_is(&[TokenKind::Key])? {
                self.scanner.take_token()?;
                match self.next_is(&ENDS)? {
                    true => {
                        let at = self.mark()?;
                        self.emit_nothing(at);
                    }
                    false => self.node(false, false)?,
                }
                self.flow_value(&ENDS[1..])?;
            } else if !self.next_is(&END)? {
                self.node(false, false)?;
                let at = self.mark()?;
                self.emit_nothing(at);
            } else {
                break;
            }
        }
        self.end(Event::MappingEnd)
    }

    fn flow_value(&mut self, ends: &[TokenKind]) -> Result<(), YamlMistake> {
        if self.next_is(&[TokenKind::Value])? {
            self.scanner.take_token()?;
            if !self.next_is(ends)? {
                return self.node(false, false);
            }
        }
        let at = self.mark()?;
        self.emit_nothing(at);
        Ok(())
    }
}
