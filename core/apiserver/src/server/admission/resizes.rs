//! Resizes of pods that run: their node must be there and have room for them
//! (`plugin/pkg/admission/podresize`).

use serde_json::Value;

use super::{Attributes, forbidden};
use crate::go;
use crate::object::{Metadata, text};
use crate::schema::pod_amounts::requests_and_limits;
use crate::status::{Cause, Refusal};
use crate::storage::Store;
use optimist_values::Quantity;

/// Checks a resize against the node of the pod.
///
/// # Errors
/// A refusal if the node is not there, runs no Linux, or is too small.
pub(super) fn check(asked: &Attributes<'_>, pod: &Value, store: &Store) -> Result<(), Refusal> {
    let node = text(&pod["spec"], "nodeName");
    let changes = asked
        .old
        .is_some_and(|old| old["metadata"]["generation"] != pod["metadata"]["generation"]);
    if asked.info.subresource != "resize" || node.is_empty() || !changes {
        return Ok(());
    }
    let Some((_, found)) = store.get(&format!("/registry/minions/{node}")) else {
        let why = format!("node {} not found", go::quote(node));
        return Err(forbidden(asked, pod, &why));
    };
    let system = text(&found["metadata"]["labels"], "kubernetes.io/os");
    if !matches!(system, "" | "linux") {
        let (node, system) = (go::quote(found.name()), go::quote(system));
        let why = format!("pod resize is only supported on linux nodes, node {node} is {system}");
        return Err(because(forbidden(asked, pod, &why), "UnsupportedPlatform"));
    }
    let (requests, room) = (
        &requests_and_limits(pod)["requests"],
        &found["status"]["allocatable"],
    );
    let short: Vec<String> = [
        ("cpu", Quantity::thousandths as fn(Quantity) -> i64),
        ("memory", Quantity::rounded_up),
    ]
    .into_iter()
    .filter_map(|(name, number)| {
        let (wanted, there) = (Quantity::from(&requests[name]), Quantity::from(&room[name]));
        let (shown, most) = (number(wanted), number(there));
        (wanted > there).then(|| format!("{name}, requested: {shown}, allocatable: {most}"))
    })
    .collect();
    if short.is_empty() {
        return Ok(());
    }
    let short = short.join("; ");
    let why = format!("node didn't have enough allocatable resources: {short}");
    Err(because(forbidden(asked, pod, &why), "NodeCapacity"))
}

fn because(refusal: Refusal, reason: &'static str) -> Refusal {
    refusal.with_cause(Cause {
        reason,
        message: String::new(),
        field: String::new(),
    })
}
