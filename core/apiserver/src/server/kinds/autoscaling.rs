//! The versions of HorizontalPodAutoscaler (`pkg/apis/autoscaling/v1/conversion.go`, v1.36): fields
//! that `autoscaling/v1` does not have are kept in annotations.

mod annotations;
mod metrics;

use std::sync::Arc;

use serde_json::{Value, json};

use self::annotations::{Annotation, annotate};
use self::metrics::{Side, cpu_metric, cpu_shares, is_cpu_share, metric_in_v1, metric_in_v2};
use super::internal;
use super::label_selector::list;
use crate::field::ErrorPath;
use crate::json::Node;
use crate::object::text;
use crate::schema::kinds::kinds;
use crate::schema::{self, Struct};

const KIND: &str = "HorizontalPodAutoscaler";
const V1: &str = "autoscaling/v1";
pub(super) const V2: &str = "autoscaling/v2";

/// The fields of the spec that both versions have.
const SPEC_FIELDS: [&str; 3] = ["scaleTargetRef", "minReplicas", "maxReplicas"];
/// The fields of the status that both versions have.
const STATUS_FIELDS: [&str; 4] = [
    "observedGeneration",
    "lastScaleTime",
    "currentReplicas",
    "desiredReplicas",
];
/// The fields of `v1` for the share of the processor, in the spec and in the status.
const SPEC_SHARE: &str = "targetCPUUtilizationPercentage";
const STATUS_SHARE: &str = "currentCPUUtilizationPercentage";

/// Writes an object in another version. In `autoscaling/v2` no object has the annotations of the other one
/// (`pkg/apis/autoscaling/v2/conversion.go`, `DropRoundTripHorizontalPodAutoscalerAnnotations`, v1.36).
pub(super) fn convert(mut object: Value, api_version: &str) -> Value {
    let converted = match (text(&object, "apiVersion"), api_version) {
        (V2, V1) => to_v1(object),
        (V1, V2) => to_v2(object),
        (V2, V2) => {
            annotate(&mut object, Vec::new());
            return object;
        }
        _ => return object,
    };
    // What is converted is a struct: fields that are never left out are there again, empty.
    let root = root(api_version);
    let decoded = root.map(|root| schema::decode(Node::from(converted.clone()), root));
    match decoded {
        Some(Ok(decoded)) => decoded.value,
        _ => converted,
    }
}

/// Fills in the defaults that an object lacks which another version has stored: only `autoscaling/v2` fills in a
/// behavior, and it does so when it reads (`pkg/apis/autoscaling/v2/defaults.go`,
/// `SetDefaults_HorizontalPodAutoscalerBehavior`).
pub(super) fn fill_stored(stored: &Value) -> Option<Value> {
    let mut filled = stored.clone();
    schema::fill_defaults(&mut filled, root(V2)?);
    (filled != *stored).then_some(filled)
}

fn root(api_version: &str) -> Option<&'static Arc<Struct>> {
    let mut facts = kinds().iter();
    let facts = facts.find(|f| f.api_version == api_version && f.kind == KIND)?;
    facts.root()
}

/// `Convert_autoscaling_HorizontalPodAutoscaler_To_v1_HorizontalPodAutoscaler`.
fn to_v1(mut object: Value) -> Value {
    object["apiVersion"] = V1.into();
    let (spec, status) = (object["spec"].take(), object["status"].take());
    annotate(&mut object, kept_for_v1(&spec, &status));
    object["spec"] = fields_of(&spec, &SPEC_FIELDS);
    if let Some(share) = cpu_shares(list(&spec, "metrics"), Side::Spec).next() {
        object["spec"][SPEC_SHARE] = share.clone();
    }
    object["status"] = fields_of(&status, &STATUS_FIELDS);
    if let Some(share) = cpu_shares(list(&status, "currentMetrics"), Side::Status).last() {
        object["status"][STATUS_SHARE] = share.clone();
    }
    object
}

