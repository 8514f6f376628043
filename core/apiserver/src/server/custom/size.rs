//! The maximum size of an object: it must fit into one request to etcd
//! (`k8s.io/apiserver/pkg/storage/etcd3/store.go`, `isTooLargeError` of the handlers).
//!
//! Built-in kinds are stored as protobuf, whose size nothing here could tell.

use serde_json::Value;

use crate::go;
use crate::object::Metadata;
use crate::status::{Refusal, Status};
use crate::storage::Revision;

/// The largest request that the client sends (`clientv3.defaultMaxCallSendMsgSize`).
const MAX_SENT: usize = 2 * 1024 * 1024;

/// The largest request that the server takes (`embed.DefaultMaxRequestBytes`).
const MAX_TAKEN: usize = 3 * 512 * 1024;

/// The bytes that the server adds before it compares: a header with the number of the request.
const ADDED: usize = 18;

/// Makes an object fit by leaving out its owners, if that is enough.
///
/// # Errors
/// The error of etcd or of its client, if the object does not fit.
pub(in crate::server) fn fit(
    key: &str,
    expected: Revision,
    object: &mut Value,
) -> Result<(), Refusal> {
    let is_small = key.len() + max_json_size(object) < MAX_TAKEN / 2;
    if is_small || refused(transaction(key, expected, object)).is_none() {
        return Ok(());
    }
    object.metadata_mut().remove("managedFields");
    match refused(transaction(key, expected, object)) {
        None => Ok(()),
        Some(error) => Err(Status::internal(error)),
    }
}

fn refused(size: usize) -> Option<String> {
    if size > MAX_SENT {
        Some(format!(
            "rpc error: code = ResourceExhausted desc = trying to send message larger than max \
             ({size} vs. {MAX_SENT})"
        ))
    } else if size + ADDED > MAX_TAKEN {
        Some("etcdserver: request is too large".to_owned())
    } else {
        None
    }
}

/// The size of the transaction: if the key has the expected revision, put; on an update, else get.
fn transaction(key: &str, expected: Revision, object: &Value) -> usize {
    let mut stored = object.clone();
    // The version is not stored: etcd has it with the key.
    stored.metadata_mut().remove("resourceVersion");
    let value = go::json(&stored).len() + 1;
    let compare = 2 + field(key.len()) + 1 + varint(expected);
    let put = field(field(key.len()) + field(value));
    let get = if expected == 0 {
        0
    } else {
        field(field(field(key.len())))
    };
    field(compare) + field(put) + get
}

/// The size that an object does not exceed as JSON: a byte of a text becomes six at most.
fn max_json_size(object: &Value) -> usize {
    const LONGEST_NUMBER: usize = 400;
    let text = |text: &str| 3 + 6 * text.len();
    match object {
        Value::Null | Value::Bool(_) => 6,
        Value::Number(_) => LONGEST_NUMBER,
        Value::String(string) => text(string),
        Value::Array(items) => {
            2 + items
                .iter()
                .map(|item| 1 + max_json_size(item))
                .sum::<usize>()
        }
        Value::Object(members) => {
            let members = members.iter();
            let sizes = members.map(|(name, member)| text(name) + 1 + max_json_size(member));
            2 + sizes.sum::<usize>()
        }
    }
}

/// The size of a protobuf field with its tag and length, in bytes.
fn field(size: usize) -> usize {
    1 + varint(size as u64) + size
}

fn varint(n: u64) -> usize {
    let bits = 64 - (n | 1).leading_zeros() as usize;
    bits.div_ceil(7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn backup(length: usize) -> Value {
        json!({
            "apiVersion": "demo.example.com/v1", "kind": "Backup",
            "metadata": {
                "creationTimestamp": "2025-01-01T00:00:00Z", "generation": 1, "name": "big",
                "namespace": "n234567890123456", "uid": "11111111-2222-3333-4444-555555555555",
                "managedFields": [{"manager": "A"}],
            },
            "spec": {"schedule": "x".repeat(length)},
        })
    }

    #[test]
    fn what_is_too_large_is_refused_by_the_client_or_by_etcd() {
        let key = "/registry/demo.example.com/backups/n234567890123456/big";
        let fit = |length| fit(key, 0, &mut backup(length)).map_err(|refusal| refusal.message);
        assert_eq!(
            fit(2_097_152).unwrap_err(),
            "rpc error: code = ResourceExhausted desc = trying to send message larger than max \
             (2097523 vs. 2097152)"
        );
        assert_eq!(
            fit(1_677_000).unwrap_err(),
            "etcdserver: request is too large"
        );
        assert_eq!(fit(1_400_000), Ok(()));
    }

    #[test]
    fn no_object_is_larger_than_its_bound() {
        let texts = ["", "a", "<>&\u{2028}\u{1}\"\\é", "plain"];
        for text in texts {
            let mut object = json!({"a": [1, -2.5e300, null, true, false, {}], "b": {"c": [[]]}});
            object[text] = text.into();
            assert!(
                go::json(&object).len() <= max_json_size(&object),
                "{object}"
            );
        }
    }

    #[test]
    fn ownership_gives_way_to_content() {
        let mut object = backup(1_572_475);
        fit("/registry/k", 0, &mut object).unwrap();
        assert!(object.metadata().unwrap().get("managedFields").is_some());
        let mut object = backup(1_572_480);
        object["metadata"]["managedFields"] = json!(["x".repeat(200)]);
        fit("/registry/k", 0, &mut object).unwrap();
        assert!(object.metadata().unwrap().get("managedFields").is_none());
    }
}
