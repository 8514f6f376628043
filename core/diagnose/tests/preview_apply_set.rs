//! The parent of the ApplySet that kubectl prunes.

use crate::previewed::row;
use optimist_apiserver::server::Release;
use optimist_client::Preset;
use optimist_diagnose::preview::{DeliveryTool, Preview, PreviewInput, PreviewOutcome, Pruning};
use serde_json::{Value, json};

const ID: &str = "applyset-a-v1";

fn parent(kinds: &str, namespaces: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": "mine", "namespace": "shop", "uid": "u1", "resourceVersion": "700",
            "labels": {"applyset.kubernetes.io/id": ID},
            "annotations": {"applyset.kubernetes.io/contains-group-kinds": kinds,
                "applyset.kubernetes.io/additional-namespaces": namespaces,
                "applyset.kubernetes.io/tooling": "kubectl/v1.36.0"}}})
}

fn settings(data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "shop"}, "data": data})
}

fn run(parent: Value, next: Vec<Value>) -> Preview {
    Preview::run(PreviewInput {
        left_out: Vec::new(),
        live: vec![parent],
        next,
        earlier: None,
        tool: DeliveryTool {
            prune: Pruning::ApplySet { id: ID.to_owned() },
            ..DeliveryTool::new(Preset::KubectlApply)
        },
        namespace: Some("shop".to_owned()),
        release: Release::default(),
    })
}

/// The outcome of the parent, and the annotations that change.
fn noted(preview: &Preview) -> (PreviewOutcome, Vec<(String, Value)>) {
    let row = row(preview, "mine");
    let fields = row.fields.iter().map(|it| {
        let (_, name) = it.field.rsplit_once('/').expect("an annotation");
        (name.to_owned(), it.after.clone().expect("a value"))
    });
    (row.outcome, fields.collect())
}

#[test]
fn kubectl_notes_the_kinds_and_the_namespaces_of_the_members_in_the_parent() {
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
        "metadata": {"name": "r", "namespace": "other"}, "rules": []});
    let next = vec![role, settings(json!({"k": "v"}))];
    let (kinds, namespaces) = ("ConfigMap,Role.rbac.authorization.k8s.io", "other");
    let changed = noted(&run(parent("ConfigMap,CronJob.batch", ""), next.clone()));
    let fields = vec![
        ("contains-group-kinds".to_owned(), json!(kinds)),
        ("additional-namespaces".to_owned(), json!(namespaces)),
    ];
    assert_eq!(changed, (PreviewOutcome::Changed, fields));
    let same = noted(&run(parent(kinds, namespaces), next));
    assert_eq!(same, (PreviewOutcome::Unchanged, Vec::new()));
}

#[test]
fn kubectl_forgets_no_kind_while_an_object_is_refused() {
    let preview = run(
        parent("CronJob.batch", ""),
        vec![settings(json!({"a b": ""}))],
    );
    let fields = vec![(
        "contains-group-kinds".to_owned(),
        json!("ConfigMap,CronJob.batch"),
    )];
    assert_eq!(noted(&preview), (PreviewOutcome::Changed, fields));
}

#[test]
fn a_secret_that_is_no_parent_is_not_touched() {
    let mut other = parent("", "");
    other["metadata"]["labels"] = json!({"applyset.kubernetes.io/id": "applyset-b-v1"});
    let preview = run(other, vec![settings(json!({"k": "v"}))]);
    assert_eq!(noted(&preview), (PreviewOutcome::NotTouched, Vec::new()));
}
