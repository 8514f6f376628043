//! What a row says of an object that its client deletes.

use optimist_client::Preset;
use optimist_diagnose::case::Case;
use optimist_diagnose::ways::{ChangeTable, OnOwned, WantedChange, Way};
use optimist_messages::diagnose::row_notes;
use serde_json::{Value, json};

fn claim(size: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "files", "namespace": "shop"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}},
            "storageClassName": "fast", "volumeMode": "Filesystem"}})
}

#[test]
fn an_object_that_a_finalizer_holds_keeps_nothing() {
    let mut live = claim("5Gi");
    live["metadata"]["uid"] = "u9".into();
    live["metadata"]["resourceVersion"] = "700".into();
    live["metadata"]["finalizers"] = json!(["kubernetes.io/pvc-protection"]);
    live["spec"]["volumeName"] = "pv1".into();
    let installed = Case::about(live).install().expect("it is installed");
    let table = ChangeTable::new(&installed, WantedChange::manifest(claim("3Gi")));
    let row = table.row(Way::Client(Preset::ArgoCdClientSide, OnOwned::Force));
    let notes = row_notes(&row.expect("a row"));
    let goes = "The client deletes the object. It goes when no finalizer holds it any more: kubernetes.io/pvc-protection.";
    assert_eq!(notes, [goes]);
}
