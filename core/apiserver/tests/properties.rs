//! What holds whatever anybody sends.

use http::{Method, Request, Response};
use optimist_apiserver::apply::{Path, PathElement, Set, from_fields_v1, to_fields_v1};
use optimist_apiserver::server::ApiServer;
use proptest::prelude::*;
use serde_json::{Value, json};

/// One request of a random history.
#[derive(Clone, Debug)]
struct Call {
    method: &'static str,
    target: String,
    media_type: &'static str,
    body: Vec<u8>,
    actor: &'static str,
    /// Send back what the last GET returned, with this change merged in.
    echo: bool,
}

const PATHS: [&str; 9] = [
    "/api/v1/namespaces/default/configmaps/x",
    "/api/v1/namespaces/default/configmaps",
    "/apis/apps/v1/namespaces/default/deployments/x",
    "/apis/apps/v1/namespaces/default/deployments",
    "/apis/apps/v1/namespaces/default/deployments/x/status",
    "/apis/apps/v1/namespaces/default/deployments/x/scale",
    "/api/v1/namespaces/nowhere/configmaps/x",
    "/apis/nothing/v1/at/all",
    "/",
];

const MEDIA_TYPES: [&str; 7] = [
    "application/json",
    "application/yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "text/plain",
];

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..5).prop_map(Value::from),
        Just(json!(1.5)),
        prop_oneof![
            Just("a"),
            Just("b"),
            Just(""),
            Just("not valid!"),
            Just("nginx:1")
        ]
        .prop_map(Value::from),
    ]
}

/// Values that are shaped like objects, often enough to get past decoding.
fn document() -> impl Strategy<Value = Value> {
    let deployment =
        (0i64..4, "[a-c]{1,2}", prop::option::of("[ab]")).prop_map(|(n, image, label)| {
            json!({
                "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": "x", "labels": {"l": label}},
                "spec": {
                    "replicas": n, "selector": {"matchLabels": {"app": "x"}},
                    "template": {
                        "metadata": {"labels": {"app": "x"}},
                        "spec": {"containers": [{"name": "c", "image": image,
                            "ports": [{"containerPort": 80}]}]},
                    },
                },
            })
        });
    let config_map = (scalar(), scalar(), prop::option::of("[ab]/[ab]")).prop_map(|(a, b, f)| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "x", "finalizers": f.into_iter().collect::<Vec<_>>()},
            "data": {"a": a, "b": b},
        })
    });
    let patch = (scalar(), scalar()).prop_map(|(a, b)| {
        json!({"data": {"a": a}, "spec": {"replicas": b}, "metadata": {"annotations": {"n": "1"}}})
    });
    let operations = prop::collection::vec(
        (
            prop_oneof![
                Just("add"),
                Just("remove"),
                Just("replace"),
                Just("test"),
                Just("move")
            ],
            prop_oneof![
                Just("/data/a"),
                Just("/spec/replicas"),
                Just("/metadata/labels/l"),
                Just("/spec/template/spec/containers/-"),
                Just("/x/9999999999"),
                Just("")
            ],
            scalar(),
        ),
        0..3,
    )
    .prop_map(|ops| {
        let ops = ops.into_iter().map(
            |(op, path, value)| json!({"op": op, "path": path, "from": "/data/b", "value": value}),
        );
        Value::Array(ops.collect())
    });
    let any = scalar().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map("[a-z$]{0,8}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    });
    prop_oneof![3 => deployment, 3 => config_map, 3 => patch, 2 => operations, 1 => any]
}

