//! The counts of Explore: every order of a small scenario is performed in Play, and counted.

use std::collections::BTreeMap;

use optimist_client::{IntendedChange, Intent, WriteMethod};
use optimist_messages::{explore as said_of, label};
use optimist_simulation::explore::{
    Comparison, ExplorePreset, LossGroups, PRESETS, Plan, Scenario, Search, SearchStatus,
    ThirdActor, TransitionId, replayed,
};
use optimist_simulation::verdict::Verdict;
use optimist_simulation::{ActorId, HistoryTree, World};

use crate::exploring;
use crate::hearing::{ConditionOf, Conditions, Hearing};
use crate::lost_answers;
use crate::moment::{Moment, actor_of};
use crate::random::Random;
use crate::said::Said;
use crate::so_far;

/// The results of every order.
pub struct Counted {
    pub total: u64,
    lost: u64,
    /// Orders that lose nothing, and in which somebody got no for an answer in the end.
    refused: u64,
    /// Orders that lose nothing, and in which nobody got no, but an accepted write left an edit of its own out.
    left_out: u64,
    /// Orders that pass a state.
    through: u64,
    /// Orders that end in a state of a search that is not done.
    pub ended: u64,
}

/// A number with its commas, as it is said.
pub fn number(said: &Said, argument: &str) -> Option<u64> {
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
    ("ending_left_out", |said, it| {
        let count = number(said, "count")?;
        Some(0 < count && count <= it.left_out)
    }),
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
];

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

/// The ways of writing of a pair of edits.
#[derive(Debug, Default)]
pub struct Ways {
    /// Those of which every order was played and keeps every edit.
    kept: u64,
    /// Those of which every order was played, loses no edit, and ends with a refusal.
    refused: u64,
    /// Those of which an order that loses an edit was played.
    lost: u64,
    /// Those whose search was stopped.
    stopped: u64,
    /// Those in which some actor gets 415 or 422 for each write of every order.
    impossible: u64,
}

impl Ways {
    fn all(&self) -> u64 {
        self.without_loss() + self.lost + self.stopped
    }

    fn without_loss(&self) -> u64 {
        self.kept + self.refused
    }
}

/// The conditions of the answer to the question of the page.
pub const ANSWERS: &[(&str, ConditionOf<Ways>)] = &[
    ("answer_some", |said, it| {
        let counts = said.number("kept")? == it.without_loss() && said.number("ways")? == it.all();
        Some(counts && it.stopped == 0)
    }),
    ("answer_open", |said, it| {
        let counts = said.number("kept")? == it.without_loss() && said.number("lost")? == it.lost;
        let open = it.stopped > 0 && said.number("open")? == it.stopped;
        Some(counts && open && said.number("ways")? == it.all())
    }),
    ("answer_all", |_, it| {
        Some(it.without_loss() > 0 && it.without_loss() == it.all())
    }),
    ("answer_but_refused", |said, it| {
        Some(it.refused > 0 && said.number("count")? == it.refused)
    }),
    ("answer_only_refused", |said, it| {
        let only = it.refused > 0 && it.refused == it.without_loss();
        Some(only && said.number("count")? == it.refused)
    }),
    ("answer_none", |_, it| {
        Some(it.lost > 0 && it.lost == it.all())
    }),
    ("answer_untried", |_, it| Some(it.all() == 0)),
];

/// Two ways of writing, of which every order was played.
pub struct Compared {
    /// The number of steps of the shortest order that ends differently, by lost updates and kinds of refusals.
    shortest: Option<u64>,
    /// `true` if only some pairs of states were compared.
    stopped: bool,
}

/// The conditions of what is said of two rows side by side.
pub const COMPARED: &[(&str, ConditionOf<Compared>)] = &[
    ("compare_shortest", |said, it| {
        Some(Some(said.number("steps")?) == it.shortest)
    }),
    ("compare_same", |_, it| {
        Some(it.shortest.is_none() && !it.stopped)
    }),
    ("compare_unknown", |_, it| Some(it.stopped)),
];

