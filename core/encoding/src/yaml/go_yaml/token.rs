//! The tokens of a text (`yaml_token_t`), and places in it.

use saphyr_parser::{Marker, ScalarStyle, Span};

/// A place in a text. All parts count from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Mark {
    pub(super) index: usize,
    pub(super) line: usize,
    pub(super) column: usize,
}

impl Mark {
    fn marker(self) -> Marker {
        Marker::new(self.index, self.line + 1, self.column)
    }

    /// It, as an empty part of the text.
    pub(super) fn span(self) -> Span {
        Span::empty(self.marker())
    }

    /// The text between it and another place.
    pub(super) fn span_to(self, end: Mark) -> Span {
        Span::new(self.marker(), end.marker())
    }
}

/// A token, and where it is.
#[derive(Clone, Debug)]
pub(super) struct YamlToken {
    pub(super) kind: TokenKind,
    pub(super) start: Mark,
    pub(super) end: Mark,
}

/// The kinds of tokens.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    StreamEnd,
    Version(u32, u32),
    /// A handle, and the prefix that it stands for.
    TagDirective(String, String),
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(String),
    Anchor(String),
    /// A handle, and what follows it.
    Tag(String, String),
    Scalar(String, ScalarStyle),
}

/// A space or a tab.
pub(super) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

/// The end of a line.
pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The end of a line or of the text.
pub(super) fn is_break_or_end(c: char) -> bool {
    is_break(c) || c == '\0'
}

/// A space, a tab, or the end of a line or of the text.
pub(super) fn is_blank_or_end(c: char) -> bool {
    is_blank(c) || is_break_or_end(c)
}

/// Returns whether names of anchors, handles and directives can have a character.
pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}
