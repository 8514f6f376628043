//! The row of a Node (`printNode`).

use std::collections::BTreeSet;

use serde_json::Value;

use super::{items, text_or};
use crate::environment::Timestamp;
use crate::object::{Metadata, text};

/// Returns whether it is ready, and whether it takes pods.
pub(super) fn status(node: &Value, _: Timestamp) -> Value {
    let mut conditions = items(&node["status"]["conditions"]).rev();
    let ready = conditions.find(|condition| text(condition, "type") == "Ready");
    let mut status = match ready.map(|ready| text(ready, "status")) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if node["spec"]["unschedulable"] == true {
        status.push_str(",SchedulingDisabled");
    }
    status.into()
}

/// The version of its kernel, and the architecture if it is known.
pub(super) fn kernel(node: &Value, _: Timestamp) -> Value {
    let info = &node["status"]["nodeInfo"];
    let version = text_or(text(info, "kernelVersion"), "<unknown>");
    match text(info, "architecture") {
        "" => version,
        known => format!("{} ({known})", version.as_str().unwrap_or_default()).into(),
    }
}

/// The roles that its labels give it (`findNodeRoles`).
pub(super) fn roles(node: &Value, _: Timestamp) -> Value {
    let labels = node.metadata().and_then(|metadata| metadata.get("labels"));
    let labels = labels.and_then(Value::as_object).into_iter().flatten();
    let roles = labels.filter_map(|(key, value)| {
        match (key.strip_prefix("node-role.kubernetes.io/"), key.as_str()) {
            (Some(role), _) => Some(role),
            (None, "kubernetes.io/role") => value.as_str(),
            (None, _) => None,
        }
    });
    let roles: BTreeSet<&str> = roles.filter(|role| !role.is_empty()).collect();
    let roles: Vec<&str> = roles.into_iter().collect();
    text_or(&roles.join(","), "<none>")
}
