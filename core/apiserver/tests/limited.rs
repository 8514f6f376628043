//! What limit ranges and quotas refuse that the recordings of a real server do not show, by the
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
