//! The members of a definition's versions. In the server's own form of a definition, a member that is equal in all
//! versions exists once, and messages name that place: `spec.validation` rather than `spec.versions[0].schema`
//! (`Convert_v1_CustomResourceDefinitionSpec_To_apiextensions_CustomResourceDefinitionSpec`).

use serde_json::Value;

use super::members::{column, scale, selectable};
use super::schema;
use crate::field::ErrorPath;
use crate::schema::openapi::Schema;
use crate::server::custom::served::versions;
use crate::status::FieldError;

/// The place of a shared member of versions in the server's own form.
pub(super) const SHARED: [(&str, &str); 4] = [
    ("schema", "validation"),
    ("subresources", "subresources"),
    ("additionalPrinterColumns", "additionalPrinterColumns"),
    ("selectableFields", "selectableFields"),
];

/// Returns whether all versions have the same in a member.
pub(super) fn is_shared(spec: &Value, member: &str) -> bool {
    // To Go an empty list equals none.
    let mut all = versions(spec).map(|version| match &version[member] {
        Value::Array(items) if items.is_empty() => &Value::Null,
        value => value,
    });
    let first = all.next();
    first.is_some_and(|first| all.all(|other| other == first))
}

/// Each value of a member, with its path: one if all versions have the same.
pub(super) fn members<'a>(spec: &'a Value, member: &str) -> Vec<(String, &'a Value, &'a Value)> {
    let shared = SHARED.iter().find(|(name, _)| *name == member);
    let all = versions(spec).enumerate().map(|(i, version)| {
        let value = version.get(member).unwrap_or(&Value::Null);
        (format!("spec.versions[{i}].{member}"), version, value)
    });
    let mut all: Vec<_> = all.collect();
    if let Some((_, at)) = shared
        && is_shared(spec, member)
    {
        all.truncate(1);
        for (path, ..) in &mut all {
            *path = format!("spec.{at}");
        }
    }
    all.retain(|(_, _, value)| !value.is_null());
    all
}

/// The members that may differ between versions: those of one version, or those that all versions share.
pub(super) struct VersionMembers<'a> {
    pub(super) spec: &'a Value,
    pub(super) live: Option<&'a Value>,
    /// A version that has them.
    pub(super) version: &'a Value,
    /// Those of [`SHARED`] that all versions share, if these are checked.
    pub(super) shared: Option<[bool; 4]>,
}

impl VersionMembers<'_> {
    /// Checks those of [`SHARED`] that `chosen` names (`validateCustomResourceDefinitionVersion`).
    pub(super) fn validate(&self, path: &ErrorPath<'_>, chosen: [bool; 4]) -> Vec<FieldError> {
        let mut errors = Vec::new();
        for ((member, at_top), _) in SHARED.iter().zip(chosen).filter(|(_, chosen)| *chosen) {
            let value = &self.version[*member];
            if value.is_null() {
                continue;
            }
            let path = path.child(if self.shared.is_some() {
                at_top
            } else {
                member
            });
            match *member {
                "schema" => errors.extend(self.schema(value, &path)),
                "subresources" => errors.extend(scale(&value["scale"], &path)),
                "additionalPrinterColumns" => {
                    let columns = value.as_array().into_iter().flatten().enumerate();
                    errors.extend(columns.flat_map(|(i, it)| column(it, &path.index(i))));
                }
                _ => errors.extend(self.selectable_fields(value, &path)),
            }
        }
        errors
    }

    fn schema(&self, validation: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
        let has_status = |version: &Value| {
            let status = version.pointer("/subresources/status");
            status.is_some_and(Value::is_object)
        };
        let has_status = match self.shared {
            Some(_) => versions(self.spec).any(has_status),
            None => has_status(self.version),
        };
        let before = self.live.and_then(|live| {
            let mut all = versions(&live["spec"]);
            all.find(|before| before["name"] == self.version["name"])
        });
        let stored = before.is_some_and(|before| before["schema"] == *validation);
        schema::validate(validation, path, has_status, stored)
    }

    /// The fields to select by.
    fn selectable_fields(&self, fields: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
        let fields = fields.as_array().map(Vec::as_slice).unwrap_or_default();
        if fields.is_empty() {
            return Vec::new();
        }
        let schema = self.version.pointer("/schema/openAPIV3Schema");
        let missing = match self.shared {
            // What all versions share is of the whole definition, which then has no schema if they differ in that.
            Some([false, ..]) => Some("may only be set when validations.schema is included"),
            Some(_) if self.version["schema"].is_null() => {
                Some("may only be set when validations.schema is included")
            }
            // Nor has a version its own schema where all share one.
            None if schema.is_none_or(Value::is_null) || is_shared(self.spec, "schema") => {
                Some("may only be set when `version.schema.openAPIV3Schema` is not included")
            }
            _ => None,
        };
        if let Some(detail) = missing {
            return vec![FieldError::invalid(path, &"".into(), detail)];
        }
        let schema = schema.and_then(|schema| Schema::parse(schema).ok());
        selectable(fields, schema.as_ref(), path)
    }
}
