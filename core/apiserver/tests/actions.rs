//! Answers of a server to requests that store nothing, and checks before it stores, that the
//! recordings of a real server do not show, by its source (v1.36).

use http::Request;
use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

const NAMESPACED: &str = "/api/v1/namespaces/default";

struct Answer {
    code: u16,
    body: Value,
    retry_after: Option<String>,
    warnings: Vec<String>,
}

impl Answer {
    fn message(&self) -> &str {
        self.body["message"].as_str().unwrap_or_default()
    }
}

fn send(server: &mut ApiServer, method: &str, path: &str, body: Value) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    if method == "PATCH" {
        request = request.header("content-type", "application/merge-patch+json");
    }
    let bytes = body.to_string().into_bytes();
    let response = server.handle(request.body(bytes).unwrap());
    let texts = |name: &str| {
        let values = response.headers().get_all(name).iter();
        values.map(|value| value.to_str().unwrap().to_owned())
    };
    Answer {
        code: response.status().as_u16(),
        retry_after: texts("retry-after").next(),
        warnings: texts("warning").collect(),
        body: serde_json::from_slice(response.body()).unwrap_or_default(),
    }
}

fn made(server: &mut ApiServer, path: &str, body: Value) -> Value {
    let answer = send(server, "POST", path, body);
    assert_eq!(answer.code, 201, "{}", answer.body);
    answer.body
}

