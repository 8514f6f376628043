//! The forms of a kind's objects in etcd, inside the server and in answers.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::{Definition, Resource};
use crate::object::{GroupVersion, Metadata, text};
use crate::schema::{Empties, Struct, TEMPLATE_GENERATION, fill_defaults};
use crate::server::custom;
use crate::server::kinds::{EmptiedBytes, HiddenField, Rules};
use crate::server::list_options::go_int64;
use crate::status::Refusal;
use crate::storage::Revision;

impl Resource {
    /// Returns why the server cannot hold an object in its own form: an annotation stands for a number of that form
    /// and is none (`Convert_v1_DaemonSet_To_apps_DaemonSet` of `pkg/apis/apps/v1/conversion.go`).
    pub(in crate::server) fn unconvertible(&self, object: &Value) -> Option<String> {
        let Definition::Builtin(rules) = &self.definition else {
            return None;
        };
        if !rules.annotates.contains(&TEMPLATE_GENERATION) {
            return None;
        }
        let annotations = object.metadata()?.get("annotations")?;
        let number = annotations.get(TEMPLATE_GENERATION)?.as_str()?;
        go_int64(number).err()
    }

    /// Gives an object the form in which it is stored. It may have been in that form before: `internal`.
    pub(in crate::server) fn before_storing(&self, object: &mut Value, internal: Option<&Value>) {
        match (&self.definition, object) {
            (Definition::Custom(custom), object) => custom.before_storing(object),
            (Definition::Builtin(rules), object) => {
                let root = match rules.stored_as {
                    Some(version) => self.convert(object, version),
                    None => None,
                };
                if root.is_some()
                    && let Some(internal) = internal
                {
                    self.keep_internal(object, internal);
                }
                if let Some(root) = root.filter(|_| rules.fill_on_reading.is_none()) {
                    // What the version that is stored fills in shows in all of them.
                    fill_defaults(object, root);
                }
                if let Value::Object(map) = object {
                    root.unwrap_or(&self.root).forget_empty(map);
                }
            }
        }
    }

    /// Takes the parts of an internal object that are the same in the version that is served: that version does not
    /// tell an absent amount of an autoscaler from zero.
    fn keep_internal(&self, object: &mut Value, internal: &Value) {
        let mut shown = internal.clone();
        self.adopt(&mut shown);
        self.convert(&mut shown, text(internal, "apiVersion"));
        for part in ["spec", "status"] {
            if shown[part] == object[part]
                && let Some(value) = internal.get(part)
            {
                object[part] = value.clone();
            }
        }
    }

    /// Makes an object that is stored have the bytes that are empty and not absent: those of the request, where
    /// it writes them, or else those that are stored.
    pub(in crate::server) fn keep_empty_bytes(
        &self,
        subresource: &str,
        object: &mut Value,
        empties: &Empties,
        stored: &Value,
    ) {
        let Some(bytes) = self.emptied_bytes() else {
            return;
        };
        if bytes.written_by == subresource {
            empties.put_bytes(object);
        } else if has_empty(stored, bytes)
            && let Some(Value::Object(parent)) = object.pointer_mut(bytes.parent)
        {
            parent.entry(bytes.field).or_insert_with(|| "".into());
        }
    }

    /// The field of bytes that a client can empty.
    pub(in crate::server) fn emptied_bytes(&self) -> Option<&EmptiedBytes> {
        match &self.definition {
            Definition::Builtin(rules) => rules.emptied_bytes,
            Definition::Custom(_) => None,
        }
    }

    /// Writes an object as it comes back from the stored version: the fields that this version fills in belong
    /// to the writer of the object. Returns the object in the stored version.
    pub(in crate::server) fn settle(&self, object: &mut Value) -> Option<Value> {
        let Definition::Builtin(Rules { stored_as, .. }) = &self.definition else {
            return None;
        };
        let mut internal = None;
        if let Some(version) = stored_as {
            self.convert(object, version)?;
            internal = Some(object.clone());
        }
        self.adopt(object);
        internal
    }

