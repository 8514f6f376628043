//! The largest number of versions that one history makes.

use super::settling::components::components;
use super::state_graph::StateGraph;

/// The largest number of versions on a way from the first state; `None` if there is no largest one: a history can
/// repeat a step that makes a version, as often as it likes. Every state can be reached from the first one.
pub(super) fn most_versions(graph: &StateGraph) -> Option<u64> {
    let components = components(graph);
    let mut component_of = vec![0; graph.len()];
    for (index, component) in components.iter().enumerate() {
        for node in component {
            component_of[*node] = index;
        }
    }
    // The states to which a component leads are in components before it.
    let mut most = vec![0; components.len()];
    for (index, component) in components.iter().enumerate() {
        for edge in component.iter().flat_map(|node| graph.edges(*node)) {
            let to = component_of[edge.to()];
            if to != index {
                most[index] = most[index].max(u64::from(edge.versions) + most[to]);
            } else if edge.writes() {
                return None;
            }
        }
    }
    component_of.first().map(|first| most[*first])
}
