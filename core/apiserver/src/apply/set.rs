//! Sets of fields (`fieldpath/set.go`).

use std::cmp::Ordering;
use std::fmt;

use super::PathElement;
use crate::schema::{ListKind, Struct, Type};

/// A set of fields, as a tree. A field can be a member without its children, and the other way
/// round.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set {
    /// Sorted by element; each is a member or has children, or both.
    nodes: Vec<SetNode>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SetNode {
    pub(super) element: PathElement,
    pub(super) member: bool,
    pub(super) children: Set,
}

/// A field's path from the root of the object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(pub Vec<PathElement>);

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|element| write!(f, "{element}"))
    }
}

impl Path {
    /// Returns whether the field is in the status.
    pub fn is_in_status(&self) -> bool {
        matches!(self.0.first(), Some(PathElement::Field(name)) if name == "status")
    }
}

impl Set {
    /// A set of paths of plain field names, such as `["metadata", "name"]`.
    pub fn of_fields(paths: &[&[&str]]) -> Self {
        let mut set = Set::default();
        for path in paths {
            let elements = path
                .iter()
                .map(|name| PathElement::Field((*name).to_owned()));
            set.insert(&Path(elements.collect()));
        }
        set
    }

    /// A set of children with their own members, in the order of their elements and each once.
    pub(super) fn sorted(children: impl IntoIterator<Item = (PathElement, bool, Set)>) -> Self {
        let nodes = children
            .into_iter()
            .map(|(element, member, children)| SetNode {
                element,
                member,
                children,
            });
        Set {
            nodes: nodes
                .filter(|node| node.member || !node.children.is_empty())
                .collect(),
        }
    }

    /// A set of children with their own members, in any order; of those that are there several
    /// times all members.
    pub(super) fn collect(children: Vec<(PathElement, bool, Set)>) -> Self {
        if children.is_sorted_by(|a, b| a.0 < b.0) {
            return Self::sorted(children);
        }
        let mut children = children;
        children.sort_by(|a, b| a.0.cmp(&b.0));
        let mut set = Set::default();
        for (element, member, children) in children {
            set.add(element, member, children);
        }
        set
    }

    /// Returns whether it has no members.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Adds a field; its parents do not become members. The empty path is ignored.
    pub fn insert(&mut self, path: &Path) {
        let Some((last, parents)) = path.0.split_last() else {
            return;
        };
        let mut set = self;
        for element in parents {
            let i = set.slot(element);
            set = &mut set.nodes[i].children;
        }
        let i = set.slot(last);
        set.nodes[i].member = true;
    }

    /// Returns whether a field is a member.
    pub fn contains(&self, path: &Path) -> bool {
        let Some((last, parents)) = path.0.split_last() else {
            return false;
        };
        let mut set = self;
        for element in parents {
            match set.node(element) {
                Some(node) => set = &node.children,
                None => return false,
            }
        }
        set.node(last).is_some_and(|node| node.member)
    }

    /// Returns whether the child `element` of the root is a member.
    pub(super) fn has_member(&self, element: &PathElement) -> bool {
        self.node(element).is_some_and(|node| node.member)
    }

    /// Returns the fields below the child `element` of the root.
    pub(super) fn below(&self, element: &PathElement) -> Option<&Set> {
        self.node(element)
            .map(|node| &node.children)
            .filter(|children| !children.is_empty())
    }

    /// Adds a child with its own members. Adds nothing if the child is neither member nor parent.
    pub(super) fn add(&mut self, element: PathElement, member: bool, children: Set) {
        if !member && children.is_empty() {
            return;
        }
        let in_order = self.nodes.last().is_none_or(|last| last.element < element);
        if in_order {
            self.nodes.push(SetNode {
                element,
                member,
                children,
            });
            return;
        }
        let i = self.slot(&element);
        let node = &mut self.nodes[i];
        node.member |= member;
        node.children.absorb(children);
    }

    pub(super) fn nodes(&self) -> &[SetNode] {
        &self.nodes
    }

    pub(super) fn node(&self, element: &PathElement) -> Option<&SetNode> {
        let i = self
            .nodes
            .binary_search_by(|node| node.element.cmp(element))
            .ok()?;
        Some(&self.nodes[i])
    }

