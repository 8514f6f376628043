//! The counts of Explore: every order of a small scenario is performed in Play, and counted.

use optimist_client::WriteMethod;
use optimist_messages::{explore as said_of, label};
use optimist_simulation::explore::{
    ExplorePreset, PRESETS, Scenario, Search, SearchStatus, ThirdActor, TransitionId, replayed,
};
use optimist_simulation::verdict::Verdict;
use optimist_simulation::{ActorId, HistoryTree, World};

use crate::exploring;
use crate::hearing::{ConditionOf, Conditions, Hearing};
use crate::moment::{Moment, actor_of};
use crate::random::Random;
use crate::said::Said;

/// The results of every order.
pub struct Counted {
    total: u64,
    lost: u64,
    /// Orders that lose nothing, and in which somebody got no for an answer in the end.
    refused: u64,
    /// Orders that pass a state.
    through: u64,
}

/// A number with its commas, as it is said.
fn number(said: &Said, argument: &str) -> Option<u64> {
    said.text(argument).replace(',', "").parse().ok()
}

pub const COUNTED: &[(&str, ConditionOf<Counted>)] = &[
    ("orders", |said, it| {
        Some(number(said, "count")? == it.total)
    }),
    ("all_orders", |said, it| {
        let ending = said.inner("ending")?;
        let own = match ending.name() {
            "ending_lost" => it.lost,
            "ending_refused" => it.refused,
            _ => it.total - it.lost - it.refused,
        };
        Some(own == it.total)
    }),
    ("ending_lost", |said, it| {
        Some(number(said, "count")? == it.lost)
    }),
    ("ending_refused", |said, it| {
        Some(number(said, "count")? == it.refused)
    }),
    ("ending_replaced", others),
    ("ending_left_out", others),
    ("ending_in_object_both", others),
    ("ending_in_object_all", others),
    ("matrix_part", |said, it| {
        let own = match said.inner("ending")?.name() {
            "ending_lost" => it.lost,
            "ending_refused" => it.refused,
            _ => number(said, "count")?.min(it.total - it.lost - it.refused),
        };
        Some(number(said, "count")? == own && number(said, "total")? == it.total)
    }),
    ("matrix_all", |_, it| {
        Some([it.lost, it.refused, it.total - it.lost - it.refused].contains(&it.total))
    }),
    ("none_lost", |said, it| {
        Some(it.lost == 0 && number(said.inner("orders")?, "count")? == it.total)
    }),
    ("refusals", |said, it| {
        let count = number(said, "count")?;
        Some(0 < count && count <= it.refused)
    }),
];

/// The conditions of sentences about a search that is not done.
pub const SO_FAR: &[(&str, ConditionOf<Counted>)] = &[("none_lost_so_far", |said, it| {
    Some(number(said.inner("orders")?, "count")? <= it.total)
})];

/// The conditions of sentences about one state.
pub const PASSED: &[(&str, ConditionOf<Counted>)] = &[
    ("pass_here", |said, it| {
        let total = said.inner("total")?;
        let total = number(total, "count")? == it.total;
        Some(total && number(said, "count")? == it.through)
    }),
    ("end_here", |said, it| {
        let total = said.inner("total")?;
        let total = number(total, "count")? == it.total;
        Some(total && number(said, "count")? == it.through)
    }),
];

fn others(said: &Said, it: &Counted) -> Option<bool> {
    let count = number(said, "count")?;
    Some(0 < count && count <= it.total - it.lost - it.refused)
}

/// The ways of writing of a pair of edits, with those of which no order loses an edit.
pub struct Ways {
    all: u64,
    kept: u64,
}

/// The conditions of the answer to the question of the page.
pub const ANSWERS: &[(&str, ConditionOf<Ways>)] = &[
    ("answer_some", |said, it| {
        Some(said.number("kept")? == it.kept && said.number("ways")? == it.all)
    }),
    ("answer_all", |_, it| Some(it.kept == it.all)),
    ("answer_none", |_, it| Some(it.kept == 0)),
];

/// The names of all messages that have a condition here.
pub fn names() -> Vec<&'static str> {
    let all = COUNTED.iter().chain(PASSED).chain(SO_FAR);
    let answers = ANSWERS.iter().map(|(name, _)| *name);
    all.map(|(name, _)| *name).chain(answers).collect()
}

/// Plays every order of some pairs of edits in some ways of writing, and hears the answers.
pub fn answers(hearing: &mut Hearing) -> Option<()> {
    use WriteMethod::{Merge, Update, UpdateVersioned};
    for slug in ["different-fields", "same-field"] {
        let preset = PRESETS.iter().find(|it| it.slug == slug)?;
        let start = HistoryTree::new(World::load(preset.manifest).ok()?.0);
        for tried in [
            &[Update][..],
            &[UpdateVersioned],
            &[Update, UpdateVersioned, Merge],
        ] {
            let (mut own, mut found) = (0, 0);
            for way in tried {
                let scenario = preset.scenario().ok()?.in_ways(&[*way, *way], 1).ok()?;
                let mut search = Search::new(scenario, 4000);
                search.run();
                let paths = orders(&search, 24)?;
                let mut trees = paths
                    .iter()
                    .map(|path| replayed(&search, path, path.len(), start.clone()));
                own += u64::from(!trees.any(|tree| outcome(&tree).0));
                found += usize::from(search.tally().of(Verdict::Lost) == 0);
            }
            let ways = Ways {
                all: tried.len() as u64,
                kept: own,
            };
            let text = said_of::answer(found, tried.len());
            let of_all: Conditions<Ways> = ANSWERS.iter().copied().collect();
            hearing.hear(&text, &of_all, &ways, &|| format!("   {slug}: {tried:?}"));
        }
    }
    Some(())
}

