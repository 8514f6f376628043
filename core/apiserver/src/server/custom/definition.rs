//! CustomResourceDefinitions, and the resources that they describe
//! (`pkg/registry/customresourcedefinition`, `pkg/controller/{status,establish}`).

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Custom, ScalePaths};
use crate::apply::Set;
use crate::go;
use crate::object::{GroupName, GroupVersion, Metadata, text};
use crate::schema::openapi::Schema;
use crate::schema::{Field, Omit, PatchStrategy, Struct, Type, builtin, custom};
use crate::server::kinds::{Rules, metadata, names};
use crate::server::resource::{Definition, Endpoint, Generation, Names, Resource};
use crate::server::table::age_description;
use crate::server::{JsonPath, PrinterColumn};
use crate::status::FieldError;

const GROUP: &str = "apiextensions.k8s.io";
const PLURAL: &str = "customresourcedefinitions";

/// Where etcd keeps the definitions.
pub(super) const STORED_BELOW: &str = "/registry/apiextensions.k8s.io/customresourcedefinitions/";

/// Whether objects of a resource are definitions of others.
pub(in crate::server) fn defines_kinds(resource: &Resource) -> bool {
    resource.group_resource() == GroupName::new(GROUP, PLURAL)
}

/// The resource that definitions themselves are.
pub(in crate::server) fn definitions() -> Option<Arc<Resource>> {
    let any = |name: &str| Field {
        name: name.to_owned(),
        ty: Type::Any,
        pointer: true,
        omit: Omit::Empty,
        patch: PatchStrategy::default(),
        default: None,
    };
    let mut fields: Vec<Field> = ["kind", "apiVersion", "metadata"]
        .iter()
        .filter_map(|name| builtin("ConfigMap")?.field(name).cloned())
        .collect();
    fields.extend([any("spec"), any("status")]);
    let kind = "CustomResourceDefinition";
    let keeps = |fields| Set::of_fields(&[fields]);
    Some(Arc::new(Resource {
        group_version: GroupVersion::new(GROUP, "v1"),
        kind: kind.to_owned(),
        plural: PLURAL.to_owned(),
        namespaced: false,
        names: Names {
            short: ["crd", "crds"].map(str::to_owned).to_vec(),
            categories: vec!["api-extensions".to_owned()],
        },
        root: Arc::new(Struct::new(kind, fields, false)),
        storage_prefix: STORED_BELOW.trim_end_matches('/').to_owned(),
        unconditional_update: false,
        create_on_update: false,
        generation: Generation::Spec,
        endpoints: vec![Endpoint {
            name: "",
            keeps: keeps(&["status"]),
        }],
        definition: Definition::Builtin(Rules {
            prepare,
            validate,
            ..Rules::NONE
        }),
    }))
}

/// Fills in what the names leave open, and accepts them, as the controllers of the server do a
/// moment after it was created.
fn prepare(object: &mut Value, _: Option<&Value>) {
    let since = Value::from(object.meta_text("creationTimestamp"));
    let Some(Value::Object(spec)) = object.get_mut("spec") else {
        return;
    };
    if let Some(Value::Object(names)) = spec.get_mut("names")
        && let Some(kind) = names.get("kind").and_then(Value::as_str)
    {
        let (singular, list) = (go::lower(kind), format!("{kind}List"));
        names.entry("singular").or_insert(singular.into());
        names.entry("listKind").or_insert(list.into());
    }
    spec.entry("conversion")
        .or_insert_with(|| json!({"strategy": "None"}));
    let stored = |version: &&Value| version["storage"] == true;
    let stored: Vec<&Value> = versions(&object["spec"]).filter(stored).collect();
    let stored: Vec<&Value> = stored.iter().map(|version| &version["name"]).collect();
    let condition = |ty: &str, reason: &str, message: &str| {
        json!({
            "type": ty, "status": "True", "lastTransitionTime": since,
            "reason": reason, "message": message,
        })
    };
    object["status"] = json!({
        "conditions": [
            condition("NamesAccepted", "NoConflicts", "no conflicts found"),
            condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
        ],
        "acceptedNames": object["spec"]["names"],
        "storedVersions": stored,
    });
}

