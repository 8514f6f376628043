//! The order of two occurrences in the graph of a search.

use std::collections::VecDeque;

/// Finds the steps of a shortest history from state 0 in which the second of two occurrences occurs, and the first
/// has not occurred at an earlier moment. `steps` returns the steps from a state, each with the state after it;
/// `first` and `second` say of a step whether they occur after it.
pub(super) fn without_first<S: Copy, I: Iterator<Item = (S, usize)>>(
    states: usize,
    steps: impl Fn(usize) -> I,
    mut first: impl FnMut(S) -> bool,
    mut second: impl FnMut(S) -> bool,
) -> Option<Vec<S>> {
    // The states to which a history leads without the first, and the step by which.
    let mut by: Vec<Option<(usize, S)>> = vec![None; states];
    let mut open = VecDeque::from([0]);
    while let Some(state) = open.pop_front() {
        for (step, to) in steps(state) {
            if second(step) {
                return Some(path(&by, state, step));
            }
            if to != 0
                && let Some(place @ None) = by.get_mut(to)
                && !first(step)
            {
                *place = Some((state, step));
                open.push_back(to);
            }
        }
    }
    None
}

/// The steps to a state, each by the step that led to its state, and a last one.
fn path<S: Copy>(by: &[Option<(usize, S)>], mut at: usize, last: S) -> Vec<S> {
    let mut path = vec![last];
    while let Some(Some((from, step))) = by.get(at) {
        path.push(*step);
        at = *from;
    }
    path.reverse();
    path
}
