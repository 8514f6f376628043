//! Challenges: write methods for which something holds in every order of the requests. The search
//! checks all orders.

use std::fmt;
use std::sync::Arc;

use super::model::{Challenge, VerdictCounts};
use optimist_client::{Intent, OnConflict, Write};
use optimist_simulation::explore::{Plan, Scenario, Search, SearchStatus, Tally};
use optimist_simulation::verdict::Verdict;
use optimist_simulation::{ActorId, HistoryTree};

/// The search stops after this many states. Two editors with retries need fewer than a thousand.
const MAX_STATES: usize = 100_000;

/// The result of the search over all orders.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The number of orders for each verdict.
    pub tally: Tally,
    /// `true` if the search is complete.
    pub complete: bool,
    /// `true` if an actor retries although the challenge does not allow it.
    pub retries: bool,
    /// `true` if an actor writes by a dry run: it stores nothing, so the verdicts say nothing of its edit.
    pub dry_runs: bool,
    /// The forbidden verdicts that some orders have.
    pub against: Vec<Verdict>,
    /// The write method of each actor, in the order of the challenge's edits.
    pub(super) writes: Vec<Write>,
}

impl Finding {
    /// Returns whether the challenge is met.
    pub fn is_met(&self) -> bool {
        self.complete && !self.retries && !self.dry_runs && self.against.is_empty()
    }

    pub(super) fn is(&self, found: &VerdictCounts) -> bool {
        let tally = self.tally;
        let counts = [
            (found.orders, tally.total()),
            (found.kept, tally.without_loss()),
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
    /// `6 orders: 2 replace an edit after reading it, 4 lose an update`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dry_runs {
            return f.write_str("a dry run stores nothing");
        }
        let tally = self.tally;
        write!(f, "{} orders:", tally.total())?;
        let parts = [
            (tally.in_object, "keep both edits and refuse nobody"),
            (tally.replaced, "replace an edit after reading it"),
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
    /// The search over all orders, starting with the stored object of the current node: each actor
    /// reads, makes its edit, and writes with the selected method. `None` without an object.
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
                write,
                ..Plan::new(
                    &actor.manager,
                    Intent::between(object, &edited, &resource.root),
                )
            });
        }
        Some(Search::new(scenario, MAX_STATES))
    }

    /// Returns whether these write methods meet the challenge at the current node.
    pub(super) fn is_met_by(&self, writes: &[(ActorId, Write)], tree: &HistoryTree) -> bool {
        let mut tree = tree.clone();
        for (actor, write) in writes {
            tree.world_mut().actor_mut(*actor).set_write(write.clone());
        }
        self.search(&tree).is_some_and(|mut search| {
            search.run();
            self.judge(&search).is_met()
        })
    }

    /// The result of a search.
    pub fn judge(&self, search: &Search) -> Finding {
        let tally = search.tally();
        let retries = |plan: &Plan| plan.write.on_conflict != OnConflict::GiveUp;
        Finding {
            tally,
            complete: search.status() == SearchStatus::Done,
            retries: self.without_retries && search.scenario().plans.iter().any(retries),
            dry_runs: search.scenario().plans.iter().any(|it| it.write.dry_run),
            against: self
                .forbidden()
                .filter(|verdict| tally.histories_with(*verdict) > 0)
                .collect(),
            writes: writes(search),
        }
    }

    /// The verdicts that no order may have. Where no update may be lost, none may be left out: its writer is told 2xx too.
    fn forbidden(&self) -> impl Iterator<Item = Verdict> {
        let loses = self.never.contains(&Verdict::Lost) && !self.never.contains(&Verdict::LeftOut);
        let left_out = loses.then_some(Verdict::LeftOut);
        self.never.iter().copied().chain(left_out)
    }

    /// Returns whether a search used the write methods that are selected at the current node.
    pub fn is_searched_by(&self, search: &Search, tree: &HistoryTree) -> bool {
        self.chosen(tree) == writes(search)
    }

    /// Returns whether a finding belongs to the write methods that are selected at the current
    /// node.
    pub fn is_answered_by(&self, finding: &Finding, tree: &HistoryTree) -> bool {
        self.chosen(tree) == finding.writes
    }

    fn chosen(&self, tree: &HistoryTree) -> Vec<Write> {
        let world = tree.world();
        let writes = self.actors().map(|actor| world.actor(actor).write());
        writes.collect()
    }

    /// The actors whose write methods it tests.
    pub fn actors(&self) -> impl Iterator<Item = ActorId> {
        self.edits.iter().map(|(actor, _)| *actor)
    }
}

/// The write methods of a search.
fn writes(search: &Search) -> Vec<Write> {
    let plans = search.scenario().plans.iter();
    plans.map(|plan| plan.write.clone()).collect()
}
