//! Create and update (`k8s.io/apiserver/pkg/registry/generic/registry/store.go`,
//! `pkg/registry/rest/create.go` and `update.go`, `pkg/endpoints/handlers/*.go`).

use std::sync::Arc;

use http::StatusCode;
use serde_json::Value;

use super::body::Draft;
use super::resource::{Definition, Endpoint, Generation};
use super::{
    Answer, ApiServer, Custom, DEFAULT_NAMESPACE, Fact, RequestInfo, Trace, body, delete,
    kinds::NotAllocated,
    kinds::metadata::{self, merge_owners},
    kinds::namespace::TERMINATING,
    scale, storage_key,
};
use crate::apply::{FieldManager, PathElement, Set};
use crate::go;
use crate::limits;
use crate::object::{GroupName, JsonMap, Metadata, text};
use crate::schema::{self, Empties};
use crate::status::{Cause, FieldError, Refusal, Status};
use crate::storage::Revision;

impl ApiServer {
    pub(super) fn create(
        &mut self,
        info: &RequestInfo,
        bytes: &[u8],
        trace: &mut Trace,
    ) -> Result<Answer, Refusal> {
        let Draft {
            mut object,
            warnings,
            ..
        } = body::decode_object(info, bytes)?;
        trace.warnings.extend(warnings);
        normalize_namespace(info, &mut object)?;
        for field in [
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "uid",
            "selfLink",
        ] {
            object.metadata_mut().remove(field);
        }
        // Only a version counts here: text that is none is dropped, and a dry run shows anything.
        let version = object.resource_version().parse::<Revision>();
        let carries_version = version.is_ok_and(|version| version != 0) && !info.options.dry_run;
        trace.warnings.extend(merge_owners(&mut object, false));
        self.manager(info, endpoint(info)?)
            .update(&self.nothing(info), &mut object, &info.manager);
        let object = self.create_object(info, object, carries_version, trace)?;
        Ok(Answer {
            code: StatusCode::CREATED,
            ..Answer::ok(object)
        })
    }

    #[inline(never)] // not on the first screen
    pub(super) fn update(
        &mut self,
        info: &RequestInfo,
        bytes: &[u8],
        trace: &mut Trace,
    ) -> Result<Answer, Refusal> {
        let mut draft = body::decode_object(info, bytes)?;
        trace.warnings.append(&mut draft.warnings);
        normalize_namespace(info, &mut draft.object)?;
        check_name(info, &draft.object)?;
        trace
            .warnings
            .extend(merge_owners(&mut draft.object, false));
        let uid = draft.object.uid().to_owned();
        let produce = |server: &Self, live: &Value| {
            let mut draft = draft;
            server
                .manager(info, endpoint(info)?)
                .update(live, &mut draft.object, &info.manager);
            Ok(draft)
        };
        self.write(info, &uid, false, trace, produce)
    }

