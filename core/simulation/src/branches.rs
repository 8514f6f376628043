//! The histories of a tree: naming, comparing and deleting them.

use std::collections::HashMap;

use optimist_apiserver::apply::Managers;
use serde_json::Value;

use super::{Exchange, HistoryTree, NodeId, Outcome, Step};
use optimist_apiserver::storage::Revision;
use optimist_client::{ValueChange, changes_by_item};

/// The point where two histories branch, and how their final objects differ.
#[derive(Clone, Debug)]
pub struct BranchPoint {
    /// The last common node.
    pub fork: NodeId,
    /// The later nodes of the first history, oldest first.
    pub first: Vec<NodeId>,
    /// The later nodes of the second history.
    pub second: Vec<NodeId>,
    /// The differences between the object at the end of the first history and at the end of the
    /// second.
    pub differs: Vec<ValueChange>,
    /// `true` if other managers own fields at the end of the second history, or own them by another operation.
    pub owners_differ: bool,
}

/// The outcome of a branch from the node at which it parts from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BranchOutcome {
    /// A write lost an update.
    Lost,
    /// The server refused a request with this code.
    Refused(u16),
    /// The server refused a request with this code. Later the same actor stored its edits.
    RefusedThenStored(u16),
    /// The server stored a write.
    Stored,
    /// The server accepted a write that changed nothing.
    Unchanged,
    /// There were only reads.
    Read,
    /// No actor did anything.
    Quiet,
}

impl HistoryTree {
    /// The last node of the branch that begins with a node: of the current path if the node is on
    /// it, otherwise of the newest steps.
    pub fn end_of(&self, node: NodeId) -> NodeId {
        if self.current_path().binary_search(&node).is_ok() {
            return self.current_path().last().copied().unwrap_or(node);
        }
        let mut end = node;
        while let Some(&newest) = self.branches(end).last() {
            end = newest;
        }
        end
    }

    /// The name of the branch that begins with a node. A name from before the branch is not its
    /// own.
    pub fn name_of(&self, node: NodeId) -> Option<&str> {
        let path = self.path(self.end_of(node));
        let own = path.iter().rev().take_while(|&&later| later >= node);
        own.filter_map(|later| self.names.get(later))
            .next()
            .map(String::as_str)
    }

    /// Returns the outcome of the branch that begins with a node: the outcome of its first request that
    /// was not a read, and no dry run if another one follows. A lost update in it counts more, and so does a later write of the same actor that
    /// was stored after a refusal.
    pub fn outcome_of(&self, node: NodeId) -> BranchOutcome {
        let path = self.path(self.end_of(node));
        let from = path.binary_search(&node).unwrap_or(path.len());
        let steps = path.get(from..).unwrap_or_default().iter();
        let steps: Vec<&Step> = steps.filter_map(|&node| self.step(node)).collect();
        if steps.iter().any(|step| !step.losses.is_empty()) {
            return BranchOutcome::Lost;
        }
        let is_telling = |step: &&&Step| !matches!(step.outcome(), Outcome::Read | Outcome::Done);
        let is_dry_run = |step: &Step| step.exchange.as_ref().is_some_and(Exchange::is_dry_run);
        let mut telling = steps.iter().filter(is_telling);
        let first_stored = telling.clone().find(|step| !is_dry_run(step));
        let Some(first) = first_stored.or_else(|| telling.next()) else {
            let read = steps.iter().any(|step| step.outcome() == Outcome::Read);
            return if read {
                BranchOutcome::Read
            } else {
                BranchOutcome::Quiet
            };
        };
        let mut later = steps.iter().filter(|step| step.actor() == first.actor());
        match first.outcome() {
            Outcome::Refused => {
                let code = first.code().unwrap_or_default();
                if later.any(|step| step.outcome() == Outcome::Written) {
                    BranchOutcome::RefusedThenStored(code)
                } else {
                    BranchOutcome::Refused(code)
                }
            }
            Outcome::Unchanged => BranchOutcome::Unchanged,
            _ => BranchOutcome::Stored,
        }
    }

