//! Event of the core group (`pkg/registry/core/event`, `pkg/apis/core/validation/events.go`).

use serde_json::Value;

use super::{Collection, Rules, names};
use crate::object::{Metadata, text};
use crate::status::FieldError;

pub(super) const RULES: Rules = Rules {
    validate: |event, _| validate(event),
    fields: &[
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ],
    collection: Collection::None,
    ..Rules::NONE
};

fn validate(event: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let namespace = event.namespace();
    let involved = text(&event["involvedObject"], "namespace");
    let modern = event.get("eventTime").is_some_and(|time| !time.is_null());
    let matches = match (involved, modern) {
        ("", false) => matches!(namespace, "" | "default"),
        ("", true) => matches!(namespace, "default" | "kube-system"),
        (involved, false) => involved == namespace,
        (_, true) => true,
    };
    if !matches {
        let detail = "does not match event.namespace";
        let field = "involvedObject.namespace";
        errors.push(FieldError::invalid(field, &involved.into(), detail));
    }
    if modern {
        let component = text(event, "reportingComponent");
        if component.is_empty() {
            errors.push(FieldError::required("reportingComponent", ""));
        }
        let field = "reportingComponent";
        let reasons = names::qualified(component).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field, &component.into(), why)));
        for field in ["reportingInstance", "action", "reason"] {
            match text(event, field).len() {
                0 => errors.push(FieldError::required(field, "")),
                1..=128 => {}
                _ => errors.push(too_long(field, 128)),
            }
        }
        if text(event, "message").len() > 1024 {
            errors.push(too_long("message", 1024));
        }
    }
    let reasons = names::subdomain(namespace).into_iter();
    errors.extend(reasons.map(|why| FieldError::invalid("namespace", &namespace.into(), why)));
    errors
}

fn too_long(field: &str, most: usize) -> FieldError {
    let detail = format!("can have at most {most} characters");
    FieldError::invalid(field, &"".into(), detail)
}
