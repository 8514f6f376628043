//! The session on the stage: its tree of histories, and where in it we are.

use std::rc::Rc;

use optimist_client::WriteMethod;
use optimist_links::Size;
use optimist_simulation::{
    ActorId, Connection, HistoryTree, NodeId, Operation, WatchAction, World,
};

/// The session on the stage.
#[derive(Clone, Debug)]
pub struct SessionState {
    /// All histories.
    pub tree: Rc<HistoryTree>,
    /// Counts loads: a node's id says nothing in another session.
    pub number: u32,
    /// `true` if the last step was not taken, because no session as large as that can be opened.
    pub full: bool,
    /// `true` if the page takes steps by itself.
    pub playing: bool,
    size: Size,
    /// The ends of the two histories that are compared, where they were chosen.
    compare: [Option<NodeId>; 2],
}

/// A message about the session.
#[derive(Clone, Debug)]
pub enum SessionMsg {
    /// Shows another branch of the same histories.
    Branch(Rc<HistoryTree>),
    /// Something that no editor does.
    Act(Operation),
    /// Selects one of its objects, by kind and name.
    LookAt(String, String),
    /// Goes to a node.
    Go(NodeId),
    /// Compares the history that ends here with the first one of those that are compared.
    Compare(NodeId),
    /// Names the history that ends at a node.
    NameBranch(NodeId, String),
    /// Goes to the end of a history, from the list of histories.
    OpenBranch(NodeId),
    /// Deletes the history that ends at a node.
    DeleteBranch(NodeId),
    /// Goes to the n-th node of the current history.
    Seek(usize),
    /// One step back.
    Back,
    /// One step forward.
    Forward,
    /// To the start.
    First,
    /// To the last step.
    Last,
    /// Takes steps by itself, or no longer.
    Play,
    /// The next step while playing.
    Tick,
}

/// The effect of a message on the session, for the other parts of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum SessionChange {
    /// Nothing that others depend on.
    Nothing,
    /// A step was taken.
    Stepped,
    /// Another step of the same histories is current.
    Moved,
    /// Another object is looked at.
    Subject,
    /// Another tree with the same steps and a new branch.
    Branched,
}

impl SessionState {
    pub(crate) fn new(world: World) -> Self {
        Self {
            tree: Rc::new(HistoryTree::new(world)),
            number: 0,
            full: false,
            playing: false,
            size: Size::default(),
            compare: [None; 2],
        }
    }

    /// The world at the current step.
    pub fn world(&self) -> &World {
        self.tree.world()
    }

    pub(crate) fn world_mut(&mut self) -> &mut World {
        Rc::make_mut(&mut self.tree).world_mut()
    }

    /// The two histories that are compared: those that were chosen, else the one we are in and the
    /// latest other one.
    pub fn compared(&self, ends: &[NodeId]) -> (NodeId, NodeId) {
        let chosen = self.compare.map(|end| end.filter(|end| ends.contains(end)));
        let path = self.tree.current_path();
        let here = path.last().copied().unwrap_or(0);
        let first = chosen[0].unwrap_or(here);
        let others = ends.iter().rev().copied();
        let other = others
            .filter(|end| *end != first)
            .max_by_key(|end| *end == here);
        let second = chosen[1].or(other).unwrap_or(first);
        (first, second)
    }

    pub(crate) fn update(&mut self, msg: SessionMsg) -> SessionChange {
        match msg {
            SessionMsg::Branch(tree) => {
                self.tree = tree;
                self.size = Size::default();
                return SessionChange::Branched;
            }
            SessionMsg::Act(operation) => return self.act(operation),
            SessionMsg::LookAt(kind, name) => {
                self.playing = false;
                self.world_mut().look_at(&kind, &name);
                return SessionChange::Subject;
            }
            SessionMsg::Compare(end) => self.choose_compared(end),
            SessionMsg::NameBranch(end, name) => {
                Rc::make_mut(&mut self.tree).set_name(end, &name);
            }
            SessionMsg::Go(node) | SessionMsg::OpenBranch(node) => {
                return self.walk(|tree| tree.go(node));
            }
            SessionMsg::DeleteBranch(end) => {
                self.size = Size::default();
                return self.walk(|tree| tree.delete(end));
            }
            SessionMsg::Seek(position) => return self.walk(|tree| seek(tree, Some(position))),
            SessionMsg::Back => return self.walk(HistoryTree::back),
            SessionMsg::Forward => return self.walk(HistoryTree::forward),
            SessionMsg::First => return self.walk(|tree| tree.go(0)),
            SessionMsg::Last => return self.walk(|tree| seek(tree, None)),
            SessionMsg::Play => return self.play(),
            SessionMsg::Tick => {
                let still = self.playing;
                let change = self.walk(HistoryTree::forward);
                self.playing = still && !self.at_end();
                return change;
            }
        }
        SessionChange::Nothing
    }

