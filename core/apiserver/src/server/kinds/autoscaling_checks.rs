//! Checks of a HorizontalPodAutoscaler besides its rows in `kinds.checks`
//! (`pkg/apis/autoscaling/validation/validation.go`). Every version is checked as `v2`.

use serde_json::Value;

use super::autoscaling;
use super::checks::{Checked, FieldCheck};
use super::metadata::negative_text;
use super::{names, resources};
use crate::field::ErrorPath;
use crate::object::text;
use crate::schema::Quantity;
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("autoscaler", autoscaler),
    ("replica_bounds", replica_bounds),
    ("scale_to_zero", scale_to_zero),
    ("api_version_with_group", api_version_with_group),
    ("described_version", described_version),
    ("metric_spec", metric_spec),
    ("not_negative", not_negative),
    ("not_below_zero", not_below_zero),
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

/// At least one replica, and not less than the minimum. A minimum of zero may stay where it is.
fn replica_bounds(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let had_none = (spec.live).is_some_and(|live| live["spec"]["minReplicas"] == 0);
    let bound = i64::from(!had_none);
    let least = spec.value["minReplicas"].as_i64();
    if let Some(least) = least.filter(|least| *least < bound) {
        let detail = format!("must be greater than or equal to {bound}");
        let field = spec.path.child("minReplicas");
        errors.push(FieldError::invalid(field, &least.into(), detail));
    }
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

/// Checks scaling to zero: only a metric of other objects can bring back the first pod.
fn scale_to_zero(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let metrics = spec.value["metrics"].as_array().into_iter().flatten();
    let of_others = |metric: &Value| matches!(text(metric, "type"), "Object" | "External");
    if spec.value["minReplicas"] == 0 && !metrics.into_iter().any(of_others) {
        let detail = "must specify at least one Object or External metric to support scaling to zero replicas";
        errors.push(FieldError::forbidden(spec.path.child("metrics"), detail));
    }
}

/// Returns the reason why a version of an API is none, or has no group although it needs one
/// (`ValidateAPIVersion`).
fn reason_against_version(version: &str, group_needed: bool) -> Option<String> {
    match version.matches('/').count() {
        0 | 1 => {
            let has_group = version.find('/').is_some_and(|at| at > 0);
            (group_needed && !has_group).then(|| "apiVersion must specify API group".to_string())
        }
        _ => Some(format!("unexpected GroupVersion string: {version}")),
    }
}

/// Checks the API version of the scaled object. Only a ReplicationController has no group, and a
/// value that was wrong before may stay so.
fn api_version_with_group(version: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let group_needed = version.object["spec"]["scaleTargetRef"]["kind"] != "ReplicationController";
    let reason = |version: &str| reason_against_version(version, group_needed);
    let stored = |live: &Value| reason(text(&live["spec"]["scaleTargetRef"], "apiVersion"));
    let written = version.value.as_str().unwrap_or_default();
    if let Some(why) = reason(written).filter(|_| version.live.and_then(stored).is_none()) {
        errors.push(FieldError::invalid(version.path, &written.into(), why));
    }
}

/// Checks the API version of the object that a metric describes, which needs no group.
fn described_version(version: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let reason = |version: &str| reason_against_version(version, false);
    let written = version.value.as_str().unwrap_or_default();
    let Some(why) = reason(written) else {
        return;
    };
    let wrong_before = version.live.is_some_and(|live| {
        let live = autoscaling::convert(live.clone(), autoscaling::V2);
        let metrics = live["spec"]["metrics"].as_array().into_iter().flatten();
        let described = |metric: &Value| {
            let object = &metric["object"]["describedObject"];
            reason(text(object, "apiVersion")).is_some()
        };
        metrics.into_iter().any(described)
    });
    if !wrong_before {
        errors.push(FieldError::invalid(version.path, &written.into(), why));
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
    let expected = METRICS.iter().find(|(name, _)| *name == kind);
    let of_type = metric.path.child("type");
    let not_supported = || {
        let mut supported = METRICS.map(|(name, _)| name);
        supported.sort_unstable();
        FieldError::not_supported(of_type, &kind.into(), &supported)
    };
    if kind.is_empty() {
        let detail = "must specify a metric source type";
        errors.push(FieldError::required(of_type, detail));
    }
    if expected.is_none() {
        errors.push(not_supported());
    }
    let fields = METRICS.iter().map(|(_, field)| *field);
    let present = fields.filter(|field| metric.value.get(field).is_some());
    let present: Vec<&str> = present.collect();
    if let Some(field) = present.first() {
        metric.child(field, |source| metric_source(source, errors));
    }
    match expected {
        // Upstream says it a second time, where it looks for the source of the type.
        None => errors.push(not_supported()),
        Some((_, field)) if !present.contains(field) => {
            let detail = "must populate information for the given metric source";
            errors.push(FieldError::required(metric.path.child(field), detail));
        }
        Some(_) => {}
    }
    if present.len() > 1 {
        let expected = expected.map(|(_, field)| *field);
        for field in present.iter().filter(|field| Some(**field) != expected) {
            let detail = "must populate the given metric source only";
            errors.push(FieldError::forbidden(metric.path.child(field), detail));
        }
    }
}

/// Checks the source of a metric, known by its fields: the resource of a pod or container, or a
/// named metric.
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
        if kind == "object" {
            source.child("describedObject", |it| it.is_a("DescribedObject", errors));
        }
        source.is_a("MetricSource", errors);
    }
    source.child("target", |target| {
        metric_target(target, errors);
        target_values(target, kind, errors);
    });
}

