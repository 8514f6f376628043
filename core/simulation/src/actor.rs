//! Whoever sends requests: two editors, and a third hand where one is wanted.

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
    /// The third hand: a controller, a kubelet.
    C,
}

impl ActorId {
    /// All three.
    pub const ALL: [ActorId; 3] = [ActorId::A, ActorId::B, ActorId::C];
    /// The two whom the page always shows.
    pub const EDITORS: [ActorId; 2] = [ActorId::A, ActorId::B];
}

/// An actor at one moment.
#[derive(Clone, Debug)]
pub struct Actor {
    /// What people call it: `Editor A`.
    pub name: Arc<str>,
    /// Its field manager, which it also sends as User-Agent.
    pub manager: Arc<str>,
    strategy: Strategy,
    /// One per strategy that was ever changed, so that switching loses no option.
    writes: Arc<BTreeMap<Strategy, Write>>,
    /// One per object that it read. Few, so looked through.
    copies: Vec<(ObjectRef, WorkingCopy)>,
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
        }
    }

    /// How it would send its edits.
    pub fn write(&self) -> Write {
        self.write_by(self.strategy)
    }

    /// How it would send its edits by a strategy, if it chose that.
    pub fn write_by(&self, strategy: Strategy) -> Write {
        let kept = self.writes.get(&strategy).cloned();
        kept.unwrap_or_else(|| Write::usual(strategy))
    }

    /// Changes how it would send its edits: the options of that strategy, and to that strategy.
    pub fn set_write(&mut self, write: Write) {
        self.strategy = write.strategy;
        Arc::make_mut(&mut self.writes).insert(write.strategy, write);
    }

    /// Switches to another strategy, with the options that it had when last chosen.
    pub fn choose(&mut self, strategy: Strategy) {
        self.strategy = strategy;
    }

    /// Its working copy of an object; nothing read yet if it never read that.
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

    /// Every object of which it has a working copy.
    pub fn copies(&self) -> impl Iterator<Item = (&ObjectRef, &WorkingCopy)> {
        self.copies.iter().map(|(subject, copy)| (subject, copy))
    }
}
