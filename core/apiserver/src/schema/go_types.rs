//! The names of types in the messages of Go (`reflect.Type.String`).

use super::{DefinitionPart, Scalar, Type, kinds};

/// A type's name in Go's messages.
pub(super) fn go_type(ty: &Type) -> String {
    match ty {
        Type::Scalar(scalar) => match scalar {
            Scalar::String => "string",
            Scalar::Bool => "bool",
            Scalar::Int32 => "int32",
            Scalar::Int64 => "int64",
            Scalar::Number => "float64",
            Scalar::Bytes => "[]uint8",
            // Their unmarshalers read text first.
            Scalar::Time | Scalar::MicroTime => "string",
            Scalar::Quantity => "resource.Quantity",
            Scalar::IntOrString => "int32",
            Scalar::Untyped | Scalar::Raw => "interface {}",
        }
        .to_owned(),
        Type::Struct(inner) => format!("{}.{}", kinds::go_package(inner), inner.name),
        Type::Map(inner) if matches!(inner.value, Type::Scalar(Scalar::Quantity)) => {
            "v1.ResourceList".to_owned()
        }
        Type::Map(inner) => format!("map[string]{}", go_type(&inner.value)),
        Type::List(inner) => format!("[]{}", go_type(&inner.item)),
        Type::Any => "interface {}".to_owned(),
        Type::Definition(part) => match part {
            DefinitionPart::Schema => "v1.JSONSchemaProps",
            DefinitionPart::SchemaOrList => "v1.JSONSchemaPropsOrArray",
            DefinitionPart::SchemaOrTexts => "v1.JSONSchemaPropsOrStringArray",
            DefinitionPart::SchemaOrFlag => "v1.JSONSchemaPropsOrBool",
        }
        .to_owned(),
    }
}
