//! The states of a search, each once. A search can have hundreds of thousands of them, so their parts are in
//! a few vectors, and a state is told from another by a few numbers.

use std::hash::Hasher;

use super::ledgers::LedgerId;
use super::outcomes::ProcedureId;
use super::pool::ServerId;
use super::{StateId, TransitionId};
use optimist_apiserver::fast_map::FastHasher;

/// The object that the server has read for a request that it has not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ServerRead {
    pub(super) seen: ServerId,
    /// `true` if the object came from etcd and not from the watch cache.
    pub(super) is_current: bool,
}

/// A process in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProcessState {
    pub(super) procedure: ProcedureId,
    /// The object that the server has read for its request, if the request is in the server.
    pub(super) in_server: Option<ServerRead>,
    /// The number of its steps.
    pub(super) steps: u8,
}

impl ProcessState {
    /// A process that has done nothing yet.
    pub(super) fn at_start(procedure: ProcedureId) -> Self {
        Self {
            procedure,
            in_server: None,
            steps: 0,
        }
    }
}

/// The part of a state that all processes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GlobalState {
    pub(super) server: ServerId,
    pub(super) ledger: LedgerId,
    /// The number of answers that can still be lost.
    pub(super) lost_answers: u8,
}

/// A state after a step of a process.
#[derive(Clone, Copy, Debug)]
pub(super) struct NextState {
    pub(super) global: GlobalState,
    /// The process that does the step.
    pub(super) actor: usize,
    pub(super) process: ProcessState,
}

/// A state and its place among the edges.
#[derive(Clone, Copy, Debug)]
pub(super) struct StateNode {
    pub(super) global: GlobalState,
    /// The edge by which it was first found; 0 for the start.
    first: u32,
    /// The index of its first own edge.
    pub(super) edges: u32,
}

/// The states of a search.
#[derive(Clone, Debug)]
pub(super) struct States {
    nodes: Vec<StateNode>,
    /// The number of histories that lead to each state, saturated at the largest number.
    histories: Vec<u128>,
    /// The processes of each state, one state after the other.
    processes: Vec<ProcessState>,
    /// The number of processes.
    width: usize,
    /// The words that tell a state from another, as many for each state.
    keys: Vec<u32>,
    /// The states by the hashes of their keys: 0 for no state, else one more than its number. A state whose
    /// place another one has is at the next free place.
    places: Vec<u32>,
}

/// The words of a key before those of the processes.
pub(super) const GLOBAL_WORDS: usize = 3;

/// The number of places at the start: a power of two, as later ones.
const FIRST_PLACES: usize = 64;

impl States {
    /// The start of a search, which has no key yet.
    pub(super) fn new(global: GlobalState, processes: Vec<ProcessState>) -> Self {
        Self {
            nodes: vec![StateNode {
                global,
                first: 0,
                edges: 0,
            }],
            histories: vec![1],
            width: processes.len(),
            processes,
            keys: Vec::new(),
            places: vec![0; FIRST_PLACES],
        }
    }

    /// The number of states.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The number of processes.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The state with a number.
    pub(super) fn get(&self, id: StateId) -> Option<&StateNode> {
        self.nodes.get(id)
    }

    /// The processes of a state.
    pub(super) fn processes(&self, id: StateId) -> &[ProcessState] {
        let begin = id * self.width;
        let processes = self.processes.get(begin..begin + self.width);
        processes.unwrap_or_default()
    }

    /// The edge by which a state was first found; `None` for the start.
    pub(super) fn first(&self, id: StateId) -> Option<TransitionId> {
        (id > 0).then_some(self.nodes.get(id)?.first as TransitionId)
    }

    /// The number of histories that lead to a state.
    pub(super) fn histories(&self, id: StateId) -> u128 {
        self.histories.get(id).copied().unwrap_or_default()
    }

