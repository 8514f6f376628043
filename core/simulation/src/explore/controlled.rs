//! Every history of controllers, editors and tools, from where a history is: deliveries, statements,
//! restarts and the requests of the others in every order. The search is that of `optimist-checker`;
//! its runs are histories of a tree.

use std::sync::Arc;
use std::time::Duration;

use optimist_checker::{
    AnyCondition, Goal, HistoryProperty, HistoryViolation, PropertySearch, PropertySearchStatus,
    Question, Safety, Settling,
};
use optimist_client::{
    Editor, EditorPlan, IntendedChange, Intent, Lost, Procedure, WorkingCopy, Write,
};
use optimist_controller::EXPECTATIONS_TIMEOUT;
use optimist_system::{Event, Faults, Process, ProcessId, System};
use serde::{Deserialize, Serialize};

use super::acting::send_next;
use super::{Scenario, ThirdActor};
use crate::{ActorId, ControllerOperation, HistoryTree, NodeId, Operation, World};

impl World {
    /// Returns an editor that sends an actor's unsent edits of the current object. `None` if there is nothing to
    /// send.
    pub fn pending(&self, actor: ActorId) -> Option<(ActorId, Procedure)> {
        let copy = self.copy(actor);
        let plan = EditorPlan {
            object: self.subject().clone(),
            manager: Arc::clone(&self.actor(actor).manager),
            copy: copy.clone(),
            intent: None,
            write: self.actor(actor).write(),
        };
        copy.is_edited().then(|| (actor, Editor::from(plan).into()))
    }

    /// Returns an editor that first reads the current object, and then sends an Update with its changes.
    pub fn reads_and_changes(
        &self,
        actor: ActorId,
        changes: Vec<IntendedChange>,
    ) -> (ActorId, Procedure) {
        let plan = EditorPlan {
            object: self.subject().clone(),
            manager: Arc::clone(&self.actor(actor).manager),
            copy: WorkingCopy::BLANK,
            intent: Some(Intent::Change(changes)),
            write: Write::default(),
        };
        (actor, Editor::from(plan).into())
    }

    /// Returns the actor that can take part beside those that have edits: the first after the two editors
    /// that has nothing to send. `None` if all take part.
    pub fn one_more(&self) -> Option<ActorId> {
        let others = self.editors_and_tools();
        let mut others = others.filter(|actor| !ActorId::EDITORS.contains(actor));
        others.find(|actor| !self.copy(*actor).is_edited())
    }

    /// Returns the system at this moment: the controllers, and after them the processes of the other
    /// actors. The ledger has the numbers of the actors. `None` if the world has no controller.
    pub(crate) fn system(&self, actors: &[(ActorId, Procedure)]) -> Option<System> {
        self.has_controllers().then_some(())?;
        let ledger = self.ledger().renamed(|actor| actor as ProcessId);
        let controllers = self
            .controllers()
            .map(|(actor, controller)| (actor, Process::from(controller.clone())));
        let others = actors
            .iter()
            .map(|(actor, procedure)| (*actor, Process::from(procedure.clone())));
        let system = System::new(self.server().clone(), ledger);
        let system = controllers
            .chain(others)
            .fold(system, |system, (actor, process)| {
                system.with_named(actor as ProcessId, process)
            });
        Some(system)
    }

    /// Returns the controller that is a process of [`system`](Self::system); else the place of the process
    /// among the other actors.
    fn controller_or_place(&self, process: ProcessId) -> Result<ActorId, usize> {
        let process = usize::from(process);
        let mut controllers = self.controllers().map(|(actor, _)| actor);
        let count = self.controllers().count();
        controllers
            .nth(process)
            .ok_or(process.saturating_sub(count))
    }
}

/// The question of a search: the other actors, the faults, and the properties that must hold.
#[derive(Clone, Debug, Default)]
pub struct ControllerQuestion {
    /// The other actors, each once: any process that a [`Scenario`] can have, an editor or a
    /// tool.
    pub actors: Vec<(ActorId, Procedure)>,
    /// The number of times that each fault can happen.
    pub faults: Faults,
    /// The properties that must hold in every state and for every step.
    pub always: Vec<Safety>,
    /// The properties that must hold when everything is at rest.
    pub at_rest: Vec<Goal>,
    /// `true` if every run must come to rest. Else only the safety properties count.
    pub settles: bool,
    /// A property that somebody wrote, of every history. It is about the current object, and names the
    /// actors by their numbers.
    pub own: Option<HistoryProperty<AnyCondition>>,
}

