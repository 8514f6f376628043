//! A property of a controller's orders that somebody writes, as it is judged here: by the stored objects, the
//! requests and the answers of Play.

use optimist_apiserver::object::text;
use optimist_simulation::{ActorId, HistoryTree, World};
use serde_json::Value;

use crate::moment::actor_of;
use crate::random::Random;

/// A condition on a moment.
type Holds = fn(&World) -> bool;

/// Something that occurs at a step of Play.
type Occurs = fn(&HistoryTree) -> bool;

/// How a property is judged.
#[derive(Clone, Copy)]
enum Judge {
    Always(Holds),
    AtRest(Holds),
    Settles,
    Before(Occurs, Occurs),
}

/// A property: its text, and its second definition.
#[derive(Clone, Copy)]
pub struct Own {
    pub text: &'static str,
    judge: Judge,
}

fn size(world: &World) -> Option<i64> {
    let (_, object) = world.server().store().get(world.subject().key())?;
    object.pointer("/spec/size").and_then(Value::as_i64)
}

fn children(world: &World) -> usize {
    let all = world.server().store().range("/registry/");
    all.filter(|(_, _, object)| text(object, "kind") == "ConfigMap")
        .count()
}

fn exists(world: &World) -> bool {
    world.server().store().get(world.subject().key()).is_some()
}

/// Returns whether the last step is a write of an actor to the current object, and was accepted.
fn writes(tree: &HistoryTree, actor: ActorId) -> Option<bool> {
    let step = tree.step(tree.current())?;
    let sent = step.exchange.as_ref()?;
    let is_by = actor_of(&step.operation).unwrap_or(ActorId::C) == actor;
    let path = tree.world().subject().path();
    let rest = sent.target.split('?').next()?.strip_prefix(&path)?;
    let is_about = rest.is_empty() || rest.starts_with('/');
    (is_by && is_about && sent.method != "GET").then_some(sent.code < 400)
}

const ALL: [Own; 10] = [
    Own {
        text: "never: [more than 1 ConfigMap]",
        judge: Judge::Always(|world| children(world) <= 1),
    },
    Own {
        text: "always: {objects: {ConfigMap: at most 2}}",
        judge: Judge::Always(|world| children(world) <= 2),
    },
    Own {
        text: "always: {stored: {spec.size: at most 3}}",
        judge: Judge::Always(|world| size(world).is_some_and(|size| size <= 3)),
    },
    Own {
        text: "never: {stored: {spec.size: 5}}",
        judge: Judge::Always(|world| size(world) != Some(5)),
    },
    Own {
        text: "at rest: {stored: {spec.size: 5}}",
        judge: Judge::AtRest(|world| size(world) == Some(5)),
    },
    Own {
        text: "at rest: {exists: yes, objects: {ConfigMap: 1}}",
        judge: Judge::AtRest(|world| exists(world) && children(world) == 1),
    },
    Own {
        text: "settles: yes",
        judge: Judge::Settles,
    },
    Own {
        text: "before: [A writes, C writes]",
        judge: Judge::Before(
            |tree| writes(tree, ActorId::A) == Some(true),
            |tree| writes(tree, ActorId::C) == Some(true),
        ),
    },
    Own {
        text: "before: [C writes, A is refused]",
        judge: Judge::Before(
            |tree| writes(tree, ActorId::C) == Some(true),
            |tree| writes(tree, ActorId::A) == Some(false),
        ),
    },
    Own {
        text: "before: [{objects: {ConfigMap: 1}}, A writes]",
        judge: Judge::Before(
            |tree| children(tree.world()) == 1,
            |tree| writes(tree, ActorId::A) == Some(true),
        ),
    },
];

impl Own {
    pub fn random(random: &mut Random) -> Self {
        ALL[random.below(ALL.len())]
    }

    pub fn all() -> impl Iterator<Item = Self> {
        ALL.into_iter()
    }

    /// Returns whether a run from a start breaks it at some step. A run is not asked how it ends.
    pub fn broken_in(&self, start: &HistoryTree, run: &[HistoryTree]) -> bool {
        match self.judge {
            Judge::Always(holds) => {
                let mut moments = [start].into_iter().chain(run);
                moments.any(|tree| !holds(tree.world()))
            }
            Judge::Before(first, second) => {
                // What led here is no step of the run, but what is stored is so from the start.
                let second = run.iter().position(second);
                let stored = first_at_start(self.text, start.world());
                second.is_some_and(|at| !stored && !run[..at].iter().any(first))
            }
            Judge::AtRest(_) | Judge::Settles => false,
        }
    }

    /// Returns whether a world in which nothing happens any more is as it asks.
    pub fn is_rest(&self, end: &World) -> bool {
        match self.judge {
            Judge::AtRest(holds) => holds(end),
            _ => true,
        }
    }

    /// Returns whether it is about how runs end.
    pub fn is_settling(&self) -> bool {
        matches!(self.judge, Judge::AtRest(_) | Judge::Settles)
    }

    /// Returns whether a run has the step that comes too early when it is broken. `None` if it is about conditions.
    pub fn occurs_in(&self, run: &[HistoryTree]) -> Option<bool> {
        match self.judge {
            Judge::Before(_, second) => Some(run.iter().any(second)),
            _ => None,
        }
    }
}

/// Returns whether the first part of an order is a condition that is so at the start.
fn first_at_start(text: &str, world: &World) -> bool {
    text.starts_with("before: [{objects: {ConfigMap: 1}}") && children(world) == 1
}
