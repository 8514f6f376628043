//! The warnings for a Service (`pkg/api/service/warnings.go`, v1.36).

use serde_json::Value;

use super::ip;
use super::label_selector::list;
use super::service_validation::{TOPOLOGY_HINTS, TOPOLOGY_MODE};
use crate::field::ErrorPath;
use crate::object::text;

/// The warnings for a Service (`GetWarningsForService`).
pub(super) fn for_service(service: &Value) -> Vec<String> {
    let spec = &service["spec"];
    let kind = text(spec, "type");
    let cluster_ip = text(spec, "clusterIP");
    let headless = kind == "ClusterIP" && cluster_ip == "None";
    let external_ips = list(spec, "externalIPs");
    let named = kind == "ExternalName";
    let load_balancer_ip = text(spec, "loadBalancerIP");
    let mut warnings = Vec::new();
    let annotations = &service["metadata"]["annotations"];
    if annotations.get(TOPOLOGY_HINTS).is_some() {
        warnings.push(format!(
            "annotation {TOPOLOGY_HINTS} is deprecated, please use {TOPOLOGY_MODE} instead"
        ));
    }
    if !cluster_ip.is_empty() && cluster_ip != "None" {
        warnings.extend(of_addresses(spec, "clusterIPs"));
    }
    for (is, field) in [
        (!load_balancer_ip.is_empty(), "loadBalancerIP"),
        (!external_ips.is_empty(), "externalIPs"),
        (text(spec, "sessionAffinity") != "None", "SessionAffinity"),
    ] {
        if headless && is {
            warnings.push(format!("spec.{field} is ignored for headless services"));
        }
    }
    warnings.extend(of_addresses(spec, "externalIPs"));
    if !external_ips.is_empty() && !headless && !named {
        let what =
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters";
        warnings.push(what.to_owned());
    }
    warnings.extend(ip::warning(load_balancer_ip, &SPEC.child("loadBalancerIP")));
    let ranges = list(spec, "loadBalancerSourceRanges").iter();
    for (i, range) in ranges.filter_map(Value::as_str).enumerate() {
        let field = SPEC.item("loadBalancerSourceRanges", i);
        warnings.extend(ip::range_warnings(range, &field));
    }
    for (is, what) in [
        (
            named && !external_ips.is_empty(),
            "spec.externalIPs is ignored when spec.type is \"ExternalName\"",
        ),
        (
            !named && !text(spec, "externalName").is_empty(),
            "spec.externalName is ignored when spec.type is not \"ExternalName\"",
        ),
        (
            text(spec, "trafficDistribution") == "PreferClose",
            "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"",
        ),
    ] {
        if is {
            warnings.push(what.to_owned());
        }
    }
    warnings
}

const SPEC: ErrorPath<'static> = ErrorPath::new("spec");

fn of_addresses(spec: &Value, list_name: &str) -> Vec<String> {
    let addresses = list(spec, list_name).iter().filter_map(Value::as_str);
    addresses
        .enumerate()
        .filter_map(|(i, address)| ip::warning(address, &SPEC.item(list_name, i)))
        .collect()
}
