//! From protobuf to JSON.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};

use crate::PREFIX;
use crate::facts::{
    Alternative, Cardinality, Descriptors, FieldDescriptor, FieldType, MessageDescriptor,
};
use crate::reader::{Reader, Wire};
use crate::time;

/// The deepest nesting of messages. Go has no limit; deeper nesting here is an error.
const MAX_DEPTH: usize = 100;

/// An object on the wire: what it says that it is, and its own message, not yet decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Envelope {
    /// The version that it names; it can be empty.
    pub api_version: String,
    /// The kind that it names; it can be empty.
    pub kind: String,
    raw: Vec<u8>,
}

/// The reason why bytes are not an object; it prints as Go's error does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl Envelope {
    /// Reads what an object says that it is.
    ///
    /// # Errors
    /// If the bytes do not begin as an object does, or end too early.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        let wrong = |text: &str| Err(Error(text.to_owned()));
        if bytes.is_empty() {
            return wrong("empty data");
        }
        let Some(message) = bytes.strip_prefix(&PREFIX) else {
            return wrong(
                "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
            );
        };
        if message.is_empty() {
            return wrong("empty body");
        }
        unknown(message).map_err(Error)
    }
}

/// Decodes an object as one of this version and kind. Fields that are not known are dropped, as Go does.
/// Members come as the wire has them, empty ones too; the JSON names no version and no kind.
///
/// # Errors
/// If the bytes are not of the message of the kind, or if it has none.
pub fn decode(envelope: &Envelope, api_version: &str, kind: &str) -> Result<Value, Error> {
    let facts = Descriptors::get();
    let Some(message) = facts.of_kind(api_version, kind) else {
        return Err(Error(format!("{kind} has no protobuf message")));
    };
    let decoder = MessageDecoder { facts };
    let decoded = decoder.message(message, &envelope.raw, None, MAX_DEPTH);
    decoded.map_err(Error)
}

/// Reads `runtime.Unknown`.
fn unknown(bytes: &[u8]) -> Result<Envelope, String> {
    let mut envelope = Envelope::default();
    let mut reader = Reader::new(bytes, "Unknown");
    while let Some((number, wire)) = reader.next()? {
        match (number, wire) {
            (1, Wire::Bytes(head)) => {
                let mut reader = Reader::new(head, "TypeMeta");
                while let Some((number, wire)) = reader.next()? {
                    match (number, wire) {
                        (1, wire) => envelope.api_version = text(bytes_of(wire, "APIVersion")?),
                        (2, wire) => envelope.kind = text(bytes_of(wire, "Kind")?),
                        _ => {}
                    }
                }
            }
            (1, wire) => return Err(wrong_type(wire, "TypeMeta")),
            (2, wire) => envelope.raw = bytes_of(wire, "Raw")?.to_vec(),
            (3, wire) => _ = bytes_of(wire, "ContentEncoding")?,
            (4, wire) => _ = bytes_of(wire, "ContentType")?,
            _ => {}
        }
    }
    Ok(envelope)
}

struct MessageDecoder<'a> {
    facts: &'a Descriptors,
}

