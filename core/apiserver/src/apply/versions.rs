//! The versions of a kind, in each of which managers may own fields
//! (`managedfields/internal/versionconverter.go`).

use std::borrow::Cow;

use serde_json::Value;

use super::typed::validate;
use crate::object::{GroupVersion, text};
use crate::schema::Struct;
use crate::schema::kinds::Root;

/// The versions of a kind that has several.
#[derive(Debug)]
pub struct Versions {
    /// Each version, such as `autoscaling/v1`, with its type.
    pub all: Vec<(String, Root)>,
    /// Writes an object in another version of the list.
    pub convert: fn(Value, &str) -> Value,
}

/// Gets objects into the versions in which managers own fields.
#[derive(Clone, Copy)]
pub(super) struct VersionConverter<'a> {
    /// The version of the request, and its type.
    pub(super) api_version: &'a str,
    pub(super) root: &'a Struct,
    /// All versions, where the kind has several.
    pub(super) versions: Option<&'a Versions>,
    /// `true` if the kind is that of a custom resource.
    pub(super) is_custom: bool,
}

/// An object in a version, with the type that it has there.
pub(super) type Versioned<'v, 'a> = (Cow<'v, Value>, &'a Struct);

impl<'a> VersionConverter<'a> {
    /// An object in a version; `None` if the kind never had that version.
    ///
    /// # Errors
    /// The reason why it cannot be written in that version.
    pub(super) fn convert<'v>(
        &self,
        object: &'v Value,
        version: &str,
    ) -> Result<Option<Versioned<'v, 'a>>, String> {
        let known = self.versions.and_then(|versions| {
            let found = versions.all.iter().find(|(name, _)| name == version);
            found.map(|(_, root)| root.as_ref())
        });
        let root = match known {
            Some(root) => root,
            None if version == self.api_version => self.root,
            // Objects of custom resources are not in a scheme that could say so.
            None if self.is_custom => {
                return Err(format!(
                    "request to convert CR to an invalid group/version: {version}"
                ));
            }
            None if GroupVersion::parse(version).is_none() => {
                return Err(format!("unexpected GroupVersion string: {version}"));
            }
            None => return Ok(None),
        };
        if text(object, "apiVersion") == version || self.versions.is_none() {
            return Ok(Some((Cow::Borrowed(object), root)));
        }
        let convert = self.versions.map(|versions| versions.convert);
        let converted = convert.map(|convert| convert(object.clone(), version));
        let converted = converted.unwrap_or_else(|| object.clone());
        let errors = validate(&converted, root, self.is_custom);
        if !errors.is_empty() {
            return Err(listed(&errors));
        }
        Ok(Some((Cow::Owned(converted), root)))
    }
}

/// Errors as `typed.ValidationErrors` prints them.
pub(crate) fn listed(errors: &[String]) -> String {
    match errors {
        [one] => one.clone(),
        many => {
            let lines: Vec<String> = many.iter().map(|error| format!("\n  {error}")).collect();
            format!("errors:{}", lines.concat())
        }
    }
}
