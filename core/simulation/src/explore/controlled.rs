//! Every history of a controller and editors, from where a history is: deliveries, statements,
//! restarts and the editors' requests in every order. The search is that of `optimist-controller`;
//! its runs are histories of a tree.

use std::sync::Arc;
use std::time::Duration;

use optimist_client::{Strategy, Write};
use optimist_controller::program::{ControllerOptions, Expression, Kind, Program, Statement};
use optimist_controller::search::{
    PropertySearch, PropertySearchStatus, Safety, Settling, SystemScenario, SystemTransition, Wish,
};
use optimist_controller::{EXPECTATIONS_TIMEOUT, Source};
use serde_json::Value;

use crate::{Action, ActorId, ControllerOperation, HistoryTree, NodeId, Operation, World};

/// What an editor does once, at any time.
#[derive(Clone, Debug, PartialEq)]
pub struct EditorPlan {
    /// The editor.
    pub actor: ActorId,
    /// The kind of the object.
    pub kind: Kind,
    /// The name of the object.
    pub name: String,
    /// Whether the editor reads the object first. Else it sends the copy that it has.
    pub reads_first: bool,
    /// What an editor that reads first then sets: members of objects, as JSON pointers, and their
    /// values; `None` to remove a field.
    pub edits: Vec<(String, Option<Value>)>,
    /// Whether it sends an Update; else a merge patch.
    pub update: bool,
    /// Whether a merge patch has the resourceVersion. An Update always has it.
    pub versioned: bool,
}

impl EditorPlan {
    /// What an editor of a world has edited and not sent. `None` if there is nothing to send, or
    /// if it is neither an Update with its version nor a merge patch.
    pub fn pending(world: &World, actor: ActorId) -> Option<Self> {
        let copy = world.copy(actor);
        let write = world.actor(actor).write();
        let update = match write.strategy {
            Strategy::Update if write.send_resource_version => true,
            Strategy::MergePatch => false,
            _ => return None,
        };
        let is_plain = write.subresource.is_none() && !write.dry_run && write.body.is_none();
        if !copy.is_edited() || !is_plain {
            return None;
        }
        let resource = world.resource();
        Some(Self {
            actor,
            kind: Kind::new(&resource.group_version.to_string(), &resource.kind),
            name: world.subject().name().to_owned(),
            reads_first: false,
            edits: Vec::new(),
            update,
            versioned: write.send_resource_version,
        })
    }

    fn write(&self) -> Write {
        Write {
            send_resource_version: self.update || self.versioned,
            ..Write::usual(match self.update {
                true => Strategy::Update,
                false => Strategy::MergePatch,
            })
        }
    }

    /// The edits on an object.
    fn edited(&self, object: &Value) -> Value {
        let mut object = object.clone();
        for (pointer, value) in &self.edits {
            optimist_controller::program::set_at(&mut object, pointer, value.clone());
        }
        object
    }

    fn program(&self, manager: &str) -> Program {
        let (object, base) = ("object".to_owned(), "base".to_owned());
        let mut body = Vec::new();
        if self.reads_first {
            body.push(Statement::Get {
                into: base.clone(),
                kind: self.kind.clone(),
                name: "{name}".to_owned(),
                from: Source::Server,
            });
            body.push(Statement::DeepCopy {
                into: object.clone(),
                of: base.clone(),
            });
            body.extend(self.edits.iter().map(|(field, value)| Statement::Set {
                of: object.clone(),
                field: field.clone(),
                to: match value {
                    Some(value) => Expression::Value(value.clone()),
                    // A variable without an object has no fields.
                    None => Expression::Field("nothing".to_owned(), String::new()),
                },
            }));
        }
        body.push(match self.update {
            true => Statement::Update {
                object,
                status: false,
                on_error: Vec::new(),
            },
            false => Statement::Patch {
                object,
                base,
                lock: self.versioned,
                status: false,
                on_error: Vec::new(),
            },
        });
        Program {
            name: manager.to_owned(),
            watches: Vec::new(),
            options: ControllerOptions::default(),
            body,
        }
    }
}

