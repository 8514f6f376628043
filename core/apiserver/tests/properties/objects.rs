//! A server that holds one object of each kind, and the edits that suit them.

use std::sync::LazyLock;

use http::Request;
use optimist_apiserver::server::ApiServer;
use serde_json::{Value, json};

/// An object that is stored when a history begins, and what can be changed in it.
pub struct Seed {
    /// The path of its collection.
    pub collection: &'static str,
    /// The object as it is created.
    pub manifest: Value,
    /// JSON pointers to fields that a client may set, each with values to choose from. Some of
    /// the values are not valid.
    pub fields: Vec<(&'static str, Vec<Value>)>,
    /// Its subresources.
    pub subresources: &'static [&'static str],
}

impl Seed {
    /// The path of the object.
    pub fn path(&self) -> String {
        format!("{}/x", self.collection)
    }

    /// The object with one of its fields set.
    pub fn with(&self, field: usize, value: usize) -> Value {
        let mut object = self.manifest.clone();
        let (pointer, value) = self.edit(field, value);
        set(&mut object, pointer, value);
        object
    }

    /// The apply configuration or merge patch that sets one field and says nothing of the rest.
    pub fn only(&self, field: usize, value: usize, identified: bool) -> Value {
        let mut object = json!({});
        if identified {
            for member in ["apiVersion", "kind"] {
                object[member] = self.manifest[member].clone();
            }
            object["metadata"] = json!({"name": "x"});
        }
        let (pointer, value) = self.edit(field, value);
        set(&mut object, pointer, value);
        object
    }

    /// One of its fields, and one of the values for it.
    pub fn edit(&self, field: usize, value: usize) -> (&'static str, Value) {
        let (pointer, values) = &self.fields[field % self.fields.len()];
        (pointer, values[value % values.len()].clone())
    }
}

/// Sets a field, and makes the maps and the first list item on the way. A list item takes the
/// name of the one that the manifests have, for server-side apply finds items by their keys.
fn set(object: &mut Value, pointer: &str, value: Value) {
    let mut place = object;
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        if part == "0" {
            if !place.is_array() {
                *place = json!([{"name": "c"}]);
            }
            place = &mut place[0];
        } else {
            if !place.is_object() {
                *place = json!({});
            }
            place = &mut place[part.as_str()];
        }
    }
    *place = value;
}

