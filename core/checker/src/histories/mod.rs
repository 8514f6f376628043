//! Searches every history of a system of procedures that write one object, and counts the histories by
//! their endings.
//!
//! The depth of a state is the number of steps of all processes together, so the states form layers.
//! All paths to a state are known when it is explored, and the number of histories to it is the
//! sum over these paths. Time and memory grow with the number of states, not with the number of
//! histories.
//!
//! A state is a few numbers. Servers, positions of processes in their procedures, and ledgers are each
//! stored once. So are the result of a process's next request to a server, and the effect of the answer
//! on a ledger. The server, the procedure and the ledger define all of these; this module defines none.
//!
//! Two states are equal if no later step can distinguish them: the stored object is the same, the
//! processes are at the same point and have the same copies, and the same edits are kept and lost. The
//! numbers of the versions do not count, only whether a copy has the stored version.
//! `metadata.generation` does not count either, because it follows from the rest. The clock stands
//! still: of a time that the server writes nothing follows.
//!
//! Of the [faults](optimist_system::Faults) of the system, answers to writes are lost here. The others
//! are those of controllers.

mod comparison;
mod explanation;
mod found;
mod ledgers;
mod loss_risk;
mod outcomes;
mod pool;
mod property;
mod response_cache;
mod steps;
mod tally;
mod transition;

use optimist_client::{NextRequest, Procedure};
use optimist_ledger::ObjectRef;
use optimist_system::{Process, System};

use crate::fast_hash::FastMap;
use ledgers::{LedgerId, Ledgers, bit};
use outcomes::{OutcomeId, Outcomes, ProcedureId};
use pool::ServerId;

pub use comparison::{Comparison, JointStep};
pub use explanation::{ActorProgress, TransitionMeaning};
pub use found::StateView;
pub use loss_risk::{LossGroups, LossRisk};
pub use property::{HistoryAnswer, HistoryProperty, ObjectCondition, Occurrence};
pub use response_cache::ResponseCache;
pub use tally::Tally;
pub use transition::{EditEffect, Transition, TransitionKind};

/// An index into the states of a search. The first is 0.
pub type StateId = usize;
/// An index into the edges of a search.
pub type TransitionId = usize;

/// The status of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchStatus {
    /// Some states are not explored yet.
    Running,
    /// All histories are explored.
    Done,
    /// It stopped because there are too many states.
    TooManyStates,
}

/// The object that the server has read for a request that it has not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ServerRead {
    seen: ServerId,
    /// `true` if the object came from etcd and not from the watch cache.
    is_current: bool,
}

/// A process in a state.
#[derive(Clone, Copy, Debug)]
struct ProcessState {
    procedure: ProcedureId,
    /// The object that the server has read for its request, if the request is in the server.
    in_server: Option<ServerRead>,
    /// The number of its steps.
    steps: u8,
}

/// A state.
#[derive(Clone, Debug)]
struct HistoryState {
    server: ServerId,
    ledger: LedgerId,
    /// The number of answers that can still be lost.
    lost_answers: u8,
    processes: Box<[ProcessState]>,
}

/// The changes of a step in a state.
#[derive(Clone, Copy, Debug)]
struct NextState {
    server: ServerId,
    ledger: LedgerId,
    lost_answers: u8,
    process: ProcessState,
}

#[derive(Clone, Debug)]
struct StateNode {
    state: HistoryState,
    /// The number of histories that lead here, saturated at the largest number.
    histories: u128,
    /// The edge by which it was first found.
    first: Option<TransitionId>,
    /// The index of its first own edge.
    edges: TransitionId,
}

