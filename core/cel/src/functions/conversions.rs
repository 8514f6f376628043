//! Conversions between types, and optional values (`cel-go/common/types`, `cel/library.go`).

use std::rc::Rc;

use optimist_encoding::go::parse_duration;

use super::super::evaluate::{Evaluated, EvaluationError, Machine};
use super::super::value::Val;
use super::times;

pub(super) fn apply(_: &Machine, function: &str, args: &[Val]) -> Option<Evaluated> {
    Some(match (function, args) {
        ("size", [value @ (Val::Text(_) | Val::Bytes(_) | Val::List(_) | Val::Map(_))]) => {
            Ok(Val::Int(value.size() as i64))
        }
        ("type", [value]) => Ok(Val::Type(value.type_name())),
        ("dyn", [value]) => Ok(value.clone()),
        ("bool", [value]) => to_bool(value),
        ("int", [value]) => to_int(value),
        ("uint", [value]) => to_uint(value),
        ("double", [value]) => to_double(value),
        ("string", [value]) => to_text(value),
        ("bytes", [value]) => match value {
            Val::Bytes(_) => Ok(value.clone()),
            Val::Text(text) => Ok(Val::Bytes(text.as_bytes().into())),
            _ => Err(EvaluationError::no_overload()),
        },
        ("duration", [value]) => match value {
            Val::Duration(_) => Ok(value.clone()),
            Val::Int(nanos) => Ok(Val::Duration(*nanos)),
            Val::Text(text) => parse_duration(text)
                .map(Val::Duration)
                .map_err(|_| no_conversion("google.protobuf.Duration")),
            _ => Err(EvaluationError::no_overload()),
        },
        ("timestamp", [value]) => match value {
            Val::Timestamp(..) => Ok(value.clone()),
            Val::Int(seconds) => times::checked(i128::from(*seconds) * times::SECOND, 0),
            Val::Text(text) => {
                times::timestamp(text).ok_or_else(|| no_conversion("google.protobuf.Timestamp"))
            }
            _ => Err(EvaluationError::no_overload()),
        },
        _ => return of_optional(function, args),
    })
}

fn of_optional(function: &str, args: &[Val]) -> Option<Evaluated> {
    Some(Ok(match (function, args) {
        ("optional.of", [value]) => Val::some(value.clone()),
        ("optional.ofNonZeroValue", [value]) if is_zero(value) => Val::Optional(None),
        ("optional.ofNonZeroValue", [value]) => Val::some(value.clone()),
        ("optional.none", []) => Val::Optional(None),
        ("value", [Val::Optional(Some(value))]) => (**value).clone(),
        ("value", [Val::Optional(None)]) => {
            return Some(Err(EvaluationError::new("optional.none() dereference")));
        }
        ("hasValue", [Val::Optional(value)]) => Val::Bool(value.is_some()),
        ("optional.unwrap" | "unwrapOpt", [Val::List(list)]) => {
            let present = list.items.iter().filter_map(|item| match item {
                Val::Optional(value) => value.as_deref().cloned(),
                other => Some(other.clone()),
            });
            Val::list(present.collect())
        }
        ("first", [Val::List(list)]) => Val::Optional(list.items.first().cloned().map(Rc::new)),
        ("last", [Val::List(list)]) => Val::Optional(list.items.last().cloned().map(Rc::new)),
        _ => return None,
    }))
}

fn is_zero(value: &Val) -> bool {
    match value {
        Val::Null | Val::Optional(None) => true,
        Val::Bool(value) => !value,
        Val::Int(value) => *value == 0,
        Val::Uint(value) => *value == 0,
        Val::Double(value) => *value == 0.0,
        Val::Duration(value) => *value == 0,
        Val::Text(_) | Val::Bytes(_) | Val::List(_) | Val::Map(_) => value.size() == 0,
        _ => false,
    }
}

