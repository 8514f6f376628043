//! Create and update (`k8s.io/apiserver/pkg/registry/generic/registry/store.go`,
//! `pkg/registry/rest/create.go` and `update.go`, `pkg/endpoints/handlers/*.go`).

mod creation;
mod equality;
mod preconditions;
mod prepare;

use std::sync::Arc;

use serde_json::Value;

use self::equality::keep_idle_times;
pub(super) use self::preconditions::version_lost;
use self::preconditions::{check_version, has_other_version, uid_differs};
use self::prepare::{before_update, keep_stored};
use super::body::DraftObject;
use super::resource::Endpoint;
use super::{
    ApiServer, Fact, ObjectAnswer, RequestInfo, Trace, admission, delete, kinds::NotAllocated,
    kinds::Supply, kinds::metadata::merge_owners, scale, storage_key,
};
use crate::apply::FieldManager;
use crate::limits;
use crate::object::Metadata;
use crate::schema::{self, Empties};
use crate::status::{Refusal, Status};
use crate::storage::Revision;

/// An object before an update.
struct StoredBefore<'a> {
    /// Its key in etcd.
    key: &'a str,
    /// Its version.
    revision: Revision,
    /// The object that etcd holds.
    stored: Arc<Value>,
    /// The object as clients read it.
    live: Arc<Value>,
    /// The object of the request in the stored version ([`DraftObject::internal`]).
    internal: Option<Value>,
}

