//! What the fields of each kind are: their types, how lists and maps merge, what is filled in.
//! Verbs, patches and apply know kinds only through this.

mod builtin;
pub mod custom;
mod decode;
mod defaults;
pub mod openapi;
mod quantity;

use std::sync::Arc;

use serde_json::Value;

pub use builtin::builtin;
pub use decode::{Decoded, decode, zero};
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
    /// Positions in `fields`, sorted by name.
    index: Vec<usize>,
    /// Server-side apply owns it as a whole (`x-kubernetes-map-type: atomic`).
    pub atomic: bool,
    /// The type of members that are not declared; `None` where they are unknown fields.
    pub others: Option<Type>,
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
    /// What the server fills in where it is absent.
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
    /// Scalars, each owned by itself.
    Set,
    /// Items told apart by these fields.
    Map(Vec<String>),
}

impl Struct {
    /// A struct of these fields.
    pub fn new(name: impl Into<String>, fields: Vec<Field>, atomic: bool) -> Self {
        let mut index: Vec<usize> = (0..fields.len()).collect();
        index.sort_by(|&a, &b| fields[a].name.cmp(&fields[b].name));
        Self {
            name: name.into(),
            fields,
            index,
            atomic,
            others: None,
        }
    }

    /// A declared field and its position.
    pub fn position(&self, name: &str) -> Option<usize> {
        let found = self
            .index
            .binary_search_by(|&i| self.fields[i].name.as_str().cmp(name))
            .ok()?;
        Some(self.index[found])
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

impl Field {
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
