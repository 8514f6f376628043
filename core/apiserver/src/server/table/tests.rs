//! Cells that no recording shows, as upstream's printers make them.

use serde_json::{Value, json};

use super::{Include, MetaVersion, table};
use crate::environment::Timestamp;
use crate::server::Resources;

const NOW: &str = "2026-01-01T01:00:00Z";

fn table_of(api_version: &str, kind: &str, objects: Vec<Value>) -> Value {
    let resources = Resources::builtin();
    let resource = resources.by_kind(api_version, kind).unwrap();
    let now = Timestamp::parse(NOW).unwrap();
    let shown = (MetaVersion::V1, Include::None);
    table(resource, json!({}), objects, shown, now)
}

/// The cells of an object that was created an hour ago, without its name and its age.
fn cells(api_version: &str, kind: &str, mut object: Value) -> Vec<Value> {
    object["metadata"]["name"] = "x".into();
    object["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z".into();
    let table = table_of(api_version, kind, vec![object]);
    let columns = table["columnDefinitions"].as_array().unwrap();
    let row = table["rows"][0]["cells"].as_array().unwrap();
    assert_eq!(columns.len(), row.len(), "{kind}");
    let shown = columns.iter().zip(row);
    let shown = shown.filter(|(column, _)| column["name"] != "Age");
    let cells: Vec<Value> = shown.map(|(_, cell)| cell.clone()).collect();
    cells.into_iter().filter(|cell| cell != "x").collect()
}

#[test]
fn every_kind_has_a_cell_for_each_column() {
    for resource in Resources::builtin().iter() {
        let version = resource.group_version.to_string();
        cells(&version, &resource.kind, json!({}));
    }
}

fn pod(spec: Value, status: Value) -> Vec<Value> {
    let mut cells = cells("v1", "Pod", json!({"spec": spec, "status": status}));
    cells.truncate(3);
    cells
}

#[test]
fn a_pod_shows_what_its_containers_do() {
    let two = json!({"containers": [{"name": "a"}, {"name": "b"}]});
    let running = json!({"state": {"running": {}}, "ready": true, "restartCount": 0});
    let state = |state: Value| {
        json!({"state": state, "restartCount": 3, "lastState": {
        "terminated": {"finishedAt": "2026-01-01T00:50:00Z"}}})
    };
    for (containers, shown) in [
        (json!([running, running]), ["2/2", "Running", "0"]),
        (
            json!([
                running,
                state(json!({"waiting": {"reason": "CrashLoopBackOff"}}))
            ]),
            ["1/2", "CrashLoopBackOff", "3 (10m ago)"],
        ),
        (
            json!([state(json!({"terminated": {"signal": 9}})), running]),
            ["1/2", "Signal:9", "3 (10m ago)"],
        ),
        (
            json!([running, state(json!({"terminated": {"exitCode": 2}}))]),
            ["1/2", "ExitCode:2", "3 (10m ago)"],
        ),
        (
            json!([
                running,
                state(json!({"terminated": {"reason": "Completed"}}))
            ]),
            ["1/2", "NotReady", "3 (10m ago)"],
        ),
    ] {
        let status = json!({"phase": "Running", "containerStatuses": containers});
        assert_eq!(pod(two.clone(), status), shown);
    }
}

#[test]
fn a_pod_shows_which_init_container_is_not_done() {
    let spec = json!({"containers": [{"name": "c"}], "initContainers": [
        {"name": "sidecar", "restartPolicy": "Always"}, {"name": "once"}]});
    let sidecar = json!({"name": "sidecar", "started": true, "ready": true, "restartCount": 1});
    for (once, shown) in [
        (json!({"state": {"running": {}}}), ["1/2", "Init:1/2", "3"]),
        (
            json!({"state": {"waiting": {"reason": "ErrImagePull"}}}),
            ["1/2", "Init:ErrImagePull", "3"],
        ),
        (
            json!({"state": {"terminated": {"exitCode": 1, "reason": "Error"}}}),
            ["1/2", "Init:Error", "3"],
        ),
        // Done: the restarts of containers that run once do not count.
        (
            json!({"state": {"terminated": {"exitCode": 0}}}),
            ["1/2", "Pending", "1"],
        ),
    ] {
        let mut once = once;
        once["name"] = "once".into();
        once["restartCount"] = 2.into();
        let status = json!({"phase": "Pending", "initContainerStatuses": [sidecar, once]});
        assert_eq!(pod(spec.clone(), status), shown);
    }
}

#[test]
fn a_pod_that_ended_says_so_of_its_row() {
    let pod = json!({"metadata": {"name": "x"}, "status": {"phase": "Succeeded"}});
    let table = table_of("v1", "Pod", vec![pod]);
    assert_eq!(table["rows"][0]["conditions"][0]["reason"], "Succeeded");
}

#[test]
fn a_job_shows_how_far_it_is() {
    let job = |spec: Value, status: Value| {
        let mut cells = cells("batch/v1", "Job", json!({"spec": spec, "status": status}));
        cells.truncate(3);
        cells
    };
    assert_eq!(
        job(json!({"parallelism": 2}), json!({"succeeded": 1})),
        ["Running", "1/1 of 2", ""]
    );
    let complete = json!({"succeeded": 3, "startTime": "2026-01-01T00:00:00Z",
        "completionTime": "2026-01-01T00:03:20Z",
        "conditions": [{"type": "Complete", "status": "True"}]});
    assert_eq!(
        job(json!({"completions": 3}), complete),
        ["Complete", "3/3", "3m20s"]
    );
}

#[test]
fn an_autoscaler_shows_its_metrics_and_their_targets() {
    let metrics = json!([
        {"type": "Pods", "pods": {"target": {"averageValue": "1k"}}},
        {"type": "External", "external": {"target": {"averageValue": "5"}}},
        {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 5}}},
    ]);
    let current = json!([{"type": "Pods", "pods": {"current": {"averageValue": "10m"}}}]);
    let object = json!({"spec": {"metrics": metrics, "minReplicas": 2},
        "status": {"currentMetrics": current}});
    let shown = cells("autoscaling/v2", "HorizontalPodAutoscaler", object);
    assert_eq!(shown[1], "10m/1k, <unknown>/5 (avg) + 1 more...");
    assert_eq!(shown[2], "2");
}

