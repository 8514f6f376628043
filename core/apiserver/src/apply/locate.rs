//! Finds the value that a field's path names in an object, and returns the differences of two objects as
//! such paths.

use std::collections::BTreeMap;

use serde_json::Value;

use super::typed::{Shape, item_element, shape};
use super::{Path, PathElement, Set, field_set};
use crate::json::sorted_text;
use crate::object::{JsonMap, map_mut};
use crate::schema::{Struct, Type};

impl Path {
    /// Returns whether one of two paths lies on the other: they are the same field, or one is in the other.
    pub fn overlaps(&self, other: &Path) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a == b)
    }

    /// The value at the path; the empty path is the object itself.
    pub fn find<'a>(&self, object: &'a Value) -> Option<&'a Value> {
        self.0
            .iter()
            .try_fold(object, |value, element| match element {
                PathElement::Field(name) => value.get(name),
                element => {
                    let items = value.as_array()?;
                    items.get(position(items, element)?)
                }
            })
    }

    /// Returns the field that holds the value at a JSON pointer (RFC 6901) in an object: as deep as fields
    /// are owned one by one, so a place in an atomic value gives that value. `None` if nothing is there.
    pub fn at(object: &Value, pointer: &str, root: &Struct) -> Option<Self> {
        let (mut value, mut fields) = (object, Shape::Struct(root));
        let mut path = Vec::new();
        for part in pointer.split('/').skip(1) {
            let name = crate::pointer::unescape(part);
            let ty: &Type = match fields {
                Shape::Scalar | Shape::AtomicMap | Shape::AtomicList => break,
                Shape::List(list) => {
                    value = value.get(name.parse::<usize>().ok()?)?;
                    path.push(item_element(list, value).ok()?);
                    &list.item
                }
                members => {
                    value = value.get(&name)?;
                    path.push(PathElement::Field(name.clone()));
                    members.member(&name).unwrap_or(&Type::Any)
                }
            };
            fields = shape(ty, Some(value));
        }
        object.pointer(pointer).map(|_| Path(path))
    }

    /// Returns the field's place in an object, as a JSON pointer; `None` if it is not there.
    pub fn pointer(&self, object: &Value) -> Option<String> {
        let (mut value, mut pointer) = (object, String::new());
        for element in &self.0 {
            let name = match element {
                PathElement::Field(name) => crate::pointer::escape(name),
                element => position(value.as_array()?, element)?.to_string(),
            };
            pointer.push('/');
            pointer.push_str(&name);
            value = object.pointer(&pointer)?;
        }
        Some(pointer)
    }

    /// Returns whether another path is this one, or leads on from it.
    pub fn leads_to(&self, other: &Path) -> bool {
        other.0.starts_with(&self.0)
    }

    /// Puts a value at the path, and makes the missing parents on the way. The item of a list is replaced,
    /// or added at its end.
    pub fn put(&self, object: &mut Value, value: Value) {
        let mut place = object;
        for element in &self.0 {
            place = match element {
                PathElement::Field(name) => {
                    map_mut(place).entry(name.as_str()).or_insert(Value::Null)
                }
                element => {
                    if !place.is_array() {
                        *place = Value::Array(Vec::new());
                    }
                    let Value::Array(items) = place else { return };
                    let at = position(items, element).unwrap_or_else(|| {
                        items.push(new_item(element));
                        items.len() - 1
                    });
                    match items.get_mut(at) {
                        Some(item) => item,
                        None => return,
                    }
                }
            };
        }
        *place = value;
    }

    /// Removes the value at the path, if there is one.
    pub fn remove(&self, object: &mut Value) {
        let Some((last, parents)) = self.0.split_last() else {
            *object = Value::Null;
            return;
        };
        let place = parents
            .iter()
            .try_fold(object, |value, element| match element {
                PathElement::Field(name) => value.get_mut(name),
                element => {
                    let items = value.as_array_mut()?;
                    let at = position(items, element)?;
                    items.get_mut(at)
                }
            });
        match (place, last) {
            (Some(Value::Object(members)), PathElement::Field(name)) => {
                members.remove(name);
            }
            (Some(Value::Array(items)), element) => {
                if let Some(at) = position(items, element) {
                    items.remove(at);
                }
            }
            _ => {}
        }
    }
}

/// An object in which many paths are looked up: of a long list it is noted once where its items
/// are, and a path that begins as the last one did goes on from there.
#[derive(Debug)]
pub struct Places<'a> {
    object: &'a Value,
    lists: ItemPositions,
    /// The last path, with the value at each of its elements, as far as it led to one.
    last: Vec<(PathElement, &'a Value)>,
}

