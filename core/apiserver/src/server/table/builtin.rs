//! The columns of built-in kinds (`pkg/printers/internalversion/printers.go`, v1.36).

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::human_duration;
use crate::environment::Timestamp;
use crate::object::{Metadata, text};

mod pod;

static COLUMNS: LazyLock<Vec<(&'static str, Value)>> =
    LazyLock::new(|| read(include_str!("columns.txt")));

/// Reads the columns of each kind.
fn read(table: &'static str) -> Vec<(&'static str, Value)> {
    let (kinds, shared) = table.split_once("\nshared\n").unwrap_or((table, ""));
    let shared = |name: &str| {
        let mut lines = shared.lines().filter_map(|line| line.strip_prefix('\t'));
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('\t'))
    };
    let mut columns: Vec<(&str, Value)> = Vec::new();
    for line in kinds.lines().filter(|line| !line.starts_with('#')) {
        let Some(column) = line.strip_prefix('\t') else {
            columns.push((line, json!([])));
            continue;
        };
        let mut parts = column.split('\t');
        let mut part = || parts.next().unwrap_or_default();
        let (name, format, priority) = (part(), part(), part());
        let description = part();
        let description = shared(description).unwrap_or(description);
        let column = json!({
            "name": name, "type": "string", "format": format,
            "description": description.replace("\\n", "\n"),
            "priority": priority.parse().unwrap_or(0),
        });
        if let Some((_, Value::Array(list))) = columns.last_mut() {
            list.push(column);
        }
    }
    columns
}

fn columns_of(kind: &str) -> Option<&'static Value> {
    let mut kinds = COLUMNS.iter();
    kinds
        .find(|(name, _)| *name == kind)
        .map(|(_, columns)| columns)
}

/// The column of names, which every kind has.
pub(super) fn name_column() -> Value {
    columns_of("ConfigMap").map_or(Value::Null, |columns| columns[0].clone())
}

/// What the documentation says of the age of an object.
pub(in crate::server) fn age_description() -> Value {
    columns_of("ConfigMap").map_or(Value::Null, |columns| columns[2]["description"].clone())
}

/// The columns of a kind, and the cells of its objects.
pub(super) fn rows(kind: &str, objects: &[Value], now: Timestamp) -> (Value, Vec<Vec<Value>>) {
    let cells: fn(&Value, Timestamp) -> Vec<Value> = match kind {
        "ConfigMap" => config_map,
        "Deployment" => deployment,
        "Event" => event,
        "Lease" => lease,
        "Pod" => pod::cells,
        "Service" => service,
        _ => named,
    };
    let columns = columns_of(kind).cloned().unwrap_or_else(|| {
        let mut created =
            json!({"name": "Created At", "type": "date", "format": "", "priority": 0});
        created["description"] = age_description();
        json!([name_column(), created])
    });
    let rows = objects.iter().map(|object| cells(object, now));
    (columns, rows.collect())
}

/// The conditions of a row.
pub(super) fn conditions(kind: &str, object: &Value) -> Option<Value> {
    match kind {
        "Pod" => pod::conditions(object),
        _ => None,
    }
}

/// The columns of kinds without their own columns (`rest.NewDefaultTableConvertor`).
fn named(object: &Value, _: Timestamp) -> Vec<Value> {
    vec![
        object.name().into(),
        object.meta_text("creationTimestamp").into(),
    ]
}

fn since(time: &Value, now: Timestamp) -> String {
    let time = time.as_str().and_then(Timestamp::parse);
    time.map_or_else(
        || "<unknown>".to_owned(),
        |time| human_duration(now.seconds.saturating_sub(time.seconds)),
    )
}

fn age(object: &Value, now: Timestamp) -> String {
    since(&object["metadata"]["creationTimestamp"], now)
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

/// The items of a list; none where there is no list.
fn items(list: &Value) -> impl DoubleEndedIterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let texts: Vec<&str> = texts.collect();
    texts.join(",")
}

fn or_none(text: String) -> String {
    if text.is_empty() {
        "<none>".to_owned()
    } else {
        text
    }
}

fn config_map(object: &Value, now: Timestamp) -> Vec<Value> {
    let entries = |field: &str| object[field].as_object().map_or(0, |map| map.len());
    let data = entries("data") + entries("binaryData");
    vec![object.name().into(), data.into(), age(object, now).into()]
}

