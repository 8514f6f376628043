//! Service (`pkg/registry/core/service`, `pkg/apis/core/validation`).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    HiddenField, Rules, StatusRules, service_allocation, service_load_balancer, service_validation,
    service_warnings, warnings,
};
use crate::object::text;

pub(super) const RULES: Rules = Rules {
    allocate: service_allocation::allocate,
    prepare,
    validate: service_validation::validate,
    status: StatusRules {
        prepare: |_, _| {},
        validate: service_load_balancer::status,
    },
    warn: |service, _| service_warnings::for_service(service),
    notices: &warnings::OF_BALANCERS,
    returns_deleted: true,
    fields: &["spec.clusterIP", "spec.type"],
    hidden_field: Some(&TRAFFIC_POLICY),
    ..Rules::NONE
};

/// A Service outside of the cluster has no policy for traffic inside of it. Earlier releases stored
/// one, so it is left out when read (`defaultOnReadInternalTrafficPolicy`).
const TRAFFIC_POLICY: HiddenField = HiddenField {
    is_hidden: |service| kind(service) == "ExternalName",
    parent: "/spec",
    field: "internalTrafficPolicy",
};

fn kind(service: &Value) -> &str {
    text(&service["spec"], "type")
}

/// Returns whether a Service has a field for its own address; the address can be `None`.
pub(super) fn needs_cluster_ip(service: &Value) -> bool {
    kind(service) != "ExternalName"
}

/// Returns whether a Service has a port on every node.
pub(super) fn needs_node_port(service: &Value) -> bool {
    matches!(kind(service), "NodePort" | "LoadBalancer")
}

/// Returns whether a Service is for those outside of the cluster, too.
pub(super) fn is_external(service: &Value) -> bool {
    let addresses = service["spec"]["externalIPs"].as_array();
    needs_node_port(service)
        || kind(service) == "ClusterIP" && addresses.is_some_and(|ips| !ips.is_empty())
}

/// Returns whether a load balancer outside of the cluster distributes the traffic.
pub(super) fn is_load_balancer(service: &Value) -> bool {
    kind(service) == "LoadBalancer"
}

/// Returns whether nodes answer a load balancer's question whether they have endpoints.
pub(super) fn needs_health_check_port(service: &Value) -> bool {
    is_load_balancer(service) && text(&service["spec"], "externalTrafficPolicy") == "Local"
}

/// Returns whether a Service asks for no address (`isHeadlessService`).
pub(super) fn is_headless(service: &Value) -> bool {
    service["spec"]["clusterIPs"] == json!(["None"])
}

fn prepare(service: &mut Value, live: Option<&Value>) {
    match live {
        None => service["status"] = json!({"loadBalancer": {}}),
        Some(live) => drop_what_the_type_does_not_need(service, live),
    }
}

/// Removes the fields that only the old type needed, if the type changes and the client left them
/// as they were (`dropTypeDependentFields`).
fn drop_what_the_type_does_not_need(service: &mut Value, live: &Value) {
    let before = &live["spec"];
    let lost = |needs: fn(&Value) -> bool| needs(live) && !needs(service);
    let lost_cluster_ip = lost(needs_cluster_ip);
    let lost_node_port = lost(needs_node_port);
    let lost_health_check = lost(needs_health_check_port);
    let lost_load_balancer = lost(is_load_balancer);
    let lost_outside = lost(is_external);
    let balances_load = is_load_balancer(service);
    let Some(spec) = service["spec"].as_object_mut() else {
        return;
    };
    let mut drop_if_same = |fields: &[&str]| {
        if fields
            .iter()
            .all(|&field| spec.get(field) == before.get(field))
        {
            for &field in fields {
                spec.remove(field);
            }
        }
    };
    if lost_cluster_ip {
        drop_if_same(&["clusterIP", "clusterIPs"]);
        drop_if_same(&["ipFamilies"]);
        drop_if_same(&["ipFamilyPolicy"]);
    }
    if lost_health_check {
        drop_if_same(&["healthCheckNodePort"]);
    }
    if lost_load_balancer {
        drop_if_same(&["allocateLoadBalancerNodePorts"]);
        drop_if_same(&["loadBalancerClass"]);
    }
    if lost_outside {
        drop_if_same(&["externalTrafficPolicy"]);
    }
    if lost_node_port {
        let number = |port: &Value| port.get("nodePort").map(Value::to_string);
        let old: BTreeSet<String> = before["ports"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(number)
            .collect();
        if let Some(Value::Array(ports)) = spec.get_mut("ports")
            && ports
                .iter()
                .filter_map(number)
                .all(|port| old.contains(&port))
        {
            for port in ports.iter_mut().filter_map(Value::as_object_mut) {
                port.remove("nodePort");
            }
        }
    }
    if !balances_load {
        service["status"]["loadBalancer"] = json!({});
    }
}