    fn slot(&mut self, element: &PathElement) -> usize {
        match self
            .nodes
            .binary_search_by(|node| node.element.cmp(element))
        {
            Ok(i) => i,
            Err(i) => {
                let node = SetNode {
                    element: element.clone(),
                    member: false,
                    children: Set::default(),
                };
                self.nodes.insert(i, node);
                i
            }
        }
    }

    /// Members of either.
    pub fn union(&self, other: &Set) -> Set {
        let mut out = Set::default();
        zip(self, other, |element, a, b| {
            let member = a.is_some_and(|n| n.member) || b.is_some_and(|n| n.member);
            let children = match (a, b) {
                (Some(a), Some(b)) => a.children.union(&b.children),
                (Some(node), None) | (None, Some(node)) => node.children.clone(),
                (None, None) => Set::default(),
            };
            out.add(element.clone(), member, children);
        });
        out
    }

    /// Members of both.
    pub fn intersection(&self, other: &Set) -> Set {
        let mut out = Set::default();
        zip(self, other, |element, a, b| {
            if let (Some(a), Some(b)) = (a, b) {
                let children = a.children.intersection(&b.children);
                out.add(element.clone(), a.member && b.member, children);
            }
        });
        out
    }

    /// Members of this that are not members of the other: a parent without its child remains the
    /// parent, a child without its parent the child.
    pub fn difference(&self, other: &Set) -> Set {
        let mut out = Set::default();
        zip(self, other, |element, a, b| match (a, b) {
            (Some(a), Some(b)) => {
                let children = a.children.difference(&b.children);
                out.add(element.clone(), a.member && !b.member, children);
            }
            (Some(a), None) => out.add(element.clone(), a.member, a.children.clone()),
            (None, _) => {}
        });
        out
    }

    /// Removes the members of the other ([`Self::difference`] in place).
    pub fn subtract(&mut self, other: &Set) {
        let mut others = other.nodes.iter().peekable();
        self.nodes.retain_mut(|node| {
            while others.next_if(|next| next.element < node.element).is_some() {}
            if let Some(next) = others.next_if(|next| next.element == node.element) {
                node.member &= !next.member;
                node.children.subtract(&next.children);
            }
            node.member || !node.children.is_empty()
        });
    }

    /// Adds the members of the other ([`Self::union`] in place).
    pub fn absorb(&mut self, other: Set) {
        if self.nodes.is_empty() {
            *self = other;
            return;
        }
        let mut others = other.nodes.into_iter().peekable();
        let mut nodes = Vec::with_capacity(self.nodes.len().max(others.len()));
        for mut node in std::mem::take(&mut self.nodes) {
            while let Some(before) = others.next_if(|next| next.element < node.element) {
                nodes.push(before);
            }
            if let Some(same) = others.next_if(|next| next.element == node.element) {
                node.member |= same.member;
                node.children.absorb(same.children);
            }
            nodes.push(node);
        }
        nodes.extend(others);
        self.nodes = nodes;
    }

    /// Returns whether every member of this is a member of the other.
    pub fn is_subset(&self, other: &Set) -> bool {
        self.nodes
            .iter()
            .all(|node| match other.node(&node.element) {
                Some(found) => {
                    (!node.member || found.member) && node.children.is_subset(&found.children)
                }
                None => false,
            })
    }

    /// The members of this set that are neither members of the other set nor below a member of it.
    pub fn recursive_difference(&self, other: &Set) -> Set {
        let mut out = self.clone();
        out.subtract_recursively(other);
        out
    }

    /// Removes the members of the other and all below them ([`Self::recursive_difference`] in place).
    pub fn subtract_recursively(&mut self, other: &Set) {
        let mut others = other.nodes.iter().peekable();
        self.nodes.retain_mut(|node| {
            while others.next_if(|next| next.element < node.element).is_some() {}
            match others.next_if(|next| next.element == node.element) {
                Some(next) if next.member => return false,
                Some(next) => node.children.subtract_recursively(&next.children),
                None => {}
            }
            node.member || !node.children.is_empty()
        });
    }

