//! CustomResourceDefinitions as objects (`pkg/registry/customresourcedefinition`).

use std::sync::Arc;

use serde_json::{Value, json};

use super::served::versions;
use super::validation;
use crate::apply::Set;
use crate::object::{GroupName, GroupVersion, text};
use crate::schema::{builtin, custom, zero};
use crate::server::kinds::{Rules, StatusRules};
use crate::server::resource::{Definition, Endpoint, Generation, Names, Resource};

const GROUP: &str = "apiextensions.k8s.io";
const PLURAL: &str = "customresourcedefinitions";

/// The key prefix of the definitions in etcd.
pub(super) const STORED_BELOW: &str = "/registry/apiextensions.k8s.io/customresourcedefinitions/";

/// Returns whether objects of a resource are definitions of others.
pub(in crate::server) fn defines_kinds(resource: &Resource) -> bool {
    resource.group_resource() == GroupName::new(GROUP, PLURAL)
}

/// Returns whether a definition can be checked in a moment.
pub(in crate::server) fn is_feasible_definition(definition: &Value) -> bool {
    let schemas = versions(&definition["spec"]);
    let mut schemas = schemas.filter_map(|version| version.pointer("/schema/openAPIV3Schema"));
    schemas.all(custom::is_feasible_schema)
}

/// The resource that definitions themselves are.
pub(in crate::server) fn definitions() -> Option<Arc<Resource>> {
    let kind = "CustomResourceDefinition";
    let reset_fields = |fields| Set::of_fields(&[fields]);
    Some(Arc::new(Resource {
        group_version: GroupVersion::new(GROUP, "v1"),
        kind: kind.to_owned(),
        plural: PLURAL.to_owned(),
        namespaced: false,
        names: Names {
            short: ["crd", "crds"].map(str::to_owned).to_vec(),
            categories: vec!["api-extensions".to_owned()],
            list_kind: None,
        },
        root: builtin(kind)?.into(),
        versions: None,
        storage_prefix: STORED_BELOW.trim_end_matches('/').to_owned(),
        unconditional_update: false,
        create_on_update: false,
        generation: Generation::Spec,
        endpoints: vec![
            Endpoint {
                name: "",
                reset_fields: reset_fields(&["status"]),
            },
            Endpoint {
                name: "status",
                reset_fields: reset_fields(&["spec"]),
            },
        ],
        definition: Definition::Builtin(Rules {
            prepare,
            validate: validation::validate,
            warn: validation::warn,
            status: StatusRules {
                prepare: |_, _| {},
                validate: validation::validate_status,
            },
            ..Rules::NONE
        }),
    }))
}

/// Only the server says which versions objects have been stored in.
fn prepare(object: &mut Value, live: Option<&Value>) {
    object["status"] = match live {
        Some(live) => live["status"].clone(),
        None => builtin("CustomResourceDefinitionStatus").map_or(Value::Null, |ty| zero(ty)),
    };
    let stored = versions(&object["spec"]).find(|version| version["storage"] == true);
    let stored = stored.map(|version| text(version, "name").to_owned());
    if let Some(stored) = stored {
        let known = &mut object["status"]["storedVersions"];
        match known {
            Value::Array(known) if known.iter().any(|version| *version == stored) => {}
            Value::Array(known) => known.push(stored.into()),
            _ => *known = json!([stored]),
        }
    }
}
