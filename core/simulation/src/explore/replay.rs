//! Replays a history of a search in a tree that people can step through.

use std::sync::Arc;

use http::header::USER_AGENT;

use super::{Plan, Scenario, Search, Transition, TransitionId, TransitionKind};
use crate::{Action, ActorId, ByHand, HistoryTree, Operation};
use optimist_client::Intent;

/// Performs the steps of a path in a tree, whose current node is the start of the scenario, and
/// moves to the node after the first `steps` steps. Earlier nodes of the tree stay. If the scenario
/// sets the owners, that request is the first step. Then the actors read that have the object from
/// the start. Steps inside the server are not steps of the tree: a request is one step, when it is
/// answered. In *Play* no answer is lost: a history ends before that.
pub fn replayed(
    search: &Search,
    path: &[TransitionId],
    steps: usize,
    mut tree: HistoryTree,
) -> HistoryTree {
    let scenario = search.scenario();
    if let Some(settling) = &scenario.settling {
        tree.act_once(Operation::Act(
            ActorId::C,
            Action::Request(settling.clone()),
        ));
    }
    name_tools(scenario, &mut tree);
    take_copies(scenario, &mut tree);
    let mut stand = tree.current();
    for (i, id) in path.iter().enumerate() {
        let Some(edge) = search.edges().get(*id).filter(|edge| !edge.is_lost) else {
            break;
        };
        let (who, plan) = (
            scenario.actors.get(edge.actor),
            scenario.plans.get(edge.actor),
        );
        let (Some(&who), Some(plan)) = (who, plan) else {
            break;
        };
        match plan.tool() {
            Some(_) => send_of_tool(search, edge, who, &mut tree),
            None => send_of_editor(scenario, edge, (who, plan), &mut tree),
        }
        if i < steps {
            stand = tree.current();
        }
    }
    tree.go(stand);
    tree
}

/// Sends the request of an editor's step, as one with a working copy.
fn send_of_editor(
    scenario: &Scenario,
    edge: &Transition,
    (who, plan): (ActorId, &Plan),
    tree: &mut HistoryTree,
) {
    let action = match (edge.what, &plan.intent) {
        (TransitionKind::Read, _) => Action::Get,
        (TransitionKind::Write, Intent::Delete) => Action::Delete(plan.preconditions()),
        (TransitionKind::Write, Intent::Change(_) | Intent::Manifest(_)) => {
            Action::Send(plan.sends())
        }
        // An editor sends no dry run.
        (
            TransitionKind::DryRun | TransitionKind::ServerReads | TransitionKind::ServerReadsAgain,
            _,
        ) => return,
    };
    if tree.act_once(Operation::Act(who, action)).is_none() {
        return;
    }
    let world = tree.world_mut();
    let plans = scenario.acting();
    for (id, plan) in plans.filter(|(_, plan)| plan.tool().is_none()) {
        world.actor_mut(id).set_write(plan.sends());
    }
    let copy = world.copy_mut(who);
    if edge.what == TransitionKind::Read
        && let Some(read) = copy.read().cloned()
    {
        plan.intent.edit(copy, &read);
    }
}

/// Lets the actors that are tools have the names of their field managers.
fn name_tools(scenario: &Scenario, tree: &mut HistoryTree) {
    let plans = scenario.acting();
    for (id, plan) in plans.filter(|(_, plan)| plan.tool().is_some()) {
        let actor = tree.world_mut().actor_mut(id);
        actor.name = Arc::clone(&plan.manager);
        actor.manager = Arc::clone(&plan.manager);
    }
}

/// Sends the request of a tool's step, as it is, with the tool's User-Agent. A write of a tool is not that of a
/// working copy, so it is a request by hand.
fn send_of_tool(search: &Search, edge: &Transition, who: ActorId, tree: &mut HistoryTree) {
    let is_answered = matches!(
        edge.what,
        TransitionKind::Read | TransitionKind::Write | TransitionKind::DryRun
    );
    let Some(request) = search.request(edge).filter(|_| is_answered) else {
        return;
    };
    let agent = request.headers().get(USER_AGENT);
    if let Some(agent) = agent.and_then(|agent| agent.to_str().ok()) {
        tree.world_mut().actor_mut(who).manager = agent.into();
    }
    let action = match edge.what {
        TransitionKind::Read => Action::Get,
        _ => Action::Request(ByHand::exactly(&request)),
    };
    tree.act_once(Operation::Act(who, action));
}

/// Gives the actors that do not read first their copy.
fn take_copies(scenario: &Scenario, tree: &mut HistoryTree) {
    let plans = scenario.acting();
    let has_read = |plan: &Plan| plan.tool().is_none() && !plan.reads_first;
    for (id, plan) in plans.filter(|(_, plan)| has_read(plan)) {
        if tree.world().copy(id).read() != Some(&scenario.object) {
            tree.act_once(Operation::Act(id, Action::Get));
        }
        let copy = tree.world_mut().copy_mut(id);
        plan.intent.edit(copy, &scenario.object);
    }
}
