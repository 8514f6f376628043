//! A dry run as a recording (`tests/conformance/README.md`).

use optimist_apiserver::environment::Timestamp;
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::ApiServer;
use optimist_simulation::Exchange;
use serde_json::{Map, Value, json};

/// The actor of the recorded request: the start of its User-Agent.
const ACTOR: &str = "optimist";

/// A recording: the definitions and the object are installed, then the request is sent.
pub(super) fn recording(
    name: &str,
    server: &ApiServer,
    definitions: &[Value],
    live: &Value,
    real: &Exchange,
) -> String {
    let mut steps = Vec::new();
    for definition in definitions {
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let mut places = Placeholders::new("");
        steps.push(installed(server, path, definition, &mut places));
    }
    let mut places = Placeholders::new(live.namespace());
    let (path, query) = match real.target.split_once('?') {
        Some((path, query)) => (path, query),
        None => (real.target.as_str(), ""),
    };
    let path = places.path(path);
    let at = steps.len();
    steps.push(installed(server, &path, live, &mut places));
    let options = form_urlencoded::parse(query.as_bytes());
    let query: Map<String, Value> = options
        .map(|(name, value)| (name.into_owned(), value.into_owned().into()))
        .collect();
    let mut members = vec![
        member("actor", &json!(ACTOR)),
        member("method", &json!(real.method.as_str())),
        member("path", &json!(path)),
        member("query", &Value::Object(query)),
    ];
    if !real.sent.is_null() {
        members.push(member("content_type", &json!(real.content_type)));
        members.push(member("body", &places.request(&real.sent, live, at)));
    }
    members.push(member("status", &json!(real.code)));
    let response = server.written(&places.answer(&real.received));
    members.push(format!("\"response\": {response}"));
    if !real.warnings.is_empty() {
        let warnings = real.warnings.iter().map(|text| warning(text));
        members.push(member("warnings", &warnings.collect()));
    }
    steps.push(format!("    {{{}}}", members.join(", ")));
    format!(
        "{{\n  \"name\": {},\n  \"steps\": [\n{}\n  ]\n}}\n",
        json!(name),
        steps.join(",\n")
    )
}

fn member(name: &str, value: &Value) -> String {
    format!("{}: {value}", json!(name))
}

/// The value of a Warning header (`k8s.io/apimachinery/pkg/util/net/http.go NewWarningHeader`, v0.36).
fn warning(text: &str) -> Value {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("299 - \"{text}\"").into()
}

/// A step that puts an object into the store as it is.
fn installed(
    server: &ApiServer,
    path: &str,
    object: &Value,
    places: &mut Placeholders<'_>,
) -> String {
    let raw = json!({"metadata": {"managedFields": object["metadata"]["managedFields"]}});
    let response = server.written(&places.answer(object));
    let mut members = vec![
        member("actor", &json!(ACTOR)),
        member("method", &json!("GET")),
        member("path", &json!(path)),
        member("import", &json!(true)),
    ];
    if object["metadata"]["managedFields"].is_array() {
        members.push(member("import_raw", &raw));
    }
    members.push(member("status", &json!(200)));
    members.push(format!("\"response\": {response}"));
    format!("    {{{}}}", members.join(", "))
}

/// The placeholders of one recording, numbered by the first appearance of what they stand for.
struct Placeholders<'a> {
    namespace: &'a str,
    versions: Vec<String>,
    uids: Vec<String>,
}

impl<'a> Placeholders<'a> {
    fn new(namespace: &'a str) -> Self {
        Self {
            namespace,
            versions: Vec::new(),
            uids: Vec::new(),
        }
    }

    /// A path in the namespace of a run.
    fn path(&self, path: &str) -> String {
        if self.namespace.is_empty() {
            return path.to_owned();
        }
        let own = format!("/namespaces/{}/", self.namespace);
        path.replacen(&own, "/namespaces/{ns}/", 1)
    }

    /// An answer, with placeholders for what differs between two runs.
    fn answer(&mut self, answer: &Value) -> Value {
        self.member(answer, "")
    }

    fn member(&mut self, value: &Value, key: &str) -> Value {
        match value {
            Value::Object(members) => members
                .iter()
                .map(|(name, member)| (name.clone(), self.member(member, name)))
                .collect(),
            Value::Array(items) => items.iter().map(|item| self.member(item, key)).collect(),
            Value::String(text) => match key {
                "resourceVersion" => number(&mut self.versions, text, "rv", ""),
                "uid" if text.len() == 36 => number(&mut self.uids, text, "<uid", ">"),
                "namespace" if text == self.namespace => "<ns>".into(),
                _ if text.ends_with('Z') && Timestamp::parse(text).is_some() => "<time>".into(),
                _ => value.clone(),
            },
            other => other.clone(),
        }
    }

    /// A body, with templates for what it takes from the object in step `at`.
    fn request(&self, body: &Value, live: &Value, at: usize) -> Value {
        let mut body = body.clone();
        self.fill(&mut body, "", live, at);
        body
    }

    fn fill(&self, value: &mut Value, key: &str, live: &Value, at: usize) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    self.fill(member, name, live, at);
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.fill(item, key, live, at);
                }
            }
            Value::String(text) => {
                let taken = [
                    ("resourceVersion", live.resource_version()),
                    ("uid", live.uid()),
                ];
                let taken = taken.into_iter().find(|(name, own)| {
                    // The test of a JSON patch has the version as its value.
                    (key == *name || key == "value" && *name == "resourceVersion") && text == own
                });
                if let Some((name, _)) = taken {
                    *value = format!("${{step[{at}].response.metadata.{name}}}").into();
                } else if key == "namespace" && text == self.namespace {
                    *value = "{ns}".into();
                }
            }
            _ => {}
        }
    }
}

/// The placeholder of a text, by its number.
fn number(known: &mut Vec<String>, text: &str, before: &str, after: &str) -> Value {
    let at = known.iter().position(|it| it == text);
    let at = at.unwrap_or_else(|| {
        known.push(text.to_owned());
        known.len() - 1
    });
    format!("{before}{}{after}", at + 1).into()
}