/// Every way through a search, if there are not too many.
pub fn orders(search: &Search, most: usize) -> Option<Vec<Vec<TransitionId>>> {
    let mut found = Vec::new();
    let mut open = vec![(0, Vec::new())];
    while let Some((at, path)) = open.pop() {
        let edges: Vec<TransitionId> = search.view(at)?.edges().collect();
        if edges.is_empty() {
            found.push(path);
            if found.len() > most {
                return None;
            }
            continue;
        }
        for edge in edges {
            let mut longer: Vec<TransitionId> = path.clone();
            longer.push(edge);
            open.push((search.edges()[edge].to, longer));
        }
    }
    Some(found)
}

/// Returns whether an order loses an update, and whether somebody's last answer is a refusal.
fn outcome(tree: &HistoryTree) -> (bool, bool) {
    let moment = Moment::of(tree, ActorId::B);
    let lost = (1..=moment.so_far.len()).any(|end| {
        let mut then = moment.until(end);
        then.object = tree.world().subject().clone();
        then.judge().gone().iter().any(|gone| !gone.shown)
    });
    let refused = ActorId::ALL.into_iter().any(|who| {
        let mut steps = moment.so_far.iter().rev();
        let last = steps.find(|it| actor_of(&it.step.operation) == Some(who));
        last.is_some_and(|it| {
            it.step
                .exchange
                .as_ref()
                .is_some_and(|sent| sent.code >= 400)
        })
    });
    (lost, refused)
}

/// Counts the orders of a random scenario, and hears what is said of them.
pub fn count(seed: u64, hearing: &mut Hearing) -> Option<()> {
    let mut random = Random::new(seed);
    let (preset, scenario) = exploring::scenario(&mut random)?;
    counts((preset, scenario), 24, &mut random, hearing)
}

/// Counts the orders of three editors that change different fields, which chance finds too many.
pub fn three(hearing: &mut Hearing) -> Option<()> {
    let preset = PRESETS.iter().find(|it| it.slug == "different-fields")?;
    let mut scenario = preset.scenario().ok()?;
    scenario.plans.push(ThirdActor::Annotates.plan());
    let ways = vec![WriteMethod::Merge; scenario.plans.len()];
    let scenario = scenario.in_ways(&ways, 3).ok()?;
    counts((preset, scenario), 90, &mut Random::new(1), hearing)
}

/// Counts the orders of a scenario that has not more than these.
fn counts(
    (preset, scenario): (&'static ExplorePreset, Scenario),
    most: usize,
    random: &mut Random,
    hearing: &mut Hearing,
) -> Option<()> {
    let slug = preset.slug;
    let actors = scenario.plans.len();
    let mut search = Search::new(scenario, 4000);
    if search.run() != SearchStatus::Done {
        return None;
    }
    let paths = orders(&search, most)?;
    let start = HistoryTree::new(World::load(preset.manifest).ok()?.0);
    let mut counted = Counted {
        total: paths.len() as u64,
        lost: 0,
        refused: 0,
        through: 0,
    };
    for path in &paths {
        match outcome(&replayed(&search, path, path.len(), start.clone())) {
            (true, _) => counted.lost += 1,
            (false, true) => counted.refused += 1,
            (false, false) => {}
        }
    }
    let told = || format!("   {slug}: {:?}", search.scenario().plans);
    let of_all: Conditions<Counted> = COUNTED.iter().copied().collect();
    let tally = search.tally();
    hearing.hear(&said_of::tally(&tally, actors), &of_all, &counted, &told);
    hearing.hear(&said_of::refusals(&tally), &of_all, &counted, &told);
    for verdict in Verdict::ALL {
        let (count, total) = (tally.of(verdict), tally.total());
        let ending = said_of::ending(verdict, actors, count);
        if count > 0 {
            let text =
                label::matrix_part(&said_of::number(count), &said_of::number(total), &ending);
            hearing.hear(&text, &of_all, &counted, &told);
        }
        if count == total && count > 1 {
            hearing.hear(&label::matrix_all(), &of_all, &counted, &told);
        }
    }
    if search.shortest(Verdict::Lost).is_none() {
        let text = label::none_lost(&said_of::orders(tally.total()));
        hearing.hear(&text, &of_all, &counted, &told);
    }
    let mut begun = Search::new(search.scenario().clone(), 3);
    begun.run();
    if begun.status() != SearchStatus::Done && begun.shortest(Verdict::Lost).is_none() {
        let text = label::none_lost_so_far(&said_of::orders(begun.tally().total()));
        let so_far: Conditions<Counted> = SO_FAR.iter().copied().collect();
        hearing.hear(&text, &so_far, &counted, &told);
    }
    let of_state: Conditions<Counted> = PASSED.iter().copied().collect();
    let outlook = search.outlook();
    for _ in 0..4 {
        let id = random.below(search.states());
        let passes = |path: &&Vec<TransitionId>| {
            id == 0 || path.iter().any(|edge| search.edges()[*edge].to == id)
        };
        counted.through = paths.iter().filter(passes).count() as u64;
        for text in said_of::state(&search, id, outlook.get(id)) {
            hearing.hear(&text, &of_state, &counted, &told);
        }
    }
    Some(())
}
