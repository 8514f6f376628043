//! Values of a known type: which fields they have, how two differ, and how they merge
//! (`typed/validate.go`, `tofieldset.go`, `compare.go`, `merge.go`, `remove.go`).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Path, PathElement, Set};
use crate::go;
use crate::object::JsonMap;
use crate::schema::{ListKind, ListType, MapType, Scalar, Struct, Type};

/// A type seen the way merging sees it.
#[derive(Clone, Copy)]
pub(super) enum Shape<'a> {
    Scalar,
    AtomicMap,
    Struct(&'a Struct),
    Map(&'a MapType),
    AnyMap,
    AtomicList,
    List(&'a ListType),
}

/// Where the type leaves it open, the value decides.
pub(super) fn shape<'a>(ty: &'a Type, value: Option<&Value>) -> Shape<'a> {
    match ty {
        Type::Scalar(_) => Shape::Scalar,
        Type::Struct(inner) if inner.atomic => Shape::AtomicMap,
        Type::Struct(inner) => Shape::Struct(inner),
        Type::Map(inner) if inner.atomic => Shape::AtomicMap,
        Type::Map(inner) => Shape::Map(inner),
        Type::List(inner) if inner.kind == ListKind::Atomic => Shape::AtomicList,
        Type::List(inner) => Shape::List(inner),
        Type::Any => match value {
            Some(Value::Array(_)) => Shape::AtomicList,
            Some(Value::Object(_)) | None | Some(Value::Null) => Shape::AnyMap,
            Some(_) => Shape::Scalar,
        },
    }
}

impl<'a> Shape<'a> {
    /// The type of a member; `None` where it is not declared.
    pub(super) fn member(self, name: &str) -> Option<&'a Type> {
        match self {
            Shape::Struct(inner) => inner.member(name),
            Shape::Map(inner) => Some(&inner.value),
            Shape::AnyMap => Some(&Type::Any),
            _ => None,
        }
    }

    /// Whether a member is one of the declared fields of a struct.
    fn declares(self, name: &str) -> bool {
        matches!(self, Shape::Struct(inner) if inner.field(name).is_some())
    }
}

/// What tells an item of a list from the others.
pub(super) fn item_element(list: &ListType, item: &Value) -> Result<PathElement, String> {
    let ListKind::Map(keys) = &list.kind else {
        return match item {
            Value::Object(_) => {
                Err("associative list without keys has an element that's a map type".to_owned())
            }
            Value::Array(_) => {
                Err("not supported: associative list with lists as elements".to_owned())
            }
            Value::Null => Err(
                "associative list without keys has an element that's an explicit null".to_owned(),
            ),
            scalar => Ok(PathElement::Value(scalar.clone())),
        };
    };
    let map = match item {
        Value::Object(map) => map,
        Value::Null => {
            return Err("associative list with keys may not have a null element".to_owned());
        }
        _ => return Err("associative list with keys may not have non-map elements".to_owned()),
    };
    let mut fields: Vec<(String, Value)> = Vec::with_capacity(keys.len());
    for key in keys {
        let value = map.get(key).cloned().or_else(|| match &list.item {
            Type::Struct(inner) => inner.field(key)?.key_default(),
            _ => None,
        });
        if let Some(value) = value {
            fields.push((key.clone(), value));
        }
    }
    if fields.is_empty() {
        return Err(format!(
            "associative list with keys has an element that omits all key fields {} \
             (and doesn't have default values for any key fields)",
            go::quote_list(keys)
        ));
    }
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(PathElement::Key(fields))
}

fn as_map(value: Option<&Value>) -> Option<&JsonMap> {
    value.and_then(Value::as_object)
}

fn as_list(value: Option<&Value>) -> Option<&Vec<Value>> {
    value.and_then(Value::as_array)
}

/// Checks a value against its type; what is wrong, each with the field's path in front.
pub fn validate(value: &Value, root: &Struct, allow_duplicates: bool) -> Vec<String> {
    let mut errors = Vec::new();
    let shape = Shape::Struct(root);
    validate_members(value, shape, allow_duplicates, "", &mut errors);
    errors
}

fn validate_value(value: &Value, ty: &Type, lax: bool, path: &str, errors: &mut Vec<String>) {
    if value.is_null() {
        return;
    }
    // An atomic value is validated below its top like any other.
    match ty {
        Type::Scalar(scalar) => {
            if let Some(message) = scalar_mismatch(*scalar, value) {
                errors.push(format!("{path}: {message}"));
            }
        }
        Type::Struct(inner) => {
            validate_members(value, Shape::Struct(inner), lax, path, errors);
        }
        Type::Map(inner) => validate_members(value, Shape::Map(inner), lax, path, errors),
        Type::List(inner) => validate_items(value, inner, lax, path, errors),
        Type::Any => {}
    }
}

