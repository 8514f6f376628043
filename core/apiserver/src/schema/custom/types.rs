//! The types by which server-side apply merges custom resources (`pkg/controller/openapi/builder`
//! and `k8s.io/kube-openapi/pkg/schemaconv/openapi.go`).

use std::sync::Arc;

use crate::schema::openapi::{Additional, Schema};
use crate::schema::{Field, ListType, MapType, Omit, PatchStrategy, Scalar, Struct, Type, builtin};

/// The type of a whole object. Without a schema, structure is deduced from values.
pub fn root(schema: Option<&Schema>, kind: &str) -> Struct {
    let open = Schema {
        preserve_unknown: true,
        ..Schema::default()
    };
    resource(schema.unwrap_or(&open), kind, false)
}

fn convert(schema: &Schema, preserve: bool) -> Type {
    let preserve = preserve || schema.preserve_unknown;
    match schema.ty.as_str() {
        "object" => object(schema, preserve),
        "array" => Type::List(Arc::new(ListType {
            item: schema
                .items
                .as_ref()
                .map_or(Type::Any, |items| convert(items, preserve)),
            kind: schema.list.clone(),
        })),
        "integer" | "number" => Type::Scalar(Scalar::Number),
        "boolean" => Type::Scalar(Scalar::Bool),
        // Only plain text must be a string. Text with another format may be any scalar.
        "string" if matches!(schema.format.as_str(), "" | "byte") => Type::Scalar(Scalar::String),
        "string" => Type::Scalar(Scalar::Untyped),
        _ => Type::Any,
    }
}

fn object(schema: &Schema, preserve: bool) -> Type {
    if schema.embedded {
        return Type::Struct(Arc::new(resource(schema, "", preserve)));
    }
    let others = others(schema, preserve);
    if schema.properties.is_empty() {
        // An object without declared members is a map of any values.
        return Type::Map(Arc::new(MapType {
            value: others.unwrap_or(Type::Any),
            atomic: schema.atomic,
        }));
    }
    let fields = schema.properties.iter();
    let fields = fields.map(|(name, member)| field(name, member, preserve));
    Type::Struct(Arc::new(structure("", fields.collect(), schema, others)))
}

/// Returns the type of an object that is a resource: kind, version and metadata have the usual
/// types.
fn resource(schema: &Schema, kind: &str, preserve: bool) -> Struct {
    let preserve = preserve || schema.preserve_unknown;
    let common = ["apiVersion", "kind", "metadata"];
    let mut fields = vec![
        typed("apiVersion", Type::Scalar(Scalar::String), None),
        typed("kind", Type::Scalar(Scalar::String), None),
    ];
    if let Some(metadata) = builtin("ObjectMeta") {
        let metadata = Type::Struct(Arc::clone(metadata));
        fields.push(typed("metadata", metadata, None));
    }
    let declared = schema.properties.iter();
    fields.extend(
        declared
            .filter(|(name, _)| !common.contains(&name.as_str()))
            .map(|(name, member)| field(name, member, preserve)),
    );
    structure(kind, fields, schema, others(schema, preserve))
}

fn structure(name: &str, fields: Vec<Field>, schema: &Schema, others: Option<Type>) -> Struct {
    let mut structure = Struct::new(name, fields, schema.atomic);
    structure.others = others;
    structure
}

fn others(schema: &Schema, preserve: bool) -> Option<Type> {
    match &schema.additional {
        Some(Additional::Of(values)) => Some(convert(values, preserve)),
        Some(Additional::Any) => Some(Type::Any),
        Some(Additional::Forbidden) => None,
        None => preserve.then_some(Type::Any),
    }
}

fn field(name: &str, schema: &Schema, preserve: bool) -> Field {
    typed(name, convert(schema, preserve), schema.default.clone())
}

fn typed(name: &str, ty: Type, default: Option<serde_json::Value>) -> Field {
    Field {
        name: name.to_owned(),
        ty,
        pointer: true,
        omit: Omit::Zero,
        patch: PatchStrategy::default(),
        default,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::ListKind;
    use serde_json::json;

    fn parse(json: serde_json::Value) -> Struct {
        root(Some(&Schema::parse(&json).unwrap()), "Thing")
    }

    #[test]
    fn list_types_and_key_defaults_come_from_the_schema() {
        let root = parse(json!({"type": "object", "properties": {"ports": {
            "type": "array", "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["port", "protocol"],
            "items": {"type": "object", "properties": {
                "port": {"type": "integer"},
                "protocol": {"type": "string", "default": "TCP"},
            }},
        }}}));
        let Some(Type::List(ports)) = root.member("ports") else {
            panic!("a list")
        };
        assert!(matches!(&ports.kind, ListKind::Map(keys) if keys.len() == 2));
        let Type::Struct(port) = &ports.item else {
            panic!("a struct")
        };
        let default = |name| port.field(name).unwrap().key_default();
        assert_eq!(default("protocol"), Some("TCP".into()));
        assert_eq!(default("port"), None);
        assert!(root.member("bogus").is_none());
    }

    #[test]
    fn preserved_fields_are_allowed_further_down_too() {
        let root = parse(json!({"type": "object", "properties": {"spec": {
            "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "properties": {"inner": {"type": "object", "properties": {"a": {"type": "string"}}}},
        }}}));
        let Some(Type::Struct(spec)) = root.member("spec") else {
            panic!("a struct")
        };
        assert!(spec.others.is_some());
        let Some(Type::Struct(inner)) = spec.member("inner") else {
            panic!("a struct")
        };
        assert!(inner.others.is_some());
    }
}