/// What is searched: the editors' plans, the faults, and what must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControllerQuestion {
    /// What the editors do, each once.
    pub editors: Vec<EditorPlan>,
    /// How many times the controller can restart.
    pub restarts: u8,
    /// How many times expectations can run out.
    pub timeouts: u8,
    /// What must hold in every state and for every step.
    pub always: Vec<Safety>,
    /// What must hold when everything is at rest.
    pub at_rest: Vec<Wish>,
    /// Whether every run must come to rest. Else only the safety properties count.
    pub settles: bool,
}

/// The search of every history from a world with a controller. The caller decides when it works.
#[derive(Clone, Debug)]
pub struct ControllerSearch {
    question: ControllerQuestion,
    search: PropertySearch,
}

/// Why a question is answered with no, with the shortest run that shows it.
#[derive(Clone, Debug, PartialEq)]
pub enum ControllerWitness {
    /// A safety property does not hold: its index in the question.
    Unsafe(usize, Vec<SystemTransition>),
    /// Some run writes for ever: the way to its cycle, and the cycle.
    NeverRests(Vec<SystemTransition>, Vec<SystemTransition>),
    /// Some run rests, and not as wished.
    RestsWrong(Vec<SystemTransition>),
}

/// What is known of one property that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum PropertyAnswer {
    /// Every history has it.
    Holds,
    /// Some history does not have it.
    Broken(ControllerWitness),
    /// No history without it was found, and not all of them were looked at.
    Unknown,
}

impl ControllerWitness {
    /// The run, with a cycle once.
    pub fn run(&self) -> Vec<SystemTransition> {
        match self {
            Self::Unsafe(_, run) | Self::RestsWrong(run) => run.clone(),
            Self::NeverRests(way, cycle) => way.iter().chain(cycle).copied().collect(),
        }
    }
}

