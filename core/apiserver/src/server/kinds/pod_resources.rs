//! Checks of the resources of a whole pod, and of its resource claims (`validatePodResources`,
//! `validatePodResourceClaims` and `validateResourceClaimNames` of
//! `pkg/apis/core/validation/validation.go`).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::label_selector::list;
use super::{internal, names, resources};
use crate::field::ErrorPath;
use crate::object::{JsonMap, text};
use crate::schema::{Quantity, pod_amounts};
use crate::status::{FieldError, Problem};

const OF_PODS: [&str; 2] = ["cpu", "memory"];

/// Checks the resources of a pod, and those of its containers against them.
pub(super) fn validate(spec: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let Some(of_pod) = spec.get("resources") else {
        return Vec::new();
    };
    let path = path.child("resources");
    if spec["os"]["name"] == "windows" {
        return vec![FieldError::forbidden(
            path,
            "may not be set for a windows pod",
        )];
    }
    let mut errors = Vec::new();
    if of_pod.get("claims").is_some() {
        let detail = "claims may not be set for Resources at pod-level";
        errors.push(FieldError::forbidden(path.child("claims"), detail));
    }
    errors.extend(resources::validate_names(of_pod, &path, of_pod_name));
    errors.extend(claims_of_container(
        list(of_pod, "claims"),
        &claim_names(spec),
        &path.child("claims"),
    ));
    errors.extend(of_containers(spec, of_pod, &path));
    errors
}

/// `validatePodResourceName`.
fn of_pod_name(name: &str, field: &ErrorPath<'_>) -> Vec<FieldError> {
    let reasons = resources::reasons_against_any(name);
    if reasons.is_empty() && !OF_PODS.contains(&name) && !name.starts_with("hugepages-") {
        return vec![FieldError::not_supported(
            field,
            &name.into(),
            &["cpu", "hugepages-", "memory"],
        )];
    }
    let reasons = reasons.into_iter();
    reasons
        .map(|why| FieldError::invalid(field, &name.into(), why))
        .collect()
}

/// `validatePodResourceConsistency`.
fn of_containers(spec: &Value, of_pod: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let parts = json!({"containers": spec["containers"], "initContainers": spec["initContainers"]});
    let sums = pod_amounts::requests_and_limits(&json!({"spec": parts}));
    for (which, what) in [("requests", "requests"), ("limits", "limits")] {
        let members = sums[which].as_object().into_iter();
        for (name, sum) in members.flat_map(JsonMap::iter) {
            let Some(whole) = of_pod[which].get(name) else {
                continue;
            };
            let counts = which == "requests" || name.starts_with("hugepages-");
            if counts && Quantity::from(sum) > Quantity::from(whole) {
                let shown = sum.as_str().unwrap_or_default();
                let detail = format!(
                    "must be greater than or equal to aggregate container {what} of {shown}"
                );
                let field = path.child(which);
                errors.push(FieldError::invalid(field.key(name), whole, detail));
            }
        }
    }
    for (i, container) in list(spec, "containers").iter().enumerate() {
        let limits = container["resources"]["limits"].as_object().into_iter();
        for (name, limit) in limits.flat_map(JsonMap::iter) {
            let Some(whole) = of_pod["limits"].get(name) else {
                continue;
            };
            if Quantity::from(limit) > Quantity::from(whole) {
                let shown = whole.as_str().unwrap_or_default();
                let detail = format!("must be less than or equal to pod limits of {shown}");
                let item = path.item("containers", i);
                let field = item.key(name);
                errors.push(FieldError::invalid(field.child("limits"), limit, detail));
            }
        }
    }
    errors
}

/// The names of the claims of a pod.
pub(super) fn claim_names(spec: &Value) -> BTreeSet<&str> {
    let names = list(spec, "resourceClaims")
        .iter()
        .map(|it| text(it, "name"));
    names.filter(|name| !name.is_empty()).collect()
}

