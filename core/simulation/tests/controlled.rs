//! The search of every history with a controller, from a world, and its witnesses in a tree.

use std::collections::HashSet;

use optimist_apiserver::object::Metadata;
use optimist_checker::{Goal, Safety};
use optimist_client::{IntendedChange, OnConflict, Procedure, Strategy, Write};
use optimist_controller::program::{ReadyProgram, ReadyProgramName as Name, Switch};
use optimist_simulation::explore::{
    ControllerQuestion, ControllerReplay, ControllerSearch, ControllerWitness, HistoryProperty,
    Occurrence, PropertyAnswer,
};
use optimist_simulation::verdict::Verdict;
use optimist_simulation::{
    Action, ActorId, BrokenProperty, ControllerOperation as Do, HistoryTree, Operation, World,
};
use optimist_system::{Event, Faults};
use serde_json::json;

use crate::widget::tree;

/// An editor that reads the widget and sets its size.
fn resizes(tree: &HistoryTree) -> (ActorId, Procedure) {
    let change = IntendedChange::at("/spec/size", Some(json!(2)));
    tree.world().reads_and_changes(ActorId::A, vec![change])
}

fn one_child(tree: &HistoryTree) -> ControllerQuestion {
    ControllerQuestion {
        actors: vec![resizes(tree)],
        always: vec![Safety::AtMost(1, ReadyProgram::config_map())],
        at_rest: vec![Goal::Count(1, ReadyProgram::config_map())],
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
    let mut tree = tree(Name::ChildMaker, &[], &[]);
    let search = searched(&tree, one_child(&tree));
    assert_eq!(search.holds(), Some(false));
    let Some(ControllerWitness::Unsafe(0, run)) = search.witness() else {
        panic!("{:?}", search.witness())
    };
    let end = search.question().replay(&mut tree, &run).unwrap();
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
        let tree = tree(Name::ChildMaker, &[switch], &[]);
        let search = searched(&tree, one_child(&tree));
        assert_eq!(
            search.holds(),
            Some(true),
            "{switch:?} {:?}",
            search.witness()
        );
    }
    // kubernetes#129795
    let mut forgets = tree(Name::ChildMaker, &[Expectations], &[]);
    let timeouts = ControllerQuestion {
        faults: Faults {
            timeouts: 1,
            ..Faults::default()
        },
        ..one_child(&forgets)
    };
    let search = searched(&forgets, timeouts.clone());
    let run = search.witness().unwrap().run();
    search.question().replay(&mut forgets, &run).unwrap();
    assert_eq!(children(forgets.world()), 2);
    let waits = tree(Name::ChildMaker, &[WaitForOwnVersion], &[]);
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
        actors: vec![tree.world().pending(ActorId::A).unwrap()],
        always: vec![Safety::NoEditLost],
        ..ControllerQuestion::default()
    }
}

#[test]
fn a_lost_edit_of_an_editor_is_found_and_the_verdict_of_the_witness_agrees() {
    // kubermatic#6759; java-operator-sdk#1248
    let mut flawed = tree(Name::FinalizerKeeper, &[], &[]);
    finalizer_pending(&mut flawed);
    let search = searched(&flawed, no_edit_lost(&flawed));
    let run = search.witness().expect("a history that loses it").run();
    search.question().replay(&mut flawed, &run).unwrap();
    assert_eq!(flawed.world().verdict(), Verdict::Lost);
    // The keeper can lose the editor's edit, and the editor, who has read before, the keeper's.
    let mut locked = tree(Name::FinalizerKeeper, &[Switch::OptimisticLock], &[]);
    finalizer_pending(&mut locked);
    let editor = locked.world_mut().actor_mut(ActorId::A);
    let write = Write {
        send_resource_version: true,
        ..editor.write()
    };
    editor.set_write(write);
    let question = no_edit_lost(&locked);
    assert_eq!(searched(&locked, question).holds(), Some(true));
}