fn versions(spec: &Value) -> impl Iterator<Item = &Value> {
    spec["versions"].as_array().into_iter().flatten()
}

/// The most important of what upstream checks (`ValidateCustomResourceDefinition`).
fn validate(object: &Value, live: Option<&Value>) -> Vec<FieldError> {
    let spec = &object["spec"];
    let (group, plural) = (text(spec, "group"), text(&spec["names"], "plural"));
    let mut errors = match live {
        Some(live) => metadata::update_of_any_kind(object, live),
        None => metadata::of_any_kind(object, names::subdomain),
    };
    if object.name() != format!("{plural}.{group}") {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        errors.push(FieldError::invalid(
            "metadata.name",
            &object.name().into(),
            detail,
        ));
    }
    for (field, value) in [
        ("spec.group", group),
        ("spec.names.plural", plural),
        ("spec.names.kind", text(&spec["names"], "kind")),
        ("spec.scope", text(spec, "scope")),
    ] {
        if value.is_empty() {
            errors.push(FieldError::required(field, ""));
        }
    }
    if versions(spec).filter(|v| v["storage"] == true).count() != 1 {
        let detail = "must have exactly one version marked as storage version";
        errors.push(FieldError::invalid(
            "spec.versions",
            &spec["versions"],
            detail,
        ));
    }
    for (i, version) in versions(spec).enumerate() {
        let path = format!("spec.versions[{i}]");
        if text(version, "name").is_empty() {
            errors.push(FieldError::required(format!("{path}.name"), ""));
        }
        let path = format!("{path}.schema.openAPIV3Schema");
        match version.pointer("/schema/openAPIV3Schema") {
            None => errors.push(FieldError::required(path, "schemas are required")),
            Some(schema) => {
                if let Err(problem) = Schema::parse(schema) {
                    errors.push(FieldError::invalid(path, &"".into(), problem));
                }
            }
        }
    }
    errors
}

/// The resources that a definition describes: one per served version.
pub(in crate::server) fn served_by(definition: &Value) -> Vec<Resource> {
    let spec = &definition["spec"];
    let served = versions(spec).filter(|version| version["served"] == true);
    served.map(|version| resource(spec, version)).collect()
}

fn resource(spec: &Value, version: &Value) -> Resource {
    let (group, names) = (text(spec, "group"), &spec["names"]);
    let (kind, plural) = (text(names, "kind"), text(names, "plural"));
    let group_version = GroupVersion::new(group, text(version, "name"));
    let schema = version.pointer("/schema/openAPIV3Schema");
    let schema = schema.and_then(|schema| Schema::parse(schema).ok());
    let subresources = &version["subresources"];
    let has_status = subresources["status"].is_object();
    let mut endpoints = vec![Endpoint {
        name: "",
        keeps: if has_status {
            Set::of_fields(&[&["status"]])
        } else {
            Set::default()
        },
    }];
    if has_status {
        endpoints.push(Endpoint {
            name: "status",
            keeps: Set::of_fields(&[&["metadata"], &["spec"]]),
        });
    }
    if subresources["scale"].is_object() {
        endpoints.push(Endpoint {
            name: "scale",
            keeps: Set::default(),
        });
    }
    Resource {
        kind: kind.to_owned(),
        plural: plural.to_owned(),
        namespaced: text(spec, "scope") == "Namespaced",
        names: Names {
            short: texts(&spec["names"]["shortNames"]),
            categories: texts(&spec["names"]["categories"]),
        },
        root: Arc::new(custom::root(schema.as_ref(), kind)),
        storage_prefix: format!("/registry/{group}/{plural}"),
        unconditional_update: false,
        create_on_update: false,
        generation: if has_status {
            Generation::AllButMetadataAndStatus
        } else {
            Generation::AllButMetadata
        },
        endpoints,
        definition: Definition::Custom(Box::new(Custom {
            group_version: group_version.clone(),
            kind: kind.to_owned(),
            schema,
            has_status,
            columns: columns(version),
            selectable: selectable(version),
            scale: scale(&subresources["scale"]),
            deprecation: deprecation(spec, version),
        })),
        group_version,
    }
}

