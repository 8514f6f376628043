//! Texts with placeholders, and objects that have such texts.

use optimist_apiserver::pointer::escape;
use optimist_controller::program::Expression;
use serde_json::Value;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// These letters.
    Letters(&'a str),
    /// `{name}`: the name of the key.
    Name,
    /// `{namespace}`: the namespace of the key.
    Namespace,
    /// `{parent/metadata/uid}`: a variable, and the field of its object as a JSON pointer.
    Field(&'a str, &'a str),
}

/// The parts of a text. A placeholder that stands for nothing is left out, as a run does.
pub(super) fn parts(template: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (before, after) = rest.split_at(open);
        letters(&mut parts, before);
        let Some(close) = after.find('}') else {
            letters(&mut parts, "{");
            rest = &after[1..];
            continue;
        };
        match &after[1..close] {
            "name" => parts.push(Part::Name),
            "namespace" => parts.push(Part::Namespace),
            other => {
                if let Some(slash) = other.find('/') {
                    let (variable, field) = other.split_at(slash);
                    parts.push(Part::Field(variable, field));
                }
            }
        }
        rest = &after[close + 1..];
    }
    letters(&mut parts, rest);
    parts
}

fn letters<'a>(parts: &mut Vec<Part<'a>>, text: &'a str) {
    if !text.is_empty() {
        parts.push(Part::Letters(text));
    }
}

/// The members and indices of a JSON pointer.
pub(super) fn path(pointer: &str) -> Vec<String> {
    let parts = pointer.split('/').skip(1);
    parts.map(optimist_apiserver::pointer::unescape).collect()
}

/// The fields of a new object that are no metadata, each as a JSON pointer with its value. A map with
/// members is not a field of its own.
pub(super) fn new_fields(object: &Value) -> Vec<(String, Expression)> {
    let mut fields = Vec::new();
    add_fields(&mut fields, object, "");
    fields
}

fn add_fields(fields: &mut Vec<(String, Expression)>, template: &Value, at: &str) {
    for (key, value) in template.as_object().into_iter().flatten() {
        if at.is_empty() && ["apiVersion", "kind", "metadata"].contains(&key.as_str()) {
            continue;
        }
        let field = format!("{at}/{}", escape(key));
        match value {
            Value::Object(members) if !members.is_empty() => add_fields(fields, value, &field),
            Value::String(text) => fields.push((field, Expression::Text(text.clone()))),
            other => fields.push((field, Expression::Value(other.clone()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_its_placeholders() {
        assert_eq!(
            parts("a-{name}{x}-{p/metadata/uid}{"),
            [
                Part::Letters("a-"),
                Part::Name,
                Part::Letters("-"),
                Part::Field("p", "/metadata/uid"),
                Part::Letters("{"),
            ]
        );
    }
}
