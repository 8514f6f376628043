//! The status of a pod (`podStatusStrategy` of `pkg/registry/core/pod/strategy.go` and
//! `ValidatePodStatusUpdate` of `pkg/apis/core/validation/validation.go`).

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde_json::Value;

use super::label_selector::list;
use super::metadata::IMMUTABLE;
use super::{container_restarts, internal, ip, metadata, names, pod_annotations, pod_claim_status};
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::FieldError;

/// A field that is dropped, because the feature `DRANodeAllocatableResources` is off.
const ALLOCATABLE: &str = "nodeAllocatableResourceClaimStatuses";

/// Restores the class of service and the observed generations that a writer of the status leaves
/// out (`podStatusStrategy.PrepareForUpdate`).
pub(super) fn prepare(pod: &mut Value, live: &Value) {
    let before = &live["status"];
    let status = &mut pod["status"];
    if list(before, ALLOCATABLE).is_empty()
        && let Value::Object(status) = status
    {
        status.remove(ALLOCATABLE);
    }
    for field in ["qosClass", "observedGeneration"] {
        if status.get(field).is_none()
            && let Some(value) = before.get(field)
        {
            status[field] = value.clone();
        }
    }
    let mut seen: Vec<&Value> = before["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    let conditions = status.get_mut("conditions").and_then(Value::as_array_mut);
    for condition in conditions.into_iter().flatten() {
        let kind = condition["type"].clone();
        let Some(position) = seen.iter().position(|old| old["type"] == kind) else {
            continue;
        };
        let old = seen.remove(position);
        if condition.get("observedGeneration").is_none()
            && let Some(generation) = old.get("observedGeneration")
        {
            condition["observedGeneration"] = generation.clone();
        }
    }
}

/// Adds a condition, or changes the one of its type, and notes since when it is as it is
/// (`UpdatePodCondition`, `meta.SetStatusCondition`).
pub(in crate::server) fn set_condition(object: &mut Value, mut condition: Value, now: &str) {
    let is_pod = text(object, "kind") == "Pod";
    let conditions = &mut object["status"]["conditions"];
    if !conditions.is_array() {
        *conditions = Value::Array(Vec::new());
    }
    let Value::Array(conditions) = conditions else {
        return;
    };
    let kind = condition["type"].clone();
    let old = conditions.iter_mut().find(|old| old["type"] == kind);
    let same = old
        .as_ref()
        .filter(|old| old["status"] == condition["status"]);
    condition["lastTransitionTime"] = match same {
        Some(old) => old["lastTransitionTime"].clone(),
        None => now.into(),
    };
    if is_pod {
        condition["lastProbeTime"] = Value::Null;
    }
    match old {
        Some(old) => *old = condition,
        None => conditions.push(condition),
    }
}

/// The warnings for a written status: addresses in forms that are accepted no longer.
pub(super) fn warn(pod: &Value) -> Vec<String> {
    let path = ErrorPath::new("status");
    let of = |kind: &'static str| {
        let all = list(&pod["status"], kind).iter().enumerate();
        let warning = |(i, item)| ip::warning(text(item, "ip"), &path.item(kind, i).child("ip"));
        all.filter_map(warning).collect::<Vec<_>>()
    };
    ["podIPs", "hostIPs"].into_iter().flat_map(of).collect()
}

/// Checks an update of the status.
pub(super) fn validate(pod: &Value, live: &Value) -> Vec<FieldError> {
    let mut errors = metadata::builtin_update(pod, live);
    errors.extend(pod_annotations::validate_change(pod, live));
    let (status, before) = (&pod["status"], &live["status"]);
    errors.extend(conditions(status));
    if text(&pod["spec"], "nodeName") != text(&live["spec"], "nodeName") {
        let detail = "may not be changed directly";
        errors.push(FieldError::forbidden("status.nodeName", detail));
    }
    let node = text(status, "nominatedNodeName");
    if !node.is_empty() && node != text(before, "nominatedNodeName") {
        let reasons = names::subdomain(node).into_iter();
        let field = "status.nominatedNodeName";
        errors.extend(reasons.map(|why| FieldError::invalid(field, &node.into(), why)));
        // `ClearingNominatedNodeNameAfterBinding`, on since v1.35.
        if !text(&live["spec"], "nodeName").is_empty() {
            let detail = "may not be set on pods that are already bound to a node";
            errors.push(FieldError::forbidden(field, detail));
        }
    }
    errors.extend(observed(status, &STATUS));
    let class = text(status, "qosClass");
    if class != text(before, "qosClass") {
        let field = "status.qosClass";
        errors.push(FieldError::invalid(field, &class.into(), IMMUTABLE));
    }
    for (kind, containers) in [
        ("containerStatuses", "containers"),
        ("initContainerStatuses", "initContainers"),
        ("ephemeralContainerStatuses", "ephemeralContainers"),
    ] {
        errors.extend(restarts(kind, containers, pod, live));
    }
    errors.extend(pod_claim_status::claims(pod));
    errors.extend(addresses(status, before, "podIPs", "PodIP"));
    errors.extend(host_addresses(status, before));
    for kind in [
        "containerStatuses",
        "initContainerStatuses",
        "ephemeralContainerStatuses",
    ] {
        errors.extend(users(kind, pod));
    }
    errors.extend(pod_claim_status::devices(pod));
    errors
}

