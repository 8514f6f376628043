//! Namespace (`pkg/registry/core/namespace`).

use serde_json::{Value, json};

use super::{Rules, metadata, names};
use crate::object::Metadata;
use crate::status::FieldError;

/// The finalizer that the namespace controller takes away when everything in it is gone.
const KUBERNETES: &str = "kubernetes";

pub(super) const RULES: Rules = Rules {
    prepare,
    validate,
    returns_deleted: true,
    ..Rules::NONE
};

fn prepare(namespace: &mut Value, live: Option<&Value>) {
    if live.is_none() {
        namespace["status"] = json!({"phase": "Active"});
        let name = namespace.name().to_owned();
        let labels = namespace.metadata_mut().entry("labels");
        let labels = labels.or_insert_with(|| json!({}));
        labels["kubernetes.io/metadata.name"] = name.into();
    }
    let finalizers = match live {
        Some(live) => live["spec"]["finalizers"].clone(),
        None => json!([KUBERNETES]),
    };
    namespace["spec"] = json!({});
    if !finalizers.is_null() {
        namespace["spec"]["finalizers"] = finalizers;
    }
}

fn validate(namespace: &Value, live: Option<&Value>) -> Vec<FieldError> {
    match live {
        None => metadata::builtin(namespace, names::label),
        Some(live) => metadata::builtin_update(namespace, live),
    }
}
