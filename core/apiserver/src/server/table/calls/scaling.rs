//! The metrics of a HorizontalPodAutoscaler (`formatHPAMetrics`).

use serde_json::Value;

use super::items;
use crate::environment::Timestamp;
use crate::object::text;

const UNKNOWN: &str = "<unknown>";

/// Returns its targets, with the current values.
pub(super) fn targets(autoscaler: &Value, _: Timestamp) -> Value {
    let now: Vec<&Value> = items(&autoscaler["status"]["currentMetrics"]).collect();
    let targets = items(&autoscaler["spec"]["metrics"])
        .enumerate()
        .map(|(i, metric)| target(metric, now.get(i).copied().unwrap_or(&Value::Null)));
    let targets: Vec<String> = targets.collect();
    match targets.as_slice() {
        [] => "<none>".into(),
        [a, b, more @ ..] if !more.is_empty() => {
            format!("{a}, {b} + {} more...", more.len()).into()
        }
        targets => targets.join(", ").into(),
    }
}

fn target(metric: &Value, status: &Value) -> String {
    let of = |field: &str| (&metric[field], status.get(field));
    match text(metric, "type") {
        "External" => of_object(of("external")),
        "Object" => of_object(of("object")),
        "Pods" => {
            let (spec, status) = of("pods");
            let wanted = quantity(&spec["target"]["averageValue"]);
            format!("{}/{wanted}", current(status, "averageValue"))
        }
        "Resource" => of_resource(of("resource")),
        "ContainerResource" => of_resource(of("containerResource")),
        _ => "<unknown type>".to_owned(),
    }
}

/// A metric of one object, or from outside.
fn of_object((spec, status): (&Value, Option<&Value>)) -> String {
    let target = &spec["target"];
    if target.get("averageValue").is_none() {
        let wanted = quantity(&target["value"]);
        return format!("{}/{wanted}", current(status, "value"));
    }
    let average = status.and_then(|status| status["current"].get("averageValue"));
    let average = average.map_or_else(|| UNKNOWN.to_owned(), quantity);
    format!("{average}/{} (avg)", quantity(&target["averageValue"]))
}

/// A metric of the resources of pods or of one of their containers.
fn of_resource((spec, status): (&Value, Option<&Value>)) -> String {
    let (name, target) = (text(spec, "name"), &spec["target"]);
    if let Some(wanted) = target.get("averageValue") {
        let wanted = quantity(wanted);
        return format!("{name}: {}/{wanted}", current(status, "averageValue"));
    }
    let share = |value: &Value| value.as_i64().map(|percent| format!("{percent}%"));
    let now = status.and_then(|status| share(&status["current"]["averageUtilization"]));
    let now = now.unwrap_or_else(|| UNKNOWN.to_owned());
    let wanted = share(&target["averageUtilization"]).unwrap_or_else(|| "<auto>".to_owned());
    format!("{name}: {now}/{wanted}")
}

fn current(status: Option<&Value>, field: &str) -> String {
    status.map_or_else(
        || UNKNOWN.to_owned(),
        |status| quantity(&status["current"][field]),
    )
}

/// A quantity, as Go prints a pointer to it.
fn quantity(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => "<nil>".to_owned(),
    }
}
