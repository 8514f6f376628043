//! The versions of HorizontalPodAutoscaler (`pkg/apis/autoscaling/v1/conversion.go`, v1.36): fields
//! that `autoscaling/v1` does not have are kept in annotations.

use std::sync::Arc;

use serde_json::{Value, json};

use super::internal;
use super::label_selector::list;
use crate::field::ErrorPath;
use crate::go;
use crate::json::Node;
use crate::object::{JsonMap, text};
use crate::schema::kinds::kinds;
use crate::schema::{self, Struct, Type};
use crate::server::wire;

const KIND: &str = "HorizontalPodAutoscaler";
const V1: &str = "autoscaling/v1";
pub(super) const V2: &str = "autoscaling/v2";

/// The annotations of `autoscaling/v1`.
const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";

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

/// A field of a metric in `v1`, in the order of its struct, and its path in `v2`. `Target` and
/// `target` are `Current` and `current` in the status.
type Moves = &'static [(&'static str, &'static [&'static str])];

/// The kinds of metrics.
const SOURCES: [(&str, Moves); 5] = [
    (
        "object",
        &[
            ("target", &["describedObject"]),
            ("metricName", &["metric", "name"]),
            ("targetValue", &["target", "value"]),
            ("selector", &["metric", "selector"]),
            ("averageValue", &["target", "averageValue"]),
        ],
    ),
    (
        "pods",
        &[
            ("metricName", &["metric", "name"]),
            ("targetAverageValue", &["target", "averageValue"]),
            ("selector", &["metric", "selector"]),
        ],
    ),
    (
        "resource",
        &[
            ("name", &["name"]),
            (
                "targetAverageUtilization",
                &["target", "averageUtilization"],
            ),
            ("targetAverageValue", &["target", "averageValue"]),
        ],
    ),
    (
        "containerResource",
        &[
            ("name", &["name"]),
            (
                "targetAverageUtilization",
                &["target", "averageUtilization"],
            ),
            ("targetAverageValue", &["target", "averageValue"]),
            ("container", &["container"]),
        ],
    ),
    (
        "external",
        &[
            ("metricName", &["metric", "name"]),
            ("metricSelector", &["metric", "selector"]),
            ("targetValue", &["target", "value"]),
            ("targetAverageValue", &["target", "averageValue"]),
        ],
    ),
];

/// The part of an object that has metrics.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Spec,
    Status,
}

impl Side {
    /// The name of a field of `v1` on this side.
    fn name(self, field: &str) -> String {
        match (self, field.strip_prefix("target")) {
            (Side::Status, Some(rest)) if !rest.is_empty() => format!("current{rest}"),
            _ => field.to_owned(),
        }
    }

    /// The part of a path of `v2` on this side.
    fn part(self, part: &str) -> &str {
        match (self, part) {
            (Side::Status, "target") => "current",
            _ => part,
        }
    }
}

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

fn root(api_version: &str) -> Option<&'static Arc<Struct>> {
    let mut facts = kinds().iter();
    let facts = facts.find(|f| f.api_version == api_version && f.kind == KIND)?;
    facts.root()
}

fn to_v1(mut object: Value) -> Value {
    object["apiVersion"] = V1.into();
    let (spec, status) = (object["spec"].take(), object["status"].take());
    let metrics = list(&spec, "metrics");
    let others: Vec<&Value> = metrics
        .iter()
        .filter(|metric| !is_cpu(metric) || utilization(metric, Side::Spec).is_none())
        .collect();
    let behavior = spec.get("behavior").filter(|behavior| !behavior.is_null());
    let (current, conditions) = (list(&status, "currentMetrics"), &status["conditions"]);
    let mut kept = Vec::new();
    if !others.is_empty() {
        kept.push((METRICS, metrics_text(others.into_iter(), Side::Spec)));
    }
    if !current.is_empty() {
        kept.push((CURRENT_METRICS, metrics_text(current.iter(), Side::Status)));
    }
    if let Some(behavior) = behavior {
        let kind = json!({"kind": KIND, "apiVersion": V2});
        let path = ErrorPath::new("spec.behavior");
        kept.push((BEHAVIOR, internal::field(&kind, &path, behavior)));
    }
    if !list(&status, "conditions").is_empty() {
        kept.push((CONDITIONS, text_of(&["status", "conditions"], conditions)));
    }
    annotate(&mut object, kept);
    object["spec"] = moved(&spec, &SPEC_FIELDS);
    if let Some(share) = cpu_shares(metrics, Side::Spec).next() {
        object["spec"][SPEC_SHARE] = share.clone();
    }
    object["status"] = moved(&status, &STATUS_FIELDS);
    if let Some(share) = cpu_shares(current, Side::Status).last() {
        object["status"][STATUS_SHARE] = share.clone();
    }
    object
}

