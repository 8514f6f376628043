//! Plugins that are asked before an object is stored or deleted: limit ranges, Pod Security, storage classes,
//! overheads, subjects of certificates, resizes of pods, policies, then quotas (`LimitRanger`, `PodSecurity`,
//! `PersistentVolumeClaimResize`, `RuntimeClass`, `CertificateSubjectRestriction`, `PodResizeValidator`,
//! `ValidatingAdmissionPolicy` and `ResourceQuota`, in the order of the default plugins; they see an object after its rules).

mod classes;
mod limits;
mod matching;
mod mutations;
mod parameters;
mod pod_security;
mod policies;
mod quotas;
mod resizes;

use serde_json::Value;

use super::kinds::certificates::is_for_organization;
use super::kinds::pod_admission::{default_class, overhead_mistake};
use super::{ApiServer, RequestInfo, Trace};
use crate::object::{Metadata, text};
use crate::status::{Refusal, Status};
use crate::storage::Store;

pub(super) use classes::give_class;
pub(super) use limits::complete;

/// A request as admission sees it.
struct Attributes<'a> {
    info: &'a RequestInfo,
    /// `CREATE`, `UPDATE` or `DELETE`.
    operation: &'static str,
    /// The new object; `None` where one is deleted.
    object: Option<&'a Value>,
    /// The stored object; `None` where one is created.
    old: Option<&'a Value>,
}

impl ApiServer {
    /// Asks policies and quotas about a new object.
    ///
    /// # Errors
    /// Their refusal.
    pub(super) fn admit_create(
        &mut self,
        info: &RequestInfo,
        object: &Value,
        trace: &mut Trace,
    ) -> Result<(), Refusal> {
        self.admit(info, "CREATE", Some(object), None, trace)
    }

    /// Asks policies and quotas about a change.
    ///
    /// # Errors
    /// Their refusal.
    pub(super) fn admit_update(
        &mut self,
        info: &RequestInfo,
        object: &Value,
        old: &Value,
        trace: &mut Trace,
    ) -> Result<(), Refusal> {
        self.admit(info, "UPDATE", Some(object), Some(old), trace)
    }

    /// Asks policies about a deletion.
    ///
    /// # Errors
    /// Their refusal.
    pub(super) fn admit_delete(
        &mut self,
        info: &RequestInfo,
        old: &Value,
        trace: &mut Trace,
    ) -> Result<(), Refusal> {
        self.admit(info, "DELETE", None, Some(old), trace)
    }

    fn admit(
        &mut self,
        info: &RequestInfo,
        operation: &'static str,
        object: Option<&Value>,
        old: Option<&Value>,
        trace: &mut Trace,
    ) -> Result<(), Refusal> {
        let attributes = Attributes {
            info,
            operation,
            object,
            old,
        };
        if let Some(object) = object {
            limits::check(&attributes, object, &self.store)?;
            pod_security::check(&attributes, object, &self.store, trace)?;
            classes::check_growth(&attributes, object, &self.store)?;
            check_overhead(&attributes, object, &self.store)?;
            check_subject(&attributes, object)?;
            resizes::check(&attributes, object, &self.store)?;
            check_default(&attributes, object, &self.store)?;
        }
        if self.store.range(policies::BINDINGS_BELOW).next().is_some() {
            policies::ask(self, &attributes, trace)?;
        }
        if let Some(object) = object
            && !info.namespace.is_empty()
        {
            quotas::charge(self, &attributes, object)?;
        }
        Ok(())
    }
}

/// The refusal of a plugin (`admission.NewForbidden`).
fn forbidden(asked: &Attributes<'_>, object: &Value, why: &str) -> Refusal {
    let name = match object.name() {
        "" => object.meta_text("generateName"),
        name => name,
    };
    Status::forbidden(&asked.info.group_resource(), name, why)
}

fn check_overhead(asked: &Attributes<'_>, object: &Value, store: &Store) -> Result<(), Refusal> {
    if asked.operation != "CREATE" || asked.info.resource.kind != "Pod" {
        return Ok(());
    }
    match overhead_mistake(object, store) {
        Some(why) => Err(forbidden(asked, object, why)),
        None => Ok(()),
    }
}

/// One class of priority is the default one (`validatePriorityClass` of `plugin/pkg/admission/priority`).
fn check_default(asked: &Attributes<'_>, object: &Value, store: &Store) -> Result<(), Refusal> {
    if text(object, "kind") != "PriorityClass" || object["globalDefault"] != true {
        return Ok(());
    }
    match default_class(store) {
        Some(class) if asked.operation == "CREATE" || class.name() != object.name() => {
            let why = format!(
                "PriorityClass {} is already marked as default. Only one default can exist",
                class.name()
            );
            Err(forbidden(asked, object, &why))
        }
        _ => Ok(()),
    }
}

/// Nobody gets a certificate that is stronger than every role
/// (`plugin/pkg/admission/certificates/subjectrestriction`).
fn check_subject(asked: &Attributes<'_>, object: &Value) -> Result<(), Refusal> {
    const SIGNER: &str = "kubernetes.io/kube-apiserver-client";
    const STRONGEST: &str = "system:masters";
    let creates =
        asked.operation == "CREATE" && text(object, "kind") == "CertificateSigningRequest";
    if creates && object["spec"]["signerName"] == SIGNER && is_for_organization(object, STRONGEST) {
        let why = format!("use of {SIGNER} signer with {STRONGEST} group is not allowed");
        return Err(forbidden(asked, object, &why));
    }
    Ok(())
}
