//! What a Service may say (`ValidateService` and `ValidateServiceUpdate` of
//! `pkg/apis/core/validation`).

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde_json::Value;

use super::label_selector::list;
use super::metadata::{self, IMMUTABLE};
use super::pod_template::one_of;
use super::service::{
    is_external, is_headless, is_load_balancer, needs_cluster_ip, needs_health_check_port,
};
use super::service_addresses::{address, cluster_ips, kept};
use super::{containers, names};
use crate::object::text;
use crate::status::FieldError;

/// The port of the kubelet, which no load balancer may expose.
const KUBELET: i64 = 10_250;
/// The longest time that a client sticks to a pod, in seconds: a day.
const LONGEST_AFFINITY: i64 = 86_400;

/// Checks a Service; `live` is the stored one on update.
pub(super) fn validate(service: &Value, live: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if let Some(live) = live {
        errors.extend(metadata::builtin_update(service, live));
        errors.extend(kept(service, live));
        errors.extend(load_balancer_class(service, Some(live)));
        let port = |service: &Value| service["spec"]["healthCheckNodePort"].clone();
        if needs_health_check_port(live)
            && needs_health_check_port(service)
            && port(live) != port(service)
        {
            let field = "spec.healthCheckNodePort";
            errors.push(FieldError::forbidden(field, IMMUTABLE));
        }
    }
    if live.is_none() {
        errors.extend(metadata::builtin(service, names::label_1035));
    }
    // Everything else is checked of an update like of a new Service.
    let spec = &service["spec"];
    if list(spec, "ports").is_empty() && !is_headless(service) && needs_cluster_ip(service) {
        errors.push(FieldError::required("spec.ports", ""));
    }
    errors.extend(by_type(service));
    errors.extend(ports(service));
    errors.extend(metadata::labels(spec.get("selector"), "spec.selector"));
    errors.extend(affinity(spec));
    errors.extend(cluster_ips(service));
    for (i, ip) in list(spec, "externalIPs").iter().enumerate() {
        errors.extend(address(ip, &format!("spec.externalIPs[{i}]")));
    }
    let types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
    errors.extend(one_of(spec, "spec.type", "type", &types));
    errors.extend(repeated_ports(service));
    errors.extend(for_load_balancers(service));
    errors.extend(load_balancer_class(service, None));
    errors.extend(traffic(service));
    errors
}

/// What each type of Service cannot have.
fn by_type(service: &Value) -> Vec<FieldError> {
    let spec = &service["spec"];
    let mut errors = Vec::new();
    let kind = text(spec, "type");
    if kind == "LoadBalancer" {
        for (i, port) in list(spec, "ports").iter().enumerate() {
            if port["port"] == KUBELET {
                let detail =
                    format!("may not expose port {KUBELET} externally since it is used by kubelet");
                let field = format!("spec.ports[{i}]");
                errors.push(FieldError::invalid(field, &KUBELET.into(), detail));
            }
        }
    }
    if matches!(kind, "LoadBalancer" | "NodePort") && is_headless(service) {
        let detail = format!("may not be set to 'None' for {kind} services");
        errors.push(FieldError::invalid(
            "spec.clusterIPs[0]",
            &"None".into(),
            detail,
        ));
    }
    if kind != "ExternalName" {
        return errors;
    }
    for (field, set) in [
        ("clusterIPs", !list(spec, "clusterIPs").is_empty()),
        ("ipFamilies", !list(spec, "ipFamilies").is_empty()),
        ("ipFamilyPolicy", spec.get("ipFamilyPolicy").is_some()),
    ] {
        if set {
            let detail = "may not be set for ExternalName services";
            errors.push(FieldError::forbidden(format!("spec.{field}"), detail));
        }
    }
    let name = text(spec, "externalName");
    let name = name.strip_suffix('.').unwrap_or(name);
    if name.is_empty() {
        errors.push(FieldError::required("spec.externalName", ""));
    } else {
        let reasons = names::subdomain(name).into_iter();
        errors
            .extend(reasons.map(|why| FieldError::invalid("spec.externalName", &name.into(), why)));
    }
    errors
}

