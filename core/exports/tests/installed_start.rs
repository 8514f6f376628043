//! A history that begins with an installed object, as a link and as a script.

use std::sync::Arc;

use optimist_exports::script;
use optimist_links::Session;
use optimist_simulation::{Action, ActorId, HistoryTree, Operation, Start, World};

const LIVE: &str = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a",
    "namespace": "shop", "uid": "5a2852e1-a0bf-4bee-9f1d-f19014a84fb8", "resourceVersion": "4711",
    "creationTimestamp": "2026-11-22T06:00:00Z", "managedFields": [{"manager": "it's",
        "operation": "Apply", "apiVersion": "v1", "time": "2026-11-22T06:00:00Z",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:k": {}}}}]}, "data": {"k": "v"}}"#;

fn tree() -> HistoryTree {
    let start = Start {
        installed: true,
        ..Start::with(LIVE)
    };
    let (world, dropped) = World::from_start(Arc::new(start)).expect("it is installed");
    assert!(dropped.is_empty());
    let mut tree = HistoryTree::new(world);
    tree.act(Operation::Act(ActorId::A, Action::Get));
    tree
}

#[test]
fn a_link_installs_the_object_again() {
    let tree = tree();
    let (version, _) = tree.world().stored().expect("it is stored");
    assert_eq!(version, 4711);
    let session = Session::from_tree(&tree);
    let again = Session::parse(&session.to_text()).expect("it is a link");
    assert_eq!(again.to_text(), session.to_text());
    let again = again.replay().finish().expect("it can be replayed");
    assert_eq!(again.world().stored(), tree.world().stored());
}

#[test]
fn a_script_creates_the_object_and_gives_it_its_owners() {
    let script = script(&tree());
    assert!(script.contains("kubectl create"), "{script}");
    let manifest = script.split("EOF").nth(1).expect("there is a manifest");
    for field in [
        "uid",
        "resourceVersion",
        "managedFields",
        "creationTimestamp",
    ] {
        assert!(!manifest.contains(field), "{field}: {manifest}");
    }
    let patch = script
        .lines()
        .find(|line| line.starts_with("kubectl patch"));
    let patch = patch.expect("there is a patch of the owners");
    assert!(patch.starts_with("kubectl patch 'configmap' 'a' -n 'shop' --type=json -p '[{"));
    assert!(patch.contains(r#""manager":"it'\''s""#), "{patch}");
}
