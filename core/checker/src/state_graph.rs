//! The states that a search has found, and the events between them, in a few vectors: a search can have
//! hundreds of thousands of them.

use optimist_system::Event;

use super::asked_property::Occurred;

/// A state, by what the properties of a question say of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct JudgedState {
    pub(super) goals_hold: bool,
    /// `true` if the condition of the property of every history holds.
    pub(super) asked_holds: bool,
    /// `true` if that condition sees something else than at the start.
    pub(super) is_changed: bool,
    /// `true` if nothing is possible but faults.
    pub(super) is_over: bool,
}

/// An event between two states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    to: u32,
    /// The number of versions that the event makes in the store.
    pub(super) versions: u32,
    pub(super) event: Event,
    /// The part of the step at which the property of every history looks.
    pub(super) occurred: Occurred,
}

impl Edge {
    /// An event to a state.
    pub(super) fn new(to: usize, versions: u64, event: Event, occurred: Occurred) -> Self {
        Self {
            to: to as u32,
            versions: versions as u32,
            event,
            occurred,
        }
    }

    /// The state afterwards.
    pub(super) fn to(self) -> usize {
        self.to as usize
    }

    /// Returns whether the event makes a new version in the store.
    pub(super) fn writes(self) -> bool {
        self.versions > 0
    }
}

/// The place of a state among the edges.
#[derive(Clone, Copy, Debug)]
struct StatePlace {
    /// The state and the edge by which it was first found: on a shortest way.
    first: (u32, u32),
    depth: u32,
    /// The index of its first own edge.
    edges: u32,
}

/// The states, and the events between them.
#[derive(Clone, Debug, Default)]
pub(super) struct StateGraph {
    nodes: Vec<JudgedState>,
    places: Vec<StatePlace>,
    /// The edges of each state, one state after the other.
    edges: Vec<Edge>,
    /// The number of states whose edges are known, or begin to be.
    explored: usize,
}

impl StateGraph {
    /// The number of states.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The states, by number.
    pub(super) fn nodes(&self) -> &[JudgedState] {
        &self.nodes
    }

    /// All edges that are known.
    pub(super) fn all_edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Adds a state. It is the start, or the next edge from a state leads to it.
    pub(super) fn add(&mut self, from: Option<usize>, node: JudgedState) -> usize {
        let id = self.nodes.len();
        self.nodes.push(node);
        self.places.push(StatePlace {
            first: (from.unwrap_or_default() as u32, self.edges.len() as u32),
            depth: from.map_or(0, |from| self.depth(from) as u32 + 1),
            edges: 0,
        });
        id
    }

    /// Begins to explore the next state: the next edges are those from it.
    pub(super) fn begin_exploring(&mut self) {
        if let Some(place) = self.places.get_mut(self.explored) {
            place.edges = self.edges.len() as u32;
        }
        self.explored += 1;
    }

    /// Adds an edge from the state that is explored.
    pub(super) fn add_edge(&mut self, edge: Edge) {
        self.edges.push(edge);
    }

    /// The edges from a state; none, if it is not explored.
    pub(super) fn edges(&self, id: usize) -> &[Edge] {
        let begin = |id: usize| match id < self.explored {
            true => self.places.get(id).map(|place| place.edges as usize),
            false => None,
        };
        let Some(first) = begin(id) else {
            return &[];
        };
        let end = begin(id + 1).unwrap_or(self.edges.len());
        self.edges.get(first..end).unwrap_or_default()
    }

    /// The events that are possible in an explored state, without faults.
    pub(super) fn enabled(&self, id: usize) -> impl Iterator<Item = Event> {
        let events = self.edges(id).iter().map(|edge| edge.event);
        events.filter(|event| !event.is_fault())
    }

    /// The number of steps of a shortest way to a state.
    pub(super) fn depth(&self, id: usize) -> usize {
        self.places.get(id).map_or(0, |place| place.depth as usize)
    }

    /// A shortest way from the start to a state.
    pub(super) fn path(&self, to: usize) -> Vec<Event> {
        let mut path = Vec::new();
        let mut at = to;
        while at > 0
            && let Some(place) = self.places.get(at)
            && let (from, first) = place.first
            && let Some(edge) = self.edges.get(first as usize)
        {
            path.push(edge.event);
            at = from as usize;
        }
        path.reverse();
        path
    }
}
