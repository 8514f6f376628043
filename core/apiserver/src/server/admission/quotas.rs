//! Quotas (`k8s.io/apiserver/pkg/admission/plugin/resourcequota/controller.go`,
//! `pkg/quota/v1/evaluator/core`). The amounts that are left come from the status, which a
//! controller writes first; a request writes the amounts that it uses there itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{Attributes, forbidden};
use crate::object::{JsonMap, Metadata, text};
use crate::schema::Quantity;
use crate::schema::pod_amounts::{self, Amounts};
use crate::server::kinds::label_selector::list;
use crate::server::kinds::quota_scopes;
use crate::server::{ApiServer, Trace};
use crate::status::Refusal;

/// The resources that each container must name if a quota limits them.
const COMPUTE: [&str; 6] = [
    "cpu",
    "limits.cpu",
    "limits.memory",
    "memory",
    "requests.cpu",
    "requests.memory",
];
/// Kinds that are counted under their plain name too.
const PLAIN: [&str; 4] = [
    "configmaps",
    "resourcequotas",
    "replicationcontrollers",
    "secrets",
];

/// Checks the quotas of a namespace, and notes the amounts that a request uses.
pub(super) fn charge(
    server: &mut ApiServer,
    asked: &Attributes<'_>,
    object: &Value,
) -> Result<(), Refusal> {
    if !handles(asked, object) {
        return Ok(());
    }
    let prefix = format!("/registry/resourcequotas/{}/", asked.info.namespace);
    if server.store.range(&prefix).next().is_none() {
        return Ok(());
    }
    let quotas = server.store.range(&prefix);
    let mut quotas: Vec<Arc<Value>> = quotas.map(|(_, _, quota)| Arc::clone(quota)).collect();
    quotas.retain(|quota| applies(quota, asked, object));
    for quota in &quotas {
        constrain(quota, asked, object)?;
    }
    let mut wanted = usage(asked, object);
    if let Some(old) = asked.old {
        for (resource, amount) in usage(asked, old) {
            let more = wanted.get(&resource).map(|new| new.minus(amount));
            let more = more.filter(|more| !more.is_negative());
            wanted.insert(resource, more.unwrap_or(Quantity::from(0)));
        }
    }
    if wanted.values().all(|amount| amount.is_zero()) {
        return Ok(());
    }
    let mut changed = Vec::new();
    for quota in &quotas {
        changed.extend(used_with(quota, &wanted, asked, object)?);
    }
    if asked.info.options.dry_run {
        return Ok(());
    }
    for quota in changed {
        let path = format!(
            "/api/v1/namespaces/{}/resourcequotas/{}/status",
            quota.namespace(),
            quota.name()
        );
        let (write, bytes) = server.inner_request("PUT", &path, &quota)?;
        server.update(&write, &bytes, &mut Trace::default())?;
    }
    Ok(())
}

/// Returns whether a request counts: creations do, and changes of objects that can cost more than
/// before.
fn handles(asked: &Attributes<'_>, object: &Value) -> bool {
    let plural = asked.info.resource.plural.as_str();
    match (asked.operation, asked.info.subresource.as_str()) {
        ("CREATE", "") => true,
        ("UPDATE", "") => match plural {
            "services" | "persistentvolumeclaims" => true,
            // A pod can pass from one scope to another
            "pods" => asked.old.is_some_and(|old| ends(old) != ends(object)),
            _ => false,
        },
        ("UPDATE", "resize") => plural == "pods",
        _ => false,
    }
}

/// Returns whether a pod ends at a time of its own (`IsTerminating`).
fn ends(pod: &Value) -> bool {
    pod["spec"]["activeDeadlineSeconds"].as_i64() >= Some(0)
}

fn amounts(value: &Value) -> Amounts {
    let members = value.as_object().into_iter().flatten();
    members
        .map(|(name, amount)| (name.clone(), Quantity::from(amount)))
        .collect()
}

