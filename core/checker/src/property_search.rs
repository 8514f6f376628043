//! The search of every state of a system, for the properties of a [`Question`].

use std::collections::VecDeque;
use std::sync::Arc;

use optimist_system::{Event, System};

use super::fingerprint::Digests;
use super::known_steps::{Judgement, KnownSteps};
use super::most_versions::most_versions;
use super::settling::{self, Settling};
use super::state_graph::{Edge, JudgedState, StateGraph};
use super::{HistoryProperty, Question};
use optimist_apiserver::fast_map::FastMap;

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

/// The way in which a history breaks the property of every history.
#[derive(Clone, Debug, PartialEq)]
pub enum HistoryViolation {
    /// By the last of these steps; without one, it is broken at the start.
    Step(Vec<Event>),
    /// It does not come to rest, or rests otherwise.
    Settling(Settling),
}

/// A search. The caller decides when it works and for how many states.
#[derive(Clone, Debug)]
pub struct PropertySearch {
    question: Question,
    most_states: usize,
    graph: StateGraph,
    /// The states that are found and not explored, with the events that are possible.
    frontier: VecDeque<(usize, Arc<System>, Vec<Event>)>,
    /// The states that are found, by their fingerprints. What the condition of the property of every history
    /// says of a state tells it apart, too: it is the last bit.
    known: FastMap<[u64; 2], u32>,
    digests: Digests,
    steps: KnownSteps,
    violations: Vec<(usize, Vec<Event>)>,
    /// Of each safety property, whether some event could have violated it.
    tried: Vec<bool>,
    status: PropertySearchStatus,
}

impl PropertySearch {
    /// A search of a question with a maximum number of states.
    pub fn new(question: Question, most_states: usize) -> Self {
        let (server, always) = (question.start.server(), question.always.iter().enumerate());
        let broken = always.filter(|(_, property)| !property.holds_at(server));
        let mut search = Self {
            most_states,
            graph: StateGraph::default(),
            frontier: VecDeque::new(),
            known: FastMap::default(),
            digests: Digests::for_search(&question.start),
            steps: KnownSteps::default(),
            violations: broken.map(|(index, _)| (index, Vec::new())).collect(),
            tried: vec![false; question.always.len()],
            status: PropertySearchStatus::Running,
            question,
        };
        let mut start = search.question.start.clone();
        start.server_mut().cache_answers();
        search.find(Arc::new(start), None);
        search
    }

