//! Creation of objects (`Store.Create` of `k8s.io/apiserver/pkg/registry/generic/registry/store.go`,
//! `pkg/registry/rest/create.go`).

use std::sync::Arc;

use http::StatusCode;
use serde_json::Value;

use super::preconditions::version_of;
use super::prepare::restore;
use super::{drop_self_link, endpoint, normalize_namespace};
use crate::limits;
use crate::object::{GroupName, Metadata, text};
use crate::schema::Empties;
use crate::server::body::DraftObject;
use crate::server::kinds::metadata::{self, merge_owners};
use crate::server::kinds::namespace::TERMINATING;
use crate::server::resource::Generation;
use crate::server::{
    ApiServer, DEFAULT_NAMESPACE, Fact, ObjectAnswer, RequestInfo, Trace, storage_key,
};
use crate::status::{Cause, Refusal, Status};
use crate::storage::Revision;

/// The most bytes of a prefix that a generated name keeps: a label has 63, and 5 are chosen
/// (`k8s.io/apiserver/pkg/storage/names/generate.go`, `MaxGeneratedNameLength`).
const MAX_PREFIX: usize = 58;

impl ApiServer {
    /// Creates the object in the body of a request.
    pub(in crate::server) fn create(
        &mut self,
        info: &RequestInfo,
        bytes: &[u8],
        trace: &mut Trace,
    ) -> Result<ObjectAnswer, Refusal> {
        let DraftObject {
            mut object,
            internal,
            empties,
            warnings,
            ..
        } = self.decode_object(info, bytes)?;
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
        let draft = DraftObject {
            object,
            internal,
            empties,
            ..DraftObject::default()
        };
        let object = self.create_object(info, draft, carries_version, trace)?;
        Ok(ObjectAnswer::Object(StatusCode::CREATED, object))
    }

    /// Creates the object that an update or apply names and that does not exist.
    pub(super) fn create_missing(
        &mut self,
        info: &RequestInfo,
        mut draft: DraftObject,
        trace: &mut Trace,
    ) -> Result<ObjectAnswer, Refusal> {
        version_of(&draft.object)?;
        drop_self_link(info, &mut draft.object);
        trace.warnings.extend(merge_owners(&mut draft.object, true));
        let object = self.create_object(info, draft, false, trace)?;
        Ok(ObjectAnswer::Object(StatusCode::CREATED, object))
    }

