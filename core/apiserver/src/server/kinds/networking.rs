//! Checks of Ingress and NetworkPolicy besides their rows in `kinds.checks`
//! (`pkg/apis/networking/validation/validation.go`), and the warning of an Ingress
//! (`pkg/registry/networking/ingress/strategy.go`).

use serde_json::Value;

use super::checks::{Checked, FieldCheck};
use super::label_selector::list;
use super::{ip, names};
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::FieldError;

pub(super) const CALLS: &[(&str, FieldCheck)] = &[
    ("ingress_class_once", ingress_class_once),
    ("ingress_rules", ingress_rules),
    ("ingress_host", ingress_host),
    ("host_or_wildcard", host_or_wildcard),
    ("ingress_path", ingress_path),
    ("ingress_backend", ingress_backend),
    ("load_balancer_name", load_balancer_name),
    ("ip", |checked, errors| {
        if !checked.value.is_null() {
            errors.extend(ip::check(checked.value, checked.path, &[]));
        }
    }),
    ("policy_port", policy_port),
    ("policy_peer", policy_peer),
    ("policy_types", policy_types),
];

const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";

fn class_annotation(ingress: &Value) -> Option<&Value> {
    ingress["metadata"]["annotations"].get(CLASS_ANNOTATION)
}

/// A new ingress has one class, whether its field or its annotation names it.
fn ingress_class_once(ingress: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if let Some(annotation) = class_annotation(ingress.object)
        && let Some(class) = ingress.object["spec"].get("ingressClassName")
        && class != annotation
    {
        let field = format!("annotations.{CLASS_ANNOTATION}");
        let detail = "must match `ingressClassName` when both are specified";
        errors.push(FieldError::invalid(field, annotation, detail));
    }
}

pub(super) fn warn(ingress: &Value, live: Option<&Value>) -> Vec<String> {
    let has_field = ingress["spec"].get("ingressClassName").is_some();
    if live.is_some() || has_field || class_annotation(ingress).is_none() {
        return Vec::new();
    }
    vec![format!(
        "annotation \"{CLASS_ANNOTATION}\" is deprecated, please use 'spec.ingressClassName' instead"
    )]
}

/// Checks that requests have a destination: rules, or a backend for all (`ValidateIngressSpec`).
fn ingress_rules(spec: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if list(spec.value, "rules").is_empty() && spec.value.get("defaultBackend").is_none() {
        let detail = "either `defaultBackend` or `rules` must be specified";
        let rules = &spec.value["rules"];
        errors.push(FieldError::invalid(spec.path, rules, detail));
    }
}

/// The host of a rule is no address.
fn ingress_host(host: &Checked<'_>, errors: &mut Vec<FieldError>) {
    if host.value.as_str().and_then(ip::sloppy).is_some() {
        let detail = "must be a DNS name, not an IP address";
        errors.push(FieldError::invalid(host.path, host.value, detail));
    }
    host_or_wildcard(host, errors);
}

/// A host, or all hosts below one (`*.example.com`).
fn host_or_wildcard(host: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let reasons = match host.value.as_str() {
        None => Vec::new(),
        Some(name) if name.contains('*') => names::wildcard_subdomain(name),
        Some(name) => names::subdomain(name),
    };
    let reasons = reasons.into_iter();
    errors.extend(reasons.map(|why| FieldError::invalid(host.path, host.value, why)));
}

/// `validateHTTPIngressPath`, with the backend, which is not looked at without a type of path.
fn ingress_path(path: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const SUPPORTED: [&str; 3] = ["Exact", "ImplementationSpecific", "Prefix"];
    let (field, kind) = (path.path.child("path"), text(path.value, "pathType"));
    let written = text(path.value, "path");
    let mut refuse = |detail: String| {
        errors.push(FieldError::invalid(field, &written.into(), detail));
    };
    let absolute = written.starts_with('/');
    match kind {
        "" if path.value["pathType"].is_null() => {
            let field = path.path.child("pathType");
            errors.push(FieldError::required(field, "pathType must be specified"));
            return;
        }
        "Exact" | "Prefix" => {
            if !absolute {
                refuse("must be an absolute path".to_owned());
            }
            for part in ["//", "/./", "/../", "%2f", "%2F"] {
                if written.contains(part) {
                    refuse(format!("must not contain '{part}'"));
                }
            }
            for end in ["/..", "/."] {
                if written.ends_with(end) {
                    refuse(format!("cannot end with '{end}'"));
                }
            }
        }
        "ImplementationSpecific" => {
            if !written.is_empty() && !absolute {
                refuse("must be an absolute path".to_owned());
            }
        }
        other => {
            let field = path.path.child("pathType");
            errors.push(FieldError::not_supported(field, &other.into(), &SUPPORTED));
        }
    }
    path.child("backend", |backend| ingress_backend(backend, errors));
}

/// `validateIngressBackend`: a service with a port, or another object.
fn ingress_backend(backend: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let refuse = |detail: &str| FieldError::invalid(backend.path, &"".into(), detail);
    let service = match (backend.value.get("service"), backend.value.get("resource")) {
        (Some(_), Some(_)) => {
            errors.push(refuse("cannot set both resource and service backends"));
            return;
        }
        (None, None) => {
            errors.push(refuse("resource or service backend is required"));
            return;
        }
        (None, Some(_)) => {
            return backend.child("resource", |resource| {
                resource.is_a("TypedLocalObjectReference", errors);
            });
        }
        (Some(service), None) => service,
    };
    let path = backend.path.child("service");
    let name = text(service, "name");
    if name.is_empty() {
        errors.push(FieldError::required(path.child("name"), ""));
    } else {
        let reasons = names::label(name).into_iter();
        let field = path.child("name");
        errors.extend(reasons.map(|why| FieldError::invalid(field, &name.into(), why)));
    }
    let port = &service["port"];
    let (port_name, number) = (text(port, "name"), port["number"].as_i64().unwrap_or(0));
    match (port_name, number) {
        ("", 0) => {
            let detail = "port name or number is required";
            errors.push(FieldError::required(backend.path, detail));
        }
        ("", number) => {
            let field = path.child("port.number");
            let reasons = names::port_number(number).into_iter();
            errors.extend(reasons.map(|why| FieldError::invalid(field, &number.into(), why)));
        }
        (port_name, 0) => {
            let field = path.child("port.name");
            let reasons = names::port_name(port_name).into_iter();
            errors.extend(reasons.map(|why| FieldError::invalid(field, &port_name.into(), why)));
        }
        _ => errors.push(refuse("cannot set both port name & port number")),
    }
}

