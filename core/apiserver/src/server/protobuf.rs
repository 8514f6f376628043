//! Protobuf at the edge of the server: it turns a body into JSON, and the JSON of an answer into protobuf
//! (`k8s.io/apimachinery/pkg/runtime/serializer/protobuf`).

use optimist_protobuf::Envelope;
pub(super) use optimist_protobuf::{MEDIA_TYPE, WATCH_MEDIA_TYPE};
use serde_json::Value;

use super::body::{undecodable, unrecognized};
use super::resource::Definition;
use super::{RequestInfo, Resources, WatchEvent, wire};
use crate::json::{Node, push_sorted};
use crate::object::{GroupVersion, JsonMap};
use crate::schema;
use crate::status::{Refusal, Status};

/// Reads an answer as its JSON: an object that says its version and kind; `None` if it is something else.
pub(super) fn answer(body: &[u8]) -> Option<Value> {
    let envelope = Envelope::read(body).ok()?;
    let (version, kind) = (&envelope.api_version, &envelope.kind);
    let mut answer = optimist_protobuf::decode(&envelope, version, kind).ok()?;
    // Protobuf has the zero values that JSON leaves out.
    if let Some(resource) = Resources::builtin().by_kind(version, kind) {
        answer = schema::decode(Node::from(answer), &resource.root)
            .ok()?
            .value;
    }
    let members = answer.as_object_mut()?;
    members.insert("apiVersion".to_owned(), version.as_str().into());
    members.insert("kind".to_owned(), kind.as_str().into());
    Some(answer)
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
