//! A retry after a conflict is steps: each attempt is a request of its own, and others can come in
//! between.

use optimist_client::{OnConflict, Strategy, Write, edit_scalar};
use optimist_simulation::verdict::Verdict;
use optimist_simulation::{Action, ActorId, HistoryTree, NGINX, NodeId, Operation, World};

const A: ActorId = ActorId::A;
const B: ActorId = ActorId::B;
const REPLICAS: &str = "/spec/replicas";
const IMAGE: &str = "/spec/template/spec/containers/0/image";

fn edit(tree: &mut HistoryTree, actor: ActorId, pointer: &str, text: &str) {
    let copy = tree.world_mut().copy_mut(actor);
    let object = edit_scalar(copy.edited().unwrap(), pointer, text).unwrap();
    copy.edit(object);
}

fn retries(on_conflict: OnConflict) -> Write {
    Write {
        on_conflict,
        ..Write::default()
    }
}

/// A step, and its code.
fn once(tree: &mut HistoryTree, actor: ActorId, action: Action) -> u16 {
    let node = tree.act_once(Operation::Act(actor, action)).unwrap();
    tree.step(node).unwrap().code().unwrap()
}

/// B writes another image.
fn interfere(tree: &mut HistoryTree, image: &str) {
    edit(tree, B, IMAGE, image);
    assert_eq!(once(tree, B, Action::Send(Write::default())), 200);
}

/// A has sent its replicas once, as B had written in between.
fn after_a_conflict(write: &Write) -> HistoryTree {
    let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
    for actor in [A, B] {
        once(&mut tree, actor, Action::Get);
    }
    interfere(&mut tree, "nginx:2");
    edit(&mut tree, A, REPLICAS, "5");
    assert_eq!(once(&mut tree, A, Action::Send(write.clone())), 409);
    tree
}

fn codes(tree: &HistoryTree, from: NodeId) -> Vec<u16> {
    let path = tree.current_path().iter().filter(|node| **node > from);
    path.map(|node| tree.step(*node).unwrap().code().unwrap())
        .collect()
}

#[test]
fn others_can_write_between_two_attempts_and_the_retry_goes_on() {
    let write = retries(OnConflict::ReadAgain(3));
    let mut tree = after_a_conflict(&write);
    assert_eq!(tree.world().next_attempt(A), Some(Action::Get));
    interfere(&mut tree, "nginx:3");
    assert_eq!(tree.world().next_attempt(A), Some(Action::Get));
    assert_eq!(once(&mut tree, A, Action::Get), 200);
    let send = Action::Send(write);
    assert_eq!(tree.world().next_attempt(A), Some(send.clone()));
    interfere(&mut tree, "nginx:4");
    assert_eq!(once(&mut tree, A, send), 409, "the second attempt");
    let before = tree.current();
    tree.retry(A).unwrap();
    assert_eq!(codes(&tree, before), [200, 200], "it reads and sends");
    assert_eq!(tree.world().next_attempt(A), None);
    let (_, stored) = tree.world().stored().unwrap();
    assert_eq!(stored.pointer(REPLICAS).unwrap(), 5);
    assert_eq!(stored.pointer(IMAGE).unwrap(), "nginx:4");
    assert_eq!(tree.world().verdict(), Verdict::InObject);
    assert_eq!(tree.retry(A), None);
}

#[test]
fn a_retry_ends_with_its_last_attempt() {
    let write = retries(OnConflict::ReadAgain(2));
    let mut tree = after_a_conflict(&write);
    assert_eq!(once(&mut tree, A, Action::Get), 200);
    interfere(&mut tree, "nginx:3");
    assert_eq!(once(&mut tree, A, Action::Send(write)), 409);
    assert_eq!(tree.world().next_attempt(A), None, "both are used up");
    assert_eq!(tree.world().verdict(), Verdict::Refused);
}

#[test]
fn one_who_resends_has_the_same_body_to_send_until_the_attempts_are_used_up() {
    let write = retries(OnConflict::Resend(3));
    let mut tree = after_a_conflict(&write);
    let send = Action::Send(write);
    assert_eq!(tree.world().next_attempt(A), Some(send));
    let before = tree.current();
    tree.retry(A).unwrap();
    assert_eq!(codes(&tree, before), [409, 409]);
}

#[test]
fn whoever_does_something_else_gives_its_retry_up() {
    let write = retries(OnConflict::ReadAgain(3));
    let give_up = Write::usual(Strategy::MergePatch);
    for action in [
        Action::Send(give_up),
        Action::Delete(Default::default()),
        Action::Send(Write::usual(Strategy::JsonPatch)),
    ] {
        let mut tree = after_a_conflict(&write);
        once(&mut tree, A, action);
        assert_eq!(tree.world().next_attempt(A), None);
    }
    let mut tree = after_a_conflict(&write);
    tree.world_mut().copy_mut(B).discard();
    once(&mut tree, B, Action::Get);
    assert!(tree.world().next_attempt(A).is_some(), "B is another one");
}

#[test]
fn a_send_runs_its_retries_and_each_moment_between_them_is_kept() {
    let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
    for actor in [A, B] {
        once(&mut tree, actor, Action::Get);
    }
    interfere(&mut tree, "nginx:2");
    edit(&mut tree, A, REPLICAS, "5");
    let before = tree.current();
    let send = Action::Send(retries(OnConflict::ReadAgain(5)));
    tree.act(Operation::Act(A, send)).unwrap();
    assert_eq!(codes(&tree, before), [409, 200, 200]);
    assert!(tree.back() && tree.back());
    assert_eq!(tree.world().next_attempt(A), Some(Action::Get));
    interfere(&mut tree, "nginx:3");
    tree.retry(A).unwrap();
    assert_eq!(codes(&tree, before).len(), 4, "a branch of its own");
    assert_eq!(tree.ends().len(), 2);
}
