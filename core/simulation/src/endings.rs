//! The other endings of a history: the same edit at the same moment, sent in another way.

use crate::verdict::Verdict;
use crate::{Action, ActorId, HistoryTree, NodeId, Operation, Outcome, Step};
use optimist_client::{OnConflict, Write, WriteMethod};

/// The effect of an ending on the edits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndingOutcome {
    /// An update is lost.
    Lost,
    /// The server refused the write, with this code.
    Refused(u16),
    /// The edit of another actor was replaced by one that had been shown it, or that tried again
    /// without looking at it.
    Replaced(ActorId),
    /// The server accepted the write and left an edit out.
    LeftOut,
    /// The edits of at least two actors are in the object.
    BothKept,
    /// The write was stored.
    Stored,
}

/// One of the endings.
#[derive(Clone, Debug, PartialEq)]
pub struct Ending {
    /// The method that sends the edit.
    pub method: WriteMethod,
    /// The last step of the branch that has it, and its outcome; `None` if it was not tried.
    pub tried: Option<(NodeId, EndingOutcome)>,
    /// `true` if the current step is in that branch.
    pub here: bool,
}

/// The endings that part at a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Endings {
    /// The node where the endings part.
    pub parting: NodeId,
    /// The actor whose edit is sent from there.
    pub actor: ActorId,
    /// The endings.
    pub endings: Vec<Ending>,
}

/// The ways to send an edit whose copy is stale.
pub const ENDINGS: [WriteMethod; 6] = [
    WriteMethod::Update,
    WriteMethod::UpdateVersioned,
    WriteMethod::UpdateReadAgain,
    WriteMethod::Merge,
    WriteMethod::Apply,
    WriteMethod::ApplyForced,
];

/// The write of an actor that so far writes as `usual` says: to the same part of the object, in the
/// same name.
pub(crate) fn write_as(method: WriteMethod, usual: &Write) -> Write {
    Write {
        subresource: usual.subresource,
        manager: usual.manager.clone(),
        ..method.write(OnConflict::DEFAULT_ATTEMPTS)
    }
}

impl HistoryTree {
    /// The endings that are worth comparing here; `None` before two actors have written, and where
    /// the copy of the one who wrote second was not stale.
    pub fn endings(&self) -> Option<Endings> {
        let (parting, actor) = self.overtaken_edit()?;
        let here = &self.current_path()[..=self.position()];
        let ending = |method| {
            let tried = self.tried(parting, actor, method);
            let outcome = tried.and_then(|(_, last)| Some((last, self.ending_outcome(last)?)));
            Ending {
                method,
                tried: outcome,
                here: tried.is_some_and(|(first, _)| here.contains(&first)),
            }
        };
        Some(Endings {
            parting,
            actor,
            endings: ENDINGS.map(ending).into(),
        })
    }

    /// Goes to an ending that was tried; otherwise goes to where the endings part, sets how the
    /// actor writes, and returns the operation that sends. `None` if there is nothing to send.
    pub fn go_to_ending(&mut self, method: WriteMethod) -> Option<Operation> {
        let Endings {
            parting,
            actor,
            endings,
        } = self.endings()?;
        let known = endings.iter().find(|ending| ending.method == method)?;
        if let Some((last, _)) = known.tried {
            self.go(last);
            return None;
        }
        self.go(parting);
        let editor = self.world_mut().actor_mut(actor);
        let write = write_as(method, &editor.write());
        editor.set_write(write.clone());
        Some(Operation::Act(actor, Action::Send(write)))
    }

    /// The ending that a step tries; `None` if it sends nothing, or in a way that is none of them.
    pub fn ending_method(&self, node: NodeId) -> Option<WriteMethod> {
        let Operation::Act(_, Action::Send(write)) = &self.step(node)?.operation else {
            return None;
        };
        ENDINGS
            .into_iter()
            .find(|method| write_as(*method, write) == *write)
    }

    /// The first and the last step of the branch that sends the edit in a way.
    fn tried(
        &self,
        parting: NodeId,
        actor: ActorId,
        method: WriteMethod,
    ) -> Option<(NodeId, NodeId)> {
        let world = self.world_at(parting)?;
        let (edits, usual) = (world.copy(actor).edits(), world.actor(actor).write());
        let write = write_as(method, &usual);
        let sends = |node: &NodeId| {
            let step = self.step(*node);
            step.is_some_and(|step| {
                step.operation == Operation::Act(actor, Action::Send(write.clone()))
            })
        };
        let mut branches = self.branches(parting).iter().rev();
        let first = *branches.find(|node| {
            sends(node) && self.step(**node).is_some_and(|step| step.edits == edits)
        })?;
        // The retries belong to it.
        let (mut last, mut at) = (first, Some(first));
        while let Some(node) = at {
            if sends(&node) {
                last = node;
            }
            let Some(next) = self.world_at(node)?.next_attempt(actor) else {
                break;
            };
            let next = Operation::Act(actor, next);
            let is_next = |node: &NodeId| self.step(*node).is_some_and(|it| it.operation == next);
            at = self.branches(node).iter().copied().find(is_next);
        }
        Some((first, last))
    }

