//! The requests and limits of a pod, all its containers together
//! (`k8s.io/component-helpers/resource`, `podComputeUsageHelper` of `pkg/quota/v1/evaluator/core`).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Quantity;
use crate::object::text;

/// Amounts by resource.
pub(crate) type Amounts = BTreeMap<String, Quantity>;

/// The containers of a kind; none if the list is absent.
fn list<'a>(spec: &'a Value, kind: &str) -> &'a [Value] {
    spec[kind].as_array().map_or(&[], Vec::as_slice)
}

fn amounts(resources: &Value, which: &str) -> Amounts {
    let members = resources[which].as_object().into_iter().flatten();
    members
        .map(|(name, amount)| (name.clone(), Quantity::from(amount)))
        .collect()
}

fn add(sum: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        let sum = sum.entry(name.clone());
        sum.and_modify(|sum| *sum = sum.plus(*amount))
            .or_insert(*amount);
    }
}

fn most(sum: &mut Amounts, other: &Amounts) {
    for (name, amount) in other {
        let sum = sum.entry(name.clone());
        sum.and_modify(|sum| *sum = (*sum).max(*amount))
            .or_insert(*amount);
    }
}

/// Returns the requests and limits of a pod, in the form of those of a container (`PodRequests`, `PodLimits`).
pub(crate) fn requests_and_limits(pod: &Value) -> Value {
    let spec = &pod["spec"];
    let mut all = json!({});
    for which in ["requests", "limits"] {
        let mut sum = of_containers(spec, which);
        for (name, amount) in amounts(&spec["resources"], which) {
            sum.insert(name, amount);
        }
        let overhead = json!({"overhead": spec["overhead"]});
        let mut overhead = amounts(&overhead, "overhead");
        if which == "limits" {
            overhead.retain(|name, _| sum.contains_key(name));
        }
        add(&mut sum, &overhead);
        for (name, amount) in sum {
            all[which][name] = amount.to_string().into();
        }
    }
    all
}

/// Sums up the requests or the limits of the containers of a pod (`AggregateContainerRequests`,
/// `AggregateContainerLimits`).
pub(super) fn of_containers(spec: &Value, which: &str) -> Amounts {
    let mut sum = Amounts::new();
    for container in list(spec, "containers") {
        add(&mut sum, &amounts(&container["resources"], which));
    }
    // The containers that run before need no more than the most of one, with the sidecars before it.
    let (mut sidecars, mut before) = (Amounts::new(), Amounts::new());
    for container in list(spec, "initContainers") {
        let mut own = amounts(&container["resources"], which);
        if text(container, "restartPolicy") == "Always" {
            add(&mut sum, &own);
            add(&mut sidecars, &own);
            own = sidecars.clone();
        } else {
            add(&mut own, &sidecars);
        }
        most(&mut before, &own);
    }
    most(&mut sum, &before);
    sum
}

/// Requests and limits under the names that quotas have for them.
pub(crate) fn computed(resources: &Value) -> Amounts {
    let mut computed = Amounts::new();
    for (name, amount) in amounts(resources, "requests") {
        let native = matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage");
        if native || name.starts_with("hugepages-") {
            computed.insert(name.clone(), amount);
        }
        computed.insert(format!("requests.{name}"), amount);
    }
    for (name, amount) in amounts(resources, "limits") {
        if matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage") {
            computed.insert(format!("limits.{name}"), amount);
        }
    }
    computed
}
