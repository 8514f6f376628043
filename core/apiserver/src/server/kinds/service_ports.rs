//! The ports of a Service (`validateServicePort` and the checks of all ports in `ValidateService`,
//! `pkg/apis/core/validation`).

use std::collections::BTreeSet;

use serde_json::Value;

use super::label_selector::list;
use super::pod_template::one_of;
use super::{names, probes};
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::FieldError;

const PORTS: ErrorPath<'static> = ErrorPath::new("spec.ports");

/// `validateServicePort`.
pub(super) fn each(service: &Value) -> Vec<FieldError> {
    let ports = list(&service["spec"], "ports");
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    for (i, port) in ports.iter().enumerate() {
        let path = PORTS.index(i);
        let field = |name: &'static str| path.child(name);
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
        errors.extend(probes::port_or_name(
            &port["targetPort"],
            &field("targetPort"),
        ));
        if let Some(protocol) = port.get("appProtocol").and_then(Value::as_str) {
            let reasons = names::qualified(protocol).into_iter();
            let field = field("appProtocol");
            errors.extend(reasons.map(|why| FieldError::invalid(field, &protocol.into(), why)));
        }
    }
    errors
}

/// No two ports of a Service are the same, neither inside the cluster nor on its nodes.
pub(super) fn repeated(service: &Value) -> Vec<FieldError> {
    let spec = &service["spec"];
    let ports = list(spec, "ports");
    let mut errors = Vec::new();
    let of = |port: &Value, field: &str| port.get(field).and_then(Value::as_i64).unwrap_or(0);
    if text(spec, "type") == "ClusterIP" {
        for (i, port) in ports.iter().enumerate() {
            if of(port, "nodePort") != 0 {
                let item = PORTS.index(i);
                let field = item.child("nodePort");
                let detail = "may not be used when `type` is 'ClusterIP'";
                errors.push(FieldError::forbidden(field, detail));
            }
        }
    }
    let mut seen = BTreeSet::new();
    for (i, port) in ports.iter().enumerate() {
        let number = of(port, "nodePort");
        if number != 0 && !seen.insert((text(port, "protocol"), number)) {
            let item = PORTS.index(i);
            let field = item.child("nodePort");
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
            let field = PORTS.index(i);
            errors.push(FieldError::duplicate(field, &Value::Null).shown_as(key));
        }
    }
    errors
}
