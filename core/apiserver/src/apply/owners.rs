//! The owners of each field: `managedFields` turned round, for people who read an object line by
//! line.

use std::collections::BTreeMap;

use serde_json::Value;

use super::locate::ItemPositions;
use super::{Manager, Managers, PathElement, Set, field_set};
use crate::schema::Struct;

/// The managers of an object, and which of its places each one owns.
#[derive(Clone, Debug, Default)]
pub struct Owners {
    managers: Vec<Manager>,
    /// By place, as a JSON pointer (RFC 6901): each owner by its number, and whether it also owns
    /// everything below.
    places: BTreeMap<String, Vec<(usize, bool)>>,
}

impl Owners {
    /// Reads the owners of an object of this type from its `managedFields`. An entry that cannot be
    /// decoded names nobody. An entry for a field with fields of its own, such as `f:data: {}`,
    /// owns the existence of that field, and none of the fields in it.
    pub fn read(object: &Value, root: &Struct) -> Self {
        let mut owners = Self::default();
        let managers = Managers::of_object(object);
        let all = field_set(object, root);
        let mut positions = ItemPositions::default();
        for owned in managers.iter() {
            let number = owners.managers.len();
            owners.managers.push(owned.manager.clone());
            owners.mark(
                number,
                (&owned.set, &all),
                object,
                &mut positions,
                &mut String::new(),
            );
        }
        owners
    }

    fn mark(
        &mut self,
        number: usize,
        (set, all): (&Set, &Set),
        value: &Value,
        positions: &mut ItemPositions,
        pointer: &mut String,
    ) {
        let (here, none) = (pointer.len(), Set::default());
        for node in set.nodes() {
            let (step, child) = match (&node.element, value) {
                (PathElement::Field(name), value) => {
                    (crate::pointer::escape(name), value.get(name.as_str()))
                }
                (element, Value::Array(items)) => match positions.position(items, element) {
                    Some(at) => (at.to_string(), items.get(at)),
                    None => continue,
                },
                _ => continue,
            };
            let Some(child) = child else { continue };
            let below = all.node(&node.element).map_or(&none, |node| &node.children);
            pointer.push('/');
            pointer.push_str(&step);
            if node.member {
                let whole = node.children.is_empty() && below.is_empty();
                let owners = self.places.entry(pointer.clone()).or_default();
                owners.push((number, whole));
            }
            self.mark(number, (&node.children, below), child, positions, pointer);
            pointer.truncate(here);
        }
    }

    /// All managers, in the order of `managedFields`.
    pub fn managers(&self) -> &[Manager] {
        &self.managers
    }

    /// The numbers of those who own a place: the field itself, or something around it that is
    /// owned as a whole.
    pub fn at(&self, pointer: &str) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        let ends = pointer.match_indices('/').map(|(at, _)| at).skip(1);
        for end in ends.chain([pointer.len()]) {
            let Some(owners) = pointer.get(..end).and_then(|outer| self.places.get(outer)) else {
                continue;
            };
            let itself = end == pointer.len();
            let owning = owners.iter().filter(|(_, whole)| itself || *whole);
            found.extend(owning.map(|(number, _)| number));
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_place_names_its_owners_also_by_what_is_owned_whole_around_it() {
        let entry = |manager: &str, operation: &str, fields: Value| {
            json!({"manager": manager, "operation": operation, "apiVersion": "v1",
                   "fieldsType": "FieldsV1", "fieldsV1": fields})
        };
        let pod = crate::server::Resources::builtin();
        let pod = pod.by_kind("v1", "Pod").unwrap().root.clone();
        let object = json!({
            "metadata": {"labels": {"a": "1"}, "managedFields": [
                entry("gitops", "Apply", json!({"f:spec": {"f:nodeName": {}, "f:containers": {
                    "k:{\"name\":\"b\"}": {".": {}, "f:name": {}, "f:args": {}}}}})),
                entry("binder", "Update", json!({"f:metadata": {"f:labels": {}},
                    "f:spec": {"f:nodeName": {}}})),
            ]},
            "spec": {"nodeName": "n", "containers": [{"name": "a"}, {"name": "b", "args": ["x"]}]},
        });
        let owners = Owners::read(&object, &pod);
        let names: Vec<&str> = owners.managers().iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["gitops", "binder"]);
        assert_eq!(owners.at("/spec/nodeName"), [0, 1]);
        assert_eq!(owners.at("/spec/containers/1"), [0]);
        assert_eq!(
            owners.at("/spec/containers/1/args/0"),
            [0],
            "owned with its list"
        );
        assert_eq!(owners.at("/spec/containers/0/name"), [0usize; 0]);
        assert_eq!(owners.at("/spec"), [0usize; 0]);
        assert_eq!(owners.at("/metadata/labels"), [1]);
        assert_eq!(
            owners.at("/metadata/labels/a"),
            [0usize; 0],
            "a map that is merged is owned without its members"
        );
        let none = Owners::read(&json!({"metadata": {"managedFields": 7}}), &pod);
        assert!(none.managers().is_empty());
    }
}