impl ApiServer {
    pub(super) fn update(
        &mut self,
        info: &RequestInfo,
        bytes: &[u8],
        trace: &mut Trace,
    ) -> Result<ObjectAnswer, Refusal> {
        let mut draft = self.decode_object(info, bytes)?;
        trace.warnings.append(&mut draft.warnings);
        normalize_namespace(info, &mut draft.object)?;
        check_name(info, &draft.object)?;
        trace
            .warnings
            .extend(merge_owners(&mut draft.object, false));
        let uid = draft.object.uid().to_owned();
        let produce = |server: &Self, live: &Value| {
            let mut draft = draft;
            let manager = server.manager(info, endpoint(info)?);
            // Nobody sees the owners of an object that is refused for its version.
            if !has_other_version(&draft.object, live) {
                draft.update(info, |object| manager.update(live, object, &info.manager));
            }
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
            is_custom: !info.resource.is_builtin(),
            may_mistype: info.resource.may_mistype(),
            may_have_mistyped: info.resource.may_have_mistyped(),
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
        produce: impl FnOnce(&Self, &Value) -> Result<DraftObject, Refusal>,
    ) -> Result<ObjectAnswer, Refusal> {
        let Some(parent) = &info.parent else {
            let produce = |server: &Self, live: &Value, _: &mut Trace| produce(server, live);
            return self.write_object(info, uid, may_create, trace, produce);
        };
        let whole = RequestInfo {
            resource: Arc::clone(parent),
            parent: None,
            ..info.clone()
        };
        let answer = self.write_object(&whole, uid, false, trace, |server, live, trace| {
            scale::write_through(server, parent, live, |server, view| {
                let mut draft = produce(server, view)?;
                server.mutate(info, &mut draft, Some(view), trace)?;
                Ok(draft)
            })
        })?;
        Ok(answer.map_object(|object| scale::scale_of(parent, object)))
    }

    /// Reads the object, lets `produce` make the new one of it, checks, compares and puts
    /// (`Store.Update` over `GuaranteedUpdate`). Policies have changed a view before it becomes the object.
    fn write_object(
        &mut self,
        info: &RequestInfo,
        uid: &str,
        may_create: bool,
        trace: &mut Trace,
        produce: impl FnOnce(&Self, &Value, &mut Trace) -> Result<DraftObject, Refusal>,
    ) -> Result<ObjectAnswer, Refusal> {
        let key = storage_key(&info.resource, &info.namespace, &info.name);
        let found = self.store.get(&key);
        let found = found.map(|(revision, stored)| (revision, Arc::clone(stored)));
        let Some((revision, stored)) = found else {
            check_missing(info, &key, uid, may_create, trace)?;
            let draft = produce(self, &self.nothing(info), trace)?;
            return self.create_missing(info, draft, trace);
        };
        let live = self.read_back(&info.resource, &stored);
        if !uid.is_empty() && uid != live.uid() {
            return Err(uid_differs(info, &key, uid, Some(live.uid()), trace));
        }
        let mut draft = produce(self, &live, trace)?;
        if info.subresource != scale::SCALE {
            self.mutate(info, &mut draft, Some(&live), trace)?;
        }
        let DraftObject {
            mut object,
            internal,
            empties,
            takes_version_over,
            ..
        } = draft;
        check_size(info, &mut object, trace)?;
        check_version(info, &object, revision, takes_version_over, trace)?;
        object.set_meta("resourceVersion", revision.to_string());
        drop_self_link(info, &mut object);
        self.allocate(info, &mut object, Some(&live))?;
        let namespace = || self.namespace_of(info);
        before_update(info, &mut object, &empties, &live, &namespace)?;
        let facts = note_warnings(info, &object, &live, trace);
        self.admit_written(info, &object, &live, trace)?;
        info.resource
            .note_time(&mut object, &live, self.environment.now());
        trace.facts.extend(facts);
        keep_idle_times(&mut object, &live);
        if delete::should_delete_during_update(&object, &live) && !info.resource.holds(&object) {
            self.finish_deletion(info, &key, revision, trace)?;
            return Ok(ObjectAnswer::ok(object));
        }
        let before = StoredBefore {
            key: &key,
            revision,
            stored,
            live,
            internal,
        };
        self.store_update(info, object, &empties, before, trace)
    }

    /// Asks the plugins of admission about a change. They see the view through which an object is written.
    fn admit_written(
        &mut self,
        info: &RequestInfo,
        object: &Value,
        live: &Value,
        trace: &mut Trace,
    ) -> Result<(), Refusal> {
        let Some(view) = scale::resource().filter(|_| info.subresource == scale::SCALE) else {
            return self.admit_update(info, object, live, trace);
        };
        let seen = RequestInfo {
            resource: Arc::clone(view),
            parent: Some(Arc::clone(&info.resource)),
            ..info.clone()
        };
        let shown = |object| scale::scale_of(&info.resource, object);
        self.admit_update(&seen, &shown(object), &shown(live), trace)
    }

    /// Puts an object that is ready in the place of the stored one, unless they are equal.
    fn store_update(
        &mut self,
        info: &RequestInfo,
        mut object: Value,
        empties: &Empties,
        before: StoredBefore<'_>,
        trace: &mut Trace,
    ) -> Result<ObjectAnswer, Refusal> {
        info.resource
            .before_storing(&mut object, before.internal.as_ref());
        keep_stored(info, &mut object, &before.stored)?;
        info.resource
            .keep_empty_bytes(&info.subresource, &mut object, empties, &before.stored);
        if object == *before.stored && !self.is_written_anyway(info, &before) {
            trace.facts.push(Fact::Unchanged(before.revision));
            return Ok(ObjectAnswer::ok(before.live));
        }
        if info.options.dry_run {
            trace.facts.push(Fact::DryRun);
            let object = info.resource.read_back(&Arc::new(object));
            return Ok(ObjectAnswer::ok(object));
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
        let object = self.read_back(&info.resource, &stored);
        Ok(ObjectAnswer::ok(object))
    }

    /// Returns whether a write gets a new version although its object is equal to the stored one.
    fn is_written_anyway(&self, info: &RequestInfo, before: &StoredBefore<'_>) -> bool {
        let encoded_anew = info.resource.is_encoded_anew()
            && self.store.created(before.key) == Some(before.revision);
        // The watch cache holds the object as it is read. What was made of that is compared with it
        // first, and only what is equal to it is compared with what etcd holds
        // (`etcd3.store.GuaranteedUpdate` with a cached object).
        let differs_from_cached = || {
            let mut cached = Value::clone(&before.live);
            info.resource.before_storing(&mut cached, None);
            cached != *before.stored
        };
        // Empty bytes are empty in the cache, too.
        let cached = self.caches.enabled()
            && before.live != before.stored
            && !info.resource.is_stored_otherwise()
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

    /// Fills in the values of admission and allocation (`Store.BeginCreate`, `BeginUpdate`).
    pub(super) fn allocate(
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
        let supply = Supply {
            store: &self.store,
            dry_run: info.options.dry_run,
        };
        info.resource
            .allocate(object, live, &supply)
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
}

/// Refuses a write of an object that is not there, unless it may create the object.
fn check_missing(
    info: &RequestInfo,
    key: &str,
    uid: &str,
    may_create: bool,
    trace: &mut Trace,
) -> Result<(), Refusal> {
    if !may_create && !info.resource.create_on_update {
        return Err(Status::not_found(&info.group_resource(), &info.name));
    }
    if uid.is_empty() {
        return Ok(());
    }
    // The storage compares the uid with the uid of an empty object.
    Err(uid_differs(info, key, uid, None, trace))
}

/// Only what is stored loses its link, and a dry run stores nothing (`k8s.io/apiserver/pkg/storage/etcd3/store.go`,
/// `PrepareObjectForStorage`, v1.36).
fn drop_self_link(info: &RequestInfo, object: &mut Value) {
    if !info.options.dry_run {
        object.set_meta("selfLink", Value::Null);
    }
}

/// Checks that an object is not too large, and joins owners that are named twice.
fn check_size(info: &RequestInfo, object: &mut Value, trace: &mut Trace) -> Result<(), Refusal> {
    limits::check(object)?;
    info.resource.check_work(object)?;
    trace.warnings.extend(merge_owners(object, true));
    Ok(())
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
