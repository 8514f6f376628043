//! The tree of all histories of a session. Going back keeps all later steps. A different operation
//! there starts a branch.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use super::{Action, ActorId, Operation, Step, World};

/// A node of the tree: an index. The root is 0.
pub type NodeId = usize;

#[derive(Clone, Debug)]
struct TreeNode {
    parent: Option<NodeId>,
    /// Oldest first.
    children: Vec<NodeId>,
    /// The child on the path that was last used.
    next: Option<NodeId>,
    /// The step that led to this node; `None` at the root.
    step: Option<Step>,
    /// The world at this node.
    world: World,
    /// `true` if the same edit would have lost nothing as an apply; empty until it is tried.
    apply_keeps: OnceLock<bool>,
}

/// A tree of worlds, with a current node. The tree is never empty. Clones share their nodes.
#[derive(Clone, Debug)]
pub struct HistoryTree {
    nodes: Vec<Arc<TreeNode>>,
    /// The current path: from the root through the current node to the end of the path that was
    /// last used. Children have larger indices than their parents, so the path ascends.
    line: Vec<NodeId>,
    /// The position of the current node on the current path.
    position: usize,
    /// The names of histories, by the node at which each history ended when it was named.
    pub(super) names: BTreeMap<NodeId, String>,
    /// The nodes between which a search found a cycle: in the last one the state of the first one comes again.
    cycle: Option<(NodeId, NodeId)>,
}

impl HistoryTree {
    /// A tree with one node: this world.
    pub fn new(world: World) -> Self {
        let root = TreeNode {
            parent: None,
            children: Vec::new(),
            next: None,
            step: None,
            world,
            apply_keeps: OnceLock::new(),
        };
        Self {
            nodes: vec![Arc::new(root)],
            line: vec![0],
            position: 0,
            names: BTreeMap::new(),
            cycle: None,
        }
    }

    /// Notes that the state of a node on the current path comes again in the current node.
    pub(crate) fn note_cycle(&mut self, begin: NodeId) {
        self.cycle = Some((begin, self.current()));
    }

    /// Returns the number of steps up to the current one that can repeat for ever, because they end in the state in
    /// which they began. `None` if a search found no such cycle that ends here.
    pub fn repeatable_steps(&self) -> Option<usize> {
        let (begin, _) = self.cycle.filter(|(_, end)| *end == self.current())?;
        let before = self.line.iter().position(|node| *node == begin)?;
        self.position.checked_sub(before).filter(|steps| *steps > 0)
    }

    /// The world of the current node.
    pub fn world(&self) -> &World {
        &self.nodes[self.current()].world
    }

