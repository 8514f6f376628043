//! The type of a value in an object.

use optimist_apiserver::schema::{ListKind, Struct, Type};

/// The type of a value, as far as it is known.
#[derive(Clone, Copy)]
pub(super) enum ValueType<'a> {
    Struct(&'a Struct),
    Other(&'a Type),
    Unknown,
}

impl<'a> ValueType<'a> {
    pub(super) fn new(ty: Option<&'a Type>) -> Self {
        match ty {
            Some(Type::Struct(inner)) => ValueType::Struct(inner),
            Some(other) => ValueType::Other(other),
            None => ValueType::Unknown,
        }
    }

    pub(super) fn member(self, name: &str) -> Self {
        match self {
            ValueType::Struct(inner) => Self::new(inner.member(name)),
            ValueType::Other(Type::Map(map)) => Self::new(Some(&map.value)),
            _ => ValueType::Unknown,
        }
    }

    pub(super) fn item(self) -> Self {
        match self {
            ValueType::Other(Type::List(list)) => Self::new(Some(&list.item)),
            _ => ValueType::Unknown,
        }
    }

    /// The fields that tell the items of the list apart.
    pub(super) fn item_keys(self) -> &'a [String] {
        match self {
            ValueType::Other(Type::List(list)) => match &list.kind {
                ListKind::Map(keys) => keys,
                _ => &[],
            },
            _ => &[],
        }
    }
}