fn to_v2(mut object: Value) -> Value {
    object["apiVersion"] = V2.into();
    let (spec, status) = (object["spec"].take(), object["status"].take());
    let kept = |name: &str| -> Option<Value> {
        let text = object["metadata"]["annotations"].get(name)?.as_str()?;
        serde_json::from_str(text).ok()
    };
    let metrics = |name: &str, side: Side| {
        let metrics = kept(name).filter(are_metrics)?;
        let metrics = metrics.as_array().into_iter().flatten();
        Some(
            metrics
                .map(|metric| metric_in_v2(metric, side))
                .collect::<Vec<_>>(),
        )
    };
    let cpu = |side: Side, field: &str, values: &Value| {
        let share = values.get(field).filter(|share| !share.is_null())?;
        let mut amount = json!({"averageUtilization": share});
        if side == Side::Spec {
            amount["type"] = "Utilization".into();
        }
        let resource = json!({"name": "cpu", side.part("target"): amount});
        Some(json!({"type": "Resource", "resource": resource}))
    };
    let mut all = metrics(METRICS, Side::Spec).unwrap_or_default();
    all.extend(cpu(Side::Spec, SPEC_SHARE, &spec));
    let current = metrics(CURRENT_METRICS, Side::Status)
        .or_else(|| cpu(Side::Status, STATUS_SHARE, &status).map(|metric| vec![metric]));
    let (behavior, conditions) = (kept(BEHAVIOR), kept(CONDITIONS));
    object["spec"] = moved(&spec, &SPEC_FIELDS);
    if all.is_empty() {
        // The default is set here: only the annotations tell whether there is another metric.
        all.push(json!({"type": "Resource", "resource": {
            "name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80},
        }}));
    }
    object["spec"]["metrics"] = all.into();
    let behavior = behavior
        .filter(Value::is_object)
        .map(internal::uncapitalized);
    if let Some(behavior) = behavior.filter(says_something) {
        object["spec"]["behavior"] = behavior;
    }
    object["status"] = moved(&status, &STATUS_FIELDS);
    object["status"]["currentMetrics"] = current.map_or(Value::Null, Value::from);
    if let Some(conditions) = conditions.filter(Value::is_array) {
        object["status"]["conditions"] = conditions;
    }
    annotate(&mut object, Vec::new());
    object
}

/// Returns whether a behavior says something of a direction: an empty one counts as absent.
fn says_something(behavior: &Value) -> bool {
    ["scaleUp", "scaleDown"].iter().any(|direction| {
        behavior
            .get(direction)
            .is_some_and(|rules| !rules.is_null())
    })
}

/// Returns whether an annotation has a list of metrics: one that cannot be decoded counts as absent.
fn are_metrics(kept: &Value) -> bool {
    let is_metric = |metric: &Value| {
        let ty = metric.get("type");
        metric.is_object() && ty.is_none_or(|ty| ty.is_null() || ty.is_string())
    };
    kept.as_array()
        .is_some_and(|metrics| metrics.iter().all(is_metric))
}

/// Sets the annotations for fields that the version does not have, and removes the other ones of
/// this kind.
fn annotate(object: &mut Value, kept: Vec<(&str, String)>) {
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else {
        return;
    };
    let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
    if let Value::Object(map) = annotations {
        for name in [METRICS, CURRENT_METRICS, CONDITIONS, BEHAVIOR] {
            map.remove(name);
        }
        map.extend(
            kept.into_iter()
                .map(|(name, text)| (name.to_owned(), text.into())),
        );
        if map.is_empty() {
            metadata.remove("annotations");
        }
    }
}

/// The fields that both versions have.
fn moved(from: &Value, fields: &[&str]) -> Value {
    let there = fields.iter().filter_map(|field| {
        let value = from.get(*field)?;
        Some(((*field).to_owned(), value.clone()))
    });
    Value::Object(there.collect())
}

fn is_cpu(metric: &Value) -> bool {
    text(metric, "type") == "Resource" && text(&metric["resource"], "name") == "cpu"
}

/// The average utilization of a resource, in percent.
fn utilization(metric: &Value, side: Side) -> Option<&Value> {
    metric["resource"][side.part("target")].get("averageUtilization")
}

/// The shares of the metrics about the processor. The first one of the spec counts, and the last one of the status
/// (`Convert_autoscaling_HorizontalPodAutoscalerSpec_To_v1_HorizontalPodAutoscalerSpec` and the same of the status).
fn cpu_shares(metrics: &[Value], side: Side) -> impl Iterator<Item = &Value> {
    let cpu = metrics.iter().filter(|metric| is_cpu(metric));
    cpu.filter_map(move |metric| utilization(metric, side))
}

/// Returns whether an amount of a metric in `v1` is no pointer in Go: it is `0` where it is not given.
fn is_never_absent(kind: &str, field: &str, side: Side) -> bool {
    match (kind, field) {
        ("object", "targetValue") | ("pods", "targetAverageValue") => true,
        ("external", "targetValue") | ("resource" | "containerResource", "targetAverageValue") => {
            side == Side::Status
        }
        _ => false,
    }
}

