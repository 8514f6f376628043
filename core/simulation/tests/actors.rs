//! Actors: every write method, retries after a conflict, and several objects.

use optimist_apiserver::apply::Path;
use optimist_client::{Declares, OnConflict, Strategy, Subresource, Write};
use optimist_simulation::verdict::Verdict;
use optimist_simulation::{
    Action, ActorId, ByHand, DeletionMark, ExplanationKind, HistoryTree, NGINX, NodeId, ObjectRef,
    Operation, Outcome, Preconditions, Start, Step, World,
};
use serde_json::{Value, json};

use ActorId::{A, B};

fn session(manifests: &str) -> HistoryTree {
    HistoryTree::new(World::load(manifests).unwrap().0)
}

fn act(tree: &mut HistoryTree, actor: ActorId, action: Action) -> NodeId {
    tree.act(Operation::Act(actor, action)).unwrap()
}

fn edit(tree: &mut HistoryTree, actor: ActorId, pointer: &str, value: Value) {
    let copy = tree.world_mut().copy_mut(actor);
    let mut object = (**copy.edited().unwrap()).clone();
    *object.pointer_mut(pointer).unwrap() = value;
    copy.edit(object);
}

fn step(tree: &HistoryTree, node: NodeId) -> &Step {
    tree.step(node).unwrap()
}

fn sent(tree: &HistoryTree, node: NodeId) -> (String, String, Value) {
    let exchange = step(tree, node).exchange.as_ref().unwrap();
    let sent = Value::clone(&exchange.sent);
    (exchange.method.to_string(), exchange.target.clone(), sent)
}

fn code(tree: &HistoryTree, node: NodeId) -> u16 {
    step(tree, node).exchange.as_ref().unwrap().code
}

fn replicas(tree: &HistoryTree) -> &Value {
    &tree.world().stored().unwrap().1["spec"]["replicas"]
}

/// A has read version 100 and wants 5 replicas. B has written since.
fn b_was_faster() -> HistoryTree {
    let mut tree = session(NGINX);
    act(&mut tree, A, Action::Get);
    act(&mut tree, B, Action::Get);
    edit(&mut tree, A, "/spec/replicas", json!(5));
    edit(&mut tree, B, "/metadata/labels/app", json!("web"));
    act(&mut tree, B, Action::Send(Write::default()));
    tree
}

fn update_with(on_conflict: OnConflict) -> Action {
    Action::Send(Write {
        on_conflict,
        ..Write::default()
    })
}

fn line(tree: &HistoryTree) -> Vec<String> {
    let line = tree.current_path();
    let steps = line.iter().filter_map(|&node| tree.step(node));
    steps
        .map(|step| format!("{} {}", step.operation, step.status_line()))
        .collect()
}

/// A request by hand with a JSON patch of the container.
fn patched(operation: &Value) -> Action {
    Action::Request(ByHand {
        method: "PATCH".to_owned(),
        target: "/apis/apps/v1/namespaces/default/deployments/nginx-deployment".to_owned(),
        content_type: "application/json-patch+json".to_owned(),
        body: json!([operation]).to_string(),
    })
}

#[test]
fn an_item_that_moves_in_a_list_without_keys_is_not_lost() {
    let args = "/spec/template/spec/containers/0/args";
    let mut tree = session(NGINX);
    act(&mut tree, A, Action::Get);
    let container = tree.world_mut().copy_mut(A);
    let mut object = (**container.edited().unwrap()).clone();
    object
        .pointer_mut("/spec/template/spec/containers/0")
        .unwrap()["args"] = json!(["-q", "-c"]);
    container.edit(object);
    act(&mut tree, A, Action::Send(Write::default()));
    edit(&mut tree, A, &format!("{args}/1"), json!("-v"));
    act(&mut tree, A, Action::Send(Write::default()));
    let add = json!({"op": "add", "path": format!("{args}/0"), "value": "-x"});
    act(&mut tree, B, patched(&add));
    assert_eq!(tree.world().verdict(), Verdict::InObject);
    let overwrite = json!({"op": "replace", "path": format!("{args}/2"), "value": "-w"});
    act(&mut tree, ActorId::C, patched(&overwrite));
    assert_eq!(tree.world().verdict(), Verdict::Lost);
    let losses = tree.world().updates().losses();
    assert_eq!(losses[0].edit.value, Some(json!("-v")));
    assert!(losses[0].blind, "C meant to change it");
}

