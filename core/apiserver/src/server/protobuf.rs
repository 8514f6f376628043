//! Protobuf at the edge of the server: it turns a body into JSON, and the JSON of an answer into protobuf
//! (`k8s.io/apimachinery/pkg/runtime/serializer/protobuf`).

use std::sync::Arc;

use optimist_protobuf::Envelope;
pub(super) use optimist_protobuf::{MEDIA_TYPE, WATCH_MEDIA_TYPE};
use serde_json::Value;

use super::body::{undecodable, unrecognized};
use super::resource::{Definition, Resource};
use super::{RequestInfo, Resources, WatchEvent, wire};
use crate::json::{Node, push_sorted};
use crate::object::{GroupVersion, JsonMap, is_zero};
use crate::schema::{self, Struct};
use crate::status::{Refusal, Status};

/// Reads a body as the JSON that Go writes of the same object: with its version and kind, and without the zero
/// values that protobuf has and JSON leaves out; `None` if it is something else.
pub(super) fn document(body: &[u8]) -> Option<Value> {
    let envelope = Envelope::read(body).ok()?;
    let (version, kind) = (&envelope.api_version, &envelope.kind);
    let decoded = optimist_protobuf::decode(&envelope, version, kind).ok()?;
    let mut document = as_in_json(decoded, version, kind)?;
    let members = document.as_object_mut()?;
    members.insert("apiVersion".to_owned(), version.as_str().into());
    members.insert("kind".to_owned(), kind.as_str().into());
    Some(document)
}

/// Returns a decoded object with the members that its JSON has. The items of most lists say no version and no kind.
fn as_in_json(decoded: Value, version: &str, kind: &str) -> Option<Value> {
    if let Some(document) = decoded_as_kind(&decoded, version, kind) {
        return Some(document);
    }
    let Value::Object(mut members) = decoded else {
        return None;
    };
    if let Some(item_kind) = kind.strip_suffix("List") {
        // An empty list is there too.
        let items = members
            .entry("items")
            .or_insert_with(|| Value::Array(Vec::new()));
        for item in items.as_array_mut()? {
            *item = as_in_json(item.take(), version, item_kind)?;
        }
    }
    match kind {
        "PartialObjectMetadata" => {
            if let Some(metadata) = members.get_mut("metadata") {
                let root = schema::builtin("ObjectMeta")?;
                let decoded = schema::decode(Node::from(metadata.take()), root).ok()?;
                *metadata = decoded.value;
            }
            // As an item too (`pkg/endpoints/handlers/response.go asPartialObjectMetadataList`).
            members.insert("apiVersion".to_owned(), version.into());
            members.insert("kind".to_owned(), kind.into());
        }
        "Status" => {
            // Only `metadata` is there in any case (`apimachinery/pkg/apis/meta/v1/types.go Status`).
            members.values_mut().for_each(drop_zeros);
            members.retain(|name, value| name == "metadata" || !is_zero(value));
        }
        _ => members.get_mut("metadata").into_iter().for_each(drop_zeros),
    }
    Some(Value::Object(members))
}

/// Decodes an object of a kind that is stored, that a request carries, or that shows replicas; `None` for any other.
fn decoded_as_kind(decoded: &Value, version: &str, kind: &str) -> Option<Value> {
    let decode = |root: &Struct| schema::decode(Node::from(decoded.clone()), root).ok();
    if kind == "DeleteOptions" {
        return Some(decode(schema::requested(kind)?)?.value);
    }
    let is_of_kind =
        |it: &&Arc<Resource>| it.kind == kind && it.group_version.to_string() == version;
    let stored = Resources::builtin();
    let resource = (stored.by_kind(version, kind))
        .or_else(|| super::actions::taken(version, kind))
        .or_else(|| super::scale::resource().filter(is_of_kind))?;
    Some(decode(&resource.root)?.value)
}

/// Drops the members that Go leaves out of JSON where each has `omitempty`.
fn drop_zeros(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.values_mut().for_each(drop_zeros);
            members.retain(|_, value| !is_zero(value));
        }
        Value::Array(items) => items.iter_mut().for_each(drop_zeros),
        _ => {}
    }
}

/// Reads an object of the kind that is asked for. Of an object of another version or kind, only its own
/// name for them is read.
///
/// # Errors
/// 400 if it cannot be decoded.
pub(super) fn object(info: &RequestInfo, body: &[u8]) -> Result<Node, Refusal> {
    let envelope = Envelope::read(body);
    let envelope = envelope.map_err(|error| unrecognized(info, &error.to_string(), body))?;
    let resource = &info.resource;
    let own_version = resource.group_version.to_string();
    let version = match envelope.api_version.as_str() {
        version if version.is_empty() || GroupVersion::parse(version).is_none() => &own_version,
        version => version,
    };
    let kind = match envelope.kind.as_str() {
        "" => &resource.kind,
        kind => kind,
    };
    if let Definition::Custom(_) = resource.definition {
        let error = "object *unstructured.Unstructured does not implement the protobuf marshalling \
                     interface and cannot be encoded to a protobuf message";
        return Err(undecodable(info, version, kind, error));
    }
    let mut members = JsonMap::new();
    if version == own_version && *kind == resource.kind {
        let decoded = optimist_protobuf::decode(&envelope, version, kind);
        let decoded =
            decoded.map_err(|error| undecodable(info, version, kind, &error.to_string()))?;
        if let Value::Object(decoded) = decoded {
            members = decoded;
        }
    }
    members.insert("apiVersion".to_owned(), version.into());
    members.insert("kind".to_owned(), kind.into());
    Ok(Value::Object(members).into())
}

/// Reads the options of a DELETE.
///
/// # Errors
/// 400 if they cannot be decoded.
pub(super) fn delete_options(body: &[u8]) -> Result<Node, Refusal> {
    const KIND: &str = "DeleteOptions";
    let bad_request = |error: optimist_protobuf::Error| Status::bad_request(error.to_string());
    let envelope = Envelope::read(body).map_err(bad_request)?;
    let mut options = optimist_protobuf::decode(&envelope, "v1", KIND).map_err(bad_request)?;
    for (name, own) in [
        ("apiVersion", &envelope.api_version),
        ("kind", &envelope.kind),
    ] {
        if !own.is_empty() {
            options[name] = own.as_str().into();
        }
    }
    Ok(options.into())
}

/// A document; `None` if its kind has no message.
pub(super) fn written(document: &Value) -> Option<Vec<u8>> {
    optimist_protobuf::encode(document, &|member, value| {
        let mut out = String::new();
        match member {
            "fieldsV1" => wire::fields(value, &mut out),
            _ => push_sorted(value, &mut out),
        }
        out
    })
}

/// An event of a watch; `None` if the kind of its object has no message.
pub(super) fn frame(event: &WatchEvent) -> Option<Vec<u8>> {
    let object = written(&event.object)?;
    Some(optimist_protobuf::watch_event(
        event.event_type.as_str(),
        &object,
    ))
}
