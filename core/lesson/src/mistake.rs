//! Finds the line of an error in the YAML of a lesson, also in a manifest that the lesson contains
//! as text.

use saphyr_parser::{Event, Parser};

use super::fields::{LessonError, LessonResult};
use optimist_apiserver::yaml::{Located, parse_located};
use optimist_client::{ManifestError, documents, refuse_repeated_keys};

/// The parser's message for a list or mapping in brackets that is not closed.
const UNCLOSED: [&str; 3] = [
    "while parsing a flow",
    "invalid indentation in flow construct",
    "illegal placement of ':'",
];

/// Parses the text of a lesson.
pub(super) fn parse_lesson(source: &str) -> LessonResult<Located> {
    parse_located(source).map_err(|error| {
        let line = line_of(source, error.line, &error.message);
        LessonError::new(line, error.message)
    })
}

/// Finds syntax errors and duplicate keys in manifests, which begin at a line of a lesson's text.
pub(super) fn check_manifests(manifests: &str, first: usize, source: &str) -> LessonResult<()> {
    let documents =
        documents(manifests).map_err(|error| LessonError::new(first, error.to_string()))?;
    for document in documents {
        if let Err(ManifestError::Syntax { line, message, .. }) = document.read() {
            let told = line.saturating_sub(document.above);
            let inside = document.above + line_of(document.text, told, &message);
            let line = outside(manifests, inside, first, source);
            return Err(LessonError::new(line, message));
        }
    }
    refuse_repeated_keys(manifests).map_err(|error| LessonError::new(first, error.to_string()))
}

/// The line of an error. The parser reports the line at which it stopped. For a bracket that is not
/// closed, that is a later line, or a line after the end of the text.
fn line_of(text: &str, told: usize, message: &str) -> usize {
    let unclosed = UNCLOSED.iter().any(|words| message.starts_with(words));
    let bracket = unclosed.then(|| open_bracket(text)).flatten();
    let lines = text.lines().enumerate();
    let written = lines.filter(|(_, line)| !line.trim().is_empty());
    let last = written.last().map_or(1, |(number, _)| number + 1);
    bracket.unwrap_or(told).min(told).min(last)
}

/// The line of the innermost open bracket at the position of the error.
fn open_bracket(text: &str) -> Option<usize> {
    let mut open = Vec::new();
    for event in Parser::new_from_str(text) {
        match event {
            Ok((Event::SequenceStart(..) | Event::MappingStart(..), span)) => open.push(span.start),
            Ok((Event::SequenceEnd | Event::MappingEnd, _)) => drop(open.pop()),
            Ok(_) => {}
            Err(_) => break,
        }
    }
    let chars: Vec<char> = text.chars().collect();
    let is_bracket = |index| matches!(chars.get(index), Some('[' | '{'));
    let bracket = open.iter().rev().find(|begin| is_bracket(begin.index()))?;
    Some(bracket.line())
}

/// The line in the lesson for a line of its manifests, whose first line that is not empty is at
/// `first`. If the text is folded or in quotes, only `first` is known.
fn outside(manifests: &str, inside: usize, first: usize, source: &str) -> usize {
    let empty = manifests.lines().take_while(|line| line.trim().is_empty());
    let line = (first + inside).saturating_sub(empty.count() + 1);
    let at = |text: &str, line: usize| {
        let line = text.lines().nth(line.saturating_sub(1));
        line.unwrap_or_default().trim().to_owned()
    };
    if at(source, line) == at(manifests, inside) {
        line
    } else {
        first
    }
}
