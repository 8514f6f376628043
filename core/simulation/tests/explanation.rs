//! Explanations of steps, with a next step that would help, as data.

use optimist_client::{Strategy, Write};
use optimist_simulation::{
    Action, ActorId, ByHand, DeletionMark, EditResult, ExplanationKind as Kind, FirstSteps,
    HistoryTree, LeftOutReason, NGINX, Operation, Outcome, Preconditions, RefusalReason,
    RequestKind, Suggestion, VersionCheck, WatchAction, WatchReason, World,
};
use serde_json::{Value, json};

use ActorId::{A, B};

const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/nginx-deployment";

fn session(manifests: &str) -> HistoryTree {
    HistoryTree::new(World::load(manifests).unwrap().0)
}

fn act(tree: &mut HistoryTree, actor: ActorId, action: Action) {
    tree.act(Operation::Act(actor, action)).unwrap();
}

fn edit(tree: &mut HistoryTree, actor: ActorId, pointer: &str, value: Value) {
    let copy = tree.world_mut().copy_mut(actor);
    let mut object = (**copy.edited().unwrap()).clone();
    *object.pointer_mut(pointer).unwrap() = value;
    copy.edit(object);
}

/// Both read; A means 5 replicas, B means 2.
fn both_edit() -> HistoryTree {
    let mut tree = session(NGINX);
    for (actor, replicas) in [(A, 5), (B, 2)] {
        act(&mut tree, actor, Action::Get);
        edit(&mut tree, actor, "/spec/replicas", json!(replicas));
    }
    tree
}

fn send(write: Write) -> Action {
    Action::Send(write)
}

fn by(strategy: Strategy) -> Write {
    Write::usual(strategy)
}

fn by_hand(method: &str, target: &str, media_type: &str, body: &Value) -> Action {
    Action::Request(ByHand {
        method: method.to_owned(),
        target: target.to_owned(),
        content_type: media_type.to_owned(),
        body: body.to_string(),
    })
}

fn explained(tree: &HistoryTree) -> (Kind, Option<Suggestion>) {
    let explanation = tree.explain(B);
    (explanation.kind, explanation.next)
}

#[test]
fn a_session_begins_and_actors_read() {
    let mut tree = session(NGINX);
    assert_eq!(explained(&tree), (Kind::Start { version: 100 }, None));
    act(&mut tree, A, Action::Get);
    let read = Kind::Read {
        actor: A,
        version: 100,
        redone: false,
    };
    assert_eq!(explained(&tree), (read, Some(Suggestion::GetToo(B))));
    act(&mut tree, B, Action::Get);
    let both = Kind::BothRead { version: 100 };
    assert_eq!(
        explained(&tree),
        (both, Some(Suggestion::ChangeBoth(ActorId::B)))
    );
    tree.go(0);
    let start = Kind::Start { version: 100 };
    assert_eq!(explained(&tree), (start, Some(Suggestion::StepForward)));
}

#[test]
fn a_conflict_says_which_versions_differ_and_who_read_them() {
    let mut tree = both_edit();
    act(&mut tree, A, send(Write::default()));
    let stored = Kind::Stored {
        actor: A,
        before: 100,
        after: 101,
        request: RequestKind::Update,
        check: VersionCheck::Matched,
    };
    assert_eq!(explained(&tree), (stored, Some(Suggestion::SendStale(B))));
    assert_eq!(tree.explain(B).stale, [(B, "100".to_owned())]);
    act(&mut tree, B, send(Write::default()));
    let conflict = Kind::Conflict {
        actor: B,
        sent: 100,
        stored: 101,
        both_read: true,
        from_copy: true,
    };
    let again = Some(Suggestion::GetAndSendAgain(B));
    assert_eq!(explained(&tree), (conflict, again));
    act(&mut tree, B, Action::Get);
    let both = Kind::BothRead { version: 101 };
    let redone = Some(Suggestion::SendRedone(B, 101));
    assert_eq!(explained(&tree), (both, redone));
}

#[test]
fn who_is_refused_because_of_an_own_write_is_not_told_that_both_read() {
    let mut tree = both_edit();
    let label = json!({"metadata": {"labels": {"by": "hand"}}});
    let merge = "application/merge-patch+json";
    act(&mut tree, B, by_hand("PATCH", DEPLOYMENT, merge, &label));
    act(&mut tree, B, send(Write::default()));
    let conflict = Kind::Conflict {
        actor: B,
        sent: 100,
        stored: 101,
        both_read: false,
        from_copy: true,
    };
    assert_eq!(tree.explain(B).kind, conflict);
}

