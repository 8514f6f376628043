//! Refusals by kinds that the recordings of a real server do not show, by its source (v1.36).

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

/// Returns the errors of an object, or its code if there are none.
fn wrong(path: &str, object: Value) -> String {
    match send(&mut ApiServer::default(), "POST", path, &object) {
        (201, _) => "201".to_owned(),
        (_, wrong) => wrong,
    }
}

const WEBHOOKS: &str = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

fn webhook(metadata: Value, client: Value) -> String {
    let webhook = json!({"name": "a.example.com", "clientConfig": client, "sideEffects": "None",
        "admissionReviewVersions": ["v1"]});
    wrong(
        WEBHOOKS,
        json!({"metadata": metadata, "webhooks": [webhook]}),
    )
}

#[test]
fn a_webhook_without_the_name_of_its_service_lacks_the_namespace() {
    let metadata = json!({"name": "x"});
    let with = |service: Value| webhook(metadata.clone(), json!({"service": service}));
    let field = "webhooks[0].clientConfig.service";
    assert_eq!(
        with(json!({"namespace": "n"})),
        format!("{field}.namespace: Required value")
    );
    assert_eq!(
        with(json!({"name": "s"})),
        format!("{field}.name: Required value")
    );
}

#[test]
fn the_url_of_a_webhook_is_one_that_go_parses() {
    let with = |url: &str| webhook(json!({"name": "x"}), json!({"url": url}));
    let wrong = |why: &str| {
        format!(
            "webhooks[0].clientConfig.url: Required value: url must be a valid URL: parse {why}; \
             desired format: https://host[/path]"
        )
    };
    assert_eq!(
        with("https://a b.com/"),
        wrong("\"https://a b.com/\": invalid character \" \" in host name")
    );
    assert_eq!(
        with("https://a.com:p/"),
        wrong("\"https://a.com:p/\": invalid port \":p\" after host")
    );
    assert_eq!(with("https://[::1]:443/x"), "201");
}

#[test]
fn finalizers_of_webhooks_need_no_domain_and_those_of_pods_do() {
    let metadata = json!({"name": "x", "finalizers": ["f"]});
    let client = json!({"url": "https://a.example.com"});
    assert_eq!(webhook(metadata.clone(), client), "201");
    let pods = format!("{NAMESPACED}/configmaps");
    assert_eq!(
        wrong(&pods, json!({"metadata": metadata})),
        "metadata.finalizers[0]: Invalid value: \"f\": name is neither a standard finalizer name nor \
         is it fully qualified"
    );
}

#[test]
fn a_volume_without_capacity_lacks_it_and_has_the_wrong_one() {
    let spec = json!({"accessModes": ["ReadWriteOncePod", "Odd"], "hostPath": {"path": "/d"}});
    let object = json!({"metadata": {"name": "x"}, "spec": spec});
    assert_eq!(
        wrong("/api/v1/persistentvolumes", object),
        "[spec.accessModes: Unsupported value: \"Odd\": supported values: \"ReadOnlyMany\", \
         \"ReadWriteMany\", \"ReadWriteOnce\", \"ReadWriteOncePod\", spec.capacity: Required value, \
         spec.capacity: Unsupported value: null: supported values: \"storage\"]"
    );
}

#[test]
fn a_claim_from_another_namespace_has_no_source() {
    let claims = format!("{NAMESPACED}/persistentvolumeclaims");
    let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": 1}},
        "dataSourceRef": {"kind": "K", "name": "n", "namespace": "z"}});
    let claim = json!({"metadata": {"name": "x"}, "spec": spec});
    let request = Request::builder().method("POST").uri(claims);
    let request = request.body(claim.to_string().into_bytes()).unwrap();
    let answer = ApiServer::default().handle(request);
    let claim: Value = serde_json::from_slice(answer.body()).unwrap();
    assert_eq!(answer.status(), 201);
    assert_eq!(claim["spec"].get("dataSourceRef"), None);
}

