//! The OpenAPI v2 document: the types and paths of all groups in one. The names of types are those that
//! their packages give them, which the table of protobuf messages knows.

use std::collections::BTreeMap;

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use optimist_protobuf::OPENAPI_V2_MEDIA_TYPES;
use serde_json::{Value, json};

use super::{declare, described, names, paths_of};
use crate::object::JsonMap;
use crate::server::{Definition, Resource, Resources, json_response, response};

/// The keywords that OpenAPI v2 does not have
/// (`k8s.io/apiextensions-apiserver/pkg/controller/openapi/v2`).
const NOT_IN_V2: [&str; 4] = ["anyOf", "not", "nullable", "oneOf"];

/// Answers with the document in the first form that the client takes: JSON, or the messages of gnostic
/// (`k8s.io/kube-openapi/pkg/handler`).
pub(in crate::server::discovery) fn answer(
    headers: &HeaderMap,
    resources: &Resources,
) -> Response<Vec<u8>> {
    let accepted = headers.get(header::ACCEPT).map(HeaderValue::to_str);
    let accepted = match accepted {
        Some(Ok(accepted)) if !accepted.is_empty() => accepted,
        _ => "*/*",
    };
    for clause in accepted.split(',') {
        let media_type = clause.split(';').next().unwrap_or_default().trim();
        if OPENAPI_V2_MEDIA_TYPES.contains(&media_type) {
            let [_, told] = OPENAPI_V2_MEDIA_TYPES;
            let bytes = optimist_protobuf::openapi_v2(&document(resources));
            return response(StatusCode::OK, bytes, told);
        }
        if matches!(media_type, "application/json" | "application/*" | "*/*") {
            return json_response(StatusCode::OK, &document(resources), resources);
        }
    }
    response(StatusCode::NOT_ACCEPTABLE, Vec::new(), "text/plain")
}

/// The document.
fn document(resources: &Resources) -> Value {
    let (mut paths, mut definitions) = (JsonMap::new(), JsonMap::new());
    for resource in resources.iter() {
        let group = &resource.group_version.group;
        let version = &resource.group_version.version;
        let kind = json!({"group": group, "version": version, "kind": resource.kind});
        let list = json!({
            "group": group, "version": version, "kind": format!("{}List", resource.kind),
        });
        define(resource, &kind, &list, &mut definitions);
        for (path, item) in paths_of(resource, &kind) {
            paths.insert(path, as_v2(item, &BTreeMap::new()));
        }
    }
    json!({
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": "v1.36"},
        "paths": paths,
        "definitions": definitions,
    })
}

/// Adds the types of a kind, and of its list.
fn define(resource: &Resource, kind: &Value, list: &Value, definitions: &mut JsonMap) {
    let mut packages = names::packages(resource);
    let mut schemas = JsonMap::new();
    let (text, number) = (
        json!({"type": "string"}),
        json!({"type": "integer", "format": "int64"}),
    );
    schemas.insert(
        "ListMeta".to_owned(),
        json!({"type": "object", "properties": {
            "continue": text, "remainingItemCount": number, "resourceVersion": text, "selfLink": text,
        }}),
    );
    match &resource.definition {
        Definition::Custom(custom) => {
            let described = described(&custom.described, &resource.root, &mut schemas);
            schemas.insert(resource.kind.clone(), described);
        }
        Definition::Builtin(_) => declare(&resource.root, &mut schemas),
    }
    schemas[&resource.kind]["x-kubernetes-group-version-kind"] = json!([kind]);
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let list_kind = format!("{}List", resource.kind);
    if let Some(package) = packages.get(&resource.kind) {
        packages.insert(list_kind.clone(), package.clone());
    }
    schemas.insert(
        list_kind,
        json!({
            "type": "object",
            "required": ["items"],
            "properties": {
                "apiVersion": {"type": "string"},
                "kind": {"type": "string"},
                "metadata": reference("ListMeta"),
                "items": {"type": "array", "items": reference(&resource.kind)},
            },
            "x-kubernetes-group-version-kind": [list],
        }),
    );
    for (name, schema) in schemas {
        definitions.insert(names::full(&name, &packages), as_v2(schema, &packages));
    }
}

