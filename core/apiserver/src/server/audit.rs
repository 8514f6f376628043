//! Events of an audit log: a request with its answer, in the form in which kube-apiserver writes it with
//! `--audit-log-path` (`k8s.io/apiserver/pkg/apis/audit/v1 Event`; `pkg/audit/request.go
//! LogRequestObject`, `LogResponseObject`, v1.36).

use std::fmt;

use http::{HeaderMap, Method, Request, StatusCode, header};
use serde_json::{Map, Value, json};

use super::request::{RequestInfo, ResourcePath, Verb};
use super::{ApiServer, user};
use crate::environment::MicroTime;
use crate::{json, yaml};

/// A request as an audit log tells it, before it is answered. Bodies of Secrets and of tokens are left out
/// (level `Metadata`): a log is shown to others.
#[derive(Clone, Debug)]
pub struct AuditEntry {
    event: Map<String, Value>,
    has_bodies: bool,
}

/// The auditID of an entry. It is printed as a uid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditId {
    /// The run of the server, of which 48 bits are printed: it tells the logs of two runs in one file apart.
    pub run: u64,
    /// The number of the entry in its run.
    pub number: u64,
}

impl fmt::Display for AuditId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (high, low) = ((self.run >> 16) & 0xffff_ffff, self.run & 0xffff);
        let number = self.number;
        write!(f, "{high:08x}-{low:04x}-4000-8000-{number:012x}")
    }
}

impl AuditEntry {
    /// The entry of a request.
    pub fn new(server: &ApiServer, request: &Request<Vec<u8>>, id: AuditId) -> Self {
        let info = RequestInfo::parse(request, &server.resources);
        let path = ResourcePath::parse(request.uri().path()).unwrap_or_default();
        let has_bodies = !tells_secrets(&path);
        let verb = match &info {
            Ok(info) => verb_name(info),
            Err(_) => method_name(request.method()),
        };
        let agent = request.headers().get(header::USER_AGENT);
        let agent = agent.and_then(|agent| agent.to_str().ok());
        let event = json!({
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": if has_bodies { "RequestResponse" } else { "Metadata" },
            "auditID": id.to_string(),
            "requestURI": request.uri().path_and_query().map_or("/", |it| it.as_str()),
            "verb": verb,
            "user": {"username": user::NAME, "groups": user::GROUPS},
            "userAgent": agent.unwrap_or_default(),
        });
        let mut event = match event {
            Value::Object(event) => event,
            _ => Map::new(),
        };
        let sent = document(info.as_ref().ok(), request.headers(), request.body());
        if !path.plural.is_empty() {
            let reference = reference(&path, info.as_ref().ok(), sent.as_ref());
            event.insert("objectRef".to_owned(), reference);
        }
        if has_bodies && let Some(sent) = sent {
            event.insert("requestObject".to_owned(), sent);
        }
        Self { event, has_bodies }
    }

    /// Returns whether the answer is a stream of events.
    pub fn is_watch(&self) -> bool {
        self.event.get("verb").is_some_and(|verb| verb == "watch")
    }

    /// The event of an answered request. `answer` is the body; empty for a stream, or if nobody has it.
    pub fn answered(
        mut self,
        code: StatusCode,
        answer: &[u8],
        received: MicroTime,
        completed: MicroTime,
    ) -> Value {
        let answer = answered_document(answer);
        let mut status = Map::new();
        status.insert("metadata".to_owned(), json!({}));
        if let Some(Value::Object(refused)) = answer.as_ref().filter(|_| code.as_u16() >= 400) {
            for member in ["status", "message", "reason", "details"] {
                let found = refused.get(member).cloned();
                status.extend(found.map(|value| (member.to_owned(), value)));
            }
        }
        status.insert("code".to_owned(), code.as_u16().into());
        self.event
            .insert("responseStatus".to_owned(), Value::Object(status));
        if self.has_bodies
            && let Some(answer) = answer
        {
            self.event.insert("responseObject".to_owned(), answer);
        }
        self.ends("ResponseComplete", received, completed)
    }

