//! The search of every history with a controller, from a world, and its witnesses in a tree.

use std::collections::HashSet;

use optimist_apiserver::object::Metadata;
use optimist_client::{Strategy, Write};
use optimist_controller::program::{ReadyProgram, ReadyProgramName as Name, Switch};
use optimist_controller::search::{Safety, Wish};
use optimist_simulation::explore::{
    ControllerQuestion, ControllerSearch, ControllerWitness, EditorPlan,
};
use optimist_simulation::verdict::Verdict;
use optimist_simulation::{
    Action, ActorId, ControllerOperation as Do, HistoryTree, Operation, World,
};
use serde_json::json;

mod widget;

use widget::tree;

/// An editor that reads the widget and sets its size.
fn resizes() -> EditorPlan {
    EditorPlan {
        actor: ActorId::A,
        kind: ReadyProgram::widget(),
        name: "web".to_owned(),
        reads_first: true,
        edits: vec![("/spec/size".to_owned(), Some(json!(2)))],
        update: true,
        versioned: true,
    }
}

fn one_child() -> ControllerQuestion {
    ControllerQuestion {
        editors: vec![resizes()],
        always: vec![Safety::AtMost(1, ReadyProgram::config_map())],
        at_rest: vec![Wish::Count(1, ReadyProgram::config_map())],
        settles: true,
        ..ControllerQuestion::default()
    }
}

fn searched(tree: &HistoryTree, question: ControllerQuestion) -> ControllerSearch {
    let mut search = ControllerSearch::new(tree.world(), question, 50_000).unwrap();
    search.run();
    search
}

fn children(world: &World) -> usize {
    world
        .server()
        .store()
        .range("/registry/configmaps/")
        .count()
}

#[test]
fn the_witness_of_a_second_child_opens_in_the_tree_at_the_deciding_step() {
    let mut tree = tree(Name::ChildMaker, &[]);
    let search = searched(&tree, one_child());
    assert_eq!(search.holds(), Some(false));
    let Some(ControllerWitness::Unsafe(0, run)) = search.witness() else {
        panic!("{:?}", search.witness())
    };
    let end = search.replay(&mut tree, &run).unwrap();
    assert_eq!(children(tree.world_at(end).unwrap()), 2);
    assert_eq!(
        children(tree.world_at(tree.parent(end).unwrap()).unwrap()),
        1
    );
    assert_eq!(tree.step(end).unwrap().status_line(), "201 Created");
}

#[test]
fn each_protection_alone_leaves_no_history_with_a_second_child() {
    use Switch::{DerivedName, Expectations, LiveList, ReadYourOwnWrites, WaitForOwnVersion};
    for switch in [
        DerivedName,
        Expectations,
        LiveList,
        ReadYourOwnWrites,
        WaitForOwnVersion,
    ] {
        let search = searched(&tree(Name::ChildMaker, &[switch]), one_child());
        assert_eq!(
            search.holds(),
            Some(true),
            "{switch:?} {:?}",
            search.witness()
        );
    }
    let timeouts = ControllerQuestion {
        timeouts: 1,
        ..one_child()
    };
    // kubernetes#129795
    let mut forgets = tree(Name::ChildMaker, &[Expectations]);
    let search = searched(&forgets, timeouts.clone());
    let run = search.witness().unwrap().run();
    search.replay(&mut forgets, &run).unwrap();
    assert_eq!(children(forgets.world()), 2);
    let waits = tree(Name::ChildMaker, &[WaitForOwnVersion]);
    assert_eq!(searched(&waits, timeouts).holds(), Some(true));
}

/// Editor A has added a finalizer and not sent it.
fn finalizer_pending(tree: &mut HistoryTree) {
    tree.act(Operation::Act(ActorId::A, Action::Get)).unwrap();
    let copy = tree.world_mut().copy_mut(ActorId::A);
    let mut object = (**copy.edited().unwrap()).clone();
    object.set_meta("finalizers", json!(["example.com/other"]));
    copy.edit(object);
    let write = Write::usual(Strategy::MergePatch);
    tree.world_mut().actor_mut(ActorId::A).set_write(write);
}

fn no_edit_lost(tree: &HistoryTree) -> ControllerQuestion {
    ControllerQuestion {
        editors: vec![EditorPlan::pending(tree.world(), ActorId::A).unwrap()],
        always: vec![Safety::NoEditLost],
        ..ControllerQuestion::default()
    }
}

