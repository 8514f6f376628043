//! Texts with placeholders.

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TemplatePart<'a> {
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
pub(super) fn parts(template: &str) -> Vec<TemplatePart<'_>> {
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
            "name" => parts.push(TemplatePart::Name),
            "namespace" => parts.push(TemplatePart::Namespace),
            other => {
                if let Some(slash) = other.find('/') {
                    let (variable, field) = other.split_at(slash);
                    parts.push(TemplatePart::Field(variable, field));
                }
            }
        }
        rest = &after[close + 1..];
    }
    letters(&mut parts, rest);
    parts
}

fn letters<'a>(parts: &mut Vec<TemplatePart<'a>>, text: &'a str) {
    if !text.is_empty() {
        parts.push(TemplatePart::Letters(text));
    }
}

/// The members and indices of a JSON pointer.
pub(super) fn path(pointer: &str) -> Vec<String> {
    let parts = pointer.split('/').skip(1);
    parts.map(optimist_apiserver::pointer::unescape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_its_placeholders() {
        assert_eq!(
            parts("a-{name}{x}-{p/metadata/uid}{"),
            [
                TemplatePart::Letters("a-"),
                TemplatePart::Name,
                TemplatePart::Letters("-"),
                TemplatePart::Field("p", "/metadata/uid"),
                TemplatePart::Letters("{"),
            ]
        );
    }
}
