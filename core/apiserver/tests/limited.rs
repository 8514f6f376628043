//! Refusals by limit ranges and quotas that the recordings of a real server do not show, by the
//! source of their plugins (v1.36).

use http::Request;
use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

const NAMESPACED: &str = "/api/v1/namespaces/default";

fn send(server: &mut ApiServer, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let request = Request::builder().method(method);
    let request = request.uri(format!("{NAMESPACED}/{path}"));
    let request = match method {
        "PATCH" => request.header("content-type", "application/merge-patch+json"),
        _ => request,
    };
    let request = request.body(body.to_string().into_bytes()).unwrap();
    let answer = server.handle(request);
    let body = serde_json::from_slice(answer.body()).unwrap();
    (answer.status().as_u16(), body)
}

fn made(server: &mut ApiServer, path: &str, body: &Value) {
    let (code, answer) = send(server, "POST", path, body);
    assert_eq!(code, 201, "{answer}");
}

fn refused(server: &mut ApiServer, method: &str, path: &str, body: &Value) -> (u16, String) {
    let (code, answer) = send(server, method, path, body);
    let message = answer["message"].as_str().unwrap_or_default().to_owned();
    (code, message)
}

fn pod(resources: &Value) -> Value {
    json!({"metadata": {"name": "p"}, "spec": {"containers": [
        {"name": "c", "image": "i", "resources": resources}]}})
}

/// A server whose namespace has a quota with this status.
fn with_quota(status: Value) -> ApiServer {
    let mut server = ApiServer::default();
    let hard = &status["hard"];
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": hard}});
    made(&mut server, "resourcequotas", &quota);
    let path = "resourcequotas/q/status";
    let (code, answer) = send(&mut server, "PATCH", path, &json!({"status": status}));
    assert_eq!(code, 200, "{answer}");
    server
}

fn with_largest(amounts: &Value) -> ApiServer {
    let mut server = ApiServer::default();
    let limits = json!([{"type": "Container", "max": amounts}]);
    let range = json!({"metadata": {"name": "l"}, "spec": {"limits": limits}});
    made(&mut server, "limitranges", &range);
    server
}

#[test]
fn limits_are_asked_after_the_rules_of_a_pod() {
    let mut server = with_largest(&json!({"cpu": "1"}));
    let mut large = pod(&json!({"limits": {"cpu": "2"}}));
    assert_eq!(refused(&mut server, "POST", "pods", &large).0, 403);
    large["spec"]["restartPolicy"] = "Odd".into();
    assert_eq!(refused(&mut server, "POST", "pods", &large).0, 422);
}

#[test]
fn a_pod_keeps_within_the_limits_when_it_is_resized() {
    let mut server = with_largest(&json!({"cpu": "1"}));
    let small = pod(&json!({"limits": {"cpu": "500m"}, "requests": {"cpu": "500m"}}));
    made(&mut server, "pods", &small);
    let mut resized = |amount: &str| {
        let large = json!({"limits": {"cpu": amount}, "requests": {"cpu": "600m"}});
        let body = json!({"spec": {"containers": [{"name": "c", "resources": large}]}});
        let path = format!("{NAMESPACED}/pods/p/resize");
        let request = Request::patch(path)
            .header("content-type", "application/strategic-merge-patch+json")
            .body(body.to_string().into_bytes());
        let answer = server.handle(request.unwrap());
        let body: Value = serde_json::from_slice(answer.body()).unwrap();
        (answer.status().as_u16(), body["message"].clone())
    };
    let why = "pods \"p\" is forbidden: maximum cpu usage per Container is 1, but limit is 2";
    assert_eq!(resized("2"), (403, why.into()));
    assert_eq!(resized("800m"), (200, Value::Null));
}

#[test]
fn a_quota_is_asked_about_the_amounts_of_the_kind_alone() {
    let hard = json!({"count/configmaps": "1", "pods": "1"});
    let mut server = with_quota(json!({"hard": hard, "used": {"count/configmaps": "0"}}));
    made(
        &mut server,
        "configmaps",
        &json!({"metadata": {"name": "a"}}),
    );
    let why = "pods \"p\" is forbidden: status unknown for quota: q, resources: pods";
    let answer = refused(&mut server, "POST", "pods", &pod(&json!({})));
    assert_eq!(answer, (403, why.into()));
}

