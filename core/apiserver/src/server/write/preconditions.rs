//! Preconditions of a write on the stored object: its uid and its version (`Store.Update` of
//! `pkg/registry/generic/registry/store.go`).

use serde_json::Value;

use crate::go;
use crate::object::Metadata;
use crate::server::{Fact, RequestInfo, Trace};
use crate::status::{FieldError, Refusal, Status};
use crate::storage::Revision;

/// The precondition that the uid in the body of a PUT is.
pub(super) fn uid_differs(
    info: &RequestInfo,
    key: &str,
    sent: &str,
    stored: Option<&str>,
    trace: &mut Trace,
) -> Refusal {
    trace.facts.push(Fact::UidDiffered {
        sent: sent.to_owned(),
        stored: stored.map(str::to_owned),
    });
    let stored = stored.unwrap_or_default();
    let key = if info.options.dry_run {
        key.trim_start_matches("/registry")
    } else {
        key
    };
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, \
         AdditionalErrorMsg: Precondition failed: UID in precondition: {sent}, UID in object meta: {stored}"
    );
    Status::conflict(&info.group_resource(), &info.name, &why)
}

/// The precondition that the version in the options of a deletion is: it is that of the object which an update
/// before the deletion gave, and there is none (`Store.Delete`).
pub(in crate::server) fn version_lost(info: &RequestInfo, key: &str, stored: &str) -> Refusal {
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: \
         Precondition failed: ResourceVersion in precondition: , ResourceVersion in object meta: {stored}"
    );
    Status::conflict(&info.group_resource(), &info.name, &why)
}

/// The version that a write carries; absent, empty and zero are 0.
pub(super) fn version_of(object: &Value) -> Result<Revision, Refusal> {
    let text = object.resource_version();
    if text.is_empty() {
        return Ok(0);
    }
    text.parse().map_err(|_| {
        Status::internal(format!(
            "strconv.ParseUint: parsing {}: invalid syntax",
            go::quote(text)
        ))
    })
}

/// Returns whether a write of an object carries another version than the stored one, so that it is refused.
/// An object that is not stored yet has none.
pub(super) fn has_other_version(object: &Value, stored: &Value) -> bool {
    match (version_of(object), version_of(stored)) {
        (Ok(0), _) | (_, Ok(0)) => false,
        (Ok(sent), Ok(stored)) => sent != stored,
        _ => false,
    }
}

/// The optimistic lock: compares the version that the write carries with the stored version.
/// `taken_over` is whether the write has the stored version from the object that it patched.
pub(super) fn check_version(
    info: &RequestInfo,
    object: &Value,
    stored: Revision,
    taken_over: bool,
    trace: &mut Trace,
) -> Result<(), Refusal> {
    let resource = info.group_resource();
    match version_of(object)? {
        0 if info.resource.unconditional_update => {
            trace.facts.push(Fact::VersionNotSent(stored));
            Ok(())
        }
        0 => {
            trace.facts.push(Fact::VersionRequired(stored));
            let detail = "must be specified for an update";
            let error = FieldError::invalid("metadata.resourceVersion", &0.into(), detail);
            Err(Status::invalid(&resource, &info.name, &[error]))
        }
        sent if sent == stored => {
            trace.facts.push(if taken_over {
                Fact::VersionTakenOver(stored)
            } else {
                Fact::VersionMatched(stored)
            });
            Ok(())
        }
        sent => {
            trace.facts.push(Fact::VersionDiffered { sent, stored });
            Err(Status::modified(&resource, &info.name))
        }
    }
}