#[test]
fn the_ports_of_a_policy_are_checked_in_order() {
    let path = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies";
    let with = |port: Value| {
        create(
            path,
            json!({"podSelector": {}, "ingress": [{"ports": [port]}]}),
        )
    };
    let field = "spec.ingress[0].ports[0]";
    assert_eq!(
        with(json!({"port": 100_000, "endPort": 90})).1,
        format!(
            "[{field}.port: Invalid value: 100000: must be between 1 and 65535, inclusive, \
             {field}.endPort: Invalid value: 100000: must be greater than or equal to `port`]"
        )
    );
    assert_eq!(
        with(json!({"port": "http", "endPort": 0})).1,
        format!(
            "{field}.endPort: Invalid value: 0: may not be specified when `port` is non-numeric"
        )
    );
}

#[test]
fn an_empty_type_of_a_path_is_no_absent_one() {
    let path = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";
    let backend = json!({"service": {"name": "s", "port": {"number": 80}}});
    let with = |mut http_path: Value| {
        http_path["backend"] = backend.clone();
        create(path, json!({"rules": [{"http": {"paths": [http_path]}}]})).1
    };
    let field = "spec.rules[0].http.paths[0].pathType";
    assert_eq!(
        with(json!({"path": "/"})),
        format!("{field}: Required value: pathType must be specified")
    );
    assert_eq!(
        with(json!({"path": "/", "pathType": ""})),
        format!(
            "{field}: Unsupported value: \"\": supported values: \"Exact\", \
             \"ImplementationSpecific\", \"Prefix\""
        )
    );
}

#[test]
fn an_indexed_job_without_completions_is_checked_further() {
    let containers = json!([{"name": "c", "image": "i"}]);
    let template = json!({"spec": {"containers": containers, "restartPolicy": "Never"}});
    let spec = json!({"completionMode": "Indexed", "parallelism": 100_001, "managedBy": "",
        "template": template});
    let (_, wrong) = create("/apis/batch/v1/namespaces/default/jobs", spec);
    assert_eq!(
        wrong,
        "[spec.managedBy: Required value, spec.completions: Required value: when completion mode is \
         Indexed, spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when \
         completion mode is Indexed]"
    );
}

#[test]
fn a_driver_has_known_modes_and_keeps_how_it_attaches() {
    let drivers = "/apis/storage.k8s.io/v1/csidrivers";
    let driver = |spec: Value| json!({"metadata": {"name": "a.example.com"}, "spec": spec});
    let spec = json!({"fsGroupPolicy": "Odd", "volumeLifecycleModes": ["Odd"],
        "nodeAllocatableUpdatePeriodSeconds": 9,
        "tokenRequests": [{"audience": "a"}, {"audience": "a"}]});
    assert_eq!(
        wrong(drivers, driver(spec)),
        "[spec.fsGroupPolicy: Unsupported value: \"Odd\": supported values: \"File\", \"None\", \
         \"ReadWriteOnceWithFSType\", spec.tokenRequests[1].audience: Duplicate value: \"a\", \
         spec.volumeLifecycleModes: Unsupported value: \"Odd\": supported values: \"Persistent\", \
         \"Ephemeral\", spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater \
         than or equal to 10 seconds]"
    );
    let mut server = ApiServer::default();
    let made = send(&mut server, "POST", drivers, &driver(json!({})));
    assert_eq!(made.0, 201);
    let path = format!("{drivers}/a.example.com");
    let patch = json!({"spec": {"attachRequired": false, "podInfoOnMount": true}});
    assert_eq!(
        send(&mut server, "PATCH", &path, &patch),
        (
            422,
            "spec.attachedRequired: Invalid value: false: field is immutable".to_owned()
        )
    );
}

