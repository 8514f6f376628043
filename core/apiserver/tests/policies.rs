//! What policies of admission see of a request, by the source of v1.36.

use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

use crate::rare_kinds::{made, send};

const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";

/// A server with a policy for autoscalers of version 1.
fn with_policy(match_policy: &str, expression: &str) -> ApiServer {
    let mut server = ApiServer::default();
    let rule = json!({"apiGroups": ["autoscaling"], "apiVersions": ["v1"],
        "resources": ["horizontalpodautoscalers"], "operations": ["CREATE"]});
    let policy = json!({"metadata": {"name": "p"}, "spec": {
        "matchConstraints": {"matchPolicy": match_policy, "resourceRules": [rule]},
        "validations": [{"expression": expression}]}});
    made(&mut server, POLICIES, &policy);
    let binding = json!({"metadata": {"name": "b"},
        "spec": {"policyName": "p", "validationActions": ["Deny"]}});
    made(&mut server, BINDINGS, &binding);
    server
}

fn create_in_version_2(server: &mut ApiServer) -> (u16, Value) {
    let metric = json!({"type": "Resource", "resource": {"name": "cpu",
        "target": {"type": "Utilization", "averageUtilization": 50}}});
    let autoscaler = json!({"metadata": {"name": "a"}, "spec": {"maxReplicas": 3,
        "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
        "metrics": [metric]}});
    let path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    send(server, "POST", path, &autoscaler)
}

#[test]
fn a_policy_for_one_version_sees_objects_of_another_in_its_own() {
    let seen = "object.apiVersion == 'autoscaling/v1' \
                && object.spec.targetCPUUtilizationPercentage == 50 \
                && request.kind.version == 'v1' && request.requestKind.version == 'v2' \
                && request.resource.version == 'v1' && !has(request.subResource)";
    let (code, answer) = create_in_version_2(&mut with_policy("Equivalent", seen));
    assert_eq!(code, 201, "{answer}");
    let (code, answer) = create_in_version_2(&mut with_policy("Equivalent", "false"));
    assert_eq!(code, 422, "{answer}");
}

#[test]
fn an_exact_policy_does_not_see_objects_of_another_version() {
    let (code, answer) = create_in_version_2(&mut with_policy("Exact", "false"));
    assert_eq!(code, 201, "{answer}");
}
