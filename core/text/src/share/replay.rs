//! Doing everything in a session again, a part at a time, so that the page stays alive.

use std::sync::Arc;

use serde_json::Value;

use super::operation::{actor_code, declared_from_json, edited, write_from_json};
use super::session::RecordedOperation;
use super::{Session, ShareError};
use optimist_apiserver::object::text;
use optimist_simulation::{Action, ActorId, HistoryTree, Operation, Outcome, Step, World};

/// A session that is being done again.
#[derive(Clone, Debug)]
pub struct Replay {
    session: Session,
    tree: Option<HistoryTree>,
    /// How many nodes are done.
    done: usize,
    /// How much all that was answered so far weighs.
    weight: usize,
}

/// So much may all requests and answers of a session weigh together: one for every value in them,
/// and more for long texts. About 300 MB in the page's memory.
pub(super) const MAX_WEIGHT: usize = 3_000_000;

/// How much a step weighs in what a session may be to be opened.
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

    /// How many steps are done, and how many there are.
    pub fn progress(&self) -> (usize, usize) {
        (self.done, self.session.nodes.len())
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Does up to so many steps; the tree once all are done.
    ///
    /// # Errors
    /// If it cannot begin, does something impossible, or becomes too large.
    pub fn advance(&mut self, steps: usize) -> Result<Option<HistoryTree>, ShareError> {
        let mut tree = match self.tree.take() {
            Some(tree) => tree,
            None => {
                let start = Arc::clone(&self.session.start);
                let loaded = World::begin(start);
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
        // A name takes away those of what it goes on from: the latest ones come first.
        let mut names: Vec<_> = self.session.names.iter().collect();
        names.sort_by_key(|(node, _)| std::cmp::Reverse(*node));
        for (node, name) in names {
            tree.set_name(*node, name);
        }
        tree.go(self.session.end);
        tree.go(self.session.current);
        Ok(Some(tree))
    }

    /// Does all that is left.
    ///
    /// # Errors
    /// As [`advance`](Self::advance).
    pub fn finish(mut self) -> Result<HistoryTree, ShareError> {
        let left = self.advance(usize::MAX)?;
        left.ok_or(ShareError::Damaged("its last step is missing"))
    }
}

/// Does what led to a node; how much its answer weighs.
fn perform(recorded: &RecordedOperation, tree: &mut HistoryTree) -> Result<usize, ShareError> {
    const IMPOSSIBLE: ShareError = ShareError::Damaged("one of its steps cannot run");
    if !tree.go(recorded.parent) {
        return Err(IMPOSSIBLE);
    }
    // What was typed for this step only, and is no longer so at its parent.
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
    let id = tree.act_once(recorded.operation.clone());
    let id = id.ok_or(IMPOSSIBLE)?;
    if let Some(kept) = kept {
        tree.go(recorded.parent);
        *tree.world_mut() = kept;
        tree.go(id);
    }
    // A session says what is still to be sent after a write, whatever a write of today leaves.
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

/// Types and chooses what was typed and chosen.
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
