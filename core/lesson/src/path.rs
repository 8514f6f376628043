//! Field paths in the syntax of lessons: `spec.replicas`,
//! `spec.template.spec.containers[name=nginx].image`, `metadata.annotations["example.com/note"]`.

use std::fmt;

use serde_json::{Map, Value};

use optimist_apiserver::apply::PathElement;
use optimist_apiserver::object::map_mut;
use optimist_apiserver::schema::{Scalar, Struct, Type};

/// A field path. It prints as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldPath {
    text: String,
    parts: Vec<PathPart>,
}

#[derive(Clone, Debug, PartialEq)]
enum PathPart {
    Field(String),
    /// The item at this position; the position after the last one is a new item.
    Index(usize),
    /// The item with this member.
    Item(String, String),
}

/// A part of a path that no object of a type can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnknownPart {
    /// The path that ends with it.
    pub path: String,
    /// The fields that are known in its place; empty where there can be none.
    pub known: Vec<String>,
}

impl FieldPath {
    /// Parses a path.
    ///
    /// # Errors
    /// The syntax error.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(inside) = rest.strip_prefix('[') {
                let (part, after) = selector(inside)?;
                parts.push(part);
                rest = after;
            } else {
                let name = rest.strip_prefix('.').unwrap_or(rest);
                let end = name.find(['.', '[']).unwrap_or(name.len());
                let (field, after) = name.split_at(end);
                if field.is_empty() {
                    return Err("a name is missing between two dots".to_owned());
                }
                parts.push(PathPart::Field(field.to_owned()));
                rest = after;
            }
        }
        if parts.is_empty() {
            return Err("the place is empty".to_owned());
        }
        Ok(Self {
            text: text.to_owned(),
            parts,
        })
    }

    /// The last name in it: `replicas`.
    pub fn field(&self) -> &str {
        let named = self.parts.iter().rev().find_map(|part| match part {
            PathPart::Field(name) => Some(name.as_str()),
            _ => None,
        });
        named.unwrap_or(&self.text)
    }

    /// The value at the path.
    pub fn find<'a>(&self, object: &'a Value) -> Option<&'a Value> {
        self.parts
            .iter()
            .try_fold(object, |value, part| match part {
                PathPart::Field(name) => value.get(name),
                PathPart::Index(i) => value.get(i),
                PathPart::Item(key, wanted) => value
                    .as_array()?
                    .iter()
                    .find(|item| is_item(item, key, wanted)),
            })
    }

    /// Returns the first part of the path that no object of a type can have. `None` if all can be there, or if the
    /// type does not say it.
    pub(super) fn unknown_in(&self, root: &Struct) -> Option<UnknownPart> {
        // The kinds whose fields are not known have none.
        let mut fields = Some(root).filter(|root| !root.fields.is_empty());
        let mut ty: Option<&Type> = None;
        for (position, part) in self.parts.iter().enumerate() {
            let next = match (part, fields, ty) {
                (PathPart::Field(name), Some(fields), _) => fields.member(name),
                (PathPart::Field(_), None, Some(Type::Map(map))) => Some(&map.value),
                (PathPart::Index(_) | PathPart::Item(..), None, Some(Type::List(list))) => {
                    Some(&list.item)
                }
                (_, None, None | Some(Type::Any | Type::Definition(_))) => return None,
                (_, None, Some(Type::Scalar(Scalar::Untyped | Scalar::Raw))) => return None,
                _ => None,
            };
            let Some(next) = next else {
                let names = fields.map(|fields| fields.fields.iter());
                let names = names.into_iter().flatten();
                return Some(UnknownPart {
                    path: written(&self.parts[..=position]),
                    known: names.map(|field| field.name.clone()).collect(),
                });
            };
            fields = match next {
                Type::Struct(fields) => Some(fields),
                _ => None,
            };
            ty = Some(next);
        }
        None
    }

    /// Returns whether the value at the path has `resourceVersion` or `generation` of the object.
    pub(super) fn is_versioned(&self) -> bool {
        let is = |at: usize, name: &str| matches!(self.parts.get(at), Some(PathPart::Field(field)) if field == name);
        let is_one = is(1, "resourceVersion") || is(1, "generation");
        is(0, "metadata") && (self.parts.len() == 1 || is_one)
    }

    /// Returns whether the value at the path is a generation of the object, or one that a controller has seen.
    pub(super) fn is_generation(&self) -> bool {
        self.field() == "observedGeneration"
            || (self.is_versioned() && self.field() == "generation")
    }

    /// The path as a JSON pointer (RFC 6901) into an object; `None` if an item on the path does not
    /// exist.
    pub(super) fn pointer(&self, object: &Value) -> Option<String> {
        let (mut value, mut pointer) = (object, String::new());
        for part in &self.parts {
            let name = match part {
                PathPart::Field(name) => optimist_apiserver::pointer::escape(name),
                PathPart::Index(i) => i.to_string(),
                PathPart::Item(key, wanted) => {
                    let items = value.as_array()?;
                    let at = items.iter().position(|item| is_item(item, key, wanted))?;
                    at.to_string()
                }
            };
            pointer.push('/');
            pointer.push_str(&name);
            value = object.pointer(&pointer)?;
        }
        Some(pointer)
    }

    /// Sets the value at the path. Creates missing maps, lists and items on the path.
    pub fn set(&self, object: &mut Value, new: Value) {
        let mut value = object;
        for part in &self.parts {
            value = match part {
                PathPart::Field(name) => map_mut(value).entry(name.as_str()).or_insert(Value::Null),
                PathPart::Index(i) => {
                    let items = list_mut(value);
                    let i = (*i).min(items.len());
                    item_at(items, i, Value::Null)
                }
                PathPart::Item(key, wanted) => {
                    let items = list_mut(value);
                    let known = items.iter().position(|item| is_item(item, key, wanted));
                    let mut fresh = Map::new();
                    fresh.insert(key.clone(), wanted.as_str().into());
                    item_at(items, known.unwrap_or(items.len()), fresh.into())
                }
            };
        }
        *value = new;
    }

    /// Removes the value at the path, if it exists.
    pub fn remove(&self, object: &mut Value) {
        let Some((last, way)) = self.parts.split_last() else {
            return;
        };
        let parent = way.iter().try_fold(object, |value, part| match part {
            PathPart::Field(name) => value.get_mut(name),
            PathPart::Index(i) => value.get_mut(i),
            PathPart::Item(key, wanted) => value
                .as_array_mut()?
                .iter_mut()
                .find(|item| is_item(item, key, wanted)),
        });
        match (parent, last) {
            (Some(Value::Object(map)), PathPart::Field(name)) => {
                map.remove(name);
            }
            (Some(Value::Array(items)), PathPart::Index(i)) if *i < items.len() => {
                items.remove(*i);
            }
            (Some(Value::Array(items)), PathPart::Item(key, wanted)) => {
                items.retain(|item| !is_item(item, key, wanted));
            }
            _ => {}
        }
    }

    /// Returns whether a path of server-side apply leads to the same field.
    pub fn is(&self, path: &[PathElement]) -> bool {
        self.parts.len() == path.len()
            && self.parts.iter().zip(path).all(|pair| match pair {
                (PathPart::Field(name), PathElement::Field(field)) => name == field,
                (PathPart::Index(i), PathElement::Index(at)) => i64::try_from(*i) == Ok(*at),
                (PathPart::Item(key, wanted), PathElement::Key(fields)) => fields
                    .iter()
                    .any(|(field, value)| field == key && is_text(value, wanted)),
                _ => false,
            })
    }
}