/// The annotations for what `v1` has no fields for. A share of the processor in the status is kept beside its field,
/// because it has an amount, too.
fn kept_for_v1(spec: &Value, status: &Value) -> Vec<(Annotation, String)> {
    let metrics = list(spec, "metrics").iter();
    let metrics = metrics.filter(|metric| !is_cpu_share(metric));
    let metrics: Value = metrics.map(|it| metric_in_v1(it, Side::Spec)).collect();
    let current = list(status, "currentMetrics").iter();
    let current: Value = current.map(|it| metric_in_v1(it, Side::Status)).collect();
    let conditions = Value::from(list(status, "conditions"));
    let lists = [
        (Annotation::Metrics, metrics),
        (Annotation::CurrentMetrics, current),
        (Annotation::Conditions, conditions),
    ];
    let lists = lists.into_iter();
    let lists = lists.filter(|(_, list)| *list != json!([]));
    let mut kept: Vec<(Annotation, String)> = lists
        .filter_map(|(annotation, list)| Some((annotation, annotation.encode(list)?)))
        .collect();
    let behavior = spec.get("behavior").filter(|it| !it.is_null());
    if let Some(behavior) = behavior.and_then(|it| Annotation::Behavior.decoded(it.clone())) {
        let kind = json!({"kind": KIND, "apiVersion": V2});
        let path = ErrorPath::new("spec.behavior");
        let written = internal::field(&kind, &path, &behavior);
        kept.push((Annotation::Behavior, written));
    }
    kept
}

/// `Convert_v1_HorizontalPodAutoscaler_To_autoscaling_HorizontalPodAutoscaler`.
fn to_v2(mut object: Value) -> Value {
    object["apiVersion"] = V2.into();
    let (spec, status) = (object["spec"].take(), object["status"].take());
    let share = |values: &Value, field: &str, side: Side| {
        let share = values.get(field).filter(|share| !share.is_null())?;
        Some(cpu_metric(share, side))
    };
    let kept = |annotation: Annotation, side: Side| {
        let metrics = annotation.read(&object)?;
        let metrics = metrics.as_array().into_iter().flatten();
        Some(metrics.map(|it| metric_in_v2(it, side)).collect::<Vec<_>>())
    };
    let mut metrics = kept(Annotation::Metrics, Side::Spec).unwrap_or_default();
    metrics.extend(share(&spec, SPEC_SHARE, Side::Spec));
    if metrics.is_empty() {
        // The default is set here: only the annotations tell whether there is another metric.
        metrics.push(cpu_metric(&80.into(), Side::Spec));
    }
    let current = kept(Annotation::CurrentMetrics, Side::Status).unwrap_or_else(|| {
        let share = share(&status, STATUS_SHARE, Side::Status);
        share.into_iter().collect()
    });
    let behavior = Annotation::Behavior.read(&object);
    let conditions = Annotation::Conditions.read(&object);
    object["spec"] = fields_of(&spec, &SPEC_FIELDS);
    object["spec"]["metrics"] = metrics.into();
    if let Some(behavior) = behavior.filter(says_something) {
        object["spec"]["behavior"] = behavior;
    }
    object["status"] = fields_of(&status, &STATUS_FIELDS);
    if !current.is_empty() {
        object["status"]["currentMetrics"] = current.into();
    }
    if let Some(conditions) = conditions.filter(Value::is_array) {
        object["status"]["conditions"] = conditions;
    }
    annotate(&mut object, Vec::new());
    object
}

/// Returns whether a behavior says something of a direction: an empty one counts as absent.
fn says_something(behavior: &Value) -> bool {
    ["scaleUp", "scaleDown"].iter().any(|direction| {
        let rules = behavior.get(direction);
        rules.is_some_and(|rules| !rules.is_null())
    })
}

