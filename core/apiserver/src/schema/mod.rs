//! What the fields of each kind are: their types, how lists and maps merge, what is filled in.
//! Verbs, patches and apply know kinds only through this.

mod builtin;
pub mod custom;
mod decode;
mod defaults;
pub mod kinds;
pub mod openapi;
mod quantity;

use std::sync::Arc;

use serde_json::Value;

use crate::object::JsonMap;

pub use builtin::builtin;
pub(crate) use decode::layout_of;
pub use decode::{Decoded, Empties, decode, zero};
pub(crate) use defaults::TEMPLATE_GENERATION;
pub use defaults::fill_defaults;
pub use quantity::Quantity;

/// The type of a value.
#[derive(Clone, Debug)]
pub enum Type {
    /// A leaf.
    Scalar(Scalar),
    /// A struct with declared fields.
    Struct(Arc<Struct>),
    /// A map with string keys.
    Map(Arc<MapType>),
    /// A list.
    List(Arc<ListType>),
    /// Anything: structure is deduced from the value (maps granular, lists atomic).
    Any,
}

/// The type of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Scalar {
    String,
    Bool,
    Int32,
    Int64,
    Number,
    /// Base64 in JSON.
    Bytes,
    /// `metav1.Time`: RFC 3339, whole seconds.
    Time,
    /// `metav1.MicroTime`.
    MicroTime,
    /// `resource.Quantity`.
    Quantity,
    /// `intstr.IntOrString`.
    IntOrString,
    /// Any of these: what custom resources have where their schema says no more.
    Untyped,
}

/// A struct: what Go would declare.
#[derive(Debug, Default)]
pub struct Struct {
    /// Its name, as error messages show it.
    pub name: String,
    /// The fields in the order in which the server writes them.
    pub fields: Vec<Field>,
    /// The length of the name and the position of each field, sorted by length and then by name: few
    /// names need a comparison of their characters.
    index: Vec<(usize, usize)>,
    /// Server-side apply owns it as a whole (`x-kubernetes-map-type: atomic`).
    pub atomic: bool,
    /// The type of members that are not declared; `None` where they are unknown fields.
    pub others: Option<Type>,
    /// Whether a list or map that is written even when empty is in it, or below.
    keeps_empty: bool,
}

/// A field of a struct.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name in JSON.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Whether absent differs from the zero value (a Go pointer).
    pub pointer: bool,
    /// When it is left out of what is written.
    pub omit: Omit,
    /// How a strategic merge patch merges it.
    pub patch: PatchStrategy,
    /// The default, which the server sets if the field is absent.
    pub default: Option<Value>,
}

/// When a field is left out of what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Omit {
    /// Never: zero values and `null` are written.
    Never,
    /// When empty (Go's `omitempty`: structs are never empty).
    Empty,
    /// When empty, structs too (Go's `omitzero`).
    Zero,
}

/// How a strategic merge patch treats a field (`patchStrategy` and `patchMergeKey`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchStrategy {
    /// Lists are merged rather than replaced.
    pub merge: bool,
    /// `$retainKeys` is allowed.
    pub retain_keys: bool,
    /// The field that tells list items apart.
    pub merge_key: Option<String>,
}

/// A map with string keys.
#[derive(Debug)]
pub struct MapType {
    /// The type of its values.
    pub value: Type,
    /// Server-side apply owns it as a whole.
    pub atomic: bool,
}

/// A list.
#[derive(Debug)]
pub struct ListType {
    /// The type of its items.
    pub item: Type,
    /// How server-side apply merges it.
    pub kind: ListKind,
}

/// How server-side apply merges a list (`x-kubernetes-list-type`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ListKind {
    /// Owned as a whole.
    #[default]
    Atomic,
    /// Scalars, each with its own owners.
    Set,
    /// Items with these fields as key.
    Map(Vec<String>),
}

impl Struct {
    /// A struct of these fields.
    pub fn new(name: impl Into<String>, fields: Vec<Field>, atomic: bool) -> Self {
        let lengths = fields.iter().map(|field| field.name.len());
        let mut index: Vec<(usize, usize)> = lengths.zip(0..).collect();
        index.sort_by(|a, b| {
            let names = || fields[a.1].name.cmp(&fields[b.1].name);
            a.0.cmp(&b.0).then_with(names)
        });
        Self {
            name: name.into(),
            keeps_empty: fields.iter().any(Field::keeps_empty),
            fields,
            index,
            atomic,
            others: None,
        }
    }

    /// Writes empty lists and maps as absent ones, as they come back from etcd: its encoding does
    /// not tell them apart.
    pub fn forget_empty(&self, object: &mut JsonMap) {
        if !self.keeps_empty {
            return;
        }
        for field in self.fields.iter().filter(|field| field.keeps_empty()) {
            if let Some(value) = object.get_mut(&field.name) {
                field.ty.forget_empty(value);
            }
        }
    }

    /// A declared field and its position.
    pub fn position(&self, name: &str) -> Option<usize> {
        let found = self.index.binary_search_by(|(length, i)| {
            let names = || self.fields[*i].name.as_str().cmp(name);
            length.cmp(&name.len()).then_with(names)
        });
        Some(self.index[found.ok()?].1)
    }

    /// A declared field.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.position(name).map(|i| &self.fields[i])
    }

    /// The type of a member, declared or not.
    pub fn member(&self, name: &str) -> Option<&Type> {
        match self.field(name) {
            Some(field) => Some(&field.ty),
            None => self.others.as_ref(),
        }
    }
}

impl Type {
    fn keeps_empty(&self) -> bool {
        match self {
            Type::Struct(inner) => inner.keeps_empty,
            Type::List(inner) => inner.item.keeps_empty(),
            Type::Map(inner) => inner.value.keeps_empty(),
            Type::Scalar(_) | Type::Any => false,
        }
    }

    fn forget_empty(&self, value: &mut Value) {
        match (self, &mut *value) {
            (Type::List(_), Value::Array(items)) if items.is_empty() => *value = Value::Null,
            (Type::Map(_), Value::Object(map)) if map.is_empty() => *value = Value::Null,
            (Type::Struct(inner), Value::Object(map)) => inner.forget_empty(map),
            (Type::List(inner), Value::Array(items)) => {
                items
                    .iter_mut()
                    .for_each(|item| inner.item.forget_empty(item));
            }
            (Type::Map(inner), Value::Object(map)) => {
                map.values_mut()
                    .for_each(|value| inner.value.forget_empty(value));
            }
            _ => {}
        }
    }
}

impl Field {
    fn keeps_empty(&self) -> bool {
        let collection = matches!(self.ty, Type::List(_) | Type::Map(_));
        self.omit == Omit::Never && collection || self.ty.keeps_empty()
    }

    /// What stands for this field when an item leaves out a key of its list: its declared default,
    /// or the zero value of a required scalar, as the published OpenAPI document has it.
    pub fn key_default(&self) -> Option<Value> {
        if self.default.is_some() {
            return self.default.clone();
        }
        if self.pointer || self.omit != Omit::Never {
            return None;
        }
        match self.ty {
            Type::Scalar(Scalar::Int32 | Scalar::Int64 | Scalar::Number) => Some(0.into()),
            Type::Scalar(Scalar::Bool) => Some(false.into()),
            Type::Scalar(Scalar::String) => Some("".into()),
            _ => None,
        }
    }
}