#[test]
fn a_node_shows_its_roles_and_addresses() {
    let object = json!({
        "metadata": {"labels": {"node-role.kubernetes.io/worker": "", "kubernetes.io/role": "db",
            "node-role.kubernetes.io/": ""}},
        "status": {"conditions": [{"type": "Ready", "status": "Unknown"}], "addresses": [
            {"type": "ExternalIP", "address": "1.2.3.4"}, {"type": "InternalIP", "address": "10.0.0.1"}]},
    });
    let shown = cells("v1", "Node", object);
    assert_eq!(shown[..2], ["NotReady", "db,worker"]);
    assert_eq!(shown[3..5], ["10.0.0.1", "1.2.3.4"]);
}

#[test]
fn long_lists_of_addresses_are_cut_after_three() {
    let addresses = json!([{"ip": "10.0.0.1"}, {"ip": "fd00::1"}]);
    let subset = json!({"addresses": addresses, "ports": [{"port": 80}, {"port": 81}]});
    assert_eq!(
        cells("v1", "Endpoints", json!({"subsets": [subset]})),
        ["10.0.0.1:80,[fd00::1]:80,10.0.0.1:81 + 1 more..."]
    );
    let slice = json!({"addressType": "IPv4", "ports": [{"name": "a"}, {}],
        "endpoints": [{"addresses": ["a", "b"]}, {"addresses": ["c", "d"]}]});
    assert_eq!(
        cells("discovery.k8s.io/v1", "EndpointSlice", slice),
        ["IPv4", "a,*", "a,b,c + 1 more..."]
    );
    let rules: Vec<Value> = (0..5)
        .map(|i| json!({"host": format!("{i}.example")}))
        .collect();
    let ingress = json!({"spec": {"rules": rules, "tls": [{}]}, "status": {"loadBalancer":
        {"ingress": [{"hostname": "h"}, {"ip": "1.1.1.1"}]}}});
    assert_eq!(
        cells("networking.k8s.io/v1", "Ingress", ingress),
        [
            "<none>",
            "0.example,1.example,2.example + 2 more...",
            "1.1.1.1,h",
            "80, 443"
        ]
    );
}