impl<'a> Places<'a> {
    /// The places of an object.
    pub fn new(object: &'a Value) -> Self {
        Self {
            object,
            lists: ItemPositions::default(),
            last: Vec::new(),
        }
    }

    /// The value at a path, as [`Path::find`] finds it.
    pub fn find(&mut self, path: &[PathElement]) -> Option<&'a Value> {
        let pairs = path.iter().zip(&self.last);
        let same = pairs.take_while(|(element, (known, _))| *element == known);
        let same = same.count();
        self.last.truncate(same);
        let mut value = self.last.last().map_or(self.object, |(_, value)| value);
        for element in &path[same..] {
            value = match element {
                PathElement::Field(name) => value.get(name)?,
                element => {
                    let items = value.as_array()?;
                    items.get(self.lists.position(items, element)?)?
                }
            };
            self.last.push((element.clone(), value));
        }
        Some(value)
    }

    /// Finds the item of a list without keys that equals a scalar; in such a list at a path.
    pub fn find_item(&mut self, list: &[PathElement], item: &Value) -> Option<&'a Value> {
        let items = self.find(list)?.as_array()?;
        items.get(
            self.lists
                .position(items, &PathElement::Value(item.clone()))?,
        )
    }
}

/// An index of the items of lists.
#[derive(Debug, Default)]
pub(super) struct ItemPositions {
    /// By where a list is in memory and which keys tell its items apart; `None` where items leave
    /// out a key, which only a search can find.
    lists: BTreeMap<(usize, String), Option<BTreeMap<String, usize>>>,
}

impl ItemPositions {
    /// Returns the position of an item in a list. The list must not change or move while this index is in
    /// use.
    pub(super) fn position(&mut self, items: &[Value], element: &PathElement) -> Option<usize> {
        /// Shorter lists are searched faster than noted.
        const LONG: usize = 16;
        if items.len() < LONG {
            return position(items, element);
        }
        let (names, wanted) = match element {
            PathElement::Key(fields) => (
                fields.iter().map(|(name, _)| name.as_str()).collect(),
                identity(fields.iter().map(|(_, value)| Some(value))),
            ),
            PathElement::Value(value) => (Vec::new(), Some(sorted_text(value))),
            _ => return position(items, element),
        };
        let place = (items.as_ptr() as usize, names.join("\n"));
        let known = self.lists.entry(place).or_insert_with(|| {
            let mut known = BTreeMap::new();
            for (i, item) in items.iter().enumerate() {
                let own = if names.is_empty() {
                    Some(sorted_text(item))
                } else {
                    identity(names.iter().map(|name| item.get(*name)))
                };
                known.entry(own?).or_insert(i);
            }
            Some(known)
        });
        match known {
            Some(known) => known.get(&wanted?).copied(),
            None => position(items, element),
        }
    }
}

/// The values of keys as a text; `None` if one is missing.
fn identity<'a>(values: impl Iterator<Item = Option<&'a Value>>) -> Option<String> {
    let values: Option<Vec<String>> = values.map(|value| value.map(Value::to_string)).collect();
    values.map(|values| values.join(" "))
}

fn position(items: &[Value], element: &PathElement) -> Option<usize> {
    match element {
        PathElement::Field(_) => None,
        PathElement::Key(fields) => {
            let has_all = |item: &Value| {
                let mut fields = fields.iter();
                fields.all(|(name, value)| item.get(name) == Some(value))
            };
            // An item that has the whole key comes before one that leaves a part of it out.
            let whole = items.iter().position(has_all);
            whole.or_else(|| items.iter().position(|item| has_key(item, fields)))
        }
        PathElement::Value(value) => items.iter().position(|item| item == value),
        PathElement::Index(i) => usize::try_from(*i).ok().filter(|i| *i < items.len()),
    }
}

/// A key field that an item leaves out means its default, which the server has not written yet.
fn has_key(item: &Value, fields: &[(String, Value)]) -> bool {
    let given = |(name, value): &(String, Value)| item.get(name).map(|found| found == value);
    fields.iter().all(|field| given(field) != Some(false))
        && fields.iter().any(|field| given(field) == Some(true))
}

fn new_item(element: &PathElement) -> Value {
    match element {
        PathElement::Key(fields) => Value::Object(fields.iter().cloned().collect::<JsonMap>()),
        PathElement::Value(value) => value.clone(),
        _ => Value::Null,
    }
}

