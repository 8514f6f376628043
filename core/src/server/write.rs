//! Create, update and patch (`k8s.io/apiserver/pkg/registry/generic/registry/store.go`,
//! `pkg/registry/rest/create.go` and `update.go`, `pkg/endpoints/handlers/*.go`).

use std::sync::Arc;

use http::StatusCode;
use serde_json::Value;

use super::request::FieldValidation;
use super::resource::{Endpoint, Generation};
use super::{
    Answer, ApiServer, DEFAULT_NAMESPACE, Fact, RequestInfo, body, storage_key, validation,
};
use crate::apply::{FieldManager, PathElement, Set};
use crate::go;
use crate::json;
use crate::object::{GroupName, Metadata};
use crate::patch;
use crate::schema;
use crate::status::{FieldError, Refusal, Status};
use crate::storage::Revision;
use crate::yaml;

/// The patch types that every kind accepts.
const PATCH_TYPES: [&str; 2] = [
    "application/merge-patch+json",
    "application/apply-patch+yaml",
];

impl ApiServer {
    pub(super) fn create(
        &mut self,
        info: &RequestInfo,
        bytes: &[u8],
        facts: &mut Vec<Fact>,
    ) -> Result<Answer, Refusal> {
        let (mut object, warnings) = body::decode_object(info, bytes)?;
        settle_namespace(info, &mut object)?;
        for field in [
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "uid",
            "selfLink",
        ] {
            object.metadata_mut().remove(field);
        }
        if !matches!(object.resource_version(), "" | "0") && !info.options.dry_run {
            let message = "resourceVersion should not be set on objects to be created";
            return Err(Status::internal(message));
        }
        let mut nothing = schema::zero(&info.resource.root);
        for field in ["apiVersion", "kind"] {
            nothing[field] = object[field].clone();
        }
        self.manager(info, endpoint(info)?)
            .update(&nothing, &mut object, &info.manager);
        let object = self.create_object(info, object, facts)?;
        Ok(Answer {
            code: StatusCode::CREATED,
            warnings,
            ..Answer::ok(object.as_ref().clone())
        })
    }

    pub(super) fn update(
        &mut self,
        info: &RequestInfo,
        bytes: &[u8],
        facts: &mut Vec<Fact>,
    ) -> Result<Answer, Refusal> {
        let (mut object, warnings) = body::decode_object(info, bytes)?;
        settle_namespace(info, &mut object)?;
        check_name(info, &object)?;
        let uid = object.uid().to_owned();
        let produce = |server: &Self, live: &Value| {
            let mut object = object;
            server
                .manager(info, endpoint(info)?)
                .update(live, &mut object, &info.manager);
            Ok(object)
        };
        let mut answer = self.write(info, &uid, false, facts, produce)?;
        answer.warnings = warnings;
        Ok(answer)
    }