/// Returns whether a quota is about an object: it limits something of its kind, and its scopes fit.
fn applies(quota: &Value, asked: &Attributes<'_>, object: &Value) -> bool {
    let hard = quota["status"]["hard"].as_object();
    let mut names = hard.into_iter().flat_map(JsonMap::keys);
    let limits = names.any(|name| is_about(name, asked));
    let resource = &asked.info.resource;
    let pod =
        (resource.plural == "pods" && resource.group_version.group.is_empty()).then_some(object);
    limits && quota_scopes::apply(&quota["spec"], pod)
}

/// Returns whether an amount is one that objects of the kind use (`MatchingResources`).
fn is_about(name: &str, asked: &Attributes<'_>) -> bool {
    let plural = asked.info.resource.plural.as_str();
    let core = asked.info.resource.group_version.group.is_empty();
    name == counted(asked)
        || core && PLAIN.contains(&plural) && name == plural
        || core && plural == "pods" && of_pods(name)
        || core && plural == "services" && name.starts_with("services")
        || core && plural == "persistentvolumeclaims" && of_claims(name)
}

fn of_pods(name: &str) -> bool {
    let computed = ["requests.", "limits.", "hugepages-"];
    matches!(name, "pods" | "cpu" | "memory" | "ephemeral-storage")
        || computed.iter().any(|prefix| name.starts_with(prefix)) && name != "requests.storage"
}

fn of_claims(name: &str) -> bool {
    matches!(name, "persistentvolumeclaims" | "requests.storage")
        || name.contains(".storageclass.storage.k8s.io/")
}

/// The name under which all objects of the kind are counted.
fn counted(asked: &Attributes<'_>) -> String {
    format!("count/{}", asked.info.resource.group_resource())
}

/// Refuses a pod if one of its containers does not name a resource that the quota limits. Refuses
/// everything before the use of the quota is known.
fn constrain(quota: &Value, asked: &Attributes<'_>, object: &Value) -> Result<(), Refusal> {
    let mut hard = amounts(&quota["status"]["hard"]);
    hard.retain(|name, _| is_about(name, asked));
    if asked.info.resource.plural == "pods" && !says_for_all(&object["spec"]) {
        let limited = COMPUTE.into_iter().filter(|name| hard.contains_key(*name));
        let missing: Vec<String> = limited
            .filter_map(|name| {
                let without = containers(object).filter(|container| {
                    !pod_amounts::computed(&container["resources"]).contains_key(name)
                });
                let mut without: Vec<&str> = without.map(|it| text(it, "name")).collect();
                without.sort_unstable();
                (!without.is_empty()).then(|| format!("{name} for: {}", without.join(",")))
            })
            .collect();
        if !missing.is_empty() {
            let missing = missing.join("; ");
            let why = format!("failed quota: {}: must specify {missing}", quota.name());
            return Err(forbidden(asked, object, &why));
        }
    }
    let used = amounts(&quota["status"]["used"]);
    if hard.keys().any(|name| !used.contains_key(name)) {
        let names: Vec<&str> = hard.keys().map(String::as_str).collect();
        let names = names.join(",");
        let why = format!(
            "status unknown for quota: {}, resources: {names}",
            quota.name()
        );
        return Err(forbidden(asked, object, &why));
    }
    Ok(())
}

/// Returns whether a pod names its needs as a whole (`IsPodLevelResourcesSet`).
fn says_for_all(spec: &Value) -> bool {
    let amounts = ["requests", "limits"].map(|which| spec["resources"][which].as_object());
    let mut names = amounts.into_iter().flatten().flat_map(JsonMap::keys);
    names.any(|name| matches!(name.as_str(), "cpu" | "memory") || name.starts_with("hugepages-"))
}

fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    let kinds = ["containers", "initContainers"].into_iter();
    kinds.flat_map(|kind| list(&pod["spec"], kind))
}

