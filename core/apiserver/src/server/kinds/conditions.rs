//! Conditions in a status (`ValidateConditions` of
//! `k8s.io/apimachinery/pkg/apis/meta/v1/validation`).

use serde_json::Value;

use super::names;
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::FieldError;

/// The most bytes of a reason, and of a message.
const MAX_REASON: usize = 1024;
const MAX_MESSAGE: usize = 32 * 1024;

/// Checks conditions, of which each type stands once.
pub(super) fn validate(conditions: &[Value], path: &ErrorPath<'_>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (i, condition) in conditions.iter().enumerate() {
        let path = path.index(i);
        let kind = text(condition, "type");
        if conditions[..i]
            .iter()
            .any(|other| text(other, "type") == kind)
        {
            errors.push(FieldError::duplicate(path.child("type"), &kind.into()));
        }
        errors.extend(validate_one(condition, &path));
    }
    errors
}

fn validate_one(condition: &Value, path: &ErrorPath<'_>) -> Vec<FieldError> {
    const STATUSES: [&str; 3] = ["False", "True", "Unknown"];
    let mut errors = Vec::new();
    let mut refuse = |name: &'static str, why: String| {
        let value = text(condition, name).into();
        errors.push(FieldError::invalid(path.child(name), &value, why));
    };
    for why in names::qualified(text(condition, "type")) {
        refuse("type", why);
    }
    let status = text(condition, "status");
    if !STATUSES.contains(&status) {
        let field = path.child("status");
        errors.push(FieldError::not_supported(field, &status.into(), &STATUSES));
    }
    if let Some(generation) = condition["observedGeneration"].as_i64().filter(|n| *n < 0) {
        let field = path.child("observedGeneration");
        let detail = "must be greater than or equal to zero";
        errors.push(FieldError::invalid(field, &generation.into(), detail));
    }
    if condition["lastTransitionTime"].is_null() {
        errors.push(FieldError::required(path.child("lastTransitionTime"), ""));
    }
    let reason = text(condition, "reason");
    let field = path.child("reason");
    if reason.is_empty() {
        errors.push(FieldError::required(field, ""));
    } else {
        let reasons = names::condition_reason(reason).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field, &reason.into(), why)));
        if reason.len() > MAX_REASON {
            errors.push(FieldError::too_long(field, MAX_REASON));
        }
    }
    if text(condition, "message").len() > MAX_MESSAGE {
        errors.push(FieldError::too_long(path.child("message"), MAX_MESSAGE));
    }
    errors
}