/// The name at which a load balancer answers (`ValidateIngressLoadBalancerStatus`).
fn load_balancer_name(name: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let host = name.value.as_str().unwrap_or_default();
    if host.is_empty() {
        return;
    }
    let reasons = names::subdomain(host).into_iter();
    errors.extend(reasons.map(|why| FieldError::invalid(name.path, name.value, why)));
    if ip::sloppy(host).is_some() {
        let detail = "must be a DNS name, not an IP address";
        errors.push(FieldError::invalid(name.path, name.value, detail));
    }
}

/// `ValidateNetworkPolicyPort`.
fn policy_port(port: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let (path, field) = (port.path.child("port"), port.path.child("endPort"));
    if let Some(protocol) = port.value.get("protocol").and_then(Value::as_str) {
        let supported = ["TCP", "UDP", "SCTP"];
        if !supported.contains(&protocol) {
            let field = port.path.child("protocol");
            errors.push(FieldError::not_supported(
                field,
                &protocol.into(),
                &supported,
            ));
        }
    }
    let end = port.value.get("endPort").and_then(Value::as_i64);
    let shown = |end: i64, detail: &str| FieldError::invalid(field, &end.into(), detail);
    match (&port.value["port"], end) {
        (Value::Null, Some(end)) => {
            errors.push(shown(
                end,
                "may not be specified when `port` is not specified",
            ));
        }
        (Value::String(name), end) => {
            if let Some(end) = end {
                errors.push(shown(
                    end,
                    "may not be specified when `port` is non-numeric",
                ));
            }
            let reasons = names::port_name(name).into_iter();
            errors.extend(reasons.map(|why| FieldError::invalid(path, &name.as_str().into(), why)));
        }
        (number, end) => {
            let Some(number) = number.as_i64() else {
                return;
            };
            let reasons = names::port_number(number).into_iter();
            errors.extend(reasons.map(|why| FieldError::invalid(path, &number.into(), why)));
            let Some(end) = end else {
                return;
            };
            if end < number {
                errors.push(shown(number, "must be greater than or equal to `port`"));
            }
            let reasons = names::port_number(end).into_iter();
            errors.extend(reasons.map(|why| shown(end, &why)));
        }
    }
}

/// `ValidateNetworkPolicyPeer`: pods, namespaces, or addresses.
fn policy_peer(peer: &Checked<'_>, errors: &mut Vec<FieldError>) {
    let selectors = ["podSelector", "namespaceSelector"];
    let selectors = selectors.map(|name| (name, peer.value.get(name)));
    for (name, selector) in selectors {
        if let Some(selector) = selector {
            let path = peer.path.child(name);
            errors.extend(super::label_selector::validate(selector, &path));
        }
    }
    let selects = selectors.iter().any(|(_, selector)| selector.is_some());
    match peer.value.get("ipBlock") {
        Some(block) => {
            ip_block(block, &peer.path.child("ipBlock"), errors);
            if selects {
                let detail = "may not specify both ipBlock and another peer";
                errors.push(FieldError::forbidden(peer.path, detail));
            }
        }
        None if !selects => errors.push(FieldError::required(peer.path, "must specify a peer")),
        None => {}
    }
}

/// `ValidateIPBlock`: a range, less smaller ones.
fn ip_block(block: &Value, path: &ErrorPath<'_>, errors: &mut Vec<FieldError>) {
    let cidr = text(block, "cidr");
    let field = path.child("cidr");
    if cidr.is_empty() {
        errors.push(FieldError::required(field, ""));
        return;
    }
    errors.extend(ip::check_range(cidr, &field, &[]));
    // What is only not canonical is compared all the same.
    if !ip::is_range(cidr) {
        return;
    }
    for (i, except) in list(block, "except").iter().enumerate() {
        let field = path.item("except", i);
        let range = except.as_str().unwrap_or_default();
        errors.extend(ip::check_range(range, &field, &[]));
        if ip::is_range(range) && !ip::is_strict_subset(range, cidr) {
            let detail = "must be a strict subset of `cidr`";
            errors.push(FieldError::invalid(field, except, detail));
        }
    }
}

/// The directions of a policy.
fn policy_types(types: &Checked<'_>, errors: &mut Vec<FieldError>) {
    const SUPPORTED: [&str; 2] = ["Ingress", "Egress"];
    let items = types.value.as_array().map_or(&[][..], Vec::as_slice);
    if items.len() > SUPPORTED.len() {
        let detail = "may not specify more than two policyTypes";
        errors.push(FieldError::invalid(types.path, types.value, detail));
        return;
    }
    let unknown = items
        .iter()
        .enumerate()
        .filter(|(_, item)| !SUPPORTED.iter().any(|known| *item == known));
    errors.extend(
        unknown.map(|(i, item)| FieldError::not_supported(types.path.index(i), item, &SUPPORTED)),
    );
}
