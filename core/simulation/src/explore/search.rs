//! The search itself.
//!
//! The depth of a state is the number of steps of all actors together, so the states form layers.
//! When a state is explored, all paths to it are known, and the number of histories to it is the
//! sum over these paths. Time and memory grow with the number of states, not with the number of
//! histories.

use std::collections::HashMap;
use std::sync::Arc;

use super::Tally;
use super::memory::{Answer, Memory, RequestId};
use super::scenario::{Plan, Scenario};
use super::state::{ActorProgress, ObjectId, ServerId, ServerRead, State};
use crate::ObjectRef;
use crate::verdict::{Done, Edit, Effect, Intention};
use optimist_client::{EditorProgress, NextRequest};

/// An index into the states of a search. The first is 0.
pub type StateId = usize;
/// An index into the edges of a search.
pub type TransitionId = usize;

/// The kind of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransitionKind {
    /// The actor reads the object.
    Read,
    /// The actor's request is answered; with micro steps, the server compares and puts.
    Write,
    /// The server accepts the actor's request and reads the object.
    ServerReads,
    /// The server finds that the object has changed since it read it, and reads it again.
    ServerReadsAgain,
}

/// The effect of a step on the edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EditEffect {
    /// Nothing: a read, or a step inside the server.
    None,
    /// The edit is acknowledged.
    Acknowledged,
    /// The edit is acknowledged, and replaces an edit of another actor that the actor had been
    /// shown.
    Replaces,
    /// The edit is acknowledged, and an edit of another actor is lost.
    Loses,
    /// The request is refused, and the actor continues.
    Refused,
    /// The request is refused, and the actor gives up.
    GivesUp,
}

impl EditEffect {
    /// That of an accepted write.
    fn of(effect: &Effect, done: &Done<u8>) -> Self {
        if !done.losses.is_empty() {
            EditEffect::Loses
        } else if !done.replaced.is_empty() {
            EditEffect::Replaces
        } else if effect.is_write() {
            EditEffect::Acknowledged
        } else {
            EditEffect::None
        }
    }
}

/// A step from one state to another.
#[derive(Clone, Copy, Debug)]
pub struct Transition {
    /// Where it begins.
    pub from: StateId,
    /// Its end.
    pub to: StateId,
    /// The actor of the step: an index into the scenario's plans.
    pub actor: usize,
    /// What happens.
    pub what: TransitionKind,
    /// The status code of the answer; 0 if there is no answer yet.
    pub code: u16,
    /// Its effect on the edits.
    pub effect: EditEffect,
}

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

/// A request that is made once, and the edits that its actor means to make; `None` if it means
/// whatever the request changes.
type Prepared = (RequestId, Option<Vec<Arc<Edit>>>);

#[derive(Clone, Debug)]
pub(super) struct StateNode {
    pub(super) state: State,
    /// The number of histories that lead here, saturated at the largest number.
    pub(super) histories: u128,
    /// The edge by which it was first found.
    pub(super) first: Option<TransitionId>,
    /// The index of its first own edge.
    pub(super) edges: TransitionId,
}

/// A search through all histories of a scenario. The caller decides when it works and for how many
/// states.
#[derive(Clone, Debug)]
pub struct Search {
    scenario: Scenario,
    object: ObjectRef,
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
    /// A search with a maximum number of states.
    pub fn new(scenario: Scenario, most_states: usize) -> Self {
        Self::with_memory(scenario, most_states, Memory::default())
    }

