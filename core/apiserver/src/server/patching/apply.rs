//! Server-side apply as a patch type (`applyPatcher` in
//! `k8s.io/apiserver/pkg/endpoints/handlers/patch.go`, v1.36), with the answers to refusals of the
//! field manager.

use serde_json::Value;

use super::no_map;
use crate::apply::{Applied, Conflict, FieldManagerError, Manager, unread_managers};
use crate::json::Node;
use crate::limits;
use crate::object::Metadata;
use crate::patch;
use crate::schema::{self, Decoded};
use crate::server::body::{self, DraftObject};
use crate::server::request::FieldValidation;
use crate::server::resource::Definition;
use crate::server::write::endpoint;
use crate::server::{ApiServer, Fact, RequestInfo, Trace, scale, storage_key};
use crate::status::{Cause, Refusal, Status};
use crate::yaml::{self, Document};

impl ApiServer {
    pub(super) fn apply(
        &self,
        info: &RequestInfo,
        live: &Value,
        bytes: &[u8],
        trace: &mut Trace,
    ) -> Result<DraftObject, Refusal> {
        let document = read_configuration(bytes)?;
        let duplicates = document.duplicate_errors();
        let mut config = Value::from(document.node);
        schema::custom::numbers_as_read(&mut config);
        let foreign_view = scale::is_foreign(info);
        let manager = self.manager(info, endpoint(info)?);
        if foreign_view {
            let of_kind = manager.check_kind(&config);
            of_kind.map_err(|error| refusal(error, trace))?;
            check_view_has_managers(live)?;
        }
        let Applied {
            object,
            changed,
            emptied,
            given_up,
        } = manager
            .apply(live, &config, &info.manager, info.options.force)
            .map_err(|error| refusal(error, trace))?;
        let kept = self.release.keeps_emptied();
        let emptied = emptied.into_iter();
        trace
            .facts
            .extend(emptied.map(|field| Fact::Emptied { field, kept }));
        if changed && foreign_view {
            let why = scale::unconvertible("new", config.namespace(), config.name());
            return Err(Status::internal(why));
        }
        let given_up = given_up.iter().map(ToString::to_string);
        trace
            .facts
            .extend(given_up.map(|field| Fact::GivenUp { field }));
        let draft = if changed {
            to_proper_version(info, &config, object)?
        } else {
            self.unchanged(info, object)
        };
        match info.options.field_validation {
            FieldValidation::Strict if !duplicates.is_empty() => {
                return Err(Status::bad_request(format!(
                    "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  {}",
                    duplicates.join("\n  ")
                )));
            }
            FieldValidation::Warn => trace.warnings.extend(duplicates),
            _ => {}
        }
        Ok(draft)
    }

    /// The object of an apply that changes nothing: in the server it is the stored one, which no conversion went through
    /// (`structuredmerge.go Apply` of `k8s.io/apimachinery/pkg/util/managedfields/internal`).
    fn unchanged(&self, info: &RequestInfo, object: Value) -> DraftObject {
        let key = storage_key(&info.resource, &info.namespace, &info.name);
        let stored = self.store.get(&key).map(|(_, stored)| stored);
        let stored = stored.filter(|_| info.resource.is_stored_otherwise());
        DraftObject {
            internal: stored.map(|stored| info.resource.filled(stored).into_owned()),
            ..object.into()
        }
    }
}

/// The configuration that is applied: an object, or `null`.
fn read_configuration(bytes: &[u8]) -> Result<Document, Refusal> {
    let bad_yaml = |error: &str| Status::bad_request(format!("error decoding YAML: {error}"));
    let document = yaml::parse(&String::from_utf8_lossy(bytes))
        .map_err(|error| bad_yaml(&error.as_go_reports()))?;
    if !matches!(document.node, Node::Null | Node::Object(_)) {
        let error = no_map(&document.node);
        return Err(bad_yaml(&format!(
            "error unmarshaling JSON: while decoding JSON: {error}"
        )));
    }
    limits::check_node(&document.node)?;
    Ok(document)
}