/// Returns the amounts that an object uses.
fn usage(asked: &Attributes<'_>, object: &Value) -> Amounts {
    let mut used = Amounts::from([(counted(asked), Quantity::from(1))]);
    if !asked.info.resource.group_version.group.is_empty() {
        return used;
    }
    match asked.info.resource.plural.as_str() {
        "pods" => {
            let ended = matches!(text(&object["status"], "phase"), "Succeeded" | "Failed");
            if !ended {
                used.insert("pods".to_owned(), Quantity::from(1));
                used.extend(pod_amounts::computed(&pod_amounts::requests_and_limits(
                    object,
                )));
            }
        }
        "services" => {
            let ports = list(&object["spec"], "ports");
            let count = |ports: usize| Quantity::from(i64::try_from(ports).unwrap_or(i64::MAX));
            used.insert("services".to_owned(), count(1));
            let (nodes, balancers) = match text(&object["spec"], "type") {
                "NodePort" => (ports.len(), 0),
                "LoadBalancer" if object["spec"]["allocateLoadBalancerNodePorts"] == false => {
                    let given = ports.iter().filter(|port| port.get("nodePort").is_some());
                    (given.count(), 1)
                }
                "LoadBalancer" => (ports.len(), 1),
                _ => (0, 0),
            };
            used.insert("services.nodeports".to_owned(), count(nodes));
            used.insert("services.loadbalancers".to_owned(), count(balancers));
        }
        "persistentvolumeclaims" => {
            let storage = object["spec"]["resources"]["requests"].get("storage");
            let storage = storage.map(Quantity::from);
            let class = text(&object["spec"], "storageClassName");
            let mut add = |name: &str, amount: Quantity| {
                used.insert(name.to_owned(), amount);
                if !class.is_empty() {
                    let of_class = format!("{class}.storageclass.storage.k8s.io/{name}");
                    used.insert(of_class, amount);
                }
            };
            add("persistentvolumeclaims", Quantity::from(1));
            if let Some(storage) = storage {
                add("requests.storage", storage);
            }
        }
        plural if PLAIN.contains(&plural) => {
            used.insert(plural.to_owned(), Quantity::from(1));
        }
        _ => {}
    }
    used
}

/// Returns a quota with the amounts that are used after the request; `None` if it is not touched.
fn used_with(
    quota: &Value,
    wanted: &Amounts,
    asked: &Attributes<'_>,
    object: &Value,
) -> Result<Option<Value>, Refusal> {
    let (hard, used) = (
        amounts(&quota["status"]["hard"]),
        amounts(&quota["status"]["used"]),
    );
    let requested: BTreeMap<&String, Quantity> = wanted
        .iter()
        .filter(|(name, _)| hard.contains_key(*name))
        .map(|(name, amount)| (name, *amount))
        .collect();
    if requested.is_empty() {
        return Ok(None);
    }
    let after = |name: &String, more: Quantity| match used.get(name) {
        Some(used) => used.plus(more),
        None => more,
    };
    let exceeded: Vec<&String> = requested
        .iter()
        .filter(|(name, more)| after(name, **more) > hard[**name])
        .map(|(name, _)| *name)
        .collect();
    if !exceeded.is_empty() {
        let zero = Quantity::from(0);
        let shown = |amount: &dyn Fn(&String) -> Quantity| {
            let parts = exceeded.iter();
            let parts: Vec<String> = parts
                .map(|name| format!("{name}={}", amount(name)))
                .collect();
            parts.join(",")
        };
        let why = format!(
            "exceeded quota: {}, requested: {}, used: {}, limited: {}",
            quota.name(),
            shown(&|name| requested[name]),
            shown(&|name| used.get(name).copied().unwrap_or(zero)),
            shown(&|name| hard[name]),
        );
        return Err(forbidden(asked, object, &why));
    }
    if requested.values().all(|amount| amount.is_zero()) {
        return Ok(None);
    }
    let mut quota = quota.clone();
    if !quota["status"]["used"].is_object() {
        quota["status"]["used"] = json!({});
    }
    for (name, more) in requested {
        quota["status"]["used"][name.as_str()] = after(name, more).to_string().into();
    }
    Ok(Some(quota))
}
