//! Templates: values of the current run in a recorded request.
//!
//! - `{ns}` in a string is the namespace of the run.
//! - `${step[N].response.a.b[0]["c/d"]}` in a string is the text of a value of an earlier answer.
//! - `{"$ref": "step[N].response.a"}` is a copy of such a value, with `$unset`, `$set` and `$add`
//!   applied in this order.
//! - `{"$repeat": x, "$times": n}` is a long string or list.
//! - `{"$raw": text}` as a whole body is sent as it is instead of as JSON.

use std::fmt;

use super::tree::Tree;

/// The error of a template.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateError(String);

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TemplateError {}

fn error<T>(text: impl Into<String>) -> Result<T, TemplateError> {
    Err(TemplateError(text.into()))
}

/// A version that was made by adding to another: the normalizer names it after its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// The value that was sent.
    pub value: String,
    /// The version it was made from.
    pub base: String,
    /// The number that was added.
    pub offset: i64,
}

/// The run so far, to which templates can refer.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The namespace of the run.
    pub namespace: String,
    /// One object per step so far, with the member `response` or `events`.
    pub answers: Vec<Tree>,
    /// The versions made by `$add`.
    pub derived: Vec<Derived>,
}

impl Context {
    /// Fills in every template below a value.
    pub fn resolve(&mut self, template: &Tree) -> Result<Tree, TemplateError> {
        match template {
            Tree::Text(text) => self.text(text).map(Tree::Text),
            Tree::List(items) => items
                .iter()
                .map(|item| self.resolve(item))
                .collect::<Result<_, _>>()
                .map(Tree::List),
            Tree::Object(members) => {
                if let Some(reference) = template.get("$ref") {
                    self.reference(reference, template)
                } else if let Some(part) = template.get("$repeat") {
                    repeat(part, template.get("$times"))
                } else if let Some(raw) = template.get("$raw") {
                    self.resolve(raw)
                } else {
                    members
                        .iter()
                        .map(|(name, value)| Ok((name.clone(), self.resolve(value)?)))
                        .collect::<Result<_, _>>()
                        .map(Tree::Object)
                }
            }
            other => Ok(other.clone()),
        }
    }

    /// Fills in the templates of a string.
    pub fn text(&self, template: &str) -> Result<String, TemplateError> {
        let template = template.replace("{ns}", &self.namespace);
        let mut out = String::new();
        let mut rest = template.as_str();
        while let Some(start) = rest.find("${") {
            let Some(length) = rest[start + 2..].find('}').filter(|length| *length > 0) else {
                break;
            };
            out.push_str(&rest[..start]);
            out.push_str(&plain(self.lookup(&rest[start + 2..start + 2 + length])?));
            rest = &rest[start + 2 + length + 1..];
        }
        out.push_str(rest);
        Ok(out)
    }

    /// The bytes of a body: JSON, or the text itself where the template says `$raw`.
    pub fn body(&mut self, template: &Tree) -> Result<String, TemplateError> {
        let body = self.resolve(template)?;
        Ok(match &body {
            Tree::Text(text) if template.has("$raw") => text.clone(),
            _ => body.to_string(),
        })
    }

    fn reference(&mut self, reference: &Tree, template: &Tree) -> Result<Tree, TemplateError> {
        let Some(reference) = reference.as_text() else {
            return error("$ref is not a string");
        };
        let mut value = self.lookup(reference)?.clone();
        if let Some(Tree::List(pointers)) = template.get("$unset") {
            for pointer in pointers {
                unset(&mut value, pointer.as_text().unwrap_or_default());
            }
        }
        if let Some(Tree::Object(changes)) = template.get("$set") {
            for (pointer, change) in changes {
                let change = self.resolve(change)?;
                set(&mut value, pointer, change)?;
            }
        }
        if let Some(Tree::Number(offset)) = template.get("$add") {
            let offset = offset.as_i64().unwrap_or_default();
            let base = plain(&value);
            // A version that is no number here is one of a recorded answer, replayed onto itself.
            let sum = match base.parse::<i128>() {
                Ok(number) => (number + i128::from(offset)).to_string(),
                Err(_) => format!("{base}{offset:+}"),
            };
            if !self.derived.iter().any(|d| d.value == sum) {
                self.derived.push(Derived {
                    value: sum.clone(),
                    base,
                    offset,
                });
            }
            value = Tree::Text(sum);
        }
        Ok(value)
    }

