//! Validation of a Service (`ValidateService` and `ValidateServiceUpdate` of
//! `pkg/apis/core/validation`).

use serde_json::Value;

use super::label_selector::list;
use super::metadata::{self, IMMUTABLE};
use super::pod_template::one_of;
use super::service::{
    is_external, is_headless, needs_cluster_ip, needs_health_check_port, needs_node_port,
};
use super::service_addresses::{allocated_values_kept, cluster_ips};
use super::{ip, names, service_load_balancer, service_ports};
use crate::field::ErrorPath;
use crate::object::text;
use crate::status::FieldError;

/// The annotation that prefers endpoints near by, and its former name.
pub(super) const TOPOLOGY_MODE: &str = "service.kubernetes.io/topology-mode";
pub(super) const TOPOLOGY_HINTS: &str = "service.kubernetes.io/topology-aware-hints";
/// The longest time that a client sticks to a pod, in seconds: a day.
const MAX_AFFINITY_LENGTH: i64 = 86_400;

/// Checks a Service; `live` is the stored one on update.
pub(super) fn validate(service: &Value, live: Option<&Value>) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if let Some(live) = live {
        errors.extend(metadata::builtin_update(service, live));
        errors.extend(allocated_values_kept(service, live));
        errors.extend(service_load_balancer::class(service, Some(live)));
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
        // A name may start with a digit since v1.36 (`RelaxedServiceNameValidation`).
        errors.extend(metadata::builtin(service, names::label));
    }
    // Everything else is checked of an update like of a new Service.
    errors.extend(topology(service));
    let spec = &service["spec"];
    if list(spec, "ports").is_empty() && !is_headless(service) && needs_cluster_ip(service) {
        errors.push(FieldError::required("spec.ports", ""));
    }
    errors.extend(by_type(service));
    errors.extend(service_ports::each(service));
    errors.extend(metadata::labels(
        spec.get("selector"),
        &SPEC.child("selector"),
    ));
    errors.extend(affinity(spec));
    errors.extend(cluster_ips(service, live));
    let old = live.map_or(&[][..], |live| list(&live["spec"], "externalIPs"));
    for (i, ip) in list(spec, "externalIPs").iter().enumerate() {
        let field = SPEC.item("externalIPs", i);
        match ip::check(ip, &field, old) {
            Some(error) => errors.push(error),
            None => errors.extend(ip::check_not_special(ip, &field)),
        }
    }
    let types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
    errors.extend(one_of(spec, &SPEC.child("type"), "type", &types));
    errors.extend(service_ports::repeated(service));
    errors.extend(service_load_balancer::reserved(service, live));
    errors.extend(service_load_balancer::class(service, None));
    errors.extend(traffic(service));
    errors
}

const SPEC: ErrorPath<'static> = ErrorPath::new("spec");

/// The annotation that was renamed says the same under both names.
fn topology(service: &Value) -> Option<FieldError> {
    let annotation = |name| service["metadata"]["annotations"].get(name);
    let (mode, hints) = (annotation(TOPOLOGY_MODE)?, annotation(TOPOLOGY_HINTS)?);
    let annotations = ErrorPath::new("metadata.annotations");
    let field = annotations.key(TOPOLOGY_MODE);
    let detail = format!("must match annotations[{TOPOLOGY_HINTS}] when both are specified");
    (mode != hints).then(|| FieldError::invalid(field, mode, detail))
}

/// Refuses the fields that a Service of its type cannot have.
fn by_type(service: &Value) -> Vec<FieldError> {
    let spec = &service["spec"];
    let mut errors = Vec::new();
    let kind = text(spec, "type");
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
            errors.push(FieldError::forbidden(SPEC.child(field), detail));
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

fn affinity(spec: &Value) -> Vec<FieldError> {
    let path = SPEC.child("sessionAffinityConfig");
    let mut errors: Vec<FieldError> = one_of(
        spec,
        &SPEC.child("sessionAffinity"),
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
            // The defaults have set a time.
            let timeout = config.and_then(|config| config.pointer("/clientIP/timeoutSeconds"));
            if let Some(seconds) = timeout.and_then(Value::as_i64)
                && !(1..=MAX_AFFINITY_LENGTH).contains(&seconds)
            {
                let field = path.child("clientIP.timeoutSeconds");
                let detail = format!("must be greater than 0 and less than {MAX_AFFINITY_LENGTH}");
                errors.push(FieldError::invalid(field, &seconds.into(), detail));
            }
        }
        _ => {}
    }
    errors
}

/// Checks the policies that choose the endpoints for traffic.
fn traffic(service: &Value) -> Vec<FieldError> {
    let spec = &service["spec"];
    let mut errors = Vec::new();
    let field = SPEC.child("externalTrafficPolicy");
    let policies = ["Cluster", "Local"];
    if is_external(service) {
        errors.extend(one_of(spec, &field, "externalTrafficPolicy", &policies));
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
        None if needs_node_port(service) || spec["type"] == "ClusterIP" => {
            errors.push(FieldError::required(field, ""))
        }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
