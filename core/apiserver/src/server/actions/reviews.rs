//! Reviews of the requester's identity and permissions, as a server without authorization answers
//! them (`pkg/registry/authorization`, `pkg/registry/authentication`,
//! `pkg/apis/authorization/validation`; `AlwaysAllow`).

use serde_json::{Value, json};

use crate::field::ErrorPath;
use crate::object::{GroupName, Metadata, text};
use crate::server::kinds::label_selector;
use crate::server::selector::Selector;
use crate::server::{ApiServer, RequestInfo, Trace, user, wire};
use crate::status::{FieldError, Refusal, Status};

/// `SelfSubjectReview`.
pub(super) fn who(
    server: &mut ApiServer,
    info: &RequestInfo,
    _: Value,
    _: &mut Trace,
) -> Result<Value, Refusal> {
    Ok(json!({
        "kind": "SelfSubjectReview",
        "apiVersion": info.resource.group_version.to_string(),
        "metadata": {"creationTimestamp": server.environment.now().to_string()},
        "status": {"userInfo": {"username": user::NAME, "uid": user::NAME, "groups": user::GROUPS}},
    }))
}

/// `SelfSubjectRulesReview`.
pub(super) fn rules(
    _: &mut ApiServer,
    info: &RequestInfo,
    review: Value,
    _: &mut Trace,
) -> Result<Value, Refusal> {
    if text(&review["spec"], "namespace").is_empty() {
        return Err(Status::bad_request("no namespace on request"));
    }
    Ok(json!({
        "kind": "SelfSubjectRulesReview",
        "apiVersion": info.resource.group_version.to_string(),
        "metadata": {}, "spec": {},
        "status": {
            "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
            "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
            "incomplete": false,
        },
    }))
}

/// `SubjectAccessReview`, and those of oneself and of one namespace.
pub(super) fn access(
    _: &mut ApiServer,
    info: &RequestInfo,
    mut review: Value,
    _: &mut Trace,
) -> Result<Value, Refusal> {
    let errors = errors(&review, &info.resource.kind);
    if !errors.is_empty() {
        let nameless = GroupName::new(&info.resource.group_version.group, "");
        return Err(Status::invalid(&nameless, "", &errors));
    }
    review["status"] = json!({"allowed": true});
    let problems = evaluation_errors(&review["spec"]["resourceAttributes"]);
    if !problems.is_empty() {
        review["status"]["evaluationError"] = problems.join("; ").into();
    }
    Ok(review)
}

fn errors(review: &Value, kind: &str) -> Vec<FieldError> {
    let spec = &review["spec"];
    let (resource, other) = (&spec["resourceAttributes"], &spec["nonResourceAttributes"]);
    let mut errors = Vec::new();
    let mut refuse = |field: &str, value: &Value, detail: &str| {
        errors.push(FieldError::invalid(field, value, detail));
    };
    if !resource.is_null() && !other.is_null() {
        let detail = "cannot be specified in combination with resourceAttributes";
        refuse("spec.nonResourceAttributes", other, detail);
    }
    if resource.is_null() && other.is_null() {
        let detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        refuse("spec.resourceAttributes", &Value::Null, detail);
    }
    let of_others = kind != "SelfSubjectAccessReview";
    let groups = spec["groups"].as_array().is_some_and(|it| !it.is_empty());
    if of_others && text(spec, "user").is_empty() && !groups {
        let detail = "at least one of user or group must be specified";
        refuse("spec.user", &"".into(), detail);
    }
    errors.extend(selectors(resource));
    let local = kind == "LocalSubjectAccessReview";
    errors.extend(metadata(review, local));
    if !local {
        return errors;
    }
    let namespace = text(resource, "namespace");
    let path = ErrorPath::new("spec");
    if !resource.is_null() && namespace != review.namespace() {
        let resource = path.child("resourceAttributes");
        let field = resource.child("namespace");
        let detail = "must match metadata.namespace";
        errors.push(FieldError::invalid(field, &namespace.into(), detail));
    }
    if !other.is_null() {
        let field = path.child("nonResourceAttributes");
        let detail = "disallowed on this kind of request";
        errors.push(FieldError::invalid(field, other, detail));
    }
    errors
}

/// A review has no metadata.
fn metadata(review: &Value, local: bool) -> Option<FieldError> {
    let mut others = review.metadata()?.iter();
    let counts = |name: &str| name != "managedFields" && !(local && name == "namespace");
    others.find(|(name, _)| counts(name))?;
    let detail = match local {
        true => "must be empty except for namespace",
        false => "must be empty",
    };
    let shown = wire::of_type("ObjectMeta", &review["metadata"]);
    Some(FieldError::invalid("metadata", &Value::Null, detail).shown_as(shown))
}

fn selectors(resource: &Value) -> Vec<FieldError> {
    let path = ErrorPath::new("spec.resourceAttributes");
    let mut errors = Vec::new();
    for name in ["fieldSelector", "labelSelector"] {
        let Some(selector) = resource.get(name) else {
            continue;
        };
        let path = path.child(name);
        let raw = text(selector, "rawSelector");
        let requirements = label_selector::list(selector, "requirements");
        if !raw.is_empty() && !requirements.is_empty() {
            let detail = "may not specified at the same time as requirements";
            errors.push(FieldError::invalid(
                path.child("rawSelector"),
                &raw.into(),
                detail,
            ));
        }
        if raw.is_empty() && requirements.is_empty() {
            let written = String::from(path);
            let detail =
                format!("when {written} is specified, requirements or rawSelector is required");
            errors.push(FieldError::required(path.child("requirements"), detail));
        }
        for (i, requirement) in requirements.iter().enumerate() {
            let item = path.item("requirements", i);
            if name == "labelSelector" {
                errors.extend(label_selector::requirement_errors(requirement, &item));
                continue;
            }
            // An operator may be one of a later release.
            if text(requirement, "key").is_empty() {
                errors.push(FieldError::required(item.child("key"), "must be specified"));
            }
            errors.extend(label_selector::values_error(requirement, &item));
        }
    }
    errors
}

/// The errors of selectors that the server cannot use: it answers as if they were not there
/// (`BuildEvaluationError`).
fn evaluation_errors(resource: &Value) -> Vec<String> {
    let names = ["fieldSelector", "labelSelector"].into_iter();
    let problem = |name| {
        let how = ignored(name, resource.get(name)?)?;
        let field = format!("spec.resourceAttributes.{name}");
        Some(format!("{field} {how} due to parse error"))
    };
    names.filter_map(problem).collect()
}

/// The words for a selector that the server passes over, wholly or in part (`labelSelectorAsSelector`,
/// `fieldSelectorAsSelector`).
fn ignored(name: &str, selector: &Value) -> Option<&'static str> {
    let raw = text(selector, "rawSelector");
    let (labels, fields) = match name {
        "labelSelector" => (raw, ""),
        _ => ("", raw),
    };
    if Selector::parse(labels, fields).is_err() {
        return Some("ignored");
    }
    let is_used = |requirement: &&Value| match (text(requirement, "operator"), name) {
        ("In" | "NotIn", "labelSelector") => true,
        ("In" | "NotIn", _) => label_selector::list(requirement, "values").len() == 1,
        ("Exists" | "DoesNotExist", name) => name == "labelSelector",
        _ => false,
    };
    let all = label_selector::list(selector, "requirements");
    match all.iter().filter(is_used).count() {
        used if used == all.len() => None,
        0 => Some("ignored"),
        _ => Some("partially ignored"),
    }
}
