//! Documents as go-yaml reads them: what is YAML, and the mistakes in its words (`go.yaml.in/yaml/v2`: `scannerc.go`,
//! `parserc.go`, `decode.go`). The events are those of the parser that reads YAML for people.

mod parser;
mod quoted;
mod scalars;
mod scanner;
mod token;

use saphyr_parser::{Event, Span};

use token::Mark;

/// The events of a document, and where each is.
pub(super) type Events = Vec<(Event<'static>, Span)>;

/// Text that is not YAML.
#[derive(Debug, PartialEq)]
pub(super) enum YamlMistake {
    /// go-yaml names the line, counted from 0 or from 1; none if it is the first one.
    Told {
        /// The problem in go-yaml's words.
        problem: String,
        /// The line as it is named.
        named: Option<usize>,
        /// Its place.
        at: Span,
    },
    /// It nests deeper than what is read here.
    TooDeep(Span),
    /// It has more than what is read here.
    TooLarge(Span),
}

/// The limits of a document.
#[derive(Clone, Copy)]
pub(super) struct Most {
    /// The deepest nesting.
    pub(super) depth: usize,
    /// The most events.
    pub(super) events: usize,
}

impl YamlMistake {
    /// A mistake that is found while tokens are made: the line counts from 1, but the first one is not named.
    fn of_scanner(problem: &str, at: Mark) -> Self {
        Self::Told {
            problem: problem.to_owned(),
            named: (at.line > 0).then_some(at.line + 1),
            at: at.span(),
        }
    }

    /// A mistake in the order of tokens: the line counts from 0.
    fn of_parser(problem: &str, context: Mark, at: Mark) -> Self {
        let mut lines = [at.line, context.line].into_iter();
        Self::Told {
            problem: problem.to_owned(),
            named: lines.find(|line| *line > 0),
            at: at.span(),
        }
    }

    /// A mistake without a place.
    fn anywhere(problem: String, at: Mark) -> Self {
        Self::Told {
            problem,
            named: None,
            at: at.span(),
        }
    }
}

/// The events of the first document of a text, without those of its ends. None at all if there is no document.
///
/// # Errors
/// If the text is not YAML.
pub(super) fn events(source: &str, most: Most) -> Result<Events, YamlMistake> {
    // Most texts are plain, which is seen faster.
    let plain = source
        .bytes()
        .all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~'));
    let text: Vec<char> = match plain {
        true => source.bytes().map(char::from).collect(),
        false => source.chars().collect(),
    };
    if !plain && !text.iter().copied().all(is_allowed) {
        let problem = "control characters are not allowed".to_owned();
        return Err(YamlMistake::anywhere(problem, Mark::default()));
    }
    let plain = plain.then_some(source);
    parser::EventParser::new(&text, plain, most).document()
}

/// Returns whether a text may contain this (`yaml_parser_update_buffer`).
fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..)
}
