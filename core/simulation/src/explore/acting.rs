//! The next request of a process of a search, as a step of its actor in a tree.

use std::sync::Arc;

use http::header::USER_AGENT;
use http::{Method, Request};
use optimist_client::{Editor, Next, NextRequest, Procedure, Reply, Way};

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
            action_of_tool(tree, actor, procedure, &request)
        }
    };
    let node = tree.act_once(Operation::Act(actor, action))?;
    let reply = take_answer(tree, actor, procedure, node)?;
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

/// Gives a process the answer of a step. A tool that then sends the edits of a copy has that working copy in the tree.
pub(super) fn take_answer(
    tree: &mut HistoryTree,
    actor: ActorId,
    procedure: &mut Procedure,
    node: NodeId,
) -> Option<Reply> {
    let reply = Reply::from(tree.step(node)?.exchange.as_ref()?);
    procedure.answered(&reply);
    if let (Procedure::Tool(tool), Next::Send(request)) = (&*procedure, procedure.next())
        && let Some(editor) = tool.editor()
        && editor.next_request() == NextRequest::Send
    {
        send_copy(tree, actor, editor, &request);
    }
    Some(reply)
}

/// Lets an actor that is a tool have the tool's name. The two editors keep theirs.
pub(super) fn name_tool(tree: &mut HistoryTree, actor: ActorId, way: Way) {
    if let Some(name) = name_of(way).filter(|_| !ActorId::EDITORS.contains(&actor)) {
        tree.world_mut().name_actor(actor, name);
    }
}

/// The action of an editor, who has a working copy.
fn action_of_editor(tree: &mut HistoryTree, actor: ActorId, editor: &Editor) -> Option<Action> {
    tree.world_mut().actor_mut(actor).manager = Arc::clone(&editor.plan().manager);
    Action::next_of(editor)
}

/// The action of a tool that sends a request, with the tool's User-Agent. A tool that sends edits of a copy has that
/// working copy in the tree, so that a retry is told as one. Any other write is a request by hand.
pub(super) fn action_of_tool(
    tree: &mut HistoryTree,
    actor: ActorId,
    procedure: &Procedure,
    request: &Request<Vec<u8>>,
) -> Action {
    let agent = request.headers().get(USER_AGENT);
    if let Some(agent) = agent.and_then(|agent| agent.to_str().ok()) {
        tree.world_mut().actor_mut(actor).manager = agent.into();
    }
    if *request.method() == Method::GET {
        let scale_path = procedure.object().scale_path();
        return match request.uri().path() == scale_path {
            true => Action::GetScale,
            false => Action::Get,
        };
    }
    let editor = match procedure {
        Procedure::Tool(tool) => tool.editor(),
        Procedure::Editor(_) | Procedure::Single(_) => None,
    };
    let sent = editor.and_then(|editor| send_copy(tree, actor, editor, request));
    sent.unwrap_or_else(|| Action::Request(ByHand::exactly(request)))
}

/// Gives an actor the working copy and the way of writing of an editor. `None`, with nothing changed, if it would then
/// send another request.
fn send_copy(
    tree: &mut HistoryTree,
    actor: ActorId,
    editor: &Editor,
    request: &Request<Vec<u8>>,
) -> Option<Action> {
    let (write, world) = (&editor.plan().write, tree.world_mut());
    let mut acting = world.actor(actor).clone();
    acting.copy_mut(world.subject()).clone_from(editor.copy());
    acting.set_write(write.clone());
    let action = Action::Send(write.clone());
    let sent = action.request(&acting, world.subject())?;
    let same = sent.uri() == request.uri() && sent.body() == request.body();
    same.then(|| {
        *world.actor_mut(actor) = acting;
        action
    })
}
