//! The results of a search: states, the paths to them, and the endings after them.

use std::sync::Arc;

use serde_json::Value;

use optimist_client::NextRequest;
use optimist_ledger::{Loss, RefusalKind, Replaced, UpdateTracker, Verdict};
use optimist_system::ProcessId;

use super::outcomes::KnownProcedure;
use super::states::{ProcessState, StateNode};
use super::{
    EditEffect, HistorySearch, SearchStatus, StateId, Tally, Transition, TransitionId,
    TransitionKind,
};

/// Queries of a search.
impl HistorySearch {
    /// A state.
    pub fn view(&self, id: StateId) -> Option<StateView<'_>> {
        let node = self.states.get(id)?;
        Some(StateView {
            search: self,
            id,
            node,
        })
    }

    /// The known states in which all processes are done.
    pub fn ends(&self) -> impl Iterator<Item = StateView<'_>> {
        (0..self.next)
            .filter_map(|id| self.view(id))
            .filter(StateView::is_end)
    }

    /// The steps of a shortest history to a state.
    pub fn path_to(&self, id: StateId) -> Vec<TransitionId> {
        let mut path = Vec::new();
        let mut at = id;
        while let Some(first) = self.states.first(at)
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
        while let Some(next) = self.view(at).and_then(|moment| moment.edges().next()) {
            path.push(next);
            let Some(edge) = self.edges.get(next) else {
                break;
            };
            at = edge.to;
        }
        path
    }

    /// The end of the shortest history with a verdict; of several, the one that is decided first. If no
    /// history with a lost edit is explored to its end, it is the state in which an edit is lost.
    pub fn shortest(&self, verdict: Verdict) -> Option<StateId> {
        let ends = self.ends().filter(|end| end.verdict() == verdict);
        let end = ends.min_by_key(|end| (end.depth(), self.deciding(&self.path_to(end.id))));
        let lost = || self.lost_already().filter(|_| verdict == Verdict::Lost);
        end.map(|end| end.id).or_else(lost)
    }

    /// The first state found in which an edit is lost, of a search that is not done: it stays lost.
    pub(super) fn lost_already(&self) -> Option<StateId> {
        let loses = |edge: &&Transition| edge.effect == EditEffect::Loses;
        let lost = self.edges.iter().find(loses).map(|edge| edge.to);
        lost.filter(|_| self.status != SearchStatus::Done)
    }

    /// The number of steps after which the verdict of a history is decided: after the first step
    /// that loses an edit, otherwise after the last step in which a process gives up or replaces an
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
        let mut outlook = vec![Tally::default(); self.states.len()];
        for id in (0..self.next).rev() {
            let Some(moment) = self.view(id) else {
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
    search: &'a HistorySearch,
    /// Its index.
    pub id: StateId,
    node: &'a StateNode,
}

impl<'a> StateView<'a> {
    /// The number of steps of each process.
    pub fn steps(&self) -> impl Iterator<Item = usize> + 'a {
        let processes = self.processes().iter();
        processes.map(|process| usize::from(process.steps))
    }

    /// The number of steps of all processes together.
    pub fn depth(&self) -> usize {
        self.steps().sum()
    }

    /// The number of histories that lead to this state.
    pub fn histories(&self) -> u128 {
        self.search.states.histories(self.id)
    }

    /// The stored object in this state; `None` if it is deleted.
    pub fn stored(&self) -> Option<&'a Arc<Value>> {
        self.search.memory.pool.stored(self.node.global.server)
    }

    fn processes(&self) -> &'a [ProcessState] {
        self.search.states.processes(self.id)
    }

    fn process(&self, process: usize) -> Option<&'a KnownProcedure> {
        let process = self.processes().get(process)?;
        self.search.outcomes.procedure(process.procedure)
    }

    /// The object that a process last read, and whether it has the stored version. `None` if the
    /// process has read nothing, or is done.
    pub fn copy(&self, process: usize) -> Option<(&'a Arc<Value>, bool)> {
        if self.is_done(process) {
            return None;
        }
        let copy = self.process(process)?.copy;
        let pool = &self.search.memory.pool;
        let known = pool.objects.get(copy? as usize)?;
        let stored = pool.stored_id(self.node.global.server);
        Some((&known.object, pool.same_version(copy, stored)))
    }

    /// Returns whether a process is done.
    pub fn is_done(&self, process: usize) -> bool {
        let process = self.process(process);
        process.is_none_or(|process| process.next == NextRequest::Nothing)
    }

    /// Returns whether all processes are done.
    pub fn is_end(&self) -> bool {
        (0..self.processes().len()).all(|process| self.is_done(process))
    }

    fn updates(&self) -> &'a UpdateTracker<ProcessId> {
        self.search.ledgers.get(self.node.global.ledger)
    }

    /// The verdict if the history ends here.
    pub fn verdict(&self) -> Verdict {
        let stored = self.stored().map(|object| object.as_ref());
        let root = &self.search.object.resource().root;
        self.updates().verdict(stored, root)
    }

    /// The kind of refusal if the history ends here. If there are several, a conflict comes first.
    pub fn refusal(&self) -> Option<RefusalKind> {
        self.updates().refusal()
    }

    /// The edits that were replaced knowingly on the path to this state and were not written again.
    pub fn replaced(&self) -> impl Iterator<Item = &'a Replaced<ProcessId>> {
        let stored = self.stored().map(|object| object.as_ref());
        let root = &self.search.object.resource().root;
        let replaced = self.updates().replaced().iter();
        replaced.filter(move |replaced| !replaced.edit.holds_in(stored, root))
    }

    /// The edits that were lost on the path to this state.
    pub fn losses(&self) -> &'a [Loss<ProcessId>] {
        self.updates().losses()
    }

    /// The processes whose last request was refused, and how.
    pub fn refused(&self) -> &'a [(ProcessId, RefusalKind)] {
        self.updates().who_was_refused()
    }

    /// Returns whether the server accepted a write of a process on the [way to this state](HistorySearch::path_to),
    /// and the answer was lost.
    pub fn had_lost_acceptance(&self, process: usize) -> bool {
        let path = self.search.path_to(self.id);
        let mut steps = path.iter().filter_map(|id| self.search.edges.get(*id));
        steps.any(|step| {
            let accepted = step.what == TransitionKind::Write && step.code < 400;
            step.actor == process && step.is_lost && accepted
        })
    }

    /// The explored next steps.
    pub fn edges(&self) -> impl Iterator<Item = TransitionId> + use<'a> {
        let (search, begin) = (self.search, self.node.edges as TransitionId);
        let next = search.states.get(self.id + 1);
        let end = if self.id >= search.next {
            begin
        } else if self.id + 1 < search.next {
            next.map_or(begin, |next| next.edges as TransitionId)
        } else {
            search.edges.len()
        };
        begin..end
    }
}
