//! Converts a decoded map to a Go struct by reflection, without JSON in between
//! (`runtime.DefaultUnstructuredConverter.FromUnstructured` of apimachinery). A strategic merge
//! patch and an apply use it. It is laxer with numbers than JSON decoding, and its errors are its
//! own.

use serde_json::Value;

use crate::go;
use crate::schema::{DefinitionPart, Quantity, Scalar, Struct, Type, decode_part};

/// The result of a conversion.
#[derive(Debug, PartialEq)]
pub struct Converted {
    /// The value with numbers as their fields have them, and without unknown fields.
    pub value: Value,
    /// The fields that are not known, sorted: `unknown field "spec.bogus"`.
    pub unknown: Vec<String>,
}

/// Converts a map to a struct.
///
/// # Errors
/// The text of the error if a value cannot be of its field's type.
pub fn from_unstructured(mut value: Value, root: &Struct) -> Result<Converted, String> {
    let mut converter = Converter::default();
    converter.structure(&mut value, root)?;
    let mut unknown = converter.unknown;
    unknown.sort();
    Ok(Converted { value, unknown })
}

#[derive(Default)]
struct Converter {
    path: String,
    unknown: Vec<String>,
}

impl Converter {
    fn structure(&mut self, value: &mut Value, ty: &Struct) -> Result<(), String> {
        let Value::Object(members) = value else {
            return Err(format!(
                "cannot restore struct from: {}",
                go::reflect_kind(value)
            ));
        };
        let mut known = Vec::with_capacity(members.len());
        let mut unknown = Vec::new();
        for (name, member) in members.iter_mut() {
            match ty.position(name) {
                Some(position) => known.push((position, member)),
                None => unknown.push(name.clone()),
            }
        }
        // In the order of the fields: the first that does not fit is reported.
        known.sort_by_key(|(position, _)| *position);
        for (position, member) in known {
            let field = &ty.fields[position];
            let outer = self.enter(&field.name);
            self.value(member, &field.ty, (&ty.name, &field.name))?;
            self.path.truncate(outer);
        }
        for name in unknown {
            members.remove(&name);
            let outer = self.enter(&name);
            self.unknown
                .push(format!("unknown field \"{}\"", self.path));
            self.path.truncate(outer);
        }
        Ok(())
    }

    fn enter(&mut self, name: &str) -> usize {
        let outer = self.path.len();
        if outer > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        outer
    }

    /// Converts a value of the field `of` a struct, or one of its items or values.
    fn value(&mut self, value: &mut Value, ty: &Type, of: (&str, &str)) -> Result<(), String> {
        let kind = go::reflect_kind(value);
        match (ty, value) {
            (Type::Any | Type::Scalar(Scalar::Raw), _) | (_, Value::Null) => Ok(()),
            (Type::Struct(inner), value) => self.structure(value, inner),
            (Type::Definition(DefinitionPart::Schema), value) => {
                self.structure(value, DefinitionPart::schema())
            }
            // It reads its own JSON.
            (Type::Definition(part), value) => {
                *value = decode_part(value.take().into(), *part)?;
                Ok(())
            }
            // A map's keys are not in the path of what is in it.
            (Type::Map(inner), Value::Object(members)) => members
                .values_mut()
                .try_for_each(|value| self.value(value, &inner.value, of)),
            (Type::Map(_), _) => Err(format!("cannot restore map from {kind}")),
            (Type::List(inner), Value::Array(items)) => {
                let outer = self.path.len();
                for (i, item) in items.iter_mut().enumerate() {
                    self.path.push_str(&format!("[{i}]"));
                    self.value(item, &inner.item, of)?;
                    self.path.truncate(outer);
                }
                Ok(())
            }
            (Type::List(_), _) => Err(format!("cannot restore slice from {kind}")),
            (Type::Scalar(scalar), value) => {
                *value = convert_scalar(value.take(), *scalar, of)?;
                Ok(())
            }
        }
    }
}

