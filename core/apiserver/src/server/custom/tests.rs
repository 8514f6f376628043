mod definitions;
mod generation;
mod rules;
mod versions;

use http::{Method, Request, Response, header};
use serde_json::{Value, json};

use crate::server::ApiServer;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";
const W: &str = "/apis/example.com/v1/namespaces/default/widgets/w";

struct Server(ApiServer);

/// The answer to a request: code, body and warnings.
struct Answered(u16, Value, Vec<String>);

impl Server {
    fn defining(spec: &Value, subresources: &Value) -> Self {
        let mut server = Self(ApiServer::default());
        let Answered(code, body, _) = server.send(
            Method::POST,
            DEFINITIONS,
            "",
            definition(spec, subresources),
        );
        assert_eq!(code, 201, "{body}");
        server
    }

    fn send(&mut self, method: Method, path: &str, media: &str, body: Value) -> Answered {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::USER_AGENT, "test/1")
            .header(header::CONTENT_TYPE, media)
            .body(match body {
                Value::Null => Vec::new(),
                body => body.to_string().into_bytes(),
            })
            .unwrap();
        let response: Response<Vec<u8>> = self.0.handle(request);
        let warnings = response.headers().get_all(header::WARNING).iter();
        let warnings = warnings.map(|w| {
            let quoted = w.to_str().unwrap().strip_prefix("299 - \"").unwrap();
            quoted.strip_suffix('"').unwrap().to_owned()
        });
        let warnings = warnings.map(|w| w.replace("\\\"", "\"")).collect();
        let text = || String::from_utf8_lossy(response.body()).into();
        let body = serde_json::from_slice(response.body()).unwrap_or_else(|_| text());
        Answered(response.status().as_u16(), body, warnings)
    }

    fn create(&mut self, widget: Value) -> Answered {
        self.send(Method::POST, WIDGETS, "application/json", with_kind(widget))
    }

    fn merge(&mut self, path: &str, patch: Value) -> Answered {
        self.send(Method::PATCH, path, "application/merge-patch+json", patch)
    }

    fn apply(&mut self, widget: Value) -> Answered {
        let path = format!("{W}?fieldManager=m&force=true");
        let media = "application/apply-patch+yaml";
        self.send(Method::PATCH, &path, media, with_kind(widget))
    }

    fn get(&mut self) -> Value {
        self.send(Method::GET, W, "", Value::Null).1
    }
}

fn definition(spec: &Value, subresources: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": subresources,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": spec,
                    "status": {"type": "object", "properties": {"n": {"type": "integer"}}},
                }}},
            }],
        },
    })
}

fn with_kind(mut widget: Value) -> Value {
    for (field, value) in [
        ("apiVersion", json!("example.com/v1")),
        ("kind", json!("Widget")),
        ("metadata", json!({"name": "w"})),
    ] {
        if widget.get(field).is_none() {
            widget[field] = value;
        }
    }
    widget
}

fn message(body: &Value) -> &str {
    body["message"].as_str().unwrap_or_default()
}