/// Checks that the target of a metric of a kind has the values that its kind needs.
fn target_values(target: &Checked<'_>, kind: &str, errors: &mut Vec<FieldError>) {
    let has = |field: &str| target.value.get(field).is_some();
    let field = |name| target.path.child(name);
    let value = match kind {
        "resource" | "containerResource" => "averageUtilization",
        _ => "value",
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
        ("object", false, false) => {
            let detail = "must set either a target value or averageValue";
            errors.push(FieldError::required(field("averageValue"), detail));
        }
        ("external", false, false) => {
            let detail = "must set either a target value for metric or a per-pod target";
            errors.push(FieldError::required(field("averageValue"), detail));
        }
        ("external", true, true) => {
            let detail = "may not set both a target value for metric and a per-pod target";
            errors.push(FieldError::forbidden(field("value"), detail));
        }
        _ => {}
    }
}

/// `validateMetricTarget`.
fn metric_target(target: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let kind = text(target.value, "type");
    let field = target.path.child("type");
    if kind.is_empty() {
        let detail = "must specify a metric target type";
        errors.push(FieldError::required(field, detail));
    }
    if !matches!(kind, "Utilization" | "Value" | "AverageValue") {
        let detail = "must be either Utilization, Value, or AverageValue";
        errors.push(FieldError::invalid(field, &kind.into(), detail));
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

/// A number that is not below zero, in the words of an autoscaler.
fn not_below_zero(number: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if number.value.as_i64().is_some_and(|number| number < 0) {
        let detail = "must be greater than or equal to zero";
        errors.push(FieldError::invalid(number.path, number.value, detail));
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks;
    use super::*;
    use serde_json::json;

    fn scaler(target: Value, metrics: Value) -> Value {
        json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "a", "namespace": "b"},
            "spec": {"maxReplicas": 1, "scaleTargetRef": target, "metrics": metrics}})
    }

    fn said(object: &Value, live: Option<&Value>) -> Vec<String> {
        let errors = checks::validate(object, live).unwrap();
        let about_spec = errors.iter().map(ToString::to_string);
        about_spec.filter(|e| e.starts_with("spec")).collect()
    }

    fn of_metric(metric: Value) -> Vec<String> {
        let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"});
        let errors = said(&scaler(target, json!([metric])), None);
        let field = |error: String| error.replace("spec.metrics[0].", "");
        errors.into_iter().map(field).collect()
    }

    #[test]
    fn only_a_replication_controller_is_scaled_without_a_group() {
        let of = |version: &str, kind: &str| {
            let target = json!({"apiVersion": version, "kind": kind, "name": "d"});
            scaler(target, json!([]))
        };
        assert!(said(&of("v1", "ReplicationController"), None).is_empty());
        assert!(said(&of("apps/v1", "Deployment"), None).is_empty());
        for version in ["v1", "", "/", "/v1"] {
            let deployment = of(version, "Deployment");
            let expected = format!(
                "spec.scaleTargetRef.apiVersion: Invalid value: \"{version}\": apiVersion must \
                 specify API group"
            );
            assert_eq!(said(&deployment, None), [expected]);
            assert!(said(&deployment, Some(&deployment)).is_empty());
        }
        assert_eq!(said(&of("a/b/c", "ReplicationController"), None).len(), 1);
    }

    #[test]
    fn a_minimum_of_zero_stays_where_it_is() {
        let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"});
        let external = json!([{"type": "External", "external":
            {"metric": {"name": "m"}, "target": {"type": "Value", "value": "1"}}}]);
        let mut scaler = scaler(target, external);
        scaler["spec"]["minReplicas"] = json!(0);
        let expected = "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1";
        assert_eq!(said(&scaler, None), [expected]);
        assert!(said(&scaler, Some(&scaler)).is_empty());
    }

    #[test]
    fn a_metric_of_no_known_type_is_told_of_its_sources_too() {
        let named = json!({"metric": {"name": "m"}, "target": {"type": "Value", "value": "1"}});
        let one = of_metric(json!({"type": "Odd", "external": named}));
        let unsupported = "type: Unsupported value: \"Odd\": supported values: \
             \"ContainerResource\", \"External\", \"Object\", \"Pods\", \"Resource\"";
        assert_eq!(one, [unsupported, unsupported]);
        let two = of_metric(json!({"type": "Odd", "external": named, "pods": named}));
        let only =
            |field: &str| format!("{field}: Forbidden: must populate the given metric source only");
        assert_eq!(two[2..], [only("external"), only("pods")]);
        let other = of_metric(json!({"type": "Pods", "external": named}));
        let needed = "pods: Required value: must populate information for the given metric source";
        assert_eq!(other, [needed]);
        let both = of_metric(json!({"type": "Pods", "external": named, "pods": named}));
        assert_eq!(both, [only("external")]);
    }

    #[test]
    fn an_object_is_named_and_has_a_target() {
        let errors = of_metric(json!({"type": "Object", "object":
            {"metric": {"name": "m"}, "target": {}}}));
        assert_eq!(
            errors,
            [
                "object.describedObject.kind: Required value",
                "object.describedObject.name: Required value",
                "object.target.type: Required value: must specify a metric target type",
                "object.target.type: Invalid value: \"\": must be either Utilization, Value, or \
                 AverageValue",
                "object.target.averageValue: Required value: must set either a target value or \
                 averageValue",
            ]
        );
        let wrong = json!({"type": "Object", "object": {"metric": {"name": "m"},
            "describedObject": {"apiVersion": "a/b/c", "kind": "K", "name": "n"},
            "target": {"type": "Value", "value": "1"}}});
        let expected = "object.describedObject.apiVersion: Invalid value: \"a/b/c\": unexpected \
             GroupVersion string: a/b/c";
        assert_eq!(of_metric(wrong.clone()), [expected]);
        let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"});
        let scaler = scaler(target, json!([wrong]));
        assert!(said(&scaler, Some(&scaler)).is_empty());
    }

    #[test]
    fn a_window_is_not_below_zero() {
        let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"});
        let mut scaler = scaler(target, json!([]));
        let policy = json!({"type": "Pods", "value": 1, "periodSeconds": 1});
        scaler["spec"]["behavior"] =
            json!({"scaleUp": {"stabilizationWindowSeconds": -1, "policies": [policy]}});
        let expected = "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: -1: must \
             be greater than or equal to zero";
        assert_eq!(said(&scaler, None), [expected]);
    }
}
