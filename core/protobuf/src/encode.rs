//! From JSON to protobuf.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};

use crate::PREFIX;
use crate::facts::{
    Alternative, Cardinality, Descriptors, FieldDescriptor, FieldType, MessageDescriptor,
};
use crate::time;

const VARINT: u8 = 0;
pub(crate) const FIXED_64: u8 = 1;
const BYTES: u8 = 2;

/// Writes the value of a member whose JSON is in a message as text: `fieldsV1`, and what has no type. The
/// name of the member comes first.
pub type WriteJson<'a> = &'a dyn Fn(&str, &Value) -> String;

/// An object on the wire; `None` if its kind has no message. Members that the message does not have, and
/// those of another type, are left out.
pub fn encode(object: &Value, write_json: WriteJson<'_>) -> Option<Vec<u8>> {
    let of_head = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (of_head("apiVersion"), of_head("kind"));
    let facts = Descriptors::get();
    let message = facts.of_kind(api_version, kind)?;
    let encoder = Encoder { facts, write_json };
    let mut head = Vec::new();
    put_bytes(1, api_version.as_bytes(), &mut head);
    put_bytes(2, kind.as_bytes(), &mut head);
    let mut raw = Vec::new();
    encoder.message(message, Some(object), &mut raw);
    let mut out = PREFIX.to_vec();
    put_bytes(1, &head, &mut out);
    put_bytes(2, &raw, &mut out);
    // `contentEncoding` and `contentType` are never set.
    put_bytes(3, &[], &mut out);
    put_bytes(4, &[], &mut out);
    Some(out)
}

/// A frame of a watch: four bytes of length, and a `metav1.WatchEvent` of an [encoded](encode) object.
pub fn watch_event(event_type: &str, object: &[u8]) -> Vec<u8> {
    let mut raw = Vec::new();
    put_bytes(1, object, &mut raw);
    let mut event = Vec::new();
    put_bytes(1, event_type.as_bytes(), &mut event);
    put_bytes(2, &raw, &mut event);
    let length = u32::try_from(event.len()).unwrap_or(u32::MAX);
    let mut frame = length.to_be_bytes().to_vec();
    frame.append(&mut event);
    frame
}

struct Encoder<'a> {
    facts: &'a Descriptors,
    write_json: WriteJson<'a>,
}

