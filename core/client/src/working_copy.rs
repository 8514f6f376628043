//! A working copy: the object as an actor last read it, with the actor's edits.

use std::sync::Arc;

use serde_json::Value;

use super::edit::{EditError, edit_text};
use super::field_edits::{Edit, redone};
use super::server_fields::SET_BY_EVERY_WRITE;
use crate::{ValueChange, changes, changes_by_item, to_yaml};
use optimist_apiserver::apply::{Path, PathElement};
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::patch;
use optimist_apiserver::schema::Struct;

/// An object as it was read, and with the edits since then.
#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub struct WorkingCopy {
    read: Option<Arc<Value>>,
    edited: Option<Arc<Value>>,
    /// Fields that an apply declares with the value that was read; sorted.
    declared: Vec<Path>,
}

impl WorkingCopy {
    /// A copy of an object with a change.
    pub(crate) fn changed(read: &Arc<Value>, change: impl FnOnce(&mut Value)) -> Self {
        let mut object = (**read).clone();
        change(&mut object);
        let mut copy = Self::default();
        copy.settle(Arc::clone(read));
        copy.edit(object);
        copy
    }

    /// Nothing read yet.
    pub const BLANK: WorkingCopy = WorkingCopy {
        read: None,
        edited: None,
        declared: Vec::new(),
    };

    /// The object as it was read; `None` before the first read.
    pub fn read(&self) -> Option<&Arc<Value>> {
        self.read.as_ref()
    }

    /// The object with the edits; `None` before the first read.
    pub fn edited(&self) -> Option<&Arc<Value>> {
        self.edited.as_ref()
    }

    /// The resourceVersion that was read.
    pub fn resource_version(&self) -> Option<&str> {
        self.read.as_deref().map(Metadata::resource_version)
    }

    /// Returns whether it is the Scale of the object, which `/scale` answers with, and not the object itself.
    pub fn is_scale(&self) -> bool {
        self.read.as_deref().is_some_and(is_scale)
    }

    /// Returns whether there are edits that were not sent or not accepted.
    pub fn is_edited(&self) -> bool {
        self.read != self.edited
    }

    /// Returns the values that the edits change.
    pub fn edits(&self) -> Vec<ValueChange> {
        match (&self.read, &self.edited) {
            // Without an edit they are one object, which need not be compared with itself.
            (Some(read), Some(edited)) if !Arc::ptr_eq(read, edited) => changes(read, edited),
            _ => Vec::new(),
        }
    }

    /// Returns the values that the edits change. Items with keys are compared with themselves.
    pub fn edits_by_item(&self, root: &Struct) -> Vec<ValueChange> {
        match (&self.read, &self.edited) {
            (Some(read), Some(edited)) if !Arc::ptr_eq(read, edited) => {
                changes_by_item(read, edited, root)
            }
            _ => Vec::new(),
        }
    }

    /// Fields that an apply declares with the value that was read, to own them. Other write methods
    /// ignore them.
    pub fn declared(&self) -> &[Path] {
        &self.declared
    }

    /// Declares a field with its present value.
    pub fn declare(&mut self, field: Path) {
        if self.read.is_some()
            && let Err(at) = self.declared.binary_search(&field)
        {
            self.declared.insert(at, field);
        }
    }

    /// Declares a value that is there, without what the server added to it.
    pub(super) fn declare_value(&mut self, field: &Path, value: &Value, found: Option<&Value>) {
        match value.as_object().filter(|_| found != Some(value)) {
            Some(members) if !members.is_empty() => {
                for (name, value) in members {
                    let mut member = field.clone();
                    member.0.push(PathElement::Field(name.clone()));
                    self.declare_value(&member, value, found.and_then(|found| found.get(name)));
                }
            }
            _ => self.declare(field.clone()),
        }
    }

    /// Replaces the declared fields.
    pub fn declare_only(&mut self, fields: Vec<Path>) {
        self.declared.clear();
        fields.into_iter().for_each(|field| self.declare(field));
    }

