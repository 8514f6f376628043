//! The search itself.
//!
//! A state lies as deep as all actors together took steps, so the states come in layers, and by the
//! time one is looked at, every way to it is known: the number of histories up to it is the sum
//! over those ways. Time and memory grow with the states, not with the histories.

use std::collections::HashMap;
use std::sync::Arc;

use super::Tally;
use super::memory::{Answer, Memory, RequestId};
use super::scenario::{Plan, Scenario};
use super::state::{ActorProgress, ObjectId, Phase, ServerId, State};
use crate::verdict::{Accepted, Edit, RefusalKind, UpdateTracker};
use optimist_apiserver::server::key_of;
use optimist_client::{OnConflict, Subresource};

/// An index into the states of a search. The first is 0.
pub type StateId = usize;
/// An index into the edges of a search.
pub type TransitionId = usize;

/// What happens on an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransitionKind {
    /// The actor reads the object.
    Read,
    /// The actor's request is answered; with micro steps, the server compares and puts.
    Write,
    /// The server takes in the actor's request and reads the object.
    ServerReads,
    /// The server finds that the object has changed since it read it, and reads it again.
    ServerReadsAgain,
}

/// What a step does to the edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EditEffect {
    /// Nothing: a read, or a step inside the server.
    None,
    /// The edit is acknowledged.
    Acknowledged,
    /// The edit is acknowledged, and somebody else's is replaced that the actor had been shown.
    Replaces,
    /// The edit is acknowledged, and somebody else's is lost.
    Loses,
    /// The request is refused, and the actor goes on.
    Refused,
    /// The request is refused, and the actor gives up.
    GivesUp,
}

/// One step that leads from a state to another.
#[derive(Clone, Copy, Debug)]
pub struct Transition {
    /// Where it begins.
    pub from: StateId,
    /// Where it ends.
    pub to: StateId,
    /// Whose step it is: an index into the scenario's plans.
    pub actor: usize,
    /// What happens.
    pub what: TransitionKind,
    /// The status code of the answer; 0 where there is none yet.
    pub code: u16,
    /// What it does to the edits.
    pub effect: EditEffect,
}

/// How far a search is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchStatus {
    /// There are states left to look at.
    Running,
    /// Every history was looked at.
    Done,
    /// It stopped because there are more states than it may keep.
    TooManyStates,
}

/// A request that is made once, and what its actor means to change by it.
type Prepared = (RequestId, Vec<Arc<Edit>>);

#[derive(Clone, Debug)]
pub(super) struct StateNode {
    pub(super) state: State,
    /// How many histories lead here; more than there are numbers for are that many.
    pub(super) histories: u128,
    /// The edge by which it was first found.
    pub(super) first: Option<TransitionId>,
    /// Where its own edges begin.
    pub(super) edges: TransitionId,
}

/// A search through all histories of a scenario. It works when asked to, and as much as asked for.
#[derive(Clone, Debug)]
pub struct Search {
    scenario: Scenario,
    key: String,
    most_states: usize,
    pub(super) memory: Memory,
    /// The request that reads the object.
    reading: Option<RequestId>,
    /// By actor and copy.
    prepared: HashMap<(usize, ObjectId), Option<Prepared>>,
    pub(super) nodes: Vec<StateNode>,
    known: HashMap<Box<[u32]>, StateId>,
    pub(super) edges: Vec<Transition>,
    pub(super) next: StateId,
    status: SearchStatus,
    tally: Tally,
}

impl Search {
    /// A search that keeps no more than so many states.
    pub fn new(scenario: Scenario, most_states: usize) -> Self {
        Self::with_memory(scenario, most_states, Memory::default())
    }

