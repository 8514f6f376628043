//! Cells of the components of a control plane (`printComponentStatus`): all of the condition that says whether one is
//! healthy.

use serde_json::Value;

use super::items;
use crate::environment::Timestamp;
use crate::object::text;

/// Returns whether a component is healthy; `Unknown` if it does not say so.
pub(super) fn status(component: &Value, _: Timestamp) -> Value {
    let status = healthy(component).map(|condition| text(condition, "status") == "True");
    match status {
        Some(true) => "Healthy".into(),
        Some(false) => "Unhealthy".into(),
        None => "Unknown".into(),
    }
}

/// Returns the message of a component.
pub(super) fn message(component: &Value, _: Timestamp) -> Value {
    of_condition(component, "message")
}

/// Returns the error of a component.
pub(super) fn error(component: &Value, _: Timestamp) -> Value {
    of_condition(component, "error")
}

fn of_condition(component: &Value, field: &str) -> Value {
    healthy(component)
        .map_or("", |condition| text(condition, field))
        .into()
}

fn healthy(component: &Value) -> Option<&Value> {
    items(&component["conditions"]).find(|condition| text(condition, "type") == "Healthy")
}