/// Refuses a Scale of another version than its object if the object has no managers yet.
fn check_view_has_managers(live: &Value) -> Result<(), Refusal> {
    if live.managed_fields().is_some() {
        return Ok(());
    }
    Err(Status::internal(format!(
        "failed to create manager for existing fields: {}",
        scale::unconvertible("live", "", "")
    )))
}

/// The answer to an apply without a result. Records the owners in the way as facts.
fn refusal(error: FieldManagerError, trace: &mut Trace) -> Refusal {
    let conflicts = match error {
        FieldManagerError::Configuration(why) => return Status::bad_request(why),
        FieldManagerError::Failed(why) => return Status::internal(why),
        FieldManagerError::Conflicts(conflicts) => conflicts,
    };
    let facts = conflicts.iter().map(|conflict| Fact::OwnedByOther {
        field: conflict.path.to_string(),
        manager: conflict.manager.to_string(),
    });
    trace.facts.extend(facts);
    conflict_status(&conflicts)
}

/// The 409 that an apply with conflicts gets
/// (`k8s.io/apimachinery/pkg/util/managedfields/internal/conflict.go` NewConflictError, v1.36).
fn conflict_status(conflicts: &[Conflict]) -> Refusal {
    let causes = conflicts
        .iter()
        .map(|conflict| Cause {
            reason: "FieldManagerConflict",
            message: format!("conflict with {}", conflict.manager),
            field: conflict.path.to_string(),
        })
        .collect();
    let message = match conflicts {
        [one] => format!(
            "Apply failed with 1 conflict: conflict with {}: {}",
            one.manager, one.path
        ),
        many => {
            let mut managers: Vec<&Manager> = Vec::new();
            for conflict in many {
                if !managers.contains(&&conflict.manager) {
                    managers.push(&conflict.manager);
                }
            }
            managers.sort_by_key(|manager| manager.identifier());
            let mut lines = Vec::new();
            for manager in managers {
                lines.push(format!("conflicts with {manager}:"));
                let paths = many.iter().filter(|conflict| conflict.manager == *manager);
                lines.extend(paths.map(|conflict| format!("- {}", conflict.path)));
            }
            format!(
                "Apply failed with {} conflicts: {}",
                many.len(),
                lines.join("\n")
            )
        }
    };
    Status::apply_conflict(message, causes)
}

/// The merged object in the form of the kind's type.
fn to_proper_version(
    info: &RequestInfo,
    config: &Value,
    mut merged: Value,
) -> Result<DraftObject, Refusal> {
    let resource = &info.resource;
    if let Definition::Custom(custom) = &resource.definition {
        // The object is not decoded, so `null` and undeclared fields are stored.
        custom.fill_in(&mut merged);
        limits::check(&merged)?;
        return Ok(merged.into());
    }
    let managed = merged.metadata_mut().remove("managedFields");
    if resource.is_builtin() {
        // A time in them that cannot be read is found where the object is converted.
        if let Some(managed) = unread_managers(config) {
            merged.set_meta("managedFields", managed.clone());
        }
        let gv = &resource.group_version;
        let kind = format!("{}/{}, Kind={}", gv.group, gv.version, resource.kind);
        let converted = patch::from_unstructured(merged, &resource.root).map_err(|error| {
            Status::internal(format!(
                "failed to convert new object ({}/{}; {kind}) to proper version: \
                 unable to convert unstructured object to {kind}: {error}",
                config.namespace(),
                config.name(),
            ))
        })?;
        merged = converted.value;
    }
    let Decoded {
        value: mut object,
        empties,
        ..
    } = schema::decode(merged.into(), &resource.root).map_err(Status::internal)?;
    if let Some(error) = resource.unconvertible(&object) {
        let gv = &resource.group_version;
        return Err(Status::internal(format!(
            "failed to convert to unversioned ({}/{}; {}/{}, Kind={}): {error}",
            config.namespace(),
            config.name(),
            gv.group,
            gv.version,
            resource.kind,
        )));
    }
    let internal = body::finish(info, &mut object, &empties);
    object.set_meta("managedFields", managed.unwrap_or(Value::Null));
    Ok(DraftObject {
        object,
        internal,
        empties,
        ..DraftObject::default()
    })
}
