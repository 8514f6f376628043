//! Replays a history of a search in a tree that people can step through.

use optimist_client::Procedure;

use super::acting::{action_of_tool, name_tool, send_next, take_answer};
use super::{Plan, Scenario, Search, TransitionId, TransitionKind};
use crate::{Action, ActorId, HistoryTree, Operation};

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
    let mut procedures = scenario.procedures();
    let mut stand = tree.current();
    for (i, id) in path.iter().enumerate() {
        let Some(edge) = search.edges().get(*id).filter(|edge| !edge.is_lost) else {
            break;
        };
        let (who, procedure) = (
            scenario.actors.get(edge.actor),
            procedures.get_mut(edge.actor),
        );
        let (Some(who), Some(procedure)) = (who, procedure) else {
            break;
        };
        let is_answered = !matches!(
            edge.what,
            TransitionKind::ServerReads | TransitionKind::ServerReadsAgain
        );
        if is_answered {
            let sent = match procedure {
                // The clock of the search stands still, so its bytes can differ from those that Play would make.
                Procedure::Tool(_) => search.request(edge).and_then(|request| {
                    let action = action_of_tool(&mut tree, *who, procedure, &request);
                    let node = tree.act_once(Operation::Act(*who, action))?;
                    procedure.wake();
                    take_answer(&mut tree, *who, procedure, node)?;
                    Some(node)
                }),
                editor => send_next(&mut tree, *who, editor),
            };
            if sent.is_none() {
                break;
            }
            choose_writes(scenario, &mut tree);
        }
        if i < steps {
            stand = tree.current();
        }
    }
    tree.go(stand);
    tree
}

/// Lets the actors that are tools have their names.
fn name_tools(scenario: &Scenario, tree: &mut HistoryTree) {
    for (id, plan) in scenario.acting() {
        if let Some((way, _)) = plan.tool() {
            name_tool(tree, id, way);
        }
    }
}

/// Lets each editor have its way of writing.
fn choose_writes(scenario: &Scenario, tree: &mut HistoryTree) {
    let plans = scenario.acting();
    for (id, plan) in plans.filter(|(_, plan)| plan.tool().is_none()) {
        tree.world_mut().actor_mut(id).set_write(plan.sends());
    }
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

impl Scenario {
    /// The processes of the plans, each with the object that it has from the start.
    pub(super) fn procedures(&self) -> Vec<Procedure> {
        let procedures = self.plans.iter().map(|plan| {
            let read = (!plan.begins_with_read()).then_some(&self.object);
            self.procedure(plan, read)
        });
        procedures.collect()
    }
}
