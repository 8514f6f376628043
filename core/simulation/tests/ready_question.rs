//! The question about every history of a ready program: its flaw breaks the properties, and the fix
//! keeps them.

use optimist_apiserver::object::Metadata;
use optimist_client::{IntendedChange, Procedure, Strategy, Write};
use optimist_controller::program::{ReadyProgramName as Name, Switch};
use optimist_simulation::explore::{ControllerQuestion, ControllerSearch, PropertyAnswer};
use optimist_simulation::{
    Action, ActorId, ByHand, ControllerOperation, HistoryTree, Operation, Start, WIDGET, World,
};
use serde_json::{Value, json};

use crate::widget::tree;

/// Editor A has read the widget, and has edited and not sent it.
fn pending(tree: &mut HistoryTree, edit: impl FnOnce(&mut Value)) {
    tree.act(Operation::Act(ActorId::A, Action::Get)).unwrap();
    let world = tree.world_mut();
    world
        .actor_mut(ActorId::A)
        .set_write(Write::usual(Strategy::Update));
    let copy = world.copy_mut(ActorId::A);
    let mut object = (**copy.edited().unwrap()).clone();
    edit(&mut object);
    copy.edit(object);
}

fn create(tree: &mut HistoryTree, target: &str, object: &Value) {
    let request = ByHand {
        method: "POST".to_owned(),
        target: target.to_owned(),
        content_type: "application/json".to_owned(),
        body: object.to_string(),
    };
    let act = Operation::Act(ActorId::B, Action::Request(request));
    let node = tree.act(act).unwrap();
    assert_eq!(tree.step(node).unwrap().status_line(), "201 Created");
}

/// A new widget and its child, whose events are on their way to the caches.
fn new_owner_and_child(tree: &mut HistoryTree) {
    let widget = json!({"apiVersion": "demo.example.com/v1", "kind": "Widget",
        "metadata": {"name": "new"}, "spec": {"size": 1}});
    let widgets = "/apis/demo.example.com/v1/namespaces/default/widgets";
    create(tree, widgets, &widget);
    let key = "/registry/demo.example.com/widgets/default/new";
    let uid = tree
        .world()
        .server()
        .store()
        .get(key)
        .unwrap()
        .1
        .uid()
        .to_owned();
    let child = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
        "name": "new-child", "ownerReferences": [{"apiVersion": "demo.example.com/v1",
            "kind": "Widget", "name": "new", "uid": uid, "controller": true}]}});
    create(tree, "/api/v1/namespaces/default/configmaps", &child);
}

/// An editor that reads the widget, sets a field and sends an Update.
fn sets(tree: &HistoryTree, field: &str, value: Value) -> (ActorId, Procedure) {
    let change = IntendedChange::at(field, Some(value));
    tree.world().reads_and_changes(ActorId::B, vec![change])
}

/// Returns the answer of the search for a program with some switches, in a state that can show its
/// flaw.
fn holds(name: Name, switches: &[Switch]) -> Option<bool> {
    let mut tree = tree(name, switches, &[]);
    let mut further = Vec::new();
    match name {
        Name::Cleaner => new_owner_and_child(&mut tree),
        Name::FinalizerKeeper => further.push(sets(
            &tree,
            "/metadata/finalizers",
            json!(["example.com/backup"]),
        )),
        Name::FieldOwner => further.push(sets(&tree, "/spec/size", json!(5))),
        Name::Copier => further.extend([2, 1].map(|size| sets(&tree, "/spec/size", json!(size)))),
        Name::StatusWriter | Name::Annotator => {}
        Name::ChildMaker | Name::Scaler => {
            pending(&mut tree, |object| object["spec"]["size"] = json!(2));
        }
    }
    let mut question = ControllerQuestion::of_ready_program(tree.world()).expect("it fits");
    question.actors.extend(further);
    // A restart is the largest part of the states, and needed for no flaw.
    if !matches!(name, Name::ChildMaker) {
        question.faults.restarts = 0;
    }
    let mut search = ControllerSearch::new(tree.world(), question, 20_000).unwrap();
    search.run();
    search.holds()
}