/// A schema or a path of a v3 document in the words of v2.
fn as_v2(value: Value, packages: &BTreeMap<String, String>) -> Value {
    match value {
        Value::Object(members) => {
            let is_parameter = members.contains_key("in");
            let mut written = JsonMap::new();
            for (name, member) in members {
                match (name.as_str(), member) {
                    (name, _) if NOT_IN_V2.contains(&name) => {}
                    ("default" | "enum" | "example", value) => {
                        written.insert(name, value);
                    }
                    // The names of these are not words of the document.
                    ("properties", Value::Object(properties)) => {
                        let properties = properties.into_iter();
                        let all = properties.map(|(name, schema)| (name, as_v2(schema, packages)));
                        written.insert(name, all.collect());
                    }
                    // A reference has nothing beside it in v2.
                    ("allOf", Value::Array(mut of)) => {
                        if let Some(Value::Object(only)) = of.pop().map(|of| as_v2(of, packages)) {
                            written.extend(only);
                        }
                    }
                    ("$ref", Value::String(path)) => {
                        let of = path.rsplit('/').next().unwrap_or_default();
                        let path = format!("#/definitions/{}", names::full(of, packages));
                        written.insert(name, path.into());
                    }
                    // A parameter says its type itself.
                    ("schema", Value::Object(schema)) if is_parameter => written.extend(schema),
                    (_, member) => {
                        written.insert(name, as_v2(member, packages));
                    }
                }
            }
            Value::Object(written)
        }
        Value::Array(items) => items
            .into_iter()
            .map(|item| as_v2(item, packages))
            .collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;
    use crate::server::ApiServer;

    fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    match member {
                        Value::String(path) if name == "$ref" => found.push(path),
                        member => references(member, found),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }

    #[test]
    fn every_kind_is_defined_under_the_name_of_its_package_and_every_reference_leads_to_one() {
        let mut server = ApiServer::default();
        let definition = json!({
            "metadata": {"name": "things.demo.example.com"},
            "spec": {
                "group": "demo.example.com", "scope": "Namespaced",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                    "openAPIV3Schema": {"type": "object", "properties": {
                        "not": {"type": "string", "nullable": true},
                    }},
                }}],
            },
        });
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let body = definition.to_string().into_bytes();
        server.handle(Request::post(definitions).body(body).unwrap());
        let get = Request::get("/openapi/v2").body(Vec::new()).unwrap();
        let document: Value = serde_json::from_slice(server.handle(get).body()).unwrap();
        let definitions = document["definitions"].as_object().unwrap();
        for name in [
            "io.k8s.api.core.v1.PodSpec",
            "io.k8s.api.rbac.v1.ClusterRoleList",
            "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
            "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta",
            "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService",
            "com.example.demo.v1.Thing",
        ] {
            assert!(definitions.contains_key(name), "{name}");
        }
        let of_meta = definitions.keys().filter(|name| name.contains(".meta.v1."));
        assert_eq!(
            of_meta
                .map(|name| name.rsplit('.').next().unwrap())
                .collect::<Vec<_>>(),
            [
                "Condition",
                "LabelSelector",
                "LabelSelectorRequirement",
                "ListMeta",
                "ManagedFieldsEntry",
                "ObjectMeta",
                "OwnerReference",
            ]
        );
        let mut accepting = |accepted: &str| {
            let get = Request::get("/openapi/v2").header(header::ACCEPT, accepted);
            server.handle(get.body(Vec::new()).unwrap())
        };
        let protobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
        let answer = accepting(&format!("{protobuf}, application/json"));
        let told = answer.headers().get(header::CONTENT_TYPE).unwrap();
        assert_eq!(
            told,
            "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
        );
        assert!(
            answer
                .body()
                .starts_with(b"\x0a\x032.0\x12\x13\x0a\x0aKubernetes\x12\x05v1.36")
        );
        assert_eq!(accepting("application/cbor").status(), 406);
        assert_eq!(accepting("*/*").status(), 200);
        let thing = &definitions["com.example.demo.v1.Thing"]["properties"]["not"];
        assert_eq!(thing, &json!({"type": "string"}));
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 500);
        for path in found {
            let name = path.strip_prefix("#/definitions/").unwrap();
            assert!(definitions.contains_key(name), "{path}");
        }
    }
}
