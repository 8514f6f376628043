//! The progress of a history: the steps that its actors took, and the place from which another
//! history is worth comparing.

use crate::{ActorId, HistoryTree, NodeId};

/// The steps that both editors, A and B, have taken in a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FirstSteps {
    /// They read the object.
    pub read: bool,
    /// They changed a value.
    pub changed: bool,
    /// They sent an edit.
    pub sent: bool,
}

impl HistoryTree {
    /// Returns the steps that both editors have taken in the whole of this history: stepping
    /// back undoes none of them.
    pub fn first_steps(&self) -> FirstSteps {
        let did = |actor: ActorId, sent: bool| {
            let mut steps = self.current_path().iter().map(|&node| self.step(node));
            steps.any(|step| {
                step.is_some_and(|step| step.actor() == Some(actor) && step.is_send() == sent)
            })
        };
        let both = |test: &dyn Fn(ActorId) -> bool| {
            let mut editors = ActorId::EDITORS.into_iter();
            editors.all(test)
        };
        FirstSteps {
            read: both(&|actor| did(actor, false)),
            changed: both(&|actor| did(actor, true) || self.world().copy(actor).is_edited()),
            sent: both(&|actor| did(actor, true)),
        }
    }

    /// Returns the place from which another history is worth comparing here, and the actor whose edit is
    /// sent from there: the last place at which that actor had this edit in a stale copy, or the first one if it
    /// sent the edit from there more than once. `None` before two actors have written, if the copy was not
    /// stale, and as soon as something else was written.
    pub fn overtaken_edit(&self) -> Option<(NodeId, ActorId)> {
        let (line, here) = (self.current_path(), self.position());
        let writes = |position: &usize| {
            let step = self.step(line[*position]);
            step.is_some_and(|step| step.is_send() || step.before != step.after)
        };
        let done = (1..=here).rev().find(writes);
        let next = || (here + 1..line.len()).find(writes);
        let parting = done.and_then(|done| self.parting_of(done));
        let parting = parting.or_else(|| {
            let parting = self.parting_of(next()?)?;
            (parting.0 <= here).then_some(parting)
        });
        parting.map(|(position, actor)| (line[position], actor))
    }

    /// Returns the position in the current path at which another way to send the edit of a step is worth
    /// comparing, and the actor of the step.
    fn parting_of(&self, position: usize) -> Option<(usize, ActorId)> {
        let line = self.current_path();
        let sender = |at: usize| {
            let step = self.step(line[at]).filter(|step| step.is_send())?;
            step.actor()
        };
        let actor = sender(position)?;
        let is_other = |at: usize| sender(at).is_some_and(|by| by != actor);
        if !(1..position).any(is_other) {
            return None;
        }
        let copy_at = |at: usize| Some(self.world_at(line[at])?.copy(actor));
        let overtaken = |at: &usize| {
            let world = self.world_at(line[*at]);
            world.is_some_and(|world| world.is_overtaken(actor))
        };
        let mut own = (1..position).rev();
        let mut own = || own.find(|at| sender(*at) == Some(actor));
        let mut earlier = own();
        let last = (earlier.unwrap_or(0)..position).rev().find(overtaken)?;
        let mut parting = last;
        while let Some(sent) = earlier
            && let (Some(then), Some(now)) = (copy_at(sent - 1), copy_at(last))
            && then.resource_version() == now.resource_version()
            && then.edited() == now.edited()
            && overtaken(&(sent - 1))
        {
            parting = sent - 1;
            earlier = own();
        }
        Some((parting, actor))
    }
}
