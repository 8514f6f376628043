//! Performs the actions of a session again, a few steps at a time, so that the page stays
//! responsive.

use std::sync::Arc;

use serde_json::Value;

use super::operation::{actor_code, declared_from_json, edited, write_from_json};
use super::session::RecordedOperation;
use super::{Session, ShareError};
use optimist_apiserver::object::text;
use optimist_simulation::{
    Action, ActorId, ControllerOperation, ControllerStart, HistoryTree, Operation, Outcome, Start,
    Step, World,
};

/// A session that is being replayed.
#[derive(Clone, Debug)]
pub struct Replay {
    session: Session,
    tree: Option<HistoryTree>,
    /// The number of replayed nodes.
    done: usize,
    /// The size of all answers so far.
    weight: usize,
}

/// The maximum size of all requests and answers of a session: one for every value in them, and more
/// for long texts. It is about 300 MB of the page's memory.
pub(super) const MAX_WEIGHT: usize = 3_000_000;

/// The size of a step, which counts towards the maximum size of a session.
pub(super) fn weight_of(step: &Step) -> usize {
    step.exchange.as_ref().map_or(1, |exchange| {
        weight(&exchange.received) + weight(&exchange.sent)
    })
}

impl Replay {
    pub(super) fn new(session: Session) -> Self {
        Self {
            session,
            tree: None,
            done: 0,
            weight: 0,
        }
    }