#[test]
fn an_object_is_pruned_and_filled_in_and_says_what_it_lost() {
    let spec = json!({"type": "object", "properties": {
        "size": {"type": "integer", "default": 3},
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    }});
    let mut server = Server::defining(&spec, &json!({}));
    let Answered(code, body, warnings) =
        server.create(json!({"spec": {"bogus": 1, "open": {"x": [1]}}, "top": 1}));
    assert_eq!(code, 201);
    assert_eq!(body["spec"], json!({"size": 3, "open": {"x": [1]}}));
    assert_eq!(body.get("top"), None);
    assert_eq!(
        warnings,
        [r#"unknown field "spec.bogus""#, r#"unknown field "top""#]
    );
}

#[test]
fn every_mistake_is_reported_with_its_field() {
    let spec = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"},
        "size": {"type": "integer", "format": "int32", "minimum": 1, "maximum": 9},
        "mode": {"type": "string", "enum": ["a", "b"]},
        "code": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 4},
        "list": {"type": "array", "maxItems": 1, "items": {"type": "string"}},
        "either": {"x-kubernetes-int-or-string": true},
        "when": {"type": "string", "format": "date-time"},
        "some": {"type": "object", "anyOf": [{"required": ["x"]}, {"required": ["y"]}],
            "properties": {"x": {"type": "string"}, "y": {"type": "string"}}},
        "half": {"type": "number", "multipleOf": 0.5},
    }});
    let mut server = Server::defining(&spec, &json!({}));
    for (field, value, expected) in [
        (
            "size",
            json!(0),
            "spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1",
        ),
        (
            "size",
            json!(1.5),
            "[spec.size: Invalid value: \"float64\": spec.size in body must be of type int32: \
             \"float64\", <nil>: Invalid value: \"\": Checked value must be of type integer with \
             format int32 in spec.size]",
        ),
        (
            "size",
            json!(3_000_000_000_u64),
            "[<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 \
             in spec.size, spec.size: Invalid value: 3000000000: spec.size in body should be less \
             than or equal to 9]",
        ),
        (
            "size",
            json!(true),
            "spec.size: Invalid value: \"\": spec.size in body must be of type int32: \"\"",
        ),
        (
            "size",
            json!("1"),
            "spec.size: Invalid value: \"string\": spec.size in body must be of type integer: \
             \"string\"",
        ),
        (
            "mode",
            json!("c"),
            "spec.mode: Unsupported value: \"c\": supported values: \"a\", \"b\"",
        ),
        (
            "code",
            json!("A"),
            "spec.code: Invalid value: \"A\": spec.code in body should match '^[a-z]+$'",
        ),
        (
            "code",
            json!("abcde"),
            "spec.code: Too long: may not be more than 4 bytes",
        ),
        (
            "list",
            json!(["a", "b"]),
            "spec.list: Too many: 2: must have at most 1 item",
        ),
        (
            "either",
            json!(true),
            "spec.either: Invalid value: \"boolean\": spec.either in body must be of type \
             integer,string: \"boolean\"",
        ),
        (
            "when",
            json!("now"),
            "spec.when: Invalid value: \"now\": spec.when in body must be of type date-time: \
             \"now\"",
        ),
        (
            "some",
            json!({}),
            "[<nil>: Invalid value: \"\": \"spec.some\" must validate at least one schema \
             (anyOf), spec.some.x: Required value]",
        ),
        (
            "half",
            json!(0.7),
            "spec.half: Invalid value: 0.7: spec.half in body should be a multiple of 0.5",
        ),
    ] {
        let mut spec = json!({"name": "x"});
        spec[field] = value;
        let Answered(code, body, _) = server.create(json!({"spec": spec}));
        assert_eq!(code, 422, "{field}");
        let expected = format!("Widget.example.com \"w\" is invalid: {expected}");
        assert_eq!(message(&body), expected);
    }
    let Answered(_, body, _) = server.create(json!({"spec": {}}));
    assert_eq!(body["details"]["causes"][0]["field"], "spec.name");
    assert_eq!(body["details"]["causes"][0]["message"], "Required value");
}

#[test]
fn what_was_wrong_before_may_stay_as_long_as_it_is_not_touched() {
    let open = json!({"type": "object", "properties": {
        "a": {"type": "integer"}, "b": {"type": "integer"},
    }});
    let mut server = Server::defining(&open, &json!({}));
    server.create(json!({"spec": {"a": 0, "b": 1}}));
    let strict = json!({"type": "object", "properties": {
        "a": {"type": "integer", "minimum": 1}, "b": {"type": "integer"},
    }});
    let path = format!("{DEFINITIONS}/widgets.example.com");
    let patch = definition(&strict, &json!({}));
    let Answered(code, body, _) = server.merge(&path, json!({"spec": patch["spec"]}));
    assert_eq!(code, 200, "{body}");
    assert_eq!(server.merge(W, json!({"spec": {"b": 2}})).0, 200);
    assert_eq!(server.merge(W, json!({"spec": {"a": -1}})).0, 422);
}

