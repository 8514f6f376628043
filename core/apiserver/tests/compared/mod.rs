//! Rules of strategies, admission plugins and subresources that no recording shows, by the source
//! of v1.36. Each test names the function that has the rule.

use http::Request;
use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

mod bodies;
mod defaults;
mod kinds;
mod options;
mod pods;
mod services;
mod spelled;
mod volumes;

const CORE: &str = "/api/v1/namespaces/default";
const APPS: &str = "/apis/apps/v1/namespaces/default";

/// An answer: its code, its body and the texts of its warnings.
struct Answer {
    code: u16,
    body: Value,
    warnings: Vec<String>,
}

impl Answer {
    fn message(&self) -> &str {
        self.body["message"].as_str().unwrap_or_default()
    }

    /// The causes of a refusal, each with its field.
    fn causes(&self) -> Vec<String> {
        assert_eq!(self.code, 422, "{}", self.body);
        let causes = self.body["details"]["causes"].as_array().unwrap().iter();
        let text = |cause: &Value, name: &str| cause[name].as_str().unwrap().to_owned();
        causes
            .map(|cause| format!("{}: {}", text(cause, "field"), text(cause, "message")))
            .collect()
    }
}

fn send(server: &mut ApiServer, method: &str, path: &str, body: &Value) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    if method == "PATCH" {
        request = request.header("content-type", "application/merge-patch+json");
    }
    let body = match body {
        Value::Null => Vec::new(),
        body => body.to_string().into_bytes(),
    };
    let answer = server.handle(request.body(body).unwrap());
    let warnings = answer.headers().get_all("warning").iter();
    let warnings = warnings.map(|warning| {
        let quoted = warning.to_str().unwrap().strip_prefix("299 - ").unwrap();
        serde_json::from_str(quoted).unwrap()
    });
    Answer {
        code: answer.status().as_u16(),
        warnings: warnings.collect(),
        body: serde_json::from_slice(answer.body()).unwrap_or_default(),
    }
}

/// Makes an object, which is accepted.
fn make(server: &mut ApiServer, path: &str, object: &Value) -> Answer {
    let answer = send(server, "POST", path, object);
    assert_eq!(answer.code, 201, "{}", answer.body);
    answer
}

/// Changes an object, which is accepted.
fn change(server: &mut ApiServer, path: &str, patch: &Value) -> Answer {
    let answer = send(server, "PATCH", path, patch);
    assert_eq!(answer.code, 200, "{}", answer.body);
    answer
}

/// The causes why a new object is refused.
fn wrong(path: &str, object: &Value) -> Vec<String> {
    send(&mut ApiServer::default(), "POST", path, object).causes()
}

fn pod(spec: &Value) -> Value {
    let mut pod = json!({"metadata": {"name": "x"},
        "spec": {"containers": [{"name": "c", "image": "i"}]}});
    for (name, value) in spec.as_object().unwrap() {
        pod["spec"][name] = value.clone();
    }
    pod
}

fn template(spec: &Value) -> Value {
    let mut template = pod(spec);
    template["metadata"] = json!({"labels": {"app": "x"}});
    template
}

/// A kind of the group `apps`, with its template.
fn workload(template: &Value, more: &Value) -> Value {
    let mut spec = json!({"selector": {"matchLabels": {"app": "x"}}, "template": template});
    for (name, value) in more.as_object().unwrap() {
        spec[name] = value.clone();
    }
    json!({"metadata": {"name": "x"}, "spec": spec})
}
