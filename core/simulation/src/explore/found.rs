//! The results of a search: states, the paths to them, and the endings after them.

use std::sync::Arc;

use serde_json::Value;

use super::Tally;
use super::search::{EditEffect, Search, StateId, StateNode, TransitionId};
use super::state::ActorProgress;
use crate::verdict::{Loss, RefusalKind, Replaced, Verdict};
use optimist_apiserver::object::Metadata;

/// Queries of a search.
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

    /// The known states in which all actors are done.
    pub fn ends(&self) -> impl Iterator<Item = StateView<'_>> {
        (0..self.next)
            .filter_map(|id| self.moment(id))
            .filter(StateView::is_end)
    }

    /// The steps of a shortest history to a state.
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

    /// The same, continued to an end.
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

    /// The end of the shortest history with a verdict; of several, the one that is decided first.
    pub fn shortest(&self, verdict: Verdict) -> Option<StateId> {
        let ends = self.ends().filter(|end| end.verdict() == verdict);
        ends.min_by_key(|end| (end.depth(), self.deciding(&self.path_to(end.id))))
            .map(|end| end.id)
    }

    /// The number of steps after which the verdict of a history is decided: after the first step
    /// that loses an edit, otherwise after the last step in which an actor gives up or replaces an
    /// edit, otherwise after all steps.
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

    /// For each state, the verdicts of the histories that continue from it.
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

/// A view of a state.
#[derive(Clone, Copy, Debug)]
pub struct StateView<'a> {
    search: &'a Search,
    /// Its index.
    pub id: StateId,
    node: &'a StateNode,
}

impl<'a> StateView<'a> {
    /// The number of steps of each actor.
    pub fn steps(&self) -> impl Iterator<Item = usize> + 'a {
        self.node
            .state
            .actors
            .iter()
            .map(|actor| usize::from(actor.steps))
    }

    /// The number of steps of all actors together.
    pub fn depth(&self) -> usize {
        self.steps().sum()
    }

    /// The number of histories that lead to this state.
    pub fn histories(&self) -> u128 {
        self.node.histories
    }

    /// The stored object in this state; `None` if it is deleted.
    pub fn stored(&self) -> Option<&'a Arc<Value>> {
        let known = self.search.memory.pool.stored(self.node.state.server);
        known.map(|known| &known.object)
    }

    /// The object that an actor last read, and whether it has the stored version. `None` if the
    /// actor has read nothing, or is done.
    pub fn copy(&self, actor: usize) -> Option<(&'a Arc<Value>, bool)> {
        let actor = self.node.state.actors.get(actor)?;
        if actor.is_done() {
            return None;
        }
        let pool = &self.search.memory.pool;
        let known = pool.objects.get(actor.copy? as usize)?;
        let stored = pool.stored(self.node.state.server);
        let version = known.object.resource_version();
        let current = stored.is_some_and(|stored| stored.object.resource_version() == version);
        Some((&known.object, current))
    }

    /// Whether an actor is done.
    pub fn is_done(&self, actor: usize) -> bool {
        let actor = self.node.state.actors.get(actor);
        actor.is_none_or(ActorProgress::is_done)
    }

    /// Whether all actors are done.
    pub fn is_end(&self) -> bool {
        (0..self.node.state.actors.len()).all(|actor| self.is_done(actor))
    }

    /// The verdict if the history ends here.
    pub fn verdict(&self) -> Verdict {
        let stored = self.stored().map(|object| object.as_ref());
        let root = &self.search.scenario().resource.root;
        self.node.state.updates.verdict(stored, root)
    }

    /// The kind of refusal if the history ends here. If there are several, a conflict comes first.
    pub fn refusal(&self) -> Option<RefusalKind> {
        self.node.state.updates.refusal()
    }

    /// The edits that were replaced knowingly on the path to this state and were not written again.
    pub fn replaced(&self) -> impl Iterator<Item = &'a Replaced<u8>> {
        let stored = self.stored().map(|object| object.as_ref());
        let root = &self.search.scenario().resource.root;
        let replaced = self.node.state.updates.replaced().iter();
        replaced.filter(move |replaced| !replaced.edit.holds_in(stored, root))
    }

    /// The edits that were lost on the path to this state.
    pub fn losses(&self) -> &'a [Loss<u8>] {
        self.node.state.updates.losses()
    }

    /// The actors whose last request was refused, and how.
    pub fn refused(&self) -> &'a [(u8, RefusalKind)] {
        self.node.state.updates.who_was_refused()
    }

    /// The explored next steps.
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