const STATUS: ErrorPath<'static> = ErrorPath::new("status");

/// A condition that the system does not know has a qualified name (`validatePodConditions`); the
/// path is upstream's.
fn conditions(status: &Value) -> Vec<FieldError> {
    const OF_THE_SYSTEM: [&str; 3] = ["PodScheduled", "Ready", "Initialized"];
    let mut errors = Vec::new();
    for (i, condition) in list(status, "conditions").iter().enumerate() {
        let item = STATUS.item("conditions", i);
        errors.extend(observed(condition, &item));
        let name = text(condition, "type");
        if OF_THE_SYSTEM.contains(&name) {
            continue;
        }
        let field = item.child("Type");
        let reasons = names::qualified(name).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field, &name.into(), why)));
    }
    errors
}

/// Checks the observed generation: a generation, which counts from one, or nothing.
fn observed(owner: &Value, path: &ErrorPath<'_>) -> Option<FieldError> {
    let observed = &owner["observedGeneration"];
    let field = path.child("observedGeneration");
    let detail = "must be a non-negative integer";
    let negative = observed.as_i64().is_some_and(|number| number < 0);
    negative.then(|| FieldError::invalid(field, observed, detail))
}

/// `ValidateContainerStateTransition` and its siblings: a container that ended stays so, unless its
/// policy or a rule starts it again.
fn restarts(kind: &str, containers: &str, pod: &Value, live: &Value) -> Vec<FieldError> {
    let ephemeral = kind == "ephemeralContainerStatuses";
    let spec = &live["spec"];
    if !ephemeral && container_restarts::all_may_start_again(spec) {
        return Vec::new();
    }
    let policy = text(spec, "restartPolicy");
    let starts_again = |name: &str, exit_code: i64| {
        let mut all = list(spec, containers).iter();
        let found = all.find(|container| text(container, "name") == name);
        found.is_some_and(|it| container_restarts::starts_again(it, policy, exit_code))
    };
    let ended = |status: &Value| status["state"]["terminated"].is_object();
    let mut errors = Vec::new();
    for (i, before) in list(&live["status"], kind).iter().enumerate() {
        let name = text(before, "name");
        let exit = before["state"]["terminated"]["exitCode"].as_i64();
        if !ended(before) || !ephemeral && starts_again(name, exit.unwrap_or(0)) {
            continue;
        }
        let mut now = list(&pod["status"], kind).iter();
        if now.any(|status| text(status, "name") == name && !ended(status)) {
            let detail = "may not be transitioned to non-terminated state";
            errors.push(FieldError::forbidden(
                STATUS.item(kind, i).child("state"),
                detail,
            ));
        }
    }
    errors
}

/// `validateLinuxContainerUser`, of each container of a pod that is not of Windows.
fn users(kind: &str, pod: &Value) -> Vec<FieldError> {
    let windows = pod["spec"]["os"]["name"] == "windows";
    let mut errors = Vec::new();
    for (i, status) in list(&pod["status"], kind).iter().enumerate() {
        let Some(user) = status["user"].get("linux") else {
            continue;
        };
        let item = STATUS.item(kind, i);
        let path = item.child("user.linux");
        if windows {
            errors.push(FieldError::forbidden(
                path,
                "cannot be set for a windows pod",
            ));
            continue;
        }
        let check = |id: &Value, field: ErrorPath<'_>| -> Vec<FieldError> {
            let reasons = names::in_range(id.as_i64().unwrap_or(0), 0, i64::from(i32::MAX));
            let reasons = reasons.into_iter();
            reasons
                .map(|why| FieldError::invalid(field, id, why))
                .collect()
        };
        for field in ["uid", "gid"] {
            errors.extend(check(&user[field], path.child(field)));
        }
        for (j, id) in list(user, "supplementalGroups").iter().enumerate() {
            errors.extend(check(id, path.item("supplementalGroups", j)));
        }
    }
    errors
}

/// The address of the host is the first of its addresses (`validateHostIPs`).
fn host_addresses(status: &Value, before: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if let Some(first) = list(status, "hostIPs").first()
        && text(first, "ip") != text(status, "hostIP")
    {
        let detail = "must be equal to `hostIP`";
        let field = "status.hostIPs[0].ip";
        errors.push(FieldError::invalid(field, &first["ip"], detail));
    }
    errors.extend(addresses(status, before, "hostIPs", "HostIP"));
    errors
}