    /// The same, with the cache of another search that started with the same object.
    pub fn with_memory(scenario: Scenario, most_states: usize, mut memory: Memory) -> Self {
        let object = ObjectRef::new(&scenario.resource, &scenario.object);
        let reading = scenario.read().map(|request| memory.request(request));
        let pool = &mut memory.pool;
        let server = pool.server(scenario.server.clone(), object.key());
        let held = pool.object(&scenario.object);
        let actors = scenario.plans.iter().map(|plan| ActorProgress {
            editor: EditorProgress::new(plan.reads_first, plan.write.on_conflict),
            in_server: None,
            steps: 0,
            copy: (!plan.reads_first).then_some(held),
        });
        let state = State {
            server,
            actors: actors.collect(),
            updates: scenario.updates.clone(),
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
            object,
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

    /// The result of an actor's next step; `None` if the actor is done.
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
        match (progress.editor.next(), progress.in_server) {
            (NextRequest::Nothing, _) => return None,
            (NextRequest::Read, _) => {
                let answer = self.read(state.server)?;
                edge.what = TransitionKind::Read;
                changed.copy = answer.shown;
                self.answered(&mut next, &mut edge, &mut changed, &answer)?;
            }
            (NextRequest::Send, None) if self.scenario.micro_steps => {
                edge.what = TransitionKind::ServerReads;
                changed.in_server = Some(ServerRead {
                    seen: state.server,
                    is_current: false,
                });
            }
            (NextRequest::Send, None) => {
                let answer = self.write(state.server, actor, progress.copy?)?;
                self.answered(&mut next, &mut edge, &mut changed, &answer)?;
            }
            (NextRequest::Send, Some(read)) => {
                self.compare_and_put(state, read, &mut next, &mut edge, &mut changed)?;
            }
        }
        *next.actors.get_mut(actor)? = changed;
        Some((next, edge))
    }

    /// The server compares the object that it has read with the stored one, and puts or reads
    /// again (`k8s.io/apiserver/pkg/storage/etcd3/store.go` GuaranteedUpdate, v1.36).
    fn compare_and_put(
        &mut self,
        state: &State,
        ServerRead { seen, is_current }: ServerRead,
        next: &mut State,
        edge: &mut Transition,
        progress: &mut ActorProgress,
    ) -> Option<()> {
        let answer = self.write(seen, edge.actor, progress.copy?)?;
        let stored = |server: ServerId| self.memory.pool.servers.get(server as usize)?.stored;
        let unchanged = stored(seen) == stored(state.server);
        let refused = answer.code >= 400;
        // The watch cache may have an old object, so the server does not refuse a request
        // because of it.
        let answered = unchanged || refused && is_current;
        if !answered {
            edge.what = TransitionKind::ServerReadsAgain;
            progress.in_server = Some(ServerRead {
                seen: state.server,
                is_current: true,
            });
            return Some(());
        }
        let answer = if unchanged {
            self.write(state.server, edge.actor, progress.copy?)?
        } else {
            Answer {
                server: state.server,
                ..answer
            }
        };
        self.answered(next, edge, progress, &answer)
    }

    /// Processes the answer to a request.
    fn answered(
        &self,
        next: &mut State,
        edge: &mut Transition,
        progress: &mut ActorProgress,
        answer: &Answer,
    ) -> Option<()> {
        let actor = edge.actor;
        let plan = self.scenario.plans.get(actor)?;
        let reads = edge.what == TransitionKind::Read;
        let edits = match (reads, progress.copy) {
            (false, Some(copy)) => self.prepared.get(&(actor, copy))?.as_ref()?.1.as_deref(),
            _ => None,
        };
        let on_conflict = plan.write.on_conflict;
        let intention = Intention {
            edits,
            retries: on_conflict.reads_again(),
            about: None,
        };
        let root = &self.scenario.resource.root;
        let done = next
            .updates
            .answered(actor as u8, &answer.effect, intention, root);
        let refused = answer.code >= 400;
        progress.in_server = None;
        (progress.editor).answered(on_conflict, refused, answer.conflict);
        edge.code = answer.code;
        edge.effect = match (refused, reads) {
            (true, _) if progress.is_done() => EditEffect::GivesUp,
            (true, _) => EditEffect::Refused,
            (false, true) => EditEffect::None,
            (false, false) => EditEffect::of(&answer.effect, &done),
        };
        if !refused && !reads {
            next.server = answer.server;
        }
        Some(())
    }

    fn read(&mut self, server: ServerId) -> Option<Answer> {
        self.memory.ask(server, self.reading?, &self.object)
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
        self.memory.ask(server, request, &self.object)
    }

    /// The cache of requests and answers.
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
