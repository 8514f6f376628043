//! The row of an Event (`printEvent`).

use serde_json::Value;

use super::{number, since};
use crate::environment::Timestamp;
use crate::object::text;

/// Returns the time since it was last seen.
pub(super) fn last_seen(event: &Value, now: Timestamp) -> Value {
    match (event.get("series"), &event["lastTimestamp"]) {
        (Some(series @ Value::Object(_)), _) => since(&series["lastObservedTime"], now).into(),
        (_, time @ Value::String(_)) => since(time, now).into(),
        _ => first_seen(event, now),
    }
}

/// Returns the time since it was first seen.
pub(super) fn first_seen(event: &Value, now: Timestamp) -> Value {
    match &event["firstTimestamp"] {
        time @ Value::String(_) => since(time, now).into(),
        _ => since(&event["eventTime"], now).into(),
    }
}

/// Returns how often it was seen.
pub(super) fn count(event: &Value, _: Timestamp) -> Value {
    let count = match event.get("series") {
        Some(series @ Value::Object(_)) => number(&series["count"]),
        _ => match number(&event["count"]) {
            0 => 1,
            count => count,
        },
    };
    count.into()
}

/// Returns the object that it is about.
pub(super) fn object(event: &Value, _: Timestamp) -> Value {
    let about = &event["involvedObject"];
    let kind = text(about, "kind").to_lowercase();
    match text(about, "name") {
        "" => kind.into(),
        name => format!("{kind}/{name}").into(),
    }
}

/// Returns the reporter (`formatEventSource`).
pub(super) fn source(event: &Value, _: Timestamp) -> Value {
    let first = |a: &'static str, b: &'static str| match text(&event["source"], a) {
        "" => text(event, b),
        found => found,
    };
    let component = first("component", "reportingComponent");
    match first("host", "reportingInstance") {
        "" => component.into(),
        instance => format!("{component}, {instance}").into(),
    }
}

/// Returns its message.
pub(super) fn message(event: &Value, _: Timestamp) -> Value {
    text(event, "message").trim().into()
}
