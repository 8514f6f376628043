//! Random histories of requests: most suit the objects that are stored, some suit nothing.

use std::fmt;

use http::{Method, Request, Response};
use optimist_apiserver::server::ApiServer;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::objects::{SEEDS, Seed};

/// One request of a random history.
#[derive(Clone)]
pub struct Call {
    pub method: &'static str,
    pub target: String,
    pub media_type: &'static str,
    pub body: Vec<u8>,
    pub actor: &'static str,
    /// Send the body of the last answer instead, as a client does that updates what it read.
    pub echo: bool,
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let body = String::from_utf8_lossy(&self.body);
        let body = if self.echo {
            "the last answer".into()
        } else {
            body
        };
        let Call {
            method,
            target,
            media_type,
            actor,
            ..
        } = self;
        write!(f, "{method} {target} {media_type} by {actor:?}: {body}")
    }
}

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
        prop::sample::select(vec!["a", "", "not valid!", "nginx:1"]).prop_map(Value::from),
    ]
}

/// Any JSON at all.
fn any_json() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map("[a-z$]{0,8}", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// A query of the options that the server knows, with good and bad values, and of others.
fn query() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "fieldManager",
        "force",
        "dryRun",
        "fieldValidation",
        "resourceVersion",
        "resourceVersionMatch",
        "limit",
        "labelSelector",
        "fieldSelector",
        "propagationPolicy",
        "gracePeriodSeconds",
        "unknown",
    ]);
    let value = prop_oneof![
        3 => prop::sample::select(vec!["m", "true", "All", "Strict", "Ignore", "1", "0", "Exact",
            "Foreground", "a=b", "metadata.name=x"]).prop_map(str::to_owned),
        1 => "[a-zA-Z=%!,.]{0,12}",
    ];
    let pairs = prop::collection::vec((name, value), 1..3);
    let pairs = pairs.prop_map(|pairs| {
        let pairs: Vec<String> = pairs.iter().map(|(n, v)| format!("{n}={v}")).collect();
        format!("?{}", pairs.join("&"))
    });
    prop_oneof![6 => Just(String::new()), 2 => Just("?fieldManager=m".to_owned()), 2 => pairs]
}

/// A request that suits a stored object: a write of one of its fields, a read or a deletion.
fn suiting() -> impl Strategy<Value = Call> {
    let fitting = (0..SEEDS.len(), 0usize..14, 0usize..8, 0usize..8, 0usize..4);
    let context = (query(), prop::sample::select(vec!["a/1.0", "b/1.0", ""]));
    (fitting, context).prop_map(|((kind, verb, field, value, place), (query, actor))| {
        let seed = &SEEDS[kind];
        let mut target = seed.path();
        let subresource = (place == 0).then(|| seed.subresources.first()).flatten();
        if let Some(subresource) = subresource.filter(|_| verb != 13) {
            target = format!("{target}/{subresource}");
        }
        let (method, media_type, body, echo) = written(seed, verb, field, value);
        if method == "POST" {
            target = seed.collection.to_owned();
        }
        let query = match media_type {
            "application/apply-patch+yaml" if !query.contains("fieldManager") => {
                "?fieldManager=m&force=true".to_owned()
            }
            _ => query,
        };
        let body = body.to_string().into_bytes();
        let target = format!("{target}{query}");
        Call {
            method,
            target,
            media_type,
            body,
            actor,
            echo,
        }
    })
}

/// Method, media type and body of one of fourteen requests, and whether it echoes the last answer.
fn written(
    seed: &Seed,
    verb: usize,
    field: usize,
    value: usize,
) -> (&'static str, &'static str, Value, bool) {
    let operation = |name: &str| {
        let (path, value) = seed.edit(field, value);
        json!([{"op": name, "path": path, "value": value, "from": path}])
    };
    match verb {
        0 => ("GET", "", Value::Null, false),
        1 => ("POST", "application/json", seed.with(field, value), false),
        2 | 3 => ("PUT", "application/json", seed.with(field, value), false),
        4 => ("PUT", "application/json", Value::Null, true),
        5 | 6 => (
            "PATCH",
            MEDIA_TYPES[3],
            seed.only(field, value, false),
            false,
        ),
        7 => (
            "PATCH",
            MEDIA_TYPES[4],
            seed.only(field, value, false),
            false,
        ),
        8 => ("PATCH", MEDIA_TYPES[2], operation("add"), false),
        9 => ("PATCH", MEDIA_TYPES[2], operation("replace"), false),
        10 => ("PATCH", MEDIA_TYPES[2], operation("remove"), false),
        11 | 12 => (
            "PATCH",
            MEDIA_TYPES[5],
            seed.only(field, value, true),
            false,
        ),
        _ => ("DELETE", "application/json", json!({}), false),
    }
}

/// A request that suits no object.
fn unsuiting() -> impl Strategy<Value = Call> {
    let path = prop_oneof![
        3 => (0..SEEDS.len()).prop_map(|kind| SEEDS[kind].path()),
        1 => prop::sample::select(vec!["/api/v1/namespaces/nowhere/configmaps/x", "/apis/nothing/v1/at/all", "/",
            "/apis/apps/v1/deployments", "/api/v1/namespaces/default", "/api/v1/nodes/x"]).prop_map(str::to_owned),
    ];
    let body = prop_oneof![
        4 => any_json().prop_map(|value| value.to_string().into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..40),
        1 => Just(Vec::new()),
    ];
    (
        prop::sample::select(vec!["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]),
        path,
        query(),
        prop::sample::select(MEDIA_TYPES.to_vec()),
        body,
        prop::sample::select(vec!["a/1.0", ""]),
    )
        .prop_map(|(method, path, query, media_type, body, actor)| Call {
            method,
            target: format!("{path}{query}"),
            media_type,
            body,
            actor,
            echo: false,
        })
}

/// Up to two dozen requests.
pub fn history() -> impl Strategy<Value = Vec<Call>> {
    prop::collection::vec(prop_oneof![5 => suiting(), 1 => unsuiting()], 1..25)
}

/// Sends a request; `None` if it is no HTTP request.
pub fn send(server: &mut ApiServer, call: &Call, last: &[u8]) -> Option<Response<Vec<u8>>> {
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

/// Sends a history, and gives every answer.
pub fn play(server: &mut ApiServer, calls: &[Call]) -> Vec<Response<Vec<u8>>> {
    let mut answers: Vec<Response<Vec<u8>>> = Vec::new();
    for call in calls {
        let last = answers.last().map_or(&[][..], |answer| answer.body());
        let answer = send(server, call, last);
        answers.extend(answer);
    }
    answers
}
