//! The intent of an actor, which can be applied to any object that it reads.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use optimist_apiserver::apply::{Path, PathElement, Places};
use optimist_apiserver::pointer::unescape;
use optimist_apiserver::schema::Struct;

use super::WorkingCopy;
use super::field_edits::{Edit, remove};

/// The intent of an actor.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Intent {
    /// To change fields.
    Change(Vec<IntendedChange>),
    /// To write this manifest, whatever was read: an apply, server-side or in the client.
    Manifest(Arc<Value>),
    /// To delete the object.
    Delete,
}

/// One change of a field.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct IntendedChange {
    /// The field.
    pub path: Path,
    /// The change.
    pub how: ChangeKind,
}

/// The change of a field.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum ChangeKind {
    /// Sets a value. A missing list item is added at the end. A map, or an item with a key, that says all of
    /// the value already stays as it is: the server filled it up, or others added to it.
    Set(Value),
    /// Removes the field, and up to this number of the maps and lists above it if they become
    /// empty.
    Remove(usize),
}

impl Intent {
    /// The changes between an object that was read and the edited object.
    pub fn between(read: &Value, edited: &Value, root: &Struct) -> Self {
        let edits = Edit::between(read, edited, root);
        Self::of_edits(edits.iter().map(AsRef::as_ref), edited)
    }

    /// The intent of edits that made an object.
    pub(super) fn of_edits<'a>(edits: impl Iterator<Item = &'a Edit>, edited: &Value) -> Self {
        let change = |edit: &Edit| IntendedChange {
            path: edit.path.clone(),
            how: match &edit.value {
                Some(value) => ChangeKind::Set(value.clone()),
                None => ChangeKind::Remove(edit.parents_gone(edited)),
            },
        };
        Intent::Change(edits.map(change).collect())
    }

    /// The intent of a working copy: its edits, and the fields that it declares unchanged. `None`
    /// before the first read.
    pub fn from_copy(copy: &WorkingCopy, root: &Struct) -> Option<Self> {
        let (read, edited) = (copy.read()?, copy.edited()?);
        let Intent::Change(mut changes) = Self::between(read, edited, root) else {
            return None;
        };
        let edits: BTreeSet<Path> = changes.iter().map(|change| change.path.clone()).collect();
        let mut places = Places::new(edited);
        for path in copy.declared().iter().filter(|path| !edits.contains(*path)) {
            if let Some(value) = places.find(&path.0) {
                changes.push(IntendedChange {
                    path: path.clone(),
                    how: ChangeKind::Set(value.clone()),
                });
            }
        }
        Some(Intent::Change(changes))
    }

    /// Returns the object that the actor has typed after it read an object: that object with the
    /// changes, or the manifest. A deletion changes nothing.
    pub fn done_on(&self, object: &Value) -> Value {
        let mut edited = object.clone();
        let changes = match self {
            Intent::Change(changes) => changes,
            Intent::Manifest(manifest) => return (**manifest).clone(),
            Intent::Delete => return edited,
        };
        for IntendedChange { path, how } in changes {
            match how {
                ChangeKind::Set(value) if is_set(path, value, &edited) => {}
                ChangeKind::Set(value) => path.put(&mut edited, value.clone()),
                ChangeKind::Remove(parents) => remove(path, *parents, &mut edited),
            }
        }
        edited
    }

    /// Applies the changes to a working copy. An apply declares every field that the actor means to
    /// set, also a field that has the value already.
    pub fn edit(&self, copy: &mut WorkingCopy, read: &Value) {
        let edited = self.done_on(read);
        if let Intent::Change(changes) = self {
            let (mut old, mut new) = (Places::new(read), Places::new(&edited));
            for change in changes {
                let path = &change.path.0;
                let (before, after) = (old.find(path), new.find(path));
                if after.is_some() && before == after {
                    match &change.how {
                        ChangeKind::Set(value) => copy.declare_value(&change.path, value, after),
                        ChangeKind::Remove(_) => copy.declare(change.path.clone()),
                    }
                }
            }
        }
        copy.edit(edited);
    }

    /// Returns whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        matches!(self, Intent::Change(changes) if changes.is_empty())
    }
}

/// Returns whether an object has a map, or an item with a key, that says all of a value.
fn is_set(path: &Path, value: &Value, object: &Value) -> bool {
    let is_name = |last: &PathElement| matches!(last, PathElement::Field(_) | PathElement::Key(_));
    value.is_object()
        && path.0.last().is_some_and(is_name)
        && path.find(object).is_some_and(|found| says(found, value))
}

/// Returns whether a value says all that another one does.
fn says(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => wanted
            .iter()
            .all(|(name, wanted)| found.get(name).is_some_and(|found| says(found, wanted))),
        (Value::Array(found), Value::Array(wanted)) => {
            let mut pairs = found.iter().zip(wanted);
            found.len() == wanted.len() && pairs.all(|(found, wanted)| says(found, wanted))
        }
        (found, wanted) => found == wanted,
    }
}