    /// Puts a branch on the second side of the comparison. The branch that was there goes to the
    /// first side if a branch would be compared with itself.
    fn choose_compared(&mut self, end: NodeId) {
        let (first, second) = self.compared(&self.tree.ends());
        let other = if first == end { second } else { first };
        self.compare = [Some(other), Some(end)];
    }

    /// Does something that no editor does.
    fn act(&mut self, operation: Operation) -> SessionChange {
        let lists = operation == Operation::Watch(WatchAction::List);
        let change = self.operate(operation);
        // A reflector goes on at once.
        if lists && *self.world().watcher().connection() == Connection::Listed {
            return self.operate(Operation::Watch(WatchAction::Resume));
        }
        change
    }

    /// Takes a step. One that would make the session too large to be opened again is not taken.
    pub(crate) fn operate(&mut self, operation: Operation) -> SessionChange {
        self.step(|tree| tree.act(operation))
    }

    /// Takes the steps that an actor has left to try again after a conflict.
    pub(crate) fn retry(&mut self, actor: ActorId) -> SessionChange {
        self.step(|tree| tree.retry(actor))
    }

    /// Steps until the run of a controller is over, or waits for a cache.
    pub(crate) fn run_controller(&mut self, id: ActorId) -> SessionChange {
        self.step(|tree| tree.run_controller(id))
    }

    fn step(&mut self, step: impl FnOnce(&mut HistoryTree) -> Option<NodeId>) -> SessionChange {
        self.playing = false;
        let before = Rc::clone(&self.tree);
        if step(Rc::make_mut(&mut self.tree)).is_none() {
            return SessionChange::Nothing;
        }
        if !self.size.fits(&self.tree) {
            self.tree = before;
            self.full = true;
            return SessionChange::Nothing;
        }
        self.full = false;
        SessionChange::Stepped
    }

    /// Goes to an ending that was tried, or sends the edit so that there is one.
    pub(crate) fn go_to_ending(&mut self, method: WriteMethod) -> SessionChange {
        let mut operation = None;
        let change = self.walk(|tree| {
            operation = tree.go_to_ending(method);
            true
        });
        match operation {
            Some(operation) => self.operate(operation),
            None => change,
        }
    }

    fn walk(&mut self, walk: impl FnOnce(&mut HistoryTree) -> bool) -> SessionChange {
        self.playing = false;
        let from = self.tree.current();
        walk(Rc::make_mut(&mut self.tree));
        if self.tree.current() == from {
            return SessionChange::Nothing;
        }
        SessionChange::Moved
    }

    fn at_end(&self) -> bool {
        self.tree.current_path().last() == Some(&self.tree.current())
    }

    fn play(&mut self) -> SessionChange {
        let was_playing = self.playing;
        let change = if !was_playing && self.at_end() {
            self.walk(|tree| tree.go(0))
        } else {
            SessionChange::Nothing
        };
        self.playing = !was_playing && !self.at_end();
        change
    }

    /// Shows another tree.
    pub(crate) fn enter(&mut self, tree: Rc<HistoryTree>) {
        *self = Self {
            tree,
            number: self.number + 1,
            full: false,
            playing: false,
            size: Size::default(),
            compare: [None; 2],
        };
    }
}

/// Goes to the n-th node of the current history; to the last one without a number.
fn seek(tree: &mut HistoryTree, position: Option<usize>) -> bool {
    let path = tree.current_path();
    let node = position.map_or(path.last(), |position| path.get(position));
    node.copied().is_some_and(|node| tree.go(node))
}
