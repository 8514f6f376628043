//! The output of etcdctl about the keys of an API server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use optimist_apiserver::server::ApiServer;
use optimist_apiserver::storage::Revision;
use optimist_code::{Etcdctl, etcdctl_get, etcdctl_watch};
use optimist_simulation::{Start, WIDGET, World};
use serde_json::{Value, json};

const KEY: &str = "/registry/demo.example.com/widgets/default/web";

/// A server with an object of a custom resource, at revision 100.
fn server() -> ApiServer {
    let start = Start {
        manifests: WIDGET.to_owned(),
        version: Some(100),
        ..Start::default()
    };
    let (world, _) = World::from_start(start.into()).unwrap();
    world.server().clone()
}

fn write(server: &mut ApiServer, method: &str, body: &Value) {
    let path = "/apis/demo.example.com/v1/namespaces/default/widgets/web";
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/merge-patch+json")
        .body(match body {
            Value::Null => Vec::new(),
            body => body.to_string().into_bytes(),
        });
    assert!(server.handle(request.unwrap()).status().is_success());
}

fn get(server: &ApiServer, revision: Option<Revision>) -> Etcdctl {
    etcdctl_get(server.store(), KEY, revision)
}

fn watch(server: &ApiServer, revision: Revision) -> Etcdctl {
    etcdctl_watch(server.store(), KEY, revision)
}

#[test]
fn the_json_has_the_fields_of_etcd_and_the_mod_revision_is_the_resource_version() {
    let mut server = server();
    write(&mut server, "PATCH", &json!({"spec": {"size": 2}}));
    let Etcdctl { command, output } = get(&server, None);
    assert_eq!(command, format!("etcdctl get {KEY} --write-out=json"));
    assert!(output.ends_with("}\n") && output.matches('\n').count() == 1);
    let printed: Value = serde_json::from_str(&output).unwrap();
    let mut rest = output.as_str();
    for name in [
        "{\"header\":{\"cluster_id\":",
        ",\"member_id\":",
        ",\"revision\":101,",
        "\"raft_term\":",
        "},\"kvs\":[{\"key\":\"",
        ",\"create_revision\":100,",
        "\"mod_revision\":101,",
        "\"version\":2,",
        "\"value\":\"",
        "\"}],\"count\":1}",
    ] {
        rest = rest.split_once(name).expect(name).1;
    }
    assert!(!output.contains("lease"), "Go leaves out a lease of 0");
    let pair = &printed["kvs"][0];
    let revisions = ["create_revision", "mod_revision", "version"].map(|name| &pair[name]);
    assert_eq!(revisions, [100, 101, 2]);
    assert_eq!(printed["header"]["revision"], 101);
    let decoded = |name: &str| STANDARD.decode(pair[name].as_str().unwrap()).unwrap();
    assert_eq!(decoded("key"), KEY.as_bytes());
    let value: Value = serde_json::from_slice(&decoded("value")).unwrap();
    assert_eq!(value["spec"]["size"], 2);
    assert_eq!(value["metadata"].get("resourceVersion"), None);
}

#[test]
fn the_past_can_be_printed_until_it_is_compacted() {
    let mut server = server();
    write(&mut server, "PATCH", &json!({"spec": {"size": 2}}));
    write(&mut server, "DELETE", &Value::Null);
    let kvs = |output: &Etcdctl| -> Value {
        serde_json::from_str::<Value>(&output.output).unwrap()["kvs"].clone()
    };
    assert_eq!(kvs(&get(&server, None)), Value::Null);
    let old = get(&server, Some(100));
    assert!(old.command.contains(" --rev=100 "));
    assert_eq!(kvs(&old)[0]["mod_revision"], 100);
    let future = get(&server, Some(200)).output;
    assert_eq!(
        future,
        "Error: etcdserver: mvcc: required revision is a future revision\n"
    );
    server.compact(101).unwrap();
    let gone = get(&server, Some(100)).output;
    assert_eq!(
        gone,
        "Error: etcdserver: mvcc: required revision has been compacted\n"
    );
    assert_eq!(kvs(&get(&server, Some(101)))[0]["version"], 2);
}

#[test]
fn a_watch_prints_each_change_since_its_revision() {
    let mut server = server();
    write(&mut server, "PATCH", &json!({"spec": {"size": 2}}));
    write(&mut server, "DELETE", &Value::Null);
    let Etcdctl { command, output } = watch(&server, 101);
    assert_eq!(command, format!("etcdctl watch {KEY} --prefix --rev=101"));
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines.len(), 7, "{output}");
    assert_eq!((lines[0], lines[1]), ("PUT", KEY));
    assert!(lines[2].starts_with('{') && lines[2].contains("\"size\":2"));
    assert_eq!(lines[3..], ["", "DELETE", KEY, ""], "a value ends its line");
    server.compact(102).unwrap();
    assert_eq!(
        watch(&server, 101).output,
        "watch was canceled (etcdserver: mvcc: required revision has been compacted)\n\
         Error: watch is canceled by the server\n"
    );
}