    /// The event of a watch whose events have begun.
    pub fn streams(mut self, received: MicroTime, started: MicroTime) -> Value {
        let status = json!({"metadata": {}, "code": 200});
        self.event.insert("responseStatus".to_owned(), status);
        self.ends("ResponseStarted", received, started)
    }

    fn ends(mut self, stage: &str, received: MicroTime, at: MicroTime) -> Value {
        let times = [
            ("stage", stage.to_owned()),
            ("requestReceivedTimestamp", received.to_string()),
            ("stageTimestamp", at.to_string()),
        ];
        let members = times.map(|(name, text)| (name.to_owned(), Value::String(text)));
        self.event.extend(members);
        Value::Object(self.event)
    }
}

/// Returns whether the bodies of a request have secrets that nobody else may read.
fn tells_secrets(path: &ResourcePath<'_>) -> bool {
    matches!(
        (path.group, path.plural, path.subresource),
        ("", "secrets", _)
            | ("", "serviceaccounts", "token")
            | ("authentication.k8s.io", "tokenreviews", _)
    )
}

/// The verb in the words of a log (`pkg/endpoints/request/requestinfo.go`).
fn verb_name(info: &RequestInfo) -> &'static str {
    match info.verb {
        Verb::Get => "get",
        Verb::List => "list",
        Verb::Watch => "watch",
        Verb::Create => "create",
        Verb::Update => "update",
        Verb::Patch => "patch",
        Verb::Delete if info.name.is_empty() => "deletecollection",
        Verb::Delete => "delete",
    }
}

/// Returns the verb of a request that no resource serves: its method, or the verb of that method.
fn method_name(method: &Method) -> &'static str {
    match method.as_str() {
        "POST" => "create",
        "PUT" => "update",
        "PATCH" => "patch",
        "DELETE" => "delete",
        _ => "get",
    }
}

/// Returns the object of a request (`audit/v1 ObjectReference`). The name of a new object is in its body.
fn reference(path: &ResourcePath<'_>, info: Option<&RequestInfo>, sent: Option<&Value>) -> Value {
    let named = |path: &str| sent.and_then(|sent| sent.pointer(path)?.as_str());
    let name = match path.name {
        "" if info.is_some_and(|info| info.verb == Verb::Create) => {
            named("/metadata/name").unwrap_or_default()
        }
        name => name,
    };
    let members = [
        ("resource", path.plural),
        ("namespace", path.namespace),
        ("name", name),
        ("uid", named("/metadata/uid").unwrap_or_default()),
        ("apiGroup", path.group),
        ("apiVersion", path.version),
        (
            "resourceVersion",
            named("/metadata/resourceVersion").unwrap_or_default(),
        ),
        ("subresource", path.subresource),
    ];
    let said = members.into_iter().filter(|(_, text)| !text.is_empty());
    let said = said.map(|(name, text)| (name.to_owned(), Value::from(text)));
    Value::Object(said.collect())
}

/// Returns the document of an answer, whatever the client wanted it to be written as; `None` if it is a plain text.
fn answered_document(answer: &[u8]) -> Option<Value> {
    if let Ok(document) = json::parse(answer) {
        return Some(Value::from(document));
    }
    #[cfg(feature = "protobuf")]
    if let Some(document) = super::protobuf::document(answer) {
        return Some(document);
    }
    from_yaml(answer).filter(Value::is_object)
}

/// Returns the document of a request's body; `None` if it has none, or one that cannot be read.
fn document(info: Option<&RequestInfo>, headers: &HeaderMap, body: &[u8]) -> Option<Value> {
    if body.is_empty() {
        return None;
    }
    #[cfg(feature = "protobuf")]
    if let Some(document) = super::protobuf::document(body) {
        return Some(document);
    }
    // An object that names no kind has the kind of the path.
    #[cfg(feature = "protobuf")]
    if let Some(info) = info.filter(|it| it.content_type == super::protobuf::MEDIA_TYPE) {
        return super::protobuf::object(info, body).ok().map(Value::from);
    }
    #[cfg(not(feature = "protobuf"))]
    let _ = info;
    let media = headers.get(header::CONTENT_TYPE);
    let media = media.and_then(|media| media.to_str().ok());
    if media.is_some_and(|media| media.contains("yaml")) {
        return from_yaml(body);
    }
    Some(Value::from(json::parse(body).ok()?))
}