impl IntendedChange {
    /// A change of a member of objects, by its JSON pointer: its value, or `None` to remove it.
    pub fn at(pointer: &str, value: Option<Value>) -> Self {
        let names = pointer.split('/').skip(1);
        Self {
            path: Path(
                names
                    .map(|name| PathElement::Field(unescape(name)))
                    .collect(),
            ),
            how: value.map_or(ChangeKind::Remove(0), ChangeKind::Set),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use optimist_apiserver::server::Resources;
    use serde_json::json;

    #[test]
    fn what_is_declared_unchanged_is_meant_too() {
        let resources = Resources::builtin();
        let root = &resources.by_kind("apps/v1", "Deployment").unwrap().root;
        let object = std::sync::Arc::new(json!({"spec": {"replicas": 3}}));
        let mut copy = WorkingCopy::default();
        assert_eq!(Intent::from_copy(&copy, root), None);
        copy.settle(object.clone());
        copy.declare(Path::at(&object, "/spec/replicas", root).unwrap());
        let intent = Intent::from_copy(&copy, root).unwrap();
        let mut again = WorkingCopy::default();
        again.settle(object.clone());
        intent.edit(&mut again, &object);
        assert_eq!(again, copy);
    }

    #[test]
    fn an_intent_is_done_again_on_what_was_read_later() {
        let resources = Resources::builtin();
        let root = &resources.by_kind("apps/v1", "Deployment").unwrap().root;
        let object = |replicas: i64, containers: Value, args: Value| {
            let mut object = json!({"spec": {"replicas": replicas, "template": {"spec": {"containers": containers}}}});
            object["spec"]["template"]["spec"]["containers"][0]["args"] = args;
            object
        };
        let nginx = json!({"name": "nginx", "image": "nginx:1"});
        let sidecar = json!({"name": "sidecar", "image": "s:1"});
        let other = json!({"name": "other", "image": "o:1"});
        let read = object(3, json!([nginx]), json!(["a"]));
        let edited = object(3, json!([nginx, sidecar]), json!(["a", "b"]));
        let later = object(5, json!([nginx, other]), json!(["a", "c"]));
        let intent = Intent::between(&read, &edited, root);
        let wanted = object(5, json!([nginx, other, sidecar]), json!(["a", "c", "b"]));
        assert_eq!(intent.done_on(&later), wanted);
        assert_eq!(intent.done_on(&wanted), wanted);
        // The server has filled up what it added before.
        let mut filled = wanted;
        filled["spec"]["template"]["spec"]["containers"][2]["imagePullPolicy"] = json!("Always");
        assert_eq!(intent.done_on(&filled), filled);
        assert!(Intent::between(&read, &read, root).is_empty());
    }

    #[test]
    fn an_item_that_is_there_already_is_declared_without_what_the_server_filled_in() {
        let resources = Resources::builtin();
        let root = &resources.by_kind("apps/v1", "Deployment").unwrap().root;
        let object =
            |containers: Value| json!({"spec": {"template": {"spec": {"containers": containers}}}});
        let (nginx, sidecar) = (
            json!({"name": "nginx"}),
            json!({"name": "s", "image": "s:1"}),
        );
        let read = object(json!([nginx]));
        let edited = object(json!([nginx, sidecar]));
        let mut filled = edited.clone();
        filled["spec"]["template"]["spec"]["containers"][1]["imagePullPolicy"] = json!("Always");
        let filled = Arc::new(filled);
        let of_intent = {
            let mut copy = WorkingCopy::default();
            copy.settle(Arc::clone(&filled));
            Intent::between(&read, &edited, root).edit(&mut copy, &filled);
            copy
        };
        let of_copy = {
            let mut copy = WorkingCopy::default();
            copy.settle(Arc::new(read));
            copy.edit(edited);
            copy.refresh(Arc::clone(&filled), root);
            copy
        };
        for copy in [of_intent, of_copy] {
            assert_eq!(copy.edited(), Some(&filled));
            let declared: Vec<String> = copy.declared().iter().map(|it| it.to_string()).collect();
            let item = ".spec.template.spec.containers[name=\"s\"]";
            assert_eq!(declared, [format!("{item}.image"), format!("{item}.name")]);
        }
    }

    #[test]
    fn a_change_at_a_pointer_makes_what_is_around_it_and_removes_nothing_else() {
        let done = |pointer: &str, value: Option<Value>| {
            let change = IntendedChange::at(pointer, value);
            Intent::Change(vec![change]).done_on(&json!({"spec": {"size": 1}}))
        };
        let note = "/metadata/annotations/example.com~1note";
        let noted = json!({"metadata": {"annotations": {"example.com/note": "a"}},
            "spec": {"size": 1}});
        assert_eq!(done(note, Some("a".into())), noted);
        assert_eq!(done(note, None), json!({"spec": {"size": 1}}));
        assert_eq!(done("/spec/size", None), json!({"spec": {}}));
    }
}
