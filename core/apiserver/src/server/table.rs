//! Tables: objects as `kubectl get` shows them (`pkg/printers`,
//! `k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor`).

mod builtin;
mod calls;
mod cell;
mod json_path;
mod rows;
#[cfg(test)]
mod tests;

use serde_json::{Value, json};

use super::resource::Resource;
use crate::status::{Refusal, Status};

pub use json_path::JsonPath;
pub(super) use rows::{of_kind, table};

/// The API documentation of an object's name.
const NAME: &str = "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";

/// The API documentation of an object's time of creation.
pub(super) const AGE: &str = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/// The versions of `meta.k8s.io` in which tables and metadata are served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetaVersion {
    /// `v1`.
    #[default]
    V1,
    /// `v1beta1`, which has the same fields.
    V1Beta1,
}

impl MetaVersion {
    /// Reads `v1` or `v1beta1`.
    pub(super) fn parse(version: &str) -> Option<Self> {
        match version {
            "v1" => Some(Self::V1),
            "v1beta1" => Some(Self::V1Beta1),
            _ => None,
        }
    }

    /// The group and the version.
    pub(super) const fn api_version(self) -> &'static str {
        match self {
            Self::V1 => "meta.k8s.io/v1",
            Self::V1Beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

/// The part of the object that a row includes (`includeObject`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Include {
    /// Its metadata.
    #[default]
    Metadata,
    /// All of it.
    Object,
    /// Nothing.
    None,
}

/// A column that a CustomResourceDefinition declares (`additionalPrinterColumns`).
#[derive(Debug)]
pub struct PrinterColumn {
    /// Its definition, as tables show it.
    pub definition: Value,
    /// The path of its cells; `None` if the path cannot be read.
    pub path: Option<JsonPath>,
}

/// An object that shows only its metadata.
pub(super) fn metadata_of(resource: &Resource, object: &Value, version: MetaVersion) -> Value {
    let object = resource.held(object);
    let metadata = object.get("metadata").cloned().unwrap_or_else(|| json!({}));
    json!({
        "kind": "PartialObjectMetadata", "apiVersion": version.api_version(),
        "metadata": metadata,
    })
}

/// Checks the option for the part of their objects that rows include.
///
/// # Errors
/// 400 for an unknown word (`ValidateTableOptions`).
pub(super) fn check_include(include: Option<&str>) -> Result<(), Refusal> {
    match include.unwrap_or_default() {
        "" | "Metadata" | "Object" | "None" => Ok(()),
        other => Err(Status::bad_request(format!(
            "Unable to convert to Table as requested: includeObject: Invalid value: {}: must be \
             'Metadata', 'Object', 'None', or empty",
            crate::go::quote(other)
        ))),
    }
}