    /// The number of replayed steps, and the number of all steps.
    pub fn progress(&self) -> (usize, usize) {
        (self.done, self.session.nodes.len())
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Replays up to this number of steps. Returns the tree when all steps are done.
    ///
    /// # Errors
    /// If its start cannot be loaded, an action is not possible, or it becomes too large.
    pub fn advance(&mut self, steps: usize) -> Result<Option<HistoryTree>, ShareError> {
        let mut tree = match self.tree.take() {
            Some(tree) => tree,
            None => {
                let start = Arc::clone(&self.session.start);
                let loaded = World::from_start(start);
                let (mut world, _) =
                    loaded.map_err(|error| ShareError::Start(error.to_string()))?;
                touch(&mut world, &self.session.root);
                HistoryTree::new(world)
            }
        };
        let nodes = &self.session.nodes;
        let until = nodes.len().min(self.done.saturating_add(steps));
        for recorded in nodes.get(self.done..until).unwrap_or_default() {
            self.weight += perform(recorded, &mut tree)?;
            self.done += 1;
            if self.weight > MAX_WEIGHT {
                return Err(ShareError::TooLarge);
            }
        }
        if self.done < nodes.len() {
            self.tree = Some(tree);
            return Ok(None);
        }
        // A new name removes the names of the shorter histories that it continues, so the latest
        // names are set first.
        let mut names: Vec<_> = self.session.names.iter().collect();
        names.sort_by_key(|(node, _)| std::cmp::Reverse(*node));
        for (node, name) in names {
            tree.set_name(*node, name);
        }
        tree.go(self.session.end);
        tree.go(self.session.current);
        Ok(Some(tree))
    }

    /// Replays all remaining steps.
    ///
    /// # Errors
    /// The same errors as [`advance`](Self::advance).
    pub fn finish(mut self) -> Result<HistoryTree, ShareError> {
        let left = self.advance(usize::MAX)?;
        left.ok_or(ShareError::Damaged("its last step is missing"))
    }
}

impl Session {
    /// The same history with this controller as an actor, instead of another one or beside others. A step
    /// that is not possible then is left out: what follows it goes on without it.
    ///
    /// # Errors
    /// If the start cannot be loaded with that controller, or the session becomes too large.
    pub fn with_controller(
        mut self,
        actor: ActorId,
        controller: ControllerStart,
    ) -> Result<HistoryTree, ShareError> {
        let mut start = Start::clone(&self.start);
        start.controllers.insert(actor, controller);
        self.start = Arc::new(start);
        let loaded = World::from_start(Arc::clone(&self.start));
        let (mut world, _) = loaded.map_err(|error| ShareError::Start(error.to_string()))?;
        touch(&mut world, &self.root);
        let mut tree = HistoryTree::new(world);
        // Where each node of the session is now: at itself, or at what it would have followed.
        let mut places = vec![0];
        let mut weight = 0;
        for recorded in &self.nodes {
            let parent = places.get(recorded.parent).copied().unwrap_or(0);
            let moved = RecordedOperation {
                parent,
                ..recorded.clone()
            };
            let done = perform(&moved, &mut tree);
            weight += done.as_ref().copied().unwrap_or(0);
            if weight > MAX_WEIGHT {
                return Err(ShareError::TooLarge);
            }
            places.push(match done {
                Ok(_) => tree.current(),
                Err(_) => parent,
            });
        }
        let place = |node: usize| places.get(node).copied().unwrap_or(0);
        tree.go(place(self.end));
        tree.go(place(self.current));
        Ok(tree)
    }
}

/// Returns whether an operation drops, or reads, a watch that is closed. In older sessions, the watches of controllers
/// stayed open when the API server restarted.
fn is_about_closed_watch(operation: &Operation, tree: &HistoryTree) -> bool {
    use ControllerOperation::{Deliver, DropWatch};
    let Operation::Control(id, DropWatch(cache) | Deliver(cache)) = operation else {
        return false;
    };
    let caches = tree.world().controller(*id).map(|it| it.caches());
    let cache = caches.and_then(|caches| caches.get(*cache));
    cache.is_some_and(|cache| !cache.is_watching())
}

/// Replays the step of a node, and returns the size of its answer.
fn perform(recorded: &RecordedOperation, tree: &mut HistoryTree) -> Result<usize, ShareError> {
    const IMPOSSIBLE: ShareError = ShareError::Damaged("one of its steps cannot run");
    if !tree.go(recorded.parent) {
        return Err(IMPOSSIBLE);
    }
    // The text that was typed for this step only, and is no longer at its parent.
    let (typed, declared) = (recorded.touches.get("e"), recorded.touches.get("d"));
    let kept = typed.or(declared).map(|_| tree.world().clone());
    if let (Some(fields), Operation::Act(actor, _)) = (declared, &recorded.operation) {
        let copy = tree.world_mut().copy_mut(*actor);
        copy.declare_only(declared_from_json(fields));
    }
    if let (Some(edits), Operation::Act(actor, _)) = (typed, &recorded.operation) {
        let copy = tree.world_mut().copy_mut(*actor);
        if let Some(read) = copy.read() {
            let object = edited(read, edits);
            copy.edit(object);
        }
    }
    let id = match tree.act_once(recorded.operation.clone()) {
        // The numbers of the nodes stay.
        None if is_about_closed_watch(&recorded.operation, tree) => {
            tree.act_once(Operation::Wait(0))
        }
        id => id,
    };
    let id = id.ok_or(IMPOSSIBLE)?;
    if let Some(kept) = kept {
        tree.go(recorded.parent);
        *tree.world_mut() = kept;
        tree.go(id);
    }
    // The session lists the unsent edits after a write. They replace the unsent edits that this
    // version leaves.
    if let Operation::Act(actor, Action::Send(_) | Action::Create) = &recorded.operation
        && tree
            .step(id)
            .is_some_and(|step| step.outcome() != Outcome::Refused)
        && tree.world().copy(*actor).read().is_some()
    {
        tree.world_mut().copy_mut(*actor).discard();
    }
    touch(tree.world_mut(), &recorded.touches);
    Ok(tree.step(id).map_or(1, weight_of))
}

/// Restores the typed edits and the selected write methods.
fn touch(world: &mut World, touches: &Value) {
    if let Some(subject) = touches.get("o") {
        let at = |i: usize| subject.get(i).and_then(Value::as_str).unwrap_or_default();
        world.look_at(at(0), at(1));
    }
    for id in ActorId::ALL {
        let Some(touched) = touches.get(actor_code(id)) else {
            continue;
        };
        let actor = world.actor_mut(id);
        for (key, place) in [("n", &mut actor.name), ("m", &mut actor.manager)] {
            match text(touched, key) {
                "" => {}
                text => *place = text.into(),
            }
        }
        let chosen = actor.write().strategy;
        let others = touched.get("k").and_then(Value::as_array);
        for write in others.into_iter().flatten().map(write_from_json) {
            write.into_iter().for_each(|write| actor.set_write(write));
        }
        actor.choose(chosen);
        if let Some(Ok(write)) = touched.get("w").map(write_from_json) {
            actor.set_write(write);
        }
        let typed = touched.get("e").and_then(Value::as_array);
        for typed in typed.into_iter().flatten() {
            let at = |i: usize| typed.get(i).and_then(Value::as_str).unwrap_or_default();
            let subject = actor.copies().find_map(|(subject, _)| {
                let found = subject.resource().kind == at(0) && subject.name() == at(1);
                found.then(|| subject.clone())
            });
            let (Some(subject), Some(edits)) = (subject, typed.get(2)) else {
                continue;
            };
            let copy = actor.copy_mut(&subject);
            if let Some(read) = copy.read() {
                let object = edited(read, edits);
                copy.edit(object);
                let declared = typed.get(3).map(declared_from_json);
                copy.declare_only(declared.unwrap_or_default());
            }
        }
    }
}

fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => 1 + text.len() / 64,
        Value::Array(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Value::Object(map) => 1 + map.values().map(weight).sum::<usize>(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use optimist_controller::program::{ReadyProgram, ReadyProgramName};
    use optimist_simulation::WIDGET;
    use serde_json::json;

    #[test]
    fn a_session_that_drops_or_reads_a_watch_after_a_restart_still_opens() {
        let ready = ReadyProgram::new(ReadyProgramName::ChildMaker);
        let start = Start {
            controllers: [(ActorId::C, ready.into())].into(),
            ..Start::with(WIDGET)
        };
        let mut tree = HistoryTree::new(World::from_start(start.into()).unwrap().0);
        tree.connect_controller(ActorId::C).unwrap();
        tree.act(Operation::Compact { restart: true }).unwrap();
        let mut session = Session::from_tree(&tree);
        for operation in [
            ControllerOperation::DropWatch(0),
            ControllerOperation::Deliver(1),
            ControllerOperation::Connect(0),
        ] {
            session.nodes.push(RecordedOperation {
                parent: session.nodes.len(),
                operation: Operation::Control(ActorId::C, operation),
                touches: json!({}),
            });
        }
        let steps = session.nodes.len();
        (session.current, session.end) = (steps, steps);
        let text = session.to_text();
        let tree = Session::parse(&text).unwrap().replay().finish().unwrap();
        assert_eq!((tree.len(), tree.current()), (steps + 1, steps));
        let last = tree.step(steps).unwrap();
        assert!(matches!(last.operation, Operation::Control(..)));
    }
}