    pub(super) fn manager<'a>(
        &self,
        info: &'a RequestInfo,
        endpoint: &'a Endpoint,
    ) -> FieldManager<'a> {
        FieldManager {
            root: &info.resource.root,
            group_version: &info.resource.group_version,
            kind: &info.resource.kind,
            subresource: &info.subresource,
            reset: &endpoint.reset_fields,
            may_mistype: matches!(info.resource.definition, Definition::Custom(_)),
            keeps_emptied: self.release.keeps_emptied(),
            versions: info.resource.versions.as_deref(),
            now: self.environment.now(),
        }
    }

    /// Writes what `produce` makes of the stored object, or of the view that the request has of it.
    pub(super) fn write(
        &mut self,
        info: &RequestInfo,
        uid: &str,
        may_create: bool,
        trace: &mut Trace,
        produce: impl FnOnce(&Self, &Value) -> Result<Draft, Refusal>,
    ) -> Result<Answer, Refusal> {
        let Some(parent) = &info.parent else {
            return self.write_object(info, uid, may_create, trace, produce);
        };
        let whole = RequestInfo {
            resource: Arc::clone(parent),
            parent: None,
            ..info.clone()
        };
        let mut answer = self.write_object(&whole, uid, false, trace, |server, live| {
            scale::write_through(server, parent, live, produce)
        })?;
        answer.body = Arc::new(scale::of(parent, &answer.body));
        Ok(answer)
    }

    /// Reads the object, lets `produce` make the new one of it, checks, compares and puts
    /// (`Store.Update` over `GuaranteedUpdate`).
    fn write_object(
        &mut self,
        info: &RequestInfo,
        uid: &str,
        may_create: bool,
        trace: &mut Trace,
        produce: impl FnOnce(&Self, &Value) -> Result<Draft, Refusal>,
    ) -> Result<Answer, Refusal> {
        let key = storage_key(&info.resource, &info.namespace, &info.name);
        let found = self.store.get(&key);
        let Some((revision, stored)) =
            found.map(|(revision, stored)| (revision, Arc::clone(stored)))
        else {
            if !may_create && !info.resource.create_on_update {
                return Err(Status::not_found(&info.group_resource(), &info.name));
            }
            if !uid.is_empty() {
                // The storage compares with the object that is not there.
                return Err(uid_differs(info, &key, uid, "", trace));
            }
            let mut object = produce(self, &self.nothing(info))?.object;
            version_of(&object)?;
            trace.warnings.extend(merge_owners(&mut object, true));
            let object = self.create_object(info, object, false, trace)?;
            return Ok(Answer {
                code: StatusCode::CREATED,
                ..Answer::ok(object)
            });
        };
        let live = info.resource.read_back(&stored);
        if !uid.is_empty() && uid != live.uid() {
            return Err(uid_differs(info, &key, uid, live.uid(), trace));
        }
        let Draft {
            mut object,
            empties,
            ..
        } = produce(self, &live)?;
        limits::check(&object)?;
        info.resource.check_work(&object)?;
        trace.facts.extend(info.resource.not_thorough());
        trace.warnings.extend(merge_owners(&mut object, true));
        check_version(info, &object, revision, trace)?;
        object.set_meta("resourceVersion", revision.to_string());
        object.set_meta("selfLink", Value::Null);
        self.allocate(info, &mut object, Some(&live))?;
        before_update(info, &mut object, &empties, &live)?;
        trace
            .facts
            .extend(info.resource.unevaluated(&object, Some(&live)));
        trace
            .warnings
            .extend(info.resource.warn(&info.subresource, &object, Some(&live)));
        keep_idle_times(&mut object, &live);
        if delete::should_delete_during_update(&object, &live) && !info.resource.holds(&object) {
            self.finish_deletion(info, &key, revision, trace)?;
            return Ok(Answer::ok(object));
        }
        info.resource.before_storing(&mut object);
        let encoded_anew =
            info.resource.is_encoded_anew() && self.store.created(&key) == Some(revision);
        // The watch cache holds the object as it is read. What was made of that is compared with it
        // first, and only what is equal to it is compared with what etcd holds
        // (`etcd3.store.GuaranteedUpdate` with a cached object).
        let equals_cached = || {
            let mut cached = Value::clone(&live);
            info.resource.before_storing(&mut cached);
            cached == *stored
        };
        let as_cached = || !self.caches.enabled() || live == stored || equals_cached();
        if object == *stored && !encoded_anew && as_cached() {
            trace.facts.push(Fact::Unchanged(revision));
            return Ok(Answer::ok(live));
        }
        if info.options.dry_run {
            trace.facts.push(Fact::DryRun);
            let object = info.resource.read_back(&Arc::new(object));
            return Ok(Answer::ok(object));
        }
        info.resource.fit(&key, revision, &mut object)?;
        let put = self.store.put_if(&key, revision, |after| {
            trace.facts.push(Fact::Stored {
                before: revision,
                after,
            });
            object.set_meta("resourceVersion", after.to_string());
            Arc::new(object)
        });
        let stored = put.map_err(|_| Status::modified(&info.group_resource(), &info.name))?;
        let object = info.resource.read_back(&stored);
        Ok(Answer::ok(object))
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
        carries_version: bool,
        trace: &mut Trace,
    ) -> Result<Arc<Value>, Refusal> {
        limits::check(&object)?;
        info.resource.check_work(&object)?;
        let shown = match object.name() {
            "" => object.meta_text("generateName"),
            name => name,
        };
        if self.definition_terminates(&info.resource) {
            let why = "create not allowed while custom resource definition is terminating";
            return Err(Status::forbidden(&info.group_resource(), shown, why));
        }
        self.check_namespace(info, shown)?;
        trace.facts.extend(info.resource.not_thorough());
        if object.name().is_empty() {
            let prefix = object.meta_text("generateName").to_owned();
            if !prefix.is_empty() {
                let name = prefix + &self.environment.name_suffix();
                object.set_meta("name", name);
            }
        }
        object.set_meta("creationTimestamp", self.environment.now().to_string());
        object.set_meta("uid", self.environment.uid());
        if !info.options.dry_run {
            object.set_meta("resourceVersion", Value::Null);
        }
        // Whatever the path, a new object is made by the rules of the main one.
        if let Some(main) = info.resource.endpoint("") {
            restore(&mut object, &self.nothing(info), &main.reset_fields);
        }
        self.allocate(info, &mut object, None)?;
        info.resource.prepare(&info.subresource, &mut object, None);
        if info.resource.generation != Generation::None {
            object.set_meta("generation", 1);
        }
        let kind = info.resource.group_kind_of(&object);
        let mut errors = info.resource.validate(&info.subresource, &object, None);
        if errors.is_empty() {
            errors = metadata::create(&object);
        }
        if !errors.is_empty() {
            return Err(Status::invalid(&kind, object.name(), &errors));
        }
        trace.facts.extend(info.resource.unevaluated(&object, None));
        trace
            .warnings
            .extend(info.resource.warn(&info.subresource, &object, None));
        let key = storage_key(&info.resource, object.namespace(), object.name());
        let resource = info.group_resource();
        if carries_version {
            let message = "resourceVersion should not be set on objects to be created";
            return Err(Status::internal(message));
        }
        if let Some((_, existing)) = self.store.get(&key) {
            return Err(if existing.meta_text("deletionTimestamp").is_empty() {
                Status::already_exists(&resource, object.name())
            } else {
                Status::being_deleted(&resource, object.name())
            });
        }
        info.resource.before_storing(&mut object);
        if info.options.dry_run {
            trace.facts.push(Fact::DryRun);
            return Ok(info.resource.read_back(&Arc::new(object)));
        }
        info.resource.fit(&key, 0, &mut object)?;
        let name = object.name().to_owned();
        self.store
            .put_if(&key, 0, |revision| {
                trace.facts.push(Fact::Created(revision));
                object.set_meta("resourceVersion", revision.to_string());
                Arc::new(object)
            })
            .map(|stored| info.resource.read_back(&stored))
            .map_err(|_| Status::already_exists(&resource, &name))
    }

    /// Fills in what admission and allocation give (`Store.BeginCreate`, `BeginUpdate`).
    fn allocate(
        &self,
        info: &RequestInfo,
        object: &mut Value,
        live: Option<&Value>,
    ) -> Result<(), Refusal> {
        if !info.subresource.is_empty() {
            return Ok(());
        }
        info.resource
            .allocate(object, live, &self.store)
            .map_err(|problem| match problem {
                NotAllocated::Invalid(errors) => {
                    Status::invalid(&info.resource.group_kind(), object.name(), &errors)
                }
                NotAllocated::Forbidden(why) => {
                    let name = match object.name() {
                        "" => object.meta_text("generateName"),
                        name => name,
                    };
                    Status::forbidden(&info.group_resource(), name, &why)
                }
                NotAllocated::Failed(refusal) => refusal,
            })
    }

    fn check_namespace(&self, info: &RequestInfo, object_name: &str) -> Result<(), Refusal> {
        let name = &info.namespace;
        let namespace = self.store.get(&format!("/registry/namespaces/{name}"));
        let Some((_, namespace)) = namespace else {
            if name.is_empty() || name == DEFAULT_NAMESPACE {
                return Ok(());
            }
            return Err(Status::not_found(&GroupName::new("", "namespaces"), name));
        };
        if text(&namespace["status"], "phase") != TERMINATING {
            return Ok(());
        }
        let why = format!(
            "unable to create new content in namespace {name} because it is being terminated"
        );
        let mut refusal = Status::forbidden(&info.group_resource(), object_name, &why);
        if let Some(details) = &mut refusal.details {
            details.causes.push(Cause {
                reason: "NamespaceTerminating",
                message: format!("namespace {name} is being terminated"),
                field: "metadata.namespace".to_owned(),
            });
        }
        Err(refusal)
    }
}

