//! What a search found: states, the ways to them, and what comes after.

use std::sync::Arc;

use serde_json::Value;

use super::Tally;
use super::search::{EditEffect, Search, StateId, StateNode, TransitionId};
use super::state::Phase;
use crate::verdict::{Loss, RefusalKind, Replaced, Verdict};
use optimist_apiserver::object::Metadata;

/// What is asked of a search once it has looked.
impl Search {
    /// A state.
    pub fn moment(&self, id: StateId) -> Option<StateView<'_>> {
        let node = self.nodes.get(id)?;
        Some(StateView {
            search: self,
            id,
            node,
        })
    }

    /// The states in which nobody does any more, as far as they are known.
    pub fn ends(&self) -> impl Iterator<Item = StateView<'_>> {
        (0..self.next)
            .filter_map(|id| self.moment(id))
            .filter(StateView::is_end)
    }

    /// The steps of a shortest history up to a state.
    pub fn path_to(&self, id: StateId) -> Vec<TransitionId> {
        let mut path = Vec::new();
        let mut at = id;
        while let Some(first) = self.nodes.get(at).and_then(|node| node.first)
            && let Some(edge) = self.edges.get(first)
        {
            path.push(first);
            at = edge.from;
        }
        path.reverse();
        path
    }

    /// The same, and on to some end.
    pub fn path_through(&self, id: StateId) -> Vec<TransitionId> {
        let mut path = self.path_to(id);
        let mut at = id;
        while let Some(next) = self.moment(at).and_then(|moment| moment.edges().next()) {
            path.push(next);
            let Some(edge) = self.edges.get(next) else {
                break;
            };
            at = edge.to;
        }
        path
    }

    /// The end of the shortest history with a verdict; of several, one that is decided soonest.
    pub fn shortest(&self, verdict: Verdict) -> Option<StateId> {
        let ends = self.ends().filter(|end| end.verdict() == verdict);
        ends.min_by_key(|end| (end.depth(), self.deciding(&self.path_to(end.id))))
            .map(|end| end.id)
    }

    /// After how many of its steps it is decided how a history ends: after the first that loses an
    /// edit, else the last at which somebody gives up or replaces one, else all.
    pub fn deciding(&self, path: &[TransitionId]) -> usize {
        let does = |wanted: EditEffect| {
            let edges = &self.edges;
            move |id: &TransitionId| edges.get(*id).is_some_and(|edge| edge.effect == wanted)
        };
        let lost = path.iter().position(does(EditEffect::Loses));
        let refused = || path.iter().rposition(does(EditEffect::GivesUp));
        let replaced = || path.iter().rposition(does(EditEffect::Replaces));
        lost.or_else(refused)
            .or_else(replaced)
            .map_or(path.len(), |at| at + 1)
    }

    /// For each state, how the histories that go on from it end.
    pub fn outlook(&self) -> Vec<Tally> {
        let mut outlook = vec![Tally::default(); self.nodes.len()];
        for id in (0..self.next).rev() {
            let Some(moment) = self.moment(id) else {
                continue;
            };
            let mut tally = Tally::default();
            if moment.is_end() {
                tally.add(moment.verdict(), moment.refusal(), 1);
            }
            for edge in moment.edges().filter_map(|id| self.edges.get(id)) {
                if let Some(next) = outlook.get(edge.to) {
                    tally.add_all(next);
                }
            }
            if let Some(place) = outlook.get_mut(id) {
                *place = tally;
            }
        }
        outlook
    }
}

/// A state, to look at.
#[derive(Clone, Copy, Debug)]
pub struct StateView<'a> {
    search: &'a Search,
    /// Its index.
    pub id: StateId,
    node: &'a StateNode,
}

impl<'a> StateView<'a> {
    /// How many steps each actor has taken.
    pub fn steps(&self) -> impl Iterator<Item = usize> + 'a {
        self.node
            .state
            .actors
            .iter()
            .map(|actor| usize::from(actor.steps))
    }

    /// How many steps all have taken together.
    pub fn depth(&self) -> usize {
        self.steps().sum()
    }

    /// How many histories lead here.
    pub fn histories(&self) -> u128 {
        self.node.histories
    }

    /// The object as it is stored here; `None` if it is deleted.
    pub fn stored(&self) -> Option<&'a Arc<Value>> {
        let known = self.search.memory.pool.stored(self.node.state.server);
        known.map(|known| &known.object)
    }

    /// What an actor has last read, and whether that is the version that is stored. `None` if it
    /// has read nothing, or does no more.
    pub fn copy(&self, actor: usize) -> Option<(&'a Arc<Value>, bool)> {
        let actor = self.node.state.actors.get(actor)?;
        if actor.phase == Phase::Done {
            return None;
        }
        let pool = &self.search.memory.pool;
        let known = pool.objects.get(actor.copy? as usize)?;
        let stored = pool.stored(self.node.state.server);
        let version = known.object.resource_version();
        let current = stored.is_some_and(|stored| stored.object.resource_version() == version);
        Some((&known.object, current))
    }

    /// Whether an actor does no more.
    pub fn is_done(&self, actor: usize) -> bool {
        let actor = self.node.state.actors.get(actor);
        actor.is_none_or(|actor| actor.phase == Phase::Done)
    }

    /// Whether nobody does any more.
    pub fn is_end(&self) -> bool {
        (0..self.node.state.actors.len()).all(|actor| self.is_done(actor))
    }

    /// The verdict, should the history end here.
    pub fn verdict(&self) -> Verdict {
        let stored = self.stored().map(|object| object.as_ref());
        let root = &self.search.scenario().resource.root;
        self.node.state.updates.verdict(stored, root)
    }

    /// How somebody was refused, should the history end here; of several, a conflict first.
    pub fn refusal(&self) -> Option<RefusalKind> {
        self.node.state.updates.refusal()
    }

    /// What was replaced on the way here by those who had been shown it, and is not in the object
    /// again.
    pub fn replaced(&self) -> impl Iterator<Item = &'a Replaced<u8>> {
        let stored = self.stored().map(|object| object.as_ref());
        let root = &self.search.scenario().resource.root;
        let replaced = self.node.state.updates.replaced().iter();
        replaced.filter(move |replaced| !replaced.edit.holds_in(stored, root))
    }

    /// What was lost on the way here.
    pub fn losses(&self) -> &'a [Loss<u8>] {
        self.node.state.updates.losses()
    }

    /// Whose last request was refused, and how.
    pub fn refused(&self) -> &'a [(u8, RefusalKind)] {
        self.node.state.updates.who_was_refused()
    }

    /// The steps that can come next, as far as they were looked at.
    pub fn edges(&self) -> impl Iterator<Item = TransitionId> + 'a {
        let search = self.search;
        let begin = self.node.edges;
        let end = if self.id >= search.next {
            begin
        } else if self.id + 1 < search.next {
            search
                .nodes
                .get(self.id + 1)
                .map_or(begin, |next| next.edges)
        } else {
            search.edges.len()
        };
        begin..end
    }
}
