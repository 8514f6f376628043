//! The states of a controller with two restarts beside two editors.

use std::time::Instant;

use http::Request;
use optimist_apiserver::server::ApiServer;
use optimist_checker::{PropertySearch, PropertySearchStatus, Question, Safety};
use optimist_controller::Source;
use optimist_controller::program::{ChildMaker, ControllerOptions, Kind, Program, Scaler};
use optimist_system::{Faults, System};
use serde_json::{Value, json};

use crate::{best, memory};

/// The states that one search explores.
const STATES: usize = 2_000;

fn post(server: &mut ApiServer, path: &str, body: &Value) {
    let request = Request::post(path)
        .header("content-type", "application/json")
        .body(body.to_string().into_bytes())
        .expect("it is a request");
    let response = server.handle(request);
    assert_eq!(response.status(), 201, "{response:?}");
}

/// A server with the custom resource `Widget`, and a widget that wants two children.
fn server() -> ApiServer {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.demo.example.com"},
        "spec": {
            "group": "demo.example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": open}}}}],
        },
    });
    let mut server = ApiServer::default();
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    post(&mut server, definitions, &definition);
    let widget = json!({"apiVersion": "demo.example.com/v1", "kind": "Widget",
        "metadata": {"name": "web"}, "spec": {"size": 2}});
    let widgets = "/apis/demo.example.com/v1/namespaces/default/widgets";
    post(&mut server, widgets, &widget);
    server
}

fn questions() -> [(&'static str, Question); 2] {
    let widget = || Kind::new("demo.example.com/v1", "Widget");
    let child = || Kind::new("v1", "ConfigMap");
    let options = ControllerOptions::default();
    let child_maker = ChildMaker {
        parent: widget(),
        child: child(),
        generated_name: true,
        list_from: Source::Cache,
        expectations: false,
        ignore_already_exists: false,
        options,
    };
    let scaler = Scaler {
        parent: widget(),
        child: child(),
        expectations: false,
        options,
    };
    let programs = [
        ("child maker", child_maker.program()),
        ("scaler", scaler.program()),
    ];
    let edit = |size: i64| Program::edit(widget(), "/spec/size", size.into());
    let faults = Faults {
        restarts: 2,
        ..Faults::default()
    };
    programs.map(|(name, program)| {
        let start = System::with_programs(server(), "default", [program])
            .expect("known kinds")
            .with_run(edit(1), "default/web")
            .with_run(edit(3), "default/web");
        let question = Question::new(start)
            .with_faults(faults)
            .always(Safety::AtMost(8, child()));
        (name, question)
    })
}

fn explore(question: &Question, states: usize) -> PropertySearch {
    let mut search = PropertySearch::new(question.clone(), 1_000_000);
    while search.states() < states && search.advance(10) == PropertySearchStatus::Running {}
    search
}

fn say(name: &str, search: &PropertySearch) {
    let (states, transitions) = (search.states(), search.transitions());
    println!("{name}: {states} states, {transitions} transitions");
}

/// Asks each question once.
pub fn ask_once() {
    for (name, question) in questions() {
        say(name, &explore(&question, STATES));
    }
}

/// Asks one question once, to its end.
pub fn ask_whole() {
    for (name, question) in questions().into_iter().skip(1) {
        say(name, &explore(&question, usize::MAX));
    }
}

/// Measures the first states of each question, and all of them.
pub fn measure() {
    for (name, question) in questions() {
        let states = explore(&question, STATES).states();
        let time = best(|| {
            explore(&question, STATES);
        });
        println!(
            "{name}, two restarts, two editors: {states} states in {time:?}: {:.0} states/s",
            states as f64 / time.as_secs_f64()
        );
        let (before, start) = (memory(), Instant::now());
        let search = explore(&question, usize::MAX);
        let (time, states) = (start.elapsed(), search.states());
        println!(
            "  whole: {states} states in {time:?}: {:.0} states/s, {} kB more",
            states as f64 / time.as_secs_f64(),
            memory().saturating_sub(before)
        );
    }
}