    /// `step[3].response.metadata.labels.app`, `step[3].response.items[0]`, `...["a.b/c"]`
    fn lookup(&self, reference: &str) -> Result<&Tree, TemplateError> {
        let mut parts = path_of(reference)?.into_iter();
        let step = match (parts.next(), parts.next()) {
            (Some(Part::Name("step")), Some(Part::Index(step))) => step,
            _ => return error(format!("a reference must start with step[N]: {reference}")),
        };
        let Some(mut value) = self.answers.get(step) else {
            return error(format!("{reference}: step {step} has not run yet"));
        };
        for part in parts {
            let next = match (part, value) {
                (Part::Index(index), Tree::List(items)) => items.get(index),
                (Part::Name(name), value) => value.get(name),
                _ => None,
            };
            let Some(next) = next else {
                return error(format!("{reference}: the answer has no such value"));
            };
            value = next;
        }
        Ok(value)
    }
}

#[derive(Debug)]
enum Part<'a> {
    Name(&'a str),
    Index(usize),
}

fn path_of(reference: &str) -> Result<Vec<Part<'_>>, TemplateError> {
    let malformed = || TemplateError(format!("malformed reference: {reference}"));
    let mut parts = Vec::new();
    let mut rest = reference;
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix("[\"") {
            let end = quoted.find("\"]").ok_or_else(malformed)?;
            parts.push(Part::Name(&quoted[..end]));
            rest = &quoted[end + 2..];
        } else if let Some(index) = rest.strip_prefix('[') {
            let end = index.find(']').ok_or_else(malformed)?;
            parts.push(Part::Index(index[..end].parse().map_err(|_| malformed())?));
            rest = &index[end + 1..];
        } else {
            let name = rest.strip_prefix('.').unwrap_or(rest);
            let end = name
                .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '-')))
                .unwrap_or(name.len());
            if end == 0 {
                return Err(malformed());
            }
            parts.push(Part::Name(&name[..end]));
            rest = &name[end..];
        }
    }
    Ok(parts)
}

/// A value as a part of a string.
fn plain(value: &Tree) -> String {
    match value {
        Tree::Text(text) => text.clone(),
        other => other.to_string(),
    }
}

fn repeat(part: &Tree, times: Option<&Tree>) -> Result<Tree, TemplateError> {
    let times = match times {
        Some(Tree::Number(times)) => times.as_u64().and_then(|times| usize::try_from(times).ok()),
        _ => None,
    };
    let Some(times) = times else {
        return error("$repeat needs $times, a whole number");
    };
    Ok(match part {
        Tree::Text(text) => Tree::Text(text.repeat(times)),
        other => Tree::List(vec![other.clone(); times]),
    })
}

fn pointer_parts(pointer: &str) -> Vec<String> {
    pointer
        .split('/')
        .skip(1)
        .map(|part| part.replace("~1", "/").replace("~0", "~"))
        .collect()
}

fn child<'a>(value: &'a mut Tree, part: &str) -> Option<&'a mut Tree> {
    match value {
        Tree::List(items) => items.get_mut(part.parse::<usize>().ok()?),
        Tree::Object(members) => members
            .iter_mut()
            .find(|(name, _)| name == part)
            .map(|(_, v)| v),
        _ => None,
    }
}

fn set(value: &mut Tree, pointer: &str, new: Tree) -> Result<(), TemplateError> {
    let parts = pointer_parts(pointer);
    let Some((last, parents)) = parts.split_last() else {
        *value = new;
        return Ok(());
    };
    let mut at = value;
    for part in parents {
        if matches!(at, Tree::Object(_)) && !at.has(part) {
            at.insert(part, Tree::Object(Vec::new()));
        }
        at = child(at, part)
            .ok_or_else(|| TemplateError(format!("$set {pointer}: there is no {part}")))?;
    }
    match at {
        Tree::Object(_) => at.insert(last, new),
        Tree::List(items) if last == "-" => items.push(new),
        _ => {
            *child(at, last)
                .ok_or_else(|| TemplateError(format!("$set {pointer}: there is no {last}")))? = new
        }
    }
    Ok(())
}

