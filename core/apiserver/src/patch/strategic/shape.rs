//! The types' rules for merging (`strategicpatch/meta.go`, and the fork of `encoding/json` that
//! looks up struct fields).

use super::{StrategicResult, other};
use crate::go;
use crate::schema::{Field, Scalar, Type};

/// A Go type: the known facts about a value into which a patch is merged.
#[derive(Clone, Copy)]
pub(super) struct Shape<'a> {
    ty: &'a Type,
    pointer: bool,
}

/// A field of a struct, found by its name.
pub(super) struct FoundField<'a> {
    pub(super) shape: Shape<'a>,
    pub(super) field: &'a Field,
}

/// A list field: how its items merge.
pub(super) struct ListShape<'a> {
    /// The shape of each item.
    pub(super) item: Shape<'a>,
    /// `true` if items merge; otherwise the patch's list replaces the original's.
    pub(super) merges: bool,
    /// The member that tells items apart; empty where items are scalars.
    pub(super) key: &'a str,
    /// `true` if a patch names the members of an item that stay.
    pub(super) retains_keys: bool,
}

impl<'a> Shape<'a> {
    pub(super) fn new(ty: &'a Type, pointer: bool) -> Self {
        Self { ty, pointer }
    }

    /// The type's kind as Go's reflection names it.
    pub(super) fn kind(self) -> &'static str {
        if self.pointer {
            return "ptr";
        }
        match self.ty {
            Type::Map(_) => "map",
            Type::List(_) | Type::Scalar(Scalar::Bytes) => "slice",
            Type::Scalar(Scalar::String) => "string",
            Type::Scalar(Scalar::Bool) => "bool",
            Type::Scalar(Scalar::Int32) => "int32",
            Type::Scalar(Scalar::Int64) => "int64",
            Type::Scalar(Scalar::Number) => "float64",
            Type::Struct(_) | Type::Scalar(_) | Type::Any | Type::Definition(_) => "struct",
        }
    }

    /// A field of a struct; in a pinch one whose name differs in case only.
    pub(super) fn field(self, name: &str) -> StrategicResult<FoundField<'a>> {
        let pointed = Shape::new(self.ty, false);
        if pointed.kind() != "struct" {
            return other(format!(
                "merging an object in json but data type is not struct, instead is: {}",
                pointed.kind()
            ));
        }
        let (type_name, field) = match self.ty {
            Type::Struct(ty) => {
                let alike = || {
                    ty.fields
                        .iter()
                        .find(|field| field.name.eq_ignore_ascii_case(name))
                };
                (ty.name.as_str(), ty.field(name).or_else(alike))
            }
            Type::Scalar(Scalar::Raw) => ("RawExtension", None),
            Type::Scalar(Scalar::Time) => ("Time", None),
            Type::Scalar(Scalar::MicroTime) => ("MicroTime", None),
            Type::Scalar(Scalar::Quantity) => ("Quantity", None),
            Type::Scalar(Scalar::IntOrString) => ("IntOrString", None),
            _ => ("FieldsV1", None),
        };
        match field {
            Some(field) => Ok(FoundField {
                shape: Shape::new(&field.ty, field.pointer),
                field,
            }),
            None => other(format!(
                "unable to find api field in struct {type_name} for the json field {}",
                go::quote(name)
            )),
        }
    }

    /// A list field of a struct.
    pub(super) fn list(self, name: &str) -> StrategicResult<ListShape<'a>> {
        let FoundField { shape, field } = self.field(name)?;
        let item = match shape.ty {
            Type::List(list) => Shape::new(&list.item, false),
            ty if shape.pointer || matches!(ty, Type::Scalar(Scalar::Bytes)) => {
                Shape::new(ty, false)
            }
            _ => {
                let kind = self.kind();
                return other(format!("expected slice or array type, but got: {kind}"));
            }
        };
        Ok(ListShape {
            item,
            merges: field.patch.merge,
            key: field.patch.merge_key.as_deref().unwrap_or_default(),
            retains_keys: field.patch.retain_keys,
        })
    }
}