    /// The same, with what another search remembers, which began with the same object.
    pub fn with_memory(scenario: Scenario, most_states: usize, mut memory: Memory) -> Self {
        let key = key_of(&scenario.resource, &scenario.object);
        let reading = scenario.read().map(|request| memory.request(request));
        let pool = &mut memory.pool;
        let server = pool.server(scenario.server.clone(), &key);
        let held = pool.object(&scenario.object);
        let actors = scenario.plans.iter().map(|plan| ActorProgress {
            phase: if plan.reads_first {
                Phase::ToRead
            } else {
                Phase::ToSend
            },
            steps: 0,
            attempts: plan.attempts(),
            copy: (!plan.reads_first).then_some(held),
        });
        let state = State {
            server,
            actors: actors.collect(),
            updates: UpdateTracker::default(),
        };
        let mut state = state;
        for (i, _) in scenario
            .plans
            .iter()
            .enumerate()
            .filter(|(_, plan)| !plan.reads_first)
        {
            state.updates.read(i as u8, &scenario.object);
        }
        let known = HashMap::from([(pool.fingerprint(&state), 0)]);
        let nodes = vec![StateNode {
            state,
            histories: 1,
            first: None,
            edges: 0,
        }];
        Self {
            scenario,
            key,
            most_states,
            memory,
            reading,
            prepared: HashMap::new(),
            nodes,
            known,
            edges: Vec::new(),
            next: 0,
            status: SearchStatus::Running,
            tally: Tally::default(),
        }
    }

    /// Looks at up to so many states.
    pub fn advance(&mut self, states: usize) -> SearchStatus {
        for _ in 0..states {
            if self.status != SearchStatus::Running {
                break;
            }
            self.look_at_next();
        }
        self.status
    }