    /// Returns the effect of a step's write on the edits.
    pub fn ending_outcome(&self, node: NodeId) -> Option<EndingOutcome> {
        let step = self.step(node)?;
        let code = step.exchange.as_ref()?.code;
        Some(if !step.losses.is_empty() {
            EndingOutcome::Lost
        } else if step.outcome() == Outcome::Refused {
            EndingOutcome::Refused(code)
        } else if let Some(replaced) = step.replaced.first() {
            EndingOutcome::Replaced(replaced.owner)
        } else if !step.left_out.is_empty() {
            EndingOutcome::LeftOut
        } else if self.keeps_both(node, step) {
            EndingOutcome::BothKept
        } else {
            EndingOutcome::Stored
        })
    }

    /// Returns whether a write leaves the edits of its actor and of another actor in the object, and no
    /// edit of the history was lost, left out or replaced.
    fn keeps_both(&self, node: NodeId, step: &Step) -> bool {
        let Some(world) = self.world_at(node) else {
            return false;
        };
        let owners = || {
            world
                .updates()
                .kept_edits()
                .iter()
                .map(|known| Some(known.owner))
        };
        world.verdict() == Verdict::InObject
            && world.updates().replaced().is_empty()
            && owners().any(|owner| owner == step.actor())
            && owners().any(|owner| owner != step.actor())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NGINX, World};
    use EndingOutcome::{BothKept, Lost, Refused, Replaced};
    use optimist_client::edit_scalar;

    const IMAGE: &str = "/spec/template/spec/containers/0/image";

    /// A and B read; A sets replicas and B the value at a place; A sends, then B with the version.
    fn conflict(place: &str, value: &str) -> HistoryTree {
        let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
        for (editor, place, value) in [
            (ActorId::A, "/spec/replicas", "5"),
            (ActorId::B, place, value),
        ] {
            tree.act(Operation::Act(editor, Action::Get)).unwrap();
            let copy = tree.world_mut().copy_mut(editor);
            let edited = edit_scalar(copy.edited().unwrap(), place, value).unwrap();
            copy.edit(edited);
        }
        for editor in ActorId::EDITORS {
            assert_eq!(tree.endings(), None, "there is one ending so far");
            let send = Action::Send(Write::default());
            tree.act(Operation::Act(editor, send)).unwrap();
        }
        tree
    }

    fn outcomes(tree: &mut HistoryTree) -> Vec<EndingOutcome> {
        for method in ENDINGS {
            if let Some(operation) = tree.go_to_ending(method) {
                tree.act(operation).unwrap();
            }
            let endings = tree.endings().unwrap().endings;
            let here: Vec<WriteMethod> = endings
                .iter()
                .filter(|ending| ending.here)
                .map(|ending| ending.method)
                .collect();
            assert_eq!(here, [method]);
        }
        let endings = tree.endings().unwrap().endings;
        endings
            .iter()
            .map(|ending| ending.tried.unwrap().1)
            .collect()
    }

    #[test]
    fn edits_of_different_fields_are_both_kept_by_whoever_sends_only_the_change_or_looks_again() {
        let mut tree = conflict(IMAGE, "nginx:1.25");
        assert_eq!(
            outcomes(&mut tree),
            [
                Lost,
                Refused(409),
                BothKept,
                BothKept,
                Refused(409),
                BothKept
            ]
        );
    }

    #[test]
    fn edits_of_one_field_cannot_both_be_kept() {
        let mut tree = conflict("/spec/replicas", "2");
        let replaced = Replaced(ActorId::A);
        assert_eq!(
            outcomes(&mut tree),
            [Lost, Refused(409), replaced, Lost, Refused(409), Lost]
        );
    }

    #[test]
    fn an_ending_is_a_branch_like_others_and_is_tried_once() {
        let mut tree = conflict(IMAGE, "nginx:1.25");
        let tried = |tree: &HistoryTree| {
            let endings = tree.endings().unwrap().endings.into_iter();
            endings.filter(|ending| ending.tried.is_some()).count()
        };
        assert_eq!(tried(&tree), 1, "the 409 that was there");
        let operation = tree.go_to_ending(WriteMethod::Update).unwrap();
        tree.act(operation).unwrap();
        assert_eq!((tried(&tree), tree.ends().len()), (2, 2));
        let nodes = tree.len();
        assert_eq!(tree.go_to_ending(WriteMethod::UpdateVersioned), None);
        assert_eq!(tree.go_to_ending(WriteMethod::Update), None);
        assert_eq!(tree.len(), nodes, "it goes there and sends nothing");
        assert_eq!(tree.step(tree.current()).unwrap().losses.len(), 1);
    }

    #[test]
    fn other_edits_at_the_same_moment_are_another_ending() {
        let mut tree = conflict(IMAGE, "nginx:1.25");
        let Endings { parting, actor, .. } = tree.endings().unwrap();
        let endings = |tree: &HistoryTree| tree.endings().unwrap().endings[1].tried;
        assert!(endings(&tree).is_some());
        let end = tree.current();
        tree.go(parting);
        let copy = tree.world_mut().copy_mut(actor);
        let edited = edit_scalar(copy.edited().unwrap(), IMAGE, "nginx:1.26").unwrap();
        copy.edit(edited);
        tree.go(end);
        assert_eq!(endings(&tree), None);
    }
}
