//! What a manifest says of an object that is there already.

use optimist_apiserver::apply::{Path, Set, extract, field_set, merge};
use optimist_apiserver::go::base64;
use optimist_apiserver::json::Node;
use optimist_apiserver::object::{Metadata, map_mut, text};
use optimist_apiserver::schema::decode;
use optimist_apiserver::server::{Definition, Resource};
use optimist_client::bare;
use serde_json::Value;

/// A manifest with the namespace of the object, which kubectl takes from its context.
pub(super) fn of_object(manifest: &Value, object: &Value) -> Value {
    in_namespace(manifest, object.namespace())
}

/// A manifest with a namespace, if it names none.
pub(super) fn in_namespace(manifest: &Value, namespace: &str) -> Value {
    let mut manifest = manifest.clone();
    if manifest.namespace().is_empty() && !namespace.is_empty() {
        manifest.set_meta("namespace", namespace);
    }
    manifest
}

/// The object with what a manifest says: what an editor would type.
pub(super) fn merged(object: &Value, manifest: &Value, resource: &Resource) -> Value {
    let mut merged = merge(object, &bare(manifest), &resource.root);
    // The version of the object is kept, so that clients that send it send what they read.
    for field in ["apiVersion", "kind"] {
        merged[field] = text(object, field).into();
    }
    merged
}

/// A manifest without some fields, and without what is empty then.
pub(super) fn without(manifest: &Value, fields: &[Path]) -> Value {
    let mut left = manifest.clone();
    for field in fields {
        field.take(&mut left);
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
            above.take(&mut left);
        }
    }
    left
}

/// The fields of a manifest, by the text that messages print for them.
pub(super) fn printed(manifest: &Value, texts: &[String], resource: &Resource) -> Vec<Path> {
    let fields = field_set(manifest, &resource.root).paths();
    let named = fields.into_iter().filter(|path| {
        let printed = path.to_string();
        texts.contains(&printed)
    });
    named.collect()
}

/// What an object has of a set of fields, with what identifies it.
pub(crate) fn part(object: &Value, set: &Set, resource: &Resource) -> Value {
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

/// Takes out what Go's decoder puts in the place of required fields that a manifest does not have: null,
/// or for a struct the empty map.
pub(crate) fn forget_unsaid(decoded: &mut Value, manifest: &Value) {
    let blank = |value: &Value| match value {
        Value::Object(members) => members.is_empty(),
        other => other.is_null(),
    };
    match decoded {
        Value::Object(members) => {
            members.retain(|name, value| !blank(value) || manifest.get(name).is_some());
            for (name, value) in members {
                forget_unsaid(value, &manifest[name.as_str()]);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                forget_unsaid(item, &manifest[at]);
            }
        }
        _ => {}
    }
}

/// A manifest in the words of the server: quantities and times as it writes them, and without what the
/// kind does not know. The `stringData` of a Secret becomes its `data`, as the server stores it
/// (`pkg/apis/core/v1/conversion.go Convert_v1_Secret_To_core_Secret`, v1.36).
pub(super) fn in_server_words(manifest: &Value, resource: &Resource) -> Value {
    let mut said = manifest.clone();
    if let Definition::Builtin(_) = resource.definition
        && let Ok(decoded) = decode(Node::from(said.clone()), &resource.root)
    {
        said = decoded.value;
        forget_unsaid(&mut said, manifest);
        for field in ["apiVersion", "kind"] {
            said[field] = text(manifest, field).into();
        }
    }
    let plain = said.as_object_mut().filter(|_| resource.kind == "Secret");
    let Some(members) = plain else {
        return said;
    };
    if let Some(Value::Object(plain)) = members.remove("stringData") {
        let data = members.entry("data").or_insert(Value::Null);
        for (key, value) in plain {
            let encoded = base64::encode(value.as_str().unwrap_or_default().as_bytes());
            map_mut(data).insert(key, encoded.into());
        }
    }
    said
}