fn convert_scalar(value: Value, scalar: Scalar, of: (&str, &str)) -> Result<Value, String> {
    let primitive = match scalar {
        Scalar::String => "string",
        Scalar::Bool => "bool",
        Scalar::Int32 => "int32",
        Scalar::Int64 => "int64",
        Scalar::Number => "float64",
        Scalar::Bytes => return bytes(value),
        Scalar::Quantity => return quantity(value),
        Scalar::Time | Scalar::MicroTime => {
            return match &value {
                Value::String(text) => {
                    go::time::canonical(text, scalar.time_layout()).map(|_| value)
                }
                _ => Err(cannot_unmarshal(&value, "string")),
            };
        }
        Scalar::IntOrString => {
            return match &value {
                Value::String(_) => Ok(value),
                // It reads what Go writes: a whole float has no fraction there.
                Value::Number(_) => match go::json(&value).parse::<i32>() {
                    Ok(number) => Ok(number.into()),
                    Err(_) => Err(cannot_unmarshal(&value, "int32")),
                },
                _ => Err(cannot_unmarshal(&value, "int32")),
            };
        }
        // Of custom resources, which are not converted.
        _ => return Ok(value),
    };
    convert_primitive(value, primitive, of)
}

/// Go's conversion to a primitive type.
fn convert_primitive(value: Value, primitive: &str, of: (&str, &str)) -> Result<Value, String> {
    let kind = go::reflect_kind(&value);
    match (&value, primitive) {
        _ if kind == primitive => Ok(value),
        // Go's conversion between integers cuts off what does not fit.
        (Value::Number(n), "int32" | "int64") => match (n.as_i64(), n.as_f64()) {
            (Some(i), _) => Ok((i as i32).into()),
            (None, Some(f)) if f.trunc() == f && primitive == "int32" => {
                Ok((integer(f) as i32).into())
            }
            (None, Some(f)) if f.trunc() == f => Ok(integer(f).into()),
            _ => Err(format!("cannot convert {kind} to {primitive}")),
        },
        (Value::Number(_), "float64") => Ok(value),
        // To Go a number is a character, which it may convert to text, and the converter forbids.
        (Value::Number(n), "string") if n.is_i64() => Err(format!(
            "cannot convert int64 to {}",
            named_type(of.0, of.1).unwrap_or(primitive)
        )),
        _ => Err(format!("unrecognized type: {primitive}")),
    }
}

/// Go's conversion of a float to an integer on amd64: one that does not fit is the smallest.
fn integer(float: f64) -> i64 {
    // 2^63 is the first float that is too large.
    if (-(2f64.powi(63))..2f64.powi(63)).contains(&float) {
        float as i64
    } else {
        i64::MIN
    }
}

fn quantity(value: Value) -> Result<Value, String> {
    let text = match &value {
        Value::String(text) => text.clone(),
        Value::Number(_) => go::json(&value),
        _ => return Err(QUANTITY_FORMAT.to_owned()),
    };
    match Quantity::canonical(&text) {
        Ok(_) => Ok(value),
        Err(error) => Err(error.to_owned()),
    }
}

/// The error of a type that reads its own JSON.
fn cannot_unmarshal(value: &Value, into: &str) -> String {
    let what = match value {
        Value::Number(_) if into == "string" => "number".to_owned(),
        Value::Number(_) => format!("number {}", go::json(value)),
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
        _ => go::reflect_kind(value).to_owned(),
    };
    format!("json: cannot unmarshal {what} into Go value of type {into}")
}