impl MessageDecoder<'_> {
    /// A message; `before` is the value that it adds to, as where a field is there twice.
    fn message(
        &self,
        message: &MessageDescriptor,
        bytes: &[u8],
        before: Option<Value>,
        depth: usize,
    ) -> Result<Value, String> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(format!("messages nest more than {MAX_DEPTH} deep"));
        };
        let mut value = match before {
            Some(before) => before,
            None if message.is_list() => Value::Array(Vec::new()),
            None => Value::Object(Map::new()),
        };
        let mut reader = Reader::new(bytes, message.name);
        while let Some((number, wire)) = reader.next()? {
            let Some(field) = message.field(number) else {
                continue;
            };
            if field.json == "." {
                value = self.field(field, wire, Some(value), depth)?;
            } else if let Value::Object(members) = &mut value {
                let before = members.remove(field.json);
                let member = self.field(field, wire, before, depth)?;
                members.insert(field.json.to_owned(), member);
            }
        }
        Ok(value)
    }

    fn field(
        &self,
        field: &FieldDescriptor,
        wire: Wire<'_>,
        before: Option<Value>,
        depth: usize,
    ) -> Result<Value, String> {
        match field.shape {
            Cardinality::One | Cardinality::Pointer => self.value(field, wire, before, depth),
            Cardinality::List => {
                let mut items = match before {
                    Some(Value::Array(items)) => items,
                    _ => Vec::new(),
                };
                match (wire, field.ty) {
                    // Numbers can be packed into one field.
                    (
                        Wire::Bytes(packed),
                        FieldType::Bool | FieldType::Int32 | FieldType::Int64,
                    ) => {
                        let mut reader = Reader::new(packed, "");
                        while !reader.is_at_end() {
                            let wire = Wire::Varint(reader.varint()?);
                            items.push(self.value(field, wire, None, depth)?);
                        }
                    }
                    _ => items.push(self.value(field, wire, None, depth)?),
                }
                Ok(Value::Array(items))
            }
            Cardinality::Map => {
                let mut members = match before {
                    Some(Value::Object(members)) => members,
                    _ => Map::new(),
                };
                let entry = bytes_of(wire, &field.in_go(self.facts))?;
                let (key, value) = self.entry(field, entry, depth)?;
                members.insert(key, value);
                Ok(Value::Object(members))
            }
        }
    }

    /// An entry of a map: a message with a key and a value, which can both be left out.
    fn entry(
        &self,
        field: &FieldDescriptor,
        bytes: &[u8],
        depth: usize,
    ) -> Result<(String, Value), String> {
        let (mut key, mut value) = (String::new(), None);
        let mut reader = Reader::new(bytes, "");
        while let Some((number, wire)) = reader.next()? {
            match number {
                1 => key = text(bytes_of(wire, "key")?),
                2 => value = Some(self.value(field, wire, None, depth)?),
                _ => {}
            }
        }
        let value = match (value, field.ty) {
            (Some(value), _) => value,
            (None, FieldType::String) => "".into(),
            (None, FieldType::Quantity) => "0".into(),
            (None, FieldType::Message(index)) => {
                self.message(self.facts.message(index), &[], None, depth)?
            }
            (None, _) => Value::Null,
        };
        Ok((key, value))
    }

    fn value(
        &self,
        field: &FieldDescriptor,
        wire: Wire<'_>,
        before: Option<Value>,
        depth: usize,
    ) -> Result<Value, String> {
        match (field.ty, wire) {
            (FieldType::Bool, Wire::Varint(value)) => return Ok((value != 0).into()),
            // Go keeps the lower bits.
            (FieldType::Int32, Wire::Varint(value)) => return Ok((value as u32 as i32).into()),
            (FieldType::Int64, Wire::Varint(value)) => return Ok(value.cast_signed().into()),
            (FieldType::Number, Wire::Fixed64(bytes)) => return Ok(number(bytes)),
            _ => {}
        }
        let scalar = matches!(
            field.ty,
            FieldType::Bool | FieldType::Int32 | FieldType::Int64 | FieldType::Number
        );
        let bytes = match wire {
            Wire::Bytes(bytes) if !scalar => bytes,
            wire => return Err(wrong_type(wire, &field.in_go(self.facts))),
        };
        match field.ty {
            FieldType::String => Ok(text(bytes).into()),
            FieldType::Bytes => Ok(BASE64_STANDARD.encode(bytes).into()),
            FieldType::Time | FieldType::MicroTime => {
                moment(bytes, field.ty == FieldType::MicroTime)
            }
            FieldType::Quantity => quantity(bytes),
            FieldType::IntOrString => int_or_string(bytes),
            FieldType::Any => json(bytes),
            FieldType::SchemaOr(other) => self.schema_or(other, bytes, depth),
            FieldType::Message(index) => {
                self.message(self.facts.message(index), bytes, before, depth)
            }
            _ => Ok(Value::Null),
        }
    }

    /// A schema, or what stands in its place.
    fn schema_or(&self, other: Alternative, bytes: &[u8], depth: usize) -> Result<Value, String> {
        let (mut allows, mut schema, mut items) = (false, None, Vec::new());
        let schema_of = |wire, name, before| {
            let Some(index) = self.facts.schema() else {
                return Ok(Value::Null);
            };
            let bytes = bytes_of(wire, name)?;
            self.message(self.facts.message(index), bytes, before, depth)
        };
        let name = match other {
            Alternative::Bool => "JSONSchemaPropsOrBool",
            Alternative::Schemas => "JSONSchemaPropsOrArray",
            Alternative::Strings => "JSONSchemaPropsOrStringArray",
        };
        let mut reader = Reader::new(bytes, name);
        while let Some((number, wire)) = reader.next()? {
            match (other, number, wire) {
                (Alternative::Bool, 1, Wire::Varint(value)) => allows = value != 0,
                (Alternative::Bool, 1, wire) => return Err(wrong_type(wire, "Allows")),
                (Alternative::Bool, 2, wire) | (_, 1, wire) => {
                    schema = Some(schema_of(wire, "Schema", schema.take())?);
                }
                (Alternative::Schemas, 2, wire) => {
                    items.push(schema_of(wire, "JSONSchemas", None)?);
                }
                (Alternative::Strings, 2, wire) => {
                    items.push(text(bytes_of(wire, "Property")?).into());
                }
                _ => {}
            }
        }
        Ok(match (other, schema) {
            (_, _) if !items.is_empty() => Value::Array(items),
            (_, Some(schema)) => schema,
            (Alternative::Bool, None) => allows.into(),
            (_, None) => Value::Null,
        })
    }
}

