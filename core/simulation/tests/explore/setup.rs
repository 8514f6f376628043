//! Starting objects, and actors in the words of the mission.

use std::sync::Arc;

use http::Request;
use optimist_apiserver::server::ApiServer;
use optimist_client::{Intent, OnConflict, Strategy, Write};
use optimist_simulation::explore::{Plan, Scenario, Search, SearchStatus};
use serde_json::{Value, json};

fn post(server: &mut ApiServer, path: &str, body: &Value) -> Value {
    let request = Request::post(path)
        .header("content-type", "application/json")
        .header("user-agent", "kubectl-create")
        .body(body.to_string().into_bytes())
        .unwrap();
    let response = server.handle(request);
    let answer = serde_json::from_slice(response.body()).unwrap();
    assert_eq!(response.status(), 201, "{answer}");
    answer
}

fn begin(mut server: ApiServer, api_version: &str, kind: &str, object: &Value) -> Scenario {
    let resource = server.resources().by_kind(api_version, kind).unwrap();
    let resource = Arc::clone(resource);
    let object = post(&mut server, &resource.path("default", ""), object);
    Scenario::new(server, resource, Arc::new(object))
}

/// A Deployment that `kubectl create` has made.
pub fn deployment() -> Scenario {
    let object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "replicas": 3, "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "nginx", "image": "nginx:1.21", "args": ["-q"]}]},
            },
        },
    });
    begin(ApiServer::default(), "apps/v1", "Deployment", &object)
}

/// A custom resource with a list that is owned as a whole.
pub fn widget() -> Scenario {
    let mut server = ApiServer::default();
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "size": {"type": "integer"},
        "colour": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
    }}}});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    });
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    post(&mut server, path, &definition);
    let object = json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"},
        "spec": {"size": 1, "colour": "red", "tags": ["a"]},
    });
    begin(server, "example.com/v1", "Widget", &object)
}

/// The write method of all actors.
#[derive(Clone, Debug)]
pub struct Means {
    pub write: Write,
    pub reads_first: bool,
}

impl Means {
    pub fn by(strategy: Strategy) -> Self {
        Self {
            write: Write {
                strategy,
                send_resource_version: false,
                ..Write::default()
            },
            reads_first: true,
        }
    }

    /// The request carries the version that was read.
    pub fn versioned(mut self) -> Self {
        self.write.send_resource_version = true;
        self
    }

    pub fn forced(mut self) -> Self {
        self.write.force = true;
        self
    }

    pub fn then(mut self, on_conflict: OnConflict) -> Self {
        self.write.on_conflict = on_conflict;
        self
    }

    /// No actor reads before it writes.
    pub fn blind(mut self) -> Self {
        self.reads_first = false;
        self
    }
}

pub const MANAGERS: [&str; 3] = ["editor-a", "editor-b", "controller"];

/// The changes, as JSON pointers and values; `null` removes.
pub fn set(scenario: &Scenario, pointer: &str, value: impl Into<Value>) -> Intent {
    let mut edited = scenario.object.as_ref().clone();
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    let mut place = &mut edited;
    for name in parent.split('/').skip(1) {
        place = match place {
            Value::Array(items) => &mut items[name.parse::<usize>().unwrap()],
            map => &mut map[name],
        };
    }
    match (place, value.into()) {
        (Value::Array(items), value) if last == "-" => items.push(value),
        (place, Value::Null) => drop(place.as_object_mut().unwrap().remove(last)),
        (place, value) => place[last] = value,
    }
    Intent::between(&scenario.object, &edited, &scenario.resource.root)
}

/// Actors with these intents, all with the same write method.
pub fn with(mut scenario: Scenario, way: &Means, intents: Vec<Intent>) -> Scenario {
    scenario.plans = intents
        .into_iter()
        .zip(MANAGERS)
        .map(|(intent, manager)| Plan {
            reads_first: way.reads_first,
            write: way.write.clone(),
            ..Plan::new(manager, intent)
        })
        .collect();
    scenario
}

/// The same, where the actors own what they change from the start.
pub fn owned(mut scenario: Scenario) -> Scenario {
    for plan in &mut scenario.plans {
        plan.owns = true;
    }
    scenario.with_owners().unwrap()
}

pub fn searched(scenario: Scenario) -> Search {
    let mut search = Search::new(scenario, 1_000_000);
    assert_eq!(search.run(), SearchStatus::Done);
    search
}
