//! Checks that a value is of its type (`typed/validate.go`).

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use super::{ItemKey, Shape, has_repeats};
use crate::go;
use crate::schema::{DefinitionPart, ListKind, ListType, Scalar, Struct, Type};

/// The place of a value, which is printed only if the value is wrong.
enum CheckedPlace<'a> {
    Root,
    Member(&'a CheckedPlace<'a>, &'a str),
    Item(&'a CheckedPlace<'a>, &'a ItemKey<'a>),
    Index(&'a CheckedPlace<'a>, usize),
}

impl fmt::Display for CheckedPlace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckedPlace::Root => Ok(()),
            CheckedPlace::Member(parent, name) => write!(f, "{parent}.{name}"),
            CheckedPlace::Item(parent, key) => write!(f, "{parent}{}", key.to_element()),
            CheckedPlace::Index(parent, i) => write!(f, "{parent}[{i}]"),
        }
    }
}

/// Checks a value against its type. Returns the errors, each with the field's path in front.
pub fn validate(value: &Value, root: &Struct, allow_duplicates: bool) -> Vec<String> {
    let mut errors = Vec::new();
    let shape = Shape::Struct(root);
    validate_members(
        value,
        shape,
        allow_duplicates,
        &CheckedPlace::Root,
        &mut errors,
    );
    errors
}

fn validate_value(
    value: &Value,
    ty: &Type,
    lax: bool,
    place: &CheckedPlace<'_>,
    errors: &mut Vec<String>,
) {
    if value.is_null() {
        return;
    }
    // An atomic value is validated below its top like any other.
    match ty {
        Type::Scalar(scalar) => {
            if let Some(message) = scalar_mismatch(*scalar, value) {
                errors.push(format!("{place}: {message}"));
            }
        }
        // A struct without fields is published as an object of which nothing is said.
        Type::Struct(inner) if inner.fields.is_empty() && inner.others.is_none() => {}
        Type::Struct(inner) => {
            validate_members(value, Shape::Struct(inner), lax, place, errors);
        }
        Type::Map(inner) => validate_members(value, Shape::Map(inner), lax, place, errors),
        Type::List(inner) => validate_items(value, inner, lax, place, errors),
        Type::Definition(DefinitionPart::Schema) => {
            let schema = Shape::Struct(DefinitionPart::schema());
            validate_members(value, schema, lax, place, errors);
        }
        Type::Any | Type::Definition(_) => {}
    }
}

fn validate_members(
    value: &Value,
    shape: Shape<'_>,
    lax: bool,
    place: &CheckedPlace<'_>,
    errors: &mut Vec<String>,
) {
    let Value::Object(map) = value else {
        errors.push(format!("{place}: expected map, got {}", held(value)));
        return;
    };
    // The server stops at the first unknown key. Its map has no order, but a small one is mostly read as it was
    // made: sorted.
    for (key, value) in map {
        let Some(ty) = shape.member(key) else {
            errors.push(format!("{place}.{key}: field not declared in schema"));
            return;
        };
        validate_value(value, ty, lax, &CheckedPlace::Member(place, key), errors);
    }
}

fn validate_items(
    value: &Value,
    list: &ListType,
    lax: bool,
    place: &CheckedPlace<'_>,
    errors: &mut Vec<String>,
) {
    let Value::Array(items) = value else {
        errors.push(format!("{place}: expected list, got {}", held(value)));
        return;
    };
    if list.kind == ListKind::Atomic {
        for (i, item) in items.iter().enumerate() {
            validate_value(
                item,
                &list.item,
                lax,
                &CheckedPlace::Index(place, i),
                errors,
            );
        }
        return;
    }
    let key = |(i, item)| ItemKey::from_item(list, item).map_err(|message| (i, message));
    let keys = items.iter().enumerate().map(key);
    let mut mistake = None;
    let keys: Vec<ItemKey<'_>> = keys
        .map_while(|key| key.map_err(|error| mistake = Some(error)).ok())
        .collect();
    let reports_repeats = !lax && has_repeats(keys.iter());
    let mut seen = BTreeSet::new();
    for (key, item) in keys.iter().zip(items) {
        if reports_repeats && !seen.insert(key) {
            let element = key.to_element();
            errors.push(format!("{place}: duplicate entries for key {element}"));
        }
        validate_value(
            item,
            &list.item,
            lax,
            &CheckedPlace::Item(place, key),
            errors,
        );
    }
    if let Some((i, message)) = mistake {
        errors.push(format!("{place}: element {i}: {message}"));
    }
}

