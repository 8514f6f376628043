//! A Kubernetes object as JSON, and how to reach its metadata.

use std::fmt;

use serde_json::{Map, Value};

/// A JSON object.
pub type JsonMap = Map<String, Value>;

/// API group and version; the core group is the empty string.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupVersion {
    /// `apps`, `demo.example.com`; empty for core.
    pub group: String,
    /// `v1`.
    pub version: String,
}

impl GroupVersion {
    /// Group and version from their parts.
    pub fn new(group: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
        }
    }

    /// Reads `v1` or `apps/v1`; `None` where there is more than one slash.
    pub fn parse(api_version: &str) -> Option<Self> {
        match api_version.split_once('/') {
            None => Some(Self::new("", api_version)),
            Some((_, version)) if version.contains('/') => None,
            Some((group, version)) => Some(Self::new(group, version)),
        }
    }
}

impl fmt::Display for GroupVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() {
            write!(f, "{}", self.version)
        } else {
            write!(f, "{}/{}", self.group, self.version)
        }
    }
}

/// A group with a plural resource name or with a kind, printed `deployments.apps` or `Deployment.apps`
/// (`schema.GroupResource` and `schema.GroupKind` of apimachinery).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupName {
    /// The API group; empty for core.
    pub group: String,
    /// The plural resource name or the kind.
    pub name: String,
}

impl GroupName {
    /// A name in a group.
    pub fn new(group: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            group: group.into(),
            name: name.into(),
        }
    }
}

impl fmt::Display for GroupName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        Ok(())
    }
}

/// Access to the parts of an object that every kind has (`metav1.Object` of apimachinery).
/// If a member is absent or of another type, reading it returns the empty value.
pub trait Metadata {
    /// The metadata, if there is any.
    fn metadata(&self) -> Option<&JsonMap>;
    /// The metadata, which is added if it is missing.
    fn metadata_mut(&mut self) -> &mut JsonMap;

    /// A text member of the metadata; empty if it is absent.
    fn meta_text(&self, field: &str) -> &str {
        self.metadata()
            .and_then(|meta| meta.get(field))
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
    /// `metadata.name`.
    fn name(&self) -> &str {
        self.meta_text("name")
    }
    /// `metadata.namespace`.
    fn namespace(&self) -> &str {
        self.meta_text("namespace")
    }
    /// `metadata.uid`.
    fn uid(&self) -> &str {
        self.meta_text("uid")
    }
    /// `metadata.resourceVersion` as the text that it is.
    fn resource_version(&self) -> &str {
        self.meta_text("resourceVersion")
    }
    /// `metadata.generation`; 0 if it is absent.
    fn generation(&self) -> i64 {
        self.metadata()
            .and_then(|meta| meta.get("generation"))
            .and_then(Value::as_i64)
            .unwrap_or(0)
    }
    /// `metadata.finalizers`.
    fn finalizers(&self) -> Vec<&str> {
        self.metadata()
            .and_then(|meta| meta.get("finalizers"))
            .and_then(Value::as_array)
            .map(|list| list.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default()
    }
    /// An annotation, if the object has it and it is a text.
    fn annotation(&self, name: &str) -> Option<&str> {
        self.metadata()?.get("annotations")?.get(name)?.as_str()
    }
    /// `metadata.managedFields` as it is, if the metadata has it.
    fn managed_fields(&self) -> Option<&Value> {
        self.metadata()?.get("managedFields")
    }
    /// The entries of `metadata.managedFields`.
    fn managed_entries(&self) -> &[Value] {
        let managed = self.managed_fields().and_then(Value::as_array);
        managed.map_or(&[], Vec::as_slice)
    }
    /// Sets a member of the metadata; an empty text or `null` removes it.
    fn set_meta(&mut self, field: &str, value: impl Into<Value>) {
        match value.into() {
            Value::Null => {
                self.metadata_mut().remove(field);
            }
            Value::String(text) if text.is_empty() => {
                self.metadata_mut().remove(field);
            }
            value => {
                self.metadata_mut().insert(field.to_owned(), value);
            }
        }
    }
}

impl Metadata for Value {
    fn metadata(&self) -> Option<&JsonMap> {
        self.get("metadata").and_then(Value::as_object)
    }

    fn metadata_mut(&mut self) -> &mut JsonMap {
        map_mut(map_mut(self).entry("metadata").or_insert(Value::Null))
    }
}

/// The finalizer of an owner whose dependents are kept (`metav1.FinalizerOrphanDependents`).
pub const ORPHAN: &str = "orphan";
/// The finalizer of an owner whose dependents are deleted first (`metav1.FinalizerDeleteDependents`).
pub const FOREGROUND: &str = "foregroundDeletion";

/// The value as a JSON object; anything else is replaced by an empty one first.
pub fn map_mut(value: &mut Value) -> &mut JsonMap {
    if !value.is_object() {
        *value = Value::Object(JsonMap::new());
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("made an object above"),
    }
}

/// A copy of an object without `metadata.managedFields`.
pub fn without_managers(object: &Value) -> Value {
    let Value::Object(members) = object else {
        return object.clone();
    };
    let mut copy = JsonMap::new();
    for (name, value) in members {
        let value = match value {
            Value::Object(metadata) if name == "metadata" => {
                let kept = metadata.iter().filter(|(name, _)| *name != "managedFields");
                let mut copy = JsonMap::new();
                kept.for_each(|(name, value)| drop(copy.insert(name.clone(), value.clone())));
                Value::Object(copy)
            }
            value => value.clone(),
        };
        copy.insert(name.clone(), value);
    }
    Value::Object(copy)
}

/// Returns whether a value is absent, or Go's zero value of its type.
pub fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

/// A text member of a JSON object; empty if it is absent or not a text.
pub fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}