impl ControllerQuestion {
    /// Returns the question with a property that somebody wrote. It is asked beside those of the [ready
    /// programs](Self::of_ready_program), if the world has one that fits its objects. `None` if the world has no controller.
    pub fn with_own(world: &World, property: HistoryProperty<AnyCondition>) -> Option<Self> {
        world.has_controllers().then_some(())?;
        let question = Self::of_ready_program(world);
        Some(Self {
            own: Some(property),
            ..question.unwrap_or_else(|| Self::of_orders(world))
        })
    }

    /// Returns the question with [one more actor](World::one_more), which does what a third actor of
    /// [`Explore`](super) does. `None` if there is none, or if the current object is not there or cannot be
    /// written so.
    ///
    /// Properties at rest are about an object that lives, so none of them is asked beside a deletion.
    pub fn with_third(mut self, world: &World, third: ThirdActor) -> Option<Self> {
        world.stored()?;
        let actor = world.one_more()?;
        let procedure = Scenario::from_world(world).third(third, &world.actor(actor).manager)?;
        if third == ThirdActor::Deletes {
            self.at_rest.clear();
        }
        self.actors.push((actor, procedure));
        Some(self)
    }

    /// A question that varies every order from a world, with the edits that the editors have not sent and
    /// one restart, and asks for nothing.
    pub(super) fn of_orders(world: &World) -> Self {
        let editors = world.editors_and_tools();
        Self {
            actors: editors.filter_map(|editor| world.pending(editor)).collect(),
            faults: Faults {
                restarts: 1,
                ..Faults::default()
            },
            ..Self::default()
        }
    }

    /// Performs a run of its search in a tree, from the node whose world was searched, with one node
    /// for each request, event and statement. Returns the last node; `None` if a step is not possible.
    pub fn replay(&self, tree: &mut HistoryTree, run: &[Event]) -> Option<NodeId> {
        let mut replay = ControllerReplay::new(self);
        for event in run {
            replay.perform(tree, *event)?;
        }
        Some(tree.current())
    }

    /// Performs the run of a proof in the same way. The tree then knows which steps are a cycle.
    pub fn replay_witness(
        &self,
        tree: &mut HistoryTree,
        witness: &ControllerWitness,
    ) -> Option<NodeId> {
        let mut replay = ControllerReplay::new(self);
        let (way, cycle) = match witness {
            ControllerWitness::NeverRests(way, cycle) => (way, &cycle[..]),
            ControllerWitness::Unsafe(_, run) | ControllerWitness::RestsWrong(run) => {
                (run, &[][..])
            }
        };
        for event in way {
            replay.perform(tree, *event)?;
        }
        let begin = tree.current();
        for event in cycle {
            replay.perform(tree, *event)?;
        }
        if !cycle.is_empty() {
            tree.note_cycle(begin);
        }
        Some(tree.current())
    }
}

/// The search of every history from a world with controllers. The caller decides when it works.
#[derive(Clone, Debug)]
pub struct ControllerSearch {
    question: ControllerQuestion,
    search: PropertySearch,
}

/// A proof that the answer to a question is no, with the shortest run that shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ControllerWitness {
    /// A safety property does not hold: its index in the question. The property that somebody wrote comes after
    /// all others.
    Unsafe(usize, Vec<Event>),
    /// Some run writes for ever: the way to its cycle, and the cycle.
    NeverRests(Vec<Event>, Vec<Event>),
    /// Some run rests, and not as wished.
    RestsWrong(Vec<Event>),
}

/// The answer for one property of the question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PropertyAnswer {
    /// Every history has it, and some of them have a step that could have broken it.
    Holds,
    /// Every history has it, but none of them has a step that could have broken it.
    Untried,
    /// Some history does not have it.
    Broken(ControllerWitness),
    /// No history without it was found, and not all of them were looked at.
    Unknown,
}