    /// This set with every declared field on the way to a member as a member too; a set of
    /// `a.b.c` then has `a` as well, but not `a.b` where that is a key of a map.
    pub(super) fn with_named_fields(&self, ty: Option<&Type>) -> Set {
        let nodes = self.nodes.iter().map(|node| {
            let child = match (&node.element, ty) {
                (PathElement::Field(name), Some(Type::Struct(inner))) => inner.member(name),
                (PathElement::Field(_), Some(Type::Map(inner))) => Some(&inner.value),
                (PathElement::Key(_), Some(Type::List(inner))) => Some(&inner.item),
                (_, Some(Type::Any)) => ty,
                _ => None,
            };
            let named = match (&node.element, ty) {
                (PathElement::Field(name), Some(Type::Struct(inner))) => {
                    inner.field(name).is_some()
                }
                _ => false,
            };
            SetNode {
                element: node.element.clone(),
                member: node.member || (named && !node.children.is_empty()),
                children: node.children.with_named_fields(child),
            }
        });
        Set {
            nodes: nodes.collect(),
        }
    }

    /// [`Self::with_named_fields`] from the root of an object.
    pub(super) fn with_named_fields_of(&self, root: &Struct) -> Set {
        let nodes = self.nodes.iter().map(|node| {
            let field = match &node.element {
                PathElement::Field(name) => root.field(name),
                _ => None,
            };
            SetNode {
                element: node.element.clone(),
                member: node.member || (field.is_some() && !node.children.is_empty()),
                children: node
                    .children
                    .with_named_fields(field.map(|field| &field.ty)),
            }
        });
        Set {
            nodes: nodes.collect(),
        }
    }

    /// Follows the schema: a field that was owned below one which is now owned as a whole is owned
    /// with that one (`typed/reconcile_schema.go`). Fields that are not declared stay.
    pub(super) fn reconcile(&mut self, root: &Struct) {
        for node in &mut self.nodes {
            if let PathElement::Field(name) = &node.element
                && let Some(ty) = root.member(name)
            {
                node.reconcile(ty);
            }
        }
    }

    /// Returns the members' paths: at each level first the members, then those below.
    pub fn paths(&self) -> Vec<Path> {
        let mut paths = Vec::new();
        self.walk(&mut Vec::new(), &mut paths);
        paths
    }

    /// The paths of the members that have no member below them, in the order of paths.
    pub fn leaves(&self) -> Vec<Path> {
        let mut leaves = Vec::new();
        self.walk_leaves(&mut Vec::new(), &mut leaves);
        leaves
    }

    fn walk_leaves(&self, prefix: &mut Vec<PathElement>, out: &mut Vec<Path>) {
        for node in &self.nodes {
            prefix.push(node.element.clone());
            if node.children.is_empty() {
                out.push(Path(prefix.clone()));
            } else {
                node.children.walk_leaves(prefix, out);
            }
            prefix.pop();
        }
    }

    fn walk(&self, prefix: &mut Vec<PathElement>, out: &mut Vec<Path>) {
        for node in self.nodes.iter().filter(|node| node.member) {
            let mut path = prefix.clone();
            path.push(node.element.clone());
            out.push(Path(path));
        }
        for node in self.nodes.iter().filter(|node| !node.children.is_empty()) {
            prefix.push(node.element.clone());
            node.children.walk(prefix, out);
            prefix.pop();
        }
    }
}

impl SetNode {
    fn reconcile(&mut self, ty: &Type) {
        if self.children.is_empty() {
            return;
        }
        match ty {
            Type::Struct(inner) if !inner.atomic => self.children.reconcile(inner),
            Type::Map(inner) if !inner.atomic => self.reconcile_children(&inner.value),
            Type::List(inner) if inner.kind != ListKind::Atomic => {
                self.reconcile_children(&inner.item);
            }
            Type::Struct(_) | Type::Map(_) | Type::List(_) => {
                self.member = true;
                self.children = Set::default();
            }
            Type::Scalar(_) | Type::Any | Type::Definition(_) => {}
        }
    }

    fn reconcile_children(&mut self, ty: &Type) {
        for node in &mut self.children.nodes {
            node.reconcile(ty);
        }
    }
}

