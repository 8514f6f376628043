//! Replays a history of a search in a tree that people can step through.

use super::{Scenario, Search, TransitionId, TransitionKind};
use crate::{Action, ActorId, HistoryTree, Operation};
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
    take_copies(scenario, &mut tree);
    let mut stand = tree.current();
    for (i, id) in path.iter().enumerate() {
        let Some(edge) = search.edges().get(*id).filter(|edge| !edge.is_lost) else {
            break;
        };
        let (who, plan) = (ActorId::ALL.get(edge.actor), scenario.plans.get(edge.actor));
        let (Some(&who), Some(plan)) = (who, plan) else {
            break;
        };
        let action = match (edge.what, &plan.intent) {
            (TransitionKind::Read, _) => Some(Action::Get),
            (TransitionKind::Write, Intent::Delete) => Some(Action::Delete(plan.preconditions())),
            (TransitionKind::Write, Intent::Change(_) | Intent::Manifest(_)) => {
                Some(Action::Send(plan.sends()))
            }
            (TransitionKind::ServerReads | TransitionKind::ServerReadsAgain, _) => None,
        };
        if let Some(action) = action
            && tree.act_once(Operation::Act(who, action)).is_some()
        {
            let world = tree.world_mut();
            for (id, plan) in ActorId::ALL.into_iter().zip(&scenario.plans) {
                world.actor_mut(id).set_write(plan.sends());
            }
            let copy = world.copy_mut(who);
            if edge.what == TransitionKind::Read
                && let Some(read) = copy.read().cloned()
            {
                plan.intent.edit(copy, &read);
            }
        }
        if i < steps {
            stand = tree.current();
        }
    }
    tree.go(stand);
    tree
}

/// Gives the actors that do not read first their copy.
fn take_copies(scenario: &Scenario, tree: &mut HistoryTree) {
    let plans = ActorId::ALL.into_iter().zip(&scenario.plans);
    for (id, plan) in plans.filter(|(_, plan)| !plan.reads_first) {
        if tree.world().copy(id).read() != Some(&scenario.object) {
            tree.act_once(Operation::Act(id, Action::Get));
        }
        let copy = tree.world_mut().copy_mut(id);
        plan.intent.edit(copy, &scenario.object);
    }
}