    /// The state from which it searches.
    pub fn start(&self) -> &System {
        self.question.start()
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

    /// Returns the progress of the search.
    pub fn status(&self) -> PropertySearchStatus {
        self.status
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.graph.len()
    }

    /// The number of events between states.
    pub fn transitions(&self) -> usize {
        self.graph.all_edges().len()
    }

    /// The safety properties that do not hold, by index in the question, each with a shortest run
    /// that violates it.
    pub fn violations(&self) -> &[(usize, Vec<Event>)] {
        &self.violations
    }

    /// Returns whether some event that was searched could have violated a safety property: else it holds
    /// because nobody tried. For an edit to be lost, it takes a write to an object with an edit of
    /// another process, and for an object to be deleted too early, or for a finalizer to go, that there is one.
    /// Every event tries the most objects that there may be.
    pub fn has_tried(&self, property: usize) -> bool {
        self.tried.get(property).is_some_and(|tried| *tried)
    }

    /// The largest number of versions that all objects together get in one history. `None` if a history can have any
    /// number of them, or if not all states are explored.
    pub fn most_versions(&self) -> Option<u64> {
        let is_done = self.status == PropertySearchStatus::Done;
        is_done.then(|| most_versions(&self.graph)).flatten()
    }

    /// Returns whether every run comes to rest as wished. A run that does not can be found before all
    /// states are explored; until then, `None` says that there is none so far.
    pub fn settling(&self) -> Option<Settling> {
        self.judged_settling(|node| node.goals_hold)
    }

    fn judged_settling(&self, is_wished: impl Fn(&JudgedState) -> bool) -> Option<Settling> {
        let settling = settling::judge(&self.graph, is_wished);
        (self.status == PropertySearchStatus::Done || settling != Settling::Settles)
            .then_some(settling)
    }

    /// Returns a history that breaks the property of every history that was [asked](Question::history), as far as the
    /// search is. One that breaks it by its last step has the smallest number of steps, unless there
    /// were too many states.
    pub fn history_violation(&self) -> Option<HistoryViolation> {
        let asked = self.question.asked.as_ref()?;
        let settling = match &asked.property {
            HistoryProperty::Settles => self.judged_settling(|_| true),
            HistoryProperty::AtRest(_) => self.judged_settling(|node| node.asked_holds),
            _ => {
                let path = asked.broken_by(self.question.start.server(), &self.graph)?;
                // A shorter history can go on from a state that is not explored.
                let explored = self.explored_steps();
                let is_shortest = explored.is_none_or(|steps| path.len() <= steps);
                let is_over = self.status != PropertySearchStatus::Running;
                return (is_shortest || is_over).then_some(HistoryViolation::Step(path));
            }
        };
        let settling = settling.filter(|settling| *settling != Settling::Settles);
        settling.map(HistoryViolation::Settling)
    }

    /// Returns whether some event that was searched could have broken the property of every history: else it
    /// holds because nobody tried.
    pub fn has_tried_history(&self) -> bool {
        let asked = self.question.asked.as_ref();
        asked.is_some_and(|asked| asked.is_tried(&self.graph))
    }

    /// The number of steps up to which every history is explored. `None` if all of them are.
    pub fn explored_steps(&self) -> Option<usize> {
        let next = self.frontier.front();
        next.map(|(state, ..)| self.graph.depth(*state))
    }

    fn explore_next(&mut self) {
        if !self.frontier.is_empty() && self.graph.len() > self.most_states {
            self.status = PropertySearchStatus::TooManyStates;
            return;
        }
        let Some((id, state, enabled)) = self.frontier.pop_front() else {
            self.status = PropertySearchStatus::Done;
            return;
        };
        self.graph.begin_exploring();
        for event in enabled {
            let step = self.steps.perform(&state, event, &self.question);
            let Some((next, judged)) = step else {
                continue;
            };
            self.check((id, event), &judged.judgements);
            let revision = |system: &System| system.server().store().revision();
            let versions = revision(&next).saturating_sub(revision(&state));
            let to = self.find(next, Some(id));
            let edge = Edge::new(to, versions, event, judged.occurred);
            self.graph.add_edge(edge);
        }
        if self.frontier.is_empty() {
            self.status = PropertySearchStatus::Done;
        }
    }

    /// Notes what a step says of the properties.
    fn check(&mut self, (from, event): (usize, Event), judgements: &[Judgement]) {
        for (index, judgement) in judgements.iter().enumerate() {
            if let Some(tried) = self.tried.get_mut(index) {
                *tried |= judgement.is_tried;
            }
            let known = self.violations.iter().any(|(known, _)| *known == index);
            if !known && !judgement.holds {
                let mut path = self.graph.path(from);
                path.push(event);
                self.violations.push((index, path));
            }
        }
    }

    /// The number of a state; a new state is explored later.
    fn find(&mut self, state: Arc<System>, from: Option<usize>) -> usize {
        let fingerprint = self.digests.fingerprint_once(&state);
        let asked = self.question.asked.as_ref();
        let asked_holds = asked.is_none_or(|asked| asked.holds_in(state.server()));
        let [high, low] = fingerprint;
        let key = [high, low & !1 | u64::from(asked_holds)];
        if let Some(known) = self.known.get(&key) {
            return *known as usize;
        }
        let start = self.question.start.server();
        let mut goals = self.question.at_rest.iter();
        let enabled = state.enabled();
        let node = JudgedState {
            goals_hold: goals.all(|goal| goal.is_true(state.server())),
            asked_holds,
            is_changed: asked.is_some_and(|asked| asked.is_changed(start, state.server())),
            is_over: enabled.iter().all(|event| event.is_fault()),
        };
        let id = self.graph.add(from, node);
        self.known.insert(key, id as u32);
        self.frontier.push_back((id, state, enabled));
        id
    }
}
