//! Effects of the controllers on the objects of a server, by upstream's own rules.

use std::time::Duration;

use http::Request;
use optimist_apiserver::server::ApiServer;
use optimist_cluster::{Controllers, Switches};
use serde_json::{Value, json};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn send(server: &mut ApiServer, method: &str, path: &str, body: Value) -> (u16, Value) {
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", "application/json");
    let response = server.handle(request.body(body.to_string().into_bytes()).unwrap());
    let answer = serde_json::from_slice(response.body()).unwrap();
    (response.status().as_u16(), answer)
}

fn get(server: &mut ApiServer, path: &str) -> Option<Value> {
    let (code, answer) = send(server, "GET", path, json!({}));
    (code == 200).then_some(answer)
}

/// Makes a ConfigMap with these owners, each with whether it blocks the deletion of the owner.
fn map(server: &mut ApiServer, name: &str, owners: &[(&str, &str, bool)]) -> String {
    let reference = |(name, uid, blocks): &(&str, &str, bool)| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid,
            "blockOwnerDeletion": blocks})
    };
    let owners: Vec<Value> = owners.iter().map(reference).collect();
    let map = json!({"metadata": {"name": name, "ownerReferences": owners}});
    let (code, made) = send(server, "POST", MAPS, map);
    assert_eq!(code, 201, "{made}");
    made["metadata"]["uid"].as_str().unwrap().to_owned()
}

fn exists(server: &mut ApiServer, name: &str) -> bool {
    get(server, &format!("{MAPS}/{name}")).is_some()
}

fn delete(server: &mut ApiServer, name: &str, policy: &str) {
    let options = json!({"propagationPolicy": policy});
    let (code, _) = send(server, "DELETE", &format!("{MAPS}/{name}"), options);
    assert_eq!(code, 200);
}

fn collector() -> Controllers {
    Controllers::new(Switches {
        garbage_collector: true,
        ..Switches::default()
    })
}

#[test]
fn without_a_switch_nothing_is_written() {
    let server = &mut ApiServer::default();
    map(server, "child", &[("gone", "u", true)]);
    assert_eq!(Controllers::default().run(server), 0);
    assert!(exists(server, "child"));
}

#[test]
fn in_the_background_dependents_go_after_their_owner() {
    let server = &mut ApiServer::default();
    let owner = map(server, "owner", &[]);
    let child = map(server, "child", &[("owner", &owner, true)]);
    map(server, "grandchild", &[("child", &child, false)]);
    assert_eq!(collector().run(server), 0, "all owners are there");
    delete(server, "owner", "Background");
    assert!(!exists(server, "owner") && exists(server, "child"));
    collector().run(server);
    assert!(!exists(server, "child") && !exists(server, "grandchild"));
}

#[test]
fn in_the_foreground_an_owner_waits_for_the_dependents_that_block_it() {
    let server = &mut ApiServer::default();
    let owner = map(server, "owner", &[]);
    map(server, "child", &[("owner", &owner, true)]);
    let path = format!("{MAPS}/child");
    let (_, mut child) = send(server, "GET", &path, json!({}));
    child["metadata"]["finalizers"] = json!(["example.com/wait"]);
    assert_eq!(send(server, "PUT", &path, child).0, 200);
    delete(server, "owner", "Foreground");
    collector().run(server);
    let mut child = get(server, &path).expect("its finalizer keeps it");
    assert!(child["metadata"]["deletionTimestamp"].is_string());
    assert!(exists(server, "owner"));
    child["metadata"]["finalizers"] = json!([]);
    send(server, "PUT", &path, child);
    collector().run(server);
    assert!(!exists(server, "child") && !exists(server, "owner"));
}

#[test]
fn an_owner_does_not_wait_for_dependents_that_do_not_block_it() {
    let server = &mut ApiServer::default();
    let owner = map(server, "owner", &[]);
    map(server, "child", &[("owner", &owner, false)]);
    delete(server, "owner", "Foreground");
    collector().run(server);
    assert!(!exists(server, "owner") && !exists(server, "child"));
}