    /// No longer declares a field.
    pub fn undeclare(&mut self, field: &Path) {
        self.declared.retain(|known| known != field);
    }

    /// Replaces the edited object.
    pub fn edit(&mut self, object: Value) {
        if self.read.is_some() {
            self.edited = Some(Arc::new(object));
        }
    }

    /// The edited object as YAML, for a text field, without `managedFields`, which only the server
    /// sets.
    pub fn text(&self) -> Option<String> {
        let mut object = self.edited.as_deref()?.clone();
        object.metadata_mut().remove("managedFields");
        Some(to_yaml(&object))
    }

    /// Replaces the edited object by the typed text. If the text has no `managedFields`, they are
    /// kept.
    ///
    /// # Errors
    /// If the text is not an object in YAML or JSON. The edits do not change then.
    pub fn edit_text(&mut self, typed: &str) -> Result<(), EditError> {
        let mut object = edit_text(typed)?;
        let managed = self.read.as_deref().and_then(Metadata::managed_fields);
        if let Some(managed) = managed
            && object.managed_fields().is_none()
        {
            object.set_meta("managedFields", managed.clone());
        }
        self.edit(object);
        Ok(())
    }

    /// Drops the edits.
    pub fn discard(&mut self) {
        self.edited.clone_from(&self.read);
        self.declared.clear();
    }

    /// Replaces the copy by the object that the server returned. It contains the edits, so no edit
    /// is left.
    pub fn settle(&mut self, object: Arc<Value>) {
        self.edited = Some(Arc::clone(&object));
        self.read = Some(object);
        self.declared.clear();
    }

    /// Takes the answer of a write to the main resource of a kind with a status subresource. Such a
    /// write does not change the status, so edits of the status are still unsent
    /// (`rest.ResetFieldsStrategy` of the main resource). All other edits are done.
    pub fn settle_all_but_status(&mut self, object: Arc<Value>, root: &Struct) {
        let rest = match (&self.read, &self.edited) {
            (Some(read), Some(edited)) if read != edited => {
                let mut rest = read.as_ref().clone();
                reset(&mut rest, edited, &["status"]);
                (rest != **read).then(|| redone_on(read, &rest, &object, root))
            }
            _ => None,
        };
        self.declared.retain(Path::is_in_status);
        self.edited = Some(rest.map_or_else(|| Arc::clone(&object), Arc::new));
        self.read = Some(object);
    }

    /// Takes the answer of a write to `/scale`, which is a Scale. The copy of an object takes its replicas alone:
    /// other edits are still unsent, and the version stays the version that was read, because the answer does not
    /// contain the object.
    pub fn settle_scale(&mut self, scale: &Arc<Value>) {
        if self.is_scale() {
            return self.settle(Arc::clone(scale));
        }
        // A Scale leaves 0 out (`omitempty`).
        let replicas = scale.pointer("/spec/replicas").cloned();
        let replicas = replicas.unwrap_or_else(|| 0.into());
        for object in [&mut self.read, &mut self.edited].into_iter().flatten() {
            let known = object.pointer("/spec/replicas");
            if known == Some(&replicas) || known.is_none() && replicas == 0 {
                continue;
            }
            let spec = Arc::make_mut(object).get_mut("spec");
            if let Some(spec) = spec.and_then(Value::as_object_mut) {
                spec.insert("replicas".to_owned(), replicas.clone());
            }
        }
    }

    /// Takes the answer of a write to the status. All edits of the status are done. An edit outside
    /// the status is still unsent if the answer does not have it.
    pub fn settle_status(&mut self, object: Arc<Value>, root: &Struct) {
        let rest = match (&self.read, &self.edited) {
            (Some(read), Some(edited)) if read != edited => {
                let mut rest = edited.as_ref().clone();
                reset(&mut rest, read, &["status"]);
                if let (Some(rest), Some(read)) = (rest.get_mut("metadata"), read.get("metadata")) {
                    reset(rest, read, &SET_BY_EVERY_WRITE);
                }
                (rest != **read).then(|| redone_on(read, &rest, &object, root))
            }
            _ => None,
        };
        self.declared.retain(|field| !field.is_in_status());
        self.edited = Some(rest.map_or_else(|| Arc::clone(&object), Arc::new));
        self.read = Some(object);
    }