/// Writes the parts of a path.
fn written(parts: &[PathPart]) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            PathPart::Field(name) if name.contains(['.', '[']) => {
                text.push_str(&format!("[\"{name}\"]"));
            }
            PathPart::Field(name) => {
                let point = if text.is_empty() { "" } else { "." };
                text.push_str(&format!("{point}{name}"));
            }
            PathPart::Index(i) => text.push_str(&format!("[{i}]")),
            PathPart::Item(key, wanted) => text.push_str(&format!("[{key}={wanted}]")),
        }
    }
    text
}

/// The text in the brackets, and the text after them.
fn selector(inside: &str) -> Result<(PathPart, &str), String> {
    const OPEN: &str = "a closing ] is missing";
    if let Some(quoted) = inside.strip_prefix('"') {
        let (name, after) = quoted.split_once("\"]").ok_or(OPEN)?;
        return Ok((PathPart::Field(name.to_owned()), after));
    }
    let (inside, after) = inside.split_once(']').ok_or(OPEN)?;
    if let Some((key, value)) = inside.split_once('=') {
        let value = value.trim_matches('"').to_owned();
        return Ok((PathPart::Item(key.to_owned(), value), after));
    }
    match inside.parse() {
        Ok(i) => Ok((PathPart::Index(i), after)),
        Err(_) => Err(format!(
            "[{inside}] is neither a position, nor key=value, nor a name in quotes"
        )),
    }
}

fn is_text(value: &Value, text: &str) -> bool {
    match value {
        Value::String(value) => value == text,
        Value::Number(number) => number.to_string() == text,
        _ => false,
    }
}

fn is_item(item: &Value, key: &str, wanted: &str) -> bool {
    item.get(key).is_some_and(|value| is_text(value, wanted))
}

fn list_mut(value: &mut Value) -> &mut Vec<Value> {
    if !value.is_array() {
        *value = Value::Array(Vec::new());
    }
    match value {
        Value::Array(items) => items,
        _ => unreachable!("made a list above"),
    }
}

fn item_at(items: &mut Vec<Value>, i: usize, fresh: Value) -> &mut Value {
    if i >= items.len() {
        items.push(fresh);
    }
    let i = i.min(items.len() - 1);
    &mut items[i]
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn path(text: &str) -> FieldPath {
        FieldPath::parse(text).unwrap()
    }

    #[test]
    fn places_are_found_set_and_removed() {
        let mut object = json!({"spec": {"containers": [{"name": "nginx", "image": "a"}]}});
        let image = path("spec.containers[name=nginx].image");
        assert_eq!(image.find(&object), Some(&json!("a")));
        image.set(&mut object, "b".into());
        path("spec.containers[name=\"sidecar\"].image").set(&mut object, "c".into());
        path("metadata.annotations[\"example.com/note\"]").set(&mut object, "d".into());
        path("spec.args[0]").set(&mut object, "e".into());
        assert_eq!(
            object,
            json!({
                "spec": {
                    "containers": [{"name": "nginx", "image": "b"}, {"name": "sidecar", "image": "c"}],
                    "args": ["e"],
                },
                "metadata": {"annotations": {"example.com/note": "d"}},
            })
        );
        path("spec.containers[name=nginx]").remove(&mut object);
        path("metadata.annotations").remove(&mut object);
        path("spec.args[0]").remove(&mut object);
        path("spec.nothing.here").remove(&mut object);
        assert_eq!(
            object,
            json!({"spec": {"containers": [{"name": "sidecar", "image": "c"}], "args": []}, "metadata": {}})
        );
        assert_eq!(image.field(), "image");
    }

    #[test]
    fn what_is_no_place_is_said() {
        for text in ["", "a..b", "a[", "a[x]", "a[\"b]"] {
            assert!(FieldPath::parse(text).is_err(), "{text}");
        }
    }
}
