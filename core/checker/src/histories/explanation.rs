//! The meaning of a search's steps and states, as data: the catalogue of messages has the sentences.

use http::Request;
use optimist_ledger::{Loss, RefusalKind};
use optimist_system::ProcessId;

use super::{EditEffect, HistorySearch, StateId, StateView, Transition, TransitionKind};

/// The meaning of a search's step for its actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransitionMeaning {
    /// The actor reads a deleted object, and gives up.
    ReadsDeleted {
        /// The status code of the answer.
        code: u16,
    },
    /// The actor reads a deleted object, and goes on: it creates the object again.
    ReadsNothing {
        /// The status code of the answer.
        code: u16,
    },
    /// The actor reads the object.
    Reads,
    /// The actor asks what its write would do, and the server stores nothing.
    DryRun,
    /// The server reads the object for the actor's request.
    ServerReads,
    /// The server reads the object again: another request was stored in between.
    ServerReadsAgain,
    /// The request is refused.
    Refused {
        /// The status code of the answer.
        code: u16,
        /// `true` if the actor gives up; otherwise the actor tries again.
        gives_up: bool,
    },
    /// The server stores the request: the object is as the server read it.
    Stores,
    /// The request is accepted.
    Accepted {
        /// `true` if the actor's copy is stale.
        stale: bool,
    },
}

/// The progress of an actor in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActorProgress {
    /// The actor has not read the object.
    NotRead,
    /// The actor's copy is the stored version.
    Current,
    /// The actor's copy is not the stored version.
    Stale,
    /// The actor's last request was accepted.
    Done,
    /// The actor's last request was refused.
    GaveUp,
}

impl HistorySearch {
    /// Tells what a step means for its actor. `None` if its answer is lost: the actor knows nothing of it.
    pub fn meaning(&self, transition: &Transition) -> Option<TransitionMeaning> {
        if transition.is_lost {
            return None;
        }
        let code = transition.code;
        let gives_up = transition.effect == EditEffect::GivesUp;
        Some(match transition.what {
            TransitionKind::Read if gives_up => TransitionMeaning::ReadsDeleted { code },
            TransitionKind::Read if code >= 400 => TransitionMeaning::ReadsNothing { code },
            TransitionKind::Read => TransitionMeaning::Reads,
            TransitionKind::ServerReads => TransitionMeaning::ServerReads,
            TransitionKind::ServerReadsAgain => TransitionMeaning::ServerReadsAgain,
            TransitionKind::Write | TransitionKind::DryRun
                if gives_up || transition.effect == EditEffect::Refused =>
            {
                TransitionMeaning::Refused { code, gives_up }
            }
            TransitionKind::DryRun => TransitionMeaning::DryRun,
            TransitionKind::Write if self.micro_steps => TransitionMeaning::Stores,
            TransitionKind::Write => {
                let before = self.view(transition.from);
                let copy = before.and_then(|before| before.copy(transition.actor));
                let stale = matches!(copy, Some((_, false)));
                TransitionMeaning::Accepted { stale }
            }
        })
    }

    /// The request that a step is of. `None` if its process has none that can be sent.
    pub fn request(&self, transition: &Transition) -> Option<Request<Vec<u8>>> {
        let processes = self.states.processes(transition.from);
        let process = processes.get(transition.actor)?;
        self.outcomes.next_request(process.procedure)
    }

    /// The edits that a step loses.
    pub fn losses_of(&self, transition: &Transition) -> Vec<&Loss<ProcessId>> {
        if transition.effect != EditEffect::Loses {
            return Vec::new();
        }
        let losses = |id: StateId| self.view(id).map_or(&[][..], |state| state.losses());
        let mut before: Vec<_> = losses(transition.from).iter().collect();
        let mut lost: Vec<_> = losses(transition.to).iter().collect();
        // Histories that lost the same edits in another order come to the same state.
        lost.retain(|loss| {
            let known = before.iter().position(|known| known == loss);
            known.map(|known| before.swap_remove(known)).is_none()
        });
        lost
    }
}

impl StateView<'_> {
    /// Returns the progress of an actor.
    pub fn progress(&self, actor: usize) -> ActorProgress {
        let mut refused = self.refused().iter();
        match self.copy(actor) {
            _ if self.is_done(actor) => {
                if refused.any(|(who, _)| usize::from(*who) == actor) {
                    ActorProgress::GaveUp
                } else {
                    ActorProgress::Done
                }
            }
            None => ActorProgress::NotRead,
            Some((_, true)) => ActorProgress::Current,
            Some((_, false)) => ActorProgress::Stale,
        }
    }

    /// Returns the refused actors, each with the kind of its refusal, in the order of the actors.
    pub fn refusals(&self) -> Vec<(usize, RefusalKind)> {
        let refused = self.refused().iter();
        let mut refused: Vec<_> = refused
            .map(|(who, how)| (usize::from(*who), *how))
            .collect();
        refused.sort_unstable();
        refused
    }
}