#[test]
fn a_version_that_only_the_request_has_is_not_called_the_copy_s() {
    let mut tree = both_edit();
    let mut body: Value = (**tree.world().stored().unwrap().1).clone();
    body["metadata"]["resourceVersion"] = json!("7");
    act(
        &mut tree,
        B,
        by_hand("PUT", DEPLOYMENT, "application/json", &body),
    );
    let conflict = Kind::Conflict {
        actor: B,
        sent: 7,
        stored: 100,
        both_read: false,
        from_copy: false,
    };
    assert_eq!(tree.explain(B).kind, conflict);
}

#[test]
fn a_lost_update_names_the_edit_and_whether_force_did_it() {
    let mut tree = both_edit();
    act(&mut tree, A, send(Write::default()));
    let blind = Write {
        send_resource_version: false,
        ..Write::default()
    };
    act(&mut tree, B, send(blind));
    let explanation = tree.explain(B);
    let Kind::Lost {
        actor: B,
        loss,
        request: RequestKind::Update,
        forced: false,
    } = explanation.kind
    else {
        panic!("{:?}", explanation.kind);
    };
    assert_eq!((loss.owner, loss.edit.value.clone()), (A, Some(json!(5))));
    assert_eq!(explanation.next, Some(Suggestion::CompareOrApply(B)));
    let by_delete = false;
    assert_eq!(explanation.results, [EditResult::Lost { loss, by_delete }]);

    tree.back();
    let force = Write {
        force: true,
        ..by(Strategy::Apply)
    };
    act(&mut tree, B, send(force));
    let (kind, next) = explained(&tree);
    assert!(matches!(kind, Kind::Lost { forced: true, .. }), "{kind:?}");
    assert_eq!(next, Some(Suggestion::WithoutForce(B)));
}

#[test]
fn an_apply_that_does_not_own_the_field_is_not_told_about_versions() {
    let mut tree = both_edit();
    act(&mut tree, B, send(by(Strategy::Apply)));
    let other = Kind::OwnedByOther { own_updates: None };
    let owned = (other, Some(Suggestion::Force(B)));
    assert_eq!(explained(&tree), owned);
}

#[test]
fn an_apply_that_was_written_by_hand_is_forced_in_its_address() {
    let mut tree = both_edit();
    let mine = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "nginx-deployment"}, "spec": {"replicas": 9}});
    let target = format!("{DEPLOYMENT}?fieldManager=x");
    let apply = by_hand("PATCH", &target, "application/apply-patch+yaml", &mine);
    act(&mut tree, B, apply);
    let other = Kind::OwnedByOther { own_updates: None };
    let owned = (other, Some(Suggestion::ForceRequest(B)));
    assert_eq!(explained(&tree), owned);
}

#[test]
fn a_failed_test_gives_the_values_and_whether_the_version_is_named() {
    let test = |path: &str, value: Value| json!({"op": "test", "path": path, "value": value});
    for (more, names_version) in [
        (None, false),
        (Some(test("/metadata/resourceVersion", json!("100"))), true),
    ] {
        let mut tree = both_edit();
        act(&mut tree, A, send(Write::default()));
        let mut patch = vec![test("/spec/replicas", json!(3))];
        patch.extend(more);
        let body = Value::Array(patch);
        let action = by_hand("PATCH", DEPLOYMENT, "application/json-patch+json", &body);
        act(&mut tree, B, action);
        let failed = Kind::TestFailed {
            path: "/spec/replicas".to_owned(),
            wanted: json!(3),
            found: Some(json!(5)),
            names_version,
        };
        assert_eq!(tree.explain(B).kind, failed);
    }
}

