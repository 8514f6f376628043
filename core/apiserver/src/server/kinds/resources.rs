//! Checks of the requests and limits of a container (`ValidateContainerResourceRequirements` of
//! `pkg/apis/core/validation`).

use serde_json::Value;

use super::metadata::negative_text;
use super::names;
use crate::field::ErrorPath;
use crate::object::JsonMap;
use crate::schema::Quantity;
use crate::status::FieldError;

/// Resources without a domain that a container can have.
const HUGE_PAGES: &str = "hugepages-";
/// Their second name in quotas (`IsQuotaHugePageResourceName`).
const HUGE_PAGES_OF_QUOTAS: &str = "requests.hugepages-";
const OF_CONTAINERS: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
/// Resources without a domain that quotas and nodes know besides.
const STANDARD: [&str; 17] = [
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "storage",
    "requests.storage",
    "services.nodeports",
    "services.loadbalancers",
];

/// Resources that are numbers of objects.
const OBJECTS: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

/// Checks limits, then requests against them.
pub(super) fn validate(resources: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    validate_names(resources, path, |name, field| {
        let reasons = reasons_against(name).into_iter();
        reasons
            .map(|why| FieldError::invalid(field, &name.into(), why))
            .collect()
    })
}

/// Checks requests and limits, and their names by a rule (`validateResourceRequirements`).
pub(super) fn validate_names(
    resources: &Value,
    path: &ErrorPath<'_>,
    against: fn(&str, &ErrorPath<'_>) -> Vec<FieldError>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let amount = |name: &str, value: &Value, field: &ErrorPath<'_>| {
        let mut errors = against(name, field);
        errors.extend(whole_amount(name, value, field));
        errors
    };
    let limits = resources.get("limits").and_then(Value::as_object);
    for (name, value) in limits.into_iter().flat_map(JsonMap::iter) {
        let field = path.child("limits");
        errors.extend(amount(name, value, &field.key(name)));
        errors.extend(pages(name, value, &field.key(name)));
    }
    let requests = resources.get("requests").and_then(Value::as_object);
    for (name, value) in requests.into_iter().flat_map(JsonMap::iter) {
        errors.extend(amount(name, value, &path.child("requests").key(name)));
        let overcommit = may_overcommit(name);
        let Some(limit) = limits.and_then(|limits| limits.get(name)) else {
            if !overcommit {
                let detail = "Limit must be set for non overcommitable resources";
                errors.push(FieldError::required(path.child("limits"), detail));
            }
            errors.extend(pages(name, value, &path.child("requests").key(name)));
            continue;
        };
        let (asked, most) = (Quantity::from(value), Quantity::from(limit));
        let rule = if asked != most && !overcommit {
            Some("equal to")
        } else if asked > most {
            Some("less than or equal to")
        } else {
            None
        };
        if let Some(rule) = rule {
            let shown = limit.as_str().unwrap_or_default();
            let detail = format!("must be {rule} {name} limit of {shown}");
            errors.push(FieldError::invalid(path.child("requests"), value, detail));
        }
        errors.extend(pages(name, value, &path.child("requests").key(name)));
    }
    let has = |wanted: fn(&str) -> bool| {
        let mut all = limits.into_iter().chain(requests).flat_map(JsonMap::iter);
        all.any(|(name, _)| wanted(name))
    };
    if has(is_huge_pages) && !has(|name| matches!(name, "cpu" | "memory")) {
        errors.push(FieldError::forbidden(
            path,
            "HugePages require cpu or memory",
        ));
    }
    errors
}

fn is_huge_pages(name: &str) -> bool {
    name.starts_with(HUGE_PAGES)
}

/// Huge pages come whole (`IsHugePageResourceValueDivisible` of `pkg/apis/core/helper`).
fn pages(name: &str, value: &Value, field: &ErrorPath<'_>) -> Option<FieldError> {
    let size = name.strip_prefix(HUGE_PAGES)?;
    let size = Quantity::parse(size).ok().and_then(Quantity::whole);
    let fits = size.is_some_and(|size| size > 0 && Quantity::from(value).rounded_up() % size == 0);
    (!fits).then(|| {
        let shown = value.as_str().unwrap_or_default();
        let detail = format!("{shown} is not positive integer multiple of {name}");
        FieldError::invalid(field, value, detail)
    })
}

/// An amount that is not below zero, and without a fraction where things are counted
/// (`ValidateResourceQuantityValue`).
pub(super) fn whole_amount(name: &str, value: &Value, field: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let quantity = Quantity::from(value);
    if quantity.is_negative() {
        errors.push(negative_text(field, value));
    }
    if (is_extended(name) || OBJECTS.contains(&name))
        && !quantity.rounded_to_thousandths().is_whole()
    {
        errors.push(FieldError::invalid(field, value, "must be an integer"));
    }
    errors
}

/// Returns whether more of a resource can be promised than there is (`IsOvercommitAllowed`).
pub(super) fn may_overcommit(name: &str) -> bool {
    is_native(name) && !is_huge_pages(name)
}

/// Returns whether a name is one of a resource that Kubernetes does not know (`IsExtendedResourceName`).
pub(super) fn is_extended(name: &str) -> bool {
    !is_native(name)
        && !name.starts_with("requests.")
        && names::qualified(&format!("requests.{name}")).is_empty()
}

/// `validateResourceName`.
pub(super) fn reasons_against_any(name: &str) -> Vec<String> {
    let mut reasons = names::qualified(name);
    if reasons.is_empty()
        && !name.contains('/')
        && !is_of_containers(name)
        && !STANDARD.contains(&name)
        && !name.starts_with(HUGE_PAGES_OF_QUOTAS)
    {
        reasons.push("must be a standard resource type or fully qualified".to_owned());
    }
    reasons
}

fn is_of_containers(name: &str) -> bool {
    OF_CONTAINERS.contains(&name) || is_huge_pages(name)
}

/// `validateContainerResourceName`.
pub(super) fn reasons_against(name: &str) -> Vec<String> {
    let mut reasons = reasons_against_any(name);
    if name.contains('/') {
        if !is_native(name) && !is_extended(name) {
            reasons.push("doesn't follow extended resource name standard".to_owned());
        }
        return reasons;
    }
    if !is_of_containers(name) {
        reasons.push("must be a standard resource for containers".to_owned());
    }
    reasons
}

/// Returns whether Kubernetes itself defines a resource.
pub(super) fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn texts(resources: &Value) -> Vec<String> {
        let errors = validate(resources, &ErrorPath::new("r"));
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn no_request_exceeds_the_limit() {
        let resources = json!({"limits": {"memory": "1Gi"}, "requests": {"memory": "2Gi"}});
        assert_eq!(
            texts(&resources),
            [
                "r.requests: Invalid value: \"2Gi\": must be less than or equal to memory limit of 1Gi"
            ]
        );
        let resources = json!({"limits": {"cpu": "1"}, "requests": {"cpu": "500m"}});
        assert!(texts(&resources).is_empty());
    }

    #[test]
    fn extended_resources_are_whole_and_need_a_limit() {
        let resources = json!({"requests": {"example.com/gpu": "500m"}});
        assert_eq!(
            texts(&resources),
            [
                "r.requests[example.com/gpu]: Invalid value: \"500m\": must be an integer",
                "r.limits: Required value: Limit must be set for non overcommitable resources",
            ]
        );
        assert_eq!(texts(&json!({"limits": {"gpu": "1"}})).len(), 2);
    }
}
