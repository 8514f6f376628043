//! The state of Explore ([`ExploreModel`]), and how Play and Explore hand edits and histories to each
//! other.

mod bar;
mod in_between;
mod kept;
mod link;
mod model;
mod third;
mod turn;

use std::rc::Rc;
use std::sync::Arc;

use optimist_client::Intent;
use optimist_links::Session;
use optimist_simulation::{ActorId, HistoryTree, NodeId};
use serde_json::Value;

pub use self::bar::{BarPart, bar_parts};
pub use self::in_between::{OtherChoice, WritersInBetween};
pub use self::model::{
    EditSource, ExploreModel, ExploreMsg, ExploreRow, ExploreSetup, MapFocus, RowState, StopReason,
};
pub use self::third::{MixedWay, ThirdActorChoice};
pub use self::turn::SearchTurn;
use crate::State;
use crate::address::Page;
use crate::effect::Effects;

/// The data that Play and Explore pass to each other.
#[derive(Clone, Debug, Default)]
pub struct ExploreTransfer {
    /// `true` if Explore was opened. Its results stay from then on.
    pub opened: bool,
    /// The scenario that Play or a link wants to explore.
    pub request: Option<ExploreRequest>,
    /// The explored scenario, for links, and `true` if its edits are those of the request.
    explored: (Value, bool),
}

/// A message between Play and Explore.
#[derive(Clone, Debug)]
pub enum TransferMsg {
    /// Takes the edits to Explore.
    Explore,
    /// Reports the explored scenario, for links, and whether its edits are those of the request.
    Explored(Value, bool),
    /// Another edit of the one who writes in between, in a case of Diagnose.
    Other(OtherChoice),
}

/// A moment at which both editors have edits.
#[derive(Clone, Debug)]
pub struct ExploreRequest {
    /// Counts requests.
    pub count: u32,
    /// The histories that the moment is in.
    pub tree: Rc<HistoryTree>,
    /// The moment.
    pub node: NodeId,
    /// The session that the tree is of, if it is one of this tab.
    pub session: Option<u32>,
    /// The setup of the search, from a link; null for the setup of the page.
    pub setup: Value,
    /// The writers in between, if it is a case of Diagnose.
    pub between: Option<Rc<WritersInBetween>>,
}

impl PartialEq for ExploreRequest {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count
    }
}

impl ExploreRequest {
    /// The histories, at the moment.
    fn tree_at_node(&self) -> HistoryTree {
        let mut tree = (*self.tree).clone();
        tree.go(self.node);
        tree
    }
}

impl ExploreTransfer {
    fn next_count(&self) -> u32 {
        self.request.as_ref().map_or(0, |request| request.count) + 1
    }

    /// A link wants something explored: the edits at the tree's current node, or a preset.
    pub(crate) fn ask(&mut self, tree: HistoryTree, setup: Value) {
        let is_case = setup.get(link::BETWEEN) == Some(&Value::Bool(true));
        let between = is_case
            .then(|| WritersInBetween::from_world(tree.world()))
            .flatten();
        self.opened = true;
        self.request = Some(ExploreRequest {
            count: self.next_count(),
            node: tree.current(),
            tree: Rc::new(tree),
            session: None,
            setup,
            between: between.map(Rc::new),
        });
    }

    /// Returns the explored scenario as a session, whose working copies have the edits.
    pub(crate) fn session(&self) -> Option<Session> {
        let (setup, of_request) = &self.explored;
        let request = self.request.as_ref().filter(|_| *of_request);
        let tree = match request {
            Some(request) => request.tree_at_node(),
            None => link::tree_of_presets()?,
        };
        let mut session = Session::from_tree(&tree);
        session.page = Page::Explore.slug().to_owned();
        session.extra = setup.clone();
        Some(session)
    }
}

impl State {
    pub(crate) fn update_explore(&mut self, msg: TransferMsg, fx: &mut Effects<'_>) {
        match msg {
            TransferMsg::Explore => {
                let edits = ExplorableEdits::find(&self.session.tree);
                let tree = edits.and_then(|edits| edits.tree(&self.session.tree));
                if let Some((edits, tree)) = edits.zip(tree) {
                    self.explore.request = Some(ExploreRequest {
                        count: self.explore.next_count(),
                        tree,
                        node: edits.node,
                        session: Some(self.session.number),
                        setup: Value::Null,
                        between: None,
                    });
                    self.keep_edits_of_explore(fx);
                    fx.go_to(Page::Explore.fragment());
                }
            }
            TransferMsg::Explored(setup, of_request) => {
                self.explore.explored = (setup, of_request);
                self.keep_setup_of_explore(fx);
            }
            TransferMsg::Other(choice) => self.change_other(&choice, fx),
        }
    }
}

/// The search for edits ends this many steps from the current one.
const FAR: usize = 50;

/// Edits that can be explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExplorableEdits {
    /// The moment that they are explored from.
    pub node: NodeId,
    /// The moment at which each editor has its edits, in the order of [`ActorId::EDITORS`]. They are the
    /// same if both have edits at one moment.
    of: [NodeId; 2],
    /// `true` if another actor has edits too.
    pub has_others: bool,
}

impl ExplorableEdits {
    /// Finds the edits of the displayed history: those that both editors have at one moment, the last one
    /// before here if there is one. Else the edits that are next to each other: a history that comes from a
    /// link or a file, or where one editor has sent before the other one began, need not have such a
    /// moment.
    pub fn find(tree: &HistoryTree) -> Option<Self> {
        let (line, here) = (tree.current_path(), tree.position());
        let back = line.get(here.saturating_sub(FAR)..=here)?.iter().rev();
        let forward = line.iter().skip(here + 1).take(FAR);
        let nodes: Vec<NodeId> = back.chain(forward).copied().collect();
        let subject = tree.world().subject();
        let edited = |node: NodeId, editor: ActorId| {
            let world = tree.world_at(node);
            world.is_some_and(|world| world.subject() == subject && world.copy(editor).is_edited())
        };
        let first = |at: &dyn Fn(NodeId) -> bool| nodes.iter().copied().find(|node| at(*node));
        let both = |node| {
            ActorId::EDITORS
                .into_iter()
                .all(|editor| edited(node, editor))
        };
        let of = match first(&both) {
            Some(node) => [node; 2],
            None => {
                let [a, b] = ActorId::EDITORS.map(|editor| first(&|node| edited(node, editor)));
                [a?, b?]
            }
        };
        let place = |node: &NodeId| line.iter().position(|one| one == node);
        let node = of.into_iter().min_by_key(place)?;
        tree.world_at(node)?.stored()?;
        Some(Self {
            node,
            of,
            has_others: ActorId::ALL.iter().skip(2).any(|id| edited(node, *id)),
        })
    }

    /// The histories, with all of the edits at the moment that they are explored from.
    fn tree(&self, tree: &Rc<HistoryTree>) -> Option<Rc<HistoryTree>> {
        if self.of == [self.node; 2] {
            return Some(Rc::clone(tree));
        }
        let mut together = (**tree).clone();
        together.go(self.node);
        for (editor, from) in ActorId::EDITORS.into_iter().zip(self.of) {
            if from != self.node {
                let world = tree.world_at(from)?;
                let intent = Intent::from_copy(world.copy(editor), &world.resource().root)?;
                let read = Arc::clone(together.world().stored()?.1);
                let write = world.actor(editor).write();
                together.world_mut().actor_mut(editor).set_write(write);
                let copy = together.world_mut().copy_mut(editor);
                copy.settle(Arc::clone(&read));
                intent.edit(copy, &read);
            }
        }
        Some(Rc::new(together))
    }
}
