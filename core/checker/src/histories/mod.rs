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
mod states;
mod steps;
mod tally;
mod transition;

use optimist_client::{NextRequest, Procedure};
use optimist_ledger::ObjectRef;
use optimist_system::{Process, ProcessId, System};

use ledgers::{LedgerId, Ledgers, NextWriters};
use optimist_apiserver::fast_map::FastMap;
use outcomes::{KnownProcedure, OutcomeId, Outcomes};
use pool::{Pool, PooledObjectId};
use states::{GLOBAL_WORDS, GlobalState, NextState, ProcessState, States};

pub use comparison::{Comparison, JointStep};
pub use explanation::{ActorProgress, TransitionMeaning};
pub use found::StateView;
pub use loss_risk::{LossGroups, LossRisk};
pub use property::{HistoryAnswer, HistoryProperty, Occurrence};
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

/// A process as a state has it, beside the stored object. Two with the same view are the same to all later
/// steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct ProcessView {
    /// Its next request, the attempts that it has left, and the number of its steps.
    place: u32,
    /// The content of its copy, and whether the copy has the stored version.
    copy: u32,
    /// The same of the object that the server has read for its request.
    held: u32,
    /// The state of a tool, and the stored object: its next request can carry any version that an answer
    /// showed it.
    tool: (u32, u32),
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
    /// The names of the processes in the ledger.
    who: Vec<ProcessId>,
    states: States,
    /// The number of each view of a process.
    views: FastMap<ProcessView, u32>,
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
            Process::Procedure(procedure) => {
                let procedure = outcomes.intern(who, Procedure::clone(procedure), pool);
                Some((who, ProcessState::at_start(procedure)))
            }
            Process::Idle | Process::Controller(_) => None,
        });
        let (who, processes): (Vec<_>, Vec<_>) = processes.unzip();
        let updates = start.ledger().updates(object.key());
        let all = who.iter().zip(&processes);
        let writers = all.fold(NextWriters::default(), |writers, (who, process)| {
            let known = outcomes.procedure(process.procedure);
            known.map_or(writers, |known| writers.with(*who, known.next))
        });
        let global = GlobalState {
            server,
            ledger: ledgers.intern(updates.cloned().unwrap_or_default(), writers),
            lost_answers: start.faults().lost_answers,
        };
        let mut search = Self {
            who,
            states: States::new(global, processes),
            object,
            micro_steps,
            most_states,
            memory,
            outcomes,
            ledgers,
            done: FastMap::default(),
            views: FastMap::default(),
            edges: Vec::new(),
            next: 0,
            status: SearchStatus::Running,
            tally: Tally::default(),
            key: Vec::new(),
        };
        search.make_key(0, global, None);
        let place = search.states.place(&search.key);
        search.states.set_key(0, &search.key, place);
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
        if self.states.len() > self.most_states && id < self.states.len() {
            self.status = SearchStatus::TooManyStates;
            return;
        }
        let Some(node) = self.states.begin_exploring(id, self.edges.len()) else {
            self.status = SearchStatus::Done;
            return;
        };
        let histories = self.states.histories(id);
        self.next += 1;
        let mut ended = true;
        let can_lose = node.global.lost_answers > 0;
        for actor in 0..self.states.width() {
            for is_lost in [false, true].into_iter().take(1 + usize::from(can_lose)) {
                let Some((next, edge)) = self.step(id, node.global, actor, is_lost) else {
                    continue;
                };
                ended = false;
                let to = self.find(id, next);
                self.states.add_histories(to, histories);
                self.edges.push(Transition { to, ..edge });
            }
        }
        if ended {
            let stored = self.memory.pool.stored(node.global.server);
            let updates = self.ledgers.get(node.global.ledger);
            let verdict = updates.verdict(stored.map(|it| &**it), &self.object.resource().root);
            self.tally.add(verdict, updates.refusal(), histories);
        }
        if self.next == self.states.len() {
            self.status = SearchStatus::Done;
        }
    }

    /// The state after a step; a new state is explored later.
    fn find(&mut self, from: StateId, next: NextState) -> StateId {
        self.make_key(from, next.global, Some((next.actor, next.process)));
        let place = self.states.place(&self.key);
        self.states.at(place).unwrap_or_else(|| {
            let first = (from, self.edges.len());
            self.states.add((&self.key, place), first, next)
        })
    }

    /// Makes the key of the state after a step of a process, or of the start, without a step.
    fn make_key(
        &mut self,
        from: StateId,
        global: GlobalState,
        step: Option<(usize, ProcessState)>,
    ) {
        let pool = &self.memory.pool;
        let stored = pool.stored_id(global.server);
        let source = pool.source(global.server) << 8 | u32::from(global.lost_answers);
        self.key.clear();
        self.key
            .extend([source, pool.content(stored), global.ledger]);
        let before = self.states.get(from).filter(|_| step.is_some());
        let is_stored = before.is_some_and(|before| pool.stored_id(before.global.server) == stored);
        let known_views = match self.states.key(from).split_at_checked(GLOBAL_WORDS) {
            // The view of a process follows from the process and the stored object.
            Some((_, views)) if is_stored => views,
            _ => &[],
        };
        self.key.extend_from_slice(known_views);
        for (i, process) in self.states.processes(from).iter().enumerate() {
            let stepped = step.filter(|(stepped, _)| *stepped == i);
            if is_stored && stepped.is_none() {
                continue;
            }
            let process = stepped.map_or(*process, |(_, process)| process);
            let known = self.outcomes.procedure(process.procedure);
            let view = known.map_or(0, |known| {
                let (view, next) = (view_of(known, process, stored, pool), self.views.len());
                *self.views.entry(view).or_insert(next as u32)
            });
            match self.key.get_mut(GLOBAL_WORDS + i) {
                Some(word) => *word = view,
                None => self.key.push(view),
            }
        }
    }

    /// Takes the memory, for the next search. What this one has found can be looked at as before. A search
    /// that can still go on keeps it, and gives an empty one.
    pub fn take_memory(&mut self) -> ResponseCache {
        if self.status == SearchStatus::Running {
            return ResponseCache::default();
        }
        self.views = FastMap::default();
        self.states.forget_keys();
        self.memory.take_unshown()
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
        self.states.len()
    }

    /// All explored steps.
    pub fn edges(&self) -> &[Transition] {
        &self.edges
    }
}

/// The view of a process beside a stored object.
fn view_of(
    known: &KnownProcedure,
    process: ProcessState,
    stored: Option<PooledObjectId>,
    pool: &Pool,
) -> ProcessView {
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
    if known.next == NextRequest::Nothing {
        return ProcessView {
            place,
            ..ProcessView::default()
        };
    }
    let copy = known.copy.filter(|_| known.next != NextRequest::Read);
    ProcessView {
        place,
        copy: pool.copy(copy, stored),
        held,
        tool: match known.state {
            0 => (0, 0),
            state => (state, stored.map_or(0, |id| id + 1)),
        },
    }
}
