//! The OpenAPI v2 document in protobuf: the messages of gnostic (`openapiv2/OpenAPIv2.proto`), which have
//! nothing to do with those of objects. Unlike Kubernetes, gnostic writes no zero values.

use serde_json::Value;

use crate::encode::{FIXED_64, put_bytes, put_integer, put_tag};

/// The media type in which a client asks for the document, and the one that the answer names
/// (`k8s.io/kube-openapi/pkg/handler`).
pub const OPENAPI_V2_MEDIA_TYPES: [&str; 2] = [
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
];

/// Writes the document. Members that its messages do not have are left out.
pub fn openapi_v2(document: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    put_message("Document", document, &mut out);
    out
}

/// The form of a member.
#[derive(Clone, Copy)]
enum MemberForm {
    Text,
    /// A boolean that is written if it is `true`.
    Flag,
    /// A boolean that is written if it is there.
    Choice,
    Whole,
    Number,
    /// A text, or several.
    Texts,
    One(&'static str),
    /// A message, or several.
    Many(&'static str),
    /// A map, as messages with a name and a value.
    Named(&'static str),
    /// The members `x-*`, as messages with a name and a value.
    Extensions,
    /// Any value, as text.
    Any,
    Anys,
}
use MemberForm::{
    Any, Anys, Choice, Extensions, Flag, Many, Named, Number, One, Text, Texts, Whole,
};

/// A member: its name in JSON (`.` is the value itself), its number, its form.
type ProtobufMember = (&'static str, u32, MemberForm);

/// The messages, with the members that documents of Kubernetes have.
const MESSAGES: [(&str, &[ProtobufMember]); 18] = [
    (
        "Document",
        &[
            ("swagger", 1, Text),
            ("info", 2, One("Info")),
            ("host", 3, Text),
            ("basePath", 4, Text),
            ("schemes", 5, Texts),
            ("consumes", 6, Texts),
            ("produces", 7, Texts),
            ("paths", 8, One("Paths")),
            ("definitions", 9, One("Properties")),
            (".", 16, Extensions),
        ],
    ),
    (
        "Info",
        &[
            ("title", 1, Text),
            ("version", 2, Text),
            ("description", 3, Text),
        ],
    ),
    (
        "Paths",
        &[(".", 1, Extensions), (".", 2, Named("PathItem"))],
    ),
    (
        "PathItem",
        &[
            ("$ref", 1, Text),
            ("get", 2, One("Operation")),
            ("put", 3, One("Operation")),
            ("post", 4, One("Operation")),
            ("delete", 5, One("Operation")),
            ("options", 6, One("Operation")),
            ("head", 7, One("Operation")),
            ("patch", 8, One("Operation")),
            ("parameters", 9, Many("ParametersItem")),
            (".", 10, Extensions),
        ],
    ),
    (
        "Operation",
        &[
            ("tags", 1, Texts),
            ("summary", 2, Text),
            ("description", 3, Text),
            ("operationId", 5, Text),
            ("produces", 6, Texts),
            ("consumes", 7, Texts),
            ("parameters", 8, Many("ParametersItem")),
            ("responses", 9, One("Responses")),
            ("schemes", 10, Texts),
            ("deprecated", 11, Flag),
            (".", 13, Extensions),
        ],
    ),
    (
        "BodyParameter",
        &[
            ("description", 1, Text),
            ("name", 2, Text),
            ("in", 3, Text),
            ("required", 4, Flag),
            ("schema", 5, One("Schema")),
            (".", 6, Extensions),
        ],
    ),
    (
        "OtherParameter",
        &[
            ("required", 1, Flag),
            ("in", 2, Text),
            ("description", 3, Text),
            ("name", 4, Text),
            ("type", 5, Text),
            ("format", 6, Text),
            ("pattern", 16, Text),
            ("uniqueItems", 19, Flag),
            (".", 22, Extensions),
        ],
    ),
    (
        "QueryParameter",
        &[
            ("required", 1, Flag),
            ("in", 2, Text),
            ("description", 3, Text),
            ("name", 4, Text),
            ("allowEmptyValue", 5, Flag),
            ("type", 6, Text),
            ("format", 7, Text),
            ("pattern", 17, Text),
            ("uniqueItems", 20, Flag),
            (".", 23, Extensions),
        ],
    ),
    (
        "JsonReference",
        &[("$ref", 1, Text), ("description", 2, Text)],
    ),
    (
        "Responses",
        &[(".", 1, Named("ResponseValue")), (".", 2, Extensions)],
    ),
    ("ResponseValue", &[(".", 1, One("Response"))]),
    (
        "Response",
        &[
            ("description", 1, Text),
            ("schema", 2, One("SchemaItem")),
            (".", 5, Extensions),
        ],
    ),
    ("SchemaItem", &[(".", 1, One("Schema"))]),
    ("Properties", &[(".", 1, Named("Schema"))]),
    (
        "AdditionalProperties",
        &[(".", 1, One("Schema")), (".", 2, Choice)],
    ),
    ("Items", &[(".", 1, Many("Schema"))]),
    ("Type", &[(".", 1, Texts)]),
    (
        "Schema",
        &[
            ("$ref", 1, Text),
            ("format", 2, Text),
            ("title", 3, Text),
            ("description", 4, Text),
            ("default", 5, Any),
            ("multipleOf", 6, Number),
            ("maximum", 7, Number),
            ("exclusiveMaximum", 8, Flag),
            ("minimum", 9, Number),
            ("exclusiveMinimum", 10, Flag),
            ("maxLength", 11, Whole),
            ("minLength", 12, Whole),
            ("pattern", 13, Text),
            ("maxItems", 14, Whole),
            ("minItems", 15, Whole),
            ("uniqueItems", 16, Flag),
            ("maxProperties", 17, Whole),
            ("minProperties", 18, Whole),
            ("required", 19, Texts),
            ("enum", 20, Anys),
            ("additionalProperties", 21, One("AdditionalProperties")),
            ("type", 22, One("Type")),
            ("items", 23, One("Items")),
            ("allOf", 24, Many("Schema")),
            ("properties", 25, One("Properties")),
            ("readOnly", 27, Flag),
            ("example", 30, Any),
            (".", 31, Extensions),
        ],
    ),
];

fn put_message(message: &str, value: &Value, out: &mut Vec<u8>) {
    if message == "ParametersItem" {
        put_parameter(value, out);
        return;
    }
    let known = MESSAGES.iter().find(|(name, _)| *name == message);
    for (name, number, shape) in known.into_iter().flat_map(|(_, members)| *members) {
        let member = match *name {
            "." => Some(value),
            name => value.get(name),
        };
        if let Some(member) = member {
            put_member(*number, *shape, member, out);
        }
    }
}

/// Writes a parameter: a reference, or a message for the place where the parameter stands, inside of those
/// that choose it.
fn put_parameter(parameter: &Value, out: &mut Vec<u8>) {
    if parameter.get("$ref").is_some() {
        put_inner(2, "JsonReference", parameter, out);
        return;
    }
    let place = parameter.get("in").and_then(Value::as_str);
    let (number, message) = match place.unwrap_or_default() {
        "body" => (None, "BodyParameter"),
        "header" => (Some(1), "OtherParameter"),
        "formData" => (Some(2), "QueryParameter"),
        "path" => (Some(4), "OtherParameter"),
        _ => (Some(3), "QueryParameter"),
    };
    let mut chosen = Vec::new();
    match number {
        None => put_inner(1, message, parameter, &mut chosen),
        Some(number) => {
            let mut inner = Vec::new();
            put_inner(number, message, parameter, &mut inner);
            put_bytes(2, &inner, &mut chosen);
        }
    }
    put_bytes(1, &chosen, out);
}

fn put_inner(number: u32, message: &str, value: &Value, out: &mut Vec<u8>) {
    let mut inner = Vec::new();
    put_message(message, value, &mut inner);
    put_bytes(number, &inner, out);
}

fn put_member(number: u32, shape: MemberForm, value: &Value, out: &mut Vec<u8>) {
    match (shape, value) {
        (Text | Texts, Value::String(text)) if !text.is_empty() => {
            put_bytes(number, text.as_bytes(), out);
        }
        (Texts, Value::Array(items)) => {
            for text in items.iter().filter_map(Value::as_str) {
                put_bytes(number, text.as_bytes(), out);
            }
        }
        (Flag, Value::Bool(true)) => put_integer(number, 1, out),
        (Choice, Value::Bool(value)) => put_integer(number, i64::from(*value), out),
        (Whole, Value::Number(value)) => {
            if let Some(value) = value.as_i64().filter(|value| *value != 0) {
                put_integer(number, value, out);
            }
        }
        (Number, Value::Number(value)) => {
            if let Some(value) = value.as_f64().filter(|value| *value != 0.0) {
                put_tag(number, FIXED_64, out);
                out.extend(value.to_le_bytes());
            }
        }
        // These messages choose among forms of the value.
        (One(message @ ("Type" | "Items" | "AdditionalProperties")), value) => {
            put_inner(number, message, value, out);
        }
        (One(message) | Many(message), Value::Object(_)) => {
            put_inner(number, message, value, out);
        }
        (Many(message), Value::Array(items)) => {
            for item in items {
                put_inner(number, message, item, out);
            }
        }
        (Named(message), Value::Object(members)) => {
            let members = members
                .iter()
                .filter(|(name, _)| !is_extension(name) || message == "Schema");
            for (name, value) in members {
                put_named(number, name, |out| put_inner(2, message, value, out), out);
            }
        }
        (Extensions, Value::Object(members)) => {
            for (name, value) in members.iter().filter(|(name, _)| is_extension(name)) {
                put_named(number, name, |out| put_any(2, value, out), out);
            }
        }
        (Any, value) => put_any(number, value, out),
        (Anys, Value::Array(items)) => {
            for item in items {
                put_any(number, item, out);
            }
        }
        _ => {}
    }
}

/// Writes a message with a name and a value.
fn put_named(number: u32, name: &str, put_value: impl FnOnce(&mut Vec<u8>), out: &mut Vec<u8>) {
    let mut named = Vec::new();
    put_bytes(1, name.as_bytes(), &mut named);
    put_value(&mut named);
    put_bytes(number, &named, out);
}

fn is_extension(name: &str) -> bool {
    name.starts_with("x-")
}

/// Writes a value as YAML, of which JSON is a part.
fn put_any(number: u32, value: &Value, out: &mut Vec<u8>) {
    let mut any = Vec::new();
    put_bytes(2, format!("{value}\n").as_bytes(), &mut any);
    put_bytes(number, &any, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_is_written_by_the_numbers_of_gnostic() {
        let document = json!({
            "swagger": "2.0",
            "definitions": {"A": {"type": "object", "required": ["b"], "properties": {
                "b": {"type": "array", "items": {"$ref": "#/definitions/B"}},
            }, "x-k": [1]}},
        });
        let b =
            [&b"\xb2\x01\x07\x0a\x05array\xba\x01\x13\x0a\x11\x0a\x0f#/definitions/B"[..]].concat();
        let mut properties = Vec::new();
        let mut named = b"\x0a\x01b".to_vec();
        put_bytes(2, &b, &mut named);
        put_bytes(1, &named, &mut properties);
        let mut schema = b"\x9a\x01\x01b\xb2\x01\x08\x0a\x06object".to_vec();
        put_bytes(25, &properties, &mut schema);
        schema.extend(b"\xfa\x01\x0d\x0a\x03x-k\x12\x06\x12\x04[1]\n");
        let mut named = b"\x0a\x01A".to_vec();
        put_bytes(2, &schema, &mut named);
        let mut definitions = Vec::new();
        put_bytes(1, &named, &mut definitions);
        let mut expected = b"\x0a\x032.0".to_vec();
        put_bytes(9, &definitions, &mut expected);
        assert_eq!(openapi_v2(&document), expected);
    }

    #[test]
    fn a_parameter_is_written_for_its_place() {
        let body = json!({"in": "body", "name": "b", "required": true});
        let mut out = Vec::new();
        put_message("ParametersItem", &body, &mut out);
        assert_eq!(out, b"\x0a\x0d\x0a\x0b\x12\x01b\x1a\x04body\x20\x01");
        let query = json!({"in": "query", "name": "q", "type": "string"});
        let mut out = Vec::new();
        put_message("ParametersItem", &query, &mut out);
        assert_eq!(
            out,
            b"\x0a\x16\x12\x14\x1a\x12\x12\x05query\x22\x01q\x32\x06string"
        );
    }

    #[test]
    fn additional_properties_are_a_schema_or_a_choice() {
        let of = |value: Value| {
            let mut out = Vec::new();
            put_message("Schema", &json!({"additionalProperties": value}), &mut out);
            out
        };
        assert_eq!(of(json!(false)), b"\xaa\x01\x02\x10\x00");
        assert_eq!(of(json!({"format": "f"})), b"\xaa\x01\x05\x0a\x03\x12\x01f");
    }
}
