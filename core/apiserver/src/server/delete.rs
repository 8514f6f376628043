//! Delete (`k8s.io/apiserver/pkg/endpoints/handlers/delete.go`, `pkg/registry/rest/delete.go`,
//! `Store.Delete` of `pkg/registry/generic/registry/store.go`).

mod options;
mod two_steps;

use std::sync::Arc;

use http::StatusCode;
use serde_json::{Value, json};

use self::options::DeleteOptions;
use self::two_steps::{terminate_definition, terminate_namespace};
use super::kinds::Collection;
use super::list_options::{ListOptions, VersionMatch};
use super::read::SharedList;
use super::write::version_lost;
use super::{ApiServer, Fact, ObjectAnswer, RequestInfo, Trace, custom, storage_key};
use crate::environment::Timestamp;
use crate::object::{FOREGROUND, GroupName, Metadata, ORPHAN};
use crate::status::{Refusal, Status};
use crate::storage::Revision;

/// The number of objects that a deletion of a collection lists at once
/// (`deleteCollectionPageSize`).
const PAGE: i64 = 10_000;

impl ApiServer {
    pub(super) fn delete(
        &mut self,
        info: &RequestInfo,
        bytes: &[u8],
        trace: &mut Trace,
    ) -> Result<ObjectAnswer, Refusal> {
        let options = DeleteOptions::read(info, bytes)?;
        trace.warnings.extend(options.unsaid(&info.resource));
        if let Some(why) = info.resource.immortal(&info.name) {
            return Err(Status::forbidden(&info.group_resource(), &info.name, why));
        }
        let (body, deleted) = if info.resource.is_namespaces() {
            self.delete_in_two_steps(info, &options, trace, terminate_namespace)?
        } else if custom::defines_kinds(&info.resource) {
            self.delete_in_two_steps(info, &options, trace, terminate_definition)?
        } else {
            self.delete_object(info, &info.name, &options, trace)?
        };
        // A client that asks for cascading deletion with the old option gets the message that it
        // waits.
        let code = if !deleted && options.orphan_dependents == Some(false) {
            StatusCode::ACCEPTED
        } else {
            StatusCode::OK
        };
        Ok(ObjectAnswer::Object(code, body.into()))
    }

    /// Deletes every selected object of a collection; answers with the objects that were there
    /// before.
    pub(super) fn delete_collection(
        &mut self,
        info: &RequestInfo,
        bytes: &[u8],
        trace: &mut Trace,
    ) -> Result<ObjectAnswer, Refusal> {
        // Namespaces go one by one.
        if info.resource.is_namespaces() {
            return Err(Status::method_not_allowed());
        }
        let mut wanted = ListOptions::read(info)?;
        let options = DeleteOptions::read(info, bytes)?;
        trace.warnings.extend(options.unsaid(&info.resource));
        // The server lists in pages, which also makes a version in the query mean exactly that version. With a limit, one
        // page of that size is deleted. A negative limit is no limit
        // (`k8s.io/apiserver/pkg/registry/generic/registry/store.go Store.DeleteCollection`, v1.36).
        let one_page = wanted.limit > 0;
        if wanted.limit == 0 {
            wanted.limit = PAGE;
        }
        let mut deleted = Vec::new();
        loop {
            let (meta, items) = self.list_objects(info, &wanted)?;
            for item in &items {
                match self.delete_object(info, item.name(), &options, trace) {
                    Err(refusal) if refusal.code == 404 => {}
                    answer => drop(answer?),
                }
            }
            deleted.extend(items);
            if one_page || meta.continue_token.is_empty() {
                return Ok(ObjectAnswer::list(SharedList::new(info, meta, deleted)));
            }
            wanted.version.clear();
            wanted.version_match = VersionMatch::Unset;
            wanted.continue_token = meta.continue_token;
        }
    }

    /// Deletes an object as a controller does, without options.
    pub(super) fn delete_unasked(&mut self, info: &RequestInfo) {
        // What is gone already, or waits for its finalizers, is as it should be.
        let options = DeleteOptions::default();
        let _ = self.delete_object(info, &info.name, &options, &mut Trace::default());
    }

