//! Patch in its four types (`k8s.io/apiserver/pkg/endpoints/handlers/patch.go`).

mod apply;
pub(super) mod foreign;

use foreign::Scheme;
use serde_json::Value;

use super::body::DraftObject;
use super::request::FieldValidation;
use super::resource::{Definition, Resource};
use super::write::{check_name, endpoint, normalize_namespace};
use super::{ApiServer, Fact, ObjectAnswer, RequestInfo, Trace, body, scale, wire};
use crate::go;
use crate::json::{self, Node, Raw};
use crate::limits;
use crate::object::{GroupName, JsonMap, Metadata, text, without_managers};
use crate::patch::{
    self, APPLY, Converted, JSON_PATCH, JsonPatch, JsonPatchError, MERGE_PATCH,
    STRATEGIC_MERGE_PATCH, StrategicError,
};
use crate::schema;
use crate::status::{FieldError, Refusal, Status};
use crate::yaml;

/// The maximum number of operations of a JSON patch (`maxJSONPatchOperations`).
const MAX_OPERATIONS: usize = 10_000;

impl Resource {
    /// The patch types that it accepts. Only built-in kinds have merge keys for lists.
    pub fn patch_types(&self) -> &'static [&'static str] {
        if self.is_builtin() {
            &[JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH, APPLY]
        } else {
            &[JSON_PATCH, MERGE_PATCH, APPLY]
        }
    }

    /// Refuses a patch of another type. `PatchResource` does this before anything else.
    pub(super) fn check_patch_type(&self, content_type: &str) -> Result<(), Refusal> {
        let accepted = self.patch_types();
        if accepted.contains(&content_type) {
            return Ok(());
        }
        // Requests for built-in kinds are routed by their type, and come to no handler unless
        // one of several types fits.
        let fits = |part: &str| accepted.contains(&part.trim());
        let routed = content_type.split(',').any(fits);
        Err(if self.is_builtin() && !routed {
            Status::unroutable_media_type()
        } else {
            Status::unsupported_media_type(accepted)
        })
    }

    pub(super) fn is_builtin(&self) -> bool {
        matches!(self.definition, Definition::Builtin(_))
    }
}

/// Returns whether a request reports unknown and duplicate fields.
fn complains(info: &RequestInfo) -> bool {
    info.options.field_validation != FieldValidation::Ignore
}

/// Refuses a patch whose result is no object of the kind; `shown` is the value that the message shows.
fn no_result(shown: &str, error: &str) -> Refusal {
    let error = FieldError::invalid("patch", &shown.into(), error);
    Status::invalid(&GroupName::new("", ""), "", &[error])
}

/// The result of strict decoding: nothing, warnings or a refusal.
fn apply_field_validation(
    info: &RequestInfo,
    strict_errors: Vec<String>,
    shown: impl FnOnce() -> String,
) -> Result<Vec<String>, Refusal> {
    match info.options.field_validation {
        FieldValidation::Ignore => Ok(Vec::new()),
        FieldValidation::Strict if !strict_errors.is_empty() => {
            let list = strict_errors.join(", ");
            let error = format!("strict decoding error: {list}");
            Err(no_result(&shown(), &error))
        }
        FieldValidation::Warn | FieldValidation::Strict => Ok(strict_errors),
    }
}

/// Returns whether a patch names the version that it is for.
fn carries_version(patch: &[u8]) -> bool {
    let patch = String::from_utf8_lossy(patch);
    // Most do not, and are not parsed again.
    if !patch.contains("resourceVersion") {
        return false;
    }
    let Ok(document) = yaml::parse(&patch) else {
        return false;
    };
    patch::names_version(&Value::from(document.node))
}

/// The message that a client gets when a handler panics.
pub(super) fn panicked() -> Refusal {
    Status::internal("This request caused apiserver to panic. Look in the logs for details.")
}

