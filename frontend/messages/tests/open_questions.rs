//! What the page says of a row that depends on what nobody brought, whole.

use optimist_client::Preset;
use optimist_diagnose::case::Case;
use optimist_diagnose::completions::CompletedChange;
use optimist_diagnose::ways::{OnOwned, WantedChange, Way};
use optimist_messages::diagnose::row_notes;
use serde_json::json;

#[test]
fn what_comes_after_the_other_release_is_said() {
    let entry = |operation: &str, fields| {
        json!({"manager": "helm", "operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": fields}})
    };
    let entries = [
        entry("Apply", json!({"f:a": {}})),
        entry("Update", json!({"f:a": {}, "f:b": {}})),
    ];
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "shop",
        "uid": "u", "resourceVersion": "500", "managedFields": entries}, "data": {"a": "1", "b": "2"}});
    let manifest = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "1"}});
    let installed = Case::about(object).install().expect("it is installed");
    let mut change = CompletedChange::of_input(&installed, &[], WantedChange::manifest(manifest));
    change.complete();
    let row = change.row(Way::Client(Preset::Helm4, OnOwned::Usual));
    let notes = row_notes(&row.expect("Helm can carry it"));
    let condition = "If Helm applied the last release server-side,";
    for comes in [
        "this write does not change the object.",
        "nothing happens to a.",
        "this is left behind: b.",
    ] {
        let sentence = format!("{condition} {comes}");
        assert!(notes.contains(&sentence), "{sentence}\n{notes:#?}");
    }
}