    /// Adds histories that lead to a state.
    pub(super) fn add_histories(&mut self, id: StateId, more: u128) {
        if let Some(histories) = self.histories.get_mut(id) {
            *histories = histories.saturating_add(more);
        }
    }

    /// Begins to explore a state. Its edges begin here.
    pub(super) fn begin_exploring(
        &mut self,
        id: StateId,
        edges: TransitionId,
    ) -> Option<StateNode> {
        let node = self.nodes.get_mut(id)?;
        node.edges = edges as u32;
        Some(*node)
    }

    /// The key of a state.
    pub(super) fn key(&self, id: StateId) -> &[u32] {
        let length = GLOBAL_WORDS + self.width;
        let begin = id * length;
        self.keys.get(begin..begin + length).unwrap_or_default()
    }

    /// The state at a place.
    pub(super) fn at(&self, place: usize) -> Option<StateId> {
        (*self.places.get(place)? as StateId).checked_sub(1)
    }

    /// Adds a state that was found by an edge, from another state, with the free place of its key.
    pub(super) fn add(
        &mut self,
        (key, place): (&[u32], usize),
        (from, first): (StateId, TransitionId),
        next: NextState,
    ) -> StateId {
        let (id, begin) = (self.nodes.len(), from * self.width);
        self.nodes.push(StateNode {
            global: next.global,
            first: first as u32,
            edges: 0,
        });
        self.histories.push(0);
        self.processes.extend_from_within(begin..begin + self.width);
        if let Some(process) = self.processes.get_mut(id * self.width + next.actor) {
            *process = next.process;
        }
        self.set_key(id, key, place);
        id
    }

    /// Sets the key of the last state, and its free place.
    pub(super) fn set_key(&mut self, id: StateId, key: &[u32], place: usize) {
        self.keys.extend_from_slice(key);
        self.enter(id, place);
        // With more in it, the next free place is far away.
        if id * 2 >= self.places.len() {
            self.places = vec![0; self.places.len() * 2];
            for known in 0..=id {
                self.enter(known, self.place(self.key(known)));
            }
        }
    }

    /// Forgets the keys of a search that is over.
    pub(super) fn forget_keys(&mut self) {
        (self.keys, self.places) = (Vec::new(), Vec::new());
    }

    fn enter(&mut self, id: StateId, place: usize) {
        if let Some(place) = self.places.get_mut(place) {
            *place = id as u32 + 1;
        }
    }

    /// The place of a key, or the free place that it gets.
    pub(super) fn place(&self, key: &[u32]) -> usize {
        let mut hasher = FastHasher::default();
        key.iter().for_each(|word| hasher.write_u32(*word));
        let last = self.places.len().saturating_sub(1);
        let mut place = (hasher.finish() >> 32) as usize & last;
        while let Some(known @ 1..) = self.places.get(place)
            && self.key(*known as StateId - 1) != key
        {
            place = (place + 1) & last;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_found_by_its_whole_key() {
        let global = GlobalState {
            server: 0,
            ledger: 0,
            lost_answers: 0,
        };
        let mut states = States::new(global, vec![ProcessState::at_start(0); 2]);
        let key = |id: u32| [0, id % 7, 0, id % 11, id];
        states.set_key(0, &key(0), states.place(&key(0)));
        for id in 1..1000 {
            let (key, from) = (key(id), id as usize / 2);
            let place = states.place(&key);
            assert_eq!(states.at(place), None);
            let next = NextState {
                global,
                actor: 1,
                process: ProcessState::at_start(id),
            };
            assert_eq!(states.add((&key, place), (from, 0), next), id as usize);
        }
        for id in 0..1000 {
            assert_eq!(states.at(states.place(&key(id))), Some(id as usize));
            let procedures = states.processes(id as usize).iter().map(|it| it.procedure);
            assert_eq!(procedures.collect::<Vec<_>>(), [0, id]);
        }
        assert_eq!(states.at(states.place(&[1, 0, 0, 0, 0])), None);
    }
}