impl ApiServer {
    pub(super) fn patch(
        &mut self,
        info: &RequestInfo,
        bytes: &[u8],
        trace: &mut Trace,
    ) -> Result<ObjectAnswer, Refusal> {
        body::check_size(bytes)?;
        let mut noted = Trace::default();
        let takes_version_over = !carries_version(bytes);
        let apply = info.content_type == APPLY;
        let produce = |server: &Self, live: &Value| {
            let mut draft = if apply {
                server.apply(info, live, bytes, &mut noted)?
            } else {
                server.patched(info, live, bytes, &mut noted)?
            };
            let object = &mut draft.object;
            if live.uid().is_empty() && !object.uid().is_empty() {
                noted.facts.push(Fact::UidDiffered {
                    sent: object.uid().to_owned(),
                    stored: None,
                });
                let why = format!(
                    "uid mismatch: the provided object specified uid {}, and no existing object was found",
                    object.uid()
                );
                return Err(Status::conflict(&info.group_resource(), &info.name, &why));
            }
            normalize_namespace(info, object)?;
            check_name(info, object)?;
            draft.takes_version_over = takes_version_over;
            Ok(draft)
        };
        let may_create = apply && info.resource.creates_through(&info.subresource);
        let answer = self.write(info, "", may_create, trace, produce);
        trace.facts.append(&mut noted.facts);
        // What the patch itself deserves comes before what the kind says of the result.
        noted.warnings.append(&mut trace.warnings);
        trace.warnings = noted.warnings;
        answer
    }

    /// Applies a patch that carries changes to an object.
    fn patched(
        &self,
        info: &RequestInfo,
        live: &Value,
        bytes: &[u8],
        trace: &mut Trace,
    ) -> Result<DraftObject, Refusal> {
        if live.uid().is_empty() {
            return Err(Status::not_found(&info.group_resource(), &info.name));
        }
        // Where a patch leaves the managers alone, they are not copied with the rest, which is often
        // the smaller half: what follows takes them from the stored object. A refusal shows them.
        let without_managers = leaves_managers_alone(info, bytes)
            .then(|| apply_patch(info, &without_managers(live), bytes, &mut Trace::default()));
        let mut draft = match without_managers {
            Some(Ok(draft)) => draft,
            _ => apply_patch(info, live, bytes, trace)?,
        };
        trace.warnings.append(&mut draft.warnings);
        let manager = self.manager(info, endpoint(info)?);
        draft.update(info, |object| manager.update(live, object, &info.manager));
        Ok(draft)
    }
}

/// The result of a patch by its type.
fn apply_patch(
    info: &RequestInfo,
    live: &Value,
    bytes: &[u8],
    trace: &mut Trace,
) -> Result<DraftObject, Refusal> {
    match info.content_type.as_str() {
        JSON_PATCH => json_patched(info, live, bytes, trace),
        STRATEGIC_MERGE_PATCH => strategically_merged(info, live, bytes),
        _ => {
            let (patched, strict_errors, huge) = merged(info, live, bytes)?;
            decode(info, patched, strict_errors, huge, || {
                let patch = Raw::parse(bytes).unwrap_or(Raw::Null);
                match patch {
                    // A list counts as the result.
                    list @ Raw::Array(_) => patch::merge_in_order(Raw::Null, list),
                    patch => patch::merge_in_order(as_written(info, live), patch),
                }
            })
        }
    }
}

/// Returns whether a patch neither reads nor writes `metadata.managedFields`. (A merge that removes them
/// changes nothing: they come from the stored object then.)
fn leaves_managers_alone(info: &RequestInfo, patch: &[u8]) -> bool {
    if info.content_type == JSON_PATCH {
        return JsonPatch::decode(patch).is_ok_and(|patch| patch.leaves_alone("metadata"));
    }
    // An escaped letter could hide the name.
    str::from_utf8(patch).is_ok_and(|text| !text.contains("managedFields") && !text.contains('\\'))
}

