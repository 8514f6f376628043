//! The phases and waves of Argo CD in a preview.

use optimist_apiserver::server::Release;
use optimist_client::Preset;
use optimist_diagnose::preview::{
    DeliveryTool, Preview, PreviewInput, PreviewOutcome, PreviewRun, Trouble,
};
use serde_json::{Value, json};

fn object(kind: &str, name: &str, wave: &str) -> Value {
    let version = match kind {
        "ClusterRole" => "rbac.authorization.k8s.io/v1",
        "Widget" => "example.com/v1",
        "PriorityClass" => "scheduling.k8s.io/v1",
        _ => "v1",
    };
    let mut object = json!({"apiVersion": version, "kind": kind, "metadata": {"name": name,
        "annotations": {"argocd.argoproj.io/sync-wave": wave}}});
    if matches!(kind, "ConfigMap" | "Widget") {
        object["metadata"]["namespace"] = "shop".into();
    }
    object
}

fn definition(wave: &str) -> Value {
    let mut definition = object("CustomResourceDefinition", "widgets.example.com", wave);
    definition["apiVersion"] = "apiextensions.k8s.io/v1".into();
    definition["spec"] = json!({"group": "example.com", "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]});
    definition
}

/// A ConfigMap that the server refuses.
fn wrong(wave: &str) -> Value {
    let mut object = object("ConfigMap", "wrong", wave);
    object["data"] = json!({"a/b": "1"});
    object
}

fn input(next: Vec<Value>, namespace: Option<&str>) -> PreviewInput {
    PreviewInput {
        left_out: Vec::new(),
        live: Vec::new(),
        next,
        earlier: None,
        tool: DeliveryTool::new(Preset::ArgoCdServerSide),
        namespace: namespace.map(str::to_owned),
        release: Release::default(),
    }
}

/// The names of objects in the order of the writes.
fn order(next: Vec<Value>, namespace: Option<&str>) -> Vec<String> {
    let mut run = PreviewRun::new(input(next, namespace));
    while run.advance() {}
    let rows = run.rows().iter();
    rows.map(|row| row.object.name.clone()).collect()
}

/// Returns whether Argo CD comes to an object before it stops because another one is refused.
fn is_reached(next: Vec<Value>, name: &str) -> bool {
    let preview = Preview::run(input(next, Some("apps")));
    let mut rows = preview.rows.iter();
    let row = rows.find(|row| row.object.name == name).expect(name);
    match row.outcome {
        PreviewOutcome::Created => {
            assert!(row.troubles.contains(&Trouble::DoneBeforeStop), "{row:?}");
            true
        }
        PreviewOutcome::NotReached => false,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_namespace_gets_the_wave_of_the_first_object_in_it() {
    let space = |wave| object("Namespace", "shop", wave);
    let first = || object("ConfigMap", "first", "-1");
    // It names a later wave, and is written before the object all the same.
    let next = vec![space("3"), wrong("0"), first()];
    assert_eq!(order(next.clone(), None), ["shop", "first", "wrong"]);
    assert!(is_reached(next, "shop"));
    // It names the wave of what is refused, or a later one, and nothing needs it before.
    assert!(is_reached(vec![space("0"), wrong("0")], "shop"));
    assert!(is_reached(vec![space("3"), wrong("0")], "shop"));
    // Nothing is in it: it stays in its wave.
    let other = object("Namespace", "other", "3");
    assert!(!is_reached(vec![other, wrong("0")], "other"));
    // It comes before by itself: it stays in its wave, which is over before the object.
    let next = vec![first(), space("-5"), object("ConfigMap", "second", "-2")];
    assert_eq!(order(next, None), ["shop", "second", "first"]);
}

#[test]
fn a_namespace_gets_the_phase_of_a_hook_in_it() {
    let mut hook = object("ConfigMap", "hook", "7");
    hook["metadata"]["annotations"]["argocd.argoproj.io/hook"] = "PreSync".into();
    let next = vec![object("Namespace", "shop", "9"), wrong("-3"), hook.clone()];
    assert_eq!(order(next.clone(), None), ["shop", "hook", "wrong"]);
    assert!(is_reached(next, "shop"));
    // A hook after the sync needs it later than the object.
    hook["metadata"]["annotations"]["argocd.argoproj.io/hook"] = "PostSync".into();
    let next = vec![object("Namespace", "shop", "9"), hook, wrong("-3")];
    assert_eq!(order(next, None), ["shop", "wrong", "hook"]);
}

#[test]
fn a_definition_gets_the_wave_of_the_first_object_of_its_kind() {
    let next = || vec![definition("4"), wrong("1"), object("Widget", "gear", "0")];
    assert_eq!(
        order(next(), None),
        ["widgets.example.com", "gear", "wrong"]
    );
    assert!(is_reached(next(), "widgets.example.com"));
    assert!(is_reached(next(), "gear"));
    let next = vec![definition("4"), wrong("1")];
    assert!(!is_reached(next, "widgets.example.com"));
    // The definition needs the namespace of the application, too, as every object without a namespace does.
    let next = || {
        vec![
            object("Namespace", "apps", "5"),
            object("ClusterRole", "reader", "-2"),
            wrong("0"),
        ]
    };
    assert_eq!(order(next(), Some("apps")), ["apps", "reader", "wrong"]);
    assert_eq!(order(next(), None), ["reader", "wrong", "apps"]);
}

#[test]
fn a_wave_is_written_by_kind_and_by_name() {
    let next = vec![
        object("PriorityClass", "class", "0"),
        object("ConfigMap", "b", "0"),
        object("ClusterRole", "role", "0"),
        object("ConfigMap", "a", "0"),
        object("ClusterRole", "early", "-1"),
    ];
    assert_eq!(order(next, None), ["early", "a", "b", "role", "class"]);
}
