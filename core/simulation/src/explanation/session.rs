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

    /// Returns the place from which another history is worth comparing once two actors have
    /// written, and the actor whose edit is sent from there. It is the last place at which the
    /// second writer had a stale copy with an edit. `None` if no such place is on the way to the
    /// current step.
    pub fn overtaken_edit(&self) -> Option<(NodeId, ActorId)> {
        let line = self.current_path();
        let mut sent = line.iter().enumerate().filter_map(|(position, &node)| {
            let step = self.step(node).filter(|step| step.is_send())?;
            Some((position, step.actor()?))
        });
        let (_, first) = sent.next()?;
        let (position, second) = sent.find(|(_, actor)| *actor != first)?;
        let overtaken = |node: &NodeId| {
            let world = self.world_at(*node);
            world.is_some_and(|world| world.is_overtaken(second))
        };
        let at = line[..position].iter().rposition(overtaken)?;
        (at <= self.position()).then_some((line[at], second))
    }
}