    /// Takes a newly read object and repeats the edits on it, field by field. All other fields have
    /// the newly read values. An edit that another actor has made since is still declared.
    pub fn refresh(&mut self, object: Arc<Value>, root: &Struct) {
        if is_scale(&object) {
            return self.refresh_scale(object);
        }
        let redone = match (&self.read, &self.edited) {
            (Some(read), Some(edited)) if read != edited => {
                let fields = Edit::between(read, edited, root).into_iter();
                let held: Vec<_> = fields
                    .filter(|edit| edit.holds_in(Some(&object), root))
                    .collect();
                let redone = redone_on(read, edited, &object, root);
                for edit in held {
                    if let Some(value) = &edit.value {
                        self.declare_value(&edit.path, value, edit.path.find(&object));
                    }
                }
                Arc::new(redone)
            }
            _ => Arc::clone(&object),
        };
        self.read = Some(object);
        self.edited = Some(redone);
    }

    /// The same with a Scale, of which only the replicas can be edited.
    fn refresh_scale(&mut self, scale: Arc<Value>) {
        let replicas = |object: &Option<Arc<Value>>| {
            let object = object.as_deref();
            object.and_then(|object| object.pointer("/spec/replicas").cloned())
        };
        let wanted = replicas(&self.edited);
        let wanted = wanted.filter(|wanted| replicas(&self.read).as_ref() != Some(wanted));
        self.settle(scale);
        if let (Some(edited), Some(wanted)) = (&mut self.edited, wanted) {
            Arc::make_mut(edited)["spec"]["replicas"] = wanted;
        }
    }
}

/// Returns whether a value is a Scale (`k8s.io/api/autoscaling/v1`). No object of this kind is stored.
pub fn is_scale(object: &Value) -> bool {
    text(object, "kind") == "Scale" && text(object, "apiVersion") == "autoscaling/v1"
}

/// Copies members of one map to another.
fn reset(map: &mut Value, as_in: &Value, members: &[&str]) {
    let Some(map) = map.as_object_mut() else {
        return;
    };
    for member in members {
        match as_in.get(member) {
            Some(value) => drop(map.insert((*member).to_owned(), value.clone())),
            None => drop(map.remove(*member)),
        }
    }
}

