//! A type with a field of each kind, for the tests of the algorithms.

use serde_json::{Value, json};

use crate::apply::Set;
use crate::schema::openapi::Schema;
use crate::schema::{Struct, custom};

/// The type of an object whose `spec` has: `n` and `s`, scalars; `map`, `box` (atomic) and `any`
/// (not described); `set`, `list` (atomic) and `items`, a list with the key `k`.
pub(in crate::apply) fn root() -> Struct {
    let text = json!({"type": "string"});
    let number = json!({"type": "integer"});
    let texts =
        |kind: &str| json!({"type": "array", "x-kubernetes-list-type": kind, "items": text});
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "n": number,
        "s": text,
        "map": {"type": "object", "additionalProperties": text},
        "box": {
            "type": "object", "x-kubernetes-map-type": "atomic",
            "properties": {"a": number, "b": number},
        },
        "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "set": texts("set"),
        "list": texts("atomic"),
        "items": {
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"],
            "items": {
                "type": "object", "required": ["k"],
                "properties": {"k": text, "v": number, "set": texts("set")},
            },
        },
    }}}});
    custom::root(Some(&Schema::parse(&schema).unwrap()), "Sample")
}

/// An object with this spec.
pub(in crate::apply) fn object(spec: Value) -> Value {
    json!({"spec": spec})
}

/// The paths of a set below the spec.
pub(in crate::apply) fn paths(set: &Set) -> Vec<String> {
    let paths = set.paths().into_iter().map(|path| path.to_string());
    paths
        .map(|path| path.strip_prefix(".spec").unwrap().to_owned())
        .collect()
}