    /// The last node of every history, oldest first; only the root before the first step.
    pub fn ends(&self) -> Vec<NodeId> {
        (0..self.len())
            .filter(|&node| self.exists(node) && self.branches(node).is_empty())
            .collect()
    }

    /// The nodes from the root to a node; empty if the node does not exist.
    pub fn path(&self, node: NodeId) -> Vec<NodeId> {
        if !self.exists(node) {
            return Vec::new();
        }
        let mut path = vec![node];
        while let Some(parent) = path.last().and_then(|&last| self.parent(last)) {
            path.push(parent);
        }
        path.reverse();
        path
    }

    /// The name of the history that ends at a node: its own name, or the name of the shorter
    /// history that it continues.
    pub fn name(&self, end: NodeId) -> Option<&str> {
        let path = self.path(end);
        path.iter()
            .rev()
            .find_map(|node| self.names.get(node))
            .map(String::as_str)
    }

    /// Names the history that ends at a node. An empty name removes the name.
    pub fn set_name(&mut self, end: NodeId, name: &str) {
        if !self.exists(end) {
            return;
        }
        // A name of a shorter history without another branch belongs to this history.
        for node in self.path(end).into_iter().rev() {
            if node != end && self.branches(node).len() > 1 {
                break;
            }
            self.names.remove(&node);
        }
        if !name.trim().is_empty() {
            self.names.insert(end, name.trim().to_owned());
        }
    }

    /// Every name with its node.
    pub fn names(&self) -> impl Iterator<Item = (NodeId, &str)> {
        self.names.iter().map(|(node, name)| (*node, name.as_str()))
    }

    /// Compares two histories.
    pub fn compare(&self, first: NodeId, second: NodeId) -> Option<BranchPoint> {
        let (a, b) = (self.path(first), self.path(second));
        let shared = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        let fork = *a.get(shared.checked_sub(1)?)?;
        let object = |node: NodeId| {
            let stored = self.world_at(node).and_then(|world| world.stored());
            stored.map(|(_, object)| (**object).clone())
        };
        let owners = |object: &Option<Value>| {
            let managers = object.as_ref().map(Managers::of_object).unwrap_or_default();
            let owned = managers
                .iter()
                .map(|owned| (owned.manager.clone(), owned.set.clone()));
            owned.collect::<HashMap<_, _>>()
        };
        let (before, after) = (object(first), object(second));
        let owners_differ = owners(&before) != owners(&after);
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
        let differs = changes_by_item(&before, &after, &self.world_at(first)?.resource().root);
        Some(BranchPoint {
            fork,
            first: a.get(shared..)?.to_vec(),
            second: b.get(shared..)?.to_vec(),
            differs: differs
                .into_iter()
                .filter(|change| !change.is_bookkeeping())
                .collect(),
            owners_differ,
        })
    }

    /// The step so far that wrote a version of an object, also a request by hand that named another object
    /// than the one that was shown. `None` for a version that was there at the start.
    pub fn writer_of(&self, revision: Revision) -> Option<NodeId> {
        let so_far = self.current_path().iter().take(self.position() + 1);
        let mut steps = so_far.filter_map(|&node| Some((node, self.step(node)?)));
        let mut before = None;
        let mut versions = self.world().versions();
        let deletes = versions.any(|version| {
            let found = version.revision == revision && version.object.is_none();
            before = if found {
                before
            } else {
                Some(version.revision)
            };
            found
        });
        let wrote = |step: &Step| {
            let of_step = match deletes {
                true => step.after == 0 && before == Some(step.before),
                false => step.after == revision,
            };
            of_step && step.outcome() == Outcome::Written
        };
        let found = steps.find(|(_, step)| wrote(step) || step.has_written_version(revision));
        found.map(|(node, _)| node)
    }

