//! The next request of a process of a search, as a step of its actor in a tree.

use std::sync::Arc;

use http::header::USER_AGENT;
use http::{Method, Request};
use optimist_client::{Editor, Intent, Next, NextRequest, Procedure, Reply, Way};

use super::tool::name_of;
use crate::{Action, ActorId, ByHand, HistoryTree, NodeId, Operation};

/// Lets a process send its next request as an actor, in a tree. A process that waits has waited by then.
/// `None` if it is done, or the request is not possible there.
pub(super) fn send_next(
    tree: &mut HistoryTree,
    actor: ActorId,
    procedure: &mut Procedure,
) -> Option<NodeId> {
    procedure.wake();
    let object = procedure.object();
    let (kind, name) = (&object.resource().kind, object.name());
    tree.world_mut().look_at(kind, name);
    let action = match procedure {
        Procedure::Editor(editor) => action_of_editor(tree, actor, editor)?,
        Procedure::Tool(_) | Procedure::Single(_) => {
            let Next::Send(request) = procedure.next() else {
                return None;
            };
            if let Procedure::Tool(tool) = &*procedure {
                name_tool(tree, actor, tool.plan().way);
            }
            action_of_tool(tree, actor, &request)
        }
    };
    let node = tree.act_once(Operation::Act(actor, action))?;
    let reply = Reply::from(tree.step(node)?.exchange.as_ref()?);
    procedure.answered(&reply);
    if let Procedure::Editor(editor) = procedure {
        let plan = editor.plan();
        let of_actor = tree.world_mut().actor_mut(actor);
        of_actor.set_write(plan.write.clone());
        if editor.next_request() == NextRequest::Send && reply.is_accepted() {
            plan.edit(of_actor.copy_mut(&plan.object));
        }
    }
    Some(node)
}

/// Lets an actor that is a tool have the name of the tool's field manager. The two editors keep theirs.
pub(super) fn name_tool(tree: &mut HistoryTree, actor: ActorId, way: Way) {
    if let Some(name) = name_of(way).filter(|_| !ActorId::EDITORS.contains(&actor)) {
        tree.world_mut().actor_mut(actor).name = name.into();
    }
}

/// The action of an editor, who has a working copy.
fn action_of_editor(tree: &mut HistoryTree, actor: ActorId, editor: &Editor) -> Option<Action> {
    let plan = editor.plan();
    tree.world_mut().actor_mut(actor).manager = Arc::clone(&plan.manager);
    match editor.next_request() {
        NextRequest::Read => Some(Action::Get),
        NextRequest::Send if plan.intent == Some(Intent::Delete) => {
            Some(Action::Delete(plan.preconditions()))
        }
        NextRequest::Send => Some(Action::Send(plan.write.clone())),
        NextRequest::Nothing => None,
    }
}

/// The action of a tool, with the tool's User-Agent. A write of a tool is not that of a working copy, so it
/// is a request by hand.
pub(super) fn action_of_tool(
    tree: &mut HistoryTree,
    actor: ActorId,
    request: &Request<Vec<u8>>,
) -> Action {
    let agent = request.headers().get(USER_AGENT);
    if let Some(agent) = agent.and_then(|agent| agent.to_str().ok()) {
        tree.world_mut().actor_mut(actor).manager = agent.into();
    }
    match *request.method() == Method::GET {
        true => Action::Get,
        false => Action::Request(ByHand::exactly(request)),
    }
}
