//! Patch in its four types (`k8s.io/apiserver/pkg/endpoints/handlers/patch.go`).

use serde_json::Value;

use super::request::FieldValidation;
use super::write::{check_name, endpoint, settle_namespace};
use super::{Answer, ApiServer, Fact, RequestInfo, Trace, body};
use crate::json;
use crate::object::Metadata;
use crate::patch;
use crate::schema;
use crate::status::{Refusal, Status};
use crate::yaml;

/// The patch types that every kind accepts.
const PATCH_TYPES: [&str; 2] = [
    "application/merge-patch+json",
    "application/apply-patch+yaml",
];

impl ApiServer {
    pub(super) fn patch(
        &mut self,
        info: &RequestInfo,
        bytes: &[u8],
        trace: &mut Trace,
    ) -> Result<Answer, Refusal> {
        if !PATCH_TYPES.contains(&info.content_type.as_str()) {
            return Err(Status::unroutable_media_type());
        }
        body::check_size(bytes)?;
        let mut noted = Trace::default();
        let apply = info.content_type == "application/apply-patch+yaml";
        let produce = |server: &Self, live: &Value| {
            let mut object = if apply {
                server.apply(info, live, bytes, &mut noted)?
            } else {
                server.merge_patch(info, live, bytes, &mut noted)?
            };
            if live.uid().is_empty() && !object.uid().is_empty() {
                let why = format!(
                    "uid mismatch: the provided object specified uid {}, and no existing object was found",
                    object.uid()
                );
                return Err(Status::conflict(&info.group_resource(), &info.name, &why));
            }
            settle_namespace(info, &mut object)?;
            check_name(info, &object)?;
            Ok(object)
        };
        let answer = self.write(info, "", apply, trace, produce);
        trace.facts.append(&mut noted.facts);
        // What the patch itself deserves comes before what the kind says of the result.
        noted.warnings.append(&mut trace.warnings);
        trace.warnings = noted.warnings;
        answer
    }

    fn merge_patch(
        &self,
        info: &RequestInfo,
        live: &Value,
        bytes: &[u8],
        trace: &mut Trace,
    ) -> Result<Value, Refusal> {
        if live.uid().is_empty() {
            return Err(Status::not_found(&info.group_resource(), &info.name));
        }
        let patch = json::parse(bytes)
            .map_err(|error| Status::bad_request(format!("error decoding patch: {error}")))?;
        let patch = match patch {
            json::Node::Object(_) => Value::from(patch),
            json::Node::Null => return Err(Status::bad_request("Invalid JSON Patch")),
            other => {
                return Err(Status::bad_request(format!(
                    "error decoding patch: json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                    other.go_kind()
                )));
            }
        };
        let mut patched = live.clone();
        patch::merge(&mut patched, &patch);
        let (mut object, found) = body::decode_patched(info, patched)?;
        trace.warnings.extend(found);
        self.manager(info, endpoint(info)?)
            .update(live, &mut object, &info.manager);
        Ok(object)
    }

    fn apply(
        &self,
        info: &RequestInfo,
        live: &Value,
        bytes: &[u8],
        trace: &mut Trace,
    ) -> Result<Value, Refusal> {
        let text = String::from_utf8_lossy(bytes);
        let document = yaml::parse(&text)
            .map_err(|error| Status::bad_request(format!("error decoding YAML: {error}")))?;
        let config = Value::from(document.node);
        let applied = self
            .manager(info, endpoint(info)?)
            .apply(live, &config, &info.manager, info.options.force)
            .inspect_err(|refusal| {
                let causes = refusal.details.iter().flat_map(|details| &details.causes);
                trace.facts.extend(causes.map(|cause| {
                    let manager = cause.message.trim_start_matches("conflict with ");
                    Fact::OwnedByOther {
                        field: cause.field.clone(),
                        manager: manager.to_owned(),
                    }
                }));
            })?;
        match info.options.field_validation {
            FieldValidation::Strict if !document.duplicates.is_empty() => {
                return Err(Status::bad_request(format!(
                    "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  {}",
                    document.duplicates.join("\n  ")
                )));
            }
            FieldValidation::Warn => trace.warnings.extend(document.duplicates),
            _ => {}
        }
        if !applied.changed {
            return Ok(applied.object);
        }
        let managed = applied
            .object
            .metadata()
            .and_then(|meta| meta.get("managedFields").cloned());
        let mut decoded = schema::decode(applied.object.into(), &info.resource.root)
            .map_err(Status::internal)?
            .value;
        body::finish(info, &mut decoded);
        decoded.set_meta("managedFields", managed.unwrap_or(Value::Null));
        Ok(decoded)
    }
}