fn pod(name: &str, node: &str) -> Value {
    let mut pod = json!({
        "metadata": {"name": name, "labels": {"app": "x"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    });
    if !node.is_empty() {
        pod["spec"]["nodeName"] = node.into();
    }
    pod
}

/// A running pod with a budget of this status.
fn with_budget(status: Value) -> ApiServer {
    let mut server = ApiServer::default();
    made(&mut server, &format!("{NAMESPACED}/pods"), pod("x", "n1"));
    let running = json!({"status": {"phase": "Running", "conditions": [
        {"type": "Ready", "status": "True"},
    ]}});
    let path = format!("{NAMESPACED}/pods/x/status");
    assert_eq!(send(&mut server, "PATCH", &path, running).code, 200);
    let budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    let selector = json!({"matchLabels": {"app": "x"}});
    let budget =
        json!({"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": selector}});
    made(&mut server, budgets, budget);
    let path = format!("{budgets}/b/status");
    assert_eq!(
        send(&mut server, "PATCH", &path, json!({"status": status})).code,
        200
    );
    server
}

fn evicted(server: &mut ApiServer) -> Answer {
    let eviction = json!({"metadata": {"name": "x"}});
    send(
        server,
        "POST",
        &format!("{NAMESPACED}/pods/x/eviction"),
        eviction,
    )
}

#[test]
fn a_budget_that_nobody_observed_asks_to_try_again_and_one_that_is_used_up_refuses() {
    let mut unobserved = with_budget(json!({"disruptionsAllowed": 1}));
    let refused = evicted(&mut unobserved);
    assert_eq!(
        (refused.code, refused.retry_after.as_deref()),
        (429, Some("10"))
    );
    assert_eq!(refused.body["details"]["retryAfterSeconds"], 10);
    let mut used_up = with_budget(json!({
        "observedGeneration": 1, "currentHealthy": 1, "desiredHealthy": 1,
    }));
    let refused = evicted(&mut used_up);
    assert_eq!((refused.code, refused.retry_after), (429, None));
    assert_eq!(
        refused.body["details"]["causes"][0],
        json!({"reason": "DisruptionBudget",
               "message": "The disruption budget b needs 1 healthy pods and has 1 currently"})
    );
    let mut enough = with_budget(json!({"observedGeneration": 1, "disruptionsAllowed": 2}));
    assert_eq!(evicted(&mut enough).code, 201);
    let path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b";
    let budget = send(&mut enough, "GET", path, Value::Null).body;
    assert_eq!(budget["status"]["disruptionsAllowed"], 1);
}

#[test]
fn a_pod_is_bound_once() {
    let mut server = ApiServer::default();
    made(&mut server, &format!("{NAMESPACED}/pods"), pod("x", ""));
    let mut bind = |target: Value| {
        let binding = json!({"metadata": {"name": "x"}, "target": target});
        send(
            &mut server,
            "POST",
            &format!("{NAMESPACED}/pods/x/binding"),
            binding,
        )
    };
    assert_eq!(bind(json!({})).message(), "target.name: Required value");
    assert_eq!(bind(json!({"name": "n1"})).code, 201);
    let again = bind(json!({"name": "n2"}));
    assert_eq!(again.code, 409);
    assert_eq!(
        again.message(),
        "Operation cannot be fulfilled on pods/binding \"x\": pod x is already assigned to node \
         \"n1\""
    );
    let path = format!("{NAMESPACED}/pods/x");
    let bound = send(&mut server, "GET", &path, Value::Null).body;
    assert_eq!(bound["spec"]["nodeName"], "n1");
    assert_eq!(bound["status"]["conditions"][0]["type"], "PodScheduled");
}

#[test]
fn a_limit_range_completes_a_pod_and_bounds_it() {
    let mut server = ApiServer::default();
    let limits = json!({"metadata": {"name": "l"}, "spec": {"limits": [{
        "type": "Container", "default": {"cpu": "500m"}, "defaultRequest": {"cpu": "100m"},
        "max": {"cpu": "1"},
    }]}});
    made(&mut server, &format!("{NAMESPACED}/limitranges"), limits);
    let pods = format!("{NAMESPACED}/pods");
    let completed = made(&mut server, &pods, pod("a", ""));
    assert_eq!(
        completed["spec"]["containers"][0]["resources"],
        json!({"limits": {"cpu": "500m"}, "requests": {"cpu": "100m"}})
    );
    assert_eq!(
        completed["metadata"]["annotations"]["kubernetes.io/limit-ranger"],
        "LimitRanger plugin set: cpu request for container c; cpu limit for container c"
    );
    let mut large = pod("b", "");
    large["spec"]["containers"][0]["resources"] = json!({"limits": {"cpu": "2"}});
    let refused = send(&mut server, "POST", &pods, large);
    assert_eq!(
        (refused.code, refused.message()),
        (
            403,
            "pods \"b\" is forbidden: maximum cpu usage per Container is 1, but limit is 2"
        )
    );
}

#[test]
fn a_policy_denies_with_the_code_of_its_reason() {
    let mut server = ApiServer::default();
    let base = "/apis/admissionregistration.k8s.io/v1";
    let policy = json!({"metadata": {"name": "p"}, "spec": {
        "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
            "operations": ["CREATE", "DELETE"], "resources": ["configmaps"]}]},
        "variables": [{"name": "bad", "expression": "object != null && object.metadata.name == 'bad'"}],
        "validations": [
            {"expression": "!variables.bad", "messageExpression": "'not ' + object.metadata.name",
             "reason": "Forbidden"},
            {"expression": "request.operation != 'DELETE'", "message": "it stays"},
        ],
    }});
    made(
        &mut server,
        &format!("{base}/validatingadmissionpolicies"),
        policy,
    );
    let binding = json!({"metadata": {"name": "b"}, "spec": {"policyName": "p",
        "validationActions": ["Deny"]}});
    made(
        &mut server,
        &format!("{base}/validatingadmissionpolicybindings"),
        binding,
    );
    let maps = format!("{NAMESPACED}/configmaps");
    let bad = send(
        &mut server,
        "POST",
        &maps,
        json!({"metadata": {"name": "bad"}}),
    );
    assert_eq!(bad.code, 403);
    assert_eq!(
        bad.message(),
        "configmaps \"bad\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied \
         request: not bad"
    );
    let good = send(
        &mut server,
        "POST",
        &maps,
        json!({"metadata": {"name": "good"}}),
    );
    assert_eq!((good.code, good.warnings.len()), (201, 0));
    let kept = send(&mut server, "DELETE", &format!("{maps}/good"), Value::Null);
    assert_eq!(
        (kept.code, kept.body["reason"].as_str()),
        (422, Some("Invalid"))
    );
}

#[test]
fn a_token_of_an_account_is_known_to_those_it_is_for() {
    let server = &mut ApiServer::default();
    let accounts = format!("{NAMESPACED}/serviceaccounts");
    let account = made(server, &accounts, json!({"metadata": {"name": "a"}}));
    let request = json!({"spec": {"audiences": ["api"], "expirationSeconds": 600}});
    let issued = made(server, &format!("{accounts}/a/token"), request);
    let token = issued["status"]["token"].clone();
    let reviewed = |server: &mut ApiServer, token: &Value, audiences: Value| {
        let review = json!({"spec": {"token": token, "audiences": audiences}});
        let path = "/apis/authentication.k8s.io/v1/tokenreviews";
        made(server, path, review)["status"].clone()
    };
    let groups = [
        "system:serviceaccounts",
        "system:serviceaccounts:default",
        "system:authenticated",
    ];
    let user = json!({"username": "system:serviceaccount:default:a", "groups": groups,
        "uid": account["metadata"]["uid"]});
    assert_eq!(
        reviewed(server, &token, json!(["api", "other"])),
        json!({"authenticated": true, "user": user, "audiences": ["api"]})
    );
    let unknown = json!({"user": {}, "error": "invalid bearer token"});
    assert_eq!(reviewed(server, &token, json!(["other"])), unknown);
    assert_eq!(reviewed(server, &"a.b.".into(), json!(["api"])), unknown);
    // A token ends with its account.
    send(server, "DELETE", &format!("{accounts}/a"), Value::Null);
    assert_eq!(reviewed(server, &token, json!(["api"])), unknown);
}

