//! Answers of a real server as JSON and as protobuf.

use std::io::Read;
use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::{Request, Response, header};
use optimist_apiserver::json::Node;
use optimist_apiserver::schema;
use optimist_apiserver::server::ApiServer;
use optimist_protobuf::{Envelope, MEDIA_TYPE, WATCH_MEDIA_TYPE, decode};
use serde_json::{Value, json};

fn recordings() -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/third/protobuf.lines.gz");
    let mut text = String::new();
    let mut reader = flate2::read::GzDecoder::new(std::fs::File::open(file).unwrap());
    reader.read_to_string(&mut text).unwrap();
    let lines = text.lines().map(serde_json::from_str);
    lines.map(Result::unwrap).collect()
}

/// The recordings of these sorts.
fn recordings_of(sorts: &[&str]) -> Vec<Value> {
    let mut found = recordings();
    found.retain(|recorded| sorts.contains(&recorded["what"].as_str().unwrap()));
    assert!(!found.is_empty(), "{sorts:?}");
    found
}

fn bytes(recorded: &Value, member: &str) -> Vec<u8> {
    let text = recorded[member].as_str().unwrap_or_default();
    BASE64_STANDARD.decode(text).unwrap()
}

fn named(recorded: &Value) -> String {
    format!(
        "{} {} {}",
        recorded["n"], recorded["kind"], recorded["what"]
    )
}

/// Without what is empty, which protobuf does not tell from what is absent.
fn without_empty(value: &Value) -> Value {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::Bool(set) => !set,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    };
    match value {
        Value::Array(items) => items.iter().map(without_empty).collect(),
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(name, value)| (name.clone(), without_empty(value)));
            members.filter(|(_, value)| !is_empty(value)).collect()
        }
        other => other.clone(),
    }
}

fn asked(
    server: &mut ApiServer,
    request: http::request::Builder,
    body: &[u8],
) -> Response<Vec<u8>> {
    server.handle(request.body(body.to_vec()).unwrap())
}

fn decoded(answer: &[u8]) -> Value {
    let envelope = Envelope::read(answer).unwrap();
    let mut object = decode(&envelope, &envelope.api_version, &envelope.kind).unwrap();
    object["apiVersion"] = envelope.api_version.into();
    object["kind"] = envelope.kind.into();
    object
}

/// A server with the namespace of the recordings.
fn server() -> ApiServer {
    let mut server = ApiServer::default();
    let namespace = json!({"metadata": {"name": "pb3"}}).to_string();
    let made = asked(
        &mut server,
        Request::post("/api/v1/namespaces"),
        namespace.as_bytes(),
    );
    assert_eq!(made.status(), 201);
    server
}

#[test]
fn every_recorded_answer_is_written_as_the_same_bytes() {
    let server = ApiServer::default();
    let mut compared = 0;
    for recorded in recordings() {
        let is_protobuf = recorded["content_type"] == MEDIA_TYPE;
        // The list of kinds has members in an order of its own.
        if !is_protobuf || recorded["json"].is_null() || recorded["what"] == "watch" {
            continue;
        }
        let written = server.written_as_protobuf(&recorded["json"]).unwrap();
        let expected = bytes(&recorded, "protobuf_base64");
        let same = written == expected;
        assert!(same, "{}:\n{written:?}\n{expected:?}", named(&recorded));
        compared += 1;
    }
    assert!(compared >= 80, "{compared}");
}

#[test]
fn every_recorded_object_is_read_as_its_json() {
    let server = ApiServer::default();
    for recorded in recordings_of(&[
        "object",
        "scale",
        "PartialObjectMetadata",
        "list",
        "error",
        "discovery",
    ]) {
        let object = decoded(&bytes(&recorded, "protobuf_base64"));
        let (version, kind) = (&object["apiVersion"], &object["kind"]);
        let resources = server.resources();
        let resource = resources.by_kind(version.as_str().unwrap(), kind.as_str().unwrap());
        let (read, expected) = match resource {
            Some(resource) if recorded["kind"] != "crd" => {
                let read = schema::decode(Node::from(object), &resource.root).unwrap();
                (read.value, recorded["json"].clone())
            }
            _ => (without_empty(&object), without_empty(&recorded["json"])),
        };
        assert_eq!(read, expected, "{}", named(&recorded));
    }
}

