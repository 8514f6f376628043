//! Actors: two editors and an optional third actor.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Action, Exchange, ObjectRef};
use optimist_client::{EditorProgress, NextRequest, OnConflict, Strategy, WorkingCopy, Write};

/// One of the actors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum ActorId {
    A,
    B,
    /// The third actor, such as a controller or a kubelet.
    C,
}

impl ActorId {
    /// All three.
    pub const ALL: [ActorId; 3] = [ActorId::A, ActorId::B, ActorId::C];
    /// The two editors, which the page always shows.
    pub const EDITORS: [ActorId; 2] = [ActorId::A, ActorId::B];
}

/// The state of an actor.
#[derive(Clone, Debug)]
pub struct Actor {
    /// Its display name: `Editor A`.
    pub name: Arc<str>,
    /// Its field manager, which it also sends as User-Agent.
    pub manager: Arc<str>,
    strategy: Strategy,
    /// One for each strategy that was changed, so that switching keeps the options.
    writes: Arc<BTreeMap<Strategy, Write>>,
    /// One for each object that it read. There are few, so a linear search is enough.
    copies: Vec<(ObjectRef, WorkingCopy)>,
    /// The write that it tries again, if the last attempt met a conflict.
    retry: Option<Retry>,
}

/// A write that met a conflict and is tried again.
#[derive(Clone, Debug)]
struct Retry {
    object: ObjectRef,
    write: Arc<Write>,
    progress: EditorProgress,
}

impl ActorId {
    /// `A`, `B` or `C`.
    pub fn letter(self) -> &'static str {
        match self {
            ActorId::A => "A",
            ActorId::B => "B",
            ActorId::C => "C",
        }
    }
}

impl Actor {
    pub(super) fn new(id: ActorId) -> Self {
        let (name, manager) = match id {
            ActorId::A => ("Editor A", "editor-a"),
            ActorId::B => ("Editor B", "editor-b"),
            ActorId::C => ("Controller", "controller"),
        };
        Self {
            name: name.into(),
            manager: manager.into(),
            strategy: Strategy::Update,
            writes: Arc::default(),
            copies: Vec::new(),
            retry: None,
        }
    }

    /// The write method of its next send.
    pub fn write(&self) -> Write {
        self.write_by(self.strategy)
    }

    /// The options that it has for a strategy.
    pub fn write_by(&self, strategy: Strategy) -> Write {
        let kept = self.writes.get(&strategy).cloned();
        kept.unwrap_or_else(|| Write::usual(strategy))
    }

    /// Selects a strategy with these options.
    pub fn set_write(&mut self, write: Write) {
        self.strategy = write.strategy;
        Arc::make_mut(&mut self.writes).insert(write.strategy, write);
    }

    /// Selects another strategy, with the options that it last had.
    pub fn choose(&mut self, strategy: Strategy) {
        self.strategy = strategy;
    }

    /// What it does next to try the write of an object again that met a conflict: it reads the
    /// object, or sends its edits. `None` if it has nothing to try again.
    pub(super) fn next_attempt(&self, subject: &ObjectRef) -> Option<Action> {
        let retry = self.retry.as_ref().filter(|it| it.object == *subject)?;
        match retry.progress.next() {
            NextRequest::Read => Some(Action::Get),
            NextRequest::Send => Some(Action::Send(Write::clone(&retry.write))),
            NextRequest::Nothing => None,
        }
    }

    /// Goes on after an action that was answered.
    pub(super) fn answered(&mut self, subject: &ObjectRef, action: &Action, step: &Exchange) {
        let is_next = self.next_attempt(subject).as_ref() == Some(action);
        let retry = self.retry.take().filter(|_| is_next);
        let begun = || match action {
            Action::Send(write) if write.on_conflict != OnConflict::GiveUp => Some(Retry {
                object: subject.clone(),
                progress: EditorProgress::new(false, write.on_conflict),
                write: Arc::new(write.clone()),
            }),
            _ => None,
        };
        let Some(mut retry) = retry.or_else(begun) else {
            return;
        };
        let (refused, conflict) = (step.code >= 400, step.is_conflict());
        (retry.progress).answered(retry.write.on_conflict, refused, conflict);
        self.retry = Some(retry).filter(|retry| retry.progress.next() != NextRequest::Nothing);
    }

    /// Its working copy of an object; an empty copy if it has not read the object.
    pub fn copy(&self, subject: &ObjectRef) -> &WorkingCopy {
        static BLANK: WorkingCopy = WorkingCopy::BLANK;
        let known = self.copies.iter().find(|(known, _)| known == subject);
        known.map_or(&BLANK, |(_, copy)| copy)
    }

    /// Its working copy of an object, to edit it.
    pub fn copy_mut(&mut self, subject: &ObjectRef) -> &mut WorkingCopy {
        let at = self.copies.iter().position(|(known, _)| known == subject);
        let at = at.unwrap_or_else(|| {
            self.copies.push((subject.clone(), WorkingCopy::BLANK));
            self.copies.len() - 1
        });
        &mut self.copies[at].1
    }

    /// The objects of which it has a working copy.
    pub fn copies(&self) -> impl Iterator<Item = (&ObjectRef, &WorkingCopy)> {
        self.copies.iter().map(|(subject, copy)| (subject, copy))
    }
}