/// The precondition that the uid in the body of a PUT is.
fn uid_differs(
    info: &RequestInfo,
    key: &str,
    sent: &str,
    stored: &str,
    trace: &mut Trace,
) -> Refusal {
    trace.facts.push(Fact::UidDiffered {
        sent: sent.to_owned(),
        stored: stored.to_owned(),
    });
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

pub(super) fn endpoint(info: &RequestInfo) -> Result<&Endpoint, Refusal> {
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
            // A patch without a version gets the version of the object that it was applied to.
            trace.facts.push(Fact::VersionMatched(stored));
            Ok(())
        }
        sent => {
            trace.facts.push(Fact::VersionDiffered { sent, stored });
            Err(Status::modified(&resource, &info.name))
        }
    }
}

/// `rest.BeforeUpdate`: the fields that the server sets before it stores.
fn before_update(
    info: &RequestInfo,
    object: &mut Value,
    empties: &Empties,
    live: &Value,
) -> Result<(), Refusal> {
    let keep = |object: &mut Value, field: &str| {
        let value = live.metadata().and_then(|meta| meta.get(field));
        object.set_meta(field, value.cloned().unwrap_or(Value::Null));
    };
    keep(object, "generation");
    match &info.resource.definition {
        Definition::Custom(_) if info.subresource == "status" => {
            Custom::keep_all_but_status(object, live);
        }
        _ => restore(object, live, &endpoint(info)?.reset_fields),
    }
    info.resource.prepare(&info.subresource, object, Some(live));
    if object.uid().is_empty() {
        keep(object, "uid");
    }
    keep(object, "creationTimestamp");
    // An update neither takes back nor moves a deletion, and grace is not forgotten.
    if !live.meta_text("deletionTimestamp").is_empty() {
        keep(object, "deletionTimestamp");
    }
    let grace = "deletionGracePeriodSeconds";
    if object
        .metadata()
        .is_none_or(|meta| !meta.contains_key(grace))
    {
        keep(object, grace);
    }
    if info.subresource != "status" && rises(info.resource.generation, object, live) {
        object.set_meta("generation", live.generation() + 1);
    }
    let mut errors = metadata::update(object, live);
    errors.extend(
        info.resource
            .validate(&info.subresource, object, Some(live)),
    );
    errors.extend(
        info.resource
            .validate_change(&info.subresource, object, empties, live),
    );
    if errors.is_empty() {
        return Ok(());
    }
    let kind = info.resource.group_kind_of(object);
    Err(Status::invalid(&kind, object.name(), &errors))
}

