//! Objects that a controller lets go: the first deletion marks them, and they stay until their
//! contents are gone (`REST.Delete` of `pkg/registry/core/namespace/storage` and of
//! `k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition`).

use serde_json::Value;

use super::DeleteOptions;
use crate::environment::Timestamp;
use crate::object::{FOREGROUND, Metadata, ORPHAN};
use crate::server::custom::{CLEANUP, set_condition};
use crate::server::kinds::namespace::TERMINATING;
use crate::server::{ApiServer, Fact, RequestInfo, Trace, storage_key};
use crate::status::{Refusal, Status};

/// A function that makes the other changes of the first deletion: all but the time of deletion.
pub(super) type Terminate = fn(&mut Value, &DeleteOptions, Timestamp);

impl ApiServer {
    /// Marks an object, or deletes it if that has been done and nothing holds it: the answer, and
    /// whether the object is gone.
    pub(super) fn delete_in_two_steps(
        &mut self,
        info: &RequestInfo,
        options: &DeleteOptions,
        trace: &mut Trace,
        terminate: Terminate,
    ) -> Result<(Value, bool), Refusal> {
        let key = storage_key(&info.resource, &info.namespace, &info.name);
        let (revision, stored) = self.stored(info, &key, &info.name)?;
        options.check_early(info, &stored, trace)?;
        if !stored.meta_text("deletionTimestamp").is_empty() {
            if info.resource.holds(&stored) {
                return Ok((stored.as_ref().clone(), false));
            }
            return self.delete_object(info, &info.name, options, trace);
        }
        let mut object = stored.as_ref().clone();
        let now = self.environment.now();
        object.set_meta("deletionTimestamp", now.to_string());
        terminate(&mut object, options, now);
        if options.is_dry_run() {
            trace.facts.push(Fact::DryRun);
            return Ok((object, false));
        }
        let marked = self.mark(info, &key, revision, &stored, object, trace)?;
        Ok((marked.as_ref().clone(), false))
    }
}

impl DeleteOptions {
    /// The preconditions, in the words of those who check them before anything else.
    fn check_early(
        &self,
        info: &RequestInfo,
        stored: &Value,
        trace: &mut Trace,
    ) -> Result<(), Refusal> {
        let checks = [
            ("UID", &self.uid, stored.uid()),
            (
                "ResourceVersion",
                &self.resource_version,
                stored.resource_version(),
            ),
        ];
        for (what, wanted, found) in checks {
            let Some(wanted) = wanted.as_deref().filter(|wanted| *wanted != found) else {
                continue;
            };
            trace.facts.extend(match what {
                "UID" => Some(Fact::UidDiffered {
                    sent: wanted.to_owned(),
                    stored: Some(found.to_owned()),
                }),
                _ => wanted
                    .parse()
                    .ok()
                    .zip(found.parse().ok())
                    .map(|(sent, stored)| Fact::VersionDiffered { sent, stored }),
            });
            let why = format!(
                "Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {found}"
            );
            return Err(Status::conflict(&info.group_resource(), &info.name, &why));
        }
        Ok(())
    }
}

/// A namespace says in its status that it terminates. Unlike elsewhere, a deletion that is not to
/// orphan anything asks for dependents to go first (`shouldHaveDeleteDependentsFinalizer`).
pub(super) fn terminate_namespace(namespace: &mut Value, options: &DeleteOptions, _now: Timestamp) {
    namespace["status"]["phase"] = TERMINATING.into();
    let policy = options.propagation_policy.as_deref();
    let present = namespace.finalizers();
    let wanted = |finalizer: &str, orphan: bool, of_policy: &str| match (
        options.orphan_dependents,
        policy,
    ) {
        (Some(asked), _) => asked == orphan,
        (None, Some(policy)) => policy == of_policy,
        (None, None) => present.contains(&finalizer),
    };
    let pairs = [
        (ORPHAN, wanted(ORPHAN, true, "Orphan")),
        (FOREGROUND, wanted(FOREGROUND, false, "Foreground")),
    ];
    if pairs
        .iter()
        .all(|(finalizer, wanted)| present.contains(finalizer) == *wanted)
    {
        return;
    }
    let mut finalizers: Vec<Value> = present
        .iter()
        .filter(|present| pairs.iter().all(|(finalizer, _)| finalizer != *present))
        .map(|present| (*present).into())
        .collect();
    let asked = pairs.iter().filter(|(_, wanted)| *wanted);
    finalizers.extend(asked.map(|(finalizer, _)| Value::from(*finalizer)));
    let finalizers = if finalizers.is_empty() {
        Value::Null
    } else {
        finalizers.into()
    };
    namespace.set_meta("finalizers", finalizers);
}

/// A definition waits for a controller to delete its objects.
pub(super) fn terminate_definition(
    definition: &mut Value,
    _options: &DeleteOptions,
    now: Timestamp,
) {
    let mut finalizers: Vec<Value> = definition
        .finalizers()
        .into_iter()
        .map(Value::from)
        .collect();
    if !finalizers.iter().any(|finalizer| finalizer == CLEANUP) {
        finalizers.push(CLEANUP.into());
        definition.set_meta("finalizers", finalizers);
    }
    let why = (
        "InstanceDeletionPending",
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    );
    set_condition(definition, "Terminating", "True", why, now);
}
