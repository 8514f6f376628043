//! YAML as the API server and kubectl read it: YAML 1.1 scalars, mappings only with string keys,
//! through JSON (`sigs.k8s.io/yaml` v1.6).

mod go_yaml;
mod located;
mod reports;
mod scalar_text;
mod scalars;
mod write;

use std::collections::{HashMap, HashSet};
use std::{fmt, vec};

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use crate::go;
use crate::json::Node;
use crate::size::{MAX_DEPTH, Measured};

pub use located::{Content, Located, Member, parse_located};
pub use scalars::resolve;
pub use write::written;

use go_yaml::{Most, YamlMistake};
use scalars::{as_in_json, endless, scalar};

/// A parsed document.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Its content.
    pub node: Node,
    /// Keys that are there twice.
    pub duplicates: Vec<DuplicateKey>,
}

/// A key that a mapping has twice. It displays as strict decoding names it:
/// `line 7: key "a" already set in map`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateKey {
    /// The line of its value that counts, counted from 1.
    pub line: usize,
    /// The key as the message shows it: a string is quoted.
    pub key: String,
}

impl fmt::Display for DuplicateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: key {} already set in map", self.line, self.key)
    }
}

impl Document {
    /// The keys that are there twice, as strict decoding names them.
    pub fn duplicate_errors(&self) -> Vec<String> {
        self.duplicates.iter().map(ToString::to_string).collect()
    }
}

/// Text that is not YAML, or YAML that cannot be JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlError {
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1.
    pub column: usize,
    /// The error.
    pub message: String,
    /// The same as the server says it.
    reported: String,
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}, column {}: {}",
            self.line, self.column, self.message
        )
    }
}

impl std::error::Error for YamlError {}

impl YamlError {
    /// The mistake in go-yaml's words.
    pub fn in_go(&self) -> &str {
        &self.reported
    }

    /// The error as the server reports it.
    pub fn as_go_reports(&self) -> String {
        format!("error converting YAML to JSON: {}", self.reported)
    }
}

/// Aliases may not blow a document up beyond this many nodes; a text counts once more for every so
/// many bytes, as [`Measured`] has it.
const MAX_NODES: usize = 200_000;

const TOO_LARGE: &str = "this is too much for Optimist: the document is too large";

/// Parses the first document of a text; an empty text is `null`.
///
/// # Errors
/// If the text is not YAML, has an alias to nothing, or nests too deep.
pub fn parse(text: &str) -> Result<Document, YamlError> {
    if let Some(node) = plain_json(text) {
        return Ok(Document {
            node,
            duplicates: Vec::new(),
        });
    }
    // Positions count behind a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // A list or a map has two events.
    let most = Most {
        depth: MAX_DEPTH,
        events: 2 * MAX_NODES,
    };
    let events = go_yaml::events(text, most).map_err(|mistake| for_people(text, mistake))?;
    let mut reader = YamlReader {
        text,
        events: events.into_iter(),
        duplicates: Vec::new(),
        anchors: HashMap::new(),
        nodes: 0,
        unwritable: None,
    };
    let node = match reader.events.next() {
        Some((event, span)) => reader.node(event, span, 0)?,
        None => Node::Null,
    };
    if let Some(float) = reader.unwritable {
        let reported = format!("json: unsupported value: {float}");
        let told = error(Span::default(), "JSON has no such number");
        return Err(YamlError { reported, ..told });
    }
    let node = as_in_json(node);
    Ok(Document {
        node,
        duplicates: reader.duplicates,
    })
}

/// A document in JSON, as most clients send one, if YAML has the same to say of it: that is read
/// much faster. YAML has its own rules for escapes, floats, long or repeated keys and `<<`.
fn plain_json(text: &str) -> Option<Node> {
    const MAX_LENGTH: usize = 1000;
    fn is_plain(node: &Node, depth: usize) -> bool {
        depth <= MAX_DEPTH
            && match node {
                Node::Number(number) => !number.is_f64(),
                Node::Array(items) => items.iter().all(|item| is_plain(item, depth + 1)),
                Node::Object(members) => {
                    let mut keys: Vec<&String> = members.iter().map(|(key, _)| key).collect();
                    keys.sort_unstable();
                    keys.is_sorted_by(|a, b| a < b)
                        && members.iter().all(|(key, member)| {
                            key.len() < MAX_LENGTH && key != "<<" && is_plain(member, depth + 1)
                        })
                }
                Node::HugeNumber(_) => false,
                Node::Null | Node::Bool(_) | Node::String(_) => true,
            }
    }
    let written_plainly = |byte| matches!(byte, b' '..=b'~' | b'\n') && byte != b'\\';
    if !text.starts_with('{') || text.len() > MAX_NODES || !text.bytes().all(written_plainly) {
        return None;
    }
    let node = crate::json::parse_plain(text)?;
    is_plain(&node, 0).then_some(node)
}