fn validate_members(
    value: &Value,
    shape: Shape<'_>,
    lax: bool,
    path: &str,
    errors: &mut Vec<String>,
) {
    let Value::Object(map) = value else {
        errors.push(format!("{path}: expected map, got {}", held(value)));
        return;
    };
    for (key, value) in map {
        if let Some(ty) = shape.member(key) {
            validate_value(value, ty, lax, &format!("{path}.{key}"), errors);
        }
    }
    // The server stops at the first unknown key of a map without order.
    if let Some(key) = map.keys().find(|key| shape.member(key).is_none()) {
        errors.push(format!("{path}.{key}: field not declared in schema"));
    }
}

fn validate_items(value: &Value, list: &ListType, lax: bool, path: &str, errors: &mut Vec<String>) {
    let Value::Array(items) = value else {
        errors.push(format!("{path}: expected list, got {}", held(value)));
        return;
    };
    let mut seen = BTreeSet::new();
    for (i, item) in items.iter().enumerate() {
        let element = if list.kind == ListKind::Atomic {
            PathElement::Index(i64::try_from(i).unwrap_or(i64::MAX))
        } else {
            match item_element(list, item) {
                Ok(element) => element,
                Err(message) => {
                    errors.push(format!("{path}: element {i}: {message}"));
                    return;
                }
            }
        };
        let below = format!("{path}{element}");
        if !lax && seen.contains(&element) {
            errors.push(format!("{path}: duplicate entries for key {element}"));
        }
        validate_value(item, &list.item, lax, &below, errors);
        seen.insert(element);
    }
}

fn scalar_mismatch(scalar: Scalar, value: &Value) -> Option<String> {
    match scalar {
        Scalar::Int32 | Scalar::Int64 | Scalar::Number => (!value.is_number())
            .then(|| format!("expected numeric (int or float), got {}", go_type(value))),
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
        Scalar::Time
        | Scalar::MicroTime
        | Scalar::Quantity
        | Scalar::IntOrString
        | Scalar::Untyped => {
            let compound = value.is_object() || value.is_array();
            compound.then(|| format!("expected any scalar, got {}", held(value)))
        }
    }
}

/// A decoded value behind a pointer as `%v` prints it.
fn held(value: &Value) -> String {
    format!("&{{{}}}", go::print(value))
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(n) if n.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
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

/// Every leaf field and list item that an object mentions.
pub fn field_set(value: &Value, root: &Struct) -> Set {
    members_set(value, Shape::Struct(root))
}

/// Whether the field itself is a member, and the members below it.
fn value_set(value: &Value, ty: &Type) -> (bool, Set) {
    match shape(ty, Some(value)) {
        Shape::Scalar | Shape::AtomicMap | Shape::AtomicList => (true, Set::default()),
        Shape::List(list) => (false, items_set(value, list)),
        shape => (false, members_set(value, shape)),
    }
}

fn members_set(value: &Value, shape: Shape<'_>) -> Set {
    let mut set = Set::default();
    for (key, value) in as_map(Some(value)).into_iter().flatten() {
        let (own, children) = match shape.member(key) {
            Some(ty) => value_set(value, ty),
            None => (true, Set::default()),
        };
        let bare = value.is_null() || value.as_object().is_some_and(JsonMap::is_empty);
        let member = own || bare || !shape.declares(key);
        set.add(PathElement::Field(key.clone()), member, children);
    }
    set
}

fn items_set(value: &Value, list: &ListType) -> Set {
    let nodes = group([Some(value), None], list).into_iter();
    let nodes = nodes.map(|(element, [items, _])| {
        // Of items that are not unique, only the fact that they are there is owned.
        let children = match items.as_slice() {
            [item] => value_set(item, &list.item).1,
            _ => Set::default(),
        };
        (element, true, children)
    });
    Set::sorted(nodes)
}

/// How an object differs from another one of the same type. No field is in two of the sets.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Fields that only the first one has.
    pub removed: Set,
    /// Fields that both have, with different values.
    pub modified: Set,
    /// Fields that only the second one has.
    pub added: Set,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Same,
    Removed,
    Modified,
    Added,
}

impl Comparison {
    /// Without the fields of a set and all below them.
    pub fn without(&self, set: &Set) -> Self {
        Self {
            removed: self.removed.recursive_difference(set),
            modified: self.modified.recursive_difference(set),
            added: self.added.recursive_difference(set),
        }
    }

