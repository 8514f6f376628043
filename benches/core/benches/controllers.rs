//! Measures controllers: a scenario from its first event to its rest, and states of the search of
//! every order, for a child maker and a scaler with two restarts and two editors. `cargo bench
//! --manifest-path benches/core/Cargo.toml --bench controllers`.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use http::Request;
use optimist_apiserver::server::ApiServer;
use optimist_checker::{PropertySearch, Question, Safety};
use optimist_client::ListMode;
use optimist_controller::program::{ChildMaker, ControllerOptions, Kind, Program, Scaler};
use optimist_controller::{Controller, Source};
use optimist_system::{Faults, System};
use serde_json::{Value, json};

/// The states that one iteration explores.
const STATES: usize = 2_000;

fn post(server: &mut ApiServer, path: &str, body: &Value) {
    let request = Request::post(path).header("content-type", "application/json");
    let response = server.handle(request.body(body.to_string().into_bytes()).unwrap());
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

fn widget() -> Kind {
    Kind::new("demo.example.com/v1", "Widget")
}

fn programs() -> [Program; 2] {
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
    [child_maker.program(), scaler.program()]
}

/// Delivers every event and runs the program until both have nothing left to do.
fn rests(program: &Program, server: &ApiServer) -> usize {
    let mut server = server.clone();
    let mut controller =
        Controller::new(program.clone(), &server, "default", ListMode::List).expect("known kinds");
    controller.sync(&mut server);
    let mut rounds = 0;
    loop {
        controller.work(&mut server);
        let mut delivered = false;
        for cache in 0..program.watches.len() {
            while controller.deliver(cache, &mut server).is_some() {
                delivered = true;
            }
        }
        if !delivered {
            return rounds;
        }
        rounds += 1;
    }
}

fn scenarios(c: &mut Criterion) {
    let mut group = c.benchmark_group("scenario");
    let server = server();
    for program in &programs() {
        assert!(rests(program, &server) > 0, "it has work");
        group.throughput(Throughput::Elements(1));
        group.bench_function(&program.name, |b| {
            b.iter(|| black_box(rests(program, &server)));
        });
    }
    group.finish();
}

fn states(c: &mut Criterion) {
    let mut group = c.benchmark_group("states");
    group.sample_size(10);
    let edit = |size: i64| Program::edit(widget(), "/spec/size", size.into());
    for program in programs() {
        let name = program.name.clone();
        let start = System::with_programs(server(), "default", [program])
            .expect("known kinds")
            .with_run(edit(1), "default/web")
            .with_run(edit(3), "default/web");
        let faults = Faults {
            restarts: 2,
            ..Faults::default()
        };
        let question = Question::new(start)
            .with_faults(faults)
            .always(Safety::AtMost(8, Kind::new("v1", "ConfigMap")));
        group.throughput(Throughput::Elements(STATES as u64));
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut search = PropertySearch::new(question.clone(), 1_000_000);
                while search.states() < STATES {
                    search.advance(10);
                }
                black_box(search.states())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, scenarios, states);
criterion_main!(benches);
