//! What a HorizontalPodAutoscaler checks besides its rows in `kinds.checks`
//! (`pkg/apis/autoscaling/validation/validation.go`). Every version is checked as `v2`.

use serde_json::Value;

use super::autoscaling;
use super::checks::{Check, Checked};
use super::metadata::negative_text;
use super::{names, resources};
use crate::field::ErrorPath;
use crate::object::text;
use crate::schema::Quantity;
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, Check)] = &[
    ("autoscaler", autoscaler),
    ("replica_bounds", replica_bounds),
    ("scale_to_zero", scale_to_zero),
    ("api_version_with_group", api_version_with_group),
    ("metric_spec", metric_spec),
    ("not_negative", not_negative),
];

/// The checks of the spec, written in `v2`.
fn autoscaler(object: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let converted = autoscaling::convert(object.value.clone(), autoscaling::V2);
    let spec = ErrorPath::new("spec");
    let checked = Checked {
        value: &converted["spec"],
        stored: None,
        path: &spec,
        ..*object
    };
    checked.is_a("HorizontalPodAutoscalerSpec", errors);
}

/// At least one replica, and not less than the minimum.
fn replica_bounds(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let most = spec.value["maxReplicas"].as_i64().unwrap_or(0);
    let field = spec.path.child("maxReplicas");
    if most == 0 {
        errors.push(FieldError::required(
            field,
            "must be set and greater than 0",
        ));
    } else if most < 1 {
        let detail = "must be greater than or equal to 1";
        errors.push(FieldError::invalid(field, &most.into(), detail));
    }
    if spec.value["minReplicas"]
        .as_i64()
        .is_some_and(|least| most < least)
    {
        let detail = "must be greater than or equal to `minReplicas`";
        errors.push(FieldError::invalid(field, &most.into(), detail));
    }
}

/// Only what other objects say can bring back the first pod.
fn scale_to_zero(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let metrics = spec.value["metrics"].as_array().into_iter().flatten();
    let of_others = |metric: &Value| matches!(text(metric, "type"), "Object" | "External");
    if spec.value["minReplicas"] == 0 && !metrics.into_iter().any(of_others) {
        let detail = "must specify at least one Object or External metric to support scaling to zero replicas";
        errors.push(FieldError::forbidden(spec.path.child("metrics"), detail));
    }
}

fn api_version_with_group(version: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let written = version.value.as_str().unwrap_or_default();
    if written.matches('/').count() > 1 {
        let detail = format!("unexpected GroupVersion string: {written}");
        errors.push(FieldError::invalid(version.path, &written.into(), detail));
    } else if !written.contains('/') {
        let detail = "apiVersion must specify API group";
        errors.push(FieldError::invalid(version.path, &written.into(), detail));
    }
}

/// The types of metrics, in the order in which upstream looks at them, and the field of each.
const METRICS: [(&str, &str); 5] = [
    ("Object", "object"),
    ("External", "external"),
    ("Pods", "pods"),
    ("Resource", "resource"),
    ("ContainerResource", "containerResource"),
];

/// A metric has the source of its type and no other (`validateMetricSpec`).
fn metric_spec(metric: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let kind = text(metric.value, "type");
    let has = |field: &str| metric.value.get(field).is_some();
    if let Some((_, field)) = METRICS.iter().find(|(_, field)| has(field)) {
        metric.child(field, |source| metric_source(source, errors));
    }
    let Some((_, expected)) = METRICS.iter().find(|(name, _)| *name == kind) else {
        let mut supported = METRICS.map(|(name, _)| name);
        supported.sort_unstable();
        let field = metric.path.child("type");
        if kind.is_empty() {
            errors.push(FieldError::required(
                field,
                "must specify a metric source type",
            ));
        }
        // Upstream says it twice: of the type, and where it looks for the source of that type.
        let error = FieldError::not_supported(field, &kind.into(), &supported);
        errors.extend([error.clone(), error]);
        return;
    };
    if !has(expected) {
        let detail = "must populate information for the given metric source";
        errors.push(FieldError::required(metric.path.child(expected), detail));
    }
    for (_, field) in METRICS
        .iter()
        .filter(|(_, field)| field != expected && has(field))
    {
        let detail = "must populate the given metric source only";
        errors.push(FieldError::forbidden(metric.path.child(field), detail));
    }
}

