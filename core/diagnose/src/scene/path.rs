//! Paths of fields as messages print them, read back.

use optimist_apiserver::apply::{Path, PathElement};
use optimist_apiserver::schema::{Struct, Type};
use serde_json::Value;

/// The type to which a path has led.
#[derive(Clone, Copy)]
pub(super) enum At<'a> {
    Struct(&'a Struct),
    Type(&'a Type),
    /// Without a schema.
    Open,
}

/// The path that is printed so. Messages do not quote the keys of maps, so a dot in a key looks like
/// the beginning of the next field: the type of the object decides. Without a type each dot begins a
/// field. `None` if the type does not have the field.
pub(crate) fn parse(text: &str, root: Option<&Struct>) -> Option<Path> {
    let mut at = root.map_or(At::Open, At::Struct);
    let mut path = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (element, behind) = match rest.strip_prefix('.') {
            Some(rest) => field(rest, at)?,
            None => item(rest)?,
        };
        at = next(at, &element)?;
        path.push(element);
        rest = behind;
    }
    (!path.is_empty()).then_some(Path(path))
}

/// The type behind an element.
pub(super) fn next<'a>(at: At<'a>, element: &PathElement) -> Option<At<'a>> {
    let ty = match (at, element) {
        (At::Open, _) | (At::Type(Type::Any | Type::Definition(_)), _) => return Some(At::Open),
        (At::Struct(inner), PathElement::Field(name)) => inner.member(name)?,
        (At::Type(Type::Struct(inner)), PathElement::Field(name)) => inner.member(name)?,
        (At::Type(Type::Map(inner)), PathElement::Field(_)) => &inner.value,
        (At::Type(Type::List(inner)), element) if !matches!(element, PathElement::Field(_)) => {
            &inner.item
        }
        _ => return None,
    };
    Some(At::Type(ty))
}

fn field<'a>(rest: &'a str, at: At<'_>) -> Option<(PathElement, &'a str)> {
    let to_next = || rest.find(['.', '[']).unwrap_or(rest.len());
    let end = match at {
        At::Struct(inner) => declared(rest, inner).unwrap_or_else(to_next),
        At::Type(Type::Struct(inner)) => declared(rest, inner).unwrap_or_else(to_next),
        // What is left is the key, if nothing can be below it.
        At::Type(Type::Map(inner)) => match &inner.value {
            Type::Scalar(_) => rest.len(),
            Type::Struct(inner) if inner.atomic => rest.len(),
            _ => to_next(),
        },
        _ => to_next(),
    };
    let (name, behind) = rest.split_at(end);
    (!name.is_empty()).then(|| (PathElement::Field(name.to_owned()), behind))
}

/// The end of the longest declared name that the text begins with.
fn declared(rest: &str, inner: &Struct) -> Option<usize> {
    let ends = |name: &str| {
        let behind = rest.strip_prefix(name)?;
        (behind.is_empty() || behind.starts_with(['.', '['])).then_some(name.len())
    };
    inner
        .fields
        .iter()
        .filter_map(|field| ends(&field.name))
        .max()
}

/// `[name="app"]`, `[containerPort=80,protocol="TCP"]`, `[="q"]`, `[3]`.
fn item(rest: &str) -> Option<(PathElement, &str)> {
    let mut inner = rest.strip_prefix('[')?;
    let mut keys: Vec<(String, Value)> = Vec::new();
    loop {
        let (name, text) = match inner.split_once(['=', ']']) {
            Some((name, _)) if inner[name.len()..].starts_with('=') => {
                (name, &inner[name.len() + 1..])
            }
            Some((index, behind)) => {
                return Some((PathElement::Index(index.parse().ok()?), behind));
            }
            None => return None,
        };
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        let value = values.next()?.ok()?;
        let behind = &text[values.byte_offset()..];
        if name.is_empty() {
            return Some((PathElement::Value(value), behind.strip_prefix(']')?));
        }
        keys.push((name.to_owned(), value));
        match behind.strip_prefix(',') {
            Some(more) => inner = more,
            None => {
                keys.sort_by(|a, b| a.0.cmp(&b.0));
                return Some((PathElement::Key(keys), behind.strip_prefix(']')?));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use optimist_apiserver::schema::builtin;

    #[test]
    fn a_path_is_printed_again_as_it_was_read() {
        for (kind, text, elements) in [
            ("Deployment", ".spec.replicas", 2),
            ("Deployment", ".metadata.annotations.an.example.com/one", 3),
            ("ConfigMap", ".data..dockerconfigjson", 2),
            ("ConfigMap", ".data.ca-bundle.pem", 2),
            (
                "Service",
                ".spec.ports[port=80,protocol=\"TCP\"].targetPort",
                4,
            ),
            (
                "Deployment",
                ".spec.template.spec.containers[name=\"a.b]\"].env[name=\"A\"].value",
                8,
            ),
            ("Deployment", ".metadata.finalizers[=\"a/b\"]", 3),
        ] {
            let path = parse(text, builtin(kind).map(|root| &**root)).expect(text);
            assert_eq!(path.to_string(), text);
            assert_eq!(path.0.len(), elements, "{text}");
        }
        let root = builtin("Deployment").map(|root| &**root);
        for text in [
            "",
            ".",
            ".spec.bogus",
            ".spec[",
            ".spec.replicas.x",
            ".a[=",
            ".a[b=]",
        ] {
            assert_eq!(parse(text, root), None, "{text}");
        }
        assert_eq!(parse(".a.b[k=1].c", None).expect("it is open").0.len(), 4);
    }
}