    /// Deletes an object after `note` wrote something into it, if the preconditions hold.
    pub(super) fn delete_after(
        &mut self,
        info: &RequestInfo,
        bytes: &[u8],
        trace: &mut Trace,
        note: impl FnOnce(&mut Value),
    ) -> Result<(), Refusal> {
        let mut options = DeleteOptions::decode(info, bytes)?;
        let key = storage_key(&info.resource, &info.namespace, &info.name);
        let (revision, stored) = self.stored(info, &key, &info.name)?;
        options.check_preconditions(&info.resource.group_kind(), &stored, trace)?;
        if !options.is_dry_run() {
            let mut noted = Value::clone(&stored);
            note(&mut noted);
            if noted != *stored {
                let put = self.store.put_if(&key, revision, |after| {
                    noted.set_meta("resourceVersion", after.to_string());
                    Arc::new(noted)
                });
                put.map_err(|_| Status::modified(&info.group_resource(), &info.name))?;
                options.resource_version = None;
            }
        }
        // The store checks them as it deletes, after the note was written.
        options.validate()?;
        self.delete_object(info, &info.name, &options, trace)?;
        Ok(())
    }

    /// The stored object of a key.
    fn stored(
        &self,
        info: &RequestInfo,
        key: &str,
        name: &str,
    ) -> Result<(Revision, Arc<Value>), Refusal> {
        let found = self.store.get(key);
        found
            .map(|(revision, stored)| (revision, Arc::clone(stored)))
            .ok_or_else(|| Status::not_found(&info.group_resource(), name))
    }

    /// Deletes one object, or marks it: the answer, and whether it is gone.
    fn delete_object(
        &mut self,
        info: &RequestInfo,
        name: &str,
        options: &DeleteOptions,
        trace: &mut Trace,
    ) -> Result<(Value, bool), Refusal> {
        let resource = &info.resource;
        let key = storage_key(resource, &info.namespace, name);
        let (revision, stored) = self.stored(info, &key, name)?;
        let live = self.read_back(resource, &stored);
        options.check_preconditions(&resource.group_kind(), &live, trace)?;
        self.admit_delete(info, &live, trace)?;
        let mut object = live.as_ref().clone();
        let now = self.environment.now();
        let grace = resource.grace(&live, options.grace_period_seconds);
        let graceful = match mark_graceful(&mut object, grace, options.grace_period_seconds, now) {
            Grace::Pending => return Ok((self.deleted(info, &live), false)),
            Grace::None => false,
            Grace::Set => true,
        };
        let finalizers = options.finalizers(&object, resource.collection());
        if finalizers != object.finalizers() {
            let finalizers: Vec<Value> = finalizers.iter().map(|f| (*f).into()).collect();
            object.set_meta("finalizers", none_if_empty(finalizers));
        }
        let pending = !object.finalizers().is_empty();
        if pending && !graceful {
            mark_deleting(&mut object, now);
        }
        let stays = pending || graceful;
        if options.is_dry_run() {
            trace.facts.push(Fact::DryRun);
            return Ok(match stays {
                true => (object, false),
                false => (self.deleted_in_dry_run(info, &live), true),
            });
        }
        if !stays && !live.finalizers().is_empty() && options.resource_version.is_some() {
            return Err(version_lost(info, &key, live.resource_version()));
        }
        let mut revision = revision;
        if stays {
            let marked = self.mark(info, &key, revision, &stored, object, trace)?;
            let waits = marked
                .metadata()
                .and_then(|meta| meta.get("deletionGracePeriodSeconds")?.as_i64())
                .is_some_and(|seconds| seconds > 0);
            if pending || waits {
                return Ok((marked.as_ref().clone(), false));
            }
            revision = self.store.revision();
        }
        let answer = self.remove(info, &key, revision, trace)?;
        Ok((answer, true))
    }

    /// Writes the deletion mark; nothing if it is there already.
    fn mark(
        &mut self,
        info: &RequestInfo,
        key: &str,
        before: Revision,
        live: &Arc<Value>,
        mut object: Value,
        trace: &mut Trace,
    ) -> Result<Arc<Value>, Refusal> {
        info.resource.before_storing(&mut object, None);
        if object == **live {
            trace.facts.push(Fact::Unchanged(before));
            return Ok(self.read_back(&info.resource, live));
        }
        self.store
            .put_if(key, before, |after| {
                trace.facts.push(Fact::Terminating(after));
                object.set_meta("resourceVersion", after.to_string());
                Arc::new(object)
            })
            .map(|stored| self.read_back(&info.resource, &stored))
            .map_err(|_| Status::modified(&info.group_resource(), &info.name))
    }

