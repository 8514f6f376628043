//! The leaves of an object's schema, in which two objects differ or one has what another says: an
//! item of a keyed list or set, a member of a granular map, an atomic value.

use std::collections::BTreeMap;

use serde_json::Value;

use super::typed::{Shape, equal, item_element, shape};
use super::{Comparison, Path, PathElement, Set, compare};
use crate::schema::{ListType, Struct, Type};

/// The leaves in which two objects differ. Of a struct, map or list that came or went as a whole
/// there is a path for each of its leaves; of an item that came or went, one for the item.
pub fn differing(before: &Value, after: &Value, root: &Struct) -> Vec<Path> {
    let comparison = compare(before, after, root);
    let differing = comparison
        .removed
        .union(&comparison.modified)
        .union(&comparison.added);
    let mut found = Vec::new();
    collect(&differing, &comparison, &mut Vec::new(), &mut found);
    found
}

fn collect(set: &Set, comparison: &Comparison, path: &mut Vec<PathElement>, found: &mut Vec<Path>) {
    for node in set.nodes() {
        path.push(node.element.clone());
        let field = matches!(node.element, PathElement::Field(_));
        let here = node.member.then(|| Path(path.clone()));
        // A value whose kind changed is one leaf, with everything in it.
        let whole =
            |path: &Path| !field || node.children.is_empty() || comparison.modified.contains(path);
        match here.filter(whole) {
            Some(path) => found.push(path),
            None => collect(&node.children, comparison, path, found),
        }
        path.pop();
    }
}

/// The type of what is at a path.
fn type_at<'a>(root: &'a Struct, path: &Path) -> &'a Type {
    let (mut ty, mut begun) = (&Type::Any, false);
    for element in &path.0 {
        let next = match (ty, element) {
            (_, PathElement::Field(name)) if !begun => root.member(name),
            (Type::Struct(inner), PathElement::Field(name)) => inner.member(name),
            (Type::Map(inner), _) => Some(&inner.value),
            (Type::List(inner), _) => Some(&inner.item),
            _ => None,
        };
        (ty, begun) = (next.unwrap_or(&Type::Any), true);
    }
    ty
}

/// Whether a value at a path has everything that another one says. The server may have filled it
/// up, and others may have added items and members to what is merged by them.
pub fn covers(found: &Value, wanted: &Value, path: &Path, root: &Struct) -> bool {
    has(found, wanted, type_at(root, path))
}

/// Of a value at a path, what another one says something about.
pub fn part_of(found: &Value, wanted: &Value, path: &Path, root: &Struct) -> Value {
    part(found, wanted, type_at(root, path))
}

fn member_type<'a>(ty: &'a Type, name: &str) -> &'a Type {
    let member = match ty {
        Type::Struct(inner) => inner.member(name),
        Type::Map(inner) => Some(&inner.value),
        _ => None,
    };
    member.unwrap_or(&Type::Any)
}

/// The items of a list by their key; empty if several items have the same key.
struct Items<'a> {
    list: &'a ListType,
    known: BTreeMap<PathElement, Option<&'a Value>>,
}

impl<'a> Items<'a> {
    fn of(items: &'a [Value], list: &'a ListType) -> Self {
        let mut known = BTreeMap::new();
        for item in items {
            if let Ok(element) = item_element(list, item) {
                let same = known.entry(element);
                same.and_modify(|first| *first = None).or_insert(Some(item));
            }
        }
        Self { list, known }
    }

    /// The item with the same key as another one.
    fn same(&self, item: &Value) -> Option<&'a Value> {
        let element = item_element(self.list, item).ok()?;
        self.known.get(&element).copied().flatten()
    }
}

fn has(found: &Value, wanted: &Value, ty: &Type) -> bool {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => wanted.iter().all(|(name, wanted)| {
            let found = found.get(name);
            found.is_some_and(|found| has(found, wanted, member_type(ty, name)))
        }),
        (Value::Array(found), Value::Array(wanted)) => {
            if let (Shape::List(list), Type::List(_)) = (shape(ty, None), ty) {
                let items = Items::of(found, list);
                return wanted.iter().all(|wanted| {
                    let found = items.same(wanted);
                    found.is_some_and(|found| has(found, wanted, &list.item))
                });
            }
            let item = item_type(ty);
            let mut pairs = found.iter().zip(wanted);
            found.len() == wanted.len() && pairs.all(|(found, wanted)| has(found, wanted, item))
        }
        _ => equal(found, wanted),
    }
}