fn rises(generation: Generation, object: &Value, live: &Value) -> bool {
    let differs = |pointer: &str| object.pointer(pointer) != live.pointer(pointer);
    match generation {
        Generation::None | Generation::Once => false,
        Generation::Template => differs("/template"),
        Generation::Webhooks => differs("/webhooks"),
        Generation::Spec => differs("/spec"),
        Generation::SpecAndAnnotations => differs("/spec") || differs("/metadata/annotations"),
        Generation::AllButOtherMetadata => {
            differ_besides(&["metadata"], object, live) || differs("/metadata/labels")
        }
        Generation::AllButMetadata => differ_besides(&["metadata"], object, live),
        Generation::AllButMetadataAndStatus => {
            differ_besides(&["metadata", "status"], object, live)
        }
    }
}

/// Whether anything but these members differs.
fn differ_besides(members: &[&str], object: &Value, live: &Value) -> bool {
    let others = |value: &Value| {
        let mut map = value.as_object().cloned().unwrap_or_default();
        map.retain(|name, _| !members.contains(&name.as_str()));
        map
    };
    others(object) != others(live)
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
        if names == ["metadata"] {
            restore_metadata(object, live);
            continue;
        }
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

/// Puts back the metadata of an object of which only the status is written
/// (`metav1.ResetObjectMetaForStatus`).
fn restore_metadata(object: &mut Value, live: &Value) {
    for field in [
        "deletionTimestamp",
        "selfLink",
        "labels",
        "annotations",
        "finalizers",
        "ownerReferences",
    ] {
        let kept = live.metadata().and_then(|meta| meta.get(field));
        object.set_meta(field, kept.cloned().unwrap_or(Value::Null));
    }
}

/// A write that changes nothing but the times of managers changes nothing
/// (`handlers/fieldmanager/equality.go`).
fn keep_idle_times(object: &mut Value, live: &Value) {
    if object != live && equal_but_for_times(object, live) {
        *object = live.clone();
    }
}

fn equal_but_for_times(a: &Value, b: &Value) -> bool {
    equal_but_for("metadata", a, b, |a, b| {
        equal_but_for("managedFields", a, b, |a, b| {
            let (Some(a), Some(b)) = (a.as_array(), b.as_array()) else {
                return false;
            };
            let untimed = |(a, b)| equal_but_for("time", a, b, |_, _| true);
            a.len() == b.len() && a.iter().zip(b).all(untimed)
        })
    })
}

/// Whether two maps are equal but for one member, which `special` compares (`null` if absent).
fn equal_but_for(
    member: &str,
    a: &Value,
    b: &Value,
    special: impl FnOnce(&Value, &Value) -> bool,
) -> bool {
    let (Some(x), Some(y)) = (a.as_object(), b.as_object()) else {
        return a == b;
    };
    let others = |map| JsonMap::iter(map).filter(|(key, _)| key.as_str() != member);
    special(&a[member], &b[member]) && others(x).eq(others(y))
}

pub(super) fn normalize_namespace(info: &RequestInfo, object: &mut Value) -> Result<(), Refusal> {
    if object.namespace().is_empty() {
        object.set_meta("namespace", info.namespace.as_str());
    } else if object.namespace() != info.namespace {
        return Err(Status::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    Ok(())
}

pub(super) fn check_name(info: &RequestInfo, object: &Value) -> Result<(), Refusal> {
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
