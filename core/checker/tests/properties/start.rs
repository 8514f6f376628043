//! A server with a kind that has a spec and a status, and what the tests ask of a search.

use std::sync::OnceLock;

use http::Request;
use optimist_apiserver::server::ApiServer;
use optimist_checker::{PropertySearch, PropertySearchStatus, Question, Settling};
use optimist_controller::program::{Kind, Program};
use optimist_system::{Event, System};
use serde_json::{Value, json};

pub const KEY: &str = "default/web";

pub fn widget() -> Kind {
    Kind::new("demo.example.com/v1", "Widget")
}

pub fn config_map() -> Kind {
    Kind::new("v1", "ConfigMap")
}

/// A server with the custom resource `Widget`, and one object of it.
pub fn server() -> ApiServer {
    static SERVER: OnceLock<ApiServer> = OnceLock::new();
    SERVER.get_or_init(prepared).clone()
}

fn prepared() -> ApiServer {
    let mut server = ApiServer::default();
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.demo.example.com"},
        "spec": {
            "group": "demo.example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget",
                "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object",
                    "properties": {"spec": open, "status": open}}}}],
        },
    });
    post(
        &mut server,
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        &definition,
    );
    let object = json!({
        "apiVersion": "demo.example.com/v1", "kind": "Widget",
        "metadata": {"name": "web"}, "spec": {"size": 1},
    });
    let path = "/apis/demo.example.com/v1/namespaces/default/widgets";
    post(&mut server, path, &object);
    server
}

fn post(server: &mut ApiServer, path: &str, body: &Value) {
    let request = Request::post(path).body(body.to_string().into_bytes());
    let response = server.handle(request.unwrap());
    let text = String::from_utf8_lossy(response.body());
    assert_eq!(response.status(), 201, "{text}");
}

/// An editor who reads the widget and updates its size.
pub fn editor(size: i64) -> Program {
    Program::edit(widget(), "/spec/size", size.into())
}

pub fn system(program: Program) -> System {
    System::with_programs(server(), "default", [program]).expect("known kinds")
}

/// The finished search of a scenario.
pub fn searched(question: &Question) -> PropertySearch {
    let mut search = PropertySearch::new(question.clone(), 200_000);
    assert_eq!(search.run(), PropertySearchStatus::Done);
    search
}

/// Returns whether a safety property does not hold. The search stops when it knows.
pub fn is_violated(question: &Question) -> bool {
    let mut search = PropertySearch::new(question.clone(), 200_000);
    while search.violations().is_empty() && search.advance(100) == PropertySearchStatus::Running {}
    assert_ne!(search.status(), PropertySearchStatus::TooManyStates);
    !search.violations().is_empty()
}

/// The verdict of a search that stops as soon as it has found a run that never rests or rests wrong.
/// Controllers that write for ever can fall behind each other in very many ways.
pub fn settling_early(question: &Question) -> Option<Settling> {
    let mut search = PropertySearch::new(question.clone(), 200_000);
    for states in [100, 300, 1_000, 3_000] {
        search.advance(states);
        if let Some(found @ (Settling::NeverRests(_) | Settling::RestsWrong { .. })) =
            search.settling()
        {
            return Some(found);
        }
    }
    search.run();
    search.settling()
}

/// Returns whether every safety property holds in all runs, and all runs come to rest as wished.
pub fn holds(question: &Question) -> bool {
    let search = searched(question);
    search.violations().is_empty() && search.settling() == Some(Settling::Settles)
}

pub fn settling(question: &Question) -> Settling {
    searched(question).settling().expect("it is done")
}

/// The states of a run, the start first. Each step must be possible.
pub fn replay(question: &Question, path: &[Event]) -> Vec<System> {
    let mut states = vec![question.start().clone()];
    for transition in path {
        let mut state = states.last().unwrap().clone();
        assert!(state.enabled().contains(transition), "{transition:?}");
        state.perform(*transition);
        states.push(state);
    }
    states
}
