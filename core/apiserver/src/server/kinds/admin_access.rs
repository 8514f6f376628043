//! Access to devices as an administrator, which a namespace has to allow
//! (`AuthorizedForAdmin` and `AuthorizedForAdminStatus` of `pkg/registry/resource/utils.go`).

use serde_json::Value;

use super::label_selector::list;
use super::{LooksAt, Namespace};
use crate::field::ErrorPath;
use crate::status::FieldError;

/// The label of a namespace that allows it.
const LABEL: &str = "resource.kubernetes.io/admin-access";

/// The namespace of a claim decides what it may have.
pub(super) const OF_CLAIM: LooksAt = LooksAt {
    namespace: of_claim,
    ..LooksAt::NOTHING
};

/// The same of a template.
pub(super) const OF_TEMPLATE: LooksAt = LooksAt {
    namespace: of_template,
    ..LooksAt::NOTHING
};

/// Looks at the requests of a new claim, and at the devices that a claim did not have before.
fn of_claim(claim: &Value, live: Option<&Value>, namespace: Namespace<'_>) -> Option<FieldError> {
    let Some(live) = live else {
        return refused(in_requests(&claim["spec"])?, namespace);
    };
    if in_results(&live["status"]).is_some() {
        return None;
    }
    refused(in_results(&claim["status"])?, namespace)
}

/// Looks at the requests of a new template. Upstream names the field as that of a claim.
fn of_template(
    template: &Value,
    live: Option<&Value>,
    namespace: Namespace<'_>,
) -> Option<FieldError> {
    match live {
        None => refused(in_requests(&template["spec"]["spec"])?, namespace),
        Some(_) => None,
    }
}

/// The first request for such access.
fn in_requests(spec: &Value) -> Option<String> {
    let mut requests = list(&spec["devices"], "requests").iter();
    let i = requests.position(|request| request["exactly"]["adminAccess"] == true)?;
    Some(field("spec.devices.requests", i))
}

/// The first device with such access.
fn in_results(status: &Value) -> Option<String> {
    let mut results = list(&status["allocation"]["devices"], "results").iter();
    let i = results.position(|result| result["adminAccess"] == true)?;
    Some(field("status.allocation.devices.results", i))
}

fn field(list: &'static str, i: usize) -> String {
    ErrorPath::new(list)
        .index(i)
        .child("adminAccess")
        .to_string()
}

fn refused(field: String, namespace: Namespace<'_>) -> Option<FieldError> {
    if namespace().is_some_and(|namespace| namespace["metadata"]["labels"][LABEL] == "true") {
        return None;
    }
    let detail = format!(
        "admin access to devices requires the `{LABEL}: true` label on the containing namespace"
    );
    Some(FieldError::forbidden(field, detail))
}