/// At most one address of each family (`validatePodIPs`, over `IsDualStackIPStrings` of `k8s.io/utils/net`).
fn addresses(status: &Value, before: &Value, name: &str, ty: &str) -> Vec<FieldError> {
    let path = STATUS.child(name);
    let of = |status| -> Vec<Value> {
        let addresses = list(status, name).iter();
        addresses.map(|address| address["ip"].clone()).collect()
    };
    let (now, old) = (of(status), of(before));
    let mut errors: Vec<FieldError> = now
        .iter()
        .enumerate()
        .filter_map(|(i, address)| ip::check(address, &path.index(i), &old))
        .collect();
    if now.len() < 2 {
        return errors;
    }
    let parsed: Vec<Option<IpAddr>> = now.iter().map(|ip| ip::sloppy(ip.as_str()?)).collect();
    let unread = parsed.iter().position(Option::is_none);
    if let Some(i) = unread {
        let address = now[i].as_str().unwrap_or_default();
        let detail =
            format!("failed to check for dual stack with error:invalid IP[{i}]: {address}");
        errors.push(FieldError::internal(path, detail));
    }
    let families: BTreeSet<bool> = parsed.iter().flatten().map(IpAddr::is_ipv4).collect();
    if unread.is_some() || families.len() != 2 || now.len() > 2 {
        let shown = internal::compact(ty, &status[name]);
        let detail = "may specify no more than one IP for each IP family";
        errors.push(FieldError::invalid(path, &Value::Null, detail).shown_as(shown));
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn texts(status: Value, before: Value, policy: &str) -> Vec<String> {
        let metadata = json!({"name": "p", "namespace": "n", "uid": "u", "resourceVersion": "1"});
        let pod = |status| {
            json!({"metadata": metadata, "status": status,
            "spec": {"restartPolicy": policy, "containers": [{"name": "a"}]}})
        };
        let errors = validate(&pod(status), &pod(before));
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_pod_has_one_address_of_each_family() {
        let ips = |ips: &[&str]| -> Value {
            let ips: Vec<Value> = ips.iter().map(|ip| json!({"ip": ip})).collect();
            json!({"podIPs": ips})
        };
        assert!(texts(ips(&["10.0.0.1", "fd00::1"]), json!({}), "Always").is_empty());
        assert_eq!(
            texts(ips(&["10.0.0.1", "10.0.0.1"]), json!({}), "Always"),
            [
                "status.podIPs: Invalid value: [{\"IP\":\"10.0.0.1\"},{\"IP\":\"10.0.0.1\"}]: may \
                 specify no more than one IP for each IP family"
            ]
        );
        // What is stored may stay.
        let odd = ips(&["010.0.0.1"]);
        assert!(texts(odd.clone(), odd.clone(), "Always").is_empty());
        assert_eq!(texts(odd, json!({}), "Always").len(), 1);
    }

    #[test]
    fn the_first_address_of_the_host_is_its_address() {
        let status = json!({"hostIP": "10.0.0.1", "hostIPs": [{"ip": "10.0.0.2"}]});
        assert_eq!(
            texts(status, json!({}), "Always"),
            ["status.hostIPs[0].ip: Invalid value: \"10.0.0.2\": must be equal to `hostIP`"]
        );
    }

    #[test]
    fn a_container_that_ended_stays_so_unless_its_pod_restarts_it() {
        let state = |state: Value| json!({"containerStatuses": [{"name": "a", "state": state}]});
        let failed = || state(json!({"terminated": {"exitCode": 1}}));
        let done = || state(json!({"terminated": {"exitCode": 0}}));
        let runs = || state(json!({"running": {}}));
        assert!(texts(runs(), failed(), "Always").is_empty());
        assert!(texts(runs(), failed(), "OnFailure").is_empty());
        assert!(texts(done(), done(), "Never").is_empty());
        for (before, policy) in [(done(), "OnFailure"), (failed(), "Never")] {
            assert_eq!(
                texts(runs(), before, policy),
                [
                    "status.containerStatuses[0].state: Forbidden: may not be transitioned to \
                     non-terminated state"
                ]
            );
        }
    }

    #[test]
    fn a_container_that_the_pod_does_not_have_stays_ended() {
        let state = |state: Value| json!({"containerStatuses": [{"name": "b", "state": state}]});
        let ended = state(json!({"terminated": {"exitCode": 1}}));
        let said = texts(state(json!({"running": {}})), ended, "Always");
        assert_eq!(said.len(), 1);
    }

    #[test]
    fn users_and_generations_are_not_negative() {
        let user = json!({"linux": {"uid": -1, "gid": 0}});
        let status = json!({"observedGeneration": -1,
            "containerStatuses": [{"name": "a", "user": user}]});
        assert_eq!(
            texts(status, json!({}), "Always"),
            [
                "status.observedGeneration: Invalid value: -1: must be a non-negative integer",
                "status.containerStatuses[0].user.linux.uid: Invalid value: -1: must be between 0 \
                 and 2147483647, inclusive",
            ]
        );
    }

    #[test]
    fn conditions_of_ones_own_have_qualified_names() {
        let condition = |ty: &str| json!({"conditions": [{"type": ty, "status": "True"}]});
        assert!(texts(condition("Ready"), json!({}), "Always").is_empty());
        assert!(texts(condition("x.com/y"), json!({}), "Always").is_empty());
        let said = texts(condition("bad key!"), json!({}), "Always");
        assert!(said[0].starts_with("status.conditions[0].Type: Invalid value: \"bad key!\""));
    }
}
