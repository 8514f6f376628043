//! The requests of an editor: by a button, or written by hand.

use optimist_client::{Write, WriteMethod};
use optimist_simulation::{Action, ActorId, ByHand, Operation, Preconditions};

use crate::State;
use crate::editing::FIELD;
use crate::effect::{BrowserEffect, Effects};
use crate::view::Dialog;

/// A request that is being written.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestDraft {
    /// The actor that sends it.
    pub actor: ActorId,
    /// The request.
    pub by_hand: ByHand,
    /// The request that the dialog began with.
    pub proposed: ByHand,
    /// The reason why it cannot be sent.
    pub problem: Option<String>,
}

impl RequestDraft {
    /// Takes a changed request. A body that nobody has changed is replaced by the body that the new
    /// method begins with.
    fn change(&mut self, changed: ByHand) {
        let usual = self.proposed.with_method(&self.by_hand.method);
        let is_usual = (&changed.content_type, &changed.body) == (&usual.content_type, &usual.body);
        self.problem = None;
        self.by_hand = if is_usual && changed.method != usual.method {
            ByHand {
                target: changed.target,
                ..self.proposed.with_method(&changed.method)
            }
        } else {
            changed
        };
    }
}

/// The settings of the next requests.
#[derive(Clone, Debug, Default)]
pub struct RequestState {
    /// The preconditions of a delete.
    pub preconditions: Preconditions,
    /// A request that is written by hand.
    pub draft: Option<RequestDraft>,
}

/// A message about requests.
#[derive(Clone, Debug)]
pub enum RequestMsg {
    /// Reads the object.
    Get(ActorId),
    /// Sends the edits.
    Send(ActorId),
    /// Goes on with the retries of a write that met a conflict, to their end.
    Retry(ActorId),
    /// Goes to another ending: sends the edit once more, in another way, where it was sent.
    Ending(WriteMethod),
    /// Deletes the object.
    Delete(ActorId),
    /// Creates the object.
    Create(ActorId),
    /// Sets the preconditions of a delete.
    Preconditions(Preconditions),
    /// Begins a request by hand.
    Begin(ActorId),
    /// Changes the request by hand.
    ByHand(ByHand),
    /// Sends the request by hand.
    SendByHand,
}

impl State {
    pub(crate) fn update_requests(&mut self, msg: RequestMsg, fx: &mut Effects<'_>) {
        match msg {
            RequestMsg::Get(editor) => self.request(editor, Action::read_for, fx),
            RequestMsg::Send(editor) => {
                self.request(editor, |write| Action::Send(write.clone()), fx);
            }
            RequestMsg::Retry(editor) => {
                self.view.focus = editor;
                let change = self.session.retry(editor);
                self.follow(change);
            }
            RequestMsg::Ending(method) => {
                let change = self.session.go_to_ending(method);
                self.follow(change);
            }
            RequestMsg::Delete(editor) => {
                let preconditions = self.requests.preconditions;
                self.request(editor, |_| Action::Delete(preconditions), fx);
            }
            RequestMsg::Create(editor) => self.request(editor, |_| Action::Create, fx),
            RequestMsg::Preconditions(preconditions) => self.requests.preconditions = preconditions,
            RequestMsg::Begin(actor) => self.begin_request(actor),
            RequestMsg::ByHand(by_hand) => {
                if let Some(draft) = &mut self.requests.draft {
                    draft.change(by_hand);
                }
            }
            RequestMsg::SendByHand => self.send_by_hand(),
        }
    }

    /// A value whose text is wrong is not sent as something else: the typing stays open instead.
    fn request(
        &mut self,
        editor: ActorId,
        action: impl FnOnce(&Write) -> Action,
        fx: &mut Effects<'_>,
    ) {
        self.session.playing = false;
        self.view.focus = editor;
        let in_place = self.editing.in_place.as_ref();
        let wrong_value =
            in_place.is_some_and(|editing| editing.editor == editor && editing.error.is_some());
        if wrong_value {
            fx.push(BrowserEffect::Focus(FIELD.to_owned()));
        }
        if wrong_value || self.editing.is_wrong(editor) {
            return;
        }
        self.editing.close_empty(&mut self.session);
        let action = action(&self.world().actor(editor).write());
        let change = self.session.operate(Operation::Act(editor, action));
        self.follow(change);
    }

    /// Begins with the request of Send, or else with the request of Get.
    fn begin_request(&mut self, actor: ActorId) {
        let world = self.world();
        let send = Action::Send(world.actor(actor).write());
        let request = world.preview(actor, &send);
        let request = request.or_else(|| world.preview(actor, &Action::Get));
        let proposed = request.map(|request| ByHand::from_request(&request));
        self.requests.draft = proposed.map(|proposed| RequestDraft {
            actor,
            by_hand: proposed.clone(),
            proposed,
            problem: None,
        });
        self.view.dialog = Some(Dialog::Request);
    }

    /// Sends the request by hand. A request that cannot be sent stays, with the reason.
    fn send_by_hand(&mut self) {
        let Some(draft) = &mut self.requests.draft else {
            return;
        };
        if let Err(problem) = draft.by_hand.check() {
            draft.problem = Some(problem);
            return;
        }
        let action = Action::Request(draft.by_hand.clone());
        let actor = draft.actor;
        self.view.dialog = None;
        self.view.focus = actor;
        let change = self.session.operate(Operation::Act(actor, action));
        self.follow(change);
    }
}