    fn remove(
        &mut self,
        info: &RequestInfo,
        key: &str,
        revision: Revision,
        trace: &mut Trace,
    ) -> Result<Value, Refusal> {
        let last = self.store.get(key);
        let last = last.map(|(_, stored)| self.read_back(&info.resource, stored));
        let deleted = self
            .store
            .delete_if(key, revision)
            .map_err(|_| Status::modified(&info.group_resource(), &info.name))?;
        trace.facts.push(Fact::Deleted(deleted));
        // etcd answers with what it deleted, at the version of the deletion.
        Ok(last.map_or(Value::Null, |mut last| {
            Arc::make_mut(&mut last).set_meta("resourceVersion", deleted.to_string());
            self.deleted(info, &last)
        }))
    }

    /// Returns the answer to the deletion of an object (`finalizeDelete`).
    fn deleted(&self, info: &RequestInfo, last: &Value) -> Value {
        if info.resource.returns_deleted() {
            return last.clone();
        }
        let resource = info.group_resource();
        let mut details = json!({"name": last.name(), "kind": resource.name, "uid": last.uid()});
        if !resource.group.is_empty() {
            details["group"] = resource.group.into();
        }
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
            "details": details,
        })
    }

    /// Returns the answer to the dry run of a deletion. An update that takes away the last finalizer, so that the
    /// deletion goes on, gives no object (`errEmptiedFinalizers`).
    fn deleted_in_dry_run(&self, info: &RequestInfo, live: &Value) -> Value {
        match live.finalizers().is_empty() {
            true => self.deleted(info, live),
            false => info.resource.unset(),
        }
    }

    /// Deletes an object whose last finalizer an update has just removed. The answer is the
    /// object as it would have been written (`ShouldDeleteDuringUpdate`).
    pub(super) fn finish_deletion(
        &mut self,
        info: &RequestInfo,
        key: &str,
        revision: Revision,
        trace: &mut Trace,
    ) -> Result<(), Refusal> {
        if info.options.dry_run {
            trace.facts.push(Fact::DryRun);
            return Ok(());
        }
        self.remove(info, key, revision, trace).map(|_| ())
    }
}

fn none_if_empty(list: Vec<Value>) -> Value {
    match list.is_empty() {
        true => Value::Null,
        false => list.into(),
    }
}

/// Returns whether an update takes away the last thing that keeps a terminating object.
pub(super) fn should_delete_during_update(object: &Value, live: &Value) -> bool {
    let live = live.metadata();
    let grace = live.and_then(|meta| meta.get("deletionGracePeriodSeconds")?.as_i64());
    let terminating = live.is_some_and(|meta| meta.contains_key("deletionTimestamp"));
    object.finalizers().is_empty() && terminating && grace.unwrap_or(0) == 0
}

enum Grace {
    /// The kind knows no graceful deletion, or the time is up.
    None,
    /// Sets the time of the deletion in the object.
    Set,
    /// It is being deleted already and nothing new was asked.
    Pending,
}