impl ControllerWitness {
    fn of_settling(settling: Settling) -> Option<Self> {
        match settling {
            Settling::Settles => None,
            Settling::NeverRests(never) => Some(Self::NeverRests(never.path, never.repeated)),
            Settling::RestsWrong { path, .. } => Some(Self::RestsWrong(path)),
        }
    }

    /// The run, with a cycle once.
    pub fn run(&self) -> Vec<Event> {
        match self {
            Self::Unsafe(_, run) | Self::RestsWrong(run) => run.clone(),
            Self::NeverRests(way, cycle) => way.iter().chain(cycle).copied().collect(),
        }
    }
}

impl ControllerSearch {
    /// A search with a maximum number of states. `None` if the world has no controller.
    pub fn new(world: &World, question: ControllerQuestion, most_states: usize) -> Option<Self> {
        let start = world.system(&question.actors)?;
        let start = start.with_faults(question.faults);
        let (always, at_rest) = (question.always.iter(), question.at_rest.iter());
        let asked = Question::new(start);
        let asked = always.cloned().fold(asked, Question::always);
        let asked = at_rest.cloned().fold(asked, Question::at_rest);
        let asked = match &question.own {
            Some(own) => asked.history(own.clone(), world.subject().clone()),
            None => asked,
        };
        Some(Self {
            question,
            search: PropertySearch::new(asked, most_states),
        })
    }

    /// Explores up to this number of states.
    pub fn advance(&mut self, states: usize) -> PropertySearchStatus {
        self.search.advance(states)
    }

    /// Explores all states, or up to the first violation.
    pub fn run(&mut self) -> PropertySearchStatus {
        while self.search.violations().is_empty()
            && self.search.advance(100) == PropertySearchStatus::Running
        {}
        self.search.status()
    }

    /// Returns the progress of the search.
    pub fn status(&self) -> PropertySearchStatus {
        self.search.status()
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.search.states()
    }

    /// The number of steps up to which every history is searched. `None` if all of them are.
    pub fn explored_steps(&self) -> Option<usize> {
        self.search.explored_steps()
    }

    /// The largest number of versions that all objects together get in one history. `None` if a history can have any
    /// number of them, or if not all states are explored.
    pub fn most_versions(&self) -> Option<u64> {
        self.search.most_versions()
    }

    /// The question.
    pub fn question(&self) -> &ControllerQuestion {
        &self.question
    }

    /// The shortest run that answers the question with no, as far as the search is: a violated
    /// safety property first. `None` if there is none so far.
    pub fn witness(&self) -> Option<ControllerWitness> {
        if let Some((property, run)) = self.search.violations().first() {
            return Some(ControllerWitness::Unsafe(*property, run.clone()));
        }
        let settling = self.question.settles.then(|| self.settling_witness());
        settling.flatten().or_else(|| self.own_witness())
    }

    fn settling_witness(&self) -> Option<ControllerWitness> {
        ControllerWitness::of_settling(self.search.settling()?)
    }

    /// A run that breaks the property that somebody wrote.
    fn own_witness(&self) -> Option<ControllerWitness> {
        match self.search.history_violation()? {
            HistoryViolation::Step(run) => {
                Some(ControllerWitness::Unsafe(self.question.always.len(), run))
            }
            HistoryViolation::Settling(settling) => ControllerWitness::of_settling(settling),
        }
    }

    /// Returns the answer for each safety property of the question, then, if every run must come to
    /// rest, for the properties at rest, and then for the property that somebody wrote.
    pub fn answers(&self) -> Vec<PropertyAnswer> {
        let otherwise = |tried: bool| match self.search.status() {
            PropertySearchStatus::Done if tried => PropertyAnswer::Holds,
            PropertySearchStatus::Done => PropertyAnswer::Untried,
            _ => PropertyAnswer::Unknown,
        };
        let safety = (0..self.question.always.len()).map(|index| {
            let mut violations = self.search.violations().iter();
            let violation = violations.find(|(property, _)| *property == index);
            match violation {
                Some((_, run)) => {
                    PropertyAnswer::Broken(ControllerWitness::Unsafe(index, run.clone()))
                }
                None => otherwise(self.search.has_tried(index)),
            }
        });
        let settling = self
            .question
            .settles
            .then(|| match self.settling_witness() {
                Some(witness) => PropertyAnswer::Broken(witness),
                None => otherwise(self.search.transitions() > 0),
            });
        let own = self
            .question
            .own
            .as_ref()
            .map(|_| match self.own_witness() {
                Some(witness) => PropertyAnswer::Broken(witness),
                None => otherwise(self.search.has_tried_history()),
            });
        safety.chain(settling).chain(own).collect()
    }

