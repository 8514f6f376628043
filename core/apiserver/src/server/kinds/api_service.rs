//! APIService (`k8s.io/kube-aggregator/pkg/apis/apiregistration/validation`), and the controller of
//! the server that says whether its service is there
//! (`pkg/controllers/status/local` and `remote`).

use std::sync::Arc;

use serde_json::Value;

use super::checks::{Checked, FieldCheck};
use super::names;
use crate::go;
use crate::object::{Metadata, text};
use crate::server::custom::set_condition;
use crate::server::{ApiServer, Resource, Trace};
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("api_service_name", name),
    ("api_group", group),
    ("api_version", version),
    ("api_priorities", priorities),
    ("api_service", service),
];

/// The reason and the message of a version that the server itself serves: it is available.
const LOCAL: (&str, &str) = ("Local", "Local APIServices are always available");
/// The key prefixes of API services and of services in etcd.
const STORED_BELOW: &str = "/registry/apiregistration.k8s.io/apiservices/";
const SERVICES_BELOW: &str = "/registry/services/specs/";

/// The certificates of the service may be emptied.
pub(super) const EMPTIED: super::EmptiedBytes = super::EmptiedBytes {
    written_by: "",
    parent: "/spec",
    field: "caBundle",
};

/// A new API service without a service is available (`PrepareForCreate` of kube-aggregator's registry).
pub(super) fn prepare(service: &mut Value, live: Option<&Value>) {
    if live.is_some() {
        return;
    }
    service["status"] = serde_json::json!({});
    if service["spec"].get("service").is_none() {
        let (reason, message) = LOCAL;
        service["status"]["conditions"] = serde_json::json!([{
            "type": "Available", "status": "True", "reason": reason, "message": message,
            "lastTransitionTime": service.meta_text("creationTimestamp"),
        }]);
    }
}

/// The name is that of the version, and so would be the start of a generated one.
fn name(service: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let spec = &service.object["spec"];
    let wanted = format!("{}.{}", text(spec, "version"), text(spec, "group"));
    for field in ["generateName", "name"] {
        let name = service.object.meta_text(field);
        if name.is_empty() {
            continue;
        }
        let mut reasons = names::path_segment(name);
        if reasons.is_empty() && name != wanted {
            let wanted = go::quote(&wanted);
            reasons.push(format!("must be `spec.version+\".\"+spec.group`: {wanted}"));
        }
        let field = format!("metadata.{field}");
        let reasons = reasons.into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(&*field, &name.into(), why)));
    }
}

fn group(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let (group, field) = (text(spec.value, "group"), spec.path.child("group"));
    if group.is_empty() && text(spec.value, "version") != "v1" {
        let detail = "only v1 may have an empty group and it better be legacy kube";
        errors.push(FieldError::required(field, detail));
    }
    if !group.is_empty() {
        let reasons = names::subdomain(group).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field, &group.into(), why)));
    }
}

fn version(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let (version, field) = (text(spec.value, "version"), spec.path.child("version"));
    let reasons = names::label_1035(version).into_iter();
    errors.extend(reasons.map(|why| FieldError::invalid(field, &version.into(), why)));
}

fn priorities(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    for (field, most) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1000)] {
        let number = spec.value[field].as_i64().unwrap_or(0);
        if !(1..=most).contains(&number) {
            let detail = format!("must be positive and less than {most}");
            let field = spec.path.child(field);
            errors.push(FieldError::invalid(field, &number.into(), detail));
        }
    }
}

/// Checks the server of the version: the API server itself, or a service.
fn service(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let insecure = spec.value["insecureSkipTLSVerify"] == true;
    let bundle = go::base64::bytes(text(spec.value, "caBundle"));
    let skip = spec.path.child("insecureSkipTLSVerify");
    let Some(service) = spec.value.get("service") else {
        if !bundle.is_empty() {
            let value = format!("{} bytes", bundle.len()).into();
            let detail = "local APIServices may not have a caBundle";
            let field = spec.path.child("caBundle");
            errors.push(FieldError::invalid(field, &value, detail));
        }
        if insecure {
            let detail = "local APIServices may not have insecureSkipTLSVerify";
            errors.push(FieldError::invalid(skip, &true.into(), detail));
        }
        return;
    };
    let path = spec.path.child("service");
    for field in ["namespace", "name"] {
        if text(service, field).is_empty() {
            errors.push(FieldError::required(path.child(field), ""));
        }
    }
    if let Some(port) = service["port"].as_i64() {
        let reasons = names::port_number(port);
        if !reasons.is_empty() {
            let detail = format!("port is not valid: {}", reasons.join(","));
            let field = path.child("port");
            errors.push(FieldError::invalid(field, &port.into(), detail));
        }
    }
    if insecure && !bundle.is_empty() {
        let detail = "may not be true if caBundle is present";
        errors.push(FieldError::invalid(skip, &true.into(), detail));
    }
}

/// Returns whether a change of a kind is one that the controller looks at.
pub(in crate::server) fn concerns(resource: &Resource) -> bool {
    matches!(resource.plural.as_str(), "apiservices" | "services")
        && matches!(
            resource.group_version.group.as_str(),
            "" | "apiregistration.k8s.io"
        )
}

impl ApiServer {
    /// Writes the condition of each API service: it is available or not. The answers of a service
    /// that exists are not known here, so its condition stays as it is.
    pub(in crate::server) fn run_api_service_controller(&mut self) {
        let all = self.store().range(STORED_BELOW);
        let all: Vec<Arc<Value>> = all.map(|(_, _, object)| Arc::clone(object)).collect();
        for service in all {
            let (status, reason, message) = match service["spec"].get("service") {
                None => ("True", LOCAL.0, LOCAL.1.to_owned()),
                Some(of) => {
                    let (namespace, name) = (text(of, "namespace"), text(of, "name"));
                    let key = format!("{SERVICES_BELOW}{namespace}/{name}");
                    if self.store().get(&key).is_some() {
                        continue;
                    }
                    let message =
                        format!("service/{name} in {} is not present", go::quote(namespace));
                    ("False", "ServiceNotFound", message)
                }
            };
            let mut wanted = Value::clone(&service);
            let now = self.environment().now();
            set_condition(&mut wanted, "Available", status, (reason, &message), now);
            if wanted["status"] == service["status"] {
                continue;
            }
            let resource = self
                .resources()
                .by_path("apiregistration.k8s.io", "v1", "apiservices");
            let path = resource.map(|resource| resource.path("", service.name()));
            if let Some(info) = path.and_then(|path| self.status_request(&path)) {
                let body = wanted.to_string().into_bytes();
                // One that is refused is tried again at the next change.
                let _ = self.update(&info, &body, &mut Trace::default());
            }
        }
    }
}