/// A field of the widget is set and sent by an editor who reads it first.
fn edit(tree: &mut HistoryTree, actor: ActorId, change: impl FnOnce(&mut serde_json::Value)) {
    tree.act(Operation::Act(actor, Action::Get)).unwrap();
    let copy = tree.world_mut().copy_mut(actor);
    let mut object = (**copy.edited().unwrap()).clone();
    change(&mut object);
    copy.edit(object);
    let write = tree.world().actor(actor).write();
    let node = tree
        .act(Operation::Act(actor, Action::Send(write)))
        .unwrap();
    assert_eq!(tree.step(node).unwrap().status_line(), "200 OK");
}

fn step(tree: &mut HistoryTree) {
    let step = Operation::Control(ActorId::C, Do::Step);
    tree.act(step).expect("the controller can go on");
}

#[test]
fn a_search_knows_what_was_done_before_it_began() {
    for (name, field) in [(Name::FieldOwner, "size"), (Name::FinalizerKeeper, "")] {
        let mut tree = tree(name, &[], &[]);
        step(&mut tree);
        step(&mut tree);
        edit(&mut tree, ActorId::A, |object| match field {
            "" => object.set_meta("finalizers", json!(["example.com/other"])),
            field => object["spec"][field] = json!(5),
        });
        let question = ControllerQuestion::of_ready_program(tree.world()).unwrap();
        assert!(question.actors.is_empty());
        let search = searched(&tree, question);
        let Some(ControllerWitness::Unsafe(0, run)) = search.witness() else {
            panic!("{name:?} {:?}", search.answers())
        };
        search.question().replay(&mut tree, &run).unwrap();
        assert_eq!(tree.world().verdict(), Verdict::Lost, "{name:?}");
    }
}

#[test]
fn the_edits_of_all_editors_beside_a_controller_are_ordered_with_its_steps() {
    let mut tree = tree(Name::FinalizerKeeper, &[], &[]);
    finalizer_pending(&mut tree);
    for (actor, name) in [(ActorId::D, "example.com/d"), (ActorId::F, "example.com/f")] {
        tree.act(Operation::Act(actor, Action::Get)).unwrap();
        let copy = tree.world_mut().copy_mut(actor);
        let mut object = (**copy.edited().unwrap()).clone();
        object.set_meta("finalizers", json!([name]));
        copy.edit(object);
    }
    let question = ControllerQuestion::of_ready_program(tree.world()).unwrap();
    let editors: Vec<ActorId> = question.actors.iter().map(|(actor, _)| *actor).collect();
    assert_eq!(editors, [ActorId::A, ActorId::D, ActorId::F]);
    let writes = |actor: ActorId| Occurrence::Writes(actor as usize);
    let property = HistoryProperty::Before(writes(ActorId::F), writes(ActorId::D));
    let question = ControllerQuestion::with_own(tree.world(), property).unwrap();
    let search = searched(&tree, question);
    let answers = search.answers();
    let Some(PropertyAnswer::Broken(witness)) = answers.last() else {
        panic!("{answers:?}")
    };
    let before = tree.current_path().len();
    search.question().replay(&mut tree, &witness.run()).unwrap();
    let steps = tree.current_path()[before..].iter();
    let writers = steps.filter_map(|node| match tree.step(*node)?.operation {
        Operation::Act(actor, Action::Send(_)) => Some(actor),
        _ => None,
    });
    let writers: Vec<ActorId> = writers.collect();
    assert_eq!(writers.last(), Some(&ActorId::D));
    assert!(!writers.contains(&ActorId::F));
}

#[test]
fn a_question_that_nothing_can_violate_does_not_hold() {
    let tree = tree(Name::FieldOwner, &[], &[]);
    let question = ControllerQuestion::of_ready_program(tree.world()).unwrap();
    assert_eq!(question.always, [Safety::NoEditLost]);
    let answers = searched(&tree, question).answers();
    assert_eq!(answers, [PropertyAnswer::Untried, PropertyAnswer::Holds]);
}