#[test]
fn a_service_shows_the_addresses_of_its_load_balancer_first() {
    let service = json!({"spec": {"type": "LoadBalancer", "clusterIPs": ["10.0.0.9"],
        "externalIPs": ["5.5.5.5"]}, "status": {"loadBalancer": {"ingress": [{"ip": "9.9.9.9"}]}}});
    assert_eq!(cells("v1", "Service", service)[2], "9.9.9.9,5.5.5.5");
}

#[test]
fn a_quota_shows_limits_apart() {
    let status = json!({"hard": {"requests.cpu": "2", "limits.cpu": "4", "pods": "3"},
        "used": {"pods": "1"}});
    assert_eq!(
        cells("v1", "ResourceQuota", json!({"status": status})),
        ["pods: 1/3, requests.cpu: 0/2", "limits.cpu: 0/4"]
    );
}

#[test]
fn a_binding_shows_its_subjects_by_kind() {
    let subjects = json!([{"kind": "User", "name": "u"}, {"kind": "User", "name": "v"},
        {"kind": "ServiceAccount", "namespace": "n", "name": "s"}]);
    let binding = json!({"roleRef": {"kind": "Role", "name": "r"}, "subjects": subjects});
    assert_eq!(
        cells("rbac.authorization.k8s.io/v1", "RoleBinding", binding),
        ["Role/r", "u, v", "", "n/s"]
    );
    let selector = json!({"matchLabels": {"a": "b"}, "matchExpressions": [
        {"key": "k", "operator": "In", "values": ["1", "2"]}]});
    let binding = json!({"spec": {"policyName": "p", "paramRef": {"selector": selector}}});
    assert_eq!(
        cells(
            "admissionregistration.k8s.io/v1",
            "ValidatingAdmissionPolicyBinding",
            binding
        )[1],
        "&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:\
         []LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[1 2],},},}"
    );
}

#[test]
fn a_revision_shows_its_controller() {
    let owner = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web",
        "controller": true});
    let revision = json!({"metadata": {"ownerReferences": [owner]}, "revision": 2});
    assert_eq!(
        cells("apps/v1", "ControllerRevision", revision),
        [json!("statefulset.apps/web"), json!(2)]
    );
}

#[test]
fn flow_schemas_are_listed_by_precedence() {
    let schema = |name: &str, precedence: u32| json!({"metadata": {"name": name}, "spec": {"matchingPrecedence": precedence}});
    let list = vec![schema("c", 9), schema("b", 1), schema("a", 9)];
    let table = table_of("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", list);
    let rows = table["rows"].as_array().unwrap();
    let names: Vec<&Value> = rows.iter().map(|row| &row["cells"][0]).collect();
    assert_eq!(names, ["b", "a", "c"]);
}

#[test]
fn a_node_shows_its_kernel_with_the_architecture() {
    for (info, shown) in [
        (json!({"kernelVersion": "6.1"}), "6.1"),
        (
            json!({"kernelVersion": "6.1", "architecture": "arm64"}),
            "6.1 (arm64)",
        ),
        (json!({"architecture": "arm64"}), "<unknown> (arm64)"),
    ] {
        let cells = cells("v1", "Node", json!({"status": {"nodeInfo": info}}));
        assert!(cells.contains(&shown.into()), "{cells:?}");
    }
}

#[test]
fn the_default_class_is_named_so() {
    let class = |value: &str| {
        let annotations = json!({"ingressclass.kubernetes.io/is-default-class": value});
        let class = json!({"metadata": {"annotations": annotations}});
        cells("networking.k8s.io/v1", "IngressClass", class)
    };
    assert_eq!(class("true")[0], "x (default)");
    assert!(!class("yes").contains(&"x (default)".into()));
}

#[test]
fn a_job_shows_that_enough_of_it_succeeded() {
    let conditions = json!([{"type": "SuccessCriteriaMet", "status": "True"}]);
    let job = json!({"status": {"conditions": conditions}});
    assert_eq!(cells("batch/v1", "Job", job)[0], "SuccessCriteriaMet");
}