/// An object with the edits between `read` and `edited`.
fn redone_on(read: &Value, edited: &Value, object: &Value, root: &Struct) -> Value {
    redone(read, edited, object, root).unwrap_or_else(|| {
        let mut redone = object.clone();
        patch::merge(&mut redone, &patch::merge_diff(read, edited));
        redone
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use optimist_apiserver::server::Resources;
    use serde_json::json;

    /// An actor reads `read`, edits it to `edited`, and then reads `later`.
    fn redone(read: Value, edited: Value, later: Value) -> WorkingCopy {
        let resources = Resources::builtin();
        let root = &resources.by_kind("apps/v1", "Deployment").unwrap().root;
        let mut copy = WorkingCopy::default();
        copy.refresh(Arc::new(read), root);
        copy.edit(edited);
        copy.refresh(Arc::new(later), root);
        copy
    }

    #[test]
    fn reading_again_keeps_the_edit_and_takes_over_what_others_changed() {
        let object = |version: &str, replicas: i64, seconds: i64| {
            json!({"metadata": {"resourceVersion": version},
                "spec": {"replicas": replicas, "minReadySeconds": seconds}})
        };
        let mut copy = redone(object("1", 1, 1), object("1", 2, 1), object("2", 1, 5));
        assert_eq!(copy.resource_version(), Some("2"));
        assert_eq!(
            copy.edited().map(|it| Value::clone(it)),
            Some(object("2", 2, 5))
        );
        copy.discard();
        assert!(!copy.is_edited());
    }

    #[test]
    fn what_was_absent_is_redone_beside_what_others_added_there() {
        let pod = |volumes: &[&str], args: &[&str], finalizers: &[&str]| {
            let named = volumes
                .iter()
                .map(|name| json!({"name": name, "emptyDir": {}}));
            let mut container = json!({"name": "nginx"});
            let mut spec = json!({});
            let mut metadata = json!({});
            if !volumes.is_empty() {
                spec["volumes"] = named.collect();
                metadata["annotations"] = volumes
                    .iter()
                    .map(|name| ((*name).to_owned(), Value::from("yes")))
                    .collect();
            }
            if !args.is_empty() {
                container["args"] = json!(args);
            }
            if !finalizers.is_empty() {
                metadata["finalizers"] = json!(finalizers);
            }
            spec["containers"] = json!([container]);
            json!({"metadata": metadata, "spec": {"template": {"spec": spec}}})
        };
        let copy = redone(
            pod(&[], &[], &[]),
            pod(&["logs"], &["-v"], &["b/b"]),
            pod(&["cache"], &["-w"], &["a/a"]),
        );
        let both = pod(&["cache", "logs"], &["-w", "-v"], &["a/a", "b/b"]);
        assert_eq!(**copy.edited().unwrap(), both);
        let copy = redone(
            pod(&["cache"], &["-w"], &["a/a"]),
            pod(&[], &[], &[]),
            pod(&["cache"], &["-w"], &["a/a"]),
        );
        assert_eq!(
            **copy.edited().unwrap(),
            pod(&[], &[], &[]),
            "nothing empty is left"
        );
        let copy = redone(
            pod(&[], &[], &[]),
            pod(&["x"], &[], &[]),
            pod(&["x"], &[], &[]),
        );
        assert_eq!(
            copy.declared().len(),
            2,
            "what is there already is still meant"
        );
    }

    #[test]
    fn an_item_stays_where_it_was_put_in_if_nobody_changed_its_list() {
        let pod = |image: &str, arguments: &[&str]| {
            let container = json!({"name": "web", "image": image, "args": arguments});
            json!({"spec": {"template": {"spec": {"containers": [container]}}}})
        };
        let copy = redone(
            pod("a", &["-v", "-w"]),
            pod("a", &["-v", "-x", "-w"]),
            pod("b", &["-v", "-w"]),
        );
        assert_eq!(**copy.edited().unwrap(), pod("b", &["-v", "-x", "-w"]));
        let copy = redone(
            pod("a", &["-v", "-w"]),
            pod("a", &["-x", "-v", "-w"]),
            pod("b", &["-v", "-w", "-y"]),
        );
        let later = pod("b", &["-v", "-w", "-y", "-x"]);
        assert_eq!(**copy.edited().unwrap(), later, "others changed the list");
    }

    #[test]
    fn an_item_without_its_key_is_not_forgotten() {
        let object =
            |containers: Value| json!({"spec": {"template": {"spec": {"containers": containers}}}});
        let nameless = object(json!([{"name": "a"}, {"image": "x"}]));
        let copy = redone(
            object(json!([{"name": "a"}])),
            nameless.clone(),
            object(json!([{"name": "a"}])),
        );
        assert_eq!(**copy.edited().unwrap(), nameless);
    }

    #[test]
    fn the_whole_text_is_edited_without_what_only_the_server_keeps() {
        let read = json!({"metadata": {"name": "x", "managedFields": [{"manager": "m"}]}, "a": 1});
        let mut copy = WorkingCopy::default();
        copy.settle(Arc::new(read.clone()));
        let text = copy.text().unwrap();
        assert_eq!(text, "a: 1\nmetadata:\n  name: x\n");
        copy.edit_text(&text).unwrap();
        assert!(!copy.is_edited());
        copy.edit_text("a: 2\nmetadata: {name: x}").unwrap();
        assert_eq!(copy.edits().len(), 1);
        assert!(copy.edit_text("a: [").is_err());
        assert_eq!(copy.edits().len(), 1, "nothing is lost");
    }
}