/// A whole number is written without a point.
fn number(bytes: [u8; 8]) -> Value {
    let number = f64::from_le_bytes(bytes);
    let whole = number as i64;
    if whole as f64 == number && whole.abs() < 1 << 53 {
        whole.into()
    } else {
        number.into()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn bytes_of<'a>(wire: Wire<'a>, field: &str) -> Result<&'a [u8], String> {
    match wire {
        Wire::Bytes(bytes) => Ok(bytes),
        wire => Err(wrong_type(wire, field)),
    }
}

fn wrong_type(wire: Wire<'_>, field: &str) -> String {
    let number = wire.number();
    format!("proto: wrong wireType = {number} for field {field}")
}

/// `metav1.Time` drops what is less than a second, `metav1.MicroTime` what is less than a microsecond.
fn moment(bytes: &[u8], micro: bool) -> Result<Value, String> {
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    let (mut seconds, mut nanos) = (0, 0);
    let mut reader = Reader::new(bytes, "Timestamp");
    while let Some((number, wire)) = reader.next()? {
        match (number, wire) {
            (1, Wire::Varint(value)) => seconds = value.cast_signed(),
            (2, Wire::Varint(value)) => nanos = value as u32 as i32,
            (1, wire) => return Err(wrong_type(wire, "Seconds")),
            (2, wire) => return Err(wrong_type(wire, "Nanos")),
            _ => {}
        }
    }
    let written = if micro {
        time::written_with_micros(seconds, nanos)
    } else {
        time::written(seconds)
    };
    match written {
        Some(_) if seconds == time::ZERO && nanos == 0 => Ok(Value::Null),
        Some(written) => Ok(written.into()),
        None => Err("year outside of range [0,9999]".to_owned()),
    }
}

fn quantity(bytes: &[u8]) -> Result<Value, String> {
    let mut quantity = "0".to_owned();
    let mut reader = Reader::new(bytes, "Quantity");
    while let Some((number, wire)) = reader.next()? {
        if number == 1 {
            quantity = text(bytes_of(wire, "String")?);
        }
    }
    Ok(quantity.into())
}

fn int_or_string(bytes: &[u8]) -> Result<Value, String> {
    let (mut kind, mut number, mut string) = (0, 0, String::new());
    let mut reader = Reader::new(bytes, "IntOrString");
    while let Some((field, wire)) = reader.next()? {
        match (field, wire) {
            (1, Wire::Varint(value)) => kind = value.cast_signed(),
            (2, Wire::Varint(value)) => number = value as u32 as i32,
            (1, wire) => return Err(wrong_type(wire, "Type")),
            (2, wire) => return Err(wrong_type(wire, "IntVal")),
            (3, wire) => string = text(bytes_of(wire, "StrVal")?),
            _ => {}
        }
    }
    match kind {
        0 => Ok(number.into()),
        1 => Ok(string.into()),
        _ => Err("impossible IntOrString.Type".to_owned()),
    }
}

/// `runtime.RawExtension`, `metav1.FieldsV1` and `apiextensions/v1.JSON`: JSON as text.
fn json(bytes: &[u8]) -> Result<Value, String> {
    let mut value = Value::Null;
    let mut reader = Reader::new(bytes, "RawExtension");
    while let Some((number, wire)) = reader.next()? {
        if number == 1 {
            let raw = bytes_of(wire, "Raw")?;
            value = serde_json::from_slice(raw)
                .map_err(|_| "the text of a field is not JSON".to_owned())?;
        }
    }
    Ok(value)
}