    /// Checks an object, fills it in and stores it.
    fn create_object(
        &mut self,
        info: &RequestInfo,
        mut draft: DraftObject,
        carries_version: bool,
        trace: &mut Trace,
    ) -> Result<Arc<Value>, Refusal> {
        self.check_creation(info, &draft.object)?;
        self.mutate(info, &mut draft, None, trace)?;
        normalize_namespace(info, &mut draft.object)?;
        let DraftObject {
            mut object,
            internal,
            empties,
            ..
        } = draft;
        let warnings = info.resource.warn_as_given(&object);
        self.before_create(info, &mut object, &empties)?;
        trace.warnings.extend(warnings);
        trace
            .warnings
            .extend(info.resource.warn(&info.subresource, &object, None));
        self.admit_create(info, &object, trace)?;
        trace.facts.extend(info.resource.judged(&object, None).0);
        if carries_version {
            let message = "resourceVersion should not be set on objects to be created";
            return Err(Status::internal(message));
        }
        self.store_new(info, object, internal.as_ref(), trace)
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

    /// The namespace of a request, if it is stored.
    pub(super) fn namespace_of(&self, info: &RequestInfo) -> Option<Arc<Value>> {
        let key = format!("/registry/namespaces/{}", info.namespace);
        self.store
            .get(&key)
            .map(|(_, namespace)| Arc::clone(namespace))
    }

    /// Sets the fields of a new object before the server stores it, and checks it (`rest.BeforeCreate`).
    fn before_create(
        &mut self,
        info: &RequestInfo,
        object: &mut Value,
        empties: &Empties,
    ) -> Result<(), Refusal> {
        let is_named = !object.name().is_empty();
        if !is_named {
            self.generate_name(object);
        }
        object.set_meta("creationTimestamp", self.environment.now().to_string());
        object.set_meta("uid", self.environment.uid());
        if object.name().is_empty() && info.resource.is_named_by_uid() {
            object.set_meta("name", self.environment.uid());
        }
        if !info.options.dry_run {
            object.set_meta("resourceVersion", Value::Null);
        }
        // On every path, the rules of the main resource make a new object.
        if let Some(main) = info.resource.endpoint("")
            && !info.resource.restores()
            && !info.resource.sees_given_status()
        {
            let fields = &main.reset_fields;
            info.resource
                .as_stored(object, &self.nothing(info), |object, nothing| {
                    restore(object, nothing, fields);
                });
        }
        self.allocate(info, object, None)?;
        prepare_new(info, object, empties, is_named);
        if !matches!(
            info.resource.generation,
            Generation::None | Generation::SpecLater
        ) {
            object.set_meta("generation", 1);
        }
        // The server tells an empty list from an absent one here; what etcd holds does not.
        let mut errors = Vec::new();
        empties.present(object, |object| {
            let claims = info
                .resource
                .may_claim(object, None, &|| self.namespace_of(info));
            errors.extend(claims);
            errors.extend(info.resource.validate(&info.subresource, object, None));
        });
        if errors.is_empty() {
            errors = metadata::create(object);
        }
        if errors.is_empty() {
            return Ok(());
        }
        let kind = info.resource.group_kind_of(object);
        Err(Status::invalid(&kind, object.name(), &errors))
    }

    /// Names an object that asks for it (`generateName`).
    fn generate_name(&mut self, object: &mut Value) {
        let prefix = object.meta_text("generateName");
        if !prefix.is_empty() {
            let kept = (0..=MAX_PREFIX)
                .rev()
                .find(|at| prefix.is_char_boundary(*at));
            let prefix = prefix.get(..kept.unwrap_or(0)).unwrap_or(prefix);
            let name = prefix.to_owned() + &self.environment.name_suffix();
            object.set_meta("name", name);
        }
    }

    /// Stores a new object, unless its name is taken.
    fn store_new(
        &mut self,
        info: &RequestInfo,
        mut object: Value,
        internal: Option<&Value>,
        trace: &mut Trace,
    ) -> Result<Arc<Value>, Refusal> {
        // Through the address of an object, the new one is stored there, whatever a policy has named it
        // (`Store.Update`).
        let name = match info.name.as_str() {
            "" => object.name(),
            name => name,
        };
        let key = storage_key(&info.resource, &info.namespace, name);
        let resource = info.group_resource();
        if let Some((_, existing)) = self.store.get(&key) {
            let refusal = if object.meta_text("generateName").is_empty() {
                Status::already_exists(&resource, object.name())
            } else {
                Status::not_unique(&resource, object.name())
            };
            return Err(if existing.meta_text("deletionTimestamp").is_empty() {
                refusal
            } else {
                Status::being_deleted(refusal)
            });
        }
        info.resource.before_storing(&mut object, internal);
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
            .map(|stored| self.read_back(&info.resource, &stored))
            .map_err(|_| Status::already_exists(&resource, &name))
    }

    /// Refuses an object in a namespace that does not exist or is being deleted.
    pub(in crate::server) fn check_namespace(
        &self,
        info: &RequestInfo,
        object_name: &str,
    ) -> Result<(), Refusal> {
        let name = &info.namespace;
        let Some(namespace) = self.namespace_of(info) else {
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
        let refusal = Status::forbidden(&info.group_resource(), object_name, &why);
        Err(refusal.with_cause(Cause {
            reason: "NamespaceTerminating",
            message: format!("namespace {name} is being terminated"),
            field: "metadata.namespace".to_owned(),
        }))
    }
}

/// Lets the strategy of the kind set its fields. A job without labels shares those of its template, even if they are
/// empty. An object whose name is generated is copied before, so it shares nothing (`createWithGenerateNameRetry`).
fn prepare_new(info: &RequestInfo, object: &mut Value, empties: &Empties, is_named: bool) {
    let prepare = |object: &mut Value| info.resource.prepare(&info.subresource, object, None);
    if !info.resource.shares_labels() {
        return prepare(object);
    }
    let labels = object["metadata"].get("labels").cloned();
    empties.present(object, prepare);
    if !is_named {
        object.set_meta("labels", labels.unwrap_or(Value::Null));
    }
}