fn from_yaml(body: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(body).ok()?;
    Some(Value::from(yaml::parse(text).ok()?.node))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn audited(method: &str, target: &str, media: &str, body: &str) -> Value {
        let mut server = ApiServer::default();
        let request = Request::builder()
            .method(method)
            .uri(target)
            .header("user-agent", "kubectl/v1.36.0 (linux/amd64)")
            .header("content-type", media);
        let request = request.body(body.as_bytes().to_vec()).unwrap();
        let entry = AuditEntry::new(&server, &request, AuditId { run: 0, number: 7 });
        let answer = server.handle(request);
        let at = |micros| MicroTime { micros };
        entry.answered(answer.status(), answer.body(), at(1), at(2_000_003))
    }

    #[test]
    fn a_created_object_is_named_and_both_bodies_are_there() {
        let maps = "/api/v1/namespaces/default/configmaps";
        let event = audited(
            "POST",
            maps,
            "application/yaml",
            "metadata: {name: a}\ndata: {k: v}\n",
        );
        assert_eq!(event["verb"], "create");
        assert_eq!(
            event["objectRef"],
            json!({"resource": "configmaps", "namespace": "default", "name": "a", "apiVersion": "v1"})
        );
        assert_eq!(event["requestObject"]["data"]["k"], "v");
        assert_eq!(event["responseObject"]["metadata"]["name"], "a");
        assert_eq!(event["responseStatus"]["code"], 201);
        assert_eq!(
            event["requestReceivedTimestamp"],
            "1970-01-01T00:00:00.000001Z"
        );
        assert_eq!(event["stageTimestamp"], "1970-01-01T00:00:02.000003Z");
    }

    #[cfg(feature = "protobuf")]
    #[test]
    fn an_answer_in_protobuf_is_told_as_its_object() {
        let mut server = ApiServer::default();
        let request = Request::builder()
            .method("POST")
            .uri("/api/v1/namespaces/default/configmaps")
            .header("content-type", "application/json")
            .header("accept", "application/vnd.kubernetes.protobuf");
        let request = request
            .body(br#"{"metadata": {"name": "a"}, "data": {"k": "v"}}"#.to_vec())
            .unwrap();
        let entry = AuditEntry::new(&server, &request, AuditId { run: 0, number: 1 });
        let answer = server.handle(request);
        assert!(answer.body().starts_with(b"k8s\0"));
        let at = MicroTime { micros: 1 };
        let event = entry.answered(answer.status(), answer.body(), at, at);
        let told = &event["responseObject"];
        assert_eq!(
            (&told["kind"], &told["data"]["k"]),
            (&json!("ConfigMap"), &json!("v"))
        );
        assert_ne!(told["metadata"]["uid"], Value::Null);
        // As the same object in JSON, without the zero values of protobuf.
        let get = Request::get("/api/v1/namespaces/default/configmaps/a");
        let answer = server.handle(get.body(Vec::new()).unwrap());
        let stored: Value = serde_json::from_slice(answer.body()).unwrap();
        assert_eq!(*told, stored);
    }

    #[test]
    fn what_a_secret_says_is_in_no_event() {
        let secrets = "/api/v1/namespaces/default/secrets";
        let body = r#"{"metadata": {"name": "a"}, "stringData": {"k": "hidden"}}"#;
        let event = audited("POST", secrets, "application/json", body);
        assert_eq!(
            (&event["level"], &event["objectRef"]["name"]),
            (&json!("Metadata"), &json!("a"))
        );
        assert!(!event.to_string().contains("hidden"), "{event}");
        assert!(event.get("responseObject").is_none());
    }

    #[test]
    fn a_refusal_says_why_and_a_path_that_nothing_serves_is_told_too() {
        let event = audited("GET", "/api/v1/namespaces/default/configmaps/no", "", "");
        assert_eq!(event["responseStatus"]["reason"], "NotFound");
        assert_eq!(event["verb"], "get");
        let event = audited("GET", "/nothing", "", "");
        assert_eq!(event["responseStatus"]["code"], 404);
        assert!(event.get("objectRef").is_none());
    }
}