/// Metrics as `v1` writes them into an annotation.
fn metrics_text<'a>(metrics: impl Iterator<Item = &'a Value>, side: Side) -> String {
    let metrics = metrics.map(|metric| {
        let mut members = vec![member("type", go::json(&metric["type"]))];
        for (kind, moves) in SOURCES {
            let Some(source) = metric.get(kind).filter(|source| source.is_object()) else {
                continue;
            };
            let fields = moves.iter().filter_map(|(field, path)| {
                let found = path
                    .iter()
                    .try_fold(source, |value, part| value.get(side.part(part)));
                let zero = is_never_absent(kind, field, side);
                let shown = match found {
                    None if zero => "\"0\"".to_owned(),
                    found => annotation_text(field, found?),
                };
                Some(member(&side.name(field), shown))
            });
            let fields: Vec<String> = fields.collect();
            members.push(member(kind, format!("{{{}}}", fields.join(","))));
        }
        format!("{{{}}}", members.join(","))
    });
    let metrics: Vec<String> = metrics.collect();
    format!("[{}]", metrics.join(","))
}

fn member(name: &str, text: String) -> String {
    format!("{}:{text}", go::json(&name.into()))
}

fn annotation_text(field: &str, value: &Value) -> String {
    match field {
        "selector" | "metricSelector" => wire::of_type("LabelSelector", value),
        "target" => text_of(&["spec", "scaleTargetRef"], value),
        _ => go::json(value),
    }
}

/// A metric of an annotation in the form of `v2`.
fn metric_in_v2(metric: &Value, side: Side) -> Value {
    let mut out = moved(metric, &["type"]);
    for (kind, moves) in SOURCES {
        let Some(source) = metric.get(kind).filter(|source| source.is_object()) else {
            continue;
        };
        let mut moved = JsonMap::new();
        for (field, path) in moves {
            let zero = Value::from("0");
            let given = source
                .get(side.name(field))
                .filter(|value| !value.is_null());
            let value = match given {
                None if !is_never_absent(kind, field, side) => continue,
                given => given.unwrap_or(&zero),
            };
            // Beside an average, a target of zero is none.
            let averages = side == Side::Spec && source.get("averageValue").is_some();
            if kind == "object" && *field == "targetValue" && averages && *value == zero {
                continue;
            }
            let (last, parents) = match path {
                [parent, last] => (*last, Some(side.part(parent))),
                path => (path.first().copied().unwrap_or_default(), None),
            };
            let owner = match parents {
                Some(parent) => moved.entry(parent).or_insert_with(|| json!({})),
                None => {
                    moved.insert(last.to_owned(), value.clone());
                    continue;
                }
            };
            owner[last] = value.clone();
        }
        if side == Side::Spec {
            let target = moved.entry("target").or_insert_with(|| json!({}));
            target["type"] = target_type(kind, target).into();
        }
        out[kind] = Value::Object(moved);
    }
    out
}

fn target_type(kind: &str, target: &Value) -> &'static str {
    let has = |field: &str| target.get(field).is_some();
    match kind {
        "object" if !has("averageValue") => "Value",
        "external" if has("value") => "Value",
        "resource" | "containerResource" if has("averageUtilization") => "Utilization",
        _ => "AverageValue",
    }
}

/// A value in the order of its type, which both versions share.
fn text_of(path: &[&str], value: &Value) -> String {
    let root = root(V2).map(|root| Type::Struct(Arc::clone(root)));
    let ty = path.iter().fold(root, |ty, name| match ty {
        Some(Type::Struct(inner)) => inner.field(name).map(|field| field.ty.clone()),
        _ => None,
    });
    ty.map_or_else(|| go::json(value), |ty| wire::of_value(&ty, value))
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
            annotations[METRICS],
            "[{\"type\":\"Object\",\"object\":{\"target\":{\"kind\":\"Service\",\"name\":\"s\",\
             \"apiVersion\":\"v1\"},\"metricName\":\"m\",\"targetValue\":\"10\"}},\
             {\"type\":\"Resource\",\"resource\":{\"name\":\"memory\",\"targetAverageValue\":\"1Gi\"}}]"
        );
        assert_eq!(
            annotations[BEHAVIOR],
            "{\"ScaleUp\":null,\"ScaleDown\":{\"StabilizationWindowSeconds\":3,\
             \"SelectPolicy\":\"Max\",\"Policies\":null,\"Tolerance\":null}}"
        );
        assert_eq!(
            annotations[CURRENT_METRICS],
            "[{\"type\":\"Resource\",\"resource\":{\"name\":\"cpu\",\"currentAverageUtilization\":7,\
             \"currentAverageValue\":\"1m\"}}]"
        );
        assert_eq!(
            annotations[CONDITIONS],
            "[{\"type\":\"AbleToScale\",\"status\":\"True\",\"lastTransitionTime\":null}]"
        );
        assert_eq!(old["status"]["currentCPUUtilizationPercentage"], 7);
        assert_eq!(convert(old, V2), object);
    }
}
