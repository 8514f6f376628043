//! Operators (`cel-go/common/types`).

use std::cmp::Ordering;
use std::rc::Rc;

use super::super::evaluate::{Evaluated, EvaluationError};
use super::super::value::{MapKey, Val};
use super::times;

const INT_OVERFLOW: &str = "integer overflow";

pub(super) fn apply(operator: &str, args: &[Val]) -> Evaluated {
    match (operator, args) {
        ("_==_", [one, other]) => Ok(Val::Bool(one.equals(other))),
        ("_!=_", [one, other]) => Ok(Val::Bool(!one.equals(other))),
        ("_<_" | "_<=_" | "_>_" | "_>=_", [one, other]) => compared(operator, one, other),
        ("!_", [Val::Bool(value)]) => Ok(Val::Bool(!value)),
        ("-_", [Val::Int(value)]) => value
            .checked_neg()
            .map(Val::Int)
            .ok_or_else(|| EvaluationError::new(INT_OVERFLOW)),
        ("-_", [Val::Double(value)]) => Ok(Val::Double(-value)),
        ("_[_]", [from, index]) => indexed(from, index),
        ("_[?_]", [from, index]) => Ok(Val::Optional(element(from, index)?.map(Rc::new))),
        ("_?._", [from, Val::Text(field)]) => Ok(Val::Optional(super::optional(from, field))),
        ("@in", [item, Val::List(list)]) => {
            Ok(Val::Bool(list.items.iter().any(|it| it.equals(item))))
        }
        ("@in", [key, Val::Map(map)]) => {
            let key = MapKey::from_value(key);
            Ok(Val::Bool(key.is_some_and(|key| map.contains_key(&key))))
        }
        (_, [one, other]) => arithmetic(operator, one, other),
        _ => Err(EvaluationError::no_overload()),
    }
}

fn compared(operator: &str, one: &Val, other: &Val) -> Evaluated {
    let nan = |value: &Val| matches!(value, Val::Double(value) if value.is_nan());
    if nan(one) || nan(other) {
        return Ok(Val::Bool(false));
    }
    let order = one
        .compare(other)
        .ok_or_else(EvaluationError::no_overload)?;
    Ok(Val::Bool(match operator {
        "_<_" => order == Ordering::Less,
        "_<=_" => order != Ordering::Greater,
        "_>_" => order == Ordering::Greater,
        _ => order != Ordering::Less,
    }))
}

fn arithmetic(operator: &str, one: &Val, other: &Val) -> Evaluated {
    match (one, other) {
        (Val::Int(one), Val::Int(other)) => ints(operator, *one, *other),
        (Val::Uint(one), Val::Uint(other)) => uints(operator, *one, *other),
        (Val::Double(one), Val::Double(other)) => Ok(Val::Double(match operator {
            "_+_" => one + other,
            "_-_" => one - other,
            "_*_" => one * other,
            "_/_" => one / other,
            _ => return Err(EvaluationError::no_overload()),
        })),
        (Val::Text(one), Val::Text(other)) if operator == "_+_" => {
            Ok(Val::text(format!("{one}{other}")))
        }
        (Val::Bytes(one), Val::Bytes(other)) if operator == "_+_" => {
            Ok(Val::Bytes([&**one, &**other].concat().into()))
        }
        (Val::List(one), Val::List(other)) if operator == "_+_" => {
            let mut list = one.clone();
            Rc::make_mut(&mut list).append(&other.items);
            Ok(Val::List(list))
        }
        _ => times::arithmetic(operator, one, other),
    }
}

/// The arithmetic of one type of whole numbers (`common/types/overflow.go`).
macro_rules! arithmetic_of {
    ($name:ident, $number:ty, $value:path, $overflow:expr) => {
        fn $name(operator: &str, one: $number, other: $number) -> Evaluated {
            let value = match operator {
                "_+_" => one.checked_add(other),
                "_-_" => one.checked_sub(other),
                "_*_" => one.checked_mul(other),
                "_/_" if other == 0 => return Err(EvaluationError::new("division by zero")),
                "_/_" => one.checked_div(other),
                "_%_" if other == 0 => return Err(EvaluationError::new("modulus by zero")),
                "_%_" => one.checked_rem(other),
                _ => return Err(EvaluationError::no_overload()),
            };
            value
                .map($value)
                .ok_or_else(|| EvaluationError::new($overflow))
        }
    };
}

arithmetic_of!(ints, i64, Val::Int, INT_OVERFLOW);
arithmetic_of!(uints, u64, Val::Uint, "unsigned integer overflow");

fn indexed(from: &Val, index: &Val) -> Evaluated {
    if let Val::Optional(_) = from {
        return Ok(Val::Optional(element(from, index)?.map(Rc::new)));
    }
    element(from, index)?.ok_or_else(|| match from {
        Val::List(_) => EvaluationError::new(format!("index out of bounds: {}", index_text(index))),
        _ => EvaluationError::new(format!("no such key: {}", index_text(index))),
    })
}

fn index_text(index: &Val) -> String {
    match index {
        Val::Bool(value) => value.to_string(),
        Val::Int(value) => value.to_string(),
        Val::Uint(value) => value.to_string(),
        Val::Double(value) => value.to_string(),
        Val::Text(text) => text.to_string(),
        _ => String::new(),
    }
}

fn element(from: &Val, index: &Val) -> Evaluated<Option<Val>> {
    match from {
        Val::List(list) => {
            let index = match index {
                Val::Int(index) => usize::try_from(*index).ok(),
                Val::Uint(index) => usize::try_from(*index).ok(),
                Val::Double(index) if index.fract() == 0.0 && *index >= 0.0 => {
                    Some(*index as usize)
                }
                _ => return Err(EvaluationError::no_overload()),
            };
            Ok(index.and_then(|index| list.items.get(index)).cloned())
        }
        Val::Map(map) => Ok(MapKey::from_value(index)
            .and_then(|key| map.get(&key))
            .cloned()),
        Val::Optional(Some(of)) => element(of, index),
        Val::Optional(None) => Ok(None),
        _ => Err(EvaluationError::no_overload()),
    }
}

/// The error of a loop over a value that has no items (`evalFold.Eval`).
pub(crate) fn not_iterable(value: &Val) -> EvaluationError {
    let ty = match value {
        Val::Null => "types.Null",
        Val::Bool(_) => "types.Bool",
        Val::Int(_) => "types.Int",
        Val::Uint(_) => "types.Uint",
        Val::Double(_) => "types.Double",
        Val::Text(_) => "types.String",
        Val::Bytes(_) => "types.Bytes",
        Val::Duration(_) => "types.Duration",
        Val::Timestamp(..) => "types.Timestamp",
        Val::Optional(_) => "*types.Optional",
        _ => return EvaluationError::no_overload(),
    };
    EvaluationError::new(format!("got '{ty}', expected iterable type"))
}
