//! Services.

use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

use super::{CORE, change, make, send, wrong};

const RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";

fn services() -> String {
    format!("{CORE}/services")
}

fn service(spec: &Value) -> Value {
    let mut service = json!({"metadata": {"name": "x"}, "spec": {"ports": [{"port": 80}]}});
    for (name, value) in spec.as_object().unwrap() {
        service["spec"][name] = value.clone();
    }
    service
}

/// `dryRunAllocator` of `pkg/registry/core/service/ipallocator`.
#[test]
fn a_dry_run_shows_the_address_of_the_range() {
    let server = &mut ApiServer::default();
    let dry = format!("{}?dryRun=All", services());
    let guessed = make(server, &dry, &service(&json!({}))).body;
    assert_eq!(guessed["spec"]["clusterIPs"], json!(["10.0.0.0"]));
    // It does not see that an address is taken.
    let asked = service(&json!({"clusterIP": "10.0.0.1"}));
    make(server, &dry, &asked);
    let taken = send(server, "POST", &services(), &asked).causes();
    assert!(
        taken[0].ends_with("provided IP is already allocated"),
        "{taken:?}"
    );
    let far = service(&json!({"clusterIP": "1.2.3.4"}));
    assert_eq!(
        send(server, "POST", &dry, &far).causes(),
        [
            "spec.clusterIPs: Invalid value: [\"1.2.3.4\"]: failed to allocate IP 1.2.3.4: the \
             provided IP (1.2.3.4) is not in the valid range. The range of valid IPs is \
             10.0.0.0/24"
        ]
    );
}

/// `PortAllocationOperation` of `pkg/registry/core/service/portallocator`.
#[test]
fn a_dry_run_guesses_node_ports() {
    let server = &mut ApiServer::default();
    let dry = format!("{}?dryRun=All", services());
    let ports = |server: &mut ApiServer, ports: Value| {
        let spec = json!({"type": "NodePort", "ports": ports});
        let body = make(server, &dry, &service(&spec)).body;
        let ports = body["spec"]["ports"].as_array().unwrap().iter();
        ports
            .map(|port| port["nodePort"].as_i64().unwrap())
            .collect::<Vec<_>>()
    };
    let (a, b) = (
        json!({"name": "a", "port": 80}),
        json!({"name": "b", "port": 81}),
    );
    assert_eq!(ports(server, json!([a, b])), [32_769, 32_770]);
    let asked = json!({"name": "a", "port": 80, "nodePort": 80});
    assert_eq!(ports(server, json!([asked, b])), [80, 81]);
    let taken = json!({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30_090}]});
    make(server, &services(), &service(&taken));
    let mut other = service(&taken);
    other["metadata"]["name"] = "y".into();
    assert_eq!(
        send(server, "POST", &dry, &other).causes(),
        ["spec.ports[0].nodePort: Invalid value: 30090: provided port is already allocated"]
    );
}

/// `allocIPs` of `pkg/registry/core/service/storage`.
#[test]
fn no_address_is_left_in_a_full_range() {
    let server = &mut ApiServer::default();
    let named = |i: usize| {
        let mut service = service(&json!({}));
        service["metadata"]["name"] = format!("s{i}").into();
        service
    };
    for i in 0..253 {
        make(server, &services(), &named(i));
    }
    let refused = send(server, "POST", &services(), &named(253));
    assert_eq!(refused.code, 500);
    assert_eq!(
        refused.message(),
        "Internal error occurred: failed to allocate a serviceIP for Service \"s253\": range is full"
    );
}

/// `patchAllocatedValues` of `pkg/registry/core/service/storage`.
#[test]
fn a_load_balancer_without_node_ports_does_not_keep_those_that_it_had() {
    let server = &mut ApiServer::default();
    let mut balancer = service(&json!({"type": "LoadBalancer"}));
    let made = make(server, &services(), &balancer).body;
    assert!(made["spec"]["ports"][0]["nodePort"].is_i64());
    let path = format!("{}/x", services());
    let kept = send(server, "PUT", &path, &balancer).body;
    assert_eq!(kept["spec"]["ports"], made["spec"]["ports"]);
    balancer["spec"]["allocateLoadBalancerNodePorts"] = false.into();
    let without = send(server, "PUT", &path, &balancer);
    assert_eq!(without.code, 200, "{}", without.body);
    assert_eq!(without.body["spec"]["ports"][0].get("nodePort"), None);
}

/// `validateService` of `pkg/apis/core/validation`.
#[test]
fn only_an_annotation_that_stays_as_it_is_keeps_its_ranges() {
    let server = &mut ApiServer::default();
    let mut balancer = service(&json!({"type": "LoadBalancer"}));
    balancer["metadata"]["annotations"] = json!({RANGES: "10.0.0.0/8, x"});
    let causes = wrong(&services(), &balancer);
    let field = format!("metadata.annotations[{RANGES}]");
    let refused = format!(
        "{field}: Invalid value: \"x\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
    );
    assert_eq!(causes, [refused.as_str()]);
    balancer["metadata"]["annotations"] = json!({RANGES: "10.0.0.0/8"});
    make(server, &services(), &balancer);
    let patch = json!({"metadata": {"annotations": {RANGES: "10.0.0.0/8,x"}}});
    let path = format!("{}/x", services());
    assert_eq!(send(server, "PATCH", &path, &patch).causes(), [refused]);
    change(server, &path, &json!({"metadata": {"labels": {"a": "b"}}}));
}

/// `SetDefaults_Service`: an empty text is not an absent one.
#[test]
fn an_empty_policy_for_inner_traffic_is_none_that_is_known() {
    let odd = service(&json!({"internalTrafficPolicy": ""}));
    assert_eq!(
        wrong(&services(), &odd),
        [
            "spec.internalTrafficPolicy: Unsupported value: \"\": supported values: \"Cluster\", \
             \"Local\""
        ]
    );
}