fn item_type(ty: &Type) -> &Type {
    match ty {
        Type::List(list) => &list.item,
        _ => &Type::Any,
    }
}

fn part(found: &Value, wanted: &Value, ty: &Type) -> Value {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => wanted
            .iter()
            .filter_map(|(name, wanted)| {
                let found = found.get(name)?;
                Some((name.clone(), part(found, wanted, member_type(ty, name))))
            })
            .collect(),
        (Value::Array(found), Value::Array(wanted)) => {
            let item = item_type(ty);
            if let Shape::List(list) = shape(ty, None) {
                let known = Items::of(found, list);
                let items = wanted
                    .iter()
                    .filter_map(|wanted| Some(part(known.same(wanted)?, wanted, item)));
                return items.collect();
            }
            if found.len() != wanted.len() {
                return Value::Array(found.clone());
            }
            let pairs = found.iter().zip(wanted);
            pairs
                .map(|(found, wanted)| part(found, wanted, item))
                .collect()
        }
        _ => found.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Resources;
    use serde_json::json;

    fn text(before: &Value, after: &Value) -> Vec<String> {
        let resources = Resources::builtin();
        let resource = resources.by_kind("apps/v1", "Deployment").unwrap();
        let paths = differing(before, after, &resource.root);
        paths.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_was_absent_is_told_by_its_leaves() {
        let bare = json!({"spec": {"template": {"spec": {"containers": [{"name": "nginx"}]}}}});
        let mut full = bare.clone();
        full["metadata"] = json!({"annotations": {"a": "1", "b": "2"}, "finalizers": ["x/y"]});
        let spec = &mut full["spec"]["template"]["spec"];
        spec["volumes"] = json!([{"name": "cache", "emptyDir": {}}]);
        spec["nodeSelector"] = json!({"disk": "ssd", "zone": "a"});
        spec["containers"][0]["args"] = json!(["-v"]);
        spec["containers"][0]["env"] = json!([{"name": "E", "value": "1"}]);
        full["status"] =
            json!({"replicas": 3, "conditions": [{"type": "Available", "status": "True"}]});
        let leaves = [
            ".metadata.annotations.a",
            ".metadata.annotations.b",
            ".metadata.finalizers[=\"x/y\"]",
            ".spec.template.spec.containers[name=\"nginx\"].args",
            ".spec.template.spec.containers[name=\"nginx\"].env[name=\"E\"]",
            ".spec.template.spec.nodeSelector",
            ".spec.template.spec.volumes[name=\"cache\"]",
            ".status.conditions[type=\"Available\"]",
            ".status.replicas",
        ];
        assert_eq!(text(&bare, &full), leaves);
        assert_eq!(text(&full, &bare), leaves, "what went too");
    }

    #[test]
    fn an_item_covers_another_with_more_in_its_lists() {
        let resources = Resources::builtin();
        let root = &resources.by_kind("apps/v1", "Deployment").unwrap().root;
        let bare = json!({"spec": {"template": {"spec": {}}}});
        let mut full = bare.clone();
        let item = json!({"name": "x", "env": [{"name": "A"}], "args": ["-v"]});
        full["spec"]["template"]["spec"]["containers"] = json!([item]);
        let path = differing(&bare, &full, root).remove(0);
        let found = |env: Value, args: Value| {
            let found = json!({"name": "x", "env": env, "args": args, "image": "i"});
            covers(&found, &item, &path, root)
        };
        assert!(found(json!([{"name": "B"}, {"name": "A"}]), json!(["-v"])));
        assert!(!found(json!([{"name": "B"}]), json!(["-v"])));
        assert!(!found(json!([{"name": "A"}]), json!(["-v", "-w"])));
    }
}