/// Go's error for a document that must be an object.
fn no_map(node: &Node) -> String {
    format!(
        "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
        node.go_kind()
    )
}

/// A patch must be an object, or `null`; with it come its repeated members.
fn read_members(
    info: &RequestInfo,
    bytes: &[u8],
) -> Result<(Option<JsonMap>, Vec<String>), String> {
    let node = json::parse(bytes).map_err(|error| error.to_string())?;
    if let (Node::Object(_), Some(error)) = (&node, json::huge_number_error(&node)) {
        return Err(error);
    }
    let strict_errors = if complains(info) {
        json::duplicates(&node)
    } else {
        Vec::new()
    };
    match node {
        Node::Null => Ok((None, strict_errors)),
        Node::Object(_) => match Value::from(node) {
            Value::Object(members) => Ok((Some(members), strict_errors)),
            _ => Ok((None, strict_errors)),
        },
        other => Err(no_map(&other)),
    }
}

fn json_patched(
    info: &RequestInfo,
    live: &Value,
    bytes: &[u8],
    trace: &mut Trace,
) -> Result<DraftObject, Refusal> {
    let (patch, strict_errors) = if complains(info) {
        JsonPatch::decode_strictly(bytes)
            .map_err(|error| Status::bad_request(format!("error decoding patch: {error}")))?
    } else {
        (
            JsonPatch::decode(bytes).map_err(Status::bad_request)?,
            Vec::new(),
        )
    };
    if patch.len() > MAX_OPERATIONS {
        return Err(Status::too_large(format!(
            "The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {}",
            patch.len()
        )));
    }
    let patched = patch.apply(live.clone()).map_err(|error| match error {
        JsonPatchError::DoesNotApply => {
            let failed = patch.failed_operation(live.clone());
            trace.facts.extend(failed.map(Fact::OperationFailed));
            Status::unprocessable()
        }
        JsonPatchError::Panics => panicked(),
        JsonPatchError::TooDeep => limits::too_deep(),
    })?;
    limits::check(&patched)?;
    let strict_errors = strict_errors
        .iter()
        .map(|strict_error| format!("json patch {strict_error}"))
        .collect();
    decode(
        info,
        patched,
        strict_errors,
        // A value holds neither.
        patch.has_huge_number() || patch.has_repeats(),
        || {
            let patched = patch.apply_in_order(as_written(info, live));
            patched.unwrap_or(Raw::Null)
        },
    )
}

/// A stored object as it is written for a patch to change it.
fn as_written(info: &RequestInfo, live: &Value) -> Raw {
    let text = if info.resource.is_builtin() {
        go::escape_html(&wire::of_root(&info.resource.root, live))
    } else {
        go::json(live)
    };
    Raw::parse(text.as_bytes()).unwrap_or(Raw::Null)
}

fn merged(
    info: &RequestInfo,
    live: &Value,
    bytes: &[u8],
) -> Result<(Value, Vec<String>, bool), Refusal> {
    let mut has_huge_number = false;
    let bad_patch = || Status::bad_request("Invalid JSON Patch");
    let (patch, strict_errors) = match read_members(info, bytes) {
        Ok((Some(members), strict_errors)) => (Value::Object(members), strict_errors),
        Ok((None, _)) => return Err(bad_patch()),
        Err(error) if complains(info) => {
            return Err(Status::bad_request(format!(
                "error decoding patch: {error}"
            )));
        }
        // Unless the patch was decoded strictly before, a list counts as the result, and its numbers are not read.
        Err(_) => match json::parse(bytes) {
            Ok(list @ Node::Array(_)) => (list.into(), Vec::new()),
            Ok(members @ Node::Object(_)) => {
                has_huge_number = true;
                (members.into(), Vec::new())
            }
            _ => return Err(bad_patch()),
        },
    };
    limits::check(&patch)?;
    let mut patched = match patch {
        Value::Array(_) => Value::Array(Vec::new()),
        _ => live.clone(),
    };
    patch::merge(&mut patched, &patch);
    limits::check(&patched)?;
    Ok((patched, strict_errors, has_huge_number))
}

