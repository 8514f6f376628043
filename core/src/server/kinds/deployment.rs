//! Deployment (`pkg/registry/apps/deployment`, `pkg/apis/apps/validation`).

use serde_json::Value;

use super::Rules;
use super::metadata::IMMUTABLE;
use crate::object::text;
use crate::status::FieldError;

pub(super) const RULES: Rules = Rules {
    validate: deployment,
    ..Rules::NONE
};

fn deployment(object: &Value, live: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let spec = &object["spec"];
    if let Some(replicas) = spec["replicas"].as_i64()
        && replicas < 0
    {
        let detail = "must be greater than or equal to 0";
        errors.push(FieldError::invalid(
            "spec.replicas",
            &replicas.into(),
            detail,
        ));
    }
    match &spec["selector"] {
        Value::Null => errors.push(FieldError::required("spec.selector", "")),
        selector => {
            let labels = &spec["template"]["metadata"]["labels"];
            let matches = selector["matchLabels"]
                .as_object()
                .into_iter()
                .flatten()
                .all(|(key, value)| labels.get(key) == Some(value));
            if !matches {
                let detail = "`selector` does not match template `labels`";
                let field = "spec.template.metadata.labels";
                errors.push(FieldError::invalid(field, labels, detail));
            }
        }
    }
    let containers = spec["template"]["spec"]["containers"].as_array();
    match containers {
        Some(containers) if !containers.is_empty() => {
            for (i, container) in containers.iter().enumerate() {
                for field in ["name", "image"] {
                    if text(container, field).is_empty() {
                        let field = format!("spec.template.spec.containers[{i}].{field}");
                        errors.push(FieldError::required(field, ""));
                    }
                }
            }
        }
        _ => errors.push(FieldError::required("spec.template.spec.containers", "")),
    }
    if let Some(live) = live
        && live["spec"]["selector"] != spec["selector"]
    {
        errors.push(FieldError::invalid(
            "spec.selector",
            &spec["selector"],
            IMMUTABLE,
        ));
    }
    errors
}