    /// The world of the current node, for changes that are not steps.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.node_mut(self.current()).world
    }

    fn node_mut(&mut self, node: NodeId) -> &mut TreeNode {
        Arc::make_mut(&mut self.nodes[node])
    }

    /// The current node.
    pub fn current(&self) -> NodeId {
        self.line[self.position]
    }

    /// The world of the root.
    pub fn origin(&self) -> &World {
        &self.nodes[0].world
    }

    /// Performs an operation at the current node and moves to the new node. After a conflict, also
    /// performs the actor's retries, with one node for each step. Earlier children of the node stay
    /// as branches. Returns `None` and changes nothing if the operation is not possible now.
    pub fn act(&mut self, operation: Operation) -> Option<NodeId> {
        let sender = match &operation {
            Operation::Act(actor, Action::Send(_) | Action::DeleteRetrying(..)) => Some(*actor),
            _ => None,
        };
        let id = self.act_once(operation)?;
        let last = sender.and_then(|actor| self.retry(actor));
        Some(last.unwrap_or(id))
    }

    /// Performs an actor's next attempt after a conflict, to its end, with one node for each step.
    /// Returns the last node; `None` if it has nothing to try again.
    pub fn retry(&mut self, actor: ActorId) -> Option<NodeId> {
        let mut last = None;
        while let Some(action) = self.world().next_attempt(actor) {
            match self.act_once(Operation::Act(actor, action)) {
                Some(id) => last = Some(id),
                None => break,
            }
        }
        last
    }

    /// Performs one step, without the actor's retries after a conflict.
    pub fn act_once(&mut self, operation: Operation) -> Option<NodeId> {
        let mut world = self.world().clone();
        let step = world.act(operation)?;
        let id = self.nodes.len();
        let current = self.current();
        self.nodes.push(Arc::new(TreeNode {
            parent: Some(current),
            children: Vec::new(),
            next: None,
            step: Some(step),
            world,
            apply_keeps: OnceLock::new(),
        }));
        let parent = self.node_mut(current);
        parent.children.push(id);
        parent.next = Some(id);
        self.position += 1;
        self.line.truncate(self.position);
        self.line.push(id);
        Some(id)
    }

    /// The number of nodes, including the root.
    #[allow(clippy::len_without_is_empty)] // It is never empty.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The world at a node.
    pub fn world_at(&self, node: NodeId) -> Option<&World> {
        Some(&self.nodes.get(node)?.world)
    }

    /// The parent of a node; `None` at the root.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.nodes.get(node)?.parent
    }

    /// The step that led to a node; `None` at the root or if the node does not exist.
    pub fn step(&self, node: NodeId) -> Option<&Step> {
        self.nodes.get(node)?.step.as_ref()
    }

    /// Returns whether the current step's edit would have lost nothing as an apply. `tries` finds it out once.
    pub(super) fn apply_keeps(&self, tries: impl FnOnce() -> bool) -> bool {
        let node = &self.nodes[self.current()];
        *node.apply_keeps.get_or_init(tries)
    }

    /// The actors of all steps, on every path.
    pub fn acted(&self) -> impl Iterator<Item = ActorId> {
        let steps = self.nodes.iter().filter_map(|node| node.step.as_ref());
        steps.filter_map(Step::actor)
    }

    /// The current path: from the root to the current node, and on to the end of the path that was
    /// last used.
    pub fn current_path(&self) -> &[NodeId] {
        &self.line
    }

    /// Makes the path through a node the current path, and moves to the node.
    pub(super) fn walk(&mut self, node: NodeId) {
        self.line = self.path(node);
        self.position = self.line.len() - 1;
        while let Some(next) = self.line.last().and_then(|&id| self.nodes[id].next) {
            self.line.push(next);
        }
    }

    /// Ends the current path at the current node. The steps after it stay in the tree, as a branch.
    pub fn end_path(&mut self) {
        let current = self.current();
        self.node_mut(current).next = None;
        self.line.truncate(self.position + 1);
    }

    /// The number of steps from the root to the current node.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The children of a node, oldest first.
    pub fn branches(&self, node: NodeId) -> &[NodeId] {
        self.nodes
            .get(node)
            .map(|node| node.children.as_slice())
            .unwrap_or_default()
    }

    /// One step back; `false` at the root.
    pub fn back(&mut self) -> bool {
        let parent = self.parent(self.current());
        parent.is_some_and(|parent| self.go(parent))
    }

    /// One step forward on the current path; `false` at its end.
    pub fn forward(&mut self) -> bool {
        let next = self.line.get(self.position + 1).copied();
        next.is_some_and(|next| self.go(next))
    }

    /// Returns whether this tree and an earlier clone of it share a node. It is fast, and may be `false`
    /// for nodes with equal content.
    pub fn shares(&self, earlier: &HistoryTree, node: NodeId) -> bool {
        let both = self.nodes.get(node).zip(earlier.nodes.get(node));
        both.is_some_and(|(now, then)| Arc::ptr_eq(now, then))
    }

    /// Returns whether the node exists and was not deleted.
    pub fn exists(&self, node: NodeId) -> bool {
        node == 0 || self.parent(node).is_some()
    }

    /// Removes a node without children from its parent. Its index is not reused.
    pub(super) fn forget(&mut self, node: NodeId, parent: NodeId) {
        self.names.remove(&node);
        if let Some(forgotten) = self.nodes.get_mut(node).map(Arc::make_mut) {
            forgotten.parent = None;
            forgotten.step = None;
        }
        if let Some(parent) = self.nodes.get_mut(parent).map(Arc::make_mut) {
            parent.children.retain(|child| *child != node);
            if parent.next == Some(node) {
                parent.next = parent.children.last().copied();
            }
        }
    }

    /// Moves to any node. Its branch becomes the current path. `false` if the node does not exist.
    pub fn go(&mut self, node: NodeId) -> bool {
        if !self.exists(node) {
            return false;
        }
        if let Ok(position) = self.line.binary_search(&node) {
            self.position = position;
            return true;
        }
        let mut child = node;
        while let Some(parent) = self.nodes[child].parent {
            if self.nodes[parent].next != Some(child) {
                self.node_mut(parent).next = Some(child);
            }
            child = parent;
        }
        self.walk(node);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Verdict;
    use crate::{ByHand, NGINX, Outcome};
    use optimist_apiserver::server::Fact;
    use optimist_client::{Strategy, Write, edit_scalar};

    fn edit(tree: &mut HistoryTree, editor: ActorId, pointer: &str, text: &str) {
        let copy = tree.world_mut().copy_mut(editor);
        let object = edit_scalar(copy.edited().unwrap(), pointer, text).unwrap();
        copy.edit(object);
    }

    fn send(tree: &mut HistoryTree, editor: ActorId, write: Write) -> Outcome {
        let node = tree
            .act(Operation::Act(editor, Action::Send(write)))
            .unwrap();
        tree.step(node).unwrap().outcome()
    }

    /// Both actors have read version 100 and want different numbers of replicas.
    fn both_want_to_write() -> HistoryTree {
        let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
        for editor in ActorId::EDITORS {
            tree.act(Operation::Act(editor, Action::Get)).unwrap();
        }
        edit(&mut tree, ActorId::A, "/spec/replicas", "5");
        edit(&mut tree, ActorId::B, "/spec/replicas", "2");
        tree
    }

    #[test]
    fn both_read_100_and_only_one_may_write_it() {
        let mut tree = both_want_to_write();
        assert_eq!(
            send(&mut tree, ActorId::A, Write::default()),
            Outcome::Written
        );
        assert_eq!(tree.world().stale_by(ActorId::B), 1);
        assert_eq!(
            send(&mut tree, ActorId::B, Write::default()),
            Outcome::Refused
        );
        let step = tree.step(tree.current()).unwrap();
        assert_eq!(step.headline().to_string(), "PUT replicas 3→2 · if 100");
        assert_eq!(step.status_line(), "409 Conflict");
        assert_eq!(
            step.message().unwrap(),
            "Operation cannot be fulfilled on deployments.apps \"nginx-deployment\": the object has \
             been modified; please apply your changes to the latest version and try again"
        );
        let copy = tree.world().copy(ActorId::B);
        assert_eq!(
            copy.edited().unwrap()["spec"]["replicas"],
            2,
            "the edit survives"
        );
    }

    #[test]
    fn after_reading_again_the_same_edit_is_accepted() {
        let mut tree = both_want_to_write();
        send(&mut tree, ActorId::A, Write::default());
        send(&mut tree, ActorId::B, Write::default());
        tree.act(Operation::Act(ActorId::B, Action::Get)).unwrap();
        assert_eq!(
            send(&mut tree, ActorId::B, Write::default()),
            Outcome::Written
        );
        let (version, object) = tree.world().stored().unwrap();
        assert_eq!((version, &object["spec"]["replicas"]), (102, &2.into()));
    }

    #[test]
    fn without_a_version_the_later_update_silently_wins() {
        let mut tree = both_want_to_write();
        let blind = Write {
            send_resource_version: false,
            ..Write::default()
        };
        assert_eq!(send(&mut tree, ActorId::A, blind.clone()), Outcome::Written);
        assert_eq!(tree.step(tree.current()).unwrap().losses, []);
        assert_eq!(send(&mut tree, ActorId::B, blind), Outcome::Written);
        let losses = &tree.step(tree.current()).unwrap().losses;
        let [loss] = losses.as_slice() else {
            panic!("{losses:?}")
        };
        assert_eq!((loss.owner, loss.culprit), (ActorId::A, ActorId::B));
        assert_eq!(loss.edit.value, Some(5.into()));
        assert!(loss.blind);
        assert_eq!(tree.world().stored().unwrap().1["spec"]["replicas"], 2);
    }

    #[test]
    fn what_was_read_again_is_overwritten_knowingly_and_is_no_loss() {
        let mut tree = both_want_to_write();
        send(&mut tree, ActorId::A, Write::default());
        tree.act(Operation::Act(ActorId::B, Action::Get)).unwrap();
        send(&mut tree, ActorId::B, Write::default());
        assert_eq!(tree.world().stored().unwrap().1["spec"]["replicas"], 2);
        let step = tree.step(tree.current()).unwrap();
        assert_eq!(step.losses, []);
        let [replaced] = step.replaced.as_slice() else {
            panic!("{:?}", step.replaced)
        };
        let found = (replaced.owner, &replaced.edit.value, replaced.retry);
        assert_eq!(found, (ActorId::A, &Some(5.into()), false));
        assert_eq!(tree.world().verdict(), Verdict::Replaced);
    }

    #[test]
    fn only_who_was_shown_the_object_has_read_what_others_wrote() {
        let losses_of = |field: &str, looked: &dyn Fn(&mut HistoryTree)| {
            let mut tree = both_want_to_write();
            edit(&mut tree, ActorId::A, field, "7");
            send(&mut tree, ActorId::A, Write::default());
            looked(&mut tree);
            edit(&mut tree, ActorId::B, "/spec/replicas", "2");
            let blind = Write {
                send_resource_version: false,
                ..Write::default()
            };
            assert_eq!(send(&mut tree, ActorId::B, blind), Outcome::Written);
            tree.step(tree.current()).unwrap().losses.len()
        };
        let get = |tree: &mut HistoryTree, target: &str| {
            let by_hand = ByHand {
                method: "GET".to_owned(),
                target: target.to_owned(),
                content_type: String::new(),
                body: String::new(),
            };
            let node = tree.act(Operation::Act(ActorId::B, Action::Request(by_hand)));
            let step = tree.step(node.unwrap()).unwrap();
            assert_eq!(step.outcome(), Outcome::Read, "{target}");
        };
        let losses = |looked: &dyn Fn(&mut HistoryTree)| losses_of("/spec/replicas", looked);
        let deployments = "/apis/apps/v1/namespaces/default/deployments";
        let one = format!("{deployments}/nginx-deployment");
        assert_eq!(losses(&|_| {}), 1);
        assert_eq!(losses(&|tree| get(tree, &one)), 0);
        assert_eq!(losses(&|tree| get(tree, deployments)), 0);
        assert_eq!(
            losses(&|tree| get(tree, "/api/v1/namespaces/default/configmaps")),
            1
        );
        // A Scale shows the replicas and nothing else.
        let scale = |tree: &mut HistoryTree| get(tree, &format!("{one}/scale"));
        assert_eq!(losses(&scale), 0);
        let limit = "/spec/revisionHistoryLimit";
        assert_eq!(losses_of(limit, &|_| {}), 2);
        assert_eq!(losses_of(limit, &scale), 1);
    }

    #[test]
    fn a_copy_is_overtaken_by_what_others_write_to_the_same_object() {
        let mut tree = both_want_to_write();
        assert!(!tree.world().is_overtaken(ActorId::B));
        send(&mut tree, ActorId::A, Write::default());
        assert!(tree.world().is_overtaken(ActorId::B));
        // Without an edit, nothing can be lost.
        assert!(!tree.world().is_overtaken(ActorId::A));
        let delete = Action::Delete(Default::default());
        tree.act(Operation::Act(ActorId::A, delete)).unwrap();
        assert!(!tree.world().is_overtaken(ActorId::B));
        tree.act(Operation::Act(ActorId::A, Action::Create))
            .unwrap();
        assert!(
            !tree.world().is_overtaken(ActorId::B),
            "another object of that name"
        );
    }

    #[test]
    fn a_patch_that_carries_no_version_says_that_nothing_was_compared() {
        let mut tree = both_want_to_write();
        send(&mut tree, ActorId::A, Write::default());
        let mut patch = Write::usual(Strategy::MergePatch);
        patch.send_resource_version = false;
        send(&mut tree, ActorId::B, patch);
        let step = tree.step(tree.current()).unwrap();
        assert!(step.facts().contains(&Fact::VersionTakenOver(101)));
        assert_eq!(step.losses.len(), 1);
    }

    #[test]
    fn a_patch_that_tests_what_it_read_is_refused_and_its_step_says_which_value_differed() {
        let mut tree = both_want_to_write();
        send(&mut tree, ActorId::A, Write::default());
        let mut patch = Write::usual(Strategy::JsonPatch);
        patch.send_resource_version = false;
        patch.test_values = true;
        assert_eq!(send(&mut tree, ActorId::B, patch), Outcome::Refused);
        let step = tree.step(tree.current()).unwrap();
        assert_eq!(step.status_line(), "422 Invalid");
        let [Fact::OperationFailed(failed)] = step.facts() else {
            panic!("{:?}", step.facts());
        };
        assert_eq!(
            (failed.op.as_str(), failed.path.as_str()),
            ("test", "/spec/replicas")
        );
        assert_eq!(
            failed.differed,
            Some((serde_json::json!(3), Some(serde_json::json!(5))))
        );
    }

    #[test]
    fn an_apply_of_what_another_manager_owns_is_refused_unless_forced() {
        let mut tree = both_want_to_write();
        let apply = Write {
            ..Write::usual(Strategy::Apply)
        };
        assert_eq!(send(&mut tree, ActorId::A, apply.clone()), Outcome::Refused);
        let message = tree
            .step(tree.current())
            .unwrap()
            .message()
            .unwrap()
            .to_owned();
        assert_eq!(
            message,
            "Apply failed with 1 conflict: conflict with \"kubectl-create\" using apps/v1: .spec.replicas"
        );
        let forced = Write {
            force: true,
            ..apply
        };
        assert_eq!(send(&mut tree, ActorId::A, forced), Outcome::Written);
    }

    #[test]
    fn going_back_and_doing_something_else_keeps_the_old_future() {
        let mut tree = both_want_to_write();
        let fork = tree.current();
        send(&mut tree, ActorId::A, Write::default());
        let first = tree.current();
        assert!(tree.back());
        assert_eq!(tree.world().stored().unwrap().0, 100);
        assert_eq!(
            tree.current_path(),
            [0, 1, 2, first],
            "the future is still there"
        );
        assert_eq!(tree.position(), 2);
        send(&mut tree, ActorId::B, Write::default());
        let second = tree.current();
        assert_eq!(tree.current_path(), [0, 1, 2, second]);
        assert_eq!(tree.branches(fork).len(), 2);
        assert_eq!(tree.world().stored().unwrap().1["spec"]["replicas"], 2);
        assert!(tree.go(first));
        assert_eq!(tree.world().stored().unwrap().1["spec"]["replicas"], 5);
        assert_eq!(tree.current_path(), [0, 1, 2, first]);
        assert!(!tree.forward());
        assert!(!tree.go(999));
        assert!(tree.go(1));
        assert_eq!(tree.current_path(), [0, 1, 2, first], "where we were going");
    }

    #[test]
    fn nothing_is_sent_before_something_was_read() {
        let mut tree = HistoryTree::new(World::load(NGINX).unwrap().0);
        let send = Operation::Act(ActorId::A, Action::Send(Write::default()));
        assert_eq!(tree.act(send), None);
        assert_eq!(tree.current_path(), [0]);
    }
}
