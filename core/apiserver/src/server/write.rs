//! Create and update (`k8s.io/apiserver/pkg/registry/generic/registry/store.go`,
//! `pkg/registry/rest/create.go` and `update.go`, `pkg/endpoints/handlers/*.go`).

mod equality;
mod preconditions;
mod prepare;

use std::sync::Arc;

use http::StatusCode;
use serde_json::Value;

use self::equality::keep_idle_times;
use self::preconditions::{check_version, uid_differs, version_of};
use self::prepare::{before_update, restore, shown_as_sent};
use super::body::Draft;
use super::resource::{Endpoint, Generation};
use super::{
    Answer, ApiServer, DEFAULT_NAMESPACE, Fact, RequestInfo, Trace, admission, body, delete,
    kinds::NotAllocated,
    kinds::metadata::{self, merge_owners},
    kinds::namespace::TERMINATING,
    scale, storage_key,
};
use crate::apply::FieldManager;
use crate::limits;
use crate::object::{GroupName, Metadata, text};
use crate::schema::{self, Empties};
use crate::status::{Cause, Refusal, Status};
use crate::storage::Revision;

/// An object before an update.
struct Stored<'a> {
    /// Its key in etcd.
    key: &'a str,
    /// Its version.
    revision: Revision,
    /// The object that etcd holds.
    stored: Arc<Value>,
    /// The object as clients read it.
    live: Arc<Value>,
}

