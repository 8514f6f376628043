//! The output of `etcdctl` about the keys of an API server.
//!
//! Source: `go.etcd.io/etcd` v3.6: `etcdctl/ctlv3/command` `printer_json.go` `printJSON`,
//! `printer_simple.go` `Watch`, `printKV`, `watch_command.go` `printWatchCh`; `api/mvccpb/kv.proto`
//! and `api/etcdserverpb/rpc.proto` for the names and the order of the fields, of which Go leaves
//! out those that are zero (`omitempty`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::shell::quote;
use optimist_apiserver::storage::{KeyValue, Revision, Store};

/// A command and its output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Etcdctl {
    /// The command.
    pub command: String,
    /// Standard output and standard error.
    pub output: String,
}

/// The ids of a cluster of one member that has every setting by default.
const CLUSTER_ID: u64 = 0xcdf8_1819_4e3a_8c32;
const MEMBER_ID: u64 = 0x8e9e_05c5_2164_694d;
/// The term after the first election.
const RAFT_TERM: u64 = 2;

const COMPACTED: &str = "etcdserver: mvcc: required revision has been compacted";
const FUTURE: &str = "etcdserver: mvcc: required revision is a future revision";

/// `etcdctl get KEY --write-out=json`, also at an earlier revision.
pub fn etcdctl_get(store: &Store, key: &str, revision: Option<Revision>) -> Etcdctl {
    let at = revision.map_or_else(String::new, |revision| format!(" --rev={revision}"));
    let command = format!("etcdctl get {}{at} --write-out=json", quote(key));
    let now = store.revision();
    let refused = match revision {
        Some(revision) if revision > now => Some(FUTURE),
        Some(revision) if revision < store.compacted() => Some(COMPACTED),
        _ => None,
    };
    if let Some(refused) = refused {
        let output = format!("Error: {refused}\n");
        return Etcdctl { command, output };
    }
    let found = store.key_value_at(key, revision.unwrap_or(now));
    let pairs = found.map_or_else(String::new, |found| {
        format!(",\"kvs\":[{}],\"count\":1", key_value(&found))
    });
    let output = format!("{{\"header\":{}{pairs}}}\n", header(now));
    Etcdctl { command, output }
}

/// `etcdctl watch PREFIX --prefix --rev=N`: every change since a revision.
pub fn etcdctl_watch(store: &Store, prefix: &str, revision: Revision) -> Etcdctl {
    let command = format!("etcdctl watch {} --prefix --rev={revision}", quote(prefix));
    if revision < store.compacted() {
        let output =
            format!("watch was canceled ({COMPACTED})\nError: watch is canceled by the server\n");
        return Etcdctl { command, output };
    }
    let mut output = String::new();
    for change in store.key_values(prefix) {
        if change.mod_revision < revision {
            continue;
        }
        let (event, value) = match &change.object {
            Some(object) => ("PUT", stored_value(object)),
            None => ("DELETE", String::new()),
        };
        output.push_str(&format!("{event}\n{}\n{value}\n", change.key));
    }
    Etcdctl { command, output }
}

fn header(revision: Revision) -> String {
    format!(
        "{{\"cluster_id\":{CLUSTER_ID},\"member_id\":{MEMBER_ID},\"revision\":{revision},\"raft_term\":{RAFT_TERM}}}"
    )
}

/// A key-value pair. A lease of 0 is left out.
fn key_value(of: &KeyValue) -> String {
    let value = of.object.as_deref();
    let value = STANDARD.encode(value.map_or_else(String::new, stored_value));
    format!(
        "{{\"key\":\"{}\",\"create_revision\":{},\"mod_revision\":{},\"version\":{},\"value\":\"{value}\"}}",
        STANDARD.encode(&*of.key),
        of.create_revision,
        of.mod_revision,
        of.version,
    )
}

/// The value of an object in etcd, as JSON with a line end: without its resourceVersion, which is
/// the mod revision (`k8s.io/apiserver/pkg/storage/api_object_versioner.go`
/// `PrepareObjectForStorage`). A server stores custom resources so. It stores other kinds as JSON
/// if it runs with `--storage-media-type=application/json`, else as protobuf.
pub fn stored_value(object: &Value) -> String {
    let mut object = sorted(object.clone());
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
    }
    format!("{object}\n")
}

/// With the members of every object in the order of their names, as Go writes a map.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.into_iter().collect();
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            let members = members.into_iter().map(|(key, value)| (key, sorted(value)));
            Value::Object(members.collect())
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        other => other,
    }
}