struct YamlReader<'a> {
    text: &'a str,
    events: vec::IntoIter<(Event<'static>, Span)>,
    duplicates: Vec<DuplicateKey>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
    /// The first float that JSON does not have.
    unwritable: Option<&'static str>,
}

/// A mistake with the words of the other parser, which knows more of what is wrong.
fn for_people(text: &str, mistake: YamlMistake) -> YamlError {
    let (problem, named, at) = match mistake {
        YamlMistake::TooDeep(at) => return error(at, "nested too deep"),
        YamlMistake::TooLarge(at) => return error(at, TOO_LARGE),
        YamlMistake::Told { problem, named, at } => (problem, named, at),
    };
    let reported = match named {
        Some(line) => format!("yaml: line {line}: {problem}"),
        None => format!("yaml: {problem}"),
    };
    let found = Parser::new_from_str(text).find_map(Result::err);
    // A mistake behind this one is another one.
    let found = found.filter(|found| found.marker().line() <= at.start.line());
    let told = match found {
        Some(found) => error(Span::empty(*found.marker()), found.info()),
        None => error(at, &problem),
    };
    YamlError { reported, ..told }
}

/// The name that an alias at this index, counted in characters, refers to.
fn anchor_at(text: &str, index: usize) -> String {
    let rest = text.chars().skip(index).skip_while(|c| *c == '*');
    rest.take_while(|c| c.is_ascii_alphanumeric() || "-_".contains(*c))
        .collect()
}

/// The members of a mapping so far.
#[derive(Default)]
struct Members {
    listed: Vec<(String, Node)>,
    known: HashSet<String>,
}

impl YamlReader<'_> {
    fn next(&mut self) -> (Event<'static>, Span) {
        let end = || (Event::StreamEnd, Span::empty(Default::default()));
        self.events.next().unwrap_or_else(end)
    }

    fn node(&mut self, event: Event<'_>, span: Span, depth: usize) -> Result<Node, YamlError> {
        self.nodes += 1;
        if depth > MAX_DEPTH {
            return Err(error(span, "nested too deep"));
        }
        if self.nodes > MAX_NODES {
            return Err(error(span, TOO_LARGE));
        }
        let (anchor, node) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                if tag.is_none() && style == ScalarStyle::Plain && self.unwritable.is_none() {
                    self.unwritable = endless(&text);
                }
                let read = scalar(&text, style, tag.as_deref());
                (anchor, read.map_err(|why| error(span, &why))?)
            }
            Event::SequenceStart(anchor, _) => {
                let mut items = Vec::new();
                loop {
                    match self.next() {
                        (Event::SequenceEnd | Event::StreamEnd, _) => break,
                        (event, span) => items.push(self.node(event, span, depth + 1)?),
                    }
                }
                (anchor, Node::Array(items))
            }
            Event::MappingStart(anchor, _) => (anchor, self.mapping(depth)?),
            Event::Alias(id) => {
                let known = self.anchors.get(&id);
                let known = known.ok_or_else(|| {
                    // The parser knows the anchor, so its value is being read.
                    let mut error = error(span, "an anchor whose value contains itself");
                    let name = anchor_at(self.text, span.start.index());
                    error.reported = format!("yaml: anchor '{name}' value contains itself");
                    error
                })?;
                // Counted before the copy is made.
                self.nodes += known.count(MAX_NODES);
                if self.nodes > MAX_NODES {
                    return Err(error(span, TOO_LARGE));
                }
                return Ok(known.clone());
            }
            _ => return Err(error(span, "unexpected end of the document")),
        };
        if anchor != 0 {
            // Anchors may nest, and each keeps a copy.
            self.nodes += node.count(MAX_NODES);
            if self.nodes > MAX_NODES {
                return Err(error(span, TOO_LARGE));
            }
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn mapping(&mut self, depth: usize) -> Result<Node, YamlError> {
        let mut members = Members::default();
        loop {
            let (event, span) = match self.next() {
                (Event::MappingEnd | Event::StreamEnd, _) => {
                    return Ok(Node::Object(members.listed));
                }
                next => next,
            };
            let merges = is_merge(&event);
            let unwritable = self.unwritable;
            let key = self.node(event, span, depth + 1)?;
            // A key is text in JSON.
            self.unwritable = unwritable;
            let (event, value_span) = self.next();
            let value = self.node(event, value_span, depth + 1)?;
            let line = value_span.start.line();
            if merges {
                self.merge(&mut members, value, value_span)?;
                continue;
            }
            let shown = reports::go_syntax(&key);
            let key = match key {
                Node::String(text) => text,
                Node::Bool(b) => b.to_string(),
                Node::Number(n) => go::number(&n),
                Node::Null => {
                    let value = match &value {
                        Node::Null => "<nil>".to_owned(),
                        value => reports::go_syntax(value),
                    };
                    let reported = format!(
                        "unsupported map key of type: %!s(<nil>), key: <nil>, value: {value}"
                    );
                    return Err(YamlError {
                        reported,
                        ..error(span, "a key must be text, not null")
                    });
                }
                _ => {
                    return Err(YamlError {
                        reported: format!("yaml: invalid map key: {shown}"),
                        ..error(span, "a key must be text, not a list or a map")
                    });
                }
            };
            self.insert(&mut members, key, value, &shown, line);
        }
    }

    /// Keeps repeated members; the last one counts.
    fn insert(
        &mut self,
        members: &mut Members,
        key: String,
        value: Node,
        shown: &str,
        line: usize,
    ) {
        if !members.known.insert(key.clone()) {
            self.duplicates.push(DuplicateKey {
                line,
                key: shown.to_owned(),
            });
        }
        members.listed.push((key, value));
    }

    /// `<<`: the members of another mapping, or of several, take their place among the others.
    fn merge(&mut self, members: &mut Members, value: Node, span: Span) -> Result<(), YamlError> {
        let sources = match value {
            Node::Array(items) => items,
            value => vec![value],
        };
        // Of several mappings the first one wins.
        for source in sources.into_iter().rev() {
            let Node::Object(source) = source else {
                return Err(error(
                    span,
                    "map merge requires map or sequence of maps as the value",
                ));
            };
            for (key, value) in source {
                let shown = go::quote(&key);
                self.insert(members, key, value, &shown, span.start.line());
            }
        }
        Ok(())
    }
}