#[test]
fn a_property_that_is_broken_already_does_not_hold() {
    let mut tree = tree(Name::ChildMaker, &[], &[]);
    assert_eq!(tree.world().broken_properties(ActorId::C), []);
    step(&mut tree);
    while tree.world().controller(ActorId::C).unwrap().run().is_some() {
        step(&mut tree);
    }
    edit(&mut tree, ActorId::A, |object| {
        object["spec"]["size"] = json!(2)
    });
    tree.act(Operation::Control(ActorId::C, Do::Deliver(0)))
        .unwrap();
    assert_eq!(tree.world().broken_properties(ActorId::C), []);
    step(&mut tree);
    while tree.world().controller(ActorId::C).unwrap().run().is_some() {
        step(&mut tree);
    }
    let kind = ReadyProgram::config_map();
    let (found, most) = (2, 1);
    let broken = BrokenProperty::TooMany { kind, found, most };
    let now = std::slice::from_ref(&broken);
    assert_eq!(tree.world().broken_properties(ActorId::C), now);
    let question = ControllerQuestion::of_ready_program(tree.world()).unwrap();
    let answer = searched(&tree, question).answers().remove(0);
    let now = PropertyAnswer::Broken(ControllerWitness::Unsafe(0, Vec::new()));
    assert_eq!(answer, now);
    // At rest it is not as wished, either.
    while let Some(deliver) = tree.world().next_delivery(ActorId::C) {
        tree.act(Operation::Control(ActorId::C, deliver)).unwrap();
    }
    while tree.act(Operation::Control(ActorId::C, Do::Step)).is_some() {}
    let goal = Goal::Count(1, ReadyProgram::config_map());
    let at_rest = [broken, BrokenProperty::AtRest(goal)];
    assert_eq!(tree.world().broken_properties(ActorId::C), at_rest);
}

#[test]
fn two_controllers_that_make_one_child_each_break_the_goal_of_both() {
    // Each knows its own writes and not those of the other.
    let once: &[Switch] = &[Switch::Expectations];
    let mut tree = tree(Name::ChildMaker, once, &[(Name::ChildMaker, once.to_vec())]);
    let (first, second) = (ActorId::C, ActorId::D);
    let question = ControllerQuestion::of_ready_program(tree.world()).unwrap();
    // Both have the same properties: each is asked once.
    assert_eq!(question.always.len(), 1);
    let search = searched(&tree, question.clone());
    let Some(ControllerWitness::Unsafe(0, run)) = search.witness() else {
        panic!("{:?}", search.witness())
    };
    question.replay(&mut tree, &run).unwrap();
    let writers: Vec<ActorId> = tree
        .current_path()
        .iter()
        .filter_map(|node| tree.step(*node))
        .filter(|step| step.exchange.as_ref().is_some_and(|it| it.method == "POST"))
        .filter_map(|step| step.actor())
        .collect();
    assert!(
        writers == [first, second] || writers == [second, first],
        "{writers:?}"
    );
    assert_eq!(children(tree.world()), 2);
    let kind = ReadyProgram::config_map();
    let (found, most) = (2, 1);
    let broken = BrokenProperty::TooMany { kind, found, most };
    for controller in [first, second] {
        let now = std::slice::from_ref(&broken);
        assert_eq!(tree.world().broken_properties(controller), now);
    }
    // One of them alone makes one.
    let alone = self::tree(Name::ChildMaker, once, &[]);
    let question = ControllerQuestion::of_ready_program(alone.world()).unwrap();
    assert_eq!(
        searched(&alone, question).answers()[0],
        PropertyAnswer::Holds
    );
}

#[test]
fn each_of_two_controllers_has_its_own_steps_caches_and_runs() {
    let mut tree = tree(Name::FieldOwner, &[], &[(Name::Scaler, Vec::new())]);
    // The scaler may make as many children as the field owner asks for.
    let question = ControllerQuestion::of_ready_program(tree.world()).unwrap();
    let most = Safety::AtMost(3, ReadyProgram::config_map());
    assert!(question.always.contains(&most), "{:?}", question.always);
    // Each controller has its own steps, caches and runs.
    let (owner, scaler) = (ActorId::C, ActorId::D);
    tree.run_controller(owner).unwrap();
    assert_eq!(tree.run_number(owner), 1);
    assert_eq!(tree.run_number(scaler), 0);
    let size = &tree.world().stored().unwrap().1["spec"]["size"];
    assert_eq!(size, &json!(3));
    let behind = |id: ActorId| tree.world().cache_standings(id)[0].behind;
    assert_eq!((behind(owner), behind(scaler)), (1, 1));
    tree.act(Operation::Control(scaler, Do::Deliver(0)))
        .unwrap();
    let behind = |id: ActorId| tree.world().cache_standings(id)[0].behind;
    assert_eq!((behind(owner), behind(scaler)), (1, 0));
}

