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

const MUTATING: &str = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies";
const MUTATING_BINDINGS: &str =
    "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings";
const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// A server with a policy that changes config maps.
fn with_mutations(name: &str, reinvocation: &str, mutations: &[(&str, &str)]) -> ApiServer {
    let mut server = ApiServer::default();
    add_mutations(&mut server, name, reinvocation, mutations);
    server
}

fn add_mutations(
    server: &mut ApiServer,
    name: &str,
    reinvocation: &str,
    mutations: &[(&str, &str)],
) {
    let mutations: Vec<Value> = mutations
        .iter()
        .map(|(kind, expression)| {
            let field = if *kind == "JSONPatch" {
                "jsonPatch"
            } else {
                "applyConfiguration"
            };
            json!({"patchType": kind, field: {"expression": expression}})
        })
        .collect();
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"],
        "operations": ["CREATE", "UPDATE"]});
    let policy = json!({"metadata": {"name": name}, "spec": {
        "matchConstraints": {"resourceRules": [rule]},
        "reinvocationPolicy": reinvocation, "mutations": mutations}});
    made(server, MUTATING, &policy);
    let binding = json!({"metadata": {"name": name}, "spec": {"policyName": name}});
    made(server, MUTATING_BINDINGS, &binding);
}

#[test]
fn what_a_policy_sets_is_stored_and_nobody_owns_it() {
    let changes = [
        (
            "ApplyConfiguration",
            "Object{data: {'from': object.metadata.name}}",
        ),
        (
            "JSONPatch",
            "[JSONPatch{op: 'add', path: '/data/' + jsonpatch.escapeKey('a/b'), value: '1'}]",
        ),
    ];
    let mut server = with_mutations("p", "Never", &changes);
    let sent = json!({"metadata": {"name": "c"}, "data": {"own": "1"}});
    let (code, _) = send(&mut server, "POST", CONFIG_MAPS, &sent);
    assert_eq!(code, 422, "a key of a config map has no slash");
    let mut server = with_mutations("p", "Never", &changes[..1]);
    let stored = made(&mut server, CONFIG_MAPS, &sent);
    assert_eq!(stored["data"], json!({"from": "c", "own": "1"}));
    let owned = &stored["metadata"]["managedFields"][0]["fieldsV1"]["f:data"];
    assert_eq!(*owned, json!({".": {}, "f:own": {}}));
}

#[test]
fn a_policy_that_asks_for_it_is_invoked_once_more() {
    let again = [(
        "ApplyConfiguration",
        "Object{data: {'n': has(object.data.n) ? object.data.n + 'i' : 'i'}}",
    )];
    for (reinvocation, expected) in [("Never", "i"), ("IfNeeded", "ii")] {
        let mut server = with_mutations("p", reinvocation, &again);
        let sent = json!({"metadata": {"name": "c"}, "data": {"own": "1"}});
        let stored = made(&mut server, CONFIG_MAPS, &sent);
        assert_eq!(stored["data"]["n"], expected);
    }
}

#[test]
fn a_policy_that_cannot_do_its_work_refuses_with_each_reason() {
    let changes = [
        (
            "ApplyConfiguration",
            "Object{data: {'x': object.data.missing}}",
        ),
        ("ApplyConfiguration", "Object{bogus: 1}"),
        ("ApplyConfiguration", "Object{metadata: Object.other{}}"),
        (
            "JSONPatch",
            "[JSONPatch{op: 'add', path: '/a/b', value: 1}]",
        ),
    ];
    let mut server = with_mutations("p", "Never", &changes);
    let sent = json!({"metadata": {"name": "c"}, "data": {"own": "1"}});
    let (code, answer) = send(&mut server, "POST", CONFIG_MAPS, &sent);
    assert_eq!((code, &answer["reason"]), (403, &json!("Invalid")));
    let causes = answer["details"]["causes"].as_array().unwrap();
    let why = |i: usize| {
        let message = causes[i]["message"].as_str().unwrap();
        message.trim_start_matches("policy 'p' with binding 'p' denied request: ")
    };
    assert_eq!(answer["message"], causes[0]["message"]);
    assert_eq!(
        why(0),
        "expression 'Object{data: {'x': object.data.missing}}' resulted in error: no such key: missing"
    );
    assert_eq!(
        why(1),
        "error applying patch: failed to convert patch object to typed object: .bogus: field not declared in schema"
    );
    assert!(why(2).starts_with("type mismatch: unexpected type name \"Object.other\""));
    assert_eq!(
        why(3),
        "JSON Patch: add operation does not apply: doc is missing path: \"/a/b\": missing value"
    );
}