#[test]
fn an_apply_with_force_says_so_in_its_label() {
    let mut tree = b_was_faster();
    let label = |tree: &mut HistoryTree, force| {
        let write = Write {
            force,
            ..Write::usual(Strategy::Apply)
        };
        let node = act(tree, A, Action::Send(write));
        step(tree, node).headline().to_string()
    };
    assert_eq!(label(&mut tree, false), "APPLY replicas 3→5");
    assert_eq!(label(&mut tree, true), "APPLY replicas 3→5 · force");
}

#[test]
fn who_saw_another_item_in_a_list_without_keys_was_not_shown_the_new_one() {
    let args = "/spec/template/spec/containers/0/args";
    let to = |value: Value| patched(&json!({"op": "add", "path": args, "value": value}));
    let mut tree = session(NGINX);
    act(&mut tree, B, to(json!(["-q"])));
    act(&mut tree, A, Action::Get);
    act(&mut tree, ActorId::C, Action::Get);
    act(&mut tree, B, to(json!(["-v"])));
    edit(&mut tree, A, args, json!(["-q", "-v"]));
    let unversioned = Write {
        send_resource_version: false,
        ..Write::default()
    };
    act(&mut tree, A, Action::Send(unversioned));
    act(&mut tree, ActorId::C, to(json!(["-q"])));
    let losses = tree.world().updates().losses().iter();
    let lost: Vec<_> = losses.map(|loss| (loss.owner, loss.culprit)).collect();
    assert_eq!(lost, [(B, ActorId::C), (A, ActorId::C)]);
}

#[test]
fn each_strategy_keeps_its_options_while_another_is_chosen() {
    let mut tree = session(NGINX);
    let actor = tree.world_mut().actor_mut(A);
    actor.set_write(Write {
        send_resource_version: true,
        ..Write::usual(Strategy::MergePatch)
    });
    actor.set_write(Write {
        force: true,
        ..Write::usual(Strategy::Apply)
    });
    actor.choose(Strategy::MergePatch);
    assert!(actor.write().send_resource_version);
    actor.choose(Strategy::JsonPatch);
    assert_eq!(actor.write(), Write::usual(Strategy::JsonPatch));
    actor.choose(Strategy::Apply);
    assert!(actor.write().force);
    assert!(tree.world().actor(B).write().send_resource_version);
}

#[test]
fn every_strategy_stores_the_edit_if_no_other_actor_writes() {
    for strategy in Strategy::ALL {
        let mut tree = session(NGINX);
        act(&mut tree, A, Action::Get);
        edit(&mut tree, A, "/spec/replicas", json!(5));
        let write = Write {
            force: strategy == Strategy::Apply,
            ..Write::usual(strategy)
        };
        let node = act(&mut tree, A, Action::Send(write));
        assert_eq!(
            step(&tree, node).outcome(),
            Outcome::Written,
            "{strategy:?}"
        );
        assert_eq!(replicas(&tree), 5, "{strategy:?}");
    }
}

#[test]
fn with_a_version_every_strategy_but_json_patch_is_refused_as_a_conflict_when_it_is_stale() {
    for strategy in Strategy::ALL {
        let mut tree = b_was_faster();
        let write = Write {
            send_resource_version: true,
            force: strategy == Strategy::Apply,
            ..Write::usual(strategy)
        };
        let node = act(&mut tree, A, Action::Send(write));
        let refused = if strategy == Strategy::JsonPatch {
            422
        } else {
            409
        };
        assert_eq!(code(&tree, node), refused, "{strategy:?}");
    }
}

#[test]
fn a_json_patch_tests_the_values_it_replaces_if_wanted() {
    let mut tree = session(NGINX);
    act(&mut tree, A, Action::Get);
    edit(&mut tree, A, "/spec/replicas", json!(5));
    let write = Write {
        test_values: true,
        ..Write::usual(Strategy::JsonPatch)
    };
    let node = act(&mut tree, A, Action::Send(write));
    assert_eq!(
        sent(&tree, node).2,
        json!([
            {"op": "test", "path": "/spec/replicas", "value": 3},
            {"op": "replace", "path": "/spec/replicas", "value": 5},
        ])
    );
}

