//! The functions of rules, each told apart by its name and the types of its arguments.

pub(super) mod conversions;
pub(super) mod formats;
pub(super) mod libraries;
pub(super) mod lists;
pub(super) mod network;
pub(super) mod operators;
pub(super) mod printf;
pub(super) mod strings;
pub(super) mod times;

use std::rc::Rc;

use super::evaluate::{Evaluated, EvaluationError, Machine};
use super::overloads;
use super::types::{CelType, NAMED};
use super::value::{MapKey, Val};

/// Applies a function. The target is the first argument.
pub(super) fn apply(machine: &Machine, function: &str, args: &[Val]) -> Evaluated {
    if function.starts_with(['_', '!', '-', '@']) && function != "@sortByAssociatedKeys" {
        return operators::apply(function, args);
    }
    let families = [
        conversions::apply,
        strings::apply,
        lists::apply,
        times::apply,
        network::apply,
        libraries::apply,
    ];
    for family in families {
        if let Some(result) = family(machine, function, args) {
            return result;
        }
    }
    Err(EvaluationError::no_overload())
}

/// A member of a value that must be there.
pub(super) fn select(value: &Val, field: &str) -> Evaluated {
    match value {
        Val::Map(map) => {
            let found = map.get(&MapKey::Text(field.into())).cloned();
            found.ok_or_else(|| EvaluationError::new(format!("no such key: {field}")))
        }
        Val::Composed(known) => {
            let missing = || Err(EvaluationError::new(format!("no such key: {field}")));
            known.get(field).cloned().unwrap_or_else(missing)
        }
        Val::Optional(None) => Ok(Val::Optional(None)),
        Val::Optional(Some(of)) => Ok(Val::Optional(optional(of, field))),
        Val::List(_) => Err(EvaluationError::no_overload()),
        // `refQualify` of `cel-go/interpreter/attributes.go`.
        _ => Err(EvaluationError::new(format!("no such key: {field}"))),
    }
}

/// A member of a value, if it is there.
pub(super) fn optional(value: &Val, field: &str) -> Option<Rc<Val>> {
    match value {
        Val::Map(map) => map.get(&MapKey::Text(field.into())).cloned().map(Rc::new),
        Val::Optional(Some(of)) => optional(of, field),
        _ => None,
    }
}

/// Returns whether a value has a member.
pub(super) fn has(value: &Val, field: &str) -> Evaluated {
    match value {
        Val::Composed(known) => Ok(Val::Bool(known.contains_key(field))),
        Val::Map(_) | Val::Optional(_) => Ok(Val::Bool(optional(value, field).is_some())),
        _ => Err(EvaluationError::no_overload()),
    }
}

/// The value of the name of a type.
pub(super) fn type_named(name: &str) -> Evaluated {
    let ty = overloads::named_type(name).ok_or(EvaluationError::Unknown)?;
    Ok(Val::Type(match ty {
        CelType::Bool => "bool",
        CelType::Int => "int",
        CelType::Uint => "uint",
        CelType::Double => "double",
        CelType::String => "string",
        CelType::Bytes => "bytes",
        CelType::Duration => "google.protobuf.Duration",
        CelType::Timestamp => "google.protobuf.Timestamp",
        CelType::List(_) => "list",
        CelType::Map(..) => "map",
        CelType::Optional(_) => "optional_type",
        CelType::Null => "null_type",
        CelType::Type(_) => "type",
        CelType::Named(name) => NAMED.into_iter().find(|it| *it == name).unwrap_or("type"),
        _ => return Err(EvaluationError::Unknown),
    }))
}
