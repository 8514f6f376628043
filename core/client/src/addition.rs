//! Reads what people type to add to a map or list, by the type of the place.

use optimist_apiserver::pointer;
use optimist_apiserver::schema::{Struct, Type};
use serde_json::{Value, json};

use super::edit::{EditError, add_at, remove_at};

/// A notation, apart from YAML, in which people can type an item of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemNotation {
    /// `NAME=value`, as `kubectl set env` takes it: the items have a name and a value.
    NameAndValue,
}

/// An object with an addition.
#[derive(Clone, Debug, PartialEq)]
pub struct Addition {
    /// The object.
    pub object: Value,
    /// The path of the addition, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// `true` if it is an empty map or list, to add to next.
    pub is_empty: bool,
}

/// The type of the value at a JSON pointer.
fn type_at(root: &Struct, at: &str) -> Option<Type> {
    let mut ty: Option<Type> = None;
    for part in at.split('/').skip(1) {
        let name = pointer::unescape(part);
        let member = match &ty {
            None => root.member(&name),
            Some(Type::Struct(inner)) => inner.member(&name),
            Some(Type::Map(inner)) => Some(&inner.value),
            Some(Type::List(inner)) => Some(&inner.item),
            Some(Type::Scalar(_) | Type::Any | Type::Definition(_)) => None,
        };
        ty = Some(member?.clone());
    }
    ty
}

/// Returns the notation, apart from YAML, for an item of the list at a JSON pointer.
pub fn item_notation(root: &Struct, at: &str) -> Option<ItemNotation> {
    let Some(Type::List(list)) = type_at(root, at) else {
        return None;
    };
    let Type::Struct(item) = &list.item else {
        return None;
    };
    let is_scalar = |name| matches!(item.member(name), Some(Type::Scalar(_)));
    (is_scalar("name") && is_scalar("value")).then_some(ItemNotation::NameAndValue)
}

/// `NAME=value`. A name has no space, no quote and no colon: with them the text is YAML.
fn name_and_value(typed: &str) -> Option<(&str, &str)> {
    let (name, value) = typed.trim().split_once('=')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    (!name.is_empty() && name.chars().all(is_name)).then_some((name, value))
}

/// Adds what was typed to the map or list at a JSON pointer: YAML as in [`add_at`]; `NAME=value`
/// for an item with a name and a value; the name of a field alone, or with a colon, where the field
/// is a map or list, to go on in it.
///
/// # Errors
/// If the path does not exist, or the text does not fit it.
pub fn add_typed(
    object: &Value,
    root: &Struct,
    at: &str,
    typed: &str,
) -> Result<Addition, EditError> {
    if item_notation(root, at).is_some()
        && let Some((name, value)) = name_and_value(typed)
    {
        let item = json!({"name": name, "value": value});
        return added(object, at, &item.to_string());
    }
    let name = typed.trim();
    let name = name.strip_suffix(':').unwrap_or(name).trim_end();
    let new = object.pointer(at).is_some_and(|place| {
        let members = place.as_object();
        members.is_some_and(|members| !members.contains_key(name))
    });
    let inner = format!("{at}/{}", pointer::escape(name));
    let empty = match type_at(root, &inner).filter(|_| new) {
        Some(Type::List(_)) => Some(json!([])),
        Some(Type::Struct(_) | Type::Map(_)) => Some(json!({})),
        _ => None,
    };
    match empty {
        Some(empty) => Ok(Addition {
            is_empty: true,
            ..added(object, at, &json!({name: empty}).to_string())?
        }),
        None => added(object, at, typed),
    }
}

fn added(object: &Value, at: &str, typed: &str) -> Result<Addition, EditError> {
    let (object, pointer) = add_at(object, at, typed)?;
    Ok(Addition {
        object,
        pointer,
        is_empty: false,
    })
}

/// The object without the empty map or list at a JSON pointer that was added to go on in it: one
/// that the object did not have when it was read. `None` if there is none.
pub fn without_empty(edited: &Value, read: &Value, at: &str) -> Option<Value> {
    let is_empty = match edited.pointer(at)? {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    if !is_empty || read.pointer(at).is_some() {
        return None;
    }
    remove_at(edited, at).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use optimist_apiserver::schema::builtin;

    const CONTAINER: &str = "/spec/template/spec/containers/0";

    fn deployment() -> Value {
        json!({"kind": "Deployment", "metadata": {"name": "web"}, "spec": {"template": {"spec":
            {"containers": [{"name": "nginx", "image": "nginx:1.14.2"}]}}}})
    }

    fn add(object: &Value, at: &str, typed: &str) -> Addition {
        add_typed(object, builtin("Deployment").unwrap(), at, typed).unwrap()
    }

    #[test]
    fn a_variable_is_added_by_its_name_and_value() {
        let opened = add(&deployment(), CONTAINER, "env");
        let env = format!("{CONTAINER}/env");
        assert_eq!((&opened.pointer, opened.is_empty), (&env, true));
        let first = add(&opened.object, &env, "LOG_LEVEL=debug");
        let second = add(&first.object, &env, "URL=http://a/?b=c");
        assert_eq!(
            second.object.pointer(&env),
            Some(&json!([
                {"name": "LOG_LEVEL", "value": "debug"},
                {"name": "URL", "value": "http://a/?b=c"}
            ]))
        );
        assert_eq!(second.pointer, format!("{env}/1"));
        // A value stays text, as the API wants it, and YAML still goes.
        let number = add(&opened.object, &env, "PORT=80");
        assert_eq!(
            number.object.pointer(&format!("{env}/0/value")),
            Some(&json!("80"))
        );
        let yaml = add(&opened.object, &env, "{name: A, value: b=c}");
        assert_eq!(
            yaml.object.pointer(&format!("{env}/0/value")),
            Some(&json!("b=c"))
        );
    }

    #[test]
    fn only_lists_of_names_and_values_are_typed_so() {
        let root = builtin("Deployment").unwrap();
        let notation = |at: &str| item_notation(root, &format!("{CONTAINER}/{at}"));
        assert_eq!(notation("env"), Some(ItemNotation::NameAndValue));
        assert_eq!(notation("ports"), None);
        assert_eq!(notation("args"), None);
        let args = json!({"spec": {"template": {"spec": {"containers": [{"args": []}]}}}});
        let added = add(&args, &format!("{CONTAINER}/args"), "--level=debug");
        assert_eq!(
            added.object.pointer(&format!("{CONTAINER}/args/0")),
            Some(&json!("--level=debug"))
        );
    }

    #[test]
    fn the_name_of_a_map_opens_it_and_other_names_need_a_value() {
        let labels = add(&deployment(), "/metadata", "labels:");
        assert!(labels.is_empty);
        let label = add(&labels.object, "/metadata/labels", "app: web");
        assert_eq!(label.object["metadata"]["labels"], json!({"app": "web"}));
        let root = builtin("Deployment").unwrap();
        for typed in ["replicas", "nonsense"] {
            let error = add_typed(&deployment(), root, "/spec", typed).unwrap_err();
            assert_eq!(error.to_string(), "type it as “key: value”");
        }
    }

    #[test]
    fn what_was_opened_and_stays_empty_goes_again() {
        let read = deployment();
        let opened = add(&read, CONTAINER, "env");
        let env = format!("{CONTAINER}/env");
        assert_eq!(
            without_empty(&opened.object, &read, &env),
            Some(read.clone())
        );
        let full = add(&opened.object, &env, "A=b");
        assert_eq!(without_empty(&full.object, &read, &env), None);
        assert_eq!(without_empty(&opened.object, &opened.object, &env), None);
    }
}