#[test]
fn who_gives_up_sends_once() {
    let mut tree = b_was_faster();
    act(&mut tree, A, update_with(OnConflict::GiveUp));
    assert_eq!(line(&tree)[3..], ["send 409 Conflict"]);
}

#[test]
fn who_reads_again_redoes_the_edit_and_each_attempt_is_a_step() {
    let mut tree = b_was_faster();
    act(&mut tree, A, update_with(OnConflict::ReadAgain(5)));
    assert_eq!(
        line(&tree)[3..],
        ["send 409 Conflict", "GET 200 OK", "send 200 OK"]
    );
    let (_, object) = tree.world().stored().unwrap();
    assert_eq!(object["spec"]["replicas"], 5);
    assert_eq!(object["metadata"]["labels"]["app"], "web");
}

#[test]
fn who_sends_the_same_again_is_refused_every_time() {
    let mut tree = b_was_faster();
    act(&mut tree, A, update_with(OnConflict::Resend(4)));
    assert_eq!(line(&tree)[3..], ["send 409 Conflict"; 4]);
    assert_eq!(replicas(&tree), 3);
}

#[test]
fn what_is_no_conflict_is_not_retried() {
    let mut tree = session(NGINX);
    act(&mut tree, A, Action::Get);
    edit(&mut tree, A, "/spec/replicas", json!(-1));
    act(&mut tree, A, update_with(OnConflict::ReadAgain(5)));
    assert_eq!(line(&tree)[1..], ["send 422 Invalid"]);
}

#[test]
fn who_reads_again_what_is_gone_stops_there() {
    let mut tree = b_was_faster();
    act(&mut tree, A, Action::Delete(Preconditions::default()));
    let patient = Write {
        on_conflict: OnConflict::ReadAgain(5),
        ..Write::default()
    };
    act(&mut tree, A, Action::Send(patient));
    assert_eq!(line(&tree).last().unwrap(), "send 404 NotFound");
}

#[test]
fn scale_and_status_have_addresses_of_their_own() {
    let mut tree = session(NGINX);
    act(&mut tree, A, Action::Get);
    edit(&mut tree, A, "/spec/replicas", json!(7));
    let scale = Write {
        subresource: Some(Subresource::Scale),
        ..Write::default()
    };
    let node = act(&mut tree, A, Action::Send(scale));
    let (method, target, body) = sent(&tree, node);
    assert_eq!(method, "PUT");
    assert!(target.ends_with("/nginx-deployment/scale"), "{target}");
    assert_eq!(body["kind"], "Scale");
    assert_eq!(replicas(&tree), 7);

    act(&mut tree, B, Action::Get);
    let mut object = (**tree.world().copy(B).edited().unwrap()).clone();
    object["status"] = json!({"observedGeneration": 2});
    object["spec"]["replicas"] = json!(1);
    tree.world_mut().copy_mut(B).edit(object);
    let status = Write {
        subresource: Some(Subresource::Status),
        ..Write::default()
    };
    act(&mut tree, B, Action::Send(status));
    let (_, object) = tree.world().stored().unwrap();
    assert_eq!(object["status"]["observedGeneration"], 2);
    assert_eq!(
        object["spec"]["replicas"], 7,
        "a status write keeps the spec"
    );
}

#[test]
fn a_dry_run_stores_nothing_and_keeps_the_edit() {
    let mut tree = session(NGINX);
    act(&mut tree, A, Action::Get);
    edit(&mut tree, A, "/spec/replicas", json!(5));
    let write = Write {
        dry_run: true,
        ..Write::default()
    };
    let node = act(&mut tree, A, Action::Send(write));
    assert_eq!(code(&tree, node), 200);
    assert_eq!(replicas(&tree), 3);
    assert!(tree.world().copy(A).is_edited());
}