/// These fields of an object, where it has them.
fn fields_of(from: &Value, fields: &[&str]) -> Value {
    let there = fields.iter().filter_map(|field| {
        let value = from.get(*field)?;
        Some(((*field).to_owned(), value.clone()))
    });
    Value::Object(there.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v2(spec: Value, status: Value) -> Value {
        let metadata = json!({"name": "h", "annotations": {"a": "b"}});
        json!({
            "apiVersion": V2, "kind": "HorizontalPodAutoscaler",
            "metadata": metadata, "spec": spec, "status": status,
        })
    }

    fn deployment() -> Value {
        json!({"kind": "Deployment", "name": "d"})
    }

    #[test]
    fn a_share_of_the_processor_has_a_field_of_its_own() {
        let target = json!({"type": "Utilization", "averageUtilization": 50});
        let cpu = json!({"type": "Resource", "resource": {"name": "cpu", "target": target}});
        let object = v2(
            json!({"scaleTargetRef": deployment(), "minReplicas": 1, "maxReplicas": 3, "metrics": [cpu]}),
            json!({"desiredReplicas": 0, "currentMetrics": null}),
        );
        let old = convert(object.clone(), V1);
        assert_eq!(
            old["spec"],
            json!({
                "scaleTargetRef": deployment(), "minReplicas": 1, "maxReplicas": 3,
                "targetCPUUtilizationPercentage": 50,
            })
        );
        assert_eq!(
            old["status"],
            json!({"currentReplicas": 0, "desiredReplicas": 0})
        );
        assert_eq!(old["metadata"]["annotations"], json!({"a": "b"}));
        assert_eq!(convert(old, V2), object);
    }

    #[test]
    fn what_v1_leaves_out_is_as_in_the_struct_of_v2_and_a_metric_is_filled_in() {
        let old = json!({"apiVersion": V1, "kind": KIND, "spec": {"minReplicas": 2}});
        let new = convert(old, V2);
        assert_eq!(new["spec"]["maxReplicas"], 0);
        assert_eq!(
            new["spec"]["scaleTargetRef"],
            json!({"kind": "", "name": ""})
        );
        let target = &new["spec"]["metrics"][0]["resource"]["target"];
        assert_eq!(target["averageUtilization"], 80);
        assert_eq!(
            new["status"],
            json!({"desiredReplicas": 0, "currentMetrics": null})
        );
    }

    #[test]
    fn what_v1_has_no_field_for_is_in_annotations() {
        let reference = json!({"kind": "Service", "name": "s", "apiVersion": "v1"});
        let object = v2(
            json!({
                "scaleTargetRef": deployment(), "maxReplicas": 3,
                "metrics": [
                    {"type": "Object", "object": {
                        "describedObject": reference, "metric": {"name": "m"},
                        "target": {"type": "Value", "value": "10"},
                    }},
                    {"type": "Resource", "resource": {
                        "name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"},
                    }},
                ],
                "behavior": {"scaleDown": {"selectPolicy": "Max", "stabilizationWindowSeconds": 3}},
            }),
            json!({
                "currentReplicas": 2, "desiredReplicas": 3,
                "currentMetrics": [{"type": "Resource", "resource": {
                    "name": "cpu", "current": {"averageUtilization": 7, "averageValue": "1m"},
                }}],
                "conditions": [{"type": "AbleToScale", "status": "True", "lastTransitionTime": null}],
            }),
        );
        let old = convert(object.clone(), V1);
        let annotations = &old["metadata"]["annotations"];
        assert_eq!(
            annotations["autoscaling.alpha.kubernetes.io/metrics"],
            "[{\"type\":\"Object\",\"object\":{\"target\":{\"kind\":\"Service\",\"name\":\"s\",\
             \"apiVersion\":\"v1\"},\"metricName\":\"m\",\"targetValue\":\"10\"}},\
             {\"type\":\"Resource\",\"resource\":{\"name\":\"memory\",\"targetAverageValue\":\"1Gi\"}}]"
        );
        assert_eq!(
            annotations["autoscaling.alpha.kubernetes.io/behavior"],
            "{\"ScaleUp\":null,\"ScaleDown\":{\"StabilizationWindowSeconds\":3,\
             \"SelectPolicy\":\"Max\",\"Policies\":null,\"Tolerance\":null}}"
        );
        assert_eq!(
            annotations["autoscaling.alpha.kubernetes.io/current-metrics"],
            "[{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"currentAverageUtilization\":7,\
             \"currentAverageValue\":\"1m\"}}]"
        );
        assert_eq!(
            annotations["autoscaling.alpha.kubernetes.io/conditions"],
            "[{\"type\":\"AbleToScale\",\"status\":\"True\",\"lastTransitionTime\":null}]"
        );
        assert_eq!(old["status"]["currentCPUUtilizationPercentage"], 7);
        assert_eq!(convert(old, V2), object);
    }
}
