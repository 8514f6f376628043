//! Actors: two editors, and up to four more.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::ObjectRef;
use optimist_client::{Strategy, WorkingCopy, Write};

/// One of the actors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum ActorId {
    A,
    B,
    /// The third actor, such as a kubelet.
    C,
    /// One more actor, such as a tool.
    D,
    E,
    F,
}

impl ActorId {
    /// All of them.
    pub const ALL: [ActorId; 6] = [
        ActorId::A,
        ActorId::B,
        ActorId::C,
        ActorId::D,
        ActorId::E,
        ActorId::F,
    ];
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
}

impl ActorId {
    /// `A` to `F`.
    pub fn letter(self) -> &'static str {
        match self {
            ActorId::A => "A",
            ActorId::B => "B",
            ActorId::C => "C",
            ActorId::D => "D",
            ActorId::E => "E",
            ActorId::F => "F",
        }
    }
}

impl Actor {
    pub(super) fn new(id: ActorId) -> Self {
        let (name, manager) = match id {
            ActorId::A => ("Editor A", "editor-a"),
            ActorId::B => ("Editor B", "editor-b"),
            // Links of older versions send this manager.
            ActorId::C => ("Editor C", "controller"),
            ActorId::D => ("Editor D", "editor-d"),
            ActorId::E => ("Editor E", "editor-e"),
            ActorId::F => ("Editor F", "editor-f"),
        };
        Self {
            name: name.into(),
            manager: manager.into(),
            strategy: Strategy::Update,
            writes: Arc::default(),
            copies: Vec::new(),
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
