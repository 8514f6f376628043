//! Checks of Endpoints and EndpointSlice besides their rows in `kinds.checks`
//! (`pkg/apis/core/validation`, `pkg/apis/discovery/validation`).

use std::net::IpAddr;

use serde_json::Value;

use super::checks::{Checked, FieldCheck, of_type};
use super::job_policies::too_many;
use super::label_selector::list;
use super::{Notices, ip, names};
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("endpoint_subsets", subsets),
    ("endpoint_subset", subset),
    ("endpoint_address", address),
    ("endpoint_ports", ports),
    ("slice_ports", slice_ports),
    ("slice_endpoints", slice_endpoints),
];

/// The warning for each request for Endpoints.
pub(super) const NOTICES: Notices = Notices {
    deprecated: Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"),
    ..Notices::NONE
};

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

/// Labels of where endpoints are have fields of their own (`dropTopologyOnV1`).
pub(super) fn drop_topology(slice: &mut Value, live: Option<&Value>) {
    if live.is_some_and(|live| live["endpoints"] == slice["endpoints"]) {
        return;
    }
    let endpoints = slice.get_mut("endpoints").and_then(Value::as_array_mut);
    for endpoint in endpoints.into_iter().flatten() {
        if let Value::Object(members) = endpoint {
            members.remove("deprecatedTopology");
        }
    }
}

fn reject(
    value: &str,
    field: ErrorPath<'_>,
    rule: names::NameRule,
) -> impl Iterator<Item = FieldError> {
    let reasons = rule(value).into_iter();
    reasons.map(move |why| FieldError::invalid(field, &value.into(), why))
}

/// Subsets that an update leaves as they are were valid once (`ValidateEndpoints`).
fn subsets(subsets: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if subsets.before() == Some(subsets.value) {
        return;
    }
    let items = subsets.value.as_array().map_or(&[][..], Vec::as_slice);
    for (i, item) in items.iter().enumerate() {
        let path = subsets.path.index(i);
        errors.extend(of_type("EndpointSubset", item, &path, subsets.object));
    }
}

/// A subset has an address.
fn subset(subset: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let none = |field: &str| list(subset.value, field).is_empty();
    if none("addresses") && none("notReadyAddresses") {
        let detail = "must specify `addresses` or `notReadyAddresses`";
        errors.push(FieldError::required(subset.path, detail));
    }
}

/// `validateEndpointAddress`.
fn address(address: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let field = address.path.child("ip");
    let empty = Value::from("");
    let ip = address.value.get("ip").unwrap_or(&empty);
    errors.extend(ip::check(ip, &field, &[]));
    let hostname = text(address.value, "hostname");
    if !hostname.is_empty() {
        let field = address.path.child("hostname");
        errors.extend(reject(hostname, field, names::label));
    }
    if let Some(Value::String(node)) = address.value.get("nodeName") {
        let field = address.path.child("nodeName");
        errors.extend(reject(node, field, names::subdomain));
    }
    if ip::sloppy(ip.as_str().unwrap_or_default()).is_none() {
        errors.push(FieldError::invalid(field, ip, "must be a valid IP address"));
    }
    errors.extend(ip::check_not_special(ip, &field));
}

/// `validateEndpointPort`.
fn ports(ports: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let items = ports.value.as_array().map_or(&[][..], Vec::as_slice);
    for (i, port) in items.iter().enumerate() {
        let path = ports.path.index(i);
        let (field, name) = (path.child("name"), text(port, "name"));
        if !name.is_empty() {
            errors.extend(reject(name, field, names::label));
        } else if items.len() > 1 {
            errors.push(FieldError::required(field, ""));
        }
        let number = port["port"].as_i64().unwrap_or(0);
        let reasons = names::port_number(number).into_iter();
        let field = path.child("port");
        errors.extend(reasons.map(|why| FieldError::invalid(field, &number.into(), why)));
        protocol(port, &path, false, errors);
    }
}

/// The protocols of a port. That of a slice can be given and be empty.
fn protocol(port: &Value, path: &ErrorPath<'_>, is_slice: bool, errors: &mut Vec<FieldError>) {
    let field = path.child("protocol");
    match text(port, "protocol") {
        "" if !is_slice || port.get("protocol").is_none() => {
            errors.push(FieldError::required(field, ""));
        }
        known if PROTOCOLS.contains(&known) => {}
        other => errors.push(FieldError::not_supported(field, &other.into(), &PROTOCOLS)),
    }
    if let Some(Value::String(name)) = port.get("appProtocol") {
        let field = path.child("appProtocol");
        errors.extend(reject(name, field, names::qualified));
    }
}

