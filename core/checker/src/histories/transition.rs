//! A step from one state of a search to another.

use optimist_ledger::{Done, Effect};
use optimist_system::ProcessId;

use super::StateId;

/// The kind of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransitionKind {
    /// The process reads the object.
    Read,
    /// The process's request is answered; with micro steps, the server compares and puts.
    Write,
    /// The process's request is a dry run, and is answered: the server stores nothing.
    DryRun,
    /// The server accepts the process's request and reads the object.
    ServerReads,
    /// The server finds that the object has changed since it read it, and reads it again.
    ServerReadsAgain,
}

/// The effect of a step on the edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EditEffect {
    /// Nothing: a read, or a step inside the server.
    None,
    /// The edit is acknowledged.
    Acknowledged,
    /// The edit is acknowledged or its answer lost, and it replaces an edit of another process that the process had been
    /// shown.
    Replaces,
    /// The edit is acknowledged or its answer lost, and an edit of another process is lost.
    Loses,
    /// The request is refused, and the process continues.
    Refused,
    /// The request is refused, and the process gives up.
    GivesUp,
}

impl EditEffect {
    /// Classifies an accepted write.
    pub(super) fn of_write(effect: &Effect, done: &Done<ProcessId>) -> Self {
        match Self::of_lost_answer(done) {
            EditEffect::None if effect.is_write() => EditEffect::Acknowledged,
            other => other,
        }
    }

    /// Classifies a write of which nobody was told: nothing is acknowledged.
    pub(super) fn of_lost_answer(done: &Done<ProcessId>) -> Self {
        if !done.losses.is_empty() {
            EditEffect::Loses
        } else if !done.replaced.is_empty() {
            EditEffect::Replaces
        } else {
            EditEffect::None
        }
    }
}

/// A step from one state to another.
#[derive(Clone, Copy, Debug)]
pub struct Transition {
    /// Its beginning.
    pub from: StateId,
    /// Its end.
    pub to: StateId,
    /// The process of the step.
    pub actor: usize,
    /// The kind of the step.
    pub what: TransitionKind,
    /// The status code of the answer; 0 if there is no answer yet.
    pub code: u16,
    /// `true` if the answer is lost: the process is not told, and sends the same again.
    pub is_lost: bool,
    /// Its effect on the edits.
    pub effect: EditEffect,
}