/// Plays every order of two editors in two ways of writing that take the same steps, and hears what
/// tells them apart.
pub fn compared(hearing: &mut Hearing) -> Option<()> {
    use WriteMethod::{JsonTests, Merge, Strategic, Update, UpdateVersioned};
    for slug in ["different-fields", "two-items", "same-field"] {
        let preset = PRESETS.iter().find(|it| it.slug == slug)?;
        let start = HistoryTree::new(World::load(preset.manifest).ok()?.0);
        let ways = [Update, UpdateVersioned, Merge, Strategic, JsonTests];
        let mut played = Vec::new();
        for way in ways {
            let mut search = Search::new(preset.scenario().ok()?.in_ways(&[way], 1).ok()?, 4000);
            search.run();
            let paths = orders(&search, 24)?.into_iter().map(|path| {
                let actors = path.iter().map(|id| search.edges()[*id].actor);
                let tree = replayed(&search, &path, path.len(), start.clone());
                let (lost, _) = outcome(&tree);
                let ends = (lost, kind_of_refusal(&tree).filter(|_| !lost));
                (actors.collect::<Vec<_>>(), ends)
            });
            let paths: BTreeMap<_, _> = paths.collect();
            played.push((way, search, paths));
        }
        for (i, (way, search, paths)) in played.iter().enumerate() {
            for (other, second, others) in &played[..i] {
                let differs = |(actors, ends): &(&Vec<usize>, &(bool, Option<u8>))| {
                    others.get(*actors).is_some_and(|other| other != *ends)
                };
                let lengths = paths
                    .iter()
                    .filter(differs)
                    .map(|(actors, _)| actors.len() as u64);
                let shortest = lengths.min();
                for most in [10_000, 1] {
                    let text = match search.compare(second, most) {
                        Comparison::Differs(steps) => said_of::compare_shortest(steps.len()),
                        Comparison::Same => label::compare_same(),
                        Comparison::Unknown => label::compare_unknown(),
                    };
                    let compared = Compared {
                        shortest,
                        stopped: most == 1,
                    };
                    let of_all: Conditions<Compared> = COMPARED.iter().copied().collect();
                    let told = || format!("   {slug}: {way:?} and {other:?}");
                    hearing.hear(&text, &of_all, &compared, &told);
                }
            }
        }
    }
    Some(())
}

/// The names of all messages that have a condition here.
pub fn names() -> Vec<&'static str> {
    let all = COUNTED.iter().chain(PASSED).chain(so_far::SO_FAR);
    let answers = ANSWERS.iter().map(|(name, _)| *name);
    let compared = COMPARED.iter().map(|(name, _)| *name);
    let more = answers.chain(compared).chain(lost_answers::names());
    all.map(|(name, _)| *name).chain(more).collect()
}

/// An object of a custom kind, with its definition.
const WIDGET: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: w}
spec: {size: 1}
"#;

/// Plays every order of some pairs of edits in some ways of writing, and hears the answers.
pub fn answers(hearing: &mut Hearing) -> Option<()> {
    use WriteMethod::{Apply, Merge, Strategic, Update, UpdateVersioned};
    let (all, few) = (4000, 3);
    for slug in ["different-fields", "same-field"] {
        let preset = PRESETS.iter().find(|it| it.slug == slug)?;
        let start = HistoryTree::new(World::load(preset.manifest).ok()?.0);
        let scenario = preset.scenario().ok()?;
        for tried in [
            &[(Update, all)][..],
            &[(UpdateVersioned, all)],
            &[(Update, all), (UpdateVersioned, all), (Merge, all)],
            &[(Update, all), (UpdateVersioned, all), (Merge, few)],
            &[(Update, few)],
            &[(Apply, all)],
            &[(Update, all), (Apply, all), (Merge, all)],
            &[(UpdateVersioned, all), (Apply, all)],
        ] {
            answer(&start, &scenario, tried, hearing)?;
        }
    }
    // A custom resource has no strategic merge patch, and no Update without a version.
    let start = World::load(WIDGET).ok()?.0;
    let mut scenario = Scenario::from_world(&start);
    let size = |value: u8| IntendedChange::at("/spec/size", Some(value.into()));
    let plan = |name, value| Plan::new(name, Intent::Change(vec![size(value)]));
    scenario.plans = vec![plan("a", 2), plan("b", 3)];
    let start = HistoryTree::new(start);
    answer(&start, &scenario, &[(Strategic, all)], hearing)?;
    answer(
        &start,
        &scenario,
        &[(Strategic, all), (Merge, all)],
        hearing,
    )?;
    answer(
        &start,
        &scenario,
        &[(UpdateVersioned, all), (Update, all)],
        hearing,
    )
}

/// Searches some ways of writing, each up to a number of states, and hears the answer.
fn answer(
    start: &HistoryTree,
    scenario: &Scenario,
    tried: &[(WriteMethod, usize)],
    hearing: &mut Hearing,
) -> Option<()> {
    let mut ways = Ways::default();
    let mut risks = Vec::new();
    for (way, states) in tried {
        let scenario = scenario.clone().in_ways(&[*way, *way], 1).ok()?;
        let mut search = Search::new(scenario.clone(), *states);
        let is_complete = search.run() == SearchStatus::Done;
        risks.push((risks.len(), search.loss_risk()));
        let mut full = Search::new(scenario, 4000);
        full.run();
        let paths = orders(&full, 24)?;
        let trees = paths
            .iter()
            .map(|path| replayed(&full, path, path.len(), start.clone()));
        let trees: Vec<HistoryTree> = trees.collect();
        let outcomes: Vec<(bool, bool)> = trees.iter().map(outcome).collect();
        let count = if !is_complete {
            &mut ways.stopped
        } else if outcomes.iter().any(|(lost, _)| *lost) {
            &mut ways.lost
        } else if [ActorId::A, ActorId::B]
            .iter()
            .any(|who| cannot_write(&trees, *who))
        {
            &mut ways.impossible
        } else if outcomes.iter().all(|(_, refused)| *refused) {
            &mut ways.refused
        } else {
            &mut ways.kept
        };
        *count += 1;
    }
    let groups: LossGroups = risks.into_iter().collect();
    let of_all: Conditions<Ways> = ANSWERS.iter().copied().collect();
    let kind = &scenario.resource.kind;
    hearing.hear(&said_of::answer(&groups), &of_all, &ways, &|| {
        format!("   {kind}: {tried:?}")
    });
    Some(())
}

