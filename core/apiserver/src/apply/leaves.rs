//! The leaves of an object's schema: the items of a keyed list or set, the members of a granular map,
//! and atomic values. Compares two objects by them. Also finds the parts that a writer changed, which
//! may be inside of an atomic value.

use std::collections::BTreeMap;

use serde_json::Value;

use super::typed::{ItemKey, Shape, equal, groups, shape, sorted_items};
use super::{Path, PathElement, Places, Set, TypedComparison, compare};
use crate::object::JsonMap;
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

fn collect(
    set: &Set,
    comparison: &TypedComparison,
    path: &mut Vec<PathElement>,
    found: &mut Vec<Path>,
) {
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

/// Returns the smallest values in which two objects differ. Unlike [`differing`], it also looks into
/// atomic values: a field is atomic for its owners and conflicts, but a writer can change a part of it.
/// A list without keys is one value, unless one of its items was changed in place.
pub fn changed_parts(before: &Value, after: &Value, root: &Struct) -> Vec<Path> {
    let (mut old, mut new) = (Places::new(before), Places::new(after));
    let mut found = Vec::new();
    for mut path in differing(before, after, root) {
        let (before, after) = (old.find(&path.0), new.find(&path.0));
        let ty = type_at(root, &path);
        split(&mut path.0, (before, after), ty, &mut found);
    }
    found
}

/// The changes of a value and below it. Of an item that came or went there is one.
fn split(
    path: &mut Vec<PathElement>,
    sides: (Option<&Value>, Option<&Value>),
    ty: &Type,
    found: &mut Vec<Path>,
) {
    let below = match (path.last(), sides) {
        (_, (Some(before), Some(after))) if equal(before, after) => return,
        (Some(PathElement::Field(_)), _) | (_, (Some(_), Some(_))) => parts(sides, ty),
        _ => Vec::new(),
    };
    if below.is_empty() {
        found.push(Path(path.clone()));
    }
    for (element, sides, ty) in below {
        path.push(element);
        if sides.0 != sides.1 {
            split(path, sides, ty, found);
        }
        path.pop();
    }
}

/// A part of a value: before and after, and its type.
type LeafPart<'a> = (
    PathElement,
    (Option<&'a Value>, Option<&'a Value>),
    &'a Type,
);

/// The members or items in which a value can be changed; none if only the whole value can.
fn parts<'a>(
    (before, after): (Option<&'a Value>, Option<&'a Value>),
    ty: &'a Type,
) -> Vec<LeafPart<'a>> {
    let either = [before, after];
    let all = |is: fn(&Value) -> bool| either.iter().flatten().all(|side| is(side));
    if all(Value::is_object) {
        let maps = either.map(|side| side.and_then(Value::as_object));
        let [old, new] = maps;
        let has_not = |name: &String| old.is_none_or(|old| !old.contains_key(name));
        let names = old.into_iter().flat_map(JsonMap::keys);
        let added = new
            .into_iter()
            .flat_map(JsonMap::keys)
            .filter(|name| has_not(name));
        let member = |name: &String| {
            let sides = maps.map(|map| map.and_then(|map| map.get(name)));
            let ty = member_type(ty, name);
            (PathElement::Field(name.clone()), (sides[0], sides[1]), ty)
        };
        return names.chain(added).map(member).collect();
    }
    if !all(Value::is_array) {
        return Vec::new();
    }
    if let (Shape::List(_), Type::List(list)) = (shape(ty, None), ty) {
        let items = sorted_items(either, list);
        let parts = groups(&items).map(|(key, sides)| match sides {
            [[] | [_], [] | [_]] => {
                let [old, new] = sides.map(|side| side.first().map(|item| item.value));
                Some((key.to_element(), (old, new), &list.item))
            }
            _ => None,
        });
        let parts: Option<Vec<LeafPart<'_>>> = parts.collect();
        return parts.unwrap_or_default();
    }
    let items = either.map(|side| side.and_then(Value::as_array));
    let [Some(old), Some(new)] = items else {
        return Vec::new();
    };
    let mut pairs = old.iter().zip(new).enumerate();
    let mut pairs = pairs.by_ref().filter(|(_, (old, new))| !equal(old, new));
    match (pairs.next(), pairs.next()) {
        (Some((i, (before, after))), None) if old.len() == new.len() => {
            let element = PathElement::Index(i as i64);
            vec![(element, (Some(before), Some(after)), item_type(ty))]
        }
        _ => Vec::new(),
    }
}

/// Returns the type of the value at a path.
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