fn strategically_merged(
    info: &RequestInfo,
    live: &Value,
    bytes: &[u8],
) -> Result<DraftObject, Refusal> {
    let (members, mut strict_errors) = read_members(info, bytes).map_err(Status::bad_request)?;
    let mut patch = Value::Object(members.unwrap_or_default());
    limits::check(&patch)?;
    let Value::Object(patch) = &mut patch else {
        return Err(panicked());
    };
    let original = live.as_object().cloned().unwrap_or_default();
    let root = &info.resource.root;
    // `interpretStrategicMergePatchError`
    let merged = patch::strategic_merge(original, patch, root).map_err(|error| match error {
        StrategicError::Malformed(message) => Status::bad_request(message),
        StrategicError::ListOfLists => Status::unprocessable(),
        StrategicError::Other(message) => Status::internal(message),
        StrategicError::Panics => panicked(),
    })?;
    let merged = Value::Object(merged);
    limits::check(&merged)?;
    let shown = || go::print(&Value::Object(patch.clone()));
    let Converted { value, unknown } = match patch::from_unstructured(merged, root) {
        Ok(converted) => converted,
        Err(error) => return Err(no_result(&shown(), &error)),
    };
    let decoded =
        schema::decode(value.into(), root).map_err(|error| no_result(&shown(), &error))?;
    strict_errors.extend(unknown);
    let mut draft = DraftObject {
        warnings: apply_field_validation(info, strict_errors, shown)?,
        object: decoded.value,
        empties: decoded.empties,
        ..DraftObject::default()
    };
    draft.internal = body::finish(info, &mut draft.object, &draft.empties);
    Ok(draft)
}

/// Decodes the result of a JSON or merge patch. `strict_errors` are the errors of the patch;
/// `in_order` gives the result as the server's library writes it, which messages show.
fn decode(
    info: &RequestInfo,
    patched: Value,
    mut strict_errors: Vec<String>,
    as_spelled: bool,
    in_order: impl Fn() -> Raw,
) -> Result<DraftObject, Refusal> {
    if info.resource.is_builtin() {
        if let Some(error) =
            foreign::mistake_of_patch(&info.resource, Scheme::of_request(info), &patched)
        {
            return Err(no_result(&in_order().compact(), &error));
        }
        // The scales of custom resources have no internal version.
        if text(&patched, "apiVersion").is_empty() && !scale::is_foreign(info) {
            strict_errors.extend(foreign::unknown_to_internal(&patched));
            return Ok(DraftObject {
                warnings: apply_field_validation(info, strict_errors, || in_order().compact())?,
                ..Value::Object(JsonMap::new()).into()
            });
        }
    }
    // A value cannot hold a huge number or a repeated member, which may be the reason of an error.
    let patched = if as_spelled {
        Node::from(in_order())
    } else {
        Node::from(patched)
    };
    if strict_errors.is_empty() || info.options.field_validation != FieldValidation::Strict {
        let decoded = body::decode_patched(info, patched, &in_order);
        // Of several mistakes the first of the document is told, and a value has lost their order.
        let mut draft =
            decoded.or_else(|_| body::decode_patched(info, Node::from(in_order()), &in_order))?;
        strict_errors.append(&mut draft.warnings);
        draft.warnings = strict_errors;
        return Ok(draft);
    }
    // All errors are reported together, those of the patch first.
    let mut lenient = info.clone();
    lenient.options.field_validation = FieldValidation::Warn;
    let mut draft = body::decode_patched(&lenient, patched, &in_order)?;
    strict_errors.append(&mut draft.warnings);
    draft.warnings = apply_field_validation(info, strict_errors, || in_order().compact())?;
    Ok(draft)
}

#[cfg(test)]
mod tests;
