//! Texts that chance does not make, and that are tried each time.

use optimist_apiserver::object::Metadata;
use serde_json::{Value, json};

use super::logs;
use super::pasted::{Pasted, config_map, of_message, owned, refused_manifest};

/// Returns each text once.
pub fn all() -> Vec<Pasted> {
    let mut all = watches().to_vec();
    all.extend(fights());
    all.extend(messages().map(of_message));
    all.extend(names());
    all.extend(chosen_scenes());
    let logs = [
        logs::of_autoscaler(),
        logs::of_quota(),
        logs::without_owners(logs::of_apply()),
    ];
    all.extend(logs.into_iter().map(Pasted::of_log));
    all
}

/// Watches that the server ends, and that are cut.
fn watches() -> [Pasted; 2] {
    let versions = [(5, "1"), (6, "2")].map(|(version, value)| {
        let own = owned("one", json!({"f:a": {}}));
        config_map("a", version, json!({"a": value}), own)
    });
    let events = |last: &str| {
        let lines = versions
            .iter()
            .map(|object| json!({"type": "MODIFIED", "object": object}).to_string());
        let lines: Vec<String> = lines.chain([last.to_owned()]).collect();
        Pasted {
            texts: vec![lines.join("\n")],
            live: versions.last().cloned(),
            versions: versions.to_vec(),
            objects: 1,
            events: true,
            ..Pasted::default()
        }
    };
    let error = json!({"type": "ERROR", "object": {"kind": "Status", "apiVersion": "v1", "metadata": {},
        "status": "Failure", "message": "too old resource version: 5 (900)", "reason": "Expired", "code": 410}});
    [
        events(&error.to_string()),
        events("{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Conf"),
    ]
}

/// A value that one manager corrects, and one that an autoscaler and a person change for more than a minute.
fn fights() -> [Pasted; 2] {
    let corrected = [(5, "1", "one"), (6, "2", "two"), (7, "1", "one")];
    let corrected = corrected.map(|(version, value, manager)| {
        config_map(
            "a",
            version,
            json!({"a": value}),
            owned(manager, json!({"f:a": {}})),
        )
    });
    let scaled = [(5, 3, "kubectl-edit"), (6, 7, "kube-controller-manager")];
    let again = [(7, 3, "kubectl-edit"), (8, 7, "kube-controller-manager")];
    let scaled = scaled.into_iter().chain(again).map(|(version, replicas, manager)| {
        let mut object = refused_manifest().manifest.expect("a manifest");
        object.set_meta("uid", "00000000-0000-4000-8000-00000000000c");
        object.set_meta("resourceVersion", version.to_string());
        object["spec"]["replicas"] = replicas.into();
        let mut entry = json!({"manager": manager, "operation": "Update", "apiVersion": "apps/v1",
            "time": format!("2026-01-01T00:0{version}:00Z"), "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {"f:replicas": {}}}});
        if manager == "kube-controller-manager" {
            entry["subresource"] = "scale".into();
        }
        object["metadata"]["managedFields"] = json!([entry]);
        object
    });
    let history = |versions: Vec<Value>| Pasted {
        texts: vec![versions.iter().map(|it| format!("{it}\n---\n")).collect()],
        objects: 1,
        live: versions.last().cloned(),
        versions,
        ..Pasted::default()
    };
    [history(corrected.to_vec()), history(scaled.collect())]
}

/// Messages that no recording has.
fn messages() -> impl Iterator<Item = String> {
    let modified = |of: &str| {
        format!(
            "Operation cannot be fulfilled on {of}: the object has been modified; please apply your changes to \
             the latest version and try again"
        )
    };
    let kapp = modified("deployments.apps \"web\"");
    let texts = [
        format!(
            "kapp: Error: Applying update deployment/web (apps/v1) namespace: shop:\n  Updating resource \
             deployment/web (apps/v1) namespace: shop:\n    API server says: {kapp} (reason: Conflict)"
        ),
        "Error from server (NotFound): deployments.apps \"web\" not found".to_owned(),
        // No path can have this name.
        modified("configmaps \"a/b\""),
        // The name of an IPAddress is its address, and no object with another name can be there.
        modified("ipaddresses.networking.k8s.io \"a\""),
        // An Update of a custom resource needs a version.
        modified("backups.demo.example.com \"a\""),
        // An Update of a ConfigMap needs none.
        "The ConfigMap \"a\" is invalid: metadata.resourceVersion: Invalid value: 0x0: must be specified for an update"
            .to_owned(),
    ];
    texts.into_iter()
}

/// Manifests with names that no server takes, of a message that names no object.
fn names() -> [Pasted; 2] {
    let refused = refused_manifest();
    let unnamed =
        "Apply failed with 1 conflict: conflict with \"helm\" using apps/v1: .spec.replicas";
    [("name", "Not A Name"), ("namespace", "Not_A_Namespace")].map(|(member, word)| {
        let mut manifest = refused.manifest.clone().expect("a manifest");
        manifest["metadata"][member] = word.into();
        Pasted {
            texts: vec![unnamed.to_owned(), manifest.to_string()],
            message: unnamed.to_owned(),
            manifest: Some(manifest),
            ..refused.clone()
        }
    })
}

/// Manifests beside that of a message, where the scene of the message is chosen: it comes before the manifests.
fn chosen_scenes() -> impl Iterator<Item = Pasted> {
    let all = super::pasted::unused_manifests().into_iter();
    all.map(|pasted| Pasted {
        chosen: Some(0),
        ..pasted
    })
}
