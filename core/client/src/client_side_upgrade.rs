//! From client-side apply to server-side apply: the entries of client-side managers become part of an
//! applier's entry (`k8s.io/client-go/util/csaupgrade/upgrade.go`, v0.36).

use serde_json::{Value, json};

use optimist_apiserver::apply::ManagedFieldsOperation::{Apply, Update};
use optimist_apiserver::apply::{LAST_APPLIED, from_fields_v1, is_entry_of, to_fields_v1};
use optimist_apiserver::object::{Metadata, text};

/// The managers that own the annotation of client-side apply by an Update: those that applied in the
/// client (`FindFieldsOwners`). Sorted, each once.
pub fn client_side_managers(object: &Value) -> Vec<String> {
    let annotation = ["metadata", "annotations", LAST_APPLIED];
    let owners = object
        .managed_entries()
        .iter()
        .filter(|entry| text(entry, "operation") == "Update" && owns(entry, &annotation));
    let mut names: Vec<String> = owners
        .map(|entry| text(entry, "manager").to_owned())
        .collect();
    names.sort();
    names.dedup();
    names
}

/// The manager of `kubectl apply` without `--server-side`
/// (`k8s.io/kubectl/pkg/cmd/apply/apply.go FieldManagerClientSideApply`, v0.36).
pub const CLIENT_SIDE: &str = "kubectl-client-side-apply";

/// Returns whether an entry of `managedFields` owns a field, by the names on its path. One field is looked
/// up much faster here than in a decoded set.
pub(crate) fn owns(entry: &Value, path: &[&str]) -> bool {
    let fields = entry.get("fieldsV1");
    let field = path.iter().try_fold(fields, |fields, name| {
        Some(fields?.get(format!("f:{name}")))
    });
    let field = field.flatten().and_then(Value::as_object);
    field.is_some_and(|below| below.is_empty() || below.contains_key("."))
}

/// The JSON patch that makes the Update entries of these managers part of the Apply entry of
/// `applier`; `None` if there is nothing to change (`UpgradeManagedFieldsPatch`). It carries the
/// version of the object.
pub fn upgrade_patch(object: &Value, from: &[String], applier: &str) -> Option<Value> {
    let entries = object.managed_fields()?.as_array()?;
    let mut upgraded = entries.clone();
    for name in from {
        upgrade(&mut upgraded, name, applier);
    }
    (upgraded != *entries).then(|| {
        json!([
            {"op": "replace", "path": "/metadata/managedFields", "value": upgraded},
            {"op": "replace", "path": "/metadata/resourceVersion",
                "value": object.resource_version()},
        ])
    })
}

fn upgrade(entries: &mut Vec<Value>, name: &str, applier: &str) {
    let applied = entries
        .iter()
        .position(|it| is_entry_of(it, applier, Apply, ""));
    let updated = || {
        entries
            .iter()
            .position(|it| is_entry_of(it, name, Update, ""))
    };
    let Some(at) = applied.or_else(updated) else {
        return;
    };
    let target = &mut entries[at];
    target["manager"] = applier.into();
    target["operation"] = "Apply".into();
    let version = text(target, "apiVersion").to_owned();
    let same = |it: &&Value| is_entry_of(it, name, Update, "") && text(it, "apiVersion") == version;
    let fields = entries.iter().find(same).map(|it| it["fieldsV1"].clone());
    if let Some(fields) = fields {
        let sets = [&entries[at]["fieldsV1"], &fields].map(from_fields_v1);
        if let [Some(own), Some(other)] = sets {
            entries[at]["fieldsV1"] = to_fields_v1(&own.union(&other));
        }
    }
    entries.retain(|it| !is_entry_of(it, name, Update, ""));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(entries: &Value) -> Value {
        json!({"metadata": {"name": "web", "resourceVersion": "7", "managedFields": entries}})
    }

    fn entry(manager: &str, operation: &str, fields: Value) -> Value {
        json!({"manager": manager, "operation": operation, "apiVersion": "v1",
            "fieldsType": "FieldsV1", "fieldsV1": fields})
    }

    #[test]
    fn the_entry_of_a_client_side_manager_becomes_the_appliers() {
        let annotation = json!({"f:metadata": {"f:annotations": {
            "f:kubectl.kubernetes.io/last-applied-configuration": {}}}});
        let csa = entry("kubectl-client-side-apply", "Update", annotation.clone());
        let other = entry("hpa", "Update", json!({"f:data": {"f:b": {}}}));
        let before = object(&json!([csa, other]));
        let managers = client_side_managers(&before);
        assert_eq!(managers, ["kubectl-client-side-apply"]);
        let patch = upgrade_patch(&before, &managers, "kubectl").expect("there is something to do");
        assert_eq!(
            patch[0]["value"],
            json!([entry("kubectl", "Apply", annotation), other])
        );
        assert_eq!(patch[1]["value"], "7");
    }

    #[test]
    fn what_both_own_is_the_appliers_afterwards() {
        let own = entry("m", "Apply", json!({"f:data": {"f:a": {}}}));
        let csa = entry("m", "Update", json!({"f:data": {"f:b": {}}}));
        let patch = upgrade_patch(&object(&json!([csa, own])), &["m".to_owned()], "m");
        let both = entry("m", "Apply", json!({"f:data": {"f:a": {}, "f:b": {}}}));
        assert_eq!(
            patch.expect("there is something to do")[0]["value"],
            json!([both])
        );
        let done = object(&json!([both]));
        assert_eq!(upgrade_patch(&done, &["m".to_owned()], "m"), None);
    }
}