/// `validateServicePort`.
fn ports(service: &Value) -> Vec<FieldError> {
    let ports = list(&service["spec"], "ports");
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    for (i, port) in ports.iter().enumerate() {
        let path = format!("spec.ports[{i}]");
        let field = |name: &str| format!("{path}.{name}");
        let name = text(port, "name");
        if name.is_empty() {
            if ports.len() > 1 {
                errors.push(FieldError::required(field("name"), ""));
            }
        } else {
            let reasons = names::label(name).into_iter();
            errors.extend(reasons.map(|why| FieldError::invalid(field("name"), &name.into(), why)));
            if !seen.insert(name) {
                errors.push(FieldError::duplicate(field("name"), &name.into()));
            }
        }
        let number = port["port"].as_i64().unwrap_or(0);
        let reasons = names::port_number(number).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field("port"), &number.into(), why)));
        let protocols = ["SCTP", "TCP", "UDP"];
        errors.extend(one_of(port, &field("protocol"), "protocol", &protocols));
        errors.extend(containers::port_or_name(
            &port["targetPort"],
            &field("targetPort"),
        ));
        if let Some(protocol) = port.get("appProtocol").and_then(Value::as_str) {
            let reasons = names::qualified(protocol).into_iter();
            let field = field("appProtocol");
            errors.extend(reasons.map(|why| FieldError::invalid(&field, &protocol.into(), why)));
        }
    }
    errors
}

fn affinity(spec: &Value) -> Vec<FieldError> {
    let path = "spec.sessionAffinityConfig";
    let mut errors: Vec<FieldError> = one_of(
        spec,
        "spec.sessionAffinity",
        "sessionAffinity",
        &["ClientIP", "None"],
    )
    .into_iter()
    .collect();
    let config = spec.get("sessionAffinityConfig");
    match (text(spec, "sessionAffinity"), config) {
        ("None", Some(_)) => {
            let detail = "must not be set when session affinity is None";
            errors.push(FieldError::forbidden(path, detail));
        }
        ("ClientIP", config) => {
            // Defaults see to it that there is a time.
            let timeout = config.and_then(|config| config.pointer("/clientIP/timeoutSeconds"));
            if let Some(seconds) = timeout.and_then(Value::as_i64)
                && !(1..=LONGEST_AFFINITY).contains(&seconds)
            {
                let field = format!("{path}.clientIP.timeoutSeconds");
                let detail = format!("must be greater than 0 and less than {LONGEST_AFFINITY}");
                errors.push(FieldError::invalid(field, &seconds.into(), detail));
            }
        }
        _ => {}
    }
    errors
}

/// No two ports of a Service are the same, neither inside the cluster nor on its nodes.
fn repeated_ports(service: &Value) -> Vec<FieldError> {
    let spec = &service["spec"];
    let ports = list(spec, "ports");
    let mut errors = Vec::new();
    let of = |port: &Value, field: &str| port.get(field).and_then(Value::as_i64).unwrap_or(0);
    if text(spec, "type") == "ClusterIP" {
        for (i, port) in ports.iter().enumerate() {
            if of(port, "nodePort") != 0 {
                let field = format!("spec.ports[{i}].nodePort");
                let detail = "may not be used when `type` is 'ClusterIP'";
                errors.push(FieldError::forbidden(field, detail));
            }
        }
    }
    let mut seen = BTreeSet::new();
    for (i, port) in ports.iter().enumerate() {
        let number = of(port, "nodePort");
        if number != 0 && !seen.insert((text(port, "protocol"), number)) {
            let field = format!("spec.ports[{i}].nodePort");
            errors.push(FieldError::duplicate(field, &number.into()));
        }
    }
    seen.clear();
    for (i, port) in ports.iter().enumerate() {
        let (protocol, number) = (text(port, "protocol"), of(port, "port"));
        if !seen.insert((protocol, number)) {
            // The key is an object of the internal type with nothing else in it.
            let key = format!(
                "{{\"Name\":\"\",\"Protocol\":{},\"AppProtocol\":null,\"Port\":{number},\
                 \"TargetPort\":0,\"NodePort\":0}}",
                Value::from(protocol)
            );
            let field = format!("spec.ports[{i}]");
            errors.push(FieldError::duplicate(field, &Value::Null).shown(key));
        }
    }
    errors
}