    /// The step that stored the current object as it is now, or deleted it.
    pub fn last_write(&self) -> LastWrite<'_> {
        let mut revisions = self.world().revisions().collect::<Vec<_>>();
        let Some(last) = revisions.pop() else {
            return LastWrite::Start;
        };
        let before = revisions.pop();
        let gone = self.world().stored().is_none();
        let line = self.current_path();
        let so_far = line[..=self.position()].iter().rev();
        let steps = so_far.filter_map(|&node| self.step(node));
        // A revision belongs to one object only, so it also identifies the object of a step.
        let did = |step: &&Step| {
            let made_it = match gone {
                true => step.after == 0 && before == Some(step.before),
                false => step.after == last,
            };
            made_it && step.outcome() == Outcome::Written
        };
        let found = steps.clone().find(did);
        // A request written by hand can write another object.
        let found = found.or_else(|| {
            steps
                .clone()
                .find(|step| !gone && step.has_written_version(last))
        });
        match found {
            Some(step) => LastWrite::Step(step),
            None if before.is_none() => LastWrite::Start,
            None => LastWrite::Elsewhere,
        }
    }

    /// Deletes the history that ends at a node, back to the last node that another history shares.
    /// If the current node is deleted, moves to that shared node. `false` if no history ends there,
    /// or if it is the only history.
    pub fn delete(&mut self, end: NodeId) -> bool {
        if !self.exists(end) || !self.branches(end).is_empty() || self.ends().len() < 2 {
            return false;
        }
        let mut node = end;
        while let Some(parent) = self.parent(node) {
            if self.current() == node {
                self.go(parent);
            }
            self.forget(node, parent);
            if !self.branches(parent).is_empty() {
                break;
            }
            node = parent;
        }
        self.walk(self.current());
        true
    }
}

