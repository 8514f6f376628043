//! Manifests in the words of the server.

use optimist_apiserver::go::base64;
use optimist_apiserver::json::Node;
use optimist_apiserver::object::{map_mut, text};
use optimist_apiserver::schema::decode;
use optimist_apiserver::server::{Definition, Resource};
use serde_json::Value;

/// Takes out the values that Go's decoder puts in the place of required fields that an object does not
/// have: null, the empty string, or for a struct a map without others. Zero and false stay: they can be defaults.
pub(crate) fn forget_unsaid(decoded: &mut Value, said: &Value) {
    forget(decoded, said, |value| match value {
        Value::Object(members) => members.is_empty(),
        Value::String(text) => text.is_empty(),
        other => other.is_null(),
    });
}

/// Takes out the blank values of members that an object does not have.
fn forget(decoded: &mut Value, said: &Value, is_blank: fn(&Value) -> bool) {
    match decoded {
        Value::Object(members) => {
            for (name, value) in members.iter_mut() {
                forget(value, &said[name.as_str()], is_blank);
            }
            members.retain(|name, value| !is_blank(value) || said.get(name).is_some());
        }
        Value::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                forget(item, &said[at], is_blank);
            }
        }
        _ => {}
    }
}

/// Returns whether a value is the zero value of its type in Go: what a decoder has for a required field that is not
/// said, as the counts in the status of a DaemonSet (`k8s.io/api/apps/v1/types.go DaemonSetStatus`, v0.36).
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_f64() == Some(0.0),
        other => other.is_null() || *other == Value::Bool(false),
    }
}

/// Returns a manifest in the words of the server: quantities and times as it writes them, and without
/// fields that the kind does not know. The `stringData` of a Secret becomes its `data`, as the server
/// stores it (`pkg/apis/core/v1/conversion.go Convert_v1_Secret_To_core_Secret`, v1.36).
pub(super) fn in_server_words(manifest: &Value, resource: &Resource) -> Value {
    let mut said = manifest.clone();
    if let Definition::Builtin(_) = resource.definition
        && let Ok(decoded) = decode(Node::from(said.clone()), &resource.root)
    {
        said = decoded.value;
        forget(&mut said, manifest, is_zero);
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