#[test]
fn orphans_lose_their_owner_and_stay() {
    let server = &mut ApiServer::default();
    let owner = map(server, "owner", &[]);
    map(server, "child", &[("owner", &owner, true)]);
    delete(server, "owner", "Orphan");
    assert!(exists(server, "owner"));
    collector().run(server);
    assert!(!exists(server, "owner"));
    let child = get(server, &format!("{MAPS}/child")).unwrap();
    assert_eq!(child["metadata"]["ownerReferences"], Value::Null);
}

#[test]
fn an_object_with_an_owner_that_stays_loses_only_the_others() {
    let server = &mut ApiServer::default();
    let stays = map(server, "stays", &[]);
    let goes = map(server, "goes", &[]);
    map(
        server,
        "child",
        &[("stays", &stays, false), ("goes", &goes, false)],
    );
    delete(server, "goes", "Background");
    collector().run(server);
    let child = get(server, &format!("{MAPS}/child")).unwrap();
    let references = child["metadata"]["ownerReferences"].as_array().unwrap();
    assert_eq!(references.len(), 1);
    assert_eq!(references[0]["name"], "stays");
}

#[test]
fn an_owner_of_an_unknown_kind_or_with_another_uid_is_told_apart() {
    let server = &mut ApiServer::default();
    map(server, "owner", &[]);
    let other = map(server, "other", &[("owner", "an-older-uid", false)]);
    assert!(!other.is_empty());
    let unknown = json!({"metadata": {"name": "unknown", "ownerReferences": [
        {"apiVersion": "x.example.com/v1", "kind": "X", "name": "x", "uid": "u"}]}});
    send(server, "POST", MAPS, unknown);
    collector().run(server);
    assert!(!exists(server, "other"));
    assert!(exists(server, "unknown"));
}

#[test]
fn an_object_with_an_owner_of_an_unknown_kind_keeps_all_of_its_owners() {
    let server = &mut ApiServer::default();
    let owners = json!([
        {"apiVersion": "example.com/v1", "kind": "Widget", "name": "w", "uid": "1"},
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "2"},
    ]);
    let child = json!({"metadata": {"name": "child", "ownerReferences": owners}});
    assert_eq!(send(server, "POST", MAPS, child).0, 201);
    assert_eq!(collector().run(server), 0);
}

#[test]
fn objects_that_own_each_other_go_with_the_first() {
    let server = &mut ApiServer::default();
    let a = map(server, "a", &[]);
    let b = map(server, "b", &[("a", &a, true)]);
    let (_, mut owner) = send(server, "GET", &format!("{MAPS}/a"), json!({}));
    owner["metadata"]["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "ConfigMap",
        "name": "b", "uid": b, "blockOwnerDeletion": true}]);
    send(server, "PUT", &format!("{MAPS}/a"), owner);
    delete(server, "a", "Foreground");
    collector().run(server);
    assert!(!exists(server, "a") && !exists(server, "b"));
}

#[test]
fn a_namespace_goes_with_all_that_is_in_it() {
    let server = &mut ApiServer::default();
    let controllers = Controllers::new(Switches {
        namespaces: true,
        ..Switches::default()
    })
    .with_root_ca("PEM".to_owned());
    let namespace = json!({"metadata": {"name": "n"}});
    send(server, "POST", "/api/v1/namespaces", namespace);
    controllers.run(server);
    let inside = "/api/v1/namespaces/n";
    let account = get(server, &format!("{inside}/serviceaccounts/default")).unwrap();
    let manager = &account["metadata"]["managedFields"];
    assert_eq!(*manager, Value::Null, "it sets no field");
    let root = get(server, &format!("{inside}/configmaps/kube-root-ca.crt")).unwrap();
    assert_eq!(root["data"]["ca.crt"], "PEM");
    let kept = json!({"metadata": {"name": "kept", "finalizers": ["example.com/wait"]}});
    send(server, "POST", &format!("{inside}/configmaps"), kept);
    send(server, "DELETE", inside, json!({}));
    controllers.run(server);
    let waits = get(server, inside).expect("it is not empty");
    assert_eq!(waits["spec"]["finalizers"], json!(["kubernetes"]));
    assert!(get(server, &format!("{inside}/serviceaccounts/default")).is_none());
    let remains = [
        "False ResourcesDiscovered: All resources successfully discovered",
        "False ParsedGroupVersions: All legacy kube types successfully parsed",
        "False ContentDeleted: All content successfully deleted, may be waiting on finalization",
        "True SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances",
        "True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: \
         example.com/wait in 1 resource instances",
    ];
    assert_eq!(conditions(&waits), remains);
    assert_eq!(controllers.run(server), 0, "nothing has changed");
    let path = format!("{inside}/configmaps/kept");
    let mut kept = get(server, &path).unwrap();
    kept["metadata"]["finalizers"] = json!([]);
    send(server, "PUT", &path, kept);
    controllers.run(server);
    assert!(get(server, inside).is_none());
    assert!(get(server, "/api/v1/namespaces/default").is_some());
}

