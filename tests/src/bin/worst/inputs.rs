//! Inputs that ask for a lot of work.

use serde_json::{Value, json};

/// So large are the inputs that are filled up.
pub const SIZE: usize = 256 * 1024;

/// Fills an input with as many items as fit, each made of its number.
pub fn filled(begin: &str, end: &str, separator: &str, item: impl Fn(usize) -> String) -> String {
    let mut text = begin.to_owned();
    let mut i = 0;
    loop {
        let next = item(i);
        if text.len() + next.len() + separator.len() + end.len() > SIZE {
            return text + end;
        }
        if i > 0 {
            text.push_str(separator);
        }
        text.push_str(&next);
        i += 1;
    }
}

/// A ConfigMap with so many keys.
pub fn config_map(keys: usize) -> Value {
    let data: serde_json::Map<String, Value> = (0..keys)
        .map(|i| (format!("key-{i:05}"), i.to_string().into()))
        .collect();
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": data})
}

/// A Deployment with this in the spec of its pod template.
pub fn deployment(pod: &str) -> String {
    format!(
        r#"{{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"x"}},"spec":{{"selector":{{"matchLabels":{{"a":"b"}}}},"template":{{"metadata":{{"labels":{{"a":"b"}}}},"spec":{{{pod}}}}}}}}}"#
    )
}

/// A definition of a custom resource, Thing, with a schema of its spec.
pub fn definition(spec: &Value) -> String {
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}}],
        },
    })
    .to_string()
}

/// A Thing with a spec.
pub fn thing(spec: &str) -> String {
    format!(
        r#"{{"apiVersion":"example.com/v1","kind":"Thing","metadata":{{"name":"x"}},"spec":{spec}}}"#
    )
}

/// The path of the Things.
pub const THINGS: &str = "/apis/example.com/v1/namespaces/default/things";