/// Returns the object's values at some of its fields: each of them with everything below it. For a part of
/// an atomic value, returns that value.
pub fn fields_below(object: &Value, fields: &[Path], root: &Struct) -> Set {
    let mut set = Set::default();
    if fields.is_empty() {
        return set;
    }
    let paths = field_set(object, root).paths();
    for field in fields {
        let mut below = paths.iter().filter(|path| field.leads_to(path)).peekable();
        let whole = || paths.iter().rev().find(|path| path.leads_to(field));
        if below.peek().is_none() && field.find(object).is_some() {
            whole().into_iter().for_each(|path| set.insert(path));
        }
        below.for_each(|path| set.insert(path));
    }
    set
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply::differing;
    use crate::server::Resources;
    use serde_json::json;

    fn deployment() -> Value {
        json!({"spec": {"replicas": 3, "template": {"spec": {"containers": [
            {"name": "nginx", "image": "nginx:1", "ports": [{"containerPort": 80, "protocol": "TCP"}]}]}}}})
    }

    fn paths(before: &Value, after: &Value) -> Vec<Path> {
        let resources = Resources::builtin();
        let resource = resources.by_kind("apps/v1", "Deployment").unwrap();
        differing(before, after, &resource.root)
    }

    #[test]
    fn what_differs_is_named_by_the_keys_of_items_and_no_deeper_than_it_must() {
        let before = deployment();
        let mut after = before.clone();
        after["spec"]["replicas"] = 5.into();
        let containers = &mut after["spec"]["template"]["spec"]["containers"];
        containers[0]["image"] = "nginx:2".into();
        let sidecar = json!({"name": "sidecar", "image": "s:1"});
        containers
            .as_array_mut()
            .unwrap()
            .insert(0, sidecar.clone());
        let found = paths(&before, &after);
        let text: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            text,
            [
                ".spec.replicas",
                ".spec.template.spec.containers[name=\"nginx\"].image",
                ".spec.template.spec.containers[name=\"sidecar\"]",
            ]
        );
        assert_eq!(found[1].find(&after), Some(&json!("nginx:2")));
        assert_eq!(found[2].find(&before), None);

        let mut redone = before;
        for path in &found {
            path.put(&mut redone, path.find(&after).unwrap().clone());
        }
        let containers = &redone["spec"]["template"]["spec"]["containers"];
        assert_eq!(containers[0]["image"], "nginx:2");
        assert_eq!(containers[1], sidecar, "added at the end");
        found[2].remove(&mut redone);
        assert_eq!(found[2].find(&redone), None);
    }

    #[test]
    fn a_path_is_found_as_alone_whatever_was_looked_up_before() {
        let object = json!({"a": {"b": 1, "c": [{"name": "x", "v": 2}]}, "d": null});
        let field = |name: &str| PathElement::Field(name.to_owned());
        let item = |name: &str| PathElement::Key(vec![("name".to_owned(), name.into())]);
        let paths = [
            vec![],
            vec![field("a"), field("b")],
            vec![field("a"), field("b"), field("no")],
            vec![field("a"), field("c"), item("x"), field("v")],
            vec![field("a"), field("c"), item("y"), field("v")],
            vec![field("a")],
            vec![field("d")],
        ];
        let mut places = Places::new(&object);
        for (first, second) in paths
            .iter()
            .flat_map(|first| paths.iter().map(move |second| (first, second)))
        {
            for path in [first, second] {
                assert_eq!(places.find(path), Path(path.clone()).find(&object));
            }
        }
    }

    #[test]
    fn an_item_that_leaves_out_a_defaulted_key_is_found_by_the_others() {
        let object = deployment();
        let mut other = object.clone();
        let ports = "/spec/template/spec/containers/0/ports";
        *other.pointer_mut(ports).unwrap() = json!([{"containerPort": 80}]);
        let mut named = object.clone();
        *named.pointer_mut(&format!("{ports}/0")).unwrap() =
            json!({"containerPort": 80, "protocol": "TCP", "name": "web"});
        let path = paths(&object, &named).remove(0);
        assert!(
            path.to_string()
                .ends_with("[containerPort=80,protocol=\"TCP\"].name")
        );
        path.put(&mut other, "web".into());
        let port = other.pointer(&format!("{ports}/0")).unwrap();
        assert_eq!(port, &json!({"containerPort": 80, "name": "web"}));
    }

    #[test]
    fn a_field_overlaps_with_itself_and_with_what_it_is_in() {
        let path = |names: &[&str]| {
            Path(
                names
                    .iter()
                    .map(|name| PathElement::Field((*name).to_owned()))
                    .collect(),
            )
        };
        assert!(path(&["spec"]).overlaps(&path(&["spec", "replicas"])));
        assert!(path(&[]).overlaps(&path(&["spec"])));
        assert!(!path(&["spec", "paused"]).overlaps(&path(&["spec", "replicas"])));
    }
}