/// The kinds, each with an object named `x`.
pub static SEEDS: LazyLock<Vec<Seed>> = LazyLock::new(|| {
    let namespaced = |collection, manifest, fields, subresources| Seed {
        collection,
        manifest,
        fields,
        subresources,
    };
    let label = || {
        (
            "/metadata/labels/l",
            vec![json!("a"), json!("b"), Value::Null, json!("not valid!")],
        )
    };
    let finalizers = || {
        (
            "/metadata/finalizers",
            vec![json!(["a.b/c"]), json!([]), json!(["none"])],
        )
    };
    // A custom resource that was applied with `finalizers: []` or a null label is stored with
    // that member and read without it, so an Update of what was read writes. Hence neither here.
    let some_label = || ("/metadata/labels/l", vec![json!("a"), json!("not valid!")]);
    let some_finalizers = || {
        (
            "/metadata/finalizers",
            vec![json!(["a.b/c"]), json!(["none"])],
        )
    };
    let template = json!({
        "metadata": {"labels": {"app": "x"}},
        "spec": {"containers": [{"name": "c", "image": "nginx:1"}]},
    });
    vec![
        namespaced(
            "/api/v1/namespaces/default/configmaps",
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": "1"}}),
            vec![
                (
                    "/data/a",
                    vec![json!("1"), json!("2"), json!(3), Value::Null],
                ),
                ("/data/b", vec![json!("1"), json!("")]),
                ("/immutable", vec![json!(false), json!(true), json!("x")]),
                label(),
                finalizers(),
            ],
            &[],
        ),
        namespaced(
            "/apis/apps/v1/namespaces/default/deployments",
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"},
                "spec": {"selector": {"matchLabels": {"app": "x"}}, "template": template}}),
            vec![
                (
                    "/spec/replicas",
                    vec![json!(1), json!(5), json!(-1), Value::Null],
                ),
                ("/spec/paused", vec![json!(true), json!(false)]),
                (
                    "/spec/template/spec/containers/0/image",
                    vec![json!("nginx:1"), json!("nginx:2"), json!(7)],
                ),
                (
                    "/spec/template/spec/containers/0/env",
                    vec![
                        json!([{"name": "A", "value": "1"}]),
                        json!([]),
                        json!([{"value": "1"}]),
                    ],
                ),
                label(),
                finalizers(),
            ],
            &["status", "scale"],
        ),
        namespaced(
            "/api/v1/namespaces/default/pods",
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": template["spec"]}),
            vec![
                (
                    "/spec/containers/0/image",
                    vec![json!("nginx:1"), json!("nginx:2"), json!("")],
                ),
                ("/spec/activeDeadlineSeconds", vec![json!(10), json!(0)]),
                ("/spec/nodeName", vec![json!("n")]),
                label(),
                finalizers(),
            ],
            &["status"],
        ),
        namespaced(
            "/api/v1/namespaces/default/services",
            json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"},
                "spec": {"selector": {"app": "x"}, "ports": [{"name": "c", "port": 80}]}}),
            vec![
                ("/spec/ports/0/port", vec![json!(80), json!(81), json!(0)]),
                (
                    "/spec/type",
                    vec![
                        json!("ClusterIP"),
                        json!("NodePort"),
                        json!("LoadBalancer"),
                        json!("X"),
                    ],
                ),
                (
                    "/spec/selector/app",
                    vec![json!("x"), json!("y"), Value::Null],
                ),
                label(),
                finalizers(),
            ],
            &["status"],
        ),
        namespaced(
            "/apis/coordination.k8s.io/v1/namespaces/default/leases",
            json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "x"},
                "spec": {"holderIdentity": "a", "leaseDurationSeconds": 15}}),
            vec![
                (
                    "/spec/holderIdentity",
                    vec![json!("a"), json!("b"), json!("")],
                ),
                ("/spec/leaseDurationSeconds", vec![json!(15), json!(0)]),
                (
                    "/spec/renewTime",
                    vec![json!("2030-01-01T00:00:00.000000Z"), json!("soon")],
                ),
                label(),
                finalizers(),
            ],
            &[],
        ),
        namespaced(
            "/api/v1/namespaces/default/events",
            json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": "x"},
                "involvedObject": {"kind": "Pod", "name": "x", "namespace": "default"},
                "reason": "Started", "message": "m", "type": "Normal", "count": 1}),
            vec![
                ("/count", vec![json!(1), json!(2), json!("x")]),
                ("/message", vec![json!("m"), json!("n")]),
                label(),
                finalizers(),
            ],
            &[],
        ),
        namespaced(
            "/apis/demo.example.com/v1/namespaces/default/backups",
            json!({"apiVersion": "demo.example.com/v1", "kind": "Backup", "metadata": {"name": "x"},
                "spec": {"retentionDays": 1, "targets": [{"name": "c"}]}}),
            vec![
                (
                    "/spec/retentionDays",
                    vec![json!(1), json!(2), json!(0), json!("x")],
                ),
                (
                    "/spec/targets/0/path",
                    vec![json!("/a"), json!("/b"), Value::Null],
                ),
                (
                    "/spec/tags",
                    vec![json!(["a"]), json!(["a", "b"]), json!(["a", "a"])],
                ),
                ("/spec/options/k", vec![json!("1"), json!("2")]),
                ("/status/phase", vec![json!("Done"), json!(1)]),
                some_label(),
                some_finalizers(),
            ],
            &["status"],
        ),
        namespaced(
            "/apis/demo.example.com/v1/namespaces/default/widgets",
            json!({"apiVersion": "demo.example.com/v1", "kind": "Widget", "metadata": {"name": "x"},
                "spec": {"size": 1}}),
            vec![
                ("/spec/size", vec![json!(1), json!(2), json!(1.5)]),
                ("/spec/color", vec![json!("red"), json!(""), json!(3)]),
                ("/status/phase", vec![json!("Done")]),
                some_label(),
                some_finalizers(),
            ],
            &[],
        ),
    ]
});

/// A server that holds every seed.
pub fn seeded() -> ApiServer {
    static SEEDED: LazyLock<ApiServer> = LazyLock::new(|| {
        let mut server = ApiServer::default();
        let definitions = [
            include_str!("../../../../tests/conformance/crds/backups.demo.example.com.json"),
            include_str!("../../../../tests/conformance/crds/widgets.demo.example.com.json"),
        ];
        let mut create = |path: &str, body: String| {
            let request = Request::post(path)
                .header("content-type", "application/json")
                .header("user-agent", "seed/1.0")
                .body(body.into_bytes())
                .unwrap();
            let answer = server.handle(request);
            assert_eq!(
                answer.status(),
                201,
                "{path}: {}",
                String::from_utf8_lossy(answer.body())
            );
        };
        for definition in definitions {
            let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
            create(path, definition.to_owned());
        }
        for seed in SEEDS.iter() {
            create(seed.collection, seed.manifest.to_string());
        }
        server
    });
    SEEDED.clone()
}