#[test]
fn pods_become_ready_and_go_when_they_are_deleted() {
    let server = &mut ApiServer::default();
    let controllers = Controllers::new(Switches {
        pods: true,
        ..Switches::default()
    });
    let pods = "/api/v1/namespaces/default/pods";
    let containers = json!([{"name": "c", "image": "i"}]);
    let pod =
        json!({"metadata": {"name": "p"}, "spec": {"containers": containers, "nodeName": "n"}});
    assert_eq!(send(server, "POST", pods, pod).0, 201);
    let gates = json!([{"name": "example.com/gate"}]);
    let gated = json!({"metadata": {"name": "g"}, "spec": {"containers": containers, "schedulingGates": gates}});
    assert_eq!(send(server, "POST", pods, gated).0, 201);
    assert_eq!(controllers.run(server), 1);
    let pod = get(server, &format!("{pods}/p")).unwrap();
    assert_eq!(pod["status"]["phase"], "Running");
    let conditions = pod["status"]["conditions"].as_array().unwrap();
    let ready = conditions.iter().find(|it| it["type"] == "Ready").unwrap();
    assert_eq!(ready["status"], "True");
    assert_eq!(ready["observedGeneration"], 1);
    assert_eq!(pod["status"]["containerStatuses"][0]["ready"], true);
    let gated = get(server, &format!("{pods}/g")).unwrap();
    assert_eq!(gated["status"]["phase"], "Pending");
    send(server, "DELETE", &format!("{pods}/p"), json!({}));
    assert!(get(server, &format!("{pods}/p")).is_some(), "it has a node");
    controllers.run(server);
    assert!(get(server, &format!("{pods}/p")).is_none());
}

#[test]
fn a_deployment_says_that_its_replicas_are_ready() {
    let server = &mut ApiServer::default();
    let controllers = Controllers::new(Switches {
        deployments: true,
        ..Switches::default()
    });
    let path = "/apis/apps/v1/namespaces/default/deployments";
    let labels = json!({"app": "web"});
    let deployment = json!({"metadata": {"name": "web"}, "spec": {"replicas": 3,
        "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels},
        "spec": {"containers": [{"name": "c", "image": "i"}]}}}});
    assert_eq!(send(server, "POST", path, deployment).0, 201);
    let path = format!("{path}/web");
    assert_eq!(controllers.run(server), 1);
    let first = get(server, &path).unwrap();
    let mut web = first.clone();
    assert_eq!(web["status"]["availableReplicas"], 3);
    assert_eq!(web["status"]["observedGeneration"], 1);
    web["spec"]["replicas"] = 0.into();
    assert_eq!(send(server, "PUT", &path, web).0, 200);
    assert_eq!(controllers.run(server), 1);
    let web = get(server, &path).unwrap();
    assert_eq!(web["status"]["availableReplicas"], Value::Null);
    assert_eq!(web["status"]["observedGeneration"], 2);
    assert_eq!(web["status"]["conditions"], first["status"]["conditions"]);
    assert_eq!(web["status"]["conditions"].as_array().unwrap().len(), 2);
}