/// Text is base64; Go converts a list number by number (`sliceFromUnstructured`).
fn bytes(value: Value) -> Result<Value, String> {
    match &value {
        Value::String(text) => go::base64::canonical(text)
            .map(|_| value)
            .map_err(|error| format!("error decoding from json: {error}")),
        Value::Array(items) => {
            let mut bytes = Vec::with_capacity(items.len());
            for item in items {
                match item {
                    Value::Number(n) if n.is_i64() => {
                        bytes.push(n.as_i64().unwrap_or_default() as u8);
                    }
                    Value::Null => bytes.push(0),
                    _ => return Err("unrecognized type: uint8".to_owned()),
                }
            }
            Ok(go::base64::encode(&bytes).into())
        }
        other => Err(format!(
            "cannot restore slice from {}",
            go::reflect_kind(other)
        )),
    }
}

const QUANTITY_FORMAT: &str = "quantities must match the regular expression \
     '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/// The Go type of a field, of its items or of its values, where that is text with a name of its
/// own, as error messages show it.
pub fn named_type(owner: &str, field: &str) -> Option<&'static str> {
    // They have the fields of a container in common.
    let owner = match owner {
        "EphemeralContainer" => "Container",
        owner => owner,
    };
    let mut lines = include_str!("named_types.facts").lines();
    lines.find_map(|line| {
        let rest = line.strip_prefix(owner)?.strip_prefix('.')?;
        rest.strip_prefix(field)?.strip_prefix(' ')
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::builtin;
    use serde_json::json;

    fn convert(kind: &str, value: Value) -> Result<Converted, String> {
        from_unstructured(value, builtin(kind).unwrap())
    }

    #[test]
    fn the_first_field_that_does_not_fit_is_reported() {
        for (value, error) in [
            (json!({"spec": "x"}), "cannot restore struct from: string"),
            (
                json!({"spec": {"replicas": "x"}}),
                "unrecognized type: int32",
            ),
            (
                json!({"spec": {"replicas": 1.5}}),
                "cannot convert float64 to int32",
            ),
            (json!({"spec": {"paused": 1}}), "unrecognized type: bool"),
            (
                json!({"metadata": {"labels": {"a": 5}}}),
                "cannot convert int64 to string",
            ),
            (
                json!({"metadata": {"labels": {"a": {}}}}),
                "unrecognized type: string",
            ),
            (
                json!({"metadata": {"labels": []}}),
                "cannot restore map from slice",
            ),
            (
                json!({"metadata": {"finalizers": {}}}),
                "cannot restore slice from map",
            ),
            (
                json!({"metadata": {"uid": 5}, "spec": "x"}),
                "cannot convert int64 to types.UID",
            ),
            (
                json!({"metadata": {"creationTimestamp": 5}}),
                "json: cannot unmarshal number into Go value of type string",
            ),
            (
                json!({"spec": {"strategy": {"rollingUpdate": {"maxSurge": 1.5}}}}),
                "json: cannot unmarshal number 1.5 into Go value of type int32",
            ),
        ] {
            assert_eq!(
                convert("Deployment", value.clone()).unwrap_err(),
                error,
                "{value}"
            );
        }
    }

    #[test]
    fn numbers_become_what_their_field_is() {
        let spec = |value: Value| convert("DeploymentSpec", value).unwrap().value;
        assert_eq!(spec(json!({"replicas": 3.0})), json!({"replicas": 3}));
        assert_eq!(
            spec(json!({"replicas": 4_294_967_297_i64})),
            json!({"replicas": 1})
        );
        assert_eq!(spec(json!({"replicas": null})), json!({"replicas": null}));
    }

    #[test]
    fn unknown_fields_are_dropped_and_named_in_order_of_their_text() {
        let converted = convert(
            "Deployment",
            json!({"z": 1, "spec": {"b": 1, "template": {"spec": {"containers": [{"x": 1}]}}}, "a": 1}),
        )
        .unwrap();
        assert_eq!(
            converted.unknown,
            [
                r#"unknown field "a""#,
                r#"unknown field "spec.b""#,
                r#"unknown field "spec.template.spec.containers[0].x""#,
                r#"unknown field "z""#
            ]
        );
        assert_eq!(
            converted.value,
            json!({"spec": {"template": {"spec": {"containers": [{}]}}}})
        );
    }
}