/// The source of an object's present content.
#[derive(Clone, Copy, Debug)]
pub enum LastWrite<'a> {
    /// The start of the history.
    Start,
    /// A step of the history.
    Step(&'a Step),
    /// A step that concerned another object.
    Elsewhere,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, ActorId, NGINX, Operation, World};
    use optimist_client::{OnConflict, Write, edit_scalar};

    /// Both read; then either A or B sets replicas, and A continues once more.
    fn two_histories() -> (HistoryTree, NodeId, NodeId) {
        let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
        let mut ends = Vec::new();
        for editor in ActorId::EDITORS {
            tree.act(Operation::Act(editor, Action::Get)).unwrap();
        }
        let both_read = tree.current();
        for (editor, replicas) in ActorId::EDITORS.into_iter().zip(["5", "2"]) {
            tree.go(both_read);
            let copy = tree.world_mut().copy_mut(editor);
            let edited = edit_scalar(copy.edited().unwrap(), "/spec/replicas", replicas).unwrap();
            copy.edit(edited);
            let send = Action::Send(tree.world().actor(editor).write());
            ends.push(tree.act(Operation::Act(editor, send)).unwrap());
        }
        (tree, ends[0], ends[1])
    }

    #[test]
    fn two_histories_are_compared_from_where_they_part() {
        let (tree, a, b) = two_histories();
        assert_eq!(tree.ends(), [a, b]);
        let branch_point = tree.compare(a, b).unwrap();
        assert_eq!(branch_point.fork, 2);
        assert_eq!(
            (branch_point.first, branch_point.second),
            (vec![a], vec![b])
        );
        let differs: Vec<String> = branch_point
            .differs
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(differs, ["replicas 5→2"]);
        assert!(branch_point.owners_differ);
        assert!(!tree.compare(a, a).unwrap().owners_differ);
        assert!(tree.compare(a, 99).is_none());
    }

    #[test]
    fn branches_are_told_apart_by_what_became_of_their_writes() {
        let (mut tree, a, b) = two_histories();
        assert_eq!(tree.outcome_of(a), BranchOutcome::Stored);
        let outcome = |tree: &mut HistoryTree, from: NodeId, write: Write| {
            tree.go(from);
            let copy = tree.world_mut().copy_mut(ActorId::B);
            let edited = edit_scalar(copy.edited().unwrap(), "/spec/replicas", "2").unwrap();
            copy.edit(edited);
            let first = tree.len();
            tree.act(Operation::Act(ActorId::B, Action::Send(write)));
            tree.outcome_of(first)
        };
        // After A's write, B's copy is stale.
        let versioned = Write::default();
        let blind = Write {
            send_resource_version: false,
            ..Write::default()
        };
        let redo = Write {
            on_conflict: OnConflict::ReadAgain(OnConflict::DEFAULT_ATTEMPTS),
            ..Write::default()
        };
        assert_eq!(
            outcome(&mut tree, a, versioned),
            BranchOutcome::Refused(409)
        );
        assert_eq!(outcome(&mut tree, a, blind), BranchOutcome::Lost);
        assert_eq!(
            outcome(&mut tree, a, redo),
            BranchOutcome::RefusedThenStored(409)
        );
        tree.go(b);
        let read = tree.act(Operation::Act(ActorId::A, Action::Get)).unwrap();
        assert_eq!(tree.outcome_of(read), BranchOutcome::Read);
        assert_eq!(tree.outcome_of(b), BranchOutcome::Stored);
    }

    #[test]
    fn a_branch_has_a_name_of_its_own_or_none() {
        let (mut tree, a, b) = two_histories();
        tree.set_name(b, "B first");
        assert_eq!((tree.name_of(a), tree.name_of(b)), (None, Some("B first")));
        tree.go(b);
        let later = tree.act(Operation::Act(ActorId::A, Action::Get)).unwrap();
        assert_eq!(tree.name_of(b), Some("B first"), "it goes on");
        assert_eq!(tree.name_of(later), None);
    }

    #[test]
    fn a_name_stays_with_its_history_as_that_goes_on() {
        let (mut tree, a, b) = two_histories();
        tree.set_name(b, " B first ");
        assert_eq!((tree.name(a), tree.name(b)), (None, Some("B first")));
        tree.go(b);
        let later = tree.act(Operation::Act(ActorId::A, Action::Get)).unwrap();
        assert_eq!(tree.name(later), Some("B first"));
        tree.set_name(later, "then A reads");
        assert_eq!(tree.names().collect::<Vec<_>>(), [(later, "then A reads")]);
        tree.set_name(later, "");
        assert_eq!(tree.name(later), None);
    }

    #[test]
    fn the_last_write_of_an_object_is_no_other_objects() {
        let map = |name: &str| {
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{a: b}}\n")
        };
        let text = format!("{}---\n{}", map("one"), map("two"));
        let mut tree = HistoryTree::new(World::load(&text).unwrap().0);
        let act =
            |tree: &mut HistoryTree, action| tree.act(Operation::Act(ActorId::A, action)).unwrap();
        act(&mut tree, Action::Get);
        let copy = tree.world_mut().copy_mut(ActorId::A);
        let edited = edit_scalar(copy.edited().unwrap(), "/data/a", "c").unwrap();
        copy.edit(edited);
        let send = Action::Send(tree.world().actor(ActorId::A).write());
        let wrote = act(&mut tree, send);
        let last = |tree: &HistoryTree| match tree.last_write() {
            LastWrite::Step(step) => Some(step.after),
            LastWrite::Start => None,
            LastWrite::Elsewhere => Some(u64::MAX),
        };
        assert_eq!(last(&tree), tree.step(wrote).map(|step| step.after));
        tree.world_mut().look_at("ConfigMap", "one");
        assert_eq!(last(&tree), None, "the other one is as it was loaded");
        act(&mut tree, Action::Delete(crate::Preconditions::default()));
        assert_eq!(last(&tree), Some(0));
        tree.world_mut().look_at("ConfigMap", "two");
        assert_eq!(last(&tree), tree.step(wrote).map(|step| step.after));
    }

    #[test]
    fn deleting_a_history_leaves_the_others_and_never_the_last_one() {
        let (mut tree, a, b) = two_histories();
        tree.set_name(b, "doomed");
        assert!(tree.delete(b));
        assert_eq!(tree.current(), 2, "where it began");
        assert_eq!(tree.ends(), [a]);
        assert_eq!(
            tree.current_path(),
            [0, 1, 2, a],
            "the other one goes on from there"
        );
        assert!(!tree.go(b), "it is gone");
        assert_eq!(tree.names().count(), 0);
        assert!(tree.forward());
        assert_eq!(tree.current(), a);
        assert!(!tree.delete(a), "the last one stays");
        assert!(!tree.delete(0));
    }
}