#[test]
fn a_deployment_without_a_deadline_does_not_say_that_it_progresses() {
    let server = &mut ApiServer::default();
    let controllers = Controllers::new(Switches {
        deployments: true,
        ..Switches::default()
    });
    let path = "/apis/apps/v1/namespaces/default/deployments";
    let labels = json!({"app": "web"});
    let deployment = json!({"metadata": {"name": "web"}, "spec": {
        "progressDeadlineSeconds": i32::MAX, "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels},
            "spec": {"containers": [{"name": "c", "image": "i"}]}}}});
    assert_eq!(send(server, "POST", path, deployment).0, 201);
    controllers.run(server);
    let web = get(server, &format!("{path}/web")).unwrap();
    let conditions = web["status"]["conditions"].as_array().unwrap();
    assert!(matches!(&conditions[..], [one] if one["type"] == "Available"));
}

/// The controller of namespaces alone.
fn of_namespaces() -> Controllers {
    Controllers::new(Switches {
        namespaces: true,
        ..Switches::default()
    })
}

fn create_namespace(server: &mut ApiServer) {
    let namespace = json!({"metadata": {"name": "n"}});
    assert_eq!(send(server, "POST", "/api/v1/namespaces", namespace).0, 201);
}

#[test]
fn what_pods_need_stays_in_a_namespace_until_they_are_gone() {
    let (server, controllers) = (&mut ApiServer::default(), of_namespaces());
    create_namespace(server);
    let map = json!({"metadata": {"name": "m"}});
    let maps = "/api/v1/namespaces/n/configmaps";
    assert_eq!(send(server, "POST", maps, map).0, 201);
    let pods = "/api/v1/namespaces/n/pods";
    let mut pod = json!({"metadata": {"name": "p", "finalizers": ["example.com/wait"]},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    assert_eq!(send(server, "POST", pods, pod.clone()).0, 201);
    send(server, "DELETE", "/api/v1/namespaces/n", json!({}));
    controllers.run(server);
    assert!(get(server, &format!("{maps}/m")).is_some());
    // Upstream says so, too, before it counts what is left.
    let waits = get(server, "/api/v1/namespaces/n").unwrap();
    let removed = "False ContentRemoved: All content successfully removed";
    assert_eq!(conditions(&waits)[3], removed);
    pod = get(server, &format!("{pods}/p")).unwrap();
    pod["metadata"]["finalizers"] = json!([]);
    assert_eq!(send(server, "PUT", &format!("{pods}/p"), pod).0, 200);
    controllers.run(server);
    assert!(get(server, &format!("{maps}/m")).is_none());
    assert!(get(server, "/api/v1/namespaces/n").is_none());
}

/// The conditions of a namespace, in their order.
fn conditions(namespace: &Value) -> Vec<String> {
    let conditions = namespace["status"]["conditions"].as_array();
    let said = |it: &Value| {
        let part = |field| it[field].as_str().unwrap().to_owned();
        format!("{} {}: {}", part("status"), part("reason"), part("message"))
    };
    conditions.unwrap().iter().map(said).collect()
}

#[test]
fn a_namespace_says_what_could_not_be_deleted() {
    let (server, controllers) = (&mut ApiServer::default(), of_namespaces());
    create_namespace(server);
    let pod = json!({"metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}], "nodeName": "a",
            "terminationGracePeriodSeconds": 20}});
    let pods = "/api/v1/namespaces/n/pods";
    assert_eq!(send(server, "POST", pods, pod).0, 201);
    send(server, "DELETE", "/api/v1/namespaces/n", json!({}));
    let failure = |server: &mut ApiServer| {
        controllers.run(server);
        let namespace = get(server, "/api/v1/namespaces/n").unwrap();
        let condition = namespace["status"]["conditions"][2].clone();
        (
            conditions(&namespace)[2].clone(),
            condition["lastTransitionTime"].clone(),
        )
    };
    let (first, since) = failure(server);
    assert!(
        first.starts_with("False ContentDeleted: "),
        "it has time to stop: {first}"
    );
    server.environment_mut().advance(Duration::from_secs(20));
    let (then, changed) = failure(server);
    assert_eq!(
        then,
        "True ContentDeletionFailed: Failed to delete all resource types, 1 remaining: unexpected \
         items still remain in namespace: n for gvr: /v1, Resource=pods"
    );
    assert_ne!(since, changed);
}