    pub(super) fn patch(
        &mut self,
        info: &RequestInfo,
        bytes: &[u8],
        facts: &mut Vec<Fact>,
    ) -> Result<Answer, Refusal> {
        if !PATCH_TYPES.contains(&info.content_type.as_str()) {
            return Err(Status::unroutable_media_type());
        }
        body::check_size(bytes)?;
        let mut warnings = Vec::new();
        let mut conflicts = Vec::new();
        let apply = info.content_type == "application/apply-patch+yaml";
        let produce = |server: &Self, live: &Value| {
            let mut object = if apply {
                server.apply(info, live, bytes, &mut warnings, &mut conflicts)?
            } else {
                server.merge_patch(info, live, bytes, &mut warnings)?
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
        let answer = self.write(info, "", apply, facts, produce);
        facts.append(&mut conflicts);
        let mut answer = answer?;
        answer.warnings = warnings;
        Ok(answer)
    }

    fn merge_patch(
        &self,
        info: &RequestInfo,
        live: &Value,
        bytes: &[u8],
        warnings: &mut Vec<String>,
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
        *warnings = found;
        self.manager(info, endpoint(info)?)
            .update(live, &mut object, &info.manager);
        Ok(object)
    }

    fn apply(
        &self,
        info: &RequestInfo,
        live: &Value,
        bytes: &[u8],
        warnings: &mut Vec<String>,
        conflicts: &mut Vec<Fact>,
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
                conflicts.extend(causes.map(|cause| {
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
            FieldValidation::Warn => warnings.extend(document.duplicates),
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

    fn manager<'a>(&self, info: &'a RequestInfo, endpoint: &'a Endpoint) -> FieldManager<'a> {
        FieldManager {
            root: &info.resource.root,
            group_version: &info.resource.group_version,
            kind: &info.resource.kind,
            subresource: &info.subresource,
            reset: &endpoint.keeps,
            now: self.environment.now(),
        }
    }

    /// Reads the object, lets `produce` make the new one of it, checks, compares and puts
    /// (`Store.Update` over `GuaranteedUpdate`).
    fn write(
        &mut self,
        info: &RequestInfo,
        uid: &str,
        may_create: bool,
        facts: &mut Vec<Fact>,
        produce: impl FnOnce(&Self, &Value) -> Result<Value, Refusal>,
    ) -> Result<Answer, Refusal> {
        let key = storage_key(&info.resource, &info.namespace, &info.name);
        let stored = self.store.get(&key);
        let Some((revision, live)) = stored.map(|(revision, live)| (revision, Arc::clone(live)))
        else {
            if !may_create && !info.resource.create_on_update {
                return Err(Status::not_found(&info.group_resource(), &info.name));
            }
            let object = produce(self, &self.nothing(info))?;
            let object = self.create_object(info, object, facts)?;
            return Ok(Answer {
                code: StatusCode::CREATED,
                ..Answer::ok(object.as_ref().clone())
            });
        };
        if !uid.is_empty() && uid != live.uid() {
            facts.push(Fact::UidDiffered {
                sent: uid.to_owned(),
                stored: live.uid().to_owned(),
            });
            let key = if info.options.dry_run {
                key.trim_start_matches("/registry")
            } else {
                &key
            };
            let why = format!(
                "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, \
                 AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
                live.uid()
            );
            return Err(Status::conflict(&info.group_resource(), &info.name, &why));
        }
        let mut object = produce(self, &live)?;
        check_version(info, &object, revision, facts)?;
        object.set_meta("resourceVersion", revision.to_string());
        before_update(info, &mut object, &live)?;
        keep_idle_times(&mut object, &live);
        if object == *live {
            facts.push(Fact::Unchanged(revision));
            return Ok(Answer::ok(object));
        }
        if info.options.dry_run {
            facts.push(Fact::DryRun);
            return Ok(Answer::ok(object));
        }
        let put = self.store.put_if(&key, revision, |after| {
            facts.push(Fact::Stored {
                before: revision,
                after,
            });
            object.set_meta("resourceVersion", after.to_string());
            Arc::new(object)
        });
        let object = put.map_err(|_| Status::modified(&info.group_resource(), &info.name))?;
        Ok(Answer::ok(object.as_ref().clone()))
    }

    /// What stands for an object that does not exist yet.
    fn nothing(&self, info: &RequestInfo) -> Value {
        let mut nothing = schema::zero(&info.resource.root);
        nothing["apiVersion"] = info.resource.group_version.to_string().into();
        nothing["kind"] = info.resource.kind.as_str().into();
        nothing
    }

    fn create_object(
        &mut self,
        info: &RequestInfo,
        mut object: Value,
        facts: &mut Vec<Fact>,
    ) -> Result<Arc<Value>, Refusal> {
        self.check_namespace(info)?;
        if object.name().is_empty() {
            let prefix = object.meta_text("generateName").to_owned();
            if !prefix.is_empty() {
                let name = prefix + &self.environment.name_suffix();
                object.set_meta("name", name);
            }
        }
        object.set_meta("creationTimestamp", self.environment.now().to_string());
        object.set_meta("uid", self.environment.uid());
        object.set_meta("resourceVersion", Value::Null);
        restore(&mut object, &self.nothing(info), &endpoint(info)?.keeps);
        if info.resource.generation != Generation::None {
            object.set_meta("generation", 1);
        }
        let kind = info.resource.group_kind();
        let mut errors = validation::object(&info.resource, &object, None);
        if errors.is_empty() {
            errors = validation::metadata(&object);
        }
        if !errors.is_empty() {
            return Err(Status::invalid(&kind, object.name(), &errors));
        }
        let key = storage_key(&info.resource, object.namespace(), object.name());
        let resource = info.group_resource();
        if info.options.dry_run {
            facts.push(Fact::DryRun);
            if self.store.get(&key).is_some() {
                return Err(Status::already_exists(&resource, object.name()));
            }
            return Ok(Arc::new(object));
        }
        let name = object.name().to_owned();
        self.store
            .put_if(&key, 0, |revision| {
                facts.push(Fact::Created(revision));
                object.set_meta("resourceVersion", revision.to_string());
                Arc::new(object)
            })
            .map_err(|_| Status::already_exists(&resource, &name))
    }

    fn check_namespace(&self, info: &RequestInfo) -> Result<(), Refusal> {
        let name = &info.namespace;
        let exists = self
            .store
            .get(&format!("/registry/namespaces/{name}"))
            .is_some();
        if name.is_empty() || name == DEFAULT_NAMESPACE || exists {
            return Ok(());
        }
        Err(Status::not_found(&GroupName::new("", "namespaces"), name))
    }
}

fn endpoint(info: &RequestInfo) -> Result<&Endpoint, Refusal> {
    info.resource
        .endpoint(&info.subresource)
        .ok_or_else(Status::no_such_resource)
}

/// The version that a write carries; absent, empty and zero are 0.
fn version_of(object: &Value) -> Result<Revision, Refusal> {
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

/// The optimistic lock: the version that the write carries against the stored one.
fn check_version(
    info: &RequestInfo,
    object: &Value,
    stored: Revision,
    facts: &mut Vec<Fact>,
) -> Result<(), Refusal> {
    let resource = info.group_resource();
    match version_of(object)? {
        0 if info.resource.unconditional_update => {
            facts.push(Fact::VersionNotSent(stored));
            Ok(())
        }
        0 => {
            facts.push(Fact::VersionRequired(stored));
            let detail = "must be specified for an update";
            let error = FieldError::invalid("metadata.resourceVersion", &0.into(), detail);
            Err(Status::invalid(&resource, &info.name, &[error]))
        }
        sent if sent == stored => {
            // A patch that carries no version takes over the one that it was applied to.
            facts.push(Fact::VersionMatched(stored));
            Ok(())
        }
        sent => {
            facts.push(Fact::VersionDiffered { sent, stored });
            Err(Status::modified(&resource, &info.name))
        }
    }
}

/// `rest.BeforeUpdate`: what the server settles before it stores.
fn before_update(info: &RequestInfo, object: &mut Value, live: &Value) -> Result<(), Refusal> {
    let keep = |object: &mut Value, field: &str| {
        let value = live.metadata().and_then(|meta| meta.get(field));
        object.set_meta(field, value.cloned().unwrap_or(Value::Null));
    };
    keep(object, "generation");
    restore(object, live, &endpoint(info)?.keeps);
    if object.uid().is_empty() {
        keep(object, "uid");
    }
    keep(object, "creationTimestamp");
    if rises(info.resource.generation, object, live) {
        object.set_meta("generation", live.generation() + 1);
    }
    let mut errors = validation::metadata_update(object, live);
    errors.extend(validation::object(&info.resource, object, Some(live)));
    if errors.is_empty() {
        return Ok(());
    }
    let kind = info.resource.group_kind();
    Err(Status::invalid(&kind, object.name(), &errors))
}

fn rises(generation: Generation, object: &Value, live: &Value) -> bool {
    let differs = |pointer: &str| object.pointer(pointer) != live.pointer(pointer);
    match generation {
        Generation::None => false,
        Generation::Spec => differs("/spec"),
        Generation::SpecAndAnnotations => differs("/spec") || differs("/metadata/annotations"),
    }
}

/// Puts back the fields that a write through this endpoint does not change.
fn restore(object: &mut Value, live: &Value, keeps: &Set) {
    for path in keeps.paths() {
        let names: Vec<&str> = path
            .0
            .iter()
            .filter_map(|element| match element {
                PathElement::Field(name) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        let Some((last, parents)) = names.split_last() else {
            continue;
        };
        let kept = names.iter().try_fold(live, |value, name| value.get(name));
        let parent = parents
            .iter()
            .try_fold(&mut *object, |value, name| value.get_mut(name));
        if let Some(Value::Object(parent)) = parent {
            match kept {
                Some(value) => parent.insert((*last).to_owned(), value.clone()),
                None => parent.remove(*last),
            };
        }
    }
}

/// A write that changes nothing but the times of managers changes nothing
/// (`handlers/fieldmanager/equality.go`).
fn keep_idle_times(object: &mut Value, live: &Value) {
    fn untimed(value: &Value) -> Value {
        let mut value = value.clone();
        if let Some(Value::Array(entries)) = value.pointer_mut("/metadata/managedFields") {
            for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
                entry.remove("time");
            }
        }
        value
    }
    if object != live && untimed(object) == untimed(live) {
        *object = live.clone();
    }
}

fn settle_namespace(info: &RequestInfo, object: &mut Value) -> Result<(), Refusal> {
    if object.namespace().is_empty() {
        object.set_meta("namespace", info.namespace.as_str());
    } else if object.namespace() != info.namespace {
        return Err(Status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    Ok(())
}

fn check_name(info: &RequestInfo, object: &Value) -> Result<(), Refusal> {
    let (name, url) = (object.name(), &info.name);
    if name.is_empty() {
        return Err(Status::bad_request(format!(
            "the name of the object ({url} based on URL) was undeterminable: name must be provided"
        )));
    }
    if name != url {
        return Err(Status::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({url})"
        )));
    }
    Ok(())
}
