//! Challenges: write methods for which something holds in every order of the requests. The search
//! checks all orders.

use std::fmt;
use std::sync::Arc;

use super::model::{Challenge, VerdictCounts};
use optimist_client::{OnConflict, Write};
use optimist_simulation::explore::{
    Intent, Ownership, Plan, Scenario, Search, SearchStatus, Tally,
};
use optimist_simulation::verdict::Verdict;
use optimist_simulation::{ActorId, HistoryTree};

/// The search stops after this many states. Two editors with retries need fewer than a thousand.
const MOST_STATES: usize = 100_000;

/// What the search over all orders found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What became of how many orders.
    pub tally: Tally,
    /// Whether all of them were looked at.
    pub complete: bool,
    /// Whether somebody tries again where the challenge wants it done without.
    pub retries: bool,
    /// The verdicts that no order may have and some have.
    pub against: Vec<Verdict>,
    /// How everybody wrote, in the order of the challenge's edits.
    writes: Vec<Write>,
}

impl Finding {
    /// Whether the challenge is met.
    pub fn is_met(&self) -> bool {
        self.complete && !self.retries && self.against.is_empty()
    }

    pub(super) fn is(&self, found: &VerdictCounts) -> bool {
        let tally = self.tally;
        let counts = [
            (found.orders, tally.total()),
            (found.kept, tally.kept()),
            (found.replaced, tally.replaced),
            (found.left_out, tally.left_out),
            (found.refused, tally.refused),
            (found.lost, tally.lost),
        ];
        counts
            .iter()
            .all(|(wanted, count)| wanted.is_none_or(|wanted| u128::from(wanted) == *count))
    }
}

impl fmt::Display for Finding {
    /// `6 orders: 2 replace an edit knowingly, 4 lose an update`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tally = self.tally;
        write!(f, "{} orders:", tally.total())?;
        let parts = [
            (tally.in_object, "have both edits in the object"),
            (tally.replaced, "replace an edit knowingly"),
            (tally.left_out, "leave an edit out"),
            (tally.refused, "refuse a write"),
            (tally.lost, "lose an update"),
        ];
        let mut first = true;
        for (count, words) in parts.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, "{} {count} {words}", if first { "" } else { "," })?;
            first = false;
        }
        Ok(())
    }
}

impl Challenge {
    /// The search over all orders, beginning with the object as it is stored where the tree is:
    /// everybody reads, makes the edit, and writes as chosen there. `None` without an object.
    pub fn search(&self, tree: &HistoryTree) -> Option<Search> {
        let world = tree.world();
        let (_, object) = world.stored()?;
        let resource = world.subject().resource();
        let mut scenario = Scenario::new(
            world.server().clone(),
            Arc::clone(resource),
            Arc::clone(object),
        );
        for (id, edits) in &self.edits {
            let actor = world.actor(*id);
            let mut edited = object.as_ref().clone();
            for edit in edits {
                edit.make(&mut edited);
            }
            let write = actor.write();
            scenario.plans.push(Plan {
                manager: Arc::clone(&actor.manager),
                intent: Intent::between(object, &edited, &resource.root),
                reads_first: true,
                subresource: None,
                ownership: Ownership::default(),
                write,
            });
        }
        Some(Search::new(scenario, MOST_STATES))
    }

    /// What a search found.
    pub fn judge(&self, search: &Search) -> Finding {
        let tally = search.tally();
        let retries = |plan: &Plan| plan.write.on_conflict != OnConflict::GiveUp;
        Finding {
            tally,
            complete: search.status() == SearchStatus::Done,
            retries: self.without_retries && search.scenario().plans.iter().any(retries),
            against: self
                .never
                .iter()
                .copied()
                .filter(|verdict| tally.of(*verdict) > 0)
                .collect(),
            writes: writes(search),
        }
    }

    /// Whether a search is about the ways of writing that are chosen where the tree is.
    pub fn is_searched_by(&self, search: &Search, tree: &HistoryTree) -> bool {
        self.chosen(tree) == writes(search)
    }

    /// Whether a finding is about the ways of writing that are chosen where the tree is. It says
    /// nothing of others.
    pub fn is_answered_by(&self, finding: &Finding, tree: &HistoryTree) -> bool {
        self.chosen(tree) == finding.writes
    }

    fn chosen(&self, tree: &HistoryTree) -> Vec<Write> {
        let world = tree.world();
        let writes = self.actors().map(|actor| world.actor(actor).write());
        writes.collect()
    }

    /// Whose ways of writing it is about.
    pub fn actors(&self) -> impl Iterator<Item = ActorId> {
        self.edits.iter().map(|(actor, _)| *actor)
    }
}

/// How everybody writes in a search.
fn writes(search: &Search) -> Vec<Write> {
    let plans = search.scenario().plans.iter();
    plans.map(|plan| plan.write.clone()).collect()
}