#[test]
fn a_refusal_for_another_reason_says_it_and_what_helps() {
    let refused = |tree: &HistoryTree| match explained(tree) {
        (
            Kind::Refused {
                actor: A, reason, ..
            },
            Some(next),
        ) => (reason, next),
        other => panic!("{other:?}"),
    };
    let mut tree = session(NGINX);
    act(&mut tree, A, Action::Get);
    act(&mut tree, B, Action::Delete(Preconditions::default()));
    act(&mut tree, B, Action::Get);
    let mut object = (**tree.world().copy(A).edited().unwrap()).clone();
    let metadata = object["metadata"].as_object_mut().unwrap();
    metadata.retain(|name, _| !matches!(name.as_str(), "resourceVersion" | "uid"));
    let (collection, _) = DEPLOYMENT.rsplit_once('/').unwrap();
    act(
        &mut tree,
        B,
        by_hand("POST", collection, "application/json", &object),
    );
    edit(&mut tree, A, "/spec/replicas", json!(5));
    let unversioned = Write {
        send_resource_version: false,
        ..by(Strategy::Update)
    };
    act(&mut tree, A, send(unversioned));
    let again = Suggestion::GetAndSendAgain(A);
    assert_eq!(refused(&tree), (RefusalReason::UidDiffered, again));
    act(&mut tree, A, Action::Create);
    let read = Suggestion::GetToSee(A);
    assert_eq!(refused(&tree), (RefusalReason::AlreadyExists, read));
    let text = "text/plain".to_owned();
    act(
        &mut tree,
        A,
        by_hand("PATCH", DEPLOYMENT, &text, &json!({})),
    );
    let reason = RefusalReason::UnsupportedMediaType { content_type: text };
    assert_eq!(refused(&tree), (reason, Suggestion::Fix(A)));
    act(
        &mut tree,
        A,
        by_hand("PUT", DEPLOYMENT, "application/json", &json!([])),
    );
    assert_eq!(refused(&tree), (RefusalReason::Other, Suggestion::Fix(A)));
}

#[test]
fn a_delete_deletes_or_marks_and_says_what_the_object_waits_for() {
    let delete = || Action::Delete(Preconditions::default());
    let mut tree = session(NGINX);
    act(&mut tree, A, Action::Get);
    act(&mut tree, A, delete());
    let deleted = Kind::Deleted {
        actor: A,
        version: 100,
        by_finalizer: false,
    };
    assert_eq!(tree.explain(B).kind, deleted);
    act(&mut tree, A, Action::Get);
    let missing = (Kind::NotFound, Some(Suggestion::Create));
    assert_eq!(explained(&tree), missing);
    act(&mut tree, A, Action::Create);
    let (kind, _) = explained(&tree);
    assert!(matches!(kind, Kind::Created { actor: A, .. }), "{kind:?}");

    let with_finalizer = "apiVersion: v1\nkind: ConfigMap\n\
                          metadata: {name: c, finalizers: [example.com/keep]}\n";
    let mut tree = session(with_finalizer);
    act(&mut tree, A, Action::Get);
    act(&mut tree, A, delete());
    let marked = Kind::Terminating {
        actor: A,
        version: 101,
        mark: DeletionMark::New,
        finalizers: true,
        grace: 0,
    };
    assert_eq!(tree.explain(B).kind, marked);
    act(&mut tree, A, delete());
    let still = Kind::StillTerminating { version: 101 };
    assert_eq!(explained(&tree), (still, None));
    act(&mut tree, A, Action::Get);
    let target = "/api/v1/namespaces/default/configmaps/c";
    let free = json!({"metadata": {"finalizers": null}});
    let action = by_hand("PATCH", target, "application/merge-patch+json", &free);
    act(&mut tree, A, action);
    let freed = Kind::Deleted {
        actor: A,
        version: 101,
        by_finalizer: true,
    };
    assert_eq!(tree.explain(B).kind, freed);
}

#[test]
fn a_pod_on_a_node_waits_for_its_grace_period_not_for_finalizers() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n\
               spec: {nodeName: node-1, containers: [{name: c, image: i}]}\n";
    let mut tree = session(pod);
    act(&mut tree, A, Action::Get);
    act(&mut tree, A, Action::Delete(Preconditions::default()));
    let marked = Kind::Terminating {
        actor: A,
        version: 101,
        mark: DeletionMark::New,
        finalizers: false,
        grace: 30,
    };
    assert_eq!(tree.explain(B).kind, marked);
}

