//! Label and field selectors (`k8s.io/apimachinery/pkg/labels/selector.go`,
//! `pkg/fields/selector.go`).

use serde_json::Value;

use super::Resource;
use super::kinds::names;
use crate::go;
use crate::object::Metadata;
use crate::status::{Refusal, Status};

/// The conditions that select objects of a collection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selector {
    labels: Vec<LabelRequirement>,
    fields: Vec<FieldRequirement>,
}

#[derive(Clone, Debug, PartialEq)]
struct LabelRequirement {
    key: String,
    test: LabelTest,
}

#[derive(Clone, Debug, PartialEq)]
enum LabelTest {
    Exists,
    Absent,
    In(Vec<String>),
    NotIn(Vec<String>),
    Above(i64),
    Below(i64),
}

#[derive(Clone, Debug, PartialEq)]
struct FieldRequirement {
    path: String,
    value: String,
    equal: bool,
}

impl Selector {
    /// Reads `labelSelector` and `fieldSelector`; empty ones select everything.
    ///
    /// # Errors
    /// 400 if one cannot be read.
    pub fn parse(labels: &str, fields: &str) -> Result<Self, Refusal> {
        Ok(Self {
            labels: LabelParser::parse(labels).map_err(Status::bad_request)?,
            fields: parse_fields(fields).map_err(Status::bad_request)?,
        })
    }

    /// Checks that a kind can be selected by these fields.
    ///
    /// # Errors
    /// 400 if it cannot.
    pub fn check_fields(&self, resource: &Resource) -> Result<(), Refusal> {
        let (selectable, own) = resource.selectable_fields();
        let unknown = |field: &&FieldRequirement| !selectable.contains(&field.path.as_str());
        let Some(FieldRequirement { path, .. }) = self.fields.iter().find(unknown) else {
            return Ok(());
        };
        if own {
            let why = match resource.kind.as_str() {
                "Job" => format!("field label {} not supported for Job", go::quote(path)),
                "ResourceSlice" => format!(
                    "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {path}"
                ),
                _ => format!("field label not supported: {path}"),
            };
            return Err(Status::bad_request(why));
        }
        let known: Vec<String> = selectable.iter().map(|field| go::quote(field)).collect();
        Err(Status::bad_request(format!(
            "{} is not a known field selector: only {}",
            go::quote(path),
            known.join(", ")
        )))
    }

    /// Returns whether it selects everything.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// The value that a field must have (`RequiresExactMatch`).
    pub fn requires(&self, path: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        let field = fields.find(|field| field.equal && field.path == path)?;
        Some(&field.value)
    }

    /// Only the object of this name.
    pub fn named(mut self, name: &str) -> Self {
        self.fields.push(FieldRequirement {
            path: "metadata.name".to_owned(),
            value: name.to_owned(),
            equal: true,
        });
        self
    }

    /// Returns whether an object is selected.
    pub fn matches(&self, object: &Value) -> bool {
        self.labels
            .iter()
            .all(|requirement| requirement.matches(object))
            && self
                .fields
                .iter()
                .all(|requirement| requirement.matches(object))
    }
}

impl LabelRequirement {
    fn matches(&self, object: &Value) -> bool {
        let label = object
            .metadata()
            .and_then(|meta| meta.get("labels")?.get(&self.key)?.as_str());
        let number = || label.and_then(|label| label.parse::<i64>().ok());
        match &self.test {
            LabelTest::Exists => label.is_some(),
            LabelTest::Absent => label.is_none(),
            LabelTest::In(values) => label.is_some_and(|l| values.iter().any(|v| v == l)),
            LabelTest::NotIn(values) => !label.is_some_and(|l| values.iter().any(|v| v == l)),
            LabelTest::Above(bound) => number().is_some_and(|n| n > *bound),
            LabelTest::Below(bound) => number().is_some_and(|n| n < *bound),
        }
    }
}

impl FieldRequirement {
    fn matches(&self, object: &Value) -> bool {
        // A field of a Job that has another name in the object.
        let path = match self.path.as_str() {
            "status.successful" => "status.succeeded",
            path => path,
        };
        let found = path
            .split('.')
            .try_fold(object, |value, name| value.get(name));
        let text = match found {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => match self.path.as_str() {
                "spec.hostNetwork" | "spec.unschedulable" => "false".to_owned(),
                "status.replicas" | "status.successful" => "0".to_owned(),
                _ => String::new(),
            },
            Some(other) => other.to_string(),
        };
        (text == self.value) == self.equal
    }
}

