//! The schema in a CustomResourceDefinition (`JSONSchemaProps` of
//! `k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1/types_jsonschema.go`), and what can stand for one, each
//! with a decoder of its own (`marshal.go`).

use std::sync::{Arc, LazyLock};

use serde_json::Value;

use super::{Decoder, JsonMap};
use crate::json::Node;
use crate::schema::{DefinitionPart, ListKind, ListType, Scalar, Type};

static SCHEMA: Type = Type::Definition(DefinitionPart::Schema);
static SCHEMAS: LazyLock<Type> = LazyLock::new(|| list_of(SCHEMA.clone()));
static TEXTS: LazyLock<Type> = LazyLock::new(|| list_of(Type::Scalar(Scalar::String)));

fn list_of(item: Type) -> Type {
    let kind = ListKind::Atomic;
    Type::List(Arc::new(ListType { item, kind }))
}

/// Decodes what can stand for a schema, by itself.
///
/// # Errors
/// The text of Go's error if a value cannot be of its type.
pub fn decode_part(node: Node, part: DefinitionPart) -> Result<Value, String> {
    let mut decoder = Decoder::default();
    let value = decoder.part(node, part);
    match decoder.fatal.or(decoder.error) {
        Some(error) => Err(error),
        None => Ok(value),
    }
}

impl Decoder<'_> {
    /// Decodes what can stand for a schema.
    pub(super) fn definition(&mut self, node: Node, part: DefinitionPart) -> Value {
        match (part, &node) {
            (_, Node::Null) => Value::Null,
            (DefinitionPart::Schema, _) | (_, Node::Bool(_)) => self.part(node, part),
            _ => self.decoded_apart(node, part),
        }
    }

    /// Decodes it as its own decoder does.
    fn part(&mut self, node: Node, part: DefinitionPart) -> Value {
        match (part, node) {
            (_, Node::Object(members)) => {
                Value::Object(self.members(members, DefinitionPart::schema(), JsonMap::new()))
            }
            (DefinitionPart::Schema, other) => self.mistyped(&other, &SCHEMA),
            (DefinitionPart::SchemaOrList, list @ Node::Array(_)) => {
                self.value(list, &SCHEMAS, None)
            }
            (DefinitionPart::SchemaOrTexts, list @ Node::Array(_)) => {
                self.value(list, &TEXTS, None)
            }
            (DefinitionPart::SchemaOrFlag, Node::Bool(flag)) => flag.into(),
            (DefinitionPart::SchemaOrFlag, _) => {
                self.end("boolean or JSON schema expected".to_owned())
            }
            // Go passes over anything else.
            (DefinitionPart::SchemaOrList | DefinitionPart::SchemaOrTexts, _) => Value::Null,
        }
    }

    /// Decodes a value of a type with its own decoder: Go stops at its first error, and tells nothing of unknown members.
    fn decoded_apart(&mut self, node: Node, part: DefinitionPart) -> Value {
        let (error, told) = (self.error.take(), self.strict_errors.len());
        let value = self.part(node, part);
        self.strict_errors.truncate(told);
        if let Some(inner) = std::mem::replace(&mut self.error, error) {
            self.end(inner);
        }
        match value {
            // Go writes an empty list as no schema, which is read as nothing.
            Value::Array(items) if items.is_empty() => Value::Null,
            value => value,
        }
    }
}
