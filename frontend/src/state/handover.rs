//! How Play and Explore hand edits and histories to each other.

use std::rc::Rc;

use optimist_core::sim::{ActorId, NodeId, RunTree};

/// What one page left for the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handover {
    /// Whether Explore was opened: what it found stays there from then on.
    pub(crate) opened: bool,
    /// What Play wants explored.
    pub(crate) asked: Option<Asked>,
    /// The session whose place a history of Explore took.
    pub(crate) kept: Option<Rc<RunTree>>,
}

/// A moment at which both editors have edits.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    /// How often something was asked for.
    pub(crate) count: u32,
    pub(crate) tree: Rc<RunTree>,
    pub(crate) node: NodeId,
    /// The session that the tree is of.
    pub(crate) session: u32,
}

impl PartialEq for Asked {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count
    }
}

/// How far back edits are looked for.
const FAR: usize = 50;

/// The last moment on the way here at which both editors had edits that were not sent.
pub(crate) fn both_edited(tree: &RunTree) -> Option<NodeId> {
    let mut node = tree.current();
    for _ in 0..FAR {
        let world = tree.world_at(node)?;
        let edited = |editor| world.copy(editor).is_edited();
        if ActorId::EDITORS.into_iter().all(edited) && world.stored().is_some() {
            return Some(node);
        }
        node = tree.parent(node)?;
    }
    None
}
