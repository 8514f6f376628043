//! Metrics of an autoscaler in both versions: where `autoscaling/v2` has an amount in `target` or `current`,
//! `autoscaling/v1` has a field for each kind of amount.

use serde_json::{Value, json};

use super::fields_of;
use crate::object::{JsonMap, text};

/// A field of a metric in `v1`, and its path in `v2`. `Target` and `target` are `Current` and `current` in the
/// status.
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
pub(super) enum Side {
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

/// The metric of `v2` that stands for a share of the processor.
pub(super) fn cpu_metric(share: &Value, side: Side) -> Value {
    let mut amount = json!({"averageUtilization": share});
    if side == Side::Spec {
        amount["type"] = "Utilization".into();
    }
    let resource = json!({"name": "cpu", side.part("target"): amount});
    json!({"type": "Resource", "resource": resource})
}

/// Returns whether a metric of the spec is a share of the processor, for which `v1` has a field.
pub(super) fn is_cpu_share(metric: &Value) -> bool {
    is_cpu(metric) && utilization(metric, Side::Spec).is_some()
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
pub(super) fn cpu_shares(metrics: &[Value], side: Side) -> impl Iterator<Item = &Value> {
    let cpu = metrics.iter().filter(|metric| is_cpu(metric));
    cpu.filter_map(move |metric| utilization(metric, side))
}

/// A metric in the form of `v1`, without the fields that Go never leaves out
/// (`Convert_autoscaling_ObjectMetricSource_To_v1_ObjectMetricSource` and the same of the other kinds).
pub(super) fn metric_in_v1(metric: &Value, side: Side) -> Value {
    let mut out = fields_of(metric, &["type"]);
    for (kind, moves) in SOURCES {
        let Some(source) = metric.get(kind).filter(|source| source.is_object()) else {
            continue;
        };
        let fields = moves.iter().filter_map(|(field, path)| {
            let mut parts = path.iter();
            let value = parts.try_fold(source, |value, part| value.get(side.part(part)))?;
            Some((side.name(field), value.clone()))
        });
        out[kind] = Value::Object(fields.collect());
    }
    out
}

/// A metric of a decoded annotation in the form of `v2`
/// (`Convert_v1_ObjectMetricSource_To_autoscaling_ObjectMetricSource` and the same of the other kinds).
pub(super) fn metric_in_v2(metric: &Value, side: Side) -> Value {
    let mut out = fields_of(metric, &["type"]);
    for (kind, moves) in SOURCES {
        let Some(source) = metric.get(kind).filter(|source| source.is_object()) else {
            continue;
        };
        let mut moved = JsonMap::new();
        for (field, path) in moves {
            let value = source.get(side.name(field));
            if let Some(value) = value.filter(|value| !value.is_null()) {
                insert(&mut moved, path, side, value.clone());
            }
        }
        if side == Side::Spec {
            let target = moved.entry("target").or_insert_with(|| json!({}));
            complete_target(kind, target);
        }
        out[kind] = Value::Object(moved);
    }
    out
}

/// Inserts a value at a path of one or two parts.
fn insert(into: &mut JsonMap, path: &[&str], side: Side, value: Value) {
    match path {
        [parent, last] => {
            let parent = into.entry(side.part(parent)).or_insert_with(|| json!({}));
            parent[*last] = value;
        }
        path => into.extend(path.first().map(|name| ((*name).to_owned(), value))),
    }
}

/// Gives a target its type. Beside an average, a target of zero is none: `v1` cannot leave it out.
fn complete_target(kind: &str, target: &mut Value) {
    if let Value::Object(amounts) = target
        && kind == "object"
        && amounts.contains_key("averageValue")
        && amounts.get("value").is_some_and(|value| value == "0")
    {
        amounts.remove("value");
    }
    target["type"] = target_type(kind, target).into();
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
