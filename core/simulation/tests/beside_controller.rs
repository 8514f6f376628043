//! Tools beside a controller: the search against a walk through every order of *Play*.

use std::collections::HashSet;

use optimist_checker::Safety;
use optimist_client::{Next, Preset, Procedure, Reply};
use optimist_controller::program::ReadyProgramName as Name;
use optimist_simulation::explore::{ControllerQuestion, ControllerSearch, ThirdActor};
use optimist_simulation::{
    Action, ActorId, ByHand, ControllerOperation as Do, HistoryTree, Operation, World,
};

use crate::widget::tree;

fn no_edit_lost(tree: &HistoryTree, third: ThirdActor) -> Option<ControllerQuestion> {
    let question = ControllerQuestion {
        always: vec![Safety::NoEditLost],
        ..ControllerQuestion::default()
    };
    question.with_third(tree.world(), third)
}

/// Sends the next request of a process by hand, whatever it is.
fn send(world: &mut World, actor: ActorId, procedure: &mut Procedure) -> bool {
    procedure.wake();
    let Next::Send(request) = procedure.next() else {
        return false;
    };
    let agent = request.headers()["user-agent"].to_str().unwrap();
    world.actor_mut(actor).manager = agent.into();
    let action = match request.method().as_str() {
        "GET" => Action::Get,
        _ => Action::Request(ByHand::exactly(&request)),
    };
    let step = world.act(Operation::Act(actor, action));
    let exchange = step.expect("a request can be sent").exchange.unwrap();
    procedure.answered(&Reply::from(&exchange));
    true
}

/// Returns whether an edit is lost in some order of a controller's steps and a process's requests.
fn loses_in_some_order(
    world: &World,
    (actor, procedure): (ActorId, &Procedure),
    seen: &mut HashSet<String>,
    depth: usize,
) -> bool {
    if !world.updates().losses().is_empty() {
        return true;
    }
    let controller = world.controller(ActorId::C).unwrap();
    let state = format!(
        "{:?} {:?} {:?} {:?} {:?} {procedure:?}",
        world.stored(),
        controller.caches()[0].version(),
        controller.queue(),
        controller.run(),
        world.server().environment(),
    );
    if depth == 0 || !seen.insert(state) {
        return false;
    }
    let operations =
        [Do::Deliver(0), Do::Step, Do::Wake].map(|of| Operation::Control(ActorId::C, of));
    let controlled = operations.into_iter().any(|operation| {
        let mut next = world.clone();
        next.act(operation).is_some()
            && loses_in_some_order(&next, (actor, procedure), seen, depth - 1)
    });
    let (mut next, mut process) = (world.clone(), procedure.clone());
    controlled
        || send(&mut next, actor, &mut process)
            && loses_in_some_order(&next, (actor, &process), seen, depth - 1)
}

#[test]
fn all_orders_of_play_lose_an_edit_where_the_search_says_so() {
    let mut told = Vec::new();
    for (name, switches) in [(Name::FinalizerKeeper, &[][..]), (Name::FieldOwner, &[])] {
        for third in ThirdActor::all() {
            let tree = tree(name, switches, &[]);
            let Some(question) = no_edit_lost(&tree, third) else {
                continue;
            };
            let (actor, procedure) = question.actors[0].clone();
            let mut search = ControllerSearch::new(tree.world(), question, 20_000).unwrap();
            search.run();
            let found = search.holds() == Some(false);
            let all =
                loses_in_some_order(tree.world(), (actor, &procedure), &mut HashSet::new(), 18);
            assert_eq!(found, all, "{name:?} {switches:?} {third:?}");
            told.push((third, found));
        }
    }
    let kinds = |lost: bool| told.iter().filter(move |(_, found)| *found == lost).count();
    assert!(kinds(true) > 2 && kinds(false) > 20, "{told:?}");
}

#[test]
fn a_tool_beside_a_controller_writes_in_play_as_in_the_search() {
    // The keeper's merge patch replaces the list of finalizers; `kubectl replace` replaces everything.
    let third = ThirdActor::Tool(Preset::KubectlReplace);
    let mut tree = tree(Name::FinalizerKeeper, &[], &[]);
    let question = no_edit_lost(&tree, third).unwrap();
    assert_eq!(question.actors[0].0, ActorId::D);
    let mut search = ControllerSearch::new(tree.world(), question, 20_000).unwrap();
    search.run();
    assert_eq!(
        search.holds(),
        Some(true),
        "it sends the version that it read"
    );
    let question = no_edit_lost(&tree, ThirdActor::Tool(Preset::Flux)).unwrap();
    let mut search = ControllerSearch::new(tree.world(), question, 20_000).unwrap();
    search.run();
    let answers = search.answers();
    // A run in which the tool does all that it does.
    let mut state = search.start().clone();
    let mut run = Vec::new();
    while let Some(event) = state.enabled().into_iter().find(|it| it.is_action()) {
        state.perform(event).unwrap();
        run.push(event);
    }
    search.question().replay(&mut tree, &run).unwrap();
    let steps = tree
        .current_path()
        .iter()
        .filter_map(|node| tree.step(*node));
    let of_tool = steps.filter(|step| step.actor() == Some(ActorId::D));
    let sent: Vec<String> = of_tool
        .filter_map(|step| step.exchange.as_ref())
        .map(|exchange| format!("{} {}", exchange.method, exchange.target.contains("dryRun")))
        .collect();
    assert_eq!(
        sent,
        ["GET false", "PATCH true", "PATCH false", "PATCH false"],
        "{answers:?}"
    );
    assert_eq!(&*tree.world().actor(ActorId::D).name, "Flux");
}

#[test]
fn what_cannot_be_is_not_asked() {
    let mut tree = tree(Name::FieldOwner, &[], &[]);
    let question = |tree: &HistoryTree, third| no_edit_lost(tree, third);
    let scales = ThirdActor::Tool(Preset::KubectlScale);
    assert!(question(&tree, scales).is_none(), "a widget has no scale");
    let deletes = ControllerQuestion::of_ready_program(tree.world()).unwrap();
    let deletes = deletes
        .with_third(tree.world(), ThirdActor::Deletes)
        .unwrap();
    assert!(
        deletes.at_rest.is_empty(),
        "they are about an object that lives"
    );
    for actor in [ActorId::D, ActorId::E, ActorId::F] {
        tree.act(Operation::Act(actor, Action::Get));
        let copy = tree.world_mut().copy_mut(actor);
        let mut object = (**copy.edited().unwrap()).clone();
        object["spec"]["size"] = 2.into();
        copy.edit(object);
    }
    let all = ControllerQuestion::of_ready_program(tree.world()).unwrap();
    let third = ThirdActor::Annotates;
    assert!(
        all.with_third(tree.world(), third).is_none(),
        "all have an edit"
    );
}
