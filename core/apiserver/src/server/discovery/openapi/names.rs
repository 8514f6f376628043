//! The names of types in OpenAPI documents: those that their packages give them, which the table of protobuf
//! messages knows. Without that table (in the page), a type has its short name.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::object::JsonMap;
use crate::server::{Definition, Resource};

/// The place of the schemas in a v3 document.
const SCHEMAS: &str = "#/components/schemas/";

/// The package of each type of a kind, by the name of the type: `core/v1`, or that of a custom group,
/// `com.example.demo.v1`.
pub(super) fn packages(resource: &Resource) -> BTreeMap<String, String> {
    let version = &resource.group_version;
    match &resource.definition {
        Definition::Custom(_) => {
            let group: Vec<&str> = version.group.split('.').rev().collect();
            let package = format!("{}.{}", group.join("."), version.version);
            BTreeMap::from([(resource.kind.clone(), package)])
        }
        Definition::Builtin(_) => {
            optimist_protobuf::packages_of(&version.to_string(), &resource.kind)
        }
    }
}

/// Returns the full name of a type: `io.k8s.api.core.v1.Pod`. A type without a package is one of those that
/// all kinds have.
pub(super) fn full(name: &str, packages: &BTreeMap<String, String>) -> String {
    let package = match packages.get(name).map_or("meta/v1", String::as_str) {
        "meta/v1" => "io.k8s.apimachinery.pkg.apis.meta.v1".to_owned(),
        "apiextensions/v1" => "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1".to_owned(),
        "apiregistration/v1" => "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1".to_owned(),
        package if package.contains('/') => {
            format!("io.k8s.api.{}", package.replace('/', "."))
        }
        package => package.to_owned(),
    };
    format!("{package}.{name}")
}

/// The schemas of a v3 document under their full names.
pub(super) fn of_schemas(schemas: JsonMap, packages: &BTreeMap<String, String>) -> JsonMap {
    let schemas = schemas.into_iter();
    schemas
        .map(|(name, schema)| (full(&name, packages), of_references(schema, packages)))
        .collect()
}

fn of_references(value: Value, packages: &BTreeMap<String, String>) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter();
            let written = members.map(|(name, member)| {
                let short = member.as_str().and_then(|path| path.strip_prefix(SCHEMAS));
                let member = match short.filter(|_| name == "$ref") {
                    Some(short) => format!("{SCHEMAS}{}", full(short, packages)).into(),
                    None => of_references(member, packages),
                };
                (name, member)
            });
            written.collect()
        }
        Value::Array(items) => {
            let items = items.into_iter();
            items.map(|item| of_references(item, packages)).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;
    use crate::server::ApiServer;

    fn get(path: &str) -> Value {
        let request = Request::get(path).body(Vec::new()).unwrap();
        serde_json::from_slice(ApiServer::default().handle(request).body()).unwrap()
    }

    #[test]
    fn each_reference_of_each_document_leads_to_a_type_with_the_name_of_its_package() {
        let index = get("/openapi/v3");
        let paths = index["paths"].as_object().unwrap();
        assert!(paths.contains_key("apis/apps/v1"));
        let mut references = 0;
        for document in paths.values().map(|it| &it["serverRelativeURL"]) {
            let document = get(document.as_str().unwrap());
            let schemas = document["components"]["schemas"].as_object().unwrap();
            let text = document.to_string();
            for reference in text.split(SCHEMAS).skip(1) {
                let name = reference.split('"').next().unwrap();
                assert!(schemas.contains_key(name), "{name}");
                references += 1;
            }
        }
        assert!(references > 500);
        let apps = get("/openapi/v3/apis/apps/v1");
        for name in [
            "io.k8s.api.apps.v1.Deployment",
            "io.k8s.api.core.v1.PodSpec",
            "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta",
        ] {
            assert!(apps["components"]["schemas"].get(name).is_some(), "{name}");
        }
    }
}
