//! The form in which Go writes a field that was never set.

use serde_json::Value;

use crate::object::JsonMap;
use crate::schema::{DefinitionPart, Field, Omit, Scalar, Struct, Type};

/// Returns the JSON of an untouched Go value of this struct.
pub fn zero(ty: &Struct) -> Value {
    Value::Object(empty(ty))
}

pub(super) fn empty(ty: &Struct) -> JsonMap {
    let mut map = JsonMap::new();
    for position in ty.written_absent() {
        insert_absent(&ty.fields[*position], &mut map);
    }
    map
}

pub(super) fn insert_absent(field: &Field, map: &mut JsonMap) {
    if let Some(value) = absent(&field.ty, field.pointer, field.omit) {
        map.insert(field.name.clone(), value);
    }
}

/// Returns whether a field is written although it was never set.
pub(in crate::schema) fn is_written_absent(field: &Field) -> bool {
    absent(&field.ty, field.pointer, field.omit).is_some()
}

/// The written form of a field that was never set; `None` if the field is left out.
pub(super) fn absent(ty: &Type, pointer: bool, omit: Omit) -> Option<Value> {
    match (ty, omit) {
        (_, Omit::Zero) => None,
        (Type::Struct(inner), _) if !pointer => Some(zero(inner)),
        (Type::Definition(DefinitionPart::Schema), _) if !pointer => {
            Some(zero(DefinitionPart::schema()))
        }
        (Type::Scalar(Scalar::Time | Scalar::MicroTime), _) if !pointer => Some(Value::Null),
        // A struct in Go, so never empty.
        (Type::Scalar(Scalar::Quantity), _) if !pointer => Some(zero_scalar(Scalar::Quantity)),
        (_, Omit::Empty) => None,
        (Type::Scalar(scalar), Omit::Never) if !pointer => Some(zero_scalar(*scalar)),
        (_, Omit::Never) => Some(Value::Null),
    }
}

fn zero_scalar(scalar: Scalar) -> Value {
    match scalar {
        Scalar::String => "".into(),
        Scalar::Bool => false.into(),
        Scalar::Int32 | Scalar::Int64 | Scalar::Number | Scalar::IntOrString => 0.into(),
        Scalar::Untyped | Scalar::Raw => Value::Null,
        Scalar::Quantity => "0".into(),
        Scalar::Bytes | Scalar::Time | Scalar::MicroTime => Value::Null,
    }
}