#[test]
fn an_accepted_request_that_changes_nothing_here_says_why() {
    let mut tree = session(NGINX);
    act(&mut tree, A, Action::Get);
    act(&mut tree, A, send(Write::default()));
    let unchanged = Kind::Unchanged {
        actor: A,
        version: 100,
    };
    let next = Some(Suggestion::ChangeAgain(A));
    assert_eq!(explained(&tree), (unchanged, next));

    let five = json!({"spec": {"replicas": 5}});
    let dry = format!("{DEPLOYMENT}?dryRun=All");
    let action = by_hand("PATCH", &dry, "application/merge-patch+json", &five);
    act(&mut tree, A, action);
    assert_eq!(explained(&tree), (Kind::DryRun, None));

    let other = json!({"metadata": {"name": "other"}});
    let maps = "/api/v1/namespaces/default/configmaps";
    act(
        &mut tree,
        A,
        by_hand("POST", maps, "application/json", &other),
    );
    assert_eq!(explained(&tree), (Kind::OtherObject { actor: A }, None));
}

#[test]
fn what_the_server_left_out_is_explained_by_how_it_was_sent() {
    let mut tree = session(NGINX);
    act(&mut tree, A, Action::Get);
    let copy = tree.world_mut().copy_mut(A);
    let mut object = (**copy.edited().unwrap()).clone();
    object["spec"]
        .as_object_mut()
        .unwrap()
        .remove("progressDeadlineSeconds");
    copy.edit(object);
    act(&mut tree, A, send(Write::default()));
    let explanation = tree.explain(B);
    assert_eq!(explanation.next, Some(Suggestion::ChangeOther(A)));
    assert_eq!(explanation.kind, Kind::NotApplied);
    let [EditResult::LeftOut { edits, reason, .. }] = &explanation.results[..] else {
        panic!("{:?}", explanation.results);
    };
    assert_eq!((edits.len(), *reason), (1, LeftOutReason::Defaults));
    // A field that the server does not know, which it warns of.
    let mut tree = session(NGINX);
    act(&mut tree, A, Action::Get);
    let copy = tree.world_mut().copy_mut(A);
    let mut object = (**copy.edited().unwrap()).clone();
    object["spec"]["replica"] = json!(4);
    copy.edit(object);
    act(&mut tree, A, send(Write::default()));
    let [EditResult::LeftOut { reason, .. }] = &tree.explain(B).results[..] else {
        panic!("{:?}", tree.explain(B));
    };
    assert_eq!(*reason, LeftOutReason::Unknown);
    // An apply leaves a removal away; a field of the status, it cannot write.
    let left_out = |change: fn(&mut Value)| {
        let mut tree = session(NGINX);
        act(&mut tree, A, Action::Get);
        let copy = tree.world_mut().copy_mut(A);
        let mut object = (**copy.edited().unwrap()).clone();
        change(&mut object);
        copy.edit(object);
        act(&mut tree, A, send(by(Strategy::Apply)));
        match &tree.explain(B).results[..] {
            [EditResult::LeftOut { reason, .. }] => *reason,
            other => panic!("{other:?}"),
        }
    };
    let removes = |object: &mut Value| {
        let spec = object["spec"].as_object_mut().unwrap();
        spec.remove("progressDeadlineSeconds");
    };
    assert_eq!(left_out(removes), LeftOutReason::Apply);
    let reports = |object: &mut Value| object["status"] = json!({"observedGeneration": 5});
    assert_eq!(left_out(reports), LeftOutReason::Defaults);
}

#[test]
fn every_other_actor_with_a_stale_copy_is_named() {
    let mut tree = both_edit();
    act(&mut tree, ActorId::C, Action::Get);
    act(&mut tree, A, send(Write::default()));
    let stale = [B, ActorId::C].map(|actor| (actor, "100".to_owned()));
    assert_eq!(tree.explain(B).stale, stale);
}

