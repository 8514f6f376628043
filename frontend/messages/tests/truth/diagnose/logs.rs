//! An audit log that a server made: what chance does not do to a recorded one.

use http::Request;
use optimist_apiserver::object::Metadata;
use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

const COLLECTION: &str = "/apis/apps/v1/namespaces/fight/deployments";
const MERGE: &str = "application/merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

/// A client: user and program.
type Client = (&'static str, &'static str);

const ALICE: Client = ("alice", "kubectl/v1.36.0 (linux/amd64)");
const BOB: Client = ("bob", "kubectl/v1.36.0 (linux/amd64)");
const CAROL: Client = ("carol", "operator/1.0");
const HELM: Client = ("ci", "helm/v4.0.0");
const AUTOSCALER: Client = (
    "system:serviceaccount:kube-system:horizontal-pod-autoscaler",
    "kube-controller-manager/v1.36.0",
);
const EVE: Client = ("eve", "looper/2");

/// A server that writes an audit log.
struct Logged {
    server: ApiServer,
    lines: Vec<Value>,
    /// The time between two requests.
    seconds: usize,
}

impl Logged {
    fn new() -> Self {
        let mut server = ApiServer::default();
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "fight"}});
        let request =
            Request::post("/api/v1/namespaces").header("content-type", "application/json");
        let request = request.body(namespace.to_string().into_bytes());
        server.handle(request.expect("a request"));
        Self {
            server,
            lines: Vec::new(),
            seconds: 1,
        }
    }

    /// Sends a request, and writes its line. The answer.
    fn sends(
        &mut self,
        (user, agent): Client,
        verb: &str,
        query: &str,
        (media, body): (&str, Value),
    ) -> Value {
        let of_collection = ["create", "list", "watch", "deletecollection"].contains(&verb);
        let path = match of_collection {
            true => COLLECTION.to_owned(),
            false => format!("{COLLECTION}/shop"),
        };
        let target = format!("{path}{query}");
        let method = match verb {
            "create" => "POST",
            "update" => "PUT",
            "patch" => "PATCH",
            "delete" | "deletecollection" => "DELETE",
            _ => "GET",
        };
        let sent = match &body {
            Value::Null => Vec::new(),
            body => body.to_string().into_bytes(),
        };
        let request = Request::builder()
            .method(method)
            .uri(&target)
            .header("user-agent", agent);
        let request = match media {
            "" => request,
            media => request.header("content-type", media),
        };
        let (code, answer) = match verb {
            // The answer of a watch is no object, and the core serves nothing below the object.
            "watch" | "connect" => (200, Value::Null),
            _ => {
                let answer = self.server.handle(request.body(sent).expect("a request"));
                let body = serde_json::from_slice(answer.body()).unwrap_or_default();
                (answer.status().as_u16(), body)
            }
        };
        let number = self.lines.len();
        let second = number * self.seconds;
        let time = |part: u32| {
            format!(
                "2026-11-22T06:{:02}:{:02}.{part:06}Z",
                second / 60,
                second % 60
            )
        };
        let mut of = json!({"resource": "deployments", "namespace": "fight", "apiGroup": "apps", "apiVersion": "v1"});
        if !of_collection || verb == "create" {
            of["name"] = "shop".into();
        }
        let subresource = query.split('?').next().unwrap_or_default();
        if let Some(name) = subresource.strip_prefix('/') {
            of["subresource"] = name.into();
        }
        let mut line = json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse",
            "auditID": format!("00000000-0000-4000-8000-{number:012}"), "stage": "ResponseComplete",
            "requestURI": target, "verb": verb, "user": {"username": user}, "userAgent": agent,
            "objectRef": of, "responseStatus": {"metadata": {}, "code": code},
            "requestReceivedTimestamp": time(1000), "stageTimestamp": time(if number.is_multiple_of(3) { 1000 } else { 4000 })});
        if body != Value::Null {
            line["requestObject"] = body;
        }
        if answer != Value::Null {
            line["responseObject"] = answer.clone();
        }
        self.lines.push(line);
        answer
    }

    fn get(&mut self, who: Client) -> Value {
        self.sends(who, "get", "", ("", Value::Null))
    }

    /// An Update of what was read before.
    fn update(&mut self, who: Client, read: &Value, change: impl FnOnce(&mut Value)) -> Value {
        let mut body = read.clone();
        change(&mut body);
        self.sends(who, "update", "", ("application/json", body))
    }

    fn patch(&mut self, who: Client, body: Value) -> Value {
        self.sends(who, "patch", "", (MERGE, body))
    }
}

fn deployment() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "shop", "namespace": "fight"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}}})
}