/// Checks the claims of a pod; the pod is given if it is not a template.
pub(super) fn claims(spec: &Value, pod: Option<&Value>, path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    let mirrored = pod.is_some_and(|pod| {
        let annotations = &pod["metadata"]["annotations"];
        annotations.get("kubernetes.io/config.mirror").is_some()
    });
    for (i, claim) in list(spec, "resourceClaims").iter().enumerate() {
        if mirrored {
            let detail = "static pods do not support resource claims";
            errors.push(FieldError::forbidden("[]", detail));
            continue;
        }
        let path = path.index(i);
        let (field, name) = (path.child("name"), text(claim, "name"));
        if name.is_empty() {
            errors.push(FieldError::required(field, ""));
        } else if !seen.insert(name) {
            errors.push(FieldError::duplicate(field, &name.into()));
        } else {
            let reasons = names::label(name).into_iter();
            errors.extend(reasons.map(|why| FieldError::invalid(field, &name.into(), why)));
        }
        let sources = ["resourceClaimName", "resourceClaimTemplateName"];
        let given = sources.iter().filter(|it| claim.get(**it).is_some());
        let detail = match given.count() {
            0 => Some("must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"),
            1 => None,
            _ => Some(
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
            ),
        };
        if let Some(detail) = detail {
            let shown = internal::compact("PodResourceClaim", claim);
            errors.push(FieldError::invalid(path, claim, detail).shown_as(shown));
        }
        for source in sources {
            if let Some(name) = claim.get(source).and_then(Value::as_str) {
                let reasons = names::subdomain(name).into_iter();
                let field = path.child(source);
                errors.extend(reasons.map(|why| FieldError::invalid(field, &name.into(), why)));
            }
        }
    }
    errors
}

/// Checks the claims that a container uses: each is one of its pod.
pub(super) fn claims_of_container(
    claims: &[Value],
    of_pod: &BTreeSet<&str>,
    path: &ErrorPath<'_>,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for (i, claim) in claims.iter().enumerate() {
        let path = path.index(i);
        let (name, request) = (text(claim, "name"), text(claim, "request"));
        if name.is_empty() {
            errors.push(FieldError::required(path, ""));
            continue;
        }
        if seen.contains(name) {
            errors.push(FieldError::duplicate(path, &name.into()));
        } else {
            let key = if request.is_empty() {
                let part = format!("{name}/");
                let parts = seen.iter().filter(|key| key.starts_with(&part));
                errors.extend(parts.map(|_| FieldError::duplicate(path, &name.into())));
                name.to_owned()
            } else {
                let reasons = names::label(request).into_iter();
                let field = path.child("request");
                errors.extend(reasons.map(|why| FieldError::invalid(field, &request.into(), why)));
                format!("{name}/{request}")
            };
            if seen.contains(&key) {
                errors.push(FieldError::duplicate(path, &key.as_str().into()));
            }
            seen.insert(key);
        }
        if !of_pod.contains(name) {
            let names: Vec<&str> = of_pod.iter().copied().collect();
            let detail = match names.is_empty() {
                true => " which is empty".to_owned(),
                false => format!(": {}", names.join(", ")),
            };
            let detail = format!("must be one of the names in pod.spec.resourceClaims{detail}");
            let problem = Problem::NotFound;
            errors.push(FieldError::with_value(problem, path, &name.into(), detail));
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(errors: Vec<FieldError>) -> Vec<String> {
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_pod_has_room_for_its_containers() {
        let container = json!({"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "3"}}});
        let spec = json!({"containers": [container],
            "resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}});
        assert_eq!(
            texts(validate(&spec, &ErrorPath::new("spec"))),
            [
                "spec.resources.requests[cpu]: Invalid value: \"1\": must be greater than or equal \
                 to aggregate container requests of 2",
                "spec.resources.containers[0][cpu].limits: Invalid value: \"3\": must be less than \
                 or equal to pod limits of 2",
            ]
        );
        let odd = json!({"containers": [], "resources": {"limits": {"example.com/gpu": "1"}}});
        assert_eq!(
            texts(validate(&odd, &ErrorPath::new("spec"))),
            [
                "spec.resources.limits[example.com/gpu]: Unsupported value: \"example.com/gpu\": \
                 supported values: \"cpu\", \"hugepages-\", \"memory\""
            ]
        );
    }

    #[test]
    fn a_claim_of_a_container_is_one_of_its_pod() {
        let pod =
            json!({"resourceClaims": [{"name": "a", "resourceClaimName": "c"}, {"name": "a"}]});
        let said = texts(claims(&pod, None, &ErrorPath::new("r")));
        assert_eq!(said[0], "r[1].name: Duplicate value: \"a\"");
        assert!(
            said[1]
                .ends_with("must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
        );
        let names = claim_names(&pod);
        let of = |claims: Value| {
            let claims = claims.as_array().cloned().unwrap_or_default();
            texts(claims_of_container(&claims, &names, &ErrorPath::new("c")))
        };
        assert!(of(json!([{"name": "a", "request": "x"}])).is_empty());
        assert_eq!(
            of(json!([{"name": "a"}, {"name": "a"}, {"name": "b"}])),
            [
                "c[1]: Duplicate value: \"a\"",
                "c[2]: Not found: \"b\": must be one of the names in pod.spec.resourceClaims: a",
            ]
        );
    }
}