#[test]
fn cbor_is_not_spoken() {
    let server = &mut ApiServer::default();
    let ask = |server: &mut ApiServer, method: &str, header: &str, body: &[u8]| {
        let request = Request::builder()
            .method(method)
            .uri(format!("{NAMESPACED}/configmaps"))
            .header(header, "application/cbor");
        let response = server.handle(request.body(body.to_vec()).unwrap());
        response.status().as_u16()
    };
    // `CBORServingAndStorage` is alpha in v1.36, and off.
    assert_eq!(ask(server, "GET", "accept", b""), 406);
    assert_eq!(
        ask(server, "POST", "content-type", b"\xd9\xd9\xf7\xa0"),
        415
    );
}

#[test]
fn everybody_may_do_everything() {
    let mut server = ApiServer::default();
    let who = made(
        &mut server,
        "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        json!({}),
    );
    assert_eq!(who["status"]["userInfo"]["username"], "admin");
    let path = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    let attributes = json!({"verb": "get", "resource": "pods"});
    let asked = json!({"spec": {"user": "u", "resourceAttributes": attributes}});
    assert_eq!(made(&mut server, path, asked)["status"]["allowed"], true);
    let nobody = json!({"spec": {"resourceAttributes": attributes}});
    let refused = send(&mut server, "POST", path, nobody);
    assert_eq!(
        refused.message(),
        ".authorization.k8s.io \"\" is invalid: spec.user: Invalid value: \"\": at least one of \
         user or group must be specified"
    );
}