/// Clients that get conflicts, and what they do next; a loop; and an end.
pub fn of_conflicts() -> Vec<Value> {
    let mut log = Logged::new();
    let replicas =
        |number: u64| move |object: &mut Value| object["spec"]["replicas"] = number.into();
    log.sends(CAROL, "watch", "?watch=true", ("", Value::Null));
    log.sends(ALICE, "create", "", ("application/json", deployment()));
    let (of_alice, of_bob) = (log.get(ALICE), log.get(BOB));
    log.update(ALICE, &of_alice, replicas(3));
    // Bob reads again.
    log.update(BOB, &of_bob, replicas(4));
    let of_bob = log.get(BOB);
    log.update(BOB, &of_bob, replicas(4));
    // Alice sends the same again, and then without a version.
    log.update(ALICE, &of_alice, replicas(5));
    log.update(ALICE, &of_alice, replicas(5));
    log.update(ALICE, &of_alice, |object| {
        object.metadata_mut().remove("resourceVersion");
        object["spec"]["replicas"] = 6.into();
    });
    // Carol has a watch, and reads nothing.
    log.patch(CAROL, json!({"spec": {"replicas": 7}}));
    log.patch(
        CAROL,
        json!({"spec": {"paused": true}, "metadata": {"labels": {"x": "1", "y": "2"}}}),
    );
    log.patch(CAROL, json!({"metadata": {"labels": {"x": null}}}));
    // Helm meets a conflict, and forces it.
    let apply = |log: &mut Logged, query: &str| {
        let mut body = deployment();
        body["spec"]["replicas"] = 9.into();
        let query = format!("?fieldManager=helm{query}");
        log.sends(HELM, "patch", &query, (APPLY, body));
    };
    apply(&mut log, "&dryRun=All&force=true");
    apply(&mut log, "");
    apply(&mut log, "&force=true");
    for _ in 0..6 {
        log.patch(EVE, json!({"metadata": {"labels": {"y": "2"}}}));
    }
    log.sends(EVE, "connect", "/proxy", ("", Value::Null));
    for agent in ["one/1", "two/1", "three/1"] {
        let body = json!({"metadata": {"annotations": {"by": agent}}});
        log.patch(("robot", agent), body);
    }
    // Bob writes something else, is refused, and gives up.
    log.update(BOB, &of_bob, replicas(2));
    log.update(BOB, &of_bob, replicas(8));
    log.sends(ALICE, "delete", "", ("", Value::Null));
    log.get(ALICE);
    log.lines
}

/// An autoscaler and a person who change a value for more than a minute.
pub fn of_autoscaler() -> Vec<Value> {
    let mut log = Logged {
        seconds: 30,
        ..Logged::new()
    };
    log.sends(ALICE, "create", "", ("application/json", deployment()));
    for number in 2..5 {
        log.sends(
            AUTOSCALER,
            "patch",
            "/scale",
            (MERGE, json!({"spec": {"replicas": number * 2}})),
        );
        log.get(BOB);
        log.patch(BOB, json!({"spec": {"replicas": number}}));
    }
    log.lines
}

/// A write that a quota refuses.
pub fn of_quota() -> Vec<Value> {
    let mut log = Logged::new();
    log.sends(ALICE, "create", "", ("application/json", deployment()));
    log.patch(BOB, json!({"spec": {"replicas": 4}}));
    let line = log.lines.last_mut().expect("a line");
    let message = "deployments.apps \"shop\" is forbidden: exceeded quota: small, requested: cpu=1, used: cpu=1, limited: cpu=1";
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
        "reason": "Forbidden", "code": 403});
    line["responseStatus"] = status.clone();
    line["responseObject"] = status;
    log.lines
}

/// An apply that meets another owner.
pub fn of_apply() -> Vec<Value> {
    let mut log = Logged::new();
    log.sends(ALICE, "create", "", ("application/json", deployment()));
    let mut body = deployment();
    body["spec"]["replicas"] = 9.into();
    log.sends(HELM, "patch", "?fieldManager=helm", (APPLY, body));
    log.lines
}

/// The same log by a policy with `omitManagedFields`.
pub fn without_owners(mut lines: Vec<Value>) -> Vec<Value> {
    for line in &mut lines {
        for member in ["requestObject", "responseObject"] {
            if let Some(metadata) = line[member]["metadata"].as_object_mut() {
                metadata.remove("managedFields");
            }
        }
    }
    lines
}

/// A log in which nothing stands out.
pub fn quiet() -> Vec<Value> {
    let mut log = Logged::new();
    log.sends(ALICE, "create", "", ("application/json", deployment()));
    log.get(ALICE);
    log.lines
}

/// The same log, of which some lines say no more than who asked for what.
pub fn without_bodies(mut lines: Vec<Value>) -> Vec<Value> {
    for (at, line) in lines.iter_mut().enumerate() {
        if at % 4 == 3 || at < 3 {
            line["level"] = "Metadata".into();
            let line = line.as_object_mut().expect("an event");
            line.remove("requestObject");
            line.remove("responseObject");
        }
    }
    lines
}

/// The same log, of which no write says what was stored.
pub fn without_answers(mut lines: Vec<Value>) -> Vec<Value> {
    for line in &mut lines {
        if line["verb"] != "get" {
            line.as_object_mut()
                .expect("an event")
                .remove("responseObject");
        }
    }
    lines.truncate(1);
    lines
}

/// A kind of which no definition is there.
pub fn of_other_kind(lines: Vec<Value>) -> Vec<Value> {
    let changed = lines.into_iter().map(|line| {
        let text = line.to_string();
        let text = text
            .replace("apps/v1", "example.com/v1")
            .replace("\"apps\"", "\"example.com\"");
        let text = text
            .replace("deployments", "widgets")
            .replace("\"Deployment\"", "\"Widget\"");
        serde_json::from_str(&text).expect("an event")
    });
    changed.collect()
}

/// Requests that name no object.
pub fn of_no_object() -> Vec<Value> {
    vec![
        json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": "1",
        "stage": "ResponseComplete", "requestURI": "/version", "verb": "get", "user": {"username": "a"},
        "userAgent": "curl/8", "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": "2026-11-22T06:00:00.000001Z",
        "stageTimestamp": "2026-11-22T06:00:00.000002Z"}),
    ]
}

/// Requests as many as this, of which nothing but their codes is known.
pub fn long(count: usize) -> Vec<Value> {
    let mut line = quiet().remove(1);
    line["level"] = "Metadata".into();
    let members = line.as_object_mut().expect("an event");
    members.remove("responseObject");
    vec![line; count]
}