/// The status codes of an editor's requests in a run: the controller first, then the editor.
fn codes_after_the_controller(write: Write) -> Vec<u16> {
    let mut tree = tree(Name::FieldOwner, &[], &[]);
    tree.act(Operation::Act(ActorId::A, Action::Get)).unwrap();
    let world = tree.world_mut();
    world.actor_mut(ActorId::A).set_write(write);
    let copy = world.copy_mut(ActorId::A);
    let mut object = (**copy.edited().unwrap()).clone();
    object["spec"]["color"] = json!("red");
    copy.edit(object);
    let question = no_edit_lost(&tree);
    let search = ControllerSearch::new(tree.world(), question, 1_000).unwrap();
    let (mut state, mut replay) = (
        search.start().clone(),
        ControllerReplay::new(search.question()),
    );
    while let Some(transition) = state.enabled().into_iter().max_by_key(|step| {
        let is_edit = matches!(step, Event::Request(_));
        let deliver = matches!(step, Event::Deliver { .. });
        (!is_edit, !deliver)
    }) {
        state.perform(transition).unwrap();
        replay.perform(&mut tree, transition).unwrap();
    }
    let steps = tree
        .current_path()
        .iter()
        .filter_map(|node| tree.step(*node));
    let of_a = steps.filter(|step| step.actor() == Some(ActorId::A));
    let codes = of_a.filter_map(|step| Some(step.exchange.as_ref()?.code));
    codes.skip(1).collect()
}

#[test]
fn an_editor_of_a_search_does_after_a_conflict_what_it_does_in_play() {
    let write = |on_conflict| Write {
        on_conflict,
        ..Write::usual(Strategy::Update)
    };
    let codes = |on_conflict| codes_after_the_controller(write(on_conflict));
    assert_eq!(codes(OnConflict::GiveUp), [409]);
    assert_eq!(codes(OnConflict::ReadAgain(5)), [409, 200, 200]);
    assert_eq!(codes(OnConflict::Resend(3)), [409, 409, 409]);
}

#[test]
fn a_status_with_a_clock_never_rests_and_its_cycle_can_be_repeated() {
    use Switch::{Compare, DeepCopy, NoClock};
    // kubeflow/notebooks#1343; konflux-ci#5874; kubernetes-sigs/application#123
    let settles = || ControllerQuestion {
        settles: true,
        ..ControllerQuestion::default()
    };
    let mut clock = tree(Name::StatusWriter, &[DeepCopy, Compare], &[]);
    let search = searched(&clock, settles());
    let Some(ControllerWitness::NeverRests(way, cycle)) = search.witness() else {
        panic!("{:?}", search.witness())
    };
    let mut opened = clock.clone();
    let witness = search.witness().unwrap();
    search.question().replay_witness(&mut opened, &witness);
    let repeatable = opened.repeatable_steps();
    assert!(repeatable.is_some_and(|steps| steps >= cycle.len()));
    opened.back();
    assert_eq!(
        opened.repeatable_steps(),
        None,
        "it is said at the last step"
    );
    search.question().replay(&mut clock, &way).unwrap();
    let revision = |tree: &HistoryTree| tree.world().server().store().revision();
    for _ in 0..3 {
        let before = revision(&clock);
        search
            .question()
            .replay(&mut clock, &cycle)
            .expect("again and again");
        assert!(revision(&clock) > before);
    }
    let rests = tree(Name::StatusWriter, &[DeepCopy, Compare, NoClock], &[]);
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
    let controller = world.controller(ActorId::C).unwrap();
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
        .map(|of| Operation::Control(ActorId::C, of))
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
            let mut tree = tree(name, switches, &[]);
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