fn parse_fields(text: &str) -> Result<Vec<FieldRequirement>, String> {
    let mut requirements = Vec::new();
    // The terms are sorted before anything looks at them (`parseSelector` of `apimachinery/pkg/fields`).
    let mut terms = split_unescaped(text);
    terms.sort_unstable();
    for term in terms.iter().filter(|term| !term.is_empty()) {
        let (path, value, equal) = ["!=", "==", "="]
            .iter()
            .filter_map(|operator| Some((term.find(operator)?, *operator)))
            .min_by_key(|(at, operator)| (*at, std::cmp::Reverse(operator.len())))
            .map(|(at, operator)| (&term[..at], &term[at + operator.len()..], operator != "!="))
            .ok_or_else(|| format!("invalid selector: '{text}'; can't understand '{term}'"))?;
        let value = unescape(value)?;
        // Nothing compared with nothing selects everything (`hasTerm.Transform`).
        if path.is_empty() && value.is_empty() {
            continue;
        }
        requirements.push(FieldRequirement {
            path: path.to_owned(),
            value,
            equal,
        });
    }
    Ok(requirements)
}

fn split_unescaped(text: &str) -> Vec<&str> {
    let (mut terms, mut start, mut escaped) = (Vec::new(), 0, false);
    for (i, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                terms.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    terms.push(&text[start..]);
    terms
}

fn unescape(value: &str) -> Result<String, String> {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(next @ ('\\' | ',' | '=')) => out.push(next),
                Some(next) => {
                    return Err(format!(
                        "invalid field selector: invalid escape sequence: \\{next}"
                    ));
                }
                None => {
                    return Err("invalid field selector: invalid escape sequence: \\".to_owned());
                }
            },
            ',' | '=' => {
                return Err(format!(
                    "invalid field selector: unescaped character in value: {}",
                    c as u32
                ));
            }
            other => out.push(other),
        }
    }
    Ok(out)
}

/// The test of an operator with values (`NewRequirement`).
fn label_test(operator: &str, key: &str, mut values: Vec<String>) -> Result<LabelTest, String> {
    values.sort_unstable();
    values.dedup();
    let compares = matches!(operator, ">" | "gt" | "<" | "lt");
    let bound = values.first().and_then(|value| value.parse().ok());
    let mut errors = Vec::new();
    if compares && bound.is_none() {
        let shown = go::quote(values.first().map_or("", String::as_str));
        errors.push(format!(
            "values[0]: Invalid value: {shown}: for 'Gt', 'Lt' operators, the value must be an integer"
        ));
    }
    for (i, value) in values.iter().enumerate() {
        if let wrong @ [_, ..] = names::label_value(value).as_slice() {
            let (shown, wrong) = (go::quote(value), wrong.join("; "));
            errors.push(format!(
                "values[{i}][{key}]: Invalid value: {shown}: {wrong}"
            ));
        }
    }
    match errors.as_slice() {
        [] => {}
        [error] => return Err(error.clone()),
        errors => return Err(format!("[{}]", errors.join(", "))),
    }
    let bound = bound.unwrap_or_default();
    Ok(match operator {
        ">" | "gt" => LabelTest::Above(bound),
        "<" | "lt" => LabelTest::Below(bound),
        "notin" | "!=" => LabelTest::NotIn(values),
        _ => LabelTest::In(values),
    })
}

struct LabelParser {
    tokens: Vec<String>,
    next: usize,
}

impl LabelParser {
    fn parse(text: &str) -> Result<Vec<LabelRequirement>, String> {
        let mut parser = Self {
            tokens: tokens(text),
            next: 0,
        };
        let mut requirements = Vec::new();
        loop {
            match parser.peek() {
                "" => return Ok(requirements),
                token if is_word(token) || token == "!" => {
                    let requirement = parser
                        .requirement()
                        .map_err(|error| format!("unable to parse requirement: {error}"))?;
                    requirements.push(requirement);
                    match parser.next_token().as_str() {
                        "" => return Ok(requirements),
                        "," => {
                            let after = parser.peek();
                            if !is_word(after) && after != "!" {
                                return Err(format!(
                                    "found '{after}', expected: identifier after ','"
                                ));
                            }
                        }
                        other => {
                            return Err(format!(
                                "found '{other}', expected: ',' or 'end of string'"
                            ));
                        }
                    }
                }
                token => {
                    return Err(format!(
                        "found '{token}', expected: !, identifier, or 'end of string'"
                    ));
                }
            }
        }
    }

    fn requirement(&mut self) -> Result<LabelRequirement, String> {
        let mut token = self.next_token();
        let negated = token == "!";
        if negated {
            token = self.next_token();
        }
        if !is_word(&token) {
            return Err(format!("found '{token}', expected: identifier"));
        }
        let key = token;
        // `parseKeyAndInferOperator` gives the key no path.
        if let wrong @ [_, ..] = names::qualified(&key).as_slice() {
            let shown = go::quote(&key);
            return Err(format!(
                "<nil>: Invalid value: {shown}: {}",
                wrong.join("; ")
            ));
        }
        if negated {
            let test = LabelTest::Absent;
            return Ok(LabelRequirement { key, test });
        }
        if matches!(self.peek(), "" | ",") {
            let test = LabelTest::Exists;
            return Ok(LabelRequirement { key, test });
        }
        let operator = self.next_token();
        let values = match operator.as_str() {
            "in" | "notin" => self.values()?,
            "=" | "==" | "!=" | ">" | "gt" | "<" | "lt" => vec![self.value()?],
            other => {
                return Err(format!(
                    "found '{other}', expected: in, notin, =, ==, !=, gt, lt"
                ));
            }
        };
        let test = label_test(&operator, &key, values)?;
        Ok(LabelRequirement { key, test })
    }