/// A search through all histories of a system. The caller decides when it works and for how many
/// states.
#[derive(Clone, Debug)]
pub struct HistorySearch {
    object: ObjectRef,
    /// `true` if a request takes several steps: the server reads first, and compares and puts later.
    /// Other requests can come in between.
    micro_steps: bool,
    most_states: usize,
    memory: ResponseCache,
    outcomes: Outcomes,
    ledgers: Ledgers,
    /// The effect of an outcome on a ledger, by whether its answer is lost.
    done: FastMap<(LedgerId, OutcomeId, bool), (LedgerId, EditEffect)>,
    nodes: Vec<StateNode>,
    known: FastMap<Box<[u32]>, StateId>,
    edges: Vec<Transition>,
    next: StateId,
    status: SearchStatus,
    tally: Tally,
    /// The key of a state that may be new.
    key: Vec<u32>,
}

/// More processes than a search can tell apart are left out.
const MOST_PROCESSES: usize = 32;

impl HistorySearch {
    /// A search from a system whose processes write an object, with a maximum number of states, and
    /// with the memory of another search that started with the same object. A controller does nothing
    /// here.
    pub fn new(
        start: &System,
        object: ObjectRef,
        micro_steps: bool,
        most_states: usize,
        memory: ResponseCache,
    ) -> Self {
        let mut memory = memory.with_room();
        let (mut outcomes, mut ledgers) = (Outcomes::default(), Ledgers::default());
        let pool = &mut memory.pool;
        let mut server = start.server().clone();
        server.cache_parts();
        let server = pool.server(server, object.key());
        let processes = start.numbered().take(MOST_PROCESSES);
        let processes = processes.filter_map(|(who, process)| match process {
            Process::Procedure(procedure) => Some(ProcessState {
                procedure: outcomes.intern(who, Procedure::clone(procedure), pool),
                in_server: None,
                steps: 0,
            }),
            Process::Idle | Process::Controller(_) => None,
        });
        let processes = processes.collect();
        let ledger = start.ledger().updates(object.key());
        let state = HistoryState {
            server,
            ledger: ledgers.intern(ledger.cloned().unwrap_or_default()),
            lost_answers: start.faults().lost_answers,
            processes,
        };
        let mut search = Self {
            object,
            micro_steps,
            most_states,
            memory,
            outcomes,
            ledgers,
            done: FastMap::default(),
            nodes: Vec::new(),
            known: FastMap::default(),
            edges: Vec::new(),
            next: 0,
            status: SearchStatus::Running,
            tally: Tally::default(),
            key: Vec::new(),
        };
        search.make_key(&state, None);
        search.known.insert(search.key.as_slice().into(), 0);
        search.nodes.push(StateNode {
            state,
            histories: 1,
            first: None,
            edges: 0,
        });
        search
    }

    /// Explores up to this number of states.
    pub fn advance(&mut self, states: usize) -> SearchStatus {
        for _ in 0..states {
            if self.status != SearchStatus::Running {
                break;
            }
            self.look_at_next();
        }
        self.status
    }

    /// Explores all states.
    pub fn run(&mut self) -> SearchStatus {
        while self.advance(usize::MAX) == SearchStatus::Running {}
        self.status
    }

    fn look_at_next(&mut self) {
        let id = self.next;
        let Some(node) = self.nodes.get_mut(id) else {
            self.status = SearchStatus::Done;
            return;
        };
        if self.known.len() > self.most_states {
            self.status = SearchStatus::TooManyStates;
            return;
        }
        node.edges = self.edges.len();
        let (state, histories) = (node.state.clone(), node.histories);
        self.next += 1;
        let mut ended = true;
        let can_lose = state.lost_answers > 0;
        for process in 0..state.processes.len() {
            for is_lost in [false, true].into_iter().take(1 + usize::from(can_lose)) {
                let Some((next, edge)) = self.step(id, &state, process, is_lost) else {
                    continue;
                };
                ended = false;
                let to = self.find(&state, process, next);
                if let Some(found) = self.nodes.get_mut(to) {
                    found.histories = found.histories.saturating_add(histories);
                }
                self.edges.push(Transition { to, ..edge });
            }
        }
        if ended {
            let stored = self.memory.pool.stored(state.server);
            let updates = self.ledgers.get(state.ledger);
            let verdict = updates.verdict(stored.map(|it| &**it), &self.object.resource().root);
            self.tally.add(verdict, updates.refusal(), histories);
        }
        if self.next == self.nodes.len() {
            self.status = SearchStatus::Done;
        }
    }

