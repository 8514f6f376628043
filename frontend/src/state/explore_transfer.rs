//! How Play and Explore hand edits and histories to each other.

use std::rc::Rc;

use optimist_simulation::{ActorId, HistoryTree, NGINX, NodeId, World};
use optimist_text::share::Session;
use serde_json::Value;

use super::{Page, State};
use crate::browser;

/// What one page left for the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExploreTransfer {
    /// Whether Explore was opened: what it found stays there from then on.
    pub(crate) opened: bool,
    /// What Play or a link wants explored.
    pub(crate) request: Option<ExploreRequest>,
    /// What is explored, for links, and whether the edits are those that were request for.
    pub(super) explored: (Value, bool),
}

impl ExploreTransfer {
    fn asked_before(&self) -> u32 {
        self.request.as_ref().map_or(0, |request| request.count)
    }

    /// A link wants something explored: the edits at the tree's current node, or ready ones.
    pub(super) fn ask(&mut self, tree: HistoryTree, setup: Value) {
        self.opened = true;
        self.request = Some(ExploreRequest {
            count: self.asked_before() + 1,
            node: tree.current(),
            tree: Rc::new(tree),
            session: None,
            setup,
        });
    }

    /// What is explored, as a session: the edits are those of the working copies in it.
    pub(super) fn session(&self) -> Option<Session> {
        let (setup, of_asked) = &self.explored;
        let request = self.request.as_ref().filter(|_| *of_asked);
        let tree = match request {
            Some(request) => {
                let mut tree = (*request.tree).clone();
                tree.go(request.node);
                tree
            }
            None => HistoryTree::new(World::load(NGINX).ok()?.0),
        };
        let mut session = Session::of(&tree);
        session.page = "explore".to_owned();
        session.extra = setup.clone();
        Some(session)
    }
}

impl State {
    /// Takes the edits to Explore.
    pub(super) fn explore(&mut self) {
        if let Some(node) = both_edited(&self.tree) {
            self.transfer.request = Some(ExploreRequest {
                count: self.transfer.asked_before() + 1,
                tree: Rc::clone(&self.tree),
                node,
                session: Some(self.session),
                setup: Value::Null,
            });
            browser::go(Page::Explore.fragment());
        }
    }
}

/// A moment at which both editors have edits.
#[derive(Clone, Debug)]
pub(crate) struct ExploreRequest {
    /// How often something was request for.
    pub(crate) count: u32,
    pub(crate) tree: Rc<HistoryTree>,
    pub(crate) node: NodeId,
    /// The session that the tree is of, if it is one of this tab.
    pub(crate) session: Option<u32>,
    /// How it is to be explored, as a link says; null for as it is.
    pub(crate) setup: Value,
}

impl PartialEq for ExploreRequest {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count
    }
}

/// How far back edits are looked for.
const FAR: usize = 50;

/// The last moment on the way here at which both editors had edits that were not sent.
pub(crate) fn both_edited(tree: &HistoryTree) -> Option<NodeId> {
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
