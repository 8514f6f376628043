//! Defaults (`pkg/apis/*/v1/defaults.go`).

use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

use super::{APPS, CORE, change, make, pod, send, template, workload, wrong};

fn made(path: &str, object: &Value) -> Value {
    make(&mut ApiServer::default(), path, object).body
}

/// `SetDefaults_StatefulSet` of `pkg/apis/apps/v1`.
#[test]
fn a_stateful_set_that_says_how_it_updates_gets_no_parameters() {
    let strategy = |given: Value| {
        let set = workload(&template(&json!({})), &json!({"updateStrategy": given}));
        made(&format!("{APPS}/statefulsets"), &set)["spec"]["updateStrategy"].clone()
    };
    let full = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}});
    assert_eq!(strategy(json!({})), full);
    assert_eq!(strategy(json!({"rollingUpdate": {}})), full);
    let rolling = json!({"type": "RollingUpdate"});
    assert_eq!(strategy(rolling.clone()), rolling);
    let some = json!({"type": "RollingUpdate", "rollingUpdate": {}});
    assert_eq!(strategy(some), full);
}

/// `SetDefaults_HorizontalPodAutoscalerBehavior` of `pkg/apis/autoscaling/v2`.
#[test]
fn an_empty_behavior_gets_the_rules_of_both_directions() {
    let scaler = json!({"metadata": {"name": "x"}, "spec": {"maxReplicas": 3, "behavior": {},
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}});
    let path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    let behavior = &made(path, &scaler)["spec"]["behavior"];
    assert_eq!(behavior["scaleDown"]["selectPolicy"], "Max");
    assert_eq!(behavior["scaleUp"]["policies"][0]["value"], 4);
}

/// `Convert_v1_HorizontalPodAutoscaler_To_autoscaling_HorizontalPodAutoscaler`.
#[test]
fn an_autoscaler_of_the_first_version_aims_at_a_share_of_the_processor() {
    let scaler = json!({"metadata": {"name": "x"}, "spec": {"maxReplicas": 3,
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}});
    let path = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
    let spec = &made(path, &scaler)["spec"];
    assert_eq!(spec["targetCPUUtilizationPercentage"], 80);
    assert_eq!(spec["minReplicas"], 1);
}

/// `SetDefaults_LimitedPriorityLevelConfiguration` of `pkg/apis/flowcontrol/v1`.
#[test]
fn a_priority_level_may_have_no_shares() {
    let level = |shares: Value| {
        let limited = json!({"nominalConcurrencyShares": shares,
            "limitResponse": {"type": "Reject"}});
        let level = json!({"metadata": {"name": "x"},
            "spec": {"type": "Limited", "limited": limited}});
        let path = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations";
        made(path, &level)["spec"]["limited"]["nominalConcurrencyShares"].clone()
    };
    assert_eq!(level(json!(0)), 0);
    assert_eq!(level(Value::Null), 30);
}

/// `SetDefaults_CSIDriver` of `pkg/apis/storage/v1`.
#[test]
fn a_driver_has_a_mode_of_life() {
    let modes = |given: Value| {
        let driver = json!({"metadata": {"name": "x"}, "spec": {"volumeLifecycleModes": given}});
        let path = "/apis/storage.k8s.io/v1/csidrivers";
        made(path, &driver)["spec"]["volumeLifecycleModes"].clone()
    };
    for given in [Value::Null, json!([])] {
        assert_eq!(modes(given), json!(["Persistent"]));
    }
    assert_eq!(modes(json!(["Ephemeral"])), json!(["Ephemeral"]));
}

/// `SetDefaults_Subject` and `SetDefaults_RoleBinding` of `pkg/apis/rbac/v1`.
#[test]
fn a_binding_has_a_group_before_it_is_checked() {
    let path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    let binding = json!({"metadata": {"name": "x"}, "subjects": [{"kind": "User"}]});
    let causes = wrong(path, &binding);
    assert_eq!(
        causes,
        [
            "roleRef.kind: Unsupported value: \"\": supported values: \"ClusterRole\"",
            "roleRef.name: Required value",
            "subjects[0].name: Required value",
        ]
    );
}

/// `SetDefaults_Volume` and `SetDefaults_Pod` of `pkg/apis/core/v1`.
#[test]
fn a_volume_without_a_source_is_an_empty_directory() {
    let own = json!({"volumes": [{"name": "v", "hostPath": null}]});
    let pod_made = made(&format!("{CORE}/pods"), &pod(&own));
    let volume = &pod_made["spec"]["volumes"][0];
    assert_eq!(*volume, json!({"name": "v", "emptyDir": {}}));
    let causes = wrong(&format!("{CORE}/pods"), &pod(&json!({"volumes": [{}]})));
    assert_eq!(causes, ["spec.volumes[0].name: Required value"]);
}

/// `SetDefaults_DeviceTaint` of `pkg/apis/resource/v1`.
#[test]
fn a_taint_of_a_device_says_when_it_was_added() {
    let server = &mut ApiServer::default();
    let path = "/apis/resource.k8s.io/v1/resourceslices";
    let taint = |key: &str| json!({"key": key, "effect": "NoSchedule"});
    let device = |taints: &Value| json!([{"name": "d", "taints": taints}]);
    let slice = json!({"metadata": {"name": "x"}, "spec": {"driver": "a.b", "nodeName": "n",
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
        "devices": device(&json!([taint("a")]))}});
    let made = make(server, path, &slice).body;
    let first = &made["spec"]["devices"][0]["taints"][0];
    assert_eq!(
        first["timeAdded"], made["metadata"]["creationTimestamp"],
        "{made}"
    );
    let taints = device(&json!([first, taint("b")]));
    let patch = json!({"spec": {"devices": taints}});
    let changed = change(server, &format!("{path}/x"), &patch).body;
    let second = &changed["spec"]["devices"][0]["taints"][1];
    assert!(second["timeAdded"].is_string(), "{changed}");
}

/// `SetDefaults_NodeStatus`: etcd holds no empty map, and what is read from it is filled in.
#[test]
fn a_node_whose_allocatable_resources_are_emptied_can_allocate_its_capacity() {
    let mut server = ApiServer::default();
    let capacity = json!({"cpu": "2"});
    let node = json!({"metadata": {"name": "n"}});
    make(&mut server, "/api/v1/nodes", &node);
    let path = "/api/v1/nodes/n/status";
    let status = json!({"status": {"capacity": capacity, "allocatable": {}}});
    let written = change(&mut server, path, &status).body;
    assert_eq!(written["status"]["allocatable"], capacity);
    let read = send(&mut server, "GET", "/api/v1/nodes/n", &Value::Null).body;
    assert_eq!(read["status"]["allocatable"], capacity);
}