#[test]
fn values_that_no_recording_has_are_refused_as_upstream_words_it() {
    let mut server = ApiServer::default();
    let networking = "/apis/networking.k8s.io/v1/namespaces/default";
    let webhook = |webhook: Value| {
        let mut all = json!({"name": "a.example.com", "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "clientConfig": {"url": "https://a.example.com"}});
        for (name, value) in webhook.as_object().unwrap() {
            all[name] = value.clone();
        }
        json!({"metadata": {"name": "x"}, "webhooks": [all]})
    };
    let rule = |resources: Value| {
        json!({"rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
            "resources": resources}]})
    };
    let webhooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    let service = json!({"name": "s", "namespace": "n", "path": "/a//b"});
    let topology = json!([{"matchLabelExpressions": [{"key": "a", "values": ["b"]}]}]);
    let twice = json!([topology[0], topology[0]]);
    let template = json!({"metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    for (path, body, expected) in [
        (
            format!("{networking}/ingresses"),
            json!({"metadata": {"name": "x"}, "spec": {"rules": [{"http": {"paths": []}}]}}),
            "spec.rules[0].http.paths: Required value",
        ),
        (
            format!("{networking}/networkpolicies"),
            json!({"metadata": {"name": "x"}, "spec": {"podSelector": {}, "policyTypes": ["Odd"]}}),
            "spec.policyTypes[0]: Unsupported value: \"Odd\": supported values: \"Ingress\", \
             \"Egress\"",
        ),
        (
            webhooks.to_owned(),
            webhook(rule(json!(["*/*", "pods"]))),
            "webhooks[0].rules[0].resources: Invalid value: [\"*/*\",\"pods\"]: if '*/*' is \
             present, must not specify other resources",
        ),
        (
            webhooks.to_owned(),
            webhook(rule(json!(["pods/*", "pods/log"]))),
            "webhooks[0].rules[0].resources[1]: Invalid value: \"pods/log\": if 'pods/*' is \
             present, must not specify pods/log",
        ),
        (
            webhooks.to_owned(),
            webhook(json!({"clientConfig": {"service": service}})),
            "webhooks[0].clientConfig.service.path: Invalid value: \"/a//b\": segment[1] may not \
             be empty",
        ),
        (
            "/apis/storage.k8s.io/v1/storageclasses".to_owned(),
            json!({"metadata": {"name": "x"}, "provisioner": "p", "allowedTopologies": twice}),
            "allowedTopologies[1].matchLabelExpressions: Duplicate value: \"\"",
        ),
        (
            "/apis/apps/v1/namespaces/default/daemonsets".to_owned(),
            json!({"metadata": {"name": "x"}, "spec": {
                "selector": {"matchLabels": {"a": "b"}}, "template": template,
                "updateStrategy": {"type": "Odd"}}}),
            "spec.updateStrategy: Unsupported value: {\"Type\":\"Odd\",\"RollingUpdate\":null}: \
             supported values: \"RollingUpdate\", \"OnDelete\"",
        ),
    ] {
        let answer = send(&mut server, "POST", &path, body);
        let (_, found) = answer.message().split_once(" is invalid: ").unwrap();
        assert_eq!((answer.code, found), (422, expected), "{path}");
    }
}

#[test]
fn a_certificate_that_is_emptied_is_not_one_that_is_absent() {
    let server = &mut ApiServer::default();
    let path = "/apis/apiregistration.k8s.io/v1/apiservices/v1.example.com";
    let send = |server: &mut ApiServer, method: &str, path: &str, body: &serde_json::Value| {
        let request = http::Request::builder().method(method).uri(path);
        let media_type = match method {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        let request = request.header("content-type", media_type);
        let response = server.handle(request.body(body.to_string().into_bytes()).unwrap());
        assert!(response.status().is_success(), "{response:?}");
        let object: serde_json::Value = serde_json::from_slice(response.body()).unwrap();
        assert_eq!(object["spec"].get("caBundle"), None, "it is never shown");
        object["metadata"]["resourceVersion"].clone()
    };
    let object = serde_json::json!({"metadata": {"name": "v1.example.com"}, "spec": {
        "group": "example.com", "version": "v1", "groupPriorityMinimum": 1, "versionPriority": 1,
        "service": {"namespace": "n", "name": "s"}}});
    let all = path.trim_end_matches("/v1.example.com");
    send(server, "POST", all, &object);
    let patch = |spec: serde_json::Value| serde_json::json!({"spec": spec});
    let nothing = patch(serde_json::json!({}));
    let empty = patch(serde_json::json!({"caBundle": ""}));
    let before = send(server, "PATCH", path, &nothing);
    let emptied = send(server, "PATCH", path, &empty);
    assert_ne!(before, emptied, "etcd holds empty bytes");
    assert_eq!(send(server, "PATCH", path, &empty), emptied);
    let status = format!("{path}/status");
    assert_eq!(
        send(server, "PATCH", &status, &nothing),
        emptied,
        "it is not of the status"
    );
    assert_ne!(
        send(server, "PATCH", path, &nothing),
        emptied,
        "what is read lacks them"
    );
}

#[test]
fn a_refusal_is_written_in_yaml_for_who_asks_for_it() {
    let missing = |accept: &str| {
        let request = http::Request::delete("/api/v1/namespaces/default/configmaps/missing")
            .header("accept", accept);
        let response = ApiServer::default().handle(request.body(Vec::new()).unwrap());
        assert_eq!(response.status(), 404, "{accept}");
        let media = response.headers()["content-type"].to_str().unwrap();
        let body = String::from_utf8_lossy(response.body()).into_owned();
        (media.to_owned(), body)
    };
    let (media, body) = missing("application/yaml");
    assert_eq!(media, "application/yaml");
    let lines: Vec<&str> = body.lines().collect();
    for line in [
        "apiVersion: v1",
        "kind: Status",
        "code: 404",
        "reason: NotFound",
    ] {
        assert!(lines.contains(&line), "{line}: {body}");
    }
    // A refusal is no table.
    let (media, body) = missing("application/yaml;as=Table;g=meta.k8s.io;v=v1, application/json");
    assert_eq!(media, "application/json");
    assert!(body.starts_with('{'), "{body}");
}

#[test]
fn a_watch_is_no_yaml() {
    let server = &mut ApiServer::default();
    let request =
        http::Request::get("/api/v1/pods?watch=true").header("accept", "application/yaml");
    let response = server.handle(request.body(Vec::new()).unwrap());
    assert_eq!(response.status(), 406);
    let text = String::from_utf8_lossy(response.body()).into_owned();
    assert!(text.contains("application/json;stream=watch"), "{text}");
}

/// The server deletes in pages of 10,000.
#[test]
fn a_collection_without_a_limit_is_deleted_to_its_end() {
    let server = &mut ApiServer::default();
    let path = format!("{NAMESPACED}/configmaps");
    for number in 0..10_002 {
        let name = format!("m{number}");
        made(server, &path, json!({"metadata": {"name": name}}));
    }
    let answer = send(server, "DELETE", &format!("{path}?limit=1"), Value::Null);
    assert_eq!(answer.body["items"].as_array().map(Vec::len), Some(1));
    let answer = send(server, "DELETE", &path, Value::Null);
    assert_eq!(answer.body["items"].as_array().map(Vec::len), Some(10_001));
    let left = send(server, "GET", &path, Value::Null);
    assert_eq!(left.body["items"], json!([]));
}