impl ApiServer {
    pub(super) fn create(
        &mut self,
        info: &RequestInfo,
        bytes: &[u8],
        trace: &mut Trace,
    ) -> Result<Answer, Refusal> {
        let Draft {
            mut object,
            empties,
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
        // Only a valid version counts here: other text is dropped. A dry run shows any text.
        let version = object.resource_version().parse::<Revision>();
        let carries_version = version.is_ok_and(|version| version != 0) && !info.options.dry_run;
        trace.warnings.extend(merge_owners(&mut object, false));
        self.manager(info, endpoint(info)?)
            .update(&self.nothing(info), &mut object, &info.manager);
        let object = self.create_object(info, object, &empties, carries_version, trace)?;
        Ok(Answer {
            code: StatusCode::CREATED,
            ..Answer::ok(object)
        })
    }

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
            may_mistype: info.resource.may_mistype(),
            keeps_emptied: self.release.keeps_emptied(),
            versions: info.resource.versions_of_group(),
            now: self.environment.now(),
        }
    }

    /// Writes the result of `produce`, which gets the stored object, or the request's view of it.
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
        let found = found.map(|(revision, stored)| (revision, Arc::clone(stored)));
        let Some((revision, stored)) = found else {
            if !may_create && !info.resource.create_on_update {
                return Err(Status::not_found(&info.group_resource(), &info.name));
            }
            if !uid.is_empty() {
                // The storage compares the uid with the uid of an empty object.
                return Err(uid_differs(info, &key, uid, None, trace));
            }
            let object = produce(self, &self.nothing(info))?.object;
            return self.create_missing(info, object, trace);
        };
        let live = info.resource.read_back(&stored);
        if !uid.is_empty() && uid != live.uid() {
            return Err(uid_differs(info, &key, uid, Some(live.uid()), trace));
        }
        let Draft {
            mut object,
            empties,
            takes_version_over,
            ..
        } = produce(self, &live)?;
        limits::check(&object)?;
        info.resource.check_work(&object)?;
        trace.facts.extend(info.resource.not_thorough());
        trace.warnings.extend(merge_owners(&mut object, true));
        check_version(info, &object, revision, takes_version_over, trace)?;
        object.set_meta("resourceVersion", revision.to_string());
        object.set_meta("selfLink", Value::Null);
        self.allocate(info, &mut object, Some(&live))?;
        before_update(info, &mut object, &empties, &live)?;
        let facts = note_warnings(info, &object, &live, trace);
        self.admit_update(info, &object, &live, trace)?;
        info.resource
            .note_time(&mut object, &live, self.environment.now());
        trace.facts.extend(facts);
        keep_idle_times(&mut object, &live);
        if delete::should_delete_during_update(&object, &live) && !info.resource.holds(&object) {
            self.finish_deletion(info, &key, revision, trace)?;
            return Ok(Answer::ok(object));
        }
        let before = Stored {
            key: &key,
            revision,
            stored,
            live,
        };
        self.store_update(info, object, &empties, before, trace)
    }

    /// Creates the object that an update or apply names and that does not exist.
    fn create_missing(
        &mut self,
        info: &RequestInfo,
        mut object: Value,
        trace: &mut Trace,
    ) -> Result<Answer, Refusal> {
        version_of(&object)?;
        trace.warnings.extend(merge_owners(&mut object, true));
        let none = Empties::default();
        let object = self.create_object(info, object, &none, false, trace)?;
        Ok(Answer {
            code: StatusCode::CREATED,
            ..Answer::ok(object)
        })
    }

    /// Puts an object that is ready in the place of the stored one, unless they are equal.
    fn store_update(
        &mut self,
        info: &RequestInfo,
        mut object: Value,
        empties: &Empties,
        before: Stored<'_>,
        trace: &mut Trace,
    ) -> Result<Answer, Refusal> {
        info.resource.before_storing(&mut object);
        info.resource
            .keep_empty_bytes(&info.subresource, &mut object, empties, &before.stored);
        if object == *before.stored && !self.is_written_anyway(info, &before) {
            trace.facts.push(Fact::Unchanged(before.revision));
            return Ok(Answer::ok(before.live));
        }
        if info.options.dry_run {
            trace.facts.push(Fact::DryRun);
            let object = info.resource.read_back(&Arc::new(object));
            return Ok(Answer::ok(object));
        }
        info.resource
            .fit(before.key, before.revision, &mut object)?;
        let put = self.store.put_if(before.key, before.revision, |after| {
            trace.facts.push(Fact::Stored {
                before: before.revision,
                after,
            });
            object.set_meta("resourceVersion", after.to_string());
            Arc::new(object)
        });
        let stored = put.map_err(|_| Status::modified(&info.group_resource(), &info.name))?;
        let object = info.resource.read_back(&stored);
        Ok(Answer::ok(object))
    }

    /// Returns whether a write gets a new version although its object is equal to the stored one.
    fn is_written_anyway(&self, info: &RequestInfo, before: &Stored<'_>) -> bool {
        let encoded_anew = info.resource.is_encoded_anew()
            && self.store.created(before.key) == Some(before.revision);
        // The watch cache holds the object as it is read. What was made of that is compared with it
        // first, and only what is equal to it is compared with what etcd holds
        // (`etcd3.store.GuaranteedUpdate` with a cached object).
        let differs_from_cached = || {
            let mut cached = Value::clone(&before.live);
            info.resource.before_storing(&mut cached);
            cached != *before.stored
        };
        // Empty bytes are empty in the cache, too.
        let cached = self.caches.enabled()
            && before.live != before.stored
            && info.resource.emptied_bytes().is_none();
        encoded_anew || cached && differs_from_cached()
    }

    /// The object that an update of a missing object is compared with.
    pub(super) fn nothing(&self, info: &RequestInfo) -> Value {
        let mut nothing = schema::zero(&info.resource.root);
        nothing["apiVersion"] = info.resource.group_version.to_string().into();
        nothing["kind"] = info.resource.kind.as_str().into();
        nothing
    }

    fn create_object(
        &mut self,
        info: &RequestInfo,
        mut object: Value,
        empties: &Empties,
        carries_version: bool,
        trace: &mut Trace,
    ) -> Result<Arc<Value>, Refusal> {
        self.check_creation(info, &object)?;
        trace.facts.extend(info.resource.not_thorough());
        self.before_create(info, &mut object, empties)?;
        trace
            .warnings
            .extend(info.resource.warn(&info.subresource, &object, None));
        self.admit_create(info, &object, trace)?;
        trace.facts.extend(info.resource.judged(&object, None).0);
        if carries_version {
            let message = "resourceVersion should not be set on objects to be created";
            return Err(Status::internal(message));
        }
        self.store_new(info, object, trace)
    }

    /// Refuses a creation for reasons outside the object.
    fn check_creation(&self, info: &RequestInfo, object: &Value) -> Result<(), Refusal> {
        limits::check(object)?;
        info.resource.check_work(object)?;
        let shown = match object.name() {
            "" => object.meta_text("generateName"),
            name => name,
        };
        if self.definition_terminates(&info.resource) {
            let why = "create not allowed while custom resource definition is terminating";
            return Err(Status::forbidden(&info.group_resource(), shown, why));
        }
        self.check_namespace(info, shown)
    }

    /// The fields that the server sets before it stores a new object, and the checks of the object
    /// (`rest.BeforeCreate`).
    fn before_create(
        &mut self,
        info: &RequestInfo,
        object: &mut Value,
        empties: &Empties,
    ) -> Result<(), Refusal> {
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
        // On every path, the rules of the main resource make a new object.
        if let Some(main) = info.resource.endpoint("")
            && !info.resource.restores()
        {
            restore(object, &self.nothing(info), &main.reset_fields);
        }
        self.allocate(info, object, None)?;
        info.resource.prepare(&info.subresource, object, None);
        if info.resource.generation != Generation::None {
            object.set_meta("generation", 1);
        }
        let mut errors = info.resource.validate(&info.subresource, object, None);
        if errors.is_empty() {
            errors = metadata::create(object);
        }
        if errors.is_empty() {
            return Ok(());
        }
        let errors = shown_as_sent(info, object, empties, None, errors);
        let kind = info.resource.group_kind_of(object);
        Err(Status::invalid(&kind, object.name(), &errors))
    }

    /// Stores a new object, unless its name is taken.
    fn store_new(
        &mut self,
        info: &RequestInfo,
        mut object: Value,
        trace: &mut Trace,
    ) -> Result<Arc<Value>, Refusal> {
        let key = storage_key(&info.resource, object.namespace(), object.name());
        let resource = info.group_resource();
        if let Some((_, existing)) = self.store.get(&key) {
            return Err(if !object.meta_text("generateName").is_empty() {
                Status::not_unique(&resource, object.name())
            } else if existing.meta_text("deletionTimestamp").is_empty() {
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

    /// Fills in the values of admission and allocation (`Store.BeginCreate`, `BeginUpdate`).
    fn allocate(
        &self,
        info: &RequestInfo,
        object: &mut Value,
        live: Option<&Value>,
    ) -> Result<(), Refusal> {
        match info.subresource.as_str() {
            "" => {}
            "resize" => {
                admission::complete(object, &self.store);
                return Ok(());
            }
            _ => return Ok(()),
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

    pub(super) fn check_namespace(
        &self,
        info: &RequestInfo,
        object_name: &str,
    ) -> Result<(), Refusal> {
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

/// Notes the warnings about a changed object that keeps the rules (`BeforeUpdate` has them before any plugin
/// of admission is asked), and returns the facts about it.
fn note_warnings(info: &RequestInfo, object: &Value, live: &Value, trace: &mut Trace) -> Vec<Fact> {
    let (facts, warnings) = info.resource.judged(object, Some(live));
    trace.warnings.extend(warnings);
    trace
        .warnings
        .extend(info.resource.warn(&info.subresource, object, Some(live)));
    facts
}

pub(super) fn endpoint(info: &RequestInfo) -> Result<&Endpoint, Refusal> {
    info.resource
        .endpoint(&info.subresource)
        .ok_or_else(Status::no_such_resource)
}

/// The namespace of the path holds. An object of the cluster has none, whatever the body says
/// (`EnsureObjectNamespaceMatchesRequestNamespace`).
pub(super) fn normalize_namespace(info: &RequestInfo, object: &mut Value) -> Result<(), Refusal> {
    if object.namespace().is_empty() || !info.resource.namespaced {
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
