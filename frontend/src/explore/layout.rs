//! Places the states of a search: steps of A lead down to the left, steps of B down to the right.

use std::collections::BTreeMap;

use optimist_simulation::explore::{Search, StateId, Transition};

/// A map with more states is not readable.
const MAX_STATES: usize = 150;
/// The distance between two states of the same place.
const NEAR: f64 = 40.0;
const MARGIN: f64 = 44.0;

/// A drawing.
pub(super) struct MapLayout {
    pub(super) width: f64,
    pub(super) height: f64,
    /// The position of each state.
    pub(super) places: Vec<(f64, f64)>,
    /// `true` if there is room for the names of the steps.
    pub(super) labels: bool,
}

impl MapLayout {
    /// Returns the position of a state.
    pub(super) fn place(&self, id: StateId) -> (f64, f64) {
        self.places.get(id).copied().unwrap_or_default()
    }

    /// Returns both ends of the line of a step.
    pub(super) fn ends(&self, edge: &Transition) -> [(f64, f64); 2] {
        [edge.from, edge.to].map(|id| self.place(id))
    }
}

/// Lays a search of two actors out; `None` where a picture would show nothing.
pub(super) fn layout(search: &Search) -> Option<MapLayout> {
    if search.scenario().plans.len() != 2 || search.states() > MAX_STATES {
        return None;
    }
    // The states at each place: by the steps of A and of B.
    let mut cells: BTreeMap<(usize, usize), Vec<StateId>> = BTreeMap::new();
    for id in 0..search.states() {
        let steps: Vec<usize> = search.view(id)?.steps().collect();
        let &[a, b] = steps.as_slice() else {
            return None;
        };
        cells.entry((a, b)).or_default().push(id);
    }
    let crowd = cells.values().map(Vec::len).max().unwrap_or(1);
    let labels = search.edges().len() <= 40;
    let across = (crowd as f64 * NEAR / 2.0 + 20.0).max(84.0);
    let down = if labels { 68.0 } else { 56.0 };
    let mut places = vec![(0.0, 0.0); search.states()];
    let mut order: Vec<((usize, usize), Vec<StateId>)> = cells.into_iter().collect();
    order.sort_by_key(|((a, b), _)| a + b);
    for ((a, b), mut states) in order {
        let x = (b as f64 - a as f64) * across;
        let y = (a + b) as f64 * down;
        // Below where they come from, so that few lines cross.
        let from = |id: StateId| {
            let edges = search.edges().iter().filter(|edge| edge.to == id);
            let (sum, count) = edges.fold((0.0, 0.0), |(sum, count), edge| {
                let place = places
                    .get(edge.from)
                    .map_or(0.0, |place: &(f64, f64)| place.0);
                (sum + place, count + 1.0)
            });
            if count > 0.0 { sum / count } else { 0.0 }
        };
        let mut weighed: Vec<(f64, StateId)> = states.drain(..).map(|id| (from(id), id)).collect();
        weighed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let half = (weighed.len() - 1) as f64 / 2.0;
        for (i, (_, id)) in weighed.into_iter().enumerate() {
            if let Some(place) = places.get_mut(id) {
                *place = (x + (i as f64 - half) * NEAR, y);
            }
        }
    }
    let (mut left, mut right, mut bottom) = (0.0f64, 0.0f64, 0.0f64);
    for (x, y) in &places {
        left = left.min(*x);
        right = right.max(*x);
        bottom = bottom.max(*y);
    }
    for place in &mut places {
        place.0 += MARGIN - left;
        place.1 += 20.0;
    }
    Some(MapLayout {
        width: right - left + 2.0 * MARGIN,
        height: bottom + 64.0,
        places,
        labels,
    })
}