#[test]
fn the_status_is_written_by_itself_and_checked_by_itself() {
    let spec = json!({"type": "object", "properties": {"size": {"type": "integer"}}});
    let mut server = Server::defining(&spec, &json!({"status": {}}));
    let Answered(_, body, _) = server.create(json!({"spec": {"size": 1}, "status": {"n": 1}}));
    assert_eq!(body.get("status"), None);
    let status = format!("{W}/status");
    let patch =
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"size": "x"}, "status": {"n": 2}});
    let Answered(code, body, _) = server.merge(&status, patch);
    assert_eq!((code, &body["status"]), (200, &json!({"n": 2})));
    assert_eq!(body["spec"], json!({"size": 1}));
    assert_eq!(body["metadata"].get("labels"), None);
    assert_eq!(body["metadata"]["generation"], 1);
    let Answered(_, body, _) = server.merge(&status, json!({"status": {"n": "x"}}));
    assert_eq!(
        message(&body),
        "Widget.example.com \"w\" is invalid: status.n: Invalid value: \"string\": n in body must \
         be of type integer: \"string\""
    );
    let Answered(_, body, _) = server.merge(W, json!({"spec": {"size": 2}, "status": {"n": 5}}));
    assert_eq!(body["status"], json!({"n": 2}));
    assert_eq!(body["metadata"]["generation"], 2);
}

#[test]
fn no_reader_sees_a_null_that_apply_stores_before_the_next_write() {
    let spec = json!({"type": "object", "properties": {"size": {"type": "integer"}}});
    let mut server = Server::defining(&spec, &json!({}));
    let metadata = json!({"name": "w", "labels": {"x": null}});
    let Answered(code, body, _) = server.apply(json!({"metadata": metadata}));
    assert_eq!(code, 201);
    assert_eq!(body["metadata"]["labels"], json!({"x": ""}));
    let before = server.get();
    let after = server.merge(W, json!({})).1;
    assert_ne!(
        before["metadata"]["resourceVersion"],
        after["metadata"]["resourceVersion"]
    );
    let again = server.merge(W, json!({})).1;
    assert_eq!(again, after);
}

#[test]
fn an_apply_that_stores_what_no_reader_sees_is_stored_each_time() {
    let mut server = Server::defining(&json!({"type": "object"}), &json!({}));
    let config = json!({"metadata": {"name": "w", "labels": {}}});
    let version = |server: &mut Server| server.get()["metadata"]["resourceVersion"].clone();
    server.apply(config.clone());
    let first = version(&mut server);
    server.apply(config.clone());
    let second = version(&mut server);
    assert_ne!(first, second, "compared with what the watch cache holds");
    server.0.restart_with_watch_cache(false);
    server.apply(config);
    assert_eq!(
        version(&mut server),
        second,
        "compared with what etcd holds"
    );
}

#[test]
fn a_foreign_kind_is_believed_and_then_refused() {
    let mut server = Server::defining(&json!({"type": "object"}), &json!({}));
    let Answered(code, body, _) = server.create(json!({"kind": "Pod"}));
    assert_eq!(code, 422);
    assert_eq!(
        message(&body),
        "Pod.example.com \"w\" is invalid: kind: Invalid value: \"Pod\": must be Widget"
    );
    let body = json!({"apiVersion": "example.com/v1", "metadata": {"name": "w"}});
    let Answered(code, body, _) = server.send(Method::POST, WIDGETS, "application/json", body);
    assert_eq!(code, 400);
    assert!(message(&body).starts_with(
        "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in"
    ));
}