#[test]
fn an_object_that_is_made_from_protobuf_is_not_changed_by_its_own_bytes() {
    for recorded in recordings_of(&["object"]) {
        let mut server = server();
        let mut object = decoded(&bytes(&recorded, "protobuf_base64"));
        let metadata = object["metadata"].as_object_mut().unwrap();
        for set_by_server in ["uid", "resourceVersion", "managedFields", "generation"] {
            metadata.remove(set_by_server);
        }
        // A Job selects by its own uid.
        if recorded["kind"] == "job" {
            object["spec"]["selector"].take();
            object["spec"]["template"]["metadata"]["labels"].take();
        }
        let body = server.written_as_protobuf(&object).unwrap();
        let path = recorded["path"].as_str().unwrap();
        let (collection, _) = path.rsplit_once('/').unwrap();
        let post = Request::post(collection).header(header::CONTENT_TYPE, MEDIA_TYPE);
        let made = asked(&mut server, post.header(header::ACCEPT, MEDIA_TYPE), &body);
        let shown = named(&recorded);
        assert_eq!(made.status(), 201, "{shown} {}", decoded(made.body()));
        // The first write to a new claim is stored even if it changes nothing (`Rules::encoded_anew`).
        if recorded["kind"] == "pvc" {
            let put = Request::put(path).header(header::CONTENT_TYPE, MEDIA_TYPE);
            asked(&mut server, put, made.body());
        }
        let get = Request::get(path).header(header::ACCEPT, MEDIA_TYPE);
        let before = asked(&mut server, get, &[]).into_body();
        let put = Request::put(path).header(header::CONTENT_TYPE, MEDIA_TYPE);
        let answer = asked(&mut server, put.header(header::ACCEPT, MEDIA_TYPE), &before);
        assert_eq!(answer.status(), 200, "{shown}");
        let (before, after) = (decoded(&before), decoded(answer.body()));
        assert_eq!(after, before, "{shown}");
    }
}

#[test]
fn errors_are_answered_in_protobuf_as_recorded() {
    for recorded in recordings_of(&["error"]) {
        let mut server = server();
        let map = json!({"metadata": {"name": "configmap"}}).to_string();
        let collection = "/api/v1/namespaces/pb3/configmaps";
        asked(&mut server, Request::post(collection), map.as_bytes());
        let path = recorded["path"].as_str().unwrap();
        let request = match recorded.get("request") {
            Some(_) => Request::post(path),
            None => Request::get(path),
        };
        let body = recorded
            .get("request")
            .map_or(String::new(), Value::to_string);
        let accepting = request.header(header::ACCEPT, MEDIA_TYPE);
        let answer = asked(&mut server, accepting, body.as_bytes());
        assert_eq!(answer.headers()[header::CONTENT_TYPE], MEDIA_TYPE);
        let expected = bytes(&recorded, "protobuf_base64");
        assert_eq!(
            decoded(answer.body()),
            decoded(&expected),
            "{}",
            named(&recorded)
        );
        assert_eq!(answer.body(), &expected, "{}", named(&recorded));
    }
}

#[test]
fn bodies_that_do_not_decode_are_refused_as_recorded() {
    for recorded in recordings_of(&["put-no-prefix", "put-empty", "put-prefix-only"]) {
        let path = recorded["path"].as_str().unwrap();
        let put = Request::put(path).header(header::CONTENT_TYPE, MEDIA_TYPE);
        let mut server = server();
        let map = json!({"metadata": {"name": "configmap"}}).to_string();
        let collection = "/api/v1/namespaces/pb3/configmaps";
        asked(&mut server, Request::post(collection), map.as_bytes());
        let answer = asked(&mut server, put, &bytes(&recorded, "request_base64"));
        let status: Value = serde_json::from_slice(answer.body()).unwrap();
        assert_eq!(status, recorded["json"], "{}", named(&recorded));
    }
}

#[test]
fn options_of_a_delete_can_be_protobuf() {
    for recorded in recordings_of(&["delete-options"]) {
        let mut server = server();
        let map = json!({"metadata": {"name": "configmap"}}).to_string();
        let collection = "/api/v1/namespaces/pb3/configmaps";
        asked(&mut server, Request::post(collection), map.as_bytes());
        let delete = Request::delete(recorded["path"].as_str().unwrap())
            .header(header::CONTENT_TYPE, MEDIA_TYPE)
            .header(header::ACCEPT, MEDIA_TYPE);
        let answer = asked(&mut server, delete, &bytes(&recorded, "request_base64"));
        let mut expected = decoded(&bytes(&recorded, "protobuf_base64"));
        let answer = decoded(answer.body());
        expected["details"]["uid"] = answer["details"]["uid"].clone();
        assert_eq!(answer, expected);
    }
}

