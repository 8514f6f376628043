//! The kind of an object that a message speaks of.

use std::sync::Arc;

use optimist_apiserver::object::{GroupVersion, Metadata, text};
use optimist_apiserver::schema::Struct;
use optimist_apiserver::server::{Resource, Resources};
use serde_json::{Value, json};

use super::{GivenParts, MissingPart, path};
use crate::case::deduced_schema;
use crate::message::{ManagerConflict, PrintedError, ReportedError};

/// A kind, built in or not.
pub(super) struct KnownKind {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) namespaced: bool,
    pub(super) resource: Option<Arc<Resource>>,
    /// The name in paths, of a kind that is not built in.
    plural: String,
}

/// Kinds that come first among several that have the fields of a message.
const FIRST: [&str; 4] = ["Deployment", "ConfigMap", "Service", "StatefulSet"];

/// The most candidates that are named.
const MAX_CANDIDATES: usize = 20;

/// Returns whether a message or a person says the kind, or the resource.
pub(super) fn is_said(error: &ReportedError, given: &GivenParts) -> bool {
    given.kind.is_some() || error.object.kind.is_some() || error.object.resource.is_some()
}

impl KnownKind {
    /// The kind that a message and a person say, or the first that has the fields of the message.
    pub(super) fn find(
        error: &ReportedError,
        given: &GivenParts,
        missing: &mut Vec<MissingPart>,
    ) -> Self {
        let hint = &error.object;
        let kind = given.kind.as_ref().or(hint.kind.as_ref());
        let version = given.api_version.as_ref().or(hint.api_version.as_ref());
        let group = version.and_then(|version| GroupVersion::parse(version));
        let group = group.map(|it| it.group).or_else(|| hint.group.clone());
        let resource = hint.resource.as_deref();
        // `pods/eviction` is a subresource of pods.
        let resource = resource.map(|it| {
            let (plural, group) = it.split_once('.').unwrap_or((it, ""));
            (plural.split('/').next().unwrap_or(plural), group)
        });
        let builtin = Resources::builtin();
        let fits = |one: &&Arc<Resource>| {
            kind.is_none_or(|kind| one.kind == *kind)
                && group
                    .as_ref()
                    .is_none_or(|group| one.group_version.group == *group)
                && resource.is_none_or(|(plural, group)| {
                    one.plural == plural && one.group_version.group == group
                })
                && has_fields(one, &error.error)
        };
        let mut found: Vec<&Arc<Resource>> = builtin.iter().filter(fits).collect();
        found.sort_by_key(|one| {
            let other_version = version.is_some_and(|it| one.group_version.to_string() != *it);
            let place = FIRST.iter().position(|kind| one.kind == *kind);
            (other_version, place.unwrap_or(FIRST.len()))
        });
        let mut known = match found.first() {
            Some(one) => Self::built_in(one),
            None => Self::custom(kind, version, resource, hint.group.as_deref()),
        };
        // A key in the store names the namespace.
        if let PrintedError::OtherUid { key, .. } = &error.error
            && known.resource.is_none()
            && !key.is_empty()
        {
            known.namespaced = hint.namespace.is_some();
        }
        let name = |one: &Arc<Resource>| format!("{} ({})", one.kind, one.group_version);
        // A resource of a definition names neither its kind nor its version.
        let formed = known.resource.is_none() && (kind.is_none() || version.is_none());
        if formed || kind.is_none() && resource.is_none() {
            let candidates = found.into_iter().take(MAX_CANDIDATES).map(name);
            missing.push(MissingPart::Kind {
                assumed: format!("{} ({})", known.kind, known.api_version),
                candidates: candidates.collect(),
            });
        }
        known
    }

    fn built_in(resource: &Arc<Resource>) -> Self {
        Self {
            api_version: resource.group_version.to_string(),
            kind: resource.kind.clone(),
            namespaced: resource.namespaced,
            plural: resource.plural.clone(),
            resource: Some(Arc::clone(resource)),
        }
    }

    fn custom(
        kind: Option<&String>,
        version: Option<&String>,
        resource: Option<(&str, &str)>,
        group: Option<&str>,
    ) -> Self {
        let (plural, group) = resource.unwrap_or(("", group.unwrap_or("example.com")));
        let mut formed = match plural.strip_suffix("ies") {
            Some(stem) => format!("{stem}y"),
            None => plural.strip_suffix('s').unwrap_or(plural).to_owned(),
        };
        if let Some(first) = formed.get_mut(0..1) {
            first.make_ascii_uppercase();
        }
        let formed = if formed.is_empty() {
            "Example"
        } else {
            &formed
        };
        let kind = kind.map_or(formed, String::as_str).to_owned();
        let plural = if plural.is_empty() {
            format!("{}s", kind.to_ascii_lowercase())
        } else {
            plural.to_owned()
        };
        Self {
            api_version: version.cloned().unwrap_or_else(|| format!("{group}/v1")),
            kind,
            namespaced: true,
            plural,
            resource: None,
        }
    }

    pub(super) fn root(&self) -> Option<Arc<Struct>> {
        self.resource
            .as_ref()
            .map(|resource| Arc::clone(&resource.root))
    }

    /// The definition of a kind that is not built in: the fields of the message are texts, and their
    /// lists have the keys that the message shows.
    pub(super) fn definition(&self, error: &PrintedError, object: &Value) -> Option<Value> {
        if self.resource.is_some() {
            return None;
        }
        let conflicts = error.conflicts();
        let fields = conflicts.iter().flat_map(|conflict| &conflict.fields);
        let paths: Vec<_> = fields
            .filter_map(|field| path::parse(field, None))
            .collect();
        let schema = deduced_schema(&paths, true);
        let group = GroupVersion::parse(&self.api_version)?;
        let of_status = |one: &ManagerConflict| one.subresource.as_deref() == Some("status");
        let of_status = conflicts.iter().any(of_status);
        let subresources = if of_status {
            json!({"status": {}})
        } else {
            json!({})
        };
        let scope = if object.namespace().is_empty() {
            "Cluster"
        } else {
            "Namespaced"
        };
        let mut meta = json!({"name": format!("{}.{}", self.plural, group.group)});
        if group.group.ends_with(".k8s.io") || group.group.ends_with(".kubernetes.io") {
            meta["annotations"] =
                json!({"api-approved.kubernetes.io": "unapproved, for this scene"});
        }
        Some(
            json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": meta,
            "spec": {"group": group.group, "scope": scope,
                "names": {"plural": self.plural, "singular": self.kind.to_ascii_lowercase(),
                    "kind": text(object, "kind"), "listKind": format!("{}List", self.kind)},
                "versions": [{"name": group.version, "served": true, "storage": true,
                    "subresources": subresources, "schema": {"openAPIV3Schema": schema}}]}}),
        )
    }
}

/// Returns whether a kind has the fields and subresources that an error names.
fn has_fields(resource: &Resource, error: &PrintedError) -> bool {
    let PrintedError::Apply(conflicts) = error else {
        return true;
    };
    conflicts.iter().all(|conflict| {
        let served = conflict.subresource.as_deref();
        let parses = |field: &String| path::parse(field, Some(&resource.root)).is_some();
        served.is_none_or(|name| resource.serves(name)) && conflict.fields.iter().all(parses)
    })
}
