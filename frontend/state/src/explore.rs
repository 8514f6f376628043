//! The state of Explore ([`ExploreModel`]), and how Play and Explore hand edits and histories to each
//! other.

mod in_between;
mod link;
mod model;
mod turn;

use std::rc::Rc;

use optimist_simulation::{ActorId, HistoryTree, NGINX, NodeId, World};
use optimist_text::share::Session;
use serde_json::Value;

pub use self::in_between::{OtherChoice, WritersInBetween};
pub use self::model::{
    EditSource, ExploreModel, ExploreMsg, ExploreRow, ExploreSetup, MapFocus, RowState, StopReason,
    ThirdActorChoice,
};
pub use self::turn::SearchTurn;
use crate::State;
use crate::address::Page;
use crate::effect::Effects;

/// What one page left for the other.
#[derive(Clone, Debug, Default)]
pub struct ExploreTransfer {
    /// Whether Explore was opened: what it found stays there from then on.
    pub opened: bool,
    /// What Play or a link wants explored.
    pub request: Option<ExploreRequest>,
    /// What is explored, for links, and whether its edits are those of the request.
    explored: (Value, bool),
    /// Whether the tab keeps a case.
    keeps_case: bool,
}

/// What Play and Explore say to each other.
#[derive(Clone, Debug)]
pub enum TransferMsg {
    /// Takes the edits to Explore.
    Explore,
    /// What Explore shows, for links, and whether of edits that it was given.
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
    /// How it is to be explored, as a link says; null for as it is.
    pub setup: Value,
    /// Who writes in between, if it is a case of Diagnose.
    pub between: Option<Rc<WritersInBetween>>,
}

impl PartialEq for ExploreRequest {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count
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
            .then(|| WritersInBetween::of(tree.world()))
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

    /// Whether what is explored is a case of Diagnose.
    pub(crate) fn is_of_case(&self) -> bool {
        let request = self.request.as_ref().filter(|_| self.explored.1);
        request.is_some_and(|request| request.between.is_some())
    }

    /// What is explored, as a session: the edits are those of the working copies in it.
    pub(crate) fn session(&self) -> Option<Session> {
        let (setup, of_request) = &self.explored;
        let request = self.request.as_ref().filter(|_| *of_request);
        let tree = match request {
            Some(request) => {
                let mut tree = (*request.tree).clone();
                tree.go(request.node);
                tree
            }
            None => HistoryTree::new(World::load(NGINX).ok()?.0),
        };
        let mut session = Session::of(&tree);
        session.page = Page::Explore.slug().to_owned();
        session.extra = setup.clone();
        Some(session)
    }
}

impl State {
    pub(crate) fn update_explore(&mut self, msg: TransferMsg, fx: &mut Effects<'_>) {
        match msg {
            TransferMsg::Explore => {
                if let Some(node) = both_edited(&self.session.tree) {
                    self.explore.request = Some(ExploreRequest {
                        count: self.explore.next_count(),
                        tree: Rc::clone(&self.session.tree),
                        node,
                        session: Some(self.session.number),
                        setup: Value::Null,
                        between: None,
                    });
                    fx.go_to(Page::Explore.fragment());
                }
            }
            TransferMsg::Explored(setup, of_request) => {
                self.explore.explored = (setup, of_request);
                self.keep_explored(fx);
            }
            TransferMsg::Other(choice) => self.change_other(&choice, fx),
        }
    }
}

/// How far back edits are looked for.
const FAR: usize = 50;

/// The last moment on the way here at which both editors had edits that were not sent.
pub fn both_edited(tree: &HistoryTree) -> Option<NodeId> {
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