    fn value(&mut self) -> Result<String, String> {
        match self.peek() {
            "" | "," => Ok(String::new()),
            token if is_word(token) => Ok(self.next_token()),
            token => Err(format!("found '{token}', expected: identifier")),
        }
    }

    fn values(&mut self) -> Result<Vec<String>, String> {
        let open = self.next_token();
        if open != "(" {
            return Err(format!("found '{open}' expected: '('"));
        }
        match self.peek() {
            ")" => {
                self.next_token();
                return Ok(vec![String::new()]);
            }
            token if is_word(token) || token == "," => {}
            token => return Err(format!("found '{token}', expected: ',', ')' or identifier")),
        }
        // `parseIdentifiersList`
        let mut values = Vec::new();
        loop {
            match self.next_token().as_str() {
                "," => {
                    if values.is_empty() || matches!(self.peek(), "," | ")") {
                        values.push(String::new());
                    }
                    if self.peek() == ")" {
                        break;
                    }
                }
                token if is_word(token) => {
                    values.push(token.to_owned());
                    match self.peek() {
                        "," => {}
                        ")" => break,
                        token => return Err(format!("found '{token}', expected: ',' or ')'")),
                    }
                }
                token => return Err(format!("found '{token}', expected: ',', or identifier")),
            }
        }
        self.next_token();
        Ok(values)
    }

    fn peek(&self) -> &str {
        self.tokens.get(self.next).map_or("", String::as_str)
    }

    fn next_token(&mut self) -> String {
        let token = self.peek().to_owned();
        self.next += 1;
        token
    }
}

const SYMBOLS: &str = "=!(),<>";

fn is_word(token: &str) -> bool {
    !token.is_empty() && !token.starts_with(|c| SYMBOLS.contains(c))
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(&c) = chars.peek() {
        let mut token = String::new();
        if c.is_whitespace() {
            chars.next();
            continue;
        } else if SYMBOLS.contains(c) {
            token.extend(chars.next());
            let pair = matches!((c, chars.peek()), ('=' | '!', Some('=')));
            if pair {
                token.extend(chars.next());
            }
        } else {
            while let Some(&c) = chars.peek()
                && !SYMBOLS.contains(c)
                && !c.is_whitespace()
            {
                token.extend(chars.next());
            }
        }
        tokens.push(token);
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Resources;
    use serde_json::json;

    fn select(labels: &str, fields: &str, object: &Value) -> Result<bool, String> {
        let resources = Resources::builtin();
        let resource = resources.by_kind("v1", "ConfigMap").unwrap();
        Selector::parse(labels, fields)
            .and_then(|selector| selector.check_fields(resource).map(|()| selector))
            .map(|selector| selector.matches(object))
            .map_err(|refusal| refusal.message)
    }

    #[test]
    fn labels_are_selected_by_equality_membership_presence_and_number() {
        let object = json!({"metadata": {"name": "a", "labels": {"app": "web", "n": "5"}}});
        for (selector, selected) in [
            ("", true),
            ("app", true),
            ("!app", false),
            ("app=web,n", true),
            ("app==api", false),
            ("app != api", true),
            ("app in (api, web)", true),
            ("app notin (web)", false),
            ("other notin (web)", true),
            ("n>4", true),
            ("n<5", false),
        ] {
            assert_eq!(select(selector, "", &object), Ok(selected), "{selector}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_named_as_the_server_names_it() {
        for (selector, error) in [
            (
                "==",
                "found '==', expected: !, identifier, or 'end of string'",
            ),
            (
                "a in",
                "unable to parse requirement: found '' expected: '('",
            ),
        ] {
            assert_eq!(select(selector, "", &json!({})), Err(error.to_owned()));
        }
        assert_eq!(
            select("", "data.a=1", &json!({})).unwrap_err(),
            "\"data.a\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
        );
        assert_eq!(
            select("", "metadata.name=a=b", &json!({})).unwrap_err(),
            "invalid field selector: unescaped character in value: 61"
        );
    }

    #[test]
    fn a_field_selects_by_its_text() {
        let object = json!({"metadata": {"name": "a"}});
        assert_eq!(select("", "metadata.name=a", &object), Ok(true));
        assert_eq!(select("", "metadata.name!=a", &object), Ok(false));
    }
}