#[test]
fn steps_of_the_watch_are_explained() {
    let mut tree = session(NGINX);
    let watch = |tree: &mut HistoryTree, action| {
        tree.act(Operation::Watch(action)).unwrap();
        let reason = tree.step(tree.current()).unwrap().reason();
        (tree.explain(B).kind, reason)
    };
    assert_eq!(
        watch(&mut tree, WatchAction::Open(String::new())),
        (
            Kind::WatchOpened { from: None },
            Some(WatchReason::ExistingFirst)
        )
    );
    assert_eq!(
        watch(&mut tree, WatchAction::Drop),
        (
            Kind::ConnectionDropped {
                seen: "100".to_owned()
            },
            Some(WatchReason::ClientKnows)
        )
    );
    act(&mut tree, A, Action::Get);
    edit(&mut tree, A, "/spec/replicas", json!(5));
    act(&mut tree, A, send(Write::default()));
    assert_eq!(
        watch(&mut tree, WatchAction::Resume),
        (Kind::Resumed { missed: 1 }, Some(WatchReason::NoGap))
    );
    watch(&mut tree, WatchAction::Drop);
    edit(&mut tree, A, "/spec/replicas", json!(6));
    act(&mut tree, A, send(Write::default()));
    tree.act(Operation::Compact { restart: true }).unwrap();
    let compacted = Kind::Compacted {
        version: 102,
        restart: true,
    };
    let before = Some(Suggestion::OpenBefore(102));
    assert_eq!(explained(&tree), (compacted, before));
    let expired = (Kind::Expired, Some(WatchReason::Gap));
    assert_eq!(watch(&mut tree, WatchAction::Resume), expired);
    assert_eq!(
        watch(&mut tree, WatchAction::Open("100".to_owned())),
        expired
    );
    assert_eq!(
        watch(&mut tree, WatchAction::List).0,
        Kind::Listed { version: 102 }
    );
    assert_eq!(
        watch(&mut tree, WatchAction::Resume).0,
        Kind::WatchesAfterList {
            seen: "102".to_owned()
        }
    );
    tree.act(Operation::Wait(5)).unwrap();
    assert_eq!(explained(&tree), (Kind::Waited { seconds: 5 }, None));
    assert_eq!(
        watch(&mut tree, WatchAction::Open("nonsense".to_owned())),
        (Kind::WatchRefused, None)
    );
}

#[test]
fn a_history_knows_how_far_it_came_and_where_another_one_is_worth_comparing() {
    let mut tree = session(NGINX);
    assert_eq!(tree.first_steps(), FirstSteps::default());
    assert_eq!(tree.overtaken_edit(), None);
    // Two actors have read it, and not the two editors.
    for actor in [ActorId::C, B] {
        act(&mut tree, actor, Action::Get);
    }
    assert_eq!(tree.first_steps(), FirstSteps::default());
    tree = both_edit();
    let edited = FirstSteps {
        read: true,
        changed: true,
        sent: false,
    };
    assert_eq!(tree.first_steps(), edited);
    act(&mut tree, A, send(Write::default()));
    let before = tree.current();
    assert_eq!(tree.overtaken_edit(), None);
    act(&mut tree, B, send(Write::default()));
    assert!(tree.first_steps().sent);
    assert_eq!(tree.overtaken_edit(), Some((before, B)));
    tree.go(0);
    assert_eq!(tree.overtaken_edit(), None);
}

#[test]
fn another_way_to_send_is_offered_at_its_moment_and_until_something_else_is_written() {
    let unversioned = Write {
        send_resource_version: false,
        ..by(Strategy::Update)
    };
    let mut tree = both_edit();
    act(&mut tree, A, send(Write::default()));
    let first = tree.current();
    act(&mut tree, B, send(Write::default()));
    act(&mut tree, B, Action::Get);
    assert_eq!(tree.overtaken_edit(), Some((first, B)), "a read");
    act(&mut tree, B, send(Write::default()));
    assert_eq!(tree.overtaken_edit(), Some((first, B)), "the same edit");
    // A meant 5 and has not read since.
    edit(&mut tree, A, "/spec/replicas", json!(6));
    let second = tree.current();
    act(&mut tree, A, send(unversioned));
    assert_eq!(tree.overtaken_edit(), Some((second, A)), "a later moment");
    act(&mut tree, A, Action::Get);
    edit(&mut tree, A, "/spec/replicas", json!(7));
    act(&mut tree, A, send(Write::default()));
    assert_eq!(tree.overtaken_edit(), None, "another write");
    let positions: Vec<_> = tree.current_path().to_vec();
    let at = |tree: &mut HistoryTree, node| {
        tree.go(positions[node]);
        tree.overtaken_edit()
    };
    let offered: Vec<_> = (0..positions.len())
        .map(|node| at(&mut tree, node))
        .collect();
    let (first, second) = (Some((first, B)), Some((second, A)));
    let expected = [
        None, None, None, first, first, first, first, second, second, None,
    ];
    assert_eq!(offered, expected);
}

const CONFIG_MAP: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data: {k: v, other: x}
";

