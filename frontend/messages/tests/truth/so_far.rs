//! The counts of a search that is not done: those of the orders that it has found so far.

use optimist_messages::explore as said_of;
use optimist_simulation::explore::{Search, StateId};
use optimist_simulation::verdict::Verdict;

use crate::counted::{Counted, number};
use crate::hearing::{ConditionOf, Conditions, Hearing};
use crate::said::Said;

/// The conditions of sentences about a search that is not done.
pub const SO_FAR: &[(&str, ConditionOf<Counted>)] = &[
    ("none_lost_so_far", |said, it| {
        let checked = number(said.inner("orders")?, "count")?;
        Some(0 < checked && checked == it.ended && checked <= it.total)
    }),
    ("none_ended_so_far", |_, it| Some(it.ended == 0)),
    ("orders", |said, it| {
        Some(number(said, "count")? == it.ended)
    }),
    ("orders_so_far", |said, it| {
        Some(said.inner("orders")?.name() == "orders" && it.ended <= it.total)
    }),
    ("matrix_all", |_, it| Some(it.ended == it.total)),
    ("all_orders", |_, it| Some(it.ended == it.total)),
    ("matrix_part_so_far", |said, it| {
        Some(number(said, "total")? == it.ended && number(said, "count")? <= it.ended)
    }),
    ("ending_lost", so_far),
    ("ending_refused", so_far),
    ("ending_replaced", so_far),
    ("ending_left_out", so_far),
    ("ending_in_object_both", so_far),
    ("ending_in_object_all", so_far),
];

fn so_far(said: &Said, it: &Counted) -> Option<bool> {
    let count = number(said, "count")?;
    Some(0 < count && count <= it.ended)
}

/// The number of ways through a search that come to an end that it has looked at.
fn ways_to_an_end(search: &Search) -> u64 {
    let ends: Vec<StateId> = search.ends().map(|end| end.id).collect();
    let (mut ended, mut open) = (0, vec![0]);
    while let Some(at) = open.pop() {
        ended += u64::from(ends.contains(&at));
        let view = search.view(at).into_iter();
        let edges = view.flat_map(|view| view.edges());
        open.extend(edges.map(|edge| search.edges()[edge].to));
    }
    ended
}

/// Hears what is said of the orders of a search that is not done.
pub fn hear(
    begun: &Search,
    hearing: &mut Hearing,
    counted: &mut Counted,
    told: &dyn Fn() -> String,
) {
    counted.ended = ways_to_an_end(begun);
    let so_far: Conditions<Counted> = SO_FAR.iter().copied().collect();
    let (tally, actors) = (begun.tally(), begun.scenario().plans.len());
    let mut texts = vec![said_of::tally(&tally, actors, false)];
    for verdict in Verdict::ALL {
        let count = tally.histories_with(verdict);
        if count > 0 {
            texts.push(said_of::part_of_orders(&tally, verdict, actors, false));
        }
        texts.push(said_of::count_in_column(count, tally.total(), false));
    }
    if begun.shortest(Verdict::Lost).is_none() {
        texts.push(said_of::none_lost(tally.total(), false));
    }
    for text in texts {
        hearing.hear(&text, &so_far, counted, told);
    }
}