#[test]
fn a_lost_edit_of_an_editor_is_found_and_the_verdict_of_the_witness_agrees() {
    // kubermatic#6759; java-operator-sdk#1248
    let mut flawed = tree(Name::FinalizerKeeper, &[]);
    finalizer_pending(&mut flawed);
    let search = searched(&flawed, no_edit_lost(&flawed));
    let run = search.witness().expect("a history that loses it").run();
    search.replay(&mut flawed, &run).unwrap();
    assert_eq!(flawed.world().verdict(), Verdict::Lost);
    // The keeper can lose the editor's edit, and the editor, who has read before, the keeper's.
    let mut locked = tree(Name::FinalizerKeeper, &[Switch::OptimisticLock]);
    finalizer_pending(&mut locked);
    let mut question = no_edit_lost(&locked);
    question.editors[0].versioned = true;
    assert_eq!(searched(&locked, question).holds(), Some(true));
}

#[test]
fn a_status_with_a_clock_never_rests_and_its_cycle_can_be_repeated() {
    use Switch::{Compare, DeepCopy, NoClock};
    // kubeflow/notebooks#1343; konflux-ci#5874; kubernetes-sigs/application#123
    let settles = || ControllerQuestion {
        settles: true,
        ..ControllerQuestion::default()
    };
    let mut clock = tree(Name::StatusWriter, &[DeepCopy, Compare]);
    let search = searched(&clock, settles());
    let Some(ControllerWitness::NeverRests(way, cycle)) = search.witness() else {
        panic!("{:?}", search.witness())
    };
    search.replay(&mut clock, &way).unwrap();
    let revision = |tree: &HistoryTree| tree.world().server().store().revision();
    for _ in 0..3 {
        let before = revision(&clock);
        search.replay(&mut clock, &cycle).expect("again and again");
        assert!(revision(&clock) > before);
    }
    let rests = tree(Name::StatusWriter, &[DeepCopy, Compare, NoClock]);
    assert_eq!(searched(&rests, settles()).holds(), Some(true));
}

/// Everything that the worlds of all orders of a few steps show.
fn loses_in_some_order(
    world: &World,
    sent: bool,
    seen: &mut HashSet<String>,
    depth: usize,
) -> bool {
    if !world.updates().losses().is_empty() {
        return true;
    }
    let controller = world.controller().unwrap();
    let state = format!(
        "{:?} {:?} {:?} {:?} {:?} {sent}",
        world.stored(),
        controller.caches()[0].version(),
        controller.queue(),
        controller.run(),
        world.server().environment(),
    );
    if depth == 0 || !seen.insert(state) {
        return false;
    }
    let mut operations: Vec<_> = [Do::Deliver(0), Do::Step, Do::Wake]
        .map(Operation::Control)
        .into();
    if !sent {
        let write = world.actor(ActorId::A).write();
        operations.push(Operation::Act(ActorId::A, Action::Send(write)));
    }
    operations.into_iter().any(|operation| {
        let sends = matches!(operation, Operation::Act(..));
        let mut next = world.clone();
        next.act(operation).is_some() && loses_in_some_order(&next, sent || sends, seen, depth - 1)
    })
}

#[test]
fn all_orders_of_the_world_lose_an_edit_where_the_search_says_so() {
    use Switch::{DeepCopy, OptimisticLock};
    let mut lost = Vec::new();
    for (name, switches) in [
        (Name::FinalizerKeeper, &[][..]),
        (Name::FinalizerKeeper, &[OptimisticLock]),
        (Name::FieldOwner, &[]),
        (Name::FieldOwner, &[OptimisticLock]),
        (Name::Annotator, &[DeepCopy]),
    ] {
        for versioned in [false, true] {
            let mut tree = tree(name, switches);
            finalizer_pending(&mut tree);
            let editor = tree.world_mut().actor_mut(ActorId::A);
            let write = Write {
                send_resource_version: versioned,
                ..editor.write()
            };
            editor.set_write(write);
            let found = searched(&tree, no_edit_lost(&tree)).holds() == Some(false);
            let all = loses_in_some_order(tree.world(), false, &mut HashSet::new(), 16);
            assert_eq!(found, all, "{name:?} {switches:?} {versioned}");
            lost.push(found);
        }
    }
    assert!(lost.contains(&true) && lost.contains(&false), "{lost:?}");
}
