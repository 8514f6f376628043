//! Cells of Services, Endpoints, EndpointSlices, Ingresses and IPAddresses.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{first_three, items, number, text_or};
use crate::environment::Timestamp;
use crate::object::text;

/// The ports of a Service (`makePortString`).
pub(super) fn service_ports(service: &Value, _: Timestamp) -> Value {
    let ports = items(&service["spec"]["ports"]).map(|port| {
        let (number, protocol) = (number(&port["port"]), text(port, "protocol"));
        match port["nodePort"].as_i64() {
            Some(node) if node > 0 => format!("{number}:{node}/{protocol}"),
            _ => format!("{number}/{protocol}"),
        }
    });
    let ports: Vec<String> = ports.collect();
    text_or(&ports.join(","), "<none>")
}

/// Returns the addresses at which a Service is reached from outside (`getServiceExternalIP`).
pub(super) fn service_external_address(service: &Value, _: Timestamp) -> Value {
    let spec = &service["spec"];
    let given = items(&spec["externalIPs"]).filter_map(Value::as_str);
    match text(spec, "type") {
        "ClusterIP" | "NodePort" => text_or(&given.collect::<Vec<_>>().join(","), "<none>"),
        "LoadBalancer" => {
            let balancer = load_balancer(service);
            let all: Vec<&str> = balancer.into_iter().chain(given).collect();
            text_or(&all.join(","), "<pending>")
        }
        "ExternalName" => text(spec, "externalName").into(),
        _ => "<unknown>".into(),
    }
}

/// The addresses of the load balancer of a Service or Ingress.
fn load_balancer(object: &Value) -> BTreeSet<&str> {
    let ingress = items(&object["status"]["loadBalancer"]["ingress"]);
    let addresses = ingress.map(|ingress| match text(ingress, "ip") {
        "" => text(ingress, "hostname"),
        ip => ip,
    });
    addresses.filter(|address| !address.is_empty()).collect()
}

/// The addresses of Endpoints, with each port (`formatEndpoints`).
pub(super) fn endpoints(endpoints: &Value, _: Timestamp) -> Value {
    if items(&endpoints["subsets"]).next().is_none() {
        return "<none>".into();
    }
    let mut all = Vec::new();
    for subset in items(&endpoints["subsets"]) {
        let addresses = || items(&subset["addresses"]).map(|address| text(address, "ip"));
        if items(&subset["ports"]).next().is_none() {
            all.extend(addresses().map(str::to_owned));
        }
        for port in items(&subset["ports"]) {
            let port = number(&port["port"]);
            all.extend(addresses().map(|address| match address.contains(':') {
                true => format!("[{address}]:{port}"),
                false => format!("{address}:{port}"),
            }));
        }
    }
    first_three(&all, "")
}

/// The ports of an EndpointSlice (`formatDiscoveryPorts`).
pub(super) fn slice_ports(slice: &Value, _: Timestamp) -> Value {
    let ports =
        items(&slice["ports"]).map(|port| match (port["port"].as_i64(), port.get("name")) {
            (Some(number), _) => number.to_string(),
            (None, Some(Value::String(name))) => name.clone(),
            (None, _) => "*".to_owned(),
        });
    first_three(&ports.collect::<Vec<_>>(), "<unset>")
}

/// The addresses of an EndpointSlice (`formatDiscoveryEndpoints`).
pub(super) fn slice_addresses(slice: &Value, _: Timestamp) -> Value {
    let endpoints = items(&slice["endpoints"]);
    let addresses = endpoints.flat_map(|endpoint| items(&endpoint["addresses"]));
    let addresses = addresses.filter_map(Value::as_str).map(str::to_owned);
    first_three(&addresses.collect::<Vec<_>>(), "<unset>")
}

/// The hosts of an Ingress (`formatHosts`): the first three, and how many rules more there are.
pub(super) fn ingress_hosts(ingress: &Value, _: Timestamp) -> Value {
    let rules: Vec<&Value> = items(&ingress["spec"]["rules"]).collect();
    let mut hosts = Vec::new();
    let mut more = false;
    for rule in &rules {
        more |= hosts.len() == 3;
        let host = text(rule, "host");
        if !more && !host.is_empty() {
            hosts.push(host);
        }
    }
    let hosts = hosts.join(",");
    match more {
        true => format!("{hosts} + {} more...", rules.len().saturating_sub(3)).into(),
        false => text_or(&hosts, "*"),
    }
}

/// Returns the addresses of an Ingress.
pub(super) fn ingress_addresses(ingress: &Value, _: Timestamp) -> Value {
    let addresses: Vec<&str> = load_balancer(ingress).into_iter().collect();
    addresses.join(",").into()
}

/// The ports of an Ingress (`formatPorts`).
pub(super) fn ingress_ports(ingress: &Value, _: Timestamp) -> Value {
    match items(&ingress["spec"]["tls"]).next() {
        Some(_) => "80, 443".into(),
        None => "80".into(),
    }
}

/// The parameters of an IngressClass (`printIngressClass`).
pub(super) fn class_parameters(class: &Value, _: Timestamp) -> Value {
    let Some(parameters @ Value::Object(_)) = class["spec"].get("parameters") else {
        return "<none>".into();
    };
    let (kind, name) = (text(parameters, "kind"), text(parameters, "name"));
    match parameters.get("apiGroup").and_then(Value::as_str) {
        Some(group) => format!("{kind}.{group}/{name}").into(),
        None => format!("{kind}/{name}").into(),
    }
}

/// Returns the object to which an IPAddress belongs (`printIPAddress`).
pub(super) fn address_parent(address: &Value, _: Timestamp) -> Value {
    let Some(parent @ Value::Object(_)) = address["spec"].get("parentRef") else {
        return "<none>".into();
    };
    let mut name = text(parent, "resource").to_lowercase();
    for (before, part) in [
        (".", text(parent, "group").to_lowercase().as_str()),
        ("/", text(parent, "namespace")),
    ] {
        if !part.is_empty() {
            name.push_str(before);
            name.push_str(part);
        }
    }
    format!("{name}/{}", text(parent, "name")).into()
}