#[test]
fn a_body_by_hand_and_a_request_by_hand_go_as_they_are() {
    let mut tree = session(NGINX);
    act(&mut tree, A, Action::Get);
    let write = Write {
        body: Some(r#"{"spec":{"replicas":9}}"#.to_owned()),
        ..Write::usual(Strategy::MergePatch)
    };
    act(&mut tree, A, Action::Send(write));
    assert_eq!(replicas(&tree), 9);
    let by_hand = |body: &str| {
        Action::Request(ByHand {
            method: "PATCH".to_owned(),
            target: "/apis/apps/v1/namespaces/default/deployments/nginx-deployment".to_owned(),
            content_type: "application/merge-patch+json".to_owned(),
            body: body.to_owned(),
        })
    };
    let node = act(&mut tree, B, by_hand(r#"{"spec":{"replicas":1}}"#));
    assert_eq!(step(&tree, node).outcome(), Outcome::Written);
    assert_eq!(replicas(&tree), 1);
    let node = act(&mut tree, B, by_hand("{"));
    assert_eq!(code(&tree, node), 400);
}

#[test]
fn the_answer_to_a_request_by_hand_is_what_the_server_sent() {
    let mut tree = session(NGINX);
    let get = |target: &str| {
        Action::Request(ByHand {
            method: "GET".to_owned(),
            target: target.to_owned(),
            content_type: String::new(),
            body: String::new(),
        })
    };
    for replicas in 4..=6 {
        let replicas = json!({"op": "add", "path": "/spec/replicas", "value": replicas});
        act(&mut tree, B, patched(&replicas));
    }
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    for (since, events) in [(100, 3), (102, 1), (103, 0)] {
        let target = format!("{deployments}?watch=true&resourceVersion={since}");
        let node = act(&mut tree, A, get(&target));
        let received = step(&tree, node)
            .exchange
            .as_ref()
            .unwrap()
            .received
            .clone();
        let types: Vec<&Value> = received
            .as_array()
            .unwrap()
            .iter()
            .map(|it| &it["type"])
            .collect();
        assert_eq!(types, vec!["MODIFIED"; events], "{target}");
        assert!(step(&tree, node).is_stream());
    }
    // The server answers 200, and the first event of the stream is the error.
    let node = act(
        &mut tree,
        A,
        get(&format!("{deployments}?watch=true&resourceVersion=1")),
    );
    let ended = step(&tree, node);
    assert_eq!(ended.exchange.as_ref().unwrap().code, 200);
    assert_eq!(ended.status_line(), "410 Expired");
    assert!(ended.is_stream());
    let node = act(&mut tree, A, get("/healthz"));
    assert_eq!(*step(&tree, node).exchange.as_ref().unwrap().received, "ok");
    assert!(!step(&tree, node).is_stream());
}

#[test]
fn a_second_delete_that_changes_the_finalizers_shortens_no_grace_period() {
    let mut tree = session(NGINX);
    let delete = |policy: &str| {
        let object = "/apis/apps/v1/namespaces/default/deployments/nginx-deployment";
        Action::Request(ByHand {
            method: "DELETE".to_owned(),
            target: format!("{object}?propagationPolicy={policy}"),
            content_type: String::new(),
            body: String::new(),
        })
    };
    for (policy, expected) in [
        ("Foreground", DeletionMark::New),
        ("Orphan", DeletionMark::OfFinalizers),
    ] {
        act(&mut tree, A, delete(policy));
        let explanation = tree.explain(B).kind;
        let ExplanationKind::Terminating { mark, grace, .. } = explanation else {
            panic!("{explanation:?}");
        };
        assert_eq!((mark, grace), (expected, 0));
    }
}

#[test]
fn a_delete_compares_what_it_was_told_to_and_the_name_can_come_back() {
    let mut tree = b_was_faster();
    let checked = |uid, resource_version| {
        Action::Delete(Preconditions {
            uid,
            resource_version,
        })
    };
    let node = act(&mut tree, A, checked(false, true));
    assert_eq!(code(&tree, node), 409);
    act(&mut tree, B, checked(true, true));
    assert!(tree.world().stored().is_none());
    act(&mut tree, B, Action::Create);
    assert!(tree.world().stored().is_some());
    let node = act(&mut tree, A, checked(true, false));
    assert_eq!(code(&tree, node), 409, "the same name, another uid");
}

#[test]
fn each_of_several_objects_has_copies_and_a_watcher_of_its_own() {
    let config = |name: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{key: old}}\n")
    };
    let mut tree = session(&format!("{}---\n{}", config("one"), config("two")));
    assert_eq!(tree.world().subject().name(), "two");
    assert_eq!(tree.world().stored().unwrap().0, 100);
    act(&mut tree, A, Action::Get);
    assert!(tree.world_mut().look_at("ConfigMap", "one"));
    assert!(tree.world().copy(A).read().is_none());
    act(&mut tree, A, Action::Get);
    edit(&mut tree, A, "/data/key", json!("new"));
    act(&mut tree, A, Action::Send(Write::default()));
    assert!(tree.world_mut().look_at("ConfigMap", "two"));
    assert_eq!(tree.world().stored().unwrap().1["data"]["key"], "old");
    assert_eq!(tree.world().stale_by(A), 0);
    assert!(!tree.world_mut().look_at("ConfigMap", "three"));
}

#[test]
fn a_start_says_who_stored_it_how_and_at_which_version() {
    let start = Start {
        version: Some(57),
        created_by: Some("kubectl".to_owned()),
        applied: true,
        ..Start::with(NGINX)
    };
    let (world, _) = World::from_start(start.into()).unwrap();
    let (version, object) = world.stored().unwrap();
    assert_eq!(version, 57);
    let entry = &object["metadata"]["managedFields"][0];
    assert_eq!(entry["manager"], "kubectl");
    assert_eq!(entry["operation"], "Apply");
}

#[test]
fn after_a_write_to_scale_the_copy_has_the_new_replicas_and_keeps_what_was_not_sent() {
    let mut tree = session(NGINX);
    act(&mut tree, A, Action::Get);
    edit(&mut tree, A, "/spec/replicas", json!(7));
    edit(&mut tree, A, "/spec/revisionHistoryLimit", json!(3));
    let scale = Write {
        subresource: Some(Subresource::Scale),
        ..Write::default()
    };
    act(&mut tree, A, Action::Send(scale.clone()));
    let copy = tree.world().copy(A);
    assert_eq!(copy.edited().unwrap()["spec"]["replicas"], 7);
    let left: Vec<String> = copy.edits().iter().map(ToString::to_string).collect();
    assert_eq!(
        left,
        ["revisionHistoryLimit 10→3"],
        "a Scale does not carry it"
    );
    assert_eq!(
        copy.resource_version(),
        Some("100"),
        "the object was not shown"
    );

    edit(&mut tree, A, "/spec/replicas", json!(0));
    let scale = Write {
        send_resource_version: false,
        ..scale
    };
    act(&mut tree, A, Action::Send(scale));
    assert_eq!(replicas(&tree), 0);
    let copy = tree.world().copy(A);
    assert_eq!(copy.edited().unwrap()["spec"]["replicas"], 0);
}

#[test]
fn after_a_write_to_the_status_the_copy_keeps_what_was_not_sent() {
    for strategy in [
        Strategy::Update,
        Strategy::MergePatch,
        Strategy::StrategicMergePatch,
        Strategy::JsonPatch,
        Strategy::Apply,
    ] {
        let mut tree = session(NGINX);
        act(&mut tree, A, Action::Get);
        edit(&mut tree, A, "/spec/replicas", json!(7));
        edit(&mut tree, A, "/status", json!({"replicas": 3}));
        let status = Write {
            subresource: Some(Subresource::Status),
            force: true,
            ..Write::usual(strategy)
        };
        let node = act(&mut tree, A, Action::Send(status));
        assert_eq!(step(&tree, node).exchange.as_ref().unwrap().code, 200);
        let copy = tree.world().copy(A);
        let left: Vec<String> = copy.edits().iter().map(ToString::to_string).collect();
        assert_eq!(left, ["replicas 3→7"], "{strategy:?}");
        assert_eq!(copy.edited().unwrap()["status"]["replicas"], 3);
        assert_eq!(copy.resource_version(), Some("101"), "the object was shown");

        let main = Write::default();
        act(&mut tree, A, Action::Send(main));
        assert_eq!(replicas(&tree), 7);
        assert!(!tree.world().copy(A).is_edited());
    }
}

#[test]
fn after_a_write_to_the_object_the_copy_keeps_the_status_that_was_not_stored() {
    for strategy in Strategy::ALL {
        let mut tree = session(NGINX);
        act(&mut tree, A, Action::Get);
        edit(&mut tree, A, "/spec/replicas", json!(7));
        edit(&mut tree, A, "/status", json!({"replicas": 3}));
        let main = Write {
            force: true,
            ..Write::usual(strategy)
        };
        act(&mut tree, A, Action::Send(main));
        assert_eq!(replicas(&tree), 7);
        let copy = tree.world().copy(A);
        let left: Vec<String> = copy.edits().iter().map(ToString::to_string).collect();
        assert_eq!(left, ["+replicas 3"], "{strategy:?}");

        let status = Write {
            subresource: Some(Subresource::Status),
            ..Write::default()
        };
        act(&mut tree, A, Action::Send(status));
        assert_eq!(tree.world().stored().unwrap().1["status"]["replicas"], 3);
        assert!(!tree.world().copy(A).is_edited());
    }
}

#[test]
fn without_a_status_subresource_a_write_to_the_object_settles_all_of_it() {
    let mut tree = session("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: b}");
    act(&mut tree, A, Action::Get);
    edit(&mut tree, A, "/data/a", json!("c"));
    let mut object = (**tree.world().copy(A).edited().unwrap()).clone();
    object["status"] = json!({"is": "no field"});
    tree.world_mut().copy_mut(A).edit(object);
    act(&mut tree, A, Action::Send(Write::default()));
    assert!(!tree.world().copy(A).is_edited());
}

#[test]
fn a_get_by_hand_carries_no_body_and_is_no_apply() {
    let mut tree = session(NGINX);
    act(&mut tree, A, Action::Get);
    let apply = tree.world().actor(A).write_by(Strategy::Apply);
    let request = tree.world().preview(A, &Action::Send(apply)).unwrap();
    let by_hand = ByHand {
        method: "GET".to_owned(),
        ..ByHand::from_request(&request)
    };
    let node = act(&mut tree, A, Action::Request(by_hand));
    let exchange = step(&tree, node).exchange.as_ref().unwrap();
    assert_eq!(
        (&*exchange.sent, &*exchange.content_type),
        (&Value::Null, "")
    );
    assert_eq!(step(&tree, node).headline().to_string(), "GET");
    assert_eq!(step(&tree, node).sent_text(), None);
}

#[test]
fn what_kubectl_prints_of_several_objects_is_loaded_and_what_cannot_be_is_named() {
    let definition = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, \
        metadata: {name: cats.example.com}, spec: {group: example.com, scope: Namespaced, \
        names: {plural: cats, singular: cat, kind: Cat}, versions: [{name: v1, served: true, \
        storage: true, schema: {openAPIV3Schema: {type: object}}}]}}";
    let list = format!(
        "apiVersion: v1\nkind: List\nmetadata: {{resourceVersion: ''}}\nitems:\n\
         - {{apiVersion: example.com/v1, kind: Cat, metadata: {{name: tom, uid: u}}}}\n\
         - {{apiVersion: example.org/v1, kind: Job, metadata: {{name: nightly}}}}\n\
         - {{apiVersion: v1, kind: ConfigMap, metadata: {{name: Upper}}}}\n\
         # a comment\n\
         - {{apiVersion: v1, kind: ConfigMap, metadata: {{name: last, namespace: blue, uid: v}}}}\n\
         - {definition}\n"
    );
    let loadable = Start::loadable(&list).unwrap();
    assert_eq!(loadable.dropped, ["metadata.uid"]);
    let left: Vec<&str> = loadable.left_out.iter().map(|left| &*left.object).collect();
    assert_eq!(
        left,
        ["Job nightly (example.org/v1)", "ConfigMap Upper (v1)"]
    );
    assert!(
        loadable.left_out[0]
            .why
            .to_string()
            .contains("cannot be loaded")
    );
    assert!(loadable.left_out[1].why.to_string().contains("RFC 1123"));
    let text = &loadable.start.manifests;
    assert!(!text.contains("comment") && !text.contains("uid"), "{text}");

    let (world, dropped) = World::from_start(loadable.start.into()).unwrap();
    assert!(dropped.is_empty(), "it was dropped before");
    let names: Vec<&str> = world.subjects().map(ObjectRef::name).collect();
    assert_eq!(names, ["tom", "last"]);

    let alone =
        Start::loadable("apiVersion: example.org/v1\nkind: Job\nmetadata: {name: x}").unwrap_err();
    assert!(
        alone
            .to_string()
            .starts_with("Job (example.org/v1) cannot be loaded. Supported kinds: ")
    );
    let none = Start::loadable("kind: List\nitems: [{kind: A}, {kind: B}]").unwrap_err();
    assert!(
        none.to_string().contains("A: This is not a manifest"),
        "{none}"
    );
    assert!(Start::loadable("kind: List\nitems: []").is_err());
    assert!(Start::loadable("").is_err());
    let twice = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: b, a: c}";
    assert!(
        Start::loadable(twice)
            .unwrap_err()
            .to_string()
            .contains("already set")
    );
}