    /// Returns whether everything that was asked for holds; `None` until that is known.
    pub fn holds(&self) -> Option<bool> {
        if self.witness().is_some() {
            return Some(false);
        }
        (self.search.status() == PropertySearchStatus::Done).then_some(true)
    }

    /// The state from which it searches.
    pub fn start(&self) -> &System {
        self.search.start()
    }
}

/// A run of a search that is performed in a tree step by step, from the node whose world was
/// searched.
#[derive(Clone, Debug)]
pub struct ControllerReplay {
    /// The other actors, at their places in what they do.
    actors: Vec<(ActorId, Procedure)>,
}

impl ControllerReplay {
    /// The beginning of a run.
    pub fn new(question: &ControllerQuestion) -> Self {
        Self {
            actors: question.actors.clone(),
        }
    }

    /// Performs a step in a tree. `None` if it is not possible there: a lost message of another actor.
    pub fn perform(&mut self, tree: &mut HistoryTree, event: Event) -> Option<()> {
        use ControllerOperation as Do;
        match event {
            Event::Deliver { process, cache } => deliver(tree, process, cache.into()),
            Event::Take(process) | Event::Step(process) => control(tree, process, Do::Step),
            Event::Wake(process) => control(tree, process, Do::Wake),
            Event::Restart(process) => {
                control(tree, process, Do::Restart)?;
                let controller = controller_of(tree, process)?;
                tree.connect_controller(controller).map(drop)
            }
            Event::ExpectationsRunOut => {
                let time = EXPECTATIONS_TIMEOUT + Duration::from_secs(1);
                let seconds = u32::try_from(time.as_secs()).ok()?;
                tree.act_once(Operation::Wait(seconds)).map(drop)
            }
            Event::WatchBroken { process, cache } => {
                control(tree, process, Do::DropWatch(cache.into()))
            }
            Event::Compaction => compact(tree),
            Event::RestartBehind(process) => {
                let controller = controller_of(tree, process)?;
                tree.restart_behind(controller).map(drop)
            }
            // In Play, only a controller loses messages.
            Event::AnswerLost(process) => control(tree, process, Do::StepLosing(Lost::Answer)),
            Event::RequestLost(process) => control(tree, process, Do::StepLosing(Lost::Request)),
            Event::Request(process) => {
                let place = tree.world().controller_or_place(process).err()?;
                let (actor, procedure) = self.actors.get_mut(place)?;
                send_next(tree, *actor, procedure).map(drop)
            }
        }
    }
}

/// The controller that is a process. `None` if the process is another actor.
fn controller_of(tree: &HistoryTree, process: ProcessId) -> Option<ActorId> {
    tree.world().controller_or_place(process).ok()
}

/// Lets a controller perform an operation.
fn control(
    tree: &mut HistoryTree,
    process: ProcessId,
    operation: ControllerOperation,
) -> Option<()> {
    let controller = controller_of(tree, process)?;
    tree.act_once(Operation::Control(controller, operation))
        .map(drop)
}

/// Delivers the next event to a cache. A cache without a watch lists and watches first, and then there may be no
/// event.
fn deliver(tree: &mut HistoryTree, process: ProcessId, cache: usize) -> Option<()> {
    let controller = controller_of(tree, process)?;
    let mut connected = false;
    while !is_watching(tree, controller, cache)? {
        control(tree, process, ControllerOperation::Connect(cache))?;
        connected = true;
    }
    let delivered = control(tree, process, ControllerOperation::Deliver(cache));
    delivered.or(connected.then_some(()))
}

/// Returns whether the watch of a cache is open.
fn is_watching(tree: &HistoryTree, controller: ActorId, cache: usize) -> Option<bool> {
    let caches = tree.world().controller(controller)?.caches();
    Some(caches.get(cache)?.is_watching())
}

/// Compacts the server, whose restart ends all watches.
fn compact(tree: &mut HistoryTree) -> Option<()> {
    tree.act_once(Operation::Compact { restart: true })?;
    Some(())
}