/// Returns whether a value at a path covers another one. The server may have filled in more, and others
/// may have added items and members that are merged.
pub fn covers(found: &Value, wanted: &Value, path: &Path, root: &Struct) -> bool {
    has(found, wanted, type_at(root, path))
}

/// Returns whether an object covers another one whole: each of its leaves.
pub fn covers_whole(found: &Value, wanted: &Value, root: &Struct) -> bool {
    let members = wanted.as_object().into_iter().flatten();
    let mut members = members.map(|(name, wanted)| (found.get(name), wanted, root.member(name)));
    members.all(|(found, wanted, ty)| {
        found.is_some_and(|found| has(found, wanted, ty.unwrap_or(&Type::Any)))
    })
}

/// Returns the part of a value at a path that another value also sets.
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
    known: BTreeMap<ItemKey<'a>, Option<&'a Value>>,
}

impl<'a> Items<'a> {
    fn new(items: &'a [Value], list: &'a ListType) -> Self {
        let mut known = BTreeMap::new();
        for item in items {
            if let Ok(key) = ItemKey::from_item(list, item) {
                let same = known.entry(key);
                same.and_modify(|first| *first = None).or_insert(Some(item));
            }
        }
        Self { list, known }
    }

    /// The item with the same key as another one.
    fn same(&self, item: &Value) -> Option<&'a Value> {
        let key = ItemKey::from_item(self.list, item).ok()?;
        self.known.get(&key).copied().flatten()
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
                let items = Items::new(found, list);
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
                let known = Items::new(found, list);
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
    fn what_a_writer_changed_can_be_a_part_of_an_atomic_value() {
        let resources = Resources::builtin();
        let root = &resources.by_kind("apps/v1", "Deployment").unwrap().root;
        let changed = |before: Value, after: Value| -> Vec<String> {
            let object = |spec: Value| json!({"spec": {"template": {"spec": spec}}});
            let paths = changed_parts(&object(before), &object(after), root);
            let paths = paths.iter().map(ToString::to_string);
            paths
                .map(|path| path.replacen(".spec.template.spec", "", 1))
                .collect()
        };
        let labels = |selector: Value| json!({"nodeSelector": selector});
        assert_eq!(
            changed(
                labels(json!({"disk": "hdd", "arch": "arm", "os": "linux"})),
                labels(json!({"disk": "ssd", "os": "linux", "zone": "a"})),
            ),
            [
                ".nodeSelector.arch",
                ".nodeSelector.disk",
                ".nodeSelector.zone"
            ]
        );
        assert_eq!(
            changed(json!({}), labels(json!({"disk": "ssd", "zone": "a"}))),
            [".nodeSelector.disk", ".nodeSelector.zone"]
        );
        assert_eq!(changed(json!({}), labels(json!({}))), [".nodeSelector"]);
        let args = |args: &[&str]| json!({"containers": [{"name": "c", "args": args}]});
        let at = ".containers[name=\"c\"].args";
        assert_eq!(
            changed(args(&["a", "b"]), args(&["a", "c"])),
            [format!("{at}[1]")]
        );
        assert_eq!(changed(args(&["a", "b"]), args(&["b", "a"])), [at]);
        assert_eq!(changed(args(&["a"]), args(&["b", "c"])), [at]);
        let tolerations = |key: &str, effect: &str| {
            let first = json!({"key": "x", "operator": "Exists"});
            json!({"tolerations": [first, {"key": key, "effect": effect}]})
        };
        assert_eq!(
            changed(
                tolerations("y", "NoSchedule"),
                tolerations("y", "NoExecute")
            ),
            [".tolerations[1].effect"]
        );
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

    #[test]
    fn an_object_covers_another_whole_if_it_has_each_of_its_leaves() {
        let resources = Resources::builtin();
        let root = &resources.by_kind("apps/v1", "Deployment").unwrap().root;
        let object = |replicas: u32, env: Value| {
            let containers = json!([{"name": "x", "env": env}]);
            json!({"spec": {"replicas": replicas, "template": {"spec": {"containers": containers}}}})
        };
        let wanted = object(3, json!([{"name": "A", "value": "1"}]));
        let more = json!([{"name": "B"}, {"name": "A", "value": "1"}]);
        assert!(covers_whole(&object(3, more.clone()), &wanted, root));
        assert!(!covers_whole(&object(4, more), &wanted, root));
        assert!(!covers_whole(
            &object(3, json!([{"name": "A"}])),
            &wanted,
            root
        ));
        assert!(!covers_whole(&json!({}), &wanted, root));
    }
}
