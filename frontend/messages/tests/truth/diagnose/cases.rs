//! Writes that chance does not reach: an object, what somebody writes, and the messages of which no
//! object is there.

use optimist_apiserver::object::Metadata;
use optimist_diagnose::case::{Case, Installed};
use optimist_diagnose::input::{Input, detect};
use optimist_diagnose::ways::{ReleaseMethod, WantedChange};
use serde_json::{Value, json};

const DEPLOYMENT: &str = include_str!("../../../../../core/diagnose/tests/live/deployment.yaml");
const BACKUP: &str = include_str!("../../../../../core/diagnose/tests/live/backup.yaml");
const BUDGET: &str =
    include_str!("../../../../../core/diagnose/tests/live/poddisruptionbudget.yaml");

/// An object, and what somebody writes.
pub struct WriteCase {
    pub installed: Installed,
    pub change: WantedChange,
}

impl WriteCase {
    fn new(live: Value, manifest: Value) -> Self {
        Self {
            installed: Case::about(live).install().expect("it is installed"),
            change: WantedChange {
                last_release: ReleaseMethod::ServerSide,
                ..WantedChange::manifest(manifest)
            },
        }
    }
}

fn live(text: &str) -> Value {
    match detect(text) {
        Ok(Input::Live(object)) => object,
        other => panic!("no live object: {other:?}"),
    }
}

/// A manifest of what an object says, without what only the server sets.
fn manifest(object: &Value) -> Value {
    let mut bare = optimist_client::bare(object);
    if let Some(members) = bare.as_object_mut() {
        members.remove("status");
    }
    bare.metadata_mut().remove("annotations");
    bare
}

fn with(mut object: Value, change: impl FnOnce(&mut Value)) -> Value {
    change(&mut object);
    object
}

fn config_map(data: Value, entries: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "shop",
        "uid": "00000000-0000-4000-8000-00000000000a", "resourceVersion": "500", "managedFields": entries},
        "data": data})
}

fn entry(manager: &str, operation: &str, version: &str, fields: Value) -> Value {
    json!({"manager": manager, "operation": operation, "apiVersion": version, "fieldsType": "FieldsV1",
        "fieldsV1": fields, "time": "2026-01-01T00:00:00Z"})
}

/// An object of a kind of a few fields, of which one cannot change.
pub fn controller_revision() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": "web-1",
        "namespace": "shop", "uid": "00000000-0000-4000-8000-0000000000ff", "resourceVersion": "5",
        "managedFields": []}, "data": {"greeting": "hello"}, "revision": 1})
}

/// An object that client-side apply wrote, with a value that the manifest does not have any more, and one
/// that somebody else has changed since.
fn migrated() -> WriteCase {
    let (live, manifest) = migrated_parts();
    WriteCase::new(live, manifest)
}

fn migrated_parts() -> (Value, Value) {
    let written = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "shop"},
        "data": {"a": "1", "b": "1", "c": "1"}});
    let own = json!({"f:metadata": {"f:annotations": {".": {},
        "f:kubectl.kubernetes.io/last-applied-configuration": {}}},
        "f:data": {".": {}, "f:a": {}, "f:c": {}}});
    let mut live = config_map(
        json!({"a": "1", "b": "2", "c": "1"}),
        json!([
            entry("kubectl-client-side-apply", "Update", "v1", own),
            entry("operator", "Update", "v1", json!({"f:data": {"f:b": {}}}))
        ]),
    );
    live["metadata"]["annotations"] =
        json!({"kubectl.kubernetes.io/last-applied-configuration": format!("{written}\n")});
    (
        live,
        with(written, |it| it["data"] = json!({"a": "1", "b": "1"})),
    )
}

/// The same object, where a field of client-side apply has another value than the annotation and the manifest.
fn changed_after_client_side() -> WriteCase {
    let (live, manifest) = migrated_parts();
    WriteCase::new(
        with(live, |it| it["data"]["a"] = "01".into()),
        with(manifest, |it| it["data"]["a"] = "9".into()),
    )
}

/// An object of client-side apply, whose new manifest leaves a value to the default of the server.
fn left_to_the_default() -> WriteCase {
    let said = |spec: Value| {
        json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "web", "namespace": "shop"}, "spec": spec})
    };
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"});
    let written = said(json!({"maxReplicas": 10, "minReplicas": 2, "scaleTargetRef": target}));
    let next = said(json!({"maxReplicas": 12, "scaleTargetRef": target}));
    let own = json!({"f:metadata": {"f:annotations": {".": {},
        "f:kubectl.kubernetes.io/last-applied-configuration": {}}},
        "f:spec": {"f:maxReplicas": {}, "f:minReplicas": {}, "f:scaleTargetRef": {}}});
    let live = with(written.clone(), |it| {
        it["metadata"]["uid"] = "00000000-0000-4000-8000-00000000000b".into();
        it["metadata"]["resourceVersion"] = "500".into();
        it["metadata"]["annotations"] =
            json!({"kubectl.kubernetes.io/last-applied-configuration": format!("{written}\n")});
        let version = "autoscaling/v2";
        it["metadata"]["managedFields"] =
            json!([entry("kubectl-client-side-apply", "Update", version, own)]);
    });
    WriteCase::new(live, next)
}

/// A manifest that names a version which is not the stored one.
fn old_version() -> WriteCase {
    let live = config_map(
        json!({"a": "1"}),
        json!([entry(
            "operator",
            "Update",
            "v1",
            json!({"f:data": {"f:a": {}}})
        )]),
    );
    let next = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "shop", "resourceVersion": "499"}, "data": {"a": "2"}});
    WriteCase::new(live, next)
}