    /// Changes an object beside the live one, both in the version in which the kind is stored: what is in the status
    /// there can be in annotations here.
    pub(in crate::server) fn as_stored(
        &self,
        object: &mut Value,
        live: &Value,
        change: impl FnOnce(&mut Value, &Value),
    ) {
        let stored_as = match &self.definition {
            Definition::Builtin(rules) => rules.stored_as,
            Definition::Custom(_) => None,
        };
        let Some(version) = stored_as else {
            change(object, live);
            return;
        };
        let mut live = live.clone();
        self.convert(object, version);
        self.convert(&mut live, version);
        change(object, &live);
        self.adopt(object);
    }

    /// Converts an object to another version, and returns its type there; `None` if there is no
    /// such version.
    fn convert(&self, object: &mut Value, version: &str) -> Option<&Struct> {
        let (versions, root) = (self.versions.as_ref()?, self.root_of(version)?);
        *object = (versions.convert)(object.take(), version);
        Some(root)
    }

    /// The type that its objects have in another version.
    pub(in crate::server) fn root_of(&self, version: &str) -> Option<&Struct> {
        let mut versions = self.versions.as_ref()?.all.iter();
        let (_, root) = versions.find(|(known, _)| known == version)?;
        Some(root)
    }

    /// Converts an object of another version to the version that is served.
    pub(in crate::server) fn adopt(&self, object: &mut Value) {
        self.convert(object, &self.group_version.to_string());
    }

    /// The version in which etcd holds its objects.
    pub(in crate::server) fn stored_version(&self) -> GroupVersion {
        let stored = match &self.definition {
            Definition::Builtin(rules) => rules.stored_as.and_then(GroupVersion::parse),
            Definition::Custom(custom) => GroupVersion::parse(&custom.versions.storage),
        };
        stored.unwrap_or_else(|| self.group_version.clone())
    }

    /// Returns whether it is a version of a built-in kind that is stored in another one.
    pub(in crate::server) fn is_stored_otherwise(&self) -> bool {
        self.is_builtin() && self.stored_version() != self.group_version
    }

    /// Makes an object fit into a request to etcd.
    ///
    /// # Errors
    /// The error of etcd or of its client, if it does not fit.
    pub(in crate::server) fn fit(
        &self,
        key: &str,
        expected: Revision,
        object: &mut Value,
    ) -> Result<(), Refusal> {
        match &self.definition {
            Definition::Builtin(_) => Ok(()),
            Definition::Custom(_) => custom::fit(key, expected, object),
        }
    }

