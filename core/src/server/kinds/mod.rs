//! The built-in kinds: where each is served, and the rules that only it has
//! (`pkg/registry/*/strategy.go`, `pkg/apis/*/validation`, v1.36). Adding a kind is adding a
//! description here and its types to the table in `schema`.

mod config_map;
mod deployment;
pub(super) mod metadata;

use serde_json::Value;

use super::resource::{Builtin, Endpoint, Generation};
use crate::apply::Set;
use crate::status::FieldError;

/// What a kind does that its type does not say.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Settles fields before validation (`PrepareForCreate`, `PrepareForUpdate`); the stored
    /// object is given on update.
    pub prepare: fn(&mut Value, Option<&Value>),
    /// Checks an object; the stored one is given on update.
    pub validate: fn(&Value, Option<&Value>) -> Vec<FieldError>,
    /// What deserves a warning though it is accepted.
    pub warn: fn(&Value, Option<&Value>) -> Vec<String>,
    /// For kinds that are deleted gracefully: how many seconds an object is given, from what was
    /// asked for (`CheckGracefulDelete`).
    pub grace: Option<fn(&Value, Option<i64>) -> i64>,
    /// Whether a deletion answers with the deleted object (`ReturnDeletedObject`).
    pub returns_deleted: bool,
    /// Fields to select by besides name and namespace.
    pub fields: &'static [&'static str],
}

impl Rules {
    /// No rules of its own.
    pub const NONE: Rules = Rules {
        prepare: |_, _| {},
        validate: |_, _| Vec::new(),
        warn: |_, _| Vec::new(),
        grace: None,
        returns_deleted: false,
        fields: &[],
    };
}

/// All built-in kinds.
pub(super) fn all() -> Vec<Builtin> {
    let status = || Set::of_fields(&[&["status"]]);
    let main = |keeps| Endpoint { name: "", keeps };
    vec![
        Builtin {
            kind: "Namespace",
            group_version: ("", "v1"),
            plural: "namespaces",
            namespaced: false,
            unconditional_update: true,
            create_on_update: false,
            generation: Generation::None,
            endpoints: vec![main(status())],
            rules: Rules::NONE,
        },
        Builtin {
            kind: "ConfigMap",
            group_version: ("", "v1"),
            plural: "configmaps",
            namespaced: true,
            unconditional_update: true,
            create_on_update: false,
            generation: Generation::None,
            endpoints: vec![main(Set::default())],
            rules: config_map::RULES,
        },
        Builtin {
            kind: "Deployment",
            group_version: ("apps", "v1"),
            plural: "deployments",
            namespaced: true,
            unconditional_update: true,
            create_on_update: false,
            generation: Generation::SpecAndAnnotations,
            endpoints: vec![
                main(status()),
                Endpoint {
                    name: "status",
                    keeps: Set::of_fields(&[&["spec"], &["metadata", "labels"]]),
                },
                Endpoint {
                    name: "scale",
                    keeps: status(),
                },
            ],
            rules: deployment::RULES,
        },
    ]
}