#[test]
fn the_flaw_of_each_ready_program_breaks_what_is_asked_and_the_fix_keeps_it() {
    use Switch::{
        Compare, DeepCopy, DerivedName, GenerationChanged, LiveParent, NoClock, OptimisticLock,
        UidPrecondition, WaitForOwnVersion,
    };
    for name in Name::ALL {
        let (flaw, fix): (&[Switch], &[Switch]) = match name {
            Name::ChildMaker => (&[], &[DerivedName]),
            Name::StatusWriter => (&[Compare, DeepCopy], &[NoClock, Compare, DeepCopy]),
            Name::Scaler => (&[], &[WaitForOwnVersion]),
            Name::FinalizerKeeper | Name::FieldOwner => (&[], &[OptimisticLock]),
            Name::Cleaner => (&[], &[LiveParent, UidPrecondition]),
            Name::Annotator => (&[], &[DeepCopy]),
            Name::Copier => (
                &[GenerationChanged],
                &[GenerationChanged, WaitForOwnVersion],
            ),
        };
        assert_eq!(holds(name, flaw), Some(false), "{name:?} {flaw:?}");
        assert_eq!(holds(name, fix), Some(true), "{name:?} {fix:?}");
    }
}

#[test]
fn that_a_child_is_not_deleted_is_not_tried_where_there_is_none() {
    for has_child in [false, true] {
        let mut tree = tree(
            Name::Cleaner,
            &[Switch::LiveParent, Switch::UidPrecondition],
            &[],
        );
        if has_child {
            new_owner_and_child(&mut tree);
        }
        let question = ControllerQuestion::of_ready_program(tree.world()).expect("it fits");
        let mut search = ControllerSearch::new(tree.world(), question, 20_000).unwrap();
        search.run();
        let answer = match has_child {
            true => PropertyAnswer::Holds,
            false => PropertyAnswer::Untried,
        };
        assert_eq!(search.answers().first(), Some(&answer));
    }
}

#[test]
fn nothing_is_asked_where_the_properties_do_not_fit_the_objects() {
    let mut tree = tree(Name::ChildMaker, &[], &[]);
    assert!(ControllerQuestion::of_ready_program(tree.world()).is_some());
    new_owner_and_child(&mut tree);
    assert!(ControllerQuestion::of_ready_program(tree.world()).is_none());
    let other = Start::with(WIDGET);
    let world = World::from_start(other.into()).unwrap().0;
    assert!(ControllerQuestion::of_ready_program(&world).is_none());
}

#[test]
fn every_edit_that_is_not_sent_is_asked_of_by_the_way_that_its_editor_writes() {
    let mut tree = tree(Name::ChildMaker, &[], &[]);
    pending(&mut tree, |object| object["spec"]["size"] = json!(2));
    for strategy in Strategy::ALL {
        let editor = tree.world_mut().actor_mut(ActorId::A);
        editor.set_write(Write::usual(strategy));
        let question = ControllerQuestion::of_ready_program(tree.world()).unwrap();
        assert_eq!(question.actors.len(), 1);
        let Procedure::Editor(editor) = &question.actors[0].1 else {
            panic!("an editor")
        };
        assert_eq!(editor.plan().write.strategy, strategy);
    }
}

/// The event of a deleted owner alone tells of a child whose own event came before.
#[test]
fn a_cleaner_that_finds_children_by_their_owner_queues_the_child_of_an_owner_that_is_gone() {
    use ControllerOperation as Do;
    let queued = |switches: &[Switch]| {
        let mut tree = tree(Name::Cleaner, switches, &[]);
        new_owner_and_child(&mut tree);
        let control = |tree: &mut HistoryTree, of| tree.act(Operation::Control(ActorId::C, of));
        // Both are in the caches, and nothing is to be done.
        for cache in [0, 1] {
            while control(&mut tree, Do::Deliver(cache)).is_some() {}
        }
        while control(&mut tree, Do::Step).is_some() {}
        let delete = ByHand {
            method: "DELETE".to_owned(),
            target: "/apis/demo.example.com/v1/namespaces/default/widgets/new".to_owned(),
            content_type: String::new(),
            body: String::new(),
        };
        tree.act(Operation::Act(ActorId::B, Action::Request(delete)))
            .unwrap();
        while control(&mut tree, Do::Deliver(1)).is_some() {}
        let controller = tree.world().controller(ActorId::C).unwrap();
        let queued: Vec<String> = controller.queue().queued().map(str::to_owned).collect();
        while control(&mut tree, Do::Step).is_some() {}
        let rows = tree.world().stored_rows();
        let child = rows.into_iter().find(|row| row.name == "new-child");
        (queued, child.is_some_and(|row| row.version.is_some()))
    };
    assert_eq!(queued(&[]), (vec!["default/new".to_owned()], true));
    let finds = queued(&[Switch::FindsChildren]);
    assert_eq!(finds, (vec!["default/new-child".to_owned()], false));
}