/// Returns whether a key asks for another mapping to be merged in.
fn is_merge(event: &Event<'_>) -> bool {
    matches!(event, Event::Scalar(text, ScalarStyle::Plain, _, None) if text == "<<")
}

fn error(span: Span, message: &str) -> YamlError {
    YamlError {
        line: span.start.line().max(1),
        column: span.start.col() + 1,
        message: message.to_owned(),
        reported: format!("yaml: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn value(text: &str) -> Value {
        parse(text).unwrap().node.into()
    }

    /// `resolve` of `resolve.go` and `scalar` of `decode.go` (go-yaml v2).
    #[test]
    fn a_tag_names_the_type_of_a_scalar() {
        assert_eq!(
            value(
                "[!!int '1', !!bool \"yes\", !!null '', !!float 1, !!str 1, !foo 1, ! 1, !<tag:yaml.org,2002:str> 1, !!binary YQ==]"
            ),
            json!([1, true, null, 1, "1", "1", "1", "1", "a"])
        );
    }

    #[test]
    fn a_block_that_the_text_ends_in_has_no_line_break_of_its_own() {
        assert_eq!(value("a: |\n  x"), json!({"a": "x"}));
        assert_eq!(value("a: >\n  x\n  y\n\n  z"), json!({"a": "x y\nz"}));
        assert_eq!(value("a: |+\n  x\n\n"), json!({"a": "x\n\n"}));
        assert_eq!(
            value("a: |\n  x\nb: |-\n  y"),
            json!({"a": "x\n", "b": "y"})
        );
        assert_eq!(value("a: |\n  x\nb: z"), json!({"a": "x\n", "b": "z"}));
        assert_eq!(value("a: |\n  x\n"), json!({"a": "x\n"}));
    }

    #[test]
    fn a_document_with_too_many_nodes_is_refused_while_it_is_read() {
        let refused = parse(&"-\n".repeat(2_000_000)).unwrap_err();
        assert_eq!(refused.message, TOO_LARGE);
        let handles = (0..100_000).map(|at| format!("%TAG !h{at}! b\n"));
        let text: String = handles.chain(["--- !h7!x 1\n".to_owned()]).collect();
        assert!(parse(&text).is_ok());
    }

    #[test]
    fn a_byte_order_mark_moves_no_position() {
        let mistake = parse("\u{feff}a: &x [*x]").unwrap_err();
        assert_eq!(mistake.in_go(), "yaml: anchor 'x' value contains itself");
    }

    #[test]
    fn plain_scalars_are_those_of_yaml_1_1() {
        assert_eq!(
            value("a: yes\nb: 'yes'\nc: 0x10\nd: 010\ne: 1.5\nf: ~\ng: 1e3\nh: 1.25-alpine\ny: 1"),
            json!({"a": true, "b": "yes", "c": 16, "d": 8, "e": 1.5, "f": null, "g": 1000,
                   "h": "1.25-alpine", "true": 1})
        );
    }

    #[test]
    fn a_float_may_be_written_in_ways_that_json_has_not() {
        assert_eq!(
            value("[.5, -1., +007.50, 1_0.2_5, 1.5E+3, -2e-3, '.', 1e, 1.2.3, e5, 1e999, --1.0]"),
            json!([
                0.5, -1, 7.5, 10.25, 1500, -0.002, ".", "1e", "1.2.3", "e5", "1e999", "--1.0"
            ])
        );
    }

    #[test]
    fn json_is_yaml_and_nothing_is_null() {
        assert_eq!(
            value(r#"{"a": [1, {"b": "c"}]}"#),
            json!({"a": [1, {"b": "c"}]})
        );
        assert_eq!(value(""), Value::Null);
        assert_eq!(value("# only a comment\n"), Value::Null);
    }

    #[test]
    fn what_json_and_yaml_read_differently_is_read_as_yaml() {
        let document = parse(r#"{"a": 1, "a": 2}"#).unwrap();
        assert_eq!(
            document.duplicate_errors(),
            [r#"line 1: key "a" already set in map"#]
        );
        let texts = [r#"{"a": 1e3}"#, r#"{"a": "\x41"}"#, "{\"a\":\t1}", "{a: 1}"];
        for text in texts {
            assert_eq!(plain_json(text), None, "{text}");
        }
        assert_eq!(value(r#"{"a": 1e3, "b": -0}"#), json!({"a": 1000, "b": 0}));
        let plain = "{\"a\": [1, -2, true, null, \"~ no: # 'yes'\"],\n \"b\": {}}";
        assert_eq!(
            plain_json(plain).map(Value::from),
            Some(json!({"a": [1, -2, true, null, "~ no: # 'yes'"], "b": {}}))
        );
    }

    #[test]
    fn a_repeated_key_is_named_with_its_line_and_the_last_one_counts() {
        let document = parse("data:\n  a: 1\n  a: 2\n").unwrap();
        assert_eq!(
            document.duplicate_errors(),
            [r#"line 3: key "a" already set in map"#]
        );
        assert_eq!(Value::from(document.node), json!({"data": {"a": 2}}));
    }

    #[test]
    fn another_mapping_can_be_merged_in() {
        assert_eq!(
            value("a: &a {x: 1, y: 2}\nb:\n  <<: *a\n  y: 3\nc: {<<: [{x: 4}, *a]}"),
            json!({"a": {"x": 1, "true": 2}, "b": {"x": 1, "true": 3}, "c": {"x": 4, "true": 2}})
        );
        assert_eq!(value("'<<': 1"), json!({"<<": 1}));
        assert!(parse("<<: 1").is_err());
    }

    #[test]
    fn a_mistake_is_named_with_its_line_and_column() {
        for (text, line, column) in [("a: 1\nb: [1, 2\nc: 3\n", 3, 2), ("a: b: c", 1, 5)] {
            let error = parse(text).unwrap_err();
            assert_eq!(
                (error.line, error.column),
                (line, column),
                "{text:?}: {error}"
            );
        }
    }

    #[test]
    fn neither_deep_nesting_nor_aliases_blow_it_up() {
        assert!(parse(&"[".repeat(10_000)).is_err());
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for i in 1..9 {
            let references = vec![format!("*a{}", i - 1); 10].join(", ");
            bomb.push_str(&format!("a{i}: &a{i} [{references}]\n"));
        }
        assert!(parse(&bomb).is_err());
    }

    #[test]
    fn aliases_count_by_the_bytes_that_they_repeat() {
        let text = "x".repeat(100_000);
        let aliases = |n: usize| vec!["*a"; n].join(", ");
        let document = |n: usize| format!("a: &a {text}\nb: [{}]\n", aliases(n));
        assert!(parse(&document(50)).is_ok());
        let error = parse(&document(60_000)).unwrap_err();
        assert!(error.message.contains("too much for Optimist"), "{error}");
        let key = format!("a: &a {{{text}: 1}}\nb: [{}]\n", aliases(60_000));
        assert!(parse(&key).is_err());
        // Anchors in anchors keep a copy of the innermost each.
        let nested = (0..90).fold(format!("[{}]", vec!["1"; 50_000].join(",")), |inner, i| {
            format!("&n{i} [{inner}]")
        });
        assert!(parse(&nested).is_err());
        let many = (0..20_000).fold("- &z 1\n".to_owned(), |text, i| {
            text + &format!("- &a{i} 1\n- *z\n")
        });
        assert!(parse(&many).is_ok());
    }
}
