//! What is said of a preview of several objects.

use optimist_apiserver::server::Release;
use optimist_client::Preset;
use optimist_diagnose::preview::{DeliveryTool, Preview, PreviewInput, PreviewOutcome};
use optimist_messages::preview::{hand_over, headline, notes, open_fields, owned_change};
use serde_json::{Value, json};

fn run(preset: Preset, live: Vec<Value>, next: Value) -> Preview {
    Preview::run(PreviewInput {
        left_out: Vec::new(),
        live,
        next: vec![next],
        earlier: None,
        tool: DeliveryTool::new(preset),
        namespace: Some("shop".to_owned()),
        release: Release::default(),
    })
}

fn deployment(replicas: u64) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "web", "image": "nginx:1"}]}}}})
}

/// An object of the cluster, with what a manager set by updates.
fn live(mut object: Value, manager: &str, fields: &Value) -> Value {
    object["metadata"]["uid"] = "u1".into();
    object["metadata"]["resourceVersion"] = "700".into();
    object["metadata"]["managedFields"] = json!([{"manager": manager, "operation": "Update",
        "apiVersion": object["apiVersion"], "fieldsType": "FieldsV1", "time": "2026-01-01T00:00:00Z",
        "fieldsV1": fields}]);
    object
}

#[test]
fn a_value_that_the_server_stores_as_another_one_is_named() {
    let preview = run(
        Preset::KubectlApplyServerSide,
        Vec::new(),
        deployment(99_999_999_999),
    );
    let row = &preview.rows[0];
    assert_eq!(row.outcome, PreviewOutcome::Created);
    let fields = open_fields(row).into_iter();
    let says: Vec<String> = fields
        .map(|it| format!("{}: {}", it.field, owned_change(it)))
        .collect();
    assert_eq!(
        says[0],
        ".spec.replicas: none → 1215752191, wants 99999999999"
    );
    assert!(
        says.len() > 1
            && says[1..]
                .iter()
                .all(|it| it.ends_with("filled in by the server")),
        "{says:?}"
    );

    let usual = run(Preset::KubectlApplyServerSide, Vec::new(), deployment(3));
    let mut fields = open_fields(&usual.rows[0]).into_iter();
    assert!(!fields.any(|it| it.field == ".spec.replicas"));
}

#[test]
fn one_object_is_not_counted() {
    let preview = run(Preset::KubectlApplyServerSide, Vec::new(), deployment(3));
    let (title, _) = headline(&preview, Preset::KubectlApplyServerSide);
    assert_eq!(title, "The object is not refused.");
}

#[test]
fn a_conflict_of_which_each_way_out_is_refused_says_why() {
    let env = |env: Value| {
        let mut object = deployment(3);
        object["spec"]["template"]["spec"]["containers"][0]["env"] = json!([env]);
        object
    };
    let item = json!({".": {}, "f:name": {}, "f:valueFrom": {".": {}, "f:fieldRef": {}}});
    let container = json!({"f:image": {}, "f:env": {".": {}, "k:{\"name\":\"NODE\"}": item}});
    let fields = json!({"f:spec": {"f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"web\"}": container}}}}});
    let from = json!({"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}});
    let object = live(env(from), "injector", &fields);
    let mut next = env(json!({"name": "NODE", "value": "a"}));
    next["spec"]["template"]["spec"]["containers"][0]["image"] = "nginx:2".into();
    for preset in [Preset::Helm4, Preset::Terraform] {
        let preview = run(preset, vec![object.clone()], next.clone());
        let row = &preview.rows[0];
        assert_eq!(row.outcome, PreviewOutcome::Conflict, "{row:?}");
        assert!(row.hand_overs.is_empty());
        let notes = notes(row);
        let says = "The API server also refuses each way out of this conflict. The first answer: ";
        let why = notes.iter().find_map(|it| it.strip_prefix(says));
        assert!(why.is_some_and(|it| it.contains("valueFrom")), "{notes:?}");
    }
}

#[test]
fn a_manifest_with_a_version_is_refused_the_second_time_and_that_is_said() {
    let settings = |value: &str| {
        json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": value},
            "metadata": {"name": "a", "namespace": "shop"}})
    };
    let object = live(settings("v"), "helm", &json!({"f:data": {"f:k": {}}}));
    let mut next = settings("v8");
    next["metadata"]["resourceVersion"] = "700".into();
    let preview = run(Preset::KubectlApplyServerSide, vec![object], next);
    let says: Vec<String> = preview.rows[0]
        .hand_overs
        .iter()
        .map(|it| hand_over(it).1)
        .collect();
    let once = "This works once. The same manifest is refused when it is applied again, because it has resourceVersion \
                700, and the object has another version then. Take metadata.resourceVersion out of the manifest.";
    assert_eq!(says.last().map(String::as_str), Some(once));
}
