//! Decides whether every run comes to rest, and rests as wished.
//!
//! A run is at rest when the objects in the server change no more; its controllers may still poll.
//! A run that goes on for ever stays at last in one strongly connected component of the states. It
//! is possible only if it leaves no process waiting for ever that could always go on: for each
//! process, the component has a step of it, or a state in which it has no step (weak fairness).
//! If the whole component does not satisfy that, no part of it does.

pub(crate) mod components;

use std::collections::{HashMap, HashSet, VecDeque};

use optimist_system::Event;

use super::state_graph::{Edge, JudgedState, StateGraph};
use components::components;

/// The verdict about all runs of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Settling {
    /// Every run comes to rest as wished.
    Settles,
    /// This run never comes to rest.
    NeverRests(NeverRests),
    /// This run comes to rest, and the objects are not as wished.
    RestsWrong {
        /// A shortest way there.
        path: Vec<Event>,
        /// Steps that are repeated for ever and change no object, such as polling or the retries
        /// of a failing run; empty if no step is possible.
        repeated: Vec<Event>,
    },
}

/// A run that goes on for ever and changes objects again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct NeverRests {
    /// A shortest way to the repeated steps.
    pub path: Vec<Event>,
    /// The repeated steps. They lead to the same state, but for the numbers of versions.
    pub repeated: Vec<Event>,
}

/// Judges all runs. `is_wished` says of a state whether a run may rest in it.
pub(super) fn judge(graph: &StateGraph, is_wished: impl Fn(&JudgedState) -> bool) -> Settling {
    let mut never_rests: Option<(usize, Vec<usize>)> = None;
    let mut rests_wrong: Option<(usize, Vec<usize>)> = None;
    for component in components(graph) {
        let inside: HashSet<usize> = component.iter().copied().collect();
        let edges = || {
            component.iter().flat_map(|id| {
                let edges = graph.edges(*id).iter();
                edges.filter(|edge| inside.contains(&edge.to()))
            })
        };
        let ends = component.len() == 1 && graph.nodes()[component[0]].is_over;
        if !ends && (edges().next().is_none() || !is_fair(graph, &component, &inside)) {
            continue;
        }
        let entry = component.iter().copied().min_by_key(|id| graph.depth(*id));
        let entry = entry.unwrap_or_default();
        let writes = edges().any(|edge| edge.writes());
        let place = if writes {
            &mut never_rests
        } else if component.iter().any(|id| !is_wished(&graph.nodes()[*id])) {
            &mut rests_wrong
        } else {
            continue;
        };
        let depth = graph.depth(entry);
        if place
            .as_ref()
            .is_none_or(|(known, _)| depth < graph.depth(*known))
        {
            *place = Some((entry, component));
        }
    }
    if let Some((_, component)) = never_rests {
        let (entry, repeated) = shortest_tour(graph, &component, true);
        return Settling::NeverRests(NeverRests {
            path: graph.path(entry),
            repeated,
        });
    }
    if let Some((_, component)) = rests_wrong {
        let (entry, repeated) = shortest_tour(graph, &component, false);
        return Settling::RestsWrong {
            path: graph.path(entry),
            repeated,
        };
    }
    Settling::Settles
}

/// Returns the steps that a run which stays in a component must take: for each process that has a
/// step in every state of the component, a step of that process.
fn threads_in_every_state(graph: &StateGraph, component: &[usize]) -> Vec<Event> {
    let enabled = |id: usize| graph.enabled(id).map(Event::thread);
    let mut threads: Vec<Event> = Vec::new();
    for thread in enabled(component[0]) {
        let everywhere = component
            .iter()
            .all(|id| enabled(*id).any(|other| other == thread));
        if everywhere && !threads.contains(&thread) {
            threads.push(thread);
        }
    }
    threads
}

fn is_fair(graph: &StateGraph, component: &[usize], inside: &HashSet<usize>) -> bool {
    let mut threads = threads_in_every_state(graph, component).into_iter();
    threads.all(|thread| {
        component.iter().any(|id| {
            let mut edges = graph.edges(*id).iter();
            edges.any(|edge| inside.contains(&edge.to()) && edge.event.thread() == thread)
        })
    })
}

/// The states of a component from which a tour is sought.
const TOURS: usize = 64;

/// A short tour through a component that a run can repeat for ever, with the state where it begins:
/// the shortest of those that are found from its states, way there included.
fn shortest_tour(graph: &StateGraph, component: &[usize], writes: bool) -> (usize, Vec<Event>) {
    let mut starts = component.to_vec();
    starts.sort_by_key(|id| graph.depth(*id));
    let first = starts[0];
    starts
        .into_iter()
        .take(TOURS)
        .map(|start| (start, tour(graph, component, start, writes)))
        .min_by_key(|(start, tour)| graph.depth(*start) + tour.len())
        .unwrap_or((first, Vec::new()))
}

/// A tour that begins and ends in a state: it goes to the next step that is still needed, until
/// nothing is needed, and back.
fn tour(graph: &StateGraph, component: &[usize], start: usize, writes: bool) -> Vec<Event> {
    let inside: HashSet<usize> = component.iter().copied().collect();
    let enabled = |id: usize, thread: Event| graph.enabled(id).any(|step| step.thread() == thread);
    // Every process that could always go on during the tour must have a step in it.
    let mut pending: Vec<Event> = Vec::new();
    for step in component.iter().flat_map(|id| graph.enabled(*id)) {
        if !pending.contains(&step.thread()) {
            pending.push(step.thread());
        }
    }
    let mut writes = writes;
    let (mut at, mut tour) = (start, Vec::new());
    let see = |id: usize, pending: &mut Vec<Event>| {
        pending.retain(|thread| enabled(id, *thread));
    };
    see(start, &mut pending);
    while writes || !pending.is_empty() {
        let wanted = |edge: &Edge| {
            (writes && edge.writes())
                || (!writes
                    && (pending.contains(&edge.event.thread())
                        || pending.iter().any(|thread| !enabled(edge.to(), *thread))))
        };
        let Some(way) = way(graph, &inside, at, &wanted) else {
            break;
        };
        for edge in way {
            writes &= !edge.writes();
            pending.retain(|thread| *thread != edge.event.thread());
            see(edge.to(), &mut pending);
            at = edge.to();
            tour.push(edge.event);
        }
    }
    if at != start {
        let back = way(graph, &inside, at, &|edge| edge.to() == start);
        tour.extend(back.into_iter().flatten().map(|edge| edge.event));
    }
    tour
}

/// The shortest way inside a component that ends with a wanted step.
fn way(
    graph: &StateGraph,
    inside: &HashSet<usize>,
    from: usize,
    wanted: &dyn Fn(&Edge) -> bool,
) -> Option<Vec<Edge>> {
    let mut came: HashMap<usize, (usize, Edge)> = HashMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        for edge in graph
            .edges(at)
            .iter()
            .filter(|edge| inside.contains(&edge.to()))
        {
            if wanted(edge) {
                let mut way = vec![*edge];
                let mut back = at;
                while back != from {
                    let (before, edge) = came.get(&back)?;
                    way.push(*edge);
                    back = *before;
                }
                way.reverse();
                return Some(way);
            }
            if edge.to() != from && !came.contains_key(&edge.to()) {
                came.insert(edge.to(), (at, *edge));
                queue.push_back(edge.to());
            }
        }
    }
    None
}