/// What only load balancers have.
fn for_load_balancers(service: &Value) -> Vec<FieldError> {
    let spec = &service["spec"];
    let mut errors = Vec::new();
    let detail = "may only be used when `type` is 'LoadBalancer'";
    let ranges = list(spec, "loadBalancerSourceRanges");
    if !is_load_balancer(service) && !ranges.is_empty() {
        errors.push(FieldError::forbidden(
            "spec.LoadBalancerSourceRanges",
            detail,
        ));
    }
    for (i, range) in ranges.iter().enumerate() {
        let range = range.as_str().unwrap_or_default().trim();
        let fine = range.split_once('/').is_some_and(|(ip, bits)| {
            let most = match ip.parse::<IpAddr>() {
                Ok(IpAddr::V4(_)) => 32,
                Ok(IpAddr::V6(_)) => 128,
                Err(_) => return false,
            };
            bits.parse::<u32>().is_ok_and(|bits| bits <= most)
        });
        if !fine {
            let field = format!("spec.LoadBalancerSourceRanges[{i}]");
            let detail = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
            errors.push(FieldError::invalid(field, &range.into(), detail));
        }
    }
    if !is_load_balancer(service) && spec.get("allocateLoadBalancerNodePorts").is_some() {
        let field = "spec.allocateLoadBalancerNodePorts";
        errors.push(FieldError::forbidden(field, detail));
    }
    errors
}

/// `validateLoadBalancerClassField`; an update checks it twice, against the stored one and alone.
fn load_balancer_class(service: &Value, live: Option<&Value>) -> Vec<FieldError> {
    let field = "spec.loadBalancerClass";
    let class = service["spec"].get("loadBalancerClass");
    let mut errors = Vec::new();
    if let Some(live) = live
        && is_load_balancer(live)
        && is_load_balancer(service)
        && live["spec"].get("loadBalancerClass") != class
    {
        let value = class.cloned().unwrap_or(Value::Null);
        errors.push(FieldError::invalid(
            field,
            &value,
            "may not change once set",
        ));
    }
    let Some(class) = class else {
        return errors;
    };
    if is_load_balancer(service) {
        let reasons = names::qualified(class.as_str().unwrap_or_default()).into_iter();
        errors.extend(reasons.map(|why| FieldError::invalid(field, class, why)));
    } else {
        let detail = "may only be used when `type` is 'LoadBalancer'";
        errors.push(FieldError::forbidden(field, detail));
    }
    errors
}

/// Where traffic may go.
fn traffic(service: &Value) -> Vec<FieldError> {
    let spec = &service["spec"];
    let mut errors = Vec::new();
    let field = "spec.externalTrafficPolicy";
    let policies = ["Cluster", "Local"];
    if is_external(service) {
        errors.extend(one_of(spec, field, "externalTrafficPolicy", &policies));
    } else if let Some(policy) = spec.get("externalTrafficPolicy") {
        let detail = "may only be set for externally-accessible services";
        errors.push(FieldError::invalid(field, policy, detail));
    }
    let field = "spec.healthCheckNodePort";
    let port = spec["healthCheckNodePort"].as_i64().unwrap_or(0);
    match (needs_health_check_port(service), port) {
        (true, 0) => errors.push(FieldError::required(field, "")),
        (true, port) => {
            let reasons = names::port_number(port).into_iter();
            errors.extend(reasons.map(|why| FieldError::invalid(field, &port.into(), why)));
        }
        (false, 0) => {}
        (false, port) => {
            let detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
            errors.push(FieldError::invalid(field, &port.into(), detail));
        }
    }
    let field = "spec.internalTrafficPolicy";
    match spec.get("internalTrafficPolicy") {
        None if needs_cluster_ip(service) => errors.push(FieldError::required(field, "")),
        Some(policy) if !policies.iter().any(|known| policy == known) => {
            errors.push(FieldError::not_supported(field, policy, &policies));
        }
        _ => {}
    }
    if let Some(wanted) = spec.get("trafficDistribution") {
        let known = ["PreferClose", "PreferSameZone", "PreferSameNode"];
        if !known.iter().any(|known| wanted == known) {
            let field = "spec.trafficDistribution";
            errors.push(FieldError::not_supported(field, wanted, &known));
        }
    }
    errors
}