/// An object of which a manager owns a field twice: it updated it in two versions of the API.
fn two_versions() -> WriteCase {
    let said = |most: u32| {
        json!({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "web", "namespace": "shop"}, "spec": {"maxReplicas": most, "minReplicas": 2,
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}})
    };
    let own = |version: &str| {
        let fields = json!({"f:spec": {"f:maxReplicas": {}}});
        entry("operator", "Update", version, fields)
    };
    let live = with(said(10), |it| {
        it["metadata"]["uid"] = "00000000-0000-4000-8000-00000000000d".into();
        it["metadata"]["resourceVersion"] = "500".into();
        it["metadata"]["managedFields"] = json!([own("autoscaling/v1"), own("autoscaling/v2")]);
    });
    WriteCase::new(live, said(12))
}

/// Objects that Argo CD with force deletes, to create them again: a finalizer holds the one, and the grace period of its
/// containers the other.
fn deleted_by_force() -> [WriteCase; 2] {
    let held = with(config_map(json!({"a": "1"}), json!([])), |it| {
        it["immutable"] = true.into();
        it["metadata"]["finalizers"] = json!(["example.com/held"]);
    });
    let changed = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "shop"},
        "immutable": true, "data": {"a": "2"}});
    let pod = |command: &str| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"nodeName": "node-1", "terminationGracePeriodSeconds": 30,
                "containers": [{"name": "app", "image": "example:1", "command": [command]}]}})
    };
    let running = with(pod("serve"), |it| {
        it["metadata"]["uid"] = "00000000-0000-4000-8000-00000000000c".into();
        it["metadata"]["resourceVersion"] = "500".into();
        it["metadata"]["managedFields"] = json!([]);
    });
    [
        WriteCase::new(held, changed),
        WriteCase::new(running, pod("run")),
    ]
}

/// Each case once.
pub fn writes() -> Vec<WriteCase> {
    let deployment = live(DEPLOYMENT);
    let same = manifest(&deployment);
    // A field that an autoscaler scales, and one that no release knows.
    let scaled = with(same.clone(), |it| it["spec"]["replicas"] = 3.into());
    let unknown = with(same.clone(), |it| it["spec"]["noSuchField"] = 1.into());
    // A selector cannot change, and no new object can have it beside these labels.
    let immutable = with(same.clone(), |it| {
        it["spec"]["selector"] = json!({"matchLabels": {"app": "other"}})
    });
    let backup = live(BACKUP);
    let budget = live(BUDGET);
    let other = |object: &Value| {
        with(manifest(object), |it| {
            it["metadata"]["labels"]["team"] = "one".into()
        })
    };
    // Who wrote as helm by Update, when Helm applied client-side; an operator changed the value since.
    let fields = |name: &str| json!({"f:data": {format!("f:{name}"): {}}});
    let former = config_map(
        json!({"a": "1", "b": "1"}),
        json!([
            entry("helm", "Update", "v1", fields("a")),
            entry("operator", "Update", "v1", fields("b"))
        ]),
    );
    let of_release = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "shop"},
        "data": {"a": "2", "b": "2"}});
    let mut client_side = WriteCase::new(former, of_release);
    client_side.change.last_release = ReleaseMethod::ClientSide;
    let mut all = vec![
        WriteCase::new(deployment.clone(), same),
        WriteCase::new(deployment.clone(), scaled),
        WriteCase::new(deployment.clone(), unknown),
        WriteCase::new(deployment, immutable),
        WriteCase::new(backup.clone(), other(&backup)),
        WriteCase::new(budget.clone(), other(&budget)),
        client_side,
        WriteCase::new(
            controller_revision(),
            with(manifest(&controller_revision()), |it| {
                it["revision"] = 2.into()
            }),
        ),
        migrated(),
        changed_after_client_side(),
        left_to_the_default(),
        old_version(),
        two_versions(),
    ];
    all.extend(deleted_by_force());
    all
}

/// Messages of refused applies. What they leave out is made up.
pub fn messages() -> Vec<String> {
    let kubectl = |conflict: &str| {
        format!(
            "error: Apply failed with 1 conflict: conflict with {conflict}\nPlease review the fields above"
        )
    };
    let helm = |object: &str, conflict: &str| {
        format!(
            "Error: UPGRADE FAILED: conflict occurred while applying object {object}: Apply failed with 1 \
             conflict: conflict with {conflict}"
        )
    };
    vec![
        kubectl("\"kubectl-client-side-apply\" using apps/v1: .spec.replicas"),
        kubectl("\"before-first-apply\" using v1: .data.a"),
        helm(
            "shop/web apps/v1, Kind=Deployment",
            "\"helm\" using apps/v1: .spec.replicas",
        ),
        helm("shop/a /v1, Kind=ConfigMap", "\"helm\" using v1: .data.a"),
        helm(
            "shop/web batch/v1, Kind=Job",
            "\"operator\" using batch/v1: .spec.template.spec.containers[name=\"a\"].image",
        ),
        helm(
            "shop/web /v1, Kind=Service",
            "\"operator\" using v1: .spec.clusterIP",
        ),
        // A false one is no value in the object.
        helm(
            "shop/web /v1, Kind=Service",
            "\"operator\" using v1: .spec.publishNotReadyAddresses",
        ),
        helm(
            "shop/web apps/v1, Kind=Deployment",
            "\"operator\" using apps/v1: .spec.paused",
        ),
        // A new object has none, whatever its manifest says.
        helm(
            "shop/web apps/v1, Kind=Deployment",
            "\"operator\": .metadata.deletionGracePeriodSeconds",
        ),
    ]
}