/// Visits the elements of two sets in order.
fn zip<'a>(
    a: &'a Set,
    b: &'a Set,
    mut visit: impl FnMut(&'a PathElement, Option<&'a SetNode>, Option<&'a SetNode>),
) {
    let (mut a, mut b) = (a.nodes.iter().peekable(), b.nodes.iter().peekable());
    loop {
        let order = match (a.peek(), b.peek()) {
            (Some(a), Some(b)) => a.element.cmp(&b.element),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return,
        };
        let left = if order.is_le() { a.next() } else { None };
        let right = if order.is_ge() { b.next() } else { None };
        if let Some(node) = left.or(right) {
            visit(&node.element, left, right);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::apply::{Set, from_fields_v1, to_fields_v1};

    fn set(fields: &Value) -> Set {
        from_fields_v1(fields).unwrap()
    }

    /// A binary operation on sets.
    type Operation = fn(&Set, &Set) -> Set;

    #[test]
    fn operations_tell_a_field_from_what_lies_below_it() {
        let union: Operation = Set::union;
        let intersection: Operation = Set::intersection;
        let difference: Operation = Set::difference;
        let recursive: Operation = Set::recursive_difference;
        let a = json!({"f:a": {}});
        let below_a = json!({"f:a": {"f:x": {}}});
        let both = json!({"f:a": {".": {}, "f:x": {}}});
        let none = json!({});
        for (name, operation, one, other, expected) in [
            ("union", union, &a, &below_a, &both),
            ("union", union, &none, &a, &a),
            ("union", union, &both, &both, &both),
            ("intersection", intersection, &a, &below_a, &none),
            ("intersection", intersection, &both, &a, &a),
            ("intersection", intersection, &both, &below_a, &below_a),
            ("difference", difference, &both, &a, &below_a),
            ("difference", difference, &both, &below_a, &a),
            ("difference", difference, &below_a, &a, &below_a),
            ("difference", difference, &a, &a, &none),
            ("recursive", recursive, &both, &a, &none),
            ("recursive", recursive, &below_a, &a, &none),
            ("recursive", recursive, &both, &below_a, &a),
            ("recursive", recursive, &a, &below_a, &a),
        ] {
            let found = operation(&set(one), &set(other));
            assert_eq!(
                to_fields_v1(&found),
                *expected,
                "{name} of {one} and {other}"
            );
        }
    }

    #[test]
    fn in_place_and_by_value_are_the_same() {
        let all = [
            json!({}),
            json!({"f:a": {}}),
            json!({"f:a": {"f:x": {}}, "f:b": {}}),
            json!({"f:a": {".": {}, "k:{\"n\":\"1\"}": {"f:v": {}}}}),
            json!({"f:l": {"v:1": {}, "v:\"1\"": {}}}),
        ];
        for (one, other) in all
            .iter()
            .flat_map(|one| all.iter().map(move |it| (one, it)))
        {
            let (one, other) = (set(one), set(other));
            let mut subtracted = one.clone();
            subtracted.subtract(&other);
            assert_eq!(subtracted, one.difference(&other));
            let mut absorbed = one.clone();
            absorbed.absorb(other.clone());
            assert_eq!(absorbed, one.union(&other));
            assert_eq!(one.is_subset(&other), one.difference(&other).is_empty());
        }
    }

    #[test]
    fn paths_come_with_members_before_what_lies_below_them() {
        let set = set(&json!({
            "f:b": {},
            "f:a": {".": {}, "k:{\"n\":\"1\"}": {".": {}, "f:v": {}}},
        }));
        let paths: Vec<String> = set.paths().iter().map(ToString::to_string).collect();
        assert_eq!(paths, [".a", ".b", ".a[n=\"1\"]", ".a[n=\"1\"].v"]);
        assert!(set.paths().iter().all(|path| set.contains(path)));
    }

    #[test]
    fn leaves_are_the_members_without_members_below_them() {
        let set = set(&json!({
            "f:b": {},
            "f:a": {".": {}, "k:{\"n\":\"1\"}": {".": {}, "f:v": {}}, "v:\"x\"": {}},
        }));
        let leaves = set.leaves();
        let text: Vec<String> = leaves.iter().map(ToString::to_string).collect();
        assert_eq!(text, [".a[n=\"1\"].v", ".a[=\"x\"]", ".b"]);
        assert!(leaves.is_sorted());
    }
}