/// `ValidateServiceStatusUpdate`.
pub(super) fn validate_status(service: &Value, live: &Value) -> Vec<FieldError> {
    let path = "status.loadBalancer.ingress";
    let mut errors = metadata::builtin_update(service, live);
    let ingresses = list(&service["status"]["loadBalancer"], "ingress");
    if !is_load_balancer(service) && !ingresses.is_empty() {
        let detail = "may only be used when `spec.type` is 'LoadBalancer'";
        errors.push(FieldError::forbidden(path, detail));
        return errors;
    }
    for (i, ingress) in ingresses.iter().enumerate() {
        let field = |name: &str| format!("{path}[{i}].{name}");
        let ip = ingress.get("ip");
        if let Some(ip) = ip {
            errors.extend(address(ip, &field("ip")));
        }
        match (ip, ingress.get("ipMode")) {
            (Some(_), None) => {
                let detail = "must be specified when `ip` is set";
                errors.push(FieldError::required(field("ipMode"), detail));
            }
            (None, Some(_)) => {
                let detail = "may not be specified when `ip` is not set";
                errors.push(FieldError::forbidden(field("ipMode"), detail));
            }
            (Some(_), Some(mode)) if mode != "VIP" && mode != "Proxy" => {
                let known = ["Proxy", "VIP"];
                errors.push(FieldError::not_supported(field("ipMode"), mode, &known));
            }
            _ => {}
        }
        let name = text(ingress, "hostname");
        if !name.is_empty() {
            let reasons = names::subdomain(name).into_iter();
            let field = field("hostname");
            errors.extend(reasons.map(|why| FieldError::invalid(&field, &name.into(), why)));
            if name.parse::<IpAddr>().is_ok() {
                let detail = "must be a DNS name, not an IP address";
                errors.push(FieldError::invalid(field, &name.into(), detail));
            }
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn texts(errors: &[FieldError]) -> Vec<String> {
        errors.iter().map(ToString::to_string).collect()
    }

    fn service(spec: Value) -> Value {
        let mut service = json!({
            "metadata": {"name": "a", "resourceVersion": "1"},
            "spec": {
                "type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster",
                "clusterIP": "10.0.0.5", "clusterIPs": ["10.0.0.5"], "ipFamilies": ["IPv4"],
                "ports": [{"port": 80, "targetPort": 80, "protocol": "TCP"}],
            },
        });
        for (field, value) in spec.as_object().into_iter().flatten() {
            service["spec"][field] = value.clone();
        }
        service
    }

    #[test]
    fn an_address_stays_once_it_is_given() {
        let live = service(json!({}));
        assert!(validate(&live, Some(&live)).is_empty());
        let moved = service(json!({"clusterIP": "10.0.0.6", "clusterIPs": ["10.0.0.6"]}));
        assert_eq!(
            texts(&validate(&moved, Some(&live))),
            ["spec.clusterIPs[0]: Invalid value: [\"10.0.0.6\"]: may not change once set"]
        );
    }

    #[test]
    fn several_ports_need_names_and_differ() {
        let port = json!({"port": 80, "targetPort": 80, "protocol": "TCP"});
        let said = texts(&validate(&service(json!({"ports": [port, port]})), None));
        assert_eq!(said.len(), 3);
        assert_eq!(said[0], "spec.ports[0].name: Required value");
        assert!(said[2].starts_with("spec.ports[1]: Duplicate value: "));
    }

    #[test]
    fn only_what_is_reached_from_outside_says_how() {
        let said = texts(&validate(
            &service(json!({"externalTrafficPolicy": "Local"})),
            None,
        ));
        assert_eq!(
            said,
            ["spec.externalTrafficPolicy: Invalid value: \"Local\": \
                 may only be set for externally-accessible services"]
        );
    }
}