    /// Whether nothing differs.
    fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.modified.is_empty() && self.added.is_empty()
    }

    fn add(&mut self, element: &PathElement, mark: Mark, below: Comparison) {
        for (set, this, children) in [
            (&mut self.removed, Mark::Removed, below.removed),
            (&mut self.modified, Mark::Modified, below.modified),
            (&mut self.added, Mark::Added, below.added),
        ] {
            if mark == this || !children.is_empty() {
                set.add(element.clone(), mark == this, children);
            }
        }
    }
}

/// Compares two objects.
pub fn compare(before: &Value, after: &Value, root: &Struct) -> Comparison {
    compare_members(Some(before), Some(after), Shape::Struct(root))
}

fn compare_values(before: Option<&Value>, after: Option<&Value>, ty: &Type) -> (Mark, Comparison) {
    let whole = match (before, after) {
        (None, _) => Mark::Added,
        (_, None) => Mark::Removed,
        (Some(before), Some(after)) if equal(before, after) => {
            return (Mark::Same, Comparison::default());
        }
        _ => Mark::Modified,
    };
    let both = before.is_some() && after.is_some();
    let shape_after = shape(ty, after.or(before));
    if both && matches!(ty, Type::Any) {
        let shape_before = shape(ty, before);
        let differ = std::mem::discriminant(&shape_before) != std::mem::discriminant(&shape_after);
        if differ {
            let mut comparison = Comparison::default();
            for shape in [shape_before, shape_after] {
                if matches!(shape, Shape::AnyMap) {
                    comparison = compare_members(before, after, shape);
                }
            }
            return (Mark::Modified, comparison);
        }
    }
    let descends = match shape_after {
        Shape::Scalar | Shape::AtomicMap | Shape::AtomicList => false,
        Shape::List(_) => [before, after]
            .iter()
            .any(|side| as_list(*side).is_some_and(|list| !list.is_empty())),
        _ => [before, after]
            .iter()
            .any(|side| as_map(*side).is_some_and(|map| !map.is_empty())),
    };
    if !descends {
        return (whole, Comparison::default());
    }
    let below = match shape_after {
        Shape::List(list) => compare_items(before, after, list),
        shape => compare_members(before, after, shape),
    };
    (if both { Mark::Same } else { whole }, below)
}

fn compare_members(before: Option<&Value>, after: Option<&Value>, shape: Shape<'_>) -> Comparison {
    let mut comparison = Comparison::default();
    let (before, after) = (as_map(before), as_map(after));
    let mut visit = |key: &String, a: Option<&Value>, b: Option<&Value>| {
        let ty = shape.member(key).unwrap_or(&Type::Any);
        let (mark, below) = compare_values(a, b, ty);
        if mark != Mark::Same || !below.is_empty() {
            comparison.add(&PathElement::Field(key.clone()), mark, below);
        }
    };
    for (key, a) in before.into_iter().flatten() {
        visit(key, Some(a), after.and_then(|map| map.get(key)));
    }
    for (key, b) in after.into_iter().flatten() {
        if before.is_none_or(|map| !map.contains_key(key)) {
            visit(key, None, Some(b));
        }
    }
    comparison
}

fn compare_items(before: Option<&Value>, after: Option<&Value>, list: &ListType) -> Comparison {
    let mut comparison = Comparison::default();
    for (element, [a, b]) in group([before, after], list) {
        let (mark, below) = match (a.as_slice(), b.as_slice()) {
            ([] | [_], [] | [_]) => {
                compare_values(a.first().copied(), b.first().copied(), &list.item)
            }
            ([_, _, ..], [_, _, ..]) => {
                let same = a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| equal(a, b));
                let mark = if same { Mark::Same } else { Mark::Modified };
                (mark, Comparison::default())
            }
            ([_, _, ..], _) => {
                if let Some(item) = b.first() {
                    let (mark, below) = compare_values(None, Some(item), &list.item);
                    comparison.add(&element, mark, below);
                }
                (Mark::Removed, Comparison::default())
            }
            (_, [_, _, ..]) => {
                if let Some(item) = a.first() {
                    let (mark, below) = compare_values(Some(item), None, &list.item);
                    comparison.add(&element, mark, below);
                }
                (Mark::Added, Comparison::default())
            }
        };
        comparison.add(&element, mark, below);
    }
    comparison
}

