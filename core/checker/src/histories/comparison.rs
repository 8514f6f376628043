//! Two searches of the same processes that write in different ways, side by side: the shortest order of
//! steps that ends differently.

use std::collections::hash_map::Entry;

use optimist_apiserver::fast_map::FastMap;

use optimist_ledger::Verdict;

use super::{HistorySearch, SearchStatus, StateId, StateView, TransitionId};

/// A step of an order that is performed in two searches. A process that is done in one of them goes
/// on alone in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JointStep {
    /// The step in the first search.
    pub first: Option<TransitionId>,
    /// The step in the second search.
    pub second: Option<TransitionId>,
}

/// The result of a comparison of two searches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// A shortest order of steps whose ends have different verdicts, or refusals of different kinds.
    Differs(Vec<JointStep>),
    /// Each order has the same verdict in both, and the same kind of refusal.
    Same,
    /// No difference so far, and not every order was compared.
    Unknown,
}

/// A state of each search, and the step by which the two were reached.
#[derive(Clone, Copy, Debug)]
struct Pair {
    states: (StateId, StateId),
    before: Option<(usize, JointStep)>,
}

impl HistorySearch {
    /// Performs every order of steps in two searches at once, up to a number of pairs of states.
    pub fn compare(&self, other: &Self, most_pairs: usize) -> Comparison {
        let mut pairs = vec![Pair {
            states: (0, 0),
            before: None,
        }];
        let mut known = FastMap::default();
        known.insert((0, 0), ());
        let mut at = 0;
        while let Some(Pair { states, .. }) = pairs.get(at).copied() {
            if self.end_differently(other, states) {
                return Comparison::Differs(order(&pairs, at));
            }
            if pairs.len() > most_pairs {
                return Comparison::Unknown;
            }
            for (states, step) in self.joint_steps(other, states) {
                if let Entry::Vacant(place) = known.entry(states) {
                    place.insert(());
                    pairs.push(Pair {
                        states,
                        before: Some((at, step)),
                    });
                }
            }
            at += 1;
        }
        match [self.status(), other.status()] {
            [SearchStatus::Done, SearchStatus::Done] => Comparison::Same,
            _ => Comparison::Unknown,
        }
    }

    fn end_differently(&self, other: &Self, (first, second): (StateId, StateId)) -> bool {
        let outcome = |end: &StateView<'_>| {
            let verdict = end.verdict();
            let refusal = end.refusal().filter(|_| verdict == Verdict::Refused);
            (verdict, refusal)
        };
        let ends = self.view(first).zip(other.view(second));
        ends.is_some_and(|(first, second)| {
            first.is_end() && second.is_end() && outcome(&first) != outcome(&second)
        })
    }

    /// The next pairs: each step that both can take, and those of a process that is done in one of them.
    fn joint_steps(
        &self,
        other: &Self,
        (first, second): (StateId, StateId),
    ) -> Vec<((StateId, StateId), JointStep)> {
        let (Some(one), Some(two)) = (self.view(first), other.view(second)) else {
            return Vec::new();
        };
        let step = |search: &Self, id: TransitionId| {
            let edge = search.edges().get(id)?;
            Some((id, (edge.actor, edge.is_lost), edge.to))
        };
        let of_one: Vec<_> = one.edges().filter_map(|id| step(self, id)).collect();
        let of_two: Vec<_> = two.edges().filter_map(|id| step(other, id)).collect();
        let mut found = Vec::new();
        for (id, event, to) in &of_one {
            let same = of_two.iter().find(|(_, other, _)| other == event);
            let (second, to_second) = match same {
                Some((id, _, to)) => (Some(*id), *to),
                None if two.is_done(event.0) => (None, second),
                None => continue,
            };
            let first = Some(*id);
            found.push(((*to, to_second), JointStep { first, second }));
        }
        for (id, event, to) in &of_two {
            if one.is_done(event.0) {
                let second = Some(*id);
                found.push((
                    (first, *to),
                    JointStep {
                        first: None,
                        second,
                    },
                ));
            }
        }
        found
    }
}

/// The steps to a pair.
fn order(pairs: &[Pair], end: usize) -> Vec<JointStep> {
    let mut steps = Vec::new();
    let mut at = end;
    while let Some((before, step)) = pairs.get(at).and_then(|pair| pair.before) {
        steps.push(step);
        at = before;
    }
    steps.reverse();
    steps
}