fn owners(tree: &HistoryTree, field: &str) -> Vec<String> {
    let stored = tree.world().stored().unwrap().1;
    let managed = stored["metadata"]["managedFields"].as_array().unwrap();
    let owns = managed
        .iter()
        .filter(|entry| entry["fieldsV1"]["f:spec"].get(field).is_some());
    owns.map(|entry| entry["manager"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_typed_manifest_is_applied_with_all_its_fields_and_removes_nothing_of_others() {
    let mut tree = session(NGINX);
    act(&mut tree, A, Action::Get);
    let typed = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: nginx-deployment}\nspec: {replicas: 3}";
    tree.world_mut().copy_mut(A).edit_text(typed).unwrap();
    let apply = Write {
        declares: Declares::Manifest,
        ..Write::usual(Strategy::Apply)
    };
    let node = act(&mut tree, A, Action::Send(apply));
    assert_eq!(
        step(&tree, node).headline().to_string(),
        "APPLY manifest no change"
    );
    assert_eq!(step(&tree, node).left_out, []);
    assert_eq!(owners(&tree, "f:replicas"), ["editor-a", "kubectl-create"]);
    assert!(
        tree.world().stored().unwrap().1["metadata"]
            .get("labels")
            .is_some()
    );
}

#[test]
fn an_unchanged_value_is_applied_to_own_it() {
    let mut tree = session(NGINX);
    act(&mut tree, A, Action::Get);
    let resource = tree.world().resource().clone();
    let copy = tree.world_mut().copy_mut(A);
    let read = copy.read().unwrap().clone();
    copy.declare(Path::at(&read, "/spec/replicas", &resource.root).unwrap());
    let node = act(&mut tree, A, Action::Send(Write::usual(Strategy::Apply)));
    assert_eq!(
        step(&tree, node).headline().to_string(),
        "APPLY replicas unchanged"
    );
    assert_eq!(owners(&tree, "f:replicas"), ["editor-a", "kubectl-create"]);
    assert_eq!(tree.world().copy(A).declared(), []);
}

/// An actor sends a merge patch that is written by hand.
fn patch(tree: &mut HistoryTree, actor: ActorId, body: &str) {
    let by_hand = ByHand {
        method: "PATCH".to_owned(),
        target: "/apis/apps/v1/namespaces/default/deployments/nginx-deployment".to_owned(),
        content_type: "application/merge-patch+json".to_owned(),
        body: body.to_owned(),
    };
    let node = act(tree, actor, Action::Request(by_hand));
    assert_eq!(code(tree, node), 200);
}

/// The actors whose edits were lost, and those whose edits were replaced knowingly. A sets 5
/// replicas and then 3 again, and B also sets 3. Then C deletes the object. C read it before these
/// writes and, if `later` is set, again after A set 3.
fn after_c_deletes(later: bool) -> (Vec<ActorId>, Vec<ActorId>) {
    let mut tree = session(NGINX);
    act(&mut tree, ActorId::C, Action::Get);
    patch(&mut tree, A, r#"{"spec": {"replicas": 5}}"#);
    act(&mut tree, B, Action::Get);
    edit(&mut tree, B, "/spec/replicas", json!(3));
    patch(&mut tree, A, r#"{"spec": {"replicas": 3}}"#);
    if later {
        act(&mut tree, ActorId::C, Action::Get);
    }
    patch(&mut tree, A, r#"{"spec": {"paused": true}}"#);
    act(
        &mut tree,
        B,
        Action::Send(Write::usual(Strategy::MergePatch)),
    );
    act(
        &mut tree,
        ActorId::C,
        Action::Delete(Preconditions::default()),
    );
    let updates = tree.world().updates();
    (
        updates.losses().iter().map(|loss| loss.owner).collect(),
        updates.replaced().iter().map(|it| it.owner).collect(),
    )
}

#[test]
fn who_saw_a_value_before_it_went_away_was_not_shown_the_one_that_came_back() {
    assert_eq!(after_c_deletes(false), (vec![A, A, B], vec![]));
}

#[test]
fn who_saw_a_value_that_stayed_was_shown_whoever_sets_it_again() {
    assert_eq!(after_c_deletes(true), (vec![A], vec![A, B]));
}

/// The verdict after A wrote replicas, B asked for some change as a dry run, and B deleted the object.
fn verdict_after_dry_run(patch: &str) -> Verdict {
    let mut tree = session(NGINX);
    act(&mut tree, A, Action::Get);
    edit(&mut tree, A, "/spec/replicas", 8.into());
    act(&mut tree, A, Action::Send(Write::default()));
    let dry_run = Action::Request(ByHand {
        method: "PATCH".to_owned(),
        target: "/apis/apps/v1/namespaces/default/deployments/nginx-deployment?dryRun=All"
            .to_owned(),
        content_type: "application/merge-patch+json".to_owned(),
        body: patch.to_owned(),
    });
    let node = act(&mut tree, B, dry_run);
    assert_eq!(code(&tree, node), 200);
    act(&mut tree, B, Action::Delete(Preconditions::default()));
    tree.world().verdict()
}

#[test]
fn the_answer_to_a_dry_run_shows_what_is_stored_and_not_what_it_would_change() {
    let of_label = r#"{"metadata":{"labels":{"seen":"1"}}}"#;
    assert_eq!(verdict_after_dry_run(of_label), Verdict::Replaced);
    let of_the_same_field = r#"{"spec":{"replicas":5}}"#;
    assert_eq!(verdict_after_dry_run(of_the_same_field), Verdict::Lost);
}

/// A reads the object, and B deletes it. Then A sends a request, and creates the object again.
/// Returns the code of the answer to A's request, and the verdict.
fn verdict_of_creation_after(request: Option<Action>) -> (u16, Verdict) {
    let mut tree = session(NGINX);
    act(&mut tree, A, Action::Get);
    act(&mut tree, B, Action::Delete(Preconditions::default()));
    let node = request.map(|request| act(&mut tree, A, request));
    let code = node.map_or(0, |node| code(&tree, node));
    act(&mut tree, A, Action::Create);
    assert!(tree.world().stored().is_some());
    (code, tree.world().verdict())
}

fn by_hand(method: &str, path: &str, body: &str) -> Option<Action> {
    Some(Action::Request(ByHand {
        method: method.to_owned(),
        target: format!("/apis/apps/v1/namespaces/{path}"),
        content_type: "application/apply-patch+yaml".to_owned(),
        body: body.to_owned(),
    }))
}

#[test]
fn an_answer_that_the_object_does_not_exist_shows_its_deletion() {
    let verdict = verdict_of_creation_after;
    assert_eq!(verdict(None), (0, Verdict::Lost));
    for request in [
        Action::Get,
        Action::Send(Write::default()),
        Action::Send(Write {
            subresource: Some(Subresource::Scale),
            ..Write::default()
        }),
        Action::Delete(Preconditions::default()),
    ] {
        let told = format!("{request:?}");
        assert_eq!(verdict(Some(request)), (404, Verdict::Replaced), "{told}");
    }
    let apply = r#"{"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "nginx-deployment", "uid": "u"}}"#;
    let uid = by_hand(
        "PATCH",
        "default/deployments/nginx-deployment?fieldManager=a",
        apply,
    );
    assert_eq!(verdict(uid), (409, Verdict::Replaced));
    let list = |path: &str| verdict(by_hand("GET", path, ""));
    assert_eq!(list("default/deployments"), (200, Verdict::Replaced));
    let filtered = "default/deployments?labelSelector=app%3Dother";
    assert_eq!(list(filtered), (200, Verdict::Lost));
    assert_eq!(list("other/deployments"), (200, Verdict::Lost));
    let other = "other/deployments/nginx-deployment";
    assert_eq!(list(other), (404, Verdict::Lost));
    let unknown = "default/deployments/nginx-deployment/unknown";
    assert_eq!(list(unknown), (404, Verdict::Lost));
}