#[test]
fn an_apply_is_not_recommended_against_the_loss_of_a_removal_that_nobody_owns() {
    let mut tree = session(CONFIG_MAP);
    act(&mut tree, A, Action::Get);
    act(&mut tree, B, Action::Get);
    let copy = tree.world_mut().copy_mut(A);
    let mut object = (**copy.edited().unwrap()).clone();
    object["data"].as_object_mut().unwrap().remove("k");
    copy.edit(object);
    act(&mut tree, A, send(Write::default()));
    edit(&mut tree, B, "/data/k", json!("v2"));
    let before = tree.current();
    for write in [
        Write {
            send_resource_version: false,
            ..by(Strategy::Update)
        },
        by(Strategy::MergePatch),
        by(Strategy::Apply),
    ] {
        tree.go(before);
        act(&mut tree, B, send(write));
        let (kind, next) = explained(&tree);
        assert!(matches!(kind, Kind::Lost { .. }), "{kind:?}");
        assert_eq!(next, Some(Suggestion::Compare(B)));
    }
}

#[test]
fn an_apply_in_conflict_with_updates_of_its_own_manager_is_not_told_of_another_one() {
    let mut tree = session(NGINX);
    act(&mut tree, A, Action::Get);
    edit(&mut tree, A, "/spec/replicas", json!(4));
    act(&mut tree, A, send(Write::default()));
    edit(&mut tree, A, "/spec/replicas", json!(9));
    act(&mut tree, A, send(by(Strategy::Apply)));
    let own = Kind::OwnedByOther {
        own_updates: Some(A),
    };
    assert_eq!(explained(&tree), (own, Some(Suggestion::Force(A))));
}

#[test]
fn an_unknown_field_with_a_dot_in_its_name_is_left_out_because_it_is_unknown() {
    let mut tree = session(CONFIG_MAP);
    act(&mut tree, A, Action::Get);
    let copy = tree.world_mut().copy_mut(A);
    let mut object = (**copy.edited().unwrap()).clone();
    object["metadata"]["labels.x"] = json!("1");
    copy.edit(object);
    act(&mut tree, A, send(Write::default()));
    let results = tree.explain(B).results;
    let unknown = |it: &EditResult| {
        let reason = LeftOutReason::Unknown;
        matches!(it, EditResult::LeftOut { reason: said, .. } if *said == reason)
    };
    assert!(results.iter().any(unknown), "{results:?}");
}

#[test]
fn an_edit_that_two_actors_meant_is_named_once() {
    let mut tree = session(
        "
apiVersion: v1
kind: Service
metadata: {name: s}
spec:
  selector: {app: web}
  ports: [{name: http, port: 80}, {name: https, port: 443}]
",
    );
    act(&mut tree, A, Action::Get);
    act(&mut tree, B, Action::Get);
    let copy = tree.world_mut().copy_mut(A);
    let mut object = (**copy.edited().unwrap()).clone();
    object["spec"]["ports"].as_array_mut().unwrap().remove(0);
    copy.edit(object);
    act(&mut tree, A, send(Write::default()));
    edit(&mut tree, B, "/spec/ports/0/port", json!(8080));
    act(&mut tree, B, send(by(Strategy::StrategicMergePatch)));
    let kept = tree.explain(B).kept;
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert_ne!(kept[0], kept[1]);
}

#[test]
fn a_watch_by_hand_from_a_version_that_is_too_old_is_refused_in_its_stream() {
    let mut tree = session(NGINX);
    tree.act(Operation::Compact { restart: true }).unwrap();
    let (path, _) = DEPLOYMENT.rsplit_once('/').unwrap();
    let watch = |version: u64| {
        Action::Request(ByHand {
            method: "GET".to_owned(),
            target: format!("{path}?watch=true&resourceVersion={version}"),
            content_type: String::new(),
            body: String::new(),
        })
    };
    act(&mut tree, A, watch(1));
    let step = tree.step(tree.current()).unwrap();
    assert_eq!(
        (step.outcome(), step.code(), &*step.status_line()),
        (Outcome::Refused, Some(410), "410 Expired")
    );
    assert!(
        step.message()
            .unwrap()
            .starts_with("too old resource version")
    );
    assert!(matches!(explained(&tree).0, Kind::Refused { .. }));
    act(&mut tree, A, watch(100));
    let step = tree.step(tree.current()).unwrap();
    assert_eq!((step.outcome(), step.code()), (Outcome::Read, Some(200)));
}