#[test]
fn a_finalizer_without_a_domain_is_worth_a_warning_once() {
    let mut server = Server::defining(&json!({"type": "object"}), &json!({}));
    let metadata = json!({"name": "w", "finalizers": ["mine", "a.b"]});
    let Answered(code, _, warnings) = server.create(json!({"metadata": metadata}));
    assert_eq!(code, 201);
    assert_eq!(
        warnings,
        [
            "metadata.finalizers: \"a.b\": prefer a domain-qualified finalizer name including a \
             path (/) to avoid accidental conflicts with other finalizer writers",
            "metadata.finalizers: \"mine\": prefer a domain-qualified finalizer name to avoid \
             accidental conflicts with other finalizer writers",
        ]
    );
    let Answered(_, _, warnings) = server.merge(W, json!({"metadata": {"labels": {"a": "b"}}}));
    assert!(warnings.is_empty());
}

#[test]
fn a_definition_may_be_hostile() {
    let mut deep = json!({"type": "object"});
    for _ in 0..40 {
        deep = json!({"type": "object", "properties": {"a": deep}});
    }
    let mut server = Server::defining(&deep, &json!({}));
    assert_eq!(server.create(json!({"spec": {"a": {"a": {}}}})).0, 201);
    let mut odd = json!({"type": "object", "properties": {
        "bad": {"type": "string", "pattern": "(?=x)[", "minLength": -1, "maxLength": 1e300},
        "range": {"type": "integer", "minimum": 1e300, "multipleOf": 0},
        "strange": {"type": "nothing", "enum": [null], "default": {"a": null}},
        "keys": {"type": "array", "x-kubernetes-list-type": "map", "items": {"type": "object"}},
    }});
    let refused = |definition: Value| {
        let mut server = Server(ApiServer::default());
        let Answered(code, body, _) = server.send(Method::POST, DEFINITIONS, "", definition);
        (code, message(&body).to_owned())
    };
    let (code, why) = refused(definition(&odd, &json!({})));
    assert_eq!(code, 400);
    assert!(
        why.ends_with("properties.properties.maxLength of type int64"),
        "{why}"
    );
    odd["properties"]["bad"]["maxLength"] = i64::MAX.into();
    let (code, why) = refused(definition(&odd, &json!({})));
    assert_eq!(code, 422);
    assert!(
        why.contains("invalid or unsupported Perl syntax: `(?=`"),
        "{why}"
    );
    let number = json!({"scale": {"specReplicasPath": 1}});
    let (code, why) = refused(definition(&json!({"type": "object"}), &number));
    assert_eq!(code, 400);
    assert!(
        why.ends_with("scale.specReplicasPath of type string"),
        "{why}"
    );
    let (code, why) = refused(definition(&json!({"type": 1}), &json!({})));
    assert_eq!(code, 400);
    assert!(
        why.ends_with("openAPIV3Schema.properties.type of type string"),
        "{why}"
    );
}

#[test]
fn resources_are_served_as_long_as_they_are_defined() {
    let mut server = Server::defining(&json!({"type": "object"}), &json!({}));
    assert_eq!(server.create(json!({})).0, 201);
    let path = format!("{DEFINITIONS}/widgets.example.com");
    server.send(Method::DELETE, &path, "", Value::Null);
    let Answered(code, body, _) = server.send(Method::GET, W, "", Value::Null);
    assert_eq!(code, 404);
    assert_eq!(body, "404 page not found\n");
}

#[test]
fn a_whole_number_of_yaml_with_a_fraction_changes_nothing() {
    let spec = json!({"type": "object", "properties": {"size": {"type": "integer"}}});
    let mut server = Server::defining(&spec, &json!({}));
    let Answered(code, ..) = server.create(json!({"metadata": {"name": "w"}, "spec": {"size": 2}}));
    assert_eq!(code, 201);
    let applied = with_kind(json!({"metadata": {"name": "w", "labels": {"a": "b"}},
        "spec": {"size": 2.0}}));
    let path = format!("{W}?fieldManager=m");
    let apply = "application/apply-patch+yaml";
    let Answered(code, body, _) = server.send(Method::PATCH, &path, apply, applied);
    assert_eq!(code, 200, "{body}");
    assert_eq!(body["metadata"]["labels"]["a"], "b");
    assert_eq!(body["metadata"]["generation"], 1, "the spec is as it was");
    assert_eq!(body["spec"]["size"], json!(2));
}
