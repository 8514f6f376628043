//! Several versions of one definition, with conversion `None`.

use super::*;

const OLD: &str = "/apis/example.com/v1/namespaces/default/widgets/w";
const NEW: &str = "/apis/example.com/v2/namespaces/default/widgets/w";

/// Version v1 has `size` from 1 on and `old`; v2, in which objects are stored, has `size` and
/// `color`, which is red by default.
fn two_versions() -> Server {
    let of_v1 = json!({"type": "object", "properties": {
        "size": {"type": "integer", "minimum": 1}, "old": {"type": "string"},
    }});
    let of_v2 = json!({"type": "object", "properties": {
        "size": {"type": "integer"}, "color": {"type": "string", "default": "red"},
    }});
    defining(&of_v1, &of_v2)
}

fn defining(of_v1: &Value, of_v2: &Value) -> Server {
    let mut definition = definition(of_v1, &json!({}));
    definition["spec"]["versions"][0]["storage"] = false.into();
    let newer = json!({"name": "v2", "served": true, "storage": true, "schema": {
        "openAPIV3Schema": {"type": "object", "properties": {"spec": of_v2}},
    }});
    let versions = definition["spec"]["versions"].as_array_mut();
    versions.unwrap().push(newer);
    let mut server = Server(ApiServer::default());
    let Answered(code, body, _) = server.send(Method::POST, DEFINITIONS, "", definition);
    assert_eq!(code, 201, "{body}");
    server
}

fn stored(server: &Server) -> Value {
    let (_, stored) = server
        .0
        .store()
        .get("/registry/example.com/widgets/default/w")
        .unwrap();
    stored.as_ref().clone()
}

fn spec(server: &mut Server, path: &str) -> Value {
    let Answered(code, body, _) = server.send(Method::GET, path, "", Value::Null);
    assert_eq!(code, 200, "{body}");
    body["spec"].clone()
}

fn apply(server: &mut Server, path: &str, query: &str, spec: Value) -> Answered {
    let version = if path == OLD {
        "example.com/v1"
    } else {
        "example.com/v2"
    };
    let config =
        json!({"apiVersion": version, "kind": "Widget", "metadata": {"name": "w"}, "spec": spec});
    let path = format!("{path}?fieldManager={query}");
    server.send(Method::PATCH, &path, "application/apply-patch+yaml", config)
}

fn owners(object: &Value) -> Vec<(String, String, Value)> {
    let entries = object["metadata"]["managedFields"].as_array();
    let text = |entry: &Value, field: &str| entry[field].as_str().unwrap().to_owned();
    let mut owners: Vec<_> = entries
        .into_iter()
        .flatten()
        .map(|it| {
            (
                text(it, "manager"),
                text(it, "apiVersion"),
                it["fieldsV1"]["f:spec"].clone(),
            )
        })
        .collect();
    owners.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    owners
}

fn owner(manager: &str, version: &str, fields: Value) -> (String, String, Value) {
    (manager.to_owned(), format!("example.com/{version}"), fields)
}

#[test]
fn an_object_is_stored_in_one_version_and_read_in_each() {
    let mut server = two_versions();
    let Answered(code, made, _) = server.create(json!({"spec": {"size": 3, "old": "x"}}));
    assert_eq!(code, 201);
    // What the stored version does not declare is lost, and its default filled in on reading.
    assert_eq!(made["apiVersion"], "example.com/v1");
    assert_eq!(made["spec"], json!({"size": 3}));
    assert_eq!(stored(&server)["apiVersion"], "example.com/v2");
    assert_eq!(stored(&server)["spec"], json!({"size": 3}));
    assert_eq!(spec(&mut server, NEW), json!({"size": 3, "color": "red"}));
    assert_eq!(spec(&mut server, OLD), json!({"size": 3}));
}

#[test]
fn the_schema_of_the_requests_version_validates() {
    let mut server = two_versions();
    assert_eq!(server.create(json!({"spec": {"size": 0}})).0, 422);
    let zero = json!({"apiVersion": "example.com/v2", "spec": {"size": 0, "old": "x"}});
    let all = "/apis/example.com/v2/namespaces/default/widgets";
    let Answered(code, made, warnings) = server.send(Method::POST, all, "", with_kind(zero));
    assert_eq!(code, 201);
    assert_eq!(made["spec"], json!({"size": 0, "color": "red"}));
    assert_eq!(warnings, ["unknown field \"spec.old\""]);
}

