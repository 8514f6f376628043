//! A document of which every part knows its line, for formats that people write by hand and want
//! to see their mistakes in.

use std::collections::BTreeSet;

use saphyr_parser::{Event, Parser, Span, StrInput};
use serde_json::{Map, Value};

use super::{MAX_DEPTH, MAX_NODES, TOO_LARGE, YamlError, error, scalar};
use crate::go;
use crate::json::Node;

/// A part of a document, and where it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// Counted from 1.
    pub line: usize,
    /// The position in the line, in characters, counted from 1.
    pub column: usize,
    /// Its content.
    pub content: Content,
}

/// A part of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Text, a number, `true`, `false` or `null`, and as it is written.
    Scalar(Value, String),
    /// A list.
    List(Vec<Located>),
    /// A mapping, in the order written; no key is there twice.
    Map(Vec<Member>),
}

/// A member of a mapping.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The line of the key, counted from 1.
    pub line: usize,
    /// The position of the key in its line, in characters, counted from 1.
    pub column: usize,
    /// The key.
    pub key: String,
    /// The value.
    pub value: Located,
}

impl From<&Located> for Value {
    fn from(located: &Located) -> Self {
        match &located.content {
            Content::Scalar(value, _) => value.clone(),
            Content::List(items) => items.iter().map(Value::from).collect(),
            Content::Map(members) => {
                let members = members
                    .iter()
                    .map(|member| (member.key.clone(), Value::from(&member.value)));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }
}

/// Parses the first document of a text; an empty text is `null`. Scalars are those of
/// [`parse`](super::parse); anchors and merged mappings are not taken.
///
/// # Errors
/// If the text is not YAML, has an anchor or the same key twice, or nests too deep.
pub fn parse_located(text: &str) -> Result<Located, YamlError> {
    let mut reader = LocatedReader {
        events: Parser::new_from_str(text),
        nodes: 0,
    };
    loop {
        match reader.next()? {
            (Event::StreamStart | Event::DocumentStart(_), _) => {}
            (Event::StreamEnd | Event::DocumentEnd, span) => {
                return Ok(Located {
                    line: span.start.line().max(1),
                    column: span.start.col() + 1,
                    content: Content::Scalar(Value::Null, String::new()),
                });
            }
            (event, span) => return reader.part(event, span, 0),
        }
    }
}

struct LocatedReader<'a> {
    events: Parser<'a, StrInput<'a>>,
    nodes: usize,
}

impl<'a> LocatedReader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), YamlError> {
        match self.events.next() {
            Some(Ok(next)) => Ok(next),
            Some(Err(mistake)) => {
                let marker = mistake.marker();
                Err(error(Span::new(*marker, *marker), mistake.info()))
            }
            None => Ok((Event::StreamEnd, Span::empty(Default::default()))),
        }
    }

    fn part(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Located, YamlError> {
        self.nodes += 1;
        if depth > MAX_DEPTH {
            return Err(error(span, "nested too deep"));
        }
        if self.nodes > MAX_NODES {
            return Err(error(span, TOO_LARGE));
        }
        let content = match event {
            Event::Scalar(_, _, anchor, _)
            | Event::SequenceStart(anchor, _)
            | Event::MappingStart(anchor, _)
                if anchor != 0 =>
            {
                return Err(error(span, "anchors (&) are not taken here"));
            }
            Event::Scalar(text, style, _, tag) => Content::Scalar(
                scalar(&text, style, tag.as_deref())
                    .map_err(|why| error(span, &why))?
                    .into(),
                text.into_owned(),
            ),
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd | Event::StreamEnd, _) => break,
                        (event, span) => items.push(self.part(event, span, depth + 1)?),
                    }
                }
                Content::List(items)
            }
            Event::MappingStart(..) => Content::Map(self.members(depth)?),
            Event::Alias(_) => return Err(error(span, "aliases (*) are not taken here")),
            _ => return Err(error(span, "unexpected end of the document")),
        };
        Ok(Located {
            line: span.start.line().max(1),
            column: span.start.col() + 1,
            content,
        })
    }

    fn members(&mut self, depth: usize) -> Result<Vec<Member>, YamlError> {
        let mut members: Vec<Member> = Vec::new();
        let mut known = BTreeSet::new();
        loop {
            let (event, span) = match self.next()? {
                (Event::MappingEnd | Event::StreamEnd, _) => return Ok(members),
                next => next,
            };
            let key = match event {
                Event::Scalar(text, style, 0, tag) => match scalar(&text, style, tag.as_deref()) {
                    Ok(Node::String(text)) => text,
                    Ok(Node::Bool(b)) => b.to_string(),
                    Ok(Node::Number(n)) => go::number(&n),
                    _ => return Err(error(span, "a key must be text, not null")),
                },
                _ => return Err(error(span, "a key must be text")),
            };
            if !known.insert(key.clone()) {
                return Err(error(span, &["“", &key, "” is there twice"].concat()));
            }
            let (event, value_span) = self.next()?;
            let value = self.part(event, value_span, depth + 1)?;
            members.push(Member {
                line: span.start.line().max(1),
                column: span.start.col() + 1,
                key,
                value,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml;
    use serde_json::json;

    #[test]
    fn every_part_knows_its_line() {
        let document = parse_located("a: 1\nb:\n  - c\n  - d: |\n      text\n").unwrap();
        let Content::Map(members) = &document.content else {
            panic!("a mapping");
        };
        assert_eq!((members[0].line, members[1].line), (1, 2));
        let Content::List(items) = &members[1].value.content else {
            panic!("a list");
        };
        assert_eq!((items[0].line, items[1].line), (3, 4));
    }

    #[test]
    fn every_part_knows_its_column() {
        let document = parse_located("ä: {b: [1, c]}\n").unwrap();
        let Content::Map(members) = &document.content else {
            panic!("a mapping");
        };
        let Content::Map(inner) = &members[0].value.content else {
            panic!("a mapping");
        };
        let Content::List(items) = &inner[0].value.content else {
            panic!("a list");
        };
        assert_eq!((members[0].column, members[0].value.column), (1, 4));
        assert_eq!((inner[0].column, items[1].column), (5, 12));
    }

    #[test]
    fn values_are_those_of_the_other_reader() {
        let text = "a: yes\nb: 'yes'\nc: [0x10, {d: ~}]\ne: |\n  two\n  lines\n1: x\n";
        let other: Value = yaml::parse(text).unwrap().node.into();
        assert_eq!(Value::from(&parse_located(text).unwrap()), other);
        assert_eq!(other["c"], json!([16, {"d": null}]));
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (text, line) in [
            ("a: 1\nb: [1, 2\nc: 3\n", 3),
            ("a: 1\na: 2\n", 2),
            ("a: &x 1\nb: *x\n", 1),
            ("a: 1\n? [x]\n: 2\n", 2),
        ] {
            let error = parse_located(text).unwrap_err();
            assert_eq!(error.line, line, "{text}: {error}");
        }
        assert!(parse_located(&"[".repeat(10_000)).is_err());
        let empty = parse_located("").unwrap();
        assert_eq!(Value::from(&empty), Value::Null);
    }
}
