//! Whether every run comes to rest, and rests as wished.
//!
//! A run is at rest when the objects in the server change no more; its controllers may still poll.
//! A run that goes on for ever stays at last in one strongly connected component of the states. It
//! is possible only if it leaves no process waiting for ever that could always go on: for each
//! process, the component has a step of it, or a state in which it has no step (weak fairness).
//! If the whole component does not satisfy that, no part of it does.

mod components;

use std::collections::{HashMap, HashSet, VecDeque};

use super::{Edge, Node, SystemTransition, path};
use components::components;

/// The verdict about all runs of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub enum Settling {
    /// Every run comes to rest as wished.
    Settles,
    /// This run never comes to rest.
    NeverRests(NeverRests),
    /// This run comes to rest, and the objects are not as wished.
    RestsWrong {
        /// A shortest way there.
        path: Vec<SystemTransition>,
        /// Steps that are repeated for ever and change no object, such as polling or the retries
        /// of a failing run; empty if no step is possible.
        repeated: Vec<SystemTransition>,
    },
}

/// A run that goes on for ever and changes objects again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct NeverRests {
    /// A shortest way to the repeated steps.
    pub path: Vec<SystemTransition>,
    /// The repeated steps. They lead to the same state, but for the numbers of versions.
    pub repeated: Vec<SystemTransition>,
}

/// Judges all runs.
pub(super) fn judge(nodes: &[Node]) -> Settling {
    let mut never_rests: Option<(usize, Vec<usize>)> = None;
    let mut rests_wrong: Option<(usize, Vec<usize>)> = None;
    for component in components(nodes) {
        let inside: HashSet<usize> = component.iter().copied().collect();
        let edges = || {
            component.iter().flat_map(|id| {
                let edges = nodes[*id].edges.iter();
                edges.filter(|edge| inside.contains(&edge.to))
            })
        };
        let ends = component.len() == 1 && nodes[component[0]].enabled.is_empty();
        if !ends && (edges().next().is_none() || !is_fair(nodes, &component, &inside)) {
            continue;
        }
        let entry = component.iter().copied().min_by_key(|id| nodes[*id].depth);
        let entry = entry.unwrap_or_default();
        let writes = edges().any(|edge| edge.writes);
        let place = if writes {
            &mut never_rests
        } else if component.iter().any(|id| !nodes[*id].wished) {
            &mut rests_wrong
        } else {
            continue;
        };
        let depth = nodes[entry].depth;
        if place
            .as_ref()
            .is_none_or(|(known, _)| depth < nodes[*known].depth)
        {
            *place = Some((entry, component));
        }
    }
    if let Some((_, component)) = never_rests {
        let (entry, repeated) = shortest_tour(nodes, &component, true);
        return Settling::NeverRests(NeverRests {
            path: path(nodes, entry),
            repeated,
        });
    }
    if let Some((_, component)) = rests_wrong {
        let (entry, repeated) = shortest_tour(nodes, &component, false);
        return Settling::RestsWrong {
            path: path(nodes, entry),
            repeated,
        };
    }
    Settling::Settles
}

/// What a run that stays in a component must do: for each process that has a step in every state of
/// the component, a step of that process.
fn processes_in_every_state(nodes: &[Node], component: &[usize]) -> Vec<SystemTransition> {
    let enabled = |id: usize| nodes[id].enabled.iter().map(|step| step.process());
    let mut processes: Vec<SystemTransition> = Vec::new();
    for process in enabled(component[0]) {
        let everywhere = component
            .iter()
            .all(|id| enabled(*id).any(|other| other == process));
        if everywhere && !processes.contains(&process) {
            processes.push(process);
        }
    }
    processes
}

fn is_fair(nodes: &[Node], component: &[usize], inside: &HashSet<usize>) -> bool {
    let mut processes = processes_in_every_state(nodes, component).into_iter();
    processes.all(|process| {
        component.iter().any(|id| {
            let mut edges = nodes[*id].edges.iter();
            edges.any(|edge| inside.contains(&edge.to) && edge.transition.process() == process)
        })
    })
}

/// The states of a component from which a tour is sought.
const TOURS: usize = 64;

/// A short tour through a component that a run can repeat for ever, with the state where it begins:
/// the shortest of those that are found from its states, way there included.
fn shortest_tour(
    nodes: &[Node],
    component: &[usize],
    writes: bool,
) -> (usize, Vec<SystemTransition>) {
    let mut starts = component.to_vec();
    starts.sort_by_key(|id| nodes[*id].depth);
    let first = starts[0];
    starts
        .into_iter()
        .take(TOURS)
        .map(|start| (start, tour(nodes, component, start, writes)))
        .min_by_key(|(start, tour)| nodes[*start].depth + tour.len())
        .unwrap_or((first, Vec::new()))
}

/// A tour that begins and ends in a state: it goes to the next step that is still needed, until
/// nothing is needed, and back.
fn tour(nodes: &[Node], component: &[usize], start: usize, writes: bool) -> Vec<SystemTransition> {
    let inside: HashSet<usize> = component.iter().copied().collect();
    let enabled = |id: usize, process: SystemTransition| {
        let mut steps = nodes[id].enabled.iter();
        steps.any(|step| step.process() == process)
    };
    // Every process that could always go on during the tour must have a step in it.
    let mut pending: Vec<SystemTransition> = Vec::new();
    for step in component.iter().flat_map(|id| &nodes[*id].enabled) {
        if !pending.contains(&step.process()) {
            pending.push(step.process());
        }
    }
    let mut writes = writes;
    let (mut at, mut tour) = (start, Vec::new());
    let see = |id: usize, pending: &mut Vec<SystemTransition>| {
        pending.retain(|process| enabled(id, *process));
    };
    see(start, &mut pending);
    while writes || !pending.is_empty() {
        let wanted = |edge: &Edge| {
            (writes && edge.writes)
                || (!writes
                    && (pending.contains(&edge.transition.process())
                        || pending.iter().any(|process| !enabled(edge.to, *process))))
        };
        let Some(way) = way(nodes, &inside, at, &wanted) else {
            break;
        };
        for edge in way {
            writes &= !edge.writes;
            pending.retain(|process| *process != edge.transition.process());
            see(edge.to, &mut pending);
            at = edge.to;
            tour.push(edge.transition);
        }
    }
    if at != start {
        let back = way(nodes, &inside, at, &|edge| edge.to == start);
        tour.extend(back.into_iter().flatten().map(|edge| edge.transition));
    }
    tour
}

/// The shortest way inside a component that ends with a wanted step.
fn way(
    nodes: &[Node],
    inside: &HashSet<usize>,
    from: usize,
    wanted: &dyn Fn(&Edge) -> bool,
) -> Option<Vec<Edge>> {
    let mut came: HashMap<usize, (usize, Edge)> = HashMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        for edge in nodes[at]
            .edges
            .iter()
            .filter(|edge| inside.contains(&edge.to))
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
            if edge.to != from && !came.contains_key(&edge.to) {
                came.insert(edge.to, (at, *edge));
                queue.push_back(edge.to);
            }
        }
    }
    None
}
