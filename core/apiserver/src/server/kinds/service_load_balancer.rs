//! Checks of the fields that only load balancers have or set (`pkg/apis/core/validation`).

use serde_json::Value;

use super::label_selector::list;
use super::service::is_load_balancer;
use super::{ip, metadata, names};
use crate::field::ErrorPath;
use crate::object::{Metadata, text};
use crate::status::FieldError;

/// The annotation that held the ranges before they had a field.
const RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";
const ONLY: &str = "may only be used when `type` is 'LoadBalancer'";

/// Checks the fields that only load balancers have; `live` is the stored Service on update.
pub(super) fn reserved(service: &Value, live: Option<&Value>) -> Vec<FieldError> {
    let spec = &service["spec"];
    let mut errors = source_ranges(service, live);
    if !is_load_balancer(service) && spec.get("allocateLoadBalancerNodePorts").is_some() {
        let field = "spec.allocateLoadBalancerNodePorts";
        errors.push(FieldError::forbidden(field, ONLY));
    }
    errors
}

/// The ranges of clients that may send: from a field, or from an annotation if the field is empty.
fn source_ranges(service: &Value, live: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let ranges = list(&service["spec"], "loadBalancerSourceRanges");
    let annotation = |service: &Value| {
        let annotations = service.metadata()?.get("annotations")?;
        annotations.get(RANGES)?.as_str().map(str::to_owned)
    };
    if !ranges.is_empty() {
        let path = ErrorPath::new("spec.LoadBalancerSourceRanges");
        if !is_load_balancer(service) {
            errors.push(FieldError::forbidden(path, ONLY));
        }
        let old = live.map_or(&[][..], |live| {
            list(&live["spec"], "loadBalancerSourceRanges")
        });
        let old: Vec<&str> = old
            .iter()
            .filter_map(Value::as_str)
            .map(str::trim)
            .collect();
        for (i, range) in ranges.iter().enumerate() {
            let range = range.as_str().unwrap_or_default().trim();
            errors.extend(ip::check_range(range, &path.index(i), &old));
        }
    } else if let Some(written) = annotation(service) {
        let annotations = ErrorPath::new("metadata.annotations");
        let path = annotations.key(RANGES);
        if !is_load_balancer(service) {
            errors.push(FieldError::forbidden(path, ONLY));
        }
        let kept = live.and_then(annotation).is_some_and(|old| old == written);
        if !kept && !written.trim().is_empty() {
            for range in written.split(',') {
                errors.extend(ip::check_range(range.trim(), &path, &[]));
            }
        }
    }
    errors
}

/// `validateLoadBalancerClassField`; an update checks it twice, against the stored one and alone.
pub(super) fn class(service: &Value, live: Option<&Value>) -> Vec<FieldError> {
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
        errors.push(FieldError::forbidden(field, ONLY));
    }
    errors
}

/// `ValidateServiceStatusUpdate`.
pub(super) fn status(service: &Value, live: &Value) -> Vec<FieldError> {
    let path = ErrorPath::new("status.loadBalancer.ingress");
    let mut errors = metadata::builtin_update(service, live);
    let ingresses = list(&service["status"]["loadBalancer"], "ingress");
    if !is_load_balancer(service) && !ingresses.is_empty() {
        let detail = "may only be used when `spec.type` is 'LoadBalancer'";
        errors.push(FieldError::forbidden(path, detail));
        return errors;
    }
    let old = list(&live["status"]["loadBalancer"], "ingress").iter();
    let old: Vec<Value> = old.filter_map(|old| old.get("ip")).cloned().collect();
    for (i, ingress) in ingresses.iter().enumerate() {
        let item = path.index(i);
        let field = |name: &'static str| item.child(name);
        let ip = ingress.get("ip");
        if let Some(ip) = ip {
            errors.extend(ip::check(ip, &field("ip"), &old));
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
            errors.extend(reasons.map(|why| FieldError::invalid(field, &name.into(), why)));
            if ip::sloppy(name).is_some() {
                let detail = "must be a DNS name, not an IP address";
                errors.push(FieldError::invalid(field, &name.into(), detail));
            }
        }
    }
    errors
}
