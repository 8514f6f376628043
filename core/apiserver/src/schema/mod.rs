//! The fields of each kind: their types, their merge rules for lists and maps, and their defaults.
//! Verbs, patches and apply know kinds only through this.

mod builtin;
pub mod custom;
mod decode;
mod defaults;
mod embedding;
mod empties;
mod go_types;
pub mod kinds;
pub mod openapi;
pub(crate) mod pod_amounts;
mod spelled;

use std::sync::{Arc, LazyLock};

use serde_json::Value;

use crate::go;
use crate::object::JsonMap;

pub use builtin::builtin;
pub use decode::{Decoded, decode, decode_part, decode_spelled, zero};
pub(crate) use defaults::TEMPLATE_GENERATION;
pub use defaults::fill_defaults;
pub use empties::Empties;
pub use kinds::requested;
pub use optimist_cel::ListKind;
pub use optimist_values::Quantity;

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
    /// A schema in a CustomResourceDefinition, whose members are such schemas in turn.
    Definition(DefinitionPart),
}

/// A place in a CustomResourceDefinition that a schema can stand in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionPart {
    /// `JSONSchemaProps`.
    Schema,
    /// A schema or a list of them (`JSONSchemaPropsOrArray`).
    SchemaOrList,
    /// A schema or a list of names (`JSONSchemaPropsOrStringArray`).
    SchemaOrTexts,
    /// A schema or a flag (`JSONSchemaPropsOrBool`).
    SchemaOrFlag,
}

impl DefinitionPart {
    /// The declared members of a schema.
    pub fn schema() -> &'static Struct {
        static SCHEMA: LazyLock<Arc<Struct>> =
            LazyLock::new(|| builtin("JSONSchemaProps").cloned().unwrap_or_default());
        &SCHEMA
    }
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
    /// Any of these: the type of custom resources whose schema says no more.
    Untyped,
    /// `runtime.RawExtension`: any JSON, which server-side apply owns as a whole.
    Raw,
}

impl Scalar {
    /// The layout in which a time of this type is written.
    pub(crate) fn time_layout(self) -> go::time::TimeLayout {
        match self {
            Scalar::MicroTime => go::time::TimeLayout::Micros,
            _ => go::time::TimeLayout::Seconds,
        }
    }
}

/// A struct, as Go would declare it.
#[derive(Debug, Default)]
pub struct Struct {
    /// Its name, as error messages show it.
    pub name: String,
    /// The fields in the order in which the server writes them.
    pub fields: Vec<Field>,
    /// A hash table: at the digest of each field's name, or after it, its position and one more; 0 where nothing is.
    /// Its length is a power of two.
    index: Vec<u32>,
    /// The positions of the fields that are written although they were never set.
    written_absent: Vec<usize>,
    /// Server-side apply owns it as a whole (`x-kubernetes-map-type: atomic`).
    pub atomic: bool,
    /// The type of members that are not declared; `None` where they are unknown fields.
    pub others: Option<Type>,
    /// `true` if a list or map that is written even when empty is in it, or below.
    keeps_empty: bool,
}

/// A field of a struct.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name in JSON.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// `true` if absent differs from the zero value (a Go pointer).
    pub pointer: bool,
    /// The condition under which the field is left out of the written object.
    pub omit: Omit,
    /// The rules by which a strategic merge patch merges it.
    pub patch: PatchStrategy,
    /// The default, which the server sets if the field is absent.
    pub default: Option<Value>,
}

/// The condition under which a field is left out of the written object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Omit {
    /// Never: zero values and `null` are written.
    Never,
    /// Left out if empty (Go's `omitempty`: structs are never empty).
    Empty,
    /// Left out if empty, structs too (Go's `omitzero`).
    Zero,
}

/// The rules by which a strategic merge patch treats a field (`patchStrategy` and `patchMergeKey`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchStrategy {
    /// Lists are merged rather than replaced.
    pub merge: bool,
    /// Maps are replaced as a whole.
    pub replace: bool,
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
    /// The rule by which server-side apply merges it.
    pub kind: ListKind,
}

impl Struct {
    /// A struct of these fields.
    pub fn new(name: impl Into<String>, fields: Vec<Field>, atomic: bool) -> Self {
        let mut index = vec![0; (fields.len() * 2).next_power_of_two()];
        for (field, position) in fields.iter().zip(1..) {
            let mut slot = slot(&field.name, index.len());
            while index[slot] != 0 {
                slot = (slot + 1) % index.len();
            }
            index[slot] = position;
        }
        let positions = 0..fields.len();
        Self {
            written_absent: positions
                .filter(|i| decode::is_written_absent(&fields[*i]))
                .collect(),
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

    /// The position of a declared field.
    pub fn position(&self, name: &str) -> Option<usize> {
        let slots = self.index.len();
        let mut slot = slot(name, slots);
        loop {
            let position = (*self.index.get(slot)? as usize).checked_sub(1)?;
            if self.fields[position].name == name {
                return Some(position);
            }
            slot = (slot + 1) & (slots - 1);
        }
    }

    /// The positions of the fields that are written although they were never set, in order.
    fn written_absent(&self) -> &[usize] {
        &self.written_absent
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

/// The slot of a name in a table of this length, which is a power of two: from the length of the name, its beginning
/// and its end.
fn slot(name: &str, slots: usize) -> usize {
    let bytes = name.as_bytes();
    let (first, last) = match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(first), Some(last)) => (u32::from_le_bytes(*first), u32::from_le_bytes(*last)),
        _ => bytes
            .iter()
            .fold((0, 0), |(all, _), byte| (all << 8 | u32::from(*byte), 0)),
    };
    let all = u64::from(first) << 32 | u64::from(last);
    let digest = (all.rotate_left(8) ^ bytes.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (digest >> 32) as usize & slots.wrapping_sub(1)
}

impl Type {
    fn keeps_empty(&self) -> bool {
        match self {
            Type::Struct(inner) => inner.keeps_empty,
            Type::List(inner) => inner.item.keeps_empty(),
            Type::Map(inner) => {
                inner.value.keeps_empty() || matches!(inner.value, Type::Scalar(Scalar::Bytes))
            }
            Type::Scalar(_) | Type::Any | Type::Definition(_) => false,
        }
    }

    fn forget_empty(&self, value: &mut Value) {
        match (self, &mut *value) {
            (Type::List(_), Value::Array(items)) if items.is_empty() => *value = Value::Null,
            (Type::Map(_), Value::Object(map)) if map.is_empty() => *value = Value::Null,
            // In a map or list, bytes that are absent are empty then.
            (Type::Scalar(Scalar::Bytes), Value::Null) => *value = "".into(),
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

    /// Returns the value that stands for this field if an item leaves out a key of its list: its
    /// declared default, or the zero value of a required scalar, as the published OpenAPI document
    /// has it.
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
