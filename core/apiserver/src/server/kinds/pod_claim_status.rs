//! The checks of the resource claims and of the devices of containers in the status of a pod
//! (`validatePodResourceClaimStatuses`, `validatePodExtendedResourceClaimStatus` and
//! `validateContainerStatusAllocatedResourcesStatus` of `pkg/apis/core/validation`).

use serde_json::Value;

use super::label_selector::list;
use super::names;
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::FieldError;

const STATUS: ErrorPath<'static> = ErrorPath::new("status");
/// The longest message about a device, in bytes (`ResourceHealthMessageMaxLength`).
const MAX_MESSAGE: usize = 1024;

/// The claims of a pod.
pub(super) fn claims(pod: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut seen = Vec::new();
    let statuses = list(&pod["status"], "resourceClaimStatuses");
    for (i, status) in statuses.iter().enumerate() {
        let item = STATUS.item("resourceClaimStatuses", i);
        let (field, name) = (item.child("name"), text(status, "name"));
        let mut claims = list(&pod["spec"], "resourceClaims").iter();
        if !claims.any(|claim| text(claim, "name") == name) {
            let detail = "must match the name of an entry in `spec.resourceClaims`";
            errors.push(FieldError::invalid(field, &name.into(), detail));
        }
        if seen.contains(&name) {
            errors.push(FieldError::duplicate(field, &name.into()));
        }
        seen.push(name);
        if let Some(claim) = status.get("resourceClaimName") {
            errors.extend(name_of_claim(claim, item.child("resourceClaimName")));
        }
    }
    errors.extend(extended(pod));
    errors
}

fn name_of_claim(claim: &Value, field: ErrorPath<'_>) -> Vec<FieldError> {
    let reasons = names::subdomain(claim.as_str().unwrap_or_default()).into_iter();
    reasons
        .map(|why| FieldError::invalid(field, claim, why))
        .collect()
}

/// The claim that was made for extended resources.
fn extended(pod: &Value) -> Vec<FieldError> {
    let Some(status) = pod["status"].get("extendedResourceClaimStatus") else {
        return Vec::new();
    };
    let path = STATUS.child("extendedResourceClaimStatus");
    let mut errors = Vec::new();
    let mappings = list(status, "requestMappings");
    if mappings.is_empty() {
        let detail = "at least one request mapping is required";
        errors.push(FieldError::required(path.child("requestMappings"), detail));
    }
    let mut seen = Vec::new();
    for (i, mapping) in mappings.iter().enumerate() {
        let item = path.item("requestMappings", i);
        let parts = ["containerName", "resourceName", "requestName"];
        let [container, resource, request] = parts.map(|part| text(mapping, part));
        let has_name = |it: &&Value| text(it, "name") == container;
        let spec = &pod["spec"];
        let found = list(spec, "containers").iter().rfind(has_name);
        let found = found.or_else(|| list(spec, "initContainers").iter().rfind(has_name));
        let mut refuse = |part: &str, value: &str, detail: &str| {
            errors.push(FieldError::invalid(item.child(part), &value.into(), detail));
        };
        match found {
            None => refuse(
                "containerName",
                container,
                "must match the name of an entry in spec.initContainers.name or \
                 spec.containers.name",
            ),
            Some(found) if found["resources"]["requests"].get(resource).is_none() => refuse(
                "resourceName",
                resource,
                "must match the extended resource name of an entry in \
                 spec.initContainers.resources.requests or spec.containers.resources.requests",
            ),
            Some(_) => {}
        }
        // The path is upstream's.
        let field = path.child("requestName");
        let reasons = names::label(request).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field, &request.into(), why)));
        let key = [container, resource, request];
        if seen.contains(&key) {
            let twice = parts.into_iter().zip(key);
            errors.extend(
                twice.map(|(part, value)| FieldError::duplicate(item.child(part), &value.into())),
            );
        }
        seen.push(key);
    }
    let field = path.child("resourceClaimName");
    match &status["resourceClaimName"] {
        Value::String(name) if !name.is_empty() => {
            errors.extend(name_of_claim(&status["resourceClaimName"], field));
        }
        _ => errors.push(FieldError::required(field, "")),
    }
    errors
}

/// The devices of containers, which those of debugging do not have.
pub(super) fn devices(pod: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (kind, containers) in [
        ("containerStatuses", "containers"),
        ("initContainerStatuses", "initContainers"),
    ] {
        for (i, status) in list(&pod["status"], kind).iter().enumerate() {
            let mut all = list(&pod["spec"], containers).iter();
            let container = all.find(|it| text(it, "name") == text(status, "name"));
            for (j, allocated) in list(status, "allocatedResourcesStatus").iter().enumerate() {
                let owner = STATUS.item(kind, i);
                let item = owner.item("allocatedResourcesStatus", j);
                errors.extend(container.and_then(|it| not_requested(allocated, it, &item)));
                errors.extend(health(allocated, &item));
            }
        }
    }
    let debugging = list(&pod["status"], "ephemeralContainerStatuses");
    for (i, status) in debugging.iter().enumerate() {
        if !list(status, "allocatedResourcesStatus").is_empty() {
            let item = STATUS.item("ephemeralContainerStatuses", i);
            let field = item.child("allocatedResourcesStatus");
            let detail = "must not be specified in container status";
            errors.push(FieldError::forbidden(field, detail));
        }
    }
    errors
}

/// Returns the error for a resource that the container did not ask for.
fn not_requested(allocated: &Value, container: &Value, item: &ErrorPath<'_>) -> Option<FieldError> {
    let name = text(allocated, "name");
    let resources = &container["resources"];
    let (found, detail) = match name.strip_prefix("claim:") {
        Some(wanted) => (
            list(resources, "claims").iter().any(|claim| {
                let (name, request) = (text(claim, "name"), text(claim, "request"));
                match request {
                    "" => wanted == name,
                    request => wanted.split_once('/') == Some((name, request)),
                }
            }),
            "must match one of the container's resource claims in a format \
             'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty",
        ),
        None => (
            resources["requests"].get(name).is_some(),
            "must match one of the container's resource requests",
        ),
    };
    let field = item.child("name");
    (!found).then(|| FieldError::invalid(field, &name.into(), detail))
}

fn health(allocated: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut seen = Vec::new();
    for (i, device) in list(allocated, "resources").iter().enumerate() {
        let item = path.item("resources", i);
        let known = ["Healthy", "Unhealthy", "Unknown"];
        let health = text(device, "health");
        if !known.contains(&health) {
            let field = item.child("health");
            errors.push(FieldError::not_supported(field, &health.into(), &known));
        }
        let field = item.child("message");
        match device.get("message").and_then(Value::as_str) {
            Some("") => {
                let detail = "must be non-empty if specified";
                errors.push(FieldError::required(field, detail));
            }
            Some(message) if message.len() > MAX_MESSAGE => {
                errors.push(FieldError::too_long(field, MAX_MESSAGE));
            }
            _ => {}
        }
        let id = text(device, "resourceID");
        if seen.contains(&id) {
            errors.push(FieldError::duplicate(item.child("resourceID"), &id.into()));
        }
        seen.push(id);
    }
    errors
}