    /// The state after a step; a new state is explored later.
    fn find(&mut self, before: &HistoryState, process: usize, next: NextState) -> StateId {
        self.make_key(before, Some((process, next)));
        if let Some(known) = self.known.get(self.key.as_slice()) {
            return *known;
        }
        let mut processes = before.processes.clone();
        if let Some(changed) = processes.get_mut(process) {
            *changed = next.process;
        }
        let id = self.nodes.len();
        self.known.insert(self.key.as_slice().into(), id);
        self.nodes.push(StateNode {
            state: HistoryState {
                server: next.server,
                ledger: next.ledger,
                lost_answers: next.lost_answers,
                processes,
            },
            histories: 0,
            first: Some(self.edges.len()),
            edges: 0,
        });
        id
    }

    /// The key of a state, or of the state after a step of a process.
    fn make_key(&mut self, state: &HistoryState, step: Option<(usize, NextState)>) {
        let present = (state.server, state.ledger, state.lost_answers);
        let (server, ledger, lost_answers) = step.map_or(present, |(_, next)| {
            (next.server, next.ledger, next.lost_answers)
        });
        let pool = &self.memory.pool;
        let stored = pool.stored_id(server);
        let source = pool.source(server);
        self.key.clear();
        let source = source << 8 | u32::from(lost_answers);
        self.key.extend([source, pool.content(stored)]);
        let (mut active, mut sends) = (0, 0);
        for (i, process) in state.processes.iter().enumerate() {
            let stepped = step.filter(|(stepped, _)| *stepped == i);
            let process = stepped.map_or(*process, |(_, next)| next.process);
            let Some(known) = self.outcomes.procedure(process.procedure) else {
                continue;
            };
            let (phase, held) = match (known.next, process.in_server) {
                (NextRequest::Read, _) => (0, 0),
                (NextRequest::Send, None) => (1, 0),
                (NextRequest::Send, Some(read)) => {
                    let seen = pool.stored_id(read.seen);
                    let both = u32::from(pool.same_version(known.copy, seen));
                    let held = pool.copy(seen, stored) << 1 | both;
                    (2 + u32::from(read.is_current), held)
                }
                (NextRequest::Nothing, _) => (4, 0),
            };
            let place = phase << 24 | u32::from(known.attempts) << 16 | u32::from(process.steps);
            self.key.push(place);
            if known.next == NextRequest::Nothing {
                continue;
            }
            active |= bit(known.who);
            if known.next == NextRequest::Send {
                sends |= bit(known.who);
            }
            let copy = known.copy.filter(|_| known.next != NextRequest::Read);
            self.key.extend([pool.copy(copy, stored), held]);
            if known.state > 0 {
                // Its next request can carry any version that an answer showed it.
                self.key
                    .extend([known.state, stored.map_or(0, |id| id + 1)]);
            }
        }
        let form = self.ledgers.form(ledger, active, sends);
        self.key.push(form);
    }

    /// Takes the memory, for the next search. What this one has found can be looked at as before. A search
    /// that can still go on keeps it, and gives an empty one.
    pub fn take_memory(&mut self) -> ResponseCache {
        match self.status {
            SearchStatus::Running => ResponseCache::default(),
            SearchStatus::Done | SearchStatus::TooManyStates => self.memory.take_unshown(),
        }
    }

    /// Returns the progress of the search.
    pub fn status(&self) -> SearchStatus {
        self.status
    }

    /// The verdicts of the histories that are explored to their end.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// The number of known states.
    pub fn states(&self) -> usize {
        self.nodes.len()
    }

    /// All explored steps.
    pub fn edges(&self) -> &[Transition] {
        &self.edges
    }
}
