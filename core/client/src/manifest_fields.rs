//! Manifests by their fields, beside an object that exists.

use optimist_apiserver::apply::{Path, Set, extract, field_set, merge};
use optimist_apiserver::object::{Metadata, text};
use optimist_apiserver::server::Resource;
use serde_json::Value;

use super::bare;

/// A manifest with the namespace of the object, which kubectl takes from its context.
pub fn of_object(manifest: &Value, object: &Value) -> Value {
    in_namespace(manifest, object.namespace())
}

/// A manifest with a namespace, if it names none.
pub fn in_namespace(manifest: &Value, namespace: &str) -> Value {
    let mut manifest = manifest.clone();
    if manifest.namespace().is_empty() && !namespace.is_empty() {
        manifest.set_meta("namespace", namespace);
    }
    manifest
}

/// Returns the object with the fields of a manifest, as an editor would type them.
pub fn merged(object: &Value, manifest: &Value, resource: &Resource) -> Value {
    let mut merged = merge(object, &bare(manifest), &resource.root);
    // The version of the object is kept, so that clients that send it send what they read.
    for field in ["apiVersion", "kind"] {
        merged[field] = text(object, field).into();
    }
    merged
}

/// Returns a manifest without some fields, and without the maps and lists that are empty then.
pub fn without(manifest: &Value, fields: &[Path]) -> Value {
    let mut left = manifest.clone();
    for field in fields {
        field.remove(&mut left);
        let mut above = field.clone();
        while above.0.pop().is_some() && !above.0.is_empty() {
            let empty = match above.find(&left) {
                Some(Value::Object(members)) => members.is_empty(),
                Some(Value::Array(items)) => items.is_empty(),
                _ => false,
            };
            if !empty {
                break;
            }
            above.remove(&mut left);
        }
    }
    left
}

/// The fields of a manifest, by the text that messages print for them.
pub fn printed(manifest: &Value, texts: &[String], resource: &Resource) -> Vec<Path> {
    let fields = field_set(manifest, &resource.root).paths();
    let named = fields.into_iter().filter(|path| {
        let printed = path.to_string();
        texts.contains(&printed)
    });
    named.collect()
}

/// Returns an object's values of a set of fields, with the fields that identify it.
pub fn part(object: &Value, set: &Set, resource: &Resource) -> Value {
    let mut part = extract(object, set, &resource.root);
    if !part.is_object() {
        part = Value::Object(Default::default());
    }
    for field in ["apiVersion", "kind"] {
        part[field] = text(object, field).into();
    }
    for field in ["name", "namespace"] {
        part.set_meta(field, object.meta_text(field));
    }
    part
}
