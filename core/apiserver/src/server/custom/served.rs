//! The resources that a CustomResourceDefinition describes: one for each served version
//! (`pkg/apiserver/customresource_handler.go`).

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Custom, DefinedVersions, ScalePaths};
use crate::apply::{Set, Versions};
use crate::object::{GroupVersion, Metadata, text};
use crate::schema::custom;
use crate::schema::kinds::Root;
use crate::schema::openapi::Schema;
use crate::server::resource::{Definition, Endpoint, Generation, Names, Resource};
use crate::server::table::AGE;
use crate::server::{JsonPath, PrinterColumn};

/// The resources of a definition whose names have been accepted.
pub(in crate::server) fn served_by(definition: &Value) -> Vec<Resource> {
    let is_true = |ty: &str| is_condition(definition, ty, "True");
    if !is_true("NamesAccepted") && !is_true("Established") {
        return Vec::new();
    }
    described_by(definition, |version| version["served"] == true)
}

/// The resource through which a definition's objects are stored, served or not.
pub(super) fn stored_by(definition: &Value) -> Option<Resource> {
    described_by(definition, |version| version["storage"] == true).pop()
}

fn described_by(definition: &Value, wanted: fn(&Value) -> bool) -> Vec<Resource> {
    let spec = &definition["spec"];
    let group = text(spec, "group");
    let named = |version: &Value| format!("{group}/{}", text(version, "name"));
    let storage = versions(spec).find(|version| version["storage"] == true);
    let Some(storage) = storage.map(named) else {
        return Vec::new();
    };
    let schemas = versions(spec).map(|version| {
        let schema = version.pointer("/schema/openAPIV3Schema");
        let schema = schema.and_then(|schema| Schema::parse(schema).ok());
        (named(version), schema.map(Arc::new))
    });
    let replicas = versions(spec).map(|version| {
        let path = version.pointer("/subresources/scale/specReplicasPath");
        let path = path.and_then(Value::as_str);
        (named(version), path.map(str::to_owned))
    });
    let defined = Arc::new(DefinedVersions {
        may_not_fit: versions(spec).nth(1).is_some() || definition.generation() > 1,
        schemas: schemas.collect(),
        storage,
        replicas: replicas.collect(),
    });
    let kind = text(&definition["status"]["acceptedNames"], "kind");
    let types = defined.schemas.iter().map(|(version, schema)| {
        let root = custom::root(schema.as_deref(), kind);
        (version.clone(), Root::Known(Arc::new(root)))
    });
    let types = Arc::new(Versions {
        all: types.collect(),
        convert: |mut object, version| {
            object["apiVersion"] = version.into();
            object
        },
    });
    versions(spec)
        .filter(|version| wanted(version))
        .filter_map(|version| resource(definition, version, &defined, &types))
        .collect()
}

/// Returns whether a condition of a definition has this status.
pub(super) fn is_condition(definition: &Value, ty: &str, status: &str) -> bool {
    let conditions = definition["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|condition| condition["type"] == ty && condition["status"] == status)
}

/// The versions that a definition's spec lists.
pub(super) fn versions(spec: &Value) -> impl Iterator<Item = &Value> {
    spec["versions"].as_array().into_iter().flatten()
}

fn resource(
    definition: &Value,
    version: &Value,
    defined: &Arc<DefinedVersions>,
    types: &Arc<Versions>,
) -> Option<Resource> {
    let (spec, names) = (&definition["spec"], &definition["status"]["acceptedNames"]);
    let (group, plural) = (text(spec, "group"), text(names, "plural"));
    let (kind, name) = (text(names, "kind"), text(version, "name"));
    let group_version = GroupVersion::new(group, name);
    let api_version = group_version.to_string();
    let (_, root) = types.all.iter().find(|(known, _)| *known == api_version)?;
    let schemas = &mut defined.schemas.iter();
    let (_, schema) = schemas.find(|(known, _)| *known == api_version)?;
    let subresources = &version["subresources"];
    let has_status = subresources["status"].is_object();
    Some(Resource {
        kind: kind.to_owned(),
        plural: plural.to_owned(),
        namespaced: text(spec, "scope") == "Namespaced",
        names: Names {
            short: texts(&names["shortNames"]),
            categories: texts(&names["categories"]),
            list_kind: names["listKind"].as_str().map(str::to_owned),
        },
        root: root.clone(),
        versions: (types.all.len() > 1).then(|| Arc::clone(types)),
        storage_prefix: format!("/registry/{group}/{plural}"),
        unconditional_update: false,
        create_on_update: false,
        generation: if has_status {
            Generation::AllButMetadataAndStatus
        } else {
            Generation::AllButMetadata
        },
        endpoints: endpoints(subresources),
        definition: Definition::Custom(Box::new(Custom {
            group_version: group_version.clone(),
            kind: kind.to_owned(),
            schema: schema.clone(),
            versions: Arc::clone(defined),
            has_status,
            columns: columns(version),
            selectable: selectable(version),
            scale: scale(&subresources["scale"]),
            deprecation: deprecation(spec, version),
            described: version["schema"]["openAPIV3Schema"].clone(),
        })),
        group_version,
    })
}

/// The main resource and its subresources.
fn endpoints(subresources: &Value) -> Vec<Endpoint> {
    let has_status = subresources["status"].is_object();
    let at = |name, reset_fields: &[&[&str]]| Endpoint {
        name,
        reset_fields: Set::of_fields(reset_fields),
    };
    let main = at("", if has_status { &[&["status"]] } else { &[] });
    let status = has_status.then(|| at("status", &[&["metadata"], &["spec"]]));
    let scale = subresources["scale"].is_object().then(|| at("scale", &[]));
    [main].into_iter().chain(status).chain(scale).collect()
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
            "description": AGE, "priority": 0,
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

/// Returns the warning for requests to a deprecated version.
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
