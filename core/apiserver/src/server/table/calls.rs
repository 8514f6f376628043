//! Functions for cells that no other word of `columns.txt` describes.

mod access;
mod component;
mod event;
mod network;
mod node;
mod pod;
mod scaling;
mod storage;
mod workloads;

use serde_json::Value;

use super::rows::{between, human_duration, since};
use crate::environment::Timestamp;
use crate::object::text;

/// A function that fills the cell of an object at a time.
pub(super) type CellFunction = fn(&Value, Timestamp) -> Value;

/// The functions, by their names in `columns.txt`.
const CALLS: [(&str, CellFunction); 53] = [
    ("address_parent", network::address_parent),
    ("api_available", access::api_available),
    ("api_service", access::api_service),
    ("attributes_class_name", storage::attributes_class_name),
    ("claim_access_modes", storage::claim_access_modes),
    ("claim_capacity", storage::claim_capacity),
    ("claim_state", storage::claim_state),
    ("class_parameters", network::class_parameters),
    ("component_error", component::error),
    ("component_message", component::message),
    ("component_status", component::status),
    ("controller", workloads::controller),
    ("endpoints", network::endpoints),
    ("event_count", event::count),
    ("event_message", event::message),
    ("event_object", event::object),
    ("event_source", event::source),
    ("first_seen", event::first_seen),
    ("groups", access::groups),
    ("ingress_addresses", network::ingress_addresses),
    ("ingress_class_name", storage::ingress_class_name),
    ("ingress_hosts", network::ingress_hosts),
    ("ingress_ports", network::ingress_ports),
    ("job_completions", workloads::job_completions),
    ("job_duration", workloads::job_duration),
    ("job_status", workloads::job_status),
    ("last_seen", event::last_seen),
    ("node_kernel", node::kernel),
    ("node_roles", node::roles),
    ("node_status", node::status),
    ("param_kind", access::param_kind),
    ("param_ref", access::param_ref),
    ("pod_conditions", pod::conditions),
    ("pod_readiness_gates", pod::readiness_gates),
    ("pod_ready", pod::ready),
    ("pod_restarts", pod::restarts),
    ("pod_status", pod::status),
    ("quota_limits", workloads::quota_limits),
    ("quota_requests", workloads::quota_requests),
    ("requested_duration", access::requested_duration),
    ("scaling_targets", scaling::targets),
    ("service_accounts", access::service_accounts),
    (
        "service_external_address",
        network::service_external_address,
    ),
    ("service_ports", network::service_ports),
    ("signing_condition", access::signing_condition),
    ("slice_addresses", network::slice_addresses),
    ("slice_ports", network::slice_ports),
    ("storage_class_name", storage::storage_class_name),
    ("users", access::users),
    ("volume_access_modes", storage::volume_access_modes),
    ("volume_claim", storage::volume_claim),
    ("volume_class", storage::volume_class),
    ("volume_phase", storage::volume_phase),
];

/// The function of this name.
pub(super) fn named(name: &str) -> Option<CellFunction> {
    let found = CALLS.iter().find(|(known, _)| *known == name);
    found.map(|(_, call)| *call)
}

/// The items of a list; none where there is no list.
pub(super) fn items(list: &Value) -> impl DoubleEndedIterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

/// Returns a text, or another one in place of an empty text.
fn text_or(text: &str, otherwise: &str) -> Value {
    if text.is_empty() { otherwise } else { text }.into()
}

/// A condition of a `status`.
fn condition<'a>(object: &'a Value, ty: &str) -> Option<&'a Value> {
    items(&object["status"]["conditions"]).find(|condition| text(condition, "type") == ty)
}

/// The first three texts and how many more there are (`listWithMoreString`).
fn first_three(texts: &[String], otherwise: &str) -> Value {
    match texts {
        [a, b, c, more @ ..] if !more.is_empty() => {
            format!("{a},{b},{c} + {} more...", more.len()).into()
        }
        texts => text_or(&texts.join(","), otherwise),
    }
}