/// `rest.BeforeDelete` for kinds that are deleted gracefully.
fn mark_graceful(
    object: &mut Value,
    grace: Option<i64>,
    requested: Option<i64>,
    now: Timestamp,
) -> Grace {
    let Some(grace) = grace else {
        return Grace::None;
    };
    let meta = object.metadata();
    let until = meta.and_then(|meta| Timestamp::parse(meta.get("deletionTimestamp")?.as_str()?));
    let current = meta.and_then(|meta| meta.get("deletionGracePeriodSeconds")?.as_i64());
    let Some(until) = until else {
        let seconds = u64::try_from(grace).unwrap_or(0);
        let at = Timestamp {
            seconds: now.seconds + seconds,
        };
        object.set_meta("deletionTimestamp", at.to_string());
        object.set_meta("deletionGracePeriodSeconds", grace);
        raise_generation(object);
        return Grace::Set;
    };
    let current = current.unwrap_or(0);
    let Some(requested) = requested.map(|seconds| if seconds < 0 { 1 } else { seconds }) else {
        return if current == 0 {
            Grace::None
        } else {
            Grace::Pending
        };
    };
    if current == 0 {
        return Grace::None;
    }
    if requested >= current {
        return Grace::Pending;
    }
    let start = until.seconds.saturating_sub(current.unsigned_abs());
    let shortened = start + requested.unsigned_abs();
    let (at, period) = if shortened < now.seconds {
        (now.seconds, i64::from(requested != 0))
    } else {
        (shortened, requested)
    };
    object.set_meta("deletionTimestamp", Timestamp { seconds: at }.to_string());
    object.set_meta("deletionGracePeriodSeconds", period);
    Grace::Set
}

/// `markAsDeleting`: for kinds without graceful deletion that wait for their finalizers.
fn mark_deleting(object: &mut Value, now: Timestamp) {
    let until = Timestamp::parse(object.meta_text("deletionTimestamp"));
    if until.is_none() {
        raise_generation(object);
    }
    if until.is_none_or(|until| until > now) {
        object.set_meta("deletionTimestamp", now.to_string());
    }
    object.set_meta("deletionGracePeriodSeconds", 0);
}

fn raise_generation(object: &mut Value) {
    let generation = object.generation();
    if generation > 0 {
        object.set_meta("generation", generation + 1);
    }
}

impl DeleteOptions {
    fn is_dry_run(&self) -> bool {
        !self.dry_run.is_empty()
    }

    fn check_preconditions(
        &self,
        kind: &GroupName,
        live: &Value,
        trace: &mut Trace,
    ) -> Result<(), Refusal> {
        let name = live.name();
        if let Some(uid) = &self.uid
            && uid != live.uid()
        {
            trace.facts.push(Fact::UidDiffered {
                sent: uid.clone(),
                stored: Some(live.uid().to_owned()),
            });
            let why = format!(
                "the UID in the precondition ({uid}) does not match the UID in record ({}). \
                 The object might have been deleted and then recreated",
                live.uid()
            );
            return Err(Status::conflict(kind, name, &why));
        }
        let stored = live.resource_version();
        if let Some(version) = &self.resource_version
            && version != stored
        {
            if let (Ok(sent), Ok(stored)) = (version.parse(), stored.parse()) {
                trace.facts.push(Fact::VersionDiffered { sent, stored });
            }
            let why = format!(
                "the ResourceVersion in the precondition ({version}) does not match the \
                 ResourceVersion in record ({stored}). The object might have been modified"
            );
            return Err(Status::conflict(kind, name, &why));
        }
        Ok(())
    }

    /// The finalizers with those of garbage collection as asked for. The two lists are compared as sets: finalizers
    /// that an object has twice stay so (`k8s.io/apiserver/pkg/registry/generic/registry/store.go
    /// deletionFinalizersForGarbageCollection`, v1.36).
    fn finalizers<'a>(&self, object: &'a Value, collection: Collection) -> Vec<&'a str> {
        let present = object.finalizers();
        let (orphan, foreground) =
            match (self.orphan_dependents, self.propagation_policy.as_deref()) {
                _ if collection == Collection::None => (false, false),
                (Some(orphan), _) => (orphan, false),
                (None, Some(policy)) => (policy == "Orphan", policy == "Foreground"),
                (None, None) => {
                    let first = present.iter().find(|f| matches!(**f, ORPHAN | FOREGROUND));
                    let orphan = first.is_none() && collection == Collection::Orphan;
                    (orphan || first == Some(&ORPHAN), first == Some(&FOREGROUND))
                }
            };
        let mut wanted: Vec<&str> = present
            .iter()
            .copied()
            .filter(|finalizer| !matches!(*finalizer, ORPHAN | FOREGROUND))
            .collect();
        wanted.extend(orphan.then_some(ORPHAN));
        wanted.extend(foreground.then_some(FOREGROUND));
        let same = wanted.iter().all(|f| present.contains(f))
            && present.iter().all(|f| wanted.contains(f));
        if same { present } else { wanted }
    }
}