impl ControllerSearch {
    /// A search with a maximum number of states. `None` if the world has no controller.
    pub fn new(world: &World, question: ControllerQuestion, most_states: usize) -> Option<Self> {
        let controller = world.controller()?.clone();
        let mut scenario = SystemScenario::of(world.server().clone(), vec![controller]);
        for plan in &question.editors {
            let subject = world.subjects().find(|subject| {
                subject.name() == plan.name && subject.resource().kind == plan.kind.kind
            })?;
            let actor = world.actor(plan.actor);
            let key = match subject.namespace() {
                "" => plan.name.clone(),
                namespace => format!("{namespace}/{}", plan.name),
            };
            let copy = actor.copy(subject);
            let both = copy.read().zip(copy.edited()).filter(|_| !plan.reads_first);
            let variables = both.into_iter().flat_map(|(read, edited)| {
                [
                    ("base".to_owned(), Arc::clone(read)),
                    ("object".to_owned(), Arc::clone(edited)),
                ]
            });
            scenario = scenario.editor_with(plan.program(&actor.manager), &key, variables);
        }
        let scenario = scenario
            .restarts(question.restarts)
            .expectations_run_out(question.timeouts);
        let scenario = question
            .always
            .iter()
            .cloned()
            .fold(scenario, SystemScenario::always);
        let scenario = question
            .at_rest
            .iter()
            .cloned()
            .fold(scenario, SystemScenario::at_rest);
        Some(Self {
            question,
            search: PropertySearch::new(scenario, most_states),
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

    /// How far it is.
    pub fn status(&self) -> PropertySearchStatus {
        self.search.status()
    }

    /// The number of states.
    pub fn states(&self) -> usize {
        self.search.states()
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
        if !self.question.settles {
            return None;
        }
        self.settling_witness()
    }

    fn settling_witness(&self) -> Option<ControllerWitness> {
        match self.search.settling()? {
            Settling::Settles => None,
            Settling::NeverRests(never) => {
                Some(ControllerWitness::NeverRests(never.path, never.repeated))
            }
            Settling::RestsWrong { path, .. } => Some(ControllerWitness::RestsWrong(path)),
        }
    }

    /// What is known of each safety property of the question, and, if every run must come to rest,
    /// of that at the end.
    pub fn answers(&self) -> Vec<PropertyAnswer> {
        let otherwise = || match self.search.status() {
            PropertySearchStatus::Done => PropertyAnswer::Holds,
            _ => PropertyAnswer::Unknown,
        };
        let safety = (0..self.question.always.len()).map(|index| {
            let mut violations = self.search.violations().iter();
            let violation = violations.find(|(property, _)| *property == index);
            violation.map_or_else(otherwise, |(_, run)| {
                PropertyAnswer::Broken(ControllerWitness::Unsafe(index, run.clone()))
            })
        });
        let settling = self.question.settles.then(|| {
            let witness = self.settling_witness();
            witness.map_or_else(otherwise, PropertyAnswer::Broken)
        });
        safety.chain(settling).collect()
    }

    /// Whether everything that was asked for holds; `None` until that is known.
    pub fn holds(&self) -> Option<bool> {
        if self.witness().is_some() {
            return Some(false);
        }
        (self.search.status() == PropertySearchStatus::Done).then_some(true)
    }

    /// Performs a run in a tree, from the node whose world was searched, with one node for each
    /// request, event and statement. Returns the last node; `None` if a step is not possible.
    pub fn replay(&self, tree: &mut HistoryTree, run: &[SystemTransition]) -> Option<NodeId> {
        let mut done = vec![0; self.question.editors.len()];
        for transition in run {
            self.perform(tree, *transition, &mut done)?;
        }
        Some(tree.current())
    }

    fn perform(
        &self,
        tree: &mut HistoryTree,
        transition: SystemTransition,
        done: &mut [usize],
    ) -> Option<()> {
        let control = |tree: &mut HistoryTree, operation| {
            tree.act_once(Operation::Control(operation)).map(drop)
        };
        match transition {
            SystemTransition::Deliver { cache, .. } => {
                // A cache without a watch lists and watches first, and then there may be no event.
                let mut connected = false;
                while !tree
                    .world()
                    .controller()?
                    .caches()
                    .get(cache)?
                    .is_watching()
                {
                    control(tree, ControllerOperation::Connect(cache))?;
                    connected = true;
                }
                let delivered = control(tree, ControllerOperation::Deliver(cache));
                delivered.or(connected.then_some(()))
            }
            SystemTransition::Take(_) | SystemTransition::Step(_) => {
                control(tree, ControllerOperation::Step)
            }
            SystemTransition::Wake(_) => control(tree, ControllerOperation::Wake),
            SystemTransition::Restart(_) => {
                control(tree, ControllerOperation::Restart)?;
                tree.connect_controller().map(drop)
            }
            SystemTransition::ExpectationsRunOut => {
                let time = EXPECTATIONS_TIMEOUT + Duration::from_secs(1);
                let seconds = u32::try_from(time.as_secs()).ok()?;
                tree.act_once(Operation::Wait(seconds)).map(drop)
            }
            SystemTransition::Edit(editor) => {
                let plan = self.question.editors.get(editor)?;
                let step = done.get_mut(editor)?;
                *step += 1;
                edit(tree, plan, *step == 1 && plan.reads_first)
            }
        }
    }
}

/// Lets an editor read, or make its edits and send them.
fn edit(tree: &mut HistoryTree, plan: &EditorPlan, reads: bool) -> Option<()> {
    tree.world_mut().look_at(&plan.kind.kind, &plan.name);
    if reads {
        return tree
            .act_once(Operation::Act(plan.actor, Action::Get))
            .map(drop);
    }
    let write = plan.write();
    let world = tree.world_mut();
    if plan.reads_first {
        let copy = world.copy_mut(plan.actor);
        let edited = plan.edited(copy.read()?);
        copy.edit(edited);
    }
    world.actor_mut(plan.actor).set_write(write.clone());
    let send = Operation::Act(plan.actor, Action::Send(write));
    tree.act_once(send).map(drop)
}