    /// Looks at all of them.
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
        for actor in 0..state.actors.len() {
            let Some((next, edge)) = self.step(id, &state, actor) else {
                continue;
            };
            ended = false;
            let edge_id = self.edges.len();
            let fingerprint = self.memory.pool.fingerprint(&next);
            let to = *self.known.entry(fingerprint).or_insert_with(|| {
                self.nodes.push(StateNode {
                    state: next,
                    histories: 0,
                    first: Some(edge_id),
                    edges: 0,
                });
                self.nodes.len() - 1
            });
            if let Some(found) = self.nodes.get_mut(to) {
                found.histories = found.histories.saturating_add(histories);
            }
            self.edges.push(Transition { to, ..edge });
        }
        if ended {
            let stored = self.memory.pool.stored(state.server);
            let stored = stored.map(|known| &*known.object);
            let updates = &state.updates;
            let verdict = updates.verdict(stored, &self.scenario.resource.root);
            self.tally.add(verdict, updates.refusal(), histories);
        }
        if self.next == self.nodes.len() {
            self.status = SearchStatus::Done;
        }
    }

    /// What comes of it when an actor takes its next step; `None` if it does no more.
    fn step(&mut self, from: StateId, state: &State, actor: usize) -> Option<(State, Transition)> {
        let progress = *state.actors.get(actor)?;
        let mut next = state.clone();
        let mut edge = Transition {
            from,
            to: from,
            actor,
            what: TransitionKind::Write,
            code: 0,
            effect: EditEffect::None,
        };
        let mut changed = ActorProgress {
            steps: progress.steps.saturating_add(1),
            ..progress
        };
        match progress.phase {
            Phase::Done => return None,
            Phase::ToRead => {
                let answer = self.read(state.server)?;
                edge.what = TransitionKind::Read;
                edge.code = answer.code;
                changed.copy = answer.shown;
                let pool = &self.memory.pool;
                let shown = answer.shown.and_then(|id| pool.objects.get(id as usize));
                if let Some(shown) = shown {
                    next.updates.read(actor as u8, &shown.object);
                    changed.phase = Phase::ToSend;
                } else {
                    next.updates
                        .refused(actor as u8, RefusalKind::of(answer.code));
                    edge.effect = EditEffect::GivesUp;
                    changed.phase = Phase::Done;
                }
            }
            Phase::ToSend if self.scenario.micro_steps => {
                edge.what = TransitionKind::ServerReads;
                changed.phase = Phase::InServer {
                    seen: state.server,
                    current: false,
                };
            }
            Phase::ToSend => {
                let answer = self.write(state.server, actor, progress.copy?)?;
                self.answered(&mut next, &mut edge, &mut changed, &answer)?;
            }
            // `GuaranteedUpdate` of `k8s.io/apiserver/pkg/storage/etcd3/store.go`.
            Phase::InServer { seen, current } => {
                let answer = self.write(seen, actor, progress.copy?)?;
                let stored =
                    |server: ServerId| self.memory.pool.servers.get(server as usize)?.stored;
                let unchanged = stored(seen) == stored(state.server);
                let refused = answer.code >= 400;
                // What came from the watch cache may be old, so nobody is refused for its sake.
                if unchanged || refused && current {
                    let answer = if unchanged {
                        self.write(state.server, actor, progress.copy?)?
                    } else {
                        Answer {
                            server: state.server,
                            ..answer
                        }
                    };
                    self.answered(&mut next, &mut edge, &mut changed, &answer)?;
                } else {
                    edge.what = TransitionKind::ServerReadsAgain;
                    changed.phase = Phase::InServer {
                        seen: state.server,
                        current: true,
                    };
                }
            }
        }
        *next.actors.get_mut(actor)? = changed;
        Some((next, edge))
    }

    /// Takes in the answer to a write.
    fn answered(
        &mut self,
        next: &mut State,
        edge: &mut Transition,
        progress: &mut ActorProgress,
        answer: &Answer,
    ) -> Option<()> {
        let actor = edge.actor;
        let who = actor as u8;
        let plan = self.scenario.plans.get(actor)?;
        edge.code = answer.code;
        if answer.code < 400 {
            let (_, edits) = self.prepared.get(&(actor, progress.copy?))?.as_ref()?;
            let object = |server| self.memory.pool.stored(server).map(|known| &known.object);
            let write = Accepted {
                step: next
                    .actors
                    .iter()
                    .map(|actor| usize::from(actor.steps))
                    .sum(),
                edits,
                before: object(next.server),
                after: object(answer.server),
                // Of three who write once each, none is left to take away what went away, came back
                // and was then written again.
                changed: &[],
                shown: plan.sends().subresource != Some(Subresource::Scale),
                retries: matches!(plan.write.on_conflict, OnConflict::ReadAgain(_)),
                root: &self.scenario.resource.root,
            };
            let done = next.updates.accepted(who, write);
            next.server = answer.server;
            edge.effect = if !done.losses.is_empty() {
                EditEffect::Loses
            } else if !done.replaced.is_empty() {
                EditEffect::Replaces
            } else {
                EditEffect::Acknowledged
            };
            progress.phase = Phase::Done;
            return Some(());
        }
        next.updates.refused(who, RefusalKind::of(answer.code));
        edge.effect = EditEffect::GivesUp;
        progress.phase = Phase::Done;
        if answer.conflict && progress.attempts > 0 {
            progress.phase = match plan.write.on_conflict {
                OnConflict::GiveUp => return Some(()),
                OnConflict::ReadAgain(_) => Phase::ToRead,
                OnConflict::Resend(_) => Phase::ToSend,
            };
            progress.attempts -= 1;
            edge.effect = EditEffect::Refused;
        }
        Some(())
    }

    fn read(&mut self, server: ServerId) -> Option<Answer> {
        let request = self.reading?;
        Some(self.memory.ask(server, request, &self.key))
    }

    fn write(&mut self, server: ServerId, actor: usize, copy: ObjectId) -> Option<Answer> {
        let plan: &Plan = self.scenario.plans.get(actor)?;
        let memory = &mut self.memory;
        let prepared = self.prepared.entry((actor, copy)).or_insert_with(|| {
            let read = Arc::clone(&memory.pool.objects.get(copy as usize)?.object);
            let prepared = self.scenario.prepare(plan, &read)?;
            Some((memory.request(prepared.request), prepared.edits))
        });
        let request = prepared.as_ref()?.0;
        Some(self.memory.ask(server, request, &self.key))
    }

    /// What was asked and answered so far.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// What is searched.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// How far it is.
    pub fn status(&self) -> SearchStatus {
        self.status
    }

    /// How the histories that have been followed to their end ended.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// How many states are known.
    pub fn states(&self) -> usize {
        self.nodes.len()
    }

    /// Every step from a state to another that was looked at.
    pub fn edges(&self) -> &[Transition] {
        &self.edges
    }
}