impl Encoder<'_> {
    fn message(&self, message: &MessageDescriptor, value: Option<&Value>, out: &mut Vec<u8>) {
        for field in &message.fields {
            let member = match field.json {
                "." => value,
                json => value.and_then(|value| value.get(json)),
            };
            self.field(field, member.filter(|member| !member.is_null()), out);
        }
    }

    fn field(&self, field: &FieldDescriptor, member: Option<&Value>, out: &mut Vec<u8>) {
        match (field.shape, member) {
            (Cardinality::One, _) | (Cardinality::Pointer, Some(_)) => {
                self.value(field.number, field, member, out);
            }
            (Cardinality::List, Some(Value::Array(items))) => {
                for item in items {
                    let item = Some(item).filter(|item| !item.is_null());
                    self.value(field.number, field, item, out);
                }
            }
            (Cardinality::Map, Some(Value::Object(members))) => {
                self.entries(field, members, out);
            }
            _ => {}
        }
    }

    /// A map: a message for each entry, by key.
    fn entries(&self, field: &FieldDescriptor, members: &Map<String, Value>, out: &mut Vec<u8>) {
        let mut members: Vec<(&String, &Value)> = members.iter().collect();
        members.sort_unstable_by_key(|(key, _)| *key);
        for (key, value) in members {
            let mut entry = Vec::new();
            put_bytes(1, key.as_bytes(), &mut entry);
            let value = Some(value).filter(|value| !value.is_null());
            self.value(2, field, value, &mut entry);
            put_bytes(field.number, &entry, out);
        }
    }

    /// One value, or the zero value of the type.
    fn value(
        &self,
        number: u32,
        field: &FieldDescriptor,
        value: Option<&Value>,
        out: &mut Vec<u8>,
    ) {
        let text = || value.and_then(Value::as_str).unwrap_or_default();
        match field.ty {
            FieldType::String => put_bytes(number, text().as_bytes(), out),
            FieldType::Bool => {
                let set = value.and_then(Value::as_bool).unwrap_or_default();
                put_integer(number, i64::from(set), out);
            }
            FieldType::Int32 | FieldType::Int64 => {
                let integer = value.and_then(Value::as_i64).unwrap_or_default();
                put_integer(number, integer, out);
            }
            FieldType::Number => {
                put_tag(number, FIXED_64, out);
                let float = value.and_then(Value::as_f64).unwrap_or_default();
                out.extend(float.to_le_bytes());
            }
            // No bytes are not even an empty field.
            FieldType::Bytes => {
                if value.is_some() {
                    let bytes = BASE64_STANDARD.decode(text()).unwrap_or_default();
                    put_bytes(number, &bytes, out);
                }
            }
            _ => {
                let mut inner = Vec::new();
                self.inner(field, value, &mut inner);
                put_bytes(number, &inner, out);
            }
        }
    }

    /// The fields of a value that is a message on the wire.
    fn inner(&self, field: &FieldDescriptor, value: Option<&Value>, out: &mut Vec<u8>) {
        let text = value.and_then(Value::as_str);
        match field.ty {
            FieldType::Message(index) => self.message(self.facts.message(index), value, out),
            FieldType::Time => {
                let moment = text.and_then(time::parse);
                if let Some((seconds, _)) = moment.filter(|(s, _)| *s != time::ZERO) {
                    put_integer(1, seconds, out);
                    put_integer(2, 0, out);
                }
            }
            FieldType::MicroTime => {
                let moment = text.and_then(time::parse);
                if let Some((seconds, nanos)) = moment.filter(|m| *m != (time::ZERO, 0)) {
                    put_integer(1, seconds, out);
                    put_integer(2, i64::from(nanos / 1000 * 1000), out);
                }
            }
            FieldType::Quantity => put_bytes(1, text.unwrap_or("0").as_bytes(), out),
            FieldType::IntOrString => {
                let number = value.and_then(Value::as_i64).unwrap_or_default();
                put_integer(1, i64::from(text.is_some()), out);
                put_integer(2, number, out);
                put_bytes(3, text.unwrap_or_default().as_bytes(), out);
            }
            FieldType::Any => {
                if let Some(value) = value {
                    put_bytes(1, (self.write_json)(field.json, value).as_bytes(), out);
                }
            }
            FieldType::SchemaOr(other) => self.schema_or(other, value, out),
            _ => {}
        }
    }

    fn schema_or(&self, other: Alternative, value: Option<&Value>, out: &mut Vec<u8>) {
        let schema = value.filter(|value| value.is_object());
        let items = value.and_then(Value::as_array).into_iter().flatten();
        let number = match other {
            Alternative::Bool => {
                let allows = schema.is_some() || value == Some(&Value::Bool(true));
                put_integer(1, i64::from(allows), out);
                2
            }
            Alternative::Schemas | Alternative::Strings => 1,
        };
        let put_schema = |number, schema, out: &mut Vec<u8>| {
            if let Some(index) = self.facts.schema() {
                let mut inner = Vec::new();
                self.message(self.facts.message(index), Some(schema), &mut inner);
                put_bytes(number, &inner, out);
            }
        };
        if let Some(schema) = schema {
            put_schema(number, schema, out);
        }
        for item in items {
            match (other, item) {
                (Alternative::Strings, Value::String(item)) => put_bytes(2, item.as_bytes(), out),
                (Alternative::Schemas, item) => put_schema(2, item, out),
                _ => {}
            }
        }
    }
}

pub(crate) fn put_tag(number: u32, wire_type: u8, out: &mut Vec<u8>) {
    put_varint(u64::from(number) << 3 | u64::from(wire_type), out);
}

pub(crate) fn put_integer(number: u32, value: i64, out: &mut Vec<u8>) {
    put_tag(number, VARINT, out);
    put_varint(value.cast_unsigned(), out);
}

pub(crate) fn put_bytes(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    put_tag(number, BYTES, out);
    put_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