/// The items of two lists, those of each one in its order, by what tells them apart.
fn group<'a>(
    sides: [Option<&'a Value>; 2],
    list: &ListType,
) -> BTreeMap<PathElement, [Vec<&'a Value>; 2]> {
    let mut groups: BTreeMap<PathElement, [Vec<&'a Value>; 2]> = BTreeMap::new();
    for (side, items) in sides.into_iter().enumerate() {
        for item in as_list(items).into_iter().flatten() {
            if let Ok(element) = item_element(list, item) {
                groups.entry(element).or_default()[side].push(item);
            }
        }
    }
    groups
}

/// Equality as merging has it: 1 equals 1.0.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .zip(b)
                    .all(|((a_key, a), (b_key, b))| a_key == b_key && equal(a, b))
        }
        _ => a == b,
    }
}

/// The first object with everything that the second one says.
pub fn merge(live: &Value, config: &Value, root: &Struct) -> Value {
    merge_members(Some(live), Some(config), Shape::Struct(root)).unwrap_or(Value::Null)
}

fn merge_values(live: Option<&Value>, config: Option<&Value>, ty: &Type) -> Option<Value> {
    let leaf = || config.or(live).cloned();
    if config.is_none() {
        return leaf();
    }
    match shape(ty, config.or(live)) {
        Shape::Scalar | Shape::AtomicMap | Shape::AtomicList => leaf(),
        Shape::List(list) => {
            let filled = |side| as_list(side).is_some_and(|list: &Vec<Value>| !list.is_empty());
            if filled(live) || filled(config) {
                merge_items(as_list(live), as_list(config), list)
            } else {
                leaf()
            }
        }
        shape => {
            let filled = |side| as_map(side).is_some_and(|map: &JsonMap| !map.is_empty());
            if filled(live) || filled(config) {
                merge_members(live, config, shape)
            } else {
                leaf()
            }
        }
    }
}

fn merge_members(live: Option<&Value>, config: Option<&Value>, shape: Shape<'_>) -> Option<Value> {
    let mut out = JsonMap::new();
    let (live, config) = (as_map(live), as_map(config));
    for (key, a) in live.into_iter().flatten() {
        let ty = shape.member(key).unwrap_or(&Type::Any);
        if let Some(value) = merge_values(Some(a), config.and_then(|map| map.get(key)), ty) {
            out.insert(key.clone(), value);
        }
    }
    for (key, b) in config.into_iter().flatten() {
        if live.is_none_or(|map| !map.contains_key(key)) {
            let ty = shape.member(key).unwrap_or(&Type::Any);
            if let Some(value) = merge_values(None, Some(b), ty) {
                out.insert(key.clone(), value);
            }
        }
    }
    (!out.is_empty()).then_some(Value::Object(out))
}

/// Items that both have keep the applied order; items that only the live list has stay beside
/// the neighbours they had (`visitListItems` of `typed/merge.go`).
fn merge_items(
    live: Option<&Vec<Value>>,
    config: Option<&Vec<Value>>,
    list: &ListType,
) -> Option<Value> {
    let live: Vec<(PathElement, &Value)> = elements(live, list);
    let config: Vec<(PathElement, &Value)> = elements(config, list);
    let applied: BTreeSet<&PathElement> = config.iter().map(|(element, _)| element).collect();
    let in_config = |element: &PathElement| applied.contains(element);
    // A live item that is there twice is not merged with the applied one but replaced.
    let mut live_items: BTreeMap<&PathElement, Option<&Value>> = BTreeMap::new();
    for (element, item) in &live {
        let known = live_items.entry(element);
        known
            .and_modify(|first| *first = None)
            .or_insert(Some(*item));
    }
    let live_item = |element: &PathElement| live_items.get(element).copied().flatten();
    let mut shared = config
        .iter()
        .map(|(element, _)| element)
        .filter(|element| live_items.contains_key(element))
        .peekable();
    let mut merged: BTreeSet<&PathElement> = BTreeSet::new();
    let mut out = Vec::with_capacity(live.len().max(config.len()));
    let (mut l, mut r) = (0, 0);
    while l < live.len() || r < config.len() {
        if let (Some((left, _)), Some((right, item))) = (live.get(l), config.get(r)) {
            if left == right {
                merged.insert(right);
                out.extend(merge_values(live_item(left), Some(item), &list.item));
                l += 1;
                r += 1;
                shared.next();
                continue;
            }
            if in_config(left) && shared.peek().is_some_and(|next| *next != left) {
                l += 1;
                continue;
            }
        }
        if let Some((left, item)) = live.get(l) {
            if !in_config(left) {
                out.extend(merge_values(Some(item), None, &list.item));
                l += 1;
                continue;
            }
            if merged.contains(left) {
                l += 1;
            }
        }
        if let Some((right, item)) = config.get(r) {
            merged.insert(right);
            out.extend(merge_values(live_item(right), Some(item), &list.item));
            r += 1;
            if shared.peek().is_some_and(|next| *next == right) {
                shared.next();
            }
        }
    }
    (!out.is_empty()).then_some(Value::Array(out))
}

