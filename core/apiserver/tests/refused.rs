//! What kinds refuse that the recordings of a real server do not show, by its source (v1.36).

use http::Request;
use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

const NAMESPACED: &str = "/api/v1/namespaces/default";

/// The code of an answer, and what is wrong with the object.
fn send(server: &mut ApiServer, method: &str, path: &str, body: &Value) -> (u16, String) {
    let mut request = Request::builder().method(method).uri(path);
    if method == "PATCH" {
        request = request.header("content-type", "application/merge-patch+json");
    }
    let request = request.body(body.to_string().into_bytes()).unwrap();
    let response = server.handle(request);
    let body: Value = serde_json::from_slice(response.body()).unwrap_or_default();
    let message = body["message"].as_str().unwrap_or_default();
    let wrong = message.split_once(" is invalid: ");
    let wrong = wrong.map_or(message, |(_, wrong)| wrong);
    (response.status().as_u16(), wrong.to_owned())
}

fn create(path: &str, spec: Value) -> (u16, String) {
    let object = json!({"metadata": {"name": "x", "labels": {"app": "x"}}, "spec": spec});
    send(&mut ApiServer::default(), "POST", path, &object)
}

fn volume(source: &str, what: Value) -> (u16, String) {
    let mut spec = json!({"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]});
    spec[source] = what;
    create("/api/v1/persistentvolumes", spec)
}

#[test]
fn a_local_volume_says_which_nodes_have_it() {
    let (code, wrong) = volume("local", json!({"path": "/a/../b"}));
    assert_eq!(code, 422);
    assert_eq!(
        wrong,
        "[spec.local.path: Invalid value: \"/a/../b\": must not contain '..', \
         spec.nodeAffinity: Required value: Local volume requires node affinity]"
    );
}

#[test]
fn the_driver_of_a_volume_has_the_name_of_a_domain() {
    let (_, wrong) = volume("csi", json!({"driver": "Bad_D", "volumeHandle": "h"}));
    assert!(wrong.starts_with("spec.csi.driver: Invalid value: \"Bad_D\": "));
    let driver = json!({"driver": "Csi.Example.com", "volumeHandle": "h"});
    assert_eq!(volume("csi", driver).0, 201);
    let long = json!({"driver": "a".repeat(64), "volumeHandle": "h"});
    let expected = "spec.csi.driver: Too long: may not be more than 63 bytes";
    assert_eq!(volume("csi", long).1, expected);
}

#[test]
fn a_claim_has_no_resource_of_kubernetes_but_storage() {
    let mut server = ApiServer::default();
    let claims = format!("{NAMESPACED}/persistentvolumeclaims");
    let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": 1}}});
    let claim = json!({"metadata": {"name": "x"}, "spec": spec});
    assert_eq!(send(&mut server, "POST", &claims, &claim).0, 201);
    let path = format!("{claims}/x/status");
    for (field, value) in [
        ("allocatedResources", "1"),
        ("allocatedResourceStatuses", "NodeResizePending"),
    ] {
        let mut write = |name: &str| {
            let status = json!({"status": {field: {name: value}}});
            send(&mut server, "PATCH", &path, &status)
        };
        let expected =
            format!("status.{field}: Unsupported value: \"cpu\": supported values: \"storage\"");
        assert_eq!(write("cpu"), (422, expected));
        assert_eq!(write("example.com/fast").0, 200);
    }
}

#[test]
fn a_host_of_certificates_is_not_empty() {
    let path = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";
    let backend = json!({"service": {"name": "s", "port": {"number": 80}}});
    let with_host = |host: &str| {
        let rules = json!([{"host": ""}]);
        create(
            path,
            json!({"defaultBackend": backend, "rules": rules, "tls": [{"hosts": [host]}]}),
        )
    };
    let (code, wrong) = with_host("");
    assert_eq!(code, 422);
    assert!(wrong.starts_with("spec.tls[0].hosts[0]: Invalid value: \"\": "));
    assert_eq!(with_host("*.example.com").0, 201);
}

#[test]
fn a_new_stateful_set_names_its_service_by_a_label() {
    let path = "/apis/apps/v1/namespaces/default/statefulsets";
    let with_service = |name: &str| {
        let labels = json!({"app": "x"});
        let containers = json!([{"name": "c", "image": "i"}]);
        create(
            path,
            json!({
                "serviceName": name,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
            }),
        )
    };
    let (_, wrong) = with_service("Bad_S");
    assert!(
        wrong.starts_with("spec.serviceName: Invalid value: \"Bad_S\": a lowercase RFC 1123 label")
    );
    assert_eq!(with_service("").0, 201);
}

#[test]
fn a_pod_says_how_its_groups_are_merged_and_what_it_claims() {
    let pods = format!("{NAMESPACED}/pods");
    let pod = |name: &str, value: Value| {
        let mut spec = json!({"containers": [{"name": "c", "image": "i"}]});
        spec[name] = value;
        create(&pods, spec).1
    };
    assert_eq!(
        pod(
            "securityContext",
            json!({"supplementalGroupsPolicy": "Odd"})
        ),
        "spec.securityContext.supplementalGroupsPolicy: Unsupported value: \"Odd\": supported \
         values: \"Merge\", \"Strict\""
    );
    assert_eq!(
        pod("volumes", json!([{"name": "v", "ephemeral": {}}])),
        "spec.volumes[0].ephemeral.volumeClaimTemplate: Required value"
    );
}
