//! The OpenAPI v3 documents of groups: the types of their kinds with how they are merged, and of
//! each path the options that clients look for. Only custom kinds have descriptions: those of their
//! definition.

#[cfg(feature = "protobuf")]
mod names;
#[cfg(feature = "protobuf")]
pub(super) mod swagger;

use serde_json::{Value, json};

use super::of_version;
use crate::object::{GroupVersion, JsonMap};
use crate::schema::{Field, ListKind, Scalar, Struct, Type};
use crate::server::{Definition, Resource, Resources};

/// The path of the document of each group and version.
pub(super) fn index(resources: &Resources) -> Value {
    let mut paths = JsonMap::new();
    for resource in resources.iter() {
        let path = root(&resource.group_version);
        let url = json!({"serverRelativeURL": format!("/openapi/v3/{path}")});
        paths.insert(path, url);
    }
    json!({"paths": paths})
}

fn root(version: &GroupVersion) -> String {
    if version.group.is_empty() {
        format!("api/{}", version.version)
    } else {
        format!("apis/{}/{}", version.group, version.version)
    }
}

/// The document of a group and version; `None` if it is not served.
pub(super) fn document(version: &GroupVersion, resources: &Resources) -> Option<Value> {
    let mut paths = JsonMap::new();
    let mut schemas = JsonMap::new();
    #[cfg(feature = "protobuf")]
    let mut packages = std::collections::BTreeMap::new();
    for resource in of_version(version, resources) {
        #[cfg(feature = "protobuf")]
        packages.extend(names::packages(resource));
        match &resource.definition {
            Definition::Custom(custom) if custom.described.is_object() => {
                let schema = described(&custom.described, &resource.root, &mut schemas);
                schemas.insert(resource.kind.clone(), schema);
            }
            _ => declare(&resource.root, &mut schemas),
        }
        let GroupVersion { group, version } = &resource.group_version;
        let kind = json!({"group": group, "version": version, "kind": resource.kind});
        schemas[&resource.kind]["x-kubernetes-group-version-kind"] = json!([kind]);
        paths.extend(paths_of(resource, &kind));
    }
    #[cfg(feature = "protobuf")]
    let schemas = names::of_schemas(schemas, &packages);
    (!paths.is_empty()).then(|| {
        json!({
            "openapi": "3.0.0",
            "info": {"title": "Kubernetes", "version": "v1.36"},
            "paths": paths,
            "components": {"schemas": schemas},
        })
    })
}

/// Returns the schema of a definition, with the fields that every object has
/// (`k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder/builder.go buildKubeNative`).
fn described(schema: &Value, root: &Struct, schemas: &mut JsonMap) -> Value {
    let mut schema = schema.clone();
    for name in ["apiVersion", "kind"] {
        schema["properties"][name] = json!({"type": "string"});
    }
    let metadata = root.fields.iter().find(|field| field.name == "metadata");
    if let Some(field) = metadata {
        schema["properties"]["metadata"] = property(field, schemas);
    }
    schema
}

fn paths_of(resource: &Resource, kind: &Value) -> Vec<(String, Value)> {
    let operation = |action: &str, options: &[&str]| {
        let parameters: Vec<Value> = options
            .iter()
            .map(|name| json!({"name": name, "in": "query", "schema": {"type": "string"}}))
            .collect();
        json!({
            "parameters": parameters, "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": kind,
        })
    };
    let writes = ["dryRun", "fieldManager", "fieldValidation"];
    let lists = [
        "continue",
        "fieldSelector",
        "labelSelector",
        "limit",
        "resourceVersion",
    ];
    let collection = resource.path("{namespace}", "");
    let object = resource.path("{namespace}", "{name}");
    vec![
        (
            collection,
            json!({
                "get": operation("list", &lists), "post": operation("post", &writes),
                "delete": operation("deletecollection", &["dryRun"]),
            }),
        ),
        (
            object,
            json!({
                "get": operation("get", &[]), "put": operation("put", &writes),
                "patch": operation("patch", &[&writes[..], &["force"]].concat()),
                "delete": operation("delete", &["dryRun"]),
            }),
        ),
    ]
}

/// Adds the schema of a struct, and of the types of its fields.
fn declare(ty: &Struct, schemas: &mut JsonMap) {
    if schemas.contains_key(&ty.name) {
        return;
    }
    schemas.insert(ty.name.clone(), Value::Null);
    let mut properties = JsonMap::new();
    for field in &ty.fields {
        properties.insert(field.name.clone(), property(field, schemas));
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if ty.atomic {
        schema["x-kubernetes-map-type"] = "atomic".into();
    }
    schemas.insert(ty.name.clone(), schema);
}

fn property(field: &Field, schemas: &mut JsonMap) -> Value {
    let mut schema = shape(&field.ty, schemas);
    if let Some(default) = &field.default {
        schema["default"] = default.clone();
    }
    let mut strategies = Vec::new();
    if field.patch.merge {
        strategies.push("merge");
    }
    if field.patch.retain_keys {
        strategies.push("retainKeys");
    }
    if !strategies.is_empty() {
        schema["x-kubernetes-patch-strategy"] = strategies.join(",").into();
    }
    if let Some(key) = &field.patch.merge_key {
        schema["x-kubernetes-patch-merge-key"] = key.as_str().into();
    }
    schema
}

fn shape(ty: &Type, schemas: &mut JsonMap) -> Value {
    match ty {
        Type::Any | Type::Definition(_) => json!({"x-kubernetes-preserve-unknown-fields": true}),
        Type::Scalar(scalar) => of_scalar(*scalar),
        Type::Struct(inner) if inner.fields.is_empty() || inner.others.is_some() => {
            json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
        }
        Type::Struct(inner) => {
            declare(inner, schemas);
            let path = format!("#/components/schemas/{}", inner.name);
            json!({"allOf": [{"$ref": path}]})
        }
        Type::Map(inner) => {
            let mut schema = json!({
                "type": "object", "additionalProperties": shape(&inner.value, schemas),
            });
            if inner.atomic {
                schema["x-kubernetes-map-type"] = "atomic".into();
            }
            schema
        }
        Type::List(inner) => {
            let mut schema = json!({"type": "array", "items": shape(&inner.item, schemas)});
            match &inner.kind {
                ListKind::Atomic => schema["x-kubernetes-list-type"] = "atomic".into(),
                ListKind::Set => schema["x-kubernetes-list-type"] = "set".into(),
                ListKind::Map(keys) => {
                    schema["x-kubernetes-list-type"] = "map".into();
                    schema["x-kubernetes-list-map-keys"] = keys.clone().into();
                }
            }
            schema
        }
    }
}

fn of_scalar(scalar: Scalar) -> Value {
    match scalar {
        Scalar::String | Scalar::Quantity => json!({"type": "string"}),
        Scalar::Bool => json!({"type": "boolean"}),
        Scalar::Int32 => json!({"type": "integer", "format": "int32"}),
        Scalar::Int64 => json!({"type": "integer", "format": "int64"}),
        Scalar::Number => json!({"type": "number", "format": "double"}),
        Scalar::Bytes => json!({"type": "string", "format": "byte"}),
        Scalar::Time | Scalar::MicroTime => json!({"type": "string", "format": "date-time"}),
        Scalar::IntOrString => json!({"type": "string", "format": "int-or-string"}),
        Scalar::Untyped | Scalar::Raw => json!({"x-kubernetes-preserve-unknown-fields": true}),
    }
}