#[test]
fn containers_of_a_pod_that_says_what_it_needs_as_a_whole_need_not() {
    let amounts = json!({"hard": {"requests.cpu": "1"}, "used": {"requests.cpu": "0"}});
    let mut server = with_quota(amounts);
    let mut pod = pod(&json!({}));
    let why = "pods \"p\" is forbidden: failed quota: q: must specify requests.cpu for: c";
    let answer = refused(&mut server, "POST", "pods", &pod);
    assert_eq!(answer, (403, why.into()));
    pod["spec"]["resources"] = json!({"requests": {"cpu": "2"}});
    let why = "pods \"p\" is forbidden: exceeded quota: q, requested: requests.cpu=2, \
               used: requests.cpu=0, limited: requests.cpu=1";
    let answer = refused(&mut server, "POST", "pods", &pod);
    assert_eq!(answer, (403, why.into()));
    pod["spec"]["resources"] = json!({"requests": {"cpu": "1"}});
    made(&mut server, "pods", &pod);
}

#[test]
fn nothing_more_of_what_is_used_up_is_refused_too() {
    let amounts = json!({"hard": {"services": "9", "services.nodeports": "1"},
        "used": {"services": "0", "services.nodeports": "2"}});
    let mut server = with_quota(amounts);
    let service = json!({"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}});
    let why = "services \"s\" is forbidden: exceeded quota: q, requested: services.nodeports=0, \
               used: services.nodeports=2, limited: services.nodeports=1";
    let answer = refused(&mut server, "POST", "services", &service);
    assert_eq!(answer, (403, why.into()));
}

fn storage_class(server: &mut ApiServer, name: &str, default: &str, grows: bool) {
    let class = json!({"provisioner": "example.com/p", "allowVolumeExpansion": grows,
        "metadata": {"name": name,
            "annotations": {"storageclass.kubernetes.io/is-default-class": default}}});
    let request = Request::post("/apis/storage.k8s.io/v1/storageclasses");
    let answer = server.handle(request.body(class.to_string().into_bytes()).unwrap());
    assert_eq!(answer.status(), 201);
}

fn claim(class: &Value) -> Value {
    let mut claim = json!({"metadata": {"name": "c"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}});
    if !class.is_null() {
        claim["spec"]["storageClassName"] = class.clone();
    }
    claim
}

#[test]
fn a_claim_without_a_class_gets_the_default_one() {
    let class_of = |claim: &Value, default: &str| {
        let mut server = ApiServer::default();
        storage_class(&mut server, "other", "false", false);
        storage_class(&mut server, "standard", default, false);
        let (code, answer) = send(&mut server, "POST", "persistentvolumeclaims", claim);
        assert_eq!(code, 201, "{answer}");
        answer["spec"]["storageClassName"].clone()
    };
    let without = claim(&Value::Null);
    assert_eq!(class_of(&without, "true"), "standard");
    assert_eq!(class_of(&without, "false"), Value::Null);
    assert_eq!(class_of(&claim(&"".into()), "true"), "");
    let mut annotated = without;
    let annotation = json!({"volume.beta.kubernetes.io/storage-class": "other"});
    annotated["metadata"]["annotations"] = annotation;
    assert_eq!(class_of(&annotated, "true"), Value::Null);
}

#[test]
fn an_ingress_without_a_class_gets_the_default_one() {
    let mut server = ApiServer::default();
    let base = "/apis/networking.k8s.io/v1";
    let mut post = |path: &str, body: Value| -> Value {
        let request = Request::post(format!("{base}/{path}"));
        let answer = server.handle(request.body(body.to_string().into_bytes()).unwrap());
        serde_json::from_slice(answer.body()).unwrap()
    };
    let default = json!({"ingressclass.kubernetes.io/is-default-class": "true"});
    let class = json!({"metadata": {"name": "i", "annotations": default},
        "spec": {"controller": "example.com/c"}});
    post("ingressclasses", class);
    let backend = json!({"service": {"name": "s", "port": {"number": 80}}});
    let ingress = json!({"metadata": {"name": "x"}, "spec": {"defaultBackend": backend}});
    let answer = post("namespaces/default/ingresses", ingress);
    assert_eq!(answer["spec"]["ingressClassName"], "i");
}

#[test]
fn a_bound_claim_grows_if_its_class_allows_it() {
    let grown = |class: &Value| {
        let mut server = ApiServer::default();
        storage_class(&mut server, "fixed", "false", false);
        storage_class(&mut server, "grows", "false", true);
        made(&mut server, "persistentvolumeclaims", &claim(class));
        let path = "persistentvolumeclaims/c";
        let bound = json!({"status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}});
        send(&mut server, "PATCH", &format!("{path}/status"), &bound);
        let larger = json!({"spec": {"resources": {"requests": {"storage": "2Gi"}}}});
        refused(&mut server, "PATCH", path, &larger)
    };
    assert_eq!(grown(&"grows".into()), (200, String::new()));
    let why = "persistentvolumeclaims \"c\" is forbidden: only dynamically provisioned pvc can be \
               resized and the storageclass that provisions the pvc must support resize";
    for class in ["fixed", "missing", ""] {
        assert_eq!(grown(&class.into()), (403, why.to_owned()), "{class:?}");
    }
}

/// Returns the answer of a policy with parameters to a ConfigMap of this name, with this reference.
fn with_parameters(reference: &Value, name: &str) -> (u16, String) {
    let mut server = ApiServer::default();
    let mut post = |path: &str, body: Value| {
        let request = Request::post(path).body(body.to_string().into_bytes());
        let answer = server.handle(request.unwrap());
        assert_eq!(answer.status(), 201, "{answer:?}");
    };
    for forbidden in ["a", "b"] {
        let labels = json!({"use": "yes"});
        let map = json!({"metadata": {"name": format!("no-{forbidden}"), "labels": labels},
            "data": {"forbidden": forbidden}});
        post(&format!("{NAMESPACED}/configmaps"), map);
    }
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
        "resources": ["configmaps"]});
    let base = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic";
    let policy = json!({"metadata": {"name": "p"}, "spec": {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "object.metadata.name != params.data.forbidden",
            "messageExpression": "'not ' + params.data.forbidden"}],
    }});
    post(&format!("{base}ies"), policy);
    let binding = json!({"metadata": {"name": "b"}, "spec": {"policyName": "p",
        "validationActions": ["Deny"], "paramRef": reference}});
    post(&format!("{base}ybindings"), binding);
    let map = json!({"metadata": {"name": name}});
    refused(&mut server, "POST", "configmaps", &map)
}

