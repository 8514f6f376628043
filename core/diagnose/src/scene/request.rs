//! The request that the server refused.

use http::{Request, header};
use optimist_apiserver::object::Metadata;
use optimist_apiserver::patch::{APPLY, JSON_PATCH};
use optimist_simulation::Exchange;
use serde_json::{Value, json};

use super::Draft;
use crate::case::Installed;
use crate::message::{Precondition, PrintedError};

/// Sends the requests of a scene. The last one gets the message.
pub(super) fn send(draft: &Draft<'_>, installed: &Installed) -> Vec<Exchange> {
    let mut server = installed.world.server().clone();
    let mut sent = Vec::new();
    for (method, target, media, body) in requests(draft, installed) {
        let request = Request::builder()
            .method(method)
            .uri(target)
            .header(header::CONTENT_TYPE, media)
            .header(header::USER_AGENT, &draft.manager)
            .body(body.to_string().into_bytes());
        let Ok(request) = request else {
            continue;
        };
        let response = server.handle(request.clone());
        sent.push(Exchange::new(&request, &response));
    }
    sent
}

type RequestLine = (&'static str, String, &'static str, Value);

const JSON: &str = "application/json";

fn requests(draft: &Draft<'_>, installed: &Installed) -> Vec<RequestLine> {
    let path = installed.world.subject().path();
    let apply = |target: &str| draft.apply(target);
    match &draft.error.error {
        PrintedError::Apply(conflicts) => {
            let status = |field: &String| field.starts_with(".status");
            let target = match conflicts.iter().flat_map(|it| &it.fields).all(status) {
                true => format!("{path}/status"),
                false => path,
            };
            vec![("PATCH", apply(&target), APPLY, draft.wanted.clone())]
        }
        // Its history has two clients.
        PrintedError::Modified => Vec::new(),
        PrintedError::OtherUid { sent, stored, key } => {
            let object = [stored.as_str(), key.as_str()];
            other_uid(draft, installed, sent, object)
        }
        PrintedError::Precondition { of, sent, .. } => {
            vec![("DELETE", path, JSON, deletion_if(*of, sent))]
        }
        PrintedError::AlreadyExists { .. } => {
            let collection = installed.world.resource().path(draft.live.namespace(), "");
            vec![("POST", collection, JSON, draft.wanted.clone())]
        }
        PrintedError::PatchRefused { .. } => {
            let test = json!([{"op": "test", "path": "/metadata/resourceVersion", "value": "1"}]);
            vec![("PATCH", path, JSON_PATCH, test)]
        }
        PrintedError::ManagedFieldsSent => {
            vec![(
                "PATCH",
                apply(&path),
                APPLY,
                with_managed_fields(&draft.wanted),
            )]
        }
        PrintedError::VersionMissing => {
            let mut body = stored_object(installed);
            body.metadata_mut().remove("resourceVersion");
            vec![("PUT", path, JSON, body)]
        }
        PrintedError::OtherThanExpected { .. }
        | PrintedError::NotOverwritten { .. }
        | PrintedError::NotOfRelease
        | PrintedError::ForceWithoutServerSide
        | PrintedError::Invalid { .. }
        | PrintedError::Forbidden { .. }
        | PrintedError::NoRight { .. }
        | PrintedError::NotServed
        | PrintedError::NotOfSchema { .. }
        | PrintedError::VersionOnCreate
        | PrintedError::TestFailed { .. }
        | PrintedError::Request(_)
        | PrintedError::Tool(_)
        | PrintedError::NotFound
        | PrintedError::OtherConflict { .. } => Vec::new(),
    }
}

/// The options of a deletion with a precondition.
fn deletion_if(of: Precondition, sent: &str) -> Value {
    let field = match of {
        Precondition::Uid => "uid",
        Precondition::ResourceVersion => "resourceVersion",
    };
    json!({"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {field: sent}})
}

/// The manifest with an entry of managed fields, as of an object that was read and is applied.
fn with_managed_fields(manifest: &Value) -> Value {
    let mut body = manifest.clone();
    let entry = json!({"manager": "a", "operation": "Update", "apiVersion": "v1",
        "fieldsType": "FieldsV1", "fieldsV1": {}});
    body.set_meta("managedFields", json!([entry]));
    body
}

/// A write with the uid of a former object: the object has another one, or it is gone.
fn other_uid(
    draft: &Draft<'_>,
    installed: &Installed,
    sent: &str,
    [stored, key]: [&str; 2],
) -> Vec<RequestLine> {
    let path = installed.world.subject().path();
    let mut body = stored_object(installed);
    body.set_meta("uid", sent);
    if !stored.is_empty() {
        // A dry run names the key without the root of the registry.
        let dry_run = !key.starts_with("/registry");
        let target = if dry_run {
            format!("{path}?dryRun=All")
        } else {
            path
        };
        return vec![("PUT", target, JSON, body)];
    }
    let options = json!({"kind": "DeleteOptions", "apiVersion": "v1"});
    let gone = ("DELETE", path.clone(), JSON, options);
    if key.is_empty() {
        let mut manifest = draft.wanted.clone();
        manifest.set_meta("uid", sent);
        return vec![gone, ("PATCH", draft.apply(&path), APPLY, manifest)];
    }
    vec![gone, ("PUT", path, JSON, body)]
}

impl Draft<'_> {
    /// The target of an apply without force.
    fn apply(&self, target: &str) -> String {
        let manager: String = form_urlencoded::byte_serialize(self.manager.as_bytes()).collect();
        format!("{target}?fieldManager={manager}&force=false")
    }
}

fn stored_object(installed: &Installed) -> Value {
    installed
        .object()
        .map(|object| (**object).clone())
        .unwrap_or_default()
}