#[test]
fn a_node_has_a_driver_once_and_it_stays_as_it_is() {
    let nodes = "/apis/storage.k8s.io/v1/csinodes";
    let node = |drivers: Value| json!({"metadata": {"name": "n"}, "spec": {"drivers": drivers}});
    let driver = json!({"name": "a.example.com", "nodeID": "", "topologyKeys": ["b c"]});
    let (_, said) = send(
        &mut ApiServer::default(),
        "POST",
        nodes,
        &node(json!([driver, driver])),
    );
    assert!(said.starts_with("[spec.drivers[0].nodeID: Required value, spec.drivers[0]: Invalid"));
    assert!(said.contains("spec.drivers[1].name: Duplicate value: \"a.example.com\""));
    let mut server = ApiServer::default();
    let driver = json!({"name": "a.example.com", "nodeID": "1", "topologyKeys": null});
    assert_eq!(
        send(&mut server, "POST", nodes, &node(json!([driver]))).0,
        201
    );
    let path = format!("{nodes}/n");
    let patch = json!({"spec": {"drivers": [{"name": "a.example.com", "nodeID": "2", "topologyKeys": null}]}});
    let (code, said) = send(&mut server, "PATCH", &path, &patch);
    assert_eq!(code, 422);
    assert!(said.starts_with("spec.drivers: Invalid value: {\"Name\":\"a.example.com\""));
    assert!(said.ends_with(": field is immutable"));
}

#[test]
fn a_key_for_ssh_is_not_empty() {
    let secrets = format!("{NAMESPACED}/secrets");
    let of_key = |key: &str| {
        json!({"metadata": {"name": "x"}, "type": "kubernetes.io/ssh-auth",
            "stringData": {"ssh-privatekey": key}})
    };
    assert_eq!(
        wrong(&secrets, of_key("")),
        "data[ssh-privatekey]: Required value"
    );
    assert_eq!(wrong(&secrets, of_key("k")), "201");
}

#[test]
fn a_service_account_keeps_the_names_of_its_secrets_only() {
    let accounts = format!("{NAMESPACED}/serviceaccounts");
    let account = json!({"metadata": {"name": "x"},
        "secrets": [{"name": "s", "kind": "Secret", "namespace": "n"}, {"kind": "Secret"}]});
    let mut server = ApiServer::default();
    assert_eq!(send(&mut server, "POST", &accounts, &account).0, 201);
    let request = Request::get(format!("{accounts}/x")).body(Vec::new());
    let answer = server.handle(request.unwrap());
    let stored: Value = serde_json::from_slice(answer.body()).unwrap();
    assert_eq!(stored["secrets"], json!([{"name": "s"}, {}]));
}

/// `pkg/endpoints/handlers/create.go createHandler`: an object is decoded as what it says that it is before its
/// version is compared with that of the path.
#[test]
fn a_field_that_the_version_of_the_object_lacks_is_refused_before_the_version() {
    let spec = json!({"maxReplicas": 3, "bad": 1, "targetCPUUtilizationPercentage": 50,
        "scaleTargetRef": {"kind": "Deployment", "name": "web"}});
    let sent = |path: &str, version: &str, validation: &str, spec: &Value| {
        let path = format!(
            "/apis/autoscaling/{path}/namespaces/default/horizontalpodautoscalers?fieldValidation={validation}"
        );
        let object = json!({"apiVersion": format!("autoscaling/{version}"), "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "web"}, "spec": spec});
        send(&mut ApiServer::default(), "POST", &path, &object)
    };
    let cannot = |version: &str, fields: &str| {
        format!(
            "HorizontalPodAutoscaler in version \"{version}\" cannot be handled as a HorizontalPodAutoscaler: strict \
             decoding error: {fields}"
        )
    };
    let bad = "unknown field \"spec.bad\"";
    // The version of the object decides which fields there are.
    assert_eq!(sent("v2", "v1", "Strict", &spec), (400, cannot("v1", bad)));
    let percentage = "unknown field \"spec.targetCPUUtilizationPercentage\"";
    let both = cannot("v2", &format!("{bad}, {percentage}"));
    assert_eq!(sent("v1", "v2", "Strict", &spec), (400, both));
    let version = "the API version in the data (autoscaling/v2) does not match the expected API version (autoscaling/v1)";
    let refused = (400, version.to_owned());
    assert_eq!(sent("v1", "v2", "Warn", &spec), refused);
    let known = json!({"maxReplicas": 3, "scaleTargetRef": {"kind": "Deployment", "name": "web"}});
    assert_eq!(sent("v1", "v2", "Strict", &known), refused);
}