fn call() -> impl Strategy<Value = Call> {
    let body = prop_oneof![
        8 => document().prop_map(|value| value.to_string().into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..40),
        1 => Just(Vec::new()),
    ];
    let query = prop_oneof![
        4 => Just(""),
        2 => Just("?fieldManager=m"),
        1 => Just("?fieldManager=m&force=true"),
        1 => Just("?dryRun=All"),
        1 => Just("?fieldValidation=Strict"),
        1 => "\\?[a-zA-Z=&%]{0,20}".prop_map(|_| "?fieldManager=%FF&dryRun=x&labelSelector=="),
    ];
    (
        prop::sample::select(vec!["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]),
        prop::sample::select(PATHS.to_vec()),
        query,
        prop::sample::select(MEDIA_TYPES.to_vec()),
        body,
        prop::sample::select(vec!["a/1.0", "b/1.0", ""]),
        prop::bool::weighted(0.2),
    )
        .prop_map(
            |(method, path, query, media_type, body, actor, echo)| Call {
                method,
                target: format!("{path}{query}"),
                media_type,
                body,
                actor,
                echo,
            },
        )
}

fn history() -> impl Strategy<Value = Vec<Call>> {
    prop::collection::vec(call(), 1..25)
}

fn send(server: &mut ApiServer, call: &Call, last: &[u8]) -> Option<Response<Vec<u8>>> {
    let body = if call.echo { last } else { &call.body };
    let request = Request::builder()
        .method(Method::from_bytes(call.method.as_bytes()).ok()?)
        .uri(&call.target)
        .header("content-type", call.media_type)
        .header("user-agent", call.actor)
        .body(body.to_vec())
        .ok()?;
    Some(server.handle(request))
}

fn contents(server: &ApiServer) -> Vec<(String, u64, Value)> {
    let all = server.store().range("");
    all.map(|(key, revision, object)| (key.to_string(), revision, object.as_ref().clone()))
        .collect()
}

fn element() -> impl Strategy<Value = PathElement> {
    prop_oneof![
        "[ab]".prop_map(PathElement::Field),
        (0i64..2).prop_map(|n| PathElement::Value(n.into())),
        (0i64..2).prop_map(|n| PathElement::Key(vec![("k".to_owned(), n.into())])),
        (0i64..2).prop_map(PathElement::Index),
    ]
}

fn set() -> impl Strategy<Value = Set> {
    let path = prop::collection::vec(element(), 1..4).prop_map(Path);
    prop::collection::vec(path, 0..8).prop_map(|paths| {
        let mut set = Set::default();
        paths.iter().for_each(|path| set.insert(path));
        set
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn nothing_anyone_sends_makes_the_server_panic(calls in history()) {
        let mut server = ApiServer::default();
        let mut last = Vec::new();
        for call in &calls {
            if let Some(response) = send(&mut server, call, &last) {
                last = response.into_body();
            }
        }
    }

    #[test]
    fn revisions_only_grow_and_a_refused_write_leaves_the_store_as_it_was(calls in history()) {
        let mut server = ApiServer::default();
        let mut last = Vec::new();
        for call in &calls {
            let (revision, before) = (server.store().revision(), contents(&server));
            let Some(response) = send(&mut server, call, &last) else { continue };
            prop_assert!(server.store().revision() >= revision);
            if !response.status().is_success() || call.target.contains("dryRun=All") && call.method != "DELETE" {
                prop_assert_eq!(server.store().revision(), revision);
                prop_assert_eq!(contents(&server), before);
            }
            last = response.into_body();
        }
    }

    #[test]
    fn replaying_a_history_gives_the_same_bytes(calls in history()) {
        let play = || {
            let mut server = ApiServer::default();
            let mut last = Vec::new();
            let mut answers = Vec::new();
            for call in &calls {
                if let Some(response) = send(&mut server, call, &last) {
                    last = response.into_body();
                    answers.push(last.clone());
                }
            }
            (answers, contents(&server))
        };
        prop_assert_eq!(play(), play());
    }

    #[test]
    fn what_get_returns_sent_back_as_update_changes_nothing(calls in history()) {
        let mut server = ApiServer::default();
        let mut last = Vec::new();
        for call in &calls {
            if let Some(response) = send(&mut server, call, &last) {
                last = response.into_body();
            }
        }
        for path in [PATHS[0], PATHS[2]] {
            let get = Request::get(path).body(Vec::new()).unwrap();
            let object = server.handle(get);
            if object.status() != 200 {
                continue;
            }
            let revision = server.store().revision();
            let put = Request::put(path).header("user-agent", "someone").body(object.body().clone());
            let answer = server.handle(put.unwrap());
            prop_assert_eq!(answer.status(), 200);
            prop_assert_eq!(server.store().revision(), revision);
            prop_assert_eq!(answer.body(), object.body());
        }
    }

    #[test]
    fn applying_twice_changes_nothing_the_second_time(calls in history(), config in document()) {
        let mut server = ApiServer::default();
        let mut last = Vec::new();
        for call in &calls {
            if let Some(response) = send(&mut server, call, &last) {
                last = response.into_body();
            }
        }
        for path in [PATHS[0], PATHS[2]] {
            let apply = || Request::patch(format!("{path}?fieldManager=m&force=true"))
                .header("content-type", "application/apply-patch+yaml")
                .body(config.to_string().into_bytes()).unwrap();
            if !server.handle(apply()).status().is_success() {
                continue;
            }
            let revision = server.store().revision();
            let again = server.handle(apply());
            prop_assert!(again.status().is_success());
            prop_assert_eq!(server.store().revision(), revision);
        }
    }

    #[test]
    fn field_sets_obey_the_laws_of_sets(a in set(), b in set(), c in set()) {
        prop_assert_eq!(a.union(&b), b.union(&a));
        prop_assert_eq!(a.intersection(&b), b.intersection(&a));
        prop_assert_eq!(a.union(&b).union(&c), a.union(&b.union(&c)));
        prop_assert_eq!(a.intersection(&b).intersection(&c), a.intersection(&b.intersection(&c)));
        prop_assert_eq!(a.intersection(&b.union(&c)), a.intersection(&b).union(&a.intersection(&c)));
        prop_assert_eq!(a.difference(&b).union(&a.intersection(&b)), a.clone());
        prop_assert!(a.difference(&b).intersection(&b).is_empty());
        prop_assert!(a.difference(&a).is_empty() && a.recursive_difference(&a).is_empty());
        for path in a.union(&b).paths() {
            prop_assert!(a.contains(&path) || b.contains(&path));
        }
    }

    #[test]
    fn a_field_set_is_read_back_as_it_was_written(set in set()) {
        prop_assert_eq!(from_fields_v1(&to_fields_v1(&set)), Some(set));
    }
}
