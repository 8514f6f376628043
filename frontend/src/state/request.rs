//! A request that is written by hand.

use optimist_simulation::{Action, ActorId, ByHand, Operation};

use super::{Dialog, State};

/// A request that is being written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RequestDraft {
    /// Who sends it.
    pub(crate) actor: ActorId,
    pub(crate) by_hand: ByHand,
    /// Why it cannot be sent.
    pub(crate) problem: Option<String>,
}

impl State {
    /// Begins with what Send would send, or else with what Get would.
    pub(super) fn begin_request(&mut self, actor: ActorId) {
        let world = self.world();
        let send = Action::Send(world.actor(actor).write());
        let request = world.preview(actor, &send);
        let request = request.or_else(|| world.preview(actor, &Action::Get));
        self.request = request.map(|request| RequestDraft {
            actor,
            by_hand: ByHand::of(&request),
            problem: None,
        });
        self.dialog = Some(Dialog::Request);
    }

    pub(super) fn write_request(&mut self, by_hand: ByHand) {
        if let Some(request) = &mut self.request {
            request.by_hand = by_hand;
            request.problem = None;
        }
    }

    /// Sends it; what cannot be sent stays, with the reason.
    pub(super) fn send_request(&mut self) {
        let Some(request) = &mut self.request else {
            return;
        };
        if let Err(problem) = request.by_hand.check() {
            request.problem = Some(problem);
            return;
        }
        let action = Action::Request(request.by_hand.clone());
        let actor = request.actor;
        self.dialog = None;
        self.focus = actor;
        self.operate(Operation::Act(actor, action));
    }
}