/// The source of a metric, told by what it has: the resource of a pod or container, or a named
/// metric.
fn metric_source(source: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let path = source.path.to_string();
    let kind = path.rsplit('.').next().unwrap_or_default();
    let of_resource = matches!(kind, "resource" | "containerResource");
    if of_resource {
        for (field, what) in [("name", "resource name"), ("container", "container")] {
            let needed = field == "name" || kind == "containerResource";
            let (path, name) = (source.path.child(field), text(source.value, field));
            if needed && name.is_empty() {
                let article = format!("must specify a {what}");
                errors.push(FieldError::required(path, article));
            } else if kind == "containerResource" {
                let reasons = match field {
                    "name" => resources::reasons_against(name),
                    _ => names::label(name),
                };
                let reasons = reasons.into_iter();
                errors.extend(reasons.map(|why| FieldError::invalid(path, &name.into(), why)));
            }
        }
    } else {
        source.is_a("MetricSource", errors);
    }
    source.child("target", |target| {
        metric_target(target, errors);
        let has = |field: &str| target.value.get(field).is_some();
        let field = |name| target.path.child(name);
        let value = if of_resource {
            "averageUtilization"
        } else {
            "value"
        };
        match (kind, has(value), has("averageValue")) {
            ("pods", _, false) => {
                let detail = "must specify a positive target averageValue";
                errors.push(FieldError::required(field("averageValue"), detail));
            }
            ("resource" | "containerResource", false, false) => {
                let detail = "must set either a target raw value or a target utilization";
                errors.push(FieldError::required(field("averageUtilization"), detail));
            }
            ("resource" | "containerResource", true, true) => {
                let detail = "may not set both a target raw value and a target utilization";
                errors.push(FieldError::forbidden(field("averageValue"), detail));
            }
            ("object" | "external", false, false) => {
                let detail = "must set either a target value for metric or a per-pod target";
                errors.push(FieldError::required(field("averageValue"), detail));
            }
            ("external", true, true) => {
                let detail = "may not set both a target value for metric and a per-pod target";
                errors.push(FieldError::forbidden(field("value"), detail));
            }
            _ => {}
        }
    });
}

/// `validateMetricTarget`.
fn metric_target(target: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let kind = text(target.value, "type");
    let field = target.path.child("type");
    match kind {
        "" => errors.push(FieldError::required(
            field,
            "must specify a metric target type",
        )),
        "Utilization" | "Value" | "AverageValue" => {}
        other => {
            let detail = "must be either Utilization, Value, or AverageValue";
            errors.push(FieldError::invalid(field, &other.into(), detail));
        }
    }
    for name in ["value", "averageValue"] {
        target.child(name, |amount| positive(amount, errors));
    }
    if let Some(share) = target.value["averageUtilization"]
        .as_i64()
        .filter(|n| *n < 1)
    {
        let field = target.path.child("averageUtilization");
        errors.push(FieldError::invalid(
            field,
            &share.into(),
            "must be greater than 0",
        ));
    }
}

/// A quantity above zero.
fn positive(amount: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let zero = Quantity::from(&Value::from("0"));
    if !amount.value.is_null() && Quantity::from(amount.value) <= zero {
        errors.push(FieldError::invalid(
            amount.path,
            amount.value,
            "must be positive",
        ));
    }
}

/// A quantity that is not below zero (`ValidateNonnegativeQuantity`).
fn not_negative(amount: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if Quantity::from(amount.value) < Quantity::from(&Value::from("0")) {
        errors.push(negative_text(amount.path, amount.value));
    }
}
