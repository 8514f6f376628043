//! Measures a client that follows a collection of 10,000 objects: events from the server's history
//! through a watch into its store, and a list with a selector. `cargo bench --manifest-path
//! benches/core/Cargo.toml --bench watch`.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use http::{Method, Request};
use optimist_apiserver::server::ApiServer;
use optimist_client::{ListMode, Reflector, ReflectorProgress};
use serde_json::{Value, json};

const COLLECTION: &str = "/api/v1/namespaces/default/configmaps";
const OBJECTS: usize = 10_000;
const EVENTS: usize = 10_000;

fn send(server: &mut ApiServer, method: Method, path: &str, body: &Value) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json")
        .header("user-agent", "bench")
        .body(body.to_string().into_bytes())
        .unwrap();
    let response = server.handle(request);
    assert!(response.status().is_success(), "{response:?}");
}

fn object(i: usize, n: usize) -> Value {
    json!({
        "metadata": {"name": format!("object-{i:05}"), "labels": {"shard": (i % 10).to_string()}},
        "data": {"n": n.to_string()},
    })
}

fn full() -> ApiServer {
    let mut server = ApiServer::default();
    for i in 0..OBJECTS {
        send(&mut server, Method::POST, COLLECTION, &object(i, 0));
    }
    server
}

fn follow(c: &mut Criterion) {
    let mut server = full();
    let mut reflector = Reflector::new(COLLECTION, ListMode::List);
    while !reflector.is_connected() {
        reflector.step(&mut server, 0);
    }
    for i in 0..EVENTS {
        let i = i * 7919 % OBJECTS;
        let path = format!("{COLLECTION}/object-{i:05}");
        send(&mut server, Method::PUT, &path, &object(i, 1));
    }
    let mut group = c.benchmark_group("watch");
    group.throughput(Throughput::Elements(EVENTS as u64));
    group.bench_function("10,000 events into a store of 10,000 objects", |b| {
        b.iter_batched(
            || (server.clone(), reflector.clone()),
            |(mut server, mut reflector)| {
                let progress = reflector.step(&mut server, usize::MAX);
                assert_eq!(progress, ReflectorProgress::Received(EVENTS));
                (server, reflector)
            },
            BatchSize::LargeInput,
        )
    });
    group.finish();
}

fn list(c: &mut Criterion) {
    let server = full();
    let mut group = c.benchmark_group("list");
    for (name, query) in [
        ("a tenth of 10,000 objects", "?labelSelector=shard=3"),
        ("none of 10,000 objects", "?labelSelector=shard=x"),
        ("the first 500 of 10,000 objects", "?limit=500"),
    ] {
        group.bench_function(name, |b| {
            b.iter_batched(
                || {
                    let request = Request::get(format!("{COLLECTION}{query}"));
                    (server.clone(), request.body(Vec::new()).unwrap())
                },
                |(mut server, request)| black_box(server.handle(request)),
                BatchSize::SmallInput,
            )
        });
    }
    group.finish();
}

criterion_group!(benches, follow, list);
criterion_main!(benches);
