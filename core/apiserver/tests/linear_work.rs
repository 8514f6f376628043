//! The work of a write grows with its object and not faster: an object of twice as many items takes
//! at most a little more than twice as many allocations and bytes. Both are the same in every run,
//! on every machine.

use allocation_counter::measure;
use http::{Method, Request};
use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

/// A power of two, at which what grows by doubling has doubled.
const FEW: usize = 256;

/// So much more may twice as many items cost.
const RATIO: f64 = 2.3;

/// Returns whether twice as many items cost more than a little over twice as much.
fn grows_faster(work: &dyn Fn(usize) -> Box<dyn FnOnce()>) -> Option<String> {
    let cost = |items: usize| {
        let work = work(items);
        let info = measure(work);
        (info.count_total as f64, info.bytes_total as f64)
    };
    let (few, many) = (cost(FEW), cost(2 * FEW));
    let (counts, bytes) = (many.0 / few.0, many.1 / few.1);
    (counts > RATIO || bytes > RATIO).then(|| {
        format!(
            "{counts:.2} times the {} allocations, {bytes:.2} times the {} bytes",
            few.0, few.1
        )
    })
}

fn send(server: &mut ApiServer, method: &str, target: &str, media: &str, body: &str) -> u16 {
    let request = Request::builder()
        .method(Method::from_bytes(method.as_bytes()).unwrap())
        .uri(target)
        .header("content-type", media)
        .body(body.as_bytes().to_vec())
        .unwrap();
    server.handle(request).status().as_u16()
}

/// One list of an object: where the object is stored, the object with these items, and where in it
/// the list is.
struct List {
    name: &'static str,
    collection: &'static str,
    object: fn(&[Value]) -> Value,
    item: fn(usize, u32) -> Value,
    at: &'static str,
}

fn config_map(finalizers: &[Value]) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "x", "namespace": "default", "finalizers": finalizers}})
}

fn deployment(pod: Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "x", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": pod}}})
}

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

const LISTS: [List; 4] = [
    List {
        name: "a set",
        collection: CONFIG_MAPS,
        object: config_map,
        item: |i, version| format!("example.com/{version}-{i:05}").into(),
        at: "/metadata/finalizers",
    },
    List {
        name: "a list with one key",
        collection: DEPLOYMENTS,
        object: |items| deployment(json!({"containers": items})),
        item: |i, version| json!({"name": format!("c{i:05}"), "image": format!("i:{version}")}),
        at: "/spec/template/spec/containers",
    },
    List {
        name: "variables",
        collection: DEPLOYMENTS,
        object: |items| {
            deployment(json!({"containers": [{"name": "c", "image": "i", "env": items}]}))
        },
        item: |i, version| json!({"name": format!("A{i:05}"), "value": version.to_string()}),
        at: "/spec/template/spec/containers/0/env",
    },
    List {
        name: "a list with two keys",
        collection: DEPLOYMENTS,
        object: |items| {
            deployment(json!({"containers": [{"name": "c", "image": "i", "ports": items}]}))
        },
        item: |i, version| json!({"containerPort": i + 1, "protocol": "TCP", "name": format!("{}-{i}", ["a", "b"][version as usize % 2])}),
        at: "/spec/template/spec/containers/0/ports",
    },
];

impl List {
    fn with(&self, items: usize, version: u32) -> Value {
        let items: Vec<Value> = (0..items).map(|i| (self.item)(i, version)).collect();
        (self.object)(&items)
    }

    /// A request that changes every item, and one that is sent before it.
    fn request(&self, way: &str, items: usize) -> (&'static str, String, &'static str, String) {
        let target = format!("{}/x", self.collection);
        let changed = self.with(items, 2);
        let apply = "application/apply-patch+yaml";
        match way {
            "create" => (
                "POST",
                self.collection.to_owned(),
                "application/json",
                self.with(items, 1).to_string(),
            ),
            "update" => ("PUT", target, "application/json", changed.to_string()),
            "merge patch" => (
                "PATCH",
                target,
                "application/merge-patch+json",
                changed.to_string(),
            ),
            "strategic merge patch" => (
                "PATCH",
                target,
                "application/strategic-merge-patch+json",
                changed.to_string(),
            ),
            "JSON patch" => {
                let patch: Vec<Value> = (0..items)
                    .map(|i| json!({"op": "replace", "path": format!("{}/{i}", self.at), "value": (self.item)(i, 2)}))
                    .collect();
                (
                    "PATCH",
                    target,
                    "application/json-patch+json",
                    json!(patch).to_string(),
                )
            }
            "apply" => {
                let target = format!("{target}?fieldManager=m&force=true");
                ("PATCH", target, apply, changed.to_string())
            }
            _ => {
                let target = format!("{target}?fieldManager=m&force=true");
                ("PATCH", target, apply, self.with(1, 2).to_string())
            }
        }
    }
}

const WAYS: [&str; 7] = [
    "create",
    "update",
    "merge patch",
    "strategic merge patch",
    "JSON patch",
    "apply",
    "apply that gives up",
];

#[test]
fn a_write_of_twice_as_many_items_takes_twice_the_work() {
    let mut faults = Vec::new();
    for list in &LISTS {
        for way in WAYS {
            let work = |items: usize| -> Box<dyn FnOnce()> {
                let mut server = ApiServer::default();
                let before = match way {
                    "create" => None,
                    // The first one creates the object, so that it alone owns the items.
                    "apply that gives up" => Some("apply"),
                    _ => Some("create"),
                };
                if let Some(way) = before {
                    let (method, target, media, body) = list.request(way, items);
                    let code = send(&mut server, method, &target, media, &body);
                    assert!(code < 300, "{} {way}: {code}", list.name);
                }
                let (method, target, media, body) = list.request(way, items);
                let name = list.name;
                Box::new(move || {
                    let code = send(&mut server, method, &target, media, &body);
                    assert!(code < 300, "{name} {way}: {code}");
                })
            };
            if let Some(fault) = grows_faster(&work) {
                faults.push(format!("{}, {way}: {fault}", list.name));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_measure_finds_work_that_grows_faster() {
    let work = |items: usize| -> Box<dyn FnOnce()> {
        Box::new(move || {
            let mut list: Vec<String> = Vec::new();
            for i in 0..items {
                list = list.clone();
                list.push(i.to_string());
            }
        })
    };
    assert!(grows_faster(&work).is_some());
}