#[test]
fn a_policy_is_asked_with_each_of_the_parameters_that_a_selector_chooses() {
    let chosen = |value: &str, action: &str| json!({"selector": {"matchLabels": {"use": value}}, "parameterNotFoundAction": action});
    let denied = |name: &str, why: &str| {
        format!(
            "configmaps {name:?} is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' \
             denied request: {why}"
        )
    };
    for name in ["a", "b"] {
        let answer = with_parameters(&chosen("yes", "Deny"), name);
        assert_eq!(answer, (422, denied(name, &format!("not {name}"))));
    }
    let accepted = (201, String::new());
    assert_eq!(with_parameters(&chosen("yes", "Deny"), "c"), accepted);
    assert_eq!(with_parameters(&chosen("no", "Allow"), "a"), accepted);
    let none = "failed to configure binding: no params found for policy binding with `Deny` \
                parameterNotFoundAction";
    let answer = with_parameters(&chosen("no", "Deny"), "c");
    assert_eq!(answer, (422, denied("c", none)));
    let named = json!({"name": "no-a", "parameterNotFoundAction": "Deny"});
    assert_eq!(with_parameters(&named, "b"), accepted);
}

/// A request of `/O=system:masters/CN=a`.
pub const OF_MASTERS: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIaE1JR0hBZ0VBTUNVeEZ6QVZCZ05W\
    QkFvTURuTjVjM1JsYlRwdFlYTjBaWEp6TVFvd0NBWURWUVFEREFGaApNRmt3RXdZSEtvWkl6ajBDQVFZ\
    SUtvWkl6ajBEQVFjRFFnQUUrbnRZWEdqei9zQUhlV25NcDdkWXhzZ0tNNmFrCkRIZVgwV3hDTlV2THpE\
    K3plWGwyN3FGZ3Z5WFFlNXhIRzQ2MWI3VnJuL3hBZU5UR2ZoVE5USTkvbGFBQU1Bb0cKQ0NxR1NNNDlC\
    QU1DQTBrQU1FWUNJUURGTUVoenF4ajlSOVBXYjViVTFjM2g4cXlpU0xVM0hlZ0IrWFMyMExCMAord0lo\
    QUpXZ1h5M0V1bzlSb2pKbVV5bi9rMEFBOXA1ZmZlK1o4VEo0U2RaZU42Z0UKLS0tLS1FTkQgQ0VSVElG\
    SUNBVEUgUkVRVUVTVC0tLS0tCg==";

#[test]
fn a_certificate_of_the_strongest_group_is_not_for_clients() {
    let answer = |signer: &str| {
        let spec = json!({"request": OF_MASTERS, "signerName": signer, "usages": ["client auth"]});
        let csr = json!({"metadata": {"name": "x"}, "spec": spec});
        let path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
        let request = Request::post(path).body(csr.to_string().into_bytes());
        let answer = ApiServer::default().handle(request.unwrap());
        let body: Value = serde_json::from_slice(answer.body()).unwrap();
        (answer.status().as_u16(), body["message"].clone())
    };
    let why = "certificatesigningrequests.certificates.k8s.io \"x\" is forbidden: use of \
               kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed";
    assert_eq!(
        answer("kubernetes.io/kube-apiserver-client"),
        (403, why.into())
    );
    assert_eq!(answer("example.com/any"), (201, Value::Null));
}