    /// A stored object with the defaults that it gets when it is read.
    pub(in crate::server) fn filled<'a>(&self, stored: &'a Value) -> Cow<'a, Value> {
        let filled = match &self.definition {
            Definition::Builtin(rules) => rules.fill_on_reading.and_then(|fill| fill(stored)),
            Definition::Custom(_) => None,
        };
        filled.map_or(Cow::Borrowed(stored), Cow::Owned)
    }

    /// A stored object as it is read.
    pub(in crate::server) fn read_back(&self, stored: &Arc<Value>) -> Arc<Value> {
        match &self.definition {
            Definition::Builtin(rules) => {
                let mut shown = match self.filled(stored) {
                    Cow::Borrowed(_) => Arc::clone(stored),
                    Cow::Owned(filled) => Arc::new(filled),
                };
                if rules.stored_as.is_some() {
                    let version = self.group_version.to_string();
                    self.convert(Arc::make_mut(&mut shown), &version);
                }
                if let Some(bytes) = rules.emptied_bytes
                    && has_empty(&shown, bytes)
                    && let Some(Value::Object(parent)) =
                        Arc::make_mut(&mut shown).pointer_mut(bytes.parent)
                {
                    parent.remove(bytes.field);
                }
                shown
            }
            Definition::Custom(custom) => custom.read_back(stored),
        }
    }

    /// Returns an object as the server holds it between the versions of its kind (`runtime.Scheme`'s internal
    /// version); tables and metadata show it.
    pub(in crate::server) fn held<'a>(&self, object: &'a Value) -> Cow<'a, Value> {
        let Definition::Builtin(rules) = &self.definition else {
            return Cow::Borrowed(object);
        };
        let mut held = Cow::Borrowed(object);
        if let Some(version) = rules.stored_as {
            let held = held.to_mut();
            // An item of a list does not say of which version it is.
            held["apiVersion"] = self.group_version.to_string().into();
            held["kind"] = self.kind.as_str().into();
            self.convert(held, version);
        }
        let annotations = &object["metadata"]["annotations"];
        for annotation in rules.annotates {
            if annotations.get(annotation).is_some() {
                forget_annotation(held.to_mut(), annotation);
            }
        }
        held
    }

    /// Returns whether etcd stores a new object in another encoding than an updated object.
    pub(in crate::server) fn is_encoded_anew(&self) -> bool {
        match &self.definition {
            Definition::Builtin(rules) => rules.encoded_anew,
            Definition::Custom(_) => false,
        }
    }

    /// Returns whether a new object without labels shares those of its template.
    pub(in crate::server) fn shares_labels(&self) -> bool {
        match &self.definition {
            Definition::Builtin(rules) => rules.looks_at.shared_labels,
            Definition::Custom(_) => false,
        }
    }

    /// Returns whether the preparation of a new object sees the status that the request gives it.
    pub(in crate::server) fn sees_given_status(&self) -> bool {
        match &self.definition {
            Definition::Builtin(rules) => rules.looks_at.given_status,
            Definition::Custom(_) => false,
        }
    }

    /// Returns whether an object can be stored with a field that is not shown.
    pub(in crate::server) fn hides_a_field(&self) -> bool {
        matches!(&self.definition, Definition::Builtin(rules) if rules.hidden_field.is_some())
    }

    /// An object, or a list of them, as it is shown.
    pub(in crate::server) fn show(&self, answer: &mut Arc<Value>) {
        let Definition::Builtin(Rules {
            hidden_field: Some(hidden),
            ..
        }) = &self.definition
        else {
            return;
        };
        let is_object = text(answer, "kind") == self.kind;
        let objects = match answer.get("items").and_then(Value::as_array) {
            Some(items) if !is_object => items.as_slice(),
            _ => std::slice::from_ref(&**answer),
        };
        // Most answers show all that is stored, and are shared with the store.
        if !objects.iter().any(|object| hidden.is_in(object)) {
            return;
        }
        let answer = Arc::make_mut(answer);
        match answer.get_mut("items").and_then(Value::as_array_mut) {
            Some(items) if !is_object => items.iter_mut().for_each(|item| hidden.remove(item)),
            _ => hidden.remove(answer),
        }
    }
}

impl HiddenField {
    fn is_in(&self, object: &Value) -> bool {
        let parent = object.pointer(self.parent);
        parent.is_some_and(|parent| parent.get(self.field).is_some()) && (self.is_hidden)(object)
    }

    fn remove(&self, object: &mut Value) {
        if self.is_in(object)
            && let Some(Value::Object(parent)) = object.pointer_mut(self.parent)
        {
            parent.remove(self.field);
        }
    }
}

/// Returns whether bytes are stored that are empty and not absent.
fn has_empty(stored: &Value, bytes: &EmptiedBytes) -> bool {
    let parent = stored.pointer(bytes.parent);
    parent.is_some_and(|parent| parent[bytes.field] == "")
}

/// Removes an annotation, and the annotations if none is left.
fn forget_annotation(object: &mut Value, annotation: &str) {
    if let Some(Value::Object(annotations)) = object.metadata_mut().get_mut("annotations") {
        annotations.remove(annotation);
        if annotations.is_empty() {
            object.set_meta("annotations", Value::Null);
        }
    }
}
