//! Checks of roles and their bindings besides their rows in `kinds.checks`
//! (`pkg/apis/rbac/validation/validation.go`).

use serde_json::Value;

use super::checks::{Checked, FieldCheck};
use super::label_selector::{self, list};
use super::names;
use crate::object::text;
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("policy_rule", policy_rule),
    ("role_selector", role_selector),
    ("subject", subject),
    ("same_role", same_role),
];

const GROUP: &str = "rbac.authorization.k8s.io";

/// `ValidatePolicyRule`: a rule is about resources or about URLs.
fn policy_rule(rule: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let urls = &rule.value["nonResourceURLs"];
    let has = |field: &str| !list(rule.value, field).is_empty();
    if !has("verbs") {
        let detail = "verbs must contain at least one value";
        errors.push(FieldError::required(rule.path.child("verbs"), detail));
    }
    if has("nonResourceURLs") {
        let field = rule.path.child("nonResourceURLs");
        if text(rule.object, "kind") == "Role" {
            let detail = "namespaced rules cannot apply to non-resource URLs";
            errors.push(FieldError::invalid(field, urls, detail));
        }
        if has("apiGroups") || has("resources") || has("resourceNames") {
            let detail = "rules cannot apply to both regular resources and non-resource URLs";
            errors.push(FieldError::invalid(field, urls, detail));
        }
        return;
    }
    for (field, what) in [("apiGroups", "api group"), ("resources", "resource")] {
        if !has(field) {
            let detail = format!("resource rules must supply at least one {what}");
            errors.push(FieldError::required(rule.path.child(field), detail));
        }
    }
}

/// A selector of roles to aggregate.
fn role_selector(selector: &Checked<'_>, errors: &mut Vec<FieldError>) {
    errors.extend(label_selector::validate(selector.value, selector.path));
    if !label_selector::is_sound(selector.value) {
        let detail = "invalid label selector.";
        errors.push(FieldError::invalid(selector.path, &Value::Null, detail));
    }
}

/// `ValidateRoleBindingSubject`.
fn subject(subject: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let field = |name: &str| {
        subject
            .value
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or("")
    };
    let (name, group) = (field("name"), field("apiGroup"));
    let name_path = subject.path.child("name");
    if name.is_empty() {
        errors.push(FieldError::required(name_path, ""));
    }
    let group_is = |supported: &str| {
        let path = subject.path.child("apiGroup");
        let error = FieldError::not_supported(path, &group.into(), &[supported]);
        (group != supported).then_some(error)
    };
    match field("kind") {
        "User" | "Group" => errors.extend(group_is(GROUP)),
        "ServiceAccount" => {
            if !name.is_empty() {
                let reasons = names::subdomain(name).into_iter();
                errors.extend(reasons.map(|why| FieldError::invalid(name_path, &name.into(), why)));
            }
            errors.extend(group_is(""));
            let in_namespace = text(subject.object, "kind") == "RoleBinding";
            if !in_namespace && field("namespace").is_empty() {
                errors.push(FieldError::required(subject.path.child("namespace"), ""));
            }
        }
        kind => {
            let supported = ["ServiceAccount", "User", "Group"];
            let path = subject.path.child("kind");
            errors.push(FieldError::not_supported(path, &kind.into(), &supported));
        }
    }
}

/// A binding stays with its role. The message shows the fields of the Go struct.
fn same_role(role: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if role.before().is_some_and(|before| before != role.value) {
        let field = |name: &str| Value::from(text(role.value, name));
        let shown = format!(
            "{{\"APIGroup\":{},\"Kind\":{},\"Name\":{}}}",
            field("apiGroup"),
            field("kind"),
            field("name")
        );
        let error = FieldError::invalid(role.path, role.value, "cannot change roleRef");
        errors.push(error.shown_as(shown));
    }
}
