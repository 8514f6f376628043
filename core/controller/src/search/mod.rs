//! All orders of deliveries, statements, restarts and editors' requests, with two kinds of
//! verdict: *safety* (a property that holds in every state) and *settling* (every run comes to
//! rest, and rests as wished).
//!
//! A step of the search is one visible step of one process: a cache delivers an event, a worker
//! takes a key or performs a statement, a waiting key is added, an editor sends a request.
//! Statements that touch only the variables of a run commute with the steps of all others, so they
//! are performed together with the visible statement before them (partial-order reduction). The
//! process of a controller can end and start again up to a number of times, with empty memory.
//!
//! How long something takes is left open: a delay or a delivery can end before or after any other
//! step. Two states are the same if they differ only in the numbers of versions and generations
//! (their order counts), in times of a clock, uids, generated name endings and counted failures. Two runs
//! that take the same states as the same can therefore differ in two things: in which order names
//! that the server generates later are listed, and after which of several long delays expectations
//! run out.

mod editor;
mod fingerprint;
mod property;
mod script;
mod settling;
mod state;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

pub use editor::EditorPlan;
pub use property::{FieldOf, Safety, Wish};
pub use settling::{NeverRests, Settling};
pub use state::{ProcessId, SystemScenario, SystemState};

use fingerprint::Digests;

/// A step of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SystemTransition {
    /// A cache of a controller gets its next event. If its watch was lost, it lists.
    Deliver {
        /// The controller.
        controller: usize,
        /// The cache.
        cache: usize,
    },
    /// The worker of a controller takes the next key. A second passes.
    Take(usize),
    /// The worker of a controller performs the next visible statement.
    Step(usize),
    /// The next waiting key of a controller is added. The time until then passes.
    Wake(usize),
    /// An editor performs the next visible statement.
    Edit(usize),
    /// The process of a controller ends, starts again and lists.
    Restart(usize),
    /// The expectations of all controllers run out: more than five minutes pass.
    ExpectationsRunOut,
}

impl SystemTransition {
    /// Whether it is a fault. A fault need not happen; every other step that stays possible
    /// happens at last (weak fairness).
    pub fn is_fault(self) -> bool {
        matches!(self, Self::Restart(_) | Self::ExpectationsRunOut)
    }

    /// Its process: two steps of one process have the same.
    fn process(self) -> Self {
        match self {
            Self::Step(controller) => Self::Take(controller),
            other => other,
        }
    }
}

/// The status of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertySearchStatus {
    /// Some states are not explored yet.
    Running,
    /// All states are explored.
    Done,
    /// It stopped because there are too many states.
    TooManyStates,
}

#[derive(Clone, Debug)]
struct Node {
    /// The state and the step by which it was first found: on a shortest way.
    first: Option<(usize, SystemTransition)>,
    depth: usize,
    /// Whether the objects are as wished.
    wished: bool,
    /// The steps that are possible, without faults.
    enabled: Vec<SystemTransition>,
    edges: Vec<Edge>,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    to: usize,
    transition: SystemTransition,
    /// Whether the server has a new version afterwards.
    writes: bool,
}

/// A search. The caller decides when it works and for how many states.
#[derive(Clone, Debug)]
pub struct PropertySearch {
    scenario: SystemScenario,
    most_states: usize,
    nodes: Vec<Node>,
    /// The states that are found and not explored.
    frontier: std::collections::VecDeque<(usize, SystemState)>,
    known: HashMap<u128, usize>,
    digests: Digests,
    violations: Vec<(usize, Vec<SystemTransition>)>,
    /// Of each safety property, whether some step could have violated it.
    tried: Vec<bool>,
    status: PropertySearchStatus,
}

impl PropertySearch {
    /// A search of a scenario with a maximum number of states.
    pub fn new(scenario: SystemScenario, most_states: usize) -> Self {
        let (start, safety) = (&scenario.start, scenario.safety.iter().enumerate());
        let broken = safety.filter(|(_, property)| !property.holds_at(start));
        let mut search = Self {
            most_states,
            nodes: Vec::new(),
            frontier: std::collections::VecDeque::new(),
            known: HashMap::new(),
            digests: Digests::of(&scenario),
            violations: broken.map(|(index, _)| (index, Vec::new())).collect(),
            tried: vec![false; scenario.safety.len()],
            status: PropertySearchStatus::Running,
            scenario,
        };
        let start = search.scenario.start.clone();
        search.find(start, None);
        search
    }