fn scalar_mismatch(scalar: Scalar, value: &Value) -> Option<String> {
    match scalar {
        Scalar::Int32 | Scalar::Int64 | Scalar::Number => (!value.is_number()).then(|| {
            format!(
                "expected numeric (int or float), got {}",
                go::dynamic_type(value)
            )
        }),
        Scalar::String | Scalar::Bytes => (!value.is_string()).then(|| {
            let shown = match value {
                Value::Object(_) | Value::Array(_) => go_syntax(value),
                other => go::print(other),
            };
            format!("expected string, got &value.valueUnstructured{{Value:{shown}}}")
        }),
        Scalar::Bool => {
            (!value.is_boolean()).then(|| format!("expected boolean, got {}", held(value)))
        }
        // Texts that have a format are published as any scalar.
        // What its type does not say in a single word is not looked at.
        Scalar::IntOrString | Scalar::Raw => None,
        Scalar::Time | Scalar::MicroTime | Scalar::Quantity | Scalar::Untyped => {
            let compound = value.is_object() || value.is_array();
            compound.then(|| format!("expected any scalar, got {}", held(value)))
        }
    }
}

/// A decoded value behind a pointer as `%v` prints it.
fn held(value: &Value) -> String {
    format!("&{{{}}}", go::print(value))
}

/// A decoded value as `%#v` prints it.
fn go_syntax(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::String(text) => go::quote(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_syntax).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Object(map) => {
            let members: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{}:{}", go::quote(key), go_syntax(value)))
                .collect();
            format!("map[string]interface {{}}{{{}}}", members.join(", "))
        }
        other => go::print(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::sample::{object, root};
    use super::validate;

    #[test]
    fn what_is_not_of_its_type_is_named_with_its_path() {
        for (spec, expected) in [
            (json!({}), vec![]),
            (
                json!({"n": 1, "map": {"a": "b"}, "any": {"x": [1, {}]}}),
                vec![],
            ),
            (json!({"n": null, "items": null}), vec![]),
            (
                json!({"n": "1"}),
                vec![".spec.n: expected numeric (int or float), got string"],
            ),
            (
                json!({"s": {}, "set": 1}),
                vec![
                    ".spec.s: expected string, got &value.valueUnstructured{Value:map[string]interface {}{}}",
                    ".spec.set: expected list, got &{1}",
                ],
            ),
            (
                json!({"box": {"c": 1}}),
                vec![".spec.box.c: field not declared in schema"],
            ),
            (
                json!({"items": [{"v": 1}]}),
                vec![
                    ".spec.items: element 0: associative list with keys has an element that omits \
                     all key fields [\"k\"] (and doesn't have default values for any key fields)",
                ],
            ),
            (
                json!({"items": [{"k": "a", "v": "x"}]}),
                vec![".spec.items[k=\"a\"].v: expected numeric (int or float), got string"],
            ),
            (
                json!({"set": ["a", "b", "a"]}),
                vec![".spec.set: duplicate entries for key [=\"a\"]"],
            ),
        ] {
            assert_eq!(
                validate(&object(spec.clone()), &root(), false),
                expected,
                "{spec}"
            );
        }
    }

    #[test]
    fn items_that_are_there_twice_may_be_allowed() {
        let twice = object(json!({"set": ["a", "a"], "items": [{"k": "a"}, {"k": "a"}]}));
        assert_eq!(validate(&twice, &root(), false).len(), 2);
        assert!(validate(&twice, &root(), true).is_empty());
    }
}