/// `validatePorts` of a slice.
fn slice_ports(ports: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let items = ports.value.as_array().map_or(&[][..], Vec::as_slice);
    const MOST: usize = 20_000;
    if let Some(error) = too_many(ports.path, items, MOST) {
        errors.push(error);
        return;
    }
    let mut seen: Vec<&str> = Vec::new();
    for (i, port) in items.iter().enumerate() {
        let path = ports.path.index(i);
        let (field, name) = (path.child("name"), text(port, "name"));
        if !name.is_empty() {
            errors.extend(reject(name, field, names::label));
        }
        if seen.contains(&name) {
            errors.push(FieldError::duplicate(field, &name.into()));
        }
        seen.push(name);
        protocol(port, &path, true, errors);
    }
}

/// `validateEndpoints` of a slice. Endpoints that stay are not checked again.
fn slice_endpoints(endpoints: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let items = endpoints.value.as_array().map_or(&[][..], Vec::as_slice);
    if endpoints.before() == Some(endpoints.value) {
        return;
    }
    if let Some(error) = too_many(endpoints.path, items, 1000) {
        errors.push(error);
        return;
    }
    let family = text(endpoints.object, "addressType");
    for (i, endpoint) in items.iter().enumerate() {
        let path = endpoints.path.index(i);
        let field = path.child("addresses");
        let addresses = list(endpoint, "addresses");
        if addresses.is_empty() {
            let detail = "must contain at least 1 address";
            errors.push(FieldError::required(field, detail));
        }
        errors.extend(too_many(&field, addresses, 100));
        for (j, address) in addresses.iter().enumerate() {
            slice_address(address, family, &field, j, errors);
        }
        if let Some(Value::String(node)) = endpoint.get("nodeName") {
            errors.extend(reject(node, path.child("nodeName"), names::subdomain));
        }
        let topology = endpoint.get("deprecatedTopology");
        topology_labels(topology, &path.child("deprecatedTopology"), errors);
        if let Some(Value::String(hostname)) = endpoint.get("hostname") {
            errors.extend(reject(hostname, path.child("hostname"), names::label));
        }
        hints(&endpoint["hints"], &path.child("hints"), errors);
    }
}

fn slice_address(
    address: &Value,
    family: &str,
    path: &ErrorPath<'_>,
    i: usize,
    errors: &mut Vec<FieldError>,
) {
    let field = path.index(i);
    let written = address.as_str().unwrap_or_default();
    if family == "FQDN" && written.is_empty() {
        errors.push(FieldError::required(field, ""));
        return;
    }
    if family == "FQDN" {
        errors.extend(reject(written, field, fully_qualified));
        return;
    }
    if !matches!(family, "IPv4" | "IPv6") {
        return;
    }
    // IPv6 addresses must be in their only form, IPv4 addresses have just one.
    let before = errors.len();
    match family {
        "IPv4" => errors.extend(ip::check(address, &field, &[])),
        _ => errors.extend(reject(written, field, ip::exact)),
    }
    if errors.len() > before {
        return;
    }
    let is_v4 = ip::sloppy(written).is_some_and(|ip| matches!(ip, IpAddr::V4(_)));
    let detail = match (family, is_v4) {
        ("IPv4", false) => Some("must be an IPv4 address"),
        ("IPv6", true) => Some("must be an IPv6 address"),
        _ => None,
    };
    errors.extend(detail.map(|detail| FieldError::invalid(path, address, detail)));
    errors.extend(ip::check_not_special(address, &field));
}

/// `IsFullyQualifiedDomainName`.
fn fully_qualified(name: &str) -> Vec<String> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let reasons = names::subdomain(name);
    if reasons.is_empty() && name.split('.').count() < 2 {
        return vec!["should be a domain with at least two segments separated by dots".to_owned()];
    }
    reasons
}

fn topology_labels(topology: Option<&Value>, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    errors.extend(super::metadata::labels(topology, path));
    for (key, detail) in [
        (
            "kubernetes.io/hostname",
            "may not be set, use nodeName instead",
        ),
        (
            "topology.kubernetes.io/zone",
            "may not be set, use zone instead",
        ),
    ] {
        if topology.is_some_and(|topology| topology.get(key).is_some()) {
            errors.push(FieldError::invalid(path.key(key), &key.into(), detail));
        }
    }
}

/// `validateHints`.
fn hints(hints: &Value, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    for (field, rule) in [
        ("forZones", names::label_value as names::NameRule),
        ("forNodes", names::subdomain),
    ] {
        let items = list(hints, field);
        let path = path.child(field);
        if let Some(error) = too_many(&path, items, 8) {
            errors.push(error);
            return;
        }
        for (i, item) in items.iter().enumerate() {
            let (item_path, name) = (path.index(i), text(item, "name"));
            let field = item_path.child("name");
            if items[..i].iter().any(|other| text(other, "name") == name) {
                errors.push(FieldError::duplicate(field, &name.into()));
            }
            errors.extend(reject(name, field, rule));
        }
    }
}