    /// The state from which it searches.
    pub fn start(&self) -> &SystemState {
        self.scenario.start()
    }

    /// Explores up to this number of states.
    pub fn advance(&mut self, states: usize) -> PropertySearchStatus {
        for _ in 0..states {
            if self.status != PropertySearchStatus::Running {
                break;
            }
            self.explore_next();
        }
        self.status
    }

    /// Explores all states.
    pub fn run(&mut self) -> PropertySearchStatus {
        self.advance(usize::MAX)
    }

    /// How far it is.
    pub fn status(&self) -> PropertySearchStatus {
        self.status
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.nodes.len()
    }

    /// The number of steps between states.
    pub fn transitions(&self) -> usize {
        self.nodes.iter().map(|node| node.edges.len()).sum()
    }

    /// The safety properties that do not hold, by index in the scenario, each with a shortest run
    /// that violates it.
    pub fn violations(&self) -> &[(usize, Vec<SystemTransition>)] {
        &self.violations
    }

    /// Whether some step that was searched could have violated a safety property: else it holds
    /// because nobody tried. For an edit to be lost, it takes a write to an object with an edit of
    /// another process; every other property is tried by whatever somebody does.
    pub fn has_tried(&self, property: usize) -> bool {
        self.tried.get(property).is_some_and(|tried| *tried)
    }

    /// Whether every run comes to rest as wished. A run that does not can be found before all
    /// states are explored; until then, `None` says that there is none so far.
    pub fn settling(&self) -> Option<Settling> {
        let settling = settling::judge(&self.nodes);
        (self.status == PropertySearchStatus::Done || settling != Settling::Settles)
            .then_some(settling)
    }

    fn explore_next(&mut self) {
        let Some((id, state)) = self.frontier.pop_front() else {
            self.status = PropertySearchStatus::Done;
            return;
        };
        if self.nodes.len() > self.most_states {
            self.status = PropertySearchStatus::TooManyStates;
            return;
        }
        for transition in state.enabled() {
            let mut next = state.clone();
            next.perform(transition);
            self.check(id, transition, &state, &next);
            let writes = next.server().store().revision() != state.server().store().revision();
            let to = self.find(next, Some((id, transition)));
            let edge = Edge {
                to,
                transition,
                writes,
            };
            if let Some(node) = self.nodes.get_mut(id) {
                node.edges.push(edge);
            }
        }
        if self.frontier.is_empty() {
            self.status = PropertySearchStatus::Done;
        }
    }

    /// Checks the properties that have held so far.
    fn check(
        &mut self,
        from: usize,
        transition: SystemTransition,
        before: &SystemState,
        after: &SystemState,
    ) {
        for (index, property) in self.scenario.safety.iter().enumerate() {
            if let Some(tried) = self.tried.get_mut(index) {
                *tried |= property.is_tried(transition, after);
            }
            let known = self.violations.iter().any(|(known, _)| *known == index);
            if !known && !property.holds(before, after) {
                let mut path = self.path(from);
                path.push(transition);
                self.violations.push((index, path));
            }
        }
    }

    /// The number of a state; a new state is explored later.
    fn find(&mut self, state: SystemState, first: Option<(usize, SystemTransition)>) -> usize {
        let id = self.nodes.len();
        let fingerprint = self.digests.fingerprint(&state);
        if let Some(known) = self.known.get(&fingerprint) {
            return *known;
        }
        self.known.insert(fingerprint, id);
        let mut wishes = self.scenario.wishes.iter();
        let enabled = state.enabled().into_iter();
        self.nodes.push(Node {
            first,
            depth: first.map_or(0, |(from, _)| self.depth(from) + 1),
            wished: wishes.all(|wish| wish.is_true(state.server())),
            enabled: enabled.filter(|step| !step.is_fault()).collect(),
            edges: Vec::new(),
        });
        self.frontier.push_back((id, state));
        id
    }

    fn depth(&self, id: usize) -> usize {
        self.nodes.get(id).map_or(0, |node| node.depth)
    }

    fn path(&self, to: usize) -> Vec<SystemTransition> {
        path(&self.nodes, to)
    }
}

/// The shortest way from the start to a state.
fn path(nodes: &[Node], to: usize) -> Vec<SystemTransition> {
    let mut path = Vec::new();
    let mut at = to;
    while let Some((from, transition)) = nodes.get(at).and_then(|node| node.first) {
        path.push(transition);
        at = from;
    }
    path.reverse();
    path
}