fn elements<'a>(items: Option<&'a Vec<Value>>, list: &ListType) -> Vec<(PathElement, &'a Value)> {
    items
        .into_iter()
        .flatten()
        .filter_map(|item| Some((item_element(list, item).ok()?, item)))
        .collect()
}

/// An object without the fields and items of a set. What loses its last member is null, or stays
/// empty where `keeps_emptied` says so (`typed/remove.go`).
pub fn remove(value: &Value, set: &Set, root: &Struct, keeps_emptied: bool) -> Value {
    remove_members(value, set, Shape::Struct(root), keeps_emptied)
}

fn remove_from(value: &Value, set: &Set, ty: &Type, keeps_emptied: bool) -> Value {
    match shape(ty, Some(value)) {
        Shape::Scalar => value.clone(),
        _ if value.is_null() => Value::Null,
        Shape::AtomicMap if keeps_emptied => Value::Object(JsonMap::new()),
        Shape::AtomicList if keeps_emptied => Value::Array(Vec::new()),
        Shape::AtomicMap | Shape::AtomicList => Value::Null,
        Shape::List(list) => {
            let mut out = Vec::new();
            for item in as_list(Some(value)).into_iter().flatten() {
                let element = item_element(list, item).ok();
                if element.as_ref().is_some_and(|e| set.has_member(e)) {
                    continue;
                }
                out.push(match element.as_ref().and_then(|e| set.below(e)) {
                    Some(below) => remove_from(item, below, &list.item, keeps_emptied),
                    None => item.clone(),
                });
            }
            if out.is_empty() && !keeps_emptied {
                return Value::Null;
            }
            Value::Array(out)
        }
        shape => remove_members(value, set, shape, keeps_emptied),
    }
}

fn remove_members(value: &Value, set: &Set, shape: Shape<'_>, keeps_emptied: bool) -> Value {
    let mut out = JsonMap::new();
    for (key, value) in as_map(Some(value)).into_iter().flatten() {
        let element = PathElement::Field(key.clone());
        if set.has_member(&element) {
            continue;
        }
        let kept = match set.below(&element) {
            Some(below) => {
                let ty = shape.member(key).unwrap_or(&Type::Any);
                remove_from(value, below, ty, keeps_emptied)
            }
            None => value.clone(),
        };
        out.insert(key.clone(), kept);
    }
    if out.is_empty() && !keeps_emptied {
        return Value::Null;
    }
    Value::Object(out)
}

/// Only the fields and items of a set, with the keys that list items need.
pub fn extract(value: &Value, set: &Set, root: &Struct) -> Value {
    extract_members(value, set, Shape::Struct(root))
}

fn extract_members(value: &Value, set: &Set, shape: Shape<'_>) -> Value {
    let mut out = JsonMap::new();
    for (key, value) in as_map(Some(value)).into_iter().flatten() {
        let element = PathElement::Field(key.clone());
        let ty = shape.member(key).unwrap_or(&Type::Any);
        if let Some(below) = set.below(&element) {
            out.insert(key.clone(), extract_value(value, below, ty));
        } else if set.has_member(&element) {
            out.insert(key.clone(), extract_value(value, &Set::default(), ty));
        }
    }
    Value::Object(out)
}

/// The parts of a value that are in a set. What is owned as a whole comes whole; a struct, map or
/// list that is owned without any of its members comes empty.
fn extract_value(value: &Value, set: &Set, ty: &Type) -> Value {
    match shape(ty, Some(value)) {
        Shape::Scalar | Shape::AtomicMap | Shape::AtomicList => value.clone(),
        Shape::List(list) => {
            let mut out = Vec::new();
            for item in as_list(Some(value)).into_iter().flatten() {
                let Ok(element) = item_element(list, item) else {
                    continue;
                };
                let below = set.below(&element);
                if below.is_none() && !set.has_member(&element) {
                    continue;
                }
                let nothing = Set::default();
                let mut part = extract_value(item, below.unwrap_or(&nothing), &list.item);
                if let (PathElement::Key(fields), Value::Object(part)) = (element, &mut part) {
                    for (key, value) in fields {
                        part.entry(key).or_insert(value);
                    }
                }
                out.push(part);
            }
            Value::Array(out)
        }
        shape => extract_members(value, set, shape),
    }
}

impl From<PathElement> for Path {
    fn from(element: PathElement) -> Self {
        Path(vec![element])
    }
}