#[test]
fn a_write_through_the_other_version_drops_what_that_version_does_not_declare() {
    let mut server = two_versions();
    let blue = json!({"apiVersion": "example.com/v2", "spec": {"size": 1, "color": "blue"}});
    let all = "/apis/example.com/v2/namespaces/default/widgets";
    assert_eq!(server.send(Method::POST, all, "", with_kind(blue)).0, 201);
    let patch = json!({"spec": {"size": 2}});
    assert_eq!(server.merge(OLD, patch).0, 200);
    assert_eq!(spec(&mut server, NEW), json!({"size": 2, "color": "red"}));
}

#[test]
fn managers_own_fields_in_the_version_in_which_they_wrote() {
    let fields = json!({"type": "object", "properties": {
        "size": {"type": "integer"}, "color": {"type": "string"},
    }});
    let mut server = defining(&fields, &fields);
    assert_eq!(apply(&mut server, NEW, "a", json!({"size": 1})).0, 201);
    let Answered(code, refused, _) = apply(&mut server, OLD, "b", json!({"size": 2}));
    assert_eq!(code, 409);
    assert_eq!(
        message(&refused),
        "Apply failed with 1 conflict: conflict with \"a\": .spec.size"
    );
    let Answered(code, forced, _) = apply(&mut server, OLD, "b&force=true", json!({"size": 2}));
    assert_eq!(code, 200);
    assert_eq!(owners(&forced), [owner("b", "v1", json!({"f:size": {}}))]);
    let update = json!({"spec": {"color": "blue"}});
    let Answered(_, updated, _) = server.merge(NEW, update);
    assert_eq!(
        owners(&updated),
        [
            owner("b", "v1", json!({"f:size": {}})),
            owner("test", "v2", json!({"f:color": {}})),
        ]
    );
    // An applier that moves on to another version is still the same one.
    let Answered(code, moved, _) = apply(&mut server, NEW, "b", json!({"size": 2}));
    assert_eq!(code, 200);
    assert_eq!(
        owners(&moved),
        [
            owner("b", "v2", json!({"f:size": {}})),
            owner("test", "v2", json!({"f:color": {}})),
        ]
    );
    let Answered(code, dropped, _) = apply(&mut server, OLD, "b", json!({}));
    assert_eq!(code, 200, "{dropped}");
    assert_eq!(spec(&mut server, NEW), json!({"color": "blue"}));
}

#[test]
fn ownership_is_forgotten_where_the_object_cannot_be_written_in_an_owners_version() {
    let mut server = two_versions();
    assert_eq!(apply(&mut server, NEW, "a", json!({"size": 1})).0, 201);
    let patch = json!({"spec": {"old": "x"}});
    let Answered(code, written, _) = server.merge(OLD, patch);
    assert_eq!(code, 200, "{written}");
    assert_eq!(owners(&written), []);
    // An apply says so instead.
    let mut server = two_versions();
    assert_eq!(apply(&mut server, NEW, "a", json!({"size": 1})).0, 201);
    let Answered(code, refused, _) = apply(&mut server, OLD, "b", json!({"old": "x"}));
    assert_eq!(code, 500);
    assert_eq!(
        message(&refused),
        "failed to convert new object: .spec.old: field not declared in schema"
    );
}

#[test]
fn a_new_storage_version_is_taken_over_by_the_next_write_even_of_the_same() {
    let mut server = two_versions();
    assert_eq!(server.create(json!({"spec": {"size": 3}})).0, 201);
    let path = format!("{DEFINITIONS}/widgets.example.com");
    let swap = json!([
        {"op": "replace", "path": "/spec/versions/0/storage", "value": true},
        {"op": "replace", "path": "/spec/versions/1/storage", "value": false},
    ]);
    let media = "application/json-patch+json";
    let Answered(code, swapped, _) = server.send(Method::PATCH, &path, media, swap);
    assert_eq!(code, 200, "{swapped}");
    assert_eq!(swapped["status"]["storedVersions"], json!(["v2", "v1"]));
    let Answered(_, before, _) = server.send(Method::GET, OLD, "", Value::Null);
    assert_eq!(server.send(Method::PUT, OLD, "", before.clone()).0, 200);
    assert_eq!(stored(&server)["apiVersion"], "example.com/v1");
    let after = server.get();
    assert_ne!(
        after["metadata"]["resourceVersion"],
        before["metadata"]["resourceVersion"]
    );
    // A version in which objects were stored has to stay.
    let remove = json!([{"op": "remove", "path": "/spec/versions/1"}]);
    let Answered(code, refused, _) = server.send(Method::PATCH, &path, media, remove);
    assert_eq!(code, 422);
    assert!(message(&refused).contains("status.storedVersions[0]: Invalid value: \"v2\": missing"));
}