/// The columns of tables; only an age where none are declared
/// (`tableconvertor.New`).
fn columns(version: &Value) -> Vec<PrinterColumn> {
    let declared = version["additionalPrinterColumns"].as_array();
    let columns = declared.into_iter().flatten().map(|column| {
        let path = text(column, "jsonPath");
        let description = match text(column, "description") {
            "" => format!("Custom resource definition column (in JSONPath format): {path}"),
            description => description.to_owned(),
        };
        PrinterColumn {
            definition: json!({
                "name": text(column, "name"), "type": text(column, "type"),
                "format": text(column, "format"), "description": description,
                "priority": column["priority"].as_i64().unwrap_or_default(),
            }),
            path: JsonPath::parse(path),
        }
    });
    let columns: Vec<PrinterColumn> = columns.collect();
    if !columns.is_empty() {
        return columns;
    }
    vec![PrinterColumn {
        definition: json!({
            "name": "Age", "type": "date", "format": "",
            "description": age_description(), "priority": 0,
        }),
        path: JsonPath::parse(".metadata.creationTimestamp"),
    }]
}

/// The fields to select by (`selectableFields`), without the leading dot.
fn selectable(version: &Value) -> Vec<(String, JsonPath)> {
    let fields = version["selectableFields"].as_array();
    let paths = fields
        .into_iter()
        .flatten()
        .map(|field| text(field, "jsonPath"));
    paths
        .filter_map(|path| {
            let name = path.strip_prefix('.').unwrap_or(path);
            Some((name.to_owned(), JsonPath::parse(path)?))
        })
        .collect()
}

/// The texts of a list.
fn texts(list: &Value) -> Vec<String> {
    let texts = list.as_array().into_iter().flatten();
    texts
        .filter_map(|text| Some(text.as_str()?.to_owned()))
        .collect()
}

fn scale(scale: &Value) -> Option<ScalePaths> {
    let path = |field| scale.get(field).and_then(Value::as_str).map(str::to_owned);
    Some(ScalePaths {
        spec_replicas: path("specReplicasPath")?,
        status_replicas: path("statusReplicasPath")?,
        label_selector: path("labelSelectorPath"),
    })
}

/// What requests for a deprecated version are warned of.
fn deprecation(spec: &Value, version: &Value) -> Option<String> {
    if version["deprecated"] != true {
        return None;
    }
    if let Some(warning) = version["deprecationWarning"].as_str() {
        return Some(warning.to_owned());
    }
    let (group, kind) = (text(spec, "group"), text(&spec["names"], "kind"));
    let name = text(version, "name");
    let usable = |v: &&Value| v["served"] == true && v["deprecated"] != true;
    let newest = versions(spec)
        .filter(usable)
        .map(|version| text(version, "name"))
        .filter(|other| maturity(other) > maturity(name))
        .max_by_key(|other| maturity(other));
    let hint = newest.map_or_else(String::new, |newest| {
        format!("; use {group}/{newest} {kind}")
    });
    Some(format!("{group}/{name} {kind} is deprecated{hint}"))
}

/// The order of versions (`k8s.io/apimachinery/pkg/version`): `v2` before `v1` before `v2beta1`
/// before `v1alpha1`; other names come last.
pub(in crate::server) fn maturity(version: &str) -> (u8, u64, u64) {
    let parse = || {
        let rest = version.strip_prefix('v')?;
        let stage = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let major = rest[..rest.len() - stage.len()].parse().ok()?;
        if stage.is_empty() {
            return Some((3, major, 0));
        }
        let (level, minor) = match stage.strip_prefix("beta") {
            Some(minor) => (2, minor),
            None => (1, stage.strip_prefix("alpha")?),
        };
        Some((level, major, minor.parse().ok()?))
    };
    parse().unwrap_or_default()
}