fn deployment(object: &Value, now: Timestamp) -> Vec<Value> {
    let (spec, status) = (&object["spec"], &object["status"]);
    let ready = format!(
        "{}/{}",
        number(&status["readyReplicas"]),
        number(&spec["replicas"])
    );
    let containers = &spec["template"]["spec"]["containers"];
    let of = |field: &str| joined(items(containers).map(|container| text(container, field)));
    vec![
        object.name().into(),
        ready.into(),
        number(&status["updatedReplicas"]).into(),
        number(&status["availableReplicas"]).into(),
        age(object, now).into(),
        of("name").into(),
        of("image").into(),
        crate::server::scale::selector(&spec["selector"]).into(),
    ]
}

fn lease(object: &Value, now: Timestamp) -> Vec<Value> {
    let holder = text(&object["spec"], "holderIdentity");
    vec![object.name().into(), holder.into(), age(object, now).into()]
}

fn event(object: &Value, now: Timestamp) -> Vec<Value> {
    let first = match &object["firstTimestamp"] {
        Value::String(_) => since(&object["firstTimestamp"], now),
        _ => since(&object["eventTime"], now),
    };
    let series = object.get("series");
    let last = match (series, &object["lastTimestamp"]) {
        (Some(series), _) => since(&series["lastObservedTime"], now),
        (None, time @ Value::String(_)) => since(time, now),
        (None, _) => first.clone(),
    };
    let count = match series {
        Some(series) => number(&series["count"]),
        None => number(&object["count"]).max(1),
    };
    let about = &object["involvedObject"];
    let kind = text(about, "kind").to_ascii_lowercase();
    let target = match text(about, "name") {
        "" => kind,
        name => format!("{kind}/{name}"),
    };
    let either = |a: &'_ str, b: &'_ str| {
        if a.is_empty() {
            b.to_owned()
        } else {
            a.to_owned()
        }
    };
    let source = &object["source"];
    let component = either(
        text(source, "component"),
        text(object, "reportingComponent"),
    );
    let source = match either(text(source, "host"), text(object, "reportingInstance")).as_str() {
        "" => component,
        instance => format!("{component}, {instance}"),
    };
    vec![
        last.into(),
        text(object, "type").into(),
        text(object, "reason").into(),
        target.into(),
        text(about, "fieldPath").into(),
        source.into(),
        text(object, "message").trim().into(),
        first.into(),
        count.into(),
        object.name().into(),
    ]
}

fn service(object: &Value, now: Timestamp) -> Vec<Value> {
    let spec = &object["spec"];
    let ports = items(&spec["ports"]).map(|port| {
        let (number, protocol) = (number(&port["port"]), text(port, "protocol"));
        match port["nodePort"].as_i64() {
            Some(node) if node > 0 => format!("{number}:{node}/{protocol}"),
            _ => format!("{number}/{protocol}"),
        }
    });
    let ports: Vec<String> = ports.collect();
    let address = items(&spec["clusterIPs"]).next().and_then(Value::as_str);
    let labels = spec["selector"].as_object().into_iter().flatten();
    let labels: Vec<String> = labels
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    vec![
        object.name().into(),
        text(spec, "type").into(),
        address.unwrap_or("<none>").into(),
        external_address(object).into(),
        or_none(ports.join(",")).into(),
        age(object, now).into(),
        or_none(labels.join(",")).into(),
    ]
}

/// `getServiceExternalIP`.
fn external_address(service: &Value) -> String {
    let spec = &service["spec"];
    let given = joined(items(&spec["externalIPs"]).filter_map(Value::as_str));
    match text(spec, "type") {
        "LoadBalancer" => {
            let ingress = items(&service["status"]["loadBalancer"]["ingress"]);
            let addresses = joined(ingress.map(|ingress| match text(ingress, "ip") {
                "" => text(ingress, "hostname"),
                ip => ip,
            }));
            match (given.is_empty(), addresses.is_empty()) {
                (true, true) => "<pending>".to_owned(),
                (true, false) => addresses,
                (false, true) => given,
                (false, false) => format!("{given},{addresses}"),
            }
        }
        "ExternalName" => text(spec, "externalName").to_owned(),
        _ => or_none(given),
    }
}