fn with_things() -> ApiServer {
    let mut server = server();
    let definition = json!({
        "metadata": {"name": "things.pb3.example.com"},
        "spec": {
            "group": "pb3.example.com", "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                }},
            }],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let made = asked(
        &mut server,
        Request::post(definitions),
        definition.to_string().as_bytes(),
    );
    assert_eq!(made.status(), 201);
    server
}

const THINGS: &str = "/apis/pb3.example.com/v1/namespaces/pb3/things";

#[test]
fn a_custom_resource_is_not_written_as_protobuf() {
    for recorded in recordings_of(&["custom", "custom-fallback"]) {
        let mut server = with_things();
        let thing = json!({"apiVersion": "pb3.example.com/v1", "kind": "Thing",
            "metadata": {"name": "t"}, "spec": {"n": 3}});
        asked(
            &mut server,
            Request::post(THINGS),
            thing.to_string().as_bytes(),
        );
        let accept = recorded["accept"].as_str().unwrap_or(MEDIA_TYPE);
        let get = Request::get(recorded["path"].as_str().unwrap()).header(header::ACCEPT, accept);
        let answer = asked(&mut server, get, &[]);
        assert_eq!(json!(answer.status().as_u16()), recorded["status"]);
        let content_type = answer.headers()[header::CONTENT_TYPE].to_str().unwrap();
        assert_eq!(recorded["content_type"], content_type);
        if content_type == MEDIA_TYPE {
            assert_eq!(answer.body(), &bytes(&recorded, "protobuf_base64"));
        }
    }
    // Its metadata are of a built-in type.
    let mut server = with_things();
    let accept = format!("{MEDIA_TYPE};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io");
    let answer = asked(
        &mut server,
        Request::get(THINGS).header(header::ACCEPT, accept),
        &[],
    );
    assert_eq!(decoded(answer.body())["kind"], "PartialObjectMetadataList");
}

#[test]
fn a_custom_resource_is_not_read_from_protobuf() {
    let mut server = with_things();
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "t"}});
    let body = server.written_as_protobuf(&map).unwrap();
    let post = Request::post(THINGS).header(header::CONTENT_TYPE, MEDIA_TYPE);
    let answer = asked(&mut server, post, &body);
    assert_eq!(answer.status(), 400);
}

#[test]
fn a_table_in_protobuf_is_refused_in_json() {
    for recorded in recordings_of(&["Table"]) {
        let mut server = server();
        let accept = format!("{MEDIA_TYPE};as=Table;v=v1;g=meta.k8s.io");
        let get = Request::get(recorded["path"].as_str().unwrap()).header(header::ACCEPT, accept);
        let answer = asked(&mut server, get, &[]);
        assert_eq!(answer.status(), 406);
        let parsed = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
        let expected = bytes(&recorded, "protobuf_base64");
        assert_eq!(parsed(answer.body()), parsed(&expected));
        assert_eq!(answer.headers()[header::CONTENT_TYPE], "application/json");
    }
}

#[test]
fn a_watch_is_a_stream_of_frames() {
    let mut server = server();
    let collection = "/api/v1/namespaces/pb3/configmaps";
    let accept = format!("{MEDIA_TYPE};stream=watch, {MEDIA_TYPE}");
    let watch = Request::get(format!("{collection}?watch=1")).header(header::ACCEPT, accept);
    let mut watch = server.watch(&watch.body(Vec::new()).unwrap()).unwrap();
    assert_eq!(watch.media_type(), WATCH_MEDIA_TYPE);
    for name in ["a", "b"] {
        let map = json!({"metadata": {"name": name}, "data": {"k": name}}).to_string();
        asked(&mut server, Request::post(collection), map.as_bytes());
    }
    let events = watch.poll(&server);
    let written = events
        .iter()
        .flat_map(|event| watch.written(event, server.resources()));
    let mut stream: Vec<u8> = written.collect();
    for name in ["a", "b"] {
        let length = u32::from_be_bytes(stream[..4].try_into().unwrap()) as usize;
        let frame: Vec<u8> = stream.drain(..4 + length).skip(4).collect();
        // `type`, then `object`, which holds the object with its magic bytes in `raw`.
        assert_eq!(&frame[..7], b"\x0a\x05ADDED");
        let magic = frame
            .windows(4)
            .position(|bytes| bytes == b"k8s\0")
            .unwrap();
        let object = decoded(&frame[magic..]);
        assert_eq!(object["kind"], "ConfigMap");
        assert_eq!(object["data"], json!({"k": name}));
    }
    assert!(stream.is_empty());
}