/// Returns whether each write of an actor is answered with 415 or 422.
fn cannot_write(trees: &[HistoryTree], who: ActorId) -> bool {
    trees.iter().all(|tree| {
        let moment = Moment::current(tree, ActorId::B);
        let own = moment
            .so_far
            .iter()
            .filter(|it| actor_of(&it.step.operation) == Some(who));
        let mut writes = own
            .filter_map(|it| it.step.exchange.as_ref())
            .filter(|it| it.method != "GET");
        writes.all(|sent| matches!(sent.code, 415 | 422))
    })
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
    let moment = Moment::current(tree, ActorId::B);
    let lost = (1..=moment.so_far.len()).any(|end| {
        let mut then = moment.until(end);
        then.object = tree.world().subject().clone();
        then.judge().gone().iter().any(|gone| !gone.shown)
    });
    (lost, kind_of_refusal(tree).is_some())
}

/// Returns whether a write was accepted, and the object did not have an edit of it afterwards.
fn leaves_out(tree: &HistoryTree) -> bool {
    let moment = Moment::current(tree, ActorId::B);
    moment.so_far.iter().any(|it| {
        let Some((_, stored)) = it.after.stored() else {
            return false;
        };
        let accepted = it
            .step
            .exchange
            .as_ref()
            .is_some_and(|sent| sent.code < 300);
        let mut edits = it.step.edits.iter();
        accepted && edits.any(|edit| stored.pointer(&edit.pointer) != edit.after.as_ref())
    })
}

/// The kind of the refusals that are somebody's last answer: a conflict comes first, then what is gone.
fn kind_of_refusal(tree: &HistoryTree) -> Option<u8> {
    let moment = Moment::current(tree, ActorId::B);
    let last_code = |who: ActorId| {
        let mut steps = moment.so_far.iter().rev();
        let last = steps.find(|it| actor_of(&it.step.operation) == Some(who))?;
        Some(last.step.exchange.as_ref()?.code)
    };
    let codes = ActorId::ALL.into_iter().filter_map(last_code);
    let kinds = codes.filter(|code| *code >= 400).map(|code| match code {
        409 => 0,
        404 | 410 => 1,
        _ => 2,
    });
    kinds.min()
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
    scenario.plans.push(ThirdActor::Annotates.plan(&scenario));
    let ways = vec![WriteMethod::Merge; scenario.plans.len()];
    let scenario = scenario.in_ways(&ways, 3).ok()?;
    counts((preset, scenario), 90, &mut Random::new(1), hearing)
}

/// Counts the orders of two editors and of an apply that removes a label which another manager owns.
pub fn left_out(hearing: &mut Hearing) -> Option<()> {
    let preset = PRESETS.iter().find(|it| it.slug == "different-fields")?;
    let mut scenario = preset.scenario().ok()?;
    let removal = IntendedChange::at("/metadata/labels/app", None);
    scenario.plans.get_mut(1)?.intent = Intent::Change(vec![removal]);
    scenario.plans.push(ThirdActor::Annotates.plan(&scenario));
    let ways = [WriteMethod::Merge, WriteMethod::Apply, WriteMethod::Update];
    let scenario = scenario.in_ways(&ways, 1).ok()?;
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
        left_out: 0,
        through: 0,
        ended: 0,
    };
    for path in &paths {
        let tree = replayed(&search, path, path.len(), start.clone());
        match outcome(&tree) {
            (true, _) => counted.lost += 1,
            (false, true) => counted.refused += 1,
            (false, false) => counted.left_out += u64::from(leaves_out(&tree)),
        }
    }
    let told = || format!("   {slug}: {:?}", search.scenario().plans);
    let of_all: Conditions<Counted> = COUNTED.iter().copied().collect();
    let tally = search.tally();
    hearing.hear(
        &said_of::tally(&tally, actors, true),
        &of_all,
        &counted,
        &told,
    );
    for verdict in Verdict::ALL {
        let (count, total) = (tally.histories_with(verdict), tally.total());
        if count > 0 {
            let text = said_of::part_of_orders(&tally, verdict, actors, true);
            hearing.hear(&text, &of_all, &counted, &told);
        }
        let text = said_of::count_in_column(count, total, true);
        hearing.hear(&text, &of_all, &counted, &told);
    }
    if search.shortest(Verdict::Lost).is_none() {
        let text = said_of::none_lost(tally.total(), true);
        hearing.hear(&text, &of_all, &counted, &told);
    }
    let states = search.states();
    for most in [3, 12, 20, 40, states * 3 / 4, states - 1] {
        let mut begun = Search::new(search.scenario().clone(), most);
        begun.run();
        if begun.status() != SearchStatus::Done {
            so_far::hear(&begun, hearing, &mut counted, &told);
        }
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