fn unset(value: &mut Tree, pointer: &str) {
    let parts = pointer_parts(pointer);
    let Some((last, parents)) = parts.split_last() else {
        return;
    };
    let mut at = value;
    for part in parents {
        match child(at, part) {
            Some(next) => at = next,
            None => return,
        }
    }
    match at {
        Tree::Object(members) => members.retain(|(name, _)| name != last),
        Tree::List(items) => {
            if let Some(index) = last
                .parse::<usize>()
                .ok()
                .filter(|index| *index < items.len())
            {
                items.remove(index);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Tree {
        serde_json::from_str(text).unwrap()
    }

    fn context() -> Context {
        let answer = r#"{"response":{"metadata":{"resourceVersion":"1007","labels":{"a.b/c":"x"}},"n":3,"l":[{"p":1},{"p":2}]}}"#;
        Context {
            namespace: "ns-1".into(),
            answers: vec![tree(answer)],
            derived: vec![],
        }
    }

    fn resolved(template: &str) -> String {
        context().resolve(&tree(template)).unwrap().to_string()
    }

    #[test]
    fn strings_take_the_namespace_and_values_of_earlier_answers() {
        let text = context()
            .text(r#"/{ns}/${step[0].response.metadata.labels["a.b/c"]}/${step[0].response.l[1].p}?{i}"#)
            .unwrap();
        assert_eq!(text, "/ns-1/x/2?{i}");
    }

    #[test]
    fn a_reference_is_a_copy_that_is_unset_then_set() {
        assert_eq!(
            resolved(
                r#"{"$ref":"step[0].response","$unset":["/metadata/resourceVersion","/l/0","/not/there"],
                   "$set":{"/metadata/labels/a.b~1c":"{ns}","/spec/new":1,"/l/-":4}}"#
            ),
            r#"{"metadata": {"labels": {"a.b/c": "ns-1"}}, "n": 3, "l": [{"p": 2}, 4], "spec": {"new": 1}}"#
        );
    }

    #[test]
    fn a_version_from_the_future_remembers_its_origin() {
        let mut context = context();
        let version = context
            .resolve(&tree(
                r#"{"$ref":"step[0].response.metadata.resourceVersion","$add":5}"#,
            ))
            .unwrap();
        assert_eq!(version, Tree::Text("1012".into()));
        assert_eq!(
            context.derived,
            [Derived {
                value: "1012".into(),
                base: "1007".into(),
                offset: 5
            }]
        );
    }

    #[test]
    fn repeat_makes_long_strings_and_lists() {
        assert_eq!(resolved(r#"{"$repeat":"ab","$times":3}"#), r#""ababab""#);
        assert_eq!(
            resolved(r#"{"$repeat":{"x":1},"$times":2}"#),
            r#"[{"x": 1}, {"x": 1}]"#
        );
    }

    #[test]
    fn a_raw_body_is_sent_as_it_is() {
        assert_eq!(
            context().body(&tree(r#"{"$raw":"{not {ns}"}"#)).unwrap(),
            "{not ns-1"
        );
        assert_eq!(context().body(&tree(r#""text""#)).unwrap(), r#""text""#);
    }

    #[test]
    fn a_value_that_is_not_there_is_an_error_that_names_the_reference() {
        let error = context()
            .text("${step[0].response.metadata.uid}")
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "step[0].response.metadata.uid: the answer has no such value"
        );
        assert!(context().text("${step[4].response}").is_err());
        assert!(context().text("${step[x]}").is_err());
    }

    #[test]
    fn other_members_with_a_dollar_are_content() {
        let template = r#"{"$patch": "replace", "$setElementOrder/finalizers": []}"#;
        assert_eq!(resolved(template), template);
    }
}