fn to_bool(value: &Val) -> Evaluated {
    match value {
        Val::Bool(_) => Ok(value.clone()),
        Val::Text(text) => match &**text {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(Val::Bool(true)),
            "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(Val::Bool(false)),
            _ => Err(no_conversion("bool")),
        },
        _ => Err(EvaluationError::no_overload()),
    }
}

/// Returns why a text cannot be converted by a function, if it cannot.
pub(crate) fn mistake(function: &str, text: &str) -> Option<String> {
    let text = Val::text(text);
    let converted = match function {
        "bool" => to_bool(&text),
        "int" => to_int(&text),
        "uint" => to_uint(&text),
        "double" => to_double(&text),
        _ => return None,
    };
    match converted {
        Err(EvaluationError::Error(why)) => Some(why),
        _ => None,
    }
}

/// A text that is none of a type (`String.ConvertToType` of `cel-go/common/types/string.go`).
fn no_conversion(to: &str) -> EvaluationError {
    EvaluationError::new(format!("type conversion error from 'string' to '{to}'"))
}

/// A whole number as Go reads it: a sign and digits.
fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit())
}

fn to_int(value: &Val) -> Evaluated {
    let overflow = || EvaluationError::new("integer overflow");
    Ok(Val::Int(match value {
        Val::Int(value) => *value,
        Val::Uint(value) => i64::try_from(*value).map_err(|_| overflow())?,
        Val::Double(value) if value.abs() < 9_223_372_036_854_775_807.0 => *value as i64,
        Val::Double(_) => return Err(overflow()),
        Val::Duration(nanos) => *nanos,
        Val::Timestamp(nanos, _) => nanos.div_euclid(times::SECOND) as i64,
        Val::Text(text) => {
            if !digits(text.strip_prefix(['+', '-']).unwrap_or(text)) {
                return Err(no_conversion("int"));
            }
            text.parse().map_err(|_| no_conversion("int"))?
        }
        _ => return Err(EvaluationError::no_overload()),
    }))
}

fn to_uint(value: &Val) -> Evaluated {
    let overflow = || EvaluationError::new("unsigned integer overflow");
    Ok(Val::Uint(match value {
        Val::Uint(value) => *value,
        Val::Int(value) => u64::try_from(*value).map_err(|_| overflow())?,
        Val::Double(value) if *value >= 0.0 && *value < 18_446_744_073_709_551_615.0 => {
            *value as u64
        }
        Val::Double(_) => return Err(overflow()),
        Val::Text(text) if !digits(text) => return Err(no_conversion("uint")),
        Val::Text(text) => text.parse().map_err(|_| no_conversion("uint"))?,
        _ => return Err(EvaluationError::no_overload()),
    }))
}

fn to_double(value: &Val) -> Evaluated {
    Ok(Val::Double(match value {
        Val::Double(value) => *value,
        Val::Int(value) => *value as f64,
        Val::Uint(value) => *value as f64,
        Val::Text(text) => text.parse().map_err(|_| no_conversion("double"))?,
        _ => return Err(EvaluationError::no_overload()),
    }))
}

fn to_text(value: &Val) -> Evaluated {
    Ok(Val::text(match value {
        Val::Text(_) => return Ok(value.clone()),
        Val::Bool(value) => value.to_string(),
        Val::Int(value) => value.to_string(),
        Val::Uint(value) => value.to_string(),
        Val::Double(value) => super::printf::shortest(*value),
        Val::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => {
                let why = "invalid UTF-8 in bytes, cannot convert to string";
                return Err(EvaluationError::new(why));
            }
        },
        Val::Duration(nanos) => times::seconds(*nanos),
        Val::Timestamp(nanos, offset) => times::format_timestamp(*nanos, *offset),
        Val::Ip(ip) => ip.to_string(),
        Val::Cidr(ip, bits) => format!("{ip}/{bits}"),
        _ => return Err(EvaluationError::no_overload()),
    }))
}
